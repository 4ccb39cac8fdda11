"""The interval of a number: linearised where it is smooth, resampled where not, exact where no error was seen.

Under a floor of contributors there is none: what so few say of a variance is not worth printing.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isnan

import numpy as np
import numpy.typing as npt

from evalkit.exact import Exact, fraction, rounded
from evalkit.uncertainty.asked import Asked
from evalkit.uncertainty.clusters import Clusters, Sample, Sums, sample
from evalkit.uncertainty.distributions import binomial_bound, t_quantile
from evalkit.uncertainty.estimand import Estimand, gradient, value, values, weighed
from evalkit.uncertainty.linearised import variance
from evalkit.uncertainty.replicates import replicate_sums

CLUSTER_T = "cluster-t"
BOOTSTRAP = "cluster-bootstrap"
EXACT = "exact-binomial"

TOO_FEW = "insufficient-contributors"
UNSTABLE = "undefined-in-resamples"
ALIKE = "no-variance"

FEW = 5
"""Contributors with an error, or with a success, below which a proportion's interval is the exact one."""


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


def prepare(clusters: Clusters, asked: Asked, *, resampled: bool) -> Measured:
    """Resample contributor tallies, where that is asked for."""
    sums = replicate_sums(clusters, asked.replicates, asked.seed) if resampled and len(clusters) else None
    return Measured(clusters, dict(clusters.totals()), sums)


def interval(estimand: Estimand, measured: Measured, asked: Asked) -> Interval:
    """Measure an estimand and say how sure it is."""
    found = value(estimand, measured.totals)
    sizes = sizes_of(measured.clusters, weighed(estimand))
    rests_on = sample(sizes)
    if found is None:
        return Interval(estimand, None, rests_on, reason="undefined")
    if rests_on.contributors < max(asked.min_contributors, 2):
        return Interval(estimand, found, rests_on, reason=TOO_FEW)
    if estimand.kind == "absolute":
        return _resampled(estimand, found, rests_on, measured, asked)
    return _linearised(estimand, found, rests_on, measured, asked)


def sizes_of(clusters: Clusters, combination: dict[str, int]) -> Sums:
    """Return how much each contributor has of a combination of columns."""
    places = [clusters.columns.index(column) for column in combination]
    times = np.array(list(combination.values()), np.int64)
    parts = [matrix[:, places] @ times for _, matrix in clusters.blocks()]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _linearised(estimand: Estimand, found: Exact, rests_on: Sample, measured: Measured, asked: Asked) -> Interval:
    squared = variance(measured.clusters, gradient(estimand, measured.totals), rests_on.contributors)
    exact = fraction(found)
    if squared is None or exact is None:
        return Interval(estimand, found, rests_on, reason=TOO_FEW)
    if estimand.proportion and _few(estimand, measured):
        return _exact(estimand, exact, rests_on, squared, asked)
    return from_variance(estimand, found, rests_on, squared, asked)


def from_variance(estimand: Estimand, found: Exact, rests_on: Sample, squared: Fraction, asked: Asked) -> Interval:
    """Return the interval of a smooth number whose variance is known, of Student's t.

    Args:
        estimand: The number.
        found: Its value.
        rests_on: On how many contributors it rests.
        squared: Its variance.
        asked: How sure one wants to be.
    """
    exact = fraction(found)
    if exact is None or rests_on.contributors < max(asked.min_contributors, 2):
        return Interval(estimand, found, rests_on, reason=TOO_FEW)
    if not squared:
        return _alike(estimand, exact, rests_on, asked)
    error = float(squared) ** 0.5
    return _ends(estimand, found, rests_on, CLUSTER_T, _t_ends(float(exact), error, rests_on.contributors, asked))


def _alike(estimand: Estimand, exact: Fraction, rests_on: Sample, asked: Asked) -> Interval:
    """Return the exact interval where all contributors are at the same end of the range from 0 to 1, else none.

    Where each has the mean p and gave 1, which has at most the probability p, all of n did with at most pⁿ.
    """
    if estimand.low == 0 and estimand.high == 1 and exact in (0, 1):
        return _exact(estimand, exact, rests_on, Fraction(0), asked)
    return Interval(estimand, exact, rests_on, reason=ALIKE)


