"""Tidy Parquet: the numbers of a report, one row a thing, with the report's schema and digests in the metadata."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl

from evalkit.exact import PLACES, Exact, Ratio, rounded
from evalkit.metric import Measurement
from evalkit.report import document
from evalkit.results.row_groups import RowGroups

_DECIMAL = pl.Decimal(38, PLACES)
_CHUNK_ROWS = 100_000

STRATUM = {"stratum_field": pl.String(), "stratum": pl.String()}
"""Null on rows over all records."""

MEASUREMENT: dict[str, pl.DataType] = {
    "report": pl.String(),
    "model": pl.String(),
    "split": pl.String(),
    **STRATUM,
    "label": pl.String(),
    "bin": pl.Int16(),
    "name": pl.String(),
    "value": pl.Float64(),
    "reason": pl.String(),
    "numerator": _DECIMAL,
    "denominator": _DECIMAL,
    "sample_size": pl.Int64(),
    "direction": pl.String(),
    "limit": pl.Float64(),
    "passed": pl.Boolean(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "level": pl.Float64(),
    "method": pl.String(),
}
"""The columns of ``measurements.parquet``."""

_KEYS = ["report", "model", "split", "stratum_field", "stratum", "label", "bin", "name"]


def measurements(report: str, found: Iterable[Measurement]) -> pl.DataFrame:
    """Return measurements as a table, sorted by its key columns."""
    rows = [_row(report, one) for one in found]
    return pl.DataFrame(rows, schema=MEASUREMENT, orient="row").sort(_KEYS)


def with_intervals(found: pl.DataFrame, ends: Sequence[Mapping[str, Any]], level: float) -> pl.DataFrame:
    """Give measurements their intervals.

    Args:
        found: Measurements.
        ends: The key columns that apply, and ``low``, ``high`` and ``method``.
        level: The confidence of the intervals.
    """
    keys = [name for name in _KEYS if name != "report"]
    kinds = {name: MEASUREMENT[name] for name in (*keys, "low", "high", "method")}
    known = table(ends, kinds).with_columns(level=pl.when(pl.col("method").is_not_null()).then(pl.lit(level)))
    bare = found.drop("low", "high", "level", "method")
    return bare.join(known, on=keys, how="left", nulls_equal=True, maintain_order="left").select(list(MEASUREMENT))


def _row(report: str, one: Measurement) -> dict[str, Any]:
    terms = _terms(one.value)
    return {
        "report": report,
        "model": one.place.model,
        "split": one.place.split,
        "stratum_field": one.place.stratum_field,
        "stratum": one.place.stratum,
        "label": one.place.label,
        "bin": one.place.bin,
        "name": one.name,
        "value": rounded(one.value),
        "reason": one.reason,
        "numerator": terms[0],
        "denominator": terms[1],
        "sample_size": one.sample_size,
        "direction": one.direction,
        "limit": rounded(one.limit),
        "passed": one.passed,
    }


def _terms(value: Exact) -> tuple[Decimal | None, Decimal | None]:
    """Return numerator and denominator where the value is one ratio of sums; a count is one over 1."""
    return (Decimal(value.numerator), Decimal(value.denominator)) if isinstance(value, Ratio) else (None, None)


def table(rows: Sequence[Mapping[str, Any]], schema: Mapping[str, pl.DataType]) -> pl.DataFrame:
    """Return rows as a table of these columns; what a row does not say is null."""
    return pl.DataFrame(rows, schema=dict(schema), orient="row")


def metadata(schema: str, evidence: Sequence[Any], *, synthetic: bool) -> dict[str, str]:
    """Return what each Parquet file says of the report that it belongs to."""
    return {
        "evalkit.schema": schema,
        "evalkit.evidence": json.dumps(document(evidence), ensure_ascii=False),
        "evalkit.synthetic": json.dumps(synthetic),
    }


def joined(
    columns: Mapping[str, Mapping[str, pl.DataType]], chunks: Iterable[Mapping[str, pl.DataFrame]]
) -> dict[str, pl.DataFrame]:
    """Return each table whole.

    Args:
        columns: The columns of each table.
        chunks: Rows of the tables, in order.
    """
    found: dict[str, list[pl.DataFrame]] = {name: [pl.DataFrame(schema=dict(kinds))] for name, kinds in columns.items()}
    for chunk in chunks:
        for name, frame in chunk.items():
            found[name].append(frame)
    return {name: pl.concat(frames) for name, frames in found.items()}


def write_tables(
    folder: Path,
    columns: Mapping[str, Mapping[str, pl.DataType]],
    chunks: Iterable[Mapping[str, pl.DataFrame]],
    notes: Mapping[str, str],
) -> None:
    """Write each table as ``NAME.parquet`` into a folder, chunk by chunk, so that no table need be there whole.

    Args:
        folder: The folder.
        columns: The columns of each table.
        chunks: Rows of the tables, in order.
        notes: What goes into the metadata of each file.
    """
    with ExitStack() as stack:
        writers = {}
        for name, kinds in columns.items():
            group = RowGroups(folder / f"{name}.parquet", pl.DataFrame(schema=dict(kinds)), _CHUNK_ROWS)
            writers[name] = stack.enter_context(group)
            group.note(notes)
        for chunk in chunks:
            for name, frame in chunk.items():
                writers[name].add(frame)
