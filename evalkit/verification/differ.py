"""Where a claim differs from what was recomputed: one walk over both, led by what was recomputed.

The claim is plain data that anybody may have written. What was recomputed are the objects of a report, which say by
their types what is a measured number, and what is a key of the schema and what one of the data. A long list is made
while it is gone through, as it is when a report is written.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from evalkit.report import document, is_list, members
from evalkit.results.conform import step
from evalkit.verification.findings import Absent, Findings, cut


@dataclass(frozen=True, slots=True)
class Rules:
    """How the two sides are compared. Keys are those of the schema; a label of the data that looks like one is none.

    Attributes:
        tolerance: How far a measured number may be off.
        given: Keys under which nothing is measured: what the caller states, and what follows from that alone.
        identities: For the key of an array, the keys that tell its objects apart, of which an object may lack some;
            other arrays go by position.
        paths: Keys that hold a path, of which the last part alone is compared.
    """

    tolerance: Fraction
    given: frozenset[str] = frozenset()
    identities: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    paths: frozenset[str] = frozenset()


def differ(claimed: Mapping[str, Any], recomputed: Any, rules: Rules, root: str = "report") -> Findings:
    """Compare a claim with what was recomputed.

    Floats are measured numbers and may be off by the tolerance. Whole numbers, texts, truth values and nulls must be
    the same, and ``3.0`` is no whole number.

    Args:
        claimed: What ``strict_json`` parsed.
        recomputed: The report object, or plain data.
        rules: How to compare.
        root: What paths begin with.

    >>> found = differ({"ece": 0.25, "n": 3.0}, {"ece": 0.5, "n": 3}, Rules(Fraction(1)))
    >>> found.checks, found.kept
    (3, [Difference(path='report.n', claimed='3.0', recomputed='3')])
    """
    walk = _Walk(rules)
    walk.compare(claimed, recomputed, _Place(root))
    return walk.findings


@dataclass(frozen=True, slots=True)
class _Place:
    """Where the walk is.

    Attributes:
        path: The path.
        exact: Whether nothing here is measured.
        key: The key of the schema that led here, or None.
        row: Whether it stands in an array whose objects are told apart: its keys are those of the schema, though it may
            be a plain mapping.
    """

    path: str
    exact: bool = False
    key: str | None = None
    row: bool = False


class _Walk:
    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.findings = Findings()

    def compare(self, claimed: object, recomputed: Any, place: _Place) -> None:
        """Compare two values."""
        found = members(recomputed)
        if found is not None and isinstance(claimed, dict):
            self._objects(claimed, found, place, by_schema=place.row or not isinstance(recomputed, Mapping))
        elif is_list(recomputed) and isinstance(claimed, list):
            identity = self.rules.identities.get(place.key or "")
            if identity is None:
                self._arrays(claimed, recomputed, place)
            else:
                self._identified(claimed, recomputed, place, identity)
        else:
            self._check(self._same(claimed, recomputed, place), place.path, claimed, recomputed)

    def _check(self, same: bool, path: str, claimed: object, recomputed: object) -> None:  # noqa: FBT001
        self.findings.checks += 1
        if not same:
            self.findings.add(path, claimed, recomputed)

    def _same(self, claimed: object, recomputed: object, place: _Place) -> bool:
        if isinstance(recomputed, float):
            return _close(claimed, recomputed, Fraction(0) if place.exact else self.rules.tolerance)
        if type(claimed) is not type(recomputed):
            return False
        if place.key in self.rules.paths and isinstance(claimed, str) and isinstance(recomputed, str):
            return _last_part(claimed) == _last_part(recomputed)
        return claimed == recomputed

    def _objects(self, claimed: dict[str, Any], found: Mapping[str, Any], place: _Place, *, by_schema: bool) -> None:
        """Compare two objects; a key of the one alone is one difference, whatever stands under it."""
        self.findings.checks += 1
        for key, member in found.items():
            path = step(place.path, key)
            if key in claimed:
                given = by_schema and key in self.rules.given
                self.compare(claimed[key], member, _Place(path, place.exact or given, key if by_schema else None))
            else:
                self.findings.add(path, Absent.ABSENT, member)
        for key, member in claimed.items():
            if key not in found:
                self.findings.add(step(place.path, key), member, Absent.ABSENT)

    def _arrays(self, claimed: list[Any], recomputed: Any, place: _Place) -> None:
        """Compare two arrays by position; of another length they are one difference."""
        self._check(len(claimed) == len(recomputed), place.path, claimed, recomputed)
        if len(claimed) != len(recomputed):
            return
        for index, (left, right) in enumerate(zip(claimed, recomputed, strict=True)):
            self.compare(left, right, _Place(f"{place.path}[{index}]", place.exact))

    def _identified(self, claimed: list[Any], recomputed: Any, place: _Place, keys: tuple[str, ...]) -> None:
        """Compare two arrays of objects by what tells these apart, so that one left out is one difference."""
        places = _by_identity(claimed, keys)
        taken: list[int] = []
        self.findings.checks += 1
        for one in recomputed:
            name = _identity(members(one) or {}, keys)
            index = places.get(name)
            if index is None:
                self.findings.add(f"{place.path}[{cut(name)}]", Absent.ABSENT, one)
                continue
            taken.append(index)
            self.compare(claimed[index], one, _Place(f"{place.path}[{index}]", place.exact, row=True))
        names = {index: cut(name) for name, index in places.items()}
        for index in sorted(set(range(len(claimed))) - set(taken)):
            self.findings.add(f"{place.path}[{names.get(index, index)}]", claimed[index], Absent.ABSENT)
        if taken != sorted(taken):
            words = " and ".join(keys)
            self.findings.add_words(place.path, f"{words} in another order", f"{words} in order")


def _by_identity(claimed: list[Any], keys: tuple[str, ...]) -> dict[str, int]:
    """Return where the object of each identity stands first."""
    found: dict[str, int] = {}
    for index, one in enumerate(claimed):
        if isinstance(one, dict) and any(key in one for key in keys):
            found.setdefault(_identity(one, keys), index)
    return found


def _identity(one: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    """Return a text that two objects have in common when they are about the same."""
    return ", ".join(f"{key}={_name(one[key])}" for key in keys if key in one)


def _name(value: object) -> str:
    """Return a text that two values have in common when they are the same."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    plain = float(value) if number else document(value)  # type: ignore[arg-type]
    return json.dumps(plain, ensure_ascii=False, sort_keys=True, default=repr)


def _close(claimed: object, recomputed: float, tolerance: Fraction) -> bool:
    """Tell whether a claimed number is as near as allowed, counted exactly; one that no float holds never is."""
    if isinstance(claimed, bool) or not isinstance(claimed, int | float):
        return False
    return claimed == recomputed or abs(Fraction(claimed) - Fraction(recomputed)) <= tolerance


def _last_part(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]
