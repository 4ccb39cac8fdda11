"""The grammar of lines of flat records: the orders of their keys, learned from valid lines, and patterns for them.

A pattern certifies that a line is one sound JSON object with each key once and a value of the right type behind it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import Any

import polars as pl

from evalkit.formats.flat import FlatKind, is_violations
from evalkit.formats.patterns import ESCAPE, NUMBER, PLAIN, SPACE, alternation, array_of, spellings
from evalkit.formats.shapes import MAX_NESTED, SCALAR, Items, UnlearnableError, generic_shape
from evalkit.records.flat_line import read_flat_line

_TEXT = pl.col("text")
_SAMPLED, _SAMPLED_BYTES = 16, 256 * 1024


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
