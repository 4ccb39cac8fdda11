"""Single points of the curve: the largest coverage within a risk, and the risk at a coverage. Compared exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from evalkit.exact import Exact, Ratio
from evalkit.risk_coverage.curve import Curve

NOTHING_OFFERED = "nothing-offered"
NO_CUT_WITHIN_RISK = "no-cut-within-risk"
COVERAGE_NOT_REACHED = "coverage-not-reached"

_SAFE = 2**62


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a curve, or the reason why there is none.

    Attributes:
        cut: The confidence at or above which records are accepted.
        accepted: How many that are.
        errors: Wrong ones among them.
        total: All records, offered or not.
        reason: Why there is no such point; None where there is one.
    """

    cut: float | None
    accepted: int | None
    errors: int | None
    total: int
    reason: str | None = None

    @property
    def coverage(self) -> Exact:
        """Accepted over all records."""
        return None if self.accepted is None else Ratio(self.accepted, self.total)

    @property
    def risk(self) -> Exact:
        """Errors over accepted."""
        return None if self.accepted is None or self.errors is None else Ratio(self.errors, self.accepted)


def coverage_at_risk(curve: Curve, risk: Fraction) -> Point:
    """Return the point of the largest coverage whose risk is at most ``risk``.

    errors / accepted ≤ p / q is compared as errors · q ≤ accepted · p, in whole numbers: a limit can be met exactly.
    Risk need not fall with the cut, so stricter cuts may be over the limit. It is not a promise about other records:
    the cut was picked on these, so its risk there is expected to be higher. See ``certify`` for one.

    Args:
        curve: The curve.
        risk: The limit, inclusive.

    Returns:
        The point; with the reason ``no-cut-within-risk`` where every cut is over the limit and ``nothing-offered``
        where there is no cut.

    >>> from evalkit.risk_coverage.curve import curve
    >>> import polars as pl
    >>> found = curve(pl.DataFrame({"confidence": [0.9, 0.8, 0.7], "correct": [True, False, False], "n": [3, 1, 4]}))
    >>> coverage_at_risk(found, Fraction(1, 4))
    Point(cut=0.8, accepted=4, errors=1, total=8, reason=None)
    """
    if not curve.accepted.size:
        return Point(None, None, None, curve.total, NOTHING_OFFERED)
    within = np.flatnonzero(at_most(curve.errors, curve.accepted, risk))
    return point(curve, int(within[-1])) if within.size else Point(None, None, None, curve.total, NO_CUT_WITHIN_RISK)


def risk_at_coverage(curve: Curve, coverage: Fraction) -> Point:
    """Return the strictest point whose coverage, over all records, is at least ``coverage``.

    With ties, or between two records, the coverage of the point is larger than asked: nothing is interpolated.

    Args:
        curve: The curve.
        coverage: The floor, inclusive.

    Returns:
        The point; with the reason ``coverage-not-reached`` where even the most lenient cut accepts less.
    """
    if not curve.accepted.size:
        return Point(None, None, None, curve.total, NOTHING_OFFERED)
    least = -(-coverage.numerator * curve.total // coverage.denominator)
    place = int(np.searchsorted(curve.accepted, least))
    if place == curve.accepted.size:
        return Point(None, None, None, curve.total, COVERAGE_NOT_REACHED)
    return point(curve, place)


def at_cut(curve: Curve, cut: float) -> Point:
    """Return what a cut accepts, which need not be a confidence of the curve.

    Returns:
        The point, its cut as given; ``nothing-offered`` where no confidence is at or above it.
    """
    place = int(np.searchsorted(-curve.cut, -cut, side="right")) - 1
    if place < 0:
        return Point(None, None, None, curve.total, NOTHING_OFFERED)
    return Point(cut, int(curve.accepted[place]), int(curve.errors[place]), curve.total)


def point(curve: Curve, place: int) -> Point:
    """Return one point of a curve by its place."""
    return Point(float(curve.cut[place]), int(curve.accepted[place]), int(curve.errors[place]), curve.total)


def at_most(part: NDArray[np.int64], whole: NDArray[np.int64], limit: Fraction) -> NDArray[np.bool_]:
    """Tell where part / whole ≤ limit, crosswise in whole numbers; in Python's where 64 bits may not hold them."""
    largest = int(whole.max(initial=0))
    if largest * max(limit.numerator, limit.denominator) < _SAFE:
        return part * limit.denominator <= whole * limit.numerator
    crossed = part.astype(object) * limit.denominator <= whole.astype(object) * limit.numerator
    return crossed.astype(np.bool_)
