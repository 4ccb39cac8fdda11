"""Parts of a list read by several processes, their results in the order of the parts.

The distance of two texts is computed without giving the interpreter free, so threads would wait for each other. Each
worker is a new interpreter that talks through a pipe: nothing of the caller's program is forked or imported. They are
started once the work turns out to be more than starting them: until then parts are read right here.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self

from evalkit.families.observations.part import Part, Task, read_part

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

WORKERS = min(os.cpu_count() or 1, 8)
"""Workers at a time."""

PATIENCE = 0.3
"""Seconds of work after which workers are started."""

_AHEAD = 4
"""Parts for each worker that may be read before an earlier one is done."""

_CODE = """\
import sys
from multiprocessing.connection import Connection
pipe = Connection(int(sys.argv[1]))
sys.path[:], sources = pipe.recv()
from evalkit.families.observations.spread import serve
serve(pipe, sources)
"""


class Spread:
    """Reads parts, of one list after the other, by the same workers."""

    def __init__(self, sources: Collection[str] | None, workers: int = WORKERS, patience: float = PATIENCE) -> None:
        """Begin without a worker.

        Args:
            sources: The declared sources.
            workers: How many workers there may be; with fewer than two all is read right here.
            patience: Seconds of work after which they are started.
        """
        self._patience = patience
        self._sources = sources
        self._count = workers if sys.executable else 1
        self._stack = ExitStack()
        self.workers: list[_Worker] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def read(self, tasks: Iterable[Task]) -> Iterator[Part]:
        """Read parts; results come in the order of the tasks, which are taken as workers fall free."""
        coming = iter(tasks)
        while self._count < 2 or self._patience > 0:
            task = next(coming, None)
            if task is None:
                return
            began = time.monotonic()
            found = read_part(task, self._sources)
            self._patience -= time.monotonic() - began
            yield found
        yield from self._read(coming)

    def _read(self, tasks: Iterable[Task]) -> Iterator[Part]:
        idle, busy = list[_Worker](self.workers), dict[Any, tuple[_Worker, int]]()
        done: dict[int, Part] = {}
        wanted = 0
        for number, task in enumerate(tasks):
            if len(self.workers) < self._count:
                self.workers.append(self._stack.enter_context(_Worker(self._sources)))
                idle.append(self.workers[-1])
            while not idle or number - wanted >= _AHEAD * self._count:
                _collect(busy, idle, done)
                while wanted in done:
                    yield done.pop(wanted)
                    wanted += 1
            worker = idle.pop()
            worker.pipe.send(task)
            busy[worker.pipe] = (worker, number)
        while busy or done:
            if wanted not in done:
                _collect(busy, idle, done)
                continue
            yield done.pop(wanted)
            wanted += 1


def _collect(busy: dict[Any, tuple[_Worker, int]], idle: list[_Worker], done: dict[int, Part]) -> None:
    """Wait for some workers' results."""
    from multiprocessing.connection import wait

    for pipe in wait(list(busy)):
        worker, number = busy.pop(pipe)
        done[number] = worker.receive()
        idle.append(worker)


class _Worker:
    """A process that reads parts."""

    def __init__(self, sources: Collection[str] | None) -> None:
        from multiprocessing import Pipe

        self.pipe, other = Pipe()
        with other:
            number = other.fileno()
            command = [sys.executable, "-P", "-c", _CODE, str(number)]
            self._process = subprocess.Popen(command, pass_fds=[number], stdin=subprocess.DEVNULL)  # noqa: S603
        self.pipe.send((sys.path, sources))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.pipe.close()
        self.kill()

    def kill(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()

    def receive(self) -> Part:
        """Take the result of the part that was sent."""
        try:
            found = self.pipe.recv()
        except (EOFError, ConnectionError):
            code = self._process.wait()
            raise OSError(f"a process that read observations ended by itself, with code {code}") from None
        if isinstance(found, BaseException):
            raise found
        return Part(*found)


def serve(pipe: Connection, sources: Collection[str] | None) -> None:
    """Read parts until the other end is closed; the worker's side."""
    import gc
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program that started it puts it away
    gc.disable()  # nothing here refers to itself
    while True:
        try:
            task = pipe.recv()
        except EOFError:
            return
        try:
            found: Any = tuple(read_part(task, sources))
        except Exception as error:  # noqa: BLE001 - raised again by who asked
            found = error
        pipe.send(found)
