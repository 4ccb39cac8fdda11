"""Areas under the risk–coverage curve: AURC, its excess over the ideal ordering, and AUGRC."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evalkit.reading.tally import total
from evalkit.risk_coverage.curve import Curve

_SLICE = 1_000_000


@dataclass(frozen=True, slots=True)
class Areas:
    """The areas of one curve, exact but for the 15 places of a term of AURC.

    Attributes:
        aurc: See ``aurc``.
        ideal_aurc: See ``ideal_aurc``.
        augrc: See ``augrc``.
    """

    aurc: Fraction
    ideal_aurc: Fraction
    augrc: Fraction

    @property
    def e_aurc(self) -> Fraction:
        """AURC in excess of the ideal ordering of the same answers: aurc − ideal_aurc, never below 0."""
        return max(self.aurc - self.ideal_aurc, Fraction(0))


def areas(curve: Curve) -> Areas | None:
    """Return the areas of a curve, or None where nothing was offered."""
    if not curve.accepted.size:
        return None
    return Areas(aurc(curve), ideal_aurc(curve.offered, curve.wrong), augrc(curve))


def aurc(curve: Curve) -> Fraction:
    """Area under the risk–coverage curve: Σ over points of n · errors / accepted, over the records offered.

    n are the records of the point, errors and accepted those of its cut. Records of equal confidence share the risk of
    their group; the records of the first point have its risk down to coverage 0. Without ties it is
    1/N · Σ over k of r(k/N) (Geifman & El-Yaniv 2017, arXiv 1705.08500; Geifman, Uziel, El-Yaniv 2019, arXiv
    1805.08206). It is the mean risk over cuts that each accept one record more, not an error rate of any one cut, and
    it hangs on the few most confident records: each of them is in every term.

    Normalised over the records offered: the mean risk up to the coverage that was reached. Over all records instead,
    a model would have a smaller area the less it offers. Two models of different reached coverage are not comparable
    by it.

    Each quotient is rounded to a 64-bit float and then to 15 places, and these are summed as decimals, so neither the
    order of records nor the number of threads can show; the sum is within 10⁻¹⁵ of the exact one.

    >>> from evalkit.risk_coverage.curve import curve
    >>> found = curve(pl.DataFrame({"confidence": [0.9, 0.8, 0.8], "correct": [True, True, False], "n": [2, 1, 1]}))
    >>> aurc(found)
    Fraction(1, 8)
    """
    found = Fraction(0)
    for accepted, errors in _slices(curve):
        found += _summed(errors[1:] / accepted[1:], np.diff(accepted))
    return found / curve.offered


def ideal_aurc(offered: int, wrong: int) -> Fraction:
    """AURC of the same answers where every right one is more confident than every wrong one, none of them tied.

    1/N · Σ over j from 1 to E of j / (N − E + j), with E wrong ones among N: exact for so many records, where
    (1 − e) · ln(1 − e) + e, e = E / N, is only its limit for many. Summed as ``aurc`` is.

    >>> ideal_aurc(4, 2)  # risks 0, 0, 1/3, 2/4
    Fraction(833333333333333, 4000000000000000)
    """
    right, found = offered - wrong, Fraction(0)
    for start in range(1, wrong + 1, _SLICE):
        term = np.arange(start, min(start + _SLICE, wrong + 1), dtype=np.int64)
        found += _summed(term / (right + term), np.ones_like(term))
    return found / offered


def augrc(curve: Curve) -> Fraction:
    """Area under the generalised risk–coverage curve: that of errors / N over accepted / N, N the records offered.

    Points are joined by straight lines from (0, 0): Σ over points of n · (errors before + errors) / (2 N²), exact.
    So a group of ties counts as the mean over its orders would, and AUGRC = (1 − AUROC) · a · (1 − a) + (1 − a)² / 2,
    a being the accuracy, holds exactly (Traub et al. 2024, arXiv 2407.01032). It is the mean rate of undetected
    failures, from 0 to 1/2: answers that are accepted and wrong among all that were offered. It is not AURC, whose
    risk is among the accepted; to have it over all records multiply by the square of the reached coverage.

    >>> from evalkit.risk_coverage.curve import curve
    >>> augrc(curve(pl.DataFrame({"confidence": [0.9, 0.8], "correct": [True, False], "n": [1, 1]})))
    Fraction(1, 8)
    """
    doubled = 0
    for accepted, errors in _slices(curve):
        own, both = np.diff(accepted), errors[1:] + errors[:-1]
        exact = curve.offered < 2**30  # the sum is at most 2 N²
        doubled += int(own @ both) if exact else sum(a * b for a, b in zip(own.tolist(), both.tolist(), strict=True))
    return Fraction(doubled, 2 * curve.offered**2)


def _slices(curve: Curve) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Give accepted and errors piece by piece, each after the last point of the piece before, or (0, 0)."""
    for start in range(0, curve.cut.size, _SLICE):
        here = slice(max(0, start - 1), start + _SLICE)
        accepted, errors = curve.accepted[here], curve.errors[here]
        yield (accepted, errors) if start else (np.append(0, accepted), np.append(0, errors))


def _summed(risk: NDArray[np.float64], weight: NDArray[np.int64]) -> Fraction:
    frame = pl.DataFrame({"risk": risk, "n": weight})
    return Fraction(frame.select(total("risk", "n")).item())
