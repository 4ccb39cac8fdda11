"""The difference of two numbers over the same contributors: interval, p-value, non-inferiority."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from evalkit.exact import Ratio
from evalkit.uncertainty.aligned import paired
from evalkit.uncertainty.asked import Asked
from evalkit.uncertainty.clusters import Entry, clustered
from evalkit.uncertainty.difference import Difference
from evalkit.uncertainty.estimand import UNIT, Estimand, Term, share
from evalkit.uncertainty.interval import Measured, prepare
from evalkit.uncertainty.noninferiority import non_inferior
from evalkit.uncertainty.paired import differ

ASKED = Asked(min_contributors=2, replicates=400)
PRECISION = share("precisionAtCoverage", "right", "n")
ECE = Estimand("ece", (Term({"right": UNIT, "confidence": -1}, {"n": UNIT}),), "absolute")


def side(rows: dict[int, tuple[int, int]], confidence: float = 0.9, *, resampled: bool = False) -> Measured:
    """Tally contributors, each with its right records and all its records."""
    keys = pl.Series(list(rows), dtype=pl.UInt64)
    right, size = (pl.Series([row[place] for row in rows.values()], dtype=pl.Int64) for place in (0, 1))
    columns = (right, size, size * round(confidence * UNIT))
    entries = [Entry(pl.Series([place] * len(rows)), column) for place, column in enumerate(columns)]
    return prepare(clustered(keys, ["right", "n", "confidence"], entries), ASKED, resampled=resampled)


def difference(ours: Measured, theirs: Measured, margin: str | None = None, asked: Asked = ASKED) -> Difference:
    """Measure the difference of the precision."""
    held = None if margin is None else Fraction(margin)
    return differ(paired(ours, theirs), PRECISION, PRECISION, asked, margin=held)


OURS = {1: (2, 2), 2: (2, 2), 3: (1, 2), 4: (2, 2), 5: (2, 2), 6: (0, 2)}
THEIRS = {1: (1, 2), 2: (1, 2), 3: (2, 2), 4: (1, 2), 5: (1, 2), 6: (1, 2)}


def test_equal_contributors_give_the_paired_t_test() -> None:
    """With as many records each it is Student's paired test: SciPy's ttest_rel of the shares gives t = 0.79057.

    The differences of the shares are ½, ½, −½, ½, ½, −½: mean 1/6, standard error √(2/45), and t at 97.5 % with five
    degrees of freedom is 2.570582.
    """
    found = difference(side(OURS), side(THEIRS))
    assert (found.candidate, found.baseline, found.value) == (9 / 12, 7 / 12, 1 / 6)
    assert found.method == "cluster-t"
    assert found.low == pytest.approx(1 / 6 - 2.570582 * (2 / 45) ** 0.5, abs=1e-6)
    assert found.high == pytest.approx(1 / 6 + 2.570582 * (2 / 45) ** 0.5, abs=1e-6)
    assert found.at_least == pytest.approx(1 / 6 - 2.015048 * (2 / 45) ** 0.5, abs=1e-6)
    assert found.p_value == pytest.approx(0.46502263826, abs=1e-9)
    assert (found.contributors, found.both, found.only_baseline, found.only_candidate) == (6, 6, 0, 0)


def test_what_both_share_falls_out() -> None:
    """Where both are better and worse on the same contributors the paired interval is far narrower than each one's."""
    ours = {k: (10 * (k % 2) + (k % 3 > 0), 11) for k in range(1, 41)}
    theirs = {k: (10 * (k % 2), 11) for k in range(1, 41)}
    found = difference(side(ours), side(theirs))
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low < 0.03  # each one alone is known to ± 0.15
    assert found.low > 0


def test_changing_places_changes_the_sign() -> None:
    """Baseline minus candidate is the same interval turned over."""
    one, other = difference(side(OURS), side(THEIRS)), difference(side(THEIRS), side(OURS))
    assert (one.value, one.low, one.high) == (-other.value, -other.high, -other.low)  # type: ignore[operator]
    assert one.p_value == other.p_value


def test_contributors_are_aligned_by_key_and_not_by_place() -> None:
    """One side's contributors may stand in any order, and contributors that it lacks weigh nothing there."""
    ours, theirs = side(dict(reversed(OURS.items()))), side(THEIRS)
    assert difference(ours, theirs) == difference(side(OURS), side(THEIRS))
    more = difference(side({**OURS, 9: (1, 2)}), side({**THEIRS, 7: (1, 2), 8: (2, 2)}))
    assert (more.contributors, more.both, more.only_baseline, more.only_candidate) == (9, 6, 2, 1)
    assert more.value == pytest.approx(10 / 14 - 10 / 16)


