"""Risk and coverage of a candidate, and its certified thresholds, read for charts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.charts.intervals import Interval, plain_reason
from evalkit.charts.members import Members
from evalkit.charts.model import Column, Grid, Row
from evalkit.charts.of_statistics import Sure
from evalkit.charts.panels import Claim, Risk, RiskPoint
from evalkit.charts.words import probability

_AREAS = {
    "aurc": "AURC: area under risk and coverage",
    "eAurc": "E-AURC: its excess over the best order",
    "augrc": "AUGRC: mean rate of undetected errors",
}


def risk(own: Sure, one: Mapping[str, Any]) -> Risk | None:
    """Read the curve of validation and the thresholds on it; None where neither was asked for.

    Args:
        own: What is known of the candidate.
        one: The candidate, as its report has it.
    """
    curves, certified, apart = own.inner("riskCoverage"), own.items("certified"), own.inner("optimism")
    if curves is None and not certified:
        return None
    validation = None if curves is None else curves.need("validation")
    reached = RiskPoint(None, None)
    if validation is not None:
        reached = RiskPoint(validation.real("reachedCoverage"), validation.real("risk"))
    precision = one["selection"]["precisionAtCoverage"]
    chosen = RiskPoint(one["selection"]["coverage"], None if precision is None else 1 - precision)
    claims = tuple(_claim(each, one["selection"]["total"]) for each in certified)
    grids = [
        None if curves is None else _areas(curves),
        None if apart is None else _apart(apart),
        _certified(certified, one["selection"]["total"]),
    ]
    numbers = tuple(grid for grid in grids if grid is not None)
    return Risk(None, one["threshold"], chosen, claims, reached, numbers)


def _claim(one: Members, total: int) -> Claim:
    accepted, errors = one.whole("accepted"), one.whole("errors")
    if (accepted or 0) > total or (errors or 0) > (accepted or 0):
        one.fields.must_be(
            "at most the records of validation, and errors at most these", one.where("accepted"), accepted
        )
        accepted = None
    at = RiskPoint(accepted / total, (errors or 0) / accepted) if accepted and total else RiskPoint(None, None)
    return Claim(
        one.needed_real("target"), one.needed_real("confidence"), one.real("threshold"), at, one.text("reason")
    )


def _areas(curves: Members) -> Grid:
    """Return the areas and the coverage at each limit of risk, on both splits."""
    values: dict[str, dict[str, float | None]] = {}
    intervals: dict[str, dict[str, Interval]] = {}
    for split in ("validation", "test"):
        here = curves.need(split)
        for key, name in _AREAS.items():
            area = here.need(key)
            values.setdefault(name, {})[split] = area.real("value")
            intervals.setdefault(name, {})[split] = _interval(area.need("interval"))
        for each in here.items("coverageAtRisk"):
            name = f"coverage at a risk of at most {each.needed_real('limit'):g}"
            values.setdefault(name, {})[split] = each.real("coverage")
            intervals.setdefault(name, {})[split] = _interval(each.need("interval"))
        for each in here.items("riskAtCoverage"):
            name = f"risk at a coverage of at least {each.needed_real('floor'):g}"
            values.setdefault(name, {})[split] = each.real("risk")
        values.setdefault("coverage where the curve ends", {})[split] = here.real("reachedCoverage")
        values.setdefault("risk there", {})[split] = here.real("risk")
    rows = tuple(Row(name, values[name], intervals.get(name, {})) for name in values)
    return Grid("Risk and coverage in numbers", "measure", (Column("validation"), Column("test")), rows)


def _apart(optimism: Members) -> Grid:
    """Return how much better validation looked than test, and the standard error of that."""
    names = {"validation": "validation", "test": "test", "difference": "difference", "standard error": "standardError"}
    rows = []
    for title, key in (("precision at the threshold", "precision"), ("AURC", "aurc"), ("AUGRC", "augrc")):
        gap = optimism.need(key)
        rows.append(Row(title, {name: gap.real(member) for name, member in names.items()}))
    return Grid("Validation minus test", "measure", tuple(map(Column, names)), tuple(rows))


def _interval(one: Members) -> Interval:
    groups = one.whole("groups")
    reason = one.text("reason")
    found = one.real("low"), one.real("high")
    return Interval(*found, method=one.text("method"), reason=reason, contributors=groups, unit="groups")


def _certified(certified: tuple[Members, ...], total: int) -> Grid | None:
    """Return the thresholds that were to be certified, a row a claim; None where none was asked for."""
    names = ("outcome", "threshold", "coverage", "errors", "accepted", "contributors", "p", "bound")
    rows = []
    for one in certified:
        threshold, accepted = one.real("threshold"), one.whole("accepted")
        outcome = "certified" if threshold is not None else plain_reason(one.text("reason"))
        values = (
            *(outcome, threshold, accepted / total if accepted and total else None, one.whole("errors"), accepted),
            *(one.whole("contributors"), probability(one.real("pValue")), one.real("bound")),
        )
        name = f"precision ≥ {one.needed_real('target'):g}, {100 * one.needed_real('confidence'):g} % sure"
        rows.append(Row(name, dict(zip(names, values, strict=True))))
    return (
        Grid("Certified thresholds, on validation", "claim", tuple(map(Column, names)), tuple(rows)) if rows else None
    )
