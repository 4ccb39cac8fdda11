"""Rows as text: CSV, JSON, JSON Lines and Markdown, piece by piece, in UTF-8."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import polars as pl

from evalkit.errors import Refusal, Violation, printable

ENDINGS: Mapping[str, str] = {
    ".csv": "csv",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".md": "markdown",
}
"""The format that the ending of a file's name stands for."""

FORMATS = ("table", "csv", "json", "jsonl", "markdown", "parquet")
"""The formats that rows are shown or written in."""

_ROWS = 10_000


def format_of(path: str) -> str:
    """Return the format that a file's name asks for.

    Raises:
        Refusal: It asks for none.

    >>> format_of("best.CSV")
    'csv'
    """
    for ending, form in ENDINGS.items():
        if path.lower().endswith(ending):
            return form
    message = f"ends in no known format; end it in {', '.join(ENDINGS)}, or name one with --format"
    raise Refusal.of(Violation("rows-format", message, path))


def pieces(rows: pl.DataFrame, form: str) -> Iterator[bytes]:
    """Return rows as the bytes of a text format, some thousand at a time."""
    made: Iterator[str] = _WRITERS[form](rows)
    return (piece.encode("utf-8") for piece in made)


def plain(value: Any) -> Any:
    """Return a value as JSON has it: a decimal, a day or a time as text; null for what is no finite number.

    >>> plain(float("nan")), plain([1, None])
    (None, [1, None])
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, list):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    return value.hex() if isinstance(value, bytes) else str(value)


def cell(value: Any) -> str:
    """Return a value as the text of a cell: nothing for null, JSON for a list.

    >>> cell(0.5), cell(None), cell(["4", "7"]), cell(True)
    ('0.5', '', '["4", "7"]', 'true')
    """
    simple = plain(value)
    if simple is None:
        return ""
    return simple if isinstance(simple, str) else json.dumps(simple, ensure_ascii=False)


def _json_lines(rows: pl.DataFrame) -> Iterator[str]:
    for some in rows.iter_slices(_ROWS):
        yield "".join(f"{_object(row)}\n" for row in some.iter_rows(named=True))


def _json(rows: pl.DataFrame) -> Iterator[str]:
    yield "["
    for place, row in enumerate(rows.iter_rows(named=True)):
        yield f"{',' if place else ''}\n  {_object(row)}"
    yield "\n]\n" if rows.height else "]\n"


def _object(row: Mapping[str, Any]) -> str:
    return json.dumps({name: plain(value) for name, value in row.items()}, ensure_ascii=False, allow_nan=False)


def _csv(rows: pl.DataFrame) -> Iterator[str]:
    yield _line(rows.columns)
    for some in rows.iter_slices(_ROWS):
        yield "".join(_line(map(cell, row)) for row in some.iter_rows())


def _line(cells: Iterable[str]) -> str:
    """Join cells. A row of one empty cell is written as such: readers pass over an empty line."""
    return (",".join(map(_quoted, cells)) or '""') + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',"\r\n') else text


def _markdown(rows: pl.DataFrame) -> Iterator[str]:
    yield f"| {' | '.join(map(_escaped, rows.columns))} |\n"
    kinds = rows.dtypes
    yield f"| {' | '.join('---:' if kind.is_numeric() else '---' for kind in kinds)} |\n"
    for some in rows.iter_slices(_ROWS):
        yield "".join(f"| {' | '.join(_escaped(cell(value)) for value in row)} |\n" for row in some.iter_rows())


def _escaped(text: str) -> str:
    for sign in "\\|<>*_`[]":
        text = text.replace(sign, f"\\{sign}")
    return printable(text)


_WRITERS: Mapping[str, Callable[[pl.DataFrame], Iterator[str]]] = {
    "csv": _csv,
    "json": _json,
    "jsonl": _json_lines,
    "markdown": _markdown,
}
