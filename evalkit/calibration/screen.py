"""Screens: quick tests of whether there is evidence of miscalibration, without bins and without draws."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy import special

from evalkit.calibration.chances import Floats, Ints, steady, steady_chance
from evalkit.calibration.levels import arranged

NO_CHANCE = "nothing-left-to-chance"
"""Why there is no test: each confidence is 0 or 1 (or 1/2, for Spiegelhalter's z), so nothing could vary."""


@dataclass(frozen=True, slots=True)
class Screened:
    """A test of calibration.

    Attributes:
        statistic: The value, in standard deviations of a calibrated model.
        p_value: The chance of one at least as far from calibrated, if the model were calibrated.
    """

    statistic: float
    p_value: float


def spiegelhalter(levels: pl.DataFrame) -> Screened | None:
    """Spiegelhalter's z: the Brier score less what it is in the mean if calibrated, in standard deviations.

    z = Σ (y - c) (1 - 2 c) / sqrt(Σ (1 - 2 c)² c (1 - c)) over records; for a calibrated model about standard
    normal. Above 0, confidences are further from 1/2 than they should be. The p-value is two-sided.

    What it is not: a size of error: it grows with the root of the number of records. Nor does it see all errors: too
    high at some confidences and too low at others can cancel, and confidences of 1/2 do not enter. Records are taken
    as independent: those of one contributor are not, and then p is too small. None of no records, and where every
    confidence is 0, 1/2 or 1 (``NO_CHANCE``).

    Source: Spiegelhalter 1986 (doi 10.1002/sim.4780050506).

    >>> spiegelhalter(pl.DataFrame({"confidence": [0.9], "n": [100], "correct": [90]}))
    Screened(statistic=0.0, p_value=1.0)
    """
    c, n, correct = _columns(levels)
    spread = _last(n * (1 - 2 * c) ** 2 * c * (1 - c))
    if not spread:
        return None
    z = _last((correct - n * c) * (1 - 2 * c)) / math.sqrt(spread)
    return Screened(steady(z), steady_chance(math.erfc(abs(z) / math.sqrt(2))))


def kolmogorov_smirnov(levels: pl.DataFrame) -> Screened | None:
    """The largest cumulative difference, in standard deviations of the last one.

    Walking over confidences from the lowest, D = Σ (y - c); the statistic is max |D| / sqrt(Σ c (1 - c)), which for a
    calibrated model of many records is the greatest distance from 0 of a Brownian motion over [0, 1]. From 0 up; the
    p-value is from its distribution, a little too large where records are few.

    What it is not, and where it is None: as ``kuiper``.

    Source: Arrieta-Ibarra et al. 2022 (arXiv 2205.09680).

    >>> kolmogorov_smirnov(pl.DataFrame({"confidence": [0.5], "n": [100], "correct": [60]})).statistic
    2.0
    """
    walk = _walk(levels)
    if walk is None:
        return None
    greatest = max(float(walk.max()), -float(walk.min()))
    odd = 2 * np.arange(_TERMS) + 1
    signs = np.where(np.arange(_TERMS) % 2 == 0, 1.0, -1.0)
    if greatest < _NARROW:
        return Screened(steady(greatest), 1.0)
    # Both series are of the same distribution; each is quick where the other is slow.
    if greatest < 2:
        inside = 4 / np.pi * _last(signs / odd * np.exp(-((odd * np.pi / greatest) ** 2) / 8))
        return Screened(steady(greatest), steady_chance(1 - inside))
    beyond = 4 * _last(signs * special.ndtr(-odd * greatest))
    return Screened(steady(greatest), steady_chance(beyond))


def kuiper(levels: pl.DataFrame) -> Screened | None:
    """The range of cumulative differences, in standard deviations of the last one.

    As ``kolmogorov_smirnov``, but max D - min D, 0 among them, so it finds the worst stretch of confidences wherever
    it begins. For a calibrated model of many records it is the range of a Brownian motion over [0, 1]. From 0 up.

    What it is not: a size of error: it grows with the root of the number of records. A large p-value does not say that
    the model is calibrated. Records are taken as independent: those of one contributor are not, and then p is too
    small. None of no records, and where every confidence is 0 or 1 (``NO_CHANCE``).

    Source: Arrieta-Ibarra et al. 2022 (arXiv 2205.09680); the range: Feller 1951 (doi 10.1214/aoms/1177729589).

    >>> kuiper(pl.DataFrame({"confidence": [0.5], "n": [100], "correct": [60]})).statistic
    2.0
    """
    walk = _walk(levels)
    if walk is None:
        return None
    across = float(walk.max() - walk.min())
    if across < _NARROW:
        return Screened(steady(across), 1.0)
    k = np.arange(1, _TERMS + 1)
    beyond = 8 * _last(np.where(k % 2 == 1, k, -k) * special.ndtr(-k * across))
    return Screened(steady(across), steady_chance(beyond))


_TERMS = 400
_NARROW = 0.25
"""A Brownian motion stays within so little with a chance below 1e-15."""


def _columns(levels: pl.DataFrame) -> tuple[Floats, Ints, Ints]:
    frame = arranged(levels)
    return frame["confidence"].to_numpy(), frame["n"].to_numpy(), frame["correct"].to_numpy()


def _walk(levels: pl.DataFrame) -> Floats | None:
    """Return the cumulative differences from 0 on; None where chance has no part in them."""
    c, n, correct = _columns(levels)
    spread = _last(n * c * (1 - c))
    if not spread:
        return None
    walk = np.zeros(len(c) + 1)
    np.cumsum(correct - n * c, out=walk[1:])
    walk /= math.sqrt(spread)
    return walk


def _last(terms: Floats) -> float:
    """Sum one after the other, so that the processor has no say in the order."""
    return float(np.cumsum(terms)[-1]) if len(terms) else 0.0
