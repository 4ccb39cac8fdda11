"""The risk–coverage curve and its areas: worked by hand, and against an oracle in fractions."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
import risk_coverage_oracle as oracle
from hypothesis import given
from hypothesis import strategies as st
from risk_coverage_oracle import Record, frame, records
from sklearn.metrics import auc, roc_auc_score

from evalkit.risk_coverage.areas import areas, augrc, aurc, ideal_aurc
from evalkit.risk_coverage.curve import Curve, curve
from evalkit.risk_coverage.points import Point, at_cut, at_most, coverage_at_risk, risk_at_coverage

LIMITS = [Fraction(0), Fraction(1, 10), Fraction(1, 3), Fraction(1, 2), Fraction(1)]

HAND = frame(
    [
        Record(0.9, True, 1, 1),
        Record(0.8, False, 1, 1),
        Record(0.8, True, 2, 2),
        Record(0.6, True, 2, 1),
        Record(0.5, False, 3, 3),
        Record(None, None, 3, 2),
    ]
)
"""Cuts 0.9, 0.8, 0.6, 0.5 accept 1, 4, 5, 8 of 10 with 0, 1, 1, 4 errors."""


def points(found: Curve) -> list[tuple[float, int, int]]:
    """Return the points as plain numbers."""
    return list(zip(found.cut.tolist(), found.accepted.tolist(), found.errors.tolist(), strict=True))


def test_ties_are_one_point_and_what_was_never_offered_stays_in_the_total() -> None:
    """Records of equal confidence enter together; two without an offer keep coverage at 8 of 10."""
    found = curve(HAND)
    assert points(found) == [(0.9, 1, 0), (0.8, 4, 1), (0.6, 5, 1), (0.5, 8, 4)]
    assert (found.total, found.offered, found.wrong) == (10, 8, 4)
    assert found.frame()["coverage"].to_list() == [0.1, 0.4, 0.5, 0.8]
    assert found.frame()["risk"].to_list() == [0.0, 0.25, 0.2, 0.5]


def test_areas_by_hand() -> None:
    """AURC (1·0 + 3·1/4 + 1·1/5 + 3·1/2) / 8; ideal 1/8 · (1/5 + 2/6 + 3/7 + 4/8); AUGRC (3·1 + 1·2 + 3·5) / 128."""
    found = areas(curve(HAND))
    assert found is not None
    assert float(found.aurc) == pytest.approx(0.30625, abs=1e-15)
    assert float(found.ideal_aurc) == pytest.approx(0.182738095238095238, abs=1e-15)
    assert float(found.e_aurc) == pytest.approx(0.123511904761904762, abs=1e-15)
    assert found.augrc == Fraction(20, 128)


def test_coverage_at_risk_is_inclusive_and_the_widest() -> None:
    """Risk 1/4 is met exactly at 0.8, and 0.6 is wider still; 1/5 only at 0.6; a hair below 1/5 only at 0.9."""
    found = curve(HAND)
    assert coverage_at_risk(found, Fraction(1, 4)) == Point(0.6, 5, 1, 10)
    assert coverage_at_risk(found, Fraction(1, 5)) == Point(0.6, 5, 1, 10)
    assert coverage_at_risk(found, Fraction(1, 5) - Fraction(1, 10**30)) == Point(0.9, 1, 0, 10)
    assert coverage_at_risk(found, Fraction(1, 2)) == Point(0.5, 8, 4, 10)


def test_no_cut_within_the_risk_has_a_reason() -> None:
    """Where all cuts are over the limit, and where there is none, the point says why it is missing."""
    wrong = curve(frame([Record(0.5, False, 1, 1)]))
    assert coverage_at_risk(wrong, Fraction(1, 2)) == Point(None, None, None, 1, "no-cut-within-risk")
    nothing = curve(frame([Record(None, None, 1, 4)]))
    assert coverage_at_risk(nothing, Fraction(1, 2)) == Point(None, None, None, 4, "nothing-offered")
    assert risk_at_coverage(nothing, Fraction(0)).reason == "nothing-offered"
    assert areas(nothing) is None
    assert nothing.frame().height == 0


def test_risk_at_coverage_interpolates_nothing() -> None:
    """Coverage 1/10 is the first cut exactly; a little more is already the next; above 8/10 there is none."""
    found = curve(HAND)
    assert risk_at_coverage(found, Fraction(1, 10)) == Point(0.9, 1, 0, 10)
    assert risk_at_coverage(found, Fraction(11, 100)) == Point(0.8, 4, 1, 10)
    assert risk_at_coverage(found, Fraction(8, 10)) == Point(0.5, 8, 4, 10)
    assert risk_at_coverage(found, Fraction(81, 100)).reason == "coverage-not-reached"
    assert risk_at_coverage(found, Fraction(0)) == Point(0.9, 1, 0, 10)


def test_a_cut_between_confidences_accepts_what_is_above_it() -> None:
    """A cut from elsewhere need not be a confidence here; at a confidence it takes that one in."""
    found = curve(HAND)
    assert at_cut(found, 0.7) == Point(0.7, 4, 1, 10)
    assert at_cut(found, 0.8) == Point(0.8, 4, 1, 10)
    assert at_cut(found, 0.0) == Point(0.0, 8, 4, 10)
    assert at_cut(found, 0.95) == Point(None, None, None, 10, "nothing-offered")


def test_neighbouring_floats_are_two_points_and_both_zeros_are_one() -> None:
    """0.3 and the next float above it are apart; 0 and −0 are the same confidence."""
    found = curve(frame([Record(0.3, True, 1, 1), Record(0.30000000000000004, False, 1, 1)]))
    assert points(found) == [(0.30000000000000004, 1, 1), (0.3, 2, 1)]
    for n in (1, 2):  # by sorted bits and by groups
        zeros = curve(frame([Record(0.0, True, 1, 1), Record(-0.0, False, 1, n), Record(1.0, True, 1, 1)]))
        assert points(zeros) == [(1.0, 1, 0), (0.0, 2 + n, n)]


@given(records())
def test_the_curve_is_that_of_the_oracle(rows: list[Record]) -> None:
    """Every point is what counting all records anew at each distinct confidence gives."""
    assert points(curve(frame(rows))) == oracle.curve(rows)


@given(records())
def test_the_areas_are_those_of_the_oracle(rows: list[Record]) -> None:
    """AUGRC exactly; AURC and the ideal to 15 places, as means over single records."""
    found = areas(curve(frame(rows)))
    if not oracle.expanded(rows):
        assert found is None
        return
    assert found is not None
    assert found.augrc == oracle.augrc(rows)
    assert abs(found.aurc - oracle.aurc(rows)) <= Fraction(1, 10**15)
    assert abs(found.ideal_aurc - oracle.ideal_aurc(rows)) <= Fraction(1, 10**15)
    assert found.e_aurc >= 0
    assert 0 <= found.augrc <= Fraction(1, 2)


@given(records(), st.sampled_from(LIMITS))
def test_single_points_are_those_of_the_oracle(rows: list[Record], limit: Fraction) -> None:
    """The widest cut within a risk and the strictest that reaches a coverage, found by trying all."""
    found, total = curve(frame(rows)), sum(one.n for one in rows)
    every = oracle.curve(rows)
    within = [one for one in every if Fraction(one[2], one[1]) <= limit]
    risk = coverage_at_risk(found, limit)
    assert (risk.cut, risk.accepted, risk.errors) == (within[-1] if within else (None, None, None))
    wide = [one for one in every if Fraction(one[1], total) >= limit]
    coverage = risk_at_coverage(found, limit)
    assert (coverage.cut, coverage.accepted, coverage.errors) == (wide[0] if wide else (None, None, None))


@given(records(), st.randoms(use_true_random=False))
def test_neither_order_nor_splitting_of_rows_shows(rows: list[Record], mixer: random.Random) -> None:
    """Shuffled rows, and n equal records as n rows, give the same points and the same areas to the last bit."""
    single = [one._replace(n=1) for one in rows for _ in range(one.n)]
    mixer.shuffle(single)
    one, other = curve(frame(rows)), curve(frame(single))
    assert points(one) == points(other)
    assert one.total == other.total
    assert areas(one) == areas(other)


def test_rounded_confidences_have_one_area_in_every_order() -> None:
    """With confidences of one place the area by row order moves by 0.01 over shuffles; by points it does not move."""
    numbers = random.Random(1)
    rows = [(round(c, 1), numbers.random() < 0.5 + c / 2) for c in (numbers.random() for _ in range(300))]
    found, naive = set(), set()
    for _ in range(100):
        numbers.shuffle(rows)
        found.add(aurc(curve(frame([Record(c, right, 0, 1) for c, right in rows]))))
        ordered = sorted(rows, key=lambda one: -one[0])
        naive.add(sum(sum(not right for _, right in ordered[:k]) / k for k in range(1, 301)) / 300)
    assert len(found) == 1
    assert max(naive) - min(naive) > 0.01


@given(records(st.sampled_from(oracle.TIED)))
def test_augrc_is_tied_to_auroc(rows: list[Record]) -> None:
    """AUGRC = (1 − AUROC) · a · (1 − a) + (1 − a)² / 2 with scikit-learn's AUROC, ties included (Traub et al. 2024)."""
    every = oracle.expanded(rows)
    right = [one for _, one in every]
    if len(set(right)) < 2:
        return
    accuracy, auroc = sum(right) / len(right), roc_auc_score(right, [one for one, _ in every])
    expected = (1 - auroc) * accuracy * (1 - accuracy) + (1 - accuracy) ** 2 / 2
    assert float(augrc(curve(frame(rows)))) == pytest.approx(expected, abs=1e-12)


