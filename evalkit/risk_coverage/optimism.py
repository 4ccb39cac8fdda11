"""How much better validation looked than test: the same numbers on both, and their difference with its error."""

from __future__ import annotations

from fractions import Fraction
from math import hypot

import numpy as np
import polars as pl

from evalkit.exact import Exact, difference, rounded
from evalkit.risk_coverage.areas import Areas, areas
from evalkit.risk_coverage.levels import levels, standard_error
from evalkit.risk_coverage.points import NOTHING_OFFERED, Point, at_cut
from evalkit.risk_coverage.shown import Gap, Optimism, RiskCoverage


def optimism(
    cut: float, outcomes: tuple[pl.DataFrame, pl.DataFrame], suites: tuple[RiskCoverage, RiskCoverage]
) -> Optimism:
    """Hold validation against test.

    The splits share no contributor, so the variance of a difference is the sum of both. Precision has the clustered
    error of a ratio, areas have that of the jackknife. A difference above two of its errors says that the cut fits
    validation better than other contributors. It is not the whole optimism where test is small.

    Args:
        cut: The cut that was chosen on validation.
        outcomes: Validation and test outcomes, as for ``curve``.
        suites: What ``suite`` found on each.
    """
    left, right = (at_cut(one.curve, cut) for one in suites)
    errors = [_error(one, point, cut) for one, point in zip(outcomes, (left, right), strict=True)]
    a, b = (areas(one.curve) for one in suites)
    errors_of = [(one.aurc.interval.standard_error, one.augrc.interval.standard_error) for one in suites]
    return Optimism(
        cut,
        _gap(_precision(left), _precision(right), errors[0], errors[1]),
        _gap(_aurc(a), _aurc(b), errors_of[0][0], errors_of[1][0]),
        _gap(_augrc(a), _augrc(b), errors_of[0][1], errors_of[1][1]),
    )


def _precision(point: Point) -> Exact:
    return None if point.risk is None else difference(Fraction(1), point.risk)


def _aurc(found: Areas | None) -> Exact:
    return None if found is None else found.aurc


def _augrc(found: Areas | None) -> Exact:
    return None if found is None else found.augrc


def _error(outcomes: pl.DataFrame, point: Point, cut: float) -> float | None:
    """Return the error of precision at a cut; None where errors, or right ones, or a second contributor are missing."""
    if point.accepted is None or point.errors in (0, point.accepted):
        return None
    (found,) = levels(outcomes, np.array([cut]))
    return standard_error(found) if found.contributors > 1 else None


def _gap(left: Exact, right: Exact, left_error: float | None, right_error: float | None) -> Gap:
    apart = rounded(difference(left, right))
    error = None if left_error is None or right_error is None or apart is None else hypot(left_error, right_error)
    return Gap(rounded(left), rounded(right), apart, error, NOTHING_OFFERED if apart is None else None)
