"""CORP: the reliability curve of isotonic recalibration, and scores taken apart by it, all exact."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np
import polars as pl

from evalkit.calibration.chances import STEADY, Ints
from evalkit.calibration.decomposition import log_loss
from evalkit.calibration.levels import Bin, arranged, whole
from evalkit.calibration.shown import Block

_FEW = 4096
"""Points that are left to a loop."""

_STRETCH = 2**18
_WIDE = 2**31
"""Records up to which products of two counts fit into 64 bits."""


@dataclass(frozen=True, slots=True)
class Parts:
    """A mean score and its parts: ``score = miscalibration - discrimination + uncertainty``.

    Attributes:
        score: The mean score of the confidences; None where it is infinite.
        miscalibration: What recalibration takes off it (MCB); None where the score is.
        discrimination: What the recalibrated confidences are better than the accuracy of all (DSC).
        uncertainty: The score if the accuracy of all were said of each record (UNC).
    """

    score: Fraction | None
    miscalibration: Fraction | None
    discrimination: Fraction
    uncertainty: Fraction


def blocks(levels: pl.DataFrame) -> tuple[Block, ...]:
    """Return the reliability curve: the blocks of pool-adjacent-violators over confidences, the lowest first.

    The shares of right ones rise strictly from block to block, and each is an exact ratio of its counts: blocks are
    the edges of the lower convex hull of (records so far, right ones so far), found in whole numbers. Multiplying all
    counts by k leaves the blocks where they are.

    What it is not: a confidence interval, nor a choice of bins: it needs none. Chance makes blocks too; see
    ``null_curve``. No levels give no blocks.

    Source: Ayer et al. 1955; Dimitriadis, Gneiting & Jordan 2021 (doi 10.1073/pnas.2016191118).

    >>> levels = pl.DataFrame({"confidence": [0.2, 0.4, 0.6, 0.8], "n": [1, 1, 1, 1], "correct": [0, 1, 0, 1]})
    >>> [(one.low, one.high, one.correct, one.n) for one in blocks(levels)]
    [(0.2, 0.2, 0, 1), (0.4, 0.6, 1, 2), (0.8, 0.8, 1, 1)]
    """
    frame = arranged(levels)
    records, right = _so_far(frame["n"]), _so_far(frame["correct"])
    confidence = frame["confidence"].to_numpy()
    ends = _hull(records, right)
    return tuple(
        Block(
            float(confidence[start]),
            float(confidence[end - 1]),
            int(records[end] - records[start]),
            int(right[end] - right[start]),
        )
        for start, end in pairwise(ends)
    )


def brier_parts(levels: pl.DataFrame) -> Parts | None:
    """Take the mean Brier score of right or wrong apart by isotonic recalibration.

    With k of the n records of a block right, N records in all and o the share of right ones::

        recalibrated = Σ over blocks k (n - k) / n / N
        MCB = score - recalibrated, DSC = o (1 - o) - recalibrated, UNC = o (1 - o)

    MCB is from 0 to 1, DSC and UNC from 0 to 1/4, all exact.

    What it is not: a measure without bias: the curve is fitted to the records it is judged on, so MCB is above 0 for
    a calibrated model (``null_curve`` says by how much). None of no records.

    Source: Dimitriadis, Gneiting & Jordan 2021 (doi 10.1073/pnas.2016191118).

    >>> levels = pl.DataFrame({"confidence": [0.5, 0.9], "n": [2, 2], "correct": [1, 2]})
    >>> one = brier_parts(levels)
    >>> [str(part) for part in (one.score, one.miscalibration, one.discrimination, one.uncertainty)]
    ['13/100', '1/200', '1/16', '3/16']
    """
    frame = arranged(levels)
    return brier_parts_of(whole(frame), blocks(frame))


def brier_parts_of(every: Bin | None, curve: Sequence[Block]) -> Parts | None:
    """Take the mean Brier score apart, given the sums over all records and the curve; see ``brier_parts``."""
    if every is None:
        return None
    score = (every.squares - 2 * every.crossed + every.correct) / every.n
    left = Counter[int]()
    for one in curve:
        left[one.n] += one.correct * (one.n - one.correct)
    recalibrated = _total(left.items()) / every.n
    uncertainty = every.accuracy * (1 - every.accuracy)
    return Parts(score, score - recalibrated, uncertainty - recalibrated, uncertainty)


def log_parts(levels: pl.DataFrame) -> Parts | None:
    """Take the mean log loss of right or wrong apart by isotonic recalibration, in nats.

    As ``brier_parts``, with -ln of the probability given to what happened; 0 * ln 0 is 0, so the recalibrated score
    is always finite. Logarithms are floats, so these are given to 12 decimal places. MCB is from 0 up, DSC and UNC are
    from 0 to ln 2.

    What it is not: robust: one record of confidence 1 that is wrong makes the score infinite, and then score and MCB
    are None (``decomposition.INFINITE`` is the reason). None of no records.

    >>> one = log_parts(pl.DataFrame({"confidence": [1.0], "n": [2], "correct": [1]}))
    >>> one.score is None, one.miscalibration is None, float(one.discrimination), float(one.uncertainty)
    (True, True, 0.0, 0.69314718056)
    """
    frame = arranged(levels)
    return log_parts_of(log_loss(frame), blocks(frame))


def log_parts_of(score: Fraction | None, curve: Sequence[Block]) -> Parts | None:
    """Take the mean log loss apart, given it and the curve; see ``log_parts``."""
    if not curve:
        return None
    n, correct = sum(one.n for one in curve), sum(one.correct for one in curve)
    recalibrated = math.fsum(_surprise(one.n, one.correct) for one in curve) / n
    uncertainty = _surprise(n, correct) / n
    mcb = None if score is None else _places(float(score - Fraction(recalibrated)))
    return Parts(score, mcb, _places(uncertainty - recalibrated), _places(uncertainty))


def _places(value: float) -> Fraction:
    """Return a float to 12 places; what is below 0 by less than floats can tell is 0."""
    return Fraction(round(value, STEADY)).limit_denominator(10**STEADY)


def _surprise(n: int, correct: int) -> float:
    """Return the log loss of n records when the share of right ones is said of each."""
    return -sum(k * math.log(k / n) for k in (correct, n - correct) if k)


def _total(terms: Iterable[tuple[int, int]]) -> Fraction:
    """Sum fractions given as (denominator, numerator), pairwise and reduced once, since there may be thousands."""
    left = [(numerator, denominator) for denominator, numerator in terms]
    while len(left) > 1:
        pairs = [(a * d + c * b, b * d) for (a, b), (c, d) in zip(left[::2], left[1::2], strict=False)]
        left = pairs + left[len(left) - len(left) % 2 :]
    return Fraction(*left[0])


def _so_far(counts: pl.Series) -> Ints:
    found = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts.to_numpy(), out=found[1:])
    return found


def _hull(x: Ints, y: Ints) -> list[int]:
    """Return where the corners of the lower convex hull of points stand; x rises.

    A corner of the whole is a corner of each stretch that it is in, so stretches are thinned first.
    """
    starts = range(0, max(len(x) - 1, 1), _STRETCH)
    thin = [start + _thinned(x[start : start + _STRETCH + 1], y[start : start + _STRETCH + 1]) for start in starts]
    kept = np.unique(np.concatenate(thin))
    kept = kept[_thinned(x[kept], y[kept])]
    return _chain(kept.tolist(), x[kept].tolist(), y[kept].tolist())


def _thinned(x: Ints, y: Ints) -> Ints:
    """Return where the points stand that may be corners.

    A point on or above the line between its neighbours is none, and taking all such points away at once leaves the
    hull as it is. That is done while it takes many away.
    """
    kept = np.arange(len(x))
    while len(kept) > _FEW and x[-1] < _WIDE:
        run, rise = np.diff(x[kept]), np.diff(y[kept])
        corner = rise[:-1] * run[1:] < rise[1:] * run[:-1]
        if corner.sum() > 0.9 * len(corner):
            break
        kept = kept[np.concatenate([[True], corner, [True]])]
    return kept


def _chain(at: Sequence[int], x: Sequence[int], y: Sequence[int]) -> list[int]:
    """Return the corners of a hull, one point after the other (Andrew's monotone chain)."""
    held: list[tuple[int, int, int]] = []
    for place, a, b in zip(at, x, y, strict=True):
        while len(held) > 1:
            (_, first, low), (_, last, high) = held[-2], held[-1]
            if (high - low) * (a - last) < (b - high) * (last - first):
                break
            held.pop()
        held.append((place, a, b))
    return [place for place, _, _ in held]
