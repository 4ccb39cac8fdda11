"""What a person sees of statistics: each candidate's numbers with their intervals, and what else was asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from rich.table import Table

from evalkit.cli.showing import bare_table, number
from evalkit.errors import printable
from evalkit.families.selective import metrics
from evalkit.families.selective.comparison import Comparison
from evalkit.families.selective.sureness import (
    NO_EXCLUDED,
    SUPPORT,
    CandidateStatistics,
    IntervalRow,
    Statistics,
)
from evalkit.risk_coverage.shown import Estimate
from evalkit.uncertainty.difference import Difference

_HEADINGS = {
    metrics.coverage.name: "coverage",
    metrics.precision_at_coverage.name: "precision",
    metrics.macro_f1.name: "macro-F1",
    metrics.ece.name: "ECE",
}


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
    if any(one.risk_coverage is not None for one in shown):
        tables.append(_areas(shown))
    if sure.comparison is not None:
        tables.append(_differences(sure.comparison))
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


def _areas(shown: list[CandidateStatistics]) -> Table:
    """Build the table of the risk–coverage curve: its areas on test with their intervals, and where it ends."""
    table = bare_table()
    table.add_column("risk–coverage", overflow="fold", min_width=13)
    for heading in ("reaches", "AURC", "E-AURC", "AUGRC"):
        table.add_column(heading)
    for one in shown:
        if one.risk_coverage is not None:
            found = one.risk_coverage["test"]
            areas = (found.aurc, found.e_aurc, found.augrc)
            table.add_row(printable(one.model), number(found.reached_coverage), *map(_area, areas))
    return table


def _area(found: Estimate) -> str:
    low, high = found.interval.low, found.interval.high
    return number(found.value) + ("" if low is None or high is None else f" [{low:.3f}–{high:.3f}]")


def _differences(found: Comparison) -> Table:
    """Build the table of differences: each candidate minus the baseline, with the interval and what a margin says."""
    table = bare_table()
    table.add_column(f"minus {printable(found.baseline)}", overflow="fold", min_width=13)
    for heading in _HEADINGS.values():
        table.add_column(heading)
    for one in found.against:
        known = {each.name: each for each in one.differences}
        table.add_row(printable(one.model), *(_difference(known.get(name)) for name in _HEADINGS))
    return table


def _difference(found: Difference | None) -> str:
    if found is None or found.value is None:
        return "–"
    if found.low is None or found.high is None:
        return f"{found.value:+.3f}"
    margin = "" if found.non_inferiority is None else f" {_MARGINS[found.non_inferiority.outcome]}"
    return f"{found.value:+.3f} [{found.low:+.3f}, {found.high:+.3f}]{margin}"


_MARGINS = {"passed": "✓", "failed": "✗", "insufficient": "?"}


def _ends(row: IntervalRow | None) -> str:
    if row is None or row.low is None or row.high is None:
        return "–"
    return f"{row.low:.3f}–{row.high:.3f}"


def statistics_lines(sure: Statistics, models: Collection[str]) -> Iterator[str]:
    """Say of each candidate on how many contributors it rests, and what is not settled."""
    for one in sure.candidates:
        if one.model not in models:
            continue
        told = (_contributors(one, sure), *_gates(one), *_without_interval(one), *_ranks(one))
        yield from (f"{printable(one.model)}: {line}" for line in told)
    if sure.comparison is not None:
        yield from _compared(sure.comparison)


def _gates(one: CandidateStatistics) -> Iterator[str]:
    """Say what is not settled, and which condition is not met; what failed on its bound the table says."""
    for name, gate in (one.gates or {}).items():
        if gate.value is None or gate.outcome == "passed":
            continue
        if name == SUPPORT:
            yield f"a label in truth has {gate.value:,.0f} accepted test records, asked {gate.limit:,.0f} of each"
        elif name == NO_EXCLUDED:
            yield f"no class may be excluded, and {gate.value:,.0f} {'is' if gate.value == 1 else 'are'}"
        elif gate.outcome == "insufficient":
            reach = "at least" if gate.direction == "higher" else "at most"
            known = "no bound" if gate.bound is None else f"sure of {reach} {number(gate.bound)}"
            yield f"{name} not settled, {known}, asked {gate.limit:g} ({_words(gate.reason)})"


def _without_interval(one: CandidateStatistics) -> Iterator[str]:
    """Say of which numbers of the table there is no interval, and why, where no gate has said it."""
    told = {name for name, gate in (one.gates or {}).items() if gate.bound is None and gate.reason is not None}
    rows = {row.name: row for row in one.intervals or () if row.label is None and row.bin is None}
    found = [rows[name] for name in _HEADINGS if name in rows and name not in told]
    yield from _missing("no interval of", [(row.name, row.reason) for row in found if row.value is not None])


def _missing(what: str, numbers: Iterable[tuple[str, str | None]]) -> Iterator[str]:
    """Name the numbers that have a reason instead of an interval, reason by reason."""
    why: dict[str, list[str]] = {}
    for name, reason in numbers:
        if reason is not None:
            why.setdefault(reason, []).append(_HEADINGS[name])
    yield from (f"{what} {', '.join(names)} ({_words(reason)})" for reason, names in why.items())


def _words(reason: str | None) -> str:
    return (reason or "").replace("-", " ")


def _ranks(one: CandidateStatistics) -> Iterator[str]:
    """Say what validation promised beyond test, and which thresholds are certified."""
    if one.optimism is not None and (gap := one.optimism.precision).difference is not None:
        yield (
            f"precision {number(gap.validation)} on validation, {number(gap.test)} on test: "
            f"optimism {gap.difference:+.4f}"
        )
    for found in one.certified or ():
        claim = f"precision of at least {found.target:g} with {found.confidence:.0%} confidence"
        if found.threshold is None:
            yield f"no threshold can be certified for a {claim} ({_words(found.reason)})"
        else:
            counts = f"{found.errors:,} of {found.accepted:,} accepted are wrong on validation"
            yield f"{found.threshold:g} is certified for a {claim}: {counts}"


def _compared(found: Comparison) -> Iterator[str]:
    """Say of paired records who has which right, and what the best of many shows by luck."""
    for one in found.against:
        if one.reason is not None:
            yield f"{printable(one.model)}: not compared, {_words(one.reason)}"
        missing = [(each.name, each.reason) for each in one.differences if each.value is not None]
        yield from (f"{printable(one.model)}: {line}" for line in _missing("no interval of the difference in", missing))
        if (pairs := one.pairs) is not None:
            only = pairs.discordant
            told = f"{only.only_candidate_right:,} right only here, {only.only_baseline_right:,} only there"
            test = f"McNemar by contributor {_chance(pairs.adjusted_p_value)}"
            yield f"{printable(one.model)}: {pairs.paired:,} records paired, {told}; {test}"
    if found.best_of is not None:
        yield found.best_of.text


def _contributors(one: CandidateStatistics, sure: Statistics) -> str:
    if one.effective_contributors is None or one.largest_share is None:
        return "no test records of any contributor"
    few = one.intervals is not None and one.contributors < sure.min_contributors
    short = f", fewer than the {sure.min_contributors:,} that an interval needs" if few else ""
    equal = f"they weigh as {one.effective_contributors:,.1f} equal ones"
    return f"{one.contributors:,} contributors on test{short}; {equal}, the largest has {one.largest_share:.1%}"


def _chance(found: float | None) -> str:
    if found is None:
        return "not tested"
    return "p < 0.0001" if found < 0.0001 else f"p = {found:.4f}"
