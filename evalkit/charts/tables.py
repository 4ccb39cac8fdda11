"""The numbers of a report as plain tables of text: what pages and Markdown show beside, or instead of, charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap

from evalkit.charts.grid import shown
from evalkit.charts.intervals import NO_INTERVAL, Interval, basis, bracket, plain_reason
from evalkit.charts.model import Cell, Curve, Grid, Measure, Part, Reliability, Row
from evalkit.charts.of_calibration import error_grid
from evalkit.charts.outcomes import outcome
from evalkit.charts.tables_panels import calibration_rows, forest_rows
from evalkit.charts.words import NOT_MEASURED, number, target

MOST_TABLED_PARTS = 100
"""Most parts of a report that have tables."""

MOST_TABLED_ROWS = 1_000
"""Most rows of a table; metrics are never left out."""

_SQUARE = 15
"""Most classes whose confusion matrix is a square table."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of text. The first column names the row.

    Attributes:
        caption: What it is, and what was left out.
        head: The names of the columns.
        rows: Its cells.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def tables(part: Part) -> Iterator[Table]:
    """Yield the tables of a part."""
    if part.forest is not None:
        yield from starmap(_table, forest_rows(part.forest))
    if part.measures:
        yield _measures(part.measures)
    if part.reliability is not None and part.reliability.bins:
        yield _bins(part.reliability)
    if part.curve is not None:
        yield _curve(part.curve)
    yield from _panels(part)
    if part.cells:
        yield _cells(part.cells, part.classes)
    for one in part.grids:
        yield grid_table(one)


def _panels(part: Part) -> Iterator[Table]:
    if part.calibration is not None:
        yield from starmap(_table, calibration_rows(part.calibration))
        if part.calibration.equal_mass.bins:
            yield _bins(part.calibration.equal_mass, "Reliability, bins of equal mass")
        if part.calibration.blocks:
            yield grid_table(error_grid(part.calibration))
    if part.risk is not None:
        yield from map(grid_table, part.risk.numbers)


def _table(caption: str, head: Sequence[str], rows: Sequence[tuple[str, ...]]) -> Table:
    if len(rows) > MOST_TABLED_ROWS:
        caption = f"{caption} (the first {MOST_TABLED_ROWS:,} of {len(rows):,} rows)"
    return Table(caption, tuple(head), tuple(rows[:MOST_TABLED_ROWS]))


def _measures(measures: Sequence[Measure]) -> Table:
    about = any(one.about for one in measures)
    sure = any(one.interval is not None for one in measures)
    ruled = any(one.ruling is not None for one in measures)
    more = (*(("interval",) if sure else ()), "target", *(("bound",) if ruled else ()))
    head = ("metric", *(("of",) if about else ()), "value", *more, "n", "better", "outcome", "remark")
    rows = [
        (
            one.name,
            *((one.about,) if about else ()),
            NOT_MEASURED if one.value is None else number(one.value, one.limit),
            *((_ends(one.value, one.interval),) if sure else ()),
            "none" if one.limit is None else target(one.limit, one.direction),
            *((number(None if one.ruling is None else one.ruling.bound, one.limit),) if ruled else ()),
            "–" if one.sample_size is None else f"{one.sample_size:,}",
            "–" if one.direction == "none" else one.direction,
            outcome(one),
            _remark(one),
        )
        for one in measures
    ]
    return Table("Values and targets", head, tuple(rows))


def _ends(value: float | int | None, one: Interval | None) -> str:
    """Write an interval's ends; a dash where there is none."""
    return "–" if value is None else bracket(one) or "–"


def _remark(one: Measure) -> str:
    said = [one.remark, one.reason or ""]
    if one.interval is not None and one.value is not None:
        said.append(basis(one.interval))
    if one.scale == "count":
        said.append("a count")
    elif one.scale == "fraction" or one.scale == "rate":
        said.append("above 1" if one.value is not None and one.value > 1 else "")
    return "; ".join(each for each in said if each)


def _bins(found: Reliability, caption: str = "Reliability") -> Table:
    head = ("confidence", "records", "mean confidence", "accuracy")
    rows = [
        (
            f"{one.lower:.4g} to {one.upper:.4g}",
            f"{one.count:,}",
            number(one.mean_confidence),
            _sure(one.accuracy, one.interval),
        )
        for one in found.bins
    ]
    return _table(caption, head, rows)


def _curve(found: Curve) -> Table:
    places = (("validation, where it was chosen", found.chosen), ("test", found.scored))
    rows = [(name, number(point.coverage), number(point.precision)) for name, point in places]
    cut = "no cut was chosen" if found.cut is None else f"at the cut {found.cut!r}"
    return _table(f"Coverage and precision, {cut}", ("split", "coverage", "precision"), rows)


def _cells(cells: Sequence[Cell], classes: Sequence[str]) -> Table:
    if len(classes) > _SQUARE:
        rows = [(one.truth, one.predicted, f"{one.count:,}") for one in cells if one.count]
        return _table("Confusion matrix", ("true", "predicted", "records"), rows)
    counts = {(one.truth, one.predicted): one.count for one in cells}
    square = [(truth, *(f"{counts.get((truth, other), 0):,}" for other in classes)) for truth in classes]
    return _table("Confusion matrix: true classes down, predicted across", ("true", *classes), square)


def grid_table(found: Grid) -> Table:
    """Return rows under common columns as a table."""
    head = (found.head, *(one.name for one in found.columns))
    rows = [(row.name, *(_cell(row, one.name) for one in found.columns)) for row in found.rows]
    return _table(found.title, head, rows)


def _cell(row: Row, name: str) -> str:
    return _sure(row.values.get(name), row.intervals.get(name))


def _sure(value: float | int | str | None, interval: Interval | None) -> str:
    """Write a value with its interval, or with why there is none."""
    if value is None or interval is None or interval.ends is not None:
        return shown(value, interval)
    return f"{shown(value)} ({NO_INTERVAL}: {plain_reason(interval.reason)})"
