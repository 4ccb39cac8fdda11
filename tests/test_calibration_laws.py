"""Calibration: laws that hold for any levels, and a naive oracle over single records."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from fractions import Fraction

import pytest
from calibration_levels import Row, groups, levels, mean, recalibrated, records, some_rows
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.calibration import binned, corp, smooth
from evalkit.calibration.decomposition import corrected, decomposition, log_loss
from evalkit.calibration.panel import panel
from evalkit.exact import fraction
from evalkit.families.selective.metrics import Bin, Counts, ece
from evalkit.report import canonical, document

BINS = st.integers(1, 12)


@given(some_rows(), BINS)
def test_the_error_over_bins_of_equal_width_is_that_of_reports(rows: list[Row], bins: int) -> None:
    """The plug-in error is the ``ece`` of selective prediction, exactly, and that of records one by one."""
    found = records(rows)
    tallies = {
        at: Bin(len(one), sum(y for _, y in one), Decimal(sum(int(c * 10_000) for c, _ in one)).scaleb(-4))
        for at, one in enumerate(groups(found, bins))
    }
    counts = Counts({"1": len(found)}, 0, {("1", "1"): len(found)}, tallies)
    value = binned.plug_in_error(binned.equal_width(levels(rows), bins))
    assert value == fraction(ece(counts))
    gaps = (abs(mean(y - c for c, y in one)) * len(one) for one in groups(found, bins))
    assert value == sum(gaps, Fraction(0)) / len(found)


@given(some_rows(), BINS)
def test_the_debiased_error_is_that_of_records(rows: list[Row], bins: int) -> None:
    """Per bin of two or more the squared gap less acc (1 - acc) / (n - 1), weighted; None where there is none."""
    several = [one for one in groups(records(rows), bins) if len(one) > 1]
    value = binned.debiased_squared_error(binned.equal_width(levels(rows), bins))
    if not several:
        assert value is None
        return
    terms = []
    for one in several:
        share = mean(y for _, y in one)
        gap = share - mean(c for c, _ in one)
        terms += [gap**2 - share * (1 - share) / (len(one) - 1)] * len(one)
    assert value == mean(terms)
    assert Fraction(-1, 4) <= value <= 1


@given(some_rows(), BINS)
def test_the_brier_score_is_the_sum_of_its_parts(rows: list[Row], bins: int) -> None:
    """``reliability - resolution + uncertainty + within_variance - within_covariance`` is the Brier score, exactly."""
    found = records(rows)
    width = binned.equal_width(levels(rows), bins)
    one = decomposition(width)
    assert one is not None
    assert one.brier == mean((c - y) ** 2 for c, y in found)
    within = one.within_variance - one.within_covariance
    assert one.brier == one.reliability - one.resolution + one.uncertainty + within
    inside = groups(found, bins)
    assert one.reliability == mean(mean(y - c for c, y in each) ** 2 for each in inside for _ in each)
    better = corrected(width)
    if better is not None:
        alone = decomposition([each for each in width if each.n > 1])
        assert alone is not None
        assert better.reliability == binned.debiased_squared_error(width)
        for either in (better, alone):
            assert either.brier == either.reliability - either.resolution + either.uncertainty + (
                either.within_variance - either.within_covariance
            )


@given(some_rows())
def test_the_curve_is_isotonic_regression(rows: list[Row]) -> None:
    """Blocks are those of the max-min formula; MCB, DSC and UNC are exact and none is below 0."""
    found = records(rows)
    curve = recalibrated(found)
    blocks = corp.blocks(levels(rows))
    shares = [Fraction(one.correct, one.n) for one in blocks]
    assert shares == sorted(set(curve.values()))
    for c, share in curve.items():
        assert [Fraction(one.correct, one.n) for one in blocks if one.low <= float(c) <= one.high] == [share]
    parts, rate = corp.brier_parts(levels(rows)), mean(y for _, y in found)
    assert parts is not None
    assert parts.score == mean((c - y) ** 2 for c, y in found)
    assert parts.miscalibration == parts.score - mean((curve[c] - y) ** 2 for c, y in found)
    assert parts.uncertainty == rate * (1 - rate)
    assert parts.discrimination == parts.uncertainty - parts.score + parts.miscalibration
    assert min(parts.miscalibration, parts.discrimination) >= 0


@given(some_rows())
def test_log_loss_is_that_of_records_or_none(rows: list[Row]) -> None:
    """Log loss is the mean of -ln of what was said of what happened; None where that is infinite, never floored."""
    said = [c if y else 1 - c for c, y in records(rows)]
    value, parts = log_loss(levels(rows)), corp.log_parts(levels(rows))
    assert parts is not None
    assert parts.discrimination >= 0
    if 0 in said:
        assert (value, parts.score, parts.miscalibration) == (None, None, None)
        return
    assert value is not None
    assert float(value) == pytest.approx(math.fsum(-math.log(one) for one in said) / len(said), abs=1e-12)
    assert parts.miscalibration is not None
    assert parts.miscalibration >= 0
    assert float(parts.miscalibration - parts.discrimination + parts.uncertainty) == pytest.approx(float(value))


@settings(max_examples=40)
@given(some_rows(), BINS, st.integers(2, 5))
def test_every_record_k_times_leaves_ratios(rows: list[Row], bins: int, k: int) -> None:
    """Plug-in errors, the curve, the parts of scores and smooth error are those of the records once."""
    once, often = levels(rows), levels((c, n * k, correct * k) for c, n, correct in rows)
    for make in (binned.equal_width, binned.equal_mass):
        assert binned.plug_in_error(make(once, bins)) == binned.plug_in_error(make(often, bins))
    blocks = [(one.low, one.high, one.n * k, one.correct * k) for one in corp.blocks(once)]
    assert blocks == [(one.low, one.high, one.n, one.correct) for one in corp.blocks(often)]
    assert corp.brier_parts(once) == corp.brier_parts(often)
    assert smooth.smooth_error(once) == pytest.approx(smooth.smooth_error(often), abs=1e-9)


@settings(max_examples=15)
@given(some_rows(), BINS, st.randoms(use_true_random=False))
def test_the_same_levels_in_any_order_give_the_same_bytes(rows: list[Row], bins: int, chance: random.Random) -> None:
    """A panel does not depend on the order of its rows, nor on anything drawn before it."""
    first = canonical(panel(levels(rows), bins, replicates=50))
    panel(levels(rows[:1]), 3, replicates=7)
    chance.shuffle(rows)
    assert canonical(panel(levels(rows), bins, replicates=50)) == first


@settings(max_examples=25)
@given(some_rows(), BINS)
def test_every_number_is_in_its_range_or_none_with_a_reason(rows: list[Row], bins: int) -> None:
    """Errors, p-values and bands are from 0 to 1; what is None has its reason."""
    found = panel(levels(rows), bins, replicates=40)
    nulls = [one for one in (found.null_error, found.corp.brier.null) if one.reason is None]
    tests = (found.spiegelhalter, found.kolmogorov_smirnov, found.kuiper)
    values = [found.equal_width.plug_in, found.equal_mass.plug_in, found.smooth, found.mean_confidence, found.accuracy]
    values += [value for one in nulls for value in (one.observed, one.expected, one.quantile, one.p_value)]
    values += [side for point in found.corp.band for side in (point.low, point.high)]
    values += [one.p_value for one in tests if one.reason is None]
    assert all(value is not None and 0 <= value <= 1 for value in values)
    assert all(point.low <= point.high for point in found.corp.band)
    assert (found.equal_width.debiased is None) == (found.equal_width.reason is not None)
    assert all((one.statistic is None) == (one.reason is not None) for one in tests)
    assert found.records == sum(n for _, n, _ in rows)
    assert document(found)["equalWidth"]["plugIn"] == found.equal_width.plug_in


@given(some_rows(), BINS)
def test_bins_of_equal_mass_hold_whole_levels_in_order(rows: list[Row], bins: int) -> None:
    """There are at most so many bins, each confidence is in one, and all records are in some."""
    found = binned.equal_mass(levels(rows), bins)
    assert len(found) <= bins
    assert sum(one.n for one in found) == sum(n for _, n, _ in rows)
    ends = [end for one in found for end in (one.low, one.high)]
    assert ends == sorted(ends)
    assert len({(one.low, one.high) for one in found}) == len(found)
