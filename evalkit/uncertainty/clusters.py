"""Contributor tallies as a matrix: one row a contributor, one additive column a count, whole numbers throughout.

The rows of one contributor belong together: they are drawn together and they vary together. Whoever counts by
contributor can resample, take variances, pair and merge without a look at the records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import polars as pl

Sums = npt.NDArray[np.int64]

BLOCK_CELLS = 2**23
"""Cells of the matrix that are held at a time: 64 MiB."""


@dataclass(frozen=True, slots=True)
class Entry:
    """What rows add to the matrix.

    Attributes:
        column: To which column each row adds, counted from 0; null where it adds nothing.
        amount: How much, a whole number.
    """

    column: pl.Series
    amount: pl.Series


@dataclass(frozen=True, slots=True)
class Clusters:
    """The tallies of each contributor.

    Attributes:
        keys: The contributors, sorted.
        columns: The name of each column.
        rows: For each entry's row, which contributor it belongs to, sorted.
        codes: To which column it adds.
        amounts: How much.
    """

    keys: npt.NDArray[np.uint64]
    columns: tuple[str, ...]
    rows: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int64]
    amounts: Sums

    def __len__(self) -> int:
        return len(self.keys)

    def blocks(self) -> Iterator[tuple[npt.NDArray[np.uint64], Sums]]:
        """Yield the contributors with their rows of the matrix, so many at a time as memory is meant to hold."""
        width = len(self.columns)
        step = max(BLOCK_CELLS // max(width, 1), 1)
        for start in range(0, len(self.keys), step):
            keys = self.keys[start : start + step]
            low, high = np.searchsorted(self.rows, (start, start + len(keys)))
            cells = (self.rows[low:high] - start) * width + self.codes[low:high]
            matrix = np.zeros(len(keys) * width, np.int64)
            np.add.at(matrix, cells, self.amounts[low:high])
            yield keys, matrix.reshape(len(keys), width)

    def totals(self) -> Mapping[str, int]:
        """Return the sum of each column."""
        sums = np.zeros(len(self.columns), np.int64)
        np.add.at(sums, self.codes, self.amounts)
        return dict(zip(self.columns, sums.tolist(), strict=True))


def clustered(contributors: pl.Series, columns: Sequence[str], entries: Sequence[Entry]) -> Clusters:
    """Count rows by contributor.

    Args:
        contributors: The contributor of each row, an unsigned number of 64 bits.
        columns: The names of the columns.
        entries: What the rows add; each row of the entries is a row of ``contributors``.

    >>> rows = pl.DataFrame({"who": [7, 7, 3], "right": [1, 0, 1]}, schema={"who": pl.UInt64, "right": pl.Int64})
    >>> n = Entry(pl.Series([0, 0, 0]), pl.Series([1, 1, 1]))
    >>> found = clustered(rows["who"], ["n", "right"], [n, Entry(pl.Series([1, 1, 1]), rows["right"])])
    >>> [(keys.tolist(), matrix.tolist()) for keys, matrix in found.blocks()]
    [([3, 7], [[1, 1], [2, 1]])]
    """
    distinct = contributors.unique().sort()
    place = distinct.search_sorted(contributors).cast(pl.Int64)
    long = pl.concat(
        pl.DataFrame({"row": place, "code": one.column.cast(pl.Int64), "amount": one.amount.cast(pl.Int64)})
        .lazy()
        .filter(pl.col("code").is_not_null() & (pl.col("amount") != 0))
        for one in entries
    )
    found = long.group_by("row", "code").agg(pl.col("amount").sum()).sort("row", "code").collect(engine="streaming")
    parts = (found[name].to_numpy() for name in ("row", "code", "amount"))
    return Clusters(distinct.to_numpy(), tuple(columns), *parts)


@dataclass(frozen=True, slots=True)
class Sample:
    """On how many contributors a number rests, and how evenly.

    Attributes:
        contributors: How many have a part in it.
        effective: (Σ s)² / Σ s² over their numbers of records s: as many equal ones would weigh as much.
        largest_share: The share of the records that is one contributor's, at most.
        records: Σ s.
    """

    contributors: int
    effective: Fraction | None
    largest_share: Fraction | None
    records: int


def sample(sizes: Sums) -> Sample:
    """Tell on how many contributors a number rests.

    Args:
        sizes: The records of each contributor.

    >>> found = sample(np.array([3, 1, 0], np.int64))
    >>> found.contributors, found.effective, found.largest_share
    (2, Fraction(8, 5), Fraction(3, 4))
    """
    taken = sizes[sizes > 0]
    total = int(taken.sum())
    if not total:
        return Sample(0, None, None, 0)
    squares = int(pl.Series(taken).cast(pl.Int128).pow(2).sum())
    return Sample(len(taken), Fraction(total * total, squares), Fraction(int(taken.max()), total), total)
