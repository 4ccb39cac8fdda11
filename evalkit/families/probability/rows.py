"""The rows of each table of a results folder, one family at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

import polars as pl

from evalkit.exact import PLACES
from evalkit.families.probability.family import Metrics
from evalkit.families.probability.measured import measurements
from evalkit.metric import Place
from evalkit.reading.contributors import CONTRIBUTOR
from evalkit.results import tables

_PLACE: dict[str, pl.DataType] = {"model": pl.String(), "split": pl.String(), **tables.STRATUM}
_COUNT, _VALUE, _SUM = pl.Int64(), pl.Float64(), pl.Decimal(38, PLACES)

COLUMNS: Mapping[str, dict[str, pl.DataType]] = {
    "per_class": {**_PLACE, "label": pl.String(), "support": _COUNT, "correct": _COUNT, "recall": _VALUE},
    "bins": {
        **_PLACE,
        "bin": pl.Int16(),
        "lower": _VALUE,
        "upper": _VALUE,
        "count": _COUNT,
        "mean_confidence": _VALUE,
        "accuracy": _VALUE,
    },
    "measurements": tables.MEASUREMENT,
}
"""The columns of each table."""


CONTRIBUTORS: dict[str, pl.DataType] = {
    "model": pl.String(),
    **tables.STRATUM,
    CONTRIBUTOR: pl.UInt64(),
    "gold": pl.String(),
    "bin": pl.Int16(),
    "n": _COUNT,
    "correct": _COUNT,
    "confidence": _SUM,
    "nll": _SUM,
    "brier": _SUM,
    "binary": _COUNT,
    "brier_binary": _SUM,
}
"""The columns of ``contributors``, which is there where statistics were asked for."""


def contributor_rows(tally: pl.DataFrame) -> pl.DataFrame:
    """Make the rows of ``contributors``, sorted.

    Args:
        tally: See ``terms.by_contributor``.
    """
    named = tally.with_columns(stratum_field=pl.lit("family"), stratum=pl.col("family"))
    found = named.select(pl.col(name).cast(kind) for name, kind in CONTRIBUTORS.items())
    return found.sort("model", "stratum", CONTRIBUTOR, "gold", "bin")


def family_tables(place: Place, one: Metrics) -> dict[str, pl.DataFrame]:
    """Make one family's rows of each table.

    Args:
        place: The model and the family.
        one: Its numbers.
    """
    here = {"model": place.model, "stratum_field": place.stratum_field, "stratum": place.stratum}
    rows = [
        {
            **here,
            "label": label,
            "support": row.predicted,
            "correct": row.correct,
            "recall": one.per_class_recall[label],
        }
        for label, row in sorted(one.counts.classes.items())
    ]
    bins = [
        {**here, "bin": index, "count": row.n, **asdict(row)}
        for index, row in zip(sorted(one.counts.bins), one.reliability, strict=True)
    ]
    return {
        "per_class": tables.table(rows, COLUMNS["per_class"]),
        "bins": tables.table(bins, COLUMNS["bins"]),
        "measurements": tables.measurements("evaluation", measurements(place, one.counts)),
    }
