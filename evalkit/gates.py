"""Gates: a measured value held against a limit, as exact fractions, limits inclusive."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

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
