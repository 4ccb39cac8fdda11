"""Cells of CSV as flat records: a text is its cell, a list is a cell that spells it in JSON; an empty cell is null."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl

from evalkit.errors import Ledger, Refusal, Violation
from evalkit.formats.flat import LINE, TEXT, FlatKind, FlatRows, Values, frame_of, frame_type, is_violations
from evalkit.records.strict_json import parse_object


def read(cells: pl.DataFrame, kind: FlatKind) -> FlatRows:
    """Read rows of cells: columns of texts, and ``line``."""
    try:
        frame, spelled = _parsed(cells, kind)
        valid = kind.is_valid(frame) & spelled
    except pl.exceptions.ComputeError:  # a number that no float holds
        frame, valid = frame_of(kind, [], []), pl.repeat(value=False, n=cells.height, eager=True)
    if valid.len() == frame.height and valid.all():
        return FlatRows(frame.height, frame, Ledger())
    lines: list[int] = []
    records: list[Values] = []
    broken: list[tuple[Violation, ...]] = []
    for row in cells.filter(~valid).iter_rows(named=True):
        found = _exactly(row, kind)
        if is_violations(found):
            broken.append(tuple(replace(one, line=row[LINE]) for one in found))
        else:
            lines.append(row[LINE])
            records.append(found)
    sure = frame.filter(valid) if frame.height else frame
    return FlatRows(cells.height, pl.concat([sure, frame_of(kind, lines, records)]), Ledger.of(broken))


def _parsed(cells: pl.DataFrame, kind: FlatKind) -> tuple[pl.DataFrame, pl.Series]:
    """Return the frame of the fields, and which rows have no cell that the patterns do not take."""
    spelled = pl.repeat(value=True, n=cells.height, eager=True)
    columns = [cells[LINE].cast(pl.UInt32)]
    for field in kind.fields:
        kept = frame_type(kind)[field.name]
        if field.name not in cells.columns:
            columns.append(pl.repeat(None, cells.height, dtype=kept, eager=True).alias(field.name))
            continue
        column = cells[field.name]
        if field.type is not TEXT:
            taken = column.str.contains(f"^{field.type.pattern}$")
            spelled &= taken.fill_null(value=True)
            sound = pl.select(pl.when(taken).then(column)).to_series()
            column = sound.str.json_decode(kept)
        columns.append(column.alias(field.name))
    return pl.DataFrame(columns), spelled


def _exactly(row: Mapping[str, Any], kind: FlatKind) -> Values | tuple[Violation, ...]:
    """Judge a row as the document that it would be in JSON."""
    document: dict[str, Any] = {}
    for field in kind.fields:
        cell = row.get(field.name)
        if cell is not None:
            document[field.name] = cell if field.type is TEXT else _value(cell)
    return kind.judge(document)


def _value(cell: str) -> Any:
    """Return what a cell spells in JSON, or its text where it spells nothing."""
    try:
        found, faults = parse_object(f'{{"":{cell}}}'.encode())
    except Refusal:
        return cell
    return cell if faults or list(found) != [""] else found[""]
