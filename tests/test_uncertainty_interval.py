"""Intervals: which method answers, what it says of few errors, of none, and of few contributors."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import polars as pl
import pytest

from evalkit.uncertainty.clusters import Clusters, Entry, clustered
from evalkit.uncertainty.ends import absolute_ends, difference_ends, quantile, t_ends
from evalkit.uncertainty.estimand import Estimand, Term, gradient, ratios, share, value, weighed
from evalkit.uncertainty.interval import Asked, Interval, interval, intervals, prepare, sizes_of
from evalkit.uncertainty.parts import Parts

ASKED = Asked(min_contributors=2, replicates=200)
ACCURACY = share("accuracy", "right", "n")
SCORE = Estimand("score", (Term({"right": 1}, {"n": 1}),))


def tallied(columns: dict[str, list[int]]) -> Clusters:
    """Return tallies: one number a contributor in each column."""
    length = len(next(iter(columns.values())))
    keys = pl.Series(range(length), dtype=pl.UInt64)
    entries = [
        Entry(pl.repeat(code, length, eager=True), pl.Series(line)) for code, line in enumerate(columns.values())
    ]
    return clustered(keys, list(columns), entries)


def measured(estimand: Estimand, asked: Asked = ASKED, /, **columns: list[int]) -> Interval:
    """Measure one number of tallies."""
    return interval(estimand, prepare(tallied(columns), asked, resampled=estimand.kind == "absolute"), asked)


def four(found: Interval) -> list[float | None]:
    """Return the ends, rounded."""
    return [None if end is None else round(end, 4) for end in (found.low, found.high, found.at_least, found.at_most)]


# --- which method


def test_a_mean_is_student_s_by_hand() -> None:
    """Means 1/4, 2/4, 3/4 of three equal contributors: error √(1/48), and t of two degrees is 4.3027 and 2.9200."""
    found = measured(SCORE, right=[1, 2, 3], n=[4, 4, 4])
    assert (found.value, found.method, found.reason) == (Fraction(1, 2), "cluster-t", None)
    assert four(found) == [0.0, 1.0, 0.0785, 0.9215]
    assert t_ends(0.5, (1 / 48) ** 0.5, 2, 0.95)[:2] == pytest.approx((-0.12103, 1.12103), abs=1e-4)


def test_equal_contributors_k_fold_narrow_by_the_root_of_k() -> None:
    """Nine times the contributors, a third of the error: (n - 1) / (9n - 1) of the variance, n being 40."""
    right, n = [3, 4] * 20, [4] * 40
    one, nine = (measured(SCORE, right=right * times, n=n * times) for times in (1, 9))
    assert one.high is not None
    assert nine.high is not None
    t_39, t_359 = 2.022690920036761, 1.9665939377682302
    assert (nine.high - 0.875) / (one.high - 0.875) == pytest.approx((39 / 359) ** 0.5 * t_359 / t_39, rel=1e-6)


def test_a_share_is_exact_and_a_sum_of_absolutes_is_resampled() -> None:
    """The method is told with the interval, and it hangs on the kind of number alone."""
    ece = Estimand("ece", (Term({"gap": 1}, {"n": 10}),), kind="absolute")
    asked = Asked(min_contributors=2, replicates=100)
    tallies = prepare(tallied({"right": [3, 4] * 8, "n": [4] * 16, "gap": [2, -3] * 8}), asked, resampled=True)
    found = intervals([ACCURACY, SCORE, ece], tallies, asked)
    assert [one.method for one in found] == ["exact-binomial", "cluster-t", "cluster-bootstrap"]


def test_a_sum_of_absolutes_without_resamples_is_a_mistake() -> None:
    """Whoever asks for one must have prepared resamples."""
    ece = Estimand("ece", (Term({"gap": 1}, {"n": 10}),), kind="absolute")
    with pytest.raises(ValueError, match="no resamples"):
        interval(ece, prepare(tallied({"n": [1, 1], "gap": [2, 3]}), ASKED, resampled=False), ASKED)


# --- when there is none


def test_under_the_floor_there_is_no_interval() -> None:
    """29 contributors have a value and no interval; 30 have both."""
    for number, reason in ((29, "insufficient-contributors"), (30, None)):
        found = measured(ACCURACY, Asked(), right=[1, 0] * (number // 2) + [1] * (number % 2), n=[1] * number)
        assert found.value is not None
        assert (found.reason, found.low is None) == (reason, reason is not None)


def test_the_floor_counts_who_has_a_part_in_the_number() -> None:
    """A contributor without accepted records is none of precision's."""
    found = measured(
        share("precision", "right", "accepted"), Asked(min_contributors=3), right=[1, 1, 0], accepted=[1, 2, 0]
    )
    assert (found.sample.contributors, found.reason) == (2, "insufficient-contributors")


def test_what_is_undefined_has_no_interval() -> None:
    """Nothing accepted: no precision, no contributors."""
    found = measured(share("precision", "right", "accepted"), right=[0, 0], accepted=[0, 0])
    assert (found.value, found.reason, found.sample.contributors) == (None, "undefined", 0)


