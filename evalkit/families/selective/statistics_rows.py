"""The rows that statistics add to a results folder: intervals beside measurements, and tables of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

import polars as pl

from evalkit.families.selective import contributors, versus_rows
from evalkit.families.selective.candidate import crossed
from evalkit.families.selective.contributors import ContributorPlan, contributor_table
from evalkit.families.selective.sureness import CandidateStatistics, Statistics, StratumStatistics
from evalkit.families.selective.versus_rows import comparison_tables
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


_RELIABILITY: dict[str, pl.DataType] = {
    "model": pl.String(),
    "split": pl.String(),
    **tables.STRATUM,
    "kind": pl.String(),
    "lower": pl.Float64(),
    "upper": pl.Float64(),
    "count": pl.Int64(),
    "correct": pl.Int64(),
    "mean_confidence": pl.Float64(),
    "accuracy": pl.Float64(),
}


_CERTIFIED: dict[str, pl.DataType] = {
    "model": pl.String(),
    "target": pl.Float64(),
    "confidence": pl.Float64(),
    "cut": pl.Float64(),
    "accepted": pl.Int64(),
    "errors": pl.Int64(),
    "contributors": pl.Int64(),
    "risk": pl.Float64(),
    "design_effect": pl.Float64(),
    "p_binomial": pl.Float64(),
    "p_cluster": pl.Float64(),
    "p_value": pl.Float64(),
    "bound": pl.Float64(),
    "tested": pl.Boolean(),
    "passed": pl.Boolean(),
}

COLUMNS: Mapping[str, Mapping[str, pl.DataType]] = {
    "contributors": contributors.COLUMNS,
    "gates": _GATES,
    "reliability": _RELIABILITY,
    "certified": _CERTIFIED,
    **versus_rows.COLUMNS,
}
"""The columns of each table that statistics add."""


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
        "reliability": tables.table(list(_reliability(sure)), _RELIABILITY),
        "certified": pl.concat([pl.DataFrame(schema=_CERTIFIED), *_certified(sure)]),
    }


def whole_tables(sure: Statistics, plan: ContributorPlan) -> dict[str, pl.DataFrame]:
    """Make the rows that are of no candidate alone."""
    compared = {} if sure.comparison is None else comparison_tables(sure.comparison)
    return {"contributors": contributor_table(plan), **compared}


def _ends(sure: CandidateStatistics) -> Iterator[dict[str, Any]]:
    """Yield the intervals with the keys of the measurements that they are of."""
    for place, one in _places(sure):
        for row in one.intervals or ():
            ends = {"name": row.name, "label": row.label, "bin": row.bin, "low": row.low, "high": row.high}
            yield {**place, **ends, "method": row.method}


def _reliability(sure: CandidateStatistics) -> Iterator[dict[str, Any]]:
    """Yield the bins of equal mass, and the blocks of isotonic recalibration."""
    for place, one in _places(sure):
        if one.calibration is None:
            continue
        for own in one.calibration.equal_mass.bins:
            here = {"kind": "equal-mass", "lower": own.low, "upper": own.high, "count": own.n, "correct": own.correct}
            yield {**place, **here, "mean_confidence": own.mean_confidence, "accuracy": own.accuracy}
        for block in one.calibration.corp.blocks:
            here = {"kind": "isotonic", "lower": block.low, "upper": block.high, "count": block.n}
            yield {**place, **here, "correct": block.correct, "accuracy": block.correct / block.n}


def _certified(sure: CandidateStatistics) -> Iterator[pl.DataFrame]:
    """Yield every cut that was tested for each claim."""
    for one in sure.certified or ():
        claim = {"target": pl.lit(one.target), "confidence": pl.lit(one.confidence)}
        rows = one.table.with_columns(model=pl.lit(sure.model), **claim)
        yield rows.select(pl.col(name).cast(kind) for name, kind in _CERTIFIED.items())


def _places(sure: CandidateStatistics) -> Iterator[tuple[dict[str, str], CandidateStatistics | StratumStatistics]]:
    """Yield a candidate and each of its strata, with the key columns that are theirs."""
    place = {"model": sure.model, "split": "test"}
    yield place, sure
    for one in sure.strata or ():
        yield {**place, "stratum_field": crossed(list(one.by)), "stratum": crossed(list(one.by.values()))}, one
