"""Map a task over partitions: any order of results, never more partitions under way than memory is meant to hold."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

WORKERS = min(max(os.cpu_count() or 1, 2), 8)
"""Workers at a time. Even one core gains from two: one reads while the other counts."""


def gather(task: Callable[[Item], Result], items: Iterable[Item], workers: int = WORKERS) -> Iterator[Result]:
    """Yield ``task(item)`` of every item, in the order in which they finish.

    Items are taken one by one as workers fall free, in the calling thread, which may read them from a stream. The
    first failure ends the run: items not yet begun are dropped, those under way are waited for.
    """
    with ThreadPoolExecutor(workers, thread_name_prefix="evalkit") as executor:
        yield from _bounded(executor, task, items, workers)


def _bounded(executor: Executor, task: Callable[[Item], Result], items: Iterable[Item], limit: int) -> Iterator[Result]:
    running: set[Future[Result]] = set()
    try:
        for item in items:
            running.add(executor.submit(task, item))
            if len(running) >= limit:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
        while running:
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
    finally:
        for future in running:
            future.cancel()
