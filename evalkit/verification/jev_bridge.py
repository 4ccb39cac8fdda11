"""The report of jev-bridge, whose evaluation is the source of ours: the same definitions, and fewer fields.

``jev-bridge-evaluation-v1`` has no ``evidence``, ``synthetic``, ``run``, ``by_model`` and ``n_unscored``. It is made
of one file of predictions and one of gold, knows no models, and its digests are those of the text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

from evalkit.errors import Refusal, Violation

SCHEMA = "jev-bridge-evaluation-v1"


@dataclass(frozen=True, slots=True)
class BridgeBin:
    """One bin of the reliability curve."""

    SNAKE_CASE: ClassVar[bool] = True

    lower: float
    upper: float
    n: int
    mean_confidence: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class BridgeMetrics:
    """The numbers of one stratum."""

    SNAKE_CASE: ClassVar[bool] = True

    n_items: int
    n_missing: int
    n_predicted: int
    n_scored: int
    accuracy: float | None
    balanced_accuracy: float | None
    classes_in_gold: tuple[str, ...]
    per_class_recall: Mapping[str, float]
    nll: float | None
    brier_multiclass: float | None
    n_binary: int
    brier_binary: float | None
    ece: float | None
    reliability: tuple[BridgeBin, ...]


@dataclass(frozen=True, slots=True)
class BridgeReport:
    """The report."""

    SNAKE_CASE: ClassVar[bool] = True

    schema: str
    bins: int
    predictions_sha256: str | None
    gold_sha256: str | None
    overall: BridgeMetrics
    by_family: Mapping[str, BridgeMetrics]


def as_jev_bridge(evaluation: Any) -> BridgeReport:
    """Put an evaluation as jev-bridge would have written it.

    Raises:
        Refusal: The predictions are of several models, whose rows that program cannot tell apart.
    """
    whole = evaluation
    if evaluation.overall is None:
        if len(evaluation.by_model) != 1:
            message = f"a report of {SCHEMA} knows no models, and the predictions are of {len(evaluation.by_model):,}"
            raise Refusal.of(Violation("not-verifiable", message))
        (whole,) = evaluation.by_model.values()
    return BridgeReport(
        SCHEMA,
        evaluation.bins,
        evaluation.predictions_sha256,
        evaluation.gold_sha256,
        _metrics(whole.overall),
        {family: _metrics(one) for family, one in whole.by_family.items()},
    )


def _metrics(found: Any) -> BridgeMetrics:
    values = {one.name: getattr(found, one.name) for one in fields(BridgeMetrics)}
    return BridgeMetrics(**{**values, "reliability": tuple(map(_bin, found.reliability))})


def _bin(found: Any) -> BridgeBin:
    return BridgeBin(**{one.name: getattr(found, one.name) for one in fields(BridgeBin)})
