"""Rows of numbers under common columns: a label, a family, a stratum a row; fractions have small bars."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from evalkit.charts.model import Column, Grid
from evalkit.charts.palette import BAR, FAINT, INK, QUIET
from evalkit.charts.vega import MOST_LINES, SIZE, SMALL, WIDTH, Spec, at, fixed, layer, pixel, text
from evalkit.charts.words import number, wrapped

_NAME_ROOM = 236
_START = 256
_HEAD = 24
_LINE = 15
_PAD = 7
_THICK = 10
_NUMBER = 52
_WIDEST = 190
_PLAIN = 78
_WORD = 96


def grid(found: Grid) -> Spec:
    """Return the chart of some rows."""
    worded = {one.name for one in found.columns for row in found.rows if isinstance(row.values.get(one.name), str)}
    spans = _spans(found.columns, worded)
    rows = list(_placed(found))
    height = rows[-1]["bottom"] if rows else _HEAD
    heads = [{"text": found.head, "x": 0, "y": _HEAD / 2}]
    heads += [{"text": one.name, "x": spans[one.name][0], "y": _HEAD / 2} for one in found.columns]
    names = [
        {"text": line, "x": 0, "y": row["top"] + _PAD / 2 + _LINE * (place + 0.5)}
        for row in rows
        for place, line in enumerate(row["names"])
    ]
    lines = [{"y": row["top"]} for row in rows]
    numbers = [cell for row in rows for cell in _numbers(row, found.columns, spans)]
    return fixed(
        [
            text(heads, pixel("x"), pixel("y"), fontSize=SMALL, color=QUIET),
            layer("rule", lines, {"x": at(0), "x2": at(WIDTH), "y": pixel("y")}, color=FAINT),
            *(_bars(rows, one, spans[one.name]) for one in found.columns if one.top is not None),
            text(names, pixel("x"), pixel("y")),
            text(numbers, pixel("x"), pixel("y"), fontSize=SMALL, color=INK),
        ],
        height,
    )


def _spans(columns: Sequence[Column], worded: Collection[str]) -> Mapping[str, tuple[float, float]]:
    """Share the room among columns: numbers need little, bars take the rest."""
    barred = sum(one.top is not None for one in columns)
    room = WIDTH - _START - sum(_plain(one, worded) for one in columns if one.top is None)
    each = min(_WIDEST, room / barred) if barred else _PLAIN
    spans, x = {}, float(_START)
    for one in columns:
        wide = _plain(one, worded) if one.top is None else each
        spans[one.name] = (x, x + wide)
        x += wide
    return spans


def _plain(column: Column, worded: Collection[str]) -> float:
    """Return the width of a column without bars."""
    return _WORD if column.name in worded else _PLAIN


def _placed(found: Grid) -> Iterable[dict[str, Any]]:
    top = float(_HEAD)
    for row in found.rows:
        names = wrapped(row.name, SIZE, _NAME_ROOM, MOST_LINES)
        bottom = top + len(names) * _LINE + _PAD
        yield {"names": names, "values": row.values, "top": top, "middle": (top + bottom) / 2, "bottom": bottom}
        top = bottom


def _bars(rows: Sequence[dict[str, Any]], column: Column, span: tuple[float, float]) -> Spec:
    """Draw the bars of one column; what was not measured has none."""
    top = column.top or 1.0
    start, room = span[0] + _NUMBER, span[1] - span[0] - _NUMBER - 14
    drawn = [
        {
            "x": start,
            "x2": start + room * min(value, top) / top,
            "y": row["middle"] - _THICK / 2,
            "y2": row["middle"] + _THICK / 2,
        }
        for row in rows
        if isinstance(value := row["values"].get(column.name), int | float) and value >= 0
    ]
    encoding = {"x": pixel("x"), "x2": {"field": "x2"}, "y": pixel("y"), "y2": {"field": "y2"}}
    return layer("rect", drawn, encoding, color=BAR)


def _numbers(
    row: dict[str, Any], columns: Sequence[Column], spans: Mapping[str, tuple[float, float]]
) -> Iterator[dict[str, Any]]:
    for one in columns:
        yield {"text": shown(row["values"].get(one.name)), "x": spans[one.name][0], "y": row["middle"]}


def shown(value: float | int | str | None) -> str:
    """Write one cell.

    >>> shown(0.5), shown(1200), shown(None), shown("yes")
    ('0.5000', '1,200', '–', 'yes')
    """
    return value if isinstance(value, str) else number(value)
