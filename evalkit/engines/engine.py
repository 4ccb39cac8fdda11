"""An engine: workers behind any ``concurrent.futures.Executor``, and what must be known of them besides.

What a worker gets of a file is its name and which part of it to read; what it returns is small. So this process holds
no more than a few tasks a worker and what has been counted so far. Retrying, scheduling and moving data is left to the
executor.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Event
from typing import Any, TypeVar

from evalkit.engines import failures
from evalkit.engines.failures import EngineError, of_worker, other_version, portions, too_much, unread
from evalkit.engines.pack import packed, unpacked
from evalkit.engines.work import DONE, OTHER, REFUSED, Versions, versions, work
from evalkit.errors import Refusal
from evalkit.sources.urls import located

Item = TypeVar("Item")
Result = TypeVar("Result")

TASK_BYTES = 16 * 1024 * 1024
"""Stored bytes of a task: a partition, or many small files. It takes a worker a tenth of a second and more, beside
which the few milliseconds that an engine takes for a task are nothing."""

MOST_ITEMS = 256
"""Most partitions of a task."""

LARGE_BYTES = 64 * 1024
"""Bytes from which on what every task needs is shared, not sent along with each."""

AHEAD = 3
"""Tasks at a time for each worker: one under way, others ready."""

LOOK = 2.0
"""Seconds after which an engine that has finished nothing is looked at."""

_LISTEN = 0.1
"""Seconds after which it is seen that nothing more is wanted."""


@dataclass(frozen=True)
class Engine:
    """Workers elsewhere.

    Attributes:
        name: What it is called where it fails.
        executor: Takes tasks.
        slots: How many tasks its workers can do at once.
        share: Turns the bytes of a packed task into what ``submit`` takes for it, so that they travel once a worker.
        watch: Says why nothing can be waited for any longer; None while something can.
        explain: Says what it means that the engine could not finish a task.
        far: Whether workers may be on other machines.
        task_bytes: Stored bytes of a task.
    """

    name: str
    executor: Executor
    slots: Callable[[], int]
    share: Callable[[bytes], Any] = lambda data: data
    watch: Callable[[], str | None] = lambda: None
    explain: Callable[[BaseException], str] = lambda error: f"{type(error).__name__}: {error}".removesuffix(": ")
    far: bool = True
    task_bytes: int = TASK_BYTES

    def gather(
        self,
        task: Callable[[Item], Result],
        items: Iterable[Item],
        *,
        in_order: bool = False,
        stop: Event | None = None,
    ) -> Iterator[Result]:
        """Yield ``task(item)`` of every item, in the order in which they finish, or in that of the items.

        Args:
            task: A function that can be pickled; what it holds is sent once a worker where it is large.
            items: Partitions, taken one by one as workers fall free.
            in_order: Whether results come in the order of the items.
            stop: Once it is set, nothing more is waited for.

        Raises:
            Refusal: Of a task; or a worker has another evalkit or Polars, or another file under the same name.
            EngineError: The engine failed, or a worker's machine.
        """
        data = packed(task)
        if len(data) > failures.SHARED_BYTES:
            raise Refusal.of(too_much(len(data)))
        with self._failing([]):
            shared = data if len(data) < LARGE_BYTES else self.share(data)
        known = (versions(), hashlib.sha256(data).hexdigest(), shared)
        running: dict[Future[Any], list[Any]] = {}
        limit = Limit(self)
        try:
            for bundle in bundles(items, self.task_bytes):
                with self._failing([bundle]):
                    running[self.executor.submit(work, *known, self._described(bundle))] = bundle
                    most = limit.now()
                while len(running) >= most and not _is_set(stop):
                    yield from self._finished(running, in_order=in_order, stop=stop)
                if _is_set(stop):
                    return
            while running and not _is_set(stop):
                yield from self._finished(running, in_order=in_order, stop=stop)
        finally:
            for future in running:
                future.cancel()

    @contextmanager
    def _failing(self, items: list[list[Any]]) -> Iterator[None]:
        """Take whatever is raised by the engine for its failure."""
        try:
            yield
        except (Refusal, EngineError):
            raise
        except Exception as error:
            raise unread(self.name, self.explain(error), items) from error

    def _described(self, bundle: list[Any]) -> bytes:
        """Pack partitions as a worker can read them, which is in another folder, and maybe on another machine."""
        packing = []
        for item in bundle:
            if hasattr(item, "path"):
                identity = item.identity.elsewhere if self.far else item.identity
                packing.append(replace(item, path=located(item.path), identity=identity))
            else:
                packing.append(item)
        return packed(packing)

    def _finished(self, running: dict[Future[Any], list[Any]], *, in_order: bool, stop: Event | None) -> Iterator[Any]:
        """Wait for the next that must be done, and take out whatever is done by then."""
        awaited = [next(iter(running))] if in_order else list(running)
        look = time.monotonic() + LOOK
        done: Iterable[Future[Any]] = ()
        while not done:
            done, _ = wait(awaited, timeout=LOOK if stop is None else _LISTEN, return_when=FIRST_COMPLETED)
            if _is_set(stop):
                return
            if not done and time.monotonic() >= look:
                look = time.monotonic() + LOOK
                if (lost := self.watch()) is not None:
                    raise unread(self.name, lost, list(running.values()))
        for future in done:
            error = CancelledError() if future.cancelled() else future.exception()
            if error is not None:
                raise self._unfinished(error, running, future)
            yield from self._results(future.result(), running.pop(future))

    def _results(self, outcome: tuple[str, Any], bundle: list[Any]) -> list[Any]:
        kind, found = outcome
        if kind == DONE:
            return list(unpacked(found))
        if kind == REFUSED:
            raise of_worker(unpacked(found[1]), found[0], bundle)
        if kind == OTHER:
            raise Refusal.of(other_version(self.name, found[0], Versions(*found[1:])))
        worker, said, machine, trace = found
        message = f"{self.name}: worker {worker} could not read {portions(bundle)}: {said}"
        raise EngineError(message) if machine else RuntimeError(f"{message}\n{trace}")

    def _unfinished(
        self, error: BaseException, running: dict[Future[Any], list[Any]], future: Future[Any]
    ) -> Exception:
        """Tell what it means that the engine did not finish a task."""
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, ImportError) and (cause.name or "").partition(".")[0] in ("evalkit", "polars"):
                return Refusal.of(other_version(self.name, "a worker", None))
            cause = cause.__cause__ or cause.__context__
        # Tasks that were next to it on a worker that died may have been given up with it.
        same = [found for one, found in running.items() if one is future or _ended_like(one, error)]
        return unread(self.name, self.explain(error), same)


def _is_set(stop: Event | None) -> bool:
    return stop is not None and stop.is_set()


def _ended_like(future: Future[Any], error: BaseException) -> bool:
    if future.cancelled():
        return isinstance(error, CancelledError)
    return future.done() and type(future.exception()) is type(error)


class Limit:
    """How many tasks may be under way; a cluster may grow or shrink meanwhile."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._most = 0
        self._until = 0.0

    def now(self) -> int:
        """Return it, as it was found a moment ago."""
        if time.monotonic() >= self._until:
            self._most = AHEAD * max(self._engine.slots(), 1)
            self._until = time.monotonic() + LOOK
        return self._most


def bundles(items: Iterable[Item], least: int) -> Iterator[list[Item]]:
    """Put partitions of small files together until they are large enough; what carries its data goes alone."""
    held: list[Item] = []
    size = 0
    for item in items:
        held.append(item)
        size += item.stored if hasattr(item, "path") and hasattr(item, "stored") else least
        if size >= least or len(held) == MOST_ITEMS:
            yield held
            held, size = [], 0
    if held:
        yield held
