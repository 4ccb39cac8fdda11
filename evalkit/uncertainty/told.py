"""Statistics as a report has them: plain numbers, each with how sure it is, or why nobody can say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from evalkit.exact import Exact, rounded

if TYPE_CHECKING:
    from evalkit.uncertainty.clusters import Sample
    from evalkit.uncertainty.interval import Interval
ROW = "row"
"""What records are clustered by where nothing is: each stands for itself."""

SOURCE = "source"
"""What observations are clustered by."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """On how many clusters a number rests.

    Attributes:
        contributors: How many have a part in it.
        effective_contributors: As many of equal size would weigh as much; None of none.
        largest_share: The share of the records that is one cluster's, at most; None of none.
    """

    SNAKE_CASE: ClassVar[bool] = True

    contributors: int
    effective_contributors: float | None
    largest_share: float | None

    @classmethod
    def of(cls, sample: Sample) -> Sampled:
        """Round what was counted."""
        return cls(sample.contributors, rounded(sample.effective), rounded(sample.largest_share))


@dataclass(frozen=True, slots=True)
class Told:
    """One number and how sure it is.

    Attributes:
        name: What was measured.
        label: The class, or None.
        bin: The confidence bin, counted from 0, or None.
        value: The value as it stands in the report; None where it is undefined.
        low: The lower end of the two-sided interval, or None.
        high: The upper end, or None.
        at_least: The one-sided lower bound, or None.
        at_most: The one-sided upper bound, or None.
        method: How the interval was made; None where there is none.
        reason: Why there is none, or None.
        contributors: On how many clusters it rests.
        effective_contributors: As many of equal size would weigh as much; None of none.
        largest_share: The share of the records that is one cluster's, at most; None of none.
    """

    SNAKE_CASE: ClassVar[bool] = True

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

    @classmethod
    def of(cls, found: Interval, value: Exact) -> Told:
        """Round an interval; the value is the one that the report has, counts of which may be finer."""
        return cls(**numbers_of(found, value))


def numbers_of(found: Interval, value: Exact) -> dict[str, Any]:
    """Round an interval to what every report says of it, by the names of ``Told``.

    Args:
        found: The interval.
        value: The value that the report has.
    """
    of, on = found.estimand, Sampled.of(found.sample)
    return {
        "name": of.name,
        "label": of.label,
        "bin": of.bin,
        "value": rounded(value),
        "low": found.low,
        "high": found.high,
        "at_least": found.at_least,
        "at_most": found.at_most,
        "method": found.method,
        "reason": found.reason,
        "contributors": on.contributors,
        "effective_contributors": on.effective_contributors,
        "largest_share": on.largest_share,
    }


@dataclass(frozen=True, slots=True)
class Stratum:
    """The statistics of one stratum.

    Attributes:
        by: The field and its value.
        contributors: On how many clusters it rests.
        effective_contributors: As many of equal size would weigh as much; None of none.
        largest_share: The share of the records that is one cluster's, at most; None of none.
        intervals: Its numbers.
        calibration: What was found of its calibration, or None.
    """

    SNAKE_CASE: ClassVar[bool] = True

    by: Mapping[str, str]
    contributors: int
    effective_contributors: float | None
    largest_share: float | None
    intervals: tuple[Told, ...]
    calibration: Any

    @classmethod
    def of(cls, by: Mapping[str, str], on: Sampled, intervals: tuple[Told, ...], calibration: Any) -> Stratum:
        """Put together what was found."""
        on_whom = (on.contributors, on.effective_contributors, on.largest_share)
        return cls(by, *on_whom, intervals, calibration)


@dataclass(frozen=True, slots=True)
class Candidate:
    """The statistics of one model.

    Attributes:
        model: The model, or None.
        contributors: On how many clusters it rests.
        effective_contributors: As many of equal size would weigh as much; None of none.
        largest_share: The share of the records that is one cluster's, at most; None of none.
        intervals: Its numbers.
        calibration: What was found of its calibration, or None.
        strata: Those of each stratum.
    """

    SNAKE_CASE: ClassVar[bool] = True

    model: str | None
    contributors: int
    effective_contributors: float | None
    largest_share: float | None
    intervals: tuple[Told, ...]
    calibration: Any
    strata: tuple[Stratum, ...]

    @classmethod
    def of(cls, model: str | None, over_all: Stratum, strata: tuple[Stratum, ...]) -> Candidate:
        """Put together what was found over all records and in each stratum."""
        on_whom = (over_all.contributors, over_all.effective_contributors, over_all.largest_share)
        return cls(model, *on_whom, over_all.intervals, over_all.calibration, strata)


@dataclass(frozen=True, slots=True)
class Statistics:
    """How sure the numbers of a report are.

    Attributes:
        level: The confidence of the intervals, two-sided, and of the bounds, one-sided.
        replicates: Resamples where a number is not smooth.
        seed: Their seed.
        clustered_by: What belongs together: ``row`` where each record stands for itself, else the field that says.
        min_contributors: Fewest clusters that an interval is given for.
        candidates: The statistics of each model.
    """

    SNAKE_CASE: ClassVar[bool] = True

    level: float
    replicates: int
    seed: int
    clustered_by: str
    min_contributors: int
    candidates: tuple[Candidate, ...] = field(default=())


Ends = dict[str, Any]
"""What a table of measurements says of an interval: the key columns that apply, its ends and its method."""


def ends_of(statistics: Statistics, stratum_field: str) -> dict[tuple[str | None, str | None], list[Ends]]:
    """Return the intervals of each model and stratum.

    Args:
        statistics: The statistics.
        stratum_field: The field that strata are of.
    """
    found: dict[tuple[str | None, str | None], list[Ends]] = {}
    for one in statistics.candidates:
        found[one.model, None] = [_ends(told, {"model": one.model}) for told in one.intervals]
        for own in one.strata:
            stratum = own.by[stratum_field]
            place = {"model": one.model, "stratum_field": stratum_field, "stratum": stratum}
            found[one.model, stratum] = [_ends(told, place) for told in own.intervals]
    return found


def _ends(told: Told, place: Mapping[str, Any]) -> Ends:
    number = {"name": told.name, "label": told.label, "bin": told.bin}
    return {**place, **number, "low": told.low, "high": told.high, "method": told.method}
