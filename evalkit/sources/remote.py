"""Objects of a store (S3 and what speaks like it, Google, Azure): listed, looked at and read in ranges.

Credentials, endpoints and retries are those of the library, ``obstore``, and of the environment: the variables that the
stores' own tools read. Polars reads the same stores by the same library.
"""

from __future__ import annotations

import errno
import hashlib
import importlib.util
import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import IO, Any, NamedTuple

from evalkit.errors import Refusal, Violation

_URL = re.compile(r"(?:s3|gs|az|abfss?)://[^/]+/?", re.ASCII)
_MAGIC = re.compile(r"[*?[]")
_AHEAD = 8 * 1024 * 1024
"""Bytes that are fetched at a time where an object is read from beginning to end."""

_RETRIES, _PATIENCE = 5, 60
"""How often a request is tried again, and for how many seconds at most."""


class Facts(NamedTuple):
    """What a store tells of an object: what changes when its content does."""

    size: int
    modified: int
    tag: str


def is_remote(name: str) -> bool:
    """Tell whether a name is the address of an object.

    >>> is_remote("s3://bucket/a.jsonl"), is_remote("a.jsonl")
    (True, False)
    """
    return _URL.match(name) is not None


def located(name: str) -> str:
    """Return a name that leads to a file or an object from any folder."""
    return name if is_remote(name) else os.path.abspath(name)


def number(text: str) -> int:
    """Return a number that stands for a text."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def listed_objects(pattern: str) -> list[str]:
    """Return the addresses that a pattern stands for, sorted; a plain address stands for itself.

    A ``*`` stands for any characters but a slash, ``**`` for any at all.

    Raises:
        OSError: The store cannot be asked.
    """
    if not _MAGIC.search(pattern):
        return [pattern]
    import obstore

    root, key = _parts(pattern)
    folder = _MAGIC.split(key, maxsplit=1)[0].rpartition("/")[0]
    with _failing(pattern):
        found = [one["path"] for some in obstore.list(_store(root), folder or None) for one in some]
    return sorted(f"{root}/{path}" for path in found if _matches(path, key))


def _matches(path: str, pattern: str) -> bool:
    """Tell whether a name is one that a pattern stands for.

    >>> _matches("a/b.jsonl", "a/*.jsonl"), _matches("a/b/c.jsonl", "a/*.jsonl"), _matches("a/b/c.jsonl", "a/**.jsonl")
    (True, False, True)
    """
    if "**" in pattern:
        return fnmatchcase(path, pattern)
    names, patterns = path.split("/"), pattern.split("/")
    return len(names) == len(patterns) and all(map(fnmatchcase, names, patterns))


def facts_of(url: str) -> Facts:
    """Look at an object.

    Raises:
        FileNotFoundError: There is none, or no such bucket.
        PermissionError: The store refuses to say.
        OSError: The store cannot be asked.
    """
    import obstore

    root, key = _parts(url)
    with _failing(url):
        found = obstore.head(_store(root), key)
    return Facts(found["size"], int(found["last_modified"].timestamp() * 1e9), found["e_tag"] or found["version"] or "")


class RemoteFile(io.RawIOBase):
    """An object that is read like a file."""

    def __init__(self, url: str, size: int) -> None:
        self._url = url
        self._root, self._key = _parts(url)
        self._size = size
        self._place = self._begin = 0
        self._held = b""

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def seekable(self) -> bool:
        """Say that it can be read from anywhere."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to a place."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._place, os.SEEK_END: self._size}[whence]
        self._place = base + offset
        return self._place

    def tell(self) -> int:
        """Return the place."""
        return self._place

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, and fetch ahead."""
        inside = self._place - self._begin
        if not 0 <= inside < len(self._held):
            self._begin, inside = self._place, 0
            self._held = self.pread(max(_AHEAD, len(buffer)), self._place)
        piece = self._held[inside : inside + len(buffer)]
        buffer[: len(piece)] = piece
        self._place += len(piece)
        return len(piece)

    def pread(self, count: int, offset: int) -> bytes:
        """Read from a place."""
        import obstore

        stop = min(offset + count, self._size)
        if stop <= offset:
            return b""
        with _failing(self._url):
            return bytes(obstore.get_range(_store(self._root), self._key, start=offset, end=stop))


def pread(file: IO[bytes] | RemoteFile, count: int, offset: int) -> bytes:
    """Read from a place in a file or an object."""
    return file.pread(count, offset) if isinstance(file, RemoteFile) else os.pread(file.fileno(), count, offset)


def _parts(url: str) -> tuple[str, str]:
    """Part an address into that of the store and the name in it."""
    scheme, _, rest = url.partition("://")
    bucket, _, key = rest.partition("/")
    return f"{scheme}://{bucket}", key


@lru_cache(maxsize=64)
def _store(root: str) -> Any:
    from obstore.store import from_url

    plain = os.environ.get("AWS_ENDPOINT_URL", "").startswith("http://")
    patience: Any = {"max_retries": _RETRIES, "retry_timeout": timedelta(seconds=_PATIENCE)}
    options: Any = {"allow_http": True} if plain else {}
    return from_url(root, client_options=options, retry_config=patience)


def assert_can_read(url: str) -> None:
    """Refuse an address where nothing that reads it is installed.

    Raises:
        Refusal: The extra is missing.
    """
    if importlib.util.find_spec("obstore") is None:
        message = 'needs obstore, which is not installed: pip install "evalkit[cloud]"'
        raise Refusal.of(Violation("cloud-extra", message, url))


@contextmanager
def _failing(url: str) -> Iterator[None]:
    """Turn what the library raises into what the system would raise for a file."""
    from obstore import exceptions

    try:
        yield
    except (OSError, exceptions.BaseError) as error:
        said = str(error)
        first = said.strip().partition("\n")[0]
        code = re.search(r"<Code>(\w+)</Code>", said)
        status = re.search(r"non-2xx status code: (\d+)", said)
        reason = code.group(1) if code else f"status {status.group(1)}" if status else first
        if isinstance(error, FileNotFoundError) or (status and status.group(1) == "404"):
            raise FileNotFoundError(errno.ENOENT, reason, url) from None
        denied = exceptions.PermissionDeniedError, exceptions.UnauthenticatedError
        if isinstance(error, denied) or (status and status.group(1) in ("401", "403")):
            raise PermissionError(errno.EACCES, reason, url) from None
        raise OSError(errno.EIO, first, url) from None
