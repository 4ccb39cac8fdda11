"""Calibration judged honestly: of the answer that was given, and of the probability of every class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import polars as pl

from evalkit.calibration.class_wise import class_wise
from evalkit.calibration.panel import panel
from evalkit.reading.tally import merge
from evalkit.uncertainty.asked import Asked


def calibrated(levels: pl.DataFrame, options: pl.DataFrame, bins: int, asked: Asked) -> dict[str, Any]:
    """Measure calibration: ``top_label``, see ``calibration.panel``, and ``class_wise``.

    Args:
        levels: ``level``, ``n`` and ``correct``, see ``terms.levels``; of one model, and of one family or of all.
        options: The same by ``option``, see ``terms.option_levels``.
        bins: The number of bins.
        asked: Level, resamples and seed.
    """
    top = _levels(levels, [])
    by_option = _levels(options, ["option"]).sort("option", "confidence")
    classes = {str(name): rows.drop("option") for (name,), rows in by_option.group_by("option", maintain_order=True)}
    found = panel(top, bins, level=asked.level, replicates=asked.replicates, seed=asked.seed)
    return {"top_label": _plain(found), "class_wise": _plain(class_wise(classes, bins))}


def _levels(tally: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Merge the levels of families."""
    named = tally.select(*keys, pl.col("level").alias("confidence"), "n", "correct")
    return merge([named], [*keys, "confidence"]).sort(*keys, "confidence")


def _plain(value: Any) -> Any:
    """Turn dataclasses into plain data whose keys are spelled as all of an evaluation's are."""
    if is_dataclass(value):
        return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}
    return [_plain(one) for one in value] if isinstance(value, tuple | list) else value
