"""What is named by a URL lies in an object store; all else is a path. Nothing of a store is loaded before one is named.

Which module speaks to stores is named here, not imported: it loads Arrow's file systems, which take a tenth of a
second, and what is known of numbers must never see Arrow.
"""

from __future__ import annotations

import io
import os
from importlib import import_module
from typing import IO, Any

SCHEMES = ("s3", "gs", "az", "abfs", "abfss", "hf")
"""The object stores, as a URL begins."""


def is_url(name: object) -> bool:
    """Tell whether a name is that of something in an object store.

    >>> is_url("s3://bucket/a.jsonl"), is_url("S3://bucket/a.jsonl"), is_url("a.jsonl"), is_url("https://example.org/a")
    (True, True, False, False)
    """
    return isinstance(name, str) and name.partition("://")[0].lower() in SCHEMES and "://" in name


def located(name: str) -> str:
    """Return a name that leads to a file or an object from any folder."""
    return name if is_url(name) else os.path.abspath(name)


def unknown(name: str) -> str | None:
    """Say what is wrong with a name that looks like a URL of no store that is read; None where it does not.

    >>> unknown("https://example.org/a")
    'https:// is not read, but s3://, gs://, az://, abfs:// and hf:// are'
    """
    scheme, sign, _ = name.partition("://")
    if not sign or not scheme.isidentifier() or not scheme.isascii():
        return None
    return f"{scheme}:// is not read, but s3://, gs://, az://, abfs:// and hf:// are"


def store() -> Any:
    """Return the module that reads from object stores, ``evalkit.sources.store``."""
    return import_module("evalkit.sources.store")


def open_now(name: str) -> IO[bytes]:
    """Open a small file, or an object, to read it once.

    Raises:
        OSError: It cannot be opened; ``strerror`` says why.
    """
    if is_url(name):
        return io.BufferedReader(store().open_now(name))
    return open(name, "rb")


class Stored(io.RawIOBase):
    """An open object of a store, which is read from any place of it, and has no descriptor."""

    native: Any
    size: int

    def read_at(self, size: int, offset: int) -> bytes:
        """Return so many bytes from a place on, fewer where the object ends."""
        raise NotImplementedError


def read_at(file: IO[bytes], size: int, offset: int) -> bytes:
    """Return so many bytes from a place of an open file or object on, fewer where it ends."""
    if isinstance(file, Stored):
        return file.read_at(size, offset)
    return os.pread(file.fileno(), size, offset)


def size_of(file: IO[bytes]) -> int:
    """Return how many bytes an open file or object has."""
    raw = getattr(file, "raw", file)
    return raw.size if isinstance(raw, Stored) else os.fstat(file.fileno()).st_size


class Window(Stored):
    """One stretch of an object that was read at once, and the object itself for all that lies outside."""

    def __init__(self, file: Stored, start: int, stop: int) -> None:
        self._file = file
        self._start = start
        self._held = file.read_at(stop - start, start)
        self._to_end = len(self._held) < stop - start

    def read_at(self, size: int, offset: int) -> bytes:
        """Return bytes as an object does."""
        inside = offset - self._start
        if inside >= 0 and (self._to_end or inside + size <= len(self._held)):
            return self._held[inside : inside + size]
        return self._file.read_at(size, offset)


def ahead(file: IO[bytes], start: int, stop: int) -> IO[bytes]:
    """Read a stretch of an object in one request, where it will be read in several steps; a file is left as it is."""
    return Window(file, start, stop) if isinstance(file, Stored) else file  # type: ignore[return-value]
