"""A query, answered: which tables the inputs are, what of them the query means, and what SQL gives of those."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from evalkit.analysis.scan import Records
from evalkit.analysis.sql import Select, assert_reads_only
from evalkit.analysis.tables import Folders, is_results, store_of
from evalkit.contracts.contract import BRISTOL, Contract
from evalkit.errors import Refusal, Violation
from evalkit.sources.source import label, resolve

RECORDS = "records"
"""The table of a dump's records."""

EARLY = (
    "records: the answer was found before the whole dump was read. The lines that were read are valid; that no "
    "contributor is in two splits was not checked"
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query gives.

    Attributes:
        rows: The rows.
        warnings: What the caller should know of them.
    """

    rows: pl.DataFrame
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Tables:
    """What may be asked about.

    Attributes:
        folders: The tables of results.
        records: The records of dumps, or None.
    """

    folders: Folders
    records: Records | None

    @classmethod
    def of(cls, paths: Sequence[str], contract: Contract = BRISTOL, by: Sequence[str] = ()) -> Tables:
        """Tell results folders, stores and dumps apart.

        Raises:
            Refusal: An input cannot be found or read.
        """
        folders, dumps = Folders(), []
        several = sum(is_results(Path(path)) for path in paths) > 1
        for path in paths:
            if is_results(Path(path)):
                folders.add(Path(path), (("results", label(path)),) if several else ())
            elif (store := store_of(Path(path))) is not None:
                folders.add_store(store)
            else:
                dumps.append(path)
        folders.assert_distinct()
        records = Records.of(resolve(dumps), contract, by) if dumps or not folders.pieces else None
        return cls(folders, records)

    @property
    def names(self) -> list[str]:
        """The names of the tables."""
        return [*self.folders.pieces, *([RECORDS] if self.records is not None else [])]

    @property
    def files(self) -> list[str]:
        """All files that may be read."""
        read = [] if self.records is None else [source.name for source in self.records.sources]
        return [*map(str, self.folders.files), *read]

    def frames(self, query: Select) -> dict[str, pl.LazyFrame]:
        """Return the tables that a query may mean; only those are read."""
        found = {name: self.folders.read(name).lazy() for name in self.folders.pieces if query.mentions(name)}
        if self.records is not None:
            found[RECORDS] = self.records.frame()
        return found


def answer(query: Select, tables: Tables) -> Answer:
    """Run a query.

    Raises:
        Refusal: The query names what is not there, or cannot be run; or what it reads cannot be judged honestly.
    """
    frames = tables.frames(query)
    try:
        plan = pl.SQLContext(frames, eager=False).execute(query.text)
        assert_reads_only(plan.explain(optimized=False), ("PYTHON",))
        rows = plan.collect(engine="streaming")
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise _refusal(str(error), frames, tables.names) from None
    if query.leaves_order_open:
        plain = [name for name, kind in rows.schema.items() if not kind.is_nested()]
        rows = rows.sort(plain, nulls_last=True) if plain else rows
    records = tables.records
    if records is None:
        return Answer(rows, ())
    settled = () if records.settled is None else records.settled.warnings
    return Answer(rows, (*settled, *([EARLY] if records.stopped_early else [])))


_TABLE = re.compile(r"relation '(?P<name>.*)' was not found")
_COLUMN = re.compile(r"unable to find column \"(?P<name>[^\"]*)\"|no column named '(?P<named>[^']*)'")


def _refusal(error: str, frames: dict[str, pl.LazyFrame], names: list[str]) -> Refusal:
    """Say in words what the library says of a query."""
    told = error.split("\n\nResolved plan", maxsplit=1)[0].strip()
    if found := _TABLE.search(told):
        message = f"there is no such table; there are {', '.join(names)}"
        return Refusal.of(Violation("sql-name", message, field="query", value=f'"{found["name"]}"'))
    if found := _COLUMN.search(told):
        columns = "; ".join(f"{name}: {', '.join(frame.collect_schema())}" for name, frame in frames.items())
        message = f"there is no such column; the tables and their columns are {columns}"
        return Refusal.of(Violation("sql-name", message, field="query", value=f'"{found["name"] or found["named"]}"'))
    first = told.split("\n", maxsplit=1)[0] or "it cannot be run"
    return Refusal.of(Violation("sql", f"cannot be run: {first[:300]}", field="query"))
