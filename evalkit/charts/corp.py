"""The CORP reliability diagram: recalibrated confidence as steps, and the band that calibrated outcomes would give."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evalkit.charts.palette import BAR, INK, LINE, QUIET, STEPS, STRONG, TARGET
from evalkit.charts.panels import Block, Calibration, ScoreParts
from evalkit.charts.vega import SMALL, Spec, chart, fixed, layer, pixel, scaled, text
from evalkit.charts.whiskers import upright
from evalkit.charts.words import number

_SIDE = 260
MOST_BLOCKS = 400
"""Most blocks that are drawn, those of most records."""

_PARTS_WIDTH = 420
_ROW, _THICK, _HEAD = 46, 12, 8
_SPAN = (2, 330)


def corp(found: Calibration) -> Spec:
    """Return the diagram of the recalibrated curve."""
    ticks = {"values": [0, 0.25, 0.5, 0.75, 1], "format": ".2f", "tickSize": 3}
    x = scaled("x", (0, 1), axis={"title": "confidence", "grid": False, **ticks})
    y = scaled("y", (0, 1), axis={"title": "share of right ones", "grid": True, **ticks})
    blocks = kept_blocks(found.blocks)
    steps = [{"x": one.low, "x2": one.high, "y": one.share} for one in blocks]
    corners = [{"x": end, "y": one.share} for one in blocks for end in dict.fromkeys((one.low, one.high))]
    dots = [row for row in steps if row["x"] == row["x2"]]
    ideal = [{"x": 0, "y": 0}, {"x": 1, "y": 1}]
    return chart(
        [
            *_band(found, x, y),
            layer("line", ideal, {"x": x, "y": y}, color=QUIET, strokeDash=[4, 4], strokeWidth=1),
            layer("line", corners, {"x": x, "y": y}, color=BAR, strokeWidth=1),
            layer("rule", steps, {"x": x, "x2": {"field": "x2"}, "y": y}, color=STRONG, size=3),
            layer("point", dots, {"x": x, "y": y}, color=STRONG, filled=True, opacity=1, size=20),
        ],
        _SIDE,
        _SIDE,
    )


def kept_blocks(blocks: Sequence[Block]) -> list[Block]:
    """Keep so many blocks as can be seen: those of most records, in their order."""
    if len(blocks) <= MOST_BLOCKS:
        return list(blocks)
    heaviest = set(sorted(range(len(blocks)), key=lambda at: (-blocks[at].records, at))[:MOST_BLOCKS])
    return [one for at, one in enumerate(blocks) if at in heaviest]


def _band(found: Calibration, x: Spec, y: Spec) -> list[Spec]:
    rows = [{"x": one.confidence, "low": one.low, "high": one.high} for one in found.band]
    if len(rows) < 2:
        return upright(rows, x, y)
    low = {**y, "field": "low"}
    area = layer("area", rows, {"x": x, "y": low, "y2": {"field": "high"}}, color=STEPS[1], opacity=1)
    edges = [
        layer("line", rows, {"x": x, "y": {**y, "field": name}}, color=LINE, strokeWidth=1) for name in ("low", "high")
    ]
    return [area, *edges]


def score_parts(found: ScoreParts) -> Spec:
    """Return bars of a score and its parts, with what miscalibration chance alone gives."""
    named = (
        ("MCB, miscalibration", found.miscalibration, "+"),
        ("DSC, discrimination", found.discrimination, "−"),
        ("UNC, uncertainty", found.uncertainty, "+"),
        ("Brier score", found.score, "="),
    )
    top = (
        max([value for _, value, _ in named if value is not None] + [found.chance.quantile or 0.0], default=0.0) or 1.0
    )
    rows = [_part(place, *one, top) for place, one in enumerate(named)]
    bars = [row for row in rows if row["x2"] is not None]
    box = {"x": pixel("x"), "x2": {"field": "x2"}, "y": pixel("y"), "y2": {"field": "y2"}}
    names = [{"text": f"{row['sign']} {row['name']}", "x": _SPAN[0], "y": row["y"] - 10} for row in rows]
    values = [{"text": row["value"], "x": _SPAN[1] + 12, "y": row["y"] + _THICK / 2} for row in rows]
    return fixed(
        [
            layer("rect", [row for row in bars if row["sign"] != "="], box, color=BAR),
            layer("rect", [row for row in bars if row["sign"] == "="], box, color=STRONG),
            *_chance(found, top),
            text(names, pixel("x"), pixel("y"), fontSize=SMALL, color=INK),
            text(values, pixel("x"), pixel("y"), fontSize=SMALL, color=INK),
        ],
        _HEAD + _ROW * len(rows),
        width=_PARTS_WIDTH,
    )


def _part(place: int, name: str, value: float | None, sign: str, top: float) -> dict[str, Any]:
    y = _HEAD + _ROW * place + 20
    end = None if value is None else _at(max(value, 0.0), top)
    return {"name": name, "sign": sign, "value": number(value), "x": _SPAN[0], "x2": end, "y": y, "y2": y + _THICK}


def _at(value: float, top: float) -> float:
    return _SPAN[0] + (_SPAN[1] - _SPAN[0]) * min(value, top) / top


def _chance(found: ScoreParts, top: float) -> list[Spec]:
    """Mark what miscalibration calibrated outcomes give: in the mean, and the most that is usual."""
    y = _HEAD + 20
    where = [one for one in (found.chance.expected, found.chance.quantile) if one is not None]
    if len(where) < 2:
        return []
    line = [{"x": _at(where[0], top), "x2": _at(where[1], top), "y": y + _THICK + 5}]
    mean = [{"x": _at(where[0], top), "y": y + _THICK + 5}]
    return [
        layer("rule", line, {"x": pixel("x"), "x2": {"field": "x2"}, "y": pixel("y")}, color=TARGET, size=2),
        layer(
            "point",
            mean,
            {"x": pixel("x"), "y": pixel("y")},
            shape="triangle-up",
            filled=True,
            opacity=1,
            size=40,
            color=TARGET,
        ),
    ]
