"""Every number of one candidate as a measurement, exact, for tables and for whatever reads them later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from evalkit.contracts.contract import Contract
from evalkit.contracts.policy import Policy
from evalkit.exact import Ratio
from evalkit.families.selective import metrics
from evalkit.families.selective.candidate import Chosen
from evalkit.families.selective.metrics import Counts
from evalkit.gates import GateResult
from evalkit.metric import Measurement, Place, measure


def shown_labels(counts: Counts, contract: Contract) -> list[str]:
    """Return the labels that have a row, in the contract's order."""
    return sorted(counts.labels(), key=contract.label_order.__getitem__)


def validation_measurements(model: str, chosen: Chosen) -> Iterator[Measurement]:
    """Measure what the threshold was chosen by. No gate applies."""
    place = Place(model, "validation")
    reason = None
    if chosen.threshold is None:
        reason = metrics.NO_CUT if chosen.total else metrics.NO_VALIDATION
    threshold = None if chosen.threshold is None else Fraction(chosen.threshold)
    accepted = None if chosen.accepted is None else Ratio(chosen.accepted, 1)
    size, taken = chosen.total, chosen.accepted or 0
    yield Measurement("total", place, Ratio(size, 1), size)
    yield Measurement("threshold", place, threshold, size, reason=reason)
    yield Measurement("accepted", place, accepted, size, reason=reason)
    yield Measurement("coverage", place, chosen.coverage, size, metrics.coverage.direction, reason)
    precision = metrics.precision_at_coverage
    yield Measurement(precision.name, place, chosen.precision_at_coverage, taken, precision.direction, reason)


def test_measurements(
    place: Place,
    tests: int,
    counts: Counts | None,
    reason: str | None,
    contract: Contract,
    policy: Policy | None,
    gates: Mapping[str, GateResult],
) -> Iterator[Measurement]:
    """Measure test records: all of a place with its gates, each label, each bin."""
    yield Measurement("total", place, Ratio(tests, 1), tests)
    found = (counts or _NONE).abstentions(policy=policy is not None)
    for name, number in {"accepted": (counts or _NONE).accepted, **found}.items():
        if counts is None:
            yield Measurement(name, place, None, tests, reason=reason)
        else:
            yield Measurement(name, place, Ratio(number, 1), tests)
    for one in metrics.SPLIT_METRICS:
        if counts is None:
            measured = Measurement(one.name, place, None, 0, one.direction, reason)
        else:
            size = counts.total if one is metrics.coverage else counts.accepted
            measured = measure(one, place, counts, sample_size=size)
        if one.name in gates:
            measured = replace(measured, limit=Fraction(contract.limits[one.name]), passed=gates[one.name].passed)
        yield measured
    if counts is not None:
        yield from _label_measurements(place, counts, contract)
        yield from _bin_measurements(place, counts)


_NONE = Counts({}, 0, {}, {})


def _label_measurements(place: Place, counts: Counts, contract: Contract) -> Iterator[Measurement]:
    for label in shown_labels(counts, contract):
        here = replace(place, label=label)
        support, predicted = counts.support(label), counts.predicted(label)
        yield Measurement("support", here, Ratio(support, 1), counts.accepted)
        yield Measurement("predicted", here, Ratio(predicted, 1), counts.accepted)
        for one, size in zip(metrics.LABEL_METRICS, (predicted, support, support + predicted), strict=True):
            yield measure(one, here, counts, label, sample_size=size)


def _bin_measurements(place: Place, counts: Counts) -> Iterator[Measurement]:
    for index, one in sorted(counts.bins.items()):
        here = replace(place, bin=index)
        yield Measurement("count", here, Ratio(one.count, 1), counts.accepted)
        for each in metrics.BIN_METRICS:
            yield measure(each, here, one, sample_size=one.count)
