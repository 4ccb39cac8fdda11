"""How sure the measures are, as a measurement report has it: plain numbers, or why nobody can say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Told:
    """One measure and how sure it is.

    Attributes:
        name: The measure.
        system: The system, for rankings.
        stratum: The stratum; None over all cases.
        value: The value as it stands in the report.
        low: The lower end of the two-sided interval, or None.
        high: The upper end, or None.
        at_least: The one-sided lower bound, or None.
        at_most: The one-sided upper bound, or None.
        method: How the interval was made; None where there is none.
        reason: Why there is none, or None.
        clustered_by: What varies as one: ``source``, ``date`` for the queue, ``query`` where all are of one source.
        contributors: On how many of those the number rests.
        effective_contributors: As many of equal size would weigh as much; None of none.
        largest_share: The share of it that is one of theirs, at most; None of none.
    """

    SNAKE_CASE: ClassVar[bool] = True

    name: str
    system: str | None
    stratum: str | None
    value: float | None
    low: float | None
    high: float | None
    at_least: float | None
    at_most: float | None
    method: str | None
    reason: str | None
    clustered_by: str
    contributors: int
    effective_contributors: float | None
    largest_share: float | None


@dataclass(frozen=True, slots=True)
class Statistics:
    """How sure the measures are.

    Attributes:
        level: The confidence of the intervals, two-sided, and of the bounds, one-sided.
        replicates: Resamples where a number is not smooth.
        seed: Their seed.
        clustered_by: What varies as one where a measure does not say otherwise: ``source``.
        min_contributors: Fewest of them that an interval is given for.
        intervals: The measures, in the order of the report, then those of each stratum.
    """

    SNAKE_CASE: ClassVar[bool] = True

    level: float
    replicates: int
    seed: int
    clustered_by: str
    min_contributors: int
    intervals: tuple[Told, ...]


def ends_of(statistics: Statistics, split: str) -> list[dict[str, Any]]:
    """Return the interval of each measure as a table of measurements says it.

    Args:
        statistics: The statistics.
        split: The split that the observations are of.
    """
    return [
        {
            "model": one.system,
            "split": split,
            "stratum_field": None if one.stratum is None else "stratum",
            "stratum": one.stratum,
            "name": one.name,
            "low": one.low,
            "high": one.high,
            "method": one.method,
        }
        for one in statistics.intervals
    ]
