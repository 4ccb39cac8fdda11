"""Which charts a part of a report has, each with its title and what it says in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from evalkit.charts.bars import bars
from evalkit.charts.confusion import MOST_CLASSES, confusion, kept_classes, short_names
from evalkit.charts.curve import curve
from evalkit.charts.figure import Figure
from evalkit.charts.figures_panels import calibration_figures, forest_figure, risk_figure
from evalkit.charts.grid import grid, shown
from evalkit.charts.intervals import basis, bracket, plain_reason
from evalkit.charts.model import Curve, Grid, Measure, Part, Point, Reliability
from evalkit.charts.of_calibration import error_grid
from evalkit.charts.outcomes import outcome
from evalkit.charts.reliability import has_whisker, reliability, small_multiples
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


def figures(part: Part) -> Iterator[Figure]:
    """Yield the charts of a part."""
    if part.forest is not None:
        yield forest_figure(part.forest)
    yield from _measures(part.measures)
    if part.reliability is not None:
        yield reliability_figure(part.reliability)
    if part.curve is not None:
        yield _curve(part.curve)
    yield from _panels(part)
    if part.cells is not None:
        yield _confusion(part)
    for one in part.grids:
        yield grid_figure(one)
    if part.small:
        yield _small(part.small)


def _panels(part: Part) -> Iterator[Figure]:
    """Yield the charts of calibration against chance, and of risk and coverage, each with its numbers."""
    if part.calibration is not None:
        corp, parts = calibration_figures(part.calibration)
        yield from (corp, parts)
        yield replace(reliability_figure(part.calibration.equal_mass), title="Reliability, bins of equal mass")
    if part.risk is not None:
        yield risk_figure(part.risk)
    if part.calibration is not None and part.calibration.blocks:
        yield grid_figure(error_grid(part.calibration))
    if part.risk is not None:
        yield from map(grid_figure, part.risk.numbers)


def _measures(measures: tuple[Measure, ...]) -> Iterator[Figure]:
    for start in range(0, min(len(measures), MOST_METRICS), _AT_ONCE):
        here = measures[start : min(start + _AT_ONCE, MOST_METRICS)]
        caption = _sureness(here)
        if start + _AT_ONCE >= MOST_METRICS and len(measures) > MOST_METRICS:
            caption = f"{caption} {len(measures) - MOST_METRICS:,} more metrics are not drawn; the tables have all."
        title = "Values and targets" if start == 0 else f"Values and targets, from {start + 1:,}"
        yield Figure(title, caption.strip(), ". ".join(map(told, here)), bars(here))


def _sureness(measures: tuple[Measure, ...]) -> str:
    """Say how whiskers and bounds are read, where there are any."""
    said = []
    if any(one.interval is not None and one.interval.ends is not None for one in measures):
        said.append("Whiskers: from the low to the high end of the interval.")
    if any(one.ruling is not None and one.ruling.bound is not None for one in measures):
        said.append(
            "Triangle below a bar: the one-sided bound that is held against the target. "
            "Passed: the bound meets it; failed: the bound on the other side misses it too; "
            "insufficient evidence: the records do not settle it."
        )
    return " ".join(said)


def told(one: Measure) -> str:
    """Say a metric in words.

    >>> told(Measure("recall", 0.5, limit=0.85, direction="higher", sample_size=12, met=False))
    'recall: 0.5000, target ≥ 0.85 missed, n = 12, higher is better'
    """
    name = f"{one.name} ({one.about})" if one.about else one.name
    said = [NOT_MEASURED if one.value is None else number(one.value, one.limit)]
    if one.value is not None and one.interval is not None:
        said.append(f"interval {bracket(one.interval)}" if one.interval.ends else basis(one.interval))
    if one.limit is not None:
        said.append(f"target {target(one.limit, one.direction)}" + ("" if one.value is None else f" {outcome(one)}"))
    if one.sample_size is not None:
        said.append(f"n = {one.sample_size:,}")
    if one.direction != "none":
        said.append(f"{one.direction} is better")
    if one.remark:
        said.append(one.remark)
    return f"{name}: {', '.join(said)}"


def reliability_figure(one: Reliability) -> Figure:
    """Return the chart of confidence against accuracy."""
    if not one.bins:
        return Figure("Reliability", f"Reliability is {NOT_MEASURED}: there is nothing in any bin.", NOT_MEASURED, None)
    if len(one.bins) > MOST_BINS:
        caption = f"{len(one.bins):,} bins are too many to be drawn; the tables have more."
        return Figure("Reliability", caption, caption, None)
    joined = "with its interval; on" if any(map(has_whisker, one.bins)) else "joined to the dashed line, on which"
    dashed = " the dashed line" if "with" in joined else ""
    caption = (
        "Bars: accuracy in each bin of confidence. Points: the same at the bin's mean confidence, "
        f"{joined}{dashed} confidence is accuracy. Below: records in each bin."
    )
    said = [
        f"{each.lower:.2f} to {each.upper:.2f}: {each.count:,} records, mean confidence "
        f"{number(each.mean_confidence)}, accuracy {shown(each.accuracy, each.interval)}"
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
    drawn = replace(one, rows=one.rows[:MOST_ROWS])
    left_out = len(one.rows) - len(drawn.rows)
    said = [f"{left_out:,} more rows are not drawn; the tables have more."] if left_out else []
    reasons = {plain_reason(found.reason) for row in drawn.rows for found in row.intervals.values() if not found.ends}
    said += [f"No interval: {'; '.join(sorted(reasons))}."] if reasons else []
    caption = " ".join(said)
    names = ", ".join(row.name for row in islice(one.rows, 20))
    columns = ", ".join(column.name for column in one.columns)
    return Figure(one.title, caption, f"{len(one.rows):,} rows with {columns}: {names}", grid(drawn))


def _small(families: tuple[Reliability, ...]) -> Figure:
    found = [one for one in families if len(one.bins) <= MOST_BINS]
    caption = "Bars and points as above, for each family."
    if len(families) > min(MOST_SMALL, len(found)):
        caption += f" {min(MOST_SMALL, len(found))} of {len(families):,}."
    names = ", ".join(one.name for one in found[:MOST_SMALL])
    return Figure("Reliability by family", caption, names, small_multiples(found[:MOST_SMALL]))
