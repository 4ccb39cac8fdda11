"""Every metric: literal values worked out by hand, and the laws that hold for all of them."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.exact import Exact, Ratio, fraction, mean, rounded
from evalkit.families.selective import metrics
from evalkit.families.selective.metrics import BIN_METRICS, LABEL_METRICS, SPLIT_METRICS, Bin, Counts
from evalkit.gates import Gate, judge
from evalkit.metric import Metric

LABELS = ["1", "2", "3"]
ALL = (*SPLIT_METRICS, *LABEL_METRICS, *BIN_METRICS)


@st.composite
def counts(draw: st.DrawFn) -> Counts:
    """Draw the counts of some records that could really have been counted."""
    cell = st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS))
    cells = draw(st.dictionaries(cell, st.integers(1, 9)))
    bins: dict[int, Bin] = {}
    for (truth, predicted), count in cells.items():
        for _ in range(count):
            units = draw(st.integers(0, 10**15))
            index = min(9, units // 10**14)
            old = bins.get(index, Bin(0, 0, Decimal(0)))
            right = old.correct + (truth == predicted)
            bins[index] = Bin(old.count + 1, right, old.confidence + Decimal(units).scaleb(-15))
    low, none = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    totals = {label: sum(n for (truth, _), n in cells.items() if truth == label) for label in LABELS}
    totals["1"] += low + none
    return Counts({label: n for label, n in totals.items() if n}, none, cells, bins)


def arguments(metric: Metric, found: Counts) -> list[tuple[object, ...]]:
    """Return all that a metric can be asked of some counts."""
    if metric in LABEL_METRICS:
        return [(found, label) for label in found.labels()]
    return [(one,) for one in found.bins.values()] if metric in BIN_METRICS else [(found,)]


def repeated(found: Counts, times: int) -> Counts:
    """Return the counts of the same records, each several times."""
    return Counts(
        {label: n * times for label, n in found.truth.items()},
        found.no_suggestion * times,
        {cell: n * times for cell, n in found.cells.items()},
        {index: Bin(b.count * times, b.correct * times, b.confidence * times) for index, b in found.bins.items()},
    )


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
@given(found=counts())
def test_within_its_declared_range(metric: Metric, found: Counts) -> None:
    """A value is within the range that the metric declares, or it is None."""
    for given_counts in arguments(metric, found):
        value = fraction(metric(*given_counts))
        assert value is None or (metric.low <= value and (metric.high is None or value <= metric.high))


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
@given(found=counts(), times=st.integers(2, 1000))
def test_repeating_all_records_changes_nothing(metric: Metric, found: Counts, times: int) -> None:
    """Every record k times over leaves every ratio as it is, exactly."""
    for once, more in zip(arguments(metric, found), arguments(metric, repeated(found, times)), strict=True):
        assert fraction(metric(*once)) == fraction(metric(*more))


@pytest.mark.parametrize("metric", SPLIT_METRICS, ids=lambda metric: metric.name)
def test_of_nothing_nothing_is_measured(metric: Metric) -> None:
    """Without records every metric is None, never 0."""
    assert fraction(metric(Counts({}, 0, {}, {}))) is None


@pytest.mark.parametrize("metric", ALL, ids=lambda metric: metric.name)
def test_declared_and_documented(metric: Metric) -> None:
    """A metric says its direction, why it may be undefined, and its definition with an example."""
    assert metric.direction in ("higher", "lower", "none")
    assert metric.undefined
    assert ">>>" in metric.definition


def test_literal_values() -> None:
    """Worked out by hand: truth 4 (9 right, 1 as 5), truth 5 (3 right), one record low, one without suggestion."""
    found = Counts(
        {"4": 11, "5": 3, "6": 1},
        1,
        {("4", "4"): 9, ("4", "5"): 1, ("5", "5"): 3},
        {9: Bin(10, 9, Decimal("9.5")), 7: Bin(3, 3, Decimal("2.1"))},
    )
    assert (found.total, found.accepted, found.low_confidence, found.correct) == (15, 13, 1, 12)
    assert metrics.coverage(found) == Ratio(13, 15)
    assert metrics.precision_at_coverage(found) == Ratio(12, 13)
    assert metrics.precision(found, "5") == Ratio(3, 4)
    assert metrics.recall(found, "4") == Ratio(9, 10)
    assert [fraction(metrics.f1(found, label)) for label in ("4", "5")] == [Fraction(18, 19), Fraction(6, 7)]
    assert metrics.macro_f1(found) == Fraction(120, 133)  # (18/19 + 6/7) / 2
    assert metrics.ece(found) == Fraction(14, 130)  # (|9 - 9.5| + |3 - 2.1|) / 13
    assert found.excluded() == {"6"}


def test_a_label_only_predicted_is_a_row_and_not_averaged() -> None:
    """macroF1 averages labels with accepted truth; scikit-learn would count label 5 as 0 and say 1/3."""
    found = Counts({"4": 2}, 0, {("4", "4"): 1, ("4", "5"): 1}, {})
    assert metrics.macro_f1(found) == Fraction(2, 3)
    assert found.labels() == {"4", "5"}
    assert fraction(metrics.recall(found, "5")) is None


ON_THE_LINE: list[tuple[str, str, Exact]] = [
    ("higher", "0.80", mean([Fraction(3, 5), Fraction(4, 5), Fraction(1)])),
    ("higher", "0.80", Ratio(28, 35)),
    ("higher", "0.90", Ratio(99, 110)),
    ("lower", "0.05", Fraction(20) - Fraction("19.95")),
]


@pytest.mark.parametrize(("direction", "limit", "value"), ON_THE_LINE)
def test_on_the_line_passes_and_just_over_does_not(direction: str, limit: str, value: Exact) -> None:
    """Limits are inclusive, compared as fractions: the line itself passes, the least step over it fails."""
    gate = Gate("any", "higher" if direction == "higher" else "lower", Fraction(limit))
    exact = fraction(value)
    assert exact is not None
    assert judge(gate, value).passed
    step = Fraction(-1 if direction == "higher" else 1, 10**30)
    over = judge(gate, exact + step)
    assert not over.passed
    assert over.value == float(limit)  # the float alone could not tell


def test_one_rounding() -> None:
    """A value is rounded once, to the nearest float, from the exact fraction."""
    checks: list[tuple[Exact, float]] = [
        (mean([Fraction(3, 5), Fraction(4, 5), Fraction(1)]), 0.8),
        (Ratio(1, 3), 0.3333333333333333),
        (Fraction(10**40 + 1, 10**40), 1.0),
    ]
    for value, expected in checks:
        assert rounded(value) == expected


def test_no_metric_is_called_with_a_frame() -> None:
    """Metrics are plain functions of counts: the module that holds them does not know the dataframe library."""
    functions: list[Callable[..., object]] = [metric.function for metric in ALL]
    assert not any("polars" in function.__globals__ or "pl" in function.__globals__ for function in functions)
