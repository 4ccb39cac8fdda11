"""A row a metric: name, bar on a 0–1 scale with its target, value, sample size, which values are better, outcome."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from evalkit.charts.bar_texts import BETTER, LINE, OUTCOME, SIZE_TEXT, TARGET_TEXT, VALUE, texts
from evalkit.charts.intervals import basis
from evalkit.charts.model import Measure
from evalkit.charts.outcomes import outcomes
from evalkit.charts.palette import BAR, FAINT, ON_BAR, QUIET, STRONG, TARGET
from evalkit.charts.vega import MOST_LINES, SIZE, SMALL, WIDTH, Spec, at, fixed, layer, pixel, scaled, text
from evalkit.charts.whiskers import across, bounds
from evalkit.charts.words import NOT_MEASURED, number, wrapped

NAME_ROOM = 236
BAR_SPAN = (256, 516)
_HEAD = 24
_PAD = 12
_THICK = 14

TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)


def bars(measures: Sequence[Measure]) -> Spec:
    """Return the chart of some metrics."""
    rows = list(_placed(measures))
    height = rows[-1]["bottom"] if rows else _HEAD
    marks = [
        *_ground(rows, height),
        *_bars(rows),
        *_targets([row for row in rows if row["limit"] is not None]),
        *_sureness(rows),
        *texts(rows),
        *outcomes(rows, OUTCOME),
    ]
    return fixed([*_heads(), *marks], height, below=24)


def _placed(measures: Iterable[Measure]) -> Iterable[dict[str, Any]]:
    top = float(_HEAD)
    for one in measures:
        names = wrapped(one.name, SIZE, NAME_ROOM, MOST_LINES)
        notes = [line for note in _notes(one) for line in wrapped(note, SMALL, NAME_ROOM, MOST_LINES)]
        tall = (len(names) + len(notes)) * LINE + _PAD
        yield {
            "names": names,
            "notes": notes,
            "top": top,
            "middle": top + tall / 2,
            "bottom": top + tall,
            "note_top": top + _PAD / 2 + len(names) * LINE + LINE / 2,
            "name_top": top + _PAD / 2 + LINE / 2,
            "limit": one.limit if has_bar_scale(one) and one.limit is not None and 0 <= one.limit <= 1 else None,
            "measure": one,
        }
        top += tall


def has_bar_scale(one: Measure) -> bool:
    """Tell whether a metric is drawn on the 0–1 scale at all."""
    return one.scale in ("fraction", "rate")


def _notes(one: Measure) -> Iterable[str]:
    sure = "" if one.interval is None or one.value is None else basis(one.interval)
    yield from (note for note in (one.about, one.remark, one.reason or "", sure) if note)


def inside(one: Measure) -> str:
    """Return what is written where the bar is, or would be."""
    if one.value is None:
        return NOT_MEASURED
    if one.scale == "count":
        return "a count: no bar"
    if one.scale == "number":
        return "not on a 0–1 scale: no bar"
    if one.value < 0:
        return "below 0: no bar"
    if one.value > 1:
        return f"bar capped at 1: {number(one.value)} is above it"
    return "measured: 0" if one.value == 0 else ""


def length(one: Measure) -> float | None:
    """Return how long a bar is; None where there is none."""
    if one.value is None or not has_bar_scale(one) or one.value < 0:
        return None
    return min(float(one.value), 1.0)


def _heads() -> list[Spec]:
    heads = [
        ("metric", 0),
        ("0–1 scale, target marked", BAR_SPAN[0]),
        ("value", VALUE),
        ("target", TARGET_TEXT),
        ("n", SIZE_TEXT),
        ("better", BETTER),
        ("outcome", OUTCOME),
    ]
    rows = [{"text": head, "x": place, "y": _HEAD / 2} for head, place in heads]
    return [text(rows, pixel("x"), pixel("y"), fontSize=SMALL, color=QUIET)]


def _ground(rows: Sequence[dict[str, Any]], height: float) -> list[Spec]:
    lines = [{"y": row["top"]} for row in rows]
    ticks = [{"at": tick, "text": f"{tick:.2f}", "y": _HEAD, "y2": height, "below": height + 12} for tick in TICKS]
    x = scaled("at", (0, 1), BAR_SPAN)
    return [
        layer("rule", ticks[1:], {"x": x, "y": pixel("y"), "y2": {"field": "y2"}}, color=FAINT),
        layer("rule", ticks[:1], {"x": x, "y": pixel("y"), "y2": {"field": "y2"}}, color=QUIET),
        layer("rule", lines, {"x": at(0), "x2": at(WIDTH), "y": pixel("y")}, color=FAINT),
        text(ticks, x, pixel("below"), fontSize=SMALL, color=QUIET, align="center"),
    ]


def _bars(rows: Sequence[dict[str, Any]]) -> list[Spec]:
    drawn = []
    words = []
    for row in rows:
        one, size = row["measure"], length(row["measure"])
        note = inside(one)
        if size is not None:
            drawn.append({"from": 0, "to": size, "y": row["middle"] - _THICK / 2, "y2": row["middle"] + _THICK / 2})
        if note:
            capped = size == 1 and bool(note)
            words.append({"text": note, "x": BAR_SPAN[0] + 7, "y": row["middle"], "capped": capped})
    encoding = {
        "x": scaled("from", (0, 1), BAR_SPAN),
        "x2": {"field": "to"},
        "y": pixel("y"),
        "y2": {"field": "y2"},
    }
    zeros = [row for row in drawn if row["to"] == 0]
    caps = [{"y": row["y"] + _THICK / 2} for row in words_at_cap(rows)]
    return [
        layer("rect", drawn, encoding, color=BAR),
        layer("rule", zeros, {"x": at(BAR_SPAN[0] + 1), "y": pixel("y"), "y2": {"field": "y2"}}, color=BAR, size=3),
        layer(
            "point",
            caps,
            {"x": at(BAR_SPAN[1]), "y": pixel("y")},
            shape="triangle-right",
            size=150,
            filled=True,
            opacity=1,
            color=STRONG,
        ),
        text([w for w in words if not w["capped"]], pixel("x"), pixel("y"), fontSize=SMALL, color=QUIET),
        text([w for w in words if w["capped"]], pixel("x"), pixel("y"), fontSize=SMALL, color=ON_BAR),
    ]


def words_at_cap(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return where bars are capped."""
    return [
        {"y": row["middle"] - _THICK / 2}
        for row in rows
        if length(row["measure"]) is not None and row["measure"].value > 1
    ]


