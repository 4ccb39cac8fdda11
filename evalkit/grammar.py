"""Compile a contract into a line grammar: regular expressions that only a fully valid record matches.

The order of the keys is learned from lines that the exact reader has accepted (``shapes``); white space between
tokens, escapes and every spelling of a confidence need no learning. The patterns run in a linear-time automaton, and
the ones that capture are *one-pass*: at each byte only one branch can go on. Every alternation is therefore factored
by its first characters (``alternation``); the same pattern written plainly takes twice the time.

Law: whatever a pattern accepts, ``reader.read_line`` accepts with the same values. The reverse need not hold.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any

from evalkit.contract import SPLITS, Contract
from evalkit.shapes import SCALAR, Items, Learned, Shape, UnlearnableError, has_gap

MAX_NAMES = 1000
"""Most model names written into a pattern; thousands would exceed the size that a pattern may have."""

MAX_UNORDERED_MEMBERS = 3
"""Most keys of a nested object whose every order is spelled out in the grammar without an order."""

SPACE = r"[ \t]*"
_PLAIN = r'[^"\\\x00-\x1f]'
_ASCII = r"[ !#-\[\]-~]"
_ESCAPE = (
    r'\\(?:["\\/bfnrt]|u(?:[0-9a-cA-CefEF][0-9a-fA-F]{3}|[dD](?:[0-7][0-9a-fA-F]{2}'
    r"|[89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})))"
)
_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"
_SMALL = r"[eE]-(?:0[1-9]|[1-9][0-9]?)"
CONFIDENCE = (
    rf"0(?:\.[0-9]+)?|1(?:{_SMALL}|\.(?:0+(?:[1-9][0-9]*{_SMALL}|{_SMALL})?|[1-9][0-9]*{_SMALL}))?"
    rf"|[2-9](?:\.[0-9]+)?{_SMALL}"
)
"""Every spelling of 0 to 1 that programs print, ``5e-05`` included."""


@dataclass(frozen=True, slots=True)
class Grammar:
    """The patterns of one contract and the key orders seen.

    Attributes:
        unscored: Matches a valid record of the train split by one of ``models``; None where none can be written.
        captures: One pattern a key order, with a named group for each field that is read.
        unordered: The grammar for any key order, or None where the fields seen do not allow one.
        models: The names of valid records seen while learning.
    """

    unscored: str | None
    captures: tuple[str, ...]
    unordered: Unordered | None
    models: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Unordered:
    """Accepts the same keys in any order.

    A line without a backslash that matches a pattern has as many members as there are markers, each of them a known
    one; no text in it can hold a marker, since that would take a quote. So a line that also holds every marker has
    each key exactly once.

    Attributes:
        markers: Each key with its quotes and its colon.
        pattern: Matches any valid record that has each key once.
        unscored: Matches those of the train split by one of the models seen; None where there are none or too many.
    """

    markers: tuple[str, ...]
    pattern: str
    unscored: str | None


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


def compile_grammar(learned: Learned, contract: Contract) -> Grammar:
    """Write the patterns: one for each common shape, and one without an order for the rest."""
    common, models = learned.common, learned.models
    reader = _Writer(contract, ascii_names=all(model.isascii() for model in models))
    captures = tuple(_line(reader.object(shape, "")) for shape in common)
    train = None
    if models and len(models) <= MAX_NAMES and sum(map(len, models)) <= 100 * MAX_NAMES:
        train = _Writer(contract, capture=False, split=SPLITS[0], models=models)
    unscored = None
    if common and train is not None:
        branches = [train.object(shape, "") for shape in common]
        unscored = _line(branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})")
    unordered = next(
        (found for shape in (*learned.rare, *common) if (found := _unordered(shape, contract, train))), None
    )
    return Grammar(unscored, captures, unordered, models)


def _line(pattern: str) -> str:
    return f"^{SPACE}{pattern}{SPACE}$"


@dataclass(frozen=True, slots=True)
class _Writer:
    """Writes the pattern of a shape.

    Attributes:
        contract: What the fields must hold.
        capture: Whether each field that is read gets a named group.
        split: The one split whose records are accepted, with the keys that derive it; None for all, keys unread.
        models: The only model names that are accepted; none for any name.
        any_order: Whether keys may stand in any order; then no text may hold an escape and no key a space after it.
        ascii_names: Whether captured names are ASCII; an automaton for these alone is a quarter faster.
    """

    contract: Contract
    capture: bool = True
    split: str | None = None
    models: Sequence[str] = ()
    any_order: bool = False
    ascii_names: bool = False

    def object(self, shape: Shape, path: str) -> str:
        """Write an object with its members in the order of the shape, or in every order."""
        members = [self.member(key, member, path) for key, member in shape]
        orders = [members]
        if self.any_order:
            if len(members) > MAX_UNORDERED_MEMBERS:
                raise UnlearnableError
            orders = [list(order) for order in permutations(members)]
        bodies = [f"{SPACE},{SPACE}".join(order) for order in orders]
        body = bodies[0] if len(bodies) == 1 else f"(?:{'|'.join(bodies)})"
        return rf"\{{{SPACE}{body}{SPACE}\}}"

    def member(self, key: str, shape: Any, path: str) -> str:
        """Write one key and its value."""
        here = f"{path}.{key}" if path else key
        colon = ":" if self.any_order else f"{SPACE}:"
        return f'"{alternation(spellings(key))}"{colon}{SPACE}{self.value(shape, here)}'

    def value(self, shape: Any, path: str) -> str:
        """Write the value at a path: what the contract asks for there, or anything of that shape."""
        if path == self.contract.fields.prediction:
            return f"(?:null|{self.object(shape or self._usual_prediction(), path)})"
        if (role := self.role(path)) is not None:
            return role
        if isinstance(shape, tuple):
            return self.object(shape, path)
        if isinstance(shape, Items):
            element = self.value(shape.element, f"{path}[]")
            return rf"\[{SPACE}(?:{element}(?:{SPACE},{SPACE}{element})*{SPACE})?\]"
        return f'(?:"{self._text()}"|{_NUMBER}|true|false|null)'

    def role(self, path: str) -> str | None:
        """Write the value of one of the contract's fields, or return None for any other path."""
        fields = self.contract.fields
        if path == fields.model:
            names = {spelling for name in self.models for spelling in spellings(name)}
            any_name = f"(?:{_ASCII}|{_ESCAPE})*" if self.ascii_names else self._text()
            # A pattern of names captures nothing, so it need not be factored.
            known = "|".join(sorted(map(re.escape, names)))
            return f'"{self._group("model", known or any_name)}"'
        if path == fields.subject:
            return f'"{self._group("subject", self._subject())}"'
        if path == fields.split:
            return f'"{self._group("split", self.split or alternation(SPLITS))}"'
        if path == fields.confidence:
            return self._group("confidence", CONFIDENCE)
        if path in (fields.truth, fields.predicted):
            labels = alternation(str(label) for label in self.contract.labels)
            return self._group("truth" if path == fields.truth else "predicted", labels)
        return None

    def _group(self, name: str, pattern: str) -> str:
        return f"(?P<{name}>{pattern})" if self.capture else f"(?:{pattern})"

    def _text(self) -> str:
        return f"{_PLAIN}*" if self.any_order else f"(?:{_PLAIN}|{_ESCAPE})*"

    def _subject(self) -> str:
        if self.split is None:
            return "[0-9a-f]{16}"
        first = [f"{byte:02x}" for byte in self.contract.split_rule.bytes_of(self.split)]
        return f"{alternation(first)}[0-9a-f]{{14}}"

    def _usual_prediction(self) -> Shape:
        fields = self.contract.fields
        return tuple((path.rpartition(".")[2], SCALAR) for path in (fields.predicted, fields.confidence))


