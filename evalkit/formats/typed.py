"""Rows of typed columns to records: judged by expressions over whole columns, read exactly where those do not accept.

Law: whatever the expressions (``judged``) accept, ``reader.read_document`` accepts with the same values, of the row as
a document. The reverse need not hold: every other row is handed to that reader, which alone words what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from evalkit.contracts.contract import Contract
from evalkit.errors import Ledger, Violation
from evalkit.formats.certify import row_type
from evalkit.formats.judged import LINE, Judge, hive_column, scalar_texts, struct_column, written
from evalkit.formats.layout import Column, Layout
from evalkit.formats.patterns import NUMBER
from evalkit.formats.rows import Rows
from evalkit.records.reader import Record, names, read_document
from evalkit.records.strict_json import parse_scalar, show

_NUMBER = re.compile(NUMBER)


def read_typed(frame: pl.DataFrame, layout: Layout, *, every: bool, unit: str = "row") -> Rows:
    """Read rows.

    Args:
        frame: A column for each role of the layout, under the role's name; for each struct that was passed through one
            that tells where it is null; for each column that the folders tell as well one of its texts; and ``line``,
            where rows do not simply count from 0.
        layout: Where it all stood.
        every: Whether the table must hold all records.
        unit: What is counted, for what is said of a row.
    """
    frame = _prepared(frame, layout)
    judge = Judge(frame, layout)
    unscored = pl.lit(value=False) if every else judge.is_unscored()
    marks = frame.select(valid=judge.is_valid(), scored=~unscored)
    valid = marks["valid"]
    table = _table(frame.filter(valid & marks["scored"]), layout)
    if valid.all():
        return Rows(frame.height, frame.height, judge.models, table, Ledger())
    exact = _Exact(layout, unit)
    ledger = Ledger.of(exact.broken(frame.filter(~valid)))
    found = exact.table()
    models = frozenset(frame.filter(valid)["model"].cast(pl.String).unique()) | frozenset(found["model"])
    return Rows(frame.height, frame.height - ledger.lines, models, _stacked([table, found]), ledger)


def joined(parts: Sequence[Rows], contract: Contract) -> Rows:
    """Put the rows of consecutive pieces of a partition together; in each, rows count from 0."""
    if len(parts) == 1:
        return parts[0]
    lines = records = 0
    tables, ledger = [pl.DataFrame(schema=row_type(contract))], Ledger()
    for part in parts:
        tables.append(part.table.with_columns(pl.col(LINE) + lines))
        shown = tuple(replace(one, line=None if one.line is None else one.line + lines) for one in part.ledger.shown)
        ledger += replace(part.ledger, shown=shown)
        lines, records = lines + part.lines, records + part.records
    return Rows(lines, records, frozenset[str]().union(*(part.models for part in parts)), _stacked(tables), ledger)


def nothing(lines: int, contract: Contract, faults: tuple[Violation, ...] = ()) -> Rows:
    """Return the rows of a partition of which none can be read, with what is wrong with all of it."""
    ledger = Ledger.of([faults]) if faults else Ledger()
    return Rows(lines, 0, frozenset(), pl.DataFrame(schema=row_type(contract)), ledger)


def _stacked(tables: Sequence[pl.DataFrame]) -> pl.DataFrame:
    return pl.concat(tables, how="vertical_relaxed")  # texts may be categories in some


def _prepared(frame: pl.DataFrame, layout: Layout) -> pl.DataFrame:
    """Add the row number and what the folders alone tell, and write dates and times as texts."""
    added: dict[str, pl.Expr] = {}
    for role, column in layout.columns.items():
        if column.way[0] in layout.hive:
            added[role] = pl.lit(layout.hive[column.way[0]], pl.String)
        elif column.kind.name == "time":
            added[role] = written(role, frame.schema[role])
    if LINE not in frame.columns:
        added[LINE] = pl.int_range(frame.height, dtype=pl.UInt32)
    return frame.with_columns(**added)


def _table(rows: pl.DataFrame, layout: Layout) -> pl.DataFrame:
    """Return valid rows with the columns of ``certify.row_type``, labels as categories."""
    contract = layout.contract
    labels = pl.Enum(contract.label_texts)

    def label(role: str) -> pl.Expr:
        if layout.columns[role].kind.name in ("whole", "float"):
            place = pl.col(role).cast(pl.Int64) - int(contract.labels[0])
            return place.cast(pl.UInt32).cat.to(labels).alias(role)
        return pl.col(role).cast(labels)

    confidence = pl.col("confidence").cast(pl.Float64).abs()  # turns -0.0 into 0.0, which adding 0.0 does not here
    columns: dict[str, pl.Expr | pl.Series] = {
        **{name: pl.lit(None, kind) for name, kind in row_type(contract).items()},
        **{role: pl.col(role) for role in (LINE, "model", "split")},
        # A copy: a slice of the keys would keep all keys of its partition in memory.
        "subject": pl.concat_str(pl.col("subject").cast(pl.String), pl.lit("")).alias("subject"),
        **{role: label(role) for role in ("truth", "predicted")},
        "confidence": confidence,
        **scalar_texts(rows, layout),
    }
    return rows.select(**columns)


class _Exact:
    """Reads rows one by one as documents: records pile up, the broken rows pass through."""

    def __init__(self, layout: Layout, unit: str) -> None:
        self._layout = layout
        self._unit = unit
        self._floats = {
            column.path: column.kind.told for column in layout.columns.values() if column.kind.name == "float"
        }
        self._records: list[tuple[int, Record]] = []

    def broken(self, rows: pl.DataFrame) -> Iterator[tuple[Violation, ...]]:
        """Yield what is wrong with each broken row."""
        for row in rows.iter_rows(named=True):
            found = read_document(document_of(row, self._layout), self._layout.contract)
            differing = tuple(self._differing(row))
            if isinstance(found, Record) and not differing:
                self._records.append((row[LINE], found))
                continue
            violations = differing if isinstance(found, Record) else (*map(self._explained, found), *differing)
            yield tuple(replace(one, line=row[LINE], unit=self._unit) for one in violations)

    def table(self) -> pl.DataFrame:
        """Return the records read, columns of ``certify.row_type``."""
        kinds = row_type(self._layout.contract)
        rows = [(line, *one[:3], str(one[3]), _text(one[4]), one[5], *one[6]) for line, one in self._records]
        return pl.DataFrame(rows, schema=kinds, orient="row")

    def _explained(self, fault: Violation) -> Violation:
        if fault.rule not in ("truth", "predicted") or fault.field not in self._floats:
            return fault
        return replace(fault, message=f"{fault.message}; the column is of floats ({self._floats[fault.field]})")

    def _differing(self, row: Mapping[str, Any]) -> Iterator[Violation]:
        for name, text in self._layout.checked.items():
            value = row[hive_column(name)]
            if value != text:
                shown = None if name == self._layout.contract.fields.subject else show(value)
                yield Violation("hive-differs", f"must be {show(text)}, as the folders say", field=name, value=shown)


def _text(label: object) -> str | None:
    return None if label is None else str(label)


def document_of(row: Mapping[str, Any], layout: Layout) -> dict[str, Any]:
    """Return a row as the document that it would be in JSON.

    Args:
        row: What ``read_typed`` takes, of one row.
        layout: Where it all stood.
    """
    document: dict[str, Any] = {}
    for role, column in layout.columns.items():
        path, value = names(column.path)[: column.covered], _value(row[role], role, column, layout.contract)
        for depth in range(1, len(column.way)):
            if row[struct_column(column.way[:depth])]:
                path, value = column.names_to(depth), None
                break
        place: Any = document
        for name in path[:-1]:
            place = place.setdefault(name, {})
        place.setdefault(path[-1], value)
    return document


def _value(value: Any, role: str, column: Column, contract: Contract) -> Any:
    """Return a value as JSON would have it."""
    if column.kind.name == "cell" and isinstance(value, str):
        as_number = role == "confidence" or (role in ("truth", "predicted") and contract.label_kind is int)
        return spelled(value) if as_number else value
    if role in ("truth", "predicted") and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def spelled(text: str) -> Any:
    """Return the number that a cell spells as JSON does, else the text."""
    return parse_scalar(text) if _NUMBER.fullmatch(text) else text
