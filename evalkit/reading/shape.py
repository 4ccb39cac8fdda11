"""The shape of records: which fields the first of them have, and of what kinds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

from evalkit.errors import Refusal
from evalkit.sources.formats import home
from evalkit.sources.partition import Partition
from evalkit.sources.source import BrokenSourceError

LOOKED_AT = 1000
"""Records of each source that are looked at."""

MAX_FIELDS = 1000
"""Most fields that are told; a record may use its keys as data."""


@dataclass(frozen=True, slots=True)
class FieldShape:
    """One field of some records.

    Attributes:
        field: Its dotted path; an element of an array is ``[]``.
        kinds: How many records have it, by the kind of value: text, number, true or false, null, object, array.
    """

    field: str
    kinds: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Shape:
    """What the first records look like.

    Attributes:
        records: How many were looked at.
        fields: Their fields, in the order in which they were met.
    """

    records: int
    fields: tuple[FieldShape, ...]


def first_documents_of(partition: Partition) -> list[Mapping[str, Any]]:
    """Return the first records of a partition, as far as they can be read."""
    if partition.number:
        return []
    found: list[Mapping[str, Any]] = []
    with suppress(Refusal, BrokenSourceError):  # what is wrong is said where the partition is read
        found.extend(islice(home(partition.format).documents(partition), LOOKED_AT))
    return found


def shape_of(documents: Sequence[Mapping[str, Any]]) -> Shape:
    """Count the fields of records.

    >>> [(one.field, dict(one.kinds)) for one in shape_of([{"a": {"b": 1}}, {"a": None}]).fields]
    [('a', {'object': 1, 'null': 1}), ('a.b', {'number': 1})]
    """
    kinds: dict[str, Counter[str]] = {}
    for document in documents:
        for path, kind in set(_walk(document, "")):
            if path in kinds or len(kinds) < MAX_FIELDS:
                kinds.setdefault(path, Counter())[kind] += 1
    order = list(dict.fromkeys(path for document in documents for path, _ in _walk(document, "")))
    return Shape(len(documents), tuple(FieldShape(path, kinds[path]) for path in order if path in kinds))


def _walk(value: Mapping[str, Any], above: str) -> Iterator[tuple[str, str]]:
    for name, member in value.items():
        yield from _found(member, f"{above}.{name}" if above else name)


def _found(value: Any, path: str) -> Iterator[tuple[str, str]]:
    yield path, _kind(value)
    if isinstance(value, Mapping):
        yield from _walk(value, path)
    elif isinstance(value, list):
        yield from _elements(value, f"{path}[]")


def _elements(values: Iterable[Any], path: str) -> Iterator[tuple[str, str]]:
    for value in values:
        yield from _found(value, path)


def _kind(value: Any) -> str:
    for kind, name in ((bool, "true or false"), (str, "text"), (Mapping, "object"), (list, "array")):
        if isinstance(value, kind):
            return name
    return "null" if value is None else "number"
