"""What is shown of a candidate beside its metrics: calibration against chance, risk and coverage, differences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evalkit.charts.intervals import Interval, Ruling
from evalkit.metric import Direction

if TYPE_CHECKING:
    from evalkit.charts.model import Grid, Reliability


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring confidences that isotonic recalibration gives one number: the share of right ones among them."""

    low: float
    high: float
    records: int
    correct: int

    @property
    def share(self) -> float:
        """The share of right ones."""
        return self.correct / self.records if self.records else 0.0


@dataclass(frozen=True, slots=True)
class BandPoint:
    """Where the recalibrated curve of a calibrated model lies at one confidence."""

    confidence: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Chance:
    """What chance alone gives: in the mean, at most as often as the level says, and how seldom what was seen."""

    expected: float | None = None
    quantile: float | None = None
    p_value: float | None = None


@dataclass(frozen=True, slots=True)
class Error:
    """One measure of miscalibration, beside what chance alone would give.

    Attributes:
        name: What it is.
        value: The measure; None where it is undefined.
        chance: What a calibrated model would show.
        reason: Why the value is None.
    """

    name: str
    value: float | None
    chance: Chance = Chance()
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class ScoreParts:
    """A score and its parts: score = miscalibration - discrimination + uncertainty."""

    score: float | None
    miscalibration: float | None
    discrimination: float | None
    uncertainty: float | None
    chance: Chance


@dataclass(frozen=True, slots=True)
class Calibration:
    """Whether confidences say how often they are right.

    Attributes:
        records: How many records it is over.
        level: What the band and the quantiles of chance hold.
        blocks: The recalibrated curve.
        band: Where that of a calibrated model would lie.
        errors: Measures of miscalibration, each beside chance.
        parts: The Brier score taken apart.
        equal_mass: The diagram over bins of equal mass.
        reason: Why nothing was measured.
    """

    records: int
    level: float
    blocks: tuple[Block, ...]
    band: tuple[BandPoint, ...]
    errors: tuple[Error, ...]
    parts: ScoreParts
    equal_mass: Reliability
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class RiskPoint:
    """One cut: how many it accepts, and how many of these are wrong; None where there is no such cut."""

    coverage: float | None
    risk: float | None


@dataclass(frozen=True, slots=True)
class Claim:
    """A threshold with a guarantee, or why there is none.

    Attributes:
        target: The precision claimed.
        confidence: How sure.
        threshold: The certified cut; None where there is none.
        at: Where it lies on validation.
        reason: Why there is none.
    """

    target: float
    confidence: float
    threshold: float | None
    at: RiskPoint
    reason: str | None


@dataclass(frozen=True, slots=True)
class Risk:
    """Risk among what is accepted, against how much is: a curve on validation.

    Attributes:
        points: All cuts of validation, the narrowest first; None where the curve itself is not at hand.
        threshold: The threshold in use.
        chosen: Where it lies on validation.
        claims: Thresholds with a guarantee that were asked for.
        reached: Where the curve of validation ends.
        numbers: Areas and limits on both splits, and what came of each claim.
    """

    points: tuple[RiskPoint, ...] | None
    threshold: float | None
    chosen: RiskPoint
    claims: tuple[Claim, ...]
    reached: RiskPoint
    numbers: tuple[Grid, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """A candidate's number minus the baseline's.

    Attributes:
        candidate: The candidate.
        baseline_value: The baseline's number.
        candidate_value: The candidate's.
        value: Their difference; None where it is undefined.
        interval: How sure it is.
        p_value: Of no difference.
        adjusted: The same with the number of candidates allowed for.
        ruling: What the margin says; None where there is none.
    """

    candidate: str
    baseline_value: float | None
    candidate_value: float | None
    value: float | None
    interval: Interval
    p_value: float | None
    adjusted: float | None
    ruling: Ruling | None


@dataclass(frozen=True, slots=True)
class Group:
    """The differences in one metric, a candidate a row."""

    metric: str
    direction: Direction
    rows: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class Forest:
    """Candidates against a baseline.

    Attributes:
        baseline: What they are held against.
        margin: How much worse a candidate may be; None where that was not said.
        groups: The differences by metric.
    """

    baseline: str
    margin: float | None
    groups: tuple[Group, ...]
