"""Canonical JSON (RFC 8785) of what was validated, and its SHA-256, fed list by list, so that no list is held whole.

Observations hold texts, truth values, null and whole numbers below 2**53: of these the standard library's encoder
writes what RFC 8785 asks for, once keys are in the order of their UTF-16 units.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from evalkit.families.observations.cases import Case, Family

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def canonical(value: Any) -> str:
    r"""Write a value.

    >>> canonical({"\ufb01": 1, "😀": True, "a": "é\n"})
    '{"a":"é\\n","😀":true,"ﬁ":1}'
    """
    return _ENCODER.encode(_ordered(value))


def canonical_case(case: Case, family: Family) -> str:
    """Write a valid case of a family, whose keys are ASCII."""
    return _ENCODER.encode({name: case[name] for name in family.written if name in case})


def _ordered(value: Any) -> Any:
    if isinstance(value, Mapping):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return {key: _ordered(value[key]) for key in keys}
    return [_ordered(member) for member in value] if isinstance(value, list | tuple) else value


class Digest:
    """The SHA-256 of a document whose members come one by one, in the order of their keys."""

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256(b"{")
        self._members = 0
        self._elements = 0

    def value(self, name: str, value: Any) -> None:
        """Add a member."""
        self._begin(name)
        self._sha256.update(canonical(value).encode("utf-8"))

    def open_list(self, name: str) -> None:
        """Begin a list."""
        self._begin(name)
        self._sha256.update(b"[")
        self._elements = 0

    def cases(self, part: bytes) -> None:
        """Add some elements of the list, parted by commas, or none."""
        if part:
            self._sha256.update(b"," if self._elements else b"")
            self._sha256.update(part)
            self._elements += 1

    def close_list(self) -> None:
        """End the list."""
        self._sha256.update(b"]")

    def hexdigest(self) -> str:
        """Return the digest, once all members were added."""
        whole = self._sha256.copy()
        whole.update(b"}")
        return whole.hexdigest()

    def _begin(self, name: str) -> None:
        self._sha256.update(b"," if self._members else b"")
        self._sha256.update(canonical(name).encode("utf-8") + b":")
        self._members += 1
