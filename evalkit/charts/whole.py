"""Whether a report of evalkit is whole: what it could not have written itself is not drawn as its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from evalkit.errors import Violation
from evalkit.metric import Direction
from evalkit.records.strict_json import show
from evalkit.results.conform import conform


@dataclass(frozen=True, slots=True)
class MetricRow:
    """A metric of a measurement as it stands in the report; the keys of ``ABSENT`` stand only where they apply."""

    SNAKE_CASE: ClassVar[bool] = True
    ABSENT: ClassVar[tuple[str, ...]] = (
        *("system", "numerator", "denominator", "review_complete", "days_observed", "caution", "reason"),
    )

    name: str
    value: float | int | None
    threshold: float | int | None
    direction: Direction
    sample_size: int
    system: str | None
    numerator: int | None
    denominator: int | None
    review_complete: bool | None
    days_observed: int | None
    caution: str | None
    reason: str | None


def selective_faults(plain: Mapping[str, Any]) -> Iterator[Violation]:
    """Find what keeps plain data from being a report of ``compare``."""
    from evalkit.families.selective.result import Report

    return conform(plain, Report)


def evaluation_faults(plain: Mapping[str, Any]) -> Iterator[Violation]:
    """Find what keeps plain data from being a report of ``evaluate``, which is either of one model or by models."""
    from evalkit.families.probability.result import Evaluation

    found = list(conform(plain, Evaluation))
    yield from found
    if not found and (plain["by_model"] is None) is (plain["overall"] is None or plain["by_family"] is None):
        message = "must be null exactly where overall and by_family are there"
        yield Violation("not-whole", message, field="by_model")


def measurement_faults(plain: Mapping[str, Any]) -> Iterator[Violation]:
    """Find what keeps plain data from being a report of ``measure``; its metrics are rows of their own kind."""
    from evalkit.families.observations.result import MeasurementReport

    found = list(conform(plain, MeasurementReport))
    yield from found
    if found:
        return
    yield from _row_faults(plain["metrics"], "metrics")
    for place, stratum in enumerate(plain["strata"]):
        path = f"strata[{place}].metrics"
        yield from _row_faults(stratum["metrics"], path)
        for number, row in enumerate(stratum["metrics"]):
            if (limit := row.get("threshold")) is not None:
                message = "must be null: thresholds are for all cases only"
                yield Violation("not-whole", message, field=f"{path}[{number}].threshold", value=show(limit))


def _row_faults(rows: list[Mapping[str, Any]], path: str) -> Iterator[Violation]:
    absent = dict.fromkeys(MetricRow.ABSENT)
    for fault in conform([{**absent, **row} for row in rows], tuple[MetricRow, ...]):
        yield replace(fault, field=f"{path}{fault.field}")
