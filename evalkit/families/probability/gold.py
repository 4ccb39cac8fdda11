"""The gold rows: read whole, held in memory, and found by their ids."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from evalkit.errors import Violation
from evalkit.families.probability.faults import Faults
from evalkit.families.probability.prediction import named, no_nul, own_field
from evalkit.formats.flat import LINE, TEXT, Field, Table, Values, nothing
from evalkit.reading.contributors import numbers_of
from evalkit.reading.counted import Place

UNLABELLED = "unlabelled"
"""The family of rows that declare none."""


@dataclass(frozen=True, slots=True)
class GoldKind:
    """The kind of record that a gold row is.

    Attributes:
        cluster_by: The field that says which rows belong together, or None.
    """

    cluster_by: str | None = None

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields that are read."""
        return (
            Field("id", TEXT),
            Field("gold", TEXT),
            Field("family", TEXT, required=False),
            Field("positive", TEXT, required=False),
            *own_field(self.cluster_by),
        )

    def judge(self, document: Mapping[str, Any]) -> Values | tuple[Violation, ...]:
        """Return the values of a gold row, or the rules that it breaks."""
        faults = Faults(document, "gold")
        gold = faults.take_text("gold", "gold", required=True)
        family, positive = faults.take_text("family", "family"), faults.take_text("positive", "positive")
        own = () if self.cluster_by is None else (faults.take_name(self.cluster_by),)
        return faults.all() if faults.found else (faults.id, gold, family, positive, *own)

    def is_valid(self, table: Table) -> pl.Series:
        """Tell the rows that are valid beyond doubt."""
        checks = [no_nul("id"), no_nul("gold")]
        checks += [no_nul(name).fill_null(value=True) for name in ("family", "positive", *named(self.cluster_by))]
        return table.rows.select(pl.all_horizontal(checks).fill_null(value=False)).to_series()


def compact(rows: pl.DataFrame, cluster_by: str | None = None) -> pl.DataFrame:
    """Return gold rows as they are held: texts that repeat as categories, what rows are clustered by as a number."""
    repeated = pl.col("gold", "positive").cast(pl.Categorical)
    own = [numbers_of(rows[name]) for name in named(cluster_by)]
    return rows.select("id", repeated, pl.col("family").fill_null(UNLABELLED).cast(pl.Categorical), LINE, *own)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two gold rows of one id: the earlier and the later, by their numbers."""

    id: str
    earlier: int
    later: int


class Gold:
    """All gold rows, and an index over the hashes of their ids.

    A hash finds at most one row: where two ids share one, another seed is taken. So an id is looked up by its hash and
    one comparison of texts. Hashes are spread evenly: cut into as many ranges as there are rows, each holds one or two.
    """

    def __init__(self, parts: Sequence[tuple[Place, pl.DataFrame]], cluster_by: str | None = None) -> None:
        ordered = sorted(parts, key=lambda part: part[0])
        self._places = [place for place, _ in ordered]
        self._firsts = [0]
        for _, table in ordered:
            self._firsts.append(self._firsts[-1] + table.height)
        none = compact(nothing(GoldKind(cluster_by)).rows, cluster_by)
        self.table = pl.concat([none, *(table for _, table in ordered)], rechunk=True)
        self._make_index()

    def _make_index(self) -> None:
        self._seed = 0
        self._pairs: list[Pair] = []
        while not self._index():
            self._seed += 1

    def __getstate__(self) -> tuple[list[Place], list[int], pl.DataFrame]:
        """Travel as the rows alone; the index is made again where they arrive, sooner than it would come."""
        return self._places, self._firsts, self.table

    def __setstate__(self, state: tuple[list[Place], list[int], pl.DataFrame]) -> None:
        self._places, self._firsts, self.table = state
        self._make_index()

    def _index(self) -> bool:
        """Sort the hashes, and note where those of each range begin; False where two different ids share one."""
        ids = self.table["id"]
        hashes = ids.hash(self._seed)
        self._rows = hashes.arg_sort()
        self._hashes = hashes.gather(self._rows)
        bits = max(len(ids).bit_length() - 1, 1)
        self._width = 2 ** (64 - bits)
        counts = self._range(self._hashes).alias("range").to_frame().group_by("range").len()
        begins = pl.repeat(0, 2**bits + 1, dtype=pl.UInt32, eager=True)
        self._begins = begins.scatter(counts["range"] + 1, counts["len"].cast(pl.UInt32)).cum_sum().cast(pl.UInt32)
        same = (self._hashes == self._hashes.shift(1)).fill_null(value=False).arg_true()
        if not len(same):
            return True
        left, right = self._rows.gather(same - 1), self._rows.gather(same)
        twice = ids.gather(left) == ids.gather(right)
        if not twice.all():
            return False
        self._pairs = list(self._twice(ids, pl.concat([left, right]).unique()))
        return True

    def _twice(self, ids: pl.Series, rows: pl.Series) -> Iterator[Pair]:
        """Find the rows whose id an earlier row has."""
        found = pl.DataFrame({"id": ids.gather(rows), "row": rows}).sort("row")
        firsts = found.with_columns(first=pl.col("row").first().over("id")).filter(pl.col("row") != pl.col("first"))
        for one, row, first in firsts.iter_rows():
            yield Pair(one, first, row)

    @property
    def twice(self) -> Sequence[Pair]:
        """The rows whose id an earlier row has, in the order of the input."""
        return self._pairs

    def place_of(self, row: int) -> tuple[Place, int]:
        """Return the partition of a row, and its line in it."""
        part = bisect_right(self._firsts, row) - 1
        return self._places[part], self.table[LINE][row]

    def hashes_of(self, ids: pl.Series) -> pl.Series:
        """Return the hashes of some ids."""
        return ids.hash(self._seed)

    def find(self, ids: pl.Series) -> pl.Series:
        """Return the row of each id; null where there is none."""
        if not self.table.height or ids.is_empty():
            return pl.repeat(None, len(ids), dtype=pl.UInt32, eager=True)
        wanted = self.hashes_of(ids)
        rows = pl.repeat(None, len(ids), dtype=pl.UInt32, eager=True)
        asked, place = pl.int_range(len(ids), dtype=pl.UInt32, eager=True), self._begins.gather(self._range(wanted))
        while len(asked):  # the hashes of a range stand one after the other, sorted; there are few
            there = self._hashes.gather(place.clip(upper_bound=self.table.height - 1))
            hit = (there == wanted) & (place < self.table.height)
            rows = rows.scatter(asked.filter(hit), self._rows.gather(place.filter(hit)).cast(pl.UInt32))
            further = (there < wanted) & (place < self.table.height)
            asked, wanted, place = asked.filter(further), wanted.filter(further), place.filter(further) + 1
        same = self.table["id"].gather(rows) == ids
        return pl.select(pl.when(same).then(rows)).to_series()

    def _range(self, hashes: pl.Series) -> pl.Series:
        ranges: pl.Series = hashes // self._width
        return ranges.cast(pl.UInt32)

    def items(self) -> dict[str, int]:
        """Count the rows of each family."""
        return {str(family): count for family, count in self.table.group_by("family").len().iter_rows()}
