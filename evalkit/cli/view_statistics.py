"""What a person sees of statistics: each candidate's numbers with their intervals, and what else was asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from rich.table import Table

from evalkit.cli.showing import bare_table, number
from evalkit.errors import printable
from evalkit.families.selective import metrics
from evalkit.families.selective.sureness import CandidateStatistics, IntervalRow, Statistics

_HEADINGS = {
    metrics.coverage.name: "coverage",
    metrics.precision_at_coverage.name: "precision",
    metrics.macro_f1.name: "macro-F1",
    metrics.ece.name: "ECE",
}
_REASONS = {"undefined-in-resamples": "undefined in resamples"}


def statistics_tables(sure: Statistics, models: Collection[str]) -> list[Table]:
    """Build the tables of what was asked for.

    Args:
        sure: The statistics.
        models: The candidates to show.
    """
    shown = [one for one in sure.candidates if one.model in models]
    tables = []
    if any(one.intervals is not None for one in shown):
        tables.append(_intervals(sure, shown))
    if any(one.calibration is not None for one in shown):
        tables.append(_calibration(shown))
    return tables


def _intervals(sure: Statistics, shown: list[CandidateStatistics]) -> Table:
    table = bare_table()
    table.add_column(f"{100 * sure.level:g} % interval", overflow="fold", min_width=13)
    for heading in _HEADINGS.values():
        table.add_column(heading, no_wrap=True)
    for one in shown:
        rows = {row.name: row for row in one.intervals or () if row.label is None and row.bin is None}
        table.add_row(printable(one.model), *(_ends(rows.get(name)) for name in _HEADINGS))
    return table


def _calibration(shown: list[CandidateStatistics]) -> Table:
    """Build the table of calibration: the error, what chance alone gives, and what needs no bins or less luck."""
    table = bare_table()
    table.add_column("calibration", overflow="fold", min_width=13)
    for heading in ("ECE", "by chance", "p", "debiased²", "smooth", "MCB", "DSC", "UNC"):
        table.add_column(heading, justify="right")
    for one in shown:
        if (found := one.calibration) is None:
            continue
        chance, brier = found.null_error, found.corp.brier
        numbers = (found.equal_width.plug_in, chance.expected, chance.p_value, found.equal_width.debiased)
        parts = (found.smooth, brier.miscalibration, brier.discrimination, brier.uncertainty)
        table.add_row(printable(one.model), *map(number, (*numbers, *parts)))
    return table


def _ends(row: IntervalRow | None) -> str:
    if row is None or row.value is None:
        return "–"
    if row.low is None or row.high is None:
        return "–" if row.reason == "insufficient-contributors" else _REASONS.get(row.reason or "", "–")
    return f"{row.low:.3f}–{row.high:.3f}"


def statistics_lines(sure: Statistics, models: Collection[str]) -> Iterator[str]:
    """Say of each candidate on how many contributors it rests, and what is not settled."""
    for one in sure.candidates:
        if one.model not in models:
            continue
        yield f"{printable(one.model)}: {_contributors(one, sure)}"
        for name, gate in (one.gates or {}).items():
            if gate.outcome == "insufficient":
                reach = "at least" if gate.direction == "higher" else "at most"
                known = "no bound" if gate.bound is None else f"sure of {reach} {number(gate.bound)}"
                reason = (gate.reason or "").replace("-", " ")
                yield f"{printable(one.model)}: {name} not settled, {known}, asked {gate.limit:g} ({reason})"


def _contributors(one: CandidateStatistics, sure: Statistics) -> str:
    if one.effective_contributors is None or one.largest_share is None:
        return "no test records of any contributor"
    few = one.intervals is not None and one.contributors < sure.min_contributors
    short = f", fewer than the {sure.min_contributors:,} that an interval needs" if few else ""
    equal = f"they weigh as {one.effective_contributors:,.1f} equal ones"
    return f"{one.contributors:,} contributors on test{short}; {equal}, the largest has {one.largest_share:.1%}"
