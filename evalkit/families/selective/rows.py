"""The rows of each table of a results folder, one candidate at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import polars as pl

from evalkit.families.selective.candidate import Candidate, Stratum
from evalkit.results import tables

_PLACE: dict[str, pl.DataType] = {"model": pl.String(), "split": pl.String(), **tables.STRATUM}
_COUNT, _VALUE = pl.Int64(), pl.Float64()

COLUMNS: Mapping[str, dict[str, pl.DataType]] = {
    "candidates": {
        **_PLACE,
        "passed": pl.Boolean(),
        "recommended": pl.Boolean(),
        "reason": pl.String(),
        "threshold": _VALUE,
        "validation_total": _COUNT,
        "validation_accepted": _COUNT,
        "validation_coverage": _VALUE,
        "validation_precision_at_coverage": _VALUE,
        "total": _COUNT,
        "accepted": _COUNT,
        "no_suggestion": _COUNT,
        "low_quality": _COUNT,
        "low_confidence": _COUNT,
        "coverage": _VALUE,
        "precision_at_coverage": _VALUE,
        "macro_f1": _VALUE,
        "ece": _VALUE,
        "excluded_classes": pl.List(pl.String()),
    },
    "per_class": {
        **_PLACE,
        "label": pl.String(),
        "support": _COUNT,
        "predicted": _COUNT,
        "precision": _VALUE,
        "recall": _VALUE,
        "f1": _VALUE,
    },
    "confusion": {**_PLACE, "truth": pl.String(), "predicted": pl.String(), "count": _COUNT},
    "bins": {
        **_PLACE,
        "bin": pl.Int16(),
        "lower": _VALUE,
        "upper": _VALUE,
        "count": _COUNT,
        "mean_confidence": _VALUE,
        "accuracy": _VALUE,
    },
    "curve": {
        **_PLACE,
        "cut": _VALUE,
        "accepted": _COUNT,
        "correct": _COUNT,
        "total": _COUNT,
        "coverage": _VALUE,
        "precision": _VALUE,
    },
    "measurements": tables.MEASUREMENT,
}
"""The columns of each table."""


def candidate_tables(one: Candidate, recommended: bool, cuts: pl.DataFrame | None) -> dict[str, pl.DataFrame]:  # noqa: FBT001
    """Make one candidate's rows of each table: over all records first, then stratum by stratum.

    Args:
        one: The candidate.
        recommended: Whether it is the recommended one.
        cuts: Its validation curves.
    """
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in ("candidates", "per_class", "confusion", "bins")}
    measured = list(one.measurements)
    _add(rows, one, {"model": one.model, "split": one.scored_split}, _judged(one, recommended))
    for stratum in one.strata or ():
        place = {"model": one.model, "split": one.scored_split}
        place |= {"stratum_field": stratum.stratum_field, "stratum": stratum.stratum}
        _add(rows, stratum, place, {"threshold": one.threshold})
        measured.extend(stratum.measurements)
    made = {name: tables.table(found, COLUMNS[name]) for name, found in rows.items()}
    made["measurements"] = tables.measurements("selective", measured)
    return made | ({} if cuts is None else {"curve": _curve(cuts)})


def _judged(one: Candidate, recommended: bool) -> dict[str, Any]:  # noqa: FBT001
    """Return what only stands on the row over all records."""
    return {
        "passed": one.passed,
        "recommended": recommended,
        "reason": one.reason,
        "threshold": one.threshold,
        "validation_total": one.selection.total,
        "validation_accepted": one.selection.accepted,
        "validation_coverage": one.selection.coverage,
        "validation_precision_at_coverage": one.selection.precision_at_coverage,
    }


def _add(
    rows: Mapping[str, list[dict[str, Any]]],
    one: Candidate | Stratum,
    place: Mapping[str, Any],
    judged: Mapping[str, Any],
) -> None:
    rows["candidates"].append({**place, **judged, **_scores(one)})
    rows["per_class"].extend({**place, "label": label, **asdict(row)} for label, row in (one.per_class or {}).items())
    rows["bins"].extend({**place, **asdict(row)} for row in one.bins or ())
    rows["confusion"].extend(
        {**place, "truth": truth, "predicted": predicted, "count": count} for truth, predicted, count in one.cells
    )


def _scores(one: Candidate | Stratum) -> dict[str, Any]:
    excluded = one.excluded_classes
    return {
        "total": one.total,
        "accepted": one.accepted,
        **{reason.replace("-", "_"): count for reason, count in (one.abstentions or {}).items()},
        "coverage": one.coverage,
        "precision_at_coverage": one.precision_at_coverage,
        "macro_f1": one.macro_f1,
        "ece": one.ece,
        "excluded_classes": None if excluded is None else [str(label) for label in excluded],
    }


def _curve(cuts: pl.DataFrame) -> pl.DataFrame:
    """Return validation curves: counts, and the two ratios for those who draw them."""
    return (
        cuts.with_columns(
            split=pl.lit("validation"),
            coverage=pl.col("accepted") / pl.col("total"),
            precision=pl.col("correct") / pl.col("accepted"),
        )
        .select(*COLUMNS["curve"])
        .sort("stratum_field", "stratum", "cut", descending=[False, False, True], nulls_last=False)
    )
