"""The coverage–precision curve on validation, the cut that was chosen on it, and what the cut gave on test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalkit.charts.model import Curve, Point
from evalkit.charts.palette import BAR, QUIET, STRONG, TARGET
from evalkit.charts.vega import SMALL, Spec, chart, layer, scaled, text

_WIDTH, _HEIGHT = 400, 260
MOST_POINTS = 400
"""Most points that a curve is drawn with."""


def curve(found: Curve) -> Spec:
    """Return the chart of a curve; without its points, that of the two points of the chosen cut."""
    points = thinned([one for one in found.points or () if one.coverage is not None and one.precision is not None])
    seen = [one.precision for one in (*points, found.chosen, found.scored) if one.precision is not None]
    lowest = min([*seen, *(() if found.limit is None else (found.limit,))], default=0.0)
    domain = (max(0.0, (int(lowest * 10) - 1) / 10), 1.0)
    ticks = {"format": ".2f", "tickSize": 3, "tickCount": 5}
    x = scaled("coverage", (0, 1), axis={"title": "coverage", "grid": False, **ticks})
    y = scaled("precision", domain, axis={"title": "precision", "grid": True, **ticks})
    rows = [_row(one) for one in points]
    return chart(
        [
            layer("line", rows, {"x": x, "y": y}, color=BAR, strokeWidth=1.5, interpolate="linear", clip=False),
            *_limits(found, x, y, domain[0]),
            *_marks(found, x, y),
        ],
        _WIDTH,
        _HEIGHT,
    )


def _row(one: Point) -> dict[str, Any]:
    return {"coverage": one.coverage, "precision": one.precision}


def _limits(found: Curve, x: Spec, y: Spec, lowest: float) -> list[Spec]:
    layers = []
    if found.limit is not None:
        row: list[dict[str, Any]] = [
            {"coverage": 0, "precision": found.limit, "text": f"precision gate {found.limit:g}"}
        ]
        layers.append(layer("rule", row, {"y": y}, color=TARGET, strokeDash=[6, 3], size=1.5))
        layers.append(text(row, x, y, dx=4, dy=-8, fontSize=SMALL, color=TARGET))
    if found.floor is not None:
        row = [{"coverage": found.floor, "precision": lowest, "text": f"coverage floor {found.floor:g}"}]
        left = found.floor > 0.6
        looks: Spec = {"align": "right" if left else "left", "dx": -4 if left else 4, "dy": -8}
        layers.append(layer("rule", row, {"x": x}, color=QUIET, strokeDash=[2, 3], size=1.5))
        layers.append(text(row, x, y, fontSize=SMALL, color=QUIET, **looks))
    return layers


def _marks(found: Curve, x: Spec, y: Spec) -> list[Spec]:
    layers = []
    for point, shape in ((found.chosen, "diamond"), (found.scored, "square")):
        rows = [_row(point)] if point.coverage is not None and point.precision is not None else []
        looks: Spec = {"filled": True, "opacity": 1, "size": 110 if shape == "diamond" else 80, "color": STRONG}
        if shape == "square":
            looks |= {"filled": False, "strokeWidth": 2.5, "color": TARGET}
        layers.append(layer("point", rows, {"x": x, "y": y}, shape=shape, **looks))
    return layers


def thinned(points: Sequence[Point]) -> list[Point]:
    """Keep so many points as can be seen: in each slice of the curve its ends, its highest and its lowest.

    >>> len(thinned([Point(n / 9999, (n % 7) / 7) for n in range(10_000)])) <= MOST_POINTS
    True
    """
    if len(points) <= MOST_POINTS:
        return list(points)
    slices = MOST_POINTS // 4
    kept: dict[int, None] = {}
    for number in range(slices):
        here = range(number * len(points) // slices, (number + 1) * len(points) // slices)
        high = max(here, key=lambda place: points[place].precision or 0.0)
        low = min(here, key=lambda place: points[place].precision or 0.0)
        kept |= dict.fromkeys(sorted({here[0], low, high, here[-1]}))
    return [points[place] for place in kept]
