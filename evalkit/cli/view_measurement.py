"""What a person sees of a measurement: a row a measure, what was not measured, and what the numbers do not say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rich.console import Group
from rich.table import Table
from rich.text import Text

from evalkit.charts.words import number
from evalkit.cli.showing import bare_table, between, whole
from evalkit.errors import printable
from evalkit.families.observations.document import DEVELOPMENT
from evalkit.families.observations.measured import GATED_SYSTEM, NO_CASES
from evalkit.families.observations.result import MeasurementReport
from evalkit.families.observations.sure import Statistics

_SIGNS = {"higher": "≥", "lower": "≤"}


def measurement_view(report: MeasurementReport) -> Group:
    """Build the view of a measurement."""
    return Group(_table(report), *(whole(Text(line)) for line in _lines(report)))


def _table(report: MeasurementReport) -> Table:
    systems = any("system" in row and row["value"] is not None for row in report.metrics)
    table = bare_table()
    table.add_column("measure", no_wrap=True)
    if systems:
        table.add_column("system", overflow="fold")
    table.add_column("value", justify="right", no_wrap=True)
    ends = {} if report.statistics is None else _ends(report.statistics)
    if ends:
        table.add_column("interval", no_wrap=True)
    else:
        table.add_column("better")
    table.add_column("threshold", justify="right", no_wrap=True)
    table.add_column("n", justify="right", no_wrap=True)
    for row in _shown(report):
        system = (printable(row.get("system", "")),) if systems else ()
        told = ends.get((row["name"], row.get("system")), "–") if ends else row["direction"]
        table.add_row(row["name"], *system, _value(row), told, _threshold(row), f"{row['sample_size']:,}")
    return table


def _ends(found: Statistics) -> dict[tuple[str, str | None], str]:
    """Return what is shown of the interval of each measure over all cases."""
    over_all = (one for one in found.intervals if one.stratum is None)
    return {(one.name, one.system): between(one.low, one.high, "–") for one in over_all}


def _shown(report: MeasurementReport) -> Iterator[Mapping[str, Any]]:
    """Yield the rows; where there are no rankings at all, those of the system that has a limit."""
    for row in report.metrics:
        if row.get("reason") != NO_CASES or row.get("system", GATED_SYSTEM) == GATED_SYSTEM:
            yield row


def _value(row: Mapping[str, Any]) -> Text:
    value = row["value"]
    if value is None:
        return Text("not measured", style="yellow")
    return Text(number(value, row["threshold"]))


def _threshold(row: Mapping[str, Any]) -> str:
    limit = row["threshold"]
    if limit is None:
        return "–"
    return (
        f"{_SIGNS[row['direction']]} {limit}" if isinstance(limit, int) else f"{_SIGNS[row['direction']]} {limit:.2f}"
    )


def _clusters(found: Statistics) -> str:
    every = dict.fromkeys(one.clustered_by for one in found.intervals if one.value is not None)
    return ", ".join(every) or found.clustered_by


def _lines(report: MeasurementReport) -> Iterator[str]:
    if report.synthetic:
        yield "synthetic example: these observations are invented and prove software behaviour only"
    if report.split == DEVELOPMENT:
        yield "development run: it says nothing about held-out sources"
    for row in report.metrics:
        if row.get("review_complete") is False and row["value"] is not None:
            yield f"{row['name']}: the review is not complete"
        if row.get("caution"):
            yield f"{row['name']}: {row['caution']}"
    if report.statistics is not None:
        level = f"{report.statistics.level * 100:.10g}"
        yield f"{level}% intervals, cases clustered by {_clusters(report.statistics)}"
        told = (one.reason for one in report.statistics.intervals if one.value is not None)
        if reasons := dict.fromkeys(one for one in told if one is not None):
            yield f"no interval where there is a dash: {', '.join(reasons)}"
    if report.strata:
        strata = "1 stratum" if len(report.strata) == 1 else f"{len(report.strata):,} strata"
        yield f"{strata}; --output and --out have the numbers"
    lacking = report.run.not_recorded
    if lacking:
        yield f"not recorded of the run: {', '.join(lacking)}"
    yield f"{len(report.limitations)} limitations stand in the evaluation; targets are no results"
    names = (report.run_id, report.model_revision, report.dataset_id)
    yield "run {}, model {}, data {}".format(*map(printable, names))
    yield f"evidence {report.evidence_sha256}"
