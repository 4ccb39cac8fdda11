"""A report of ``compare`` for an interactive page: test numbers at the chosen threshold, and curves of validation.

Of test there is nothing but what was measured at the chosen threshold. So a page that moves a cut has no number that
would tell what the cut gives on test.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalkit.charts import interactive_sure as sure
from evalkit.charts.confusion import kept_classes
from evalkit.charts.figures import MOST_BINS
from evalkit.charts.interactive_data import Entry, Maker, View, Words
from evalkit.charts.interactive_room import Room, named
from evalkit.charts.model import Cell
from evalkit.charts.of_statistics import Sure
from evalkit.contracts.contract import ARROW
from evalkit.families.selective.candidate import crossed

if TYPE_CHECKING:
    import polars as pl

WORDS = Words("candidate", "candidates", "stratum", "strata")

MOST_CUTS, MOST_STRATUM_CUTS = 300, 60
"""Most cuts of a curve, over all records and in a stratum."""

MOST_CLASS_ROWS = 300
"""Most rows of a table of classes: those of most records."""

_NUMBERS = (
    ("records", "total", True),
    ("accepted", "accepted", True),
    ("coverage", "coverage", False),
    ("precision at coverage", "precisionAtCoverage", False),
    ("macro-F1", "macroF1", False),
    ("ECE", "ece", False),
)
_GATES = {"precisionAtCoverage": "precision at coverage", "macroF1": "macro-F1", "ece": "ECE"}
_COLUMNS = (("support", True), ("predicted", True), ("precision", False), ("recall", False), ("f1", False))
_NAMES = [name for name, _ in _COLUMNS]

_Cut = tuple[float, int, int]


@dataclass(frozen=True, slots=True)
class _Curve:
    """All cuts of one view, the narrowest first, each with how many records it accepts, and right ones."""

    total: int
    cuts: Sequence[_Cut]


def selective(report: Mapping[str, Any], order: Sequence[str], cuts: pl.DataFrame | None) -> Iterator[Entry]:
    """Yield the candidates of a report.

    Args:
        report: The report as plain data.
        order: Their names, those first that are shown first.
        cuts: The curves of a results folder.
    """
    candidates = {one["model"]: one for one in report["candidates"]}
    by_model = {} if cuts is None else cuts.partition_by("model", as_dict=True)
    known = sure.known(report)
    for name in order:
        curves = None if cuts is None else _curves(by_model.get((name,)))
        yield _entry(candidates[name], report, curves, known.of(name))


def _curves(cuts: pl.DataFrame | None) -> dict[tuple[str | None, str | None], _Curve]:
    """Return the curves of one candidate by the fields and the values of the stratum."""
    if cuts is None:
        return {}
    places = (
        cuts.filter(cuts["accepted"] > 0)
        .sort("cut", descending=True)
        .partition_by("stratum_field", "stratum", as_dict=True)
    )
    return {
        (key[0], key[1]): _Curve(rows["total"][0], list(rows.select("cut", "accepted", "correct").iter_rows()))
        for key, rows in places.items()
    }


def _entry(one: Mapping[str, Any], report: Mapping[str, Any], curves: Mapping[Any, _Curve] | None, own: Sure) -> Entry:
    outcome = "recommended" if one["model"] == report["recommended"] else "passed" if one["passed"] else "blocked"
    selection = one["selection"]
    head = {
        "name": named(one["model"]),
        "outcome": outcome,
        "reason": one["reason"] and one["reason"].replace("-", " "),
        "threshold": one["threshold"],
        "floor": report["minCoverage"],
        "gates": [
            [
                *(_GATES.get(name, name), gate["value"], gate["limit"], gate["direction"], gate["passed"]),
                *sure.ruling(own.rulings.get(name)),
            ]
            for name, gate in one["gates"].items()
        ]
        + list(sure.asked(own)),
        "precisionLimit": one["gates"]["precisionAtCoverage"]["limit"]
        if "precisionAtCoverage" in one["gates"]
        else None,
        "chosen": [selection["accepted"], selection["total"], selection["coverage"], selection["precisionAtCoverage"]],
    }
    strata = one["strata"] or []
    whole = _view(one, "all records", _cut_by(one["threshold"], _found(curves, (None, None)), MOST_CUTS), own)
    return Entry(head, whole, _strata(strata, one["threshold"], curves, own), len(strata))


def _strata(
    strata: Sequence[Mapping[str, Any]], threshold: float | None, curves: Mapping[Any, _Curve] | None, own: Sure
) -> Iterator[View]:
    for one in strata:
        place = (crossed(list(one["by"])), crossed(list(one["by"].values())))
        name = " × ".join(f"{field} = {value}" for field, value in one["by"].items())
        curve = _cut_by(threshold, _found(curves, place), MOST_STRATUM_CUTS)
        yield _view(one, name, curve, own.stratum(one["by"]))


def _found(curves: Mapping[Any, _Curve] | None, place: tuple[str | None, str | None]) -> _Curve | None:
    """Return a curve, an empty one where validation has no such records; None where curves are not at hand."""
    return None if curves is None else curves.get(place, _Curve(0, ()))


def _cut_by(threshold: float | None, curve: _Curve | None, most: int) -> Maker | None:
    """Return what makes a curve with its threshold; None where curves are not at hand."""
    return None if curve is None else lambda _: _curve(curve, threshold, most)


def _view(one: Mapping[str, Any], name: str, curve: Maker | None, own: Sure) -> View:
    core = {
        "name": named(name),
        "numbers": sure.numbers(_NUMBERS, one, own),
        "abstentions": one["abstentions"] and [[why.replace("-", " "), n] for why, n in one["abstentions"].items()],
        "excluded": [named(str(label)) for label in (one["excludedClasses"] or [])[:20]],
    }
    large: dict[str, Maker] = {"bins": lambda _: sure.bins(_bins(one["bins"]), own)}
    if curve is not None:
        large["curve"] = curve
    large["classes"] = lambda room: _classes(one["perClass"] or {}, room, own)
    large["cells"] = lambda room: _cells(one, room)
    return View(core, large)


def _bins(bins: Sequence[Mapping[str, Any]] | None) -> list[list[Any]]:
    keys = ("lower", "upper", "count", "meanConfidence", "accuracy")
    return [[one[key] for key in keys] for one in (bins or ())[:MOST_BINS]]


def _curve(curve: _Curve, threshold: float | None, most: int) -> dict[str, Any]:
    return {"total": curve.total, "of": len(curve.cuts), "cuts": thinned(curve.cuts, threshold, most)}


def thinned(cuts: Sequence[_Cut], threshold: float | None, most: int) -> list[_Cut]:
    """Keep at most so many cuts: in each slice the last, the highest and the lowest, and the one of the threshold.

    A threshold that is no cut of these records accepts what the last cut at or above it accepts.

    >>> thinned([(0.9, 1, 1), (0.8, 2, 1), (0.7, 3, 2), (0.6, 4, 2), (0.5, 5, 3)], 0.75, 4)
    [(0.9, 1, 1), (0.8, 2, 1), (0.5, 5, 3)]
    >>> thinned([(0.9, 1, 1), (0.8, 2, 1), (0.7, 3, 2), (0.6, 4, 2), (0.5, 5, 3)], 0.65, 4)
    [(0.9, 1, 1), (0.8, 2, 1), (0.7, 3, 2), (0.5, 5, 3)]
    """
    if len(cuts) <= most:
        return list(cuts)
    slices = max(1, (most - 1) // 3)
    kept: set[int] = set()
    for number in range(slices):
        here = range(number * len(cuts) // slices, (number + 1) * len(cuts) // slices)
        kept |= {
            max(here, key=lambda at: cuts[at][2] / cuts[at][1]),
            min(here, key=lambda at: cuts[at][2] / cuts[at][1]),
        }
        kept.add(here[-1])
    if threshold is not None:
        kept |= {max((at for at, cut in enumerate(cuts) if cut[0] >= threshold), default=0)}
    return [cuts[at] for at in sorted(kept)]


def _classes(rows: Mapping[str, Mapping[str, Any]], room: Room, own: Sure) -> dict[str, Any]:
    heaviest = sorted(rows, key=lambda label: -(rows[label]["support"] + rows[label]["predicted"]))[:MOST_CLASS_ROWS]
    kept = rows if len(rows) <= MOST_CLASS_ROWS else [label for label in rows if label in set(heaviest)]
    shown = [[room.place(label), *(rows[label][key] for key, _ in _COLUMNS)] for label in kept]
    ends = {str(room.place(label)): found for label in kept if (found := sure.ends(own, label, _NAMES))}
    return {"columns": _COLUMNS, "of": len(rows), "rows": shown, **({"ends": ends} if ends else {})}


def _cells(one: Mapping[str, Any], room: Room) -> dict[str, Any]:
    cells = [Cell(*_pair(name), count) for name, count in (one["confusion"] or {}).items()]
    known = dict.fromkeys(
        [*(one["perClass"] or {}), *(name for cell in cells for name in (cell.truth, cell.predicted))]
    )
    kept = kept_classes(cells, list(known))
    totals: dict[str, int] = {}
    for cell in cells:
        totals[cell.truth] = totals.get(cell.truth, 0) + cell.count
    places = {label: place for place, label in enumerate(kept)}
    shown = [
        [places[cell.truth], places[cell.predicted], cell.count]
        for cell in cells
        if cell.count and cell.truth in places and cell.predicted in places
    ]
    return {
        "of": len(known),
        "labels": [room.place(label) for label in kept],
        "totals": [totals.get(label, 0) for label in kept],
        "cells": shown,
    }


def _pair(cell: str) -> tuple[str, str]:
    truth, _, predicted = cell.partition(ARROW)
    return truth, predicted
