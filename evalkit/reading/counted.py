"""What is known of partitions whatever was read of them: lines, what is wrong, evidence, in the order of the input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, groupby
from operator import attrgetter
from typing import Protocol, TypeVar

from evalkit.errors import Ledger, Refusal, Violation
from evalkit.sources.partition import Inputs
from evalkit.sources.source import Evidence

Place = tuple[int, int]
"""A partition's source and its number in it."""


class Counted(Protocol):
    """What every part of an input tells; its lines count from 0."""

    @property
    def place(self) -> Place:
        """The partition."""

    @property
    def lines(self) -> int:
        """How many lines it has."""

    @property
    def records(self) -> int:
        """How many of them are valid records."""

    @property
    def ledger(self) -> Ledger:
        """What is wrong with the others."""


Part = TypeVar("Part", bound=Counted)


def in_order(parts: Sequence[Part]) -> list[Part]:
    """Return parts in the order of the input."""
    return sorted(parts, key=attrgetter("place"))


def ledger_of(inputs: Inputs, parts: Sequence[Counted]) -> Ledger:
    """Add up what is wrong with the lines of each source and with the source itself, in the order given."""
    starts = starts_of(parts)
    by_source = {source: list(own) for source, own in groupby(in_order(parts), key=lambda part: part.place[0])}
    found = Ledger()
    for source, name in enumerate(inputs.labels):
        own = (placed(part.ledger, name, starts[part.place]) for part in by_source.get(source, ()))
        found = sum(own, found)
        if source in inputs.broken:
            found += Ledger.of([(inputs.broken[source],)])
    return found


def starts_of(parts: Sequence[Counted]) -> dict[Place, int]:
    """Return the number of each partition's first line, counted from 1 in its source."""
    starts: dict[Place, int] = {}
    for _, group in groupby(in_order(parts), key=lambda part: part.place[0]):
        members = list(group)
        firsts = accumulate((part.lines for part in members), initial=1)
        starts.update(zip((part.place for part in members), firsts, strict=False))
    return starts


def placed(ledger: Ledger, name: str, first_line: int) -> Ledger:
    """Give violations their file and their line in it."""

    def put(violation: Violation) -> Violation:
        line = None if violation.line is None else first_line + violation.line  # None: the source as a whole
        return replace(violation, file=name, line=line)

    return replace(ledger, shown=tuple(put(violation) for violation in ledger.shown))


def evidence_of(inputs: Inputs, parts: Sequence[Counted]) -> tuple[Evidence, ...]:
    """Return what each source was.

    Raises:
        Refusal: A file was changed while it was read.
    """
    return tuple(_evidence(inputs, parts))


def _evidence(inputs: Inputs, parts: Sequence[Counted]) -> Iterator[Evidence]:
    records = [0] * len(inputs.sources)
    for part in parts:
        records[part.place[0]] += part.records
    for index, digest in enumerate(inputs.digests()):
        size, sha256 = digest or (None, None)
        yield Evidence(inputs.labels[index], size, sha256, records[index], inputs.converted_from(index))


def assert_records(evidence: Sequence[Evidence]) -> None:
    """Refuse inputs without a record.

    Raises:
        Refusal: There is none.
    """
    if not any(one.records for one in evidence):
        raise Refusal.of(*(Violation("no-records", "holds no records", one.name) for one in evidence))


def empty(evidence: Sequence[Evidence]) -> Iterator[str]:
    """Say which sources hold no records."""
    for item in evidence:
        if item.records == 0:
            yield f"{item.name}: holds no records"


def repeated(evidence: Sequence[Evidence]) -> Iterator[str]:
    """Say which sources have the same content."""
    seen: dict[str, str] = {}
    for item in evidence:
        if item.records and item.sha256 is not None and seen.setdefault(item.sha256, item.name) != item.name:
            yield f"{item.name}: has the same content as {seen[item.sha256]}, so its records count twice"
