"""What is wrong with one document: violations that name its side and its id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evalkit.errors import Violation
from evalkit.records.strict_json import show


class Faults:
    """Collects the violations of one document."""

    def __init__(self, document: Mapping[str, Any], side: str) -> None:
        self._document = document
        self._side = side
        self.found: list[Violation] = []
        self.id = self.take_text("id", rule="id", required=True)

    def note(self, fault: Violation, field: str | None = None) -> None:
        """Add a violation."""
        self.found.append(fault if field is None else replace(fault, field=field))

    def take_text(self, name: str, rule: str, *, required: bool = False) -> str | None:
        """Take a text without U+0000; None where it is absent, null or neither."""
        value = self._document.get(name)
        if isinstance(value, str):
            if "\0" not in value:
                return value
            self.note(Violation("nul", "no text may hold the character U+0000", field=name, value=show(value)))
        elif required and name not in self._document:
            self.note(Violation("missing-field", "is missing", field=name))
        elif value is not None or required:
            message = "must be a text" if required else "must be a text or null"
            self.note(Violation(rule, message, field=name, value=show(value)))
        return None

    def take_name(self, name: str) -> str | None:
        """Take a text without U+0000, or a whole number as the text that spells it; None where it is absent or null."""
        value = self._document.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.take_text(name, "cluster")

    def all(self) -> tuple[Violation, ...]:
        """Return the violations, each with the side and the id of the document."""
        where = self._side if self.id is None else f"{self._side} {show(self.id)}"
        return tuple(replace(one, message=f"{one.message}, in {where}") for one in self.found)
