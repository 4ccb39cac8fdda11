"""Parts of a list read by several processes, their results in the order of the parts.

The distance of two texts is computed without giving the interpreter free, so threads would wait for each other. A
worker is a copy of this process where that is safe, which is there at once. Elsewhere it is a new interpreter, of which
nothing is forked or imported from the caller's program; those are started once the work turns out to be more than
starting them, and until then parts are read right here.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import ExitStack
from itertools import chain
from typing import Any, Self

from evalkit.families.observations.part import Part, Task, read_part
from evalkit.families.observations.worker import Worker, can_copy

WORKERS = min(os.cpu_count() or 1, 8)
"""Workers at a time."""

PATIENCE = 0.3
"""Seconds of work after which new interpreters are started."""

_AHEAD = 4
"""Parts for each worker that may be read before an earlier one is done."""


class Spread:
    """Reads parts, of one list after the other, by the same workers."""

    def __init__(
        self,
        sources: Collection[str] | None,
        workers: int = WORKERS,
        patience: float = PATIENCE,
        *,
        copies: bool | None = None,
    ) -> None:
        """Begin without a worker.

        Args:
            sources: The declared sources.
            workers: How many workers there may be; with fewer than two all is read right here.
            patience: Seconds of work after which new interpreters are started.
            copies: Whether workers are copies of this process, with which nothing is waited for but a second part;
                where nothing is said, they are if that is safe.
        """
        self._copies = can_copy() if copies is None else copies
        self._patience = 0.0 if self._copies else patience
        self._sources = sources
        self._count = workers if self._copies or sys.executable else 1
        self._stack = ExitStack()
        self.workers: list[Worker] = []

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
        first, second = next(coming, None), next(coming, None)
        if first is not None and second is None:  # nothing to share
            yield read_part(first, self._sources)
        elif first is not None and second is not None:
            yield from self._read(chain((first, second), coming))

    def _read(self, tasks: Iterable[Task]) -> Iterator[Part]:
        idle, busy = list[Worker](self.workers), dict[Any, tuple[Worker, int]]()
        done: dict[int, Part] = {}
        wanted = 0
        for number, task in enumerate(tasks):
            if len(self.workers) < self._count:
                self.workers.append(self._stack.enter_context(Worker(self._sources, copy=self._copies)))
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


def _collect(busy: dict[Any, tuple[Worker, int]], idle: list[Worker], done: dict[int, Part]) -> None:
    """Wait for some workers' results."""
    from multiprocessing.connection import wait

    for pipe in wait(list(busy)):
        worker, number = busy.pop(pipe)
        done[number] = worker.receive()
        idle.append(worker)
