"""What a person sees: the table of candidates, the verdict line, a refusal. Builds it; printing is the CLI's."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group
from rich.table import Table
from rich.text import Text

from evalkit.errors import Refusal, printable
from evalkit.families.selective import metrics
from evalkit.families.selective.result import Report
from evalkit.gates import GateResult

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
}


def refusal_text(refusal: Refusal) -> str:
    """Word a refusal for standard error."""
    broken = sum(refusal.counts.values())
    what = "1 violation" if broken == 1 else f"{broken:,} violations"
    head = f"refused: {what}; nothing was scored, nothing was written"
    return "\n".join([head, *(f"  {line}" for line in str(refusal).split("\n"))])


def report_view(report: Report) -> Group:
    """Build the view of a report: table, excluded classes, verdict."""
    lines = [*(Text(line) for line in _notes(report)), _verdict(report)]
    for line in lines:  # lines that a script may look for stay whole; a terminal folds them itself
        line.no_wrap, line.overflow = True, "ignore"
    return Group(_table(report), *lines)


def _table(report: Report) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    table.add_column("candidate", overflow="fold")
    table.add_column("threshold", justify="right")
    table.add_column("coverage", justify="right")
    for heading in _HEADINGS.values():
        table.add_column(heading, no_wrap=True)
    for one in report.candidates:
        gates = (one.gates[name] for name in _HEADINGS)
        model = Text(printable(one.model), style="bold" if one.model == report.recommended else "")
        table.add_row(model, _number(one.threshold), _number(one.coverage), *(_gate(gate) for gate in gates))
    return table


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


def _gate(result: GateResult) -> Text:
    if result.value is None:
        return Text("– not measured", style="red")
    word, style = ("✓ pass", "green") if result.passed else ("✗ fail", "red")
    return Text.assemble(f"{_distinct(result)} ", (word, style))


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


def _notes(report: Report) -> Iterator[str]:
    for one in report.candidates:
        if one.reason:
            yield f"{printable(one.model)}: blocked, {_REASONS[one.reason]}"
        if one.excluded_classes:
            labels = ", ".join(str(label) for label in one.excluded_classes)
            yield f"{printable(one.model)}: excluded classes {labels} (every record abstained)"
    records = sum(one.records for one in report.evidence)
    inputs = "1 input" if len(report.evidence) == 1 else f"{len(report.evidence):,} inputs"
    yield f"{records:,} records in {inputs}; coverage floor {report.min_coverage}"
    if report.synthetic:
        yield "synthetic: these records are invented and say nothing about a real model"


def _verdict(report: Report) -> Text:
    passing = sum(candidate.passed for candidate in report.candidates)
    of = f"{passing} of {len(report.candidates)} candidates passed all gates"
    if report.recommended is None:
        return Text.assemble(("BLOCKED", "bold red"), f": {of}")
    return Text.assemble(("GO", "bold green"), f": {printable(report.recommended)} is recommended; {of}")
