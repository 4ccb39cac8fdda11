"""Calibration: literal values, the facts of the null, and what is undefined."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from calibration_levels import of

from evalkit.calibration import binned, chances, class_wise, corp, curve, null, screen, smooth
from evalkit.calibration.levels import arranged
from evalkit.calibration.panel import panel
from evalkit.report import document

EMPTY = of()


@pytest.mark.parametrize(
    ("confidence", "low"), [(0.6, 0.6), (0.29999999999999993, 0.2), (0.3, 0.3), (1.0, 0.9), (0.0, 0.0)]
)
def test_bins_of_equal_width_are_found_in_64_bit_floats(confidence: float, low: float) -> None:
    """A confidence c is in bin min(bins - 1, floor(c * bins))."""
    assert [one.low for one in binned.equal_width(of((confidence, 1, 1)), 10)] == [low]


def test_ties_stay_in_one_bin_of_equal_mass() -> None:
    """A level is in the bin of the middle of its ranks: five ties of eight are one bin, and the bin beside is gone."""
    found = binned.equal_mass(of((0.1, 1, 0), (0.2, 1, 0), (0.5, 5, 3), (0.9, 1, 1)), 4)
    assert [(one.low, one.high, one.n) for one in found] == [(0.1, 0.2, 2), (0.5, 0.5, 5), (0.9, 0.9, 1)]


def test_the_debiased_error_is_negative_where_bins_fit_better_than_chance() -> None:
    """Accuracy 1/2 of two records at 0.5: a gap of 0, less 1/4; it is not cut at 0."""
    assert binned.debiased_squared_error(binned.equal_width(of((0.5, 2, 1)), 10)) == Fraction(-1, 4)


def test_the_debiased_error_of_a_calibrated_model_is_0_in_the_mean() -> None:
    """Over all outcomes of four records at 0.3, weighted by their chances, the mean is 0; the plug-in's is not."""
    c, mean, plain = Fraction(3, 10), Fraction(0), Fraction(0)
    for k in range(5):
        chance = math.comb(4, k) * c**k * (1 - c) ** (4 - k)
        bins = binned.equal_width(of((0.3, 4, k)), 10)
        mean += chance * (binned.debiased_squared_error(bins) or 0)
        plain += chance * (binned.plug_in_error(bins) or 0)
    assert mean == 0
    assert float(plain) == 0.18522


def test_a_bin_of_one_record_is_left_out_of_the_debiased_error() -> None:
    """It is counted, and weighs nothing: the error is that of the other bin alone; None where no other is."""
    bins = binned.equal_width(of((0.1, 1, 1), (0.5, 5, 4)), 10)
    assert binned.debiased_squared_error(bins) == Fraction("0.05")
    assert binned.records_alone(bins) == 1
    assert binned.debiased_squared_error(bins[:1]) is None


def _uniform(records: int, low: float, start: int) -> pl.DataFrame:
    """Spread confidences from ``low`` to 1 by a linear congruential generator."""
    state, found = start, set[float]()
    while len(found) < records:
        state = (6364136223846793005 * state + 1442695040888963407) % 2**64
        found.add(low + (1 - low) * (state >> 11) / 2**53)
    return of(*((c, 1, 0) for c in found))


@pytest.mark.parametrize(
    ("low", "records", "error"),
    [
        *((0.8, 50, 0.045), (0.8, 100, 0.032), (0.8, 200, 0.022), (0.8, 1000, 0.010)),
        *((0.0, 200, 0.071), (0.0, 500, 0.044), (0.0, 1000, 0.031)),
    ],
)
def test_a_calibrated_model_shows_this_error(low: float, records: int, error: float) -> None:
    """The mean error over ten bins that chance alone gives, as a simulation apart from evalkit found it."""
    found = [null.null_error(_uniform(records, low, start), 10, replicates=1) for start in range(10)]
    assert np.mean([one.expected for one in found if one]) == pytest.approx(error, abs=0.001)


