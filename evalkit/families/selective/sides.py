"""Each model's test records as contributor tallies and metrics: what two models are compared by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from evalkit.exact import Exact
from evalkit.families.selective.contributors import judged
from evalkit.families.selective.estimands import clusters_of, estimands
from evalkit.uncertainty.asked import Asked
from evalkit.uncertainty.estimand import Estimand
from evalkit.uncertainty.interval import Measured, prepare


@dataclass(frozen=True, slots=True)
class Side:
    """One model's test records, tallied by contributor at its threshold.

    Attributes:
        measured: The tallies, resampled where the calibration error is to have an interval.
        estimands: The metrics as ratios of them; those of labels and bins are not looked at.
        exact: The values as the report gives them, by metric; what is not there is taken from the tallies.
    """

    measured: Measured
    estimands: Sequence[Estimand]
    exact: Mapping[str, Exact]

    def estimand(self, name: str) -> Estimand:
        """Return the estimand of a metric of the whole split."""
        return next(one for one in self.estimands if one.name == name and one.label is None and one.bin is None)


def sides_of(
    outcomes: pl.DataFrame,
    thresholds: Mapping[str, float],
    labels: Sequence[str],
    bins: int,
    asked: Asked,
    exact: Mapping[str, Mapping[str, Exact]] | None = None,
) -> dict[str, Side]:
    """Tally the test records of each model that has a threshold.

    Args:
        outcomes: Outcomes with ``usable`` and ``contributor`` among their columns.
        thresholds: The threshold of each model.
        labels: The labels of the contract.
        bins: The number of confidence bins.
        asked: Resamples and their seed.
        exact: The values as the report gives them, by model and metric.
    """
    test = outcomes.lazy().filter(pl.col("split").cast(pl.String) == "test")
    records = judged(test, thresholds, bins).collect()
    found = {}
    for model in thresholds:
        own = records.filter(pl.col("model").cast(pl.String) == model)
        clusters = clusters_of(own, labels, bins)
        totals = clusters.totals()
        filled = [place for place in range(bins) if totals[f"correct:{place}"] or totals[f"wrong:{place}"]]
        measured = prepare(clusters, asked, resampled=True)
        found[model] = Side(measured, tuple(estimands(labels, filled)), (exact or {}).get(model, {}))
    return found
