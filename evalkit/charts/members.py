"""Members of an object in a report, each taken with its type, however the report spells its keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from evalkit.charts.fields import Fields
from evalkit.metric import Direction
from evalkit.report import snake


class Members:
    """Members of an object, taken by their camelCase names however the report spells them."""

    def __init__(self, found: Mapping[str, Any], path: str, fields: Fields) -> None:
        self.found, self.path, self.fields = found, path, fields

    def where(self, name: str) -> str:
        """Return the path of a member."""
        return f"{self.path}.{self._spelled(name)}"

    def take(self, name: str) -> Any:
        """Return a member; None where it is missing."""
        return self.found.get(self._spelled(name))

    def _spelled(self, name: str) -> str:
        return name if name in self.found else snake(name)

    def real(self, name: str) -> float | None:
        """Take a number or null."""
        return self.fields.real(self.take(name), self.where(name))

    def text(self, name: str) -> str | None:
        """Take a text or null."""
        return None if (found := self.take(name)) is None else self.fields.text(found, self.where(name))

    def whole(self, name: str) -> int | None:
        """Take a whole number or null."""
        return None if (found := self.take(name)) is None else self.fields.whole(found, self.where(name))

    def inner(self, name: str) -> Members | None:
        """Take an object or null."""
        if (found := self.take(name)) is None:
            return None
        return Members(self.fields.mapping(found, self.where(name)), self.where(name), self.fields)

    def need(self, name: str) -> Members:
        """Take an object that must be there."""
        return Members(self.fields.mapping(self.take(name), self.where(name)), self.where(name), self.fields)

    def items(self, name: str) -> Iterator[Members]:
        """Take a list of objects; none where it is null."""
        found = self.take(name)
        for place, one in enumerate([] if found is None else self.fields.array(found, self.where(name))):
            where = f"{self.where(name)}[{place}]"
            yield Members(self.fields.mapping(one, where), where, self.fields)

    def needed_text(self, name: str) -> str:
        """Take a text that must be there."""
        return self.fields.text(self.take(name), self.where(name))

    def direction(self) -> Direction:
        """Take the direction that must be there."""
        found = self.needed_text("direction")
        if found not in ("higher", "lower", "none"):
            self.fields.must_be("higher, lower or none", self.where("direction"), found)
            return "none"
        return cast("Direction", found)

    def needed_whole(self, name: str) -> int:
        """Take a whole number that must be there."""
        return self.fields.whole(self.take(name), self.where(name))

    def needed_real(self, name: str) -> float:
        """Take a number that must be there."""
        found = self.real(name)
        if found is None:
            self.fields.must_be("a number", self.where(name), None)
        return found or 0.0
