"""One partition's records as rows: certified where the grammar can, read exactly where it cannot."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

import polars as pl

from evalkit.certify import READ, certify, sample, typed
from evalkit.contract import Contract
from evalkit.errors import Ledger, Violation
from evalkit.grammar import compile_grammar
from evalkit.reader import Record, is_model, read_line
from evalkit.shapes import learn
from evalkit.strict_json import MAX_LINE

SAMPLED_LINES = 64
"""Lines of a partition from which its grammar is learned."""

_FIRST_BYTES = (b"", b"{", b"\n", b"\r", b" ", b"\t")


@dataclass(frozen=True, slots=True)
class Rows:
    """The records of a partition; lines count from 0 in it.

    Attributes:
        lines: How many lines there are.
        records: How many of them are valid records.
        models: The model names of all valid records.
        table: Valid records, columns of ``certify.ROW``; train records may be missing, unless all were asked for.
        ledger: What is wrong with the other lines.
    """

    lines: int
    records: int
    models: frozenset[str]
    table: pl.DataFrame
    ledger: Ledger


def read_rows(data: bytes, contract: Contract, *, every: bool = False) -> Rows:
    """Read the lines of a partition; with ``every``, the table holds all records."""
    if data[:1] not in _FIRST_BYTES:  # Polars would unpack what looks compressed
        return _read_exactly(data, contract)
    if len(data) > MAX_LINE and any(len(line) > MAX_LINE for line in data.split(b"\n")):
        return _read_exactly(data, contract)  # no pattern knows how long a line may be
    grammar = compile_grammar(learn(sample(data, SAMPLED_LINES), contract), contract)
    try:
        certified = certify(data, grammar, contract, every=every)
    except pl.exceptions.ComputeError:  # not UTF-8, and not said where; or a pattern that Polars does not take
        return _read_exactly(data, contract)
    table, doubtful = _decode_names(certified.rows)
    odd = [certified.odd, _texts(data, doubtful)] if doubtful else [certified.odd]
    exact = _Exact(contract)
    ledger = Ledger.of(exact.broken(pl.concat(odd).sort("line").iter_rows()))
    table = pl.concat([table, exact.table()])
    models = frozenset(table["model"].unique()) | frozenset(grammar.models)
    records = certified.lines - certified.blank - exact.blank - ledger.lines
    return Rows(certified.lines, records, models, table, ledger)


def _read_exactly(data: bytes, contract: Contract) -> Rows:
    lines = data.removesuffix(b"\n").split(b"\n")
    exact = _Exact(contract)
    ledger = Ledger.of(exact.broken(enumerate(lines)))
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
        """Return the records read, columns of ``certify.ROW``."""
        columns = zip(*self._records, strict=True) if self._records else [()] * len(Record._fields)
        records = dict(zip(Record._fields, columns, strict=True)) | {"line": self._lines}
        return pl.DataFrame({name: pl.Series(records[name], dtype=kind) for name, kind in READ.items()}).select(typed())


def _decode_names(rows: pl.DataFrame) -> tuple[pl.DataFrame, list[int]]:
    """Turn names as they are spelled in JSON into names; lines whose name is in doubt are left out and listed."""
    names = {spelled: json.loads(f'"{spelled}"') for spelled in rows["model"].unique()}
    doubtful = [spelled for spelled, name in names.items() if not is_model(name)]
    lines = []
    if doubtful:
        in_doubt = pl.col("model").is_in(doubtful)
        lines = rows.filter(in_doubt)["line"].to_list()
        rows = rows.filter(~in_doubt)
    changed = {spelled: name for spelled, name in names.items() if spelled != name}
    if changed:
        rows = rows.with_columns(pl.col("model").replace(changed))
    return rows, lines


def _texts(data: bytes, lines: list[int]) -> pl.DataFrame:
    """Return ``line`` and ``text`` of some lines of a partition."""
    chosen = pl.col("line").is_in(lines)
    return pl.scan_lines(data, name="text", row_index_name="line").filter(chosen).collect()
