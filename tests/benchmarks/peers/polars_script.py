"""The comparison as a Polars script: one scan with a schema, lazy expressions, no checks.

    python tests/benchmarks/peers/polars_script.py DUMP.jsonl

Prints one JSON line per model, sorted by model.
"""

import json
import sys

import polars as pl

FLOOR = 0.5
SCHEMA: dict[str, pl.DataType] = {
    "model": pl.String(),
    "split": pl.String(),
    "truth": pl.Struct({"bristolType": pl.Int8()}),
    "prediction": pl.Struct({"bristolType": pl.Int8(), "confidence": pl.Float64()}),
}


def read(path: str) -> pl.DataFrame:
    """Read the validation and test records, flat."""
    return (
        pl.scan_ndjson(path, schema=SCHEMA)
        .filter(pl.col("split") != "train")
        .select(
            "model",
            "split",
            truth=pl.col("truth").struct.field("bristolType"),
            predicted=pl.col("prediction").struct.field("bristolType"),
            confidence=pl.col("prediction").struct.field("confidence"),
        )
        .collect(engine="streaming")
    )


def thresholds(validation: pl.LazyFrame) -> pl.LazyFrame:
    """Choose per model the cut of highest precision among those that keep the floor, ties to the wider coverage."""
    totals = validation.group_by("model").agg(total=pl.len())
    return (
        validation.drop_nulls("confidence")
        .group_by("model", "confidence")
        .agg(accepted=pl.len(), correct=(pl.col("truth") == pl.col("predicted")).sum())
        .sort("confidence", descending=True)
        .with_columns(pl.col("accepted", "correct").cum_sum().over("model"))
        .join(totals, on="model")
        .filter(pl.col("accepted") / pl.col("total") >= FLOOR)
        .with_columns(precision=pl.col("correct") / pl.col("accepted"))
        .sort("precision", "accepted", descending=True)
        .group_by("model", maintain_order=True)
        .agg(threshold=pl.col("confidence").first())
    )


def macro_f1(accepted: pl.LazyFrame) -> pl.LazyFrame:
    """Average the F1 of the labels that occur in accepted truth."""
    hits = accepted.filter(pl.col("truth") == pl.col("predicted"))
    support = accepted.group_by("model", label="truth").agg(support=pl.len())
    guesses = accepted.group_by("model", label="predicted").agg(predicted=pl.len())
    right = hits.group_by("model", label="truth").agg(right=pl.len())
    f1 = 2 * pl.col("right").fill_null(0) / (pl.col("support") + pl.col("predicted").fill_null(0))
    return (
        support.join(guesses, on=["model", "label"], how="left")
        .join(right, on=["model", "label"], how="left")
        .group_by("model")
        .agg(macroF1=f1.mean())
    )


def calibration_error(accepted: pl.LazyFrame) -> pl.LazyFrame:
    """Weigh the gap between accuracy and confidence over ten equal bins."""
    return (
        accepted.group_by("model", bin=(pl.col("confidence") * 10).floor().clip(upper_bound=9))
        .agg(
            count=pl.len(),
            gap=((pl.col("truth") == pl.col("predicted")).mean() - pl.col("confidence").mean()).abs(),
        )
        .group_by("model")
        .agg(ece=(pl.col("count") * pl.col("gap")).sum() / pl.col("count").sum())
    )


def main(path: str) -> None:
    """Read, choose the thresholds on validation, score test, print."""
    rows = read(path).lazy()
    chosen = thresholds(rows.filter(pl.col("split") == "validation"))
    test = rows.filter(pl.col("split") == "test").join(chosen, on="model")
    accepted = test.filter(pl.col("confidence") >= pl.col("threshold"))
    coverage = test.group_by("model").agg(
        threshold=pl.col("threshold").first(),
        coverage=(pl.col("confidence") >= pl.col("threshold")).fill_null(False).mean(),
    )
    precision = accepted.group_by("model").agg(precisionAtCoverage=(pl.col("truth") == pl.col("predicted")).mean())
    scores = (
        coverage.join(precision, on="model")
        .join(macro_f1(accepted), on="model")
        .join(calibration_error(accepted), on="model")
        .sort("model")
    )
    for score in scores.collect(engine="streaming").to_dicts():
        print(json.dumps(score))


if __name__ == "__main__":
    main(sys.argv[1])
