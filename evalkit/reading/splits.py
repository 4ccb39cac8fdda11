"""Held out and reproducible: the split that a key derives, and the contributors that are in more than one split."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from evalkit.contracts.contract import SPLITS, Contract, SplitRule
from evalkit.errors import SHOWN_LINES, Ledger, Violation, spot
from evalkit.records.strict_json import kind_of

APPEARANCE: dict[str, pl.DataType] = {
    "source": pl.UInt32(),
    "line": pl.Int64(),
    "subject": pl.Binary(),
    "split": pl.Enum(SPLITS),
}
"""The columns of a record where only its contributor and its split count; lines count from 1.

A key is held as bytes, those that its digits spell where it derives a split: as text it would keep the memory of the
partition that it was read from.
"""


def is_reproducible(rule: SplitRule) -> pl.Expr:
    """Tell whether ``split`` is what the first byte of ``subject`` derives."""
    validation, test = (f"{rule.bytes_of(split).start:02x}" for split in SPLITS[1:])
    # Lower-case hexadecimal digits sort as the bytes that they spell.
    byte = pl.col("subject").str.head(2)
    derived = pl.when(byte < validation).then(pl.lit(SPLITS[0])).when(byte < test).then(pl.lit(SPLITS[1]))
    return pl.col("split") == derived.otherwise(pl.lit(SPLITS[2]))


def contributor(rule: SplitRule | None) -> pl.Expr:
    """Return the key as bytes."""
    key = pl.col("subject").cast(pl.String)
    return key.cast(pl.Binary) if rule is None else key.str.decode("hex")


def appearances(rows: pl.DataFrame, rule: SplitRule | None, source: int, first_line: int) -> pl.DataFrame:
    """Turn rows of one partition, whose lines count from 0, into appearances in the order of the input."""
    columns = {
        "source": pl.lit(source),
        "line": pl.col("line").cast(pl.Int64) + first_line,
        "subject": contributor(rule),
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


@dataclass(frozen=True, slots=True)
class SourceName:
    """A source as it is spoken of: its name, and what its lines are called."""

    name: str
    unit: str = "line"


def held_out_ledger(
    leaking: pl.DataFrame,
    mismatches: pl.DataFrame,
    sources: Sequence[SourceName],
    contract: Contract,
    *,
    every: bool = False,
) -> Ledger:
    """Word what ``leaks`` found and the records whose split their key does not derive: leaks first.

    Both are in the order of the input. Where splits are declared there are no mismatches, and a key is any text: it
    may be a name or an address, and is not shown.
    """
    rule, field = contract.split_rule, contract.fields.split
    place = ["source", "line"]
    others = mismatches.join(leaking, on=place, how="anti", maintain_order="left")
    room = leaking.height + others.height if every else SHOWN_LINES
    shown = pl.concat([leaking.select(place).head(room), others.select(place).head(room)]).head(room)
    first = leaking.join(shown, on=place, how="semi", maintain_order="left")
    said = [_leak(row, sources, field, shown_key=rule is not None) for row in first.iter_rows(named=True)]
    if rule is not None:
        wrong = mismatches.join(shown, on=place, how="semi", maintain_order="left")
        said += [_mismatch(row, sources, field, rule) for row in wrong.iter_rows(named=True)]
    counts = {"leak": leaking.height, "split-not-derived": mismatches.height}
    return Ledger(tuple(said), {name: count for name, count in counts.items() if count}, leaking.height + others.height)


def _leak(row: Mapping[str, Any], sources: Sequence[SourceName], field: str, *, shown_key: bool) -> Violation:
    source, other = sources[row["source"]], sources[row["source_earlier"]]
    earlier = spot(other.name, row["line_earlier"], other.unit)
    who = f"contributor {row['subject'].hex()}" if shown_key else f"a contributor ({kind_of(row['subject'].decode())})"
    message = f"{who} is in {row['split']} here and in {row['split_earlier']} at {earlier}"
    return Violation("leak", message, source.name, row["line"], field, unit=source.unit)


def _mismatch(row: Mapping[str, Any], sources: Sequence[SourceName], field: str, rule: SplitRule) -> Violation:
    source, key = sources[row["source"]], row["subject"].hex()
    message = f"cannot be re-derived: the key {key} belongs in {rule.derive(key)}"
    found = f'"{row["split"]}"'
    return Violation("split-not-derived", message, source.name, row["line"], field, found, source.unit)
