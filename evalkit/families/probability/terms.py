"""What each joined row adds to the tallies: its outcome, and its terms as 64-bit floats.

A term is a function of its row alone, and sums are of decimals: so neither order nor partition ever shows.
"""

from __future__ import annotations

import polars as pl
import pyarrow as pa

from evalkit.exact import PLACES
from evalkit.reading.contributors import CONTRIBUTOR

FLOOR = 1e-12
"""The least probability that a negative log-likelihood is taken of."""

CLASS_KEYS = ["model", "family", "gold"]
BIN_KEYS = ["model", "family", "bin"]
CONTRIBUTOR_KEYS = ["model", "family", CONTRIBUTOR, "gold", "bin"]
LEVEL_KEYS = ["model", "family", "level"]
OPTION_KEYS = ["model", "family", "option", "level"]
SUMS = ["n", "correct", "confidence", "nll", "brier", "binary", "brier_binary"]
"""What adds up."""

_DECIMAL = pl.Decimal(38, PLACES)


def slots(lists: pl.Series, place: pl.Series, wanted: pl.Series) -> pl.Series:
    """Return where each wanted text stands in its list of distinct options; null where it does not.

    Args:
        lists: The lists.
        place: Which of them belongs to each row.
        wanted: The text of each row; null where none is wanted.

    >>> lists = pl.Series([["a", "b"], ["b", "a"]])
    >>> slots(lists, pl.Series([0, 1, 1]), pl.Series(["b", "b", "c"])).to_list()
    [1, 0, None]
    """
    asked = pl.DataFrame({"list": place, "option": wanted})
    each = asked.unique()
    few = len(each) < len(asked)
    each = each if few else asked
    options = lists.gather(each["list"])
    lengths = options.list.len()
    # Each pair of a list and a text, as often as the list is long: so that they are compared as one column.
    pair = pl.select(pl.int_range(len(options), dtype=pl.UInt32).repeat_by(lengths)).to_series()
    pair = pair.explode(empty_as_null=False, keep_nulls=False)
    flat = options.explode(empty_as_null=False, keep_nulls=False)
    hits = (flat == each["option"].gather(pair)).fill_null(value=False).arg_true()
    at = pair.gather(hits)
    slot = hits.cast(pl.Int64) - (lengths.cum_sum() - lengths).gather(at).cast(pl.Int64)
    if not few:
        return pl.repeat(None, len(asked), dtype=pl.Int64, eager=True).scatter(at, slot)
    found = each[at].with_columns(slot=slot)
    return asked.join(found, on=["list", "option"], how="left", maintain_order="left")["slot"]


def squared_errors(vectors: pl.Series, slot: pl.Series) -> pl.Series:
    """Return of each vector the sum of (p - [k = slot])², from the first slot to the last.

    >>> squared_errors(pl.Series([[0.75, 0.25]]), pl.Series([0])).to_list()
    [0.125]
    """
    lengths = vectors.list.len().cast(pl.Int64)
    ends = lengths.cum_sum()
    flat = vectors.explode(empty_as_null=False, keep_nulls=False)
    place = ends - lengths + slot
    off = flat.gather(place) - 1.0
    squares = (flat * flat).scatter(place, off * off)
    offsets = pl.concat([pl.Series([0], dtype=pl.Int64), ends])
    lists = pa.LargeListArray.from_arrays(offsets.to_arrow(), squares.to_arrow())
    return pl.Series(pl.from_arrow(lists)).list.sum()


