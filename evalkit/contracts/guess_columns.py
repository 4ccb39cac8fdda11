"""What stands where in some records: each dotted path of a scalar with its values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from evalkit.contracts.contract import is_path

LONGEST_LABEL = 200
"""Most characters of a text that is taken for a label."""

LARGEST_LABEL = 10**18
"""Whole numbers below this are taken for labels."""

_FEW = 20
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_HEX = re.compile("[0-9a-f]{8,128}")


@dataclass
class Column:
    """The values at one path.

    Attributes:
        path: The dotted path.
        total: How many records there are.
        values: The value in each record that has one there, by the record's place; null is none.
    """

    path: str
    total: int
    values: dict[int, Any] = field(default_factory=dict)

    @cached_property
    def words(self) -> frozenset[str]:
        """The words in the path, in lower case."""
        return frozenset(word.lower() for word in _WORD.findall(self.path))

    @property
    def name(self) -> str:
        """The last name of the path."""
        return self.path.rpartition(".")[2]

    @cached_property
    def parent(self) -> str:
        """The path of the object that the values stand in."""
        return self.path.rpartition(".")[0]

    @cached_property
    def kinds(self) -> frozenset[type]:
        """The types of the values."""
        return frozenset(map(type, self.values.values()))

    @cached_property
    def distinct(self) -> frozenset[Any]:
        """The values, each once; 1 and 1.0 are one."""
        return frozenset(self.values.values())

    @property
    def complete(self) -> bool:
        """Whether every record has a value there."""
        return len(self.values) == self.total

    @property
    def is_text(self) -> bool:
        """Whether all values are texts."""
        return self.kinds == {str}

    @property
    def repeats(self) -> bool:
        """Whether some value stands in several records."""
        return len(self.distinct) < len(self.values)

    @property
    def is_few(self) -> bool:
        """Whether there are few values for so many records."""
        return len(self.distinct) <= max(_FEW, len(self.values) // 2)

    @cached_property
    def is_label(self) -> bool:
        """Whether the values may be labels: whole numbers, or texts, few and short."""
        if not self.is_few:
            return False
        if self.is_text:
            return all(len(value) <= LONGEST_LABEL for value in self.distinct)
        return self.kinds == {int} and all(abs(value) < LARGEST_LABEL for value in self.distinct)

    @cached_property
    def is_share(self) -> bool:
        """Whether all values are numbers from 0 to 1."""
        return self.kinds <= {int, float} and all(0 <= value <= 1 for value in self.distinct)

    @cached_property
    def is_hexadecimal(self) -> bool:
        """Whether all values are hexadecimal keys of one even length; digits alone could be dates."""
        if not self.is_text or len({len(value) for value in self.distinct}) > 1:
            return False
        keys = [value for value in self.distinct if _HEX.fullmatch(value) and len(value) % 2 == 0]
        return len(keys) == len(self.distinct) and any(not key.isdigit() for key in keys)


@dataclass(frozen=True, slots=True)
class Columns:
    """All scalars of some records.

    Attributes:
        total: How many records there are.
        known: The columns that hold any value, by their paths, in the order in which they appear.
        unnamed: Names that stand in no dotted path, since they hold a dot or what cannot be printed, or are too long.
    """

    total: int
    known: Mapping[str, Column]
    unnamed: tuple[str, ...]


def columns_of(documents: Sequence[Mapping[str, Any]]) -> Columns:
    """Collect the scalars of records; arrays are passed over.

    >>> found = columns_of([{"truth": {"label": "cat"}, "a.b": 1}, {"truth": {"label": "dog"}}])
    >>> sorted(found.known["truth.label"].distinct), found.unnamed
    (['cat', 'dog'], ('a.b',))
    """
    known: dict[str, Column] = {}
    unnamed: dict[str, None] = {}
    for place, document in enumerate(documents):
        for path, value in _scalars(document, known, unnamed):
            if value is not None:
                known.setdefault(path, Column(path, len(documents))).values[place] = value
    return Columns(len(documents), known, tuple(unnamed))


def nested(row: Mapping[str, Any]) -> dict[str, Any]:
    """Turn the row of a table into a record: a dotted column name is a path. Of two that clash the first is kept.

    >>> nested({"model": "a", "truth.label": 4})
    {'model': 'a', 'truth': {'label': 4}}
    """
    document: dict[str, Any] = {}
    for path, value in row.items():
        place: Any = document
        *outer, last = path.split(".")
        for name in outer:
            place = place.setdefault(name, {}) if isinstance(place, dict) else None
        if isinstance(place, dict):
            place.setdefault(last, value)
    return document


def _scalars(
    document: Mapping[str, Any], known: Mapping[str, Column], unnamed: dict[str, None]
) -> Iterator[tuple[str, Any]]:
    """Yield path and value of each scalar, without calling itself however deep a record is."""
    waiting = [("", iter(document.items()))]
    while waiting:
        before, members = waiting[-1]
        for name, value in members:
            path = f"{before}{name}"
            if path not in known and ("." in name or not is_path(path)):
                unnamed[name] = None
            elif isinstance(value, Mapping):
                waiting.append((f"{path}.", iter(value.items())))
                break
            elif not isinstance(value, list):
                yield path, value
        else:
            waiting.pop()


def on_one_way(path: str, other: str) -> bool:
    """Tell whether two paths are the same or one leads through the other.

    >>> on_one_way("truth", "truth.label"), on_one_way("truth", "truths")
    (True, False)
    """
    return f"{path}.".startswith(f"{other}.") or f"{other}.".startswith(f"{path}.")
