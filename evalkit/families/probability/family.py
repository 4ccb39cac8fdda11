"""Every number of one family, or of all, as the report has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from evalkit.exact import rounded
from evalkit.families.probability import metrics
from evalkit.families.probability.metrics import Counts


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """One confidence bin that is not empty; the lower edge is in it, the upper only where it is 1.

    Attributes:
        lower: The lower edge.
        upper: The upper edge.
        n: Scored rows in it.
        mean_confidence: The mean of their confidences.
        accuracy: The share of them that is correct.
    """

    SNAKE_CASE: ClassVar[bool] = True

    lower: float
    upper: float
    n: int
    mean_confidence: float
    accuracy: float


@dataclass(frozen=True, slots=True)
class Metrics:
    """Every number of one family, or of all.

    Attributes:
        n_items: Gold rows.
        n_missing: Rows with neither a vector nor a label, gold rows without a prediction included.
        n_predicted: Rows with a predicted slot.
        n_scored: Rows with a vector; only these enter NLL, Brier scores and ECE.
        n_unscored: Rows without a vector.
        accuracy: Correct / predicted rows; None where nothing is predicted.
        balanced_accuracy: Plain mean of the recalls.
        classes_in_gold: The classes that are gold of predicted rows, sorted.
        per_class_recall: The recall of each.
        nll: Mean negative log-likelihood of gold, in nats, probabilities below 1e-12 counting as that.
        brier_multiclass: Mean squared error over all slots, summed over the slots and not halved.
        n_binary: Scored rows with a positive class.
        brier_binary: Mean squared error of the probability of the positive class.
        ece: Expected calibration error over equal-width bins.
        reliability: The bins that are not empty.
    """

    SNAKE_CASE: ClassVar[bool] = True

    n_items: int
    n_missing: int
    n_predicted: int
    n_scored: int
    n_unscored: int
    accuracy: float | None
    balanced_accuracy: float | None
    classes_in_gold: tuple[str, ...]
    per_class_recall: Mapping[str, float]
    nll: float | None
    brier_multiclass: float | None
    n_binary: int
    brier_binary: float | None
    ece: float | None
    reliability: tuple[ReliabilityBin, ...]
    counts: Counts = field(repr=False, metadata={"report": False})
    bins: int = field(repr=False, metadata={"report": False})


def summarize(counts: Counts, bins: int) -> Metrics:
    """Reduce counts to every number of a family."""
    classes = sorted(counts.classes)
    recalls = {label: rounded(metrics.recall(counts.classes[label])) for label in classes}
    return Metrics(
        n_items=counts.items,
        n_missing=counts.missing,
        n_predicted=counts.predicted,
        n_scored=counts.scored,
        n_unscored=counts.unscored,
        accuracy=rounded(metrics.accuracy(counts)),
        balanced_accuracy=rounded(metrics.balanced_accuracy(counts)),
        classes_in_gold=tuple(classes),
        per_class_recall={label: recall for label, recall in recalls.items() if recall is not None},
        nll=rounded(metrics.nll(counts)),
        brier_multiclass=rounded(metrics.brier_multiclass(counts)),
        n_binary=counts.binary,
        brier_binary=rounded(metrics.brier_binary(counts)),
        ece=rounded(metrics.ece(counts)),
        reliability=tuple(_reliability(counts, bins)),
        counts=counts,
        bins=bins,
    )


def _reliability(counts: Counts, bins: int) -> Iterator[ReliabilityBin]:
    for index, row in sorted(counts.bins.items()):
        confidence, accuracy = rounded(metrics.mean_confidence(row)), rounded(metrics.bin_accuracy(row))
        if confidence is not None and accuracy is not None:  # a bin that is there is not empty
            yield ReliabilityBin(index / bins, (index + 1) / bins, row.n, confidence, accuracy)
