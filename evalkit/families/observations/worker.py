"""A process that reads parts for another, as a copy of that one or as a new interpreter."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, Self

from evalkit.families.observations.part import Part, read_part

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

_CODE = """\
import sys
from multiprocessing.connection import Connection
pipe = Connection(int(sys.argv[1]))
sys.path[:], sources = pipe.recv()
from evalkit.families.observations.worker import serve
serve(pipe, sources)
"""

_TASKS = "/proc/self/task"
"""Where Linux names the threads of a process."""

_PUT_AWAY = {signal.SIGINT, signal.SIGTERM}
"""What ends a program; the program that started a worker puts it away then."""


def can_copy() -> bool:
    """Tell whether this process can be copied: it has one thread, so that no other can hold a lock that the copy needs.

    The system must tell; a process that is itself the worker of a pool may not have children of this kind.
    """
    if sys.platform != "linux" or not os.path.isdir(_TASKS):
        return False
    from multiprocessing import current_process

    return len(os.listdir(_TASKS)) == 1 and not current_process().daemon


class Worker:
    """A process that reads parts."""

    def __init__(self, sources: Collection[str] | None, *, copy: bool) -> None:
        """Start it.

        Args:
            sources: The declared sources.
            copy: Whether it is a copy of this process.
        """
        from multiprocessing import Pipe

        self.pipe, other = Pipe()
        with other:
            self._process: Any = _copied(self.pipe, other, sources) if copy else _new(other)
        if not copy:
            self.pipe.send((sys.path, sources))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.pipe.close()
        self.kill()

    def kill(self) -> None:
        """End the process."""
        self._process.kill()
        self._ended()

    def receive(self) -> Part:
        """Take the result of the part that was sent."""
        try:
            found = self.pipe.recv()
        except (EOFError, ConnectionError):
            raise OSError(f"a process that read observations ended by itself, with code {self._ended()}") from None
        if isinstance(found, BaseException):
            raise found
        return Part(*found)

    def _ended(self) -> int:
        """Wait for the end of the process, and return its code."""
        if isinstance(self._process, subprocess.Popen):
            return self._process.wait()
        self._process.join()
        return int(self._process.exitcode)


def _new(other: Connection) -> subprocess.Popen[bytes]:
    """Start a new interpreter."""
    number = other.fileno()
    command = [sys.executable, "-P", "-c", _CODE, str(number)]
    return subprocess.Popen(command, pass_fds=[number], stdin=subprocess.DEVNULL)  # noqa: S603


def _copied(pipe: Connection, other: Connection, sources: Collection[str] | None) -> Any:
    """Start a copy of this process."""
    from multiprocessing import get_context

    process = get_context("fork").Process(target=_copy, args=(pipe, other, sources), daemon=True)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _PUT_AWAY)  # our handlers are nothing for the copy
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return process


def _copy(pipe: Connection, other: Connection, sources: Collection[str] | None) -> None:
    """Go on as a copy."""
    pipe.close()  # else the copy would not see that the program is gone
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _PUT_AWAY)
    serve(other, sources)


def serve(pipe: Connection, sources: Collection[str] | None) -> None:
    """Read parts until the other end is closed; the worker's side."""
    import gc

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program that started it puts it away
    gc.disable()  # nothing here refers to itself
    while True:
        try:
            task = pipe.recv()
        except (EOFError, ConnectionError):
            return
        try:
            found: Any = tuple(read_part(task, sources))
        except Exception as error:  # noqa: BLE001 - raised again by who asked
            found = error
        pipe.send(found)
