"""Room in a page: what is put into it is counted byte by byte, and what no longer fits is left out, not cut."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from evalkit.charts.words import clean

LONGEST_NAME = 200
"""Characters of a name after which it is cut."""

Made = TypeVar("Made")


def embedded(value: Any) -> str:
    r"""Write plain data as JSON that can stand in a script element: no ``<`` is in it, so nothing in it ends it.

    >>> embedded({"a": "</script>"})
    '{"a":"\\u003c/script>"}'
    """
    plain = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return plain.replace("<", "\\u003c")


def named(name: str) -> str:
    """Return a name on one line, cut where it is very long.

    >>> len(named("a" * 1_000)), named("a b")
    (200, 'a b')
    """
    text = clean(name)
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}…"


class Room:
    """Room for data, and the names of classes that the data refers to by their place.

    Attributes:
        left: How many bytes are left.
        labels: The names of classes, in the order in which they were met.
    """

    def __init__(self, size: int) -> None:
        self.left = size
        self.labels: list[str] = []
        self._places: dict[str, int] = {}

    def place(self, label: str) -> int:
        """Return the place of a class among the names."""
        if label not in self._places:
            self._places[label] = len(self.labels)
            self.labels.append(named(label))
        return self._places[label]

    def take(self, make: Callable[[Room], Made]) -> Made | None:
        """Make what is to be put into the page and count it; None where there is no room for it.

        >>> room = Room(10)
        >>> room.take(lambda _: [1, 2]), room.take(lambda _: "longer"), room.left
        ([1, 2], None, 4)
        """
        known = len(self.labels)
        made = make(self)
        size = sum(len(embedded(one).encode("utf-8")) + 1 for one in (made, *self.labels[known:]))
        if size <= self.left:
            self.left -= size
            return made
        del self.labels[known:]
        self._places = {name: place for name, place in self._places.items() if place < known}
        return None
