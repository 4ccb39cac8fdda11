"""Whole reports: what is written conforms to the types it was written from, and nothing else does."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import pytest

import evalkit
from evalkit.families.selective.result import Report
from evalkit.records.strict_json import parse_object
from evalkit.report import document
from evalkit.results.conform import conform

FIXTURES = Path(__file__).parent.parent / "data-fixtures"

DUMPS = ["selective/go.jsonl", "selective/blocked.jsonl", "real/selective.jsonl"]


class Pair(NamedTuple):
    """A named tuple, as the evidence of a report is one."""

    first_name: str
    size: int


@dataclass(frozen=True)
class Inner:
    """An object in a report."""

    mean_value: float | None
    side: Literal["left", "right"]


@dataclass(frozen=True)
class Outer:
    """A report with all that a report may hold."""

    names: tuple[str, ...]
    labels: tuple[int, ...] | tuple[str, ...] | None
    mixed: tuple[int | str, ...]
    cell: tuple[str, int]
    by_name: Mapping[str, Inner]
    rows: Sequence[Inner]
    pairs: tuple[Pair, ...]
    sure: bool
    version: Literal[1, 2]
    note: Any
    nested: Mapping[str, Mapping[str, int]] | None
    hidden: int = field(default=0, metadata={"report": False})


WHOLE = Outer(
    names=("a",),
    labels=(1, 2),
    mixed=(1, "b"),
    cell=("c", 3),
    by_name={"x.y": Inner(0.5, "left"), "z": Inner(None, "right")},
    rows=[Inner(1.0, "left")],
    pairs=(Pair("d", 4),),
    sure=True,
    version=1,
    note={"n": [1, 2.5, None, {"m": "x"}]},
    nested={"e": {"f": 5}},
)


def found(plain: object) -> list[str]:
    """Return what keeps plain data from being a whole ``Outer``."""
    return [str(one) for one in conform(plain, Outer)]


def test_what_was_written_is_whole() -> None:
    """What ``document`` makes of an object conforms to its type, through JSON and back too."""
    assert found(document(WHOLE)) == []
    plain, violations = parse_object(json.dumps(document(WHOLE)).encode())
    assert (violations, found(plain)) == ([], [])


@pytest.mark.parametrize("labels", [None, [], [1], ["a", "b"]])
@pytest.mark.parametrize("nested", [None, {}, {"a": {}}])
def test_alternatives_are_whole(labels: object, nested: object) -> None:
    """Any member of a union conforms."""
    assert found({**document(WHOLE), "labels": labels, "nested": nested}) == []


FLOAT = "must be a number with a fraction, such as 1.0"
SIDE = 'must be one of "left", "right"'
NO_KEY = "there is no such key in a report"


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"names": ["a", 1]}, "names[1]: must be a text; found 1"),
        ({"names": "a"}, 'names: must be an array; found "a"'),
        ({"names": None}, "names: must be an array; found null"),
        ({"labels": [1, "a"]}, 'labels[1]: must be a whole number; found "a"'),
        ({"labels": 1}, "labels: must be an array, or null; found 1"),
        ({"mixed": [1.0]}, "mixed[0]: must be a whole number, or a text; found 1.0"),
        ({"mixed": [True]}, "mixed[0]: must be a whole number, or a text; found true"),
        ({"cell": ["c"]}, "cell: must be an array of 2; found an array of 1"),
        ({"cell": ["c", 3, 4]}, "cell: must be an array of 2; found an array of 3"),
        ({"cell": ["c", True]}, "cell[1]: must be a whole number; found true"),
        ({"byName": []}, "byName: must be an object; found an array of 0"),
        ({"byName": {"x.y": {"meanValue": 1, "side": "left"}}}, f'byName["x.y"].meanValue: {FLOAT}, or null; found 1'),
        ({"byName": {"z": {"meanValue": None, "side": "up"}}}, f'byName.z.side: {SIDE}; found "up"'),
        ({"byName": {"z": {"meanValue": None, "side": 1}}}, f"byName.z.side: {SIDE}; found 1"),
        ({"byName": {"z": {"side": "left"}}}, "byName.z.meanValue: is missing"),
        ({"rows": [{"meanValue": 1.0, "side": "left", "s": 0}]}, f'rows[0]: {NO_KEY}; found "s"'),
        ({"rows": [None]}, "rows[0]: must be an object; found null"),
        ({"pairs": [{"firstName": "d"}]}, "pairs[0].size: is missing"),
        ({"pairs": [["d", 4]]}, "pairs[0]: must be an object; found an array of 2"),
        ({"sure": 1}, "sure: must be true or false; found 1"),
        ({"sure": "true"}, 'sure: must be true or false; found "true"'),
        ({"version": True}, "version: must be one of 1, 2; found true"),
        ({"version": 1.0}, "version: must be one of 1, 2; found 1.0"),
        ({"nested": {"e": {"f": 5.0}}}, "nested.e.f: must be a whole number; found 5.0"),
        ({"nested": {"e": None}}, "nested.e: must be an object; found null"),
        ({"hidden": 0}, f'{NO_KEY}; found "hidden"'),
        ({"by_name": {}}, f'{NO_KEY}; found "by_name"'),
    ],
)  # fmt: skip
def test_what_was_not_written_is_not_whole(change: Mapping[str, object], text: str) -> None:
    """Each key that is unknown, missing or of another type is told with its path; nothing is converted."""
    assert found({**document(WHOLE), **change}) == [f"{text} [not-whole]"]


def test_each_missing_key_is_told() -> None:
    """Of an empty object every key of the report is missing, in the order of the report."""
    keys = ["names", "labels", "mixed", "cell", "byName", "rows", "pairs", "sure", "version", "note", "nested"]
    assert found({}) == [f"{key}: is missing [not-whole]" for key in keys]
    assert found([]) == ["must be an object; found an array of 0 [not-whole]"]


def test_no_number_beyond_all_floats_is_whole() -> None:
    """A number that no float holds is none of a report, wherever it stands."""
    raw = json.dumps(document(WHOLE)).replace("2.5", "1e400").replace("5}", f"{'5' * 30}}}")
    plain, _ = parse_object(raw.encode())
    assert sorted(found(plain)) == [
        f"nested.e.f: must be a whole number; found {'5' * 30} [not-whole]",
        "note.n[1]: no report can hold such a number; found 1e400 [not-whole]",
    ]


def test_a_type_that_no_report_holds_is_a_bug() -> None:
    """A type that JSON has no place for is told at once, and not taken for anything."""
    with pytest.raises(TypeError, match="bytes"):
        list(conform("", bytes))


# real reports

STRICT = {
    str: [1, 1.5, True, [], {}],
    int: [1.5, "1", True, [], {}],
    float: [1, "1.5", True, [], {}],
    bool: [1, 0.0, "true", [], {}, None],
}
"""For each type that a value has in a report, values that can never stand in its place."""

OPEN = ("run", "perClass", "confusion", "abstentions", "limits", "gates", "strata", "policy")
"""Objects whose keys are data, and what may be null or not."""


def reports(dump: str) -> tuple[dict[str, Any], bytes]:
    """Return a report as plain data and as bytes."""
    text = evalkit.compare(FIXTURES / dump, "0.5").to_json()
    plain: dict[str, Any] = json.loads(text)
    return plain, text.encode()


@pytest.mark.parametrize("dump", DUMPS)
def test_a_real_report_is_whole(dump: str) -> None:
    """Whatever ``compare`` writes is whole, candidates that could not be judged included."""
    plain, violations = parse_object(reports(dump)[1])
    assert (violations, list(conform(plain, Report))) == ([], [])


def leaves(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], object]]:
    """Yield every scalar and where it stands."""
    if isinstance(value, dict | list):
        for step, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(member, (*path, step))
    else:
        yield path, value


def objects(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield where every object stands whose keys are those of the report."""
    if isinstance(value, dict) and (not path or path[-1] not in OPEN):
        yield path
    if isinstance(value, dict | list):
        for step, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from objects(member, (*path, step))


