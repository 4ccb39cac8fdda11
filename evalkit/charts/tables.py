"""The numbers of a report as plain tables of text: what pages and Markdown show beside, or instead of, charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalkit.charts.bars import outcome
from evalkit.charts.grid import shown
from evalkit.charts.model import Cell, Curve, Grid, Measure, Part, Reliability
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
    if part.measures:
        yield _measures(part.measures)
    if part.reliability is not None and part.reliability.bins:
        yield _bins(part.reliability)
    if part.curve is not None:
        yield _curve(part.curve)
    if part.cells:
        yield _cells(part.cells, part.classes)
    for one in part.grids:
        yield grid_table(one)


def _table(caption: str, head: Sequence[str], rows: Sequence[tuple[str, ...]]) -> Table:
    if len(rows) > MOST_TABLED_ROWS:
        caption = f"{caption} (the first {MOST_TABLED_ROWS:,} of {len(rows):,} rows)"
    return Table(caption, tuple(head), tuple(rows[:MOST_TABLED_ROWS]))


def _measures(measures: Sequence[Measure]) -> Table:
    about = any(one.about for one in measures)
    head = ("metric", *(("of",) if about else ()), "value", "target", "n", "better", "outcome", "remark")
    rows = [
        (
            one.name,
            *((one.about,) if about else ()),
            NOT_MEASURED if one.value is None else number(one.value, one.limit),
            "none" if one.limit is None else target(one.limit, one.direction),
            "–" if one.sample_size is None else f"{one.sample_size:,}",
            "–" if one.direction == "none" else one.direction,
            outcome(one),
            _remark(one),
        )
        for one in measures
    ]
    return Table("Values and targets", head, tuple(rows))


def _remark(one: Measure) -> str:
    said = [one.remark, one.reason or ""]
    if one.scale == "count":
        said.append("a count")
    elif one.scale == "fraction" or one.scale == "rate":
        said.append("above 1" if one.value is not None and one.value > 1 else "")
    return "; ".join(each for each in said if each)


def _bins(found: Reliability) -> Table:
    head = ("confidence", "records", "mean confidence", "accuracy")
    rows = [
        (f"{one.lower:.4g} to {one.upper:.4g}", f"{one.count:,}", number(one.mean_confidence), number(one.accuracy))
        for one in found.bins
    ]
    return _table("Reliability", head, rows)


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
    rows = [(row.name, *(shown(row.values.get(one.name)) for one in found.columns)) for row in found.rows]
    return _table(found.title, head, rows)
