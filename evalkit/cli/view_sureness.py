"""What a person sees of the statistics of an evaluation: intervals over all families, and calibration beside chance."""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from evalkit.cli.showing import bare_table, number, sure
from evalkit.errors import printable
from evalkit.uncertainty.told import ROW, Candidate, Statistics

SHOWN_MODELS = 20
"""Most models that the terminal shows."""


def statistics_tables(found: Statistics) -> Iterator[Table]:
    """Build the tables of what was asked for.

    Args:
        found: The statistics.
    """
    shown = found.candidates[:SHOWN_MODELS]
    if any(one.intervals for one in shown):
        yield _intervals(shown)
    if any(one.calibration is not None for one in shown):
        yield _calibration(shown)


def statistics_lines(found: Statistics) -> Iterator[str]:
    """Say of what confidence intervals are, and what they take as one."""
    level = f"{found.level * 100:.10g}"
    what = "rows as they are" if found.clustered_by == ROW else f"rows clustered by {printable(found.clustered_by)}"
    if any(one.intervals for one in found.candidates):
        yield f"{level}% intervals, {what}; --json and --out have those of families, classes and bins"


def _table(shown: tuple[Candidate, ...]) -> Table:
    """Make a table that names models where they have names."""
    table = bare_table()
    if _named(shown):
        table.add_column("model", overflow="fold")
    return table


def _named(shown: tuple[Candidate, ...]) -> bool:
    return any(one.model is not None for one in shown)


def _intervals(shown: tuple[Candidate, ...]) -> Table:
    table = _table(shown)
    table.add_column("overall")
    table.add_column("interval", no_wrap=True)
    table.add_column("clusters", justify="right")
    for one in shown:
        first = [printable(one.model or "")] if _named(shown) else []
        for told in one.intervals:
            if told.label is None and told.bin is None and told.value is not None:
                shown_as = sure(told.value, told.low, told.high, told.reason)
                table.add_row(*first, told.name, shown_as, f"{told.contributors:,}")
    return table


def _calibration(shown: tuple[Candidate, ...]) -> Table:
    """Show the calibration error over all families beside what chance alone gives."""
    table = _table(shown)
    for heading in ("ECE", "by chance", "p", "debiased²", "smooth", "class-wise"):
        table.add_column(heading, justify="right")
    for one in shown:
        top, classes = one.calibration["top_label"], one.calibration["class_wise"]
        chance = top["null_error"]
        numbers = (top["equal_width"]["plug_in"], chance["expected"], chance["p_value"])
        more = (top["equal_width"]["debiased"], top["smooth"], classes["plug_in"])
        table.add_row(*([printable(one.model or "")] if _named(shown) else []), *map(number, (*numbers, *more)))
    return table
