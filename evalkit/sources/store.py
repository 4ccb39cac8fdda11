"""From a URL to sources: one object, those that a pattern finds, or the Parquet files under a folder.

The rules are those of paths: an object that exists is that object, a pattern is in sorted order, and what the names of
folders say is part of every record.
"""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from fnmatch import fnmatchcase
from itertools import takewhile
from typing import TypeVar

from evalkit.errors import Refusal, Violation
from evalkit.sources import dataset
from evalkit.sources.dataset import Hive
from evalkit.sources.formats import PARQUET
from evalkit.sources.source import Source, label, sound
from evalkit.sources.store_faults import FAILURES, StoreError, placed, trouble
from evalkit.sources.store_object import Looked, failure, look, open_now, open_same, place_number
from evalkit.sources.store_systems import Place

__all__ = ["failure", "look", "open_now", "open_same", "place_number", "sources"]

_AT_A_TIME = 16
"""Objects that are looked at at a time: each takes two requests, in which hardly anything but waiting is done."""

Item = TypeVar("Item")
Found = TypeVar("Found")


def sources(name: str, faults: list[Violation]) -> list[Source]:
    """Turn a URL into sources; what is wrong is added to the faults."""
    try:
        place = placed(name)
        found = _expand(place, faults)
    except Refusal as refusal:
        faults.extend(refusal.violations)
        return []
    except StoreError as error:
        faults.append(error.trouble.violation(name))
        return []
    looked = _all(lambda one: _looked(one[0]), found)
    made: list[Source] = []
    for (one, hive), known in zip(found, looked, strict=True):
        if isinstance(known, Violation):
            faults.append(known)
        elif (source := sound(one, place_number(one), known.identity, known.head, hive, faults)) is not None:
            made.append(source)
    return made


def _all(task: Callable[[Item], Found], items: Sequence[Item]) -> list[Found]:
    if len(items) == 1:
        return [task(items[0])]
    with ThreadPoolExecutor(_AT_A_TIME, thread_name_prefix="evalkit-look") as executor:
        return list(executor.map(task, items))


def _looked(name: str) -> Looked | Violation:
    try:
        return look(name)
    except StoreError as error:
        return error.trouble.violation(name)
    except Refusal as refusal:  # one object's own
        return refusal.violations[0]


def _expand(place: Place, faults: list[Violation]) -> list[tuple[str, Hive]]:
    """Return the objects that a URL stands for."""
    from pyarrow.fs import FileType

    kind = _asked(place, lambda: place.system.get_file_info(place.path)).type
    if kind == FileType.File and not place.name.endswith("/"):
        return [(place.name, ())]
    if kind == FileType.Directory:
        inside, wrong = _folder(place)
        faults.extend(wrong)
        return inside
    if not glob.has_magic(place.key):
        return [(place.name, ())]  # which says that it is not there when it is looked at
    return _pattern(place, faults)


def _asked(place: Place, ask: Callable[[], Found]) -> Found:
    try:
        return ask()
    except FAILURES as error:
        raise StoreError(trouble(error, place)) from None


def _objects(place: Place, folder: str, *, deep: bool) -> list[str]:
    """Return the paths of the objects under a folder, sorted."""
    from pyarrow.fs import FileSelector, FileType

    selector = FileSelector(folder, recursive=deep, allow_not_found=folder != place.bucket)
    infos = _asked(place, lambda: place.system.get_file_info(selector))
    return sorted(info.path for info in infos if info.type == FileType.File)


def _pattern(place: Place, faults: list[Violation]) -> list[tuple[str, Hive]]:
    parts = place.key.split("/")
    plain = list(takewhile(lambda part: not glob.has_magic(part), parts[:-1]))
    folder = "/".join([place.bucket, *plain])
    found = [
        path
        for path in _objects(place, folder, deep=len(plain) + 1 < len(parts) or parts[-1] == "**")
        if _matches(path[len(folder) + 1 :].split("/"), parts[len(plain) :])
    ]
    if not found:
        faults.append(Violation("pattern-empty", "the pattern matches no object", label(place.name)))
    return [(place.at(path).name, ()) for path in found]


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Tell whether a path is one of a pattern's, by the rules of patterns of files."""
    if not pattern:
        return not parts
    first, rest = pattern[0], pattern[1:]
    if first == "**":
        if not rest:
            return not any(part.startswith(".") for part in parts)
        return _matches(parts, rest) or (bool(parts) and not parts[0].startswith(".") and _matches(parts[1:], pattern))
    if not parts or (parts[0].startswith(".") and not first.startswith(".")):
        return False
    return fnmatchcase(parts[0], first) and _matches(parts[1:], rest)


def _folder(place: Place) -> tuple[list[tuple[str, Hive]], list[Violation]]:
    """Find the files that a folder stands for."""
    names = [
        place.at(path).name
        for path in _objects(place, place.path, deep=True)
        if not _passed_over(path[len(place.path) + 1 :].split("/"))
    ]
    unclear = [name for name in names if not name.lower().endswith(PARQUET.suffixes)]
    heads = dict(zip(unclear, _all(_looked, unclear), strict=True)) if unclear else {}

    def is_parquet(name: str) -> bool:
        known = heads[name]
        return isinstance(known, Violation) or known.head.startswith(PARQUET.magic)

    found, wrong = dataset.sorted_out(place.name, names, is_parquet, [])
    return found, wrong


def _passed_over(parts: Iterable[str]) -> bool:
    return any(part.startswith(dataset.IGNORED) for part in parts)
