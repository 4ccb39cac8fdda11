"""Intervals of risk and coverage: against leaving out and drawing anew by hand, and whether they hold the truth."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction

import numpy as np
import polars as pl
import pytest
import risk_coverage_oracle as oracle
from hypothesis import given, settings
from hypothesis import strategies as st
from risk_coverage_oracle import Record, frame, records

from evalkit.report import canonical, document
from evalkit.risk_coverage import bootstrap as bootstrap_module
from evalkit.risk_coverage.areas import areas
from evalkit.risk_coverage.bootstrap import bootstrap, weights
from evalkit.risk_coverage.curve import curve
from evalkit.risk_coverage.grid import grid
from evalkit.risk_coverage.jackknife import grid_augrc, grid_aurc, grid_e_aurc, jackknife
from evalkit.risk_coverage.optimism import optimism
from evalkit.risk_coverage.shown import RiskCoverage
from evalkit.risk_coverage.suite import suite
from evalkit.splitmix import splitmix64

LEVEL = Fraction(95, 100)
T4 = 2.7764451051977987
"""The 97.5 % point of t with 4 degrees of freedom, from tables."""


def drawn(numbers: np.random.Generator, contributors: int, each: int) -> pl.DataFrame:
    """Draw records of contributors that differ; precision is 0.6 + 0.4 · confidence on average."""
    who = np.repeat(np.arange(contributors, dtype=np.uint64), each)
    confidence = numbers.random(who.size)
    chance = 0.6 + 0.4 * confidence
    right = numbers.random(who.size) < chance + 0.3 * chance * (1 - chance) * numbers.choice([-1, 1], contributors)[who]
    columns = {"confidence": confidence, "correct": right, "n": np.ones(who.size, np.int64), "contributor": who}
    return pl.DataFrame(columns)


def five(numbers: random.Random) -> list[Record]:
    """Make records of five contributors with ties, each with right and wrong ones."""
    offered = [Record(round(numbers.random(), 1), numbers.random() < 0.7, k % 5, 1 + k % 2) for k in range(60)]
    return [*offered, Record(None, None, 3, 4)]


# --- the grid


@given(records())
def test_the_grid_loses_nothing(rows: list[Record]) -> None:
    """With few confidences every one is a cell: the sums over groups are the points of the curve."""
    line = curve(frame(rows))
    found = grid(frame(rows), line)
    assert np.cumsum(found.own.sum(axis=0)).tolist() == line.accepted.tolist()
    assert np.cumsum(found.wrong.sum(axis=0)).tolist() == line.errors.tolist()
    assert int(found.totals.sum()) == line.total
    assert found.contributors == len({one.contributor for one in rows if one.confidence is not None})
    assert found.own.shape[0] == len({one.contributor for one in rows})


@pytest.mark.parametrize("dealt", [10_000, 3])
def test_a_contributor_is_in_one_group_and_groups_are_alike(monkeypatch: pytest.MonkeyPatch, dealt: int) -> None:
    """730 contributors of 2 records in 100 groups: 7 or 8 each where they are dealt, in any case never parted."""
    monkeypatch.setattr("evalkit.risk_coverage.grid._DEALT", dealt)
    outcomes = drawn(np.random.default_rng(2), 730, 2)
    found = grid(outcomes, curve(outcomes), cells=16)
    assert found.own.shape == (100, 16)
    assert set((found.totals % 2).tolist()) == {0}
    assert (set(found.totals.tolist()) == {14, 16}) == (dealt == 10_000)
    assert int(found.own.sum()) == 1460
    assert found.own.sum(axis=0).min() >= 90


def test_a_coarse_grid_is_close() -> None:
    """64 cells of equal numbers of records move the area of 20 000 confidences by less than one cell."""
    outcomes = drawn(np.random.default_rng(3), 2000, 10)
    line = curve(outcomes)
    found, coarse = areas(line), grid(outcomes, line, cells=64)
    assert found is not None
    own, wrong = coarse.own.sum(axis=0), coarse.wrong.sum(axis=0)
    assert grid_aurc(own, wrong) == pytest.approx(float(found.aurc), abs=1 / 64)
    assert grid_augrc(own, wrong) == pytest.approx(float(found.augrc), abs=1e-4)
    assert grid_e_aurc(own, wrong) == pytest.approx(float(found.e_aurc), abs=1 / 64)


# --- the jackknife


@pytest.mark.parametrize("seed", range(5))
def test_the_jackknife_is_leaving_out_one_contributor_after_the_other(seed: int) -> None:
    """With five contributors: the area ± t of 4 degrees · √(4/5 · Σ (θ₍g₎ − mean)²), areas by the oracle."""
    rows = five(random.Random(seed))
    line = curve(frame(rows))
    found, counts = areas(line), grid(frame(rows), line)
    assert found is not None
    without = [[one for one in rows if one.contributor != k] for k in range(5)]
    cases = (
        (found.aurc, grid_aurc, oracle.aurc, 1.0),
        (found.augrc, grid_augrc, oracle.augrc, 0.5),
        (found.e_aurc, grid_e_aurc, lambda rows: oracle.aurc(rows) - oracle.ideal_aurc(rows), 1.0),
    )
    for value, statistic, by_hand, high in cases:
        each = [float(by_hand(some)) for some in without]
        error = math.sqrt(4 / 5 * sum((one - sum(each) / 5) ** 2 for one in each))
        made = jackknife(counts, value, statistic, high, LEVEL)
        assert made.standard_error == pytest.approx(error, rel=1e-9)
        assert made.low == pytest.approx(max(0.0, float(value) - T4 * error), abs=1e-12)
        assert made.high == pytest.approx(min(high, float(value) + T4 * error), abs=1e-12)
        assert (made.groups, made.method) == (5, "delete-a-group-jackknife")


# --- the bootstrap


def _splitmix(value: int) -> int:
    mask = 2**64 - 1
    mixed = (value + 0x9E3779B97F4A7C15) & mask
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & mask
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & mask
    return mixed ^ (mixed >> 31)


def test_the_hash_is_splitmix64() -> None:
    """The first numbers of its stream from seed 0, as published, by steps of the golden ratio; then Python's."""
    steps = np.array([0, 0x9E3779B97F4A7C15], np.uint64)
    assert splitmix64(steps).tolist() == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]
    some = np.array([1, 2**63, 2**64 - 1], np.uint64)
    assert splitmix64(some).tolist() == [_splitmix(int(one)) for one in some]


