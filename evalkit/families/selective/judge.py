"""Judge candidates: exact values from counts, gates, reasons, verdict and recommendation. No frame comes here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from evalkit.contract import Contract
from evalkit.exact import Exact, difference, rounded
from evalkit.families.selective import metrics
from evalkit.families.selective.candidate import BinRow, Candidate, Chosen, ClassRow, Optimism, Selection
from evalkit.families.selective.measured import shown_labels, test_measurements, validation_measurements
from evalkit.families.selective.metrics import NO_CUT, NO_TEST, NO_VALIDATION, NOTHING_ACCEPTED, Counts
from evalkit.gates import Gate, judge
from evalkit.metric import Metric


def judge_candidate(model: str, chosen: Chosen, tests: int, counts: Counts | None, contract: Contract) -> Candidate:
    """Judge one model.

    Args:
        model: The name.
        chosen: What validation gave.
        tests: Its test records.
        counts: Its test records counted at the threshold; None without a threshold.
        contract: The labels, the limits and the number of bins.
    """
    reason = _reason(chosen, tests, counts)
    cells = _cells(counts, contract) if counts else ()
    values: dict[Metric, Exact] = {one: one(counts) if counts else None for one in metrics.SPLIT_METRICS}
    gates = {one.name: judge(Gate.of(one, contract.limits[one.name]), values[one]) for one in metrics.GATED}
    return Candidate(
        model=model,
        passed=reason is None and all(result.passed for result in gates.values()),
        reason=reason,
        threshold=chosen.threshold,
        threshold_split="validation",
        scored_split="test",
        selection=_selection(chosen, values),
        total=tests,
        accepted=counts.accepted if counts else None,
        abstentions={"no-suggestion": counts.no_suggestion, "low-confidence": counts.low_confidence}
        if counts
        else None,
        coverage=rounded(values[metrics.coverage]),
        precision_at_coverage=rounded(values[metrics.precision_at_coverage]),
        macro_f1=rounded(values[metrics.macro_f1]),
        ece=rounded(values[metrics.ece]),
        excluded_classes=tuple(one for one in contract.labels if str(one) in counts.excluded()) if counts else None,
        per_class={label: _class_row(counts, label) for label in shown_labels(counts, contract)} if counts else None,
        confusion={f"{truth}->{predicted}": count for truth, predicted, count in cells} if counts else None,
        bins=tuple(_bin_row(counts, index, contract.bins) for index in sorted(counts.bins)) if counts else None,
        gates=gates,
        cells=cells,
        measurements=(
            *validation_measurements(model, chosen),
            *test_measurements(model, tests, counts, reason, contract, gates),
        ),
    )


def recommend(candidates: Sequence[Candidate]) -> str | None:
    """Name the passing candidate of the highest macro F1, then precision at coverage, then the smaller name."""

    def rank(candidate: Candidate) -> tuple[Fraction, Fraction, str]:
        scores = [candidate.exact(one.name) or Fraction(0) for one in (metrics.macro_f1, metrics.precision_at_coverage)]
        return (-scores[0], -scores[1], candidate.model)

    passing = [candidate for candidate in candidates if candidate.passed]
    return min(passing, key=rank).model if passing else None


def _reason(chosen: Chosen, tests: int, counts: Counts | None) -> str | None:
    if not chosen.total:
        return NO_VALIDATION
    if not tests:
        return NO_TEST
    if counts is None:
        return NO_CUT
    return None if counts.accepted else NOTHING_ACCEPTED


def _selection(chosen: Chosen, values: Mapping[Metric, Exact]) -> Selection:
    optimism = Optimism(
        rounded(difference(chosen.coverage, values[metrics.coverage])),
        rounded(difference(chosen.precision_at_coverage, values[metrics.precision_at_coverage])),
    )
    coverage, precision = rounded(chosen.coverage), rounded(chosen.precision_at_coverage)
    return Selection(chosen.total, chosen.accepted, coverage, precision, optimism)


def _class_row(counts: Counts, label: str) -> ClassRow:
    scores = (rounded(one(counts, label)) for one in metrics.LABEL_METRICS)
    return ClassRow(counts.support(label), counts.predicted(label), *scores)


def _cells(counts: Counts, contract: Contract) -> tuple[tuple[str, str, int], ...]:
    order = {str(label): place for place, label in enumerate(contract.labels)}
    cells = sorted(counts.cells.items(), key=lambda item: (order[item[0][0]], order[item[0][1]]))
    return tuple((truth, predicted, count) for (truth, predicted), count in cells)


def _bin_row(counts: Counts, index: int, bins: int) -> BinRow:
    one = counts.bins[index]
    scores = (rounded(each(one)) for each in metrics.BIN_METRICS)
    return BinRow(index, index / bins, (index + 1) / bins, one.count, *scores)
