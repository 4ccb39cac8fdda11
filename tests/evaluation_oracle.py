"""The evaluation of probability vectors once more, naively: parsed lines, whole numbers and fractions, one rounding."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Line = Mapping[str, Any]
"""A parsed line of predictions or of gold."""

PLACES = 10**15
FLOOR = 1e-12
UNLABELLED = "unlabelled"


@dataclass(frozen=True)
class Item:
    """One gold line with what one model said about it."""

    gold: str
    family: str
    options: list[str]
    vector: list[float] | None
    label: str | None
    positive: str | None

    @property
    def slot(self) -> str | None:
        """The predicted option: the first of the largest probability, else the label."""
        if self.vector is None:
            return self.label
        return self.options[self.vector.index(max(self.vector))]

    @property
    def right(self) -> bool:
        """Whether the predicted option is gold."""
        return self.slot == self.gold


def evaluate(predictions: Iterable[Line], gold: Iterable[Line], bins: int = 10) -> dict[str, Any]:
    """Return the parts of a report that are numbers: ``bins``, ``overall``, ``by_family`` and ``by_model``."""
    said: dict[str | None, dict[str, Line]] = {}
    for line in predictions:
        said.setdefault(line.get("model"), {})[line["id"]] = line
    truth = list(gold)
    if set(said) <= {None}:
        return {"bins": bins, **strata(joined(said.get(None, {}), truth), bins), "by_model": None}
    models = {str(model): strata(joined(lines, truth), bins) for model, lines in said.items()}
    return {"bins": bins, "overall": None, "by_family": None, "by_model": dict(sorted(models.items()))}


def joined(said: Mapping[str, Line], truth: Iterable[Line]) -> list[Item]:
    """Put what one model said beside each gold line."""
    return [item(said.get(line["id"]), line) for line in truth]


def item(said: Line | None, line: Line) -> Item:
    """Put one prediction, where there is one, beside its gold line."""
    family = line.get("family")
    here = UNLABELLED if family is None else family
    if said is None:
        return Item(line["gold"], here, [], None, None, None)
    options = list(said["option_ids"])
    positive = line.get("positive")
    if positive is None and options == ["true", "false"]:
        positive = "true"
    given = said.get("probabilities")
    vector = None if given is None else [float(one) for one in given]
    return Item(line["gold"], here, options, vector, said.get("label"), positive)


def strata(items: Sequence[Item], bins: int) -> dict[str, Any]:
    """Return the numbers over all items, and over the items of each family."""
    families = sorted({one.family for one in items})
    parts = {family: numbers([one for one in items if one.family == family], bins) for family in families}
    return {"overall": numbers(items, bins), "by_family": parts}


def numbers(items: Sequence[Item], bins: int) -> dict[str, Any]:
    """Return every number of one stratum, in the order of the report."""
    predicted = [one for one in items if one.slot is not None]
    scored = [one for one in items if one.vector is not None]
    binary = [one for one in scored if one.positive is not None]
    recalls = {
        name: Fraction(
            sum(one.right for one in predicted if one.gold == name), sum(one.gold == name for one in predicted)
        )
        for name in sorted({one.gold for one in predicted})
    }
    curve = reliability(scored, bins)
    return {
        "n_items": len(items),
        "n_missing": len(items) - len(predicted),
        "n_predicted": len(predicted),
        "n_scored": len(scored),
        "n_unscored": len(items) - len(scored),
        "accuracy": quotient(sum(one.right for one in predicted), len(predicted)),
        "balanced_accuracy": quotient(sum(recalls.values(), Fraction(0)), len(recalls)),
        "classes_in_gold": list(recalls),
        "per_class_recall": {name: float(recall) for name, recall in recalls.items()},
        "nll": average(map(log_loss, scored)),
        "brier_multiclass": average(map(brier, scored)),
        "n_binary": len(binary),
        "brier_binary": average(map(binary_brier, binary)),
        "ece": calibration_error(curve, len(scored)),
        "reliability": [
            {
                "lower": float(Fraction(index, bins)),
                "upper": float(Fraction(index + 1, bins)),
                "n": n,
                "mean_confidence": float(confidence),
                "accuracy": float(accuracy),
            }
            for index, n, confidence, accuracy in curve
        ],
    }


def quotient(part: int | Fraction, whole: int) -> float | None:
    """Divide, None where there is nothing to divide by."""
    return float(Fraction(part, whole)) if whole else None


def places(value: float) -> int:
    """Return the number of a term's decimal with 15 places: times 10^15 as a float, to the nearest, half to even."""
    return round(value * 1e15)


def average(terms: Iterable[float]) -> float | None:
    """Average terms as decimals with 15 places."""
    whole = [places(term) for term in terms]
    return quotient(Fraction(sum(whole), PLACES), len(whole))


def vector_of(one: Item) -> list[float]:
    """Return the vector of an item that has one."""
    assert one.vector is not None
    return one.vector


def log_loss(one: Item) -> float:
    """Return the negative logarithm of the probability of gold, which counts as at least 1e-12."""
    return -math.log(max(vector_of(one)[one.options.index(one.gold)], FLOOR))


def squared(difference: float) -> float:
    """Square a float."""
    return difference * difference


def brier(one: Item) -> float:
    """Return the sum of squares over all options, added from the first option to the last."""
    total = 0.0
    for option, probability in zip(one.options, vector_of(one), strict=True):
        total += squared(probability - (1.0 if option == one.gold else 0.0))
    return total


def binary_brier(one: Item) -> float:
    """Return the square of the positive option's probability less what it should be."""
    assert one.positive is not None
    probability = vector_of(one)[one.options.index(one.positive)]
    return squared(probability - (1.0 if one.gold == one.positive else 0.0))


def reliability(scored: Sequence[Item], bins: int) -> list[tuple[int, int, Fraction, Fraction]]:
    """Return index, size, mean confidence and accuracy of each bin that holds anything."""
    inside: dict[int, list[Item]] = {}
    for one in scored:
        inside.setdefault(min(bins - 1, math.floor(max(vector_of(one)) * bins)), []).append(one)
    return [
        (
            index,
            len(items),
            Fraction(sum(places(max(vector_of(one))) for one in items), PLACES * len(items)),
            Fraction(sum(one.right for one in items), len(items)),
        )
        for index, items in sorted(inside.items())
    ]


def calibration_error(curve: Sequence[tuple[int, int, Fraction, Fraction]], scored: int) -> float | None:
    """Weigh the gap between accuracy and mean confidence of each bin with its share of the scored rows."""
    gaps = [Fraction(n, scored) * abs(accuracy - confidence) for _, n, confidence, accuracy in curve]
    return float(sum(gaps, Fraction(0))) if gaps else None
