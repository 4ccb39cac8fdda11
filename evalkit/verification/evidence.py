"""The evidence: what the caller names, looked at before any of it is read, open only while a report is made of it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from evalkit.errors import Refusal, Violation
from evalkit.sources.partition import Inputs
from evalkit.sources.source import Input, Source, resolve, resolve_sides

if TYPE_CHECKING:
    from evalkit.families.observations.measure import Question
    from evalkit.reading.read import Progress

Document = Mapping[str, Any]
"""An observation document as plain data."""


class Named(NamedTuple):
    """What a caller names besides options.

    Attributes:
        inputs: What the command that made the report has as its first inputs.
        gold: The gold; nothing where there is none.
    """

    inputs: tuple[Input | Document, ...]
    gold: tuple[Input, ...] = ()


class Opened(NamedTuple):
    """Evidence while it is open.

    Attributes:
        stored: How many bytes progress is told of; None where that is not known.
        recompute: Makes the report; told whom to tell how far reading has come.
    """

    stored: int | None
    recompute: Callable[[Progress | None], Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """A report that can be made anew: the options are usable, and what is named is there.

    Attributes:
        sources: What will be read.
        open: Opens it, and closes it again.
    """

    sources: tuple[Source, ...]
    open: Callable[[], AbstractContextManager[Opened]]


def from_records(named: Named, compute: Callable[[Inputs, Inputs, Progress | None], Any]) -> Plan:
    """Plan a report that is made from records.

    Args:
        named: The records, and the gold.
        compute: Makes the report from both; there is no source of gold where none is named.

    Raises:
        Refusal: An input is not there, or is named twice.
        TypeError: An input is neither a path nor a data frame.
    """
    inputs: Any = named.inputs
    records, gold = resolve_sides(inputs, named.gold) if named.gold else (resolve(inputs), [])

    @contextmanager
    def opened() -> Iterator[Opened]:
        with Inputs(records) as left, Inputs(gold) as right:
            stored = None if left.stored is None or right.stored is None else left.stored + right.stored
            yield Opened(stored, lambda progress: compute(left, right, progress))

    return Plan((*records, *gold), opened)


def from_document(question: Question) -> Plan:
    """Plan a report that is made from an observation document, and from what lies beside it.

    Raises:
        Refusal: A file is not there, is none of JSON, or is named twice.
    """
    from evalkit.families.observations.document import RETRIEVAL
    from evalkit.families.observations.given import sources_of
    from evalkit.families.observations.measure import answer

    sources = sources_of(question.paths)
    lists = [sources[name] for name in question.files]
    known = [one.identity.size for one in lists if one.identity is not None and not one.compressed]

    @contextmanager
    def opened() -> Iterator[Opened]:
        if question.judged is not None or RETRIEVAL in question.files:
            import polars  # noqa: F401 - it puts a handler of signals in place; whoever opens this, puts theirs later
        stored = sum(known) if len(known) == len(lists) else None
        yield Opened(stored, lambda progress: answer(question, progress=progress))

    return Plan(tuple(sources.values()), opened)


def one_document(named: Named) -> str | Document:
    """Return the one document that is named: its path, or what it holds.

    Raises:
        Refusal: None is named, or several are.
        TypeError: It is neither.
    """
    if not named.inputs:
        raise Refusal.of(Violation("no-input", "no input is named; give the observation document, or - for it"))
    if len(named.inputs) > 1:
        message = "must be one observation document; name what lies beside it by its option, like --ocr"
        raise Refusal.of(Violation("verify-option", message, value=f"{len(named.inputs):,}"))
    (found,) = named.inputs
    return found if isinstance(found, Mapping) else os.fspath(cast("str", found))
