"""``scan``: a dump as a lazy frame, read partition by partition as far as an answer needs it, and never unchecked.

Every row comes from a partition whose lines are all valid. What can only be said of the whole dump, such as that no
contributor is in two splits, is checked where it is read to its end, before the answer is out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import polars as pl
from polars.io.plugins import register_io_source

from evalkit.contracts.contract import BRISTOL, Contract, distinct
from evalkit.errors import Refusal, Violation
from evalkit.formats.grammar import scalar
from evalkit.formats.rows import Rows
from evalkit.reading.engine import WORKERS, gather
from evalkit.reading.parts import Part, Parts, Settled
from evalkit.reading.read import Progress
from evalkit.sources.formats import FRAME, read_rows
from evalkit.sources.partition import PARTITION_BYTES, PARTITION_ROWS, Inputs, Partition
from evalkit.sources.source import Source, listed, resolve

if TYPE_CHECKING:
    from evalkit.sources.source import Input

COLUMNS = ("model", "subject_key", "split", "truth", "predicted", "confidence")
"""The columns of every scan; those of the strata follow."""


def scan(paths: Input | Iterable[Input], contract: Contract = BRISTOL, by: str | Sequence[str] = ()) -> pl.LazyFrame:
    r"""Return the records of a dump as a lazy frame, in their order.

    The columns are ``model``, ``subject_key``, ``split``, ``truth``, ``predicted``, ``confidence``, and one for each
    field of ``by`` under its path. Labels are whole numbers or texts as in the contract; where nothing was offered,
    ``predicted`` and ``confidence`` are null. Nothing is read before the frame is collected, and then no more than
    what is asked for: columns, filters and the first rows are taken while the dump is read.

    Args:
        paths: What ``compare`` takes, but for standard input and pipes: a lazy frame may read its sources twice.
        contract: The dump's contract.
        by: Dotted paths of further fields, read as texts; null where a record has none.

    Raises:
        Refusal: An input cannot be found or read; or, from ``collect``, a record is malformed, a contributor is in
            more than one split, a split is not the one that the key derives, there are no records. A collect that
            stops early (``head``) checks all lines of the partitions that it has read, and no more than those.

    >>> import evalkit, pathlib, tempfile
    >>> dump = pathlib.Path(tempfile.mkdtemp(), "dump.jsonl")
    >>> line = '{"model":"m","subjectKey":"e6%014d","split":"test","truth":{"bristolType":4},"prediction":null}\n'
    >>> _ = dump.write_text(line % 1 + line % 2)
    >>> evalkit.scan(dump).select("model", "subject_key", "truth").collect().row(1)
    ('m', 'e600000000000002', 4)
    """
    return Records.of(resolve(listed(paths)), contract, by).frame()


@dataclass(slots=True)
class Records:
    """A dump that may be read more than once, and what is known of it by now.

    Attributes:
        sources: The sources.
        contract: The contract, whose scalars are the fields of the strata.
        partition_bytes: About how many bytes a partition of lines should have.
        progress: Called with what was read.
        begun: Whether a reading was begun.
        settled: What is known of the whole, once it was read to its end.
    """

    sources: Sequence[Source]
    contract: Contract
    partition_bytes: int = PARTITION_BYTES
    progress: Progress | None = None
    begun: bool = False
    settled: Settled | None = None

    @classmethod
    def of(cls, sources: Sequence[Source], contract: Contract, by: str | Sequence[str]) -> Records:
        """Take sources of which each can be read again.

        Raises:
            Refusal: One is a stream; or a field of the strata has the name of another column.
        """
        streams = [source for source in sources if source.identity is None and source.format != FRAME]
        message = "is a stream, and the records may be read more than once; name a file"
        faults = [Violation("needs-file", message, source.label) for source in streams]
        for path in distinct(by):
            if path in COLUMNS:
                told = "is the name of another column of the records; only fields called otherwise can be strata"
                faults.append(Violation("contract", told, field="by", value=f'"{path}"'))
        if faults:
            raise Refusal.of(*faults)
        return cls(sources, replace(contract, scalars=distinct(by)))

    @property
    def stored(self) -> int | None:
        """All stored bytes, or None where that is not known."""
        sizes = [source.identity.size for source in self.sources if source.identity]
        return sum(sizes) if len(sizes) == len(self.sources) else None

    @property
    def stopped_early(self) -> bool:
        """Whether rows were taken and the whole was never read, so that it was not checked as a whole."""
        return self.begun and self.settled is None

    def frame(self) -> pl.LazyFrame:
        """Return the records as a lazy frame."""
        return register_io_source(self._batches, schema=schema(self.contract), is_pure=True, explain_name="evalkit")

    def _batches(
        self, columns: list[str] | None, predicate: pl.Expr | None, limit: int | None, _: int | None
    ) -> Iterator[pl.DataFrame]:
        """Yield the rows of sound partitions; once one is broken none follow, but what is wrong is counted to the end.

        The dataframe library lets a generator go when it has rows enough.
        """
        if limit == 0:
            return
        self.begun, left, broken = True, limit, False
        task = partial(_read_part, contract=self.contract, columns=columns, predicate=predicate)
        with Inputs(self.sources, self.partition_bytes, PARTITION_ROWS) as inputs:
            parts = Parts(inputs, self.contract)
            for part, frame in gather(task, inputs.partitions(), WORKERS, in_order=True):
                parts.add(part)
                if self.progress is not None:
                    self.progress(part.stored, part.records)
                broken = broken or part.ledger.lines > 0
                if broken:
                    continue
                yield frame if left is None else frame.head(left)
                left = None if left is None else left - min(left, frame.height)
                if left == 0:
                    return
            self.settled = parts.settle(WORKERS)


def _read_part(
    partition: Partition, contract: Contract, columns: list[str] | None, predicate: pl.Expr | None
) -> tuple[Part, pl.DataFrame]:
    rows: Rows = read_rows(partition, contract, every=True)
    found = rows.table.sort("line").select(_columns(contract))
    if predicate is not None:
        found = found.filter(predicate)
    return Part.of(partition, rows, contract), found if columns is None else found.select(columns)


def schema(contract: Contract) -> pl.Schema:
    """Return the columns of a contract's records and their types."""
    text, label = pl.String(), pl.Int64() if contract.label_kind is int else pl.String()
    kinds = (text, text, text, label, label, pl.Float64())
    return pl.Schema({**dict(zip(COLUMNS, kinds, strict=True)), **dict.fromkeys(contract.scalars, text)})


def _columns(contract: Contract) -> list[pl.Expr]:
    """Return the columns of ``schema`` from those of rows."""
    kinds = schema(contract)
    sources = ["model", "subject", *COLUMNS[2:], *(scalar(place) for place in range(len(contract.scalars)))]
    found = []
    for source, (name, kind) in zip(sources, kinds.items(), strict=True):
        column = pl.col(source) if kind == pl.Float64() else pl.col(source).cast(pl.String)
        found.append(column.cast(kind).alias(name))
    return found
