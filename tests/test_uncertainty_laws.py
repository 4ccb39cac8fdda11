"""Laws of contributor tallies and their resamples: bytes that nothing but the records and the seed can change."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalkit.uncertainty import clusters, replicates, weights
from evalkit.uncertainty.clusters import Clusters, Entry, clustered, sample, squared
from evalkit.uncertainty.estimand import Estimand, Term, share
from evalkit.uncertainty.interval import Asked, Interval, intervals, prepare, sizes_of
from evalkit.uncertainty.replicates import replicate_sums
from evalkit.uncertainty.weights import MAX_WEIGHT, poisson_weights

LAW = settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])

COLUMNS = ("n", "right", "gap0", "gap1")
ASKED = Asked(replicates=100, min_contributors=2)
ESTIMANDS = [
    share("accuracy", "right", "n"),
    Estimand("two", (Term({"right": 1}, {"n": 1}), Term({"gap0": 1}, {"n": 10})), high=None),
    Estimand("ece", (Term({"gap0": 1}, {"n": 10}), Term({"gap1": 1}, {"n": 10})), kind="absolute"),
]

ROWS = st.lists(st.tuples(st.integers(0, 9), st.booleans(), st.integers(-9, 9), st.booleans()), min_size=1, max_size=60)


def counted(rows: list[tuple[int, bool, int, bool]]) -> Clusters:
    """Count rows of a contributor, right or not, a gap and the bin that it is in."""
    keys = pl.Series([who * 0x1234_5678_9ABC_DEF1 % 2**64 for who, *_ in rows], dtype=pl.UInt64)
    codes = pl.Series([2 + place for *_, place in rows], dtype=pl.Int64)
    one = pl.Series([1] * len(rows))
    entries = [
        Entry(pl.Series([0] * len(rows)), one),
        Entry(pl.Series([1 if right else None for _, right, *_ in rows], dtype=pl.Int8), one),
        Entry(codes, pl.Series([gap for _, _, gap, _ in rows])),
    ]
    return clustered(keys, COLUMNS, entries)


def told(found: Clusters) -> tuple[Any, ...]:
    """Return all that is made of tallies, as bytes and as text."""
    measured = prepare(found, ASKED, resampled=True)
    assert measured.sums is not None
    matrix = [row for _, block in found.blocks() for row in block.tolist()]
    shown: list[Interval] = intervals(ESTIMANDS, measured, ASKED)
    return found.keys.tobytes(), matrix, measured.sums.tobytes(), repr(shown)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hold only eight cells, three rows and two hundred weights at a time: two contributors."""
    monkeypatch.setattr(clusters, "BLOCK_CELLS", 8)
    monkeypatch.setattr(clusters, "_ROWS", 3)
    monkeypatch.setattr(replicates, "_WEIGHTS", 200)


@LAW
@given(rows=ROWS, order=st.randoms(use_true_random=False))
def test_the_order_of_rows_is_not_seen(rows: list[tuple[int, bool, int, bool]], order: Any) -> None:
    """Tallies, resamples and intervals are the same bytes whatever order the rows come in."""
    shuffled = list(rows)
    order.shuffle(shuffled)
    assert told(counted(shuffled)) == told(counted(rows))


