"""Parquet: row groups as partitions, of which only the columns of the contract are read.

Files are read by Arrow through a descriptor of their own, not mapped: a file that is cut off meanwhile is a refusal,
where a mapped one would end the process. A row group of any size is read in pieces.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from typing import IO, Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from polars.selectors import by_name

from evalkit.contracts.contract import Contract
from evalkit.errors import Violation
from evalkit.formats.columnar import Table, documents_of, opened, read_tables, schema_of
from evalkit.formats.converted import is_converted, lay_out_converted, notes_of
from evalkit.formats.layout import Layout, lay_out
from evalkit.formats.rows import Rows
from evalkit.formats.typed import nothing
from evalkit.sources.dataset import Hive
from evalkit.sources.formats import PARQUET, Format
from evalkit.sources.partition import Given
from evalkit.sources.source import BrokenSourceError, Evidence, Identity, Source, label

_BUFFER = 1024 * 1024
_FEW = 1024
"""Bytes of a column that are read ahead; without such a limit a column of a large row group is in memory whole."""


@dataclass(frozen=True, slots=True)
class RowGroups:
    """Consecutive row groups of a file."""

    source: int
    number: int
    stored: int
    path: str
    identity: Identity
    hive: Hive
    groups: range
    first: int
    rows: int
    piece: int
    format: Format = PARQUET


@dataclass(frozen=True, slots=True)
class Footer:
    """What the end of a file tells."""

    metadata: Any
    schema: pa.Schema


def cut(given: Given) -> Iterator[RowGroups]:
    """Cut a file between row groups; of one without any the columns are looked at all the same."""
    source, identity = given.source, given.identity
    footer = footer_of(source.name, identity)
    sizes = [footer.metadata.row_group(place).num_rows for place in range(footer.metadata.num_row_groups)]
    ends = list(accumulate(sizes, initial=0))
    before = 0
    for number, groups in enumerate(_ranges(sizes, given.rows)):
        first = ends[groups.start]
        rows = ends[groups.stop] - first
        stop = identity.size * ends[groups.stop] // max(ends[-1], 1)
        name, hive = source.name, source.hive
        yield RowGroups(given.index, number, stop - before, name, identity, hive, groups, first, rows, given.rows)
        before = stop


def _ranges(sizes: list[int], least: int) -> Iterator[range]:
    """Put row groups together until they have rows enough."""
    first = rows = 0
    for place, size in enumerate(sizes):
        rows += size
        if rows >= least or place + 1 == len(sizes):
            yield range(first, place + 1)
            first, rows = place + 1, 0
    if not sizes:
        yield range(0)


def read(partition: RowGroups, contract: Contract, *, every: bool) -> Rows:
    """Read row groups."""
    try:
        layout = layout_of(footer_of(partition.path, partition.identity), contract, partition.hive)
        if isinstance(layout, tuple):  # once a source
            return nothing(partition.rows, contract, layout if partition.number == 0 else ())
        with _opened(partition.path, partition.identity) as file:
            return read_tables(_tables(file, partition, layout), layout, contract, every=every)
    except BrokenSourceError as error:
        return nothing(partition.rows, contract, (error.violation,))


def documents(partition: RowGroups) -> Iterator[dict[str, Any]]:
    """Yield rows as objects."""
    with _opened(partition.path, partition.identity) as file:
        batches = pq.ParquetFile(file).iter_batches(_FEW, row_groups=list(partition.groups))
        for batch in batches:
            yield from documents_of(batch)


def warnings(given: Given, contract: Contract) -> list[str]:
    """Say which labels stand in columns of floats."""
    layout = layout_of(footer_of(given.source.name, given.identity), contract, given.source.hive)
    return [] if isinstance(layout, tuple) else layout.remarks


def layout_of(footer: Footer, contract: Contract, hive: Hive) -> Layout | tuple[Violation, ...]:
    """Find the contract's fields in a file."""
    schema = schema_of(footer.schema)
    if isinstance(schema, tuple):
        return schema
    notes = footer.metadata.metadata
    return lay_out_converted(schema, notes, contract) if is_converted(notes) else lay_out(schema, contract, hive)


def converted_from(source: Source) -> tuple[Evidence, ...] | None:
    """Return the evidence of what a file was converted from."""
    if source.identity is None:
        return None
    notes = footer_of(source.name, source.identity).metadata.metadata
    return notes_of(notes).evidence if is_converted(notes) else None


@lru_cache(maxsize=64)
def footer_of(path: str, identity: Identity) -> Footer:
    """Read the end of a file.

    Raises:
        BrokenSourceError: It is no whole Parquet file, or an encrypted one.
    """
    with _opened(path, identity) as file:
        parquet = pq.ParquetFile(pa.PythonFile(file, mode="r"))
        return Footer(parquet.metadata, parquet.schema_arrow)


