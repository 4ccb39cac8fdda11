"""What was read from all partitions, put together: the refusals in the order of the input, then the evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace

import polars as pl

from evalkit.contracts.contract import Contract
from evalkit.errors import Ledger, Refusal
from evalkit.formats.rows import Rows
from evalkit.reading.counted import Place, assert_records, empty, evidence_of, in_order, ledger_of, repeated, starts_of
from evalkit.reading.engine import Workers
from evalkit.reading.held_out import assert_contributor_held_out, suspects
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

    def settle(self, workers: Workers) -> Settled:
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
        return ledger_of(self._inputs, self._parts)

    def starts(self) -> dict[Place, int]:
        """Return the number of each partition's first line, counted from 1 in its source."""
        return starts_of(self._parts)

    def assert_held_out(self, workers: Workers, *, every: bool = False) -> None:
        """Refuse leaks and splits that cannot be re-derived; with ``every``, spell out each of them."""
        starts = self.starts()
        found = [part.suspects.with_columns(pl.col("line") + starts[part.place]) for part in in_order(self._parts)]
        found.append(self._declared.whole())
        whole = pl.concat([frame for frame in found if frame.height] or found[:1])
        names = zip(self._inputs.labels, self._inputs.units, strict=True)
        sources = [SourceName(name, unit) for name, unit in names]
        assert_contributor_held_out(self._inputs, self._contract, whole, starts, sources, workers, every=every)

    def settled(self) -> Settled:
        """Return evidence, models and warnings."""
        evidence = self.evidence()
        assert_records(evidence)
        models = sorted(frozenset[str]().union(*(part.models for part in self._parts)))
        return Settled(
            evidence, tuple(models), (*empty(evidence), *repeated(evidence), *self._inputs.warnings(self._contract))
        )

    def evidence(self) -> tuple[Evidence, ...]:
        """Return what each source was."""
        return evidence_of(self._inputs, self._parts)
