"""One line of flat records, read exactly: what its judge makes of the document, or what keeps it from being one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from evalkit.errors import Refusal, Violation
from evalkit.records.strict_json import decode, parse_sound, parse_text

Judge = Callable[[Mapping[str, Any]], tuple[Any, ...]]
"""From a document to its values, or to the violations of its rules."""


def read_flat_line(raw: bytes, judge: Judge) -> tuple[Any, ...] | None:
    r"""Read one line, without its ``\n``: values, violations, or None for a blank line.

    >>> read_flat_line(b'{"id": "a"}\r', lambda document: (document["id"],))
    ('a',)
    >>> [str(fault) for fault in read_flat_line(b"null", lambda document: ())]
    ['must be one JSON object; found null [json]']
    """
    raw = raw.removesuffix(b"\r")
    if not raw.strip(b" \t\r"):
        return None
    try:
        text = decode(raw)
        document = parse_sound(text)
        if isinstance(document, dict):
            found = judge(document)
            if not (found and isinstance(found[0], Violation)):
                return found
        document, structural = parse_text(text)
    except Refusal as refusal:
        return refusal.violations
    found = judge(document)
    if found and isinstance(found[0], Violation):
        return (*structural, *found)
    return tuple(structural) or found
