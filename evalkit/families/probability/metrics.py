"""The measures of probability vectors: pure functions from counts to exact values; no frame, no float."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple

from evalkit.exact import Exact, Ratio, mean
from evalkit.metric import metric

NOTHING_PREDICTED = "nothing-predicted"
NOTHING_SCORED = "nothing-scored"
NOTHING_BINARY = "no-positive-class"


class Class(NamedTuple):
    """Predicted rows of one class of gold.

    Attributes:
        predicted: How many there are.
        correct: How many of them were predicted correctly.
    """

    predicted: int
    correct: int


class Bin(NamedTuple):
    """Scored rows of one confidence bin.

    Attributes:
        n: How many there are.
        correct: How many of them are correct.
        confidence: The sum of their confidences.
    """

    n: int
    correct: int
    confidence: Decimal


@dataclass(frozen=True, slots=True)
class Counts:
    """All that the measures of one family are made of.

    Attributes:
        items: Gold rows.
        classes: Predicted rows per class of gold.
        bins: Scored rows per confidence bin, by its index.
        nll: The sum of negative log-likelihoods of the scored rows.
        brier: The sum of their multi-class Brier terms.
        binary: How many of them have a positive class.
        brier_binary: The sum of the binary Brier terms of those.
    """

    items: int = 0
    classes: Mapping[str, Class] = field(default_factory=dict)
    bins: Mapping[int, Bin] = field(default_factory=dict)
    nll: Decimal = Decimal(0)
    brier: Decimal = Decimal(0)
    binary: int = 0
    brier_binary: Decimal = Decimal(0)

    @property
    def predicted(self) -> int:
        """Rows with a predicted slot."""
        return sum(one.predicted for one in self.classes.values())

    @property
    def scored(self) -> int:
        """Rows with a vector."""
        return sum(one.n for one in self.bins.values())

    @property
    def missing(self) -> int:
        """Rows with neither a vector nor a label."""
        return self.items - self.predicted

    @property
    def unscored(self) -> int:
        """Rows without a vector."""
        return self.items - self.scored


def added(many: Iterable[Counts]) -> Counts:
    """Add up counts of different rows.

    >>> added([Counts(2, {"a": Class(2, 1)}), Counts(1, {"a": Class(1, 1)})]).classes
    {'a': Class(predicted=3, correct=2)}
    """
    classes: dict[str, Class] = {}
    bins: dict[int, Bin] = {}
    items = binary = 0
    nll = brier = brier_binary = Decimal(0)
    for one in many:
        for label, row in one.classes.items():
            before = classes.get(label, Class(0, 0))
            classes[label] = Class(before.predicted + row.predicted, before.correct + row.correct)
        for place, own in one.bins.items():
            held = bins.get(place, Bin(0, 0, Decimal(0)))
            bins[place] = Bin(held.n + own.n, held.correct + own.correct, held.confidence + own.confidence)
        items, binary = items + one.items, binary + one.binary
        nll, brier, brier_binary = nll + one.nll, brier + one.brier, brier_binary + one.brier_binary
    return Counts(items, classes, bins, nll, brier, binary, brier_binary)


@metric("accuracy", "higher", NOTHING_PREDICTED)
def accuracy(counts: Counts) -> Exact:
    """Correct / predicted rows.

    Predicted is the slot of the largest probability, ties to the first in the declared order of the options; without a
    vector it is the label.

    >>> accuracy(Counts(5, {"a": Class(3, 2), "b": Class(1, 1)}))
    Ratio(numerator=3, denominator=4)
    """
    return Ratio(sum(one.correct for one in counts.classes.values()), counts.predicted)


@metric("per_class_recall", "higher", NOTHING_PREDICTED)
def recall(row: Class) -> Exact:
    """Of one class: correct / predicted rows whose gold it is.

    >>> recall(Class(4, 3))
    Ratio(numerator=3, denominator=4)
    """
    return Ratio(row.correct, row.predicted)


@metric("balanced_accuracy", "higher", NOTHING_PREDICTED)
def balanced_accuracy(counts: Counts) -> Exact:
    """Plain mean of the recalls of the classes that occur as gold of predicted rows.

    A class that is predicted and never gold does not count, nor does one whose rows have no prediction.

    >>> balanced_accuracy(Counts(5, {"a": Class(3, 2), "b": Class(1, 1)}))
    Fraction(5, 6)
    """
    return mean(Fraction(one.correct, one.predicted) for one in counts.classes.values())


@metric("nll", "lower", NOTHING_SCORED, high=None)
def nll(counts: Counts) -> Exact:
    """Negative log-likelihood: mean over scored rows of -ln(max(p, 1e-12)), p the probability of gold. In nats.

    >>> nll(Counts(2, bins={9: Bin(2, 2, Decimal("1.9"))}, nll=Decimal("0.2")))
    Ratio(numerator=Decimal('0.2'), denominator=2)
    """
    return Ratio(counts.nll, counts.scored)


@metric("brier_multiclass", "lower", NOTHING_SCORED, high=None)
def brier_multiclass(counts: Counts) -> Exact:
    """Mean over scored rows of the sum over all slots of (p - [slot is gold])², not halved. Brier (1950).

    At most 2, but for what the sums of the vectors may be off 1.

    >>> brier_multiclass(Counts(2, bins={9: Bin(2, 2, Decimal("1.9"))}, brier=Decimal("0.01")))
    Ratio(numerator=Decimal('0.01'), denominator=2)
    """
    return Ratio(counts.brier, counts.scored)


@metric("brier_binary", "lower", NOTHING_BINARY)
def brier_binary(counts: Counts) -> Exact:
    """Mean over scored rows with a positive class of (p - [gold is positive])², p the probability of that class.

    >>> brier_binary(Counts(2, binary=2, brier_binary=Decimal("0.5")))
    Ratio(numerator=Decimal('0.5'), denominator=2)
    """
    return Ratio(counts.brier_binary, counts.binary)


@metric("ece", "lower", NOTHING_SCORED)
def ece(counts: Counts) -> Exact:
    """Expected calibration error: over the bins, share of scored rows times |accuracy - mean confidence|, summed.

    Confidence is the largest probability. The bins are of equal width: min(bins - 1, floor(bins · confidence)) in
    64-bit floats. Naeini et al. (2015), Guo et al. (2017).

    >>> ece(Counts(4, bins={5: Bin(2, 2, Decimal("1.1")), 9: Bin(2, 1, Decimal("1.9"))}))
    Fraction(9, 20)
    """
    gap = sum((abs(one.correct - Fraction(one.confidence)) for one in counts.bins.values()), Fraction(0))
    return gap / counts.scored if counts.scored else None


@metric("accuracy", "higher", NOTHING_SCORED)
def bin_accuracy(row: Bin) -> Exact:
    """Of one bin: correct / rows.

    >>> bin_accuracy(Bin(2, 1, Decimal("1.9")))
    Ratio(numerator=1, denominator=2)
    """
    return Ratio(row.correct, row.n)


@metric("mean_confidence", "none", NOTHING_SCORED)
def mean_confidence(row: Bin) -> Exact:
    """Of one bin: the sum of confidences / rows.

    >>> mean_confidence(Bin(2, 1, Decimal("1.9")))
    Ratio(numerator=Decimal('1.9'), denominator=2)
    """
    return Ratio(row.confidence, row.n)


METRICS = (accuracy, balanced_accuracy, nll, brier_multiclass, brier_binary, ece)
"""The measures of a family, in the order of the report."""

LABEL_METRICS = (recall,)
"""Those of a class."""

BIN_METRICS = (mean_confidence, bin_accuracy)
"""Those of a confidence bin."""
