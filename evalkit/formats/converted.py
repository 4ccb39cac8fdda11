"""Parquet that ``evalkit convert`` wrote: its columns have names of their own, and it says what it was made from."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from evalkit.contracts.contract import Contract, Fields, SplitRule
from evalkit.errors import Refusal, Violation
from evalkit.formats.layout import Kind, Layout, lay_out
from evalkit.sources.source import Evidence

SCHEMA = "evalkit-records-v1"

FIELDS = Fields("model", "subject_key", "split", "truth", "predicted", "confidence")
"""The columns of a converted file."""


@dataclass(frozen=True, slots=True)
class Notes:
    """What a converted file says of itself.

    Attributes:
        labels: The labels of the contract that it was converted with.
        split_rule: Its split rule.
        scalars: The paths of the other fields that were kept.
        evidence: What it was made from.
    """

    labels: tuple[Any, ...]
    split_rule: SplitRule | None
    scalars: tuple[str, ...]
    evidence: tuple[Evidence, ...]


def is_converted(metadata: Mapping[bytes, bytes] | None) -> bool:
    """Tell a converted file by its metadata."""
    return (metadata or {}).get(b"evalkit.schema") == SCHEMA.encode()


def notes_of(metadata: Mapping[bytes, bytes]) -> Notes:
    """Read what a converted file says of itself.

    Raises:
        ValueError: The notes are not those that ``convert`` writes.
    """
    try:
        told = tomllib.loads(metadata[b"evalkit.contract"].decode())
        labels, splits = told["labels"], told["splits"]
        span = labels["names"] if "names" in labels else range(labels["from"], labels["to"] + 1)
        limits = {name: value for name, value in splits.items() if name != "rule"}
        rule = None if splits["rule"] == "declared" else SplitRule(**limits)
        scalars = json.loads(metadata[b"evalkit.scalars"])
        evidence = tuple(map(_evidence, json.loads(metadata[b"evalkit.evidence"])))
        return Notes(tuple(span), rule, tuple(scalars), evidence)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(str(error)) from error


def _evidence(told: Mapping[str, Any]) -> Evidence:
    inner = told.get("convertedFrom")
    before = None if inner is None else tuple(map(_evidence, inner))
    return Evidence(told["name"], told["bytes"], told["sha256"], told["records"], before)


def lay_out_converted(
    schema: Mapping[str, Kind], metadata: Mapping[bytes, bytes], contract: Contract
) -> Layout | tuple[Violation, ...]:
    """Find the columns of a converted file, whatever the contract calls its fields."""
    try:
        notes = notes_of(metadata)
        own = replace(contract, fields=FIELDS)
    except (ValueError, Refusal):
        message = "is a converted file whose notes on how it was made are damaged; convert again"
        return (Violation("converted-contract", message),)
    faults = tuple(_differences(notes, contract))
    return faults or lay_out(schema, own)


def _differences(notes: Notes, contract: Contract) -> Iterator[Violation]:
    again = "give the contract that it was converted with, or convert again"
    if notes.labels != contract.labels:
        message = f"was converted with other labels, {_span(notes.labels)} instead of {_span(contract.labels)}; {again}"
        yield Violation("converted-contract", message)
    if notes.split_rule != contract.split_rule:
        message = f"was converted with another split rule, {_rule(notes.split_rule)}; {again}"
        yield Violation("converted-contract", message)
    for path in contract.scalars:
        if path not in notes.scalars:
            message = f"was not kept when the file was converted; convert again with --by {path}"
            yield Violation("not-kept", message, field=path)


def _span(labels: tuple[Any, ...]) -> str:
    return str(labels[0]) if len(labels) == 1 else f"{labels[0]} to {labels[-1]}" if labels else "none"


def _rule(rule: SplitRule | None) -> str:
    if rule is None:
        return "as declared"
    return f"train below {rule.train_below} and validation below {rule.validation_below} of {rule.key_digits} digits"
