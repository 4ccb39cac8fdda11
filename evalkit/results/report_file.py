"""A report as a file: read once, strictly, and either whole or refused."""

from __future__ import annotations

import errno
import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from evalkit.errors import SHOWN_LINES, Refusal, Violation
from evalkit.records.strict_json import MAX_LINE, parse_object, show
from evalkit.results.conform import conform
from evalkit.sources.source import STANDARD_INPUT, label
from evalkit.sources.urls import open_now, size_of

MAX_REPORT = MAX_LINE
"""Longest report in bytes, where one of its candidates is all that is wanted."""

_NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG)


@dataclass(frozen=True, slots=True)
class Stored:
    """Which bytes a report was read from.

    Attributes:
        name: The file's name as given; None for a report that no file holds.
        bytes: How many they are.
        sha256: Their SHA-256.
    """

    name: str | None
    bytes: int
    sha256: str


def stored(name: str | None, raw: bytes) -> Stored:
    """Tell which bytes these are."""
    return Stored(None if name is None else label(name), len(raw), hashlib.sha256(raw).hexdigest())


def read_bytes(path: str, limit: int = MAX_REPORT) -> bytes | None:
    """Read a report's bytes. ``-`` is standard input.

    Returns:
        The bytes; None where there is no such file. Of what turns out to be too long while it is read, so many at
        least as show it.

    Raises:
        Refusal: The file is there and cannot be read, or is too long.
    """
    standard = path == STANDARD_INPUT
    try:
        # The standard stream is not ours to close.
        with open(0, "rb", closefd=False) if standard else open_now(path) as file:
            if size_of(file) > limit:
                raise _too_long(path, limit)
            return file.read(limit + 1)
    except ValueError:  # U+0000 in the name
        return None
    except OSError as error:
        if error.errno in _NOT_THERE:
            return None
        raise refused([Violation("report-unreadable", f"cannot be read: {error.strerror}")], path) from None


def _too_long(name: str | None, limit: int) -> Refusal:
    return refused([Violation("report-too-long", f"must be at most {limit // (1024 * 1024)} MiB long")], name)


def parse_report(raw: bytes, schema: str, kind: type, name: str | None) -> dict[str, Any]:
    """Parse a report of one schema.

    Args:
        raw: The bytes.
        schema: What its key ``schema`` must say.
        kind: The dataclass that such a report is written from.
        name: The file's name for a refusal; None where no file holds it.

    Returns:
        The report as plain data, whole: it has each key that the writer writes, no other, and all of the right type.

    Raises:
        Refusal: It is too long, no strict JSON, of another schema, or not whole.
    """
    plain = parse_strictly(raw, name)
    if (found := plain.get("schema")) != schema:
        shown = show(found) if "schema" in plain else "nothing"
        raise refused([Violation("report-schema", f"must be {schema}", field="schema", value=shown)], name)
    if faults := list(conform(plain, kind)):
        raise refused(faults, name)
    return plain


def parse_strictly(raw: bytes, name: str | None, limit: int = MAX_REPORT) -> dict[str, Any]:
    """Parse a report of whatever schema.

    Raises:
        Refusal: It is too long, or no strict JSON.
    """
    if len(raw) > limit:
        raise _too_long(name, limit)
    try:
        plain, faults = parse_object(raw, limit)
    except Refusal as refusal:
        raise refused(refusal.violations, name) from None
    if faults:
        raise refused(faults, name)
    return plain


def refused(faults: Sequence[Violation], name: str | None) -> Refusal:
    """Refuse a report for what is wrong with it: the first faults in words, and all of them counted."""
    file = None if name is None else label(name)
    shown = [replace(fault, file=file) for fault in faults[:SHOWN_LINES]]
    return Refusal(shown, Counter(fault.rule for fault in faults), len(faults))
