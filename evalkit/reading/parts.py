"""What was read from all partitions, put together: the refusals in the order of the input, then the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from operator import attrgetter

import polars as pl

from evalkit.contracts.contract import Contract
from evalkit.errors import Ledger, Refusal, Violation
from evalkit.formats.rows import Rows
from evalkit.reading.held_out import Place, assert_contributor_held_out, suspects
from evalkit.reading.splits import SourceName
from evalkit.reading.tally import Pile
from evalkit.sources.partition import Inputs, Partition
from evalkit.sources.source import Evidence


@dataclass(frozen=True, slots=True)
class Part:
    """What the checks of the whole need of one partition; lines count from 0 in it."""

    place: Place
    stored: int
    lines: int
    records: int
    models: frozenset[str]
    suspects: pl.DataFrame
    ledger: Ledger

    @classmethod
    def of(cls, partition: Partition, rows: Rows, contract: Contract) -> Part:
        """Take it from the rows of a partition."""
        return cls(
            (partition.source, partition.number),
            partition.stored,
            rows.lines,
            rows.records,
            rows.models,
            suspects(rows, contract, partition.source),
            rows.ledger,
        )


@dataclass(frozen=True, slots=True)
class Settled:
    """What is known of the inputs once nothing speaks against judging them.

    Attributes:
        evidence: What each source was.
        models: The model names of all records, train included, sorted.
        warnings: What the caller should know though nothing is refused.
    """

    evidence: tuple[Evidence, ...]
    models: tuple[str, ...]
    warnings: tuple[str, ...]


class Parts:
    """Collects parts in any order."""

    def __init__(self, inputs: Inputs, contract: Contract) -> None:
        self._inputs = inputs
        self._contract = contract
        self._parts: list[Part] = []
        self._declared = Pile(lambda frames: pl.concat(frames).unique(["subject", "split"]))

    def add(self, part: Part) -> None:
        """Add a part."""
        if self._contract.split_rule is None:
            self._declared.add(part.suspects)
            part = replace(part, suspects=part.suspects.clear())
        self._parts.append(part)

    def settle(self, workers: int) -> Settled:
        """Conclude, once all partitions are in.

        Raises:
            Refusal: A record is malformed; or, where none is, a contributor is in more than one split or a split is
                not the one that the key derives; or there are no records at all.
        """
        ledger = self.ledger()
        if ledger.lines:
            raise Refusal.from_ledger(ledger)
        self.assert_held_out(workers)
        return self.settled()

    def ledger(self) -> Ledger:
        """Add up what is wrong with the lines of each source and with the source itself, in the order given."""
        parts, starts = self._ordered(), self.starts()
        by_source = {source: list(own) for source, own in groupby(parts, key=lambda part: part.place[0])}
        found = Ledger()
        for source, name in enumerate(self._inputs.labels):
            own = (placed(part.ledger, name, starts[part.place]) for part in by_source.get(source, ()))
            found = sum(own, found)
            if source in self._inputs.broken:
                found += Ledger.of([(self._inputs.broken[source],)])
        return found

    def starts(self) -> dict[Place, int]:
        """Return the number of each partition's first line, counted from 1 in its source."""
        starts: dict[Place, int] = {}
        for _, group in groupby(self._ordered(), key=lambda part: part.place[0]):
            members = list(group)
            firsts = accumulate((part.lines for part in members), initial=1)
            starts.update(zip((part.place for part in members), firsts, strict=False))
        return starts

    def assert_held_out(self, workers: int, *, every: bool = False) -> None:
        """Refuse leaks and splits that cannot be re-derived; with ``every``, spell out each of them."""
        starts = self.starts()
        found = [part.suspects.with_columns(pl.col("line") + starts[part.place]) for part in self._ordered()]
        found.append(self._declared.whole())
        whole = pl.concat([frame for frame in found if frame.height] or found[:1])
        names = zip(self._inputs.labels, self._inputs.units, strict=True)
        sources = [SourceName(name, unit) for name, unit in names]
        assert_contributor_held_out(self._inputs, self._contract, whole, starts, sources, workers, every=every)

    def settled(self) -> Settled:
        """Return evidence, models and warnings."""
        evidence = self.evidence()
        if not any(one.records for one in evidence):
            raise Refusal.of(*(Violation("no-records", "holds no records", one.name) for one in evidence))
        models = sorted(frozenset[str]().union(*(part.models for part in self._parts)))
        return Settled(evidence, tuple(models), (*_warnings(evidence), *self._inputs.warnings(self._contract)))

    def evidence(self) -> tuple[Evidence, ...]:
        """Return what each source was."""
        return tuple(self._evidence())

    def _evidence(self) -> Iterator[Evidence]:
        records = [0] * len(self._inputs.sources)
        for part in self._parts:
            records[part.place[0]] += part.records
        for index, digest in enumerate(self._inputs.digests()):
            size, sha256 = digest or (None, None)
            name, came_from = self._inputs.labels[index], self._inputs.converted_from(index)
            yield Evidence(name, size, sha256, records[index], came_from)

    def _ordered(self) -> Sequence[Part]:
        self._parts.sort(key=attrgetter("place"))
        return self._parts


def placed(ledger: Ledger, name: str, first_line: int) -> Ledger:
    """Give violations their file and their line in it."""

    def put(violation: Violation) -> Violation:
        line = None if violation.line is None else first_line + violation.line  # None: the source as a whole
        return replace(violation, file=name, line=line)

    return replace(ledger, shown=tuple(put(violation) for violation in ledger.shown))


def _warnings(evidence: Sequence[Evidence]) -> Iterator[str]:
    seen: dict[str, str] = {}
    for item in evidence:
        if item.records == 0:
            yield f"{item.name}: holds no records"
        elif item.sha256 is not None and seen.setdefault(item.sha256, item.name) != item.name:
            yield f"{item.name}: has the same content as {seen[item.sha256]}, so its records count twice"
