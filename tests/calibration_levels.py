"""Levels for the tests of calibration, and a naive oracle that goes through records one by one."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import polars as pl
from hypothesis import strategies as st

Row = tuple[int, int, int]
"""A confidence in ten-thousandths, records, right ones."""

Record = tuple[Fraction, int]
"""A confidence and whether it was right."""


def levels(rows: Iterable[Row]) -> pl.DataFrame:
    """Make the table."""
    found = [(units / 10_000, n, correct) for units, n, correct in rows]
    return pl.DataFrame(found, {"confidence": pl.Float64, "n": pl.Int64, "correct": pl.Int64}, orient="row")


def of(*rows: tuple[float, int, int]) -> pl.DataFrame:
    """Make the table of confidences as they are."""
    return pl.DataFrame(rows, {"confidence": pl.Float64, "n": pl.Int64, "correct": pl.Int64}, orient="row")


def records(rows: Iterable[Row]) -> list[Record]:
    """Write every record out."""
    return [(Fraction(units, 10_000), int(i < correct)) for units, n, correct in rows for i in range(n)]


@st.composite
def some_rows(draw: st.DrawFn, least: int = 1) -> list[Row]:
    """Draw levels, in any order."""
    units = draw(st.lists(st.integers(0, 10_000), min_size=least, max_size=12, unique=True))
    sizes = [draw(st.integers(1, 6)) for _ in units]
    return [(unit, n, draw(st.integers(0, n))) for unit, n in zip(units, sizes, strict=True)]


def mean(values: Iterable[Fraction | int]) -> Fraction:
    """Return the plain mean."""
    found = [Fraction(value) for value in values]
    return sum(found, Fraction(0)) / len(found)


def groups(found: list[Record], bins: int) -> list[list[Record]]:
    """Put records into bins of equal width; a confidence goes where 64-bit floats put it."""
    inside: dict[int, list[Record]] = {}
    for record in found:
        inside.setdefault(min(bins - 1, int(float(record[0]) * bins)), []).append(record)
    return [inside[place] for place in sorted(inside)]


def recalibrated(found: list[Record]) -> dict[Fraction, Fraction]:
    """Isotonic regression by its max-min formula: the greatest over starts of the least over ends of means."""
    at = sorted({confidence for confidence, _ in found})

    def share(low: Fraction, high: Fraction) -> Fraction:
        return mean(y for c, y in found if low <= c <= high)

    return {c: max(min(share(low, high) for high in at if high >= c) for low in at if low <= c) for c in at}
