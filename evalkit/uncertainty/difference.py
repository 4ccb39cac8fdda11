"""What is said of the difference of two numbers. It needs no statistics to be read, written or described."""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.metric import Direction
from evalkit.uncertainty.noninferiority import NonInferiority


@dataclass(frozen=True, slots=True)
class Difference:
    """A candidate's number minus the baseline's, over the same contributors.

    Attributes:
        name: The metric.
        direction: Which values are better.
        baseline: The baseline's value, rounded once; None where undefined.
        candidate: The candidate's.
        value: Their exact difference, rounded once.
        low: The lower end of the two-sided interval, or None.
        high: The upper end, or None.
        at_least: The one-sided lower bound, or None.
        at_most: The one-sided upper bound, or None.
        p_value: Two-sided, of no difference; None where there is none.
        adjusted_p_value: The same, with as many candidates allowed for (Holm); None where there is none.
        method: ``cluster-t``, ``cluster-bootstrap`` or ``exact-binomial``; None where there is no interval.
        reason: Why there is no interval, or None.
        contributors: Contributors with a part in either number.
        both: Contributors with test records on both sides.
        only_baseline: With test records of the baseline only.
        only_candidate: With test records of the candidate only.
        non_inferiority: What a margin says; None where none was given.
    """

    name: str
    direction: Direction
    baseline: float | None
    candidate: float | None
    value: float | None
    low: float | None = None
    high: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    p_value: float | None = None
    adjusted_p_value: float | None = None
    method: str | None = None
    reason: str | None = None
    contributors: int = 0
    both: int = 0
    only_baseline: int = 0
    only_candidate: int = 0
    non_inferiority: NonInferiority | None = None
