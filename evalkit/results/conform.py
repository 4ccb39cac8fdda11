"""Whether plain data is a whole report: every key that the writer writes, no other, each of the type that it writes.

Reports are dataclasses, and ``report.document`` turns them into plain data. This is the way back, from the same type
hints: nothing of a report is described twice, and a key that is added to it is asked for from then on.

What could not have been written is not whole, though it may mean the same. A whole number is written without a
fraction, ``7``, and stands for no float; a float is written with one, ``1.0``, or an exponent. ``true`` is no number.
"""

from __future__ import annotations

import re
import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from evalkit.errors import Violation
from evalkit.records.strict_json import Beyond, show
from evalkit.report import camel, keys_of, optional_keys_of

_SCALARS: Mapping[Any, str] = {
    str: "a text",
    int: "a whole number",
    float: "a number with a fraction, such as 1.0",
    bool: "true or false",
    types.NoneType: "null",
}
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]{1,40}")


def conform(plain: object, kind: Any) -> Iterator[Violation]:
    r"""Find what keeps plain data from being what ``report.document`` makes of an instance of a type.

    Args:
        plain: What ``strict_json`` parsed.
        kind: A dataclass, or any other type that a report may hold.

    Yields:
        A violation for each key that is missing, unknown, or of another type, with its path.

    Raises:
        TypeError: The type is none that a report may hold.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Row:
    ...     mean_confidence: float | None
    >>> list(conform([{"meanConfidence": None}, {"meanConfidence": 0.5}], tuple[Row, ...]))
    []
    >>> print(*conform([{"meanConfidence": 1, "n": 2}], tuple[Row, ...]), sep="\n")
    [0].meanConfidence: must be a number with a fraction, such as 1.0, or null; found 1 [not-whole]
    [0]: there is no such key in a report; found "n" [not-whole]
    """
    yield from _differ(plain, kind, "")


def _differ(value: object, hint: Any, path: str) -> Iterator[Violation]:
    if hint in _SCALARS:
        # A type is compared, not asked for: true is an int to Python.
        if type(value) is not hint:
            yield _must_be(hint, value, path)
        return
    origin, members = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        yield from _differ_from_all(value, hint, path)
    elif hint is Any:
        yield from _beyond(value, path)
    elif origin is Literal:
        if not any(type(value) is type(one) and value == one for one in members):
            yield _must_be(hint, value, path)
    elif not isinstance(value, _json_kind(hint)):
        yield _must_be(hint, value, path)
    elif isinstance(value, list):
        yield from _differ_in_items(value, members, path)
    elif isinstance(value, dict) and origin is not None:
        for key, member in value.items():
            yield from _differ(member, members[1], step(path, key))
    elif isinstance(value, dict):
        yield from _differ_in_keys(value, hint, path)


def _differ_in_keys(value: dict[str, Any], kind: type, path: str) -> Iterator[Violation]:
    known = _keys(kind)
    absent = optional_keys_of(kind) if is_dataclass(kind) else frozenset()
    for key, hint in known.items():
        if key in value:
            yield from _differ(value[key], hint, step(path, key))
        elif key not in absent:
            yield Violation("not-whole", "is missing", field=step(path, key))
    for key in value:
        if key not in known:
            yield Violation("not-whole", "there is no such key in a report", field=path or None, value=show(key))


def _differ_in_items(value: list[Any], members: Sequence[Any], path: str) -> Iterator[Violation]:
    endless = members[-1] is Ellipsis or len(members) == 1
    kinds = [members[0]] * len(value) if endless else list(members)
    if len(value) != len(kinds):
        yield Violation("not-whole", f"must be an array of {len(kinds)}", field=path or None, value=show(value))
        return
    for place, (member, hint) in enumerate(zip(value, kinds, strict=True)):
        yield from _differ(member, hint, f"{path}[{place}]")


def _differ_from_all(value: object, union: Any, path: str) -> Iterator[Violation]:
    """Say nothing where some member of a union fits; else what is wrong with the one that comes nearest."""
    near: list[list[Violation]] = []
    for hint in get_args(union):
        found = list(_differ(value, hint, path))
        if not found:
            return
        if isinstance(value, list | dict) and isinstance(value, _json_kind(hint)):
            near.append(found)
    yield from min(near, key=len) if near else [_must_be(union, value, path)]


def _beyond(value: object, path: str) -> Iterator[Violation]:
    """Find the numbers that no report can hold where anything else may stand."""
    if isinstance(value, Beyond):
        yield Violation("not-whole", "no report can hold such a number", field=path or None, value=show(value))
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from _beyond(member, step(path, key))
    elif isinstance(value, list):
        for place, member in enumerate(value):
            yield from _beyond(member, f"{path}[{place}]")


@cache
def _keys(kind: Any) -> Mapping[str, Any]:
    """Return the keys of what is an object in a report, a dataclass or a named tuple, each with its type."""
    hints = get_type_hints(kind)
    keys = keys_of(kind) if isinstance(kind, type) and is_dataclass(kind) else {name: camel(name) for name in hints}
    return {key: hints[name] for name, key in keys.items()}


@cache
def _json_kind(hint: Any) -> type:
    """Return what a type becomes in JSON: ``dict``, ``list``, or itself."""
    origin = get_origin(hint)
    if is_dataclass(hint) or (isinstance(hint, type) and hasattr(hint, "_asdict")):
        return dict
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict
    if isinstance(origin, type) and issubclass(origin, Sequence):
        return list
    if hint in _SCALARS:
        return hint  # type: ignore[no-any-return]
    if origin is Literal:
        return str
    raise TypeError(f"no report holds {hint!r}")


def _must_be(hint: Any, value: object, path: str) -> Violation:
    return Violation("not-whole", f"must be {_words(hint)}", field=path or None, value=show(value))


def _words(hint: Any) -> str:
    origin, members = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        words = dict.fromkeys(_words(member) for member in members)
        return ", or ".join(words)
    if origin is Literal:
        return f"one of {', '.join(show(member) for member in members)}"
    return _SCALARS.get(hint) or ("an object" if _json_kind(hint) is dict else "an array")


def step(path: str, key: str) -> str:
    """Go on from a path to what stands under a key.

    >>> step("limits", "ece"), step("perClass", "a b")
    ('limits.ece', 'perClass["a b"]')
    """
    if not _PLAIN_KEY.fullmatch(key):
        return f"{path}[{show(key)}]"
    return f"{path}.{key}" if path else key
