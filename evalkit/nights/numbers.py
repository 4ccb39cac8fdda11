"""Numbers of a night as the store holds them: those over all records, by metric and model, and how two compare exactly.

A number is read back as one ratio of sums where both nights have it, else as the decimal that the stored float prints
as: never once as the one and once as the other, so that the same numbers are never a fall.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

import polars as pl

from evalkit.families.observations.measured import GATED_SYSTEM
from evalkit.metric import Direction

TABLE = "measurements.parquet"
_NOT_SCORED = ("train", "validation")
_COLUMNS = (
    *("name", "model", "value", "numerator", "denominator", "sample_size"),
    *("direction", "reason", "limit", "passed"),
)


@dataclass(frozen=True, slots=True)
class Number:
    """One number of a night over all records.

    Attributes:
        metric: Its name.
        model: The candidate, model or system, or None.
        value: The value, or None.
        numerator: That of the ratio that it is, or None.
        denominator: Likewise.
        sample_size: How many records it rests on.
        direction: Which values are better.
        reason: Why there is no value.
        limit: The limit that its own report holds it against.
        passed: What that gate said.
    """

    metric: str
    model: str | None
    value: float | None
    numerator: Decimal | None
    denominator: Decimal | None
    sample_size: int
    direction: Direction
    reason: str | None = None
    limit: float | None = None
    passed: bool | None = None

    @property
    def ratio(self) -> Fraction | None:
        """The value as the ratio that it is; None where the store does not have it as one."""
        if self.numerator is None or not self.denominator:
            return None
        return Fraction(self.numerator) / Fraction(self.denominator)

    @property
    def decimal(self) -> Fraction | None:
        """The value as the decimal that it prints as."""
        return None if self.value is None else Fraction(repr(self.value))


def exactly(one: Number, other: Number) -> tuple[Fraction | None, Fraction | None]:
    """Return two numbers as fractions, both read in the same way.

    >>> third = Number("accuracy", None, 1 / 3, Decimal(1), Decimal(3), 3, "higher")
    >>> exactly(third, third)
    (Fraction(1, 3), Fraction(1, 3))
    """
    ratios = one.ratio, other.ratio
    return ratios if None not in ratios else (one.decimal, other.decimal)


def numbers(table: pl.DataFrame) -> tuple[Number, ...]:
    """Return the numbers over all records of a table of measurements."""
    over_all = pl.all_horizontal(pl.col("stratum_field", "label", "bin").is_null())
    scored = pl.col("split").is_null() | ~pl.col("split").is_in(_NOT_SCORED) | (pl.col("report") != "selective")
    rows = (
        table.lazy()
        .filter(over_all & scored)
        .select(pl.col("name").alias("metric"), *(pl.col(name) for name in _COLUMNS[1:]))
    )
    return tuple(Number(**row) for row in rows.collect().iter_rows(named=True))


def stored_numbers(folder: str) -> tuple[Number, ...]:
    """Return those of a results folder."""
    return numbers(pl.read_parquet(os.path.join(folder, TABLE), hive_partitioning=False))


def of_metric(found: Sequence[Number], metric: str, *, ranked: bool) -> Mapping[str | None, Number]:
    """Return the numbers that a gate on a metric is about, by model: of the systems of a ranking only the candidate."""
    own = {one.model: one for one in found if one.metric == metric}
    return {GATED_SYSTEM: own[GATED_SYSTEM]} if ranked and GATED_SYSTEM in own else own


def informative(found: Sequence[Number]) -> Iterator[str]:
    """Yield the metrics that have a better side, each once."""
    yield from dict.fromkeys(one.metric for one in found if one.direction != "none")
