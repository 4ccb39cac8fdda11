"""A night as JUnit XML: a suite for each evaluation, a case for each gate; without a clock, so the same is the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from evalkit.charts.svg import escaped
from evalkit.nights.outcome import NightlyRun, Outcome
from evalkit.nights.summary import result
from evalkit.nights.verdict import BASELINE, Held, Verdict


class _Case(NamedTuple):
    """A case: its name, and the element that says that it did not pass."""

    name: str
    kind: str = ""
    message: str = ""
    text: str = ""


def junit(run: NightlyRun) -> str:
    """Write a night as JUnit XML.

    A suite begins with the case ``run``, which is an error where the evaluation was refused or failed. A gate that had
    nothing to compare with is skipped.
    """
    suites = [(one, list(_cases(one))) for one in run.outcomes]
    every = [case for _, cases in suites for case in cases]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f'<testsuites name="nightly {run.date}"{_counts(every)}>']
    for one, cases in suites:
        lines.append(f'  <testsuite name="{escaped(one.evaluation)}"{_counts(cases)}>')
        lines += [line for case in cases for line in _case(one.evaluation, case)]
        if one.verdict is not None and one.verdict.changes:
            lines.append(f"    <system-out>{escaped(_changes(one.verdict))}</system-out>")
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>"]) + "\n"


def _counts(cases: list[_Case]) -> str:
    kinds = [case.kind for case in cases]
    counted = {"tests": len(cases), **{f"{kind}s": kinds.count(kind) for kind in ("failure", "error")}}
    counted["skipped"] = kinds.count("skipped")
    return "".join(f' {name}="{count}"' for name, count in counted.items())


def _cases(one: Outcome) -> Iterator[_Case]:
    if one.refusal is not None:
        said = [str(violation) for violation in one.refusal.violations]
        yield _Case("run", "error", f"refused: {one.refusal.violations[0].rule}", "; ".join(said))
    elif one.verdict is None:
        yield _Case("run", "error", "failed, and not for its input", one.error or "")
    else:
        yield _Case("run")
        yield from map(_gate, one.verdict.gates)
        if one.verdict.verdict == "BLOCKED" and all(gate.passed is not False for gate in one.verdict.gates):
            yield _Case("verdict", "failure", "BLOCKED: no candidate may be released")


def _gate(one: Held) -> _Case:
    name = one.metric if one.model is None else f"{one.metric} of {one.model}"
    if one.gate == BASELINE:
        name += " against the baseline"
    if one.passed:
        return _Case(name)
    if one.passed is None:
        return _Case(name, "skipped", result(one))
    sign = "at least" if one.direction == "higher" else "at most"
    value = "not measured" if one.value is None else repr(one.value)
    message = f"is {value}; must be {sign} {one.limit!r}"
    compared = f"{one.margin} worse than {one.baseline_value!r} on {one.baseline}" if one.gate == BASELINE else ""
    return _Case(name, "failure", message, compared)


def _case(suite: str, case: _Case) -> Iterator[str]:
    head = f'    <testcase classname="{escaped(suite)}" name="{escaped(case.name)}"'
    if not case.kind:
        yield f"{head}/>"
        return
    yield f"{head}>"
    text = f">{escaped(case.text)}</{case.kind}>" if case.text else "/>"
    yield f'      <{case.kind} message="{escaped(case.message)}"{text}'
    yield "    </testcase>"


def _changes(found: Verdict) -> str:
    return "; ".join(f"{one.kind} since {one.since}: {one.setting}: {one.before} → {one.now}" for one in found.changes)
