"""Cuts with a guarantee: the most lenient cut whose precision is at least a target, wrongly in at most α of cases."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypedDict, get_type_hints

import polars as pl
from scipy.special import betainc, betaincinv, stdtr, stdtrit

from evalkit.risk_coverage.claim import Claim
from evalkit.risk_coverage.curve import curve
from evalkit.risk_coverage.jackknife import INSUFFICIENT
from evalkit.risk_coverage.levels import (
    Level,
    degrees,
    design_effect,
    first_size,
    least_size,
    levels,
    sequence,
    standard_error,
)
from evalkit.risk_coverage.points import NOTHING_OFFERED
from evalkit.risk_coverage.shown import Certificate

TOO_FEW_OFFERED = "too-few-offered"
FIRST_CUT_FAILED = "first-cut-failed"
METHOD = "fixed-sequence"


class Row(TypedDict):
    """One cut of the table; see the attributes of ``Certificate.table``."""

    cut: float
    accepted: int
    errors: int
    contributors: int
    risk: float
    design_effect: float
    p_binomial: float
    p_cluster: float
    p_value: float
    bound: float
    tested: bool
    passed: bool


def certify(outcomes: pl.DataFrame, claim: Claim, *, minimum: int = 30) -> Certificate:
    """Certify a cut on validation outcomes: Learn then Test, as a fixed sequence from strict to lenient.

    At each cut the hypothesis "precision among what it accepts is below the target" is tested at α = 1 − confidence;
    the first that is not rejected ends the sequence, and the last rejected one is certified (Angelopoulos, Bates,
    Candès, Jordan, Lei 2021, arXiv 2110.01052, section 3.1.2). The chance that the certified cut's precision is
    below the target is at most α: to test a later cut, all before it must have been rejected, so a wrong certificate
    needs the first cut that is below the target to be rejected, which happens in at most α of cases.

    The sequence must not be chosen by the answers it tests. Its cuts are order statistics of the confidences: the
    strictest that accept so many records, numbers fixed by the claim and by how many were offered. Given such a cut
    the records above it are draws from all that lie above it, whatever the answers are. Cuts with fewer than
    ``minimum`` contributors are left out, again without looking at answers. It starts where half of the allowed
    errors still reject: a single record can never reject, and at the least size that can, one error ends it.

    The p-value is the larger of two. ``p_binomial`` is the exact binomial tail, real-valued by the incomplete beta
    function, with accepted and right divided by the design effect (Korn & Graubard 1998). ``p_cluster`` is the t test
    of the clustered ratio with effective contributors − 1 degrees of freedom, which alone is too bold where few errors
    are seen. ``bound`` inverts both at one cut; it is not simultaneous over cuts.

    It holds for other contributors like those of validation, and for the stream of records as they had it. It is not
    a promise for each contributor, each class or each stratum, nor after anything has changed. It is not conformal
    risk control (arXiv 2208.02814), whose risk must be monotone in the cut, which precision is not.

    Args:
        outcomes: Validation outcomes, as for ``curve``; without ``contributor`` each row is independent.
        claim: The claim.
        minimum: Fewest contributors of a cut.
    """
    line = curve(outcomes)
    if not line.accepted.size:
        return _none(claim, NOTHING_OFFERED, [])
    found = levels(outcomes, sequence(line, first_size(claim)))
    every = [one for one in found if one.contributors >= minimum]
    rows = _sequence([_row(one, claim) for one in every], claim)
    if line.offered < least_size(claim):
        return _none(claim, TOO_FEW_OFFERED, rows)
    passed = [row for row in rows if row["passed"]]
    if not passed:
        return _none(claim, FIRST_CUT_FAILED if rows else INSUFFICIENT, rows)
    last = passed[-1]
    return Certificate(
        target=float(claim.target),
        confidence=float(claim.confidence),
        threshold=last["cut"],
        accepted=last["accepted"],
        errors=last["errors"],
        contributors=last["contributors"],
        p_value=last["p_value"],
        bound=last["bound"],
        tested=sum(row["tested"] for row in rows),
        reason=None,
        table=_table(rows),
    )


def binomial_p(level: Level, claim: Claim) -> float:
    """Return P(at least so many right) if precision were the target, on records divided by the design effect."""
    size, right = _effective(level)
    return float(betainc(right, size - right + 1, float(claim.target))) if right > 0 else 1.0


def cluster_p(level: Level, claim: Claim) -> float:
    """Return the one-sided p-value of the t test of the clustered ratio; 1 of fewer than two contributors."""
    if level.contributors < 2:
        return 1.0
    error, over = standard_error(level), float(_precision(level) - claim.target)
    if error == 0:
        return 0.0 if over > 0 else 1.0
    return float(stdtr(degrees(level), -over / error))


def lower_bound(level: Level, claim: Claim) -> float:
    """Return the lower confidence bound of precision at one cut: the smaller of those that the two tests invert to."""
    size, right = _effective(level)
    exact = float(betaincinv(right, size - right + 1, float(claim.alpha))) if right > 0 else 0.0
    if level.contributors < 2:
        return 0.0
    reach = float(stdtrit(degrees(level), float(claim.confidence))) * standard_error(level)
    return max(0.0, min(exact, float(_precision(level)) - reach))


def _precision(level: Level) -> Fraction:
    return Fraction(level.accepted - level.errors, level.accepted)


def _effective(level: Level) -> tuple[float, float]:
    effect = design_effect(level)
    return float(level.accepted / effect), float((level.accepted - level.errors) / effect)


def _row(level: Level, claim: Claim) -> Row:
    binomial, cluster = binomial_p(level, claim), cluster_p(level, claim)
    return Row(
        cut=level.cut,
        accepted=level.accepted,
        errors=level.errors,
        contributors=level.contributors,
        risk=level.errors / level.accepted,
        design_effect=float(design_effect(level)),
        p_binomial=binomial,
        p_cluster=cluster,
        p_value=max(binomial, cluster),
        bound=lower_bound(level, claim),
        tested=False,
        passed=False,
    )


def _sequence(rows: Sequence[Row], claim: Claim) -> list[Row]:
    """Mark what was tested, up to the first failure, and what passed."""
    told: list[Row] = []
    going = True
    for row in rows:
        passed = going and row["p_value"] <= float(claim.alpha)
        told.append({**row, "tested": going, "passed": passed})
        going = passed
    return told


def _none(claim: Claim, reason: str, rows: Sequence[Row]) -> Certificate:
    nothing = (None,) * 6
    tested = sum(row["tested"] for row in rows)
    return Certificate(float(claim.target), float(claim.confidence), *nothing, tested, reason, _table(rows))


def _table(rows: Sequence[Row]) -> pl.DataFrame:
    kinds = {float: pl.Float64, int: pl.Int64, bool: pl.Boolean}
    return pl.DataFrame(rows, schema={name: kinds[kind] for name, kind in get_type_hints(Row).items()})
