"""What is said where an engine fails or cannot be used: which part of the input was not read, and by whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evalkit.engines.work import Versions, versions
from evalkit.errors import Refusal, Violation
from evalkit.sources.source import label, open_same
from evalkit.sources.urls import located

SHARED_BYTES = 1024 * 1024 * 1024
"""Most packed bytes that every worker is given, above all gold."""

_FEW = 3
"""Tasks that are named where many were not done."""

_GONE = "file-changed"


class EngineError(OSError):
    """The engine or a worker failed, not the input; running again may succeed."""


def unread(engine: str, said: str, bundles: Sequence[Sequence[Any]]) -> EngineError:
    """Say that an engine failed, and what it had not read."""
    few = "; ".join(portions(bundle) for bundle in bundles[:_FEW])
    more = f" and {len(bundles) - _FEW:,} other tasks" if len(bundles) > _FEW else ""
    return EngineError(f"{engine}: {said}; not read: {few}{more}" if few else f"{engine}: {said}")


def portions(items: Sequence[Any]) -> str:
    """Say which partitions these are.

    >>> from typing import NamedTuple
    >>> class Range(NamedTuple):
    ...     path: str; start: int; stop: int
    >>> portions([Range("a.jsonl", 0, 1000), Range("b.jsonl", 0, 10)])
    'a.jsonl, bytes 0 to 1,000, and 1 more'
    """
    more = f", and {len(items) - 1:,} more" if len(items) > 1 else ""
    return _portion(items[0]) + more


def _portion(item: Any) -> str:
    path = getattr(item, "path", None)
    if path is None:
        known = hasattr(item, "source") and hasattr(item, "number")
        return f"part {item.number + 1} of input {item.source + 1}" if known else "a part of the input"
    if hasattr(item, "start"):
        return f"{label(path)}, bytes {item.start:,} to {item.stop:,}"
    for what, words in (("groups", "row groups"), ("batches", "record batches")):
        if hasattr(item, what):
            found = getattr(item, what)
            return f"{label(path)}, {words} {found.start:,} to {found.stop:,}"
    return label(path)


def of_worker(refusal: Refusal, worker: str, items: Sequence[Any]) -> Refusal:
    """Return a worker's refusal with files called as the caller calls them.

    A file that is here what it was and is not there, or is another, is none of the input's faults.
    """
    names = {label(located(item.path)): item for item in items if hasattr(item, "path")}
    said = []
    for one in refusal.violations:
        item = names.get(one.file or "")
        if item is not None and one.rule == _GONE:
            open_same(item.path, item.identity).close()
            message = (
                f"is not the same file to worker {worker}, where it {one.message}; "
                "workers read files by themselves: name it by a path that leads to it on each of them"
            )
            one = Violation("engine-file", message)
        said.append(one if item is None else replace(one, file=label(item.path)))
    counts = refusal.counts if len(said) > 1 else {one.rule: 1 for one in said}
    return Refusal(said, counts, refusal.lines)


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
