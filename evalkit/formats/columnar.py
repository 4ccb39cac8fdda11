"""Tables of Polars and of Arrow: the kinds of their columns, and the columns that a layout names taken out of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from evalkit.contracts.contract import Contract
from evalkit.errors import Violation
from evalkit.formats.arrow_texts import NotTextError, texts
from evalkit.formats.judged import LINE, hive_column, struct_column
from evalkit.formats.layout import Kind, Layout, lay_out
from evalkit.formats.rows import Rows
from evalkit.formats.typed import joined, nothing, read_typed
from evalkit.sources.formats import Format
from evalkit.sources.source import BrokenSourceError, Identity, label, open_same
from evalkit.sources.urls import Stored, is_url, store

Table = Any
"""A ``polars.DataFrame``, or a ``Table`` or ``RecordBatch`` of Arrow, which has no types to check with."""


Foreign = Mapping[str, Kind]
"""Columns of a table that could not be handed over; where none of them is needed that does no harm."""

NONE: Foreign = {}


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive rows of a source that are in memory."""

    source: int
    number: int
    stored: int
    table: Table
    foreign: Foreign
    format: Format


def read_piece(piece: Piece, contract: Contract, *, every: bool) -> Rows:
    """Read a piece."""
    layout = lay_out_table(piece.table.schema, piece.foreign, contract)
    if isinstance(layout, tuple):  # once a source
        return nothing(piece.table.shape[0], contract, layout if piece.number == 0 else ())
    return read_tables([piece.table], layout, contract, every=every)


def lay_out_table(schema: Any, foreign: Foreign, contract: Contract) -> Layout | tuple[Violation, ...]:
    """Find the contract's fields in a table."""
    known = schema_of(schema)
    return known if isinstance(known, tuple) else lay_out({**known, **foreign}, contract)


def gathered(tables: Iterable[Table], rows: int) -> Iterator[Table]:
    """Put small tables together, and cut large ones, until they have about as many rows as asked for."""
    held: list[Table] = []
    for table in tables:
        for start in range(0, table.shape[0], rows):
            held.append(table.slice(start, rows))
            if 2 * sum(one.shape[0] for one in held) >= rows:
                yield _concat(held)
                held = []
    if held:
        yield _concat(held)


def _concat(tables: list[Table]) -> Table:
    return pl.concat(tables) if isinstance(tables[0], pl.DataFrame) else pa.concat_tables(tables)


def schema_of(schema: Any) -> Mapping[str, Kind] | tuple[Violation, ...]:
    """Return the kind of each column of a Polars or Arrow schema, or a violation for each name that stands twice."""
    if isinstance(schema, pa.Schema):
        twice = [name for name, times in Counter(schema.names).items() if times > 1]
        if twice:
            message = "is the name of several columns; give each a name of its own"
            return tuple(Violation("duplicate-column", message, field=name) for name in twice)
        return {one.name: _arrow_kind(one.type) for one in schema}
    return {name: _polars_kind(kind) for name, kind in schema.items()}


def _polars_kind(kind: Any) -> Kind:
    told = str(kind)
    if isinstance(kind, pl.Struct):
        return Kind("struct", "Struct", {one.name: _polars_kind(one.dtype) for one in kind.fields})
    if isinstance(kind, pl.String | pl.Categorical | pl.Enum):
        return Kind("text", type(kind).__name__)
    if kind.is_integer():
        return Kind("whole", told)
    if kind.is_float():
        return Kind("float", told)
    plain = {pl.Boolean: "truth", pl.Null: "null", pl.Date: "time", pl.Datetime: "time"}
    return Kind(plain.get(type(kind), "other"), told)


def _arrow_kind(kind: pa.DataType) -> Kind:
    told = str(kind)
    if pa.types.is_dictionary(kind):
        inner = _arrow_kind(kind.value_type)
        return Kind(inner.name if inner.members is None else "other", told)
    if pa.types.is_struct(kind):
        fields = [kind.field(place) for place in range(kind.num_fields)]
        if len({one.name for one in fields}) < len(fields):
            return Kind("other", told)
        return Kind("struct", "struct", {one.name: _arrow_kind(one.type) for one in fields})
    for name, tests in _ARROW_KINDS.items():
        if any(test(kind) for test in tests):
            return Kind(name, told)
    return Kind("other", told)


