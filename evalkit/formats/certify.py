"""The fast path: certify a partition's lines with the line grammar and read the fields of those that are scored.

``certify`` is one function on purpose: another implementation may take its place under the same property tests.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass
from functools import reduce
from operator import and_

import polars as pl

from evalkit.contracts.contract import Contract
from evalkit.formats.grammar import Grammar, Unordered, scalar


def row_type(contract: Contract) -> dict[str, type[pl.DataType]]:
    """Return the columns of a record's row; line numbers count from 0, and labels are texts."""
    texts = ["model", "subject", "split", "truth", "predicted"]
    scalars = [scalar(place) for place in range(len(contract.scalars))]
    return {"line": pl.UInt32, **dict.fromkeys(texts, pl.String), "confidence": pl.Float64} | dict.fromkeys(
        scalars, pl.String
    )


def read_type(contract: Contract) -> dict[str, type[pl.DataType]]:
    """Return the same columns as JSON gives them: labels may be whole numbers there."""
    label = pl.Int64 if contract.label_kind is int else pl.String
    return row_type(contract) | {"truth": label, "predicted": label}


_TEXT = pl.col("text")
_SAMPLED_BYTES = 256 * 1024
_BLANK = r"^[ \t\r]*$"


@dataclass(frozen=True, slots=True)
class Certified:
    """What the fast path made of a partition.

    Attributes:
        lines: How many lines there are, blank ones included.
        blank: How many are blank.
        rows: Certified records, columns of ``row_type``, texts as they are spelled between their quotes and scalars as
            they are spelled in all. Train records of the models that the grammar names are left out.
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
        rows, rest = _split(rest, contract)
        found.append(rows)
    for pattern in others:
        rows, rest = _split(rest.with_columns(fields=_TEXT.str.extract_groups(pattern)), contract)
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


def _split(frame: pl.DataFrame, contract: Contract) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Part the lines whose groups matched, as rows, from those that did not."""
    fields = pl.col("fields").struct
    matched = fields.field("truth").is_not_null()
    if contract.fields.prediction is None:  # the pattern lets each be null alone
        matched &= fields.field("predicted").is_null() == fields.field("confidence").is_null()
    good = frame.lazy().filter(matched).select("line", "fields").unnest("fields")
    return good.select(typed(contract, good.collect_schema().names())).collect(), frame.filter(~matched).select(
        "line", "text"
    )


def typed(contract: Contract, present: Collection[str]) -> list[pl.Expr]:
    """Return the columns of ``row_type`` of a frame that has them in any type; one that is not present is null."""
    return [
        pl.col(name).cast(kind) if name in present else pl.lit(None, kind).alias(name)
        for name, kind in row_type(contract).items()
    ]


def _read_unordered(
    lines: pl.DataFrame, unordered: Unordered | None, contract: Contract
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Certify lines whatever the order of their keys, and parse those that passed."""
    if unordered is None or lines.is_empty() or _has_pattern(contract):
        return pl.DataFrame(schema=row_type(contract)), lines
    certified = _has_each_key_once(unordered) & _TEXT.str.contains(unordered.pattern)
    marked = lines.with_columns(certified=certified)
    good = marked.lazy().filter("certified").with_columns(record=_TEXT.str.json_decode(_json_type(contract)))
    columns = {name: _at(path) for name, path in asdict(contract.fields).items()}
    for place, path in enumerate(contract.scalars):
        columns[scalar(place)] = pl.format('"{}"', _at(path))  # no escape is in it: so it is spelled
    rows = good.select("line", "text", **columns).collect()
    halves = pl.col("predicted").is_null() != pl.col("confidence").is_null()
    odd = pl.concat([marked.filter(~pl.col("certified")), rows.filter(halves)], how="diagonal").select("line", "text")
    return rows.filter(~halves).select(typed(contract, rows.columns)), odd.sort("line")


def _has_pattern(contract: Contract) -> bool:
    """Tell whether the dataframe library would take some name of a field for a pattern of names."""
    paths = (*asdict(contract.fields).values(), *contract.scalars)
    return any(name == "*" or name.startswith("^") for path in paths for name in path.split("."))


def _at(path: str) -> pl.Expr:
    return reduce(lambda column, name: column.struct.field(name), path.split("."), pl.col("record"))


def _json_type(contract: Contract) -> pl.Struct:
    """Return the type of a record that holds what is read of it and nothing else."""
    kinds = read_type(contract)
    leaves = {tuple(path.split(".")): kinds[name] for name, path in asdict(contract.fields).items()}
    return _struct(leaves | {tuple(path.split(".")): pl.String for path in contract.scalars})


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
