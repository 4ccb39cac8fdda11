"""An engine: workers behind any ``concurrent.futures.Executor``, and what must be known of them besides.

What a worker gets of a file is its name and which part of it to read; what it returns is small. So this process holds
no more than a few tasks a worker and what has been counted so far. Retrying, scheduling and moving data is left to the
executor.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass, replace
from threading import Event
from typing import Any, TypeVar

from evalkit.engines.pack import packed, unpacked
from evalkit.engines.work import DONE, OTHER, REFUSED, Versions, portions, versions, work
from evalkit.errors import Refusal, Violation
from evalkit.sources.source import label

Item = TypeVar("Item")
Result = TypeVar("Result")

TASK_BYTES = 16 * 1024 * 1024
"""Stored bytes of a task: a partition, or many small files. It takes a worker a tenth of a second and more, beside
which the few milliseconds that an engine takes for a task are nothing."""

MOST_ITEMS = 256
"""Most partitions of a task."""

SHARED_BYTES = 1024 * 1024 * 1024
"""Most packed bytes that every worker is given, above all gold."""

LARGE_BYTES = 64 * 1024
"""Bytes from which on what every task needs is shared, not sent along with each."""

AHEAD = 3
"""Tasks at a time for each worker: one under way, others ready."""

LOOK = 2.0
"""Seconds after which an engine that has finished nothing is looked at."""


class EngineError(OSError):
    """The engine or a worker failed, not the input; running again may succeed."""


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
            Refusal: Of a task; or a worker has another evalkit or Polars.
            EngineError: The engine failed, or a worker's machine.
        """
        data = packed(task)
        if len(data) > SHARED_BYTES:
            raise Refusal.of(too_much(len(data)))
        known = (versions(), hashlib.sha256(data).hexdigest(), self._shared(data))
        running: dict[Future[Any], list[Item]] = {}
        limit = max(AHEAD * self.slots(), AHEAD)
        try:
            for bundle in bundles(items, self.task_bytes):
                running[self._submitted(known, bundle)] = bundle
                while len(running) >= limit:
                    yield from self._finished(running, in_order=in_order, stop=stop)
            while running:
                yield from self._finished(running, in_order=in_order, stop=stop)
        finally:
            for future in running:
                future.cancel()

    def _submitted(self, known: tuple[Versions, str, Any], bundle: list[Any]) -> Future[Any]:
        asked = packed([self._described(item) for item in bundle])
        try:
            return self.executor.submit(work, *known, asked)
        except Exception as error:
            raise self._failure(self.explain(error), [bundle]) from error

    def _shared(self, data: bytes) -> Any:
        return data if len(data) < LARGE_BYTES else self.share(data)

    def _described(self, item: Any) -> Any:
        """Return a partition as a worker can read it, which is in another folder, and maybe on another machine."""
        if not hasattr(item, "path"):
            return item
        identity = item.identity.elsewhere if self.far else item.identity
        return replace(item, path=os.path.abspath(item.path), identity=identity)

    def _finished(self, running: dict[Future[Any], list[Any]], *, in_order: bool, stop: Event | None) -> Iterator[Any]:
        """Wait for the next that must be done, and take out whatever is done by then."""
        awaited = [next(iter(running))] if in_order else list(running)
        done: Iterable[Future[Any]] = ()
        while not done:
            done, _ = wait(awaited, timeout=LOOK, return_when=FIRST_COMPLETED)
            if stop is not None and stop.is_set():
                running.clear()
                return
            if not done and (lost := self.watch()) is not None:
                raise self._failure(lost, list(running.values()))
        for future in done:
            try:
                outcome = future.result()
            except BaseException as error:
                if future.cancelled() or future.done():
                    raise self._unfinished(error, running, future) from None
                raise
            bundle = running.pop(future)
            yield from self._results(outcome, bundle)

    def _results(self, outcome: tuple[str, Any], bundle: list[Any]) -> list[Any]:
        kind, found = outcome
        if kind == DONE:
            return list(unpacked(found))
        if kind == REFUSED:
            raise _as_named(unpacked(found), bundle)
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
        same = [found for one, found in running.items() if one is future or _failed_like(one, error)]
        return self._failure(self.explain(error), same)

    def _failure(self, said: str, bundles: list[list[Any]]) -> EngineError:
        few = "; ".join(portions(bundle) for bundle in bundles[:3])
        more = f" and {len(bundles) - 3:,} other tasks" if len(bundles) > 3 else ""
        return EngineError(f"{self.name}: {said}; not read: {few}{more}")


def _as_named(refusal: Refusal, bundle: list[Any]) -> Refusal:
    """Return a worker's refusal with files called as the caller calls them."""
    names = {label(os.path.abspath(item.path)): label(item.path) for item in bundle if hasattr(item, "path")}
    said = [replace(one, file=names.get(one.file or "", one.file)) for one in refusal.violations]
    return Refusal(said, refusal.counts, refusal.lines)


def _failed_like(future: Future[Any], error: BaseException) -> bool:
    if not future.done() or future.cancelled():
        return future.done() and type(error).__name__ == "CancelledError"
    return type(future.exception()) is type(error)


def other_version(engine: str, worker: str, found: Versions | None) -> Violation:
    """Say that a worker has other versions, or no evalkit at all."""
    has = "has no such evalkit" if found is None else f"has {found}"
    who = worker if found is None else f"worker {worker}"
    message = f"{who} of {engine} {has}, and here is {versions()}; install the same on every worker"
    return Violation("engine-versions", message)


def too_much(size: int) -> Violation:
    """Say that what every worker must hold is too large."""
    message = (
        f"what every worker must hold, above all gold, is {size:,} bytes packed, more than {SHARED_BYTES:,}; "
        "evaluate parts of the families apart, or on this machine with --engine local"
    )
    return Violation("engine-shared", message)


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
