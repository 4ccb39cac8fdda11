"""Tallies: small tables of key columns and additive columns, so that merging is always the same sum."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import polars as pl

from evalkit.exact import PLACES


def total(column: str, weight: str) -> pl.Expr:
    """Sum a column of 64-bit floats as decimals of 15 places, each as often as its weight says.

    A sum of floats depends on the order of its terms; this one does not.
    """
    return (pl.col(column).cast(pl.Decimal(38, PLACES)) * pl.col(weight)).sum()


def merge(tallies: Iterable[pl.DataFrame], keys: Sequence[str]) -> pl.DataFrame:
    """Merge tallies of parts of the input into the tally of the whole: one row a key, additive columns summed."""
    every = pl.concat(list(tallies))
    return every.group_by(keys).agg(pl.all().sum()).select(every.columns)  # so that it can be merged again


COMPACT_ROWS = 4_000_000
"""Rows of a pile from which on equal ones are merged."""


class Pile:
    """Collects frames; they are merged whenever their rows have doubled, so that repeats cost no memory."""

    def __init__(self, merged: Callable[[list[pl.DataFrame]], pl.DataFrame]) -> None:
        self._merged = merged
        self._frames: list[pl.DataFrame] = []
        self._rows = 0
        self._limit = COMPACT_ROWS

    def add(self, frame: pl.DataFrame) -> None:
        """Put a frame on the pile."""
        self._frames.append(frame)
        self._rows += frame.height
        if self._rows > self._limit:
            self._frames = [self._merged(self._frames)]
            self._rows = self._frames[0].height
            self._limit = max(COMPACT_ROWS, 2 * self._rows)

    def whole(self) -> pl.DataFrame:
        """Return all rows; equal ones may still stand apart, since a last merge would cost more than it saves."""
        return pl.concat(self._frames) if self._frames else pl.DataFrame()
