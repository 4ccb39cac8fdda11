"""What one value of an observation must be: a judge for each kind, which says what is wrong and never shows a text.

A value that breaks a rule is told by its kind and length alone: it may be the very text that must not get out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from evalkit.errors import Violation
from evalkit.records.rules import is_name
from evalkit.records.strict_json import kind_of, show

Judge = Callable[[object], Violation | None]
"""Says what is wrong with a value, or None."""

MAX_WHOLE = 2**53 - 1
"""Largest whole number that every JSON reader keeps."""

BLANK = "must be a text of more than white space"

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


def judge_id(value: object) -> Violation | None:
    """Judge an id."""
    return _judge_name("id", value)


def judge_header(value: object) -> Violation | None:
    """Judge a name in the header."""
    return _judge_name("header", value)


def judge_stratum(value: object) -> Violation | None:
    """Judge a stratum."""
    return _judge_name("stratum", value)


def _judge_name(rule: str, value: object) -> Violation | None:
    if is_name(value):
        return None
    if isinstance(value, str) and value.strip():
        return Violation("nul", "no name may hold the character U+0000", value=kind_of(value))
    return Violation(rule, BLANK, value=kind_of(value))


def judge_text(value: object) -> Violation | None:
    """Judge a text; an empty one is a text."""
    if isinstance(value, str):
        return None
    return Violation("text", 'must be a text; an empty one is written ""', value=kind_of(value))


def judge_boolean(value: object) -> Violation | None:
    """Judge a truth value. Neither a number nor a text is one."""
    if isinstance(value, bool):
        return None
    return Violation("boolean", "must be true or false, without quotes", value=kind_of(value))


def judge_answer(value: object) -> Violation | None:
    """Judge what a reviewer found: a truth value, or null."""
    if value is None or isinstance(value, bool):
        return None
    return Violation("boolean", "must be true or false, or null while nobody has reviewed it", value=kind_of(value))


def judge_date(value: object) -> Violation | None:
    """Judge a calendar day.

    >>> judge_date("2026-02-28") is None
    True
    >>> str(judge_date("2026-02-30"))
    'must be a day of the calendar, written as 2026-01-31; found a text of length 10 [date]'
    """
    if isinstance(value, str) and _DATE.fullmatch(value):
        try:
            date.fromisoformat(value)
        except ValueError:
            pass
        else:
            return None
    return Violation("date", "must be a day of the calendar, written as 2026-01-31", value=kind_of(value))


def judge_references(value: object) -> Violation | None:
    """Judge the sources that a claim names; that they are declared is measured, not asked for."""
    if not isinstance(value, list):
        return Violation(
            "source-refs", "must be an array of source ids; an empty one where there is none", value=kind_of(value)
        )
    for place, one in enumerate(value):
        if not isinstance(one, str):
            return Violation("source-refs", "must be a text", field=f"[{place}]", value=kind_of(one))
    return None


def is_whole(value: object) -> bool:
    """Tell whether a value is a whole number from 0 that every JSON reader keeps; a truth value is none."""
    return type(value) is int and 0 <= value <= MAX_WHOLE


def unknown(members: Mapping[str, Any], known: Any, where: str) -> list[Violation]:
    """Name the members that nothing is known of."""
    message = f"there is no such field in {where}"
    return [Violation("unknown-field", message, value=show(name)) for name in members if name not in known]
