"""Results put into an object store, which has no rename: an object is whole or not there, a folder with its report.

Every object appears only once all of it has arrived. A results folder is written table by table and its report last, so
that a folder without a report is no results. An earlier report is taken away first: tables of two runs never stand
under one report.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
from pyarrow.fs import FileSelector, FileType

from evalkit.errors import Refusal, Violation
from evalkit.sources.source import label
from evalkit.sources.store_faults import FAILURES, StoreError, placed, trouble
from evalkit.sources.store_systems import Place

REPORT = "report.json"
"""The object whose presence says that a results folder is whole."""


def check_object_target(url: str) -> None:
    """Refuse an object that could not be written: as far as can be told without writing one.

    Raises:
        Refusal: The URL names a folder or no bucket, or the store cannot be reached or refuses access.
    """
    with _refusing(url):
        place = _place(url)
        if not place.key or url.endswith("/"):
            raise _unwritable(url, "is a folder; name an object")
        kind = _asked(place, lambda: place.system.get_file_info(place.path)).type
        if kind == FileType.Directory:
            raise _unwritable(url, "is a folder; name an object")
        if kind == FileType.NotFound:
            _check_bucket(place)


def check_prefix_target(url: str, own: frozenset[str]) -> None:
    """Refuse a results folder that could not be written, or that holds anything but earlier results.

    Raises:
        Refusal: The URL names an object or no bucket, something else lies under it, or the store cannot be reached or
            refuses access.
    """
    with _refusing(url):
        place = _place(url)
        _check_bucket(place)
        if place.key and _asked(place, lambda: place.system.get_file_info(place.path)).type == FileType.File:
            raise _unwritable(url, "is not a folder; name one that does not exist, or earlier results")
        for name in sorted(_held(place)):
            if name not in own:
                raise _unwritable(url, f"holds {name}, which is no part of earlier results; name another folder")


def put(url: str, data: bytes) -> None:
    """Write an object.

    Raises:
        Refusal: The store does not take it.
    """
    with _refusing(url):
        _put(_place(url), pa.py_buffer(data))


def put_file(url: str, path: str) -> None:
    """Write a file's content as an object.

    Raises:
        Refusal: The store does not take it.
    """
    with _refusing(url):
        _put_file(_place(url), path)


def put_folder(url: str, folder: str) -> None:
    """Write the files of a folder as objects under a URL, the report last.

    Raises:
        Refusal: The store does not take them; what has arrived by then is no results folder.
    """
    with _refusing(url):
        place = _place(url)
        names = sorted(os.listdir(folder))
        earlier = _held(place)
        if REPORT in earlier:
            _delete(_inside(place, REPORT))
        for name in sorted(names, key=lambda name: (name == REPORT, name)):
            if name == REPORT:
                for old in sorted(earlier - set(names)):
                    _delete(_inside(place, old))
            _put_file(_inside(place, name), os.path.join(folder, name))


def _place(url: str) -> Place:
    place = placed(url)
    if url.lower().startswith("hf://"):
        raise _unwritable(url, "cannot be written: hf:// is only read; name another store, or a file")
    return place


def _inside(place: Place, name: str) -> Place:
    return place.at(f"{place.path}/{name}")


def _held(place: Place) -> set[str]:
    """Return the names right under a URL."""
    selector = FileSelector(place.path, recursive=False, allow_not_found=True)
    infos = _asked(place, lambda: place.system.get_file_info(selector))
    return {info.base_name for info in infos}


def _check_bucket(place: Place) -> None:
    if _asked(place, lambda: place.system.get_file_info(place.bucket)).type == FileType.NotFound:
        raise _unwritable(place.name, f"cannot be written: there is no bucket {place.bucket}")


def _put_file(place: Place, path: str) -> None:
    with pa.memory_map(path) as file:
        _put(place, file.read_buffer())


def _put(place: Place, data: Any) -> None:
    def write() -> None:
        # A stream that is left before its end is closed all the same, and what has arrived would be the object; so all
        # is written in one call, in which no signal is seen.
        stream = place.system.open_output_stream(place.path)
        stream.write(data)
        stream.close()

    _asked(place, write)


def _delete(place: Place) -> None:
    _asked(place, lambda: place.system.delete_file(place.path))


def _asked(place: Place, ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except FAILURES as error:
        raise StoreError(trouble(error, place)) from None


@contextmanager
def _refusing(url: str) -> Iterator[None]:
    """Turn what a store says of a target into a refusal."""
    try:
        yield
    except StoreError as error:
        raise _unwritable(url, f"cannot be written: {error.trouble.message}") from None


def _unwritable(url: str, message: str) -> Refusal:
    return Refusal.of(Violation("output-unwritable", message, label(url)))
