"""From what a caller names to an engine: a text as ``--engine`` takes it, or an executor."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any, NamedTuple

from evalkit.engines.engine import Engine
from evalkit.engines.processes import Processes
from evalkit.errors import Refusal, Violation

MAX_PROCESSES = 1024

_EXTRAS = {"dask": "distributed", "ray": "ray"}
"""What must be installed for each engine."""


class Named(NamedTuple):
    """An engine as it was named: its kind, and its number or address."""

    kind: str
    place: str


def named(text: str) -> Named:
    """Read the name of an engine.

    Raises:
        Refusal: It is none, or what it needs is not installed.

    >>> named("processes:4"), named("dask://10.0.0.1:8786")
    (Named(kind='processes', place='4'), Named(kind='dask', place='10.0.0.1:8786'))
    """
    kind, sign, place = text.partition("://")
    if sign and place and kind in _EXTRAS:
        if importlib.util.find_spec(_EXTRAS[kind]) is None:
            message = f'needs {_EXTRAS[kind]}, which is not installed: pip install "evalkit[{kind}]"'
            raise Refusal.of(Violation("engine-extra", message, field="engine", value=text))
        return Named(kind, place)
    kind, _, place = text.partition(":")
    if kind == "processes" and place.isascii() and place.isdecimal() and 1 <= int(place) <= MAX_PROCESSES:
        return Named(kind, place)
    if text == "local":
        return Named(text, "")
    message = f"must be local, processes:N with N from 1 to {MAX_PROCESSES:,}, dask://host:port or ray://auto"
    raise Refusal.of(Violation("engine", message, field="engine", value=text))


@contextmanager
def opened(asked: str | Executor) -> Iterator[Engine | None]:
    """Open an engine, and close it again where it was opened here; None for threads of this process.

    Raises:
        Refusal: What was asked for is no engine.
        EngineError: None answers at the address.
    """
    if isinstance(asked, Executor):
        if type(asked).__module__.partition(".")[0] == "distributed":
            dask: Any = importlib.import_module("evalkit.engines.dask")
            with dask.over_executor(asked) as engine:
                yield engine
        else:
            yield adapted(asked)
        return
    kind, place = named(asked)
    if kind == "processes":
        with Processes(int(place)) as executor:
            yield adapted(executor)
    elif kind in _EXTRAS:
        module: Any = importlib.import_module(f"evalkit.engines.{kind}")
        with module.connected(place) as engine:
            yield engine
    else:
        yield None


def adapted(executor: Executor) -> Engine:
    """Return the engine of an executor that the caller keeps.

    Raises:
        Refusal: Its workers are copies of this process.
    """
    if isinstance(executor, Processes):
        count = executor.count
        return Engine(f"processes:{count}", executor, lambda: count, executor.park, explain=str, far=False)
    if type(executor).__name__ == "RayExecutor":
        from evalkit.engines.ray import RayExecutor, over_executor

        if isinstance(executor, RayExecutor):
            return over_executor(executor, "ray")
    context = getattr(executor, "_mp_context", None)
    if context is not None and context.get_start_method() == "fork":
        message = (
            "copies of this process hang once data frames are in use; "
            "give it mp_context=multiprocessing.get_context('spawn'), or name executor='processes:N'"
        )
        raise Refusal.of(Violation("engine", message, field="executor", value=type(executor).__name__))
    count = getattr(executor, "_max_workers", None) or 8
    far = type(executor).__module__.partition(".")[0] != "concurrent"
    return Engine(type(executor).__name__, executor, lambda: count, far=far)
