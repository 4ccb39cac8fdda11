"""The Brier score of right or wrong, taken apart over bins; and the mean log loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import polars as pl

from evalkit.calibration.binned import noise
from evalkit.calibration.levels import Bin, arranged
from evalkit.exact import PLACES

INFINITE = "infinite-log-loss"
"""Why there is no log loss: a record of confidence 1 is wrong, or one of confidence 0 is right."""


@dataclass(frozen=True, slots=True)
class Decomposition:
    """A Brier score and its parts; all exact.

    Attributes:
        records: The records that it is over.
        brier: The mean of (confidence - outcome)².
        reliability: How far accuracies are from confidences, bin by bin; 0 is best.
        resolution: How far the accuracies of bins are from that of all; more is better.
        uncertainty: What the score would be if the accuracy of all were said of each record.
        within_variance: The mean squared distance of a confidence from the mean of its bin.
        within_covariance: Twice the mean product of that distance and the outcome: what is resolved within bins.
    """

    records: int
    brier: Fraction
    reliability: Fraction
    resolution: Fraction
    uncertainty: Fraction
    within_variance: Fraction
    within_covariance: Fraction


def decomposition(bins: Sequence[Bin]) -> Decomposition | None:
    """Take the Brier score apart.

    With o_b the accuracy and f_b the mean confidence of bin b, o the accuracy of all N records::

        reliability       = Σ n_b / N * (f_b - o_b)²
        resolution        = Σ n_b / N * (o_b - o)²
        uncertainty       = o * (1 - o)
        within_variance   = Σ over records (f - f_b)² / N
        within_covariance = 2 * Σ over records (y - o_b) * (f - f_b) / N

    and exactly ``brier = reliability - resolution + uncertainty + within_variance - within_covariance``. The first
    three alone make the score only where all confidences of a bin are equal. Each is from 0 to 1, the covariance
    from -1 to 1.

    What it is not: the Brier score of a vector of probabilities, which sums over classes; nor free of bias
    (``corrected``). None of no records.

    Source: Murphy 1973; the terms within bins: Stephenson, Coelho & Jolliffe 2008 (doi 10.1175/2007WAF2006116.1).

    >>> from evalkit.calibration.binned import equal_width
    >>> levels = pl.DataFrame({"confidence": [0.5, 0.9], "n": [2, 2], "correct": [1, 2]})
    >>> one = decomposition(equal_width(levels, 1))
    >>> one.brier == one.reliability - one.resolution + one.uncertainty + one.within_variance - one.within_covariance
    True
    >>> float(one.brier), float(one.reliability), float(one.within_variance), float(one.within_covariance)
    (0.13, 0.0025, 0.04, 0.1)
    """
    records = sum(one.n for one in bins)
    if not records:
        return None
    rate = Fraction(sum(one.correct for one in bins), records)

    def mean(terms: Sequence[Fraction]) -> Fraction:
        return sum(terms, Fraction(0)) / records

    return Decomposition(
        records,
        mean([one.squares - 2 * one.crossed + one.correct for one in bins]),
        mean([one.gap**2 * one.n for one in bins]),
        mean([(one.accuracy - rate) ** 2 * one.n for one in bins]),
        rate * (1 - rate),
        mean([one.squares - one.confidence**2 / one.n for one in bins]),
        mean([2 * (one.crossed - one.confidence * one.accuracy) for one in bins]),
    )


def corrected(bins: Sequence[Bin]) -> Decomposition | None:
    """Take the Brier score apart with less bias: the noise of accuracies is taken off reliability and resolution.

    With noise = Σ n_b / N * o_b * (1 - o_b) / (n_b - 1)::

        reliability' = reliability - noise
        resolution'  = resolution - noise + o * (1 - o) / (N - 1)
        uncertainty' = uncertainty + o * (1 - o) / (N - 1)

    so the sum stays the same, and reliability' is ``debiased_squared_error``. Reliability' and resolution' may be
    negative and are never cut at 0.

    Bins of one record are left out, of the score too, as in ``debiased_squared_error``. None where none is left.

    What it is not: unbiased altogether: uncertainty' and reliability' are, for independent records in fixed bins.

    Source: Ferro & Fricker 2012 (doi 10.1002/qj.1924).

    >>> from evalkit.calibration.binned import debiased_squared_error, equal_width
    >>> bins = equal_width(pl.DataFrame({"confidence": [0.5, 0.9], "n": [5, 5], "correct": [4, 5]}), 10)
    >>> corrected(bins).reliability == debiased_squared_error(bins)
    True
    """
    several = [one for one in bins if one.n > 1]
    plain = decomposition(several)
    if plain is None:
        return None
    taken = sum((noise(one) * one.n for one in several), Fraction(0)) / plain.records
    added = plain.uncertainty / (plain.records - 1)
    return Decomposition(
        plain.records,
        plain.brier,
        plain.reliability - taken,
        plain.resolution - taken + added,
        plain.uncertainty + added,
        plain.within_variance,
        plain.within_covariance,
    )


def log_loss(levels: pl.DataFrame) -> Fraction | None:
    """Mean log loss of right or wrong: -(Σ correct * ln c + (n - correct) * ln(1 - c)) / N, in nats.

    From 0 up. Each logarithm is a decimal of 15 places, as sums of terms are everywhere, so order never shows.

    What it is not: the negative log-likelihood of gold under a vector of probabilities, which other classes enter;
    nor floored: ``evaluate`` takes no logarithm of less than 1e-12, this has no value there. None of no records, and
    where it is infinite (``INFINITE``): a record of confidence 1 is wrong, or one of confidence 0 is right.

    >>> float(log_loss(pl.DataFrame({"confidence": [0.5, 1.0], "n": [1, 1], "correct": [1, 1]})))
    0.3465735902799725
    >>> log_loss(pl.DataFrame({"confidence": [1.0], "n": [2], "correct": [1]})) is None
    True
    """
    wrong = pl.col("n") - pl.col("correct")
    of_right, of_wrong = pl.col("confidence").log(), (-pl.col("confidence")).log1p()
    decimal = pl.Decimal(38, PLACES)
    frame = arranged(levels).lazy()
    impossible = ((pl.col("confidence") == 0) & (pl.col("correct") > 0)) | ((pl.col("confidence") == 1) & (wrong > 0))
    records, found, right, missed = (
        frame.select(
            pl.col("n").sum(),
            infinite=impossible.any(),
            right=(pl.when(pl.col("correct") > 0).then(of_right).cast(decimal, strict=False) * pl.col("correct")).sum(),
            missed=(pl.when(wrong > 0).then(of_wrong).cast(decimal, strict=False) * wrong).sum(),
        )
        .collect(engine="streaming")
        .row(0)
    )
    if not records or found:
        return None
    return -(Fraction(right) + Fraction(missed)) / int(records)