def at(value: Any, path: Sequence[str | int]) -> Any:
    """Return what stands somewhere."""
    for step in path:
        value = value[step]
    return value


def test_no_value_can_be_of_another_type() -> None:
    """In a real report, every value put in the place of one of another type is told, at its path."""
    plain, _ = reports("selective/blocked.jsonl")
    checked = 0
    for path, value in leaves(plain):
        if "excludedClasses" in path:  # labels may be whole numbers or texts
            continue
        parent = at(plain, path[:-1])
        for wrong in STRICT.get(type(value), []):
            parent[path[-1]] = wrong
            assert len(list(conform(plain, Report))) == 1, (path, wrong)
            checked += 1
        parent[path[-1]] = value
    assert checked > 1000
    assert list(conform(plain, Report)) == []


def test_no_key_can_be_missing_or_more() -> None:
    """In a real report, every key that is left out is missed, and every other key is one too many."""
    plain, _ = reports("selective/blocked.jsonl")
    checked = 0
    for path in list(objects(plain)):
        place = at(plain, path)
        whole = copy.copy(place)
        for key in whole:
            del place[key]
            assert [one.message for one in conform(plain, Report)] == ["is missing"], (path, key)
            place.update(whole)
            checked += 1
        place["x"] = None
        assert [one.value for one in conform(plain, Report)] == ['"x"'], path
        del place["x"]
    assert checked > 300
    assert list(conform(plain, Report)) == []
