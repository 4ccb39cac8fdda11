"""A report of ``compare`` as it is shown: a part for each candidate, the recommended one first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from evalkit.charts import of_statistics as sure
from evalkit.charts.fields import Fields, scalars
from evalkit.charts.intervals import Interval, plain_reason
from evalkit.charts.model import Bin, Cell, Column, Curve, Grid, Measure, Part, Point, Reliability, Row, Subject
from evalkit.charts.of_calibration import calibration, strata_grid
from evalkit.charts.of_comparison import comparison
from evalkit.charts.of_risk import risk
from evalkit.charts.panels import Calibration, RiskPoint
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
ASKED = {
    "support": "fewest accepted records of a label in truth",
    "excludedClasses": "labels of which every record abstained",
}
"""What gates ask for besides, in words."""

_SYNTHETIC = "The records are invented: this says nothing about a real model."
_CHOSEN = "The threshold was chosen on validation; all numbers of a candidate were measured on test."
_UNSURE = "No interval is given: a number that rests on few records says little."


def selective(report: Mapping[str, Any], fields: Fields) -> Subject:
    """Show a report that conforms to its schema; what is wrong with its statistics is noted in the fields."""
    found = sure.statistics(report, fields)
    ranked = sorted(report["candidates"], key=lambda one: _rank(one, report["recommended"]))
    verdict = f"GO: {report['recommended']} is recommended" if report["recommended"] is not None else "BLOCKED"
    passed = sum(one["passed"] for one in ranked)
    return Subject(
        title="Selective prediction",
        synthetic=report["synthetic"],
        facts=(*_facts(report), *found.facts),
        verdict=f"{verdict}; {passed:,} of {len(ranked):,} candidates passed all gates",
        overview=_overview(ranked, report["recommended"], found),
        comparison=None if found.members is None else comparison(found.members.inner("comparison")),
        parts=tuple(_part(one, report, found.of(one["model"])) for one in ranked),
        limitations=(*([_SYNTHETIC] if report["synthetic"] else []), _CHOSEN, *sure.limits(found, _UNSURE)),
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


def _overview(ranked: list[Mapping[str, Any]], recommended: str | None, found: sure.Statistics) -> Grid | None:
    if not ranked:
        return None
    columns = (Column("outcome"), Column("threshold"), *(Column(name, 1.0) for name in _SCORES))
    rows = []
    for one in ranked:
        outcome = "recommended" if one["model"] == recommended else "passed" if one["passed"] else "blocked"
        values = {name: one[key] for name, key in _SCORES.items()}
        intervals = _scores_of(found.of(one["model"]))
        rows.append(Row(one["model"], {"outcome": outcome, "threshold": one["threshold"], **values}, intervals))
    return Grid("Candidates", "candidate", columns, tuple(rows))


def _scores_of(own: sure.Sure) -> dict[str, Interval]:
    """Return the intervals of the scores, by column."""
    return {name: interval for name, key in _SCORES.items() if (interval := own.of(key)) is not None}


def _part(one: Mapping[str, Any], report: Mapping[str, Any], own: sure.Sure) -> Part:
    classes = tuple(dict.fromkeys(name for cell in one["confusion"] or {} for name in _pair(cell)))
    ordered = (*(one["perClass"] or {}), *(name for name in classes if name not in (one["perClass"] or {})))
    return Part(
        title=one["model"],
        summary="; ".join(_summary(one)),
        measures=tuple(_measures(one, own)),
        reliability=None if one["bins"] is None else Reliability(one["model"], _bins(one["bins"], own)),
        curve=_curve(one, report),
        calibration=None if (panel := own.inner("calibration")) is None else calibration(panel),
        risk=risk(own, one),
        cells=None if one["confusion"] is None else tuple(_cells(one["confusion"])),
        classes=ordered,
        grids=tuple(_grids(one, own)),
        notes=(*_notes(one), *sure.notes(own)),
    )


def _summary(one: Mapping[str, Any]) -> Iterator[str]:
    yield "passed all gates" if one["passed"] else "blocked"
    if one["reason"] is not None:
        yield str(one["reason"]).replace("-", " ")
    if one["threshold"] is not None:
        yield f"threshold {one['threshold']!r}, chosen on validation"
    if one["accepted"] is not None:
        yield f"accepts {one['accepted']:,} of {one['total']:,} test records"


def _measures(one: Mapping[str, Any], own: sure.Sure) -> Iterator[Measure]:
    coverage = own.of("coverage")
    yield Measure("coverage", one["coverage"], direction="higher", sample_size=one["total"], interval=coverage)
    for name, gate in one["gates"].items():
        yield Measure(
            name=_NAMES.get(name, name),
            value=gate["value"],
            direction=gate["direction"],
            limit=gate["limit"],
            sample_size=one["accepted"] or 0,
            reason=str(one["reason"] or "").replace("-", " ") if gate["value"] is None else None,
            met=gate["passed"] if gate["value"] is not None else None,
            interval=own.of(name),
            ruling=own.rulings.get(name),
        )
    yield from _asked(own)


def _asked(own: sure.Sure) -> Iterator[Measure]:
    """Yield what gates ask for besides: they have a limit, and are counts."""
    for name, title in ASKED.items():
        if (ruling := own.rulings.get(name)) is None:
            continue
        value, limit = (None if one is None else int(one) for one in (ruling.value, ruling.limit))
        remark = "" if ruling.reason is None else plain_reason(ruling.reason)
        yield Measure(title, value, "count", ruling.direction, limit, remark=remark, ruling=ruling)


def _bins(rows: Iterable[Mapping[str, Any]], own: sure.Sure) -> tuple[Bin, ...]:
    return tuple(
        Bin(one["lower"], one["upper"], one["count"], one["meanConfidence"], one["accuracy"], own.of_bin(one["lower"]))
        for one in rows
    )


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
    """Give a candidate the points of its validation curve; those of risk are what precision leaves."""
    curve = None if part.curve is None else replace(part.curve, points=points)
    risks = tuple(RiskPoint(one.coverage, None if one.precision is None else 1 - one.precision) for one in points)
    return replace(part, curve=curve, risk=None if part.risk is None else replace(part.risk, points=risks))


def _grids(one: Mapping[str, Any], own: sure.Sure) -> Iterator[Grid]:
    if one["perClass"]:
        counts = (Column("support"), Column("predicted"))
        columns = (*counts, Column("precision", 1.0), Column("recall", 1.0), Column("f1", 1.0))
        rows = tuple(Row(name, row, _class_of(own, name)) for name, row in one["perClass"].items())
        yield Grid("Classes", "class", columns, rows)
    if one["strata"]:
        scores = (Column("records"), *(Column(name, 1.0) for name in _SCORES))
        yield Grid("Strata", "stratum", scores, tuple(_stratum(each, own) for each in one["strata"]))
        if (found := strata_grid(_calibrated(one, own))) is not None:
            yield found


def _calibrated(one: Mapping[str, Any], own: sure.Sure) -> Iterator[tuple[str, Calibration]]:
    """Yield the calibration of each stratum that has a panel."""
    for each in one["strata"]:
        if (panel := own.stratum(each["by"]).inner("calibration")) is not None:
            yield _by(each["by"]), calibration(panel)


def _by(by: Mapping[str, str]) -> str:
    return " × ".join(f"{field}={value}" for field, value in by.items())


def _class_of(own: sure.Sure, label: str) -> dict[str, Interval]:
    names = ("precision", "recall", "f1")
    return {name: interval for name in names if (interval := own.of(name, label)) is not None}


def _stratum(one: Mapping[str, Any], own: sure.Sure) -> Row:
    here = own.stratum(one["by"])
    values = {"records": one["total"], **{name: one[key] for name, key in _SCORES.items()}}
    return Row(_by(one["by"]), values, _scores_of(here))


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
