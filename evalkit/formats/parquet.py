"""Parquet: row groups as partitions, of which only the columns of the contract are read.

Files are read by Arrow through a descriptor of their own, not mapped: a file that is cut off meanwhile is a refusal,
where a mapped one would end the process. A row group of any size is read in pieces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import IO, Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from polars.selectors import by_name

from evalkit.contracts.contract import Contract
from evalkit.errors import Violation
from evalkit.formats import flat_tables
from evalkit.formats.columnar import Table, arrow_file, documents_of, read_tables, schema_of
from evalkit.formats.converted import is_converted, lay_out_converted, notes_of
from evalkit.formats.flat import FlatKind, FlatRows, broken
from evalkit.formats.layout import Layout, lay_out
from evalkit.formats.parquet_file import Footer, footer_of, has_checksums, opened_parquet
from evalkit.formats.rows import Rows
from evalkit.formats.typed import nothing
from evalkit.sources.dataset import Hive
from evalkit.sources.formats import PARQUET, Format
from evalkit.sources.partition import Given
from evalkit.sources.source import BrokenSourceError, Evidence, Identity, Source
from evalkit.sources.urls import Stored

_BUFFER = 1024 * 1024
"""Bytes of a column that are read ahead; without such a limit a column of a large row group is in memory whole."""

_REQUEST = 8 * 1024 * 1024
"""The same where each such stretch is a request to a store."""

_FEW = 1024
_PIECES = 16
"""Pieces of a partition up to which they are read one by one; a row group of more is read in a stream."""


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
        with opened_parquet(partition.path, partition.identity) as file:
            return read_tables(_tables(file, partition, Columns.of(layout)), layout, contract, every=every)
    except BrokenSourceError as error:
        return nothing(partition.rows, contract, (error.violation,))


def documents(partition: RowGroups) -> Iterator[dict[str, Any]]:
    """Yield rows as objects."""
    with opened_parquet(partition.path, partition.identity) as file:
        batches = pq.ParquetFile(arrow_file(file)).iter_batches(_FEW, row_groups=list(partition.groups))
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


@dataclass(frozen=True, slots=True)
class Columns:
    """What is read of a file.

    Attributes:
        whole: The columns.
        inside: What is read of them, as dotted ways.
        repeated: The columns of texts that come as dictionaries.
    """

    whole: Sequence[str]
    inside: Sequence[str]
    repeated: Sequence[str] = ()

    @classmethod
    def of(cls, layout: Layout) -> Columns:
        """Return what a layout needs."""
        # Repeated texts come as dictionaries, which costs a third; inside structs Arrow cannot put those together.
        texts = [
            column.way[0]
            for role, column in layout.columns.items()
            if role != "subject" and column.kind.name == "text" and len(column.way) == 1
        ]
        whole = dict.fromkeys([*(column.way[0] for column in layout.stored), *layout.checked])
        return cls(list(whole), [*(".".join(column.way) for column in layout.stored), *layout.checked], texts)


def read_flat(partition: RowGroups, kind: FlatKind) -> Iterator[FlatRows]:
    """Read row groups as flat records."""
    first = partition.number == 0
    try:
        footer = footer_of(partition.path, partition.identity)
        faults = tuple(flat_tables.column_faults(footer.schema.empty_table(), kind, partition.hive))
        if faults:
            yield broken(kind, faults if first else (), partition.rows)
            return
        names = [field.name for field in kind.fields if field.name in footer.schema.names]
        rows = replace(partition, piece=_rows_of(footer, partition, names))
        with opened_parquet(partition.path, partition.identity) as file:
            tables = _tables(file, rows, Columns(names, names))
            yield from flat_tables.read(tables, kind, hive=partition.hive, first=first)
    except BrokenSourceError as error:
        yield broken(kind, (error.violation,), partition.rows)


def _rows_of(footer: Footer, partition: RowGroups, names: Sequence[str]) -> int:
    """Return how many rows to read at a time, so that they do not hold too many values of lists."""
    values = 0
    for place in partition.groups:
        group = footer.metadata.row_group(place)
        for column in map(group.column, range(group.num_columns)):
            if column.path_in_schema.partition(".")[0] in names:
                values += column.num_values
    return min(partition.piece, max(partition.rows * flat_tables.VALUES // max(values, 1), 1))


def _tables(file: IO[bytes], partition: RowGroups, columns: Columns) -> Iterator[Table]:
    """Read columns, piece by piece.

    Polars decodes in half the time. Arrow is asked where pages carry a checksum, which it alone verifies, where row
    groups are so large that they must be read in a stream, and where Polars fails: it says what is wrong.
    """
    footer = footer_of(partition.path, partition.identity)
    done = 0
    stored = isinstance(file, Stored)  # Polars would look for credentials of its own
    if not stored and partition.rows <= _PIECES * partition.piece and not has_checksums(file, footer.metadata):
        try:
            for frame in _by_polars(partition, columns, done):
                yield frame
                done += frame.height
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException):
            yield from _by_arrow(file, partition, columns, done)
        return
    try:
        for batch in _by_arrow(file, partition, columns, done):
            yield batch
            done += batch.num_rows
    except pa.ArrowNotImplementedError:  # dictionaries inside structs, of several row groups
        if stored:
            yield from _by_arrow(file, partition, columns, done, apart=True)
        else:
            yield from _by_polars(partition, columns, done)


def _by_arrow(
    file: IO[bytes], partition: RowGroups, columns: Columns, done: int, *, apart: bool = False
) -> Iterator[pa.RecordBatch]:
    """Read the rows after the first ``done``, each row group apart or not, and verify the checksums of pages."""
    parquet = pq.ParquetFile(
        arrow_file(file),
        metadata=footer_of(partition.path, partition.identity).metadata,
        read_dictionary=list(columns.repeated),
        buffer_size=_REQUEST if isinstance(file, Stored) else _BUFFER,
        pre_buffer=False,
        page_checksum_verification=True,
    )
    groups = list(partition.groups)
    for some in [[one] for one in groups] if apart else [groups]:
        for batch in parquet.iter_batches(partition.piece, row_groups=some, columns=list(columns.inside)):
            skipped = min(done, batch.num_rows)
            done -= skipped
            if skipped < batch.num_rows:
                yield batch.slice(skipped)


def _by_polars(partition: RowGroups, columns: Columns, done: int) -> Iterator[pl.DataFrame]:
    """Read the rows after the first ``done``."""
    rows = pl.scan_parquet(partition.path, glob=False).select(by_name(*columns.whole))
    for start in range(done, partition.rows, partition.piece):
        size = min(partition.piece, partition.rows - start)
        yield rows.slice(partition.first + start, size).collect()
