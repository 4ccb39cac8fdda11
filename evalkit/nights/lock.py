"""One night at a time: a lock that the system holds for a process and gives back when it ends, however it ends."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator

from evalkit.errors import Refusal, Violation
from evalkit.sources.source import label

LOCK = ".lock"


@contextlib.contextmanager
def locked(store: str) -> Iterator[None]:
    """Hold a store. The lock is on the open file, not on its being there: what a killed run leaves locks nothing.

    Raises:
        Refusal: Another run holds it.
    """
    handle = os.open(os.path.join(store, LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            message = "another nightly run is writing to this store; run again when it has ended"
            raise Refusal.of(Violation("store-busy", message, label(store))) from None
        yield
    finally:
        os.close(handle)
