"""Map a task over partitions: any order of results, never more partitions under way than memory is meant to hold."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias, TypeVar, Union

from evalkit.sources.partition import Digests, digest

if TYPE_CHECKING:
    from evalkit.engines.engine import Engine

Item = TypeVar("Item")
Result = TypeVar("Result")

WORKERS = min(max(os.cpu_count() or 1, 2), 8)
"""Workers at a time. Even one core gains from two: one reads while the other counts."""

LOCAL = "local"
"""The engine that is threads of this process."""

Workers: TypeAlias = Union[int, "Engine"]
"""How many threads of this process, or the engine that has the workers."""

Asked: TypeAlias = str | Executor | None
"""The engine that a caller asks for: what ``--engine`` takes, an executor, or None for threads of this process."""


@contextmanager
def workers_of(asked: Asked) -> Iterator[Workers]:
    """Open what a caller asks for, and close it again where it was opened here.

    Raises:
        Refusal: It is no engine, or an extra is not installed.
        OSError: It cannot be reached.
    """
    if asked is None or asked == LOCAL:
        yield WORKERS
        return
    from evalkit.engines.opening import opened  # here, for it brings the dataframe library with it

    with opened(asked) as engine:
        yield engine or WORKERS


def engine_of(workers: Workers) -> Engine | None:
    """Return the engine that has the workers; None where they are threads of this process."""
    return None if isinstance(workers, int) else workers


def digests_by(workers: Workers) -> Digests | None:
    """Return who digests files: workers on other machines, a task a file, lest all data pass through this one.

    None for a thread of this process, where workers are on this machine.
    """
    if isinstance(workers, int) or not workers.far:
        return None
    return lambda files, stop: workers.gather(digest, files, in_order=True, stop=stop)


def gather(
    task: Callable[[Item], Result], items: Iterable[Item], workers: Workers = WORKERS, *, in_order: bool = False
) -> Iterator[Result]:
    """Yield ``task(item)`` of every item, in the order in which they finish, or in that of the items.

    Items are taken one by one as workers fall free, in the calling thread, which may read them from a stream. The
    first failure ends the run: items not yet begun are dropped, those under way are waited for.

    An engine needs a task that can be pickled; nothing else is different.
    """
    if not isinstance(workers, int):
        yield from workers.gather(task, items, in_order=in_order)
        return
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
