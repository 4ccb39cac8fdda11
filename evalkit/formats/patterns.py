"""Patterns of JSON: its tokens, texts that are exactly these, and values of which only the shape is known."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable

SPACE = r"[ \t]*"
PLAIN = r'[^"\\\x00-\x1f]'
"""A character of a text that is written as it is."""

ESCAPE = (
    r'\\(?:["\\/bfnrt]|u(?:[0-9a-cA-CefEF][0-9a-fA-F]{3}|[dD](?:[0-7][0-9a-fA-F]{2}'
    r"|[89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})))"
)
"""An escape; halves of surrogate pairs stand together."""

NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"


def array_of(element: str) -> str:
    """Return the pattern of an array whose elements all match a pattern; it may be empty.

    At each byte only one branch can go on: patterns that capture are slow where that is not so.
    """
    return rf"\[{SPACE}(?:{element}{SPACE}(?:,{SPACE}{element}{SPACE})*)?\]"


def alternation(texts: Iterable[str]) -> str:
    """Return a pattern for exactly these texts, factored so that each next character decides.

    >>> alternation(["train", "test", "validation"])
    '(?:t(?:est|rain)|validation)'
    >>> alternation(["4", "5"])
    '[45]'
    """
    by_first: dict[str, list[str]] = {}
    for text in sorted(set(texts)):
        by_first.setdefault(text[:1], []).append(text)
    if len(by_first) > 1 and all(len(first) == 1 and group == [first] for first, group in by_first.items()):
        return f"[{''.join(re.escape(first) for first in by_first)}]"
    branches = []
    for group in by_first.values():
        common = os.path.commonprefix(group)  # noqa: RUF071 - character by character is what is meant
        rests = [text[len(common) :] for text in group]
        branches.append(re.escape(common) + (alternation(rests) if len(group) > 1 else ""))
    branches.sort(key=lambda branch: branch == "")  # the empty branch last: the longest text wins
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


def spellings(text: str) -> set[str]:
    """Return a text between quotes as JSON writers spell it: as it is, or in ASCII."""
    return {json.dumps(text, ensure_ascii=False)[1:-1], json.dumps(text)[1:-1]}
