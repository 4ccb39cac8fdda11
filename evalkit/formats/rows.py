"""One partition's records as rows: certified where the grammar can, read exactly where it cannot."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import polars as pl

from evalkit.contracts.contract import Contract
from evalkit.errors import Ledger, Violation
from evalkit.formats.certify import certify, read_type, sample, typed
from evalkit.formats.grammar import compile_grammar, scalar
from evalkit.formats.patterns import spellings
from evalkit.formats.shapes import learn
from evalkit.records.reader import Record, read_line
from evalkit.records.rules import is_model, judge_scalar, scalar_text
from evalkit.records.strict_json import MAX_LINE, parse_scalar

SAMPLED_LINES = 64
"""Lines of a partition from which its grammar is learned."""

FIRST_BYTES = (b"", b"{", b"\n", b"\r", b" ", b"\t")


@dataclass(frozen=True, slots=True)
class Rows:
    """The records of a partition; lines count from 0 in it.

    Attributes:
        lines: How many lines there are.
        records: How many of them are valid records.
        models: The model names of all valid records.
        table: Valid records, columns of ``certify.row_type``, texts also as categories; train records may be missing,
            unless all were asked for.
        ledger: What is wrong with the other lines.
    """

    lines: int
    records: int
    models: frozenset[str]
    table: pl.DataFrame
    ledger: Ledger


def read_rows(data: bytes, contract: Contract, *, every: bool = False) -> Rows:
    """Read the lines of a partition; with ``every``, the table holds all records and the ledger all violations."""
    if data[:1] not in FIRST_BYTES:  # Polars would unpack what looks compressed
        return _read_exactly(data, contract, every=every)
    if len(data) > MAX_LINE and any(len(line) > MAX_LINE for line in data.split(b"\n")):
        return _read_exactly(data, contract, every=every)  # no pattern knows how long a line may be
    grammar = compile_grammar(learn(sample(data, SAMPLED_LINES), contract), contract)
    try:
        certified = certify(data, grammar, contract, every=every)
    except pl.exceptions.ComputeError:  # not UTF-8, and not said where; or a pattern that Polars does not take
        return _read_exactly(data, contract, every=every)
    table, doubtful = _decoded(certified.rows, contract)
    odd = [certified.odd, _texts(data, doubtful)] if doubtful else [certified.odd]
    exact = _Exact(contract)
    ledger = Ledger.of(exact.broken(pl.concat(odd).sort("line").iter_rows()), every=every)
    table = pl.concat([table, exact.table()])
    models = frozenset(table["model"].unique()) | frozenset(grammar.models)
    records = certified.lines - certified.blank - exact.blank - ledger.lines
    return Rows(certified.lines, records, models, table, ledger)


def _read_exactly(data: bytes, contract: Contract, *, every: bool = False) -> Rows:
    lines = data.removesuffix(b"\n").split(b"\n")
    exact = _Exact(contract)
    ledger = Ledger.of(exact.broken(enumerate(lines)), every=every)
    table = exact.table()
    return Rows(len(lines), table.height, frozenset(table["model"]), table, ledger)


class _Exact:
    """Reads lines one by one: records pile up, the broken lines pass through."""

    def __init__(self, contract: Contract) -> None:
        self._contract = contract
        self._lines: list[int] = []
        self._records: list[Record] = []
        self.blank = 0

    def broken(self, lines: Iterator[tuple[int, str | bytes]]) -> Iterator[tuple[Violation, ...]]:
        """Yield what is wrong with each broken line."""
        for line, text in lines:
            outcome = read_line(text.encode() if isinstance(text, str) else text, self._contract)
            if isinstance(outcome, Record):
                self._lines.append(line)
                self._records.append(outcome)
            elif outcome is None:
                self.blank += 1
            else:
                yield tuple(replace(violation, line=line) for violation in outcome)

    def table(self) -> pl.DataFrame:
        """Return the records read, columns of ``certify.row_type``."""
        *fields, scalars = zip(*self._records, strict=True) if self._records else [()] * len(Record._fields)
        texts = zip(*scalars, strict=True) if scalars else [()] * len(self._contract.scalars)
        kinds = read_type(self._contract)
        columns = zip(kinds.items(), [self._lines, *fields, *texts], strict=True)
        found = pl.DataFrame({name: pl.Series(values, dtype=kind) for (name, kind), values in columns})
        return found.select(typed(self._contract, found.columns))


def _decoded(rows: pl.DataFrame, contract: Contract) -> tuple[pl.DataFrame, list[int]]:
    """Turn texts as they are spelled into what they say; lines with a text in doubt are left out and listed."""
    decoders: dict[str, Callable[[str], str | None]] = {"model": _model}
    decoders |= {scalar(place): _scalar for place in range(len(contract.scalars))}
    doubtful, changed = pl.lit(value=False), {}
    for column, decode in decoders.items():
        said, doubted = _say(rows[column].drop_nulls().unique(), decode)
        if doubted:
            doubtful |= pl.col(column).is_in(doubted).fill_null(value=False)
        changed[column] = {spelled: text for spelled, text in said.items() if spelled != text}
    if contract.label_kind is str:
        labels: dict[str, str | None] = {
            spelled: label for label in contract.label_texts for spelled in spellings(label) if spelled != label
        }
        changed |= {"truth": labels, "predicted": labels}
    lines = rows.filter(doubtful)["line"].to_list()
    sound = rows.filter(~doubtful) if lines else rows
    return sound.with_columns(pl.col(column).replace(texts) for column, texts in changed.items() if texts), lines


def _say(spelled_texts: Iterable[str], decode: Callable[[str], str | None]) -> tuple[dict[str, str | None], list[str]]:
    """Decode spellings; those that are in doubt are listed."""
    said, doubted = {}, []
    for spelled in spelled_texts:
        try:
            said[spelled] = decode(spelled)
        except ValueError:
            doubted.append(spelled)
    return said, doubted


def _model(spelled: str) -> str:
    name: str = json.loads(f'"{spelled}"')
    if not is_model(name):
        raise ValueError
    return name


def _scalar(spelled: str) -> str | None:
    value = parse_scalar(spelled)
    if judge_scalar(value) is not None:
        raise ValueError
    return scalar_text(value)


def _texts(data: bytes, lines: list[int]) -> pl.DataFrame:
    """Return ``line`` and ``text`` of some lines of a partition."""
    chosen = pl.col("line").is_in(lines)
    return pl.scan_lines(data, name="text", row_index_name="line").filter(chosen).collect()