def test_disjoint_contributors_add_their_variances() -> None:
    """Nothing in common: the squared error is the sum of the jackknife's of both, but for K of all contributors."""
    far = {key + 100: row for key, row in THEIRS.items()}
    found = difference(side(OURS), side(far))
    # Σ z² is (4 · 0.5² + 0.5² + 1.5²) / 12² for ours and (5 · (1/6)² + (5/6)²) / 12² for theirs; K = 12
    # a contributor has a sixth of its side's records, and so counts for 6 / 5 of what is seen
    squared = 11 / 12 * (6 / 5) ** 2 * (3.5 + 5 / 6) / 144
    assert found.high is not None
    assert found.high - 1 / 6 == pytest.approx(2.570582 * squared**0.5, abs=1e-6)  # t of 5 degrees, those of a side
    assert (found.both, found.contributors) == (0, 12)


def test_few_contributors_have_no_interval() -> None:
    """Under the floor of contributors on either side there is a value and a reason, and nothing is settled."""
    found = difference(side(OURS), side(THEIRS), "0.5", replace(ASKED, min_contributors=7))
    assert (found.low, found.p_value, found.reason) == (None, None, "insufficient-contributors")
    assert found.value == 1 / 6
    assert found.non_inferiority is not None
    assert (found.non_inferiority.outcome, found.non_inferiority.reason) == (
        "insufficient",
        "insufficient-contributors",
    )


def test_what_is_undefined_on_a_side_has_no_difference() -> None:
    """Where one side accepted nothing its precision is undefined, and so is the difference."""
    found = difference(side(OURS), side(dict.fromkeys(THEIRS, (0, 0))))
    assert (found.value, found.low, found.reason) == (None, None, "undefined")


def test_models_that_are_alike_are_bounded_by_how_many_may_differ() -> None:
    """Of 400 equal contributors none differs: at most 1 − 0.05^(1/400) = 0.00746 may, at 95 %, and no p-value is made.

    No variance can be taken from what does not vary, and an interval of no width would be a lie.
    """
    rows = dict.fromkeys(range(400), (9, 10))
    found = difference(side(rows), side(rows), "0.01")
    assert (found.value, found.method, found.p_value) == (0.0, "exact-binomial", None)
    assert found.at_least == pytest.approx(-(1 - 0.05 ** (1 / 400)), rel=1e-9)
    assert found.high == pytest.approx(1 - 0.025 ** (1 / 400), rel=1e-9)
    assert found.non_inferiority is not None
    assert found.non_inferiority.outcome == "passed"
    assert difference(side(rows), side(rows), "0.005").non_inferiority.outcome == "insufficient"  # type: ignore[union-attr]


def test_four_that_differ_do_not_make_a_variance() -> None:
    """Fewer than five contributors that differ give the careful interval, five the usual one."""
    base = dict.fromkeys(range(100), (9, 10))
    changed = [{**base, **dict.fromkeys(range(number), (8, 10))} for number in (4, 5)]
    assert [difference(side(one), side(base)).method for one in changed] == ["exact-binomial", "cluster-t"]


def test_a_number_that_is_not_smooth_is_resampled_with_the_same_draws() -> None:
    """Where both differ by a tenth throughout they do so in every resample, since both are drawn alike."""
    rows = {k: (k % 3, 3) for k in range(60)}
    shifted = paired(side(rows, 0.8, resampled=True), side(rows, 0.9, resampled=True))
    moved = differ(shifted, ECE, ECE, ASKED, direction="lower", margin=Fraction("0.02"))
    assert moved.method == "cluster-bootstrap"
    assert moved.value == pytest.approx(-0.1)  # 0.46667 − 0.56667: confidence is nearer by a tenth in every resample
    assert moved.low == pytest.approx(-0.1)
    assert moved.p_value == 2 / 401  # the upper end is below zero in every resample of 400
    assert moved.non_inferiority is not None
    assert moved.non_inferiority.outcome == "passed"


def test_alike_and_not_a_share_has_no_interval() -> None:
    """Where fewer than five contributors differ, a number that is no share has a reason and no interval."""
    same = side({k: (k % 3, 3) for k in range(60)}, resampled=True)
    found = differ(paired(same, same), ECE, ECE, ASKED, direction="lower")
    assert (found.value, found.low, found.p_value, found.reason) == (0.0, None, None, "too-few-contributors-differ")


