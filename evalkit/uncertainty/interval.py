"""The interval of a number: exact where it is a proportion, linearised where it is smooth, else resampled.

Under a floor of contributors there is none: what so few say of a variance is not worth printing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isnan

import numpy as np

from evalkit.exact import Exact, fraction, rounded
from evalkit.uncertainty.asked import MIN_CONTRIBUTORS, REPLICATES, Asked
from evalkit.uncertainty.clusters import Clusters, Sample, Sums
from evalkit.uncertainty.distributions import t_quantile
from evalkit.uncertainty.ends import Ends, absolute_ends, binomial_ends, t_ends
from evalkit.uncertainty.estimand import Combination, Estimand, value
from evalkit.uncertainty.moments import Moments, moments, total
from evalkit.uncertainty.parts import Resampled, resampled
from evalkit.uncertainty.replicates import replicate_sums

__all__ = [
    "ALIKE",
    "BOOTSTRAP",
    "CLUSTER_T",
    "EXACT",
    "FEW",
    "MIN_CONTRIBUTORS",
    "PART_CONTRIBUTORS",
    "REPLICATES",
    "TOO_FEW",
    "TOO_FEW_IN_PART",
    "UNDEFINED_SHARE",
    "UNSTABLE",
    "Asked",
    "Interval",
    "Measured",
    "degrees_of",
    "from_variance",
    "interval",
    "intervals",
    "prepare",
    "sizes_of",
    "unseen",
    "widened",
]

CLUSTER_T = "cluster-t"
BOOTSTRAP = "cluster-bootstrap"
EXACT = "exact-binomial"

TOO_FEW = "insufficient-contributors"
TOO_FEW_IN_PART = "insufficient-contributors-in-part"
ALIKE = "no-variance"
UNSTABLE = "undefined-in-resamples"

FEW = 5
"""Contributors who differ between two sides, or who erred, below which what varies among them is not trusted alone."""

UNDEFINED_SHARE = 0.05
"""Greatest share of resamples in which a number may be undefined; its interval is made of the others."""

PART_CONTRIBUTORS = 2
"""Fewest contributors of each part of a mean, such as the F1 of a label: of one alone no variance can be told."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An estimand's value and how sure it is.

    Attributes:
        estimand: What was measured.
        value: The exact value, or None.
        sample: On how many contributors it rests.
        low: The lower end of the two-sided interval, or None.
        high: The upper end, or None.
        at_least: The one-sided lower bound, or None.
        at_most: The one-sided upper bound, or None.
        method: ``cluster-t``, ``cluster-bootstrap`` or ``exact-binomial``; None where there is no interval.
        reason: Why there is none, or None.
    """

    estimand: Estimand
    value: Exact
    sample: Sample
    low: float | None = None
    high: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    method: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """Contributor tallies with their sums in every resample, made once and used by each estimand.

    Attributes:
        clusters: The tallies.
        totals: The sum of each column.
        sums: The sums in each resample; None where none is needed.
    """

    clusters: Clusters
    totals: dict[str, int]
    sums: Sums | None

    def parts(self, estimand: Estimand) -> Resampled:
        """Return an estimand's parts in every resample."""
        return resampled(estimand, self.clusters.columns, self.totals, self.sums)


def prepare(clusters: Clusters, asked: Asked, *, resampled: bool) -> Measured:
    """Resample contributor tallies, where that is asked for."""
    sums = replicate_sums(clusters, asked.replicates, asked.seed) if resampled and len(clusters) else None
    return Measured(clusters, dict(clusters.totals()), sums)


def interval(estimand: Estimand, measured: Measured, asked: Asked) -> Interval:
    """Measure an estimand and say how sure it is; of several ``intervals`` takes little longer than this of one."""
    return intervals([estimand], measured, asked)[0]


def intervals(estimands: Sequence[Estimand], measured: Measured, asked: Asked) -> list[Interval]:
    """Measure estimands and say how sure each is, with one pass over the contributors."""
    found = moments(measured.clusters, estimands, measured.totals)
    return [_interval(one, seen, measured, asked) for one, seen in zip(estimands, found, strict=True)]


def sizes_of(clusters: Clusters, combination: Combination) -> Sums:
    """Return how much each contributor has of a combination of columns."""
    places = {column: place for place, column in enumerate(clusters.columns)}
    parts = [total(combination, places, matrix) for _, matrix in clusters.blocks()]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _interval(estimand: Estimand, seen: Moments, measured: Measured, asked: Asked) -> Interval:
    found = value(estimand, measured.totals)
    rests_on = seen.sample
    if found is None:
        return Interval(estimand, None, rests_on, reason="undefined")
    if rests_on.contributors < max(asked.min_contributors, 2):
        return Interval(estimand, found, rests_on, reason=TOO_FEW)
    level = float(asked.level)
    if estimand.kind == "absolute":
        ends = _resampled(estimand, rests_on, measured, level)
        if ends is not None:
            ends = widened(ends, *unseen(estimand, seen, measured.totals, level))
        return _bounded(estimand, found, rests_on, BOOTSTRAP, ends)
    if seen.fewest < PART_CONTRIBUTORS:
        return Interval(estimand, found, rests_on, reason=TOO_FEW_IN_PART)
    if estimand.proportion:
        return _bounded(estimand, found, rests_on, EXACT, _exact(found, rests_on, seen.variance, seen.rare, level))
    return from_variance(estimand, found, rests_on, seen.variance or Fraction(0), asked)


