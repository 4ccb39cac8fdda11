"""``evalkit history``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from evalkit.cli.ending import GO, exit_codes, printing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Group
    from rich.table import Table

    from evalkit.nights.history import TrendRow

Format = Literal["table", "csv", "json"]


def history(
    store: Annotated[str, typer.Argument(metavar="STORE", help="The store that evalkit nightly writes.")],
    *,
    evaluation: Annotated[str | None, typer.Option(metavar="NAME", help="Only this evaluation.")] = None,
    metric: Annotated[
        str | None, typer.Option(metavar="NAME", help="Only this metric. Without one, those that a gate is on.")
    ] = None,
    format: Annotated[Format, typer.Option(help="How the rows are printed.")] = "table",
) -> None:
    """Print what every night of a store says of its metrics.

    A row is one number of one night, with the limit that was stated, the one
    that an earlier night gave, whether it passed, and the verdict of the night.

    Exit codes: 0 printed, 2 refused.
    """
    with exit_codes():
        from evalkit.nights.history import history as read

        rows = read(store, evaluation=evaluation, metric=metric)
        with printing():
            _show(rows, format)
    raise typer.Exit(GO)


def _show(rows: Sequence[TrendRow], format: Format) -> None:
    from evalkit.cli.showing import show_json, show_view

    if sys.stdout is None:
        return
    if format == "json":
        show_json(rows)
    elif format == "csv":
        _show_csv(rows)
    else:
        show_view(_view(rows), sys.stdout)


def _show_csv(rows: Sequence[TrendRow]) -> None:
    import csv
    import io
    from dataclasses import asdict, fields

    from evalkit.nights.history import TrendRow

    text = io.StringIO()
    writer = csv.DictWriter(text, [one.name for one in fields(TrendRow)], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: str(v).lower() if isinstance(v, bool) else v for name, v in asdict(row).items()})
    sys.stdout.buffer.write(text.getvalue().encode("utf-8"))


def _view(rows: Sequence[TrendRow]) -> Group:
    """Build the view: a table for each evaluation and metric."""
    from itertools import groupby

    from rich.console import Group
    from rich.text import Text

    from evalkit.cli.showing import whole
    from evalkit.errors import printable

    parts: list[Text | Table] = []
    for (evaluation, metric), group in groupby(rows, key=lambda row: (row.evaluation, row.metric)):
        own = list(group)
        better = "" if own[0].direction == "none" else f", {own[0].direction} is better"
        parts += [whole(Text(printable(f"{evaluation}: {metric}{better}"), style="bold")), _table(own)]
    return Group(*parts)


def _table(rows: Sequence[TrendRow]) -> Table:
    from rich.text import Text

    from evalkit.charts.words import number
    from evalkit.cli.showing import bare_table
    from evalkit.errors import printable

    table = bare_table()
    table.add_column("date", no_wrap=True)
    table.add_column("model", overflow="fold")
    for heading in ("value", "limit", "baseline", "n"):
        table.add_column(heading, justify="right")
    table.add_column("passed")
    table.add_column("verdict")
    for row in rows:
        limits = ("–" if one is None else f"{one:g}" for one in (row.limit, row.baseline_limit))
        passed = {True: "yes", False: "no", None: "–"}[row.passed]
        numbers = (number(row.value, row.limit), *limits, f"{row.sample_size:,}")
        table.add_row(row.date, Text(printable(row.model or "–")), *numbers, passed, row.verdict)
    return table
