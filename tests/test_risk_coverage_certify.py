"""Certified cuts: claims, the sequence, p-values worked by hand, and how often a certificate is wrong."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from risk_coverage_oracle import Record, frame, records

from evalkit.errors import Refusal
from evalkit.report import document
from evalkit.risk_coverage.certify import binomial_p, certify, cluster_p, lower_bound
from evalkit.risk_coverage.claim import Claim, read_claim
from evalkit.risk_coverage.curve import curve
from evalkit.risk_coverage.levels import Level, design_effect, first_size, least_size, levels, sequence, standard_error
from evalkit.risk_coverage.shown import Certificate

CLAIM = read_claim("precision>=0.9@0.95")


def singles(correct: Iterable[bool], *, step: float = 0.001) -> pl.DataFrame:
    """Make records of a contributor each, the first the most confident."""
    rows = [Record(1 - step * place, right, place, 1) for place, right in enumerate(correct)]
    return frame(rows)


def independent(accepted: int, errors: int) -> Level:
    """Make a level of a record a contributor."""
    return Level(0.5, accepted, errors, accepted, accepted, errors, errors)


# --- claims


@pytest.mark.parametrize(
    "text", ["precision>=0.9@0.95", "precision>=0.9 @ 0.95", " precision >= .90 @0.950 ", "precision>=0.9@.95"]
)
def test_a_claim_may_be_spaced(text: str) -> None:
    """The parts may have white space around them, and the decimals any number of places."""
    assert read_claim(text) == Claim(Fraction(9, 10), Fraction(19, 20))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("precision>0.9@0.95", "must be a claim such as precision>=0.9@0.95"),
        ("recall>=0.9@0.95", "must be a claim such as"),
        ("precision>=0.9", "must be a claim such as"),
        ("precision>=90%@0.95", "must be a claim such as"),
        ("precision>=0.9@0.95@0.9", "must be a claim such as"),
        ("precision>=1e-1@0.95", "must be a claim such as"),
        ("", "must be a claim such as"),
        ("precision>=0." + "9" * 200 + "@0.95", "must be a claim such as"),
        ("precision>=1@0.95", "can never be certified"),
        ("precision>=0@0.95", "above 0 and below 1"),
        ("precision>=95@0.95", "above 0 and below 1"),
        ("precision>=0.9@1", "at least 0.5 and below 1"),
        ("precision>=0.9@0.05", "at least 0.5 and below 1"),
    ],
)
def test_what_is_no_claim_is_refused(text: str, message: str) -> None:
    """The refusal has the rule ``certify`` and says what to write."""
    with pytest.raises(Refusal, match=message) as refused:
        read_claim(text)
    assert refused.value.counts == {"certify": 1}


# --- p-values by hand


def test_the_binomial_tail_of_independent_records() -> None:
    """P(at most 2 wrong of 100 | 0.1) = 0.9^100 + 100 · 0.1 · 0.9^99 + 4950 · 0.01 · 0.9^98 = 0.0019449."""
    assert design_effect(independent(100, 2)) == 1
    assert binomial_p(independent(100, 2), CLAIM) == pytest.approx(0.0019448847, abs=1e-10)


def test_without_errors_a_contributor_counts_as_one_record() -> None:
    """29 records of 29 contributors: 0.9^29; 30 records of 10 contributors count as 10: 0.9^10; t alone would say 0."""
    assert binomial_p(independent(29, 0), CLAIM) == pytest.approx(0.04710128697246244, rel=1e-12)
    ten = Level(0.5, 30, 0, 10, 90, 0, 0)
    assert binomial_p(ten, CLAIM) == pytest.approx(0.3486784401, rel=1e-12)
    assert cluster_p(ten, CLAIM) == 0


def test_the_clustered_t_by_hand() -> None:
    """Contributors of 2, 2, 4 records with 1, 0, 1 errors: error √(3/2 · 1/2) / 8, t = 2.3094 of 8²/24 - 1 degrees."""
    three = Level(0.5, 8, 2, 3, 24, 6, 2)
    assert standard_error(three) == pytest.approx(0.10825317547305482, rel=1e-15)
    assert cluster_p(three, read_claim("precision>=0.5@0.95")) == pytest.approx(0.0859682, abs=1e-7)
    assert design_effect(three) == 1  # 7/16 by the formula, but never below 1


def test_a_design_effect_by_hand() -> None:
    """Ten contributors of 4, one of them all wrong: Σ (x − s/10)² = 14.4; 10/9 · 14.4 / 40² over 0.09 / 39 is 13/3."""
    assert design_effect(Level(0.5, 40, 4, 10, 160, 16, 16)) == Fraction(13, 3)


def test_the_bound_and_the_p_value_say_the_same() -> None:
    """The bound reaches the target just where the p-value is α; of 95 right of 100 it is Clopper and Pearson's."""
    assert lower_bound(independent(100, 5), CLAIM) == pytest.approx(0.897746622357, abs=1e-10)
    for errors in range(1, 12):
        one = independent(120, errors)
        assert (lower_bound(one, CLAIM) >= 0.9) == (max(binomial_p(one, CLAIM), cluster_p(one, CLAIM)) <= 0.05)


