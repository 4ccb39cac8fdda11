"""What is said of candidates against a baseline. It needs no statistics to be read, written or described."""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.families.selective.pairs import Pairs
from evalkit.uncertainty.difference import Difference
from evalkit.uncertainty.several import BestOf


@dataclass(frozen=True, slots=True)
class Against:
    """One candidate against the baseline.

    Attributes:
        model: The candidate.
        reason: Why there is nothing to compare, or None.
        differences: Candidate minus baseline, metric by metric.
        pairs: The records that have the same id; None where no id was named.
        warnings: Where the two were not scored on the same records, or accept shown different shares of them.
    """

    model: str
    reason: str | None
    differences: tuple[Difference, ...]
    pairs: Pairs | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Candidates against a baseline.

    Attributes:
        baseline: The model that the others are held against.
        level: The confidence of the intervals.
        paired_by: The dotted path of the id by which records were paired, or None.
        margin: How much worse a candidate may be, or None.
        against: One a candidate, sorted by name.
        best_of: What the recommended candidate's number must be read with; None where there was no choice.
    """

    baseline: str
    level: float
    paired_by: str | None
    margin: float | None
    against: tuple[Against, ...]
    best_of: BestOf | None
