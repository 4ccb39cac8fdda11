"""Whiskers: a line from the low to the high end of an interval, with strokes at its ends; and the bound of a gate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalkit.charts.intervals import Interval
from evalkit.charts.palette import INK, STRONG
from evalkit.charts.vega import Spec, layer, pixel

_CAP = 5


def across(
    rows: Sequence[tuple[Interval | None, float]], span: tuple[float, float], top: float = 1.0, cap: float = _CAP
) -> list[Spec]:
    """Draw whiskers that lie, over pixels.

    Args:
        rows: Intervals, each with the pixel that is its middle.
        span: The pixels of 0 and of the scale's top.
        top: The scale's top; what lies beyond it is not drawn, and an end beyond it has no stroke.
        cap: Half the height of the strokes at the ends.
    """
    lines, caps = [], []
    for one, y in rows:
        if one is None or one.ends is None or one.ends[0] > top or one.ends[1] < 0:
            continue
        low, high = one.ends
        lines.append({"x": _pixel(low, span, top), "x2": _pixel(high, span, top), "y": y})
        ends = [end for end in (low, high) if 0 <= end <= top]
        caps += [{"x": _pixel(end, span, top), "y": y - cap, "y2": y + cap} for end in ends]
    if not lines:
        return []
    return [
        layer("rule", lines, {"x": pixel("x"), "x2": {"field": "x2"}, "y": pixel("y")}, color=INK, size=1.5),
        layer("rule", caps, {"x": pixel("x"), "y": pixel("y"), "y2": {"field": "y2"}}, color=INK, size=1.5),
    ]


def _pixel(value: float, span: tuple[float, float], top: float) -> float:
    return span[0] + (span[1] - span[0]) * min(max(value, 0.0), top) / top


def bounds(rows: Sequence[tuple[float, float]], span: tuple[float, float]) -> list[Spec]:
    """Draw the bounds that gates were held against, each with the pixel below its bar: a triangle that points at it."""
    marks = [{"x": _pixel(bound, span, 1.0), "y": y} for bound, y in rows if 0 <= bound <= 1]
    if not marks:
        return []
    looks: Spec = {"shape": "triangle-up", "size": 55, "filled": True, "opacity": 1, "color": STRONG}
    return [layer("point", marks, {"x": pixel("x"), "y": pixel("y")}, **looks)]


def upright(rows: Sequence[Mapping[str, Any]], x: Spec, y: Spec, size: float = 8) -> list[Spec]:
    """Draw whiskers that stand, on scales: each row has ``low`` and ``high``, and what ``x`` names.

    Args:
        rows: Where they are.
        x: The scale across.
        y: The scale upwards; its field is replaced.
        size: The width of the strokes at the ends, in pixels.
    """
    if not rows:
        return []
    low, high = ({**y, "field": name} for name in ("low", "high"))
    strokes: Spec = {"orient": "horizontal", "size": size, "thickness": 1.5, "opacity": 1, "color": INK}
    return [
        layer("rule", rows, {"x": x, "y": low, "y2": {"field": "high"}}, color=INK, size=1.5),
        layer("tick", rows, {"x": x, "y": low}, **strokes),
        layer("tick", rows, {"x": x, "y": high}, **strokes),
    ]
