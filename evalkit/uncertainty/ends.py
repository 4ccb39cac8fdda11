"""The ends of an interval, from what was seen: by Student's t, by an exact binomial, and out of resamples.

Each function returns four ends: low and high of the two-sided interval, and the two one-sided bounds. Of what each
is not: none of them knows of records that were left out, of labels that are wrong, or of a choice made on the same
records.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil, fsum, sqrt
from typing import NamedTuple

import numpy as np

from evalkit.uncertainty.distributions import binomial_bound, normal_quantile, t_quantile
from evalkit.uncertainty.parts import Floats, Parts, spread


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


def absolute_ends(parts: Parts, contributors: int, degrees: float, level: float) -> Ends:
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
        parts: The parts, as seen and in each resample.
        contributors: How many contributors, K, have a share in them.
        degrees: The degrees of freedom.
        level: The confidence.
    """
    value = fsum(map(abs, parts.at))
    swing = np.zeros(len(parts.moved[0]))
    for part, some, known in zip(parts.at, parts.moved, parts.sure(contributors), strict=True):
        swing += np.copysign(1.0, part) * some if known else np.abs(some)

    def lower(share: float) -> float:
        return value - _stretch(share, contributors, degrees) * quantile(np.sort(swing), share)

    def upper(share: float) -> float:
        stretch = _stretch(share, contributors, degrees)
        sums = np.zeros(len(swing))
        for part, some in zip(parts.at, parts.moved, strict=True):
            sums += np.abs(part + stretch * some)
        return quantile(np.sort(sums), share)

    return four(level, lower, upper)


def difference_ends(ours: Parts, theirs: Parts, contributors: int, degrees: float, level: float) -> tuple[Ends, float]:
    """Return the interval of the difference of two sums of absolute values out of shared resamples, and a p-value.

    Both sums are mostly too large, and near zero have a corner: see ``absolute_ends``. The upper end is the quantile
    of what can be no smaller than the difference, part by part (g and h the true parts of the two, G and H those seen):

    * |g| is no larger than |G + N*| is;
    * -|h| is -|H| - s·N*, s being the sign of H, where that sign is sure; else -|H| + |N*| is no smaller;
    * where it is not, and the two err so much alike that their difference is better known than h, |g| - |h| is at most
      |g - h|.

    The lower end is the same with the two exchanged. Where all signs are sure both are those of a smooth number.

    Args:
        ours: The parts of the one.
        theirs: As many parts of the other, in the same places; resamples are the same ones.
        contributors: How many contributors, K, have a share in them.
        degrees: The degrees of freedom.
        level: The confidence.

    Returns:
        The ends; and twice the share of resamples, but for one more, in which the end nearer to zero is beyond it.
    """

    def above(one: Parts, other: Parts, share: float) -> Floats:
        return np.sort(_no_smaller(one, other, contributors, _stretch(share, contributors, degrees)))

    ends = four(
        level,
        lambda share: -quantile(above(theirs, ours, share), share),
        lambda share: quantile(above(ours, theirs, share), share),
    )
    sides = (above(*pair, (1 + level) / 2) for pair in ((ours, theirs), (theirs, ours)))
    beyond = min((1 + int((drawn >= 0).sum())) / (1 + len(drawn)) for drawn in sides)
    return ends, min(2 * beyond, 1.0)


def _no_smaller(one: Parts, other: Parts, contributors: int, stretch: float) -> Floats:
    """Return in each resample what the difference of two sums of absolute values is no larger than."""
    found = np.zeros(len(one.moved[0]))
    places = zip(one.at, one.moved, other.at, other.moved, other.sure(contributors), strict=True)
    for here, moved, there, swayed, sure in places:
        if not sure and spread(moved - swayed) < spread(swayed):
            found += np.abs(here - there + stretch * (moved - swayed))
            continue
        swing = -np.copysign(1.0, there) * swayed if sure else np.abs(swayed)
        found += np.abs(here + stretch * moved) - abs(there) + stretch * swing
    return found


def quantile(ordered: Floats, share: float) -> float:
    """Return the value below which so great a share of them lies, one of them and no mean of two."""
    rank = ceil(round(share * len(ordered), 6))  # 0.025 · 1000 is 25, whatever floats make of it
    place = min(max(rank - 1, 0), len(ordered) - 1)
    return float(ordered[place])


def _stretch(share: float, contributors: int, degrees: float) -> float:
    wider = t_quantile(share, degrees) / normal_quantile(share) if share > 0.5 else 1.0
    return wider * sqrt(contributors / (contributors - 1))
