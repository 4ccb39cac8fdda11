"""Risk and coverage the slow way: sorted lists of records and fractions, straight from the definitions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import polars as pl
from hypothesis import strategies as st


class Record(NamedTuple):
    """So many equal records; without confidence nothing was offered."""

    confidence: float | None
    correct: bool | None
    contributor: int
    n: int


TIED = (0.0, 0.1, 0.30000000000000004, 0.3, 0.5, 0.9, 1.0)
"""Confidences that often tie, two of them next to each other."""


def records(confidences: st.SearchStrategy[float] | None = None) -> st.SearchStrategy[list[Record]]:
    """Make records, often tied and sometimes without an offer."""
    confidence = confidences if confidences is not None else st.sampled_from(TIED) | st.floats(0, 1)
    rest = (st.booleans(), st.integers(0, 5), st.integers(1, 3))
    offer = st.tuples(confidence, *rest)
    nothing = st.tuples(st.none(), st.none(), *rest[1:])
    return st.lists(st.one_of(offer, offer, offer, nothing).map(lambda one: Record(*one)), max_size=40)


def frame(rows: Sequence[Record]) -> pl.DataFrame:
    """Make the frame that evalkit takes."""
    kinds = {"confidence": pl.Float64, "correct": pl.Boolean, "contributor": pl.UInt64, "n": pl.Int64}
    return pl.DataFrame([tuple(one) for one in rows], schema=kinds, orient="row")


def curve(rows: Sequence[Record]) -> list[tuple[float, int, int]]:
    """Give cut, accepted and errors of every distinct confidence, by counting all records anew at each."""
    cuts = sorted({one.confidence for one in rows if one.confidence is not None}, reverse=True)
    found = []
    for cut in cuts:
        inside = [one for one in rows if one.confidence is not None and one.confidence >= cut]
        found.append((cut, sum(one.n for one in inside), sum(one.n for one in inside if not one.correct)))
    return found


def expanded(rows: Sequence[Record]) -> list[tuple[float, bool]]:
    """Give every offered record on its own, the most confident first."""
    every = [(one.confidence, bool(one.correct)) for one in rows if one.confidence is not None for _ in range(one.n)]
    return sorted(every, key=lambda one: -one[0])


def aurc(rows: Sequence[Record]) -> Fraction:
    """Take the mean, over records, of the error rate among those at least as confident."""
    every = expanded(rows)
    risks = []
    for confidence, _ in every:
        inside = [right for other, right in every if other >= confidence]
        risks.append(Fraction(inside.count(False), len(inside)))
    return sum(risks, Fraction(0)) / len(risks)


def ideal_aurc(rows: Sequence[Record]) -> Fraction:
    """Take the mean error rate over prefixes of the list that has all right answers first."""
    ideal = sorted((right for _, right in expanded(rows)), reverse=True)
    risks = [Fraction(ideal[: size + 1].count(False), size + 1) for size in range(len(ideal))]
    return sum(risks, Fraction(0)) / len(risks)


def augrc(rows: Sequence[Record]) -> Fraction:
    """Add up the trapezoids under errors / N over accepted / N."""
    points, size = [(0, 0), *((a, e) for _, a, e in curve(rows))], len(expanded(rows))
    pairs = pairwise(points)
    return sum((Fraction((b[0] - a[0]) * (a[1] + b[1]), 2 * size * size) for a, b in pairs), Fraction(0))
