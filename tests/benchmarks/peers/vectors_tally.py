"""The expressions that both Polars scripts share: a join, terms, sums of floats; no checks."""

import json
from typing import Any

import polars as pl

_V = pl.col("probabilities").list


def show(predictions: pl.LazyFrame, gold: pl.LazyFrame) -> None:
    """Print the measures of each family, one JSON line each."""
    joined = gold.join(predictions, on="id", how="left").with_columns(pl.col("family").fill_null("unlabelled"))
    slots = (
        joined.select("option_ids", "gold")
        .unique()
        .with_columns(option=pl.col("option_ids"), slot=pl.int_ranges(pl.col("option_ids").list.len()))
        .explode("option", "slot")
        .filter(pl.col("option") == pl.col("gold"))
        .select("option_ids", "gold", "slot")
    )
    rows = joined.join(slots, on=["option_ids", "gold"], how="left").with_columns(
        confidence=_V.max(), on_gold=_V.get(pl.col("slot")), best=_V.arg_max()
    )
    terms = rows.select(
        "family",
        "gold",
        known=pl.col("probabilities").is_not_null() | pl.col("label").is_not_null(),
        scored=pl.col("probabilities").is_not_null(),
        right=pl.when(pl.col("probabilities").is_not_null())
        .then(pl.col("best") == pl.col("slot"))
        .otherwise(pl.col("label") == pl.col("gold"))
        .fill_null(value=False),
        bin=(pl.col("confidence") * 10).floor().clip(upper_bound=9),
        confidence="confidence",
        nll=-pl.col("on_gold").clip(1e-12).log(),
        brier=_V.eval(pl.element() ** 2).list.sum() - 2 * pl.col("on_gold") + 1,
    )
    tally: Any = (
        terms.group_by("family", "gold", "bin")
        .agg(
            pl.col("known", "scored", "right", "nll", "brier", "confidence").sum(),
            hits=(pl.col("right") & pl.col("scored")).sum(),
        )
        .collect(engine="streaming")
    )
    for (family,), own in sorted(tally.partition_by("family", as_dict=True).items()):
        classes = own.group_by("gold").agg(pl.col("known", "right").sum())
        bins = own.filter(pl.col("bin").is_not_null()).group_by("bin").agg(pl.col("hits", "confidence").sum())
        scored = own["scored"].sum()
        numbers = {
            "family": family,
            "accuracy": own["right"].sum() / own["known"].sum(),
            "balanced_accuracy": (classes["right"] / classes["known"]).mean(),
            "nll": own["nll"].sum() / scored,
            "brier_multiclass": own["brier"].sum() / scored,
            "ece": (bins["hits"] - bins["confidence"]).abs().sum() / scored,
        }
        print(json.dumps(numbers))
