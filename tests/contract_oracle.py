"""A naive second opinion on `evalkit compare` under any contract, with strata and a policy.

Written from the definitions alone, like `oracle`, whose arithmetic it borrows; nothing is shared with the package. A
record is plain data: it is first turned into a `Case`, which knows no paths. The input must be valid.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from oracle import difference, gate, ratio, rounded

Label = int | str
Values = tuple[str, ...]

DIRECTIONS = {"macroF1": "higher", "precisionAtCoverage": "higher", "ece": "lower"}
DEFAULT_LIMITS = {"macroF1": "0.80", "precisionAtCoverage": "0.90", "ece": "0.05"}
ABSENT = "unlabelled"
JOIN = " × "


def joined(texts: Iterable[str]) -> str:
    """Join several texts; one that holds the sign itself is in quotes then, as in JSON."""
    parts = list(texts)
    return (
        parts[0] if len(parts) == 1 else JOIN.join(json.dumps(p, ensure_ascii=False) if JOIN in p else p for p in parts)
    )


class Written(str):
    """A JSON number as it is written; in a record it stands for itself, not for a text."""


@dataclass(frozen=True)
class Rules:
    """A policy: the floor as decimal text, the accepted qualities, and where a record says its quality."""

    floor: str
    accepted: tuple[str, ...]
    quality: str


@dataclass(frozen=True)
class Terms:
    """All that a verdict depends on besides the records and the coverage floor.

    Attributes:
        fields: Where `model`, `subject`, `split`, `truth`, `predicted` and `confidence` stand.
        labels: The labels, in order.
        split_rule: First byte of validation, first byte of test, digits of a key; None where splits are declared.
        limits: The limit of each gate, as decimal text.
        bins: The number of confidence bins.
        by: The fields to stratify by.
        policy: The policy in force.
    """

    fields: Mapping[str, str]
    labels: tuple[Label, ...]
    split_rule: tuple[int, int, int] | None
    limits: Mapping[str, str]
    bins: int
    by: tuple[str, ...] = ()
    policy: Rules | None = None

    @property
    def extra(self) -> tuple[str, ...]:
        """The fields that are read besides those of the contract."""
        quality = () if self.policy is None else (self.policy.quality,)
        return tuple(dict.fromkeys((*self.by, *quality)))


@dataclass(frozen=True)
class Case:
    """One record without its paths; label and confidence are None where nothing was offered."""

    model: str
    subject: str
    split: str
    truth: Label
    predicted: Label | None
    confidence: float | None
    extra: Mapping[str, str | None]


# --- reading


def at(record: Any, path: str) -> Any:
    """Return what stands at a dotted path; None where anything on the way is absent or null."""
    for name in path.split("."):
        record = None if record is None else record.get(name)
    return record


def text_of(scalar: Any) -> str | None:
    """Return the text that a scalar counts as; None where there is none."""
    if isinstance(scalar, Written):
        number = json.loads(scalar)
        return str(scalar) if math.isinf(number) else json.dumps(number)
    return scalar if scalar is None or isinstance(scalar, str) else json.dumps(scalar)


def case(record: Mapping[str, Any], terms: Terms) -> Case:
    """Take out of a record what counts."""
    found = {name: at(record, path) for name, path in terms.fields.items()}
    confidence = found["confidence"]
    found["confidence"] = None if confidence is None else float(confidence) + 0.0
    return Case(**found, extra={path: text_of(at(record, path)) for path in terms.extra})


# --- judging


def judge(records: Iterable[Mapping[str, Any]], min_coverage: str, terms: Terms) -> dict[str, Any]:
    """Return the report as it must be, without the evidence."""
    cases = [case(record, terms) for record in records]
    floor = Fraction(Decimal(min_coverage))
    models = sorted({one.model for one in cases})
    candidates = [candidate(model, [one for one in cases if one.model == model], floor, terms) for model in models]
    best = recommended(cases, candidates, terms)
    return {
        "schema": "evalkit-selective-v1",
        "synthetic": False,
        "run": None,
        "verdict": "BLOCKED" if best is None else "GO",
        "recommended": best,
        "minCoverage": float(floor),
        "limits": {name: float(Fraction(Decimal(terms.limits[name]))) for name in DIRECTIONS},
        "bins": terms.bins,
        "policy": policy(terms.policy),
        "candidates": candidates,
    }


def policy(rules: Rules | None) -> dict[str, Any] | None:
    """Return the terms of the policy in force."""
    if rules is None:
        return None
    return {
        "confidenceFloor": float(rules.floor),
        "acceptedQuality": list(rules.accepted),
        "qualityField": rules.quality,
    }


def recommended(cases: list[Case], candidates: list[dict[str, Any]], terms: Terms) -> str | None:
    """Name the passing candidate with the highest macro F1, then precision, then the smaller name."""
    ranked = []
    for one in candidates:
        if one["passed"]:
            test = [each for each in cases if each.model == one["model"] and each.split == "test"]
            taken = accepted(test, one["threshold"], terms)
            ranked.append((-(macro_f1(taken) or 0), -Fraction(correct(taken), len(taken)), one["model"]))
    return min(ranked)[2] if ranked else None


def candidate(model: str, cases: list[Case], floor: Fraction, terms: Terms) -> dict[str, Any]:
    """Judge one candidate: its cut from the validation records, its numbers from the test records."""
    validation = [one for one in cases if one.split == "validation"]
    test = [one for one in cases if one.split == "test"]
    cut = threshold(validation, floor, terms)
    reason = blocked(validation, test, cut, terms)
    gates = {name: gate(measure(name, test, cut, terms), terms.limits[name], way) for name, way in DIRECTIONS.items()}
    return {
        "model": model,
        "passed": reason is None and all(one["passed"] for one in gates.values()),
        "reason": reason,
        "threshold": cut,
        "thresholdSplit": "validation",
        "scoredSplit": "test",
        "selection": selection(validation, test, cut, terms),
        **metrics(test, cut, terms),
        "gates": gates,
        "strata": strata(test, cut, terms) if terms.by else None,
    }


def good(one: Case, terms: Terms) -> bool:
    """Tell whether the policy, if there is one, accepts the quality that the record says."""
    return terms.policy is None or one.extra[terms.policy.quality] in terms.policy.accepted


def accepted(cases: Sequence[Case], cut: float, terms: Terms) -> list[Case]:
    """Keep the suggestions of accepted quality at or above the cut."""
    return [one for one in cases if one.confidence is not None and one.confidence >= cut and good(one, terms)]


def correct(taken: Sequence[Case]) -> int:
    """Count the accepted suggestions that are right."""
    return sum(one.predicted == one.truth for one in taken)


def cuts(validation: Sequence[Case], terms: Terms) -> list[float]:
    """List the cuts from the highest: confidences of suggestions of accepted quality, none below the policy's floor."""
    least = 0.0 if terms.policy is None else float(terms.policy.floor)
    return sorted({one.confidence or 0.0 for one in accepted(validation, least, terms)}, reverse=True)


