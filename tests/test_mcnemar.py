"""Two models on the same records: McNemar's test, and the same by contributors."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.uncertainty.mcnemar import Disagreement, clustered_mcnemar, durkalski, mcnemar, modified_obuchowski

FEW = [(3, 2, 0, 1), (0, 1, 0, 1), (4, 3, 1, 2), (2, 0, 1, 1), (1, 0, 0, 3), (5, 2, 0, 0)]
EQUAL = [(2, 1, 0, 1), (1, 2, 1, 0), (0, 3, 0, 1), (3, 0, 1, 0), (4, 0, 0, 0)]
MANY = [(k % 4, (k * k) % 3, (k * 7 + 1) % 2, k % 3) for k in range(1, 61)]
"""Records by contributor, as in tests/agreement/paired_tests.py: both right, baseline only, candidate only, neither."""


def disagreements(rows: list[tuple[int, int, int, int]]) -> list[Disagreement]:
    """Turn contributors' four counts into what the tests take."""
    return [Disagreement(row[1], row[2], sum(row)) for row in rows]


@pytest.mark.parametrize(
    ("only_baseline", "only_candidate", "exact", "mid_p"),
    [
        (8, 1, 0.0390625, 0.021484374999999983),
        (1, 8, 0.0390625, 0.021484374999999983),
        (10, 10, 1.0, 0.9119014739990235),
        (0, 6, 0.03125, 0.015624999999999879),
        (59, 6, 4.964650327128616e-12, 2.7258031986068867e-12),
        (121, 75, 0.001249709633102985, 0.0009978236156942886),
        (1, 0, 1.0, 0.4999999999999999),
        (1005, 901, 0.018288176175233845, 0.01721762168864912),
    ],
)
def test_exact_and_mid_p_are_what_statsmodels_and_scipy_say(
    only_baseline: int, only_candidate: int, exact: float, mid_p: float
) -> None:
    """The p-values are those of other tools; see tests/agreement/paired_tests.py."""
    found = mcnemar(only_baseline, only_candidate)
    assert found.exact == pytest.approx(exact, rel=1e-9)
    assert found.mid_p == pytest.approx(mid_p, rel=1e-9)
    assert found.reason is None


def test_models_that_never_disagree_have_no_p_value() -> None:
    """Where no record is discordant nothing was tested: there is a reason and no number."""
    found = mcnemar(0, 0)
    assert (found.exact, found.mid_p, found.reason) == (None, None, "no-discordant-records")
    clustered = clustered_mcnemar([Disagreement(0, 0, 4), Disagreement(0, 0, 2)])
    assert (clustered.statistic, clustered.p_value, clustered.reason) == (None, None, "no-discordant-records")


def test_contributors_that_each_balance_have_no_statistic() -> None:
    """Where each contributor has as many records for one side as for the other there is no variance to divide by."""
    found = clustered_mcnemar([Disagreement(1, 1, 4), Disagreement(2, 2, 5)])
    assert (found.statistic, found.method, found.reason) == (None, None, "no-net-disagreement")


@given(st.integers(0, 300), st.integers(0, 300))
def test_the_sides_can_change_places(b: int, c: int) -> None:
    """Neither side is favoured, the mid-p value is the smaller one, and both are probabilities."""
    one, other = mcnemar(b, c), mcnemar(c, b)
    assert (one.exact, one.mid_p) == (other.exact, other.mid_p)
    if one.exact is not None and one.mid_p is not None:
        assert 0 < one.mid_p <= one.exact <= 1


@pytest.mark.parametrize(
    ("rows", "method", "statistic", "p_value"),
    [
        (FEW, "durkalski", 2.096058473087199, 0.14767940481773403),
        (EQUAL, "obuchowski-modified", 1.2307692307692315, 0.2672574931543845),
        (MANY, "obuchowski-modified", 3.5359088657751467, 0.06005341315992072),
    ],
    ids=["few of several sizes", "few of one size", "many"],
)
def test_the_clustered_test_is_the_one_that_is_recommended(
    rows: list[tuple[int, int, int, int]], method: str, statistic: float, p_value: float
) -> None:
    """Durkalski's with few contributors of several sizes, else the modified Obuchowski test (Yang, Sun & Hardin)."""
    found = clustered_mcnemar(disagreements(rows))
    assert (found.method, found.contributors) == (method, len(rows))
    assert found.statistic == pytest.approx(statistic, rel=1e-12)
    assert found.p_value == pytest.approx(p_value, rel=1e-12)


def test_fifty_contributors_are_many() -> None:
    """With 49 contributors of several sizes it is Durkalski's test, with 50 the other."""
    rows = disagreements(MANY)
    assert clustered_mcnemar(rows[:49]).method == "durkalski"
    assert clustered_mcnemar(rows[:50]).method == "obuchowski-modified"


def test_one_record_each_gives_mcnemars_own_statistic() -> None:
    """Where each contributor has one record Durkalski's statistic is (b − c)² / (b + c): (7 − 3)² / 10."""
    rows = [Disagreement(1, 0, 1)] * 7 + [Disagreement(0, 1, 1)] * 3 + [Disagreement(0, 0, 1)] * 5
    assert durkalski(rows) == Fraction(16, 10)


def test_repeating_a_record_is_no_new_evidence() -> None:
    """A contributor whose records all say the same counts once, however many there are; McNemar counts each."""
    once = [Disagreement(1, 0, 1)] * 12 + [Disagreement(0, 1, 1)] * 4
    often = [Disagreement(5 * one.only_baseline, 5 * one.only_candidate, 5) for one in once]
    assert clustered_mcnemar(often) == clustered_mcnemar(once)
    single, repeated = mcnemar(12, 4).exact, mcnemar(60, 20).exact
    assert single is not None
    assert repeated is not None
    assert repeated < single / 100


@pytest.mark.parametrize("contributors", [20, 60])
def test_the_clustered_test_keeps_its_level(contributors: int) -> None:
    """Of models that are right equally often it finds a difference at 5 % in 3 to 7 of 100; McNemar's in more than 7.

    Contributors have 1 to 15 records, three in ten of them discordant, and each leans to one side or the other.
    """
    rng, times = np.random.default_rng(5), 1000
    found = plain = 0
    for _ in range(times):
        sizes = rng.integers(1, 16, contributors)
        discordant = rng.binomial(sizes, 0.3)
        b = rng.binomial(discordant, rng.beta(2, 2, contributors))
        rows = [Disagreement(*map(int, row)) for row in zip(b, discordant - b, sizes, strict=True)]
        found += (clustered_mcnemar(rows).p_value or 1) < 0.05
        plain += (mcnemar(int(b.sum()), int((discordant - b).sum())).exact or 1) < 0.05
    assert 0.03 <= found / times <= 0.07
    assert plain / times > 0.07


def test_a_single_contributor_is_no_sample() -> None:
    """One contributor says nothing of others: no statistic, though its records disagree."""
    assert modified_obuchowski([Disagreement(9, 0, 9)]) is None
    assert clustered_mcnemar([Disagreement(9, 0, 9)]).p_value is None


@given(st.permutations(disagreements(FEW)))
def test_the_order_of_contributors_does_not_show(rows: list[Disagreement]) -> None:
    """The same contributors give the same bits."""
    assert clustered_mcnemar(rows) == clustered_mcnemar(disagreements(FEW))
