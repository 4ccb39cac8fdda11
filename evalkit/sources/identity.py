"""Whether a file, or an object of a store, is still the one that was named, and what it is called in a report."""

from __future__ import annotations

import os
from typing import IO, NamedTuple, cast

from evalkit.errors import Refusal, Violation
from evalkit.sources import remote

_ANY, _STORE = -1, -2


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

    @classmethod
    def of_object(cls, facts: remote.Facts) -> Identity:
        """Take it from what a store tells."""
        return cls(_STORE, remote.number(facts.tag), facts.size, facts.modified)

    @property
    def elsewhere(self) -> Identity:
        """What tells it on another machine, to which a file of a shared folder has another device and inode."""
        return self if self.device == _STORE else self._replace(device=_ANY, inode=_ANY)

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
    file: IO[bytes]
    try:
        if remote.is_remote(path):
            found = Identity.of_object(remote.facts_of(path))
            file = cast("IO[bytes]", remote.RemoteFile(path, found.size))
        else:
            file = open(path, "rb", buffering=0)  # noqa: SIM115 - the caller closes it
            found = Identity.of(os.fstat(file.fileno()))
    except OSError as error:
        if remote.is_remote(path) and not isinstance(error, FileNotFoundError | PermissionError):
            raise  # the network's failure, not the object's
        message = f"was there at the start and cannot be opened now: {error.strerror}"
        raise Refusal.of(Violation("file-changed", message, label(path))) from None
    if not identity.is_that(found):
        file.close()
        message = "was changed while it was read; run again when it is whole"
        raise Refusal.of(Violation("file-changed", message, label(path)))
    return file
