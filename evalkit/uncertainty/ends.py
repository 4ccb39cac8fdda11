"""The ends of an interval, from what was seen: by Student's t, by an exact binomial, and out of resamples.

Each function returns four ends: low and high of the two-sided interval, and the two one-sided bounds. Of what each
is not: none of them knows of records that were left out, of labels that are wrong, or of a choice made on the same
records.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, fsum, log, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evalkit.uncertainty.distributions import binomial_bound, normal_quantile, t_quantile

Floats = npt.NDArray[np.float64]


class Ends(NamedTuple):
    """The ends of an interval, in the order of an ``Interval``'s fields."""

    low: float
    high: float
    at_least: float
    at_most: float


def four(level: float, lower: Callable[[float], float], upper: Callable[[float], float]) -> Ends:
    """Return the ends of a two-sided interval and of two one-sided bounds.

    Args:
        level: The confidence of the interval, and of each bound.
        lower: What gives the lower end that is missed with a confidence's complement.
        upper: What gives the upper one.
    """
    each = (1 + level) / 2
    return Ends(lower(each), upper(each), lower(level), upper(level))


def t_ends(at: float, error: float, degrees: float, level: float) -> Ends:
    """Return Student's interval around a number.

    >>> [round(end, 3) for end in t_ends(0.5, 0.1, 29, 0.95)]
    [0.295, 0.705, 0.33, 0.67]
    """
    return four(
        level,
        lambda share: at - t_quantile(share, degrees) * error,
        lambda share: at + t_quantile(share, degrees) * error,
    )


def binomial_ends(at: float, trials: Callable[[float], float], level: float) -> Ends:
    """Return the exact interval of a proportion of so many trials (Clopper & Pearson 1934; Korn & Graubard 1998).

    Args:
        at: The proportion seen.
        trials: As how many independent trials the records count, for a confidence.
        level: The confidence.

    >>> [round(end, 4) for end in binomial_ends(1.0, lambda _: 20.0, 0.95)]
    [0.8316, 1.0, 0.8609, 1.0]
    """
    return four(
        level,
        lambda share: binomial_bound(at * trials(share), trials(share), share, upper=False),
        lambda share: binomial_bound(at * trials(share), trials(share), share, upper=True),
    )


def absolute_ends(
    at: Sequence[float], drawn: Sequence[Floats], contributors: int, degrees: float, level: float
) -> Ends:
    """Return the interval of a sum of absolute values, such as a calibration error, out of resamples of its parts.

    Such a sum is never too small and mostly too large, the more so the nearer it is to zero, where it has a corner
    and no resample is to it as it is to the truth. But it is convex, and for a convex number two things hold whatever
    the parts are (g the truth, G what was seen, N = G - g):

    * Upper: Σ|G + N*| over resamples N* is at least Σ|g| + Σ s·(N + N*), s being the signs of g. The upper quantile of
      the right side is an ordinary interval's end; that of the left is no smaller.
    * Lower: Σ|G| - Σ|g| is at most Σ s·N with s the signs of G, and where a sign is not sure |N| is no smaller than
      s·N. A sign is sure where the part is over √(2 ln K) standard errors from zero (as moments are selected by
      Andrews & Soares 2010, and directional derivatives estimated by Fang & Santos 2019).

    So both ends keep what they promise for calibrated and for miscalibrated models; near zero they promise more than
    asked, and they are wider than the interval of a smooth number. Resamples are stretched as Student's t is wider
    than the normal distribution, since few contributors show less than their spread.

    Args:
        at: The parts as seen.
        drawn: Each part in each resample.
        contributors: How many contributors, K, have a share in them.
        degrees: The degrees of freedom.
        level: The confidence.
    """
    parts = [some - part for some, part in zip(drawn, at, strict=True)]
    sure = [abs(part) > sqrt(2 * log(contributors)) * _spread(some) for part, some in zip(at, parts, strict=True)]
    value = fsum(map(abs, at))
    swing = np.zeros(len(parts[0]))
    for part, some, known in zip(at, parts, sure, strict=True):
        swing += np.copysign(1.0, part) * some if known else np.abs(some)

    def lower(share: float) -> float:
        return value - _stretch(share, contributors, degrees) * quantile(np.sort(swing), share)

    def upper(share: float) -> float:
        stretch = _stretch(share, contributors, degrees)
        sums = np.zeros(len(swing))
        for part, some in zip(at, parts, strict=True):
            sums += np.abs(part + stretch * some)
        return quantile(np.sort(sums), share)

    return four(level, lower, upper)


def pivotal(at: float, drawn: Floats, level: float) -> Ends | None:
    """Return the pivotal interval: a resample is off the value as the value is off the truth.

    It is for smooth numbers. Of a sum of absolute values near zero it is wrong: see ``absolute_ends``.

    Returns:
        The ends; None where more than one resample in twenty is undefined.
    """
    defined = np.sort(drawn[~np.isnan(drawn)])
    if len(defined) < 0.95 * len(drawn) or not len(defined):
        return None
    return four(
        level,
        lambda share: 2 * at - quantile(defined, share),
        lambda share: 2 * at - quantile(defined, 1 - share),
    )


def quantile(ordered: Floats, share: float) -> float:
    """Return the value below which so great a share of them lies, one of them and no mean of two."""
    rank = ceil(round(share * len(ordered), 6))  # 0.025 · 1000 is 25, whatever floats make of it
    place = min(max(rank - 1, 0), len(ordered) - 1)
    return float(ordered[place])


def _spread(numbers: Floats) -> float:
    """Return the root of the mean square, added without an error that could depend on the order."""
    return sqrt(fsum((numbers * numbers).tolist()) / len(numbers))


def _stretch(share: float, contributors: int, degrees: float) -> float:
    wider = t_quantile(share, degrees) / normal_quantile(share) if share > 0.5 else 1.0
    return wider * sqrt(contributors / (contributors - 1))