def test_a_part_that_one_contributor_tells_has_no_variance() -> None:
    """Two labels; the second is seen by one contributor, and the mean of both is not given an interval."""
    both = Estimand("macroF1", (Term({"a": 1}, {"m": 1}), Term({"b": 1}, {"n": 1})))
    columns = {"a": [1, 2, 3], "m": [4, 4, 4], "b": [1, 0, 0]}
    assert measured(both, ASKED, **columns, n=[2, 0, 0]).reason == "insufficient-contributors-in-part"
    assert measured(both, ASKED, **columns, n=[2, 1, 0]).method == "cluster-t"


def test_no_variation_is_no_certainty() -> None:
    """All contributors alike, and not at an end of the range: nothing was learned of how they differ."""
    found = measured(SCORE, right=[2, 2, 2], n=[4, 4, 4])
    assert (found.value, found.low, found.reason) == (Fraction(1, 2), None, "no-variance")


# --- few errors and none


@pytest.mark.parametrize("estimand", [ACCURACY, SCORE])
def test_without_an_error_each_contributor_is_one_trial(estimand: Estimand) -> None:
    """Twenty contributors of 50 records each, no error: Clopper & Pearson's bound of 20 out of 20, and not of 1,000."""
    found = measured(estimand, right=[50] * 20, n=[50] * 20)
    assert (found.value, found.method) == (Fraction(1), "exact-binomial")
    assert four(found) == [0.8316, 1.0, 0.8609, 1.0]


def test_without_an_error_uneven_contributors_count_for_less() -> None:
    """One of 20 contributors has 31 of 50 records: (50)² / (31² + 19) = 2.551 trials. 0.05 ** (1 / 2.551) = 0.309."""
    found = measured(ACCURACY, right=[31] + [1] * 19, n=[31] + [1] * 19)
    assert found.sample.effective == Fraction(125, 49)
    assert found.sample.largest_share == Fraction(31, 50)
    assert four(found)[2] == round(0.05 ** (49 / 125), 4)


def test_errors_may_be_successes() -> None:
    """No success is bounded as no error is."""
    assert four(measured(ACCURACY, right=[0] * 20, n=[50] * 20)) == [0.0, 0.1684, 0.0, 0.1391]


def test_the_first_error_teaches_little() -> None:
    """40 contributors of 10 records, 0 to 4 of whom err once: the bound rises by steps towards independent records.

    One error allows for 80 trials, of which 0.2 are errors. As 400 independent records it would be 0.9882.
    """
    found = [measured(ACCURACY, right=[9] * wrong + [10] * (40 - wrong), n=[10] * 40).at_least for wrong in range(5)]
    assert found[0] == pytest.approx(0.05 ** (1 / 40))
    assert found[1] == pytest.approx(0.958667133559179, rel=1e-9)
    assert found == sorted(found, key=lambda end: end or 0)
    assert found[4] == pytest.approx(0.9688574, abs=1e-6)


def test_independent_records_count_fully() -> None:
    """One record a contributor, 90 of 100 right: Clopper & Pearson's interval but for n - 1 in the variance."""
    found = measured(ACCURACY, right=[1] * 90 + [0] * 10, n=[1] * 100)
    assert found.low == pytest.approx(0.8238, abs=0.001)
    assert found.high == pytest.approx(0.9510, abs=0.001)


def test_one_contributor_who_outweighs_all_is_no_certainty() -> None:
    """A million records of one, one of each of 39: as many as one and a bit, and the interval is all there is."""
    score = Estimand("score", (Term({"right": 1}, {"n": 2}),))
    found = measured(score, right=[1_000_000, *[1, 0, 1] * 13], n=[1_000_000, *[1] * 39])
    assert (found.low, found.high, found.method) == (0.0, 1.0, "cluster-t")
    found = measured(ACCURACY, right=[900_000, *[1, 0, 1] * 13], n=[1_000_000, *[1] * 39])
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low > 0.9


# --- sums of absolute values


def test_absolute_ends_by_hand() -> None:
    """One part of 3, thirty errors away from zero, so its sign is sure: the quantiles of what was drawn, stretched.

    Drawn are 2.9, 3.0 and 3.1, a third each; their spread is √(2/3) · 0.1. With infinitely many degrees and
    contributors nothing is stretched: the interval is 3 ± 0.1.
    """
    parts = Parts([3.0], [np.array([-0.1, 0.0, 0.1])])
    assert absolute_ends(parts, 10**9, 1e9, 0.95) == pytest.approx((2.9, 3.1, 2.9, 3.1), abs=1e-6)


def test_absolute_ends_hold_zero_where_signs_are_not_sure() -> None:
    """A part of 0.1 with a spread of 0.2: |drawn - 0.1| is at most 0.3, |drawn| at most 0.4."""
    parts = Parts([0.1], [np.array([-0.3, 0.0, 0.3])])
    assert absolute_ends(parts, 10**9, 1e9, 0.95) == pytest.approx((-0.2, 0.4, -0.2, 0.4), abs=1e-6)


