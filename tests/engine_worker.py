"""What workers of tests load first: they die where a file's name says so, or claim to be of another version."""

from __future__ import annotations

import functools
import os
import signal
from dataclasses import replace
from typing import NoReturn

from evalkit.engines import work
from evalkit.formats import json_lines
from evalkit.sources.partition import Partition

WORKER, OTHER = "EVALKIT_TESTS_WORKER", "EVALKIT_TESTS_OTHER_VERSION"

_load = getattr(json_lines.Range.load, "__wrapped__", json_lines.Range.load)


def die() -> NoReturn:
    """End this process as a machine without memory ends it."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def place_or_die(partition: Partition) -> tuple[int, int]:
    """Return where a partition stands; the third of a source kills whoever reads it."""
    if partition.number == 2:
        die()
    return partition.source, partition.number


@functools.wraps(_load)
def load_or_die(self: json_lines.Range) -> bytes:
    """Read a range; past its first byte a poisoned file kills its reader, and an unseen one is another here."""
    if "poison" in self.path and self.start:
        die()
    if "unseen" in self.path:
        return bytes(_load(replace(self, identity=self.identity._replace(modified=1))))
    return bytes(_load(self))


def loaded(partition: Partition) -> int:
    """Return how many bytes a range has."""
    assert isinstance(partition, json_lines.Range)
    return len(partition.load())


def disk_fails(partition: Partition) -> NoReturn:
    """Fail as a machine fails."""
    raise OSError(5, "Input/output error")


def bug(partition: Partition) -> NoReturn:
    """Fail as a program fails."""
    raise ZeroDivisionError(f"partition {partition.number}")


if WORKER in os.environ:
    json_lines.Range.load = load_or_die  # type: ignore[method-assign]
if OTHER in os.environ:
    work.versions = lambda: work.Versions("0.1.0", "1.0.0")
