"""Dask: its own executor over a cluster that is there. Retries, scheduling and moving data are its own."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from typing import Any

from evalkit.engines.engine import Engine
from evalkit.engines.failures import EngineError

ANSWER = 30.0
"""Seconds that a scheduler has to say that it is one."""

_LOGGERS = ("distributed", "distributed.client", "tornado.application")
"""What Dask gives a level of its own; a worker that dies makes the last show a trace."""

NO_WORKERS = 30.0
"""Seconds without a worker after which nothing more is waited for; a cluster that grows needs some to begin."""


def over_client(client: Any, name: str) -> Engine:
    """Return the engine of a client that is connected."""
    return Engine(
        name,
        client.get_executor(pure=False),
        slots=lambda: sum(client.nthreads().values()),
        # The result of a task, not data that was scattered: should every worker that has it die, it is made again.
        share=lambda data: client.submit(_same, data, pure=False),
        watch=_Watch(client).look,
        explain=_explained,
    )


@contextlib.contextmanager
def over_executor(executor: Any) -> Iterator[Engine]:
    """Return the engine of Dask's own executor, which the caller keeps."""
    client = executor._client
    with _large_tasks():
        yield over_client(client, f"dask://{client.scheduler.address}")


def _large_tasks() -> Any:
    """Let Dask not warn of large tasks: lines of a stream have no other way to a worker."""
    import dask

    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "10GB"})


@contextlib.contextmanager
def connected(address: str) -> Iterator[Engine]:
    """Connect to a scheduler: ``host:port``, an address with its protocol, or the path of a scheduler file.

    Raises:
        EngineError: Nothing answers there.
    """
    from distributed import Client

    name = f"dask://{address}"
    for own in _LOGGERS:
        logging.getLogger(own).setLevel(logging.CRITICAL)  # what matters is said as an error of ours
    with _large_tasks():
        try:
            place = _address_in(address) if address.startswith("/") else address
            place = place if "://" in place else f"tcp://{place}"
            with ThreadPoolExecutor(1) as thread:  # whose loop is its own: a notebook's is running here
                thread.submit(asyncio.run, _greet(place)).result()
            client: Any = Client(place, set_as_default=False, name="evalkit")  # type: ignore[no-untyped-call]
        except (OSError, ValueError, TypeError, RuntimeError) as error:  # the last two of TLS that is not set up
            said = str(error) or f"nothing that it would say within {ANSWER:g} s"
            raise EngineError(f"{name}: no scheduler answers there: {said}") from None
        try:
            yield over_client(client, name)
        finally:
            with contextlib.suppress(Exception):
                client.close(timeout=2)


def _address_in(path: str) -> str:
    """Return the address in a scheduler file, which may be there only in a moment; Dask itself waits for ever.

    Raises:
        OSError: There is none.
        ValueError: It is another kind of file.
    """
    since = time.monotonic()
    while not os.path.exists(path) and time.monotonic() - since < ANSWER:
        time.sleep(0.1)
    with open(path, encoding="utf-8") as file:
        try:
            return str(json.load(file)["address"])
        except (ValueError, TypeError, KeyError):
            raise ValueError("this is not what dask scheduler --scheduler-file writes") from None


async def _greet(address: str) -> None:
    """Ask who answers: to anything but a scheduler, such as its own page for browsers, Dask listens for ever.

    Raises:
        OSError: Nobody answers.
        ValueError: A worker does.
    """
    from distributed import Security, rpc

    security: Any = Security()  # type: ignore[no-untyped-call]
    own: Any = rpc(address, connection_args=security.get_connection_args("client"))  # type: ignore[no-untyped-call]
    async with own as other:
        found = await asyncio.wait_for(other.identity(), ANSWER)
    if found.get("type") != "Scheduler":
        raise ValueError(f"this is the address of a {found.get('type')}")


class _Watch:
    """Looks whether a cluster still has a scheduler and workers."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._since: float | None = None

    def look(self) -> str | None:
        """Say why nothing can be waited for any longer."""
        if self._client.status not in ("running", "connecting", "newly-created"):
            return "the scheduler is gone"
        try:
            workers = self._client.nthreads()
        except Exception as error:  # noqa: BLE001 - whatever it is, nothing can be asked
            return f"the scheduler does not answer: {error}"
        if workers:
            self._since = None
            return None
        self._since = self._since or time.monotonic()
        return "it has no worker" if time.monotonic() - self._since > NO_WORKERS else None


def _explained(error: BaseException) -> str:
    if type(error).__name__ == "KilledWorker":
        times = getattr(error, "allowed_failures", 0) + 1
        return f"{times} workers died over it, one after the other"
    if isinstance(error, CancelledError) or "Cancelled" in type(error).__name__:
        return "the scheduler is gone, or has given the work up"
    return f"{type(error).__name__}: {error}"


def _same(data: bytes) -> bytes:
    return data