@LAW
@given(rows=ROWS)
def test_the_size_of_blocks_is_not_seen(rows: list[tuple[int, bool, int, bool]]) -> None:
    """What is held at a time changes no byte."""
    whole = told(counted(rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(clusters, "BLOCK_CELLS", 8)
        patch.setattr(clusters, "_ROWS", 3)
        patch.setattr(replicates, "_WEIGHTS", 200)
        assert told(counted(rows)) == whole


@LAW
@given(rows=ROWS)
def test_how_a_contributor_s_records_are_split_is_not_seen(rows: list[tuple[int, bool, int, bool]]) -> None:
    """Tallies that come in already added up, one row a contributor, give the bytes that single rows give."""
    whole = counted(rows)
    parts = [(keys, block) for keys, block in whole.blocks()]
    keys = pl.Series(np.concatenate([key for key, _ in parts]))
    added = np.concatenate([block for _, block in parts])
    entries = [Entry(pl.repeat(code, len(keys), eager=True), pl.Series(added[:, code])) for code in range(len(COLUMNS))]
    assert told(clustered(keys, COLUMNS, entries)) == told(whole)


def test_the_seed_moves_resamples_alone() -> None:
    """Another seed gives other sums and another interval of a calibration error; what is not resampled stays."""
    rows = [(who, who % 3 > 0, who % 7 - 3, who % 2 > 0) for who in range(10) for _ in range(3)]
    found = []
    for seed in (0, 1, 0):
        asked = Asked(replicates=100, min_contributors=2, seed=seed)
        found.append(intervals(ESTIMANDS, prepare(counted(rows), asked, resampled=True), asked))
    assert found[0] == found[2]
    assert [one == two for one, two in zip(found[0], found[1], strict=True)] == [True, True, False]


@LAW
@given(rows=ROWS)
def test_tallies_are_those_of_a_loop(rows: list[tuple[int, bool, int, bool]]) -> None:
    """The matrix holds what a plain loop over the rows adds up."""
    expected: dict[int, list[int]] = {}
    for who, right, gap, place in rows:
        line = expected.setdefault(who * 0x1234_5678_9ABC_DEF1 % 2**64, [0, 0, 0, 0])
        line[0] += 1
        line[1] += right
        line[2 + place] += gap
    found = counted(rows)
    lines = {int(key): line for keys, block in found.blocks() for key, line in zip(keys, block.tolist(), strict=True)}
    assert lines == expected
    assert list(found.totals().values()) == [sum(column) for column in zip(*expected.values(), strict=True)]


@pytest.mark.usefixtures("small_blocks")
def test_ranges_of_contributors_are_counted_apart() -> None:
    """Five contributors, two at a time, in three blocks; the third has none in the first column."""
    rows = [(4, True, 1, False), (0, False, 2, True), (2, True, -3, False), (1, True, 4, True), (3, True, 5, False)]
    found = counted(rows)
    assert [len(keys) for keys, _ in found.blocks()] == [2, 2, 1]
    assert found.totals() == {"n": 5, "right": 4, "gap0": 3, "gap1": 6}


def test_no_rows_are_no_contributors() -> None:
    """Of nothing there are no blocks, and every sum is 0."""
    empty = clustered(
        pl.Series([], dtype=pl.UInt64), ["n"], [Entry(pl.Series([], dtype=pl.Int64), pl.Series([], dtype=pl.Int64))]
    )
    assert (list(empty.blocks()), empty.totals(), sizes_of(empty, {"n": 1}).tolist()) == ([], {"n": 0}, [])
    assert replicate_sums(empty, 3, 0).tolist() == [[0], [0], [0]]


def test_a_contributor_without_amounts_is_still_one() -> None:
    """Whoever has rows but adds nothing keeps a row of zeros, so that the number of contributors stays true."""
    column = pl.Series([None, 0], dtype=pl.Int64)
    found = clustered(pl.Series([5, 6], dtype=pl.UInt64), ["n"], [Entry(column, pl.Series([1, 1]))])
    assert [(keys.tolist(), block.tolist()) for keys, block in found.blocks()] == [([5, 6], [[0], [1]])]


# --- weights


def test_draws_have_mean_and_variance_one() -> None:
    """Of 65,536 equally likely draws so many are 0, 1, …, 8: their mean is 1 and their variance is 1, exactly."""
    shares = np.bincount(weights._table())
    assert shares.tolist() == [24103, 24124, 12046, 4018, 1005, 201, 33, 5, 1]
    assert shares.sum() == 65536
    assert sum(n * int(s) for n, s in enumerate(shares)) == 65536
    assert sum(n * n * int(s) for n, s in enumerate(shares)) == 2 * 65536
    poisson = [65536 * math.exp(-1) / math.factorial(n) for n in range(MAX_WEIGHT + 1)]
    assert np.abs(shares - poisson).max() < 18


def test_draws_are_frozen() -> None:
    """Known keys are drawn so often, now and in every later version: an interval can be had again."""
    keys = np.array([0, 1, 2, 0xE600000000000001, 2**64 - 1], np.uint64)
    assert poisson_weights(keys, range(8), 0).tolist() == [
        [2, 1, 0, 0, 1],
        [0, 1, 2, 3, 1],
        [1, 1, 0, 0, 0],
        [0, 0, 1, 0, 1],
        [0, 0, 0, 0, 4],
        [0, 0, 1, 1, 0],
        [2, 0, 2, 1, 1],
        [1, 2, 0, 2, 1],
    ]
    assert poisson_weights(keys, range(4), 7).tolist() == [
        [0, 0, 1, 1, 1],
        [1, 0, 1, 1, 1],
        [0, 0, 1, 2, 0],
        [1, 3, 0, 1, 3],
    ]


def test_resamples_are_drawn_alone() -> None:
    """Later resamples are the same whether earlier ones are drawn with them; four are drawn at a time."""
    keys = np.arange(10, dtype=np.uint64)
    assert (poisson_weights(keys, range(12), 3)[8:] == poisson_weights(keys, range(8, 12), 3)).all()
    with pytest.raises(ValueError, match="4 at a time"):
        poisson_weights(keys, range(2, 6), 0)


@pytest.mark.parametrize("kind", ["counted", "spread"])
def test_draws_are_independent(kind: str) -> None:
    """Keys that count up and keys that are spread are drawn as independently as chance, resamples and contributors."""
    keys = np.arange(1500, dtype=np.uint64)
    if kind == "spread":
        keys = keys * np.uint64(0x9E3779B97F4A7C15)
    drawn = poisson_weights(keys, range(300), 1).astype(np.float64) - 1
    cells = drawn.size
    assert abs(drawn.mean()) < 5 / math.sqrt(cells)
    assert abs(drawn.var() - 1) < 5 * math.sqrt(3 / cells)
    for table in (drawn, drawn.T):
        apart = (table @ table.T)[np.triu_indices(len(table), 1)] / table.shape[1]
        assert abs(apart.mean()) < 5 / math.sqrt(len(apart) * table.shape[1])
        assert apart.std() == pytest.approx(1 / math.sqrt(table.shape[1]), rel=0.03)
        assert np.abs(apart).max() < 7 / math.sqrt(table.shape[1])


def test_another_seed_draws_otherwise() -> None:
    """Two seeds agree no more often than two independent draws do: in Σ p² = 0.3085 of the cells."""
    keys = np.arange(5000, dtype=np.uint64)
    one, two = (poisson_weights(keys, range(40), seed) for seed in (0, 1))
    assert (one == two).mean() == pytest.approx(0.3085, abs=0.005)


# --- sums


def test_sums_are_weights_times_tallies() -> None:
    """A resample's sum is that of each contributor's tally times how often it is drawn."""
    found = Clusters(
        np.array([0, 1, 2], np.uint64), ("a", "b"), np.array([0, 1, 2]), np.array([0, 1, 0]), np.array([10, 7, 1])
    )
    assert replicate_sums(found, 3, 0).tolist() == [[20, 7], [2, 7], [10, 7]]


@pytest.mark.parametrize("amount", [2**20 + 1, 2**30 + 1, 2**56 + 3, -(2**56) - 3])
def test_large_sums_are_exact(amount: int) -> None:
    """In 32-bit floats, in 64-bit floats and in two limbs: the sum is the whole number that it is."""
    keys = np.array([0, 1, 2], np.uint64)
    found = Clusters(keys, ("a", "n"), np.array([0, 0, 1, 2]), np.array([0, 1, 0, 0]), np.array([amount, 1, 1, amount]))
    assert replicate_sums(found, 4, 0).tolist() == [
        [2 * amount + 1, 2],
        [2 * amount + 1, 0],
        [amount + 1, 1],
        [amount, 0],
    ]


def test_sums_beyond_64_bits_are_refused() -> None:
    """No sum wraps round: what could pass 64 bits is refused before it is added."""
    found = Clusters(np.array([1], np.uint64), ("a",), np.array([0]), np.array([0]), np.array([2**60]))
    with pytest.raises(OverflowError, match="64 bits"):
        replicate_sums(found, 4, 0)
    twice = Entry(pl.Series([0, 0]), pl.Series([2**62, 2**62]))
    with pytest.raises(OverflowError, match="64 bits"):
        clustered(pl.Series([1, 1], dtype=pl.UInt64), ["a"], [twice])


def test_squares_are_exact() -> None:
    """Squares are added in 128 bits: (2⁶² - 1)² + 1."""
    assert squared(np.array([2**62 - 1, -1], np.int64)) == (2**62 - 1) ** 2 + 1
    assert sample(np.array([2**40, 1], np.int64)).effective == pytest.approx((2**40 + 1) ** 2 / (2**80 + 1))
