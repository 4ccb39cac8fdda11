"""Arrow IPC: a file's record batches as partitions, a stream's as they come.

As with Parquet, files are read through a descriptor, not mapped. What a writer put into one batch is read as one, but
only the columns of the contract.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

import pyarrow as pa

from evalkit.contracts.contract import Contract
from evalkit.errors import Violation
from evalkit.formats import flat_tables
from evalkit.formats.columnar import (
    Piece,
    arrow_file,
    documents_of,
    gathered,
    lay_out_table,
    opened,
    read_piece,
    read_tables,
)
from evalkit.formats.flat import FlatKind, FlatRows, broken
from evalkit.formats.rows import Rows
from evalkit.formats.typed import nothing
from evalkit.sources.formats import ARROW, Format
from evalkit.sources.partition import Given
from evalkit.sources.source import BrokenSourceError, Identity, label
from evalkit.sources.urls import read_at

_FILE, _FEATHER = ARROW.magic
_STREAM, _END = b"\xff\xff\xff\xff", b"\xff\xff\xff\xff\0\0\0\0"
_ROW_BYTES = 64
"""About how many bytes a row has: how many batches make a partition need not be exact."""


@dataclass(frozen=True, slots=True)
class Batches:
    """Consecutive record batches of a file."""

    source: int
    number: int
    stored: int
    path: str
    identity: Identity
    batches: range
    piece: int
    format: Format = ARROW


def cut(given: Given) -> Iterator[Batches | Piece]:
    """Cut a file between record batches; of one without any the columns are looked at all the same."""
    path, identity = given.source.name, given.identity
    with _opened(path, identity) as file:
        if read_at(file, len(_FILE), 0) != _FILE:
            yield from _pieces(given, file)
            return
        count = _reader(file).num_record_batches
    step = max(given.rows * _ROW_BYTES * count // max(identity.size, 1), 1)
    for number, start in enumerate(range(0, max(count, 1), step)):
        batches = range(start, min(start + step, count))
        stored = identity.size * len(batches) // max(count, 1)
        yield Batches(given.index, number, stored, path, identity, batches, given.rows)


def _pieces(given: Given, file: IO[bytes]) -> Iterator[Piece]:
    """Cut a stream, whose batches can only be read one after the other."""
    reader = pa.ipc.open_stream(pa.PythonFile(file, mode="r"))
    before = 0
    tables = gathered((pa.Table.from_batches([batch]) for batch in reader), given.rows)
    number = 0
    for number, table in enumerate(tables, 1):
        place = file.tell()
        yield Piece(given.index, number - 1, place - before, table, {}, ARROW)
        before = place
    if number == 0:
        yield Piece(given.index, 0, given.identity.size, reader.schema.empty_table(), {}, ARROW)


def read(partition: Batches | Piece, contract: Contract, *, every: bool) -> Rows:
    """Read record batches."""
    if isinstance(partition, Piece):
        return read_piece(partition, contract, every=every)
    try:
        with _opened(partition.path, partition.identity) as file:
            layout = lay_out_table(_reader(file).schema, {}, contract)
            if isinstance(layout, tuple):  # once a source
                return nothing(0, contract, layout if partition.number == 0 else ())
            needed = {column.way[0] for column in layout.columns.values()}
            tables = _tables(file, partition, needed)
            return read_tables(tables, layout, contract, every=every)
    except BrokenSourceError as error:
        return nothing(0, contract, (error.violation,))


def read_flat(partition: Batches | Piece, kind: FlatKind) -> Iterator[FlatRows]:
    """Read record batches as flat records."""
    first = partition.number == 0
    if isinstance(partition, Piece):
        yield from flat_tables.read([partition.table], kind, first=first)
        return
    try:
        with _opened(partition.path, partition.identity) as file:
            faults = tuple(flat_tables.column_faults(_reader(file).schema.empty_table(), kind))
            if faults:
                yield broken(kind, faults if first else ())
                return
            tables = _tables(file, partition, {field.name for field in kind.fields})
            yield from flat_tables.read(tables, kind, first=first)
    except BrokenSourceError as error:
        yield broken(kind, (error.violation,))


def documents(partition: Batches | Piece) -> Iterator[dict[str, Any]]:
    """Yield rows as objects."""
    if isinstance(partition, Piece):
        yield from documents_of(partition.table)
        return
    with _opened(partition.path, partition.identity) as file:
        reader = _reader(file)
        for place in partition.batches:
            yield from documents_of(reader.get_batch(place))


def warnings(given: Given, contract: Contract) -> list[str]:
    """Say which labels stand in columns of floats."""
    with _opened(given.source.name, given.identity) as file:
        is_file = read_at(file, len(_FILE), 0) == _FILE
        schema = (_reader(file) if is_file else pa.ipc.open_stream(pa.PythonFile(file, mode="r"))).schema
    layout = lay_out_table(schema, {}, contract)
    return [] if isinstance(layout, tuple) else layout.remarks


def _tables(file: IO[bytes], partition: Batches, needed: set[str]) -> Iterator[pa.Table]:
    places = [place for place, name in enumerate(_reader(file).schema.names) if name in needed]
    reader = _reader(file, included_fields=places)
    for place in partition.batches:
        yield from gathered([pa.Table.from_batches([reader.get_batch(place)])], partition.piece)


def _reader(file: IO[bytes], **options: Any) -> Any:
    file.seek(0)
    return pa.ipc.open_file(arrow_file(file), options=pa.ipc.IpcReadOptions(**options))


@contextmanager
def _opened(path: str, identity: Identity) -> Iterator[IO[bytes]]:
    with opened(path, identity, "arrow-broken") as file:
        _check_ends(path, file, identity.size)
        yield file


def _check_ends(path: str, file: IO[bytes], size: int) -> None:
    head, tail = read_at(file, 8, 0), read_at(file, 8, max(size - 8, 0))
    if head.startswith(_FEATHER):
        message = "is Feather of version 1; write it again as version 2, which is Arrow IPC"
    elif not head.startswith((_FILE, _STREAM)):
        message = "is named as Arrow IPC and is none"
    elif not tail.endswith(_FILE if head.startswith(_FILE) else _END):
        message = "is cut off: it has no end as Arrow IPC has; copy it again, or wait until its writer is done"
    else:
        return
    raise BrokenSourceError(Violation("arrow-broken", message, label(path)))