def _unordered(shape: Shape, contract: Contract, train: _Writer | None) -> Unordered | None:
    """Write the grammar without an order for the keys of one shape, where that is sound."""
    top = {key for key, _ in shape}
    nested = {key for _, member in shape for key in _keys_below(member)}
    if has_gap(shape) or top & nested or any(len(spellings(key)) > 1 or "\\" in key for key in top | nested):
        return None
    writer = _Writer(contract, capture=False, any_order=True)
    try:
        pattern = _members_in_any_order(shape, writer)
    except UnlearnableError:
        return None
    unscored = None if train is None else _members_in_any_order(shape, replace(train, any_order=True))
    return Unordered(tuple(f'"{key}":' for key in sorted(top)), pattern, unscored)


def _members_in_any_order(shape: Shape, writer: _Writer) -> str:
    """Write a pattern for as many members as the shape has, each any of them."""
    members = [writer.member(key, member, "") for key, member in sorted(shape, key=lambda pair: pair[0])]
    one = f"(?:{'|'.join(members)})"
    return _line(rf"\{{{SPACE}{one}(?:{SPACE},{SPACE}{one}){{{len(shape) - 1}}}{SPACE}\}}")


def _keys_below(member: Any) -> set[str]:
    if isinstance(member, Items):
        return _keys_below(member.element)
    if not isinstance(member, tuple):
        return set()
    return {key for key, _ in member} | {key for _, inner in member for key in _keys_below(inner)}
