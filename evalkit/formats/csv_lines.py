"""CSV: blocks of whole rows, parsed by Arrow where every row is surely sound, and to the letter where one may not be.

Cells are texts that spell their values as JSON does. An empty cell is null.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice, zip_longest
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.csv as pc

from evalkit.contracts.contract import Contract
from evalkit.errors import SHOWN_LINES, Ledger, Refusal, Violation
from evalkit.formats import flat_cells
from evalkit.formats.columnar import columns_of, to_polars
from evalkit.formats.csv_cells import EndlessRowError, cells_of, header_faults, is_blank, rows_of, whole_rows
from evalkit.formats.flat import FlatKind, FlatRows, broken
from evalkit.formats.judged import LINE
from evalkit.formats.layout import CELL, Layout, lay_out
from evalkit.formats.rows import Rows
from evalkit.formats.typed import nothing, read_typed, spelled
from evalkit.records.strict_json import MAX_LINE
from evalkit.sources.formats import CSV, Format
from evalkit.sources.partition import Given
from evalkit.sources.source import BrokenSourceError
from evalkit.sources.stream import without_mark

_MARK = b"\xef\xbb\xbf"
_PACKED = (b"\x1f\x8b", b"\x28\xb5", b"x\x01", b"x^", b"x\x9c", b"x\xda")
"""First bytes for which Polars would take lines to be compressed."""

_FEW = 1024
_MANY = 200
"""Columns from which on no pattern is written for a row."""


@dataclass(frozen=True, slots=True)
class Cells:
    """Rows that were read already.

    Attributes:
        source: Which source they are from.
        number: The partition's place in it.
        stored: How many stored bytes it stands for.
        data: The rows.
        header: The names of the columns; none where the header is yet to come.
        before: How many lines of the partition stand before the rows.
        lines: How many lines it has, these included.
        headed: The line that the header is in; None where it is in an earlier partition, or yet to come.
    """

    source: int
    number: int
    stored: int
    data: bytes
    header: tuple[str, ...]
    before: int
    lines: int
    headed: int | None
    format: Format = CSV


def cut(given: Given) -> Iterator[Cells]:
    """Cut a source into blocks of whole rows, and take the header off."""
    header: tuple[str, ...] = ()
    total = number = 0
    if given.stream is None:
        raise TypeError(given.source)
    try:
        for number, (block, stored) in enumerate(given.stream.measured(whole_rows(given.stream.text, given.size))):
            data = without_mark(block, first=number == 0)
            lines = data.count(b"\n") + (not data.endswith(b"\n") and bool(data))
            before, headed = 0, None
            if not header:
                header, headed, before = _header(data, given.source.label, total)
                data = _without_lines(data, before)
            yield Cells(given.index, number, stored, data, header, before, lines, headed)
            total += lines
    except EndlessRowError as error:
        line = total + error.lines + 1
        raise BrokenSourceError(replace(error.violation, file=given.source.label, line=line)) from None


def _header(data: bytes, name: str, lines: int) -> tuple[tuple[str, ...], int | None, int]:
    """Return the names of the columns, their line, and how many lines there are up to the first row of the others."""
    for line, row in rows_of(data):
        if not is_blank(row):
            try:
                return tuple(cells_of(row)), line, line + row.count(b"\n") + 1
            except Refusal as refusal:
                violation = refusal.violations[0]
                raise BrokenSourceError(replace(violation, file=name, line=lines + line + 1)) from None
    return (), None, data.count(b"\n") + 1


def _without_lines(data: bytes, lines: int) -> bytes:
    place = 0
    for _ in range(lines):
        place = data.find(b"\n", place) + 1
        if place == 0:
            return b""
    return data[place:]


def read(partition: Cells, contract: Contract, *, every: bool) -> Rows:
    """Read rows of cells."""
    if not partition.header:
        return nothing(partition.lines, contract)
    layout = _laid_out(partition, contract)
    if isinstance(layout, tuple):
        return nothing(partition.lines, contract, () if partition.headed is None else layout)
    needed = list(dict.fromkeys(column.way[0] for column in layout.columns.values()))
    faults: list[tuple[int, Violation]] = []
    table = _parsed(partition, needed)
    if table is None:
        cells = _parsed_exactly(partition, needed, faults)
        frame = columns_of(cells.drop(_COUNTED), layout).with_columns(cells[_COUNTED].alias(LINE))
    else:
        frame = columns_of(table, layout).with_columns(_counted(partition, table).alias(LINE))
    rows = read_typed(frame, layout, every=every, unit="line")
    return replace(rows, lines=partition.lines, ledger=_with(rows.ledger, faults))


def _counted(partition: Cells, table: pa.Table) -> pl.Series:
    """Number the lines of a table of which each row is one."""
    return pl.int_range(partition.before, partition.before + table.num_rows, dtype=pl.UInt32, eager=True)


def _with(ledger: Ledger, faults: list[tuple[int, Violation]]) -> Ledger:
    return _merged(ledger, Ledger.of((replace(fault, line=line),) for line, fault in faults))


def read_flat(partition: Cells, kind: FlatKind) -> Iterator[FlatRows]:
    """Read rows of cells as flat records; a list is a cell that spells it in JSON."""
    if not partition.header:
        yield broken(kind, (), partition.lines)
        return
    wanted = [field.name for field in kind.fields]
    wrong = [replace(fault, line=partition.headed) for fault in header_faults(partition.header)]
    for field in kind.fields:
        if field.required and field.name not in partition.header:
            message = "there is no such column; the first line must be a header, with commas between the names"
            wrong.append(Violation("missing-column", message, line=partition.headed, field=field.name))
    if wrong:
        yield broken(kind, () if partition.headed is None else tuple(wrong), partition.lines)
        return
    needed = [name for name in wanted if name in partition.header]
    faults: list[tuple[int, Violation]] = []
    table = _parsed(partition, needed)
    if table is None:
        cells = _parsed_exactly(partition, needed, faults).rename({_COUNTED: LINE})
    else:
        texts = pl.DataFrame([to_polars(table.column(name)).alias(name) for name in needed])
        cells = texts.insert_column(0, _counted(partition, table).alias(LINE))
    rows = flat_cells.read(cells, kind)
    yield replace(rows, lines=partition.lines, ledger=_with(rows.ledger, faults))


def _laid_out(partition: Cells, contract: Contract) -> Layout | tuple[Violation, ...]:
    """Find the contract's fields among the columns; what names none of them is no header."""
    wanted = asdict(contract.fields).values()
    if not set(partition.header).intersection(wanted):
        words = "the first line must be a header, with commas between the names; it names none of"
        return (Violation("csv-header", f"{words} {', '.join(wanted)}", line=partition.headed),)
    faults = tuple(replace(fault, line=partition.headed) for fault in header_faults(partition.header))
    return faults or lay_out(dict.fromkeys(partition.header, CELL), contract)


