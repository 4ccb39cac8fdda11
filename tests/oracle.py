"""A naive second opinion on `evalkit compare`: slow, short and written from the definitions alone.

Nothing here is shared with the package. Every number is a whole number or a fraction until it is reported; then it
is rounded once to a float. The input must already be valid: nothing is checked here.
"""

import math
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

Record = dict[str, Any]

PLACES = 10**15
BINS = 10
GATES = (("macroF1", "0.80", "higher"), ("precisionAtCoverage", "0.90", "higher"), ("ece", "0.05", "lower"))


def judge(records: list[Record], min_coverage: str) -> dict[str, Any]:
    """Return verdict, recommendation and every candidate as the report must show them."""
    floor = Fraction(Decimal(min_coverage))
    models = sorted({record["model"] for record in records})
    candidates = [candidate(model, [r for r in records if r["model"] == model], floor) for model in models]
    best = recommended(records, candidates)
    return {
        "verdict": "BLOCKED" if best is None else "GO",
        "recommended": best,
        "minCoverage": float(floor),
        "candidates": candidates,
    }


def recommended(records: list[Record], candidates: list[dict[str, Any]]) -> str | None:
    """Name the passing candidate with the highest macro F1, then precision, then the smaller name."""
    ranked = []
    for one in candidates:
        if one["passed"]:
            test = [r for r in records if r["model"] == one["model"] and r["split"] == "test"]
            taken = accepted(test, one["threshold"])
            f1, precision = macro_f1(taken), ratio(correct(taken), len(taken))
            assert f1 is not None
            assert precision is not None
            ranked.append((-f1, -precision, one["model"]))
    return min(ranked)[2] if ranked else None


def candidate(model: str, records: list[Record], floor: Fraction) -> dict[str, Any]:
    """Judge one candidate: its cut from the validation records, its numbers from the test records."""
    validation = [record for record in records if record["split"] == "validation"]
    test = [record for record in records if record["split"] == "test"]
    cut = threshold(validation, floor)
    reason = blocked(validation, test, cut)
    gates = {name: gate(measure(name, test, cut), limit, direction) for name, limit, direction in GATES}
    return {
        "model": model,
        "passed": reason is None and all(one["passed"] for one in gates.values()),
        "reason": reason,
        "threshold": cut,
        "thresholdSplit": "validation",
        "scoredSplit": "test",
        "selection": selection(validation, test, cut),
        **metrics(test, cut),
        "gates": gates,
        "strata": None,
    }


def confidence(record: Record) -> float:
    """Return the confidence of a suggestion as a 64-bit float, with -0.0 as 0.0."""
    return float(record["prediction"]["confidence"]) + 0.0


def offers(record: Record) -> bool:
    """Tell whether the candidate suggested anything for this record."""
    return record["prediction"] is not None


def truth(record: Record) -> int:
    """Return the true label."""
    label: int = record["truth"]["bristolType"]
    return label


def predicted(record: Record) -> int:
    """Return the suggested label."""
    label: int = record["prediction"]["bristolType"]
    return label


def accepted(records: list[Record], cut: float) -> list[Record]:
    """Keep the records with a suggestion at or above the cut."""
    return [record for record in records if offers(record) and confidence(record) >= cut]


def correct(taken: list[Record]) -> int:
    """Count the accepted suggestions that are right."""
    return sum(1 for record in taken if predicted(record) == truth(record))


def ratio(part: int, whole: int) -> Fraction | None:
    """Divide, or return None when there is nothing to divide by."""
    return Fraction(part, whole) if whole else None


def rounded(value: Fraction | None) -> float | None:
    """Round a fraction once to the nearest float."""
    return None if value is None else float(value)


def difference(left: Fraction | None, right: Fraction | None) -> Fraction | None:
    """Subtract, or return None when either side is missing."""
    return None if left is None or right is None else left - right


def threshold(validation: list[Record], floor: Fraction) -> float | None:
    """Choose the cut with the highest precision, then the widest coverage, among those that reach the floor."""
    best: tuple[Fraction, Fraction, float] | None = None
    for cut in {confidence(record) for record in validation if offers(record)}:
        taken = accepted(validation, cut)
        coverage = Fraction(len(taken), len(validation))
        precision = Fraction(correct(taken), len(taken))
        if coverage >= floor and (best is None or (precision, coverage) > best[:2]):
            best = (precision, coverage, cut)
    return None if best is None else best[2]


def blocked(validation: list[Record], test: list[Record], cut: float | None) -> str | None:
    """Return the first reason why the candidate cannot be judged, if any."""
    if not validation:
        return "no-validation-records"
    if not test:
        return "no-test-records"
    if cut is None:
        return "no-cut-clears-floor"
    if not accepted(test, cut):
        return "nothing-accepted"
    return None


def selection(validation: list[Record], test: list[Record], cut: float | None) -> dict[str, Any]:
    """Describe the cut on the validation records, and how much better it looks there than on the test records."""
    if cut is None:
        nothing: dict[str, Any] = {"coverage": None, "precisionAtCoverage": None}
        return {"total": len(validation), "accepted": None, **nothing, "optimism": dict(nothing)}
    taken, test_taken = accepted(validation, cut), accepted(test, cut)
    coverage = ratio(len(taken), len(validation))
    precision = ratio(correct(taken), len(taken))
    test_coverage = ratio(len(test_taken), len(test))
    test_precision = ratio(correct(test_taken), len(test_taken))
    return {
        "total": len(validation),
        "accepted": len(taken),
        "coverage": rounded(coverage),
        "precisionAtCoverage": rounded(precision),
        "optimism": {
            "coverage": rounded(difference(coverage, test_coverage)),
            "precisionAtCoverage": rounded(difference(precision, test_precision)),
        },
    }


