"""Contributor tallies as a matrix: one row a contributor, one additive column a count, whole numbers throughout.

The rows of one contributor belong together: they are drawn together and they vary together. Whoever counts by
contributor can resample, take variances, pair and merge without a look at the records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

Sums = npt.NDArray[np.int64]

BLOCK_CELLS = 2**23
"""Cells of the matrix that are held at a time: 64 MiB."""

_ROWS = 2**18
"""Rows that are counted at a time, so that what is made on the way stays in the cache."""

LARGEST = 2**63
"""No sum may reach it."""


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
        rows: For each cell of the matrix that is not 0, which contributor it belongs to, sorted.
        codes: In which column it stands; a contributor's are sorted, and none is there twice.
        amounts: What stands there.
    """

    keys: npt.NDArray[np.uint64]
    columns: tuple[str, ...]
    rows: npt.NDArray[np.int64]
    codes: npt.NDArray[np.int64]
    amounts: Sums

    def __len__(self) -> int:
        return len(self.keys)

    def blocks(self) -> Iterator[tuple[npt.NDArray[np.uint64], Sums]]:
        """Yield the contributors with their rows of the matrix, so many at a time as memory is meant to hold.

        A column of what is yielded lies in one piece of memory.
        """
        width = len(self.columns)
        step = _step(width)
        for start in range(0, len(self.keys), step):
            keys = self.keys[start : start + step]
            low, high = np.searchsorted(self.rows, (start, start + len(keys)))
            matrix = np.zeros((width, len(keys)), np.int64)
            matrix[self.codes[low:high], self.rows[low:high] - start] = self.amounts[low:high]
            yield keys, matrix.T

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

    Raises:
        OverflowError: A sum could pass 64 bits.

    >>> rows = pl.DataFrame({"who": [7, 7, 3], "right": [1, 0, 1]}, schema={"who": pl.UInt64, "right": pl.Int64})
    >>> n = Entry(pl.Series([0, 0, 0]), pl.Series([1, 1, 1]))
    >>> found = clustered(rows["who"], ["n", "right"], [n, Entry(pl.Series([1, 1, 1]), rows["right"])])
    >>> [(keys.tolist(), matrix.tolist()) for keys, matrix in found.blocks()]
    [([3, 7], [[1, 1], [2, 1]])]
    """
    reach = sum(float(np.abs(_plain(one.amount).astype(np.float64)).sum()) for one in entries)
    if reach >= LARGEST:
        raise OverflowError("a sum of amounts could pass 64 bits")
    keys = contributors.unique().sort()
    place = _places(contributors, keys)
    step = _step(len(columns))
    pieces = [
        _sparse(_counted(place, entries, rows, start, (min(step, len(keys) - start), len(columns))), start)
        for start, rows in _ranges(place, len(keys), step)
    ]
    parts = (np.concatenate(part) for part in zip(*pieces, strict=True)) if pieces else (np.zeros(0, np.int64),) * 3
    return Clusters(keys.to_numpy(), tuple(columns), *parts)


def _step(width: int) -> int:
    """Return how many contributors' rows of the matrix are held at a time."""
    return max(BLOCK_CELLS // max(width, 1), 1)


def _places(contributors: pl.Series, keys: pl.Series) -> npt.NDArray[np.uint32]:
    """Return which of the sorted keys each row has."""
    known = pl.DataFrame({"key": keys, "place": np.arange(len(keys), dtype=np.uint32)})
    rows = pl.DataFrame({"key": contributors})
    found: npt.NDArray[np.uint32] = rows.join(known, on="key", how="left", maintain_order="left")["place"].to_numpy()
    return found


def _ranges(
    place: npt.NDArray[np.uint32], contributors: int, step: int
) -> Iterator[tuple[int, npt.NDArray[np.intp] | None]]:
    """Yield ranges of contributors: the first of each and which rows are theirs, None where all are."""
    if contributors <= step:
        yield from [(0, None)] * min(contributors, 1)
        return
    which = place // np.uint32(step)
    order = np.argsort(which, kind="stable")
    ends = np.bincount(which, minlength=-(-contributors // step)).cumsum()
    for number, end in enumerate(ends.tolist()):
        yield number * step, order[0 if not number else ends[number - 1] : end]


def _counted(
    place: npt.NDArray[np.uint32],
    entries: Sequence[Entry],
    rows: npt.NDArray[np.intp] | None,
    start: int,
    shape: tuple[int, int],
) -> Sums:
    """Count the rows of some contributors: one row a contributor, one column a column."""
    matrix = np.zeros(shape[0] * shape[1], np.int64)
    for one in entries:
        for low in range(0, len(place) if rows is None else len(rows), _ROWS):
            part = slice(low, low + _ROWS)
            taken = place[part] if rows is None else place[rows[part]]
            codes, amounts = (
                series[part] if rows is None else series[rows[part]] for series in (one.column, one.amount)
            )
            cells = (taken.astype(np.int64) - start) * shape[1] + _plain(codes)
            added = _plain(amounts).astype(np.int64)
            np.add.at(matrix, cells, added if not codes.null_count() else added * codes.is_not_null().to_numpy())
    return matrix.reshape(shape)


def _plain(series: pl.Series) -> npt.NDArray[Any]:
    """Return numbers, 0 where there is none."""
    return (series.fill_null(0) if series.null_count() else series).to_numpy()


def _sparse(matrix: Sums, start: int) -> tuple[Sums, Sums, Sums]:
    """Return row, column and amount of each cell that is not 0."""
    cells = np.flatnonzero(matrix)
    rows = cells // max(matrix.shape[1], 1)
    return rows + start, cells - rows * matrix.shape[1], matrix.reshape(-1)[cells]


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
    return shared(len(taken), int(taken.sum()), squared(taken), int(taken.max(initial=0)))


def shared(contributors: int, records: int, squares: int, largest: int) -> Sample:
    """Tell the same of the number of contributors, the sum and the sum of squares of their records, and the most."""
    if not records:
        return Sample(0, None, None, 0)
    return Sample(contributors, Fraction(records * records, squares), Fraction(largest, records), records)


def squared(numbers: Sums) -> int:
    """Return the exact sum of squares, in whole numbers of 128 bits.

    >>> squared(np.array([2**40, -1], np.int64)) == 2**80 + 1
    True
    """
    wide = pl.Series(numbers).cast(pl.Int128)
    return int((wide * wide).sum())
