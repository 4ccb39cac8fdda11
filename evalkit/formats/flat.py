"""Flat records: objects with a few fields of plain types, read from any format into one frame.

A kind of record names its fields, judges one document exactly, and tells the rows of a frame that are surely valid. The
exact judge is the definition: whatever the fast paths (``flat_lines``, ``flat_tables``) take without asking it, it
accepts with the same values, and it alone words what is wrong with the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
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
        captured: The same as ``pattern``, with a group ``NAME`` around the JSON, but of a text around what stands
            between the quotes.
    """

    told: str
    frame: pl.DataType
    pattern: str
    plain: str
    captured: str


def _text(character: str) -> str:
    return f'"(?:{character})*"'


_ESCAPED, _PLAIN = _text(f"{PLAIN}|{ESCAPE}"), _text(PLAIN)

TEXT = FieldType("texts", pl.String(), _ESCAPED, _PLAIN, f'"(?P<NAME>(?:{PLAIN}|{ESCAPE})*)"')
_WHOLE = "(?:0|-?[1-9][0-9]{0,17})"
NAME = FieldType(
    "texts or whole numbers",
    pl.String(),
    f"(?:{_ESCAPED}|{_WHOLE})",
    f"(?:{_PLAIN}|{_WHOLE})",
    f"(?P<NAME>{_ESCAPED}|{_WHOLE})",
)
"""What names something and may be a number: it is read as the text that it is spelled as."""

TEXTS = FieldType(
    "lists of texts", pl.List(pl.String()), array_of(_ESCAPED), array_of(_PLAIN), f"(?P<NAME>{array_of(_ESCAPED)})"
)
NUMBERS = FieldType(
    "lists of numbers", pl.List(pl.Float64()), array_of(NUMBER), array_of(NUMBER), f"(?P<NAME>{array_of(NUMBER)})"
)


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


@dataclass(frozen=True, slots=True)
class Table:
    """Records as rows, and the lists that they refer to: lists of texts repeat, and are judged once.

    Attributes:
        rows: ``line`` and a column for each field; one of lists of texts holds the places of its lists.
        lists: The lists of each such field.
    """

    rows: pl.DataFrame
    lists: Mapping[str, pl.Series]

    def filter(self, mask: pl.Series) -> Table:
        """Return some of the rows."""
        return self if mask.all() else Table(self.rows.filter(mask), self.lists)

    def of(self, name: str, listed: pl.Series) -> pl.Series:
        """Return for each row what belongs to its list."""
        return listed.gather(self.rows[name])


class FlatKind(Protocol):
    """One kind of flat record."""

    @property
    def fields(self) -> tuple[Field, ...]:
        """Its fields; others are ignored."""

    def judge(self, document: Mapping[str, Any]) -> Values | tuple[Violation, ...]:
        """Return the values of a document, or the rules that it breaks; None for what is absent or null."""

    def is_valid(self, table: Table) -> pl.Series:
        """Tell the rows that are valid beyond doubt."""


@dataclass(frozen=True, slots=True)
class FlatRows:
    """The records of a partition.

    Attributes:
        lines: How many lines, or rows, there are.
        table: Valid records, in any order.
        ledger: What is wrong with the other lines, which count from 0.
    """

    lines: int
    table: Table
    ledger: Ledger

    @property
    def records(self) -> int:
        """How many valid records there are."""
        return self.table.rows.height


PLACE = pl.UInt32()
"""The type of the places of lists."""


def table_of(columns: Sequence[pl.Series], kind: FlatKind) -> Table:
    """Make a table of ``line`` and a column for each field."""
    rows, lists = list(columns[:1]), {}
    for field, column in zip(kind.fields, columns[1:], strict=True):
        if field.type is TEXTS:
            lists[field.name], places = distinct(column)
            rows.append(places.alias(field.name))
        else:
            rows.append(column.alias(field.name))
    return Table(pl.DataFrame(rows), lists)


def distinct(lists: pl.Series) -> tuple[pl.Series, pl.Series]:
    """Return lists, each once where they repeat much, and for each row the place of its list.

    >>> lists, places = distinct(pl.Series([["a", "b"], ["b", "a"]] * 1000))
    >>> len(lists), lists.gather(places[:3]).to_list()
    (2, [['a', 'b'], ['b', 'a'], ['a', 'b']])
    """
    places = pl.int_range(len(lists), dtype=PLACE, eager=True)
    if len(lists) < _MANY:
        return lists, places
    rows = pl.DataFrame({"list": lists, "row": places})
    first = rows.select(pl.col("row").first().over("list")).to_series()
    each = first.unique().sort()
    if 4 * len(each) > len(lists):
        return lists, places
    return lists.gather(each), each.search_sorted(first).cast(PLACE)


_MANY = 1000
"""Rows from which on it is worth looking whether lists repeat."""


def read_one_by_one(kind: FlatKind, lines: Sequence[int], records: Sequence[Values]) -> Table:
    """Return records that were read one by one as a table."""
    columns = zip(*records, strict=True) if records else [()] * len(kind.fields)
    named = [(LINE, pl.UInt32()), *((field.name, field.type.frame) for field in kind.fields)]
    return table_of(
        [pl.Series(name, values, of) for (name, of), values in zip(named, [lines, *columns], strict=True)], kind
    )


def sorted_out(
    kind: FlatKind, found: Iterable[tuple[int, Values | tuple[Violation, ...] | None]], unit: str = "line"
) -> tuple[Table, Ledger]:
    """Part what was judged one by one into records and what is wrong.

    Args:
        kind: The kind of record.
        found: The number of each line and what its judge found; None for a blank line.
        unit: What is counted.
    """
    lines: list[int] = []
    records: list[Values] = []

    def broken() -> Iterator[tuple[Violation, ...]]:
        for line, one in found:
            if one is None:
                continue
            if is_violations(one):
                yield tuple(replace(fault, line=line, unit=unit) for fault in one)
            else:
                lines.append(line)
                records.append(one)

    ledger = Ledger.of(broken())
    return read_one_by_one(kind, lines, records), ledger


def nothing(kind: FlatKind) -> Table:
    """Return a table without rows."""
    return read_one_by_one(kind, [], [])


def stacked(tables: Sequence[Table]) -> Table:
    """Put tables together."""
    full = [table for table in tables if table.rows.height] or list(tables[:1])
    if len(full) == 1:
        return full[0]
    lists = {name: pl.concat([table.lists[name] for table in full]) for name in full[0].lists}
    rows = []
    before = dict.fromkeys(lists, 0)
    for table in full:
        moved = (pl.col(name) + count for name, count in before.items())
        rows.append(table.rows.with_columns(*moved))
        before = {name: count + len(table.lists[name]) for name, count in before.items()}
    return Table(pl.concat(rows), lists)


def broken(kind: FlatKind, faults: tuple[Violation, ...], lines: int = 0) -> FlatRows:
    """Return the rows of a partition of which none can be read, with what is wrong with all of it."""
    return FlatRows(lines, nothing(kind), Ledger.of([faults] if faults else []))


def is_violations(found: Values | tuple[Violation, ...]) -> bool:
    """Tell what a judge found: violations, of which there is at least one, or values."""
    return bool(found) and isinstance(found[0], Violation)