def from_variance(estimand: Estimand, found: Exact, rests_on: Sample, squared: Fraction, asked: Asked) -> Interval:
    """Return the interval of a smooth number whose variance is known, of Student's t.

    Without a variance it is exact at an end of the range from 0 to 1, as that of a proportion, and else there is none.

    Args:
        estimand: The number.
        found: Its value.
        rests_on: On how many contributors it rests.
        squared: Its variance.
        asked: How sure one wants to be.
    """
    exact, level = fraction(found), float(asked.level)
    if exact is None or rests_on.contributors < max(asked.min_contributors, 2):
        return Interval(estimand, found, rests_on, reason=TOO_FEW)
    if squared:
        ends = t_ends(rounded(exact), float(squared) ** 0.5, degrees_of(rests_on), level)
        return _bounded(estimand, found, rests_on, CLUSTER_T, ends)
    if estimand.low == 0 and estimand.high == 1 and exact in (0, 1):
        return _bounded(estimand, found, rests_on, EXACT, _exact(found, rests_on, None, 0, level))
    return Interval(estimand, found, rests_on, reason=ALIKE)


def degrees_of(rests_on: Sample) -> float:
    """Return the degrees of freedom: the effective number of contributors, less one, and never less than one."""
    return max(float(rests_on.effective or 0) - 1, 1.0)


def _exact(found: Exact, rests_on: Sample, variance: Fraction | None, rare: int, level: float) -> Ends:
    """Return the exact interval of a proportion, its records divided by the design effect (Korn & Graubard 1998).

    The records count as p(1 - p) / variance trials, less by the square of how much wider Student's t is for as many
    contributors than for as many records, and as no more than there are.

    A design effect is learned from contributors with an error (or with a success, where that is rarer). Where none
    erred nothing is known of it, and each contributor counts as one trial: that bound holds however strongly the
    records of one hang together, since a contributor shows no error with a probability of 1 - p at most. Each
    contributor who erred allows for as many trials again, and so the first errors, which say little of how errors hang
    together, do not make a number as sure as independent records would.
    """
    at = rounded(found) or 0.0
    most = float(rests_on.effective or 0) * (1 + rare)
    most = min(most, float(rests_on.records))
    squared = float(variance or 0)

    def trials(share: float) -> float:
        if not squared:
            return most
        narrower = t_quantile(share, max(rests_on.records - 1, 1)) / t_quantile(share, degrees_of(rests_on))
        return min(at * (1 - at) / squared * narrower**2, most)

    return binomial_ends(at, trials, level)


def _resampled(estimand: Estimand, rests_on: Sample, measured: Measured, level: float) -> Ends | None:
    """Return the interval of a sum of absolute values; None where one resample in twenty is undefined."""
    found = measured.parts(estimand)
    if found.undefined.sum() > UNDEFINED_SHARE * len(found.undefined):
        return None
    parts = found.of(list(found.drawn), ~found.undefined)
    return absolute_ends(parts, rests_on.contributors, degrees_of(rests_on), level)


def unseen(estimand: Estimand, seen: Moments, totals: Mapping[str, int], level: float) -> tuple[float, float]:
    """Return by how much a calibration error may be off since fewer than five contributors erred; nothing of others.

    What was not seen is in no resample: where all are right, resamples say that all always are. Records that turn from
    right to wrong move the error by no more than their share; so it is the distance of the exact bound of the share
    from what was seen. The same holds where right ones are rare.

    Returns:
        By how much each end of the two-sided interval, and each one-sided bound.
    """
    if estimand.behind is None or seen.rare >= FEW:
        return 0.0, 0.0
    parts = (estimand.behind.numerator, estimand.behind.denominator)
    right, size = (sum(times * totals[name] for name, times in one.items()) for one in parts)
    rarer = Fraction(min(right, size - right), size)
    exact = _exact(rarer, seen.sample, None, seen.rare, level)
    return exact.high - rounded(rarer), exact.at_most - rounded(rarer)


def widened(ends: Ends, two: float, one: float) -> Ends:
    """Move the ends of a two-sided interval and its one-sided bounds outwards."""
    return Ends(ends.low - two, ends.high + two, ends.at_least - one, ends.at_most + one)


def _bounded(estimand: Estimand, found: Exact, rests_on: Sample, method: str, ends: Ends | None) -> Interval:
    """Keep the ends within the range of the number."""
    if ends is None or any(isnan(end) for end in ends):
        return Interval(estimand, found, rests_on, reason=UNSTABLE)
    least = float(estimand.low)
    most = float("inf") if estimand.high is None else float(estimand.high)
    low, high, at_least, at_most = (min(max(end, least), most) for end in ends)
    return Interval(estimand, found, rests_on, low, high, at_least, at_most, method)
