"""The rows of a comparison: a difference a row, and a pair of results a row."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from evalkit.families.selective.comparison import Comparison
from evalkit.results import tables

_COUNT, _VALUE, _TEXT = pl.Int64(), pl.Float64(), pl.String()

COLUMNS: Mapping[str, dict[str, pl.DataType]] = {
    "comparison": {
        "baseline": _TEXT,
        "model": _TEXT,
        "name": _TEXT,
        "direction": _TEXT,
        "baseline_value": _VALUE,
        "candidate_value": _VALUE,
        "value": _VALUE,
        "low": _VALUE,
        "high": _VALUE,
        "at_least": _VALUE,
        "at_most": _VALUE,
        "level": _VALUE,
        "p_value": _VALUE,
        "adjusted_p_value": _VALUE,
        "method": _TEXT,
        "reason": _TEXT,
        "contributors": _COUNT,
        "both": _COUNT,
        "only_baseline": _COUNT,
        "only_candidate": _COUNT,
        "margin": _VALUE,
        "outcome": _TEXT,
    },
    "flips": {
        "baseline": _TEXT,
        "model": _TEXT,
        "baseline_result": _TEXT,
        "candidate_result": _TEXT,
        "count": _COUNT,
    },
}
"""The columns of each table."""


def comparison_tables(found: Comparison) -> dict[str, pl.DataFrame]:
    """Make the tables of a comparison: ``comparison`` and ``flips``, the latter empty where no id paired records."""
    differences = [
        {
            "baseline": found.baseline,
            "model": one.model,
            "name": each.name,
            "direction": each.direction,
            "baseline_value": each.baseline,
            "candidate_value": each.candidate,
            "level": found.level,
            "margin": found.margin,
            "outcome": None if each.non_inferiority is None else each.non_inferiority.outcome,
            **{name: getattr(each, name) for name in _SAME},
        }
        for one in found.against
        for each in one.differences
    ]
    flips = [
        {
            "baseline": found.baseline,
            "model": one.model,
            "baseline_result": flip.baseline,
            "candidate_result": flip.candidate,
            "count": flip.count,
        }
        for one in found.against
        if one.pairs is not None
        for flip in one.pairs.flips
    ]
    rows = {"comparison": differences, "flips": flips}
    return {name: tables.table(rows[name], COLUMNS[name]) for name in COLUMNS}


_SAME = (
    *("value", "low", "high", "at_least", "at_most", "p_value", "adjusted_p_value", "method", "reason"),
    *("contributors", "both", "only_baseline", "only_candidate"),
)
"""Columns that are called as the attributes of a difference are."""
