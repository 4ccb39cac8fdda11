"""The rows of a calibration panel: plain numbers, each rounded once, or None with the reason beside it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Block:
    """Neighbouring confidences that are recalibrated to one number: the share of right ones among their records.

    Attributes:
        low: The least confidence.
        high: The greatest.
        n: Records.
        correct: Right ones among them.
    """

    low: float
    high: float
    n: int
    correct: int


@dataclass(frozen=True, slots=True)
class BandPoint:
    """Where the curve of a calibrated model lies at one confidence, as often as the level says.

    Attributes:
        confidence: The confidence.
        low: The share of right ones that the curve is seldom below: in half of the cases that the level leaves.
        high: The share of right ones that it is seldom above.
    """

    confidence: float
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class BinRow:
    """One bin: where it begins and ends, its records, the right ones among them, mean confidence and accuracy."""

    low: float
    high: float
    n: int
    correct: int
    mean_confidence: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class Binned:
    """The error over bins.

    Attributes:
        plug_in: Expected calibration error.
        debiased: Squared calibration error without the part that noise adds; may be negative.
        bins_of_one: Bins of one record, which ``debiased`` leaves out.
        reason: Why ``debiased``, or both, are None.
        bins: The bins that hold records.
    """

    plug_in: float | None
    debiased: float | None
    bins_of_one: int
    reason: str | None
    bins: tuple[BinRow, ...]


@dataclass(frozen=True, slots=True)
class NullRow:
    """What chance alone gives, held against what was observed; see ``null.Null``."""

    observed: float | None
    expected: float | None
    quantile: float | None
    p_value: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """A mean score and its parts by isotonic recalibration; see ``corp.Parts``.

    Attributes:
        score: The mean score.
        miscalibration: What recalibration takes off it.
        discrimination: What recalibrated confidences are better than the accuracy of all.
        uncertainty: The score of the accuracy of all.
        reason: Why the score, or all, are None.
        null: What miscalibration chance alone gives.
    """

    score: float | None
    miscalibration: float | None
    discrimination: float | None
    uncertainty: float | None
    reason: str | None
    null: NullRow


@dataclass(frozen=True, slots=True)
class Corp:
    """Isotonic recalibration.

    Attributes:
        brier: The Brier score and its parts.
        log_loss: The log loss and its parts.
        blocks: The reliability curve.
        cells: How many confidences the band and the nulls were drawn for.
        band: Where the curve of a calibrated model would lie.
    """

    brier: ScoreRow
    log_loss: ScoreRow
    blocks: tuple[Block, ...]
    cells: int
    band: tuple[BandPoint, ...]


@dataclass(frozen=True, slots=True)
class DecompositionRow:
    """The Brier score over bins of equal width, taken apart; see ``decomposition.Decomposition``."""

    records: int
    brier: float | None
    reliability: float | None
    resolution: float | None
    uncertainty: float | None
    within_variance: float | None
    within_covariance: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class ScreenRow:
    """A test of calibration: its statistic, in standard deviations of a calibrated model, and its p-value."""

    statistic: float | None
    p_value: float | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class Panel:
    """All that records say about calibration, and what chance alone would have said.

    Attributes:
        records: How many records it is over.
        levels: How many distinct confidences they have.
        level: The share of calibrated outcomes that quantiles and the band hold.
        replicates: How often outcomes were drawn.
        seed: What the draws depend on, besides the records.
        mean_confidence: The mean confidence.
        accuracy: The share of right ones.
        reason: Why these are None.
        equal_width: The error over bins of equal width; its ``plug_in`` is the ``ece`` of reports.
        null_error: What that error would be by chance alone.
        equal_mass: The error over bins of equal mass.
        smooth: Smooth calibration error.
        corp: Isotonic recalibration.
        decomposition: The Brier score over bins of equal width, taken apart.
        corrected: The same with less bias.
        spiegelhalter: Spiegelhalter's z.
        kolmogorov_smirnov: The largest cumulative difference.
        kuiper: The range of cumulative differences.
    """

    records: int
    levels: int
    level: float
    replicates: int
    seed: int
    mean_confidence: float | None
    accuracy: float | None
    reason: str | None
    equal_width: Binned
    null_error: NullRow
    equal_mass: Binned
    smooth: float | None
    corp: Corp
    decomposition: DecompositionRow
    corrected: DecompositionRow
    spiegelhalter: ScreenRow
    kolmogorov_smirnov: ScreenRow
    kuiper: ScreenRow