def test_the_null_of_two_coins() -> None:
    """Two records at 0.5: the error is 0 or 0.5, each as often as the other, so 0.25 in the mean and p is 1/2 or 1."""
    found = null.null_error(of((0.5, 2, 0)), 10, replicates=4000)
    assert found is not None
    assert (found.observed, found.expected, found.quantile) == (0.5, 0.25, 0.5)
    assert found.p_value == pytest.approx(0.5, abs=0.03)
    even = null.null_error(of((0.5, 2, 1)), 10)
    assert even is not None
    assert even.p_value == 1.0


@pytest.mark.parametrize("records", [1, 2, 9, 60, 700])
def test_the_number_of_right_ones_is_poisson_binomial(records: int) -> None:
    """Its chances are those of one coin after the other."""
    confidence = np.sort(np.random.default_rng(records).random(records))
    whole = np.ones(1)
    for c in confidence:
        whole = np.convolve(whole, [1 - c, c])
    first, chance = chances.right_ones(confidence, np.ones(records, dtype=np.int64))
    assert chance == pytest.approx(whole[first : first + len(chance)], abs=1e-13)
    assert whole[:first].sum() + whole[first + len(chance) :].sum() < 1e-15


def test_the_number_of_right_ones_of_a_billion_records() -> None:
    """Mean and variance are those of a sum of coins, however many."""
    n = np.array([10**9, 10**9])
    first, chance = chances.right_ones(np.array([0.25, 0.75]), n)
    away = first + np.arange(len(chance)) - 10**9
    assert float((chance * away).sum()) == pytest.approx(0, abs=1e-3)
    assert float((chance * away**2).sum()) == pytest.approx(2 * 10**9 * 0.1875, rel=1e-6)


def test_draws_are_a_hash_of_seed_stream_replicate_and_place() -> None:
    """SplitMix64 over each in turn, whatever else is drawn; as whole numbers of Python have it."""

    def mixed(state: int) -> int:
        bits = (state + 0x9E3779B97F4A7C15) % 2**64
        bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EB % 2**64
        return bits ^ (bits >> 31)

    found = chances.uniforms(5, 2, np.arange(40), np.arange(30))
    assert found[7, 11] == ((mixed(mixed(mixed(mixed(5) + 2) + 7) + 11) >> 11) + 0.5) / 2**53
    assert chances.uniforms(5, 2, np.array([7]), np.array([11]))[0, 0] == found[7, 11]
    assert found.mean() == pytest.approx(0.5, abs=0.03)
    assert found.var() == pytest.approx(1 / 12, abs=0.01)