def threshold(validation: Sequence[Case], floor: Fraction, terms: Terms) -> float | None:
    """Choose the cut with the highest precision, then the widest coverage, among those that reach the floor."""
    ranked = []
    for cut in cuts(validation, terms):
        taken = accepted(validation, cut, terms)
        if Fraction(len(taken), len(validation)) >= floor:
            ranked.append((Fraction(correct(taken), len(taken)), len(taken), cut))
    return max(ranked)[2] if ranked else None


def blocked(validation: list[Case], test: list[Case], cut: float | None, terms: Terms) -> str | None:
    """Return the first reason why the candidate cannot be judged, if any."""
    if not validation:
        return "no-validation-records"
    if not test:
        return "no-test-records"
    if cut is None:
        return "no-cut-clears-floor"
    return None if accepted(test, cut, terms) else "nothing-accepted"


def selection(validation: list[Case], test: list[Case], cut: float | None, terms: Terms) -> dict[str, Any]:
    """Describe the cut on the validation records, and how much better it looks there than on the test records."""
    found: dict[str, Fraction | None] = {"coverage": None, "precisionAtCoverage": None}
    seen = dict(found)
    taken = None
    if cut is not None:
        taken, later = accepted(validation, cut, terms), accepted(test, cut, terms)
        found = {
            "coverage": ratio(len(taken), len(validation)),
            "precisionAtCoverage": ratio(correct(taken), len(taken)),
        }
        seen = {"coverage": ratio(len(later), len(test)), "precisionAtCoverage": ratio(correct(later), len(later))}
    return {
        "total": len(validation),
        "accepted": None if taken is None else len(taken),
        **{name: rounded(value) for name, value in found.items()},
        "optimism": {name: rounded(difference(found[name], seen[name])) for name in found},
    }


