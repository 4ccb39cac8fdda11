"""What an interval is wanted of: a number that is made of sums, told as its ratios of sums.

Nearly every metric is one ratio of sums or the mean of several: precision, recall, macro F1, accuracy, Brier score,
error rates. Told so, its value in a resample and its linearised variance follow, and no metric owns a formula.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd
from typing import Literal

import numpy as np
import numpy.typing as npt

from evalkit.exact import Exact, mean
from evalkit.uncertainty.clusters import Sums

Combination = Mapping[str, int]
"""Columns, each with the whole number that it is multiplied by."""

UNIT = 10**9
"""Parts of one in which columns hold what is no whole number, such as sums of confidences."""


@dataclass(frozen=True, slots=True)
class Term:
    """One ratio of sums.

    Attributes:
        numerator: What is divided.
        denominator: By what.
        present: The term counts where this is above 0; None: where the denominator is.
    """

    numerator: Combination
    denominator: Combination
    present: Combination | None = None


@dataclass(frozen=True, slots=True)
class Estimand:
    """A number made of sums, and where it stands.

    Attributes:
        name: The metric's name in reports and tables.
        terms: Its ratios.
        kind: ``mean``: the plain mean of the ratios that count; ``absolute``: the sum of their absolute values.
        label: The label that it is about, or None.
        bin: The confidence bin that it is about, or None.
        low: The least value possible.
        high: The greatest value possible; None where there is none.
        proportion: Whether it is a share of things that were so or not so, or a mean of such shares.
        behind: Of a sum of absolute values, the share of right ones that it hangs on, or None.
    """

    name: str
    terms: tuple[Term, ...]
    kind: Literal["mean", "absolute"] = "mean"
    label: str | None = None
    bin: int | None = None
    low: Fraction = field(default=Fraction(0))
    high: Fraction | None = field(default=Fraction(1))
    proportion: bool = False
    behind: Term | None = None


def share(name: str, numerator: str, denominator: str, *, label: str | None = None, bin: int | None = None) -> Estimand:
    """Return the estimand of a share: one column over another, each record of which is so or not so."""
    return Estimand(name, (Term({numerator: 1}, {denominator: 1}),), label=label, bin=bin, proportion=True)


def value(estimand: Estimand, totals: Mapping[str, int]) -> Exact:
    """Return its exact value of some sums; None where nothing counts.

    >>> value(share("precision", "right", "accepted"), {"right": 3, "accepted": 4})
    Fraction(3, 4)
    """
    counted = counting(estimand, totals)
    if not counted:
        return None
    ratios = [Fraction(_sum(one.numerator, totals), _sum(one.denominator, totals)) for one in counted]
    return sum(map(abs, ratios), Fraction(0)) if estimand.kind == "absolute" else mean(ratios)


def counting(estimand: Estimand, totals: Mapping[str, int]) -> list[Term]:
    """Return the terms that count."""
    return [one for one in estimand.terms if _sum(one.present or one.denominator, totals) > 0]


def gradient(estimand: Estimand, totals: Mapping[str, int]) -> dict[str, Fraction]:
    """Return the derivative of a mean of ratios by each column, the terms that count held fixed.

    >>> gradient(share("precision", "right", "accepted"), {"right": 3, "accepted": 4})
    {'right': Fraction(1, 4), 'accepted': Fraction(-3, 16)}
    """
    counted = counting(estimand, totals)
    slopes: dict[str, Fraction] = {}
    for one in counted:
        below = _sum(one.denominator, totals)
        ratio = Fraction(_sum(one.numerator, totals), below)
        for part, factor in ((one.numerator, Fraction(1, below)), (one.denominator, -ratio / below)):
            for column, times in part.items():
                slopes[column] = slopes.get(column, Fraction(0)) + factor * times / len(counted)
    return slopes


def weighed(estimand: Estimand) -> dict[str, int]:
    """Return the combination of columns that says how much a contributor weighs in a number: its denominators.

    >>> weighed(Estimand("f1", (Term({"right": 2}, {"right": 2, "wrong": 2}),)))
    {'right': 1, 'wrong': 1}
    >>> weighed(Estimand("mean", (Term({"sum": 1}, {"n": UNIT}),)))
    {'n': 1}
    """
    whole: dict[str, int] = {}
    for combination in dict.fromkeys(tuple(sorted(one.denominator.items())) for one in estimand.terms):
        for column, times in combination:
            whole[column] = whole.get(column, 0) + times
    common = gcd(*whole.values()) or 1
    return {column: times // common for column, times in whole.items()}


def ratios(estimand: Estimand, columns: Sequence[str], sums: Sums) -> list[npt.NDArray[np.float64]]:
    """Return the ratio of each term in each resample; NaN where the term does not count.

    Args:
        estimand: The number.
        columns: The name of each column.
        sums: One row a resample, one column a column.
    """
    places = {column: place for place, column in enumerate(columns)}
    found = []
    for one in estimand.terms:
        above, below = (combined(part, places, sums) for part in (one.numerator, one.denominator))
        there = below > 0 if one.present is None else combined(one.present, places, sums) > 0
        found.append(np.divide(above, below, out=np.full(len(sums), np.nan), where=there & (below != 0)))
    return found


def combined(combination: Mapping[str, int | float], places: Mapping[str, int], sums: Sums) -> npt.NDArray[np.float64]:
    """Return a combination of columns of each row, added in the order of the combination: no order of rows shows."""
    found = np.zeros(len(sums))
    for column, times in combination.items():
        found += sums[:, places[column]] * float(times)
    return found


def _sum(combination: Combination, totals: Mapping[str, int]) -> int:
    return sum(times * totals[column] for column, times in combination.items())
