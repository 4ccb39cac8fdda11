"""Rows that are judged as a whole get the verdict of the exact judge, whatever company they are in.

Lines are spelled in odd ways and damaged at random, rows of tables likewise; what the fast paths make of them together
is held against what the judge of one document says of each.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import polars as pl
import pytest
from evaluation_strategies import FIELDS, Line, Shape, pair, plain, spelled
from strategies import DAMAGES

from evalkit.families.probability.gold import GoldKind
from evalkit.families.probability.prediction import Prediction
from evalkit.formats import flat_cells, flat_lines, flat_tables
from evalkit.formats.flat import LINE, FlatKind, FlatRows, Values, is_violations
from evalkit.records.flat_line import read_flat_line

ODD_NUMBERS = (math.nan, math.inf, -math.inf, None, -1e-9, 1.0000000000000002, 2.0, -5e-324, 0.0, -0.0, 1.0, 0.5)
ODD_TEXTS = (None, "", "a\0b", "\0", " ", "a", "true", "no such option")
LISTS = {"option_ids": pl.List(pl.String), "probabilities": pl.List(pl.Float64)}

Found = dict[int, Values | None]
"""The values of each line that is not blank, None for one that is refused."""


def kind_of(rng: random.Random, side: str) -> FlatKind:
    """Choose what the rows of a side must be."""
    return GoldKind() if side == "gold" else Prediction(Fraction(rng.choice(["1/1000", "0", "1", "1/10"])))


def lines_of(rng: random.Random, side: str) -> list[Line]:
    """Make up rows."""
    shape = Shape(rng.choice([3, 80, 150]), rng.choice([0, 0, 2]), odd=rng.random() < 0.5, whole=rng.random() < 0.5)
    return list(getattr(pair(rng, shape), side))


def verdicts(found: Sequence[Values | tuple[Any, ...] | None]) -> Found:
    """Number what was found, without blank lines."""
    return {at: None if is_violations(one) else tuple(one) for at, one in enumerate(found) if one is not None}


def holds(read: FlatRows, kind: FlatKind, exact: Found) -> None:
    """Hold what was read together against what was found one by one."""
    names = [LINE, *(field.name for field in kind.fields)]
    lists = {name: read.table.of(name, listed) for name, listed in read.table.lists.items()}
    taken = {row[0]: row[1:] for row in read.table.rows.with_columns(**lists).select(names).iter_rows()}
    expected = {at: values for at, values in exact.items() if values is not None}
    assert taken.keys() == expected.keys()
    for at, values in taken.items():
        assert repr(values) == repr(expected[at]), at
    assert read.ledger.lines == sum(values is None for values in exact.values())


@pytest.mark.parametrize("seed", range(60))
def test_lines(seed: int) -> None:
    """Of JSON Lines, in any spelling and damaged in any way."""
    rng = random.Random(seed)
    side = rng.choice(["predictions", "predictions", "gold"])
    kind, share = kind_of(rng, side), rng.choice([0, 0.1, 0.5])
    rows = lines_of(rng, side)
    data = spelled(rng, rows, side).removeprefix(b"\xef\xbb\xbf") if rng.random() < 0.5 else plain(rows)
    made = []
    for line in data.split(b"\n"):
        text = line.decode()
        for _ in range(rng.choice([1, 1, 2]) if text and rng.random() < share else 0):
            text = rng.choice(DAMAGES)(rng, text).replace("\n", " ")
        made.append(text.encode("utf-8", "replace"))
    data = b"\n".join(made)
    each = data.removesuffix(b"\n").split(b"\n")
    holds(flat_lines.read(data, kind), kind, verdicts([read_flat_line(line, kind.judge) for line in each]))


def damaged(rng: random.Random, line: Line) -> Line:
    """Change a field to something that it may not hold, or only looks as if it may not."""
    name = rng.choice(list(line))
    value = line[name]
    odd: Sequence[Any] = ODD_NUMBERS if name == "probabilities" else ODD_TEXTS
    if isinstance(value, list):
        at = rng.randrange(len(value) + 1)
        changes = [[*value[:at], rng.choice(odd), *value[at:]], [*value[:at], rng.choice(odd), *value[at + 1 :]]]
        return {**line, name: rng.choice([*changes, value[:at] + value[at + 1 :], [], None])}
    return {**line, **({} if name in LISTS else {name: rng.choice(odd)}), "label": rng.choice(ODD_TEXTS)}


@pytest.mark.parametrize("seed", range(60))
def test_tables_and_cells(seed: int) -> None:
    """Of frames of both libraries, and of cells of CSV that spell the same."""
    rng = random.Random(seed)
    side = rng.choice(["predictions", "predictions", "gold"])
    kind, share = kind_of(rng, side), rng.choice([0, 0.1, 0.5])
    rows = [damaged(rng, line) if rng.random() < share else line for line in lines_of(rng, side)]
    columns = {name: [line.get(name) for line in rows] for name in FIELDS[side]}
    frame = pl.DataFrame(columns, schema={name: LISTS.get(name, pl.String) for name in columns})
    documents = [{name: line[name] for name in columns if line.get(name) is not None} for line in rows]
    exact = verdicts([kind.judge(document) for document in documents])
    for table in (frame, frame.to_arrow()):
        (found,) = flat_tables.read([table], kind)
        holds(found, kind, exact)
    told = {name: [_cell(value) for value in values] for name, values in columns.items()}
    cells = pl.DataFrame({LINE: range(len(rows)), **told}, schema={LINE: pl.UInt32, **dict.fromkeys(told, pl.String)})
    holds(flat_cells.read(cells, kind), kind, exact)


def _cell(value: Any) -> str | None:
    """Write a value as a cell; what JSON cannot spell stays what Python's writer makes of it, which is refused."""
    return json.dumps(value) if isinstance(value, list) else value
