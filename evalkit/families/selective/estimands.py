"""The metrics of selective prediction as ratios of contributor tallies, and the tallies as a matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from evalkit.families.selective import metrics
from evalkit.families.selective.contributors import ACCEPTED
from evalkit.reading.contributors import CONTRIBUTOR
from evalkit.uncertainty.clusters import Clusters, Entry, clustered
from evalkit.uncertainty.estimand import UNIT, Estimand, Term

_ABSTAINED = "abstained"


def clusters_of(records: pl.DataFrame, labels: Sequence[str], bins: int) -> Clusters:
    """Count judged records of one model, split and stratum by contributor.

    Args:
        records: ``contributor``, ``truth``, ``predicted``, ``outcome``, ``bin``, ``confidence`` and their number ``n``.
        labels: The labels that occur.
        bins: The number of confidence bins.
    """
    names = [_ABSTAINED]
    names += [f"{what}:{label}" for what in ("support", "predicted", "right") for label in labels]
    names += [f"{what}:{place}" for what in ("wrong", "correct", "confidence") for place in range(bins)]
    places = {label: place for place, label in enumerate(labels)}
    accepted, right = pl.col("outcome") == ACCEPTED, pl.col("truth") == pl.col("predicted")
    truth, predicted = (
        pl.col(name).cast(pl.String).replace_strict(places, return_dtype=pl.Int64, default=None)
        for name in ("truth", "predicted")
    )
    first, bin_ = 1 + 3 * len(labels), pl.col("bin").cast(pl.Int64)
    parts = pl.col("confidence") * UNIT
    found = records.select(
        CONTRIBUTOR,
        "n",
        abstained=pl.when(~accepted).then(0),
        support=pl.when(accepted).then(1 + truth),
        predicted=1 + len(labels) + predicted,
        right=pl.when(right).then(1 + 2 * len(labels) + truth),
        judged=first + bin_ + pl.when(right).then(bins).otherwise(0),
        confidence=first + 2 * bins + bin_,
        parts=pl.when(accepted).then(parts.round() * pl.col("n")).cast(pl.Int64),
    )
    counted = ("abstained", "support", "predicted", "right", "judged")
    entries = [*(Entry(found[name], found["n"]) for name in counted), Entry(found["confidence"], found["parts"])]
    return clustered(found[CONTRIBUTOR], names, entries)


def estimands(labels: Sequence[str], bins: Sequence[int]) -> Iterator[Estimand]:
    """Tell every metric of a split as ratios of the columns of ``clusters_of``.

    Args:
        labels: The labels in accepted truth or accepted suggestions.
        bins: The bins that are not empty.
    """
    support, right = ({f"{what}:{label}": 1 for label in labels} for what in ("support", "right"))
    yield Estimand(metrics.coverage.name, (Term(support, {**support, _ABSTAINED: 1}),), proportion=True)
    yield Estimand(metrics.precision_at_coverage.name, (Term(right, support),), proportion=True)
    yield Estimand(metrics.macro_f1.name, tuple(_f1(label) for label in labels), proportion=True)
    gaps = tuple(
        Term({f"correct:{b}": UNIT, f"confidence:{b}": -1}, dict.fromkeys(support, UNIT), support) for b in bins
    )
    yield Estimand(metrics.ece.name, gaps, "absolute", behind=Term(right, support))
    for label in labels:
        hits = {f"right:{label}": 1}
        for one, below in ((metrics.precision, "predicted"), (metrics.recall, "support")):
            yield Estimand(one.name, (Term(hits, {f"{below}:{label}": 1}),), label=label, proportion=True)
        alone = _f1(label)
        yield Estimand(metrics.f1.name, (Term(alone.numerator, alone.denominator),), label=label, proportion=True)
    for b in bins:
        n = {f"correct:{b}": 1, f"wrong:{b}": 1}
        mean = Term({f"confidence:{b}": 1}, dict.fromkeys(n, UNIT))
        yield Estimand(metrics.mean_confidence.name, (mean,), bin=b)
        yield Estimand(metrics.accuracy.name, (Term({f"correct:{b}": 1}, n),), bin=b, proportion=True)


def _f1(label: str) -> Term:
    below = {f"support:{label}": 1, f"predicted:{label}": 1}
    return Term({f"right:{label}": 2}, below, {f"support:{label}": 1})
