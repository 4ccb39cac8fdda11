"""Ray: a thin executor over its own futures. Retries, scheduling and moving data are its own."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from typing import Any

from evalkit.engines.engine import Engine
from evalkit.engines.failures import EngineError

RETRIES = 3
"""How often Ray gives a task to another worker when one dies."""


class RayExecutor(Executor):
    """Runs calls as tasks of the Ray cluster that this process is connected to.

    Cancelling a future does not reach the cluster, and ``shutdown`` leaves it alone: it belongs to who started it.
    """

    def __init__(self, **options: Any) -> None:
        import ray

        self._remote: Any = ray.remote(**{"num_cpus": 1, "max_retries": RETRIES, **options})(_call)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function on the cluster."""
        found: Future[Any] = self._remote.remote(fn, *args, **kwargs).future()
        return found

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: FBT001
        """Do nothing."""


def _call(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return fn(*args, **kwargs)


def over_executor(executor: RayExecutor, name: str) -> Engine:
    """Return the engine of an executor."""
    import ray

    cluster: Any = ray
    return Engine(
        name,
        executor,
        slots=lambda: int(cluster.cluster_resources().get("CPU", 1)),
        share=ray.put,
        watch=_watch,
        explain=_explained,
    )


@contextlib.contextmanager
def connected(address: str) -> Iterator[Engine]:
    """Connect to a cluster: ``auto`` for the one of this machine, or ``host:port`` of Ray's client server.

    Raises:
        EngineError: None answers there.
    """
    import ray

    name = f"ray://{address}"
    try:
        if address == "auto":
            _look()
        ray.init(
            address="auto" if address == "auto" else name,
            logging_level=logging.CRITICAL,
            log_to_driver=False,
            configure_logging=False,
        )
    except (OSError, RuntimeError, ValueError) as error:
        said = str(error).strip().partition("\n")[0]
        raise EngineError(f"{name}: no cluster answers there: {said}") from None
    try:
        yield over_executor(RayExecutor(), name)
    finally:
        ray.shutdown()


def _look() -> None:
    """Knock at the address that ``auto`` stands for, where it is known: Ray ends the process when nobody answers.

    Raises:
        OSError: Nobody answers.
    """
    from ray._private import utils

    find: Callable[[], str | None] = getattr(utils, "read_ray_address", lambda: None)
    _knock(os.environ.get("RAY_ADDRESS") or find() or "")


def _knock(address: str) -> None:
    host, _, port = address.rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), 5).close()


def _watch() -> str | None:
    """Say why nothing can be waited for any longer: where its head is gone Ray itself waits."""
    import ray

    if not ray.is_initialized():
        return "the cluster is gone"
    address = getattr(ray.get_runtime_context(), "gcs_address", None)  # a client of a cluster knows none
    try:
        if address:
            _knock(address)
    except OSError as error:
        return f"the head of the cluster does not answer: {error}"
    return None


def _explained(error: BaseException) -> str:
    if type(error).__name__ == "WorkerCrashedError":
        return f"{RETRIES + 1} workers died over it, one after the other"
    return f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
