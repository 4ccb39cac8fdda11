"""What a person sees of an evaluation: a line for all rows and one for each family."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group
from rich.table import Table
from rich.text import Text

from evalkit.cli.showing import bare_table, number, whole
from evalkit.cli.view_sureness import statistics_lines, statistics_tables
from evalkit.errors import printable
from evalkit.families.probability.family import Metrics
from evalkit.families.probability.result import Evaluation

SHOWN_ROWS = 50
"""Most lines that the terminal shows; where there are more, those that stand first."""

_HEADINGS = ("accuracy", "balanced", "ECE", "NLL", "Brier", "n")


def evaluation_view(report: Evaluation) -> Group:
    """Build the view of a report."""
    rows = list(_rows(report))
    notes = [Text(line) for line in (_head(report), *_notes(report, len(rows)))]
    table = _table(rows[:SHOWN_ROWS], named=report.by_model is not None)
    sure = [] if report.statistics is None else list(statistics_tables(report.statistics))
    parts = [part for one in sure for part in (Text(""), one)]
    told = [] if report.statistics is None else [Text(line) for line in statistics_lines(report.statistics)]
    return Group(table, *parts, *map(whole, [*told, *notes]))


def _rows(report: Evaluation) -> Iterator[tuple[str, str, Metrics]]:
    for model, own in report.models.items():
        yield model or "", "overall", own.overall
        for family, one in own.by_family.items():
            yield model or "", f"  {family}", one


def _table(rows: list[tuple[str, str, Metrics]], *, named: bool) -> Table:
    table = bare_table()
    if named:
        table.add_column("model", overflow="fold")
    table.add_column("family", overflow="fold")
    for heading in _HEADINGS:
        table.add_column(heading, justify="right")
    for model, family, one in rows:
        numbers = (one.accuracy, one.balanced_accuracy, one.ece, one.nll, one.brier_multiclass)
        style = "" if family.startswith(" ") else "bold"
        first = [Text(printable(model), style=style)] if named else []
        table.add_row(*first, Text(printable(family), style=style), *map(number, numbers), f"{one.n_items:,}")
    return table


def _head(report: Evaluation) -> str:
    """Say how many rows there are: where models are named, of each model."""
    one = next(iter(report.models.values())).overall
    rows = "1 row" if one.n_items == 1 else f"{one.n_items:,} rows"
    if report.by_model is None:
        return f"{rows}, {one.n_scored:,} scored, {one.n_missing:,} missing, {_bins(report)}"
    models = "1 model" if len(report.by_model) == 1 else f"{len(report.by_model):,} models"
    scored = sum(own.overall.n_scored for own in report.by_model.values())
    missing = sum(own.overall.n_missing for own in report.by_model.values())
    return f"{rows} for each of {models}, {scored:,} scored, {missing:,} missing, {_bins(report)}"


def _bins(report: Evaluation) -> str:
    return "1 bin" if report.bins == 1 else f"{report.bins:,} bins"


def _notes(report: Evaluation, rows: int) -> Iterator[str]:
    if rows > SHOWN_ROWS:
        yield f"the first {SHOWN_ROWS} of {rows:,} lines; --json and --out have all"
    if report.synthetic:
        yield "synthetic: these records are invented and say nothing about a real model"
