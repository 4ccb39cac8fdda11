"""The check that contributors are held out: over all files and all models together, train included."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import polars as pl

from evalkit.contracts.contract import Contract
from evalkit.errors import Refusal
from evalkit.formats.rows import Rows
from evalkit.reading.counted import Place
from evalkit.reading.engine import Workers, gather
from evalkit.reading.splits import (
    APPEARANCE,
    SourceName,
    appearances,
    contributor,
    held_out_ledger,
    is_reproducible,
    leaks,
)
from evalkit.sources.formats import read_rows
from evalkit.sources.partition import Inputs, Partition


def suspects(rows: Rows, contract: Contract, source: int) -> pl.DataFrame:
    """Return what the check needs of one partition.

    Where keys derive splits: the records whose split is not the one derived. Where splits are declared: every
    contributor with each of its splits.
    """
    rule = contract.split_rule
    if rule is not None:
        return appearances(rows.table.filter(~is_reproducible(rule)), rule, source, 0)
    return appearances(rows.table.unique(["subject", "split"], keep="first"), rule, source, 0)


def assert_contributor_held_out(
    inputs: Inputs,
    contract: Contract,
    found: pl.DataFrame,
    starts: Mapping[Place, int],
    sources: Sequence[SourceName],
    workers: Workers,
    *,
    every: bool = False,
) -> None:
    """Refuse leaks and splits that cannot be re-derived.

    Where splits are derived every leak has a record whose split is not the one that its key derives. So where there is
    none nothing can leak. Else a second reading collects the contributors of all other records, and where some are in
    two splits, few as a rule, a third finds their lines.

    Args:
        inputs: What was read, and may be read again.
        contract: Its split rule.
        found: The ``suspects`` of all partitions.
        starts: The number of each partition's first line.
        sources: What the sources are called.
        workers: Workers at a time, or the engine that has them.
        every: Spell out each record, not only the first.

    Raises:
        Refusal: Some contributor is in two splits, or some split is not derived.
    """
    if found.is_empty():
        return

    def look_up(task: Callable[..., pl.DataFrame], **known: Any) -> pl.DataFrame:
        return pl.concat(gather(partial(task, contract=contract, **known), inputs.partitions(), workers))

    wrong = found.select("subject", "split").unique()
    torn = wrong.group_by("subject").len().filter(pl.col("len") > 1).select("subject")
    if contract.split_rule is not None:
        right = look_up(_reproducible_subjects).unique()
        torn = pl.concat([torn, right.join(wrong, on="subject", how="semi")]).unique()
    elif torn.is_empty():
        return
    none = pl.DataFrame(schema=APPEARANCE)
    leaking = leaks(look_up(_appearances_of, subjects=torn, starts=starts) if torn.height else none)
    mismatches = none if contract.split_rule is None else found.sort("source", "line")
    raise Refusal.from_ledger(held_out_ledger(leaking, mismatches, sources, contract, every=every))


def _reproducible_subjects(partition: Partition, contract: Contract) -> pl.DataFrame:
    """Return the contributors of the records whose split is the one that their key derives."""
    if contract.split_rule is None:
        raise ValueError("only a key that derives its split can be reproduced")
    rows: Rows = read_rows(partition, contract, every=True)
    right = rows.table.filter(is_reproducible(contract.split_rule))
    return right.select(subject=contributor(contract.split_rule)).unique()


def _appearances_of(
    partition: Partition, contract: Contract, subjects: pl.DataFrame, starts: Mapping[Place, int]
) -> pl.DataFrame:
    """Return the records of some contributors."""
    rows: Rows = read_rows(partition, contract, every=True)
    found = appearances(rows.table, contract.split_rule, partition.source, starts[partition.source, partition.number])
    return found.join(subjects, on="subject", how="semi")
