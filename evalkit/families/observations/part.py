"""One part of a list: from lines or parsed cases to sums, canonical JSON and ids, or what is wrong. A worker's task.

It needs nothing but the part and the declared sources, so parts can be read in any process, in any order.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from evalkit.errors import Ledger, Refusal, Violation
from evalkit.families.observations.canonical import canonical_case
from evalkit.families.observations.cases import FAMILIES, STRATUM, Case, Counts, Family, faults, name_of
from evalkit.families.observations.quick import SHAPES, Found, Quick, is_plain
from evalkit.families.observations.structure import Flawed, parse_case
from evalkit.records.strict_json import decode, parse_sound

Tally = Mapping[str | None, Counts]
"""Sums by stratum; None: cases that are in none."""


Clusters = Mapping[tuple[str | None, str], Counts]
"""Sums by stratum, and by what cases belong to: their source, or where they name none their date."""


class Task(NamedTuple):
    """A part to read.

    Attributes:
        family: The list's name.
        given: Whole lines, or parsed cases.
        clustered: Whether sums are wanted by source too.
    """

    family: str
    given: bytes | Sequence[Any]
    clustered: bool = False


class Part(NamedTuple):
    """A part that was read; places count from 0 in it.

    Attributes:
        size: How many lines, or cases, it has.
        places: Where each valid case stands.
        ids: The id of each.
        tally: Their sums: a ``Tally``, or that of the rankings.
        canonical: They as canonical JSON, parted by commas.
        ledger: What is wrong with the others; a violation's line is the place.
        clusters: Their sums by source too; None where those are not wanted.
    """

    size: int
    places: Sequence[int]
    ids: Sequence[str]
    tally: Any
    canonical: bytes
    ledger: Ledger
    clusters: Clusters | None = None


def read_part(task: Task, sources: Collection[str] | None, *, quick: bool = True) -> Part:
    """Read a part of a list.

    Args:
        task: The part.
        sources: The declared sources; None where the header does not tell.
        quick: Whether lines may take the straight way; what is read is the same.
    """
    family = FAMILIES[task.family]
    places: list[int] = []
    found: list[Found] = []
    broken: list[tuple[Violation, ...]] = []
    size = 0
    for size, read in enumerate(_cases(task.given, family, sources, quick=quick), 1):
        if isinstance(read, Found):
            places.append(size - 1)
            found.append(read)
        elif read:
            broken.append(tuple(replace(one, line=size - 1) for one in read))
    cases = [one.case for one in found]
    ids, ledger = [case[family.id] for case in cases], Ledger.of(broken)
    if broken or sources is None:  # nothing will be reported but what is wrong
        return Part(size, places, ids, {}, b"", ledger)
    written = ",".join([one.canonical for one in found]).encode("utf-8")
    clusters = _clusters(cases, family, sources) if task.clustered else None
    return Part(size, places, ids, _tally(cases, family, sources), written, ledger, clusters)


Read = Found | tuple[Violation, ...]
"""A valid case, or what is wrong with it: nothing with a blank line."""


def _cases(
    given: bytes | Sequence[Any], family: Family, sources: Collection[str] | None, *, quick: bool
) -> Iterator[Read]:
    if not isinstance(given, bytes):
        for case in given:
            value, flaws = case if isinstance(case, Flawed) else (case, ())
            yield _read(value, flaws, family, sources)
        return
    try:
        lines = given.removesuffix(b"\n").decode("utf-8").split("\n")
    except UnicodeDecodeError:  # some line is told apart from the others as bytes
        yield from (_line(raw, family, sources) for raw in given.removesuffix(b"\n").split(b"\n"))
        return
    shapes: list[Quick] = []
    plain = is_plain(given)
    for line in lines:
        if (found := _straight(line, shapes, plain=plain)) is not None:
            yield found
            continue
        exact = _line(line.encode("utf-8"), family, sources)
        if quick and isinstance(exact, Found) and len(shapes) < SHAPES:
            shape = Quick.learn(line, family, sources)
            shapes += [shape] if shape is not None and shape.read(line) is not None else []
        yield exact


def _straight(line: str, shapes: Sequence[Quick], *, plain: bool) -> Found | None:
    for shape in shapes:
        if (found := shape.read(line, plain=plain)) is not None:
            return found
    return None


def _line(raw: bytes, family: Family, sources: Collection[str] | None) -> Read:
    raw = raw.removesuffix(b"\r")
    if not raw.strip(b" \t\r"):
        return ()
    try:
        text = decode(raw)
        case = parse_sound(text)
        return _read(*parse_case(text), family, sources) if case is None else _read(case, (), family, sources)
    except Refusal as refusal:
        return refusal.violations


def _read(case: Any, structural: Sequence[Violation], family: Family, sources: Collection[str] | None) -> Read:
    """Judge a parsed case; ``structural`` is what its keys and texts break at any level."""
    found = (*structural, *faults(case, family, sources))
    if not found:
        return Found(case, canonical_case(case, family))
    name = name_of(case, family)
    return found if name is None else tuple(replace(one, message=f"{one.message}, in {name}") for one in found)


def _tally(cases: Sequence[Case], family: Family, sources: Collection[str]) -> Tally:
    groups: dict[str | None, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.get(STRATUM), []).append(case)
    return {stratum: family.count(group, sources) for stratum, group in groups.items()}


def _clusters(cases: Sequence[Case], family: Family, sources: Collection[str]) -> Clusters:
    groups: dict[tuple[str | None, str], list[Case]] = {}
    for case in cases:
        groups.setdefault((case.get(STRATUM), case[family.cluster]), []).append(case)
    return {key: family.count(group, sources) for key, group in groups.items()}


def added(left: Mapping[Any, Counts], right: Mapping[Any, Counts]) -> Mapping[Any, Counts]:
    """Add two tallies of one family."""
    total = dict(left)
    for stratum, counts in right.items():
        total[stratum] = _plus(total[stratum], counts) if stratum in total else counts
    return total


def _plus(left: Counts, right: Counts) -> Counts:
    return type(left)(*(a | b if isinstance(a, frozenset) else a + b for a, b in zip(left, right, strict=True)))
