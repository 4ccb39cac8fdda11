"""``summarize``: the metrics of selective prediction over any groups of any frame, exact as in a report."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import polars as pl

from evalkit.contracts.contract import MAX_BINS, distinct
from evalkit.errors import Refusal, Violation
from evalkit.exact import rounded, unit_fraction
from evalkit.families.selective import metrics
from evalkit.families.selective.metrics import Counts
from evalkit.families.selective.plan import Tallies, counts, tally

if TYPE_CHECKING:
    from evalkit.sources.source import ArrowStream, Lazy

Threshold = str | float | Decimal | Fraction

_LABELS = ("truth", "predicted")
_GROUP = "group"
_ALL = ""
"""The model of all records where there is one threshold."""


def summarize(
    frame: Lazy | ArrowStream,
    by: str | Sequence[str] = ("model",),
    threshold: Threshold | Mapping[str, Any] | None = None,
    *,
    bins: int = 10,
) -> pl.DataFrame:
    """Measure the records of each group: every metric of selective prediction, with the counts behind it.

    Where the records are those of the test split and the threshold is the one that ``compare`` fixed, each number is
    the one in its report, to the last bit: frames count, fractions are made of the counts, each is rounded once.

    Args:
        frame: Records, such as ``scan`` gives: ``truth``, ``predicted`` and ``confidence``, and the columns to group
            by; a lazy or an eager frame of Polars, or whatever else exports a stream of Arrow data. Labels are texts
            or whole numbers; ``predicted`` and ``confidence`` are null where nothing was offered.
        by: The columns to group by; none for all records together. A null is a group of its own.
        threshold: Suggestions of this confidence or more are accepted: a number from 0 to 1 for all records, or one
            for each value of ``model``; without it, all that was offered.
        bins: The number of equal-width confidence bins.

    Returns:
        One row a group, sorted: the columns of ``by``; ``total``, ``accepted``, ``no_suggestion``,
        ``low_confidence``; ``coverage``, ``precision_at_coverage``, ``macro_f1``, ``ece``, null where nothing was
        accepted; and ``excluded_classes``, the labels in truth of which every record abstained.

    Raises:
        Refusal: A column is missing or of another type, a value is none that a record may have, or a model has no
            threshold.

    >>> records = pl.DataFrame({"model": ["m", "m", "m"], "truth": [4, 4, 5], "predicted": [4, 5, None],
    ...     "confidence": [0.9, 0.5, None]})
    >>> summarize(records, threshold=0.8).row(0, named=True)["coverage"]
    0.3333333333333333
    """
    groups = distinct(by)
    if type(bins) is not int or not 1 <= bins <= MAX_BINS:
        raise Refusal.of(Violation("bins", f"must be a whole number from 1 to {MAX_BINS}", field="bins"))
    records = _records(frame, groups, isinstance(threshold, Mapping))
    thresholds = _thresholds(records, threshold)
    keys = [_key(place) for place in range(len(groups))]
    found, tallied = _pooled(tally(records.lazy(), thresholds, bins, keys), keys)
    labels = _labels(records)
    rows = [(*number, *_scores(one, labels)) for number, one in counts(tallied).items()]
    summary = pl.DataFrame(rows, schema={_GROUP: pl.UInt32(), **_SCORES}, orient="row")
    whole = found.join(summary, on=_GROUP).drop(_GROUP).rename(dict(zip(keys, groups, strict=True)))
    return whole.sort(groups, nulls_last=True) if groups else whole


def _labels(records: pl.DataFrame) -> Sequence[str]:
    """Return the labels in truth in their order: whole numbers by size, others by their text."""
    found = records["truth"].unique().to_list()
    whole = all(re.fullmatch(r"-?[0-9]+", label) for label in found)
    return sorted(found, key=int) if whole else sorted(found)


def _snake(name: str) -> str:
    return re.sub(r"([A-Z])", r"_\1", name).lower()


_SCORES: Mapping[str, pl.DataType] = {
    **dict.fromkeys(("total", "accepted", "no_suggestion", "low_confidence"), pl.Int64()),
    **{_snake(one.name): pl.Float64() for one in metrics.SPLIT_METRICS},
    "excluded_classes": pl.List(pl.String()),
}
"""The columns of a summary after those of the groups."""


def _scores(found: Counts, labels: Sequence[str]) -> Iterator[Any]:
    yield from (found.total, found.accepted, found.no_suggestion, found.low_confidence)
    yield from (rounded(one(found)) for one in metrics.SPLIT_METRICS)
    excluded = found.excluded()
    yield [label for label in labels if label in excluded]


def _key(place: int) -> str:
    return f"{_GROUP}_{place}"


def _records(frame: Any, groups: Sequence[str], by_model: bool) -> pl.DataFrame:  # noqa: FBT001
    """Take what is needed of a frame, checked: ``model``, ``truth``, ``predicted``, ``confidence`` and the groups."""
    lazy = frame.lazy() if isinstance(frame, pl.DataFrame | pl.LazyFrame) else pl.DataFrame(frame).lazy()
    schema = lazy.collect_schema()
    _assert_columns(schema, [*_LABELS, "confidence", *groups, *(["model"] if by_model else [])])
    found = lazy.select(
        (pl.col("model") if by_model else pl.lit(_ALL)).cast(pl.String).cast(pl.Categorical).alias("model"),
        pl.col(*_LABELS).cast(pl.String).cast(pl.Categorical),
        pl.col("confidence").cast(pl.Float64),
        *(pl.col(name).alias(_key(place)) for place, name in enumerate(groups)),
        n=pl.lit(1, pl.Int64),
        usable=pl.lit(value=True),
    ).collect(engine="streaming")
    _assert_values(found)
    return found


def _assert_columns(schema: pl.Schema, needed: Sequence[str]) -> None:
    faults = []
    for name in needed:
        if name not in schema:
            there = ", ".join(schema) or "none"
            faults.append(Violation("missing-column", f"is not there; the columns are {there}", "frame", field=name))
            continue
        kind = schema[name]
        text = isinstance(kind, pl.String | pl.Categorical | pl.Enum)
        if name in _LABELS and not (text or kind.is_integer() or isinstance(kind, pl.Null)):
            message = f"must be texts or whole numbers; it is {kind}"
        elif name == "confidence" and not (kind.is_float() or isinstance(kind, pl.Null)):
            message = f"must be floats; it is {kind}"
        elif kind.is_nested() or isinstance(kind, pl.Object):
            message = f"must be plain values; it is {kind}"
        else:
            continue
        faults.append(Violation("column-type", message, "frame", field=name))
    if faults:
        raise Refusal.of(*faults)


def _assert_values(records: pl.DataFrame) -> None:
    """Refuse what no record may hold; the first such row is named, counted from 1."""
    confidence, offered = pl.col("confidence"), pl.col("predicted").is_not_null()
    wrong = {
        ("model", "model"): (pl.col("model").is_null(), "is null; each record needs the name of a model"),
        ("truth", "truth"): (pl.col("truth").is_null(), "is null; each record needs its true label"),
        ("prediction", "predicted"): (
            offered != confidence.is_not_null(),
            "and confidence must both be there, or both be null",
        ),
        ("confidence", "confidence"): (
            ~confidence.is_between(0, 1) | confidence.is_nan(),
            "must be a number from 0 to 1",
        ),
    }
    flags = records.select(
        test.fill_null(value=False).alias(str(place)) for place, (test, _) in enumerate(wrong.values())
    )
    faults = []
    for (rule, field), (_, message), flag in zip(wrong, wrong.values(), flags, strict=True):
        if flag.any():
            row = int(flag.arg_max() or 0) + 1
            told = f"{message}; {int(flag.sum()):,} rows in all" if flag.sum() > 1 else message
            faults.append(Violation(rule, told, "frame", row, field, unit="row"))
    if faults:
        raise Refusal.of(*faults)


def _thresholds(records: pl.DataFrame, threshold: Threshold | Mapping[str, Any] | None) -> dict[str, float]:
    """Return the threshold of each model, as the 64-bit float that confidences are compared with."""
    if not isinstance(threshold, Mapping):
        return {_ALL: 0.0 if threshold is None else rounded(unit_fraction(threshold, "threshold"))}
    models = sorted(records["model"].unique().to_list())
    if missing := [model for model in models if threshold.get(model) is None]:
        told = f"{', '.join(missing[:5])}{' and others' if len(missing) > 5 else ''}"
        message = f"has none for {told}; leave out records of models that have no threshold"
        raise Refusal.of(Violation("no-threshold", message, field="threshold"))
    return {model: rounded(unit_fraction(threshold[model], "threshold")) for model in models}


def _pooled(tallies: Tallies, keys: Sequence[str]) -> tuple[pl.DataFrame, Tallies]:
    """Add up over models, which have served their purpose once each record was held against its threshold.

    Returns:
        The values of each group with its number, and the tallies by that number: a value may be one that Python does
        not hold, such as a time in nanoseconds.
    """
    if keys:
        numbered = tallies.truth.select(keys).unique().with_row_index(_GROUP)
    else:
        numbered = pl.DataFrame({_GROUP: [0]}, schema={_GROUP: pl.UInt32})
    values = (["truth"], ["truth", "predicted"], ["place"])
    pooled = []
    for frame, value in zip(tallies, values, strict=True):
        own = frame.join(numbered, on=keys, nulls_equal=True) if keys else frame.join(numbered, how="cross")
        pooled.append(own.drop("model", *keys).group_by(_GROUP, *value).agg(pl.all().sum()))
    return numbered, Tallies(*pooled)
