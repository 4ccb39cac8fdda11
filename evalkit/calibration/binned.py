"""Binned calibration error: bins of equal width or of equal mass, the plug-in error, and the debiased one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

import polars as pl

from evalkit.calibration.levels import Bin, arranged, sums

BINS_OF_ONE = "bins-of-one-record"
"""Why there is no debiased error: no bin holds two records, and one record says nothing about its own noise."""


def equal_width(levels: pl.DataFrame, bins: int) -> tuple[Bin, ...]:
    """Return the bins of equal width that hold records, the lowest first.

    A confidence c is in bin min(bins - 1, floor(c * bins)), computed in 64-bit floats: 0.6 of ten bins is in bin 6.

    What it is not: the bins of a tool that compares with a table of edges, which may put 0.6 into bin 5. No levels
    give no bins.

    >>> levels = pl.DataFrame({"confidence": [0.6, 1.0], "n": [2, 3], "correct": [1, 3]})
    >>> [(one.low, one.high, one.n) for one in equal_width(levels, 10)]
    [(0.6, 0.7, 2), (0.9, 1.0, 3)]
    """
    place = (pl.col("confidence") * bins).floor().clip(upper_bound=bins - 1).cast(pl.Int64)
    found = sums(arranged(levels), place)
    return tuple(replace(one, low=at / bins, high=(at + 1) / bins) for at, one in sorted(found.items()))


def equal_mass(levels: pl.DataFrame, bins: int) -> tuple[Bin, ...]:
    """Return bins of about equally many records, the lowest first; equal confidences are in one bin.

    With N records, ``before`` of them below a level of n records, the level is in bin
    floor(bins * (2 * before + n) / (2 * N)): that of the middle of its ranks, in whole numbers. Where all confidences
    differ and bins divides N each bin holds N / bins records. A bin that no level falls into is left out, so there
    may be fewer. Each has its least and greatest confidence as ``low`` and ``high``.

    What it is not: quantile edges, which put ties on one side or the other by interpolation. No levels give no bins.

    Source: Nguyen & O'Connor 2015 (arXiv 1508.05154); Roelofs et al. 2022 (arXiv 2012.08668).

    >>> levels = pl.DataFrame({"confidence": [0.1, 0.2, 0.3, 0.9], "n": [1, 1, 1, 3], "correct": [0, 0, 1, 3]})
    >>> [(one.low, one.high, one.n) for one in equal_mass(levels, 2)]
    [(0.1, 0.3, 3), (0.9, 0.9, 3)]
    """
    frame = arranged(levels)
    records = max(int(frame["n"].sum()), 1)
    middle = 2 * pl.col("upto") - pl.col("n")
    found = sums(frame.with_columns(upto=pl.col("n").cum_sum()), (middle * bins) // (2 * records))
    return tuple(one for _, one in sorted(found.items()))


def plug_in_error(bins: Sequence[Bin]) -> Fraction | None:
    """Expected calibration error: the sum over bins of n_b / N * |accuracy - mean confidence|.

    From 0 to 1. Over bins of equal width it is the ``ece`` of reports, exactly.

    What it is not: an estimate without bias. Chance alone puts every gap away from 0, so it is above 0 for a model
    that is calibrated, by much where records are few; read it beside ``null_error``. Nor can values with other bins
    or of other sample sizes be compared. None of no records.

    Source: Naeini et al. 2015; Guo et al. 2017 (arXiv 1706.04599).

    >>> levels = pl.DataFrame({"confidence": [0.95], "n": [20], "correct": [20]})
    >>> plug_in_error(equal_width(levels, 10))
    Fraction(1, 20)
    """
    records = sum(one.n for one in bins)
    return sum((abs(one.gap) * one.n for one in bins), Fraction(0)) / records if records else None


def debiased_squared_error(bins: Sequence[Bin]) -> Fraction | None:
    """Squared calibration error without the part that noise adds.

    The sum over bins of n_b / N * ((accuracy - mean confidence)² - accuracy * (1 - accuracy) / (n_b - 1)). The second
    term is what chance adds to the first in the mean, so a calibrated model has 0 in the mean at every sample size:
    exactly where the confidences of a bin are equal, else lower by their variance / (n_b - 1). It is from -1/4 to 1,
    may be negative, and is never cut at 0, since then it would be biased again.

    A bin of one record says nothing about its own noise. Such bins are left out, of N too (``records_alone`` counts
    them). None where no bin holds two records.

    What it is not: the square of the plug-in error, which is a mean of absolute gaps; nor free of the bins: what
    cancels inside a bin is not seen. Records of one contributor are not independent, so they add more noise than is
    taken off.

    Source: Bröcker 2012; Ferro & Fricker 2012 (doi 10.1002/qj.1924); Kumar, Liang & Ma 2019 (arXiv 1909.10155).

    >>> levels = pl.DataFrame({"confidence": [0.5], "n": [5], "correct": [4]})
    >>> debiased_squared_error(equal_width(levels, 10)) == Fraction("0.3") ** 2 - Fraction("0.16") / 4
    True
    """
    several = [one for one in bins if one.n > 1]
    records = sum(one.n for one in several)
    if not records:
        return None
    return sum(((one.gap**2 - noise(one)) * one.n for one in several), Fraction(0)) / records


def noise(one: Bin) -> Fraction:
    """Return accuracy * (1 - accuracy) / (n - 1): the variance of the accuracy of a bin of two records or more.

    It is unbiased for independent records. Undefined, and an error, for a bin of one record.

    >>> noise(Bin(0.0, 1.0, 5, 4, Fraction(4), Fraction(4), Fraction(3)))
    Fraction(1, 25)
    """
    return one.accuracy * (1 - one.accuracy) / (one.n - 1)


def records_alone(bins: Sequence[Bin]) -> int:
    """Count the bins of one record, which debiased numbers leave out.

    >>> records_alone(equal_width(pl.DataFrame({"confidence": [0.1, 0.9], "n": [1, 2], "correct": [0, 2]}), 10))
    1
    """
    return sum(one.n == 1 for one in bins)
