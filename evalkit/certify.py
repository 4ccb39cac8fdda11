"""The fast path: certify a partition's lines with the line grammar and read the fields of those that are scored.

``certify`` is one function on purpose: another implementation may take its place under the same property tests.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from operator import and_

import polars as pl

from evalkit.contract import Contract
from evalkit.grammar import Grammar, Unordered

ROW: dict[str, type[pl.DataType]] = {
    "line": pl.UInt32,
    "model": pl.String,
    "subject": pl.String,
    "split": pl.String,
    "truth": pl.String,
    "predicted": pl.String,
    "confidence": pl.Float64,
}
"""The columns of a record's row. Names are as they are spelled between the quotes; line numbers count from 0."""

READ = ROW | {"truth": pl.Int64, "predicted": pl.Int64}
"""The same columns as JSON gives them: labels are whole numbers there."""

_TEXT = pl.col("text")
_SAMPLED_BYTES = 256 * 1024
_BLANK = r"^[ \t\r]*$"


@dataclass(frozen=True, slots=True)
class Certified:
    """What the fast path made of a partition.

    Attributes:
        lines: How many lines there are, blank ones included.
        blank: How many are blank.
        rows: Certified records, columns of ``ROW``. Train records of the models that the grammar names are left out.
        odd: ``line`` and ``text`` of all other lines, for the exact reader to decide.
    """

    lines: int
    blank: int
    rows: pl.DataFrame
    odd: pl.DataFrame


def certify(data: bytes, grammar: Grammar, contract: Contract, *, every: bool = False) -> Certified:
    """Certify the lines of a partition.

    Args:
        data: Whole lines.
        grammar: The patterns to certify with.
        contract: The contract that the grammar was compiled from.
        every: Read all certified records, also those of the train split.

    Raises:
        polars.exceptions.ComputeError: The partition is not UTF-8, or a pattern is larger than Polars takes.
    """
    lines = pl.scan_lines(data, name="text", row_index_name="line")
    left = lines if every else lines.filter(~_is_unscored(grammar))
    first, *others = grammar.captures or (None,)
    if first is not None:  # in the same pass as the filter
        left = left.with_columns(fields=_TEXT.str.extract_groups(first))
    count, rest = pl.collect_all([lines.select(pl.len()), left], engine="streaming")
    found = []
    if first is not None:
        rows, rest = _split(rest)
        found.append(rows)
    for pattern in others:
        rows, rest = _split(rest.with_columns(fields=_TEXT.str.extract_groups(pattern)))
        found.append(rows)
    text = rest.filter(~_TEXT.str.contains(_BLANK))
    rows, odd = _read_unordered(text, grammar.unordered, contract)
    return Certified(count.item(), rest.height - text.height, pl.concat([*found, rows]), odd)


def _is_unscored(grammar: Grammar) -> pl.Expr:
    """Tell certified train records of known models, by the key orders seen or, where those are many, by none."""
    if grammar.unscored is not None:
        return _TEXT.str.contains(grammar.unscored)
    if grammar.unordered is not None and grammar.unordered.unscored is not None:
        return _has_each_key_once(grammar.unordered) & _TEXT.str.contains(grammar.unordered.unscored)
    return pl.lit(value=False)


def _has_each_key_once(unordered: Unordered) -> pl.Expr:
    """Tell the lines in which a match of an unordered pattern is sound."""
    markers = [_TEXT.str.contains(marker, literal=True) for marker in unordered.markers]
    return reduce(and_, markers, ~_TEXT.str.contains("\\", literal=True))


def _split(frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Part the lines whose groups matched, as rows, from those that did not."""
    matched = pl.col("fields").struct.field("truth").is_not_null()
    rows = frame.lazy().filter(matched).select("line", "fields").unnest("fields").select(typed()).collect()
    return rows, frame.filter(~matched).select("line", "text")


def typed() -> list[pl.Expr]:
    """Return the columns of ``ROW`` of a frame that has them in any type."""
    return [pl.col(name).cast(dtype) for name, dtype in ROW.items()]


def _read_unordered(
    lines: pl.DataFrame, unordered: Unordered | None, contract: Contract
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Certify lines whatever the order of their keys, and parse those that passed."""
    if unordered is None or lines.is_empty():
        return pl.DataFrame(schema=ROW), lines
    certified = _has_each_key_once(unordered) & _TEXT.str.contains(unordered.pattern)
    marked = lines.with_columns(certified=certified)
    good = marked.lazy().filter("certified").with_columns(record=_TEXT.str.json_decode(_json_type(contract)))
    rows = (
        good.select("line", **{name: _at(path) for name, path in asdict(contract.fields).items()})
        .select(typed())
        .collect()
    )
    return rows, marked.filter(~pl.col("certified")).select("line", "text")


def _at(path: str) -> pl.Expr:
    return reduce(lambda column, name: column.struct.field(name), path.split("."), pl.col("record"))


def _json_type(contract: Contract) -> pl.Struct:
    """Return the type of a record that holds the contract's fields and nothing else."""
    return _struct({tuple(path.split(".")): READ[name] for name, path in asdict(contract.fields).items()})


def _struct(leaves: dict[tuple[str, ...], type[pl.DataType]]) -> pl.Struct:
    members: dict[str, dict[tuple[str, ...], type[pl.DataType]]] = {}
    for (head, *rest), kind in leaves.items():
        members.setdefault(head, {})[tuple(rest)] = kind
    return pl.Struct({name: below.get(()) or _struct(below) for name, below in members.items()})


def sample(data: bytes, places: int) -> Sequence[bytes]:
    """Return whole lines found at places spread evenly over a partition, each once, and no more than are worth it."""
    found: dict[int, bytes] = {}
    size = 0
    for place in range(places):
        begin = data.find(b"\n", len(data) * place // places) + 1 if place else 0
        if begin in found or size > _SAMPLED_BYTES:
            continue
        end = data.find(b"\n", begin)
        found[begin] = data[begin : end if end >= 0 else len(data)]
        size += len(found[begin])
    return list(found.values())