def _merged(one: Ledger, other: Ledger) -> Ledger:
    """Add ledgers of different lines of one partition."""
    if not one.lines or not other.lines:
        return one if one.lines else other
    shown = sorted((*one.shown, *other.shown), key=lambda fault: fault.line or 0)
    lines = sorted({fault.line or 0 for fault in shown})[:SHOWN_LINES]
    both = one + other
    return Ledger(tuple(fault for fault in shown if (fault.line or 0) in lines), both.counts, both.lines)


def _parsed(partition: Cells, needed: Sequence[str]) -> pa.Table | None:
    """Parse the rows where each of them is one line and surely sound; None where one may not be.

    Arrow counts the cells of each row, and takes none that is not UTF-8. It lets misplaced quotes through, ends rows at
    lone carriage returns, and takes a blank line for a row of nulls: so all those are looked for.
    """
    data, columns = partition.data, len(partition.header)
    quoted = b'"' in data
    if len(data) > MAX_LINE or data.startswith(_MARK) or b"\n" + _MARK in data or b"\0" in data:
        return None
    if data.count(b"\r") != data.count(b"\r\n") or (quoted and not _is_regular(data, columns)):
        return None
    data = data.rstrip(b"\r\n")
    if not data:
        return pa.table({name: pa.nulls(0, pa.string()) for name in needed})
    if data.startswith((b"\n", b"\r\n")) or b"\n\n" in data or b"\n\r\n" in data:
        return None
    read = pc.ReadOptions(column_names=partition.header, use_threads=False, block_size=len(data) + 1)
    parse = pc.ParseOptions(quote_char='"' if quoted else False, ignore_empty_lines=False)
    convert = pc.ConvertOptions(
        column_types=dict.fromkeys(needed, pa.string()),
        include_columns=needed,
        null_values=[""],
        strings_can_be_null=True,
    )
    try:
        return pc.read_csv(pa.py_buffer(data), read, parse, convert)
    except pa.ArrowInvalid:
        return None


def _is_regular(data: bytes, columns: int) -> bool:
    """Tell whether every line is a row with the right number of cells, quoted from end to end where they are at all."""
    if columns > _MANY or data.startswith(_PACKED):
        return False
    cell = r'(?:"(?:[^"]|"")*"|[^",]*)'
    pattern = f"^{cell}(?:,{cell}){{{columns - 1}}}$"
    try:
        found = pl.scan_lines(data, name="text").select(pl.col("text").str.contains(pattern).all()).collect()
    except pl.exceptions.ComputeError:  # not UTF-8
        return False
    return bool(found.item())


_COUNTED = "line:"
"""The column of line numbers beside columns of any names."""


def _parsed_exactly(partition: Cells, needed: Sequence[str], faults: list[tuple[int, Violation]]) -> pl.DataFrame:
    """Parse row by row, and note what is wrong with those that are none."""
    places = [partition.header.index(name) for name in needed]
    lines: list[int] = []
    columns: list[list[str | None]] = [[] for _ in needed]
    for line, row in rows_of(partition.data):
        if is_blank(row):
            continue
        try:
            cells = cells_of(row)
            if len(cells) != len(partition.header):
                message = f"has {len(cells)} cells; the header has {len(partition.header)}"
                raise Refusal.of(Violation("csv-cells", message))
        except Refusal as refusal:
            faults.append((partition.before + line, refusal.violations[0]))
            continue
        lines.append(partition.before + line)
        for column, place in zip(columns, places, strict=True):
            column.append(cells[place] or None)
    table = pl.DataFrame(dict(zip(needed, columns, strict=True)), schema=dict.fromkeys(needed, pl.String))
    return table.with_columns(pl.Series(_COUNTED, lines, pl.UInt32))


def documents(partition: Cells) -> Iterator[dict[str, Any]]:
    """Yield the first rows as objects: numbers where all cells of a column spell one as JSON does, null where empty.

    Raises:
        Refusal: A row is no CSV.
    """
    rows = islice((row for _, row in rows_of(partition.data) if not is_blank(row)), _FEW)
    columns = {
        name: list(cells) for name, cells in zip(partition.header, zip_longest(*map(cells_of, rows)), strict=False)
    }
    for name, cells in columns.items():
        said = [spelled(cell) if cell else None for cell in cells]
        columns[name] = [cell or None for cell in cells] if any(isinstance(one, str) for one in said) else said
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))
