"""Flat records: objects with a few fields of plain types, read from any format into one frame.

A kind of record names its fields, judges one document exactly, and tells the rows of a frame that are surely valid. The
exact judge is the definition: whatever the fast paths (``flat_lines``, ``flat_tables``) take without asking it, it
accepts with the same values, and it alone words what is wrong with the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import polars as pl

from evalkit.errors import Ledger, Violation
from evalkit.formats.patterns import ESCAPE, NUMBER, PLAIN, array_of

LINE = "line"
"""The column that counts a partition's lines, or rows, from 0."""

Values = tuple[Any, ...]
"""The values of a valid record, in the order of its fields."""


@dataclass(frozen=True, slots=True)
class FieldType:
    """What a field holds.

    Attributes:
        told: What it must hold, in words.
        frame: The type of its column.
        pattern: Matches its JSON.
        plain: The same without escapes in texts.
    """

    told: str
    frame: pl.DataType
    pattern: str
    plain: str


def _text(character: str) -> str:
    return f'"(?:{character})*"'


_ESCAPED, _PLAIN = _text(f"{PLAIN}|{ESCAPE}"), _text(PLAIN)

TEXT = FieldType("texts", pl.String(), _ESCAPED, _PLAIN)
TEXTS = FieldType("lists of texts", pl.List(pl.String()), array_of(_ESCAPED), array_of(_PLAIN))
NUMBERS = FieldType("lists of numbers", pl.List(pl.Float64()), array_of(NUMBER), array_of(NUMBER))


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a record.

    Attributes:
        name: Its name.
        type: What it holds.
        required: Whether it must be there and not be null.
    """

    name: str
    type: FieldType
    required: bool = True


class FlatKind(Protocol):
    """One kind of flat record."""

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """Its fields; others are ignored."""

    def judge(self, document: Mapping[str, Any]) -> Values | tuple[Violation, ...]:
        """Return the values of a document, or the rules that it breaks; None for what is absent or null."""

    def is_valid(self, frame: pl.DataFrame) -> pl.Series:
        """Tell the rows of a frame of the fields that are valid beyond doubt."""


@dataclass(frozen=True, slots=True)
class FlatRows:
    """The records of a partition.

    Attributes:
        lines: How many lines, or rows, there are.
        table: Valid records: ``line`` and a column for each field; in any order.
        ledger: What is wrong with the other lines, which count from 0.
    """

    lines: int
    table: pl.DataFrame
    ledger: Ledger

    @property
    def records(self) -> int:
        """How many valid records there are."""
        return self.table.height


def frame_type(kind: FlatKind) -> dict[str, pl.DataType]:
    """Return the columns of a kind's table."""
    return {LINE: pl.UInt32(), **{field.name: field.type.frame for field in kind.fields}}


def frame_of(kind: FlatKind, lines: Sequence[int], records: Sequence[Values]) -> pl.DataFrame:
    """Return records that were read one by one as a table."""
    columns = zip(*records, strict=True) if records else [()] * len(kind.fields)
    types = frame_type(kind).items()
    return pl.DataFrame(
        [pl.Series(name, values, of) for (name, of), values in zip(types, [lines, *columns], strict=True)]
    )


def broken(kind: FlatKind, faults: tuple[Violation, ...], lines: int = 0) -> FlatRows:
    """Return the rows of a partition of which none can be read, with what is wrong with all of it."""
    return FlatRows(lines, frame_of(kind, [], []), Ledger.of([faults] if faults else []))


def is_violations(found: Values | tuple[Violation, ...]) -> bool:
    """Tell what a judge found: violations, of which there is at least one, or values."""
    return bool(found) and isinstance(found[0], Violation)