def test_cells_hardly_change_the_nulls(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put into cells, confidences have the same null of the error; of MCB cells find a little less, in all outcomes."""
    levels = _uniform(3000, 0.5, 1)
    exact, whole = null.null_error(levels, 5), curve.null_curve(levels, replicates=200)
    monkeypatch.setattr(null, "CELLS", 100)
    monkeypatch.setattr(curve, "CELLS", 1000)
    near, cells = null.null_error(levels, 5), curve.null_curve(levels, replicates=200)
    assert exact is not None
    assert near is not None
    assert whole is not None
    assert cells is not None
    assert near.expected == pytest.approx(exact.expected, rel=1e-4)
    assert (whole.cells, cells.cells) == (3000, 1000)
    for each in ("observed", "expected", "quantile"):
        assert 0.85 < getattr(cells.brier, each) / getattr(whole.brier, each) <= 1
    assert cells.brier.p_value == pytest.approx(whole.brier.p_value, abs=0.05)


def test_a_curve_of_many_levels_is_that_of_scikit_learn() -> None:
    """300,000 levels, found in stretches: the same blocks, and all shares the same to the last bits."""
    n = 300_000
    confidence = np.arange(n) / n
    right = (np.random.default_rng(1).random(n) < confidence).astype(np.int64)
    from sklearn.isotonic import isotonic_regression

    expected = isotonic_regression(right.astype(float))
    found = corp.blocks(pl.DataFrame({"confidence": confidence, "n": np.ones(n, dtype=np.int64), "correct": right}))
    shares = np.repeat([one.correct / one.n for one in found], [one.n for one in found])
    assert np.abs(shares - expected).max() < 1e-12
    assert len(found) == len(np.unique(expected.round(12)))


def test_a_curve_of_more_records_than_products_fit() -> None:
    """Counts beyond 32 bits are compared exactly: two shares that differ by 1 in 10**19 are two blocks."""
    n = 4 * 10**9
    rising = of((0.2, n, n // 2), (0.4, n - 1, n // 2))
    falling = of((0.2, n - 1, n // 2), (0.4, n, n // 2))
    assert len(corp.blocks(rising)) == 2
    assert len(corp.blocks(falling)) == 1


def test_miscalibration_of_chance_alone() -> None:
    """Four records at 0.5, all right: MCB is 1/4, and as much in one outcome of eight."""
    found = curve.null_curve(of((0.5, 4, 4)), replicates=4000)
    assert found is not None
    assert found.brier.observed == 0.25
    assert found.brier.expected == pytest.approx(1 / 16, abs=0.005)
    assert found.brier.p_value == pytest.approx(1 / 8, abs=0.02)


@pytest.mark.parametrize("width", [0.01, 0.05, 0.2, 1.0])
def test_smooth_error_is_the_integral_of_smoothed_residuals(width: float) -> None:
    """Gaussians at each residual and at its mirror images, added up and integrated on a fine grid."""
    rows = [(0.02, 3, 1), (0.31, 4, 3), (0.35, 2, 0), (0.97, 5, 5)]
    t, total = np.linspace(0, 1, 20_001), np.zeros(20_001)
    for c, n, correct in rows:
        for turn in range(-8, 9):
            for at in (2 * turn + c, 2 * turn - c):
                total += (correct - n * c) * np.exp(-(((t - at) / width) ** 2) / 2) / (width * math.sqrt(2 * math.pi))
    expected = float(np.trapezoid(np.abs(total), t)) / 14
    assert smooth.smoothed_error(of(*rows), width) == pytest.approx(expected, rel=1e-4)


def test_smooth_error_is_the_width_that_gives_itself() -> None:
    """At its own value as the width, the smoothed error is that value; residuals of one sign are their mean."""
    levels = of((0.02, 30, 4), (0.31, 40, 9), (0.35, 20, 12), (0.97, 50, 40))
    own = smooth.smooth_error(levels)
    assert own is not None
    assert smooth.smoothed_error(levels, own) == pytest.approx(own, abs=1e-9)
    assert smooth.smooth_error(of((0.5, 10, 8), (0.75, 4, 4))) == pytest.approx(4 / 14, abs=1e-9)


def test_screens_worked_out_by_hand() -> None:
    """Spiegelhalter (80 - 90)(1 - 1.8) / √(100 · 0.64 · 0.09) = 10/3; walks of 10 / √25 = 2 and of 4 to either side."""
    z = screen.spiegelhalter(of((0.9, 100, 80)))
    assert z is not None
    assert z.statistic == pytest.approx(10 / 3, abs=1e-9)
    assert z.p_value == pytest.approx(0.000858, abs=1e-6)
    both = of((0.5, 64, 40), (0.75, 64, 32))
    far, range_of = screen.kolmogorov_smirnov(both), screen.kuiper(both)
    assert far is not None
    assert range_of is not None
    assert far.statistic == pytest.approx(8 / math.sqrt(28), abs=1e-9)
    assert range_of.statistic == pytest.approx(16 / math.sqrt(28), abs=1e-9)


@pytest.mark.parametrize(
    ("distance", "away", "across"),
    [(1.0, 0.6292, 0.9366), (1.99, 0.0932, 0.1858), (2.0, 0.0910, 0.1815), (3, 0.0054, 0.0108)],
)
def test_p_values_are_those_of_a_brownian_motion(
    monkeypatch: pytest.MonkeyPatch, distance: float, away: float, across: float
) -> None:
    """Greatest distance from 0 and range over [0, 1]; 4000 simulated walks gave the same within their error."""
    monkeypatch.setattr(screen, "_walk", lambda _: np.array([0.0, distance]))
    far, range_of = screen.kolmogorov_smirnov(EMPTY), screen.kuiper(EMPTY)
    assert far is not None
    assert range_of is not None
    assert (round(far.p_value, 4), round(range_of.p_value, 4)) == (away, across)


def test_a_panel_of_nothing_holds_no_number() -> None:
    """Without records everything is None, or a list of nothing, with the reason; only counts of records are 0."""

    def numbers(value: Any) -> list[tuple[str, Any]]:
        if isinstance(value, dict):
            return [(key, one) for key, one in value.items() if isinstance(one, int | float)] + [
                found for one in value.values() for found in numbers(one)
            ]
        return []

    found = document(panel(EMPTY, 10))
    asked = {"level": 0.95, "replicates": 1000}
    assert {key: value for key, value in numbers(found) if value} == asked
    assert {key for key, value in numbers(found) if value == 0} == {"records", "levels", "seed", "binsOfOne", "cells"}
    assert found["reason"] == found["nullError"]["reason"] == found["corp"]["logLoss"]["reason"] == "no-records"
    assert found["equalMass"] == {"plugIn": None, "debiased": None, "binsOfOne": 0, "reason": "no-records", "bins": []}


def test_what_only_some_records_leave_undefined_says_why() -> None:
    """A wrong record of confidence 1 makes log loss infinite; with 0 and 1 alone no test is left; one record a bin."""
    found = panel(of((1.0, 1, 0)), 10)
    assert (found.corp.log_loss.score, found.corp.log_loss.reason) == (None, "infinite-log-loss")
    assert found.corp.log_loss.null.reason == "infinite-log-loss"
    assert found.kuiper.reason == found.spiegelhalter.reason == "nothing-left-to-chance"
    assert found.equal_width.reason == found.corrected.reason == "bins-of-one-record"
    assert found.null_error.expected == 0.0


def test_class_wise_error_is_the_plain_mean_over_classes() -> None:
    """(1/4 + 1/20) / 2; and no mean where a class has no records, or there are none."""
    cat, dog = of((0.75, 4, 2)), of((0.25, 20, 4))
    found = class_wise.class_wise({"cat": cat, "dog": dog}, 10)
    assert (found.plug_in, [one.plug_in for one in found.classes]) == (0.15, [0.25, 0.05])
    assert [one.records for one in found.classes] == [4, 20]
    lacking = class_wise.class_wise({"cat": cat, "cow": EMPTY}, 10)
    assert (lacking.plug_in, lacking.debiased, lacking.reason) == (None, None, "a-class-is-unmeasured")
    assert lacking.classes[1].reason == "no-records"
    assert class_wise.class_wise({}, 10).reason == "no-classes"


@pytest.mark.parametrize(
    "row",
    [(1.5, 1, 1), (-0.1, 1, 1), (math.nan, 1, 1), (0.5, 0, 0), (0.5, 1, 2), (0.5, 1, -1), (0.9, 1, 1), (None, 1, 1)],
)
def test_a_table_that_is_none_of_levels_is_not_measured(row: Any) -> None:
    """Out of range, not a number, twice the same confidence, none of n, more right than n: a ValueError."""
    with pytest.raises(ValueError, match="levels: each confidence once"):
        arranged(of((0.9, 2, 1), row))


def test_counts_are_whole_numbers() -> None:
    """Floats for counts would be cut to whole numbers unseen."""
    with pytest.raises(ValueError, match="whole numbers"):
        arranged(pl.DataFrame({"confidence": [0.5], "n": [1.5], "correct": [1]}))
