"""How sure numbers are, as an interactive page holds it: ends of intervals as text, and what gates made of bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evalkit.charts.fields import taking
from evalkit.charts.intervals import Ruling, bracket
from evalkit.charts.of_selective import ASKED
from evalkit.charts.of_statistics import Statistics, Sure, statistics


def known(report: Mapping[str, Any]) -> Statistics:
    """Return the statistics of a report that has been read without a fault."""
    return statistics(report, taking("not-whole"))


def numbers(rows: Sequence[tuple[str, str, bool]], one: Mapping[str, Any], own: Sure) -> list[list[Any]]:
    """Return rows of a title, a value, whether it is a count, and the ends of its interval where it has one.

    Args:
        rows: Title, key and whether it is a count.
        one: The values by key.
        own: How sure they are.
    """
    found = []
    for title, key, counted in rows:
        ends = bracket(own.of(key))
        found.append([title, one.get(key), counted, *([ends] if ends else [])])
    return found


def bins(rows: Sequence[Sequence[Any]], own: Sure) -> list[list[Any]]:
    """Give bins the ends of the interval of their accuracy; each begins with its lower edge."""
    found = []
    for row in rows:
        interval = own.of_bin(row[0])
        found.append([*row, *(() if interval is None or interval.ends is None else interval.ends)])
    return found


def ruling(found: Ruling | None) -> list[Any]:
    """Return what a gate made of a bound: outcome and bound; nothing where it is held against the value."""
    return [] if found is None else [found.outcome, found.bound]


def asked(own: Sure) -> Iterator[list[Any]]:
    """Yield what gates ask for besides, as rows of gates that are counts."""
    for name, title in ASKED.items():
        if (one := own.rulings.get(name)) is not None:
            yield [title, one.value, one.limit, one.direction, one.outcome == "passed", *ruling(one), True]


def ends(own: Sure, label: str, names: Sequence[str]) -> list[str]:
    """Return the ends of the intervals of a class, as text, in the order of the columns; nothing where none has any."""
    found = [bracket(own.of(name, label)) for name in names]
    return found if any(found) else []
