"""Several candidates at once: Holm's adjustment, and what the best of several shows."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.uncertainty.clusters import Sample
from evalkit.uncertainty.estimand import share
from evalkit.uncertainty.interval import Interval
from evalkit.uncertainty.several import at_least_one, best_of, expected_maximum, holm


def test_holm_is_what_statsmodels_says() -> None:
    """Adjusted p-values are those of another tool; see tests/agreement/paired_tests.py."""
    found = holm([0.013, 0.2, 0.04, 0.001, 0.04, 0.9])
    assert found == pytest.approx([0.065, 0.4, 0.16, 0.006, 0.16, 0.9], rel=1e-12)


def test_what_has_no_p_value_is_not_counted() -> None:
    """A candidate without a test neither gets a p-value nor makes those of others larger."""
    assert holm([None, 0.01, None]) == (None, 0.01, None)
    assert holm([]) == ()


@given(st.lists(st.floats(0, 1), max_size=8))
def test_adjusting_never_lowers_and_keeps_the_order(p_values: list[float]) -> None:
    """An adjusted p-value is at least the plain one and at most 1; a smaller one stays no larger."""
    found = holm(p_values)
    pairs = sorted(zip(p_values, found, strict=True))
    assert all(after is not None and before <= after <= 1 for before, after in pairs)
    assert [after for _, after in pairs] == sorted(after for after in found if after is not None)


@pytest.mark.parametrize(
    ("number", "expected"), [(1, 0.0), (2, 0.56419), (3, 0.84628), (5, 1.16296), (10, 1.53875), (20, 1.86748)]
)
def test_the_expected_largest_of_normal_variables(number: int, expected: float) -> None:
    """These are the tabulated expected values of normal order statistics (Harter 1961)."""
    assert expected_maximum(number) == pytest.approx(expected, abs=1e-5)


def test_the_chance_that_one_of_several_passes() -> None:
    """With 8.8 % for one candidate on 500 records it is about 24, 37, 60 and 84 % for 3, 5, 10 and 20."""
    assert [round(at_least_one(0.088, number), 2) for number in (1, 3, 5, 10, 20)] == [0.09, 0.24, 0.37, 0.6, 0.84]
    assert (at_least_one(0.0, 5), at_least_one(1.0, 5)) == (0.0, 1.0)


def chosen(low: float | None, high: float | None, contributors: int = 101) -> Interval:
    """Return an interval of a value of 0.9."""
    rests_on = Sample(contributors, Fraction(contributors), Fraction(1, contributors), 500)
    return Interval(share("macroF1", "right", "n"), Fraction(9, 10), rests_on, low, high)


def test_the_best_of_four_is_expected_to_look_better_than_it_is() -> None:
    """With a standard error of 0.01 the best of four lies 1.0294 · 0.01 above.

    Student's t of 100 degrees of freedom at 97.5 % is 1.98397.
    """
    found = best_of(4, chosen(0.9 - 0.0198397, 0.9 + 0.0198397), 0.95)
    assert found is not None
    assert found.standard_error == pytest.approx(0.01, rel=1e-5)
    assert found.excess == pytest.approx(0.010294, abs=1e-6)
    assert found.text == (
        "the best of 4 equal candidates is expected to show a macroF1 up to 0.0103 above what it is worth; the "
        "recommended one was chosen so"
    )


def test_an_end_that_was_cut_off_does_not_narrow_the_caution() -> None:
    """An interval that ends at 1 says by its other end how wide it is."""
    whole, cut = best_of(4, chosen(0.7, 1.1), 0.95), best_of(4, chosen(0.7, 1.0), 0.95)
    assert whole is not None
    assert cut is not None
    assert cut.standard_error == pytest.approx(whole.standard_error)


def test_no_choice_and_no_interval_need_no_caution() -> None:
    """A single candidate was not chosen; without an interval there is nothing to say."""
    assert best_of(1, chosen(0.8, 1.0), 0.95) is None
    assert best_of(4, chosen(None, None), 0.95) is None
