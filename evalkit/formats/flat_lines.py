"""JSON Lines of flat records: lines that a pattern certifies are parsed by the library, all others one by one.

A pattern certifies that a line is one sound JSON object with each key once and a value of the right type behind it;
whether the values themselves are valid, the kind tells of whole columns. The order of the keys is learned from sample
lines; one more pattern knows no order.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from operator import and_
from typing import Any

import polars as pl

from evalkit.errors import Ledger, Violation
from evalkit.formats.certify import sample
from evalkit.formats.flat import LINE, Field, FlatKind, FlatRows, Values, frame_of, frame_type, is_violations
from evalkit.formats.patterns import ESCAPE, NUMBER, PLAIN, SPACE, array_of, spellings
from evalkit.formats.rows import FIRST_BYTES, SAMPLED_LINES
from evalkit.formats.shapes import MAX_NESTED, MAX_SHAPES, SCALAR, Items, UnlearnableError, generic_shape
from evalkit.records.flat_line import read_flat_line
from evalkit.records.strict_json import MAX_LINE

_TEXT = pl.col("text")
_BLANK = r"^[ \t\r]*$"
_FEW = 64
"""Lines for which no pattern without an order is written: the exact reader is done with them sooner."""


def read(data: bytes, kind: FlatKind) -> FlatRows:
    """Read the lines of a partition."""
    exact = _Exact(kind)
    if data[:1] not in FIRST_BYTES:  # Polars would unpack what looks compressed
        return _exactly(data, exact)
    if len(data) > MAX_LINE and any(len(line) > MAX_LINE for line in data.split(b"\n")):
        return _exactly(data, exact)  # no pattern knows how long a line may be
    try:
        lines = pl.scan_lines(data, name="text", row_index_name=LINE).collect()
        found, odd = _certified(lines, learn(sample(data, SAMPLED_LINES), kind), kind)
    except pl.exceptions.ComputeError:  # not UTF-8, and not said where; or a number that no float holds
        return _exactly(data, exact)
    ledger = Ledger.of(exact.broken(odd.iter_rows()))
    return FlatRows(lines.height, pl.concat([found, exact.table()]), ledger)


def _exactly(data: bytes, exact: _Exact) -> FlatRows:
    lines = data.removesuffix(b"\n").split(b"\n")
    ledger = Ledger.of(exact.broken(enumerate(lines)))
    return FlatRows(len(lines), exact.table(), ledger)


class _Exact:
    """Reads lines one by one: records pile up, the broken lines pass through."""

    def __init__(self, kind: FlatKind) -> None:
        self._kind = kind
        self._lines: list[int] = []
        self._records: list[Values] = []

    def broken(self, lines: Iterable[tuple[int, str | bytes]]) -> Iterable[tuple[Violation, ...]]:
        """Yield what is wrong with each broken line."""
        for line, text in lines:
            found = read_flat_line(text.encode() if isinstance(text, str) else text, self._kind.judge)
            if found is None:
                continue
            if is_violations(found):
                yield tuple(replace(violation, line=line) for violation in found)
            else:
                self._lines.append(line)
                self._records.append(found)

    def table(self) -> pl.DataFrame:
        """Return the records read."""
        return frame_of(self._kind, self._lines, self._records)


@dataclass(frozen=True, slots=True)
class Order:
    """Keys that stand in this order, each with the shape of its value where it is no field of the kind."""

    members: tuple[tuple[str, Any], ...]


def learn(lines: Iterable[bytes], kind: FlatKind) -> list[Order]:
    """Learn the orders of keys from valid lines, the most frequent first."""
    known = {field.name for field in kind.fields}
    orders: Counter[Order] = Counter()
    for raw in lines:
        found = read_flat_line(raw, kind.judge)
        if found is None or is_violations(found):
            continue
        # Numbers stay text: their values do not matter here, and Python refuses to read thousands of digits.
        pairs = json.loads(raw.decode("utf-8"), object_pairs_hook=tuple, parse_int=str, parse_float=str)
        try:
            members = ((key, None if key in known else generic_shape(value, MAX_NESTED)) for key, value in pairs)
            orders[Order(tuple(members))] += 1
        except UnlearnableError:
            continue
    return sorted(orders, key=lambda order: (-orders[order], repr(order)))


def _certified(lines: pl.DataFrame, orders: Sequence[Order], kind: FlatKind) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the records of lines that are surely valid, and the other lines that are not blank."""
    grammar = Grammar(tuple(orders[:MAX_SHAPES]), tuple(orders), kind)
    certified = lines.select(_TEXT.str.contains(grammar.ordered) if orders else pl.repeat(False, pl.len())).to_series()
    if orders and not certified.all():
        rest = lines.filter(~certified & ~lines["text"].str.contains(_BLANK))
        if rest.height > _FEW:
            certified |= lines[LINE].is_in(rest.filter(grammar.is_unordered())[LINE].implode())
    sure = lines if certified.all() else lines.filter(certified)
    parsed = sure["text"].str.json_decode(grammar.type).struct.unnest()
    table = parsed.insert_column(0, sure[LINE]).select(*frame_type(kind))
    valid = kind.is_valid(table)
    if not valid.all():
        certified = certified & lines[LINE].is_in(table.filter(valid)[LINE].implode())
        table = table.filter(valid)
    return table, lines.filter(~certified & ~lines["text"].str.contains(_BLANK))


