"""The conditions of readiness: the program's limits, held against the metrics of an evaluation without faults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from evalkit.families.observations.measured import GATED_SYSTEM, MEASURES, RETRIEVAL
from evalkit.families.observations.review import incorrect_merges
from evalkit.families.observations.text import cer, wer
from evalkit.metric import Direction
from evalkit.records.strict_json import show


def folded(name: str) -> str:
    """Return a name as names are told apart: without white space around it, and whatever its case.

    >>> folded(" Recall@10 ") == folded("RECALL@10")
    True
    """
    return name.strip().casefold()


@dataclass(frozen=True, slots=True)
class Limit:
    """One limit of the program.

    Attributes:
        name: The metric.
        systems: The systems that are read, the first that is there; None for a metric without one.
        direction: Which values are better.
        value: The limit.
    """

    name: str
    systems: tuple[str | None, ...]
    direction: Direction
    value: float


MERGES = folded(incorrect_merges.name)
"""The metric that is a count."""

RATES = frozenset({folded(cer.name), folded(wer.name), "cer", "wer"})
"""The metrics that are neither fractions nor counts: insertions take them above 1."""

LIMITS = {
    folded(one.metric.name): Limit(
        one.metric.name,
        (GATED_SYSTEM, None) if one.family == RETRIEVAL else (None,),
        one.metric.direction,
        float(Fraction(one.limit)),
    )
    for one in MEASURES
    if one.limit is not None
}
"""The limits, by the folded name of their metric."""

Key = tuple[str, str | None]
"""The folded name of a metric, and that of its system."""


@dataclass(frozen=True, slots=True)
class Gate:
    """A limit, and what was found.

    Attributes:
        name: The metric.
        system: The system that was read; None where the metric has none.
        value: What was measured; None where nothing was.
        limit: The limit.
        direction: Which side of it passes.
        sample_size: What the value rests on; None where the metric is absent.
        review_complete: Whether all that had to be reviewed was, as declared; None where that is not asked.
        passed: Whether every condition on the metric is met.
    """

    SNAKE_CASE: ClassVar[bool] = True

    name: str
    system: str | None
    value: float | None
    limit: float
    direction: Direction
    sample_size: int | None
    review_complete: bool | None
    passed: bool


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition that fails: a stable code, the metric, and what was found and is needed."""

    SNAKE_CASE: ClassVar[bool] = True

    code: str
    metric: str
    text: str


def judge(metrics: Mapping[Key, Mapping[str, Any]]) -> tuple[tuple[Gate, ...], tuple[Condition, ...]]:
    """Hold metrics against the limits.

    Args:
        metrics: The metrics without faults.

    Returns:
        Every gate, and every condition that fails, both in the order of the limits.
    """
    gates, failing = [], []
    for name, limit in LIMITS.items():
        system = next((one for one in limit.systems if (name, one) in metrics), None)
        found = metrics.get((name, system))
        reasons = [Condition(code, limit.name, text) for code, text in _reasons(limit, found)]
        gates.append(_gate(limit, system, found or {}, passed=not reasons))
        failing += reasons
    return tuple(gates), tuple(failing)


def _gate(limit: Limit, system: str | None, found: Mapping[str, Any], *, passed: bool) -> Gate:
    value = found.get("value")
    number = value if value is None or folded(limit.name) == MERGES else float(value)
    reviewed = found.get("review_complete") is True if folded(limit.name) == MERGES else None
    return Gate(limit.name, system, number, limit.value, limit.direction, found.get("sample_size"), reviewed, passed)


def _reasons(limit: Limit, found: Mapping[str, Any] | None) -> Iterator[tuple[str, str]]:
    if found is None:
        system = f" of the system {limit.systems[0]}, or without a system," if limit.systems[0] else ""
        yield "absent", f"the metric{system} is not in the evaluation; it must be {_needed(limit)}"
        return
    value = found.get("value")
    if value is None:
        reason = found.get("reason")
        told = f" ({show(reason)})" if isinstance(reason, str) else ""
        yield "not-measured", f"not measured{told}; it must be {_needed(limit)}"
    elif value < limit.value if limit.direction == "higher" else value > limit.value:
        yield "beyond-limit", f"is {value}; it must be {_needed(limit)}"
    if folded(limit.name) == MERGES and found.get("review_complete") is not True:
        said = show(found["review_complete"]) if "review_complete" in found else "missing"
        text = f"review_complete is {said} and must be true, once every accepted merge was reviewed"
        yield "review-incomplete", text


def _needed(limit: Limit) -> str:
    if folded(limit.name) == MERGES:
        return "the whole number 0"
    return f"at {'least' if limit.direction == 'higher' else 'most'} {limit.value:g}"
