"""The exact reader: one line in, a record or every rule that the line breaks. It is the definition of a valid line.

The fast path (``grammar``, ``certify``) may only accept what this reader accepts, with the same values; whatever it
does not accept comes here, and only this module words what is wrong with a line.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, NamedTuple

from evalkit.contract import SPLITS, Contract
from evalkit.errors import Refusal, Violation

MAX_LINE = 64 * 1024 * 1024
"""Longest line in bytes. A dump without line ends would else be read into memory whole."""

MAX_DEPTH = 128
"""Deepest nesting of objects and arrays in a line."""

_SHOWN_CHARACTERS = 40
_SUBJECT = re.compile("[0-9a-f]{16}")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}]', re.DOTALL)
_SURROGATE_ESCAPE = re.compile(r"\\u[dD][89a-fA-F]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Record(NamedTuple):
    """A valid record. Prediction and confidence are None when the candidate offered nothing."""

    model: str
    subject: str
    split: str
    truth: int
    predicted: int | None
    confidence: float | None


@dataclass(frozen=True, slots=True)
class Beyond:
    """A JSON number that no 64-bit float holds, as it was written."""

    text: str


def read_line(raw: bytes, contract: Contract) -> Record | tuple[Violation, ...] | None:
    r"""Read one line, without its ``\n``: a record, the rules it breaks, or None for a blank line.

    >>> read_line(b'{"model":"m","subjectKey":"cd00000000000001","split":"validation","truth":{"bristolType":4},'
    ...           b'"prediction":{"bristolType":4,"confidence":0.97}}', Contract())
    Record(model='m', subject='cd00000000000001', split='validation', truth=4, predicted=4, confidence=0.97)
    >>> [str(fault) for fault in read_line(b"null", Contract())]
    ['must be one JSON object; found null [json]']
    """
    if not raw.strip(b" \t\r"):
        return None
    try:
        document, structural = parse_object(raw)
    except Refusal as refusal:
        return refusal.violations
    record, violations = _read_fields(document, contract)
    if any(violation.field == contract.fields.subject for violation in violations):
        # What stands in place of a key may be a name or an address, down to the keys of an object.
        structural = [replace(violation, value=None) for violation in structural]
    return (*structural, *violations) or record


def parse_object(raw: bytes) -> tuple[dict[str, Any], list[Violation]]:
    """Parse a text as one JSON object and report what its keys and texts break at any level.

    Raises:
        Refusal: It is no JSON object in UTF-8, or one too long or too deep to look into.
    """
    text = _decode(raw)
    _check_depth(text)
    violations: list[Violation] = []
    value = _parse(text, violations)
    if not isinstance(value, dict):
        raise Refusal.of(Violation("json", "must be one JSON object", value=_kind(value)))
    if _SURROGATE_ESCAPE.search(text) and any(_SURROGATE.search(found) for found in _texts(value)):
        violations.append(Violation("surrogate", "no text may hold half of a surrogate pair"))
    return value, violations


def _parse(text: str, violations: list[Violation]) -> Any:
    """Parse JSON strictly; what its keys break is added to the violations."""
    try:
        if "\\u0000" not in text:
            try:
                return _DECODER.decode(text)
            except _DuplicateKeyError:
                pass  # once more, with an ear for every key
        return _decoder(lambda pairs: _members(pairs, violations)).decode(text)
    except json.JSONDecodeError as error:
        place = f"the line is broken at character {error.pos + 1} of {len(text)}"
        raise Refusal.of(Violation("json", f"must be one JSON object; {place}")) from None
    except _ConstantError as constant:
        message = "must be one JSON object; JSON has no such number"
        raise Refusal.of(Violation("json", message, value=str(constant))) from None


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
        text = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)
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


def _decoder(members: Callable[[list[tuple[str, Any]]], dict[str, Any]]) -> json.JSONDecoder:
    return json.JSONDecoder(
        object_pairs_hook=members, parse_constant=_refuse_constant, parse_float=_float, parse_int=_int
    )


def _distinct_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise _DuplicateKeyError
    return members


_DECODER = _decoder(_distinct_members)


def _members(pairs: list[tuple[str, Any]], violations: list[Violation]) -> dict[str, Any]:
    """Take the first of each key, and note what is wrong with the keys."""
    keys = [key for key, _ in pairs]
    for key in dict.fromkeys(keys):
        if keys.count(key) > 1:
            violations.append(Violation("duplicate-key", "no key may stand twice in one object", value=show(key)))
        if "\0" in key:
            violations.append(Violation("nul", "no key may hold the character U+0000", value=show(key)))
    return dict(reversed(pairs))


def _decode(raw: bytes) -> str:
    if len(raw) > MAX_LINE:
        limit = f"{MAX_LINE // (1024 * 1024)} MiB"
        raise Refusal.of(
            Violation("line-too-long", f"no line may be longer than {limit}; end each record with a newline")
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
    return text


def _check_depth(text: str) -> None:
    if text.count("{") + text.count("[") <= MAX_DEPTH:
        return
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += {"{": 1, "[": 1, "}": -1, "]": -1}.get(token[0], 0)
        if depth > MAX_DEPTH:
            raise Refusal.of(Violation("nesting", f"objects and arrays may be nested {MAX_DEPTH} deep"))


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


def _read_fields(document: dict[str, Any], contract: Contract) -> tuple[Record, list[Violation]]:
    """Take the contract's fields out of a parsed line; the record counts only if nothing is violated."""
    fields = contract.fields
    taker = _Taker(document, fields.subject)
    model = taker.take(fields.model, _judge_model)
    subject = taker.take(fields.subject, _judge_subject)
    split = taker.take(fields.split, _judge_split)
    truth = taker.take(fields.truth, lambda value: _judge_label(value, "truth", contract))
    predicted = confidence = None
    if taker.take(fields.prediction, _judge_prediction) is not None:
        predicted = taker.take(fields.predicted, lambda value: _judge_label(value, "predicted", contract))
        confidence = taker.take(fields.confidence, _judge_confidence)
    if confidence is not None:
        confidence = float(confidence) + 0.0  # turns -0.0 into 0.0
    return Record(model, subject, split, truth, predicted, confidence), taker.faults


