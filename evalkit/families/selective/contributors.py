"""Contributor tallies of selective prediction: what each contributor adds to every count, by model, split and stratum.

They are additive: those of two days, of parts of a dump or of strata add up to those of the whole. Every interval and
every paired test is made from them, and whoever has them needs no record any more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from evalkit.contracts.policy import LOW_CONFIDENCE, LOW_QUALITY, NO_SUGGESTION
from evalkit.exact import PLACES
from evalkit.families.selective.candidate import crossed
from evalkit.families.selective.strata import columns_of, groupings, labelled
from evalkit.reading.contributors import CONTRIBUTOR
from evalkit.results import tables

ACCEPTED = "accepted"
OUTCOMES = (ACCEPTED, NO_SUGGESTION, LOW_QUALITY, LOW_CONFIDENCE)
"""What became of a record at the threshold."""

COLUMNS: dict[str, pl.DataType] = {
    "model": pl.String(),
    "split": pl.String(),
    **tables.STRATUM,
    CONTRIBUTOR: pl.UInt64(),
    "truth": pl.String(),
    "predicted": pl.String(),
    "outcome": pl.String(),
    "bin": pl.Int16(),
    "n": pl.Int64(),
    "confidence": pl.Decimal(38, PLACES),
}
"""The columns of ``contributors.parquet``; label and bin are null where a record was not accepted."""


def judged(outcomes: pl.LazyFrame, thresholds: Mapping[str, float], bins: int) -> pl.LazyFrame:
    """Say of each record of the models with a threshold what became of it: ``outcome``, and ``bin`` where accepted.

    Args:
        outcomes: Outcomes with ``usable`` and ``contributor`` among their columns.
        thresholds: The threshold of each model.
        bins: The number of confidence bins.
    """
    known = {"model": list(thresholds), "threshold": list(thresholds.values())}
    cuts = pl.LazyFrame(known, schema={"model": outcomes.collect_schema()["model"], "threshold": pl.Float64})
    none, poor = pl.col("predicted").is_null(), ~pl.col("usable")
    taken = pl.col("confidence") >= pl.col("threshold")
    reason = pl.when(none).then(pl.lit(NO_SUGGESTION)).when(poor).then(pl.lit(LOW_QUALITY))
    outcome = reason.when(taken).then(pl.lit(ACCEPTED)).otherwise(pl.lit(LOW_CONFIDENCE))
    place = (pl.col("confidence") * bins).floor().clip(upper_bound=bins - 1).cast(pl.Int16)
    said = outcomes.join(cuts, on="model").with_columns(outcome=outcome.cast(pl.Enum(OUTCOMES)))
    accepted = pl.col("outcome") == ACCEPTED
    return said.with_columns(
        predicted=pl.when(accepted).then("predicted"), bin=pl.when(accepted).then(place)
    ).with_columns(confidence=pl.when(accepted).then("confidence"))


@dataclass(frozen=True, slots=True)
class ContributorPlan:
    """Contributor tallies that are made when they are asked for.

    Attributes:
        records: Judged records of validation and test.
        by: The fields of the strata, which are the first of the contract's scalars.
    """

    records: pl.LazyFrame
    by: tuple[str, ...]


def contributor_plan(
    outcomes: pl.LazyFrame, thresholds: Mapping[str, float], bins: int, by: Sequence[str]
) -> ContributorPlan:
    """Plan the contributor tallies of some outcomes; see ``judged``."""
    return ContributorPlan(judged(outcomes, thresholds, bins), tuple(by))


def contributor_table(plan: ContributorPlan) -> pl.DataFrame:
    """Tally records by contributor, over all records and in each stratum: columns of ``COLUMNS``, sorted."""
    named, by = columns_of(plan.by), plan.by
    whole = labelled(plan.records, named)
    found = [_tallied(whole, fields, [named[path] for path in fields]) for fields in ((), *groupings(by))]
    return pl.concat(found).sort(*(name for name in COLUMNS if name not in ("n", "confidence")))


def _tallied(records: pl.LazyFrame, fields: tuple[str, ...], strata: list[str]) -> pl.DataFrame:
    keys = ["model", "split", *strata, CONTRIBUTOR, "truth", "predicted", "outcome", "bin"]
    sums = (pl.col("n").sum(), (pl.col("confidence").cast(pl.Decimal(38, PLACES)) * pl.col("n")).sum())
    found = records.group_by(keys).agg(*sums).collect(engine="streaming")
    if not fields:
        return found.select(_cast(name) if name in found.columns else _nothing(name) for name in COLUMNS)
    values = found.select(pl.col(strata).cast(pl.String)).unique()
    texts = values.with_columns(stratum=pl.Series(map(crossed, values.iter_rows()), dtype=pl.String))
    placed = found.with_columns(pl.col(strata).cast(pl.String)).join(texts, on=strata)
    return placed.with_columns(stratum_field=pl.lit(crossed(fields))).select(_cast(name) for name in COLUMNS)


def _cast(name: str) -> pl.Expr:
    return pl.col(name).cast(COLUMNS[name])


def _nothing(name: str) -> pl.Expr:
    return pl.lit(None, COLUMNS[name]).alias(name)
