"""Strict JSON: one object from one text, or a refusal; what Python's parser lets through is looked for.

Duplicate keys, halves of surrogate pairs, NaN, numbers that no float holds, invalid UTF-8, a byte-order mark, any
depth and any length: each has its rule, and none a traceback.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from evalkit.errors import Refusal, Violation, printable

MAX_LINE = 64 * 1024 * 1024
"""Longest line in bytes. A dump without line ends would else be read into memory whole."""

MAX_DEPTH = 128
"""Deepest nesting of objects and arrays in a line."""

_SHOWN_CHARACTERS = 40
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?$)|[\[\]{}]', re.DOTALL)
_SUSPECT_ESCAPE = re.compile(r"\\u(?:[dD][89a-fA-F]|0000)")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Beyond:
    """A JSON number that no 64-bit float holds, as it was written."""

    text: str


def parse_object(raw: bytes, limit: int | None = None) -> tuple[dict[str, Any], list[Violation]]:
    """Parse a text as one JSON object and report what its keys and texts break at any level.

    Raises:
        Refusal: It is no JSON object in UTF-8, or one too long or too deep to look into.
    """
    return parse_text(decode(raw, limit))


def parse_sound(text: str) -> Any:
    """Parse JSON that breaks no rule, on a straight way; None where it breaks one or might."""
    if "\\u" in text and _SUSPECT_ESCAPE.search(text):
        return None
    try:
        return _SOUND.decode(text)
    except (ValueError, _DuplicateKeyError, _ConstantError):
        return None


def parse_scalar(text: str) -> Any:
    """Parse the JSON text of a scalar, every number as it can be kept."""
    return _decoder([]).decode(text)


def parse_text(text: str) -> tuple[dict[str, Any], list[Violation]]:
    """Parse one JSON object; see ``parse_object``."""
    violations: list[Violation] = []
    try:
        value = _decoder(violations).decode(text)
    except json.JSONDecodeError as error:
        place = f"the line is broken at character {error.pos + 1} of {len(text)}"
        raise Refusal.of(Violation("json", f"must be one JSON object; {place}")) from None
    except _ConstantError as constant:
        message = "must be one JSON object; JSON has no such number"
        raise Refusal.of(Violation("json", message, value=str(constant))) from None
    if not isinstance(value, dict):
        raise Refusal.of(Violation("json", "must be one JSON object", value=kind_of(value)))
    if any(_SURROGATE.search(found) for found in _texts(value)):
        violations.append(Violation("surrogate", "no text may hold half of a surrogate pair"))
    return value, violations


def show(value: object) -> str:
    """Return a value as JSON text on one line, cut short.

    >>> show("a" * 60)
    '"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…'
    """
    if isinstance(value, Beyond):
        text = value.text
    elif isinstance(value, dict | list):
        kind = "object" if isinstance(value, dict) else "array"
        text = f"an {kind} of {len(value)}"
    else:
        cut = value[: _SHOWN_CHARACTERS + 1] if isinstance(value, str) else value
        text = json.dumps(cut, ensure_ascii=False)
        text = text.encode("utf-8", "backslashreplace").decode("utf-8")
        text = printable(text)
    return text if len(text) <= _SHOWN_CHARACTERS else text[:_SHOWN_CHARACTERS] + "…"


class _ConstantError(Exception):
    """NaN, Infinity or -Infinity, which Python's parser knows and JSON does not."""


class _DuplicateKeyError(Exception):
    """Some object has a key twice."""


def _refuse_constant(name: str) -> float:
    raise _ConstantError(name)


def _float(text: str) -> float | Beyond:
    value = float(text)
    return value if math.isfinite(value) else Beyond(text)


def _int(text: str) -> int | Beyond:
    # Python refuses to read thousands of digits; nothing here needs more than nineteen.
    return int(text) if len(text) < 20 else Beyond(text)


def _distinct_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _DuplicateKeyError
    return members


_SOUND = json.JSONDecoder(object_pairs_hook=_distinct_members, parse_constant=_refuse_constant)


def _decoder(violations: list[Violation]) -> json.JSONDecoder:
    """Make a parser that keeps every number and notes what is wrong with the keys."""
    return json.JSONDecoder(
        object_pairs_hook=lambda pairs: _members(pairs, violations),
        parse_constant=_refuse_constant,
        parse_float=_float,
        parse_int=_int,
    )


def _members(pairs: list[tuple[str, Any]], violations: list[Violation]) -> dict[str, Any]:
    """Take the first of each key, and note what is wrong with the keys."""
    for key, times in Counter(key for key, _ in pairs).items():
        if times > 1:
            violations.append(Violation("duplicate-key", "no key may stand twice in one object", value=show(key)))
        if "\0" in key:
            violations.append(Violation("nul", "no key may hold the character U+0000", value=show(key)))
    members: dict[str, Any] = {}
    for key, value in pairs:
        members.setdefault(key, value)
    return members


def decode(raw: bytes, limit: int | None = None) -> str:
    """Return the text of a line.

    Raises:
        Refusal: It is too long, not UTF-8, begins with a byte-order mark, or is nested too deep.
    """
    limit = MAX_LINE if limit is None else limit
    if len(raw) > limit:
        most = f"{limit // (1024 * 1024)} MiB"
        raise Refusal.of(
            Violation("line-too-long", f"no line may be longer than {most}; end each record with a newline")
        )
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = f"0x{raw[error.start]:02x}"
        raise Refusal.of(
            Violation("encoding", f"must be UTF-8; byte {error.start + 1} of the line is not", value=byte)
        ) from None
    if text.startswith("\ufeff"):
        raise Refusal.of(Violation("byte-order-mark", "a byte-order mark may stand only at the start of a file"))
    _check_depth(text)
    return text


def _check_depth(text: str) -> None:
    if text.count("{") + text.count("[") <= MAX_DEPTH:
        return
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
        if depth > MAX_DEPTH:
            raise Refusal.of(Violation("nesting", f"objects and arrays may be nested at most {MAX_DEPTH} deep"))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, member in value.items():
            yield key
            yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)


def kind_of(value: object) -> str:
    """Tell a value that may be a name or an address only by its kind and length."""
    if isinstance(value, str):
        return f"a text of length {len(value)}"
    if isinstance(value, int | float | Beyond) and not isinstance(value, bool):
        return "a number"
    return show(value)
