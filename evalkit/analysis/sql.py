"""What may be asked in SQL: one SELECT over tables that were named, and nothing that reads a file of its own.

A query is looked at twice. Its words are read before the dataframe library sees it, which has functions that read
files and statements that change tables. And the plan that the library made of it must read nothing but what was named,
whatever a later version of the library may take a word for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evalkit.errors import Refusal, Violation

_TOKEN = re.compile(
    r"""
    (?P<space>\s+|--[^\n]*|/\*(?:(?!/\*).)*?\*/)
  | (?P<text>'(?:[^']|'')*')
  | (?P<quoted>"(?:[^"]|"")*"|`[^`]*`)
  | (?P<word>[^\W\d]\w*)
  | (?P<number>\d\w*(?:\.\w*)?(?:(?<=[eE])[+-]\d+)?|\.\d\w*)
  | (?P<sign>(?!/\*)[-+*/%=<>!(),.:;|&^~\[\]{}])
    """,
    re.VERBOSE | re.DOTALL,
)

_CHANGING = frozenset(
    (
        *("alter", "attach", "copy", "create", "delete", "drop", "explain", "grant", "insert", "into", "merge"),
        *("set", "show", "truncate", "update", "vacuum"),
    )
)
"""Words that no SELECT needs, unless quoted as names."""

_READING = ("read_", "scan_", "glob")
"""How the names of functions begin that read files."""

_UNORDERED = frozenset(("group", "distinct", "join", "union", "intersect", "except"))


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a query.

    Attributes:
        kind: ``text``, ``quoted``, ``word``, ``number`` or ``sign``.
        said: What it says: words in lower case, names without their quotes.
        at: Where it begins.
        end: Where it ends.
    """

    kind: str
    said: str
    at: int
    end: int


def tokens(sql: str) -> tuple[Token, ...]:
    """Read a query into words, without comments.

    Raises:
        Refusal: Something is no word of SQL, or a spelling of which no two readers make the same.

    >>> [one.said for one in tokens('SELECT "a" -- b')]
    ['select', 'a']
    """
    found: list[Token] = []
    at = 0
    while at < len(sql):
        match = _TOKEN.match(sql, at)
        if match is None:
            raise _refused("sql", "is no SQL from here on; close each quote and comment, and nest no comment", sql, at)
        kind, said, at = match.lastgroup or "", match[0], match.end()
        if kind == "space":
            continue
        if kind == "text" and found and found[-1].end == match.start() and _is_prefix(found[-1]):
            message = "write a text in plain single quotes, without a letter before them"
            raise _refused("sql", message, sql, match.start())
        said = said.lower() if kind == "word" else said[1:-1] if kind in ("text", "quoted") else said
        found.append(Token(kind, said, match.start(), at))
    return tuple(found)


def _is_prefix(one: Token) -> bool:
    """Tell whether a word just before a text may change how it is read, as E, N and U& do."""
    return one.said == "&" or (one.kind == "word" and len(one.said) <= 2)


@dataclass(frozen=True, slots=True)
class Select:
    """A query that may be run.

    Attributes:
        text: The query.
        tokens: Its words.
    """

    text: str
    tokens: tuple[Token, ...]

    @classmethod
    def of(cls, sql: str) -> Select:
        """Check a query by its words.

        Raises:
            Refusal: It is none, or more than one; it is no SELECT; it has a function that reads a file.

        >>> Select.of("SELECT 1; SELECT 2")
        Traceback (most recent call last):
        ...
        evalkit.errors.Refusal: query: must be one statement; nothing may follow it; found "; SELECT 2" [sql-statement]
        """
        words = tokens(sql)
        while words and words[-1].said == ";" and words[-1].kind == "sign":
            words = words[:-1]
        _check_statement(sql, words)
        for one, after in pairwise(words):
            is_name = one.kind in ("word", "quoted")
            if is_name and after.said == "(" and after.kind == "sign" and one.said.lower().startswith(_READING):
                message = "no function may read files; name the inputs after the query"
                raise Refusal.of(Violation("sql-reads", message, field="query", value=f'"{one.said}"'))
        return cls(sql, words)

    def mentions(self, name: str) -> bool:
        """Tell whether a table of this name may be meant; names are looked up as they are spelled."""
        return any(one.said.lower() == name for one in self.tokens if one.kind in ("word", "quoted"))

    @property
    def leaves_order_open(self) -> bool:
        """Whether rows come in no certain order: they are grouped or joined, and nothing sorts them."""
        words = {one.said for one in self.tokens if one.kind == "word"}
        return "order" not in words and not words.isdisjoint(_UNORDERED)


def _check_statement(sql: str, words: Sequence[Token]) -> None:
    first = next((one for one in words if one.said != "("), None)
    if first is None:
        raise _refused("sql", "holds no query; write SELECT … FROM …", sql, None)
    if first.kind != "word" or first.said not in ("select", "with"):
        message = "must be a SELECT, or WITH … SELECT; nothing else is run"
        raise Refusal.of(Violation("sql-statement", message, field="query", value=f'"{first.said[:40]}"'))
    for one in words:
        if one.kind == "sign" and one.said == ";":
            raise _refused("sql-statement", "must be one statement; nothing may follow it", sql, one.at)
        if one.kind == "word" and one.said in _CHANGING:
            message = "only SELECT is run; where a column is called so, put its name in double quotes"
            raise Refusal.of(Violation("sql-statement", message, field="query", value=f'"{one.said}"'))


def _refused(rule: str, message: str, sql: str, at: int | None) -> Refusal:
    rest = None if at is None else sql[at : at + 20].replace("\n", " ")
    return Refusal.of(Violation(rule, message, field="query", value=None if rest is None else f'"{rest}"'))


_SCAN = re.compile(r"^\W*(?P<what>\w[\w ]*?)(?:\[[^\]\n]*\])? SCAN\b", re.MULTILINE)


def assert_reads_only(plan: str, allowed: Iterable[str]) -> None:
    """Refuse a plan, as the library explains it, that scans anything but what is allowed.

    Raises:
        Refusal: It reads something else.

    >>> assert_reads_only("  PYTHON[evalkit] SCAN []", ["PYTHON"])
    """
    known = set(allowed)
    for match in _SCAN.finditer(plan):
        if match["what"] not in known:
            message = "no function may read files; name the inputs after the query"
            raise Refusal.of(Violation("sql-reads", message, field="query", value=f'"{match["what"]}"'))