@given(records().filter(oracle.expanded))
def test_aurc_is_the_area_under_steps(rows: list[Record]) -> None:
    """scikit-learn's ``auc`` of the curve drawn as steps, over the coverage that was reached."""
    found = curve(frame(rows))
    ends = np.concatenate(([0], np.repeat(found.accepted, 2)[:-1])) / found.offered
    assert float(aurc(found)) == pytest.approx(auc(ends, np.repeat(found.errors / found.accepted, 2)), abs=1e-12)


def test_the_ideal_area_nears_its_limit() -> None:
    """For many records it is e + (1 − e) · ln(1 − e), to within 1/N; the terms are more than one slice."""
    assert float(ideal_aurc(4_000_000, 2_000_000)) == pytest.approx(0.5 + 0.5 * math.log(0.5), abs=2e-7)
    assert ideal_aurc(5, 0) == 0
    assert ideal_aurc(5, 5) == 1


def test_more_records_than_64_bits_hold_products_of() -> None:
    """4 · 10⁹ equal records: whole numbers do not overflow, in AUGRC, in crosswise comparison, in coverage."""
    huge = curve(frame([Record(0.9, True, 1, 2_000_000_000), Record(0.8, False, 1, 2_000_000_000)]))
    assert augrc(huge) == Fraction(1, 8)
    tiny = Fraction(1, 2) - Fraction(1, 10**25)
    assert at_most(huge.errors, huge.accepted, tiny).tolist() == [True, False]
    assert coverage_at_risk(huge, Fraction(1, 2)).accepted == 4_000_000_000


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pl.col("confidence") + 0.7, "a number from 0 to 1"),
        (pl.col("confidence") * math.nan, "a number from 0 to 1"),
        (pl.lit(0).alias("confidence"), "column confidence of Float64"),
        (pl.lit(None, pl.Boolean).alias("correct"), "null together"),
        (pl.lit(0, pl.Int64).alias("n"), "at least 1"),
        (pl.lit(None, pl.Int64).alias("n"), "n must not be null"),
        (pl.lit("a").alias("contributor"), "column contributor of UInt64"),
        (pl.lit(None, pl.UInt64).alias("contributor"), "contributor must not be null"),
    ],
)
def test_outcomes_that_are_not_are_told(column: pl.Expr, message: str) -> None:
    """A wrong column is an error of the program, not a number."""
    with pytest.raises(ValueError, match=message):
        curve(HAND.with_columns(column))


def test_nulls_of_different_rows_are_told() -> None:
    """As many nulls in both columns do not hide that they are in different rows."""
    rows = frame([Record(None, True, 1, 1), Record(0.5, None, 1, 1)])
    with pytest.raises(ValueError, match="null together"):
        curve(rows)
