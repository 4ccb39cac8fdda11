"""The metrics of ranked retrieval, over the queries of one system, from counts of what its rankings came to.

nDCG is that of Järvelin & Kekäläinen (2002) with the exponential gain of Burges et al. (2005). Both metrics are plain
means over queries: each query has the same weight, however many documents are relevant to it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from functools import cache
from typing import NamedTuple

from evalkit.exact import PLACES, Exact, Ratio
from evalkit.metric import metric

CUTOFF = 10
"""How many ranks count."""

MAX_GRADE = 3
"""The highest grade, where no other is asked for."""

GREATEST_GRADE = 53
"""The highest grade that can be asked for: the gain of a higher one is no longer a 64-bit float."""

NO_QUERIES = "no-queries"

_PLACE = Decimal(1).scaleb(-PLACES)


class Outcome(NamedTuple):
    """What the ranking of one query came to.

    Attributes:
        found: The grades at ranks 1 to 10, without the zeros at the end.
        ideal: The grades of the ten best documents, best first, those of grade 0 left out.
        relevant: How many documents have a grade of 1 or more.

    >>> Outcome((0, 2), (2, 1), 2).hits
    1
    """

    found: tuple[int, ...]
    ideal: tuple[int, ...]
    relevant: int

    @property
    def hits(self) -> int:
        """How many relevant documents are in ranks 1 to 10."""
        return sum(grade > 0 for grade in self.found)


Outcomes = Mapping[Outcome, int]
"""How many queries had each outcome."""


def outcome(relevance: Mapping[str, int], ranking: Sequence[str]) -> Outcome:
    """Tell what a ranking comes to. A document without a grade counts as grade 0, and still takes its rank.

    >>> outcome({"a": 1, "b": 3, "c": 0}, ["x", "b", "c"])
    Outcome(found=(0, 3), ideal=(3, 1), relevant=2)
    """
    found = [relevance.get(document, 0) for document in ranking[:CUTOFF]]
    grades = sorted((grade for grade in relevance.values() if grade > 0), reverse=True)
    return Outcome(cut(found), tuple(grades[:CUTOFF]), len(grades))


def cut(found: Sequence[int]) -> tuple[int, ...]:
    """Leave out the zeros at the end, and count what is below zero as zero.

    >>> cut([0, 2, 0, -1])
    (0, 2)
    """
    last = max((rank for rank, grade in enumerate(found, 1) if grade > 0), default=0)
    return tuple(max(grade, 0) for grade in found[:last])


def queries(outcomes: Outcomes) -> int:
    """Count the queries."""
    return sum(outcomes.values())


@metric("Recall@10", "higher", NO_QUERIES)
def recall_at_10(outcomes: Outcomes) -> Exact:
    """Plain mean over queries of: relevant documents in ranks 1 to 10 / all relevant documents of the query.

    >>> recall_at_10({Outcome((1,), (1, 1), 2): 1, Outcome((3, 2), (3, 2), 2): 1})
    Fraction(3, 4)
    """
    if not (number := queries(outcomes)):
        return None
    hits: Counter[int] = Counter()  # by the number of relevant documents, of which there are few
    for one, count in outcomes.items():
        hits[one.relevant] += one.hits * count
    return sum((Fraction(found, relevant) for relevant, found in hits.items()), Fraction(0)) / number


@metric("nDCG@10", "higher", NO_QUERIES)
def ndcg_at_10(outcomes: Outcomes) -> Exact:
    """Plain mean over queries of: discounted gain of ranks 1 to 10 / that of the ten best documents, best first.

    The gain of a document is 2^grade − 1, its discount log2(rank + 1). The quotient of one query is a 64-bit float; it
    is rounded to 15 decimal places and summed as a decimal, so that no order of the queries shows. trec_eval and
    pytrec_eval take the grade itself for the gain.

    >>> ndcg_at_10({Outcome((0, 1), (1,), 1): 1, Outcome((2,), (2,), 1): 1})
    Ratio(numerator=Decimal('1.630929753571458'), denominator=2)
    """
    if not (number := queries(outcomes)):
        return None
    total = sum((_ndcg(one.found, one.ideal) * count for one, count in outcomes.items()), Decimal(0))
    return Ratio(total, number)


METRICS = (recall_at_10, ndcg_at_10)
"""The metrics of one system."""


def _ndcg(found: tuple[int, ...], ideal: tuple[int, ...]) -> Decimal:
    """Return the normalised gain of one query, 15 decimal places."""
    if found == ideal:
        return Decimal(1)
    return Decimal(_gain(found) / _best(ideal)).quantize(_PLACE)


@cache
def _terms(rank: int) -> tuple[float, ...]:
    """Return what a document at a rank, counted from 0, adds for each grade."""
    return tuple((2**grade - 1) / math.log2(rank + 2) for grade in range(GREATEST_GRADE + 1))


def _gain(grades: Iterable[int]) -> float:
    """Sum the discounted gains, rounded once."""
    return math.fsum(_terms(rank)[grade] for rank, grade in enumerate(grades))


_best = cache(_gain)
