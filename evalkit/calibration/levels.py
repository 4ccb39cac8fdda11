"""Levels: the one table that calibration is measured on, arranged and checked; and sums over groups of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import polars as pl

from evalkit.exact import PLACES
from evalkit.reading.tally import total

NO_RECORDS = "no-records"
"""Why nothing was measured: there are no records."""

SCHEMA = pl.Schema({"confidence": pl.Float64(), "n": pl.Int64(), "correct": pl.Int64()})
"""The columns of levels: a confidence, the records that have it, and how many of them are right."""

SLICE = 1_000_000
"""Levels that are looked at at a time."""

_UNIT = 10**PLACES
_LIMB = 2**25


def arranged(levels: pl.DataFrame) -> pl.DataFrame:
    """Return levels by rising confidence, so that no later sum can depend on the order of the rows.

    Args:
        levels: ``confidence`` (each distinct value once, from 0 to 1), ``n`` (1 or more) and ``correct`` (0 to n).

    Raises:
        ValueError: The table is none of levels. It is a fault of the program that counted, not of its input.

    >>> arranged(pl.DataFrame({"confidence": [0.9, 0.5], "n": [2, 1], "correct": [2, 0]})).rows()
    [(0.5, 1, 0), (0.9, 2, 2)]
    >>> arranged(pl.DataFrame({"confidence": [0.9, 0.9], "n": [2, 1], "correct": [2, 0]}))
    Traceback (most recent call last):
    ...
    ValueError: levels: each confidence once, from 0 to 1, with n records of which 0 to n are correct
    """
    if not all(levels[name].dtype.is_integer() for name in ("n", "correct")):
        raise ValueError("levels: n and correct are whole numbers")
    frame = levels.select(list(SCHEMA)).cast(SCHEMA)
    if not frame["confidence"].is_sorted():
        frame = frame.sort("confidence")
    confidence, n, correct = (pl.col(name) for name in SCHEMA)
    sound = frame.lazy().select(
        nothing_missing=pl.sum_horizontal(pl.all().null_count()) == 0,
        distinct=(confidence.diff() > 0).all(),
        in_range=(confidence.is_between(0, 1) & (n >= 1) & correct.is_between(0, n)).all(),
    )
    if not all(sound.collect().row(0)):
        raise ValueError("levels: each confidence once, from 0 to 1, with n records of which 0 to n are correct")
    return frame


@dataclass(frozen=True, slots=True)
class Bin:
    """Sums over the records of one bin; each is exact, confidences being decimals of 15 places.

    Attributes:
        low: Where the bin begins: its edge, or its least confidence where bins have equal mass.
        high: Where it ends.
        n: Records.
        correct: Right ones among them.
        confidence: The sum of their confidences.
        squares: The sum of the squares of their confidences.
        crossed: The sum of the confidences of the right ones.
    """

    low: float
    high: float
    n: int
    correct: int
    confidence: Fraction
    squares: Fraction
    crossed: Fraction

    @property
    def accuracy(self) -> Fraction:
        """The share of right ones."""
        return Fraction(self.correct, self.n)

    @property
    def mean_confidence(self) -> Fraction:
        """The mean confidence."""
        return self.confidence / self.n

    @property
    def gap(self) -> Fraction:
        """Accuracy less mean confidence: above 0 where confidence is too low."""
        return self.accuracy - self.mean_confidence


def sums(levels: pl.DataFrame, place: pl.Expr) -> dict[int, Bin]:
    """Sum levels by a place; ``low`` and ``high`` are the least and the greatest confidence there.

    Some rows at a time, since the terms of all need much memory; being exact, the sums do not show it.

    >>> frame = pl.DataFrame({"confidence": [0.5, 0.9], "n": [2, 2], "correct": [1, 2]})
    >>> found = sums(frame, pl.lit(0))[0]
    >>> found.confidence, found.squares, found.crossed
    (Fraction(14, 5), Fraction(53, 25), Fraction(23, 10))
    """
    parts = [_terms(part.lazy().with_columns(place=place)).collect() for part in levels.iter_slices(SLICE)]
    if not parts:
        return {}
    added = pl.all().exclude("place", "low", "high").sum()
    ends = (pl.col("low").min(), pl.col("high").max())
    rows = pl.concat(parts).group_by("place").agg(*ends, added).sort("place")
    return {row["place"]: _bin(row) for row in rows.iter_rows(named=True)}


def _terms(placed: pl.LazyFrame) -> pl.LazyFrame:
    units = pl.col("confidence").cast(pl.Decimal(38, PLACES)).to_physical().cast(pl.Int64)
    upper, lower, n = pl.col("units") // _LIMB, pl.col("units") % _LIMB, pl.col("n").cast(pl.Int128)
    # A square has 30 places, and times n more than 128 bits hold: so it is summed in three parts.
    return (
        placed.with_columns(units=units)
        .group_by("place")
        .agg(
            low=pl.col("confidence").min(),
            high=pl.col("confidence").max(),
            n=pl.col("n").sum(),
            correct=pl.col("correct").sum(),
            confidence=total("confidence", "n"),
            crossed=total("confidence", "correct"),
            upper=((upper * upper).cast(pl.Int128) * n).sum(),
            mixed=((upper * lower).cast(pl.Int128) * n).sum(),
            lower=((lower * lower).cast(pl.Int128) * n).sum(),
        )
    )


def _bin(row: Mapping[str, Any]) -> Bin:
    squares = row["upper"] * _LIMB**2 + 2 * row["mixed"] * _LIMB + row["lower"]
    confidence, crossed = Fraction(row["confidence"]), Fraction(row["crossed"])
    return Bin(row["low"], row["high"], row["n"], row["correct"], confidence, Fraction(squares, _UNIT**2), crossed)


def pooled(bins: Sequence[Bin]) -> Bin | None:
    """Return the sums over the records of all bins, or None where there are none.

    >>> one = Bin(0.0, 0.5, 2, 1, Fraction(1), Fraction(1, 2), Fraction(1, 2))
    >>> pooled([one, one]).n
    4
    """
    if not bins:
        return None
    return Bin(
        min(one.low for one in bins),
        max(one.high for one in bins),
        sum(one.n for one in bins),
        sum(one.correct for one in bins),
        sum((one.confidence for one in bins), Fraction(0)),
        sum((one.squares for one in bins), Fraction(0)),
        sum((one.crossed for one in bins), Fraction(0)),
    )


def whole(levels: pl.DataFrame) -> Bin | None:
    """Return the sums over all records, or None where there are none.

    >>> whole(pl.DataFrame({"confidence": [0.5], "n": [2], "correct": [1]})).accuracy
    Fraction(1, 2)
    """
    return sums(arranged(levels), pl.lit(0)).get(0)
