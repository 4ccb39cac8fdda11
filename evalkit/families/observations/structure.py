"""Where in a document a key stands twice, or a text or number is none: in which case of which list.

A document that breaks a rule of JSON itself is parsed once more, with nothing thrown away, so that each fault can be
said at its place.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from evalkit.errors import Violation
from evalkit.records.strict_json import Beyond, parse_text, show

_SURROGATE = re.compile("[\ud800-\udfff]")
_CONSTANTS = ("NaN", "Infinity", "-Infinity")


class Flawed(NamedTuple):
    """A parsed value, and what its keys, texts and numbers break at any level."""

    value: Any
    faults: tuple[Violation, ...]


class _Object(NamedTuple):
    """An object with every member, also those whose key stands twice."""

    pairs: list[tuple[str, Any]]


def parse_flawed(text: str, lists: tuple[str, ...]) -> tuple[dict[str, Any], list[Violation]]:
    """Parse a document that is not sound.

    Args:
        text: The document.
        lists: The members whose elements are told apart: an element that breaks a rule becomes ``Flawed``.

    Returns:
        The document, of each key the first member; and what is wrong outside of the lists, by member.

    Raises:
        Refusal: It is no JSON object.
    """
    try:
        found = _DECODER.decode(text)
    except json.JSONDecodeError:
        found = None
    if not isinstance(found, _Object):
        return parse_text(text)  # which says what it is instead
    faults = [*_own(found), *(fault for name, member in found.pairs for fault in _outside(name, member, lists))]
    members = {
        name: [_flawed(one) for one in member] if name in lists and isinstance(member, list) else _plain(member)
        for name, member in reversed(found.pairs)
    }
    return members, faults


def parse_case(text: str) -> tuple[Any, tuple[Violation, ...]]:
    """Parse one case that is not sound, as those of a document are.

    Returns:
        The case, of each key the first member; and what its keys, texts and numbers break.

    Raises:
        Refusal: It is no JSON object.

    >>> case, faults = parse_case('{"case_id": "1", "output": NaN}')
    >>> case["case_id"], *map(str, faults)
    ('1', 'must be JSON, which has no such number; found NaN [json]')
    """
    try:
        found = _DECODER.decode(text)
    except json.JSONDecodeError:
        found = None
    if not isinstance(found, _Object):
        value, faults = parse_text(text)  # which says what it is instead
        return value, tuple(faults)
    return _plain(found), tuple(dict.fromkeys(_faults(found)))


def _outside(name: str, member: Any, lists: tuple[str, ...]) -> Iterator[Violation]:
    if _SURROGATE.search(name):
        yield _half()
    if name not in lists or not isinstance(member, list):
        yield from (_at(fault, name) for fault in dict.fromkeys(_faults(member)))


def _at(fault: Violation, name: str) -> Violation:
    return Violation(fault.rule, fault.message, field=name, value=fault.value)


def _flawed(value: Any) -> Any:
    faults = tuple(dict.fromkeys(_faults(value)))
    return Flawed(_plain(value), faults) if faults else _plain(value)


def _faults(value: Any) -> Iterator[Violation]:
    if isinstance(value, _Object):
        yield from _own(value)
        for key, member in value.pairs:
            if _SURROGATE.search(key):
                yield _half()
            yield from _faults(member)
    elif isinstance(value, list):
        for member in value:
            yield from _faults(member)
    elif isinstance(value, str) and _SURROGATE.search(value):
        yield _half()
    elif isinstance(value, Beyond) and value.text in _CONSTANTS:
        yield Violation("json", "must be JSON, which has no such number", value=value.text)


def _own(value: _Object) -> Iterator[Violation]:
    for key, times in Counter(key for key, _ in value.pairs).items():
        if times > 1:
            yield Violation("duplicate-key", "no key may stand twice in one object", value=show(key))
        if "\0" in key:
            yield Violation("nul", "no key may hold the character U+0000", value=show(key))


def _half() -> Violation:
    return Violation("surrogate", "no text may hold half of a surrogate pair")


def _plain(value: Any) -> Any:
    if isinstance(value, _Object):
        return {key: _plain(member) for key, member in reversed(value.pairs)}
    return [_plain(member) for member in value] if isinstance(value, list) else value


def _int(text: str) -> int | Beyond:
    return int(text) if len(text) < 20 else Beyond(text)


_DECODER = json.JSONDecoder(object_pairs_hook=_Object, parse_int=_int, parse_float=Beyond, parse_constant=Beyond)
"""Keeps numbers as they were written: no rule here takes one with a fraction."""