def test_one_contributor_says_nothing() -> None:
    """However many records one contributor has, its p-value by clusters is 1 and its bound 0."""
    one = Level(0.5, 500, 0, 1, 250_000, 0, 0)
    assert (cluster_p(one, CLAIM), lower_bound(one, CLAIM)) == (1.0, 0.0)


# --- the sequence


@pytest.mark.parametrize(
    ("text", "least", "first"),
    [("precision>=0.9@0.95", 29, 116), ("precision>=0.5@0.95", 5, 16), ("precision>=0.5@0.9375", 4, 15)],
)
def test_sizes_hang_on_the_claim_alone(text: str, least: int, first: int) -> None:
    """The least that can reject, 0.5^4 = 0.0625 exactly, and the first at which half of the allowed errors do."""
    assert (least_size(read_claim(text)), first_size(read_claim(text))) == (least, first)


def test_extreme_claims_need_no_time() -> None:
    """A target just below 1 asks for millions of records and is worked out at once."""
    assert least_size(read_claim("precision>=0.999999@0.999999")) == 13_815_504
    assert first_size(read_claim("precision>=0.999999@0.999999")) > 13_815_504


@given(records())
def test_the_sequence_does_not_look_at_answers(rows: list[Record]) -> None:
    """With every answer turned around the cuts to test are the same, and all records are accepted by the last."""
    turned = [one._replace(correct=None if one.correct is None else not one.correct) for one in rows]
    one, other = curve(frame(rows)), curve(frame(turned))
    if one.offered:
        cuts = sequence(one, 3)
        assert cuts.tolist() == sequence(other, 3).tolist()
        assert cuts[-1] == one.cut[-1]


def test_the_first_cut_accepts_a_twentieth_or_what_the_claim_asks_for() -> None:
    """Of 6000 records 300, of 1000 the 116 that the claim asks for, of 50 all of them, as the one cut."""
    for size, first, cuts in ((6000, 300, 51), (1000, 116, 51), (50, 50, 1)):
        found = curve(singles([True] * size, step=0.0001))
        laid = sequence(found, 116)
        assert (int((found.cut >= laid[0]).sum()), len(laid)) == (first, cuts)


@given(records())
def test_levels_are_those_of_counting_anew(rows: list[Record]) -> None:
    """At every cut the sums over contributors are what adding up each contributor's records gives."""
    found = curve(frame(rows))
    for one in levels(frame(rows), found.cut):
        s: dict[int, int] = {}
        x: dict[int, int] = {}
        for row in rows:
            if row.confidence is not None and row.confidence >= one.cut:
                s[row.contributor] = s.get(row.contributor, 0) + row.n
                x[row.contributor] = x.get(row.contributor, 0) + row.n * (not row.correct)
        sums = (sum(s[k] * s[k] for k in s), sum(s[k] * x[k] for k in s), sum(x[k] * x[k] for k in s))
        assert one == Level(one.cut, sum(s.values()), sum(x.values()), len(s), *sums)


def test_records_without_named_contributors_are_independent() -> None:
    """Without the column every row is a contributor of its own."""
    rows = singles([True] * 5 + [False])
    (one,) = levels(rows.drop("contributor"), np.array([0.0]))
    assert one == Level(0.0, 6, 1, 6, 6, 1, 1)


# --- certificates


def test_all_right_certifies_the_most_lenient_cut() -> None:
    """200 right answers of 200 contributors: every cut passes, and the last has p = 0.9^200."""
    found = certify(singles([True] * 200), CLAIM)
    assert (found.accepted, found.errors, found.contributors, found.reason) == (200, 0, 200, None)
    assert found.threshold == pytest.approx(0.801)
    assert found.p_value == pytest.approx(7.055079108655367e-10, rel=1e-9)
    assert found.tested == found.table.height == found.table["passed"].sum() == 51


