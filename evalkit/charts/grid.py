"""Rows of numbers under common columns: a label, a family, a stratum a row; fractions have small bars.

Where intervals are given they lie on the bars as whiskers, and their ends stand below the numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from evalkit.charts.intervals import NO_INTERVAL, Interval, bracket
from evalkit.charts.model import Column, Grid
from evalkit.charts.palette import BAR, FAINT, INK, QUIET
from evalkit.charts.vega import MOST_LINES, SIZE, SMALL, WIDTH, Spec, at, fixed, layer, pixel, text
from evalkit.charts.whiskers import across
from evalkit.charts.words import number, width, wrapped

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
_ENDS = 92
_HALF = 7


def grid(found: Grid) -> Spec:
    """Return the chart of some rows."""
    worded = {one.name for one in found.columns for row in found.rows if isinstance(row.values.get(one.name), str)}
    ended = {name for row in found.rows for name in row.intervals}
    spans = _spans(found.columns, worded, ended)
    rows = list(_placed(found, 2 if ended else 1))
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
    ends = [cell for row in rows for cell in _ends(row, found.columns, spans)]
    barred = [one for one in found.columns if one.top is not None]
    return fixed(
        [
            text(heads, pixel("x"), pixel("y"), fontSize=SMALL, color=QUIET),
            layer("rule", lines, {"x": at(0), "x2": at(WIDTH), "y": pixel("y")}, color=FAINT),
            *(_bars(rows, one, spans[one.name]) for one in barred),
            *(layer_ for one in barred for layer_ in _whiskers(rows, one, spans[one.name])),
            text(names, pixel("x"), pixel("y")),
            text(numbers, pixel("x"), pixel("y"), fontSize=SMALL, color=INK),
            *([text(ends, pixel("x"), pixel("y"), fontSize=SMALL, color=QUIET)] if ends else ()),
        ],
        height,
    )


def _spans(
    columns: Sequence[Column], worded: Collection[str], ended: Collection[str]
) -> Mapping[str, tuple[float, float]]:
    """Share the room among columns: numbers need little, bars take the rest."""
    barred = sum(one.top is not None for one in columns)
    room = WIDTH - _START - sum(_plain(one, worded, ended) for one in columns if one.top is None)
    each = min(_WIDEST, room / barred) if barred else _PLAIN
    spans, x = {}, float(_START)
    for one in columns:
        wide = _plain(one, worded, ended) if one.top is None else each
        spans[one.name] = (x, x + wide)
        x += wide
    return spans


def _plain(column: Column, worded: Collection[str], ended: Collection[str]) -> float:
    """Return the width of a column without bars."""
    least = _WORD if column.name in worded else _ENDS if column.name in ended else _PLAIN
    return max(least, width(column.name, SMALL) + _PAD)


def _placed(found: Grid, least: int) -> Iterable[dict[str, Any]]:
    top = float(_HEAD)
    for row in found.rows:
        names = wrapped(row.name, SIZE, _NAME_ROOM, MOST_LINES)
        bottom = top + max(len(names), least) * _LINE + _PAD
        middle = (top + bottom) / 2
        shift = 0 if least == 1 else _HALF  # numbers go up by half a line where ends stand below them
        yield {
            "names": names,
            "values": row.values,
            "intervals": row.intervals,
            "top": top,
            "middle": middle - shift,
            "ends": middle + shift,
            "bottom": bottom,
        }
        top = bottom


def _bars(rows: Sequence[dict[str, Any]], column: Column, span: tuple[float, float]) -> Spec:
    """Draw the bars of one column; what was not measured has none."""
    top = column.top or 1.0
    start, end = _room(span)
    drawn = [
        {
            "x": start,
            "x2": start + (end - start) * min(value, top) / top,
            "y": row["middle"] - _THICK / 2,
            "y2": row["middle"] + _THICK / 2,
        }
        for row in rows
        if isinstance(value := row["values"].get(column.name), int | float) and value >= 0
    ]
    encoding = {"x": pixel("x"), "x2": {"field": "x2"}, "y": pixel("y"), "y2": {"field": "y2"}}
    return layer("rect", drawn, encoding, color=BAR)


def _room(span: tuple[float, float]) -> tuple[float, float]:
    """Return where a bar begins, and where it would end were it whole."""
    return span[0] + _NUMBER, span[1] - 14


def _whiskers(rows: Sequence[dict[str, Any]], column: Column, span: tuple[float, float]) -> list[Spec]:
    lie = [
        (row["intervals"].get(column.name), row["middle"]) for row in rows if row["values"].get(column.name) is not None
    ]
    return across(lie, _room(span), column.top or 1.0, cap=4)


def _ends(
    row: dict[str, Any], columns: Sequence[Column], spans: Mapping[str, tuple[float, float]]
) -> Iterator[dict[str, Any]]:
    """Yield the ends of a row's intervals, or that there is none for a number."""
    for one in columns:
        found = row["intervals"].get(one.name)
        if found is not None and row["values"].get(one.name) is not None:
            yield {"text": bracket(found, 3) or NO_INTERVAL, "x": spans[one.name][0], "y": row["ends"]}


def _numbers(
    row: dict[str, Any], columns: Sequence[Column], spans: Mapping[str, tuple[float, float]]
) -> Iterator[dict[str, Any]]:
    for one in columns:
        yield {"text": shown(row["values"].get(one.name)), "x": spans[one.name][0], "y": row["middle"]}


def shown(value: float | int | str | None, interval: Interval | None = None) -> str:
    """Write one cell, with the ends of its interval where there is one.

    >>> shown(0.5), shown(1200), shown(None), shown("yes"), shown(0.5, Interval(0.25, 0.75))
    ('0.5000', '1,200', '–', 'yes', '0.5000 [0.2500, 0.7500]')
    """
    plain = value if isinstance(value, str) else number(value)
    ends = "" if value is None else bracket(interval)
    return f"{plain} {ends}" if ends else plain
