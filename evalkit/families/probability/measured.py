"""Every number of one family as a measurement, exact, for tables and for whatever reads them later."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from evalkit.exact import Ratio
from evalkit.families.probability import metrics
from evalkit.families.probability.metrics import Counts
from evalkit.metric import Measurement, Place, measure


def measurements(place: Place, counts: Counts) -> Iterator[Measurement]:
    """Measure one family, or all: its counts, its metrics, each class, each bin."""
    numbers = {
        "n_items": counts.items,
        "n_missing": counts.missing,
        "n_predicted": counts.predicted,
        "n_scored": counts.scored,
        "n_unscored": counts.unscored,
        "n_binary": counts.binary,
    }
    for name, number in numbers.items():
        yield Measurement(name, place, Ratio(number, 1), counts.items)
    for one in metrics.METRICS:
        yield measure(one, place, counts, sample_size=_size(one.name, counts))
    for label, row in sorted(counts.classes.items()):
        yield measure(metrics.recall, replace(place, label=label), row, sample_size=row.predicted)
    for index, bucket in sorted(counts.bins.items()):
        here = replace(place, bin=index)
        yield Measurement("n", here, Ratio(bucket.n, 1), counts.scored)
        for each in metrics.BIN_METRICS:
            yield measure(each, here, bucket, sample_size=bucket.n)


def _size(name: str, counts: Counts) -> int:
    if name in (metrics.accuracy.name, metrics.balanced_accuracy.name):
        return counts.predicted
    return counts.binary if name == metrics.brier_binary.name else counts.scored
