"""``inspect``: what a dump holds and everything that is wrong with it, without judging any model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from evalkit.contracts.contract import BRISTOL, Contract, distinct
from evalkit.errors import Ledger, Refusal, Violation
from evalkit.formats.certify import row_type
from evalkit.formats.grammar import scalar
from evalkit.formats.rows import Rows
from evalkit.reading.counted import Place
from evalkit.reading.engine import WORKERS, gather
from evalkit.reading.parts import Part, Parts
from evalkit.reading.read import Progress, outcomes_of
from evalkit.reading.shape import Shape, first_documents_of, shape_of
from evalkit.reading.splits import contributor
from evalkit.reading.tally import Pile, merge
from evalkit.report import document, snake, written
from evalkit.results.files import write_file
from evalkit.sources.formats import read_rows
from evalkit.sources.partition import Inputs, Partition
from evalkit.sources.source import Evidence, listed, resolve

if TYPE_CHECKING:
    from evalkit.sources.source import Input

SCHEMA = "evalkit-inspection-v1"

VIOLATION: dict[str, type[pl.DataType]] = {
    "file": pl.String,
    "line": pl.Int64,
    "unit": pl.String,
    "rule": pl.String,
    "field": pl.String,
    "value": pl.String,
    "message": pl.String,
}
"""The columns of a table of violations. ``value`` is cut short, and of a subject key it is never there."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many valid records of one model and split there are, in all or of one label or stratum.

    Attributes:
        model: The model; None for all.
        split: The split; None for all.
        label: The true label; None for all.
        stratum_field: The field that the stratum is a value of; None for all records.
        stratum: The stratum.
        records: How many records there are.
        nothing_offered: How many of them have a null prediction.
        subjects: How many contributors they are from; None where they are not counted apart.
    """

    model: str | None
    split: str | None
    label: str | None
    stratum_field: str | None
    stratum: str | None
    records: int
    nothing_offered: int
    subjects: int | None

    @property
    def share_nothing_offered(self) -> float | None:
        """The share of null predictions."""
        return self.nothing_offered / self.records if self.records else None


@dataclass(frozen=True, slots=True)
class Inspection:
    """What ``inspect`` found.

    Attributes:
        schema: ``evalkit-inspection-v1``.
        clean: Whether no rule is broken.
        records: How many valid records there are.
        subjects: How many contributors they are from.
        violations: How often each rule is broken.
        held_out_checked: Whether splits and leaks were looked at: only where all records are valid.
        evidence: What was read, in the order given.
        shape: What the first records of each source look like, valid or not.
        counts: The valid records: in all, by model and split, by label, by stratum.
        refusals: Every violation, in the order of the input; columns of ``VIOLATION``.
        first: The violations of the first 20 broken lines, and how many there are, as ``compare`` would refuse them.
        warnings: What the caller should know though no rule is broken.
    """

    schema: str
    clean: bool
    records: int
    subjects: int
    violations: Mapping[str, int]
    held_out_checked: bool
    evidence: tuple[Evidence, ...]
    shape: Shape
    counts: tuple[Count, ...]
    refusals: pl.DataFrame = field(repr=False, compare=False, metadata={"report": False})
    first: Refusal | None = field(default=None, repr=False, compare=False, metadata={"report": False})
    warnings: tuple[str, ...] = field(default=(), metadata={"report": False})

    def to_dict(self) -> dict[str, Any]:
        """Return the inspection as plain data, keys as in the JSON."""
        plain: dict[str, Any] = document(self)
        return plain

    def write_json(self, path: str | Path) -> None:
        """Write the JSON, whole or not at all."""
        write_file(path, written(self))

    def write_refusals(self, path: str | Path) -> None:
        """Write every violation as a row of a Parquet file, whole or not at all."""
        buffer = BytesIO()
        self.refusals.write_parquet(buffer)
        write_file(path, buffer.getvalue())

    def table(self) -> pl.DataFrame:
        """Return the counts as a table with snake_case columns."""
        rows = [{snake(key): value for key, value in one.items()} for one in document(self.counts)]
        return pl.DataFrame(rows, schema=_COUNT, orient="row")


_COUNT: dict[str, type[pl.DataType]] = {
    **dict.fromkeys(("model", "split", "label", "stratum_field", "stratum"), pl.String),
    **dict.fromkeys(("records", "nothing_offered", "subjects"), pl.Int64),
}


def inspect(dump: Input | Iterable[Input], *, contract: Contract = BRISTOL, by: str | Sequence[str] = ()) -> Inspection:
    r"""Look through a dump: what it holds, and every rule that a record breaks, not just the first.

    Args:
        dump: What ``compare`` takes.
        contract: The dump's contract.
        by: Fields whose values are counted too.

    Raises:
        Refusal: The inputs cannot be read at all: a path that does not exist, a file that changes under the reader.
        OSError: The machine failed, not the input.

    >>> import evalkit, pathlib, tempfile
    >>> dump = pathlib.Path(tempfile.mkdtemp(), "dump.jsonl")
    >>> _ = dump.write_text("null\n[]\n")
    >>> found = evalkit.inspect(dump)
    >>> found.clean, found.violations
    (False, {'json': 2})
    """
    with Inputs(resolve(listed(dump))) as inputs:
        return inspect_inputs(inputs, replace(contract, scalars=distinct(by)))


def inspect_inputs(
    inputs: Inputs, contract: Contract, *, workers: int = WORKERS, progress: Progress | None = None
) -> Inspection:
    """Look through inputs that are open; see ``inspect``."""
    parts, keys = Parts(inputs, contract), _keys(contract)
    counts = Pile(lambda frames: merge(frames, keys))
    subjects = Pile(lambda frames: pl.concat(frames).unique())
    for pile, none in zip((counts, subjects), _tallied(pl.DataFrame(schema=row_type(contract)), contract), strict=True):
        pile.add(none)  # so that there is a table where there is no partition
    broken: dict[Place, pl.DataFrame] = {}
    first: dict[int, list[Mapping[str, Any]]] = {}
    for found in gather(partial(_inspect_part, contract=contract), inputs.partitions(), workers):
        parts.add(found.part)
        if found.first:
            first[found.part.place[0]] = found.first
        counts.add(found.counts)
        subjects.add(found.subjects)
        if found.broken.height:
            broken[found.part.place] = found.broken
        if progress is not None:
            progress(found.part.stored, found.part.records)
    malformed, evidence = parts.ledger(), parts.evidence()
    if malformed.lines:
        ledger, refusals = malformed, _malformed(inputs, parts, broken)
    else:
        every = _not_held_out(parts, workers) or _empty(evidence)
        ledger, refusals = Ledger() + every, _table(every.shown)
    counted, known = merge([counts.whole()], keys), subjects.whole().unique()
    return Inspection(
        schema=SCHEMA,
        clean=not ledger.lines,
        records=int(counted["n"].sum()),
        subjects=known["subject"].n_unique(),
        violations=dict(sorted(ledger.counts.items())),
        held_out_checked=not malformed.lines,
        evidence=evidence,
        shape=shape_of([document for source in sorted(first) for document in first[source]]),
        counts=tuple(_counts(counted, known, contract)),
        refusals=refusals,
        first=Refusal.from_ledger(ledger) if ledger.lines else None,
        warnings=tuple(inputs.warnings(contract)),
    )


class _Found(NamedTuple):
    """What was found in one partition; the lines of ``broken`` count from 0 in it."""

    part: Part
    counts: pl.DataFrame
    subjects: pl.DataFrame
    broken: pl.DataFrame
    first: list[Mapping[str, Any]]


def _inspect_part(partition: Partition, contract: Contract) -> _Found:
    rows: Rows = read_rows(partition, contract, every=True)
    counted, seen = _tallied(rows.table, contract)
    few = replace(rows, ledger=Ledger() + rows.ledger)  # the others need not be held as objects
    first = first_documents_of(partition)
    return _Found(Part.of(partition, few, contract), counted, seen, _table(rows.ledger.shown), first)


def _tallied(table: pl.DataFrame, contract: Contract) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Count records by what they are counted by, and name the contributors of each model and split."""
    none = pl.col("n") * pl.col("predicted").is_null()
    outcomes = outcomes_of(table, contract).with_columns(none=none)
    counted = outcomes.group_by(_keys(contract)).agg(pl.col("n", "none").sum())
    model, split = pl.col("model").cast(pl.Categorical), pl.col("split").cast(pl.String).cast(pl.Categorical)
    return counted, table.select(model, split, subject=contributor(contract.split_rule)).unique()


