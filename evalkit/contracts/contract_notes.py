"""What is said of each setting of a contract: beside it in TOML, and in words."""

from __future__ import annotations

from collections.abc import Mapping

from evalkit.contracts.contract import SPLITS, SplitRule
from evalkit.families.selective.metrics import GATED

NOTES: Mapping[str, str] = {
    "bins": "confidence bins of equal width",
    "fields": "Where each thing stands in a record, as dotted paths.",
    "fields.model": "the candidate's name",
    "fields.subject": "the contributor's key",
    "fields.split": "train, validation or test",
    "fields.truth": "the true label",
    "fields.predicted": "the label that the candidate offers",
    "fields.confidence": "its confidence, a number from 0 to 1",
    "labels": 'The labels. Texts instead of whole numbers: names = ["cat", "dog"] in place of from and to.',
    "splits": 'rule = "key": the first two hexadecimal digits of the key derive the split; every record is checked.\n'
    'rule = "declared": splits are taken as the records state them. Leave the three numbers out then.',
    "splits.key_digits": "digits of a key, lower-case hexadecimal",
    "limits": "What a candidate must reach on test, inclusive: decimals from 0 to 1, exact.",
}
"""What stands beside each setting, and above each table."""


def split_notes(rule: SplitRule | None) -> Mapping[str, str]:
    """Say which first bytes the limits of a split rule mean."""
    if rule is None:
        return {}
    train, validation, test = (f"{hexadecimal(rule.bytes_of(split))} {split}" for split in SPLITS)
    return {"splits.train_below": f"first bytes {train}", "splits.validation_below": f"{validation}, {test}"}


def limit_notes() -> Mapping[str, str]:
    """Say which side of each limit passes."""
    return {f"limits.{gate.name}": "at least" if gate.direction == "higher" else "at most" for gate in GATED}


def hexadecimal(values: range) -> str:
    """Return bytes as a range of two hexadecimal digits.

    >>> hexadecimal(range(0, 205)), hexadecimal(range(5, 6)), hexadecimal(range(0))
    ('00-cc', '05', 'none')
    """
    if len(values) < 2:
        return f"{values[0]:02x}" if values else "none"
    return f"{values[0]:02x}-{values[-1]:02x}"
