"""The exact reader: one line in, a record or every rule that the line breaks. It is the definition of a valid line.

The fast path (``grammar``, ``certify``) may only accept what this reader accepts, with the same values; whatever it
does not accept comes here, and only this module words what is wrong with a record.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from evalkit.contract import SPLITS, Contract
from evalkit.errors import Refusal, Violation
from evalkit.strict_json import decode, kind_of, parse_sound, parse_text, show

_SUBJECT = re.compile("[0-9a-f]{16}")


class Record(NamedTuple):
    """A valid record. Prediction and confidence are None when the candidate offered nothing."""

    model: str
    subject: str
    split: str
    truth: int
    predicted: int | None
    confidence: float | None


def read_line(raw: bytes, contract: Contract) -> Record | tuple[Violation, ...] | None:
    r"""Read one line, without its ``\n``: a record, the rules it breaks, or None for a blank line.

    >>> read_line(b'{"model":"m","subjectKey":"cd00000000000001","split":"validation","truth":{"bristolType":4},'
    ...           b'"prediction":{"bristolType":4,"confidence":0.97}}', Contract())
    Record(model='m', subject='cd00000000000001', split='validation', truth=4, predicted=4, confidence=0.97)
    >>> [str(fault) for fault in read_line(b"null", Contract())]
    ['must be one JSON object; found null [json]']
    """
    raw = raw.removesuffix(b"\r")
    if not raw.strip(b" \t\r"):
        return None
    try:
        text = decode(raw)
        if (record := _valid_record(parse_sound(text), contract)) is not None:
            return record
        document, structural = parse_text(text)
    except Refusal as refusal:
        return refusal.violations
    record, violations = _read_fields(document, contract)
    subject = contract.fields.subject
    twice = {show(name) for name in _names(subject)}
    if any(one.field == subject for one in violations) or any(one.value in twice for one in structural):
        # What stands in place of a key may be a name or an address, down to the keys of an object.
        structural = [one if one.value in twice else replace(one, value=None) for one in structural]
    return (*structural, *violations) or record


def _valid_record(document: Any, contract: Contract) -> Record | None:
    """Take the fields of a record that breaks no rule, on a straight way; None where something stands in it."""
    fields = contract.fields
    try:
        model, subject = _find(document, fields.model), _find(document, fields.subject)
        split, truth = _find(document, fields.split), _find(document, fields.truth)
        predicted = confidence = None
        valid = is_model(model) and _is_subject(subject) and _is_split(split) and _is_label(truth, contract)
        if _find(document, fields.prediction) is not None:
            predicted, confidence = _find(document, fields.predicted), _find(document, fields.confidence)
            valid = valid and _is_label(predicted, contract) and _is_confidence(confidence)
    except (KeyError, TypeError):
        return None
    return Record(model, subject, split, truth, predicted, _positive(confidence)) if valid else None


def _find(document: Any, path: str) -> Any:
    for name in _names(path):
        document = document[name]
    return document


def _positive(confidence: float | None) -> float | None:
    return None if confidence is None else float(confidence) + 0.0  # turns -0.0 into 0.0


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
    return Record(model, subject, split, truth, predicted, _positive(confidence)), taker.faults


class _Taker:
    """Takes values out of a document and notes what is wrong with them; of the secret path no value is shown."""

    def __init__(self, document: dict[str, Any], secret: str) -> None:
        self._document = document
        self._secret = secret
        self.faults: list[Violation] = []

    def take(self, path: str, judge: Callable[[Any], Violation | None]) -> Any:
        """Return the value at a path, or None where it is missing or breaks a rule."""
        found = _lookup(self._document, path)
        if not isinstance(found, Violation):
            fault = judge(found)
            if fault is None:
                return found
            found = replace(fault, field=path)
        elif found.rule == "object" and self._secret.startswith(f"{found.field}."):
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


def is_model(value: object) -> bool:
    """Tell whether a value may name a model."""
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value


def _judge_model(value: object) -> Violation | None:
    if is_model(value):
        return None
    if not isinstance(value, str):
        return Violation("model", "must be a text", value=show(value))
    if not value.strip():
        return Violation("model", "must hold more than white space", value=show(value))
    return Violation("nul", "no name may hold the character U+0000", value=show(value))


def _is_subject(value: object) -> bool:
    return isinstance(value, str) and _SUBJECT.fullmatch(value) is not None


def _judge_subject(value: object) -> Violation | None:
    if _is_subject(value):
        return None
    return Violation("subject-key", "must be exactly 16 lower-case hexadecimal digits", value=kind_of(value))


def _is_split(value: object) -> bool:
    return isinstance(value, str) and value in SPLITS


def _judge_split(value: object) -> Violation | None:
    if _is_split(value):
        return None
    return Violation("split", "must be train, validation or test", value=show(value))


def _is_label(value: object, contract: Contract) -> bool:
    return type(value) is int and value in contract.labels


def _judge_label(value: object, rule: str, contract: Contract) -> Violation | None:
    if _is_label(value, contract):
        return None
    low, high = contract.labels[0], contract.labels[-1]
    message = f"must be a whole number from {low} to {high}, written without fraction, exponent or quotes"
    return Violation(rule, message, value=show(value))


def _judge_prediction(value: object) -> Violation | None:
    if value is None or isinstance(value, dict):
        return None
    return Violation("prediction", "must be an object, or null when nothing was offered", value=show(value))


def _is_confidence(value: object) -> bool:
    return type(value) in (float, int) and 0 <= value <= 1  # type: ignore[operator]


def _judge_confidence(value: object) -> Violation | None:
    if _is_confidence(value):
        return None
    return Violation("confidence", "must be a number from 0 to 1", value=show(value))
