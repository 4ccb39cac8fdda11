"""The variance of a smooth number made of sums: what each contributor moves it, squared and added.

Taylor linearisation for clusters (Woodruff 1971; Binder 1983): a contributor's influence is the gradient of the
number times the contributor's tallies. Influences add up to zero, and their squares to the variance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import sqrt

import numpy as np
import polars as pl

from evalkit.uncertainty.clusters import Clusters, Sums

_BITS = 50
"""Bits of the largest influence: its square, a hundred million times over, fits 128 bits."""

_FINE = 40
"""Bits that are kept besides until an influence is added up."""


def variance(clusters: Clusters, slopes: Mapping[str, Fraction], contributors: int) -> Fraction | None:
    """Return K / (K - 1) · Σ z², z being each contributor's influence; None with fewer than two contributors.

    Influences are held as whole numbers, fifty bits of the largest possible one, so that neither the order of
    contributors nor the processor shows in the sum.

    Args:
        clusters: The tallies of each contributor.
        slopes: The derivative of the number by each column.
        contributors: How many contributors, K, have a part in the number.
    """
    if contributors < 2:
        return None
    used = [place for place, column in enumerate(clusters.columns) if slopes.get(column)]
    if not used:
        return Fraction(0)
    steep = [slopes[clusters.columns[place]] for place in used]
    largest = np.zeros(len(used), np.int64)
    for _, matrix in clusters.blocks():
        np.maximum(largest, np.abs(matrix[:, used]).max(axis=0, initial=0), out=largest)
    reach = sum((abs(slope) * int(most) for slope, most in zip(steep, largest, strict=True)), Fraction(0))
    if not reach:
        return Fraction(0)
    shift = _BITS - (reach.numerator.bit_length() - reach.denominator.bit_length() + 1)
    scale = Fraction(2) ** shift
    squares = 0
    for _, matrix in clusters.blocks():
        influence = _influences(matrix[:, used], [round(slope * scale * 2**_FINE) for slope in steep])
        squares += int((influence * influence).sum())
    return Fraction(contributors, contributors - 1) * Fraction(squares) / scale**2


def _influences(matrix: Sums, steep: Sequence[int]) -> pl.Series:
    """Multiply in 128 bits and round once: the slopes of columns of large amounts are small, and would lose digits."""
    columns = (pl.lit(pl.Series(column).cast(pl.Int128)) for column in matrix.T)
    terms = [column * pl.lit(slope, pl.Int128) for column, slope in zip(columns, steep, strict=True)]
    return pl.select((pl.sum_horizontal(*terms) + 2 ** (_FINE - 1)) // 2**_FINE).to_series()


def standard_error(clusters: Clusters, slopes: Mapping[str, Fraction], contributors: int) -> float | None:
    """Return the root of the variance."""
    found = variance(clusters, slopes, contributors)
    return None if found is None else sqrt(found)
