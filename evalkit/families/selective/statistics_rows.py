"""The rows that statistics add to a results folder: intervals beside measurements, and tables of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import polars as pl

from evalkit.families.selective import contributors
from evalkit.families.selective.candidate import crossed
from evalkit.families.selective.contributors import ContributorPlan, contributor_table
from evalkit.families.selective.sureness import CandidateStatistics, Statistics
from evalkit.results import tables


_GATES: dict[str, pl.DataType] = {
    "model": pl.String(),
    "name": pl.String(),
    "outcome": pl.String(),
    "value": pl.Float64(),
    "limit": pl.Float64(),
    "direction": pl.String(),
    "bound": pl.Float64(),
    "reason": pl.String(),
}


def statistics_columns(sure: Statistics) -> dict[str, Mapping[str, pl.DataType]]:
    """Return the columns of each table that statistics add."""
    return {"contributors": contributors.COLUMNS, "gates": _GATES}


def statistics_tables(sure: CandidateStatistics, measurements: pl.DataFrame, level: float) -> dict[str, pl.DataFrame]:
    """Make one candidate's rows: its measurements with their intervals.

    Args:
        sure: How sure its numbers are.
        measurements: Its rows of that table.
        level: The confidence of the intervals.
    """
    gates = [{"model": sure.model, "name": name, **asdict(gate)} for name, gate in (sure.gates or {}).items()]
    return {
        "measurements": tables.with_intervals(measurements, list(_ends(sure)), level),
        "gates": tables.table(gates, _GATES),
    }


def whole_tables(sure: Statistics, plan: ContributorPlan) -> dict[str, pl.DataFrame]:
    """Make the rows that are of no candidate alone."""
    return {"contributors": contributor_table(plan)}


def _ends(sure: CandidateStatistics) -> Iterator[dict[str, Any]]:
    """Yield the intervals with the keys of the measurements that they are of."""
    for one in (sure, *(sure.strata or ())):
        by = getattr(one, "by", {})
        place = {"model": sure.model, "split": "test"}
        place |= {"stratum_field": crossed(list(by)), "stratum": crossed(list(by.values()))} if by else {}
        for row in one.intervals or ():
            ends = {"name": row.name, "label": row.label, "bin": row.bin, "low": row.low, "high": row.high}
            yield {**place, **ends, "method": row.method}
