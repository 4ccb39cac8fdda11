"""``convert``: a dump checked once and written as typed Parquet, with what it came from in the file's metadata."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl

from evalkit.contracts.contract import BRISTOL, SPLITS, Contract, distinct
from evalkit.contracts.contract_toml import write_contract
from evalkit.formats.certify import row_type
from evalkit.formats.grammar import scalar
from evalkit.formats.rows import Rows
from evalkit.reading.engine import WORKERS, gather
from evalkit.reading.parts import Part, Parts, Settled
from evalkit.reading.read import Progress
from evalkit.report import document
from evalkit.results.files import Target, check_file_target, new_file
from evalkit.results.row_groups import RowGroups
from evalkit.sources.formats import read_rows
from evalkit.sources.partition import PARTITION_ROWS, Inputs, Partition
from evalkit.sources.source import Evidence, listed, resolve

if TYPE_CHECKING:
    from evalkit.sources.source import Input

SCHEMA = "evalkit-records-v1"

UNREPEATED = ("subject_key", "confidence")
"""Columns whose values hardly repeat."""


def convert(
    dump: Input | Iterable[Input],
    path: str | os.PathLike[str],
    *,
    contract: Contract = BRISTOL,
    by: str | Sequence[str] = (),
) -> tuple[Evidence, ...]:
    """Check a dump and write its records as one typed Parquet file, in their order.

    The columns are ``model``, ``subject_key``, ``split``, ``truth``, ``predicted``, ``confidence``, and one for each
    field of ``by`` under its path. The file's metadata holds the contract and the evidence of the dump. ``compare``
    gives the same report for the file as for the dump, and says in ``evidence`` what it was converted from.

    Args:
        dump: What ``compare`` takes.
        path: The file to write, whole or not at all.
        contract: The dump's contract; ``compare`` must be given the same.
        by: Fields to keep for strata and policies. All other fields are left out.

    Returns:
        What was read, one evidence a source.

    Raises:
        Refusal: The dump cannot be judged honestly, or the file cannot be written there.
        OSError: The machine failed, not the input.

    >>> import evalkit, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "dump.jsonl").write_text(
    ...     '{"model":"m","subjectKey":"e600000000000000","split":"test","truth":{"bristolType":4},"prediction":null}')
    >>> evalkit.convert(folder / "dump.jsonl", folder / "dump.parquet")[0].records
    1
    >>> pl.read_parquet(folder / "dump.parquet").row(0)
    ('m', 'e600000000000000', 'test', 4, None, None)
    """
    target = os.fspath(path)
    check_file_target(target)
    with Inputs(resolve(listed(dump))) as inputs:
        return convert_inputs(inputs, target, replace(contract, scalars=distinct(by))).evidence


def convert_inputs(
    inputs: Inputs, path: Target, contract: Contract, *, workers: int = WORKERS, progress: Progress | None = None
) -> Settled:
    """Convert inputs that are open; see ``convert``."""
    parts = Parts(inputs, contract)
    none = pl.DataFrame(schema=row_type(contract)).select(_columns(contract))
    with new_file(path) as temporary, RowGroups(temporary, none, PARTITION_ROWS, UNREPEATED) as writer:
        task = partial(_convert_part, contract=contract)
        for part, frame in gather(task, inputs.partitions(), workers, in_order=True):
            parts.add(part)
            writer.add(frame)
            if progress is not None:
                progress(part.stored, part.records)
        settled = parts.settle(workers)
        writer.note(_notes(contract, settled.evidence))
    return settled


def _convert_part(partition: Partition, contract: Contract) -> tuple[Part, pl.DataFrame]:
    rows: Rows = read_rows(partition, contract, every=True)
    return Part.of(partition, rows, contract), rows.table.sort("line").select(_columns(contract))


def _columns(contract: Contract) -> list[pl.Expr]:
    """Return the columns of the file: texts that repeat as dictionaries, labels as what they are."""
    text = pl.Categorical()
    if contract.label_kind is int:
        labels = [pl.col(name).cast(pl.String).cast(pl.Int32) for name in ("truth", "predicted")]
    else:
        labels = [pl.col("truth", "predicted").cast(pl.Enum(contract.label_texts))]
    kept = [pl.col(scalar(place)).cast(text).alias(path) for place, path in enumerate(contract.scalars)]
    split = pl.col("split").cast(pl.Enum(SPLITS))
    return [
        pl.col("model").cast(text),
        pl.col("subject").alias("subject_key"),
        split,
        *labels,
        pl.col("confidence"),
        *kept,
    ]


def _notes(contract: Contract, evidence: Sequence[Evidence]) -> dict[str, str]:
    """Return what the file's metadata says of it."""
    return {
        "evalkit.schema": SCHEMA,
        "evalkit.contract": write_contract(replace(contract, scalars=())),
        "evalkit.evidence": json.dumps(document(evidence), ensure_ascii=False),
        "evalkit.scalars": json.dumps(contract.scalars, ensure_ascii=False),
    }
