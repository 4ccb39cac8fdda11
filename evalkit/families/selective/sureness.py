"""How sure the numbers of a selective report are: the objects that ``statistics`` in a report is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from evalkit.calibration.shown import Panel
from evalkit.families.selective.comparison import Comparison
from evalkit.gates import BoundResult
from evalkit.risk_coverage.shown import Certificate, Optimism, RiskCoverage

SUPPORT = "support"
"""The condition that each label in truth has so many accepted test records, among gates."""

NO_EXCLUDED = "excludedClasses"
"""The condition that no label has all its records abstained, among gates."""


@dataclass(frozen=True, slots=True)
class IntervalRow:
    """One number and how sure it is.

    Attributes:
        name: The metric.
        label: The label that it is about, or None.
        bin: The confidence bin that it is about, or None.
        value: The value, as it stands in the report.
        low: The lower end of the interval, or None.
        high: The upper end, or None.
        at_least: The one-sided lower bound, or None.
        at_most: The one-sided upper bound, or None.
        method: How the interval was made, or None.
        reason: Why there is none, or None.
        contributors: On how many contributors the number rests.
        effective_contributors: As many equal ones would weigh as much; None of none.
        largest_share: The greatest share of one contributor; None of none.
    """

    name: str
    label: str | None
    bin: int | None
    value: float | None
    low: float | None
    high: float | None
    at_least: float | None
    at_most: float | None
    method: str | None
    reason: str | None
    contributors: int
    effective_contributors: float | None
    largest_share: float | None


@dataclass(frozen=True, slots=True)
class StratumStatistics:
    """How sure the numbers of one stratum are.

    Attributes:
        by: Each field's value.
        contributors: How many contributors its test records are of.
        effective_contributors: As many equal ones would weigh as much; None of none.
        largest_share: The greatest share of one contributor; None of none.
        intervals: Each metric with its interval; None where none were asked for.
        calibration: The honest view of calibration; None where it was not asked for.
    """

    by: Mapping[str, str]
    contributors: int
    effective_contributors: float | None
    largest_share: float | None
    intervals: tuple[IntervalRow, ...] | None
    calibration: Panel | None


@dataclass(frozen=True, slots=True)
class CandidateStatistics:
    """How sure the numbers of one candidate are.

    Attributes:
        model: The name.
        contributors: How many contributors its test records are of.
        effective_contributors: As many equal ones would weigh as much; None of none.
        largest_share: The greatest share of one contributor; None of none.
        intervals: Each metric with its interval; None where none were asked for.
        gates: What decides, where more is asked than the contract's gates on points; else None.
        calibration: The honest view of calibration; None where it was not asked for.
        risk_coverage: The risk–coverage curve of each split in numbers; None where it was not asked for.
        optimism: Validation minus test at the threshold, and of the areas; None likewise, or without a threshold.
        certified: A threshold with a guarantee for each claim; None where none was asked for.
        strata: The same in each stratum; None where no strata were asked for.
    """

    model: str
    contributors: int
    effective_contributors: float | None
    largest_share: float | None
    intervals: tuple[IntervalRow, ...] | None
    gates: Mapping[str, BoundResult] | None
    calibration: Panel | None
    risk_coverage: Mapping[str, RiskCoverage] | None
    optimism: Optimism | None
    certified: tuple[Certificate, ...] | None
    strata: tuple[StratumStatistics, ...] | None


@dataclass(frozen=True, slots=True)
class Statistics:
    """How sure the numbers of a report are.

    Attributes:
        level: The confidence of intervals, two-sided, and of bounds, one-sided.
        replicates: Resamples of the contributors.
        seed: Their seed.
        clustered_by: ``contributor``: whose records belong together.
        min_contributors: Fewest contributors that an interval is given for.
        gate_on: ``point`` or ``bound``.
        min_support: Fewest accepted test records of each label in truth; 0 asks for none.
        no_excluded_class: Whether a label whose every record abstained blocks.
        candidates: One a candidate, in their order.
        comparison: The candidates against a baseline; None where none was named.
    """

    level: float
    replicates: int
    seed: int
    clustered_by: str
    min_contributors: int
    gate_on: str
    min_support: int
    no_excluded_class: bool
    candidates: tuple[CandidateStatistics, ...]
    comparison: Comparison | None

    @property
    def warnings(self) -> Iterator[str]:
        """What the caller should know of candidates that were not scored on the same records."""
        for one in () if self.comparison is None else self.comparison.against:
            yield from one.warnings
