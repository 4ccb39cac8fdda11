"""Ways to tamper with a report, for the tests of verification: what is done to it, and every scalar in it."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

Plain = dict[str, Any]


@dataclass(frozen=True)
class Tamper:
    """One way to tamper: what is done, what the program must say in its first lines, and with which exit code."""

    what: str
    change: Callable[[Plain], object]
    found: tuple[str, ...]
    more: tuple[str, ...] = ()
    code: int = 3
    text: Callable[[str], str] | None = None


def put(path: str, value: object) -> Callable[[Plain], object]:
    """Return what sets the value at a dotted path."""

    def change(claim: Plain) -> None:
        inside, last = _inside(claim, path)
        inside[last] = value

    return change


def drop(path: str) -> Callable[[Plain], object]:
    """Return what removes the key at a dotted path."""

    def change(claim: Plain) -> None:
        inside, last = _inside(claim, path)
        del inside[last]

    return change


def _inside(claim: Any, path: str) -> tuple[Any, str | int]:
    """Return what holds the value at a dotted path, and the last step to it."""
    *way, last = path.split(".")
    for step in way:
        claim = claim[int(step) if isinstance(claim, list) else step]
    return claim, int(last) if isinstance(claim, list) else last


def nothing(claim: Plain) -> None:
    """Leave a report as it is."""


Way = tuple[str | int, ...]


def leaves(value: object, way: Way = ()) -> Iterator[Way]:
    """Return the way to every scalar."""
    if isinstance(value, dict | list):
        for step, below in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(below, (*way, step))
    else:
        yield way


def at(value: Any, way: Way) -> Any:
    """Return what is there."""
    return functools.reduce(lambda inside, step: inside[step], way, value)


def others(value: object) -> st.SearchStrategy[object]:
    """Make scalars other than a value, many of them close to it."""
    scalars: list[st.SearchStrategy[Any]] = [
        st.none(),
        st.booleans(),
        st.integers(-3, 100),
        st.floats(-2, 2, allow_nan=False),
        st.text(max_size=3),
    ]
    if isinstance(value, int | float) and not isinstance(value, bool):
        scalars += [st.sampled_from([value + 1e-6, value - 1e-6, value + 1, -value - 1, str(value)])]
    if isinstance(value, str):
        scalars += [st.sampled_from([value + "x", "x" + value, value[:-1], value.upper() + "X"])]
    return st.one_of(scalars).filter(lambda other: not _says_the_same(other, value))


def _says_the_same(left: object, right: object) -> bool:
    if isinstance(right, float) and isinstance(left, int | float) and not isinstance(left, bool):
        return abs(left - right) < 1e-9
    return type(left) is type(right) and left == right
