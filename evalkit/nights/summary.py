"""What a night says, as Markdown that fits the summary of a CI step: the same store and job give the same text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalkit.charts.markdown import plain
from evalkit.charts.words import SYNTHETIC, number, target
from evalkit.nights.outcome import NightlyRun, Outcome
from evalkit.nights.verdict import BASELINE, Change, Held, Verdict

MOST_BYTES = 900_000
"""Longest text; GitHub takes one MiB."""

_MOST_GATES = 50
_MOST_CHANGES = 30
_WORDS = {
    "no-earlier-go": "there is no earlier GO to compare with",
    "baseline-lacks-metric": "the baseline has no such value to compare with",
    "nothing-recommended": "no candidate is recommended, so none is compared",
}


def summary(run: NightlyRun) -> str:
    """Write down what became of a job."""
    held = "\n\n".join(_head(run))
    size = len(held.encode())
    for place, outcome in enumerate(run.outcomes):
        section = "\n\n" + "\n\n".join(_section(outcome))
        size += len(section.encode())
        if size > MOST_BYTES:
            return f"{held}\n\n{len(run.outcomes) - place:,} more are not shown; the store has all.\n"
        held += section
    return held + "\n"


def overall(run: NightlyRun) -> str:
    """Say in a word how a job ended."""
    return {0: "GO" if any(one.word == "GO" for one in run.outcomes) else "DONE", 2: "REFUSED", 3: "BLOCKED"}.get(
        run.code, "FAILED"
    )


def _head(run: NightlyRun) -> Iterator[str]:
    yield f"# Nightly {run.date}: {overall(run)}"
    loosened = [one.evaluation for one in run.outcomes if one.verdict is not None and one.verdict.loosened]
    if loosened:
        yield f"**Limits were loosened:** {plain(', '.join(loosened))}. See below."
    if run.dropped:
        yield f"**Not in the job any more:** {plain(', '.join(run.dropped))}."
    rows = [["evaluation", "kind", "verdict", "gates passed", "what happened"]]
    rows += [[one.evaluation, one.kind, one.word, _passed(one), _why(one)] for one in run.outcomes]
    yield _table(rows)


def _passed(one: Outcome) -> str:
    if one.verdict is None:
        return "–"
    judged = [gate for gate in one.verdict.gates if gate.passed is not None]
    return f"{sum(bool(gate.passed) for gate in judged)} of {len(judged)}"


def _why(one: Outcome) -> str:
    if one.refusal is not None:
        return one.refusal.violations[0].rule
    if one.verdict is None:
        return one.error or ""
    failed = dict.fromkeys(gate.metric for gate in one.verdict.gates if gate.passed is False)
    return f"failed: {', '.join(failed)}" if failed else ""


def _section(one: Outcome) -> Iterator[str]:
    yield f"## {plain(one.evaluation)}: {one.word}"
    if one.refusal is not None:
        yield "Nothing was scored, and what the store had is as it was."
        yield "\n".join(f"- {plain(str(violation))}" for violation in one.refusal.violations)
        if one.refusal.hidden:
            yield f"… and {one.refusal.hidden:,} more."
    if one.error is not None:
        yield f"It failed, and not for its input: {plain(one.error)}"
    if one.verdict is not None:
        yield from _verdict(one.verdict)


def _verdict(found: Verdict) -> Iterator[str]:
    if found.synthetic:
        yield f"**{SYNTHETIC}**"
    if found.recommended is not None:
        yield f"Recommended: {plain(found.recommended)}"
    yield from _changed(found.changes)
    if found.gates:
        rows = [["gate", "model", "value", "limit", "result"], *map(_gate, found.gates[:_MOST_GATES])]
        yield _table(rows)
    else:
        yield "It has no gate."
    if (left := len(found.gates) - _MOST_GATES) > 0:
        yield f"{left:,} more gates are not shown; verdict.json has all."


def _changed(found: Sequence[Change]) -> Iterator[str]:
    for kind in ("loosened", "tightened", "changed"):
        own = [one for one in found if one.kind == kind]
        if own:
            lines = [f"- {kind} since {one.since}: {plain(_moved(one))}" for one in own[:_MOST_CHANGES]]
            if (left := len(own) - _MOST_CHANGES) > 0:
                lines.append(f"- and {left:,} more")
            yield "\n".join([f"**{kind.capitalize()}**" if kind == "loosened" else kind.capitalize(), "", *lines])


def _moved(one: Change) -> str:
    before, now = ("not set" if text is None else text for text in (one.before, one.now))
    return f"{one.setting}: {before} → {now}"


def _gate(one: Held) -> list[str]:
    name = one.metric
    if one.gate == BASELINE:
        name += f", at most {one.margin} worse than " + (
            "the last GO" if one.baseline is None else f"{number(one.baseline_value)} on {one.baseline}"
        )
    limit = "–" if one.limit is None else target(one.limit, one.direction)
    return [name, one.model or "–", number(one.value, one.limit), limit, result(one)]


def result(one: Held) -> str:
    """Say in words what a gate said."""
    if one.passed is None:
        return f"not compared: {_WORDS.get(one.reason or '', one.reason)}"
    if one.passed:
        return "passed"
    return "failed" if one.reason is None else f"failed: {one.reason}"


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(map(plain, row))} |" for row in rows]
    return "\n".join([lines[0], f"|{' --- |' * len(rows[0])}", *lines[1:]])
