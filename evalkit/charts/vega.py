"""Pieces of Vega-Lite that every chart is put together from. A chart is a plain dict; all texts in it are data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalkit.charts.palette import FAINT, INK, LINE, QUIET

Spec = dict[str, Any]
"""A Vega-Lite specification, or a part of one."""

SIZE, SMALL = 12, 11
"""Font sizes in pixels: of what is read first, and of the rest."""

WIDTH = 960
"""Width of a chart that fills a page."""

MOST_LINES = 14
"""Most lines that a name is folded into."""

_AXIS = {
    "labelFontSize": SMALL,
    "titleFontSize": SMALL,
    "titleFontWeight": "normal",
    "labelColor": QUIET,
    "titleColor": QUIET,
    "gridColor": FAINT,
    "domainColor": LINE,
    "tickColor": LINE,
    "labelFlush": False,
    "labelLimit": 0,
    "titleLimit": 0,
}


def chart(layers: Sequence[Spec], width: float, height: float, **more: Any) -> Spec:
    """Put layers together as a chart."""
    return {**frame(), "width": width, "height": height, "layer": list(layers), **more}


def fixed(layers: Sequence[Spec], height: float, below: float = 0, width: float = WIDTH) -> Spec:
    """Put layers together as a chart whose marks are placed to the pixel, with room below for an axis."""
    padding = {"left": 0, "top": 0, "right": 0, "bottom": below}
    return chart(layers, width, height, autosize="none", padding=padding)


def frame() -> Spec:
    """Return what every specification begins with."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "background": "transparent",
        "config": {"aria": False, "view": {"stroke": None}, "axis": _AXIS, "text": {"limit": 0}},
    }


def layer(mark: str, rows: Sequence[Mapping[str, Any]], encoding: Spec, **looks: Any) -> Spec:
    """Return one kind of mark, drawn once a row."""
    return {"data": {"values": list(rows)}, "mark": {"type": mark, **looks}, "encoding": encoding}


def pixel(name: str) -> Spec:
    """Place by pixels."""
    return {"field": name, "type": "quantitative", "scale": None, "axis": None}


def at(value: float) -> Spec:
    """Place all marks at one pixel."""
    return {"value": value}


def scaled(name: str, domain: Sequence[float], span: Sequence[float] | None = None, axis: Spec | None = None) -> Spec:
    """Place on a linear scale; over a span of pixels where one is given."""
    scale: Spec = {"domain": list(domain), "nice": False, "zero": False}
    if span is not None:
        scale["range"] = list(span)
    return {"field": name, "type": "quantitative", "scale": scale, "axis": axis}


def text(rows: Sequence[Mapping[str, Any]], x: Spec, y: Spec, **looks: Any) -> Spec:
    """Write the field ``text`` of each row."""
    style = {"fontSize": SIZE, "color": INK, "align": "left", "baseline": "middle"} | looks
    return layer("text", rows, {"x": x, "y": y, "text": {"field": "text", "type": "nominal"}}, **style)
