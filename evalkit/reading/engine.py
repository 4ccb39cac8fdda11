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


def gather(
    task: Callable[[Item], Result], items: Iterable[Item], workers: int = WORKERS, *, in_order: bool = False
) -> Iterator[Result]:
    """Yield ``task(item)`` of every item, in the order in which they finish, or in that of the items.

    Items are taken one by one as workers fall free, in the calling thread, which may read them from a stream. The
    first failure ends the run: items not yet begun are dropped, those under way are waited for.
    """
    with ThreadPoolExecutor(workers, thread_name_prefix="evalkit") as executor:
        yield from _bounded(executor, task, items, workers, in_order=in_order)


def _bounded(
    executor: Executor, task: Callable[[Item], Result], items: Iterable[Item], limit: int, *, in_order: bool
) -> Iterator[Result]:
    running: list[Future[Result]] = []
    try:
        for item in items:
            running.append(executor.submit(task, item))
            if len(running) >= limit:
                yield from _finished(running, in_order=in_order)
        while running:
            yield from _finished(running, in_order=in_order)
    finally:
        for future in running:
            future.cancel()


def _finished(running: list[Future[Result]], *, in_order: bool) -> Iterator[Result]:
    """Wait for the next that must be done, and take out whatever is done by then."""
    if in_order:
        yield running.pop(0).result()
        return
    done, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        running.remove(future)
        yield future.result()