def metrics(test: list[Record], cut: float | None) -> dict[str, Any]:
    """Compute every number over the test records; without a cut only their total is known."""
    if cut is None:
        names = "accepted abstentions coverage precisionAtCoverage macroF1 ece excludedClasses perClass confusion bins"
        return {"total": len(test), **dict.fromkeys(names.split())}
    taken = accepted(test, cut)
    return {
        "total": len(test),
        "accepted": len(taken),
        "abstentions": {
            "no-suggestion": sum(1 for record in test if not offers(record)),
            "low-confidence": sum(1 for record in test if offers(record) and not confidence(record) >= cut),
        },
        "coverage": rounded(ratio(len(taken), len(test))),
        "precisionAtCoverage": rounded(measure("precisionAtCoverage", test, cut)),
        "macroF1": rounded(measure("macroF1", test, cut)),
        "ece": rounded(measure("ece", test, cut)),
        "excludedClasses": sorted({truth(record) for record in test} - {truth(record) for record in taken}),
        "perClass": per_class(taken),
        "confusion": confusion(taken),
        "bins": bins(taken),
    }


def measure(name: str, test: list[Record], cut: float | None) -> Fraction | None:
    """Return the exact value that a gate looks at, None when it cannot be measured."""
    if cut is None:
        return None
    taken = accepted(test, cut)
    if name == "macroF1":
        return macro_f1(taken)
    if name == "precisionAtCoverage":
        return ratio(correct(taken), len(taken))
    return ece(taken)


def gate(value: Fraction | None, limit: str, direction: str) -> dict[str, Any]:
    """Compare the exact value with the decimal limit, the limit itself passes."""
    line = Fraction(Decimal(limit))
    passed = value is not None and (value >= line if direction == "higher" else value <= line)
    return {
        "value": rounded(value),
        "limit": float(line),
        "direction": direction,
        "passed": passed,
        "reason": "not-measured" if value is None else None,
    }


def support(taken: list[Record], label: int) -> int:
    """Count the accepted records whose truth is the label."""
    return sum(1 for record in taken if truth(record) == label)


def suggested(taken: list[Record], label: int) -> int:
    """Count the accepted records whose suggestion is the label."""
    return sum(1 for record in taken if predicted(record) == label)


def cell(taken: list[Record], true_label: int, predicted_label: int) -> int:
    """Count the accepted records with this truth and this suggestion."""
    return sum(1 for record in taken if truth(record) == true_label and predicted(record) == predicted_label)


def f1_score(taken: list[Record], label: int) -> Fraction:
    """Return 2 tp / (support + predicted) of a label that occurs."""
    return Fraction(2 * cell(taken, label, label), support(taken, label) + suggested(taken, label))


def macro_f1(taken: list[Record]) -> Fraction | None:
    """Average the f1 of the labels with accepted truth."""
    scores = [f1_score(taken, label) for label in {truth(record) for record in taken}]
    return sum(scores, Fraction(0)) / len(scores) if scores else None


def per_class(taken: list[Record]) -> dict[str, dict[str, Any]]:
    """Describe every label in the accepted truth or the accepted suggestions."""
    rows = {}
    for label in sorted({truth(record) for record in taken} | {predicted(record) for record in taken}):
        hits = cell(taken, label, label)
        rows[str(label)] = {
            "support": support(taken, label),
            "predicted": suggested(taken, label),
            "precision": rounded(ratio(hits, suggested(taken, label))),
            "recall": rounded(ratio(hits, support(taken, label))),
            "f1": rounded(f1_score(taken, label)),
        }
    return rows


def confusion(taken: list[Record]) -> dict[str, int]:
    """Count the accepted records per pair of truth and suggestion, without the empty pairs."""
    pairs = sorted({(truth(record), predicted(record)) for record in taken})
    return {f"{left}->{right}": cell(taken, left, right) for left, right in pairs}


def bin_index(record: Record) -> int:
    """Return the confidence bin, in 64-bit floats."""
    return min(BINS - 1, math.floor(BINS * confidence(record)))


def in_bin(taken: list[Record], index: int) -> list[Record]:
    """Keep the accepted records of one confidence bin."""
    return [record for record in taken if bin_index(record) == index]


def mean_confidence(taken: Sequence[Record]) -> Fraction:
    """Average confidences as decimals with 15 places."""
    return Fraction(sum(round(confidence(record) * 1e15) for record in taken), PLACES * len(taken))


def ece(taken: list[Record]) -> Fraction | None:
    """Weigh the gap between accuracy and mean confidence of every bin with its share of the accepted records."""
    if not taken:
        return None
    total = Fraction(0)
    for index in range(BINS):
        inside = in_bin(taken, index)
        if inside:
            gap = abs(Fraction(correct(inside), len(inside)) - mean_confidence(inside))
            total += Fraction(len(inside), len(taken)) * gap
    return total


def bins(taken: list[Record]) -> list[dict[str, Any]]:
    """Describe the confidence bins that hold anything."""
    rows = []
    for index in range(BINS):
        inside = in_bin(taken, index)
        if inside:
            rows.append(
                {
                    "lower": float(Fraction(index, BINS)),
                    "upper": float(Fraction(index + 1, BINS)),
                    "count": len(inside),
                    "meanConfidence": float(mean_confidence(inside)),
                    "accuracy": float(Fraction(correct(inside), len(inside))),
                }
            )
    return rows
