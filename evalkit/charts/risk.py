"""Risk against coverage on validation, with the threshold in use and the certified ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalkit.charts.curve import thinned
from evalkit.charts.model import Point
from evalkit.charts.palette import BAR, GOOD, STRONG, TARGET
from evalkit.charts.panels import Risk, RiskPoint
from evalkit.charts.vega import SMALL, Spec, chart, layer, scaled, text

_WIDTH, _HEIGHT = 400, 260
_SIDE_BY_SIDE = 0.6
_LINE = 15


def risk(found: Risk) -> Spec:
    """Return the chart of a curve; without its points, that of the thresholds."""
    points = _seen(found)
    claimed = [1 - one.target for one in found.claims]
    marks = [found.chosen, *(one.at for one in found.claims)]
    highest = max([*(row["risk"] for row in points), *claimed, *(one.risk or 0.0 for one in marks)], default=0.0)
    ticks = {"format": ".2f", "tickSize": 3, "tickCount": 5}
    x = scaled("coverage", (0, 1), axis={"title": "coverage", "grid": False, **ticks})
    top = rounded_up(highest)
    fine = {**ticks, "format": ".3f"} if top < 0.05 else ticks
    y = scaled("risk", (0, top), axis={"title": "errors among accepted", "grid": True, **fine})
    return chart(
        [
            layer("line", points, {"x": x, "y": y}, color=BAR, strokeWidth=1.5),
            *_limits(found, points, x, y, top),
            *_chosen(found.chosen, x, y, top),
            *_certified(found, x, y, top),
        ],
        _WIDTH,
        _HEIGHT,
    )


def rounded_up(highest: float) -> float:
    """Return where a scale of risk ends, a little above the highest.

    >>> rounded_up(0.0), rounded_up(0.043), rounded_up(0.43), rounded_up(1.0)
    (0.02, 0.05, 0.5, 1.0)
    """
    return next((end for end in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75) if highest < 0.97 * end), 1.0)


def _seen(found: Risk) -> list[dict[str, Any]]:
    """Return the points of the curve, so many as can be seen."""
    whole = [Point(one.coverage, 1 - one.risk) for one in found.points or () if one.risk is not None]
    kept = thinned([one for one in whole if one.coverage is not None])
    return [{"coverage": one.coverage, "risk": 1 - (one.precision or 0.0)} for one in kept]


def _limits(found: Risk, points: Sequence[Mapping[str, Any]], x: Spec, y: Spec, top: float) -> Iterator[Spec]:
    """Draw the risk that each claim allows; words of two that are near each other would run into each other."""
    drawn: list[float] = []
    for target in dict.fromkeys(one.target for one in found.claims):
        limit = 1 - target
        right = _crossed(points, limit, top, (0.68, 1.0)) < _crossed(points, limit, top, (0.0, 0.32))
        words = f"risk {limit:.6g}: precision {target:g}"
        row: list[dict[str, Any]] = [{"coverage": int(right), "risk": limit, "text": words}]
        yield layer("rule", row, {"y": y}, color=TARGET, strokeDash=[6, 3], size=1.5)
        if all(abs(limit - other) > top / 16 for other in drawn):
            looks: Spec = {"align": "right" if right else "left", "dx": -4 if right else 4}
            yield text(row, x, y, dy=-8, fontSize=SMALL, color=TARGET, **looks)
            drawn.append(limit)


def _crossed(points: Sequence[Mapping[str, Any]], limit: float, top: float, span: tuple[float, float]) -> int:
    """Count the points of the curve that words above a line would cover."""
    return sum(span[0] <= one["coverage"] <= span[1] and 0 <= one["risk"] - limit < top / 12 for one in points)


def _chosen(point: RiskPoint, x: Spec, y: Spec, top: float) -> list[Spec]:
    rows = _row(point, "in use")
    low = (point.risk or 0.0) < top / 8  # no room below it
    looks: Spec = {"shape": "diamond", "filled": True, "opacity": 1, "size": 110, "color": STRONG}
    return [layer("point", rows, {"x": x, "y": y}, **looks), _words(rows, x, y, -14 if low else 16, STRONG)]


def _certified(found: Risk, x: Spec, y: Spec, top: float) -> list[Spec]:
    """Draw certified thresholds, each as a rule up to its name: the widest at the top, the others below it."""
    rows = [row for one in found.claims for row in _row(one.at, f"certified {one.target:g}")]
    rows.sort(key=lambda row: -row["coverage"])
    ends = [top * (1 - _LINE * place / _HEIGHT) for place in range(len(rows))]
    rules = [{"coverage": row["coverage"], "risk": 0, "end": end} for row, end in zip(rows, ends, strict=True)]
    looks: Spec = {"shape": "triangle-down", "filled": False, "strokeWidth": 2, "opacity": 1, "size": 110}
    return [
        layer("rule", rules, {"x": x, "y": y, "y2": {"field": "end"}}, color=GOOD, strokeDash=[2, 3], size=1.5),
        layer("point", rows, {"x": x, "y": y}, color=GOOD, **looks),
        *(_words([{**row, "risk": end}], x, y, 7, GOOD) for row, end in zip(rows, ends, strict=True)),
    ]


def _words(rows: list[dict[str, Any]], x: Spec, y: Spec, dy: float, color: str) -> Spec:
    left = bool(rows) and rows[0]["coverage"] > _SIDE_BY_SIDE
    return text(rows, x, y, dx=-8 if left else 8, dy=dy, align="right" if left else "left", fontSize=SMALL, color=color)


def _row(point: RiskPoint, words: str) -> list[dict[str, Any]]:
    if point.coverage is None or point.risk is None:
        return []
    return [{"coverage": point.coverage, "risk": point.risk, "text": words}]
