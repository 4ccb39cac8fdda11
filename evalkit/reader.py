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
from evalkit.strict_json import kind_of, parse_object, show

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
    if not raw.strip(b" \t\r"):
        return None
    try:
        document, structural = parse_object(raw)
    except Refusal as refusal:
        return refusal.violations
    record, violations = _read_fields(document, contract)
    subject = contract.fields.subject
    twice = {show(name) for name in _names(subject)}
    if any(one.field == subject for one in violations) or any(one.value in twice for one in structural):
        # What stands in place of a key may be a name or an address, down to the keys of an object.
        structural = [one if one.value in twice else replace(one, value=None) for one in structural]
    return (*structural, *violations) or record


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
        elif found.rule == "object" and self.secret.startswith(f"{found.field}."):
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
    return Violation("subject-key", "must be exactly 16 lower-case hexadecimal digits", value=kind_of(value))


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
