"""The first records of some inputs, parsed and not judged: what a contract is guessed from."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from evalkit.errors import Ledger, Refusal, Violation
from evalkit.records.strict_json import parse_object
from evalkit.sources.formats import JSON_LINES, home
from evalkit.sources.partition import Inputs
from evalkit.sources.source import Source, resolve

_PART_BYTES = 1024 * 1024
"""Bytes read at a time: a thousand records are seldom more."""


@dataclass(frozen=True, slots=True)
class First:
    """The first records of some inputs.

    Attributes:
        documents: The records.
        flat: Whether they are rows of tables, in which a dotted column name is a path.
    """

    documents: list[dict[str, Any]]
    flat: bool


def first_documents(paths: Sequence[str], limit: int) -> First:
    """Read the first records of the inputs, as many from each, so that a file for each split shows all splits.

    Args:
        paths: Files of any format, patterns, folders of Parquet, or ``-`` for standard input.
        limit: How many records to read in all; at least one is read of each input that has one.

    Raises:
        Refusal: An input cannot be read, one of the first records cannot, or there is no record at all.
    """
    sources = resolve(paths)
    share = max(limit // len(sources), 1)
    documents: list[dict[str, Any]] = []
    ledger = Ledger()
    for source in sources:
        broken: list[tuple[Violation, ...]] = []
        read = _documents if source.format == JSON_LINES else _rows
        documents += read(source, share, broken)
        ledger += Ledger.of(broken)
    if ledger.lines:
        raise Refusal.from_ledger(ledger)
    if not documents:
        raise Refusal.of(*(Violation("no-records", "holds no records", source.label) for source in sources))
    return First(documents, any(source.format != JSON_LINES for source in sources))


def _documents(source: Source, count: int, broken: list[tuple[Violation, ...]]) -> Iterator[dict[str, Any]]:
    """Yield the objects of the first lines that are not blank, and note what is wrong with the others."""
    # Both are closed at once where the first lines are enough: a compressed stream must not be left to the end.
    with Inputs([source], _PART_BYTES) as inputs, closing(_lines(inputs)) as lines:
        for line, raw in lines:
            if not raw.strip(b" \t\r"):
                continue
            try:
                document, faults = parse_object(raw.removesuffix(b"\r"))
            except Refusal as refusal:
                document, faults = {}, list(refusal.violations)
            if faults:
                broken.append(tuple(replace(fault, file=source.label, line=line) for fault in faults))
            else:
                yield document
            count -= 1
            if count == 0:
                return
        broken.extend((fault,) for fault in inputs.broken.values())


def _rows(source: Source, count: int, broken: list[tuple[Violation, ...]]) -> Iterator[dict[str, Any]]:
    """Yield the first rows of a table as objects, as the module of its format gives them."""
    with Inputs([source], _PART_BYTES) as inputs:
        for partition in inputs.partitions():
            try:
                rows = islice(home(source.format).documents(partition), count)
                found = [{**dict(source.hive), **row} for row in rows]
            except Refusal as refusal:
                broken.append(tuple(replace(fault, file=source.label) for fault in refusal.violations))
                return
            yield from found
            count -= len(found)
            if count == 0:
                return
        broken.extend((fault,) for fault in inputs.broken.values())


def _lines(inputs: Inputs) -> Generator[tuple[int, bytes], None, None]:
    """Yield the lines of a source with their numbers."""
    number = 0
    partition: Any
    for partition in inputs.partitions():
        data: bytes = partition.load()
        for raw in data.removesuffix(b"\n").split(b"\n") if data else ():
            number += 1
            yield number, raw
