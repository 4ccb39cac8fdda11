"""Held out and reproducible: the split that a key derives, and the contributors that are in more than one split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from evalkit.contract import SPLITS, SplitRule
from evalkit.errors import SHOWN_LINES, Ledger, Violation

APPEARANCE: dict[str, pl.DataType] = {
    "source": pl.UInt32(),
    "line": pl.Int64(),
    "subject": pl.Binary(),
    "split": pl.Enum(SPLITS),
}
"""The columns of a record where only its contributor and its split count; lines count from 1.

A key is held as its eight bytes: as text it would keep the memory of the partition that it was read from.
"""


def is_reproducible(rule: SplitRule) -> pl.Expr:
    """Tell whether ``split`` is what the first byte of ``subject`` derives."""
    validation, test = (f"{rule.bytes_of(split).start:02x}" for split in SPLITS[1:])
    # Lower-case hexadecimal digits sort as the bytes that they spell.
    byte = pl.col("subject").str.head(2)
    derived = pl.when(byte < validation).then(pl.lit(SPLITS[0])).when(byte < test).then(pl.lit(SPLITS[1]))
    return pl.col("split") == derived.otherwise(pl.lit(SPLITS[2]))


def appearances(rows: pl.DataFrame, source: int, first_line: int) -> pl.DataFrame:
    """Turn rows of one partition, whose lines count from 0, into appearances in the order of the input."""
    columns = {
        "source": pl.lit(source),
        "line": pl.col("line").cast(pl.Int64) + first_line,
        "subject": pl.col("subject").str.decode("hex"),
        "split": pl.col("split"),
    }
    return rows.select(columns[name].cast(kind).alias(name) for name, kind in APPEARANCE.items()).sort("line")


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
    """Word what ``leaks`` found and the records whose split their key does not derive: leaks first.

    Both are in the order of the input.
    """
    place = ["source", "line"]
    others = mismatches.join(leaking, on=place, how="anti", maintain_order="left")
    shown = pl.concat([leaking.select(place).head(SHOWN_LINES), others.select(place).head(SHOWN_LINES)]).head(
        SHOWN_LINES
    )
    said = [_leak(row, names) for row in leaking.join(shown, on=place, how="semi").iter_rows(named=True)]
    wrong = mismatches.join(shown, on=place, how="semi", maintain_order="left")
    said += [_mismatch(row, names, rule) for row in wrong.iter_rows(named=True)]
    counts = {"leak": leaking.height, "split-not-derived": mismatches.height}
    return Ledger(tuple(said), {name: count for name, count in counts.items() if count}, leaking.height + others.height)


def _leak(row: Mapping[str, Any], names: Sequence[str]) -> Violation:
    earlier = f"{names[row['source_earlier']]}:{row['line_earlier']}"
    message = f"contributor {row['subject'].hex()} is in {row['split']} here and in {row['split_earlier']} at {earlier}"
    return Violation("leak", message, names[row["source"]], row["line"], "split")


def _mismatch(row: Mapping[str, Any], names: Sequence[str], rule: SplitRule) -> Violation:
    key = row["subject"].hex()
    message = f"cannot be re-derived: the key {key} belongs in {rule.derive(key)}"
    return Violation("split-not-derived", message, names[row["source"]], row["line"], "split", f'"{row["split"]}"')