def test_the_reported_values_are_those_of_the_report() -> None:
    """Where exact values are given they are the ones shown, whatever the tallies round to."""
    exact = (Ratio(9, 12), Fraction(1, 3))
    found = differ(paired(side(OURS), side(THEIRS)), PRECISION, PRECISION, ASKED, exact=exact)
    assert (found.candidate, found.baseline, found.value) == (0.75, 1 / 3, 5 / 12)


def test_a_macro_mean_may_have_other_labels_on_each_side() -> None:
    """A mean of ratios is aligned ratio by ratio; one that a side lacks is nothing there."""
    halves = Estimand("macroF1", (Term({"right": 2}, {"n": 2}), Term({"n": 1}, {"n": 1})))
    found = differ(paired(side(OURS), side(THEIRS)), halves, PRECISION, ASKED)
    assert found.value == pytest.approx((9 / 12 + 1) / 2 - 7 / 12)
    assert found.method == "cluster-t"


def test_a_part_that_one_contributor_has_alone_leaves_no_interval() -> None:
    """Of a label of one contributor nothing tells how its F1 varies, in a difference as in a number alone."""
    whole = Term({"right": 1}, {"n": 1})
    macro = Estimand("macroF1", (whole, Term({"right": 1, "n": -1}, {"n": 1}, {"lone": 1})))
    keys = pl.Series(list(OURS), dtype=pl.UInt64)
    sides = []
    for rows in (OURS, THEIRS):
        right, size = (pl.Series([row[place] for row in rows.values()], dtype=pl.Int64) for place in (0, 1))
        columns = (right, size, pl.Series([1, 0, 0, 0, 0, 0]))
        entries = [Entry(pl.Series([place] * len(rows)), column) for place, column in enumerate(columns)]
        sides.append(prepare(clustered(keys, ["right", "n", "lone"], entries), ASKED, resampled=False))
    found = differ(paired(sides[0], sides[1]), macro, macro, ASKED)
    assert found.value == pytest.approx(1 / 6)  # of 9/12 and 7/12, and of 3/12 and 5/12 below nothing, the means
    assert (found.low, found.p_value, found.reason) == (None, None, "insufficient-contributors-in-part")


@pytest.mark.parametrize(
    ("ends", "direction", "outcome", "bound"),
    [
        ((-0.02, 0.03), "higher", "insufficient", -0.02),  # on the margin is not above it
        ((-0.0199, 0.03), "higher", "passed", -0.0199),
        ((-0.05, -0.02), "higher", "failed", -0.05),
        ((-0.03, 0.0199), "lower", "passed", 0.0199),
        ((-0.03, 0.02), "lower", "insufficient", 0.02),
        ((0.02, 0.04), "lower", "failed", 0.04),
    ],
)
def test_the_margin_is_held_against_the_careful_bound(
    ends: tuple[float, float], direction: str, outcome: str, bound: float
) -> None:
    """The lower bound of a number to be high must be above −margin, the upper bound of one to be low below it.

    The margin is the double that 0.02 is, as the bounds are doubles.
    """
    found = non_inferior(*ends, Fraction(0.02), direction)  # type: ignore[arg-type]
    assert (found.outcome, found.bound, found.margin) == (outcome, bound, 0.02)


def drawn(rng: np.random.Generator, contributors: int) -> tuple[Measured, Measured]:
    """Draw two models of true precision 0.80 and 0.83 on contributors of 1 to 20 records that are alike."""
    sizes = rng.integers(1, 21, contributors)
    ease = rng.beta(0.8 * 4, 0.2 * 4, contributors)
    better = ease + 0.15 * (1 - ease)  # 0.8 + 0.15 · 0.2
    counts: list[npt.NDArray[np.int64]] = [rng.binomial(sizes, share) for share in (better, ease)]
    ours, theirs = (
        side({k: (int(right), int(size)) for k, (right, size) in enumerate(zip(one, sizes, strict=True))})
        for one in counts
    )
    return ours, theirs


def test_the_interval_of_a_difference_covers_as_often_as_it_says() -> None:
    """In 600 draws of 60 contributors a 95 % interval of a true 0.03 covers it in 93 to 97 of a hundred.

    A candidate that is worse by exactly the margin passes in no more than 5 of a hundred, but for chance.
    """
    rng, times = np.random.default_rng(20), 600
    covered = passed = 0
    for _ in range(times):
        ours, theirs = drawn(rng, 60)
        found = difference(ours, theirs)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 0.03 <= found.high
        held = difference(theirs, ours, "0.03").non_inferiority
        assert held is not None
        passed += held.outcome == "passed"
    assert 0.93 <= covered / times <= 0.97
    assert 0.03 <= passed / times <= 0.07
