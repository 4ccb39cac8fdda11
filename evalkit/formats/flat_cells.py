"""Cells of CSV as flat records: a text is its cell, a list is a cell that spells it in JSON; an empty cell is null."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from evalkit.errors import Ledger, Refusal, Violation
from evalkit.formats.flat import (
    LINE,
    NAME,
    TEXT,
    FlatKind,
    FlatRows,
    Table,
    Values,
    nothing,
    sorted_out,
    stacked,
    table_of,
)
from evalkit.records.strict_json import parse_object


def read(cells: pl.DataFrame, kind: FlatKind) -> FlatRows:
    """Read rows of cells: columns of texts, and ``line``."""
    try:
        table, spelled = _parsed(cells, kind)
        valid = kind.is_valid(table) & spelled
    except pl.exceptions.ComputeError:  # a number that no float holds
        table = nothing(kind)
        valid = pl.repeat(value=False, n=cells.height, eager=True)
    if valid.all():
        return FlatRows(cells.height, table, Ledger())
    doubtful = cells.filter(~valid).iter_rows(named=True)
    others, ledger = sorted_out(kind, ((row[LINE], _exactly(row, kind)) for row in doubtful))
    sure = table.filter(valid) if table.rows.height else table
    return FlatRows(cells.height, stacked([sure, others]), ledger)


def _parsed(cells: pl.DataFrame, kind: FlatKind) -> tuple[Table, pl.Series]:
    """Return the table of the fields, and which rows have no cell that the patterns do not take."""
    spelled = pl.repeat(value=True, n=cells.height, eager=True)
    columns = [cells[LINE].cast(pl.UInt32)]
    for field in kind.fields:
        if field.name not in cells.columns:
            columns.append(pl.repeat(None, cells.height, dtype=field.type.frame, eager=True))
            continue
        column = cells[field.name]
        if field.type not in (TEXT, NAME):
            taken = column.str.contains(f"^{field.type.pattern}$")
            spelled &= taken.fill_null(value=True)
            sound = pl.select(pl.when(taken).then(column)).to_series()
            column = sound.str.json_decode(field.type.frame)
        columns.append(column)
    return table_of(columns, kind), spelled


def _exactly(row: Mapping[str, Any], kind: FlatKind) -> Values | tuple[Violation, ...]:
    """Judge a row as the document that it would be in JSON."""
    document: dict[str, Any] = {}
    for field in kind.fields:
        cell = row.get(field.name)
        if cell is not None:
            document[field.name] = cell if field.type in (TEXT, NAME) else _value(cell)
    return kind.judge(document)


def _value(cell: str) -> Any:
    """Return what a cell spells in JSON, or its text where it spells nothing."""
    try:
        found, faults = parse_object(f'{{"":{cell}}}'.encode())
    except Refusal:
        return cell
    return cell if faults or list(found) != [""] else found[""]
