"""Everything about risk and coverage of one model on one split, as one report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import polars as pl

from evalkit.exact import Exact, Ratio, rounded
from evalkit.risk_coverage.areas import areas
from evalkit.risk_coverage.bootstrap import BOOTSTRAP, bootstrap
from evalkit.risk_coverage.curve import Curve, curve
from evalkit.risk_coverage.grid import Grid, grid
from evalkit.risk_coverage.jackknife import (
    INSUFFICIENT,
    JACKKNIFE,
    grid_augrc,
    grid_aurc,
    grid_e_aurc,
    jackknife,
)
from evalkit.risk_coverage.points import NOTHING_OFFERED, coverage_at_risk, risk_at_coverage
from evalkit.risk_coverage.shown import AtCoverage, AtRisk, Estimate, Interval, RiskCoverage

NO_VARIATION = "no-variation"
"""All offered records are right, or all are wrong: nothing can be said of how much that would vary."""


def suite(
    outcomes: pl.DataFrame,
    *,
    level: Fraction = Fraction(95, 100),
    seed: int = 0,
    risks: Sequence[Fraction] = (Fraction(1, 100), Fraction(5, 100), Fraction(10, 100)),
    coverages: Sequence[Fraction] = (),
    minimum: int = 30,
) -> RiskCoverage:
    """Measure risk and coverage of one model on one split.

    Args:
        outcomes: As for ``curve``.
        level: The level of the intervals, between 0 and 1.
        seed: The seed of the bootstrap.
        risks: Limits of risk.
        coverages: Floors of coverage.
        minimum: Fewest contributors with a record offered for an interval to be given.

    Raises:
        ValueError: The outcomes are not what they must be.

    >>> one = pl.DataFrame({"confidence": [0.9, 0.8, None], "correct": [True, False, None], "n": [2, 2, 1]})
    >>> found = suite(one, risks=[Fraction(1, 10)])
    >>> found.aurc.value, found.augrc.value, found.reached_coverage, found.aurc.interval.reason
    (0.25, 0.125, 0.8, 'insufficient-contributors')
    """
    line = curve(outcomes)
    counts = grid(outcomes, line)
    found = areas(line)
    why = _no_interval(line, counts, minimum)
    reached = [_none(BOOTSTRAP, why) for _ in risks] if why else bootstrap(counts, risks, level, seed)

    def area(value: Fraction | None, statistic: Callable[..., float], high: float) -> Estimate:
        if value is None:
            return Estimate(None, NOTHING_OFFERED, _none(JACKKNIFE, NOTHING_OFFERED))
        if why is not None:
            return Estimate(rounded(value), None, _none(JACKKNIFE, why))
        return Estimate(rounded(value), None, jackknife(counts, value, statistic, high, level))

    return RiskCoverage(
        total=line.total,
        offered=line.offered,
        errors=line.wrong,
        reached_coverage=rounded(Ratio(line.offered, line.total)),
        risk=rounded(Ratio(line.wrong, line.offered)),
        points=line.cut.size,
        contributors=counts.contributors,
        level=float(level),
        seed=seed,
        aurc=area(None if found is None else found.aurc, grid_aurc, 1.0),
        e_aurc=area(None if found is None else found.e_aurc, grid_e_aurc, 1.0),
        augrc=area(None if found is None else found.augrc, grid_augrc, 0.5),
        coverage_at_risk=tuple(_at_risk(line, one, interval) for one, interval in zip(risks, reached, strict=True)),
        risk_at_coverage=tuple(_at_coverage(line, one) for one in coverages),
        curve=line,
    )


def _no_interval(line: Curve, counts: Grid, minimum: int) -> str | None:
    if not line.offered:
        return NOTHING_OFFERED
    if counts.contributors < max(minimum, 2):
        return INSUFFICIENT
    return NO_VARIATION if line.wrong in (0, line.offered) else None


def _none(method: str, reason: str) -> Interval:
    return Interval(None, None, None, method, None, reason)


def _at_risk(line: Curve, limit: Fraction, interval: Interval) -> AtRisk:
    one = coverage_at_risk(line, limit)
    return AtRisk(
        float(limit), *_numbers(one.coverage, one.risk), one.cut, one.accepted, one.errors, one.reason, interval
    )


def _at_coverage(line: Curve, floor: Fraction) -> AtCoverage:
    one = risk_at_coverage(line, floor)
    return AtCoverage(float(floor), *_numbers(one.coverage, one.risk), one.cut, one.accepted, one.errors, one.reason)


def _numbers(coverage: Exact, risk: Exact) -> tuple[float | None, float | None]:
    return rounded(coverage), rounded(risk)