def test_a_calibration_error_is_within_its_interval() -> None:
    """Resamples of an error near zero lie above it; the interval holds it all the same, as pivotal ones may not."""
    rng = np.random.default_rng(0)
    gaps = {f"gap{place}": rng.integers(-9, 10, 60).tolist() for place in range(5)}
    ece = Estimand("ece", tuple(Term({name: 1}, {"n": 10}) for name in gaps), kind="absolute")
    found = measured(ece, **gaps, n=[5] * 60)
    at = float(value(ece, tallied({**gaps, "n": [5] * 60}).totals()) or 0)  # type: ignore[arg-type]
    assert found.low == 0.0
    assert found.at_least == 0.0
    assert at < (found.at_most or 0) < (found.high or 0)


def ends_of_difference(at: tuple[float, float], moved: tuple[list[float], list[float]]) -> tuple[list[float], float]:
    """Return the ends of a difference of two numbers of one part, nothing stretched, and the p-value."""
    ours, theirs = (Parts([one], [np.array(some)]) for one, some in zip(at, moved, strict=True))
    ends, p_value = difference_ends(ours, theirs, 10**9, 1e9, 0.95)
    return [round(end, 6) for end in ends], p_value


def test_what_two_errors_share_falls_out_of_their_difference() -> None:
    """3 and 1, both sure, move together: the difference is 2 in every resample, and 1 of 4 is the least share twice."""
    together = [-0.1, 0.0, 0.1]
    assert ends_of_difference((3.0, 1.0), (together, together)) == ([2.0, 2.0, 2.0, 2.0], 0.5)


def test_a_sure_part_moves_the_way_that_it_leans() -> None:
    """-3 and 1 lean apart: where both rise, the one shrinks and the other grows, so the difference is 2 ± 0.2."""
    together = [-0.1, 0.0, 0.1]
    assert ends_of_difference((-3.0, 1.0), (together, together))[0] == [1.8, 2.2, 1.8, 2.2]


def test_errors_that_are_alike_near_zero_have_no_difference() -> None:
    """0.1 and 0.1, neither sure, move together: |g| - |h| is at most |g - h|, which is 0 in every resample."""
    together = [-0.3, 0.0, 0.3]
    assert ends_of_difference((0.1, 0.1), (together, together)) == ([0.0, 0.0, 0.0, 0.0], 1.0)


def test_errors_near_zero_that_move_apart_differ_by_what_they_could() -> None:
    """0.1 and 0.1, neither sure: the largest of |0.1 + m| - 0.1 + |n| is 0.4, and of |0.1 + n| - 0.1 + |m| 0.6."""
    found, p_value = ends_of_difference((0.1, 0.1), ([-0.3, 0.0, 0.3], [0.3, -0.3, 0.0]))
    assert (found, p_value) == ([-0.6, 0.4, -0.6, 0.4], 1.0)


def test_a_quantile_is_one_of_the_numbers() -> None:
    """2.5 % of 1,000 is the twenty-fifth, whatever floats make of 0.025 · 1000."""
    ordered = np.arange(1.0, 1001.0)
    found = [quantile(ordered, part) for part in (0.025, 1 - 0.975, (1 - 0.95) / 2, 0.975, 0.0, 1.0)]
    assert found == [25.0, 25.0, 25.0, 975.0, 1.0, 1000.0]


# --- estimands


def test_ratios_of_resamples() -> None:
    """Two ratios: both count in the first row, one in the second, none in the third."""
    both = Estimand("two", (Term({"a": 1}, {"m": 1}), Term({"b": -2}, {"n": 1}, {"p": 1})))
    sums = np.array([[1, 2, 3, 4, 1], [1, 2, 3, 4, 0], [1, 0, 3, 4, 0]], np.int64)
    columns = ("a", "m", "b", "n", "p")
    np.testing.assert_array_equal(ratios(both, columns, sums), [[0.5, 0.5, np.nan], [-1.5, np.nan, np.nan]])


def test_weights_are_denominators_in_lowest_terms() -> None:
    """Two records of a kind are two, whatever part of one the sums are held in."""
    both = Estimand("two", (Term({"a": 1}, {"n": 10**9}), Term({"b": 1}, {"n": 10**9}), Term({"c": 1}, {"m": 10**9})))
    assert weighed(both) == {"n": 1, "m": 1}
    assert sizes_of(tallied({"n": [1, 2], "m": [0, 5]}), weighed(both)).tolist() == [1, 7]


def test_the_gradient_of_a_mean_of_ratios() -> None:
    """Half of 1/4 and -3/16 by the first ratio; the second does not count."""
    both = Estimand("two", (Term({"a": 1}, {"m": 1}), Term({"b": 1}, {"n": 1})))
    totals = {"a": 3, "m": 4, "b": 0, "n": 0}
    assert gradient(both, totals) == {"a": Fraction(1, 4), "m": Fraction(-3, 16)}
    totals |= {"n": 2}
    assert gradient(both, totals) == {"a": Fraction(1, 8), "m": Fraction(-3, 32), "b": Fraction(1, 4), "n": Fraction(0)}
