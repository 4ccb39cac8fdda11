"""What is accepted at a short sequence of cuts that is fixed without looking at which answers are wrong."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log, sqrt

import numpy as np
import polars as pl
from scipy.special import bdtr

from evalkit.risk_coverage.claim import Claim
from evalkit.risk_coverage.curve import Curve, offered
from evalkit.risk_coverage.grid import contributors_of

STEPS = 50
"""Cuts of the sequence after the first."""


@dataclass(frozen=True, slots=True)
class Level:
    """One cut, and the sums over contributors that a clustered test needs; all whole numbers.

    Attributes:
        cut: The confidence at or above which records are accepted.
        accepted: Records accepted, Σ s over contributors.
        errors: Wrong ones among them, Σ x.
        contributors: Contributors with an accepted record.
        squares: Σ s².
        products: Σ s x.
        wrong_squares: Σ x².
    """

    cut: float
    accepted: int
    errors: int
    contributors: int
    squares: int
    products: int
    wrong_squares: int


def least_size(claim: Claim) -> int:
    """Return the fewest accepted records that can reject: without one error, target^n ≤ 1 − confidence.

    >>> from evalkit.risk_coverage.claim import read_claim
    >>> least_size(read_claim("precision>=0.9@0.95"))
    29
    """
    return max(1, ceil(log(claim.alpha) / log(claim.target) - 1e-9))


def first_size(claim: Claim) -> int:
    """Return how many records the first cut shall accept: the fewest at which half the allowed errors still reject.

    It hangs on the claim alone. At fewer one unlucky error would end the sequence.

    >>> from evalkit.risk_coverage.claim import read_claim
    >>> first_size(read_claim("precision>=0.9@0.95"))
    116
    """
    least, risk = least_size(claim), 1 - claim.target
    sizes = np.arange(least, 10 * least + 10, max(1, least // 100))  # in steps of a hundredth of the least
    half = [-(-size * risk.numerator // (2 * risk.denominator)) for size in sizes.tolist()]
    return int(sizes[np.argmax(bdtr(half, sizes, float(risk)) <= float(claim.alpha))])


def sequence(curve: Curve, first: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Return the cuts, from strict to lenient: the strictest that accept so many records or more.

    The numbers to accept go from ``first``, but at least a twentieth of those offered, to all that were offered in
    ``STEPS`` equal steps, so they hang on the confidences alone. Where fewer than ``first`` were offered, the one cut
    that accepts all is left.
    """
    size = curve.offered
    first = min(max(first, size // 20), size)
    wanted = [first + (size - first) * step // STEPS for step in range(STEPS + 1)]
    return curve.cut[np.unique(np.searchsorted(curve.accepted, wanted))]


def levels(outcomes: pl.DataFrame, cuts: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[Level]:
    """Count what each cut accepts, over contributors, in one pass.

    When a cut is lowered, the sums of a contributor with s accepted records and x errors grow by
    (s + Δs)² − s² and so on; these increments are summed by cut, and then along the cuts.

    Args:
        outcomes: As for ``curve``.
        cuts: Cuts, falling; one that accepts no more than the one before has no level.
    """
    found = offered(outcomes.with_columns(contributors_of(outcomes)))
    place = pl.Series("level", np.searchsorted(-cuts, -found["confidence"].to_numpy()).astype(np.uint32))
    kind = pl.Int64 if outcomes["n"].sum() < 2**31 else pl.Int128
    tallies = (
        found.lazy()
        .select("contributor", place, pl.col("n").alias("own_s"), (pl.col("n") * ~pl.col("correct")).alias("own_x"))
        .filter(pl.col("level") < cuts.size)
        .group_by("contributor", "level")
        .agg(pl.col("own_s", "own_x").sum().cast(kind))
        .sort("contributor", "level")
        .with_columns(pl.col(f"own_{name}").cum_sum().over("contributor").alias(name) for name in ("s", "x"))
    )
    sums = _increments(tallies, kind).group_by("level").agg(pl.all().sum()).sort("level").collect()
    counts = sums.select(pl.exclude("level").cum_sum())
    return [Level(float(cuts[i]), *row) for i, row in zip(sums["level"], counts.iter_rows(), strict=True)]


def _increments(tallies: pl.LazyFrame, kind: pl.datatypes.DataTypeClass) -> pl.LazyFrame:
    s, x = pl.col("s"), pl.col("x")
    s_before, x_before = s - pl.col("own_s"), x - pl.col("own_x")
    return tallies.select(
        "level",
        "own_s",
        "own_x",
        (s_before == 0).cast(kind).alias("contributors"),
        (s * s - s_before * s_before).alias("squares"),
        (s * x - s_before * x_before).alias("products"),
        (x * x - x_before * x_before).alias("wrong_squares"),
    )


def design_effect(level: Level) -> Fraction:
    """Return by how much clustering widens the variance of the error rate; at least 1.

    K/(K − 1) · Σ (x − p s)² / n² over the variance of as many independent records, p (1 − p) / (n − 1), p being
    errors / accepted (Kish 1965).
    Where there are no errors, or only errors, nothing can be estimated, and all records of a contributor count as
    one: Σ s² / Σ s.
    """
    size, errors, count = level.accepted, level.errors, level.contributors
    if errors in (0, size) or count < 2:
        return Fraction(level.squares, size)
    own = Fraction(count * (size - 1), (count - 1) * size) * spread(level) / (size * errors * (size - errors))
    return max(own, Fraction(1))


def spread(level: Level) -> int:
    """Return (Σ s)² · Σ (x − p s)², a whole number."""
    size, errors = level.accepted, level.errors
    return size * size * level.wrong_squares - 2 * errors * size * level.products + errors * errors * level.squares


def degrees(level: Level) -> float:
    """Return the degrees of freedom: the effective contributors, (Σ s)² / Σ s², less one; never less than one."""
    return max(level.accepted**2 / level.squares - 1, 1.0)


def standard_error(level: Level) -> float:
    """Return the clustered standard error of precision, and of risk; 0 of fewer than two contributors."""
    count = level.contributors
    return sqrt(Fraction(count, count - 1) * spread(level) / level.accepted**4) if count > 1 else 0.0