class _Taker:
    """Takes values out of a document and notes what is wrong with them; of the secret path no value is shown."""

    def __init__(self, document: dict[str, Any], secret: str) -> None:
        self._document = document
        self.secret = secret
        self.faults: list[Violation] = []

    def take(self, path: str, judge: Callable[[Any], Violation | None]) -> Any:
        """Return the value at a path, or None where it is missing or breaks a rule."""
        found = _lookup(self._document, path)
        if not isinstance(found, Violation):
            fault = judge(found)
            if fault is None:
                return found
            found = replace(fault, field=path)
        elif self.secret == path and found.rule == "object":
            found = replace(found, value=None)
        if found not in self.faults:
            self.faults.append(found)
        return None


def _lookup(document: dict[str, Any], path: str) -> Any:
    """Return the value at a dotted path, or what stands in the way."""
    value: Any = document
    names = _names(path)
    for depth, name in enumerate(names):
        if not isinstance(value, dict):
            return Violation("object", "must be an object", field=".".join(names[:depth]), value=show(value))
        if name not in value:
            return Violation("missing-field", "is missing", field=".".join(names[: depth + 1]))
        value = value[name]
    return value


@cache
def _names(path: str) -> tuple[str, ...]:
    return tuple(path.split("."))


def _judge_model(value: object) -> Violation | None:
    if not isinstance(value, str):
        return Violation("model", "must be a text", value=show(value))
    if not value.strip():
        return Violation("model", "must hold more than white space", value=show(value))
    if "\0" in value:
        return Violation("nul", "no name may hold the character U+0000", value=show(value))
    return None


def _judge_subject(value: object) -> Violation | None:
    if isinstance(value, str) and _SUBJECT.fullmatch(value):
        return None
    return Violation("subject-key", "must be exactly 16 lower-case hexadecimal digits", value=_kind(value))


def _kind(value: object) -> str:
    """Tell a value that may be a name or an address only by its kind and length."""
    if isinstance(value, str):
        return f"a text of {len(value)} characters"
    if isinstance(value, int | float | Beyond) and not isinstance(value, bool):
        return "a number"
    return show(value)


def _judge_split(value: object) -> Violation | None:
    if isinstance(value, str) and value in SPLITS:
        return None
    return Violation("split", "must be train, validation or test", value=show(value))


def _judge_label(value: object, rule: str, contract: Contract) -> Violation | None:
    if type(value) is int and value in contract.labels:
        return None
    low, high = contract.labels[0], contract.labels[-1]
    message = f"must be a whole number from {low} to {high}, written without fraction, exponent or quotes"
    return Violation(rule, message, value=show(value))


def _judge_prediction(value: object) -> Violation | None:
    if value is None or isinstance(value, dict):
        return None
    return Violation("prediction", "must be an object, or null when nothing was offered", value=show(value))


def _judge_confidence(value: object) -> Violation | None:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1:
        return None
    return Violation("confidence", "must be a number from 0 to 1", value=show(value))
