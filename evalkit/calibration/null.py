"""The null of the binned error: what a perfectly calibrated model would have shown with these confidences."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import polars as pl

from evalkit.calibration.chances import Floats, Ints, at_level, drawn, one_sided, right_ones, steady, uniforms
from evalkit.calibration.levels import arranged
from evalkit.exact import rounded

LEVEL = Fraction(95, 100)
"""The share of calibrated outcomes that the quantile and the band hold."""

REPLICATES = 1000
"""How often outcomes are drawn."""

CELLS = 4096
"""Distinct confidences of a bin up to which its null is that of each of them; beyond, they are put into cells."""

_STREAM = 1


@dataclass(frozen=True, slots=True)
class Null:
    """What chance alone gives.

    Attributes:
        observed: The value found in the records, as it is compared.
        expected: The mean over calibrated outcomes.
        quantile: The value that calibrated outcomes exceed only as often as the level leaves.
        p_value: The chance of a value at least as great as the one observed, if the model were calibrated.
    """

    observed: float
    expected: float
    quantile: float
    p_value: float


def null_error(
    levels: pl.DataFrame, bins: int, *, level: Fraction = LEVEL, replicates: int = REPLICATES, seed: int = 0
) -> Null | None:
    """What the error over bins of equal width would be if the model were calibrated, at this number of records.

    Confidences stay as they are; each outcome is a coin that is right with its stated confidence. The number of right
    ones in a bin is then Poisson-binomial, and the error is Σ |right ones - sum of confidences| / N. ``expected`` is
    worked out from these distributions. ``quantile`` and ``p_value`` are of ``replicates`` draws, each number of right
    ones drawn by inversion from a hash of seed, replicate and bin. Up to 4096 distinct confidences in a bin the
    distribution is that of each; beyond, confidences within 1/4096 of the bin's width share their mean, which makes
    its variance greater by less than 1 part in 2000, so the null is never too narrow.

    Everything is from 0 to 1; the p-value is at least 1 / (replicates + 1), and its own error is about
    sqrt(p (1 - p) / replicates).

    What it is not: a correction. An error less its expectation is no calibration error (``debiased_squared_error`` is
    one, squared). A large p-value does not say that the model is calibrated, only that these records do not tell.
    Records are taken as independent: those of one contributor are not, and then p is too small and the quantile too
    low. None of no records.

    Source: Bröcker & Smith 2007 (consistency resampling, doi 10.1175/WAF993.1).

    >>> levels = pl.DataFrame({"confidence": [0.5], "n": [2], "correct": [2]})
    >>> found = null_error(levels, 10)
    >>> found.observed, found.expected, found.quantile
    (0.5, 0.25, 0.5)
    """
    frame = arranged(levels)
    places, errors, cost = np.arange(replicates), np.zeros(replicates), 0.0
    observed, records = 0.0, int(frame["n"].sum())
    for place, c, n, correct in _inside(frame, bins):
        stated = float(np.cumsum(n * c)[-1])
        first, chance = right_ones(*_cells(c, n))
        cost += float(np.cumsum(chance * np.abs(first + np.arange(len(chance)) - stated))[-1])
        uniform = uniforms(seed, _STREAM, places, np.array([place]))[:, 0]
        errors += np.abs(drawn(first, np.cumsum(chance), uniform) - stated)
        observed += abs(correct - stated)
    if not records:
        return None
    errors /= records
    return Null(
        steady(observed / records),
        steady(cost / records),
        steady(float(at_level(errors, level))),
        rounded(one_sided(errors, observed / records)),
    )


def _inside(frame: pl.DataFrame, bins: int) -> Iterator[tuple[int, Floats, Ints, int]]:
    """Yield each bin that holds records: its index, its confidences, their records, and all right ones."""
    c, n, correct = (frame[name].to_numpy() for name in ("confidence", "n", "correct"))
    place = np.minimum(np.floor(c * bins), bins - 1)
    ends = np.flatnonzero(np.diff(place, append=np.inf)) + 1
    start = 0
    for end in ends.tolist():
        yield int(place[start]), c[start:end], n[start:end], int(correct[start:end].sum())
        start = end


def _cells(c: Floats, n: Ints) -> tuple[Floats, Ints]:
    """Put confidences into cells of equal width where there are too many, each at the mean of its records."""
    if len(c) <= CELLS:
        return c, n
    cell = np.minimum(((c - c[0]) * (CELLS / (c[-1] - c[0]))).astype(np.int64), CELLS - 1)
    records = np.bincount(cell, n, CELLS)
    held = records > 0
    return np.bincount(cell, n * c, CELLS)[held] / records[held], records[held].astype(np.int64)
