"""Whether a file, or an object of a store, is still the one that was named, and what it is called in a report."""

from __future__ import annotations

import os
from typing import IO, NamedTuple

from evalkit.errors import Refusal, Violation
from evalkit.sources.urls import is_url, store

_ANY = -1
STORE = -2
"""The device of whatever lies in a store."""


class Identity(NamedTuple):
    """What tells whether a file is still the same file with the same content."""

    device: int
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, status: os.stat_result) -> Identity:
        """Take the identity from a file's status."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)

    @property
    def elsewhere(self) -> Identity:
        """What tells it on another machine, to which a file of a shared folder has another device and inode."""
        return self if self.device == STORE else self._replace(device=_ANY, inode=_ANY)

    def is_that(self, found: Identity) -> bool:
        """Tell whether a file was found to be the same file."""
        return self in (found, found.elsewhere)


def label(name: str) -> str:
    """Return a file's name as it is reported: valid UTF-8 whatever the file system holds, and never nothing."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8") or '""'


def open_same(path: str, identity: Identity) -> IO[bytes]:
    """Open a file that was examined before.

    Raises:
        Refusal: It is gone, or it is not the same file with the same size and time any more.
    """
    if is_url(path):
        found: IO[bytes] = store().open_same(path, identity)
        return found
    try:
        file = open(path, "rb", buffering=0)  # noqa: SIM115 - the caller closes it
    except OSError as error:
        message = f"was there at the start and cannot be opened now: {error.strerror}"
        raise Refusal.of(Violation("file-changed", message, label(path))) from None
    if not identity.is_that(Identity.of(os.fstat(file.fileno()))):
        file.close()
        message = "was changed while it was read; run again when it is whole"
        raise Refusal.of(Violation("file-changed", message, label(path)))
    return file
