"""What risk and coverage come to: plain numbers, each rounded once, or None with the reason beside it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import polars as pl


@dataclass(frozen=True, slots=True)
class Interval:
    """A two-sided interval, or the reason why there is none.

    Attributes:
        low: The lower end, within the range of the quantity.
        high: The upper end.
        standard_error: The standard error; None where the method has none.
        method: How it was made.
        groups: Groups of contributors that it rests on; None where there is none.
        reason: Why there is none.
    """

    low: float | None
    high: float | None
    standard_error: float | None
    method: str
    groups: int | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number, rounded once, and its interval; None with a reason where it is undefined."""

    value: float | None
    reason: str | None
    interval: Interval


@dataclass(frozen=True, slots=True)
class AtRisk:
    """The largest coverage whose risk is within a limit.

    Attributes:
        limit: The limit.
        coverage: The coverage, over all records.
        risk: The risk at it.
        cut: The confidence at or above which records are accepted.
        accepted: How many that are.
        errors: Wrong ones among them.
        reason: Why there is none.
        interval: The interval of the coverage.
    """

    limit: float
    coverage: float | None
    risk: float | None
    cut: float | None
    accepted: int | None
    errors: int | None
    reason: str | None
    interval: Interval


@dataclass(frozen=True, slots=True)
class AtCoverage:
    """The risk at the strictest cut whose coverage is at least a floor.

    Attributes:
        floor: The floor.
        coverage: The coverage of the cut, over all records.
        risk: The risk at it.
        cut: The confidence at or above which records are accepted.
        accepted: How many that are.
        errors: Wrong ones among them.
        reason: Why there is none.
    """

    floor: float
    coverage: float | None
    risk: float | None
    cut: float | None
    accepted: int | None
    errors: int | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class RiskCoverage:
    """Risk and coverage of one model on one split.

    Attributes:
        total: All records.
        offered: Records with a confidence that may be accepted.
        errors: Wrong ones among them.
        reached_coverage: offered / total, where the curve ends.
        risk: errors / offered, the risk there.
        points: Points of the curve: distinct confidences.
        contributors: Contributors with a record offered; rows, where none are named.
        level: The level of the intervals.
        seed: The seed of the bootstrap.
        aurc: Area under the risk–coverage curve, over the records offered.
        e_aurc: Its excess over the ideal ordering.
        augrc: Area under the generalised risk–coverage curve, over the records offered.
        coverage_at_risk: The largest coverage within each limit that was asked for.
        risk_at_coverage: The risk at each floor of coverage that was asked for.
        curve: The points, for the table.
    """

    total: int
    offered: int
    errors: int
    reached_coverage: float | None
    risk: float | None
    points: int
    contributors: int
    level: float
    seed: int
    aurc: Estimate
    e_aurc: Estimate
    augrc: Estimate
    coverage_at_risk: tuple[AtRisk, ...]
    risk_at_coverage: tuple[AtCoverage, ...]
    curve: Any = field(repr=False, compare=False, metadata={"report": False})


@dataclass(frozen=True, slots=True)
class Certificate:
    """The certified cut, or the reason why there is none, which is a normal outcome.

    Attributes:
        target: The precision claimed.
        confidence: How sure.
        threshold: The certified cut: accept at or above it.
        accepted: Records that it accepts.
        errors: Wrong ones among them.
        contributors: Contributors with an accepted record.
        p_value: Its p-value.
        bound: The lower bound of precision at this cut alone.
        tested: Cuts that were tested, up to the first failure.
        reason: ``nothing-offered``, ``too-few-offered`` (no number of right answers could do),
            ``insufficient-contributors`` or ``first-cut-failed``; None where a cut is certified.
        table: Every cut of the sequence: counts, ``risk``, ``design_effect``, the p-values ``p_binomial`` and
            ``p_cluster``, the larger one ``p_value``, the lower bound of precision ``bound``, whether it was
            ``tested`` and ``passed``.
    """

    target: float
    confidence: float
    threshold: float | None
    accepted: int | None
    errors: int | None
    contributors: int | None
    p_value: float | None
    bound: float | None
    tested: int
    reason: str | None
    table: pl.DataFrame = field(repr=False, compare=False, metadata={"report": False})


@dataclass(frozen=True, slots=True)
class Gap:
    """One number on both splits.

    Attributes:
        validation: On validation.
        test: On test.
        difference: Validation minus test, of the exact values.
        standard_error: Of the difference; None where it cannot be told.
        reason: Why there is no difference.
    """

    validation: float | None
    test: float | None
    difference: float | None
    standard_error: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Optimism:
    """Validation minus test of one model.

    Attributes:
        cut: The cut, as it was chosen on validation.
        precision: Precision among accepted at the cut; above 0 where validation looked better.
        aurc: The area; below 0 where validation looked better.
        augrc: The area; below 0 where validation looked better.
    """

    cut: float
    precision: Gap
    aurc: Gap
    augrc: Gap