@dataclass(frozen=True)
class Grammar:
    """The patterns of some orders.

    Attributes:
        common: Orders that are tried one by one.
        all: All orders that were seen; their keys may stand in any order.
        kind: What the fields must hold.
    """

    common: tuple[Order, ...]
    all: tuple[Order, ...]
    kind: FlatKind

    @cached_property
    def _fields(self) -> dict[str, Field]:
        return {field.name: field for field in self.kind.fields}

    @property
    def type(self) -> pl.Struct:
        """What the library parses a line to."""
        return pl.Struct({field.name: field.type.frame for field in self.kind.fields})

    @property
    def ordered(self) -> str:
        """Matches lines whose keys stand in one of the common orders."""
        objects = []
        for order in self.common:
            members = f"{SPACE},{SPACE}".join(self._member(key, shape) for key, shape in order.members)
            objects.append(rf"\{{{SPACE}{members}{SPACE}\}}")
        return f"^{SPACE}(?:{'|'.join(objects)}){SPACE}$"

    def is_unordered(self) -> pl.Expr:
        """Tell lines with the keys seen, in any order.

        Without a backslash no text can hold a quote. So what a pattern of members takes is made of these members, and
        as ``"key":`` then stands for nothing but a key, counting it tells whether a key is there once.
        """
        shapes: dict[str, set[Any]] = {}
        for order in self.all:
            for key, shape in order.members:
                shapes.setdefault(key, set()).add(shape)
        if len(shapes) > _MOST_KEYS or any("\\" in spelled for key in shapes for spelled in spellings(key)):
            return pl.lit(value=False)
        found = [self._member(key, shape, plain=True) for key, each in sorted(shapes.items()) for shape in each]
        one = f"(?:{'|'.join(found)})"
        pattern = rf"^{SPACE}\{{{SPACE}{one}(?:{SPACE},{SPACE}{one})*{SPACE}\}}{SPACE}$"
        once = [self._is_once(key) for key in shapes]
        return reduce(and_, once, _TEXT.str.contains(pattern) & ~_TEXT.str.contains("\\", literal=True))

    def _is_once(self, key: str) -> pl.Expr:
        times = _TEXT.str.count_matches(f'"{key}":', literal=True)
        field = self._fields.get(key)
        return times == 1 if field is not None and field.required else times <= 1

    def _member(self, key: str, shape: Any, *, plain: bool = False) -> str:
        field = self._fields.get(key)
        if field is None:
            value = _anything(shape, plain=plain)
        else:
            value = field.type.plain if plain else field.type.pattern
            value = value if field.required else f"(?:null|{value})"
        colon = ":" if plain else f"{SPACE}:"
        named = "|".join(sorted(map(_literal, spellings(key))))
        return f'"(?:{named})"{colon}{SPACE}{value}'


_MOST_KEYS = 32


def _literal(text: str) -> str:
    return pl.escape_regex(text)


def _anything(shape: Any, *, plain: bool) -> str:
    """Return the pattern of any value of a shape."""
    if isinstance(shape, Items):
        return array_of(_anything(shape.element, plain=plain))
    if shape == SCALAR:
        character = PLAIN if plain else f"{PLAIN}|{ESCAPE}"
        return f'(?:"(?:{character})*"|{NUMBER}|true|false|null)'
    colon = ":" if plain else f"{SPACE}:"
    members = (
        f'"{_literal(json.dumps(key)[1:-1])}"{colon}{SPACE}{_anything(inner, plain=plain)}' for key, inner in shape
    )
    return rf"\{{{SPACE}{f'{SPACE},{SPACE}'.join(members)}{SPACE}\}}"
