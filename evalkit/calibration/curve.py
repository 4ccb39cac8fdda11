"""The null of CORP: what miscalibration and which curve isotonic recalibration finds in calibrated outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import polars as pl
from scipy import optimize, special

from evalkit.calibration.chances import Floats, Ints, at_level, drawn, one_sided, quick_right_ones, steady, uniforms
from evalkit.calibration.levels import arranged
from evalkit.calibration.null import LEVEL, REPLICATES, Null
from evalkit.calibration.shown import BandPoint
from evalkit.exact import rounded

CELLS = 4096
"""Distinct confidences up to which outcomes are drawn for each; beyond, they are put into cells of equal mass."""

POINTS = 101
"""The most points at which the band is given."""

_AT_ONCE = 128
_STREAM = 2


@dataclass(frozen=True, slots=True)
class CurveNull:
    """What chance alone gives to the curve and to what is read off it.

    Attributes:
        cells: The confidences that outcomes were drawn for: the distinct ones, or fewer cells.
        brier: Miscalibration by the Brier score.
        log: Miscalibration by log loss; None where the log loss of the records is infinite.
        band: Where the curve lies, point by point.
    """

    cells: int
    brier: Null
    log: Null | None
    band: tuple[BandPoint, ...]


def null_curve(
    levels: pl.DataFrame, *, level: Fraction = LEVEL, replicates: int = REPLICATES, seed: int = 0
) -> CurveNull | None:
    """Redraw outcomes as coins of the stated confidences, recalibrate each time, and say what comes out.

    Up to 4096 distinct confidences, the right ones of each are drawn from its binomial distribution, by inversion from
    a hash of seed, replicate and place. Beyond, neighbours are put into 4096 cells of equal mass (ties together, as in
    ``equal_mass``), each at the mean of its confidences; a cell's variance is never below that of its records, so the
    null is not too narrow. Over cells less miscalibration is found, in calibrated outcomes and in the records alike
    (7 % less of 200,000 distinct confidences, 12 % of a million, as measured): hold the quantile against ``observed``,
    which is over the same cells, and not against the miscalibration of ``brier_parts``.

    The band is a consistency band: at each of up to 101 confidences about evenly spaced between the least and the
    greatest, the middle ``level`` of the recalibrated values, point by point.

    What it is not: a confidence band around the curve that was found; nor a band for the whole curve at once: of a
    calibrated model's points, about 1 in 20 leaves a band of 95 %. Records are taken as independent: those of one
    contributor are not, and then p is too small and the band too narrow. None of no records.

    Source: Dimitriadis, Gneiting & Jordan 2021 (doi 10.1073/pnas.2016191118); Bröcker & Smith 2007.

    >>> found = null_curve(pl.DataFrame({"confidence": [0.5], "n": [4], "correct": [4]}))
    >>> found.brier.observed, found.brier.quantile
    (0.25, 0.25)
    >>> found.band
    (BandPoint(confidence=0.5, low=0.0, high=1.0),)
    """
    frame = arranged(levels)
    if frame.is_empty():
        return None
    c, n, correct = _cells(frame)
    points = _points(c)
    found = [_recalibrated(c, n, right, points) for right in _draws(c, n, replicates, seed)]
    brier, log, curves = (np.concatenate(each) for each in zip(*found, strict=True))
    observed = _recalibrated(c, n, correct[None, :], points)
    tail = (1 - level) / 2
    low, high = at_level(curves, tail), at_level(curves, 1 - tail)
    band = (BandPoint(float(c[at]), steady(low[i]), steady(high[i])) for i, at in enumerate(points.tolist()))
    log_null = _null(log, float(observed[1][0]), level) if np.isfinite(observed[1][0]) else None
    return CurveNull(len(c), _null(brier, float(observed[0][0]), level), log_null, tuple(band))


def _null(values: Floats, observed: float, level: Fraction) -> Null:
    mean = float(np.cumsum(values)[-1]) / len(values)
    quantile = steady(float(at_level(values, level)))
    return Null(steady(observed), steady(mean), quantile, rounded(one_sided(values, observed)))


def _recalibrated(c: Floats, n: Ints, right: Ints, points: Ints) -> tuple[Floats, Floats, Floats]:
    """Return miscalibration by Brier score and by log loss, and the curve at the points, of each row of outcomes."""
    weights = n.astype(np.float64)
    curves = np.stack([optimize.isotonic_regression(row / weights, weights=weights).x for row in right])
    records = weights.sum()
    brier = (weights * (c * c + curves * curves) - 2 * right * c).sum(axis=1) / records
    wrong = n - right
    said = special.xlogy(right, c) + special.xlog1py(wrong, -c)
    best = special.xlogy(right, curves) + special.xlog1py(wrong, -curves)
    return brier, (best - said).sum(axis=1) / records, curves[:, points]


def _draws(c: Floats, n: Ints, replicates: int, seed: int) -> Iterator[Ints]:
    """Yield right ones of each cell, some replicates at a time: a row a replicate."""
    places = np.arange(len(c))
    several = np.flatnonzero(n > 1).tolist()
    chances = [quick_right_ones(int(n[at]), float(c[at])) for at in several]
    for start in range(0, replicates, _AT_ONCE):
        rows = np.arange(start, min(start + _AT_ONCE, replicates))
        uniform = uniforms(seed, _STREAM, rows, places)
        right = (uniform < c).astype(np.int64)
        for at, (first, cumulated) in zip(several, chances, strict=True):
            right[:, at] = drawn(first, cumulated, uniform[:, at])
        yield right


def _cells(frame: pl.DataFrame) -> tuple[Floats, Ints, Ints]:
    """Return confidences, records and right ones, of cells of equal mass where there are too many."""
    c, n, correct = (frame[name].to_numpy() for name in ("confidence", "n", "correct"))
    if len(c) <= CELLS:
        return c, n, correct
    cell = (2 * np.cumsum(n) - n) * CELLS // (2 * n.sum())
    records, right = (np.bincount(cell, each, CELLS) for each in (n, correct))
    held = records > 0
    mean = np.bincount(cell, n * c, CELLS)[held] / records[held]
    return mean.clip(0, 1), records[held].astype(np.int64), right[held].astype(np.int64)


def _points(c: Floats) -> Ints:
    """Return where the confidences stand that are nearest to evenly spaced ones."""
    wanted = np.linspace(c[0], c[-1], POINTS)
    above = np.searchsorted(c, wanted).clip(0, len(c) - 1)
    below = (above - 1).clip(0)
    return np.unique(np.where(wanted - c[below] <= c[above] - wanted, below, above)).astype(np.int64)