def metrics(test: Sequence[Case], cut: float | None, terms: Terms) -> dict[str, Any]:
    """Compute every number over test records; without a cut only their total is known."""
    if cut is None:
        names = "accepted abstentions coverage precisionAtCoverage macroF1 ece excludedClasses perClass confusion bins"
        return {"total": len(test), **dict.fromkeys(names.split())}
    taken = accepted(test, cut, terms)
    seen = {one.truth for one in taken}
    return {
        "total": len(test),
        "accepted": len(taken),
        "abstentions": abstentions(test, cut, terms),
        "coverage": rounded(ratio(len(taken), len(test))),
        **{name: rounded(measure(name, test, cut, terms)) for name in ("precisionAtCoverage", "macroF1", "ece")},
        "excludedClasses": [one for one in terms.labels if one not in seen and any(c.truth == one for c in test)],
        "perClass": per_class(taken, terms),
        "confusion": {f"{true}->{guess}": count for true, guess, count in cells(taken, terms)},
        "bins": [{key: value for key, value in row.items() if key != "bin"} for row in bins(taken, terms)],
    }


def abstentions(test: Sequence[Case], cut: float, terms: Terms) -> dict[str, int]:
    """Count the records that are not accepted by the first reason that applies."""
    found = {"no-suggestion": 0, "low-quality": 0, "low-confidence": 0}
    for one in test:
        if one.confidence is None:
            found["no-suggestion"] += 1
        elif not good(one, terms):
            found["low-quality"] += 1
        elif one.confidence < cut:
            found["low-confidence"] += 1
    if terms.policy is None:
        del found["low-quality"]
    return found


def measure(name: str, test: Sequence[Case], cut: float | None, terms: Terms) -> Fraction | None:
    """Return the exact value that a gate looks at, None when it cannot be measured."""
    if cut is None:
        return None
    taken = accepted(test, cut, terms)
    if name == "macroF1":
        return macro_f1(taken)
    if name == "ece":
        gaps = [abs(row["right"] - row["sum"]) for row in _binned(taken, terms.bins).values()]
        return sum(gaps, Fraction(0)) / len(taken) if taken else None
    return ratio(correct(taken), len(taken))


def macro_f1(taken: Sequence[Case]) -> Fraction | None:
    """Average the f1 of the labels with accepted truth."""
    scores = [f1(taken, label) for label in {one.truth for one in taken}]
    return sum(scores, Fraction(0)) / len(scores) if scores else None


def f1(taken: Sequence[Case], label: Label) -> Fraction:
    """Return 2 tp / (support + predicted) of a label that occurs."""
    support, predicted, hits = _counted(taken, label)
    return Fraction(2 * hits, support + predicted)


def per_class(taken: Sequence[Case], terms: Terms) -> dict[str, dict[str, Any]]:
    """Describe every label in the accepted truth or the accepted suggestions, in the order of the contract."""
    rows = {}
    for label in terms.labels:
        support, predicted, hits = _counted(taken, label)
        if support or predicted:
            rows[str(label)] = {
                "support": support,
                "predicted": predicted,
                "precision": rounded(ratio(hits, predicted)),
                "recall": rounded(ratio(hits, support)),
                "f1": rounded(f1(taken, label)),
            }
    return rows


def _counted(taken: Sequence[Case], label: Label) -> tuple[int, int, int]:
    support = sum(one.truth == label for one in taken)
    predicted = sum(one.predicted == label for one in taken)
    return support, predicted, sum(one.truth == label == one.predicted for one in taken)


def cells(taken: Sequence[Case], terms: Terms) -> list[tuple[str, str, int]]:
    """Count the accepted records per pair of truth and suggestion, without the empty pairs."""
    seen = {(one.truth, one.predicted) for one in taken}
    pairs = [(true, guess) for true in terms.labels for guess in terms.labels if (true, guess) in seen]
    return [(str(a), str(b), sum((one.truth, one.predicted) == (a, b) for one in taken)) for a, b in pairs]