def _malformed(inputs: Inputs, parts: Parts, broken: Mapping[Place, pl.DataFrame]) -> pl.DataFrame:
    """Return every violation of a line or of a source as a whole, in the order of the input."""
    names, starts = inputs.labels, parts.starts()
    whole = [_table([inputs.broken[source]]).with_columns(place=pl.lit(source)) for source in sorted(inputs.broken)]
    lines = [
        frame.with_columns(file=pl.lit(names[place[0]]), line=pl.col("line") + starts[place], place=pl.lit(place[0]))
        for place, frame in sorted(broken.items(), key=lambda item: item[0])
    ]
    return pl.concat([*lines, *whole]).sort("place", maintain_order=True).drop("place")


def _not_held_out(parts: Parts, workers: int) -> Ledger | None:
    """Return every leak and every split that is not derived, or None."""
    try:
        parts.assert_held_out(workers, every=True)
    except Refusal as refusal:
        return Ledger(refusal.violations, refusal.counts, refusal.lines)
    return None


def _empty(evidence: Sequence[Evidence]) -> Ledger:
    """Say of each source that it holds no records, where none does."""
    if any(one.records for one in evidence):
        return Ledger()
    return Ledger.of([(Violation("no-records", "holds no records", one.name),) for one in evidence])


def _table(violations: Sequence[Violation]) -> pl.DataFrame:
    rows = [tuple(getattr(one, name) for name in VIOLATION) for one in violations]
    return pl.DataFrame(rows, schema=VIOLATION, orient="row")


def _keys(contract: Contract) -> list[str]:
    return ["model", "split", "truth", *(scalar(place) for place in range(len(contract.scalars)))]


def _counts(counted: pl.DataFrame, known: pl.DataFrame, contract: Contract) -> Iterator[Count]:
    """Roll the counts up: each model and split, each label in it, each stratum in it."""
    place = ["model", "split"]
    subjects = known.group_by(place).agg(subjects=pl.col("subject").n_unique())
    by_place = {(model, split): number for model, split, number in subjects.iter_rows()}
    texts = counted.with_columns(pl.col(_keys(contract)).cast(pl.String).fill_null("unlabelled"))
    for (model, split), own in sorted(texts.partition_by(place, as_dict=True).items()):
        size, none = own.select(pl.col("n", "none").sum()).row(0)
        yield Count(model, split, None, None, None, size, none, by_place[model, split])
        for label, size, none in sorted(_rolled(own, "truth"), key=lambda row: contract.label_order[row[0]]):
            yield Count(model, split, label, None, None, size, none, None)
        for number, path in enumerate(contract.scalars):
            for stratum, size, none in sorted(_rolled(own, scalar(number))):
                yield Count(model, split, None, path, stratum, size, none, None)


def _rolled(counted: pl.DataFrame, key: str) -> list[tuple[str, int, int]]:
    return counted.group_by(key).agg(pl.col("n", "none").sum()).rows()