def test_the_sequence_stops_at_the_first_failure() -> None:
    """150 right, then 50 wrong, then 1000 right: later cuts have a precision above 0.9 again and are not looked at."""
    found = certify(singles([True] * 150 + [False] * 50 + [True] * 1000, step=0.0005), CLAIM)
    table = found.table
    assert found.accepted is not None
    assert 116 <= found.accepted < 175
    assert table["tested"].sum() == found.tested < table.height
    assert table.filter("tested")["passed"].to_list() == [True] * (found.tested - 1) + [False]
    assert table["p_value"][-1] < 0.05
    assert not table.filter(~pl.col("tested"))["passed"].any()


@pytest.mark.parametrize(
    ("outcomes", "reason", "tested"),
    [
        (frame([Record(None, None, one, 1) for one in range(50)]), "nothing-offered", 0),
        (singles([True] * 28), "too-few-offered", 0),
        (frame([Record(0.9, True, one % 29, 1) for one in range(500)]), "insufficient-contributors", 0),
        (frame([Record(0.9, True, 7, 500)]), "insufficient-contributors", 0),
        (singles([False] * 200), "first-cut-failed", 1),
        (singles([True, False] * 100), "first-cut-failed", 1),
    ],
)
def test_none_certified_is_a_normal_outcome(outcomes: pl.DataFrame, reason: str, tested: int) -> None:
    """A certificate without a cut says why, and its numbers are null."""
    found = certify(outcomes, CLAIM)
    assert document(found) == {
        **dict.fromkeys(("threshold", "accepted", "errors", "contributors", "pValue", "bound")),
        "target": 0.9,
        "confidence": 0.95,
        "tested": tested,
        "reason": reason,
    }


def test_fewer_records_than_can_reject() -> None:
    """28 right answers cannot show 0.9 at 95 %, 29 can, on one cut that accepts them all."""
    assert certify(singles([True] * 28), CLAIM, minimum=2).reason == "too-few-offered"
    found = certify(singles([True] * 29), CLAIM, minimum=2)
    assert (found.accepted, found.tested, found.table.height) == (29, 1, 1)


def test_one_contributor_is_never_certified() -> None:
    """Also where no least number of contributors is asked for."""
    assert certify(frame([Record(0.9, True, 7, 500)]), CLAIM, minimum=1).reason == "first-cut-failed"


def test_ties_are_accepted_together() -> None:
    """200 tied records are one cut; with 30 wrong ones among them nothing of them is certified."""
    good = frame([Record(0.9, True, one, 1) for one in range(200)])
    assert (certify(good, CLAIM).accepted, certify(good, CLAIM).tested) == (200, 1)
    bad = frame([Record(0.9, one >= 30, one, 1) for one in range(200)])
    assert certify(bad, CLAIM).reason == "first-cut-failed"


def test_neither_order_nor_splitting_of_rows_shows() -> None:
    """The same table for shuffled rows and for n equal records as n rows."""
    numbers = np.random.default_rng(5)
    rows = [Record(round(c, 2), bool(c > 0.2), k % 40, 2) for k, c in enumerate(numbers.random(500))]
    single = frame([one._replace(n=1) for one in rows for _ in range(2)]).sample(fraction=1, shuffle=True, seed=1)
    one, other = certify(frame(rows), CLAIM), certify(single, CLAIM)
    assert one == other
    assert one.table.equals(other.table)


def test_a_wrong_certificate_is_rare() -> None:
    """Precision 0.89 at every cut, contributors apart: in 300 draws of 40 × 20 records at most 8 % are certified."""
    numbers = np.random.default_rng(3)

    def drawn() -> Certificate:
        own = numbers.beta(0.89 * 8, 0.11 * 8, 40)
        who = np.repeat(np.arange(40, dtype=np.uint64), 20)
        columns = {"confidence": numbers.random(800), "correct": numbers.random(800) < np.repeat(own, 20)}
        return certify(pl.DataFrame({**columns, "n": np.ones(800, np.int64), "contributor": who}), CLAIM)

    wrong = sum(drawn().threshold is not None for _ in range(300))
    assert wrong <= 24
