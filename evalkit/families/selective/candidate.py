"""One candidate's judgement: the objects that a report is made of."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TypedDict

from evalkit.exact import Exact, Ratio, fraction
from evalkit.gates import GateResult
from evalkit.metric import Measurement, Place

CROSS = " × "
"""Joins the fields, and the values, of crossed strata."""


def crossed(texts: Sequence[str]) -> str:
    """Join the fields, or the values, of crossed strata, so that no two crossings look alike; one alone stays as it is.

    >>> crossed(["north", "phone"]), crossed(["a × b", "c"]), crossed(["a × b"])
    ('north × phone', '"a × b" × c', 'a × b')
    """
    if len(texts) == 1:
        return texts[0]
    return CROSS.join(json.dumps(text, ensure_ascii=False) if CROSS in text else text for text in texts)


@dataclass(frozen=True, slots=True)
class Chosen:
    """What validation gave for one candidate.

    Attributes:
        total: Its validation records.
        threshold: The threshold chosen, or None.
        accepted: Validation suggestions accepted at the threshold, or None.
        correct: How many of them are right, or None.
    """

    total: int
    threshold: float | None = None
    accepted: int | None = None
    correct: int | None = None

    @property
    def coverage(self) -> Exact:
        """Coverage on validation."""
        return None if self.accepted is None else Ratio(self.accepted, self.total)

    @property
    def precision_at_coverage(self) -> Exact:
        """Precision at coverage on validation."""
        return None if self.accepted is None or self.correct is None else Ratio(self.correct, self.accepted)


@dataclass(frozen=True, slots=True)
class Optimism:
    """Validation minus test: how much better the threshold looked where it was chosen."""

    coverage: float | None
    precision_at_coverage: float | None


@dataclass(frozen=True, slots=True)
class Selection:
    """The validation numbers at the threshold. They inform; no gate and no ranking reads them."""

    total: int
    accepted: int | None
    coverage: float | None
    precision_at_coverage: float | None
    optimism: Optimism


@dataclass(frozen=True, slots=True)
class ClassRow:
    """One label's row over accepted suggestions."""

    support: int
    predicted: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class BinRow:
    """One confidence bin's row over accepted suggestions; the lower edge is in it, the upper only where it is 1."""

    bin: int = field(metadata={"report": False})
    lower: float
    upper: float
    count: int
    mean_confidence: float | None
    accuracy: float | None


class Scores(TypedDict):
    """The test metrics of some records: what a candidate has over all of them and again in each stratum."""

    total: int
    accepted: int | None
    abstentions: Mapping[str, int] | None
    coverage: float | None
    precision_at_coverage: float | None
    macro_f1: float | None
    ece: float | None
    excluded_classes: tuple[int | str, ...] | None
    per_class: Mapping[str, ClassRow] | None
    confusion: Mapping[str, int] | None
    bins: tuple[BinRow, ...] | None
    cells: tuple[tuple[str, str, int], ...]


@dataclass(frozen=True, slots=True)
class Stratum:
    """One candidate's test metrics over the records of one stratum, at the candidate's one threshold.

    Attributes:
        by: Each field's value; ``unlabelled`` where a record has none.
        total: Test records.
        accepted: Test suggestions accepted.
        abstentions: The other test records, by reason.
        coverage: accepted / total.
        precision_at_coverage: Right suggestions / accepted.
        macro_f1: Mean of f1 over labels with accepted truth.
        ece: Expected calibration error over accepted suggestions.
        excluded_classes: Labels in truth without an accepted record.
        per_class: A row for each label in accepted truth or accepted suggestions.
        confusion: ``truth->predicted`` to the number of accepted suggestions.
        bins: Non-empty confidence bins.
        cells: The confusion matrix as truth, predicted, number.
        measurements: The same numbers as measurements, exact.
    """

    by: Mapping[str, str]
    total: int
    accepted: int | None
    abstentions: Mapping[str, int] | None
    coverage: float | None
    precision_at_coverage: float | None
    macro_f1: float | None
    ece: float | None
    excluded_classes: tuple[int | str, ...] | None
    per_class: Mapping[str, ClassRow] | None
    confusion: Mapping[str, int] | None
    bins: tuple[BinRow, ...] | None
    cells: tuple[tuple[str, str, int], ...] = field(repr=False, metadata={"report": False})
    measurements: tuple[Measurement, ...] = field(repr=False, metadata={"report": False})

    @property
    def stratum_field(self) -> str:
        """The fields, as tables name them."""
        return crossed(list(self.by))

    @property
    def stratum(self) -> str:
        """The values, as tables name them."""
        return crossed(list(self.by.values()))


@dataclass(frozen=True, slots=True)
class Candidate:
    """One model's judgement. Numbers are rounded once; None stands for what was not measured.

    Attributes:
        model: The name.
        passed: Whether all gates passed.
        reason: Why it cannot be judged, or None.
        threshold: The confidence at or above which suggestions are accepted.
        threshold_split: Where the threshold was chosen.
        scored_split: Where everything below ``selection`` was measured.
        selection: The validation numbers at the threshold.
        total: Test records.
        accepted: Test suggestions accepted.
        abstentions: The other test records, by reason.
        coverage: accepted / total.
        precision_at_coverage: Right suggestions / accepted.
        macro_f1: Mean of f1 over labels with accepted truth.
        ece: Expected calibration error over accepted suggestions.
        excluded_classes: Labels in truth without an accepted record.
        per_class: A row for each label in accepted truth or accepted suggestions.
        confusion: ``truth->predicted`` to the number of accepted suggestions.
        bins: Non-empty confidence bins.
        gates: What each gate said.
        strata: The test metrics in each stratum, by field and value; None where no strata were asked for.
        cells: The confusion matrix as truth, predicted, number.
        measurements: The same numbers as measurements, exact.
    """

    model: str
    passed: bool
    reason: str | None
    threshold: float | None
    threshold_split: str
    scored_split: str
    selection: Selection
    total: int
    accepted: int | None
    abstentions: Mapping[str, int] | None
    coverage: float | None
    precision_at_coverage: float | None
    macro_f1: float | None
    ece: float | None
    excluded_classes: tuple[int | str, ...] | None
    per_class: Mapping[str, ClassRow] | None
    confusion: Mapping[str, int] | None
    bins: tuple[BinRow, ...] | None
    gates: Mapping[str, GateResult]
    strata: Sequence[Stratum] | None
    cells: tuple[tuple[str, str, int], ...] = field(repr=False, metadata={"report": False})
    measurements: tuple[Measurement, ...] = field(repr=False, metadata={"report": False})

    def exact(self, name: str) -> Fraction | None:
        """Return the exact test value of a metric of the whole split."""
        for one in self.measurements:
            if one.name == name and one.place == Place(self.model, self.scored_split):
                return fraction(one.value)
        raise KeyError(name)
