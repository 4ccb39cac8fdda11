"""The metrics of probability vectors as ratios of contributor tallies, and the tallies as a matrix."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from evalkit.families.probability import metrics
from evalkit.reading.contributors import CONTRIBUTOR
from evalkit.uncertainty.clusters import Clusters, Entry, clustered
from evalkit.uncertainty.estimand import UNIT, Estimand, Term, share

_ROWS = ("predicted", "right", "scored", "binary")
_SUMS = ("nll", "brier", "brier_binary")
_CLASS, _BIN = ("predicted", "right"), ("scored", "right in", "confidence")


def clusters_of(tally: pl.DataFrame, labels: Sequence[str], bins: Sequence[int]) -> Clusters:
    """Count rows of one model and family, or of all families, by contributor.

    Args:
        tally: ``contributor``, ``gold``, ``bin`` and the sums of ``terms.by_contributor``.
        labels: The classes of gold.
        bins: The confidence bins that are not empty.
    """
    names = [*_ROWS, *_SUMS, *(_named(what, one) for what in _CLASS for one in labels)]
    names += [_named(what, one) for what in _BIN for one in bins]
    places = {name: place for place, name in enumerate(names)}
    rows = tally.with_columns(
        gold=pl.col("gold").cast(pl.String), scored=pl.when(pl.col("bin").is_not_null()).then("n")
    )
    amounts = {
        "predicted": rows["n"],
        "right": rows["correct"],
        "scored": rows["scored"],
        "binary": rows["binary"],
        **{name: _parts(rows, name) for name in (*_SUMS, "confidence")},
    }
    entries = [Entry(pl.repeat(places[name], len(rows), eager=True), amounts[name]) for name in (*_ROWS, *_SUMS)]
    entries += [Entry(_columns(rows["gold"], what, labels, places), amounts[what]) for what in _CLASS]
    by_bin = zip(_BIN, ("scored", "right", "confidence"), strict=True)
    entries += [Entry(_columns(rows["bin"], what, bins, places), amounts[amount]) for what, amount in by_bin]
    return clustered(rows[CONTRIBUTOR], names, [_sound(one) for one in entries])


def estimands(labels: Sequence[str], bins: Sequence[int]) -> Iterator[Estimand]:
    """Tell every metric as ratios of the columns of ``clusters_of``, in the order of the report.

    Args:
        labels: The classes of gold.
        bins: The confidence bins that are not empty.
    """
    yield share(metrics.accuracy.name, "right", "predicted")
    recalls = [Term({_named("right", one): 1}, {_named("predicted", one): 1}) for one in labels]
    yield Estimand(metrics.balanced_accuracy.name, tuple(recalls), proportion=True)
    for one, column, rows in (
        (metrics.nll, "nll", "scored"),
        (metrics.brier_multiclass, "brier", "scored"),
        (metrics.brier_binary, "brier_binary", "binary"),
    ):
        yield Estimand(one.name, (Term({column: 1}, {rows: UNIT}),), low=one.low, high=one.high)
    gaps = ({_named("right in", b): UNIT, _named("confidence", b): -1} for b in bins)
    behind = Term({_named("right in", b): 1 for b in bins}, {"scored": 1})
    yield Estimand(metrics.ece.name, tuple(Term(gap, {"scored": UNIT}) for gap in gaps), "absolute", behind=behind)
    for label in labels:
        yield share(metrics.recall.name, _named("right", label), _named("predicted", label), label=label)
    for b in bins:
        rows = _named("scored", b)
        yield Estimand(metrics.mean_confidence.name, (Term({_named("confidence", b): 1}, {rows: UNIT}),), bin=b)
        yield share(metrics.bin_accuracy.name, _named("right in", b), rows, bin=b)


def _named(what: str, one: str | int) -> str:
    return f"{what} {one}" if isinstance(one, int) else f"{what}: {one}"


def _parts(rows: pl.DataFrame, name: str) -> pl.Series:
    """Return a sum of decimals in whole parts of one, rounded once for each row of the tally."""
    return rows.select((pl.col(name) * UNIT).round().cast(pl.Int64)).to_series()


def _columns(keys: pl.Series, what: str, every: Sequence[str] | Sequence[int], places: dict[str, int]) -> pl.Series:
    return keys.replace_strict(
        pl.Series(list(every), dtype=keys.dtype),
        pl.Series([places[_named(what, one)] for one in every], dtype=pl.Int64),
        return_dtype=pl.Int64,
        default=None,
    )


def _sound(entry: Entry) -> Entry:
    """Leave out what has no amount, such as the terms of rows without a vector."""
    column = pl.select(pl.when(entry.amount.is_not_null()).then(entry.column.cast(pl.Int64))).to_series()
    return Entry(column, entry.amount.fill_null(0))
