"""Which charts a part of a report has, each with its title and what it says in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from evalkit.charts.bars import bars, outcome
from evalkit.charts.confusion import MOST_CLASSES, confusion, kept_classes, short_names
from evalkit.charts.curve import curve
from evalkit.charts.grid import grid
from evalkit.charts.model import Curve, Grid, Measure, Part, Point, Reliability
from evalkit.charts.reliability import reliability, small_multiples
from evalkit.charts.vega import Spec
from evalkit.charts.words import NOT_MEASURED, number, target

MOST_PARTS = 8
"""Most parts of a report that are drawn; the tables have more."""

MOST_METRICS = 200
"""Most metrics of one part that are drawn."""

_AT_ONCE = 40
"""Metrics in one chart, so that none grows beyond what the renderer does at once."""

MOST_ROWS = 100
"""Most rows of a grid that are drawn."""

MOST_BINS = 200
"""Most bins of a diagram that is drawn."""

MOST_SMALL = 12
"""Most small diagrams."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart to be drawn.

    Attributes:
        title: What it is.
        caption: How to read it, and what is not on it.
        told: What it says, for those who do not see it.
        spec: The Vega-Lite specification; None where there is nothing to draw, which the caption then says.
    """

    title: str
    caption: str
    told: str
    spec: Spec | None


def figures(part: Part) -> Iterator[Figure]:
    """Yield the charts of a part."""
    yield from _measures(part.measures)
    if part.reliability is not None:
        yield _reliability(part.reliability)
    if part.curve is not None:
        yield _curve(part.curve)
    if part.cells is not None:
        yield _confusion(part)
    for one in part.grids:
        yield grid_figure(one)
    if part.small:
        yield _small(part.small)


def _measures(measures: tuple[Measure, ...]) -> Iterator[Figure]:
    for start in range(0, min(len(measures), MOST_METRICS), _AT_ONCE):
        here = measures[start : min(start + _AT_ONCE, MOST_METRICS)]
        caption = ""
        if start + _AT_ONCE >= MOST_METRICS and len(measures) > MOST_METRICS:
            caption = f"{len(measures) - MOST_METRICS:,} more metrics are not drawn; the tables have all."
        title = "Values and targets" if start == 0 else f"Values and targets, from {start + 1:,}"
        yield Figure(title, caption, ". ".join(map(told, here)), bars(here))


def told(one: Measure) -> str:
    """Say a metric in words.

    >>> told(Measure("recall", 0.5, limit=0.85, direction="higher", sample_size=12, met=False))
    'recall: 0.5000, target ≥ 0.85 missed, n = 12, higher is better'
    """
    name = f"{one.name} ({one.about})" if one.about else one.name
    said = [NOT_MEASURED if one.value is None else number(one.value, one.limit)]
    if one.limit is not None:
        said.append(f"target {target(one.limit, one.direction)}" + ("" if one.value is None else f" {outcome(one)}"))
    if one.sample_size is not None:
        said.append(f"n = {one.sample_size:,}")
    if one.direction != "none":
        said.append(f"{one.direction} is better")
    if one.remark:
        said.append(one.remark)
    return f"{name}: {', '.join(said)}"


def _reliability(one: Reliability) -> Figure:
    if not one.bins:
        return Figure("Reliability", f"Reliability is {NOT_MEASURED}: there is nothing in any bin.", NOT_MEASURED, None)
    if len(one.bins) > MOST_BINS:
        caption = f"{len(one.bins):,} bins are too many to be drawn; the tables have more."
        return Figure("Reliability", caption, caption, None)
    caption = (
        "Bars: accuracy in each bin of confidence. Points: the same at the bin's mean confidence, "
        "joined to the dashed line, on which confidence is accuracy. Below: records in each bin."
    )
    said = [
        f"{each.lower:.2f} to {each.upper:.2f}: {each.count:,} records, mean confidence "
        f"{number(each.mean_confidence)}, accuracy {number(each.accuracy)}"
        for each in one.bins[:MOST_ROWS]
    ]
    return Figure("Reliability", caption, ". ".join(said), reliability(one))


def _curve(one: Curve) -> Figure:
    title = "Coverage and precision"
    if not one.points and one.chosen.coverage is None:
        caption = f"The curve is {NOT_MEASURED}: no cut was chosen."
        return Figure(title, caption, NOT_MEASURED, None)
    said = ["No cut was chosen." if one.cut is None else f"Chosen cut: {one.cut!r}."]
    said.append(f"Filled diamond, on validation: {point_told(one.chosen)}.")
    said.append(f"Open square, on test: {point_told(one.scored)}.")
    if one.points is None:
        said.append("The whole curve is in a results folder only: compare --out.")
    else:
        said.append("Line: every cut on validation.")
    caption = " ".join(said)
    return Figure(title, caption, caption, curve(one))


def point_told(one: Point) -> str:
    """Say a point in words."""
    if one.coverage is None or one.precision is None:
        return NOT_MEASURED
    return f"coverage {number(one.coverage)}, precision {number(one.precision)}"


def _confusion(part: Part) -> Figure:
    title = "Confusion matrix"
    cells = part.cells or ()
    if not part.classes:
        return Figure(title, f"The confusion matrix is {NOT_MEASURED}: no record is in it.", NOT_MEASURED, None)
    kept = kept_classes(cells, part.classes)
    caption = "Records by true and predicted class; the darker, the larger the share of the true class. Framed: right."
    if short_names(kept, part.classes) != kept:
        caption += " Names are cut, and numbered in the order of the classes below."
    if len(kept) < len(part.classes):
        caption += f" The {MOST_CLASSES} classes of most records, of {len(part.classes):,}."
    total = sum(one.count for one in cells)
    right = sum(one.count for one in cells if one.truth == one.predicted)
    told_of = f"{total:,} records in {len(part.classes):,} classes, {right:,} of them right"
    return Figure(title, caption, told_of, confusion(cells, part.classes))


def grid_figure(one: Grid) -> Figure:
    """Return the chart of rows under common columns."""
    shown = replace(one, rows=one.rows[:MOST_ROWS])
    left_out = len(one.rows) - len(shown.rows)
    caption = f"{left_out:,} more rows are not drawn; the tables have more." if left_out else ""
    names = ", ".join(row.name for row in islice(one.rows, 20))
    columns = ", ".join(column.name for column in one.columns)
    return Figure(one.title, caption, f"{len(one.rows):,} rows with {columns}: {names}", grid(shown))


def _small(families: tuple[Reliability, ...]) -> Figure:
    found = [one for one in families if len(one.bins) <= MOST_BINS]
    caption = "Bars and points as above, for each family."
    if len(families) > min(MOST_SMALL, len(found)):
        caption += f" {min(MOST_SMALL, len(found))} of {len(families):,}."
    names = ", ".join(one.name for one in found[:MOST_SMALL])
    return Figure("Reliability by family", caption, names, small_multiples(found[:MOST_SMALL]))
