"""Processes of this machine: new interpreters, of which nothing is forked or imported from the caller's program.

The pool of the standard library ends with the first process that dies. Here a process that dies is replaced, and its
task given to another.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from evalkit.engines.work import Parked

ATTEMPTS = 3
"""Processes that may die over one task."""

_CODE = """\
import sys
from multiprocessing.connection import Connection
pipe = Connection(int(sys.argv[1]))
sys.path[:] = pipe.recv()
from evalkit.engines.processes import serve
serve(pipe)
"""


class ProcessDiedError(OSError):
    """Every process that a task was given to died."""


class Processes(Executor):
    """Runs calls in a number of processes, which are started as they are needed."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._threads = ThreadPoolExecutor(count, thread_name_prefix="evalkit-process")
        self._lock = threading.Lock()
        self._idle: list[_Process] = []
        self._all: set[_Process] = set()
        self._parked: list[str] = []
        self._closed = False

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function in a process as soon as one is free."""
        return self._threads.submit(self._call, fn, args, kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:  # noqa: FBT001
        """End all processes, whatever they are at."""
        with self._lock:
            self._closed = True
            processes, self._all = self._all, set()
        for process in processes:
            process.kill()
        self._threads.shutdown(wait, cancel_futures=cancel_futures)
        for path in self._parked:
            Path(path).unlink(missing_ok=True)

    @property
    def pids(self) -> list[int]:
        """The processes."""
        with self._lock:
            return sorted(process.pid for process in self._all)

    def park(self, data: bytes) -> Parked:
        """Put bytes into a file that the processes read; it is there until the end."""
        with tempfile.NamedTemporaryFile(prefix="evalkit-", delete=False) as file:
            self._parked.append(file.name)
            file.write(data)
        return Parked(file.name)

    def _call(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        code = 0
        for _ in range(ATTEMPTS):
            process = self._taken()
            try:
                found, failed = process.call(fn, args, kwargs)
            except (EOFError, ConnectionError):
                code = process.kill()
                with self._lock:
                    self._all.discard(process)
                continue
            with self._lock:
                self._idle.append(process)
            if failed:
                raise found
            return found
        raise ProcessDiedError(f"{ATTEMPTS} processes that it was given to died, the last with code {code}")

    def _taken(self) -> _Process:
        with self._lock:
            if self._closed:
                raise ProcessDiedError("the processes were ended")
            if self._idle:
                return self._idle.pop()
            process = _Process(self.count)
            self._all.add(process)
            return process


class _Process:
    """A new interpreter that calls functions."""

    def __init__(self, count: int) -> None:
        from multiprocessing import Pipe

        self._pipe, other = Pipe()
        with other:
            number = other.fileno()
            command = [sys.executable, "-P", "-c", _CODE, str(number)]
            threads = str(max((os.cpu_count() or 1) // count, 1))
            environment = {"POLARS_MAX_THREADS": threads, **os.environ}
            self._popen = subprocess.Popen(  # noqa: S603
                command, pass_fds=[number], stdin=subprocess.DEVNULL, env=environment
            )
        self.pid = self._popen.pid
        self._pipe.send(sys.path)

    def call(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, bool]:
        """Call a function; what it returned, or raised, and which of the two.

        Raises:
            EOFError: The process died.
            ConnectionError: Likewise.
        """
        self._pipe.send((fn, args, kwargs))
        found: tuple[Any, bool] = self._pipe.recv()
        return found

    def kill(self) -> int:
        """End the process, and return its code."""
        self._popen.kill()
        return self._popen.wait()


def serve(pipe: Any) -> None:
    """Call functions until the other end is closed; the side of the process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the program that started it puts it away
    while True:
        try:
            fn, args, kwargs = pipe.recv()
        except (EOFError, ConnectionError):
            return
        try:
            found = fn(*args, **kwargs), False
        except Exception as error:  # noqa: BLE001 - raised again by who asked
            found = error, True
        pipe.send(found)
