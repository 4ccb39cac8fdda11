"""Counts by group of contributors and cell of confidence: the small table that every interval is made of."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evalkit.risk_coverage.curve import Curve
from evalkit.splitmix import splitmix64

GROUPS = 100
"""Most groups of contributors."""

CELLS = 4096
"""Most cells of confidence."""

_DEALT = 10_000
_ROWS = 1_000_000
_WORKERS = 2
_BUCKETS = 2**16


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Records counted by group of contributors, a row each, and by cell of confidence, the most confident first.

    A contributor is in one group, so groups are as independent as contributors are. With few contributors each is a
    group of its own. Neither groups nor cells depend on the order of records.

    Attributes:
        own: Records offered.
        wrong: Wrong ones among them.
        totals: All records of each group, offered or not.
        contributors: Contributors with at least one record offered.
    """

    own: NDArray[np.int64]
    wrong: NDArray[np.int64]
    totals: NDArray[np.int64]
    contributors: int


def grid(outcomes: pl.DataFrame, curve: Curve, *, groups: int = GROUPS, cells: int = CELLS) -> Grid:
    """Count outcomes by group and cell.

    Cells end at cuts of the curve: at every cut where there are at most ``cells`` of them, so that nothing is lost;
    else at cuts so far apart that each cell has about the same number of records.

    Args:
        outcomes: As for ``curve``, with ``contributor``; without it every row is a contributor of its own.
        curve: The curve of these outcomes.
        groups: Most groups.
        cells: Most cells.
    """
    keys = contributors_of(outcomes)
    names, given = keys.n_unique(), outcomes["confidence"].is_not_null()
    offering = names if given.all() else keys.filter(given).n_unique()
    count, edges = min(groups, names), _edges(curve, cells)
    place_of = Places.of(edges)
    dealt = _dealt(keys, count) if names <= _DEALT else None
    width = edges.size + 1  # the last column holds what was not offered

    def counted(start: int) -> NDArray[np.float64]:
        part, key = outcomes[start : start + _ROWS], keys[start : start + _ROWS].to_numpy()
        group = splitmix64(key) % np.uint64(count) if dealt is None else dealt[1][np.searchsorted(dealt[0], key)]
        cell = place_of(part["confidence"].fill_null(0.0).to_numpy())
        cell[part["confidence"].is_null().to_numpy()] = edges.size
        place = (group.astype(np.int64) * width + cell) * 2 + ~part["correct"].fill_null(True).to_numpy()
        sums: NDArray[np.float64] = np.bincount(place, part["n"].to_numpy(), 2 * count * width)  # type: ignore[assignment]
        return sums

    found = np.zeros(2 * count * width)
    with ThreadPoolExecutor(_WORKERS) as pool:
        for sums in pool.map(counted, range(0, outcomes.height, _ROWS)):
            found += sums  # whole numbers far below 2^53, so exact in whatever order
    table = found.astype(np.int64).reshape(count, width, 2)
    both = table.sum(axis=2)
    return Grid(both[:, :-1], table[:, :-1, 1].copy(), both.sum(axis=1), offering)


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Finds how many edges lie above a confidence, by a table of equal buckets rather than by halving.

    A bucket has the number of edges above it, and its own edge where there is one; where there are more, as with
    confidences crowded near 1, its records are looked for by halving after all.

    Attributes:
        edges: The edges, falling.
        above: Edges above each bucket.
        edge: The bucket's one edge.
        crowded: Buckets of more than one edge.
    """

    edges: NDArray[np.float64]
    above: NDArray[np.int64]
    edge: NDArray[np.float64]
    crowded: NDArray[np.bool_]

    @classmethod
    def of(cls, edges: NDArray[np.float64]) -> Places:
        """Make the table; a product with a power of two is exact, so no confidence is in a wrong bucket."""
        bucket = (edges * _BUCKETS).astype(np.int64)
        held = np.bincount(bucket, minlength=_BUCKETS + 1)
        edge = np.full(_BUCKETS + 1, -np.inf)
        edge[bucket] = edges
        return cls(edges, edges.size - np.cumsum(held), edge, held > 1)

    def __call__(self, confidence: NDArray[np.float64]) -> NDArray[np.int64]:
        """Return the number of edges above each confidence."""
        bucket = (confidence * _BUCKETS).astype(np.int64)
        place = self.above[bucket] + (confidence < self.edge[bucket])
        crowded = self.crowded[bucket]
        if crowded.any():
            place[crowded] = np.searchsorted(-self.edges, -confidence[crowded])
        return place


def contributors_of(outcomes: pl.DataFrame) -> pl.Series:
    """Return each record's contributor; where none are named each row is one of its own."""
    if "contributor" in outcomes.columns:
        return outcomes["contributor"]
    return pl.Series("contributor", np.arange(outcomes.height, dtype=np.uint64))


def _dealt(keys: pl.Series, count: int) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Deal few contributors to groups in the order of their hashes, so that groups differ by one at most."""
    names = keys.unique().sort().to_numpy()
    group = np.empty(names.size, np.int64)
    group[np.argsort(splitmix64(names))] = np.arange(names.size) % count
    return names, group


def _edges(curve: Curve, cells: int) -> NDArray[np.float64]:
    if curve.cut.size <= cells:
        return curve.cut
    steps = np.arange(1, cells + 1, dtype=np.int64)
    reached = [int(step) * curve.offered // cells for step in steps]
    return curve.cut[np.unique(np.searchsorted(curve.accepted, reached))]
