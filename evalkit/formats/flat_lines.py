"""JSON Lines of flat records: lines that a pattern certifies are parsed by the library, all others one by one.

The patterns (``flat_grammar``) certify JSON and types; whether the values themselves are valid, the kind tells of whole
columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import polars as pl

from evalkit.errors import Violation
from evalkit.formats.flat import (
    LINE,
    NAME,
    NUMBERS,
    PLACE,
    TEXT,
    TEXTS,
    FlatKind,
    FlatRows,
    Table,
    Values,
    nothing,
    sorted_out,
    stacked,
    table_of,
)
from evalkit.formats.flat_grammar import Order, capture, is_unordered, learn
from evalkit.formats.patterns import SPACE
from evalkit.formats.rows import FIRST_BYTES
from evalkit.formats.shapes import MAX_SHAPES
from evalkit.records.flat_line import read_flat_line
from evalkit.records.strict_json import MAX_LINE

_TEXT = pl.col("text")
_BLANK = r"^[ \t\r]*$"
_FEW, _SHORT = 64, 64 * 1024


def read(data: bytes, kind: FlatKind) -> FlatRows:
    """Read the lines of a partition."""
    if data[:1] not in FIRST_BYTES:  # Polars would unpack what looks compressed
        return _exactly(data, kind)
    if len(data) > MAX_LINE and any(len(line) > MAX_LINE for line in data.split(b"\n")):
        return _exactly(data, kind)  # no pattern knows how long a line may be
    for cut in (cut_open, cut_whole):
        try:
            lines = pl.scan_lines(data, name="text", row_index_name=LINE).collect()
            found, odd = _certified(lines, kind, cut)
        except pl.exceptions.ComputeError:  # not UTF-8, or no list of numbers, and not said where
            continue
        others, ledger = sorted_out(kind, _judged(((line, text.encode()) for line, text in odd.iter_rows()), kind))
        return FlatRows(lines.height, stacked([found, others]), ledger)
    return _exactly(data, kind)


def _exactly(data: bytes, kind: FlatKind) -> FlatRows:
    lines = data.removesuffix(b"\n").split(b"\n")
    table, ledger = sorted_out(kind, _judged(enumerate(lines), kind))
    return FlatRows(len(lines), table, ledger)


def _judged(
    lines: Iterable[tuple[int, bytes]], kind: FlatKind
) -> Iterator[tuple[int, Values | tuple[Violation, ...] | None]]:
    """Read lines one by one."""
    for line, raw in lines:
        yield line, read_flat_line(raw, kind.judge)


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
    texts = [field.name for field in kind.fields if field.type in (TEXT, NAME) and field.name in groups.columns]
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
        elif field.type is NAME and spelled is not None:
            spelled = spelled.str.strip_chars('"')
        elif spelled is None:
            spelled = pl.repeat(None, lines.height, dtype=field.type.frame, eager=True)
        rows.append(spelled.alias(field.name))
    return Table(pl.DataFrame(rows), lists)


def _parsed(lines: pl.DataFrame, kind: FlatKind) -> Table:
    """Parse certified lines."""
    types = pl.Struct({field.name: field.type.frame for field in kind.fields})
    parsed = lines["text"].str.json_decode(types).struct.unnest()
    return table_of([lines[LINE], *parsed.get_columns()], kind)
