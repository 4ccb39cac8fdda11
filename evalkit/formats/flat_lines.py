"""JSON Lines of flat records: lines that a pattern certifies are parsed by the library, all others one by one.

A pattern certifies that a line is one sound JSON object with each key once and a value of the right type behind it;
whether the values themselves are valid, the kind tells of whole columns. The order of the keys is learned from sample
lines; one more pattern knows no order.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import and_
from typing import Any

import polars as pl

from evalkit.errors import Ledger, Violation
from evalkit.formats.flat import (
    LINE,
    NUMBERS,
    PLACE,
    TEXT,
    TEXTS,
    FlatKind,
    FlatRows,
    Table,
    Values,
    is_violations,
    nothing,
    read_one_by_one,
    stacked,
    table_of,
)
from evalkit.formats.patterns import ESCAPE, NUMBER, PLAIN, SPACE, alternation, array_of, spellings
from evalkit.formats.rows import FIRST_BYTES
from evalkit.formats.shapes import MAX_NESTED, MAX_SHAPES, SCALAR, Items, UnlearnableError, generic_shape
from evalkit.records.flat_line import read_flat_line
from evalkit.records.strict_json import MAX_LINE

_TEXT = pl.col("text")
_BLANK = r"^[ \t\r]*$"
_SAMPLED, _SAMPLED_BYTES = 16, 256 * 1024
_FEW, _SHORT = 64, 64 * 1024


def read(data: bytes, kind: FlatKind) -> FlatRows:
    """Read the lines of a partition."""
    exact = _Exact(kind)
    if data[:1] not in FIRST_BYTES:  # Polars would unpack what looks compressed
        return _exactly(data, exact)
    if len(data) > MAX_LINE and any(len(line) > MAX_LINE for line in data.split(b"\n")):
        return _exactly(data, exact)  # no pattern knows how long a line may be
    for cut in (cut_open, cut_whole):
        try:
            lines = pl.scan_lines(data, name="text", row_index_name=LINE).collect()
            found, odd = _certified(lines, kind, cut)
        except pl.exceptions.ComputeError:  # not UTF-8, or no list of numbers, and not said where
            continue
        ledger = Ledger.of(exact.broken(odd.iter_rows()))
        return FlatRows(lines.height, stacked([found, exact.table()]), ledger)
    return _exactly(data, exact)


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

    def table(self) -> Table:
        """Return the records read."""
        return read_one_by_one(self._kind, self._lines, self._records)


@dataclass(frozen=True, slots=True)
class Order:
    """Keys that stand in this order, each with the shape of its value where it is no field of the kind."""

    members: tuple[tuple[str, Any], ...]


def learn(lines: pl.DataFrame, kind: FlatKind) -> list[Order]:
    """Learn the orders of keys from some of the lines, those that are valid; the most frequent first."""
    known = {field.name for field in kind.fields}
    orders: Counter[Order] = Counter()
    for raw in _sample(lines):
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


def _sample(lines: pl.DataFrame) -> Iterator[bytes]:
    """Yield lines spread evenly over some, and no more than are worth it."""
    size = 0
    for text in lines["text"].gather_every(max(lines.height // _SAMPLED, 1)):
        yield text.encode()
        size += len(text)
        if size > _SAMPLED_BYTES:
            return


def _certified(lines: pl.DataFrame, kind: FlatKind, cut: Cut) -> tuple[Table, pl.DataFrame]:
    """Return the records of lines that are surely valid, and the other lines that are not blank."""
    found, rest, seen = [nothing(kind)], lines, list[Order]()
    while _is_worth_it(rest) and len(seen) < MAX_SHAPES:
        # What is left once the most frequent order is out shows the rarer ones.
        order = next((one for one in learn(rest, kind) if one not in seen), None)
        if order is None:
            break
        seen.append(order)
        table, rest = _captured(rest, order, kind, cut)
        found.append(table)
    rest = rest.filter(~_TEXT.str.contains(_BLANK))
    if seen and _is_worth_it(rest):
        certified = rest.select(is_unordered(seen, kind)).to_series()
        found.append(_parsed(rest.filter(certified), kind))
        rest = rest.filter(~certified)
    taken = stacked(found)
    valid = kind.is_valid(taken)
    if valid.all():
        return taken, rest
    doubtful = lines.join(taken.rows.filter(~valid).select(LINE), on=LINE, how="semi")
    return taken.filter(valid), pl.concat([rest, doubtful]).sort(LINE)


def _is_worth_it(lines: pl.DataFrame) -> bool:
    """Tell whether lines are worth a pattern: the exact reader is done with a few short ones sooner."""
    return lines.height > _FEW or int(lines["text"].str.len_bytes().sum()) > _SHORT


Cut = Callable[[pl.Series, Order, FlatKind], tuple[pl.DataFrame, pl.Series]]
"""Cuts lines with the keys in one order into the JSON of their fields, and tells which lines it certifies."""


def cut_whole(texts: pl.Series, order: Order, kind: FlatKind) -> tuple[pl.DataFrame, pl.Series]:
    """Cut lines by one pattern."""
    groups = texts.str.extract_groups(capture(order, kind)).struct.unnest()
    return groups, groups[_required(kind)].is_not_null()


def cut_open(texts: pl.Series, order: Order, kind: FlatKind) -> tuple[pl.DataFrame, pl.Series]:
    """Cut lines by a pattern for what stands before a list of numbers at their end.

    The list is most of the line, and the library's parser, which has to read it anyway, takes no list that is not sound
    but for one with ``true``, ``false`` or null in it. No text can hold the list's key with its quotes and its colon.
    """
    *before, (key, _) = order.members
    field = next((one for one in kind.fields if one.name == key and one.type is NUMBERS), None)
    if field is None or not before:
        return cut_whole(texts, order, kind)
    halves = texts.str.splitn(f'"{key}":', 2).struct.unnest()
    if halves["field_1"].null_count() == len(texts):  # there is a space before the colon
        return cut_whole(texts, order, kind)
    tail = halves["field_1"].str.strip_chars(" \t")
    spelled = tail.str.strip_suffix("}").str.strip_chars_end(" \t")
    lists = spelled.str.starts_with("[") & ~spelled.str.contains("t", literal=True)
    lists &= ~spelled.str.contains("f", literal=True)
    if not field.required:
        lists |= spelled == "null"
    groups = halves["field_0"].str.extract_groups(capture(Order(tuple(before)), kind, end=f",{SPACE}")).struct.unnest()
    matched = groups[_required(kind)].is_not_null() & lists & tail.str.ends_with("}")
    return groups.with_columns(spelled.alias(key)), matched.fill_null(value=False)


def _required(kind: FlatKind) -> str:
    return next(field.name for field in kind.fields if field.required)


def _captured(lines: pl.DataFrame, order: Order, kind: FlatKind, cut: Cut) -> tuple[Table, pl.DataFrame]:
    """Part the lines with the keys in one order, as a table, from the others."""
    groups, matched = cut(lines["text"], order, kind)
    whole = bool(matched.all())
    taken, rest = (lines, lines.clear()) if whole else (lines.filter(matched), lines.filter(~matched))
    groups = groups if whole else groups.filter(matched)
    texts = [field.name for field in kind.fields if field.type is TEXT and field.name in groups.columns]
    escaped = pl.any_horizontal(pl.col(texts).str.contains("\\", literal=True)).fill_null(value=False)
    spelled = groups.select(escaped).to_series() if texts else pl.Series([], dtype=pl.Boolean)
    if not spelled.any():
        return _columns(taken, groups, kind), rest
    table = _columns(taken.filter(~spelled), groups.filter(~spelled), kind)
    return stacked([table, _parsed(taken.filter(spelled), kind)]), rest


def _columns(lines: pl.DataFrame, groups: pl.DataFrame, kind: FlatKind) -> Table:
    """Turn what was captured into columns; no text has an escape. Lists of texts that repeat are parsed once."""
    rows, lists = [lines[LINE]], {}
    for field in kind.fields:
        spelled = groups[field.name] if field.name in groups.columns else None
        if field.type is TEXTS and spelled is not None:
            each = spelled.unique()
            lists[field.name] = each.str.json_decode(field.type.frame)
            spelled = spelled.cast(pl.Enum(each)).to_physical().cast(PLACE)
        elif field.type is NUMBERS and spelled is not None:
            spelled = spelled.str.json_decode(field.type.frame)
        elif spelled is None:
            spelled = pl.repeat(None, lines.height, dtype=field.type.frame, eager=True)
        rows.append(spelled.alias(field.name))
    return Table(pl.DataFrame(rows), lists)


def _parsed(lines: pl.DataFrame, kind: FlatKind) -> Table:
    """Parse certified lines."""
    types = pl.Struct({field.name: field.type.frame for field in kind.fields})
    parsed = lines["text"].str.json_decode(types).struct.unnest()
    return table_of([lines[LINE], *parsed.get_columns()], kind)


def capture(order: Order, kind: FlatKind, end: str = rf"\}}{SPACE}") -> str:
    """Match lines whose keys stand in one order up to some end, and capture the fields under their names."""
    members = f"{SPACE},{SPACE}".join(_member(key, shape, kind) for key, shape in order.members)
    return rf"^{SPACE}\{{{SPACE}{members}{SPACE}{end}$"


def is_unordered(orders: Sequence[Order], kind: FlatKind) -> pl.Expr:
    """Tell lines with the keys of some orders, in any order.

    Without a backslash no text can hold a quote. So what a pattern of members takes is made of these members, and as
    ``"key":`` then stands for nothing but a key, counting it tells whether a key is there once.
    """
    shapes: dict[str, set[Any]] = {}
    for order in orders:
        for key, shape in order.members:
            shapes.setdefault(key, set()).add(shape)
    if len(shapes) > _MOST_KEYS or any("\\" in spelled for key in shapes for spelled in spellings(key)):
        return pl.lit(value=False)
    found = [_member(key, shape, kind, plain=True) for key, each in sorted(shapes.items()) for shape in each]
    one = f"(?:{'|'.join(found)})"
    pattern = rf"^{SPACE}\{{{SPACE}{one}(?:{SPACE},{SPACE}{one})*{SPACE}\}}{SPACE}$"
    required = {field.name for field in kind.fields if field.required}
    times = {key: _TEXT.str.count_matches(f'"{key}":', literal=True) for key in {*shapes, *required}}
    once = [count == 1 if key in required else count <= 1 for key, count in times.items()]
    return reduce(and_, once, _TEXT.str.contains(pattern) & ~_TEXT.str.contains("\\", literal=True))


def _member(key: str, shape: Any, kind: FlatKind, *, plain: bool = False) -> str:
    field = next((one for one in kind.fields if one.name == key), None)
    if field is None:
        value = _anything(shape, plain=plain)
    else:
        value = field.type.plain if plain else field.type.captured.replace("NAME", key)
        value = value if field.required else f"(?:null|{value})"
    colon = ":" if plain else f"{SPACE}:"
    return f'"{alternation(spellings(key))}"{colon}{SPACE}{value}'


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
