"""What a person sees: the table of candidates, the verdict line, a refusal. Builds it; printing is the CLI's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from evalkit.cli.showing import bare_table, number, whole
from evalkit.cli.view_statistics import statistics_lines, statistics_tables
from evalkit.errors import Refusal, printable
from evalkit.families.selective import metrics
from evalkit.families.selective.candidate import Candidate, Stratum
from evalkit.families.selective.result import Report
from evalkit.gates import INSUFFICIENT, BoundResult, GateResult

_HEADINGS = {
    metrics.precision_at_coverage.name: "precision",
    metrics.macro_f1.name: "macro-F1",
    metrics.ece.name: "ECE",
}
_REASONS = {
    metrics.NO_VALIDATION: "no validation records",
    metrics.NO_TEST: "no test records",
    metrics.NO_CUT: "no cut clears the floor",
    metrics.NOTHING_ACCEPTED: "nothing accepted on test",
    INSUFFICIENT: "these records do not settle it",
}


def refusal_text(refusal: Refusal, done: str = "nothing was scored, nothing was written") -> str:
    """Word a refusal for standard error, with what was done all the same."""
    broken = sum(refusal.counts.values())
    what = "1 violation" if broken == 1 else f"{broken:,} violations"
    head = f"refused: {what}; {done}"
    return "\n".join([head, *(f"  {line}" for line in str(refusal).split("\n"))])


SHOWN_CANDIDATES = 20
"""Most candidates that the terminal shows; where there are more, the best."""

SHOWN_STRATA = 10
"""Most strata that the terminal shows: the worst."""


SHOWN_REMARKS = 10
"""Most remarks on candidates, and most excluded classes in one, that the terminal shows."""


_LONGEST = 40
"""Characters of a stratum that the terminal shows."""


def report_view(report: Report) -> Group:
    """Build the view of a report: candidates, worst strata, excluded classes, verdict."""
    shown = _shown(report)
    lines = [*(Text(line) for line in (*_remarks(shown), *_notes(report, shown))), _verdict(report)]
    strata = report.worst_strata(SHOWN_STRATA)
    tables = [_table(report, shown), *([_strata(strata)] if strata else [])]
    if report.statistics is not None:
        models = {one.model for one in shown}
        tables += statistics_tables(report.statistics, models)
        lines[:0] = map(Text, statistics_lines(report.statistics, models))
    return Group(*tables, *map(whole, lines))


def _shown(report: Report) -> Sequence[Candidate]:
    """Choose the candidates to show: all, by name, or where they are many the best."""
    if len(report.candidates) <= SHOWN_CANDIDATES:
        return report.candidates
    rank = sorted(report.candidates, key=lambda one: (not one.passed, -(one.macro_f1 or 0.0), one.model))
    return rank[:SHOWN_CANDIDATES]


def _strata(strata: Sequence[tuple[Candidate, Stratum]]) -> Table:
    """Build the table of strata: no gate applies, so none is said to pass."""
    table = bare_table()
    table.add_column("worst strata", overflow="fold")
    table.add_column("candidate", overflow="fold")
    for heading in ("records", "coverage", *_HEADINGS.values()):
        table.add_column(heading, justify="right")
    for candidate, one in strata:
        where = " × ".join(f"{_short(field)}={_short(value)}" for field, value in one.by.items())
        numbers = (one.coverage, one.precision_at_coverage, one.macro_f1, one.ece)
        table.add_row(where, printable(candidate.model), f"{one.total:,}", *(number(value) for value in numbers))
    return table


def _short(text: str) -> str:
    return printable(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")


def _table(report: Report, shown: Sequence[Candidate]) -> Table:
    table = bare_table()
    table.add_column("candidate", overflow="fold")
    table.add_column("threshold", justify="right")
    table.add_column("coverage", justify="right")
    for heading in _HEADINGS.values():
        table.add_column(heading, no_wrap=True)
    asked = {one.model: one.gates or {} for one in (report.statistics.candidates if report.statistics else ())}
    for one in shown:
        gates = (asked.get(one.model, {}).get(name, one.gates[name]) for name in _HEADINGS)
        model = Text(printable(one.model), style="bold" if one.model == report.recommended else "")
        table.add_row(model, number(one.threshold), number(one.coverage), *(_gate(gate) for gate in gates))
    return table


def _gate(result: GateResult | BoundResult) -> Text:
    if result.value is None:
        return Text("– not measured", style="red")
    if isinstance(result, BoundResult):
        word, style = _OUTCOMES[result.outcome]
        return Text.assemble(f"{number(result.value)} ", (word, style))
    word, style = ("✓ pass", "green") if result.passed else ("✗ fail", "red")
    return Text.assemble(f"{_distinct(result)} ", (word, style))


_OUTCOMES = {"passed": ("✓ pass", "green"), "failed": ("✗ fail", "red"), "insufficient": ("? open", "yellow")}


def _distinct(result: GateResult) -> str:
    """Write a value with as many decimals as tell it from the limit; past twelve, say on which side of it it is."""
    value, limit = result.value or 0.0, result.limit
    above = (result.direction == "higher") == result.passed
    if value == limit and result.passed:
        return f"{value:.4f}"
    for places in range(4, 13):
        text = f"{value:.{places}f}"
        if float(text) != limit:
            return text
    return f"{'>' if above else '<'}{limit:.4f}"


def _remarks(shown: Sequence[Candidate]) -> Iterator[str]:
    """Say of each candidate what the table cannot; of many only the first."""
    found = [line for one in shown for line in _remarks_on(one)]
    yield from found[:SHOWN_REMARKS]
    if len(found) > SHOWN_REMARKS:
        yield f"… and {len(found) - SHOWN_REMARKS} more such remarks; --json has all"


def _remarks_on(one: Candidate) -> Iterator[str]:
    if one.reason:
        yield f"{printable(one.model)}: blocked, {_REASONS[one.reason]}"
    if one.excluded_classes:
        labels = ", ".join(printable(str(label)) for label in one.excluded_classes[:SHOWN_REMARKS])
        more = f" and {len(one.excluded_classes) - SHOWN_REMARKS:,} more"
        more = more if len(one.excluded_classes) > SHOWN_REMARKS else ""
        yield f"{printable(one.model)}: excluded classes {labels}{more} (every record abstained)"


def _notes(report: Report, shown: Sequence[Candidate]) -> Iterator[str]:
    if len(shown) < len(report.candidates):
        yield f"the {len(shown)} best of {len(report.candidates):,} candidates; --json and --out have all"
    records = sum(one.records for one in report.evidence)
    inputs = "1 input" if len(report.evidence) == 1 else f"{len(report.evidence):,} inputs"
    yield f"{records:,} records in {inputs}; coverage floor {report.min_coverage}"
    if report.policy is not None:
        qualities = printable(", ".join(report.policy.accepted_quality))
        yield f"policy: quality {qualities}; confidence at least {report.policy.confidence_floor}"
    if report.synthetic:
        yield "synthetic: these records are invented and say nothing about a real model"


def _verdict(report: Report) -> Text:
    passing = sum(candidate.passed for candidate in report.candidates)
    of = f"{passing} of {len(report.candidates)} candidates passed all gates"
    if changed := report.changed_limits:
        of += f"; not the default limits: {', '.join(f'{name} {limit}' for name, limit in changed.items())}"
    if report.recommended is None:
        return Text.assemble(("BLOCKED", "bold red"), f": {of}")
    return Text.assemble(("GO", "bold green"), f": {printable(report.recommended)} is recommended; {of}")
