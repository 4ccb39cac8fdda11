"""The metrics of selective prediction, over one model and one split, from counts of its records.

Definitions follow the selective-classification literature (El-Yaniv & Wiener 2010; Geifman & El-Yaniv 2017); the
calibration error is that of Naeini et al. 2015 and Guo et al. 2017 (arXiv 1706.04599) over the accepted suggestions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property

from evalkit.contracts.policy import LOW_CONFIDENCE, LOW_QUALITY, NO_SUGGESTION
from evalkit.exact import Exact, Ratio, mean
from evalkit.metric import metric

Label = str

NO_VALIDATION = "no-validation-records"
NO_TEST = "no-test-records"
NO_CUT = "no-cut-clears-floor"
NOTHING_ACCEPTED = "nothing-accepted"


@dataclass(frozen=True, slots=True)
class Bin:
    """One confidence bin's accepted suggestions.

    Attributes:
        count: How many there are.
        correct: How many of them are right.
        confidence: The sum of their confidences, decimals of 15 places.
    """

    count: int
    correct: int
    confidence: Decimal


@dataclass(frozen=True)
class Counts:
    """One model's records of one split at one threshold.

    Attributes:
        truth: Records by their true label.
        no_suggestion: Records for which nothing was offered.
        cells: Accepted suggestions by true and predicted label; non-zero cells only.
        bins: Accepted suggestions by confidence bin; non-empty bins only.
        low_quality: Suggestions on something whose quality the policy in force does not accept; 0 without a policy.
    """

    truth: Mapping[Label, int]
    no_suggestion: int
    cells: Mapping[tuple[Label, Label], int]
    bins: Mapping[int, Bin]
    low_quality: int = 0

    @cached_property
    def total(self) -> int:
        """All records."""
        return sum(self.truth.values())

    @cached_property
    def accepted(self) -> int:
        """Suggestions at or above the threshold."""
        return sum(self.cells.values())

    @property
    def low_confidence(self) -> int:
        """Suggestions of accepted quality below the threshold."""
        return self.total - self.no_suggestion - self.low_quality - self.accepted

    def abstentions(self, *, policy: bool) -> dict[str, int]:
        """The records that are not accepted, by reason; low quality is a reason only under a policy."""
        found = {NO_SUGGESTION: self.no_suggestion, LOW_QUALITY: self.low_quality, LOW_CONFIDENCE: self.low_confidence}
        return found if policy else {reason: count for reason, count in found.items() if reason != LOW_QUALITY}

    @property
    def correct(self) -> int:
        """Accepted suggestions that are right."""
        return sum(count for (truth, predicted), count in self.cells.items() if truth == predicted)

    @cached_property
    def _supports(self) -> Mapping[Label, int]:
        found: Counter[Label] = Counter()
        for (truth, _), count in self.cells.items():
            found[truth] += count
        return found

    @cached_property
    def _predictions(self) -> Mapping[Label, int]:
        found: Counter[Label] = Counter()
        for (_, predicted), count in self.cells.items():
            found[predicted] += count
        return found

    def support(self, label: Label) -> int:
        """Accepted suggestions whose true label is this one."""
        return self._supports.get(label, 0)

    def predicted(self, label: Label) -> int:
        """Accepted suggestions of this label."""
        return self._predictions.get(label, 0)

    def true_positives(self, label: Label) -> int:
        """Accepted suggestions of this label that are right."""
        return self.cells.get((label, label), 0)

    def labels(self) -> set[Label]:
        """Labels in accepted truth or accepted suggestions: the rows of the per-class table."""
        return {label for cell in self.cells for label in cell}

    def excluded(self) -> set[Label]:
        """Labels in truth of which every record abstained: they cannot be scored, and are named instead."""
        return set(self.truth) - {truth for truth, _ in self.cells}


@metric("coverage", "higher", NO_TEST)
def coverage(counts: Counts) -> Exact:
    """Accepted suggestions over all records of the split: accepted / total.

    >>> coverage(Counts({"4": 3}, 1, {("4", "4"): 2}, {}))
    Ratio(numerator=2, denominator=3)
    """
    return Ratio(counts.accepted, counts.total)


@metric("precisionAtCoverage", "higher", NOTHING_ACCEPTED)
def precision_at_coverage(counts: Counts) -> Exact:
    """Right suggestions over accepted suggestions: correct / accepted.

    >>> precision_at_coverage(Counts({"4": 3}, 0, {("4", "4"): 2, ("4", "5"): 1}, {}))
    Ratio(numerator=2, denominator=3)
    """
    return Ratio(counts.correct, counts.accepted)


@metric("precision", "higher", "never-predicted")
def precision(counts: Counts, label: Label) -> Exact:
    """Over accepted suggestions, of one label: true positives / predicted. Undefined for a label never predicted.

    >>> precision(Counts({"4": 2}, 0, {("4", "4"): 1, ("4", "5"): 1}, {}), "4")
    Ratio(numerator=1, denominator=1)
    """
    return Ratio(counts.true_positives(label), counts.predicted(label))


@metric("recall", "higher", "no-accepted-truth")
def recall(counts: Counts, label: Label) -> Exact:
    """Over accepted suggestions, of one label: true positives / support. Undefined for a label only predicted.

    >>> recall(Counts({"4": 2}, 0, {("4", "4"): 1, ("4", "5"): 1}, {}), "4")
    Ratio(numerator=1, denominator=2)
    """
    return Ratio(counts.true_positives(label), counts.support(label))


@metric("f1", "higher", NOTHING_ACCEPTED)
def f1(counts: Counts, label: Label) -> Exact:
    """Over accepted suggestions, of one label: 2 · true positives / (support + predicted).

    >>> f1(Counts({"4": 2}, 0, {("4", "4"): 1, ("4", "5"): 1}, {}), "4")
    Ratio(numerator=2, denominator=3)
    """
    return Ratio(2 * counts.true_positives(label), counts.support(label) + counts.predicted(label))


@metric("macroF1", "higher", NOTHING_ACCEPTED)
def macro_f1(counts: Counts) -> Exact:
    """Plain mean of ``f1`` over the labels with accepted truth.

    A label in accepted truth that was never predicted has f1 0 and counts. A label that was only predicted does not
    enter the mean, though its false positives lower the others; scikit-learn's ``f1_score(average="macro")`` counts
    it as 0. It is the mean of F1 scores, not the F1 of mean precision and mean recall (Opitz & Burst 2019, arXiv
    1911.03347).

    >>> macro_f1(Counts({"4": 9, "5": 1}, 0, {("4", "4"): 9, ("5", "4"): 1}, {}))
    Fraction(9, 19)
    """
    present = {truth for truth, _ in counts.cells}
    scores = (f1(counts, label) for label in present)
    return mean(score.value() or Fraction(0) for score in scores if isinstance(score, Ratio))


@metric("ece", "lower", NOTHING_ACCEPTED)
def ece(counts: Counts) -> Exact:
    """Expected calibration error over accepted suggestions: Σ over bins of count/accepted · |accuracy − confidence|.

    Bins are of equal width, a confidence c in bin min(bins − 1, floor(c · bins)) computed in 64-bit floats, so 0.6
    with ten bins is in bin 6. Tools that compare with a table of edges put it in bin 5. Accuracy and confidence are
    those of the predicted label.

    >>> ece(Counts({"4": 20}, 0, {("4", "4"): 20}, {9: Bin(20, 20, Decimal("19.0"))}))
    Fraction(1, 20)
    """
    if not counts.accepted:
        return None
    gaps = (abs(one.correct - Fraction(one.confidence)) for one in counts.bins.values())
    return sum(gaps, Fraction(0)) / counts.accepted


@metric("meanConfidence", "none", NOTHING_ACCEPTED)
def mean_confidence(one: Bin) -> Exact:
    """Mean confidence of the accepted suggestions of one bin.

    >>> mean_confidence(Bin(20, 20, Decimal("19.0"))).value()
    Fraction(19, 20)
    """
    return Ratio(one.confidence, one.count)


@metric("accuracy", "none", NOTHING_ACCEPTED)
def accuracy(one: Bin) -> Exact:
    """Share of right ones among the accepted suggestions of one bin.

    >>> accuracy(Bin(20, 15, Decimal("19.0"))).value()
    Fraction(3, 4)
    """
    return Ratio(one.correct, one.count)


SPLIT_METRICS = (coverage, precision_at_coverage, macro_f1, ece)
"""The metrics of a whole split."""

LABEL_METRICS = (precision, recall, f1)
"""The metrics of one label."""

BIN_METRICS = (mean_confidence, accuracy)
"""The metrics of one confidence bin."""

GATED = (macro_f1, precision_at_coverage, ece)
"""The metrics that a gate asks for, in the order of the report."""
