"""Read a dump strictly: every line certified or read exactly, every broken rule counted, nothing lost on the way.

``read`` maps partitions to parts, puts the parts together again in the order of the input, and only then speaks of
contributors, since one may stand in any two files.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial

import polars as pl

from evalkit.contracts.contract import SPLITS, Contract
from evalkit.formats.grammar import scalar
from evalkit.reading.contributors import CONTRIBUTOR, contributor_numbers
from evalkit.reading.engine import WORKERS, Workers, gather
from evalkit.reading.parts import Part, Parts
from evalkit.reading.tally import Pile, merge
from evalkit.sources.formats import read_rows
from evalkit.sources.partition import Inputs, Partition
from evalkit.sources.source import Evidence

OUTCOME = ["model", "split", "truth", "predicted", "confidence"]
"""The key columns of an outcome; one a scalar of the contract comes to them."""

Progress = Callable[[int, int], None]
"""Called with the stored bytes and the records of each partition that was read."""


@dataclass(frozen=True, slots=True)
class Dump:
    """What was read from all sources.

    Attributes:
        evidence: What each source was.
        models: The model names of all records, train included, sorted.
        outcomes: A tally of validation and test records: the key columns of ``outcome_keys`` and the number ``n``.
        warnings: What the caller should know though nothing is refused.
    """

    evidence: tuple[Evidence, ...]
    models: tuple[str, ...]
    outcomes: pl.DataFrame
    warnings: tuple[str, ...]


def read(
    inputs: Inputs,
    contract: Contract,
    *,
    contributors: bool = False,
    ids: Collection[str] = (),
    workers: Workers = WORKERS,
    progress: Progress | None = None,
) -> Dump:
    """Read all sources.

    Args:
        inputs: The sources.
        contract: What a record is, and what is read besides.
        contributors: Whether whose each record is is a key column too.
        ids: Those fields read besides of which most records have a value of their own.
        workers: Workers at a time.
        progress: Told how far reading has come.

    Raises:
        Refusal: A record is malformed; or, where none is, a contributor is in more than one split or a split is not
            the one that the key derives; or there are no records at all.
    """
    keys = [*outcome_keys(contract), *([CONTRIBUTOR] if contributors else [])]
    task = partial(_read_part, contract=contract, contributors=contributors, ids=frozenset(ids))
    pile = Pile(lambda frames: merge(frames, keys))
    parts = Parts(inputs, contract)
    for part, outcomes in gather(task, inputs.partitions(), workers):
        pile.add(outcomes)
        parts.add(part)
        if progress is not None:
            progress(part.stored, part.records)
    settled = parts.settle(workers)
    outcomes = pile.whole()
    warnings = (*settled.warnings, *_absent(outcomes, contract))
    return Dump(settled.evidence, settled.models, outcomes, warnings)


def _read_part(
    partition: Partition, contract: Contract, *, contributors: bool, ids: frozenset[str]
) -> tuple[Part, pl.DataFrame]:
    """Read one partition down to what the whole run needs of it."""
    rows = read_rows(partition, contract)
    scored = rows.table.filter(pl.col("split") != SPLITS[0])
    outcomes = outcomes_of(scored, contract, ids)
    if contributors:
        numbers = contributor_numbers(scored["subject"].cast(pl.String), contract.split_rule)
        outcomes = outcomes.with_columns(numbers)
    return Part.of(partition, rows, contract), outcomes


def outcomes_of(table: pl.DataFrame, contract: Contract, ids: Collection[str] = ()) -> pl.DataFrame:
    """Turn rows into outcomes: the key columns, and their number."""
    # A category for each of a million ids takes longer to look up than the id is to keep.
    kinds = [pl.String() if path in ids else pl.Categorical() for path in contract.scalars]
    return table.select(
        pl.col("model").cast(pl.Categorical),
        pl.col("split").cast(pl.Enum(SPLITS)),
        pl.col("truth", "predicted").cast(pl.Enum(contract.label_texts)),
        "confidence",
        *(pl.col(scalar(place)).cast(kind) for place, kind in enumerate(kinds)),
        n=pl.lit(1, pl.Int64),
    )


def outcome_keys(contract: Contract) -> list[str]:
    """Return the key columns of an outcome."""
    return [*OUTCOME, *(scalar(place) for place in range(len(contract.scalars)))]


def _absent(outcomes: pl.DataFrame, contract: Contract) -> Iterator[str]:
    for place, path in enumerate(contract.scalars):
        if outcomes.height and outcomes[scalar(place)].null_count() == outcomes.height:
            yield f"no scored record has the field {path}"
