"""What ``plan`` answers: chances by number of contributors, and the smallest number that is enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from evalkit.metric import Direction
from evalkit.report import canonical, document

SCHEMA = "evalkit-plan-v1"

Method = Literal["simulated", "normal"]


@dataclass(frozen=True, slots=True)
class Contributors:
    """What contributors were like, as an earlier evaluation measured them.

    Attributes:
        source: The folder.
        model: Whose records they are.
        contributors: How many there were.
        value: The share that the gate is about, as it was there.
        records_per_contributor: Records that the share is made of, per contributor.
        design_effect: How many times larger the variance was than that of as many independent records.
        correlation: The intra-class correlation that gives this design effect; 0 where it was below 1.
    """

    source: str
    model: str
    contributors: int
    value: float
    records_per_contributor: float
    design_effect: float
    correlation: float


@dataclass(frozen=True, slots=True)
class Chances:
    """What a gate would say of so many contributors.

    Attributes:
        contributors: How many.
        records: How many records they have, about.
        passed: The chance that the bound passes the gate.
        insufficient: The chance that the records do not settle it.
        failed: The chance that the gate is shown to fail.
        method: ``simulated`` or ``normal``.
    """

    contributors: int
    records: int
    passed: float
    insufficient: float
    failed: float
    method: Method


@dataclass(frozen=True, slots=True)
class Plan:
    """How many contributors would settle a gate.

    Attributes:
        schema: ``evalkit-plan-v1``.
        name: The metric.
        direction: Which side of the limit passes.
        limit: The limit.
        true: What the model is taken to be worth.
        level: The confidence of the bound.
        power: The chance to pass that is wished for.
        records_per_contributor: Records that the share is made of, per contributor.
        correlation: The intra-class correlation of a contributor's records.
        design_effect: How many times larger the variance is than that of as many independent records.
        min_contributors: Fewest contributors that a bound is given for.
        measured: What contributors were like in a results folder, where one was named; else None.
        needed: The smallest number of contributors, of two digits, whose chance to pass is the power; None: more than
            ten million.
        rows: The chances, by number of contributors.
    """

    schema: str
    name: str
    direction: Direction
    limit: float
    true: float
    level: float
    power: float
    records_per_contributor: float
    correlation: float
    design_effect: float
    min_contributors: int
    measured: Contributors | None
    needed: int | None
    rows: tuple[Chances, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain data, keys as in the JSON."""
        plain: dict[str, Any] = document(self)
        return plain

    def to_json(self) -> str:
        """Return the plan as JSON; the same question gives the same text."""
        return canonical(self).decode("utf-8")
