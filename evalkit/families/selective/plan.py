"""The plan of selective prediction: from outcomes to the validation curve, to one threshold a model, to test counts.

Frames count here, and nothing is divided in a frame: Polars divides by way of reciprocals, and a limit may be missed
by the last bit.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import polars as pl

from evalkit.errors import Refusal, Violation
from evalkit.families.selective.metrics import Bin, Counts
from evalkit.reading.tally import total

_OFFERED = pl.col("predicted").is_not_null()
_USABLE = _OFFERED & pl.col("usable")
_RIGHT = pl.col("truth") == pl.col("predicted")


@dataclass(frozen=True, slots=True)
class Cut:
    """A threshold and what it accepts on validation.

    Attributes:
        threshold: Suggestions of this confidence or more are accepted.
        accepted: How many that are.
        correct: How many of them are right.
    """

    threshold: float
    accepted: int
    correct: int


def curve(validation: pl.LazyFrame, by: Sequence[str] = (), floor: float = 0.0) -> pl.DataFrame:
    """Return every candidate cut of every model, the highest first: ``model``, ``cut``, ``accepted``, ``correct``.

    The cuts are the distinct confidences of what was offered; tied confidences enter together. Under a policy, only
    suggestions of accepted quality at or above its confidence floor supply cuts.

    Args:
        validation: Outcomes of the validation split, ``usable`` among their columns.
        by: Columns to draw apart by, besides the model.
        floor: The least confidence that a cut may have.
    """
    keys = ["model", *by]
    steps = (
        validation.filter(_USABLE & (pl.col("confidence") >= floor))
        .select(*keys, "n", right=pl.col("n") * _RIGHT, cut="confidence")
        .group_by(*keys, "cut")
        .agg(pl.col("n", "right").sum())
        .sort("cut", descending=True)
    )
    so_far = (pl.col(*keys).cast(pl.String), "cut", pl.col("n", "right").cum_sum().over(*keys))
    return steps.select(*so_far).rename({"n": "accepted", "right": "correct"}).collect(engine="streaming")


def select_threshold(validation: pl.DataFrame, min_coverage: Fraction) -> Cut | None:
    """Choose one model's threshold on its validation records.

    Among the cuts whose coverage is at least the floor, the one of highest precision at coverage, ties to the wider
    coverage, both compared as exact fractions.

    Args:
        validation: Outcomes of one model: ``split``, ``truth``, ``predicted``, ``confidence`` and their number ``n``.
        min_coverage: The coverage floor.

    Returns:
        The cut, or None where no cut clears the floor.

    Raises:
        Refusal: Some record is not of the validation split; a threshold chosen on the records that it is judged on
            makes whatever precision is wished for.
    """
    foreign = validation.filter(pl.col("split").cast(pl.String) != "validation")
    if foreign.height:
        message = f"a threshold is chosen on validation records alone; {foreign['n'].sum()} are not"
        raise Refusal.of(Violation("not-validation", message, field="split"))
    cuts = curve(validation.lazy().with_columns(model=pl.lit(""), usable=True))
    return best_cut(cuts, int(validation["n"].sum()), min_coverage)


def best_cut(cuts: pl.DataFrame, records: int, min_coverage: Fraction) -> Cut | None:
    """Choose among one model's cuts, given all its validation records."""
    # accepted / records >= floor, in whole numbers
    needed = -(-records * min_coverage.numerator // min_coverage.denominator)
    left = cuts.filter(pl.col("accepted") >= needed)
    if left.is_empty():
        return None
    wide = left.with_columns(pl.col("accepted", "correct").cast(pl.Int128))
    best = wide.row(0, named=True)
    # correct / accepted is compared crosswise; floats only propose which better cut to try next
    while (better := wide.filter(_crosswise(best) > 0)).height:
        best = better.sort(pl.col("correct") / pl.col("accepted")).row(-1, named=True)
    widest = wide.filter(_crosswise(best) == 0).sort("accepted").row(-1, named=True)
    return Cut(widest["cut"], int(widest["accepted"]), int(widest["correct"]))


def _crosswise(best: Mapping[str, int]) -> pl.Expr:
    accepted, correct = (pl.lit(best[name], pl.Int128) for name in ("accepted", "correct"))
    return pl.col("correct") * accepted - correct * pl.col("accepted")


class Tallies(NamedTuple):
    """Test records counted at the thresholds, by the same keys in each table: the model, and the strata asked for."""

    truth: pl.DataFrame
    cells: pl.DataFrame
    bins: pl.DataFrame


def tally(records: pl.LazyFrame, thresholds: Mapping[str, float], bins: int, by: Sequence[str] = ()) -> Tallies:
    """Count each model's records at its threshold.

    Args:
        records: Outcomes of one split, ``usable`` among their columns.
        thresholds: The threshold of each model; models without one are left out.
        bins: The number of equal-width confidence bins.
        by: Columns to count apart by, besides the model.
    """
    known = {"model": list(thresholds), "threshold": list(thresholds.values())}
    cuts = pl.LazyFrame(known, schema={"model": records.collect_schema()["model"], "threshold": pl.Float64})
    judged = records.join(cuts, on="model")
    accepted = judged.filter(_USABLE & (pl.col("confidence") >= pl.col("threshold")))
    place = (pl.col("confidence") * bins).floor().clip(upper_bound=bins - 1).cast(pl.Int16)
    keys, n = ["model", *by], pl.col("n").sum()
    none, poor = (pl.col("n") * ~_OFFERED).sum(), (pl.col("n") * (_OFFERED & ~pl.col("usable"))).sum()
    right, confidence = (pl.col("n") * _RIGHT).sum(), total("confidence", "n")
    plans = [
        judged.group_by(*keys, "truth").agg(n, none=none, poor=poor),
        accepted.group_by(*keys, "truth", "predicted").agg(n),
        accepted.group_by(*keys, place=place).agg(n, right=right, confidence=confidence),
    ]
    return Tallies(*pl.collect_all(plans, engine="streaming"))


def counts(tallies: Tallies, keys: int = 1) -> dict[tuple[str, ...], Counts]:
    """Turn tallies into counts, one for each combination of the key columns, of which there are so many."""
    truths: dict[tuple[str, ...], dict[str, int]] = defaultdict(dict)
    abstained: dict[tuple[str, ...], list[int]] = defaultdict(lambda: [0, 0])
    confusion: dict[tuple[str, ...], dict[tuple[str, str], int]] = defaultdict(dict)
    held: dict[tuple[str, ...], dict[int, Bin]] = defaultdict(dict)
    for row in tallies.truth.iter_rows():
        key, (label, size, none, poor) = row[:keys], row[keys:]
        truths[key][label] = size
        abstained[key][0] += none
        abstained[key][1] += poor
    for row in tallies.cells.iter_rows():
        truth, predicted, size = row[keys:]
        confusion[row[:keys]][truth, predicted] = size
    for row in tallies.bins.iter_rows():
        place, size, correct, confidence = row[keys:]
        held[row[:keys]][place] = Bin(size, correct, confidence)
    return {
        key: Counts(truth, abstained[key][0], confusion[key], held[key], abstained[key][1])
        for key, truth in truths.items()
    }


def count(records: pl.LazyFrame, thresholds: Mapping[str, float], bins: int) -> dict[str, Counts]:
    """Count each model's records at its threshold; see ``tally``."""
    found = counts(tally(records, thresholds, bins))
    return {model: found.get((model,), Counts({}, 0, {}, {})) for model in thresholds}


def records_by_model(records: pl.LazyFrame) -> dict[str, int]:
    """Return how many records each model has."""
    totals = records.group_by("model").agg(pl.col("n").sum()).cast({"model": pl.String}).collect(engine="streaming")
    return dict(totals.iter_rows())
