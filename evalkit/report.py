"""Reports as bytes: canonical JSON, so that the same numbers are the same file."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any


def document(value: Any) -> Any:
    """Turn dataclasses into plain data: field names in camelCase in their order, keys of mappings as they are.

    Fields whose metadata says ``{"report": False}`` are left out, and those that say ``{"optional": True}`` where they
    are None. A dataclass whose ``SNAKE_CASE`` is true keeps its
    field names, as the reports do whose schema is spelled so.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Row:
    ...     mean_confidence: float
    >>> document({"a_b": Row(0.5)})
    {'a_b': {'meanConfidence': 0.5}}
    """
    if (found := members(value)) is not None:
        return {key: document(member) for key, member in found.items()}
    return [document(member) for member in value] if is_list(value) else value


def members(value: Any) -> Mapping[str, Any] | None:
    """Return the members of what is an object in a report, by key; None for anything else."""
    if is_dataclass(value) and not isinstance(value, type):
        found = {key: getattr(value, name) for name, key in keys_of(type(value)).items()}
        absent = [key for key in optional_keys_of(type(value)) if found[key] is None]
        return {key: member for key, member in found.items() if key not in absent} if absent else found
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {camel(name): member for name, member in value._asdict().items()}
    return value if isinstance(value, Mapping) else None


@cache
def keys_of(kind: type) -> Mapping[str, str]:
    """Return the key in a report of each field of a dataclass."""
    spelled = str if getattr(kind, "SNAKE_CASE", False) else camel
    return {one.name: spelled(one.name) for one in fields(kind) if one.metadata.get("report", True)}


@cache
def optional_keys_of(kind: type) -> frozenset[str]:
    """Return the keys that a report has only where there is something to say."""
    keys = keys_of(kind)
    return frozenset(keys[one.name] for one in fields(kind) if one.metadata.get("optional"))


def is_list(value: Any) -> bool:
    """Tell whether a value is an array in a report."""
    return isinstance(value, Sequence) and not isinstance(value, str)


@cache
def camel(name: str) -> str:
    """Spell a name as reports do.

    >>> camel("precision_at_coverage"), camel("macro_f1")
    ('precisionAtCoverage', 'macroF1')
    """
    return re.sub("_([a-z0-9])", lambda match: match[1].upper(), name)


def snake(name: str) -> str:
    """Spell a name as tables do.

    >>> snake("precisionAtCoverage"), snake("macroF1")
    ('precision_at_coverage', 'macro_f1')
    """
    return re.sub("(?<=[a-z0-9])([A-Z])", lambda match: "_" + match[1].lower(), name)


def canonical(value: Any) -> bytes:
    r"""Write a report, or plain data, as strict JSON in UTF-8: keys in their order, two spaces, a newline at the end.

    Raises:
        ValueError: A number is NaN or infinite.

    >>> canonical({"ece": None})
    b'{\n  "ece": null\n}\n'
    """
    return b"".join(written(value))


def written(value: Any) -> Iterator[bytes]:
    """Write canonical JSON piece by piece, so that what a report makes when it is looked at is never there whole."""
    held: list[str] = []
    for piece in _pieces(value, "\n"):
        held.append(piece)
        if len(held) == _PIECES:
            yield "".join(held).encode("utf-8")
            held.clear()
    yield ("".join(held) + "\n").encode("utf-8")


_PIECES = 10_000
"""Pieces of JSON that are put together at a time."""


def _pieces(value: Any, line: str) -> Iterator[str]:
    """Write a value whose lines begin with ``line``."""
    if (found := members(value)) is not None:
        yield from _joined("{}", ((f"{_scalar(key)}: ", member) for key, member in found.items()), line)
    elif is_list(value):
        yield from _joined("[]", (("", member) for member in value), line)
    else:
        yield _scalar(value)


def _joined(brackets: str, members: Iterator[tuple[str, Any]], line: str) -> Iterator[str]:
    inner = line + "  "
    lead = brackets[0] + inner
    for prefix, member in members:
        yield lead + prefix
        yield from _pieces(member, inner)
        lead = "," + inner
    yield brackets if lead[0] == brackets[0] else line + brackets[1]


def _scalar(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
