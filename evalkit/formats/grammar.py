"""Compile a contract into a line grammar: regular expressions that only a fully valid record matches.

The order of the keys is learned from lines that the exact reader has accepted (``shapes``); white space between
tokens, escapes and every spelling of a confidence need no learning. The patterns run in a linear-time automaton, and
the ones that capture are *one-pass*: at each byte only one branch can go on. Every alternation is therefore factored
by its first characters (``alternation``); the same pattern written plainly takes twice the time.

Law: whatever a pattern accepts, ``reader.read_line`` accepts with the same values. The reverse need not hold.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import permutations
from typing import Any

from evalkit.contracts.contract import SPLITS, Contract
from evalkit.formats.patterns import ESCAPE, NUMBER, PLAIN, SPACE, alternation, array_of, spellings
from evalkit.formats.shapes import ITEM, SCALAR, Items, Learned, Path, Shape, UnlearnableError, has_gap
from evalkit.records.reader import names

MAX_NAMES = 1000
"""Most model names written into a pattern; thousands would exceed the size that a pattern may have."""

MAX_UNORDERED_MEMBERS = 3
"""Most keys of a nested object whose every order is spelled out in the grammar without an order."""


_ASCII = r"[ !#-\[\]-~]"
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


def scalar(place: int) -> str:
    """Name the column of one of the contract's scalars.

    >>> scalar(0)
    'scalar_0'
    """
    return f"{SCALAR}_{place}"


def compile_grammar(learned: Learned, contract: Contract) -> Grammar:
    """Write the patterns: one for each common shape, and one without an order for the rest."""
    common, models = learned.common, learned.models
    reader = _Writer(contract, ascii_names=all(model.isascii() for model in models))
    captures = tuple(_line(reader.object(shape, ())) for shape in common)
    train = None
    few = models and len(models) <= MAX_NAMES and sum(map(len, models)) <= 100 * MAX_NAMES
    derived = contract.split_rule is not None and len(contract.split_rule.bytes_of(SPLITS[0])) > 0
    if few and derived and len(contract.labels) <= MAX_NAMES:
        train = _Writer(contract, capture=False, split=SPLITS[0], models=models)
    unscored = None
    if common and train is not None:
        writers = [train] if contract.fields.prediction else [replace(train, offered=each) for each in (True, False)]
        branches = [writer.object(shape, ()) for writer in writers for shape in common]
        unscored = _line(branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})")
    unordered = next(
        (found for shape in (*learned.rare, *common) if (found := _unordered(shape, contract, train))), None
    )
    return Grammar(unscored, captures, unordered, models)


def _line(pattern: str) -> str:
    return f"^{SPACE}{pattern}{SPACE}$"


@dataclass(frozen=True)
class _Writer:
    """Writes the pattern of a shape.

    Attributes:
        contract: What the fields must hold.
        capture: Whether each field that is read gets a named group.
        split: The one split whose records are accepted, with the keys that derive it; None for all, keys unread.
        models: The only model names that are accepted; none for any name.
        any_order: Whether keys may stand in any order; then no text may hold an escape and no key a space after it.
        ascii_names: Whether captured names are ASCII; an automaton for these alone is a quarter faster.
        offered: Where label and confidence are null together, not their object: whether they are given; None leaves
            it open for each alone, to be checked on what was captured.
    """

    contract: Contract
    capture: bool = True
    split: str | None = None
    models: Sequence[str] = ()
    any_order: bool = False
    ascii_names: bool = False
    offered: bool | None = None

    @cached_property
    def roles(self) -> Mapping[Path, str]:
        """What stands where: the fields of the contract by name, and each scalar by its number."""
        found: dict[Path, str] = {names(path): name for name, path in asdict(self.contract.fields).items()}
        return found | {names(path): scalar(place) for place, path in enumerate(self.contract.scalars)}

    @cached_property
    def _ways(self) -> frozenset[Path]:
        """Where objects stand on the way to a scalar."""
        paths = map(names, self.contract.scalars)
        return frozenset(path[:depth] for path in paths for depth in range(1, len(path)))

    @cached_property
    def container(self) -> Path | None:
        """Where the object stands that is null when nothing was offered."""
        path = self.contract.fields.prediction
        return None if path is None else names(path)

    def object(self, shape: Shape, path: Path) -> str:
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

    def member(self, key: str, shape: Any, path: Path) -> str:
        """Write one key and its value."""
        colon = ":" if self.any_order else f"{SPACE}:"
        return f'"{alternation(spellings(key))}"{colon}{SPACE}{self.value(shape, (*path, key))}'

    def value(self, shape: Any, path: Path) -> str:
        """Write the value at a path: what the contract asks for there, or anything of that shape."""
        if path == self.container:
            return f"(?:null|{self.object(shape or self._usual_prediction(), path)})"
        if (role := self.roles.get(path)) is not None:
            return self.scalar(role) if role.startswith(SCALAR) else self.field(role)
        if isinstance(shape, tuple):
            return self.object(shape, path)
        if path in self._ways:
            return "null"  # a scalar would stand in the way of what is read below
        if isinstance(shape, Items):
            return array_of(self.value(shape.element, (*path, ITEM)))
        return f'(?:"{self._text()}"|{NUMBER}|true|false|null)'

    def field(self, role: str) -> str:
        """Write the value of one of the contract's fields."""
        if role == "model":
            found = {spelling for name in self.models for spelling in spellings(name)}
            any_name = f"(?:{_ASCII}|{ESCAPE})*" if self.ascii_names else self._text()
            # A pattern of names captures nothing, so it need not be factored.
            known = "|".join(sorted(map(re.escape, found)))
            return f'"{self._group("model", known or any_name)}"'
        if role == "subject":
            return f'"{self._group("subject", self._subject())}"'
        if role == "split":
            return f'"{self._group("split", self.split or alternation(SPLITS))}"'
        value = self._group("confidence", CONFIDENCE) if role == "confidence" else self._label(role)
        return value if role == "truth" or self.container else self._nullable(value)

    def scalar(self, role: str) -> str:
        """Write any scalar, captured as it is spelled; without an order only what is easily read: a text or null."""
        if self.any_order:
            return f'(?:"{self._text()}"|null)'
        if not self.capture:  # what is not read must be sound as it stands: no escape may spell U+0000
            return rf'(?:"(?:{PLAIN}|\\["\\/bfnrt])*"|{NUMBER}|true|false|null)'
        return self._group(role, f'"{self._text()}"|{NUMBER}|true|false|null')

    def _label(self, role: str) -> str:
        if self.contract.label_kind is int:
            return self._group(role, alternation(self.contract.label_texts))
        spelled = {spelling for label in self.contract.label_texts for spelling in spellings(label)}
        return f'"{self._group(role, alternation(spelled))}"'

    def _nullable(self, value: str) -> str:
        if self.offered is None:
            return f"(?:null|{value})"
        return value if self.offered else "null"

    def _group(self, name: str, pattern: str) -> str:
        return f"(?P<{name}>{pattern})" if self.capture else f"(?:{pattern})"

    def _text(self) -> str:
        return f"{PLAIN}*" if self.any_order else f"(?:{PLAIN}|{ESCAPE})*"

    def _subject(self) -> str:
        rule = self.contract.split_rule
        if rule is None:  # a blank first character, or an escape, is for the exact reader to look at
            return rf'[^"\\\x00-\x1f\s]{PLAIN}*'
        if self.split is None:
            return f"[0-9a-f]{{{rule.key_digits}}}"
        first = [f"{byte:02x}" for byte in rule.bytes_of(self.split)]
        return f"{alternation(first)}[0-9a-f]{{{rule.key_digits - 2}}}"

    def _usual_prediction(self) -> Shape:
        fields = self.contract.fields
        return tuple((path.rpartition(".")[2], SCALAR) for path in (fields.predicted, fields.confidence))


