"""Judge candidates: exact values from counts, gates, reasons, verdict and recommendation. No frame comes here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import cast

from evalkit.contracts.contract import ARROW, Contract
from evalkit.contracts.policy import Policy
from evalkit.exact import Exact, difference, rounded
from evalkit.families.selective import metrics
from evalkit.families.selective.candidate import (
    BinRow,
    Candidate,
    Chosen,
    ClassRow,
    Optimism,
    Scores,
    Selection,
    Stratum,
    crossed,
)
from evalkit.families.selective.measured import shown_labels, test_measurements, validation_measurements
from evalkit.families.selective.metrics import NO_CUT, NO_TEST, NO_VALIDATION, NOTHING_ACCEPTED, Counts
from evalkit.gates import Gate, judge
from evalkit.metric import Metric, Place


def judge_candidate(
    model: str,
    chosen: Chosen,
    tests: int,
    counts: Counts | None,
    contract: Contract,
    *,
    policy: Policy | None = None,
    strata: Sequence[Stratum] | None = None,
) -> Candidate:
    """Judge one model.

    Args:
        model: The name.
        chosen: What validation gave.
        tests: Its test records.
        counts: Its test records counted at the threshold; None without a threshold.
        contract: The labels, the limits and the number of bins.
        policy: The policy in force.
        strata: Its judged strata; None where none were asked for.
    """
    reason = _reason(chosen, tests, counts)
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
        **scores(tests, counts, contract, policy),
        gates=gates,
        strata=strata,
        measurements=(
            *validation_measurements(model, chosen),
            *test_measurements(Place(model, "test"), tests, counts, reason, contract, policy, gates),
        ),
    )


def judge_stratum(
    model: str, by: Mapping[str, str], counts: Counts, contract: Contract, policy: Policy | None
) -> Stratum:
    """Measure one model's test records of one stratum; no gate applies."""
    place = Place(model, "test", stratum_field=crossed(list(by)), stratum=crossed(list(by.values())))
    measured = test_measurements(place, counts.total, counts, None, contract, policy, {})
    return Stratum(by=by, **scores(counts.total, counts, contract, policy), measurements=tuple(measured))


def scores(tests: int, counts: Counts | None, contract: Contract, policy: Policy | None) -> Scores:
    """Measure test records."""
    if counts is None:
        nothing = dict.fromkeys(Scores.__annotations__)
        return cast("Scores", nothing | {"total": tests, "cells": ()})
    cells = _cells(counts, contract)
    excluded = counts.excluded()
    return Scores(
        total=tests,
        accepted=counts.accepted,
        abstentions=counts.abstentions(policy=policy is not None),
        coverage=rounded(metrics.coverage(counts)),
        precision_at_coverage=rounded(metrics.precision_at_coverage(counts)),
        macro_f1=rounded(metrics.macro_f1(counts)),
        ece=rounded(metrics.ece(counts)),
        excluded_classes=tuple(one for one in contract.labels if str(one) in excluded),
        per_class={label: _class_row(counts, label) for label in shown_labels(counts, contract)},
        confusion={f"{truth}{ARROW}{predicted}": count for truth, predicted, count in cells},
        bins=tuple(_bin_row(counts, index, contract.bins) for index in sorted(counts.bins)),
        cells=cells,
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
    order = contract.label_order
    cells = sorted(counts.cells.items(), key=lambda item: (order[item[0][0]], order[item[0][1]]))
    return tuple((truth, predicted, count) for (truth, predicted), count in cells)


def _bin_row(counts: Counts, index: int, bins: int) -> BinRow:
    one = counts.bins[index]
    scores = (rounded(each(one)) for each in metrics.BIN_METRICS)
    return BinRow(index, index / bins, (index + 1) / bins, one.count, *scores)
