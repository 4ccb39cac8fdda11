"""Read a dump strictly: every line certified or read exactly, every broken rule counted, nothing lost on the way.

``read`` maps partitions to parts, puts the parts together again in the order of the input, and only then speaks of
contributors, since one may stand in any two files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, groupby
from operator import attrgetter
from typing import Any

import polars as pl

from evalkit.contract import SPLITS, Contract
from evalkit.engine import WORKERS, gather
from evalkit.errors import Ledger, Refusal, Violation
from evalkit.partition import Inputs, Partition
from evalkit.rows import read_rows
from evalkit.source import Evidence
from evalkit.splits import APPEARANCE, appearances, held_out_ledger, is_reproducible, leaks
from evalkit.tally import merge

COMPACT_ROWS = 4_000_000
"""Rows of outcomes from which on equal ones are merged."""

OUTCOME = ["model", "split", "truth", "predicted", "confidence"]
"""The key columns of an outcome."""

Progress = Callable[[int, int], None]
"""Called with the stored bytes and the records of each partition that was read."""

Place = tuple[int, int]
"""A partition's source and its number in it."""


@dataclass(frozen=True, slots=True)
class Part:
    """What was read from one partition; lines count from 0 in it."""

    place: Place
    stored: int
    lines: int
    records: int
    models: frozenset[str]
    outcomes: pl.DataFrame
    mismatches: pl.DataFrame
    ledger: Ledger


@dataclass(frozen=True, slots=True)
class Dump:
    """What was read from all sources.

    Attributes:
        evidence: What each source was.
        models: The model names of all records, train included, sorted.
        outcomes: A tally of validation and test records: the key columns ``OUTCOME`` and the number ``n`` of records.
        warnings: What the caller should know though nothing is refused.
    """

    evidence: tuple[Evidence, ...]
    models: tuple[str, ...]
    outcomes: pl.DataFrame
    warnings: tuple[str, ...]


def read(inputs: Inputs, contract: Contract, *, workers: int = WORKERS, progress: Progress | None = None) -> Dump:
    """Read all sources.

    Raises:
        Refusal: A record is malformed; or, where none is, a contributor is in more than one split or a split is not
            the one that the key derives; or there are no records at all.
    """
    outcomes = _Outcomes()
    parts: list[Part] = []
    for part in gather(partial(read_part, contract=contract), inputs.partitions(), workers):
        outcomes.add(part.outcomes)
        parts.append(replace(part, outcomes=_NOTHING))
        if progress is not None:
            progress(part.stored, part.records)
    parts.sort(key=attrgetter("place"))
    starts = _first_lines(parts)
    ledger = _whole_ledger(inputs, parts, starts)
    if ledger.lines:
        raise Refusal.from_ledger(ledger)
    _assert_contributor_held_out(inputs, contract, parts, starts, workers)
    return _dump(inputs, parts, outcomes)


def read_part(partition: Partition, contract: Contract) -> Part:
    """Read one partition down to what the whole run needs of it."""
    rows = read_rows(partition.load(), contract)
    labels = pl.Enum([str(label) for label in contract.labels])
    outcomes = rows.table.filter(pl.col("split") != SPLITS[0]).select(
        pl.col("model").cast(pl.Categorical),
        pl.col("split").cast(pl.Enum(SPLITS)),
        pl.col("truth", "predicted").cast(labels),
        "confidence",
        n=pl.lit(1, pl.Int64),
    )
    mismatches = appearances(rows.table.filter(~is_reproducible(contract.split_rule)), partition.source, 0)
    return Part(
        (partition.source, partition.number),
        partition.stored,
        rows.lines,
        rows.records,
        rows.models,
        outcomes,
        mismatches,
        rows.ledger,
    )


class _Outcomes:
    """Collects outcomes; equal ones are merged whenever their number has doubled, so repeats cost no memory."""

    def __init__(self) -> None:
        self._frames: list[pl.DataFrame] = []
        self._rows = 0
        self._limit = COMPACT_ROWS

    def add(self, outcomes: pl.DataFrame) -> None:
        self._frames.append(outcomes)
        self._rows += outcomes.height
        if self._rows > self._limit:
            self._frames = [merge(self._frames, OUTCOME)]
            self._rows = self._frames[0].height
            self._limit = max(COMPACT_ROWS, 2 * self._rows)

    def tally(self) -> pl.DataFrame:
        # Equal outcomes may still stand apart: every reader sums, and a merge would cost more than it saves.
        return pl.concat(self._frames)


