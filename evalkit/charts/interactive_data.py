"""What an interactive page holds of a report: its candidates, and what each was over some records, view by view.

A view is all records, or a stratum of them. Five eighths of the room are for candidates over all records, the rest is
for their strata. Where it does not do, those that come last have none: of strata, then of matrices, tables, curves and
diagrams, and in the end there are fewer candidates. What is left out is said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalkit.charts.interactive_room import Room

Maker = Callable[[Room], Any]

_ASIDE = 5 / 8
"""The share of the room that candidates may take, so that strata have the rest."""

_LARGE = {"bins": "diagrams", "curve": "curves", "classes": "tables of classes", "cells": "confusion matrices"}


@dataclass(frozen=True, slots=True)
class View:
    """What is known over some records.

    Attributes:
        core: Its name, and what is small.
        large: What is larger, under its key, made when there may be room for it.
    """

    core: Mapping[str, Any]
    large: Mapping[str, Maker]


@dataclass(frozen=True, slots=True)
class Entry:
    """A candidate of a comparison, or a model of an evaluation.

    Attributes:
        head: Its name, its outcome, its gates.
        whole: What it is over all records.
        strata: What it is in each stratum.
        number: How many strata there are.
    """

    head: Mapping[str, Any]
    whole: View
    strata: Iterable[View]
    number: int


@dataclass(frozen=True, slots=True)
class Words:
    """What a page calls its entries and their strata, one and many."""

    entry: str
    entries: str
    stratum: str
    strata: str


@dataclass(frozen=True, slots=True)
class Packed:
    """What goes into a page: the data, and sentences that say what is not in it."""

    data: Mapping[str, Any]
    left_out: tuple[str, ...]


def packed(entries: Sequence[Entry], size: int, words: Words) -> Packed:
    """Put as much of a report into a page as there is room for.

    Args:
        entries: Those first that go in first.
        size: The room in bytes.
        words: What the page calls things.
    """
    aside = int(size * _ASIDE)
    room = Room(aside)
    taken = list(_heads(entries, room))
    lacking = {key: sum(_enlarge(*pair, key, room) for pair in zip(entries, taken, strict=False)) for key in _LARGE}
    room.left += size - aside
    strata = sum(_add_strata(*pair, room) for pair in zip(entries, taken, strict=False))
    data = {"words": {"entry": words.entry, "stratum": words.stratum}, "labels": room.labels, "entries": taken}
    return Packed(data, tuple(_left_out(entries, len(taken), lacking, strata, words)))


def _heads(entries: Sequence[Entry], room: Room) -> Iterator[dict[str, Any]]:
    for entry in entries:
        made = {**entry.head, "strata": entry.number, "views": [dict(entry.whole.core)]}
        if room.take(lambda _, made=made: made) is None:  # type: ignore[misc]
            return
        yield made


def _enlarge(entry: Entry, taken: dict[str, Any], key: str, room: Room) -> int:
    """Give an entry something large, and return how many it lacks for want of room: none or one."""
    if key not in entry.whole.large:
        return 0
    view = taken["views"][0]
    view[key] = room.take(entry.whole.large[key])
    lacks = view[key] is None
    if lacks:
        view.setdefault("lacks", []).append(key)
    return int(lacks)


def _add_strata(entry: Entry, taken: dict[str, Any], room: Room) -> int:
    """Give an entry its strata as far as there is room, and return how many it got."""
    for view in entry.strata:
        whole = room.take(lambda held, view=view: _whole(view, held))  # type: ignore[misc]
        if whole is None:
            break
        taken["views"].append(whole)
    return len(taken["views"]) - 1


def _whole(view: View, room: Room) -> dict[str, Any]:
    return {**view.core, **{key: make(room) for key, make in view.large.items()}}


def _left_out(
    entries: Sequence[Entry], taken: int, lacking: Mapping[str, int], strata: int, words: Words
) -> Iterator[str]:
    """Say what is not in the page."""
    if taken < len(entries):
        yield f"{len(entries) - taken:,} of {len(entries):,} {words.entries} are left out."
    for key, number in lacking.items():
        if number:
            yield f"{_LARGE[key].capitalize()} of {number:,} {words.entries} are left out."
    all_strata = sum(entry.number for entry in entries)
    if strata < all_strata:
        yield f"{all_strata - strata:,} of {all_strata:,} {words.strata}, over all {words.entries}, are left out."
