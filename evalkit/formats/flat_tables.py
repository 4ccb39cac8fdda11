"""Tables of flat records: columns of the right types are judged as a whole, doubtful rows one by one as documents.

A list of any length stays one value: tables are cut so that a piece holds about so many values, not so many rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import polars as pl
import pyarrow as pa

from evalkit.errors import Ledger, Violation
from evalkit.formats.arrow_texts import NotTextError, checked_texts
from evalkit.formats.columnar import NONE, Foreign, schema_of, to_polars
from evalkit.formats.columnar import Table as AnyTable
from evalkit.formats.flat import (
    LINE,
    NAME,
    TEXT,
    TEXTS,
    Field,
    FlatKind,
    FlatRows,
    Table,
    broken,
    sorted_out,
    stacked,
    table_of,
)
from evalkit.sources.dataset import Hive

VALUES = 4 * 1024 * 1024
"""About how many values of lists a piece holds."""


def read(
    tables: Iterable[AnyTable], kind: FlatKind, *, hive: Hive = (), foreign: Foreign = NONE, first: bool = True
) -> Iterator[FlatRows]:
    """Read consecutive tables of one partition, piece by piece.

    Args:
        tables: The tables, of the columns that are there.
        kind: What their rows must be.
        hive: What the names of folders say of every row.
        foreign: Columns that could not be handed over.
        first: Whether it is the first partition of its source, which alone says what is wrong with the columns.
    """
    lines = 0
    for table in tables:
        for piece in pieces(table):
            found = _read_piece(piece, kind, hive, foreign, first=first and lines == 0)
            rows = found.table.rows.with_columns(pl.col(LINE) + lines)
            yield FlatRows(found.lines, Table(rows, found.table.lists), _moved(found.ledger, lines))
            lines += found.lines


def pieces(table: AnyTable) -> Iterator[AnyTable]:
    """Cut a table so that no piece holds many more values than it should."""
    rows: int = table.shape[0]
    values = _values(table)
    step = max(rows * VALUES // max(values, VALUES), 1)
    for start in range(0, max(rows, 1), step):
        yield table.slice(start, step)


def _values(table: AnyTable) -> int:
    """Count the values of the lists of a table."""
    found = 0
    if isinstance(table, pl.DataFrame):
        for series in table:
            if isinstance(series.dtype, pl.List):
                found += int(series.list.len().sum() or 0)
            elif isinstance(series.dtype, pl.Array):
                found += len(series) * series.dtype.size
        return found
    columns = table.columns
    for column in columns:
        for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
            if pa.types.is_list(chunk.type) or pa.types.is_large_list(chunk.type):
                found += chunk.offsets[-1].as_py() - chunk.offsets[0].as_py()
            elif pa.types.is_fixed_size_list(chunk.type):
                found += len(chunk) * chunk.type.list_size
    return found


def _read_piece(table: AnyTable, kind: FlatKind, hive: Hive, foreign: Foreign, *, first: bool) -> FlatRows:
    rows: int = table.shape[0]
    faults = tuple(column_faults(table, kind, hive, foreign))
    if faults:
        return broken(kind, faults if first else (), rows)
    try:
        found = typed(table, kind, hive)
    except NotTextError as error:
        return broken(kind, (error.violation,), rows)
    return judged(found, kind)


def judged(table: Table, kind: FlatKind, unit: str = "row") -> FlatRows:
    """Judge typed rows as a whole, and those that are doubtful one by one."""
    valid = kind.is_valid(table)
    if valid.all():
        return FlatRows(table.rows.height, table, Ledger())
    doubtful = _documents(table.filter(~valid))
    others, ledger = sorted_out(kind, ((line, kind.judge(document)) for line, document in doubtful), unit)
    return FlatRows(table.rows.height, stacked([table.filter(valid), others]), ledger)


def _documents(table: Table) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield rows as the documents that they would be in JSON; what is null is left out."""
    whole = table.rows.with_columns(table.of(name, lists).alias(name) for name, lists in table.lists.items())
    for row in whole.iter_rows(named=True):
        line = row.pop(LINE)
        yield line, {name: value for name, value in row.items() if value is not None}


def column_faults(table: AnyTable, kind: FlatKind, hive: Hive = (), foreign: Foreign = NONE) -> Iterator[Violation]:
    """Find the columns that are missing, stand twice, or cannot hold what they must."""
    schema = schema_of(table.schema)
    if isinstance(schema, tuple):
        yield from schema
        return
    told = dict(hive)
    for field in kind.fields:
        column = foreign.get(field.name) or schema.get(field.name)
        if column is None:
            if field.required and field.name not in told:
                yield Violation("missing-column", "there is no such column", field=field.name)
        elif field.name in foreign or not _fits(field, _type_of(table, field.name)):
            message = f"is a column of type {column.told}; it must hold {field.type.told}"
            yield Violation("column-type", message, field=field.name)
        elif field.name in told:
            message = "is told by the folders, and a column in the file; keep one of them"
            yield Violation("hive-differs", message, field=field.name)


def _type_of(table: AnyTable, name: str) -> pl.DataType:
    """Return the type that a column has in the library; ``Unknown`` where it does not know it."""
    if isinstance(table, pl.DataFrame):
        return table.schema[name]
    kind = table.schema.field(name).type
    try:
        return to_polars(pa.array([], kind.value_type if pa.types.is_dictionary(kind) else kind)).dtype
    except (pl.exceptions.PolarsError, pa.ArrowException):
        return pl.Unknown()


def _fits(field: Field, kind: pl.DataType) -> bool:
    if kind == pl.Null:
        return True
    if field.type is TEXT:
        return _is_text(kind)
    if field.type is NAME:
        return _is_text(kind) or kind.is_integer()
    if not isinstance(kind, pl.List | pl.Array):
        return False
    inner = kind.inner
    return inner == pl.Null or (_is_text(inner) if field.type is TEXTS else inner.is_numeric())


def _is_text(kind: Any) -> bool:
    return isinstance(kind, pl.String | pl.Categorical | pl.Enum)


def typed(table: AnyTable, kind: FlatKind, hive: Hive = ()) -> Table:
    """Return a table with the columns of the kind, what is not there as nulls.

    Raises:
        NotTextError: A text is no UTF-8.
    """
    told = dict(hive)
    rows: int = table.shape[0]
    names = set(table.columns if isinstance(table, pl.DataFrame) else table.schema.names)
    columns = [pl.int_range(rows, dtype=pl.UInt32, eager=True).alias(LINE)]
    for field in kind.fields:
        if field.name in names:
            columns.append(_column(table, field))
        else:
            columns.append(pl.repeat(told.get(field.name), rows, dtype=field.type.frame, eager=True))
    return table_of(columns, kind)


def _column(table: AnyTable, field: Field) -> pl.Series:
    if isinstance(table, pl.DataFrame):
        series = table.get_column(field.name)
    else:
        column = table.column(field.name)
        checked = field.type in (TEXT, TEXTS) or (field.type is NAME and not pa.types.is_integer(column.type))
        series = to_polars(checked_texts(column, field.name) if checked else column)
    return series if series.dtype == field.type.frame else series.cast(field.type.frame)


def _moved(ledger: Ledger, lines: int) -> Ledger:
    def put(one: Violation) -> Violation:
        return one if one.line is None else replace(one, line=one.line + lines)

    return replace(ledger, shown=tuple(map(put, ledger.shown)))
