"""Patterns of texts: exactly these, and each as JSON writers spell it."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable


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
