"""Intervals by leaving out one group of contributors after the other, for the areas, which are smooth."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import psi, stdtrit

from evalkit.risk_coverage.grid import Grid
from evalkit.risk_coverage.shown import Interval

JACKKNIFE = "delete-a-group-jackknife"
INSUFFICIENT = "insufficient-contributors"

Counts = NDArray[np.int64]


def grid_aurc(own: Counts, wrong: Counts) -> float:
    """AURC of counts by cell, the most confident cell first; the records of a cell are tied."""
    accepted, errors = np.cumsum(own), np.cumsum(wrong)
    risk = np.divide(errors, accepted, out=np.zeros(own.size), where=accepted > 0)
    return math.fsum((own * risk).tolist()) / int(accepted[-1])


def grid_e_aurc(own: Counts, wrong: Counts) -> float:
    """AURC of counts by cell in excess of the ideal ordering."""
    size, errors = int(own.sum()), int(wrong.sum())
    right = size - errors
    ideal = (errors - right * float(psi(size + 1) - psi(right + 1))) / size
    return grid_aurc(own, wrong) - ideal


def grid_augrc(own: Counts, wrong: Counts) -> float:
    """AUGRC of counts by cell."""
    errors = np.cumsum(wrong)
    size = int(own.sum())
    doubled = own * (2 * errors - wrong)
    return (int(doubled.sum()) if size < 2**30 else sum(doubled.tolist())) / (2 * size * size)


def jackknife(
    found: Grid, value: Fraction, statistic: Callable[[Counts, Counts], float], high: float, level: Fraction
) -> Interval:
    """Make the interval of an area: value ± t · standard error, clipped to its range from 0 to ``high``.

    With G groups and θ₍g₎ the area without group g, the squared standard error is (G − 1)/G · Σ (θ₍g₎ − mean)²
    (Kott 2001, *Journal of Official Statistics* 17:521; Shao & Tu 1995), and t has G − 1 degrees of freedom. Areas
    without a group are measured on the cells of the grid, the centre is the exact area. It says how much the area
    would vary over other contributors like these, not over other models or years.

    Args:
        found: The counts.
        value: The exact area.
        statistic: The area of counts by cell.
        high: The greatest value possible.
        level: The level, such as 95/100.
    """
    own, wrong = found.own.sum(axis=0), found.wrong.sum(axis=0)
    each = [statistic(own - a, wrong - b) for a, b in zip(found.own, found.wrong, strict=True) if own.sum() > a.sum()]
    count = len(each)
    if count < 2:
        return Interval(None, None, None, JACKKNIFE, None, INSUFFICIENT)
    error = standard_error(each)
    centre, reach = float(value), float(stdtrit(count - 1, (1 + float(level)) / 2)) * error
    return Interval(max(0.0, centre - reach), min(high, centre + reach), error, JACKKNIFE, count)


def standard_error(each: Sequence[float]) -> float:
    """Return the jackknife's standard error from the values without each group."""
    mean = math.fsum(each) / len(each)
    squares = math.fsum((one - mean) ** 2 for one in each)
    return math.sqrt((len(each) - 1) / len(each) * squares)
