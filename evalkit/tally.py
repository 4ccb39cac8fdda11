"""Tallies: small tables of key columns and additive columns, so that merging is always the same sum."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import polars as pl

from evalkit.exact import PLACES


def total(column: str, weight: str) -> pl.Expr:
    """Sum a column of 64-bit floats as decimals of 15 places, each as often as its weight says.

    A sum of floats depends on the order of its terms; this one does not.
    """
    return (pl.col(column).cast(pl.Decimal(38, PLACES)) * pl.col(weight)).sum()


def merge(tallies: Iterable[pl.DataFrame], keys: Sequence[str]) -> pl.DataFrame:
    """Merge tallies of parts of the input into the tally of the whole: one row a key, additive columns summed."""
    return pl.concat(list(tallies)).group_by(keys).agg(pl.all().sum())
