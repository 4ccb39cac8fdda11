"""Gates: a measured value held against a limit, as exact fractions, limits inclusive."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from evalkit.exact import Exact, fraction, rounded
from evalkit.metric import Direction, Metric

NOT_MEASURED = "not-measured"


@dataclass(frozen=True, slots=True)
class Gate:
    """What one metric must reach.

    Attributes:
        name: The metric's name.
        direction: ``higher``: the value must be at least the limit; ``lower``: at most.
        limit: The limit, exactly as the caller's decimal text says.
    """

    name: str
    direction: Direction
    limit: Fraction

    @classmethod
    def of(cls, metric: Metric, limit: Decimal) -> Gate:
        """Make the gate of a metric."""
        return cls(metric.name, metric.direction, Fraction(limit))


@dataclass(frozen=True, slots=True)
class GateResult:
    """What a gate said.

    Attributes:
        value: The value, rounded once; None where nothing was measured.
        limit: The limit.
        direction: Which side of the limit passes.
        passed: Whether the exact value is on that side or on the line.
        reason: ``not-measured`` where the gate fails for want of a value.
    """

    value: float | None
    limit: float
    direction: Direction
    passed: bool
    reason: str | None


def judge(gate: Gate, value: Exact) -> GateResult:
    """Hold an exact value against a gate.

    >>> gate = Gate("precisionAtCoverage", "higher", Fraction("0.9"))
    >>> judge(gate, Fraction(99, 110)).passed
    True
    >>> judge(gate, None)
    GateResult(value=None, limit=0.9, direction='higher', passed=False, reason='not-measured')
    """
    exact = fraction(value)
    limit = gate.limit.numerator / gate.limit.denominator
    if exact is None:
        return GateResult(None, limit, gate.direction, False, NOT_MEASURED)
    passed = exact >= gate.limit if gate.direction == "higher" else exact <= gate.limit
    return GateResult(rounded(exact), limit, gate.direction, passed, None)


Outcome = Literal["passed", "failed", "insufficient"]
"""What a gate can say that asks for a bound."""

INSUFFICIENT = "insufficient-evidence"


@dataclass(frozen=True, slots=True)
class BoundResult:
    """What a gate said that asks for a bound and not for a point.

    Attributes:
        outcome: ``passed``: the bound on the failing side is within the limit; ``failed``: the whole interval is
            beyond it; ``insufficient``: the records do not settle it.
        value: The value, rounded once; None where nothing was measured.
        limit: The limit.
        direction: Which side of the limit passes.
        bound: The one-sided bound that was held against the limit; None where there is none.
        reason: Why the gate did not pass: ``not-measured``, ``insufficient-evidence``, or why there is no bound.
    """

    outcome: Outcome
    value: float | None
    limit: float
    direction: Direction
    bound: float | None
    reason: str | None


def judge_bound(
    gate: Gate, value: Exact, at_least: float | None, at_most: float | None, reason: str | None = None
) -> BoundResult:
    """Hold the one-sided bounds of a value against a gate.

    A bound is a float, and so it is held against the limit as the nearest float: one that is written as the limit is
    on the line, and passes.

    Args:
        gate: The gate.
        value: The exact value, or None.
        at_least: The lower bound, or None.
        at_most: The upper bound, or None.
        reason: Why there are no bounds.

    >>> gate = Gate("precisionAtCoverage", "higher", Fraction("0.9"))
    >>> [judge_bound(gate, Fraction(19, 20), *ends).outcome for ends in ((0.91, 0.97), (0.88, 0.97), (0.85, 0.89))]
    ['passed', 'insufficient', 'failed']
    >>> judge_bound(gate, None, None, None).reason
    'not-measured'
    """
    limit, exact = rounded(gate.limit), rounded(value)
    careful, kind = (at_least, at_most) if gate.direction == "higher" else (at_most, at_least)
    if exact is None:
        return BoundResult("failed", None, limit, gate.direction, None, NOT_MEASURED)
    if careful is None or kind is None:
        return BoundResult("insufficient", exact, limit, gate.direction, None, reason or INSUFFICIENT)
    if _within(gate, careful):
        return BoundResult("passed", exact, limit, gate.direction, careful, None)
    if _within(gate, kind):
        return BoundResult("insufficient", exact, limit, gate.direction, careful, INSUFFICIENT)
    return BoundResult("failed", exact, limit, gate.direction, careful, None)


def _within(gate: Gate, bound: float) -> bool:
    limit = rounded(gate.limit)
    return bound >= limit if gate.direction == "higher" else bound <= limit
