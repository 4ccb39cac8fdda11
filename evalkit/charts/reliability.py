"""Reliability diagrams: accuracy against confidence, bin by bin, and how many records each bin holds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalkit.charts.model import Bin, Reliability
from evalkit.charts.palette import BAR, INK, QUIET, STEPS, STRONG
from evalkit.charts.vega import SMALL, Spec, frame, layer, scaled, text
from evalkit.charts.whiskers import upright
from evalkit.charts.words import cut, width

_SIDE = 260
_BELOW = 70
_FEW = 12
"""Most bins whose counts are written at their bars."""

_SMALL_SIDE = 176
_ACROSS = 4


def reliability(found: Reliability) -> Spec:
    """Return the diagram of one set of records, with the counts below."""
    return {
        **frame(),
        "spacing": 6,
        "vconcat": [_diagram(found.bins, _SIDE, "accuracy"), _counts(found.bins)],
    }


def small_multiples(found: Sequence[Reliability]) -> Spec:
    """Return small diagrams side by side, each under its name."""
    charts = []
    for one in found:
        records = sum(each.count for each in one.bins)
        title = {
            "text": cut(one.name, SMALL, _SMALL_SIDE - 6),
            "subtitle": f"n = {records:,}" if one.bins else "not measured",
            "anchor": "start",
            "fontSize": SMALL,
            "fontWeight": "normal",
            "color": INK,
            "subtitleFontSize": SMALL,
            "subtitleColor": QUIET,
        }
        charts.append({**_diagram(one.bins, _SMALL_SIDE, None), "title": title})
    return {**frame(), "columns": _ACROSS, "spacing": 20, "concat": charts}


def has_whisker(one: Bin) -> bool:
    """Tell whether a bin's accuracy has an interval."""
    return one.interval is not None and one.interval.ends is not None


def _diagram(bins: Sequence[Bin], side: float, title: str | None) -> Spec:
    bars = [
        {"from": one.lower, "to": one.upper, "zero": 0, "accuracy": one.accuracy}
        for one in bins
        if one.accuracy is not None
    ]
    points = [
        {"confidence": one.mean_confidence, "accuracy": one.accuracy}
        for one in bins
        if one.accuracy is not None and one.mean_confidence is not None
    ]
    sure = [
        {"confidence": one.mean_confidence, "low": one.interval.low, "high": one.interval.high}
        for one in bins
        if one.accuracy is not None and one.mean_confidence is not None
        if one.interval is not None and one.interval.ends is not None
    ]
    ticks = {"values": [0, 0.25, 0.5, 0.75, 1], "format": ".2f", "tickSize": 3}
    x = {"title": None, "grid": False, **ticks}
    y = {"title": title, "grid": True, **ticks}
    ideal = [{"confidence": 0, "accuracy": 0}, {"confidence": 1, "accuracy": 1}]
    across, up = scaled("confidence", (0, 1), axis=x), scaled("accuracy", (0, 1), axis=y)
    dot = 36 if len(bins) <= 2 * _FEW else 10
    gaps = [{**row, "to": row["confidence"]} for row in points]
    return {
        "width": side,
        "height": side,
        "layer": [
            layer(
                "rect",
                bars,
                {
                    "x": scaled("from", (0, 1), axis=x),
                    "x2": {"field": "to"},
                    "y": scaled("accuracy", (0, 1), axis=y),
                    "y2": {"field": "zero"},
                },
                color=STEPS[2],
                stroke=BAR,
                strokeWidth=1 if dot > 10 else 0,
            ),
            layer("line", ideal, {"x": across, "y": up}, color=QUIET, strokeDash=[4, 4], strokeWidth=1),
            layer(
                "rule",
                [] if sure else gaps,  # a whisker crosses the dashed line or does not: it takes the place of the gap
                {"x": across, "y": up, "y2": {"field": "to"}},
                color=STRONG,
                size=1.5 if dot > 10 else 0.75,
            ),
            *upright(sure, across, up, 8 if dot > 10 else 4),
            layer("point", points, {"x": across, "y": up}, color=STRONG, filled=True, opacity=1, size=dot),
        ],
    }


def _counts(bins: Sequence[Bin]) -> Spec:
    top = max((one.count for one in bins), default=1)
    rows: list[dict[str, Any]] = [
        {"from": one.lower, "to": one.upper, "zero": 0, "count": one.count, "text": f"{one.count:,}"} for one in bins
    ]
    x = {"title": "confidence", "grid": False, "values": [0, 0.25, 0.5, 0.75, 1], "format": ".2f", "tickSize": 3}
    y = {"title": "records", "grid": False, "values": [0, top], "format": ",d", "tickSize": 3}
    up = scaled("count", (0, top * 1.3), axis=y)
    layers = [
        layer(
            "rect",
            rows,
            {"x": scaled("from", (0, 1), axis=x), "x2": {"field": "to"}, "y": up, "y2": {"field": "zero"}},
            color=STEPS[3],
            stroke=BAR,
            strokeWidth=1,
        )
    ]
    if len(rows) <= _FEW:
        middle = [{**row, "from": (row["from"] + row["to"]) / 2} for row in _labelled(rows)]
        layers.append(text(middle, scaled("from", (0, 1), axis=x), up, fontSize=9, align="center", dy=-6, color=QUIET))
    return {"width": _SIDE, "height": _BELOW, "layer": layers}


def _labelled(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the bars that are labelled: those with room; of bars that differ in width, all or none."""
    fitting = [row for row in rows if width(row["text"], 9) <= _SIDE * (row["to"] - row["from"])]
    equal = len({round(row["to"] - row["from"], 6) for row in rows}) == 1
    return fitting if equal or len(fitting) == len(rows) else []
