"""The caller's own record of a run: a JSON object, put into the report as it is."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from evalkit.errors import Refusal, Violation
from evalkit.records.strict_json import Beyond, parse_object
from evalkit.sources.urls import open_now


def read_run_record(path: str) -> dict[str, Any]:
    """Read the object that a file holds.

    Raises:
        Refusal: The file cannot be read, or holds anything but one JSON object of plain numbers and texts.
    """
    try:
        with open_now(path) as file:
            raw = file.read()
    except OSError as error:
        raise Refusal.of(Violation("run-record", f"cannot be read: {error.strerror}", path)) from None
    try:
        record, violations = parse_object(raw)
    except Refusal as refusal:
        violations = list(refusal.violations)
        record = {}
    if _holds_beyond(record):
        violations.append(Violation("run-record", "holds a number that no report can keep"))
    if violations:
        raise Refusal.of(*(replace(violation, file=path) for violation in violations))
    return record


def _holds_beyond(value: object) -> bool:
    if isinstance(value, dict):
        return any(_holds_beyond(member) for member in value.values())
    if isinstance(value, list):
        return any(_holds_beyond(member) for member in value)
    return isinstance(value, Beyond)
