"""A contract in plain words: what a record holds, what is checked, what is asked, and a record that satisfies it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from evalkit.contracts.contract import BRISTOL, SPLITS, Contract
from evalkit.contracts.contract_notes import NOTES, hexadecimal
from evalkit.families.selective.metrics import GATED
from evalkit.records.reader import names
from evalkit.records.strict_json import show

_SHOWN_LABELS = 12


def contract_words(contract: Contract) -> list[str]:
    """Say what a contract means, line by line.

    >>> contract_words(Contract())[7:11]  # doctest: +NORMALIZE_WHITESPACE
    ['  A record that offers nothing has null in place of the object prediction.', '', 'Labels',
     '  7 whole numbers, from 1 to 7']
    """
    parts = {
        "Fields": _fields(contract),
        "Labels": _labels(contract),
        "Splits": _splits(contract),
        "Gates, on test, limits inclusive": _gates(contract),
        "Calibration": [f"{contract.bins} confidence bins of equal width{_changed(contract.bins, BRISTOL.bins)}"],
        "A record that satisfies it": [json.dumps(example(contract), ensure_ascii=False)],
    }
    lines: list[str] = []
    for title, words in parts.items():
        lines += ["", title, *(f"  {line}" for line in words)]
    return lines[1:]


def example(contract: Contract) -> dict[str, Any]:
    """Make a small record that satisfies a contract.

    >>> from evalkit.contracts.contract import Fields
    >>> fields = Fields("model", "person", "fold", "label", "guess", "score")
    >>> example(Contract(fields, labels=("cat", "dog"), split_rule=None))
    {'model': 'a', 'person': 'b', 'fold': 'test', 'label': 'cat', 'guess': 'cat', 'score': 0.97}
    """
    rule = contract.split_rule
    subject = "b" if rule is None else f"{rule.validation_below:02x}".ljust(rule.key_digits, "0")
    label = contract.labels[0]
    values = {"model": "a", "subject": subject, "split": "test", "truth": label, "predicted": label, "confidence": 0.97}
    document: dict[str, Any] = {}
    for field, path in asdict(contract.fields).items():
        place = document
        *outer, last = names(path)
        for name in outer:
            place = place.setdefault(name, {})
        place[last] = values[field]
    return document


def _fields(contract: Contract) -> Iterator[str]:
    paths = asdict(contract.fields)
    shown = {field: path if len(path) <= 40 else path[:40] + "…" for field, path in paths.items()}
    width = max(map(len, shown.values()))
    for field, path in shown.items():
        yield f"{field:<10}  {path:<{width}}  {NOTES[f'fields.{field}']}"
    parent, predicted, confidence = contract.fields.prediction, contract.fields.predicted, contract.fields.confidence
    gap = f"in place of the object {parent}" if parent else f"both as {predicted} and as {confidence}"
    yield f"A record that offers nothing has null {gap}."


def _labels(contract: Contract) -> Iterator[str]:
    labels = contract.labels
    if contract.label_kind is int:
        yield f"{_many(len(labels), 'whole number')}, from {labels[0]} to {labels[-1]}"
        return
    first = ", ".join(show(label) for label in labels[:_SHOWN_LABELS])
    rest = len(labels) - _SHOWN_LABELS
    yield f"{_many(len(labels), 'text')}: {first}{f' and {rest:,} more' if rest > 0 else ''}"


def _many(count: int, what: str) -> str:
    return f"1 {what}" if count == 1 else f"{count:,} {what}s"


def _splits(contract: Contract) -> Iterator[str]:
    rule, fields = contract.split_rule, contract.fields
    if rule is None:
        yield f"Each split is what {fields.split} says; {fields.subject} may be any text that is not blank."
        yield "Checked: no contributor is in two splits. Nothing else about splits can be."
        return
    yield f"The first two of the {rule.key_digits} lower-case hexadecimal digits of {fields.subject} give the split:"
    yield ", ".join(f"{hexadecimal(rule.bytes_of(split))} {split}" for split in SPLITS)
    yield "Checked: no contributor is in two splits, and each split is the one that the key gives."


def _gates(contract: Contract) -> Iterator[str]:
    width = max(len(gate.name) for gate in GATED)
    for gate in GATED:
        limit, usual = contract.limits[gate.name], BRISTOL.limits[gate.name]
        words = "at least" if gate.direction == "higher" else "at most"
        yield f"{gate.name:<{width}}  {words} {limit:f}{_changed(limit, usual)}"


def _changed(value: object, usual: object) -> str:
    return "" if value == usual else f" (the default is {usual})"
