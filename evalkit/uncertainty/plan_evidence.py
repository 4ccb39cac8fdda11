"""What contributors of an earlier evaluation were like: records each, and how alike a contributor's records are."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl

from evalkit.errors import Refusal, Violation
from evalkit.exact import rounded
from evalkit.uncertainty.clusters import Clusters, Entry, clustered
from evalkit.uncertainty.estimand import share
from evalkit.uncertainty.interval import sizes_of
from evalkit.uncertainty.moments import moments
from evalkit.uncertainty.plan_result import Contributors

FILE = "contributors.parquet"
_COLUMNS = ("model", "split", "stratum_field", "contributor", "truth", "predicted", "outcome", "n")
_SIZES = 32
"""Sizes that stand for those of all contributors."""


def measured(folder: str, name: str, model: str | None) -> tuple[Contributors, tuple[int, ...]]:
    """Measure contributors in a results folder: on test, at the thresholds.

    Args:
        folder: A folder that ``compare --out`` wrote, statistics asked for.
        name: ``precisionAtCoverage``: right ones among accepted suggestions; ``coverage``: accepted ones among all.
        model: Whose records; None where there is one.

    Returns:
        What was measured, and sizes that stand for those of all contributors, each as likely as the others.

    Raises:
        Refusal: The folder has no contributor tallies, several models and none was named, or too little in it.
    """
    records = _read(folder, name)
    chosen = _model(records, model, folder)
    clusters = _clusters(records.filter(pl.col("model") == chosen), name)
    estimand, totals = share(name, "right", "size"), dict(clusters.totals())
    sizes = sizes_of(clusters, {"size": 1})
    sizes = np.sort(sizes[sizes > 0])
    right, size, number = totals["right"], totals["size"], len(sizes)
    squared = moments(clusters, [estimand], totals)[0].variance if 0 < right < size else None
    if squared is None:
        message = (
            f"too little to measure a correlation of {name}: all records are right, or none is; give --correlation"
        )
        raise _refused(message, folder)
    ratio = Fraction(right, size)
    effect = squared * size / (ratio * (1 - ratio))
    heft = Fraction(int((sizes.astype(object) ** 2).sum()), size)
    alike = min(max(Fraction(0), (effect - 1) / (heft - 1)), Fraction(99, 100)) if heft > 1 else Fraction(0)
    found = Contributors(
        source=folder,
        model=chosen,
        contributors=number,
        value=rounded(ratio),
        records_per_contributor=rounded(Fraction(size, number)),
        design_effect=rounded(effect),
        correlation=rounded(alike),
    )
    places = [(2 * place + 1) * number // (2 * _SIZES) for place in range(_SIZES)]
    return found, tuple(sizes.tolist() if number <= _SIZES else sizes[places].tolist())


def _read(folder: str, name: str) -> pl.DataFrame:
    path = Path(folder) / FILE
    if name not in ("precisionAtCoverage", "coverage"):
        raise _refused(f"contributor tallies tell precisionAtCoverage and coverage, not {name}", folder)
    if not path.is_file():
        raise _refused(f"holds no {FILE}; compare --interval 0.95 --out DIR writes it", folder)
    try:
        frame = pl.read_parquet(path, columns=list(_COLUMNS))
    except (pl.exceptions.PolarsError, OSError) as fault:
        raise _refused(f"{FILE} is not what compare writes: {type(fault).__name__}", folder) from None
    whole = frame.filter((pl.col("split") == "test") & pl.col("stratum_field").is_null())
    if whole.is_empty():
        raise _refused(f"{FILE} holds no test records", folder)
    return whole


def _model(records: pl.DataFrame, model: str | None, folder: str) -> str:
    models = sorted(records["model"].unique())
    if model is None and len(models) == 1:
        return str(models[0])
    if model not in models:
        raise _refused(f"name one of its models with --model: {', '.join(models)}", folder)
    return str(model)


def _clusters(records: pl.DataFrame, name: str) -> Clusters:
    accepted = pl.col("outcome") == "accepted"
    among = accepted if name == "precisionAtCoverage" else pl.lit(value=True)
    so = accepted & (pl.col("truth") == pl.col("predicted")) if name == "precisionAtCoverage" else accepted
    found = records.select("contributor", "n", right=pl.when(so).then(0), size=pl.when(among).then(1))
    entries = [Entry(found[column], found["n"]) for column in ("right", "size")]
    return clustered(found["contributor"], ["right", "size"], entries)


def _refused(message: str, folder: str) -> Refusal:
    return Refusal.of(Violation("plan", message, file=folder))