def _tables(file: IO[bytes], partition: RowGroups, layout: Layout) -> Iterator[Table]:
    """Read the columns of a layout, piece by piece.

    Polars decodes in half the time. Arrow is asked where pages carry a checksum, which it alone verifies, where row
    groups are so large that they must be read in a stream, and where Polars fails: it says what is wrong.
    """
    footer = footer_of(partition.path, partition.identity)
    done = 0
    if partition.rows <= 4 * partition.piece and not _has_checksums(file, footer.metadata):
        try:
            for frame in _by_polars(partition, layout, done):
                yield frame
                done += frame.height
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            yield from _by_arrow(file, partition, layout, done)
        return
    try:
        for batch in _by_arrow(file, partition, layout, done):
            yield batch
            done += batch.num_rows
    except pa.ArrowNotImplementedError:  # dictionaries inside structs, of several row groups
        yield from _by_polars(partition, layout, done)


def _by_arrow(file: IO[bytes], partition: RowGroups, layout: Layout, done: int) -> Iterator[pa.RecordBatch]:
    """Read the rows after the first ``done``, and verify the checksums of pages."""
    # Repeated texts come as dictionaries, which costs a third; inside structs Arrow cannot put those together.
    texts = [
        column.way[0]
        for role, column in layout.columns.items()
        if role != "subject" and column.kind.name == "text" and len(column.way) == 1
    ]
    parquet = pq.ParquetFile(
        pa.PythonFile(file, mode="r"),
        metadata=footer_of(partition.path, partition.identity).metadata,
        read_dictionary=texts,
        buffer_size=_BUFFER,
        pre_buffer=False,
        page_checksum_verification=True,
    )
    columns = [*(".".join(column.way) for column in layout.stored), *layout.checked]
    for batch in parquet.iter_batches(partition.piece, row_groups=list(partition.groups), columns=columns):
        skipped = min(done, batch.num_rows)
        done -= skipped
        if skipped < batch.num_rows:
            yield batch.slice(skipped)


def _by_polars(partition: RowGroups, layout: Layout, done: int) -> Iterator[pl.DataFrame]:
    """Read the rows after the first ``done``."""
    names = dict.fromkeys([*(column.way[0] for column in layout.stored), *layout.checked])
    rows = pl.scan_parquet(partition.path, glob=False).select(by_name(*names))
    for start in range(done, partition.rows, partition.piece):
        size = min(partition.piece, partition.rows - start)
        yield rows.slice(partition.first + start, size).collect()


_SIZES, _CHECKSUM = 3, b"\x15"
"""A page begins with its kind and two sizes, each a number of the compact Thrift protocol; then may come a checksum."""


def _has_checksums(file: IO[bytes], metadata: Any) -> bool:
    """Tell whether the first page of the first column carries a checksum: writers give one to all pages or to none."""
    if not metadata.num_row_groups or not metadata.num_columns:
        return False
    column = metadata.row_group(0).column(0)
    starts = [place for place in (column.dictionary_page_offset, column.data_page_offset) if place]
    head = os.pread(file.fileno(), 64, min(starts, default=0))
    place = 0
    for _ in range(_SIZES):
        place += 1
        while place < len(head) and head[place] & 0x80:
            place += 1
        place += 1
    return head[place : place + 1] == _CHECKSUM


@contextmanager
def _opened(path: str, identity: Identity) -> Iterator[IO[bytes]]:
    try:
        with opened(path, identity, "parquet-broken") as file:
            _check_ends(path, file.fileno(), identity.size)
            yield file
    except BrokenSourceError as error:
        if "decrypt" in error.violation.message.lower():  # columns may be encrypted where the end of the file is not
            raise _encrypted(path) from None
        raise


def _check_ends(path: str, fd: int, size: int) -> None:
    head, tail = os.pread(fd, 4, 0), os.pread(fd, 4, max(size - 4, 0))
    plain, encrypted = PARQUET.magic
    if encrypted in (head, tail):
        raise _encrypted(path)
    if head != plain:
        message = "is named as Parquet and is none"
    elif tail != plain or size < 12:
        message = "is cut off: it has no end as Parquet has; copy it again, or wait until its writer is done"
    else:
        return
    raise BrokenSourceError(Violation("parquet-broken", message, label(path)))


def _encrypted(path: str) -> BrokenSourceError:
    message = "is encrypted; write it again in the clear, or name what it was made from"
    return BrokenSourceError(Violation("parquet-encrypted", message, label(path)))
