"""The exact reader: one record in, its fields or every rule that it breaks. It is the definition of a valid record.

The fast paths (``certify``, ``typed``) may only accept what this reader accepts, with the same values; whatever they
do not accept comes here, and only this module words what is wrong with a record.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

from evalkit.contracts.contract import Contract
from evalkit.errors import Refusal, Violation
from evalkit.records import rules
from evalkit.records.strict_json import decode, parse_sound, parse_text, show


class Record(NamedTuple):
    """A valid record. Prediction and confidence are None when the candidate offered nothing."""

    model: str
    subject: str
    split: str
    truth: int | str
    predicted: int | str | None
    confidence: float | None
    scalars: tuple[str | None, ...] = ()


def read_line(raw: bytes, contract: Contract) -> Record | tuple[Violation, ...] | None:
    r"""Read one line, without its ``\n``: a record, the rules it breaks, or None for a blank line.

    >>> read_line(b'{"model":"m","subjectKey":"cd00000000000001","split":"validation","truth":{"bristolType":4},'
    ...           b'"prediction":{"bristolType":4,"confidence":0.97}}', Contract())[2:6]
    ('validation', 4, 4, 0.97)
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
    found = read_document(document, contract)
    violations = () if isinstance(found, Record) else found
    subject = contract.fields.subject
    twice = {show(name) for name in names(subject)}
    if any(one.field == subject for one in violations) or any(one.value in twice for one in structural):
        # What stands in place of a key may be a name or an address, down to the keys of an object.
        structural = [one if one.value in twice else replace(one, value=None) for one in structural]
    return (*structural, *violations) or found


def read_document(document: Mapping[str, Any], contract: Contract) -> Record | tuple[Violation, ...]:
    """Take the contract's fields out of a parsed record: they, or the rules that they break."""
    fields = contract.fields
    taker = _Taker(document, fields.subject)
    model = taker.take(fields.model, rules.judge_model)
    subject = taker.take(fields.subject, lambda value: rules.judge_subject(value, contract))
    split = taker.take(fields.split, rules.judge_split)
    truth = taker.take(fields.truth, lambda value: rules.judge_label(value, "truth", contract))
    predicted, confidence = _take_prediction(taker, contract)
    scalars = tuple(rules.scalar_text(taker.take_scalar(path)) for path in contract.scalars)
    record = Record(model, subject, split, truth, predicted, _positive(confidence), scalars)
    return tuple(taker.faults) or record


def _take_prediction(taker: _Taker, contract: Contract) -> tuple[Any, Any]:
    fields = contract.fields

    def judge_predicted(value: object) -> Violation | None:
        return rules.judge_label(value, "predicted", contract)

    if fields.prediction is not None:
        if taker.take(fields.prediction, rules.judge_prediction) is None:
            return None, None
        return taker.take(fields.predicted, judge_predicted), taker.take(fields.confidence, rules.judge_confidence)
    faults = len(taker.faults)
    predicted = taker.take(fields.predicted, lambda value: None if value is None else judge_predicted(value))
    confidence = taker.take(fields.confidence, lambda value: None if value is None else rules.judge_confidence(value))
    if len(taker.faults) == faults and (predicted is None) != (confidence is None):
        missing = fields.predicted if predicted is None else fields.confidence
        taker.faults.append(replace(rules.HALF_OFFERED, field=missing, value="null"))
    return predicted, confidence


def _valid_record(document: Any, contract: Contract) -> Record | None:
    """Take the fields of a record that breaks no rule, on a straight way; None where something stands in it."""
    fields = contract.fields
    try:
        model, subject = _find(document, fields.model), _find(document, fields.subject)
        split, truth = _find(document, fields.split), _find(document, fields.truth)
        predicted = confidence = None
        valid = rules.is_model(model) and rules.is_subject(subject, contract) and rules.is_split(split)
        valid = valid and rules.is_label(truth, contract)
        if fields.prediction is None or _find(document, fields.prediction) is not None:
            predicted, confidence = _find(document, fields.predicted), _find(document, fields.confidence)
            nothing = fields.prediction is None and predicted is None and confidence is None
            valid = valid and (nothing or (rules.is_label(predicted, contract) and rules.is_confidence(confidence)))
        scalars = _find_scalars(document, contract.scalars) if contract.scalars else ()
    except (KeyError, TypeError):
        return None
    return Record(model, subject, split, truth, predicted, _positive(confidence), scalars) if valid else None


def _find(document: Any, path: str) -> Any:
    for name in names(path):
        document = document[name]
    return document


def _find_scalars(document: Any, paths: tuple[str, ...]) -> tuple[str | None, ...]:
    """Return the texts of scalars; a ``TypeError`` where one might break a rule."""
    found = []
    for path in paths:
        value = document
        for name in names(path):
            value = None if value is None else dict.get(value, name)
        if not (value is None or type(value) is bool or (type(value) is str and "\0" not in value)):
            raise TypeError  # a number has more spellings than one; it is rare, and the long way knows them
        found.append(rules.scalar_text(value))
    return tuple(found)


def _positive(confidence: float | None) -> float | None:
    return None if confidence is None else float(confidence) + 0.0  # turns -0.0 into 0.0


class _Taker:
    """Takes values out of a document and notes what is wrong with them; of the secret path no value is shown."""

    def __init__(self, document: Mapping[str, Any], secret: str) -> None:
        self._document = document
        self._secret = secret
        self.faults: list[Violation] = []

    def take(self, path: str, judge: rules.Judge) -> Any:
        """Return the value at a path, or None where it is missing or breaks a rule."""
        found = _lookup(self._document, path)
        if not isinstance(found, Violation):
            fault = judge(found)
            if fault is None:
                return found
            found = replace(fault, field=path)
        self._note(found)
        return None

    def take_scalar(self, path: str) -> Any:
        """Return the scalar at a path, or None where it is absent, null or breaks a rule."""
        found = _lookup(self._document, path)
        if isinstance(found, Violation):
            if found.rule == "object" and found.value != "null":
                self._note(found)
            return None
        fault = rules.judge_scalar(found)
        if fault is not None:
            self._note(replace(fault, field=path))
            return None
        return found

    def _note(self, fault: Violation) -> None:
        if fault.rule == "object" and self._secret.startswith(f"{fault.field}."):
            fault = replace(fault, value=None)
        if fault not in self.faults:
            self.faults.append(fault)


def _lookup(document: Mapping[str, Any], path: str) -> Any:
    """Return the value at a dotted path, or what stands in the way."""
    value: Any = document
    way = names(path)
    for depth, name in enumerate(way):
        if not isinstance(value, Mapping):
            return Violation("object", "must be an object", field=".".join(way[:depth]), value=show(value))
        if name not in value:
            return Violation("missing-field", "is missing", field=".".join(way[: depth + 1]))
        value = value[name]
    return value


@cache
def names(path: str) -> tuple[str, ...]:
    """Return the names that a dotted path leads through."""
    return tuple(path.split("."))
