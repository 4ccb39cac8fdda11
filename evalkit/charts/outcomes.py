"""What came of a metric's target: a word and a shape, so that no colour has to be told from another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evalkit.charts.intervals import RULINGS
from evalkit.charts.model import Measure
from evalkit.charts.palette import BAD, GOOD, QUIET, TARGET
from evalkit.charts.vega import SMALL, Spec, at, layer, pixel, text
from evalkit.charts.words import NOT_MEASURED

OUTCOMES = {True: "met", False: "missed"}

_LINE = 13

_LOOKS: Mapping[str, Spec] = {
    "good": {"shape": "circle", "filled": True, "color": GOOD},
    "bad": {"shape": "cross", "filled": True, "color": BAD, "angle": 45},
    "neither": {"shape": "stroke", "filled": False, "color": QUIET, "strokeWidth": 2},
    "unsettled": {"shape": "triangle-up", "filled": False, "color": TARGET, "strokeWidth": 2},
}
_KINDS = {"passed": "good", "failed": "bad", "insufficient": "unsettled"}


def outcome(one: Measure) -> str:
    """Say in a word or two what came of a metric's target.

    >>> outcome(Measure("a", 0.9, limit=0.9, met=True)), outcome(Measure("a", None, limit=0.9))
    ('met', 'not measured')
    """
    if one.value is None:
        return NOT_MEASURED
    if one.ruling is not None:
        return RULINGS[one.ruling.outcome]
    return "no target" if one.met is None else OUTCOMES[one.met]


def outcomes(rows: Sequence[dict[str, Any]], x: float) -> list[Spec]:
    """Write what came of each row's target, with its shape, at a place."""
    found: list[Spec] = []
    for kind, looks in _LOOKS.items():
        mine = [row for row in rows if _kind(row["measure"]) == kind]
        if not mine and kind == "unsettled":
            continue
        words = [line for row in mine for line in _lines(row)]
        marks = [{"text": outcome(row["measure"]), "y": row["middle"]} for row in mine]
        encoding = {"x": at(x + 5), "y": pixel("y")}
        found.append(layer("point", marks, encoding, opacity=1, size=60, **looks))
        found.append(text(words, at(x + 14), pixel("y"), fontSize=SMALL, color=looks["color"]))
    return found


def _lines(row: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Break words that are wider than their column."""
    words = outcome(row["measure"])
    lines = words.split() if words == RULINGS["insufficient"] else [words]
    top = row["middle"] - _LINE * (len(lines) - 1) / 2
    return [{"text": line, "y": top + _LINE * place} for place, line in enumerate(lines)]


def _kind(one: Measure) -> str:
    if one.value is None:
        return "neither"
    if one.ruling is not None:
        return _KINDS[one.ruling.outcome]
    return {True: "good", False: "bad", None: "neither"}[one.met]
