"""Objects of a store, opened as files are: looked at before, read in ranges, and refused once they have changed.

An object is never held whole and never copied to a disk. It is known by its size and by what its store says of its
version, so that an object written anew is another one even where its bytes are the same.
"""

from __future__ import annotations

import hashlib
import io
from typing import IO, Any, NamedTuple

from evalkit.errors import Refusal, Violation
from evalkit.sources.formats import HEAD
from evalkit.sources.identity import STORE, Identity, label
from evalkit.sources.store_faults import FAILURES, MISSING, StoreError, is_of_store, placed, trouble
from evalkit.sources.store_systems import Place
from evalkit.sources.urls import Stored

BLOCK = 8 * 1024 * 1024
"""Bytes of a request where an object is read from beginning to end; a request takes some hundredths of a second."""

_VERSION = ("etag", "versionid", "version-id", "generation", "last-modified")


class Object(Stored):
    """An open object."""

    def __init__(self, place: Place, native: Any) -> None:
        self.native = native
        self.place = place
        self.size: int = native.size()
        self.identity = _identity(place, native, self.size)
        self._position = 0
        self._start = 0
        self._block = b""

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def seekable(self) -> bool:
        """Say that it can be read from any place on."""
        return True

    def tell(self) -> int:
        """Return the place that is read next."""
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place."""
        self._position = offset + (0, self._position, self.size)[whence]
        return self._position

    def close(self) -> None:
        """Let go of it."""
        if not self.closed:
            self.native.close()
        super().close()

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, as raw streams do; a block is asked for at a time."""
        if not self._start <= self._position < self._start + len(self._block):
            self._block = b""  # so that there are never two
            self._start, self._block = self._position, self.read_at(BLOCK, self._position)
        inside = self._position - self._start
        piece = memoryview(self._block)[inside : inside + len(buffer)]
        buffer[: len(piece)] = piece
        self._position += len(piece)
        return len(piece)

    def read_at(self, size: int, offset: int) -> bytes:
        """Return so many bytes from a place on, fewer where the object ends.

        Raises:
            Refusal: The object was changed, or the store does not give it any more.
        """
        size = max(min(size, self.size - offset), 0)
        if size == 0:
            return b""
        try:
            found: bytes = self.native.read_at(size, offset)
        except FAILURES as error:
            raise lost(self.place, self.identity, error) from None
        if len(found) < size:
            raise _changed(self.place.name)
        return found


def _identity(place: Place, native: Any, size: int) -> Identity:
    """Take the identity from what the store says of the version; where it says nothing, from the time."""
    said = {str(key).lower(): value for key, value in (_metadata(native) or {}).items()}
    version = [repr(said[key]) for key in _VERSION if key in said]
    if not version:
        info = place.system.get_file_info(place.path)
        version = [str(info.mtime_ns), *_hub_version(place)]
    return Identity(STORE, 0, size, _number("\n".join(version)))


def _metadata(native: Any) -> Any:
    try:
        return native.metadata()
    except FAILURES:
        return None


def _hub_version(place: Place) -> list[str]:
    """Return what the file system of the Hub, which is written in Python, is told of a version when asked anew."""
    inner = getattr(getattr(place.system, "handler", None), "fs", None)
    known = {} if inner is None else inner.info(place.path, refresh=True, expand_info=True)
    return [str(known.get(key)) for key in ("blob_id", "lfs", "xet_hash", "last_commit")]


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


def place_number(name: str) -> tuple[int, int]:
    """Return what two names of one object have in common, and of no others.

    Raises:
        Refusal: The URL names no object.
        StoreError: The store cannot be reached.
    """
    place = placed(name)
    return STORE, _number(f"{place.root.partition('://')[0].lower()}\n{place.path}")


def _opened(name: str) -> Object:
    """Open an object.

    Raises:
        StoreError: It cannot be opened.
        Refusal: The URL names none.
    """
    place = placed(name)
    try:
        if place.system.type_name == "abfs":
            place.system.get_file_info(place.path)  # without credentials Arrow ends the process if it opens first
        return Object(place, place.system.open_input_file(place.path))
    except FAILURES as error:
        raise StoreError(trouble(error, place)) from None


def open_now(name: str) -> IO[bytes]:
    """Open an object that is read once.

    Raises:
        OSError: It cannot be opened; ``strerror`` says why.
    """
    try:
        return _opened(name)  # type: ignore[return-value]
    except Refusal as refusal:
        raise OSError(0, refusal.violations[0].message) from None


def open_same(name: str, identity: Identity) -> IO[bytes]:
    """Open an object that was looked at before.

    Raises:
        Refusal: It is gone, or was written anew; or the store does not give it any more.
    """
    try:
        found = _opened(name)
    except StoreError as error:
        if error.trouble.rule != MISSING:
            raise error.trouble.refusal(name) from None
        message = f"was there at the start and cannot be opened now: {error.strerror}"
        raise Refusal.of(Violation("file-changed", message, label(name))) from None
    # A worker on another machine gets an identity without a device.
    if (found.identity.size, found.identity.modified) != (identity.size, identity.modified):
        found.close()
        raise _changed(name)
    return found  # type: ignore[return-value]


def lost(place: Place, identity: Identity, error: BaseException) -> Refusal:
    """Tell why an open object cannot be read any more: because it was changed, or for what the store says."""
    try:
        open_same(place.name, identity).close()
    except Refusal as refusal:
        return refusal
    return trouble(error, place).refusal(place.name)


def failure(name: str, identity: Identity, error: BaseException) -> Refusal | None:
    """Tell what an error means that Arrow raised while it decoded an object; None where the data is to blame."""
    return lost(placed(name), identity, error) if is_of_store(error) else None


def _changed(name: str) -> Refusal:
    message = "was changed while it was read; run again when it is whole"
    return Refusal.of(Violation("file-changed", message, label(name)))


class Looked(NamedTuple):
    """What is known of an object before it is read."""

    identity: Identity
    head: bytes


def look(name: str) -> Looked:
    """Look at an object's version, size and first bytes.

    Raises:
        StoreError: It cannot be opened.
        Refusal: The URL names none.
    """
    with _opened(name) as found:
        return Looked(found.identity, found.read_at(HEAD, 0))