def _t_ends(at: float, error: float, contributors: int, asked: Asked) -> tuple[float, float, float, float]:
    level = float(asked.level)
    two, one = (t_quantile(share, contributors - 1) * error for share in ((1 + level) / 2, level))
    return at - two, at + two, at - one, at + one


def _few(estimand: Estimand, measured: Measured) -> bool:
    """Tell whether too few contributors erred, or too few did not, for a variance to be trusted."""
    nothing = np.zeros(len(measured.clusters), np.int64)
    right = sum((sizes_of(measured.clusters, dict(one.numerator)) for one in estimand.terms), nothing)
    wrong = sum((sizes_of(measured.clusters, dict(one.denominator)) for one in estimand.terms), nothing) - right
    return min(int((right > 0).sum()), int((wrong > 0).sum())) < FEW


def _exact(estimand: Estimand, exact: Fraction, rests_on: Sample, squared: Fraction, asked: Asked) -> Interval:
    """Return the exact interval of a proportion, its records divided by the design effect (Korn & Graubard 1998).

    Where no error was seen no design effect can be: each contributor then counts as one record, the most careful view.
    """
    spread = exact * (1 - exact)
    if spread and squared:
        trials = min(float(spread / squared), float(rests_on.records))
    else:
        trials = float(rests_on.effective or 0)
    successes = float(exact) * trials
    level = float(asked.level)
    ends = (
        binomial_bound(successes, trials, (1 + level) / 2, upper=False),
        binomial_bound(successes, trials, (1 + level) / 2, upper=True),
        binomial_bound(successes, trials, level, upper=False),
        binomial_bound(successes, trials, level, upper=True),
    )
    return _ends(estimand, exact, rests_on, EXACT, ends)


def _resampled(estimand: Estimand, found: Exact, rests_on: Sample, measured: Measured, asked: Asked) -> Interval:
    """Return the pivotal interval: a resample is off the value as the value is off the truth."""
    if measured.sums is None:
        raise ValueError("no resamples were prepared")
    drawn = values(estimand, measured.clusters.columns, measured.sums)
    ends = pivotal(rounded(found) or 0.0, drawn, float(asked.level))
    if ends is None:
        return Interval(estimand, found, rests_on, reason=UNSTABLE)
    return _ends(estimand, found, rests_on, BOOTSTRAP, ends)


def pivotal(at: float, drawn: npt.NDArray[np.float64], level: float) -> tuple[float, float, float, float] | None:
    """Return the pivotal interval and its one-sided bounds; None where one resample in twenty is undefined."""
    defined = np.sort(drawn[~np.isnan(drawn)])
    if len(defined) < 0.95 * len(drawn):
        return None
    tail = (1 - level) / 2
    shares = (1 - tail, tail, level, 1 - level)
    low, high, at_least, at_most = (2 * at - _quantile(defined, share) for share in shares)
    return low, high, at_least, at_most


def _quantile(ordered: npt.NDArray[np.float64], share: float) -> float:
    """Return the value below which so great a share of them lies, one of them and no mean of two."""
    place = min(max(int(np.ceil(share * len(ordered))) - 1, 0), len(ordered) - 1)
    return float(ordered[place])


def _ends(
    estimand: Estimand, found: Exact, rests_on: Sample, method: str, ends: tuple[float, float, float, float]
) -> Interval:
    """Keep the ends within the range of the number."""
    least = float(estimand.low)
    most = float("inf") if estimand.high is None else float(estimand.high)
    if any(isnan(end) for end in ends):
        return Interval(estimand, found, rests_on, reason=UNSTABLE)
    low, high, at_least, at_most = (min(max(end, least), most) for end in ends)
    return Interval(estimand, found, rests_on, low, high, at_least, at_most, method)
