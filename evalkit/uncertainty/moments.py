"""What an interval needs of the contributors, for many numbers at once: one pass, whatever the number of contributors.

The variance is the jackknife's, linearised: an influence counts for the more, the more of the records are the
contributor's. A contributor with the share h of the records pulls the number to itself, and its influence as seen is
1 - h of what it is: left out of the sums it would move the number by z / (1 - h) (Cameron & Miller 2015, section
VI.B; MacKinnon, Nielsen & Webb 2023). Where all are of one size this is the plain K / (K - 1) · Σ z².
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from evalkit.uncertainty.clusters import Clusters, Sample, Sums, shared, squared
from evalkit.uncertainty.estimand import Combination, Estimand, counting, gradient, weighed
from evalkit.uncertainty.linearised import influence, largest, shift, whole

SPARED = 12
"""Bits of the fifty that are kept for influences that grow where little is left without the contributor."""

_LEAST_LEFT = 2.0**-24
"""Least share of the records that is thought to be left without a contributor: so whole numbers fit 64 bits."""


class Moments:
    """What is known of one number after the pass.

    Attributes:
        sample: On how many contributors it rests.
        variance: The variance of a mean of ratios, of the jackknife; None where fewer than two contributors are.
        fewest: The contributors of the term that has the fewest.
        rare: How many contributors have what is rarer of a proportion: an error, or a success.
    """

    def __init__(self, estimand: Estimand, totals: Mapping[str, int], most: Mapping[str, int]) -> None:
        counted = counting(estimand, totals)
        self._weights = weighed(estimand)
        self._whole = sum(totals[column] * times for column, times in self._weights.items())
        self._slopes = gradient(estimand, totals) if estimand.kind == "mean" else {}
        self._bits = shift(self._slopes, most) - SPARED
        self._terms = [one.present or one.denominator for one in counted]
        self._shares = counted if estimand.proportion else [one for one in (estimand.behind,) if one is not None]
        self._seen = np.zeros(len(self._terms), np.int64)
        self._right = self._wrong = 0
        self._contributors = self._squares = self._most = self._moved = 0

    def add(self, places: Mapping[str, int], matrix: Sums) -> None:
        """Add some contributors' rows of the matrix."""
        sizes = total(self._weights, places, matrix)
        self._contributors += int((sizes > 0).sum())
        self._squares += squared(sizes)
        self._most = max(self._most, int(sizes.max(initial=0)))
        if self._slopes:
            alone = influence(self._slopes, places, matrix) / left_without(sizes, self._whole)
            self._moved += squared(whole(alone, self._bits))
        if len(self._terms) > 1:
            self._seen += [int((total(one, places, matrix) > 0).sum()) for one in self._terms]
        if self._shares:
            right, whole_ = (
                sum((total(part, places, matrix) for part in parts), np.zeros(len(matrix), np.int64))
                for parts in ([one.numerator for one in self._shares], [one.denominator for one in self._shares])
            )
            self._right += int((right > 0).sum())
            self._wrong += int((whole_ > right).sum())

    @property
    def sample(self) -> Sample:
        """On how many contributors it rests."""
        return shared(self._contributors, self._whole, self._squares, self._most)

    @property
    def variance(self) -> Fraction | None:
        """The variance, (K - 1) / K · Σ (z / (1 - h))²."""
        if self._contributors < 2:
            return None
        return Fraction(self._contributors - 1, self._contributors) * Fraction(self._moved) / Fraction(4) ** self._bits

    @property
    def fewest(self) -> int:
        """The contributors of the term that has the fewest."""
        return min(self._seen.tolist()) if len(self._seen) > 1 else self._contributors

    @property
    def rare(self) -> int:
        """How many contributors have an error, or a success where fewer have one."""
        return min(self._right, self._wrong)


def moments(clusters: Clusters, estimands: Sequence[Estimand], totals: Mapping[str, int]) -> list[Moments]:
    """Pass once over the contributors for all numbers."""
    most = dict(zip(clusters.columns, largest(clusters).tolist(), strict=True))
    places = {column: place for place, column in enumerate(clusters.columns)}
    found = [Moments(one, totals, most) for one in estimands]
    for _, matrix in clusters.blocks():
        for one in found:
            one.add(places, matrix)
    return found


def left_without(sizes: Sums, records: int) -> npt.NDArray[np.float64]:
    """Return the share of the records that is left without each contributor, and never nothing."""
    left: npt.NDArray[np.float64] = np.maximum(1.0 - sizes / max(records, 1), _LEAST_LEFT)
    return left


def total(combination: Combination, places: Mapping[str, int], matrix: Sums) -> Sums:
    """Return a combination of columns of each contributor, a whole number."""
    found = np.zeros(len(matrix), np.int64)
    for column, times in combination.items():
        found += matrix[:, places[column]] * times
    return found