_ARROW_KINDS: Mapping[str, tuple[Any, ...]] = {
    "text": (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
    "whole": (pa.types.is_integer,),
    "float": (pa.types.is_floating,),
    "truth": (pa.types.is_boolean,),
    "null": (pa.types.is_null,),
    "time": (pa.types.is_date, pa.types.is_timestamp),
}


def read_tables(tables: Iterable[Table], layout: Layout, contract: Contract, *, every: bool) -> Rows:
    """Read consecutive tables as one partition."""
    return joined([_read_table(one, layout, contract, every=every) for one in tables], contract)


def _read_table(table: Table, layout: Layout, contract: Contract, *, every: bool) -> Rows:
    try:
        return read_typed(columns_of(table, layout), layout, every=every)
    except NotTextError as error:
        return nothing(table.shape[0], contract, (error.violation,))


def columns_of(table: Table, layout: Layout) -> pl.DataFrame:
    """Return the columns that ``typed.read_typed`` takes.

    Raises:
        NotTextError: A text is no UTF-8.
    """
    taken = _from_polars(table, layout) if isinstance(table, pl.DataFrame) else _from_arrow(table, layout)
    columns = {name: pl.Series(name, series) for name, series in taken}
    # A table without any column that is read still has its rows.
    return pl.DataFrame(columns) if columns else pl.select(pl.int_range(table.shape[0], dtype=pl.UInt32).alias(LINE))


def _from_polars(table: pl.DataFrame, layout: Layout) -> Iterator[tuple[str, pl.Series]]:
    for role, column in layout.columns.items():
        if column.way[0] not in layout.hive:
            yield role, _inside(table, column.way)
    for way in layout.structs:
        yield struct_column(way), _inside(table, way).is_null()
    for name in layout.checked:
        yield hive_column(name), _inside(table, (name,)).cast(pl.String)


def _inside(table: pl.DataFrame, way: tuple[str, ...]) -> pl.Series:
    # Names may look like patterns, which the library's own look-ups by name would take them for.
    series = table.get_column(way[0]).alias("")
    for name in way[1:]:
        series = series.struct.unnest().get_column(name).alias("")
    return series


def _from_arrow(table: Table, layout: Layout) -> Iterator[tuple[str, pl.Series]]:
    for role, column in layout.columns.items():
        if column.way[0] not in layout.hive:
            found = _arrow_inside(table, column.way)
            if column.kind.name in ("text", "cell"):
                found = texts(found, column.path, secret=role == "subject")
            yield role, to_polars(found)
    for way in layout.structs:
        yield struct_column(way), to_polars(pc.is_null(_arrow_inside(table, way)))
    for name in layout.checked:
        yield hive_column(name), to_polars(table.column(name)).cast(pl.String)


def _arrow_inside(table: Table, way: tuple[str, ...]) -> Any:
    column = table.column(way[0])
    return column if len(way) == 1 else pc.struct_field(column, list(way[1:]))


def to_polars(column: Any) -> pl.Series:
    """Hand a column of Arrow over."""
    series = pl.from_arrow(column)
    return series if isinstance(series, pl.Series) else series.to_series()


@contextmanager
def opened(path: str, identity: Identity, rule: str) -> Iterator[IO[bytes]]:
    """Open a file that Arrow reads.

    Args:
        path: The file.
        identity: What it was when it was named.
        rule: The rule that a file breaks which Arrow cannot read.

    Raises:
        BrokenSourceError: Arrow could not read it while it was open.
        Refusal: The file was changed.
    """
    with open_same(path, identity) as file:
        try:
            yield file
        except (pa.ArrowException, pl.exceptions.PolarsError, OSError) as error:
            if isinstance(error, MemoryError) or getattr(error, "errno", None) is not None:
                raise  # the machine's failure, not the file's
            if is_url(path) and (refusal := store().failure(path, identity, error)) is not None:
                raise refusal from None
            open_same(path, identity).close()
            said = " ".join(str(error).split())
            raise BrokenSourceError(Violation(rule, f"cannot be read; {said}", label(path))) from None


def arrow_file(file: IO[bytes]) -> Any:
    """Return an open file or object as Arrow reads it; an object is read by Arrow's own threads."""
    return file.native if isinstance(file, Stored) else pa.PythonFile(file, mode="r")


def documents_of(table: Table) -> Iterator[dict[str, Any]]:
    """Yield the rows of a table as objects; what JSON does not have is text."""
    rows = table.iter_rows(named=True) if isinstance(table, pl.DataFrame) else table.to_pylist()
    for row in rows:
        yield {name: _plain(value) for name, value in row.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_plain(member) for member in value]
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
