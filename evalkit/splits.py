"""Held out and reproducible: the split that a key derives, and the contributors that are in more than one split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from evalkit.contract import SPLITS, SplitRule
from evalkit.errors import SHOWN_LINES, Ledger, Violation

APPEARANCE = {"source": pl.UInt32, "line": pl.Int64, "subject": pl.String, "split": pl.String}
"""The columns of a record where only its contributor and its split count; lines count from 1."""


def is_reproducible(rule: SplitRule) -> pl.Expr:
    """Tell whether ``split`` is what the first byte of ``subject`` derives."""
    validation, test = (f"{rule.bytes_of(split).start:02x}" for split in SPLITS[1:])
    # Lower-case hexadecimal digits sort as the bytes that they spell.
    byte = pl.col("subject").str.head(2)
    derived = pl.when(byte < validation).then(pl.lit(SPLITS[0])).when(byte < test).then(pl.lit(SPLITS[1]))
    return pl.col("split") == derived.otherwise(pl.lit(SPLITS[2]))


def leaks(appearances: pl.DataFrame) -> pl.DataFrame:
    """Find the records whose key stood earlier in another split.

    Args:
        appearances: All records of the keys in question, columns of ``APPEARANCE``.

    Returns:
        The conflicting records in the order of the input, each with ``source_earlier``, ``line_earlier`` and
        ``split_earlier`` of the first record that it conflicts with.
    """
    place = ["source", "line"]
    ordered = appearances.sort(place)
    first = ordered.unique(["subject", "split"], keep="first", maintain_order=True)
    earlier_file = pl.col("source_earlier") < pl.col("source")
    earlier_line = (pl.col("source_earlier") == pl.col("source")) & (pl.col("line_earlier") < pl.col("line"))
    return (
        ordered.join(first, on="subject", suffix="_earlier")
        .filter(pl.col("split") != pl.col("split_earlier"), earlier_file | earlier_line)
        .sort(*place, "source_earlier", "line_earlier")
        .unique(place, keep="first", maintain_order=True)
    )


def held_out_ledger(leaking: pl.DataFrame, mismatches: pl.DataFrame, names: Sequence[str], rule: SplitRule) -> Ledger:
    """Word what ``leaks`` found and the records whose split their key does not derive: leaks first, line by line."""
    place = ["source", "line"]
    lines = pl.concat([leaking.select(place), mismatches.sort(place).select(place)]).unique(maintain_order=True)
    shown = lines.head(SHOWN_LINES)
    said = [_leak(row, names) for row in leaking.join(shown, on=place, how="semi").iter_rows(named=True)]
    wrong = mismatches.sort(place).join(shown, on=place, how="semi")
    said += [_mismatch(row, names, rule) for row in wrong.iter_rows(named=True)]
    counts = {"leak": leaking.height, "split-not-derived": mismatches.height}
    return Ledger(tuple(said), {name: count for name, count in counts.items() if count}, lines.height)


def _leak(row: Mapping[str, Any], names: Sequence[str]) -> Violation:
    earlier = f"{names[row['source_earlier']]}:{row['line_earlier']}"
    message = f"contributor {row['subject']} is in {row['split']} here and in {row['split_earlier']} at {earlier}"
    return Violation("leak", message, names[row["source"]], row["line"], "split")


def _mismatch(row: Mapping[str, Any], names: Sequence[str], rule: SplitRule) -> Violation:
    message = f"cannot be re-derived: the key {row['subject']} belongs in {rule.derive(row['subject'])}"
    return Violation("split-not-derived", message, names[row["source"]], row["line"], "split", f'"{row["split"]}"')