def _targets(rows: Sequence[dict[str, Any]]) -> list[Spec]:
    # Where words stand in the place of the bar, or on it, the marker stays above them.
    marks = [
        {"at": row["limit"], "y": row["middle"] - 11, "y2": row["middle"] + (-6 if inside(row["measure"]) else 11)}
        for row in rows
    ]
    x = scaled("at", (0, 1), BAR_SPAN)
    return [
        layer("rule", marks, {"x": x, "y": pixel("y"), "y2": {"field": "y2"}}, color=TARGET, size=2),
        layer(
            "point", marks, {"x": x, "y": pixel("y")}, shape="diamond", size=50, filled=True, opacity=1, color=TARGET
        ),
    ]


def _sureness(rows: Sequence[dict[str, Any]]) -> list[Spec]:
    """Draw whiskers across the bars, below words where there are any, and the bounds that gates were held against."""
    scaled_rows = [row for row in rows if has_bar_scale(row["measure"]) and row["measure"].value is not None]
    lie = [(row["measure"].interval, row["middle"] + (10 if inside(row["measure"]) else 0)) for row in scaled_rows]
    held = [
        (row["measure"].ruling.bound, row["middle"] + 14)
        for row in scaled_rows
        if row["measure"].ruling is not None and row["measure"].ruling.bound is not None
    ]
    return [*across(lie, BAR_SPAN), *bounds(held, BAR_SPAN)]