def _binned(taken: Sequence[Case], number: int) -> dict[int, dict[str, Any]]:
    """Add up the accepted records of each bin: how many, how many right, and their confidences."""
    found: dict[int, dict[str, Any]] = {}
    for one in taken:
        confidence = one.confidence or 0.0
        row = found.setdefault(min(number - 1, math.floor(number * confidence)), {"count": 0, "right": 0, "sum": 0})
        row["count"] += 1
        row["right"] += one.predicted == one.truth
        row["sum"] += Fraction(round(confidence * 1e15), 10**15)
    return found


def bins(taken: Sequence[Case], terms: Terms) -> list[dict[str, Any]]:
    """Describe the confidence bins that hold anything."""
    return [
        {
            "bin": index,
            "lower": float(Fraction(index, terms.bins)),
            "upper": float(Fraction(index + 1, terms.bins)),
            "count": row["count"],
            "meanConfidence": float(Fraction(row["sum"]) / row["count"]),
            "accuracy": float(Fraction(row["right"], row["count"])),
        }
        for index, row in sorted(_binned(taken, terms.bins).items())
    ]


# --- strata


def groups(by: Sequence[str]) -> list[tuple[str, ...]]:
    """List the fields that form strata: each alone, and all together where there are several."""
    return [*((path,) for path in by), *([tuple(by)] if len(by) > 1 else [])]


def parted(cases: Sequence[Case], fields: Sequence[str]) -> dict[Values, list[Case]]:
    """Part cases by their values, in the order of these."""
    found: dict[Values, list[Case]] = {}
    for one in cases:
        values = (one.extra[path] for path in fields)
        found.setdefault(tuple(ABSENT if value is None else value for value in values), []).append(one)
    return dict(sorted(found.items()))


def strata(test: Sequence[Case], cut: float | None, terms: Terms) -> list[dict[str, Any]]:
    """Measure every stratum at the candidate's one cut; without one there is nothing to measure."""
    return [
        {"by": dict(zip(fields, values, strict=True)), **metrics(own, cut, terms)}
        for fields in groups(terms.by)
        for values, own in parted(test, fields).items()
        if cut is not None
    ]


# --- tables


def curve(records: Iterable[Mapping[str, Any]], terms: Terms) -> list[tuple[Any, ...]]:
    """List every validation cut: model, fields, stratum, cut, accepted, correct, total."""
    cases = [case(record, terms) for record in records]
    rows = []
    for fields in ((), *groups(terms.by)):
        for model in sorted({one.model for one in cases}):
            validation = [one for one in cases if one.model == model and one.split == "validation"]
            for values, own in parted(validation, fields).items():
                where = (model, joined(fields) or None, joined(values) if fields else None)
                for cut in cuts(own, terms):
                    taken = accepted(own, cut, terms)
                    rows.append((*where, cut, len(taken), correct(taken), len(own)))
    return rows


def rows(report: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """Turn the candidates of a report into the rows of four tables: over all records first, then the strata."""
    found: dict[str, list[dict[str, Any]]] = {"candidates": [], "per_class": [], "confusion": [], "bins": []}
    for one in report["candidates"]:
        for part in (one, *(one["strata"] or ())):
            by = part.get("by")
            place = {
                "model": one["model"],
                "stratum_field": joined(by) if by else None,
                "stratum": joined(by.values()) if by else None,
            }
            abstained = part["abstentions"] or {}
            found["candidates"].append(
                {
                    **place,
                    "threshold": one["threshold"],
                    "total": part["total"],
                    "accepted": part["accepted"],
                    "no_suggestion": abstained.get("no-suggestion"),
                    "low_quality": abstained.get("low-quality"),
                    "low_confidence": abstained.get("low-confidence"),
                    "coverage": part["coverage"],
                    "precision_at_coverage": part["precisionAtCoverage"],
                    "macro_f1": part["macroF1"],
                    "ece": part["ece"],
                    "excluded_classes": None if part["accepted"] is None else [*map(str, part["excludedClasses"])],
                }
            )
            found["per_class"] += [{**place, "label": label, **row} for label, row in (part["perClass"] or {}).items()]
            found["confusion"] += [
                {**place, "truth": pair.partition("->")[0], "predicted": pair.partition("->")[2], "count": count}
                for pair, count in (part["confusion"] or {}).items()
            ]
            found["bins"] += [
                {
                    **place,
                    "lower": row["lower"],
                    "upper": row["upper"],
                    "count": row["count"],
                    "mean_confidence": row["meanConfidence"],
                    "accuracy": row["accuracy"],
                }
                for row in part["bins"] or ()
            ]
    return found
