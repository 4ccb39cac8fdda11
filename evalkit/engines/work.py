"""The side of a worker: a task, unpacked once, done with some partitions, and what came of it packed.

What goes in and comes out is made of plain tuples, texts and bytes, so that versions can be compared before anything
of another version is unpacked.
"""

from __future__ import annotations

import os
import platform
import sys
import threading
import traceback
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from evalkit.engines.pack import packed, unpacked
from evalkit.errors import Refusal

DONE, REFUSED, FAILED, OTHER = "done", "refused", "failed", "other version"
_KEPT_TASKS = 2
"""Tasks that a worker keeps unpacked: what one run asks, and what it asks next."""

_kept: OrderedDict[str, Any] = OrderedDict()
_lock = threading.Lock()


class Versions(NamedTuple):
    """What must be the same wherever partitions of one run are read."""

    evalkit: str
    polars: str

    def __str__(self) -> str:
        return f"evalkit {self.evalkit} with Polars {self.polars}"


@dataclass(frozen=True, slots=True)
class Parked:
    """A packed task in a file, for workers on this machine."""

    path: str


def versions() -> Versions:
    """Return the versions of this process."""
    return Versions(sys.modules["evalkit"].__version__, pl.__version__)  # it is there, and above this layer


def work(expected: Versions, name: str, task: bytes | Parked, items: bytes) -> tuple[str, Any]:
    """Do a task with partitions.

    Args:
        expected: The versions of who asks.
        name: The digest of the task, by which it is known when it comes again.
        task: The packed task, a function of one partition.
        items: The packed partitions.

    Returns:
        What became of it, and the packed results; or the refusal; or what failed.
    """
    own = versions()
    if tuple(own) != tuple(expected):
        return OTHER, (worker_name(), *own)
    try:
        known = _task(name, task)
        return DONE, packed([known(item) for item in unpacked(items)])
    except Refusal as refusal:
        return REFUSED, (worker_name(), packed(refusal))
    except Exception as error:  # noqa: BLE001 - told to who asked, who raises it
        said = f"{type(error).__name__}: {error}"
        return FAILED, (worker_name(), said, isinstance(error, OSError | MemoryError), traceback.format_exc())


def worker_name() -> str:
    """Return what a worker is called: its machine and its process."""
    return f"{platform.node() or 'localhost'}, process {os.getpid()}"


def _task(name: str, task: bytes | Parked) -> Any:
    with _lock:  # several threads of a worker may ask at once, and it may be large
        if name not in _kept:
            _kept[name] = unpacked(Path(task.path).read_bytes() if isinstance(task, Parked) else task)
            while len(_kept) > _KEPT_TASKS:
                _kept.popitem(last=False)
        _kept.move_to_end(name)
        return _kept[name]
