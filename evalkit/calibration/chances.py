"""Chances of calibrated outcomes: how many of some coins come up right, and draws that only their place decides.

Sums of coins are worked out, not simulated. Draws come from a hash of seed, stream, replicate and place, not from a
generator, so no draw depends on how many were made before it or on the version of a library.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy import special

from evalkit.splitmix import splitmix64

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

STEADY = 12
"""Decimal places to which floats from chances are given: the last bits of a float depend on the processor."""

_NOTHING = 40.0
"""A frequency whose weight is below exp(-40) adds nothing to a sum of 64-bit floats."""


def steady(value: float) -> float:
    """Round a float that is no rounded fraction to 12 places, so that the same records give the same bytes anywhere.

    >>> steady(1 / 3), steady(-1e-17)
    (0.333333333333, 0.0)
    """
    return round(float(value), STEADY) + 0.0


def steady_chance(value: float) -> float:
    """Round a chance to 9 significant digits, so that a small one is not 0, and keep it from 0 to 1.

    >>> steady_chance(1 / 3e20), steady_chance(1 + 1e-15)
    (3.33333333e-21, 1.0)
    """
    return min(1.0, max(0.0, float(f"{value:.9g}"))) + 0.0


def right_ones(confidence: Floats, n: Ints) -> tuple[int, Floats]:
    """Return the distribution of how many records are right when each is a coin with its stated confidence.

    The Poisson-binomial distribution, by inverting its characteristic function on the numbers within about thirteen
    standard deviations of the mean; what is beyond has a probability below 1e-16 (Bernstein's inequality). Frequencies
    of no weight are left out, so some sixty are enough however many records there are.

    Args:
        confidence: Distinct confidences.
        n: How many records have each.

    Returns:
        The least number considered, and the probabilities of it and of those that follow.

    Source: Hong 2013 (doi 10.1016/j.csda.2012.10.006), with the distribution cut to where it is.

    >>> first, chance = right_ones(np.array([0.5, 1.0]), np.array([2, 3]))
    >>> first, chance.round(12).tolist()
    (0, [0.0, 0.0, 0.0, 0.25, 0.5, 0.25])
    """
    mean, spread = float(np.cumsum(n * confidence)[-1]), float(np.cumsum(n * confidence * (1 - confidence))[-1])
    reach = int(14 + (169 + 78 * spread) ** 0.5)
    first, last = max(0, int(mean) - reach), min(int(n.sum()), int(mean) + 1 + reach)
    size = last - first + 1
    turn = 2 * np.pi * np.arange(size // 2 + 1) / size
    turn = turn[spread * (1 - np.cos(turn)) < _NOTHING]
    c, often = confidence[:, None], n[:, None]
    with np.errstate(divide="ignore"):  # half a coin turned by half a circle: its logarithm is -inf, its weight 0
        size_of = 0.5 * (often * np.log1p(-2 * c * (1 - c) * (1 - np.cos(turn)))).sum(axis=0)
    # The angle is taken from the mean, which leaves small numbers to add.
    angle = (often * (np.arctan2(c * np.sin(turn), 1 - c + c * np.cos(turn)) - c * turn)).sum(axis=0)
    weights = np.zeros(size // 2 + 1, dtype=np.complex128)
    weights[: len(turn)] = np.exp(size_of - 1j * (angle + turn * (mean - first)))
    chance = np.fft.irfft(weights, size).clip(0)
    return first, chance / np.cumsum(chance)[-1]


def quick_right_ones(n: int, confidence: float) -> tuple[int, Floats]:
    """Return the cumulated chances of the binomial distribution, from the least number considered.

    >>> first, chance = quick_right_ones(2, 0.5)
    >>> first, chance.tolist()
    (0, [0.25, 0.75, 1.0])
    """
    mean, spread = n * confidence, n * confidence * (1 - confidence)
    reach = int(14 + (169 + 78 * spread) ** 0.5)
    first, last = max(0, int(mean) - reach), min(n, int(mean) + 1 + reach)
    cumulated = special.bdtr(np.arange(first, last + 1, dtype=np.float64), n, confidence)
    cumulated[-1] = 1.0
    return first, cumulated


def drawn(first: int, cumulated: Floats, uniform: Floats) -> Ints:
    """Turn uniform numbers into numbers of right ones: the least whose cumulated chance reaches the uniform number.

    >>> drawn(3, np.array([0.25, 0.75, 1.0]), np.array([0.1, 0.25, 0.5, 0.99])).tolist()
    [3, 3, 4, 5]
    """
    at = np.searchsorted(cumulated, uniform, side="left")
    return first + np.minimum(at, len(cumulated) - 1)


def uniforms(seed: int, stream: int, replicates: Ints, places: Ints) -> Floats:
    """Return a uniform number between 0 and 1 for each pair of a replicate and a place: a row a replicate.

    SplitMix64's finaliser (Steele, Lea & Flood 2014, doi 10.1145/2660193.2660195) over seed, stream, replicate and
    place in turn; the upper 53 bits, and a half, over 2**53.

    >>> uniforms(0, 1, np.array([0, 1]), np.array([7])).round(6).tolist()
    [[0.561008], [0.769871]]
    """
    start = splitmix64(splitmix64(np.array([seed % 2**64], dtype=np.uint64)) + np.uint64(stream))
    rows = splitmix64(start + replicates.astype(np.uint64))
    bits = splitmix64(rows[:, None] + places.astype(np.uint64)[None, :])
    return ((bits >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53


def at_level(values: Floats, level: Fraction) -> Floats:
    """Return the least drawn value with the given share of the draws at or below it, of each column.

    >>> at_level(np.array([3.0, 1.0, 2.0, 4.0]), Fraction(1, 2)).item()
    2.0
    """
    rank = -(-len(values) * level.numerator // level.denominator)
    return np.asarray(np.sort(values, axis=0)[min(max(rank, 1), len(values)) - 1])


def one_sided(values: Floats, observed: float) -> Fraction:
    """Return the p-value (1 + draws at or above the observed value) / (1 + draws).

    The 1 keeps it above 0: what was observed is one of the equally likely outcomes. Source: Phipson & Smyth 2010
    (doi 10.2202/1544-6115.1585). Values nearer than 1e-12 count as equal.

    >>> one_sided(np.array([1.0, 2.0, 3.0]), 2.0)
    Fraction(3, 4)
    """
    return Fraction(1 + int((values >= observed - 10.0**-STEADY).sum()), 1 + len(values))
