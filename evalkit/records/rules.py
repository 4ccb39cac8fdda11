"""What each field of a record must hold: for every rule a quick test, and words for a value that breaks it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable

from evalkit.contracts.contract import SPLITS, Contract
from evalkit.errors import Violation
from evalkit.records.strict_json import Beyond, kind_of, show

Judge = Callable[[object], Violation | None]
"""Says what is wrong with a value, or None."""


def is_model(value: object) -> bool:
    """Tell whether a value may name a model."""
    return is_name(value)


def is_name(value: object) -> bool:
    """Tell whether a value is a text that is not blank and holds no U+0000."""
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value


def judge_model(value: object) -> Violation | None:
    """Judge the name of a model."""
    if is_model(value):
        return None
    if not isinstance(value, str):
        return Violation("model", "must be a text", value=show(value))
    if not value.strip():
        return Violation("model", "must hold more than white space", value=show(value))
    return _nul(value)


def _nul(value: str) -> Violation:
    return Violation("nul", "no name may hold the character U+0000", value=show(value))


def is_subject(value: object, contract: Contract) -> bool:
    """Tell whether a value is a subject key: digits where it derives the split, else any text that is not blank."""
    if contract.key_pattern is None:
        return is_name(value)
    return isinstance(value, str) and contract.key_pattern.fullmatch(value) is not None


def judge_subject(value: object, contract: Contract) -> Violation | None:
    """Judge a subject key. What breaks the rule may be a name or an address: it is never shown."""
    if is_subject(value, contract):
        return None
    if contract.split_rule is None:
        message = "must be a text that is not blank, without the character U+0000"
    else:
        message = f"must be exactly {contract.split_rule.key_digits} lower-case hexadecimal digits"
    return Violation("subject-key", message, value=kind_of(value))


def is_split(value: object) -> bool:
    """Tell whether a value names a split."""
    return isinstance(value, str) and value in SPLITS


def judge_split(value: object) -> Violation | None:
    """Judge the name of a split."""
    if is_split(value):
        return None
    return Violation("split", "must be train, validation or test", value=show(value))


def is_label(value: object, contract: Contract) -> bool:
    """Tell whether a value is a label. A whole number is no truth value and no number with a fraction."""
    return type(value) is contract.label_kind and value in contract.label_set


def judge_label(value: object, rule: str, contract: Contract) -> Violation | None:
    """Judge a label; the rule says which of the two."""
    if is_label(value, contract):
        return None
    low, high = contract.labels[0], contract.labels[-1]
    if contract.label_kind is int:
        message = f"must be a whole number from {low} to {high}, written without fraction, exponent or quotes"
    elif len(listed := ", ".join(contract.label_texts)) <= _LISTED:
        message = f"must be one of {listed}"
    else:
        message = f"must be one of the contract's {len(contract.labels):,} labels"
    return Violation(rule, message, value=show(value))


def judge_prediction(value: object) -> Violation | None:
    """Judge what stands where label and confidence are offered."""
    if value is None or isinstance(value, dict):
        return None
    return Violation("prediction", "must be an object, or null when nothing was offered", value=show(value))


def is_confidence(value: object) -> bool:
    """Tell whether a value is a number from 0 to 1."""
    return type(value) in (float, int) and 0 <= value <= 1  # type: ignore[operator]


def judge_confidence(value: object) -> Violation | None:
    """Judge a confidence."""
    if is_confidence(value):
        return None
    return Violation("confidence", "must be a number from 0 to 1", value=show(value))


_LISTED = 200
"""Most characters in which a message lists all labels."""

HALF_OFFERED = Violation("prediction", "label and confidence must both be given, or both be null")


def scalar_text(value: object) -> str | None:
    """Return a scalar as the text that it counts as: its JSON text where it is none.

    >>> scalar_text("night"), scalar_text(1.50), scalar_text(True)
    ('night', '1.5', 'true')
    """
    if value is None or isinstance(value, str):
        return value
    return value.text if isinstance(value, Beyond) else json.dumps(value)


def judge_scalar(value: object) -> Violation | None:
    """Judge what a stratum or a quality is read from."""
    if isinstance(value, dict | list):
        return Violation("scalar", "must be a text, a number, true, false or null", value=show(value))
    if isinstance(value, float) and not math.isfinite(value):  # only a table has such a number
        return Violation("scalar", "must be a finite number, a text, true, false or null", value=str(value))
    return _nul(value) if isinstance(value, str) and "\0" in value else None