def _first_lines(parts: Sequence[Part]) -> dict[Place, int]:
    """Return the line number of each partition's first line, counted from 1 in its source."""
    starts: dict[Place, int] = {}
    for _, group in groupby(parts, key=lambda part: part.place[0]):
        members = list(group)
        firsts = accumulate((part.lines for part in members), initial=1)
        starts.update(zip((part.place for part in members), firsts, strict=False))
    return starts


def _whole_ledger(inputs: Inputs, parts: Sequence[Part], starts: Mapping[Place, int]) -> Ledger:
    """Add up what is wrong with the lines of each source and with the source itself, in the order given."""
    by_source = {source: list(own) for source, own in groupby(parts, key=lambda part: part.place[0])}
    found = Ledger()
    for source, name in enumerate(inputs.labels):
        own = (_placed(part.ledger, name, starts[part.place]) for part in by_source.get(source, ()))
        found = sum(own, found)
        if source in inputs.broken:
            found += Ledger.of([(inputs.broken[source],)])
    return found


def _placed(ledger: Ledger, name: str, first_line: int) -> Ledger:
    """Give violations their file and their line in it."""

    def put(violation: Violation) -> Violation:
        line = violation.line or 0
        return replace(violation, file=name, line=first_line + line)

    return replace(ledger, shown=tuple(put(violation) for violation in ledger.shown))


def _assert_contributor_held_out(
    inputs: Inputs, contract: Contract, parts: Sequence[Part], starts: Mapping[Place, int], workers: int
) -> None:
    """Refuse leaks and splits that cannot be re-derived, over all files and models together.

    Every leak has a record whose split is not the one that its key derives. So where all splits are derived nothing
    can leak. Else a second reading collects the contributors of all other records, and where some are in two splits,
    few as a rule, a third finds their lines.
    """
    found = [part.mismatches.with_columns(pl.col("line") + starts[part.place]) for part in parts]
    none = pl.DataFrame(schema=APPEARANCE)
    mismatches = pl.concat([*found, none])
    if mismatches.is_empty():
        return

    def look_up(task: Callable[..., pl.DataFrame], **known: Any) -> pl.DataFrame:
        return pl.concat(gather(partial(task, contract=contract, **known), inputs.partitions(), workers))

    wrong = mismatches.select("subject", "split").unique()
    right = look_up(_reproducible_subjects).unique()
    twice = wrong.group_by("subject").len().filter(pl.col("len") > 1).select("subject")
    torn = pl.concat([twice, right.join(wrong, on="subject", how="semi")]).unique()
    leaking = leaks(look_up(_appearances_of, subjects=torn, starts=starts) if torn.height else none)
    raise Refusal.from_ledger(held_out_ledger(leaking, mismatches, inputs.labels, contract.split_rule))


def _reproducible_subjects(partition: Partition, contract: Contract) -> pl.DataFrame:
    """Return the contributors of the records whose split is the one that their key derives."""
    rows = read_rows(partition.load(), contract, every=True)
    found = rows.table.filter(is_reproducible(contract.split_rule))
    return appearances(found, partition.source, 0).select("subject").unique()


def _appearances_of(
    partition: Partition, contract: Contract, subjects: pl.DataFrame, starts: Mapping[Place, int]
) -> pl.DataFrame:
    """Return the records of some contributors."""
    rows = read_rows(partition.load(), contract, every=True)
    found = appearances(rows.table, partition.source, starts[partition.source, partition.number])
    return found.join(subjects, on="subject", how="semi")


def _dump(inputs: Inputs, parts: Sequence[Part], outcomes: _Outcomes) -> Dump:
    names, digests = inputs.labels, inputs.digests()
    records = [0] * len(names)
    for part in parts:
        records[part.place[0]] += part.records
    if not any(records):
        raise Refusal.of(*(Violation("no-records", "holds no records", name) for name in names))
    evidence = tuple(
        Evidence(name, size, sha256, count) for name, (size, sha256), count in zip(names, digests, records, strict=True)
    )
    models = sorted(frozenset[str]().union(*(part.models for part in parts)))
    return Dump(evidence, tuple(models), outcomes.tally(), tuple(_warnings(evidence)))


def _warnings(evidence: Sequence[Evidence]) -> Iterator[str]:
    seen: dict[str, str] = {}
    for item in evidence:
        if item.records == 0:
            yield f"{item.name}: holds no records"
        elif seen.setdefault(item.sha256, item.name) != item.name:
            yield f"{item.name}: has the same content as {seen[item.sha256]}, so its records count twice"


_NOTHING = pl.DataFrame()
