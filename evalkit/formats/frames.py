"""Data frames in Python: of Polars, eager and lazy, of pandas and Arrow, and of whatever exports a stream of Arrow.

What is in memory is cut as it lies there. A lazy frame or a stream is run through once, and kept in a spool for a
second reading.
"""

from __future__ import annotations

import io
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from typing import Any

import polars as pl
import pyarrow as pa

from evalkit.contracts.contract import Contract
from evalkit.errors import Violation
from evalkit.formats import flat_tables
from evalkit.formats.columnar import Foreign, Piece, Table, documents_of, gathered, lay_out_table, read_piece
from evalkit.formats.flat import FlatKind, FlatRows
from evalkit.formats.layout import Kind
from evalkit.formats.rows import Rows
from evalkit.sources.formats import FRAME
from evalkit.sources.partition import Given, Spool
from evalkit.sources.source import BrokenSourceError


def cut(given: Given) -> Iterator[Piece]:
    """Cut a frame; of one without rows the columns are looked at all the same."""
    spool = given.spool or Spool(io.BytesIO())
    try:
        tables, foreign = _tables(given.source.frame, given.rows, spool)
        for number, table in enumerate(tables):
            spool.schema = (table.schema, foreign)
            yield Piece(given.index, number, 0, table, foreign, FRAME)
    except (pa.ArrowException, pl.exceptions.PolarsError, OSError) as error:
        if isinstance(error, MemoryError):
            raise
        said = str(error).strip().partition("\n")[0]
        message = f"cannot be read as a table; {said}"
        raise BrokenSourceError(Violation("frame", message, given.source.label)) from error


def read(partition: Piece, contract: Contract, *, every: bool) -> Rows:
    """Read a piece of a frame."""
    return read_piece(partition, contract, every=every)


def read_flat(partition: Piece, kind: FlatKind) -> Iterator[FlatRows]:
    """Read a piece of a frame as flat records."""
    return flat_tables.read([partition.table], kind, foreign=partition.foreign, first=partition.number == 0)


def documents(partition: Piece) -> Iterator[dict[str, Any]]:
    """Yield rows as objects."""
    return documents_of(partition.table)


def warnings(given: Given, contract: Contract) -> list[str]:
    """Say which labels stand in columns of floats."""
    if given.spool is None or given.spool.schema is None:
        return []
    schema, foreign = given.spool.schema
    layout = lay_out_table(schema, foreign, contract)
    return [] if isinstance(layout, tuple) else layout.remarks


def _tables(frame: Any, rows: int, spool: Spool) -> tuple[Iterable[Table], Foreign]:
    """Return a frame in pieces, and its columns that cannot be handed over."""
    if spool.whole:
        return _again(spool), spool.schema[1]
    foreign: Foreign = {}
    if _is_pandas(frame):
        frame, foreign = _from_pandas(frame)
    elif isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    if isinstance(frame, pl.DataFrame | pa.Table):
        return (frame.slice(start, rows) for start in range(0, max(frame.shape[0], 1), rows)), foreign
    if isinstance(frame, pl.LazyFrame):
        schema = frame.collect_schema()
        foreign = {name: Kind("other", str(kind)) for name, kind in schema.items() if kind == pl.Object}
        frame = frame.drop(foreign)
        none = pl.DataFrame(schema=frame.collect_schema())
        return _kept(gathered(frame.collect_batches(), rows), none, spool), foreign
    reader = pa.RecordBatchReader.from_stream(frame)
    tables = (pa.Table.from_batches([batch]) for batch in reader)
    return _kept(gathered(tables, rows), reader.schema.empty_table(), spool), foreign


def _is_pandas(frame: object) -> bool:
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(frame, pandas.DataFrame)


def _from_pandas(frame: Any) -> tuple[pa.Table, Foreign]:
    """Hand a frame of pandas over, to which NaN is null."""
    twice = [name for name, times in Counter(map(str, frame.columns)).items() if times > 1]
    if twice:
        message = "is the name of several columns; give each a name of its own"
        raise BrokenSourceError(Violation("duplicate-column", message, "frame", field=twice[0]))
    try:
        return pa.Table.from_pandas(frame), {}
    except pa.ArrowException:
        known = [name for name in frame if _is_known(frame[[name]])]
        foreign = {str(name): Kind("other", str(frame.dtypes[name])) for name in frame if name not in known}
        return pa.Table.from_pandas(frame[known]), foreign


def _is_known(column: Any) -> bool:
    try:
        pa.Table.from_pandas(column)
    except pa.ArrowException:
        return False
    return True


def _kept(tables: Iterable[Table], none: Table, spool: Spool) -> Iterator[Table]:
    """Yield tables, and keep them; where there are none, yield one without rows."""
    for table in chain(tables, [none]):
        if table is none and spool.ends:
            break
        if isinstance(table, pl.DataFrame):
            table.write_ipc_stream(spool.file, compat_level=pl.CompatLevel.newest())
        else:
            with pa.ipc.new_stream(spool.file, table.schema) as writer:
                writer.write_table(table)
        spool.ends.append(spool.file.tell())
        yield table
    spool.whole = True


def _again(spool: Spool) -> Iterator[Table]:
    """Yield the tables that were kept."""
    of_polars = isinstance(spool.schema[0], pl.Schema)
    for start, end in pairwise([0, *spool.ends]):
        spool.file.seek(start)
        data = spool.file.read(end - start)
        yield pl.read_ipc_stream(data) if of_polars else pa.ipc.open_stream(data).read_all()