def test_weights_are_poisson_and_their_own() -> None:
    """Shares of 0, 1, 2, 3 are e⁻¹ / k!; a replicate's weights are the same in whatever range it is drawn."""
    found = weights(500, range(400), seed=9)
    for k, factorial in enumerate((1, 1, 2, 6)):
        assert float((found == k).mean()) == pytest.approx(math.exp(-1) / factorial, abs=0.004)
    assert np.array_equal(weights(500, range(100, 130), seed=9), found[100:130])
    assert not np.array_equal(weights(500, range(400), seed=10), found)


@settings(deadline=None, max_examples=20)
@given(records(), st.sampled_from([Fraction(0), Fraction(1, 5), Fraction(1, 2)]))
def test_a_replicate_counts_contributors_as_often_as_its_weights_say(rows: list[Record], risk: Fraction) -> None:
    """The least and the largest of 10 replicates, by repeating records and counting anew."""
    line = curve(frame(rows))
    if not line.offered:
        return
    names = sorted({one.contributor for one in rows}, key=_splitmix)
    reached = []
    for row in weights(len(names), range(10), seed=4).tolist():
        again = [one._replace(n=one.n * row[names.index(one.contributor)]) for one in rows]
        again = [one for one in again if one.n]
        within = [a for _, a, e in oracle.curve(again) if Fraction(e, a) <= risk]
        reached.append(max(within, default=0) / max(1, sum(one.n for one in again)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap_module, "REPLICATES", 10)
        (made,) = bootstrap(grid(frame(rows), line), [risk], Fraction(999, 1000), 4)
    assert (made.low, made.high) == (min(reached), max(reached))


# --- the suite


def test_the_suite_says_all() -> None:
    """Every number of a small case by hand, as the report spells it; too few contributors have no interval."""
    rows = [Record(0.9, True, 1, 1), Record(0.8, False, 1, 1), Record(0.8, True, 2, 2), Record(None, None, 3, 1)]
    found = json.loads(canonical(suite(frame(rows), risks=[Fraction(1, 10), Fraction(1, 4)], coverages=[Fraction(1)])))
    nothing = dict.fromkeys(("low", "high", "standardError", "groups"))
    none = {**nothing, "reason": "insufficient-contributors"}
    jackknifed = {**none, "method": "delete-a-group-jackknife"}
    drawn_again = {**none, "method": "poisson-bootstrap-of-groups"}
    at = {"risk": 0.0, "cut": 0.9, "accepted": 1, "errors": 0, "reason": None, "interval": drawn_again}
    wide = {"risk": 0.25, "cut": 0.8, "accepted": 4, "errors": 1, "reason": None, "interval": drawn_again}
    missing = dict.fromkeys(("coverage", "risk", "cut", "accepted", "errors"))
    whole = {"total": 5, "offered": 4, "errors": 1, "reachedCoverage": 0.8, "risk": 0.25, "points": 2}
    whole |= {"contributors": 2, "level": 0.95, "seed": 0}
    assert found == {
        **whole,
        "aurc": {"value": 0.1875, "reason": None, "interval": jackknifed},
        "eAurc": {"value": 0.125, "reason": None, "interval": jackknifed},
        "augrc": {"value": 0.09375, "reason": None, "interval": jackknifed},
        "coverageAtRisk": [{"limit": 0.1, "coverage": 0.2, **at}, {"limit": 0.25, "coverage": 0.8, **wide}],
        "riskAtCoverage": [{"floor": 1.0, **missing, "reason": "coverage-not-reached"}],
    }


def test_nothing_offered_has_no_numbers() -> None:
    """Areas are null with a reason, and so are their intervals; coverage reached is 0."""
    found = suite(frame([Record(None, None, k, 1) for k in range(40)]), risks=[Fraction(1, 10)])
    for one in (found.aurc, found.e_aurc, found.augrc):
        assert (one.value, one.reason, one.interval.reason) == (None, "nothing-offered", "nothing-offered")
    assert (found.reached_coverage, found.risk, found.points) == (0.0, None, 0)
    assert found.coverage_at_risk[0].reason == "nothing-offered"
    assert suite(frame([])).reached_coverage is None


@pytest.mark.parametrize("right", [True, False])
def test_without_variation_there_is_no_interval(right: bool) -> None:
    """40 contributors, all right or all wrong: an interval of no width would be a lie."""
    found = suite(frame([Record(k / 40, right, k, 1) for k in range(40)]))
    assert found.aurc.value == (0.0 if right else 1.0)
    assert found.e_aurc.value == 0.0
    assert found.aurc.interval.reason == found.coverage_at_risk[0].interval.reason == "no-variation"


def test_the_floor_of_contributors_is_the_callers() -> None:
    """29 contributors are too few by default, and enough where 20 are asked for; never is one."""
    outcomes = drawn(np.random.default_rng(1), 29, 10)
    assert suite(outcomes).aurc.interval.reason == "insufficient-contributors"
    assert suite(outcomes, minimum=20).aurc.interval.groups == 29
    one = outcomes.with_columns(pl.lit(1, pl.UInt64).alias("contributor"))
    assert suite(one, minimum=0).aurc.interval.reason == "insufficient-contributors"


@pytest.mark.parametrize("contributors", [40, 400])
def test_neither_order_nor_splitting_of_rows_shows(contributors: int) -> None:
    """The report has the same bytes for shuffled rows and for n equal records as n rows; another seed has others."""
    outcomes = drawn(np.random.default_rng(7), contributors, 10).with_columns(pl.col("confidence").round(2), n=2)
    outcomes = outcomes.cast({"n": pl.Int64})
    single = pl.concat([outcomes.with_columns(n=pl.lit(1, pl.Int64))] * 2).sample(fraction=1, shuffle=True, seed=3)
    assert canonical(suite(outcomes)) == canonical(suite(single))
    assert suite(outcomes, seed=1).coverage_at_risk != suite(outcomes).coverage_at_risk


def test_more_limits_do_not_move_the_others() -> None:
    """The interval of one limit is the same whatever else is asked for."""
    outcomes = drawn(np.random.default_rng(8), 60, 10)
    alone = suite(outcomes, risks=[Fraction(1, 5)]).coverage_at_risk[0]
    assert suite(outcomes, risks=[Fraction(1, 10), Fraction(1, 5)]).coverage_at_risk[1] == alone


def test_the_intervals_hold_the_truth() -> None:
    """Of 100 draws of 40 contributors at least 88 % of the intervals hold the mean area of all draws."""
    numbers = np.random.default_rng(11)
    every = [suite(drawn(numbers, 40, 4), risks=[]) for _ in range(100)]
    for name in ("aurc", "augrc"):
        estimates = [getattr(one, name) for one in every]
        truth = sum(one.value for one in estimates) / len(estimates)
        held = sum(one.interval.low <= truth <= one.interval.high for one in estimates)
        assert 88 <= held < 100, name


# --- validation and test


def _measured(rows: list[Record]) -> tuple[pl.DataFrame, RiskCoverage]:
    return frame(rows), suite(frame(rows), minimum=2)


def test_optimism_is_validation_minus_test() -> None:
    """At 0.5: 3 of 4 against 2 of 4 right; the errors of both splits, each 2 contributors of 2, add as squares."""
    left = [Record(0.9, True, 1, 2), Record(0.8, True, 2, 1), Record(0.5, False, 2, 1), Record(0.1, False, 3, 1)]
    right = [Record(0.9, True, 7, 2), Record(0.6, False, 8, 2), Record(0.4, True, 9, 1)]
    (a, one), (b, other) = _measured(left), _measured(right)
    found = optimism(0.5, (a, b), (one, other))
    gap = found.precision
    assert (gap.validation, gap.test, gap.difference, gap.reason) == (0.75, 0.5, 0.25, None)
    # validation: residuals −1/2 and 1/2, √(2 · 1/2) / 4 = 1/4; test: −1 and 1, √(2 · 2) / 4 = 1/2
    assert gap.standard_error == pytest.approx(math.sqrt(1 / 16 + 1 / 4), rel=1e-12)
    assert found.augrc.validation == one.augrc.value
    assert found.augrc.difference == pytest.approx(0.08 - 0.16, abs=1e-12)
    assert found.aurc.standard_error == pytest.approx(
        math.hypot(one.aurc.interval.standard_error or 0, other.aurc.interval.standard_error or 0)
    )
    assert json.dumps(document(found))


def test_optimism_without_a_side_has_a_reason() -> None:
    """Where test accepts nothing at the cut there is no difference; where it has no errors there is no error bar."""
    left = [Record(0.9, True, 1, 2), Record(0.8, False, 2, 1)]
    (a, one), (b, other) = _measured(left), _measured([Record(0.5, True, 7, 2), Record(0.4, False, 8, 2)])
    found = optimism(0.7, (a, b), (one, other)).precision
    assert (found.validation, found.test, found.difference, found.reason) == (2 / 3, None, None, "nothing-offered")
    sure = optimism(0.45, (a, b), (one, other)).precision
    assert sure.difference == pytest.approx(-1 / 3)
    assert sure.standard_error is None
