"""Gates that know their evidence: what decides where more is asked than the contract's gates on points.

Three outcomes a gate: passed, failed, and not settled by these records. A candidate passes where every gate does; where
none failed and some is not settled, the reason is ``insufficient-evidence``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evalkit.contracts.contract import Contract
from evalkit.exact import Exact
from evalkit.families.selective import metrics
from evalkit.families.selective.candidate import Candidate
from evalkit.families.selective.sureness import NO_EXCLUDED, SUPPORT
from evalkit.families.selective.wanted import Wanted
from evalkit.gates import INSUFFICIENT, NOT_MEASURED, BoundResult, Gate, Outcome, judge, judge_bound
from evalkit.uncertainty.interval import Interval

TOO_LITTLE_SUPPORT = "insufficient-support"


def gates(
    one: Candidate, intervals: Mapping[str, Interval], contract: Contract, wanted: Wanted
) -> dict[str, BoundResult]:
    """Hold a candidate against all that is asked of it.

    Args:
        one: The candidate judged on points.
        intervals: The interval of each metric of the split, by name; empty where gates ask for points.
        contract: The limits.
        wanted: What is asked.
    """
    found = {}
    for metric in metrics.GATED:
        value = one.exact(metric.name)
        gate = Gate.of(metric, contract.limits[metric.name])
        found[metric.name] = _on_bound(gate, value, intervals) if wanted.gate_on == "bound" else _on_point(gate, value)
    if wanted.min_support:
        found[SUPPORT] = _supported(one, wanted.min_support)
    if wanted.no_excluded_class:
        found[NO_EXCLUDED] = _none_excluded(one)
    return found


def _on_bound(gate: Gate, value: Exact, intervals: Mapping[str, Interval]) -> BoundResult:
    sure = intervals.get(gate.name)
    if sure is None:
        return judge_bound(gate, value, None, None)
    return judge_bound(gate, value, sure.at_least, sure.at_most, sure.reason)


def _on_point(gate: Gate, value: Exact) -> BoundResult:
    result = judge(gate, value)
    outcome: Outcome = "passed" if result.passed else "failed"
    return BoundResult(outcome, result.value, result.limit, result.direction, None, result.reason)


def _supported(one: Candidate, least: int) -> BoundResult:
    """Ask for the fewest accepted test records of a label in truth; a label of which none was accepted has 0."""
    if one.per_class is None:
        return BoundResult("failed", None, float(least), "higher", None, NOT_MEASURED)
    supports = [row.support for row in one.per_class.values() if row.support]
    fewest = 0 if one.excluded_classes or not supports else min(supports)
    enough = fewest >= least
    reason = None if enough else TOO_LITTLE_SUPPORT
    return BoundResult("passed" if enough else "insufficient", float(fewest), float(least), "higher", None, reason)


def _none_excluded(one: Candidate) -> BoundResult:
    if one.excluded_classes is None:
        return BoundResult("failed", None, 0.0, "lower", None, NOT_MEASURED)
    number = len(one.excluded_classes)
    return BoundResult("failed" if number else "passed", float(number), 0.0, "lower", None, None)


def decided(one: Candidate, gates: Mapping[str, BoundResult] | None) -> Candidate:
    """Let what was asked decide whether a candidate passes."""
    if gates is None:
        return one
    outcomes = {gate.outcome for gate in gates.values()}
    reason = INSUFFICIENT if outcomes == {"insufficient"} or outcomes == {"passed", "insufficient"} else None
    return replace(one, passed=one.reason is None and outcomes == {"passed"}, reason=one.reason or reason)
