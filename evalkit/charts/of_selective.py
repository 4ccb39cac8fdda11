"""A report of ``compare`` as it is shown: a part for each candidate, the recommended one first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from evalkit.charts.fields import scalars
from evalkit.charts.model import Bin, Cell, Column, Curve, Grid, Measure, Part, Point, Reliability, Row, Subject
from evalkit.charts.words import number
from evalkit.contracts.contract import ARROW

SCHEMA = "evalkit-selective-v1"

_NAMES = {"precisionAtCoverage": "precision at coverage", "macroF1": "macro-F1", "ece": "ECE"}
_SCORES = {
    "coverage": "coverage",
    "precision": "precisionAtCoverage",
    "macro-F1": "macroF1",
    "ECE": "ece",
}
_SYNTHETIC = "The records are invented: this says nothing about a real model."
_LIMITS = (
    "The threshold was chosen on validation; all numbers of a candidate were measured on test.",
    "No interval is given: a number that rests on few records says little.",
)


def selective(report: Mapping[str, Any]) -> Subject:
    """Show a report that conforms to its schema."""
    ranked = sorted(report["candidates"], key=lambda one: _rank(one, report["recommended"]))
    verdict = f"GO: {report['recommended']} is recommended" if report["recommended"] is not None else "BLOCKED"
    passed = sum(one["passed"] for one in ranked)
    return Subject(
        title="Selective prediction",
        synthetic=report["synthetic"],
        facts=tuple(_facts(report)),
        verdict=f"{verdict}; {passed:,} of {len(ranked):,} candidates passed all gates",
        overview=_overview(ranked, report["recommended"]),
        parts=tuple(_part(one, report) for one in ranked),
        limitations=(*([_SYNTHETIC] if report["synthetic"] else []), *_LIMITS),
    )


def _rank(one: Mapping[str, Any], recommended: str | None) -> tuple[Any, ...]:
    return (one["model"] != recommended, not one["passed"], -(one["macroF1"] or 0.0), one["model"])


def _facts(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    records = sum(one["records"] for one in report["evidence"])
    yield (
        "records",
        f"{records:,} in {len(report['evidence']):,} {'input' if len(report['evidence']) == 1 else 'inputs'}",
    )
    yield "coverage floor", f"{report['minCoverage']:g}"
    if report["policy"] is not None:
        yield "policy", f"confidence at least {report['policy']['confidenceFloor']:g}"
    yield from scalars({"run": report["run"] or {}})


def _overview(ranked: list[Mapping[str, Any]], recommended: str | None) -> Grid | None:
    if not ranked:
        return None
    columns = (Column("outcome"), Column("threshold"), *(Column(name, 1.0) for name in _SCORES))
    rows = []
    for one in ranked:
        outcome = "recommended" if one["model"] == recommended else "passed" if one["passed"] else "blocked"
        values = {name: one[key] for name, key in _SCORES.items()}
        rows.append(Row(one["model"], {"outcome": outcome, "threshold": one["threshold"], **values}))
    return Grid("Candidates", "candidate", columns, tuple(rows))


def _part(one: Mapping[str, Any], report: Mapping[str, Any]) -> Part:
    classes = tuple(dict.fromkeys(name for cell in one["confusion"] or {} for name in _pair(cell)))
    ordered = (*(one["perClass"] or {}), *(name for name in classes if name not in (one["perClass"] or {})))
    return Part(
        title=one["model"],
        summary="; ".join(_summary(one)),
        measures=tuple(_measures(one)),
        reliability=None if one["bins"] is None else Reliability(one["model"], tuple(map(_bin, one["bins"]))),
        curve=_curve(one, report),
        cells=None if one["confusion"] is None else tuple(_cells(one["confusion"])),
        classes=ordered,
        grids=tuple(_grids(one)),
        notes=tuple(_notes(one)),
    )


def _summary(one: Mapping[str, Any]) -> Iterator[str]:
    yield "passed all gates" if one["passed"] else "blocked"
    if one["reason"] is not None:
        yield str(one["reason"]).replace("-", " ")
    if one["threshold"] is not None:
        yield f"threshold {one['threshold']!r}, chosen on validation"
    if one["accepted"] is not None:
        yield f"accepts {one['accepted']:,} of {one['total']:,} test records"


def _measures(one: Mapping[str, Any]) -> Iterator[Measure]:
    yield Measure("coverage", one["coverage"], direction="higher", sample_size=one["total"])
    for name, gate in one["gates"].items():
        yield Measure(
            name=_NAMES.get(name, name),
            value=gate["value"],
            direction=gate["direction"],
            limit=gate["limit"],
            sample_size=one["accepted"] or 0,
            reason=str(one["reason"] or "").replace("-", " ") if gate["value"] is None else None,
            met=gate["passed"] if gate["value"] is not None else None,
        )


def _bin(one: Mapping[str, Any]) -> Bin:
    return Bin(one["lower"], one["upper"], one["count"], one["meanConfidence"], one["accuracy"])


def _pair(cell: str) -> tuple[str, str]:
    truth, _, predicted = cell.partition(ARROW)
    return truth, predicted


def _cells(confusion: Mapping[str, int]) -> Iterator[Cell]:
    for cell, count in confusion.items():
        yield Cell(*_pair(cell), count)


def _curve(one: Mapping[str, Any], report: Mapping[str, Any]) -> Curve:
    """Return what a report says of the curve: the chosen cut; all its points are in a table of its own."""
    gate = one["gates"].get("precisionAtCoverage")
    return Curve(
        points=None,
        cut=one["threshold"],
        chosen=Point(one["selection"]["coverage"], one["selection"]["precisionAtCoverage"]),
        scored=Point(one["coverage"], one["precisionAtCoverage"]),
        floor=report["minCoverage"],
        limit=None if gate is None else gate["limit"],
    )


def with_points(part: Part, points: tuple[Point, ...]) -> Part:
    """Give a candidate the points of its validation curve."""
    return part if part.curve is None else replace(part, curve=replace(part.curve, points=points))


def _grids(one: Mapping[str, Any]) -> Iterator[Grid]:
    if one["perClass"]:
        counts = (Column("support"), Column("predicted"))
        columns = (*counts, Column("precision", 1.0), Column("recall", 1.0), Column("f1", 1.0))
        yield Grid("Classes", "class", columns, tuple(Row(name, row) for name, row in one["perClass"].items()))
    if one["strata"]:
        scores = (Column("records"), *(Column(name, 1.0) for name in _SCORES))
        yield Grid("Strata", "stratum", scores, tuple(map(_stratum, one["strata"])))


def _stratum(one: Mapping[str, Any]) -> Row:
    name = " × ".join(f"{field}={value}" for field, value in one["by"].items())
    return Row(name, {"records": one["total"], **{name: one[key] for name, key in _SCORES.items()}})


def _notes(one: Mapping[str, Any]) -> Iterator[str]:
    if one["excludedClasses"]:
        names = ", ".join(map(str, one["excludedClasses"][:20]))
        more = len(one["excludedClasses"]) - 20
        yield f"Excluded classes, of which every record abstained: {names}{f' and {more:,} more' if more > 0 else ''}."
    optimism = one["selection"]["optimism"]["precisionAtCoverage"]
    if optimism == 0:
        yield "Precision was the same on validation and on test."
    elif optimism is not None:
        side = "higher" if optimism > 0 else "lower"
        yield f"Precision was {number(abs(optimism))} {side} on validation than on test."
