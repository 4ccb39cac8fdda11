"""Two models on the same records: whether one is right where the other is not more often than chance would have it.

Only records on which they disagree say anything. Where several records are one contributor's they disagree together,
and the test must count contributors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from typing import Literal

from evalkit.exact import rounded

NO_DISAGREEMENT = "no-discordant-records"
BALANCED = "no-net-disagreement"

MANY = 50
"""Contributors from which on the modified Obuchowski test is taken where they differ in size (Yang, Sun & Hardin)."""

ClusteredMethod = Literal["obuchowski-modified", "durkalski"]


@dataclass(frozen=True, slots=True)
class McNemar:
    """McNemar's test of records that are one by one independent.

    Attributes:
        only_baseline: Records that only the baseline has right.
        only_candidate: Records that only the candidate has right.
        exact: The two-sided p-value of the exact conditional test; None where the two never disagree.
        mid_p: The two-sided mid-p value, less careful and nearer to its level.
        reason: Why there is no p-value, or None.
    """

    only_baseline: int
    only_candidate: int
    exact: float | None
    mid_p: float | None
    reason: str | None = None


def mcnemar(only_baseline: int, only_candidate: int) -> McNemar:
    """Test whether two models are right equally often, by the records that one of them has right and the other not.

    Given the number n of records on which they disagree, those for one side are Binomial(n, 1/2): the exact p-value is
    twice the smaller tail, at most 1; the mid-p value counts half of the point seen. Where both sides are equal the
    mid-p value is 1 − half of the point (Fagerland, Lydersen & Laake 2013).

    It is no test for records that belong together: for those see ``clustered_mcnemar``.

    Args:
        only_baseline: Records that only the baseline has right.
        only_candidate: Records that only the candidate has right.

    >>> found = mcnemar(8, 1)
    >>> found.exact, found.mid_p  # 2 · 10 / 2⁹ and 2 · (1 + 9 / 2) / 2⁹
    (0.0390625, 0.021484375)
    >>> mcnemar(0, 0).reason
    'no-discordant-records'
    """
    from evalkit.uncertainty.distributions import binomial_tail

    trials, most = only_baseline + only_candidate, max(only_baseline, only_candidate)
    if not trials:
        return McNemar(only_baseline, only_candidate, None, None, NO_DISAGREEMENT)
    tail, beyond = (binomial_tail(number, trials, 0.5) for number in (most, most + 1))
    if only_baseline == only_candidate:
        return McNemar(only_baseline, only_candidate, 1.0, 1 - (tail - beyond) / 2)
    return McNemar(only_baseline, only_candidate, min(2 * tail, 1.0), tail + beyond)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """What one contributor's records say.

    Attributes:
        only_baseline: Records that only the baseline has right.
        only_candidate: Records that only the candidate has right.
        records: All paired records of the contributor.
    """

    only_baseline: int
    only_candidate: int
    records: int


@dataclass(frozen=True, slots=True)
class ClusteredMcNemar:
    """McNemar's test of records of contributors.

    Attributes:
        method: ``obuchowski-modified`` or ``durkalski``; None where there is no statistic.
        contributors: How many contributors have paired records.
        statistic: Chi-squared with one degree of freedom where the two are right equally often; None where undefined.
        p_value: The chance of so large a statistic then; None where undefined.
        reason: Why there is none, or None.
    """

    method: ClusteredMethod | None
    contributors: int
    statistic: float | None
    p_value: float | None
    reason: str | None = None


def clustered_mcnemar(contributors: Sequence[Disagreement]) -> ClusteredMcNemar:
    """Test whether two models are right equally often, by contributors, whose records belong together.

    With 50 contributors or more, or where all have as many records, it is the modified Obuchowski test, else that of
    Durkalski, Palesch, Lipsitz & Rust 2003, as Yang, Sun & Hardin 2010 recommend. Where each contributor has one
    record, Durkalski's statistic is McNemar's without correction.

    Args:
        contributors: One a contributor with paired records, in any order.

    >>> clustered_mcnemar([Disagreement(2, 0, 4), Disagreement(1, 0, 2), Disagreement(0, 1, 4)])
    ClusteredMcNemar(method='durkalski', contributors=3, statistic=1.0, p_value=0.31731050786291415, reason=None)
    """
    from evalkit.uncertainty.distributions import normal_tail

    taken = [one for one in contributors if one.records]
    if not any(one.only_baseline or one.only_candidate for one in taken):
        return ClusteredMcNemar(None, len(taken), None, None, NO_DISAGREEMENT)
    equal = len({one.records for one in taken}) == 1
    method: ClusteredMethod = "obuchowski-modified" if equal or len(taken) >= MANY else "durkalski"
    found = modified_obuchowski(taken) if method == "obuchowski-modified" else durkalski(taken)
    if found is None:
        return ClusteredMcNemar(None, len(taken), None, None, BALANCED)
    return ClusteredMcNemar(method, len(taken), rounded(found), 2 * normal_tail(sqrt(rounded(found))))


def durkalski(contributors: Sequence[Disagreement]) -> Fraction | None:
    """Return (Σ d/n)² / Σ (d/n)², d being a contributor's b − c; None where no contributor has more of one.

    >>> durkalski([Disagreement(1, 0, 1), Disagreement(1, 0, 1), Disagreement(0, 1, 1)])  # McNemar's (2 − 1)² / 3
    Fraction(1, 3)
    """
    rates = [Fraction(one.only_baseline - one.only_candidate, one.records) for one in contributors]
    squares = sum((rate * rate for rate in rates), Fraction(0))
    return sum(rates, Fraction(0)) ** 2 / squares if squares else None


def modified_obuchowski(contributors: Sequence[Disagreement]) -> Fraction | None:
    """Return (K − 1)/K · (Σ d)² / (½ Σ ((d − n·δ)² + d²)), δ being Σ d / Σ n; None without a net disagreement.

    The variance is the mean of the one that Obuchowski 1998 takes, under equal shares, and of the one at the shares
    seen (Yang, Sun & Hardin 2010).

    >>> modified_obuchowski([Disagreement(1, 0, 1), Disagreement(1, 0, 1), Disagreement(0, 1, 1)])  # 2/3 · 1 / (17/6)
    Fraction(4, 17)
    """
    net = [one.only_baseline - one.only_candidate for one in contributors]
    total, records, number = sum(net), sum(one.records for one in contributors), len(contributors)
    squares = sum(one * one for one in net)
    if not squares or number < 2:
        return None
    share = Fraction(total, records)
    # Σ (d − n·δ)² = Σ d² − 2δ Σ d·n + δ² Σ n², all in whole numbers but for δ
    crossed = sum(d * one.records for d, one in zip(net, contributors, strict=True))
    sizes = sum(one.records**2 for one in contributors)
    spread = (2 * squares - 2 * share * crossed + share * share * sizes) / 2
    return Fraction(number - 1, number) * total * total / spread
