"""The claim: a report as a file that anybody may have written. All it decides is which schema it says it is."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evalkit.errors import Violation
from evalkit.records.strict_json import show
from evalkit.report import canonical
from evalkit.results.report_file import Stored, parse_strictly, read_bytes, refused, stored

MAX_CLAIM = 256 * 1024 * 1024
"""Longest report in bytes that is verified: that of two hundred thousand strata, which takes a gigabyte of memory."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A report that was read.

    Attributes:
        plain: What it says.
        schema: The schema that it says it is, one of those that can be verified.
        stored: Which bytes it was read from.
    """

    plain: Mapping[str, Any]
    schema: str
    stored: Stored


def read_claim(report: str | os.PathLike[str] | object, schemas: Mapping[str, object]) -> Claim:
    """Read a report to be verified.

    Args:
        report: A file, ``-`` for standard input, or the report itself.
        schemas: The schemas that can be verified.

    Raises:
        Refusal: It is not there, cannot be read, is too long, is no strict JSON, or is of no such schema. What keeps a
            report from being whole is no reason: that is a difference.
    """
    name = os.fspath(report) if isinstance(report, str | os.PathLike) else None
    raw = canonical(report) if name is None else read_bytes(name, MAX_CLAIM)
    if raw is None:
        message = "there is no such file; name the report that is to be verified"
        raise refused([Violation("report-missing", message)], name)
    plain = parse_strictly(raw, name, MAX_CLAIM)
    schema = plain.get("schema")
    if not isinstance(schema, str) or schema not in schemas:
        found = show(schema) if "schema" in plain else "nothing"
        message = f"must be {' or '.join(schemas)} to be verified"
        raise refused([Violation("report-schema", message, field="schema", value=found)], name)
    return Claim(plain, schema, stored(name, raw))