def _unordered(shape: Shape, contract: Contract, train: _Writer | None) -> Unordered | None:
    """Write the grammar without an order for the keys of one shape, where that is sound."""
    top = {key for key, _ in shape}
    nested = {key for _, member in shape for key in _keys_below(member)}
    if has_gap(shape) or top & nested or any(len(spellings(key)) > 1 or "\\" in key for key in top | nested):
        return None
    offered = None if train is None else replace(train, any_order=True, offered=True)
    writer = _Writer(contract, capture=False, any_order=True)
    try:
        pattern = _members_in_any_order(shape, writer)
    except UnlearnableError:
        return None
    unscored = None if offered is None else _members_in_any_order(shape, offered)
    return Unordered(tuple(f'"{key}":' for key in sorted(top)), pattern, unscored)


def _members_in_any_order(shape: Shape, writer: _Writer) -> str:
    """Write a pattern for as many members as the shape has, each any of them."""
    members = [writer.member(key, member, ()) for key, member in sorted(shape, key=lambda pair: pair[0])]
    one = f"(?:{'|'.join(members)})"
    return _line(rf"\{{{SPACE}{one}(?:{SPACE},{SPACE}{one}){{{len(shape) - 1}}}{SPACE}\}}")


def _keys_below(member: Any) -> set[str]:
    if isinstance(member, Items):
        return _keys_below(member.element)
    if not isinstance(member, tuple):
        return set()
    return {key for key, _ in member} | {key for _, inner in member for key in _keys_below(inner)}