def judged(joined: pl.DataFrame, bins: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Judge joined rows.

    Args:
        joined: ``probabilities``, ``label``, ``model``, ``family``, ``gold``, ``slot`` (that of gold)
            and ``positive_slot`` (null where there is no positive class); ``contributor`` where rows are clustered.
        bins: The number of confidence bins.

    Returns:
        The rows with a vector, each with its terms, and those with a label alone; ``contributor`` is handed on.
    """
    handed = [name for name in (*CLASS_KEYS, CONTRIBUTOR) if name in joined.columns]
    vector = pl.col("probabilities")
    scored = joined.filter(vector.is_not_null())
    labelled = joined.filter(vector.is_null() & pl.col("label").is_not_null())
    scored = scored.with_columns(
        correct=vector.list.arg_max() == pl.col("slot"),
        confidence=vector.list.max(),
        on_gold=vector.list.get(pl.col("slot")),
        on_positive=vector.list.get(pl.col("positive_slot")),
        brier=squared_errors(scored["probabilities"], scored["slot"]),
    )
    labelled = labelled.with_columns(correct=pl.col("label") == pl.col("gold").cast(pl.String))
    off = pl.col("on_positive") - (pl.col("slot") == pl.col("positive_slot")).cast(pl.Float64)
    terms = scored.select(
        *handed,
        bin=(pl.col("confidence") * bins).floor().cast(pl.Int32).clip(upper_bound=bins - 1),
        n=pl.lit(1, pl.Int64),
        correct=pl.col("correct").cast(pl.Int64),
        top=pl.col("confidence"),
        confidence=pl.col("confidence").cast(_DECIMAL),
        nll=(-pl.max_horizontal("on_gold", pl.lit(FLOOR)).log()).cast(_DECIMAL),
        brier=pl.col("brier").cast(_DECIMAL),
        binary=pl.col("positive_slot").is_not_null().cast(pl.Int64),
        brier_binary=(off * off).cast(_DECIMAL),
    )
    return terms, labelled.select(*handed, correct=pl.col("correct").cast(pl.Int64))


def outcomes(scored: pl.DataFrame, labelled: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Tally judged rows.

    Args:
        scored: See ``judged``.
        labelled: Likewise.

    Returns:
        Per class of gold how many rows were predicted and how many correctly; per confidence bin the numbers and the
        sums of the terms.
    """
    kept = [*CLASS_KEYS, "correct"]
    predicted = pl.concat([scored.select(kept), labelled.select(kept)])
    by_class = predicted.group_by(CLASS_KEYS).agg(n=pl.len().cast(pl.Int64), correct=pl.col("correct").sum())
    return by_class, scored.group_by(BIN_KEYS).agg(pl.col(SUMS).sum())


def by_contributor(scored: pl.DataFrame, labelled: pl.DataFrame) -> pl.DataFrame:
    """Tally judged rows by whom they belong to, class of gold and bin; the bin is null where there is no vector.

    Args:
        scored: See ``judged``; with ``contributor``.
        labelled: Likewise.
    """
    keys = [*CONTRIBUTOR_KEYS, *SUMS]
    alone = labelled.with_columns(n=pl.lit(1, pl.Int64))
    whole = pl.concat([scored.select(keys), alone], how="diagonal").select(keys)
    return whole.group_by(CONTRIBUTOR_KEYS).agg(pl.col(SUMS).sum())


def levels(scored: pl.DataFrame) -> pl.DataFrame:
    """Count judged rows by the confidence of what was predicted."""
    return scored.rename({"top": "level"}).group_by(LEVEL_KEYS).agg(pl.col("n", "correct").sum())


def option_levels(joined: pl.DataFrame, lists: pl.Series) -> pl.DataFrame:
    """Count the options of joined rows by the probability that each was given; correct: those that are gold.

    Args:
        joined: As for ``judged``.
        lists: The lists of options that ``option_ids`` tells the places of.
    """
    vectors = joined.filter(pl.col("probabilities").is_not_null())
    options = lists.gather(vectors["option_ids"])
    each = vectors.select("model", "family", "gold", pl.col("probabilities").alias("level")).with_columns(
        option=options
    )
    each = each.explode("level", "option", empty_as_null=False, keep_nulls=False)
    each = each.with_columns(correct=(pl.col("option") == pl.col("gold").cast(pl.String)).cast(pl.Int64))
    return each.group_by(OPTION_KEYS).agg(n=pl.len().cast(pl.Int64), correct=pl.col("correct").sum())
