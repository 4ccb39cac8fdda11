"""Fields of plain data, each taken with its type or noted as a fault, so that a document is refused for all at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from evalkit.errors import Violation
from evalkit.records.strict_json import Beyond, show

_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]{1,40}")

MOST_FAULTS = 1000
"""Faults after which no more are kept."""


class _Missing:
    """What is not there, and has been noted as a fault already."""


MISSING = _Missing()


class Fields:
    """Takes fields and keeps what is wrong with them.

    Attributes:
        faults: What is wrong, in the order in which it was met.
    """

    def __init__(self, rule: str) -> None:
        self._rule = rule
        self.faults: list[Violation] = []

    def fault(self, path: str, message: str, shown: str | None = None) -> None:
        """Note a fault at a path, with the value as it is to be shown."""
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(Violation(self._rule, message, field=path or None, value=shown))

    def must_be(self, what: str, path: str, found: object) -> None:
        """Note that a value is of another kind; of what is missing nothing more is said."""
        if found is not MISSING:
            self.fault(path, f"must be {what}", show(found))

    def text(self, found: object, path: str) -> str:
        """Take a text of more than white space."""
        if isinstance(found, str) and found.strip():
            return found
        self.must_be("a text of more than white space", path, found)
        return ""

    def flag(self, found: object, path: str) -> bool:
        """Take true or false."""
        if not isinstance(found, bool):
            self.must_be("true or false", path, found)
        return found is True

    def whole(self, found: object, path: str) -> int:
        """Take a whole number, zero or more."""
        if isinstance(found, int) and not isinstance(found, bool) and found >= 0:
            return found
        self.must_be("a whole number, zero or more", path, found)
        return 0

    def real(self, found: object, path: str) -> float | int | None:
        """Take a number or null. What no 64-bit float holds is a fault."""
        if isinstance(found, int | float) and not isinstance(found, bool):
            return found
        if found is not None:
            self.must_be("a number or null", path, found)
        return None

    def share(self, found: object, path: str) -> float | None:
        """Take a number from 0 to 1, or null."""
        value = self.real(found, path)
        if value is not None and not 0 <= value <= 1:
            self.must_be("a number from 0 to 1, or null", path, found)
            return None
        return value

    def mapping(self, found: object, path: str) -> Mapping[str, Any]:
        """Take an object."""
        if isinstance(found, dict):
            return found
        self.must_be("an object", path, found)
        return {}

    def array(self, found: object, path: str) -> list[Any]:
        """Take a list."""
        if isinstance(found, list):
            return found
        self.must_be("a list", path, found)
        return []


def taking(rule: str) -> Fields:
    """Return what takes fields; a fault breaks this rule."""
    return Fields(rule)


def step(path: str, key: str) -> str:
    """Go one key further along a path; a key that is no plain word is cut short and quoted.

    >>> step("by_family", "clinic"), step("by_family", "a b")
    ('by_family.clinic', 'by_family["a b"]')
    """
    return f"{path}.{key}" if _PLAIN_KEY.fullmatch(key) else f"{path}[{show(key)}]"


def scalars(found: Mapping[str, Any], lead: str = "") -> list[tuple[str, str]]:
    """Return the texts, numbers and flags of an object, and of objects in it, each with its name.

    >>> scalars({"run": {"commit": "abc", "cache": {"hits": 3}, "python": None}, "list": [1]})
    [('run commit', 'abc'), ('run cache hits', '3'), ('run python', 'not recorded')]
    """
    facts: list[tuple[str, str]] = []
    for key, value in found.items():
        name = f"{lead}{key.replace('_', ' ')}"
        if isinstance(value, dict) and lead.count(" ") < 2:
            facts += scalars(value, f"{name} ")
        elif value is None:
            facts.append((name, "not recorded"))
        elif isinstance(value, Beyond):
            facts.append((name, value.text))
        elif isinstance(value, bool):
            facts.append((name, "yes" if value else "no"))
        elif isinstance(value, str | int | float):
            facts.append((name, str(value)))
    return facts
