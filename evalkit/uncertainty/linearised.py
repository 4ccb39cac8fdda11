"""What each contributor moves a smooth number made of sums, as whole numbers that can be squared and added.

Taylor linearisation for clusters (Woodruff 1971; Binder 1983): a contributor's influence is the gradient of the
number times the contributor's tallies. Influences add up to zero, and their squares to the variance.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from evalkit.uncertainty.clusters import Clusters, Sums

_BITS = 50
"""Bits of the largest influence: its square, a hundred million times over, fits 128 bits."""

Floats = npt.NDArray[np.float64]


def largest(clusters: Clusters) -> Sums:
    """Return the largest amount that a contributor has in each column."""
    most = np.zeros(len(clusters.columns), np.int64)
    np.maximum.at(most, clusters.codes, np.abs(clusters.amounts))
    return most


def shift(slopes: Mapping[str, Fraction], most: Mapping[str, int]) -> int:
    """Return the power of two that makes fifty bits of the largest influence possible."""
    reach = sum((abs(slope) * most[column] for column, slope in slopes.items()), Fraction(0))
    return _BITS - (reach.numerator.bit_length() - reach.denominator.bit_length() + 1) if reach else 0


def influence(slopes: Mapping[str, Fraction], places: Mapping[str, int], matrix: Sums) -> Floats:
    """Return what each contributor moves a number: slopes times tallies, added in the order of the slopes."""
    moved = np.zeros(len(matrix))
    for column, slope in slopes.items():
        moved += matrix[:, places[column]] * float(slope)
    return moved


def whole(numbers: Floats, bits: int) -> Sums:
    """Return numbers times a power of two, as whole numbers."""
    return np.rint(np.ldexp(numbers, bits)).astype(np.int64)
