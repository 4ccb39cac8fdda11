"""The confusion matrix: true classes down, predicted classes across, counts in the cells, darker for a larger share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from evalkit.charts.model import Cell
from evalkit.charts.palette import LINE, QUIET, STEPS, STRONG, on_step
from evalkit.charts.vega import SMALL, Spec, fixed, layer, pixel, text
from evalkit.charts.words import cut, width

MOST_CLASSES = 60
"""Most classes that a matrix is drawn with: those of most records."""

_ROOM = 420
_NARROW, _WIDE = 13, 44
_LABEL_ROOM = 140
_TITLE = 20


def kept_classes(cells: Sequence[Cell], classes: Sequence[str]) -> list[str]:
    """Return the classes to draw, in their order: all, or where they are many those of most records."""
    if len(classes) <= MOST_CLASSES:
        return list(classes)
    weight: Counter[str] = Counter()
    for cell in cells:
        weight[cell.truth] += cell.count
        weight[cell.predicted] += cell.count
    place = {name: number for number, name in enumerate(classes)}
    heaviest = set(sorted(classes, key=lambda name: (-weight[name], place[name]))[:MOST_CLASSES])
    return [name for name in classes if name in heaviest]


def confusion(cells: Sequence[Cell], classes: Sequence[str]) -> Spec:
    """Return the heat map of a matrix."""
    kept = kept_classes(cells, classes)
    side = min(_WIDE, max(_NARROW, _ROOM / max(len(kept), 1)))
    size = 9 if side < 16 else SMALL
    names = short_names(kept, classes, size)
    left = _TITLE + max((width(name, size) for name in names), default=0) + 8
    upright = all(width(name, size) <= side - 4 for name in names)
    above = _TITLE + (size + 8 if upright else max((width(name, size) for name in names), default=0) + 8)
    rows = _cells(cells, kept, side, left, above)
    total = side * len(kept)
    labels = [(name, left + side * (place + 0.5), above + side * (place + 0.5)) for place, name in enumerate(names)]
    down = [{"text": name, "x": left - 5, "y": y} for name, _, y in labels]
    across = [{"text": name, "x": x, "y": above - (size / 2 + 4 if upright else 5)} for name, x, _ in labels]
    looks: Spec = {"align": "center"} if upright else {"angle": 270, "align": "left"}
    return fixed(
        [
            *_tiles(rows),
            text(down, pixel("x"), pixel("y"), fontSize=size, align="right"),
            text(across, pixel("x"), pixel("y"), fontSize=size, **looks),
            *_titles(left, above, total),
        ],
        above + total + 2,
        width=max(left + total + 2, left + 90),
    )


def short_names(names: Sequence[str], classes: Sequence[str], size: float = SMALL) -> list[str]:
    """Cut names to the room of a label; where one is cut, each has its number among all classes, so none is mistaken.

    >>> short_names(["a", "b"], ["a", "b", "c"])
    ['a', 'b']
    """
    short = [cut(name, size, _LABEL_ROOM) for name in names]
    if short == list(names):
        return short
    place = {name: number for number, name in enumerate(classes, 1)}
    return [cut(f"{place[name]}. {name}", size, _LABEL_ROOM) for name in names]


def _cells(cells: Sequence[Cell], kept: Sequence[str], side: float, left: float, above: float) -> list[dict[str, Any]]:
    place = {name: number for number, name in enumerate(kept)}
    totals: Counter[str] = Counter()
    for cell in cells:
        totals[cell.truth] += cell.count
    rows = []
    for cell in cells:
        if cell.count and cell.truth in place and cell.predicted in place:
            x, y = left + side * place[cell.predicted], above + side * place[cell.truth]
            written = f"{cell.count:,}"
            rows.append(
                {
                    "x": x,
                    "x2": x + side,
                    "y": y,
                    "y2": y + side,
                    "step": step(cell.count, totals[cell.truth]),
                    "text": written if width(written, _fitting(side)) <= side - 2 else "",
                    "middle": x + side / 2,
                    "centre": y + side / 2,
                    "size": _fitting(side),
                    "right": cell.truth == cell.predicted,
                }
            )
    return rows


def _fitting(side: float) -> float:
    return 9 if side < 20 else SMALL


def step(count: int, total: int) -> int:
    """Return the step of a share, from 1 for anything above zero.

    >>> step(1, 100), step(50, 100), step(100, 100)
    (1, 3, 5)
    """
    return min(5, 1 + count * 5 // max(total, 1))


def _tiles(rows: Sequence[Mapping[str, Any]]) -> list[Spec]:
    box = {"x": pixel("x"), "x2": {"field": "x2"}, "y": pixel("y"), "y2": {"field": "y2"}}
    layers = []
    for number in range(1, 6):
        mine = [row for row in rows if row["step"] == number]
        words = [row for row in mine if row["text"]]
        size = rows[0]["size"] if rows else SMALL
        layers.append(layer("rect", mine, box, color=STEPS[number], stroke=LINE, strokeWidth=0.5))
        if words:
            looks = {"fontSize": size, "align": "center", "color": on_step(number)}
            layers.append(text(words, pixel("middle"), pixel("centre"), **looks))
    right = [row for row in rows if row["right"]]
    layers.append(layer("rect", right, box, filled=False, stroke=STRONG, strokeWidth=1.5))
    return layers


def _titles(left: float, above: float, total: float) -> list[Spec]:
    across = [{"text": "predicted", "x": left, "y": 8}]
    down = [{"text": "true", "x": 8, "y": above}]
    edge = [{"x": left, "x2": left + total, "y": above, "y2": above + total}]
    box = {"x": pixel("x"), "x2": {"field": "x2"}, "y": pixel("y"), "y2": {"field": "y2"}}
    return [
        layer("rect", edge, box, filled=False, stroke=LINE, strokeWidth=1),
        text(across, pixel("x"), pixel("y"), fontSize=SMALL, color=QUIET),
        text(down, pixel("x"), pixel("y"), fontSize=SMALL, color=QUIET, angle=270, align="right"),
    ]
