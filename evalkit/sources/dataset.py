"""A folder of Parquet files: which files it stands for, and what the names of its folders say of their records."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from urllib.parse import unquote

from evalkit.errors import Violation
from evalkit.sources.formats import PARQUET

Hive = tuple[tuple[str, str | None], ...]
"""Columns whose one value the names of folders tell, as in ``split=test``; None is null."""

NULL = "__HIVE_DEFAULT_PARTITION__"
"""How such a name spells null."""

IGNORED = (".", "_")
"""How the names of files and folders begin that are passed over."""


def files(folder: str) -> tuple[list[tuple[str, Hive]], list[Violation]]:
    """Find the files that a folder stands for, in sorted order, each with what the folders inside say of it.

    Files and folders whose names begin with a dot or an underscore are passed over, as every writer of such folders
    means it.

    Returns:
        The files, and what is wrong with the folder: another file than Parquet in it, no Parquet at all.
    """
    faults: list[Violation] = []
    return sorted_out(folder, _walk(folder, faults), _is_parquet, faults)


def sorted_out(
    folder: str, paths: Iterable[str], is_parquet: Callable[[str], bool], faults: list[Violation]
) -> tuple[list[tuple[str, Hive]], list[Violation]]:
    """Tell the Parquet files of a folder from others.

    Args:
        folder: The folder.
        paths: All that is in it, in sorted order, but for what is passed over.
        is_parquet: Tells whether a file is Parquet whose name does not say so.
        faults: What is wrong with the folder; what is found is added while the paths are taken.

    Returns:
        The files, and what is wrong.
    """
    found: list[tuple[str, Hive]] = []
    others: list[str] = []
    for path in paths:
        if path.lower().endswith(PARQUET.suffixes) or is_parquet(path):
            found.append((path, _hive(folder, path, faults)))
        else:
            others.append(path)
    if not found and not faults:
        message = "is a directory; name its files, or a pattern such as DIRECTORY/*.jsonl"
        return [], [Violation("path-directory", message, folder)]
    message = "is no Parquet; a folder stands for the Parquet files in it, so move this one, or name files"
    return found, faults + [Violation("dataset-file", message, path) for path in others]


def _walk(folder: str, faults: list[Violation], above: frozenset[tuple[int, int]] = frozenset()) -> Iterator[str]:
    try:
        status = os.stat(folder)
        here = (status.st_dev, status.st_ino)
        if here in above:
            faults.append(Violation("path-unreadable", "is a link to a folder that it lies in", folder))
            return
        with os.scandir(folder) as listing:
            entries = sorted((entry.name, entry.is_dir()) for entry in listing)
    except OSError as error:
        faults.append(Violation("path-unreadable", f"cannot be read: {error.strerror}", folder))
        return
    for name, is_folder in entries:
        path = os.path.join(folder, name)
        if name.startswith(IGNORED):
            continue
        if is_folder:
            yield from _walk(path, faults, above | {here})
        else:
            yield path


def _is_parquet(path: str) -> bool:
    """Tell whether a file of any name is Parquet; one that cannot be read is told of when it is opened to be read."""
    try:
        if not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            return file.read(4).startswith(PARQUET.magic)
    except OSError:
        return True


def _hive(folder: str, path: str, faults: list[Violation]) -> Hive:
    """Return what the names of the folders between a folder and a file say."""
    said: dict[str, str | None] = {}
    for part in os.path.relpath(os.path.dirname(path), folder).split(os.sep):
        key, sign, text = part.partition("=")
        if not key or not sign:
            continue
        name, value = _unquoted(key), None if text == NULL else _unquoted(text)
        if said.setdefault(name, value) != value:
            message = f"lies in folders that give {name} two values; leave one of them out"
            faults.append(Violation("hive-differs", message, path))
    return tuple(said.items())


def _unquoted(text: str) -> str:
    return unquote(text, errors="backslashreplace").encode("utf-8", "backslashreplace").decode("utf-8")
