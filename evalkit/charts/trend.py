"""A metric over nights: its values, a line a model, the limits of each night, and which nights failed."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalkit.charts.palette import BAD, BAR, GOOD, INK, LINE, QUIET, STRONG, TARGET
from evalkit.charts.svg import draw, whole
from evalkit.charts.vega import SMALL, WIDTH, Spec, chart, layer, scaled, text
from evalkit.charts.words import SYNTHETIC, cut, number

MOST_MODELS = 6
"""Most models that are drawn; the summary and the history have all."""

_HEIGHT = 260
_WIDTH = WIDTH - 260
_MARGIN = 28
_TICKS = 6
_DASHES = ([1, 0], [8, 3], [2, 3], [8, 3, 2, 3], [12, 4], [4, 2])


@dataclass(frozen=True, slots=True)
class Point:
    """One night of one model.

    Attributes:
        date: The night.
        model: The model, or an empty text.
        value: The value; None leaves a gap.
        limit: The stated limit.
        baseline_limit: The limit that an earlier night gave.
        passed: Whether it passed; None where no gate judged it.
    """

    date: str
    model: str
    value: float | None
    limit: float | None
    baseline_limit: float | None
    passed: bool | None


def trend(points: Sequence[Point]) -> Spec:
    """Return the chart of a metric."""
    models = list(dict.fromkeys(one.model for one in points))[:MOST_MODELS]
    shown = [one for one in points if one.model in models]
    days = sorted({_day(one.date) for one in shown})
    first, last = days[0], max(days[-1], days[0] + 1)
    low, high = _range(shown)
    x = scaled("day", (first, last))
    y = scaled("value", (low, high), axis={"title": None, "grid": True, "tickCount": 5, "tickSize": 3})
    layers = _ticks(days, x)
    for place, model in enumerate(models):
        layers += _line([one for one in shown if one.model == model], x, y, _DASHES[place])
    layers += [*_limits(shown, x, y), *_marks(shown, x, y), *_names(shown, models)]
    return chart(layers, _WIDTH, _HEIGHT)


def _day(date: str) -> int:
    return datetime.date.fromisoformat(date).toordinal()


def _range(points: Sequence[Point]) -> tuple[float, float]:
    """Return the range of what is drawn, with a little room; a range without an extent gets one."""
    seen = [n for one in points for n in (one.value, one.limit, one.baseline_limit) if n is not None] or [0.0, 1.0]
    low, high = min(seen), max(seen)
    room = (high - low) * 0.08 or max(abs(high), 1.0) * 0.05
    return low - room, high + room


def _ticks(days: Sequence[int], x: Spec) -> list[Spec]:
    """Write a few dates below, the first and the last among them."""
    count = min(_TICKS, len(days))
    places = sorted({round(place * (len(days) - 1) / max(count - 1, 1)) for place in range(count)})
    rows = [{"day": days[one], "text": f"{datetime.date.fromordinal(days[one])}"} for one in places]
    bottom = {"value": _HEIGHT}
    return [
        text(rows, x, bottom, dy=14, align="center", fontSize=SMALL, color=QUIET),
        layer("rule", rows, {"x": x, "y": {"value": _HEIGHT}, "y2": {"value": _HEIGHT + 5}}, color=LINE),
    ]


def _row(one: Point, value: float | None) -> dict[str, Any]:
    return {"day": _day(one.date), "value": value}


def _line(points: Sequence[Point], x: Spec, y: Spec, dash: Sequence[int]) -> list[Spec]:
    rows = [_row(one, one.value) for one in points]
    looks: Mapping[str, Any] = {"color": BAR, "strokeWidth": 1.5, "strokeDash": list(dash)}
    return [layer("line", rows, {"x": x, "y": y}, invalid="break-paths-show-domains", **looks)]


def _limits(points: Sequence[Point], x: Spec, y: Spec) -> list[Spec]:
    """Draw the limit of each night as a step, and what an earlier night asked for as a tick."""
    stated = {one.date: one.limit for one in points if one.limit is not None}
    asked = sorted({(one.date, one.baseline_limit) for one in points if one.baseline_limit is not None})
    steps = [{"day": _day(date), "value": limit} for date, limit in sorted(stated.items())]
    ticks = [{"day": _day(date), "value": limit} for date, limit in asked]
    return [
        layer(
            "line", steps, {"x": x, "y": y}, color=TARGET, strokeDash=[6, 3], strokeWidth=1.5, interpolate="step-after"
        ),
        layer("point", steps, {"x": x, "y": y}, shape="stroke", size=80, color=TARGET, strokeWidth=1.5),
        layer("point", ticks, {"x": x, "y": y}, shape="triangle-down", size=40, filled=True, opacity=1, color=TARGET),
    ]


def _marks(points: Sequence[Point], x: Spec, y: Spec) -> list[Spec]:
    """Mark each night: a filled circle where it passed, a cross where it failed, an open one where no gate judged."""
    layers = []
    looks: Sequence[tuple[bool | None, Mapping[str, Any]]] = (
        (True, {"shape": "circle", "filled": True, "color": GOOD, "size": 45}),
        (None, {"shape": "circle", "filled": False, "color": STRONG, "size": 45}),
        (False, {"shape": "M-1,-1L1,1M1,-1L-1,1", "filled": False, "color": BAD, "size": 90, "strokeWidth": 2.5}),
    )
    for passed, look in looks:
        rows = [_row(one, one.value) for one in points if one.passed is passed and one.value is not None]
        layers.append(layer("point", rows, {"x": x, "y": y}, opacity=1, **look))
    return layers


def _names(points: Sequence[Point], models: Sequence[str]) -> list[Spec]:
    """Write at the right what each line is, parted where lines end close to each other."""
    ends = []
    for model in models:
        own = [one for one in points if one.model == model and one.value is not None]
        if own:
            told = number(own[-1].value, own[-1].limit)
            ends.append((own[-1].value or 0.0, cut(f"{model} {told}".strip(), SMALL, 200)))
    limits = [one.limit for one in points if one.limit is not None]
    if limits:
        ends.append((limits[-1], f"limit {limits[-1]:g}"))
    low, high = _range(points)
    placed, taken = [], -1e9
    for value, said in sorted(ends, reverse=True):
        taken = max(taken + SMALL + 4, (high - value) / (high - low) * _HEIGHT)
        placed.append({"row": taken, "text": said})
    limit = f"limit {limits[-1]:g}" if limits else ""
    spot = {"field": "row", "type": "quantitative", "scale": None, "axis": None}
    right = {"value": _WIDTH + 10}
    return [
        text([one for one in placed if one["text"] != limit], right, spot, fontSize=SMALL, color=INK),
        text([one for one in placed if one["text"] == limit], right, spot, fontSize=SMALL, color=TARGET),
    ]


def trend_svg(title: str, told: str, points: Sequence[Point], *, synthetic: bool) -> str:
    """Return a metric over nights as an SVG of its own.

    Args:
        title: What it shows.
        told: What it says, for those who do not see it.
        points: The nights of each model, in order.
        synthetic: Whether the records of any are invented.
    """
    drawing = draw(trend(points), "t")
    names = dict.fromkeys(one.model for one in points)
    left = f"; {len(names) - MOST_MODELS:,} more models are not drawn" if len(names) > MOST_MODELS else ""
    key = f"circle: passed; cross: failed; open circle: no gate; dashes: limit; triangle: limit from the baseline{left}"
    if synthetic:
        title = f"{title}, {SYNTHETIC}"
    head = _text(_MARGIN + 14, 16, INK, title, ' font-weight="bold"')
    foot = _text(_MARGIN + 34 + drawing.height + 20, SMALL, QUIET, key)
    body = f'<g transform="translate({_MARGIN},{_MARGIN + 34})">{drawing.inner}</g>'
    size = (WIDTH + 2 * _MARGIN, 2 * _MARGIN + 34 + drawing.height + 24)
    return whole(*size, title, told, head + body + foot, "trend", alone=True) + "\n"


def _text(y: float, size: float, color: str, said: str, more: str = "") -> str:
    from evalkit.charts.svg import escaped

    line = escaped(cut(said, size, WIDTH))
    return f'<text x="{_MARGIN}" y="{y:g}" font-size="{size:g}px" fill="{color}"{more}>{line}</text>'
