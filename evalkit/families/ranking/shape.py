r"""The line grammar of queries: regular expressions that only a line matches which ``rules`` would accept.

The order of the keys is learned from lines that the exact reader has accepted. Texts are taken in the plainest spelling
alone: no escape, no comma, no bracket, no white space but single blanks inside. So a quotation mark always ends a text,
brackets and commas are always structure, and a line that matches can be cut apart without a parser. What else may
stand in a line is for the exact reader to decide. Three things a pattern does not see, and who uses it must: whether
the source is declared, whether a document stands twice, and whether any is relevant.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from evalkit.families.ranking.metrics import MAX_GRADE
from evalkit.families.ranking.rules import SYSTEMS

Shape = tuple[str, ...]
"""The keys of a query in order."""

MAX_SHAPES = 4
"""Most orders of keys that are tried one by one."""

_LETTERS = r"\x{a1}-\x{167f}\x{3001}-\x{d7ff}"
"""Beyond ASCII: no white space, and the order of UTF-8 is that of UTF-16."""

_FIRST = rf"[!#-+\--9;-Z^-z|~{_LETTERS}]"  # no colon: where one follows a quotation mark, a key has ended
_NEXT = rf"[!#-+\--Z^-z|~{_LETTERS}]"
_TEXT = f'"{_FIRST}{_NEXT}*(?: {_NEXT}+)*"'
_GRADED = f"{_TEXT}: ?[0-{MAX_GRADE}]"


def shapes(sample: Iterable[Mapping[str, Any]]) -> list[Shape]:
    """Return the orders of keys of valid cases, the most frequent first."""
    found = Counter(tuple(case) for case in sample)
    return [shape for shape, _ in found.most_common(MAX_SHAPES)]


def pattern(shape: Shape) -> str:
    r"""Write the pattern of the lines with one order of keys, in the dialect of the dataframe library.

    >>> pattern(("query_id",))[:16]
    '^\\{"query_id": ?'
    """
    members = (f'"{key}": ?{_value(key)}' for key in shape)
    return rf"^\{{{', ?'.join(members)}\}}$"


def _value(key: str) -> str:
    if key in SYSTEMS:
        return rf"\[(?:{_TEXT}(?:, ?{_TEXT})*)?\]"
    if key == "relevance":
        return rf"\{{{_GRADED}(?:, ?{_GRADED})*\}}"
    return _TEXT
