"""Differences to a baseline: a row a candidate under each metric, a whisker about each difference, and a zero line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from evalkit.charts.intervals import RULINGS, bracket, plain_reason
from evalkit.charts.palette import BAD, FAINT, GOOD, INK, QUIET, STRONG, TARGET
from evalkit.charts.panels import Difference, Forest, Group
from evalkit.charts.vega import MOST_LINES, SIZE, SMALL, WIDTH, Spec, at, fixed, layer, pixel, text
from evalkit.charts.words import cut, number, probability, wrapped

MOST_CANDIDATES = 30
"""Most candidates under each metric that are drawn."""

_NAME_ROOM = 236
_SPAN = (256.0, 536.0)
_VALUE, _P, _ADJUSTED, _VERDICT = 556, 702, 762, 846
_HEAD, _TITLE, _LINE, _PAD, _CAP = 24.0, 26, 15, 12, 5
_COLORS = {"passed": GOOD, "failed": BAD, "insufficient": TARGET}
_SHAPES = {"passed": "circle", "failed": "cross", "insufficient": "triangle-up"}


def forest(found: Forest) -> Spec:
    """Return the chart of differences."""
    reach = reach_of(found)
    titles, rows = _placed(found)
    height = rows[-1]["bottom"] if rows else _HEAD
    return fixed(
        [
            *_ground(found, titles, rows, reach, height),
            *_whiskers(rows, reach),
            *_texts(titles, rows),
            *_verdicts(rows),
        ],
        height,
        below=24,
    )


def reach_of(found: Forest) -> float:
    """Return how far the scale goes to either side of zero: so that every end and the margin are on it.

    >>> reach_of(Forest("b", 0.03, ()))
    0.05
    """
    ends = [abs(found.margin or 0.0)]
    for one in (row for group in found.groups for row in group.rows):
        ends += [abs(end) for end in (one.value, *(one.interval.ends or ())) if end is not None]
    highest = max(ends) * 1.05
    return next((end for end in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if highest <= end), 1.0)


def heading(group: Group) -> str:
    """Say what a metric is called, and on which side of zero a candidate is better."""
    side = {"higher": "right of 0 is better", "lower": "left of 0 is better", "none": "neither side is better"}
    return f"{group.metric}: {side[group.direction]}"


def _placed(found: Forest) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    titles, rows, top = [], [], _HEAD
    for group in found.groups:
        titles.append({"text": heading(group), "y": top + _TITLE / 2 + 2, "top": top, "group": group})
        top += _TITLE
        for one in group.rows[:MOST_CANDIDATES]:
            names = wrapped(one.candidate, SIZE, _NAME_ROOM - 12, MOST_LINES)
            tall = max(len(names), 2) * _LINE + _PAD
            rows.append({"one": one, "group": group, "names": names, "top": top, "bottom": top + tall})
            rows[-1]["middle"] = top + tall / 2
            top += tall
    return titles, rows


def _pixel(value: float, reach: float) -> float:
    middle = (_SPAN[0] + _SPAN[1]) / 2
    return middle + (_SPAN[1] - middle) * max(-1.0, min(1.0, value / reach))


def _ground(
    found: Forest, titles: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]], reach: float, height: float
) -> Iterator[Spec]:
    up = {"y": pixel("y"), "y2": {"field": "y2"}}
    ticks = [
        {
            "x": _pixel(value, reach),
            "y": _HEAD,
            "y2": height,
            "text": f"{value:+.3g}" if value else "0",
            "b": height + 12,
        }
        for value in (-reach, -reach / 2, 0.0, reach / 2, reach)
    ]
    lines = [{"y": row["top"]} for row in (*titles, *rows)]
    margins = [
        {"x": _pixel(-found.margin if group.direction != "lower" else found.margin, reach), "y": low, "y2": high}
        for group, low, high in _spans(titles, rows)
        if found.margin is not None
    ]
    yield layer("rule", lines, {"x": at(0), "x2": at(WIDTH), "y": pixel("y")}, color=FAINT)
    yield layer("rule", [one for one in ticks if one["text"] != "0"], {"x": pixel("x"), **up}, color=FAINT)
    yield layer("rule", [one for one in ticks if one["text"] == "0"], {"x": pixel("x"), **up}, color=QUIET, size=1.5)
    yield layer("rule", margins, {"x": pixel("x"), **up}, color=TARGET, strokeDash=[6, 3], size=1.5)
    yield text(ticks, pixel("x"), pixel("b"), fontSize=SMALL, color=QUIET, align="center")


def _tick(value: float) -> str:
    return f"{value:+.3g}" if value else "0"


def _spans(titles: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]]) -> Iterator[tuple[Group, float, float]]:
    for title in titles:
        mine = [row for row in rows if row["group"] is title["group"]]
        if mine:
            yield title["group"], mine[0]["top"], mine[-1]["bottom"]


def _whiskers(rows: Sequence[dict[str, Any]], reach: float) -> Iterator[Spec]:
    drawn: list[dict[str, Any]] = []
    caps: list[dict[str, Any]] = []
    for row in rows:
        if (ends := row["one"].interval.ends) is not None:
            low, high = (_pixel(end, reach) for end in ends)
            drawn.append({"x": low, "x2": high, "y": row["middle"]})
            caps += [{"x": x, "y": row["middle"] - _CAP, "y2": row["middle"] + _CAP} for x in (low, high)]
    points = [
        {"x": _pixel(row["one"].value, reach), "y": row["middle"]} for row in rows if row["one"].value is not None
    ]
    yield layer("rule", drawn, {"x": pixel("x"), "x2": {"field": "x2"}, "y": pixel("y")}, color=INK, size=1.5)
    yield layer("rule", caps, {"x": pixel("x"), "y": pixel("y"), "y2": {"field": "y2"}}, color=INK, size=1.5)
    looks: Spec = {"shape": "square", "filled": True, "opacity": 1, "size": 64, "color": STRONG}
    yield layer("point", points, {"x": pixel("x"), "y": pixel("y")}, **looks)


def _texts(titles: Sequence[dict[str, Any]], rows: Sequence[dict[str, Any]]) -> Iterator[Spec]:
    heads = [("candidate", 0), ("candidate − baseline", _SPAN[0]), ("difference", _VALUE), ("p", _P)]
    heads += [("adjusted p", _ADJUSTED)] + ([("by the margin", _VERDICT)] if any(_ruled(row) for row in rows) else [])
    head_rows = [{"text": words, "x": x, "y": _HEAD / 2} for words, x in heads]
    names = [
        {"text": line, "x": 12, "y": row["middle"] + _LINE * (place - (len(row["names"]) - 1) / 2)}
        for row in rows
        for place, line in enumerate(row["names"])
    ]
    cells = [cell for row in rows for cell in _cells(row["one"], row["middle"])]
    yield text(head_rows, pixel("x"), pixel("y"), fontSize=SMALL, color=QUIET)
    yield text([{**row, "x": 0} for row in _bare(titles)], pixel("x"), pixel("y"), fontWeight="bold")
    yield text(names, pixel("x"), pixel("y"))
    yield text(cells, pixel("x"), pixel("y"), fontSize=SMALL, color=INK)


def _bare(titles: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"text": row["text"], "y": row["y"]} for row in titles]


def _ruled(row: dict[str, Any]) -> bool:
    return row["one"].ruling is not None


def signed(value: float | None) -> str:
    """Write a difference with its sign.

    >>> signed(0.0123), signed(-0.5), signed(0.0), signed(None)
    ('+0.0123', '-0.5000', '0.0000', '–')
    """
    return f"+{number(value)}" if value is not None and value > 0 else number(value)


def _cells(one: Difference, middle: float) -> Iterable[dict[str, Any]]:
    ends = bracket(one.interval, 3)
    why = "" if ends or one.value is None else cut(plain_reason(one.interval.reason), SMALL, _P - _VALUE - 4)
    below = ends or why
    yield {"text": signed(one.value), "x": _VALUE, "y": middle - (8 if below else 0)}
    if below:
        yield {"text": below, "x": _VALUE, "y": middle + 8}
    yield {"text": probability(one.p_value), "x": _P, "y": middle}
    yield {"text": probability(one.adjusted), "x": _ADJUSTED, "y": middle}


def _verdicts(rows: Sequence[dict[str, Any]]) -> Iterator[Spec]:
    for outcome, color in _COLORS.items():
        mine = [row for row in rows if _ruled(row) and row["one"].ruling.outcome == outcome]
        if not mine:
            continue
        words = RULINGS[outcome].split() if outcome == "insufficient" else [RULINGS[outcome]]  # type: ignore[index]
        shift = 6.5 * (len(words) - 1)
        lines = [
            {"text": word, "y": row["middle"] - shift + 13 * place} for row in mine for place, word in enumerate(words)
        ]
        looks: Spec = {"shape": _SHAPES[outcome], "opacity": 1, "size": 60, "color": color}
        looks |= {"filled": False, "strokeWidth": 2} if outcome == "insufficient" else {"filled": True}
        looks |= {"angle": 45} if outcome == "failed" else {}
        marks = [{"y": row["middle"]} for row in mine]
        yield layer("point", marks, {"x": at(_VERDICT + 5), "y": pixel("y")}, **looks)
        yield text(lines, at(_VERDICT + 14), pixel("y"), fontSize=SMALL, color=color)
