"""The gates of a candidate checked again: from the numbers in a report, against limits that the report does not set.

The ``passed`` flags are not read. What was reported was rounded once, so it is compared with the limit as a float;
what can be counted again from the report is compared exactly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from evalkit.contracts.contract import ARROW
from evalkit.exact import Exact, rounded
from evalkit.families.selective import metrics
from evalkit.families.selective.metrics import Counts
from evalkit.gates import Gate, judge
from evalkit.metric import Metric

Candidate = Mapping[str, Any]
"""A candidate of a whole report as plain data."""


def failing_gates(candidate: Candidate, limits: Mapping[str, Decimal]) -> dict[str, str]:
    """Return the gates that a candidate does not pass, in the order of reports, each with what was found and is needed.

    A number that was not measured passes no gate, and neither does one that the metric cannot take.
    """
    failing = {}
    for one in metrics.GATED:
        limit = limits[one.name]
        if found := list(_short(one, limit, candidate)):
            needed = "at least" if one.direction == "higher" else "at most"
            failing[one.name] = f"{one.name} must be {needed} {limit}; found {', '.join(_joined(found))}"
    return failing


def _short(one: Metric, limit: Decimal, candidate: Candidate) -> Iterator[tuple[str, str]]:
    """Yield the values that do not reach the limit, and where each was found."""
    for place, value in (
        (one.name, candidate[one.name]),
        (f"gates.{one.name}.value", candidate["gates"][one.name]["value"]),
    ):
        if not _passes(one, limit, value):
            yield _words(value), place
    place, again = _counted_again(one, candidate)
    if not judge(Gate.of(one, limit), again).passed:
        value = rounded(again)
        # Rounded, a value may seem to be on the line that it does not reach.
        yield f"nearly {_words(value)}" if _passes(one, limit, value) else _words(value), f"its {place}, counted again"


def _passes(one: Metric, limit: Decimal, value: float | None) -> bool:
    if value is None or value < one.low or (one.high is not None and value > one.high):
        return False
    return value >= float(limit) if one.direction == "higher" else value <= float(limit)


def _counted_again(one: Metric, candidate: Candidate) -> tuple[str, Exact]:
    """Return where a metric can be counted again from, and its value."""
    if one is metrics.ece:
        return "bins", least_ece(candidate["bins"] or ())
    return "confusion", one(Counts({}, 0, cells(candidate["confusion"] or {}), {}))


def cells(confusion: Mapping[str, int]) -> dict[tuple[str, str], int]:
    """Return the cells of a confusion matrix as a report writes it; no label holds an arrow."""
    found = {}
    for name, count in confusion.items():
        truth, _, predicted = name.partition(ARROW)
        found[truth, predicted] = count
    return found


def least_ece(bins: Sequence[Mapping[str, Any]]) -> Fraction | None:
    """Return the least calibration error that a candidate with these bins can have, or None where they tell none.

    A report has no sums, only means rounded to floats. The number of right ones follows exactly all the same; the mean
    confidence was at most half a unit in the last place from what is written.

    >>> least_ece([{"count": 20, "meanConfidence": 0.75, "accuracy": 1.0}]) > Fraction("0.2499999")
    True
    """
    gaps = Fraction(0)
    for one in bins:
        if one["count"] < 1 or not all(_is_share(one[name]) for name in ("meanConfidence", "accuracy")):
            return None
        right = round(Fraction(one["accuracy"]) * one["count"])
        off = Fraction(math.ulp(one["meanConfidence"])) / 2
        gap = abs(Fraction(right, one["count"]) - Fraction(one["meanConfidence"]))
        gaps += one["count"] * max(gap - off, Fraction(0))
    return gaps / sum(one["count"] for one in bins) if bins else None


def _is_share(value: float | None) -> bool:
    return value is not None and 0 <= value <= 1


def _joined(found: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Name each value once, with all the places where it was found."""
    for value in dict.fromkeys(value for value, _ in found):
        yield f"{value} in {' and '.join(place for other, place in found if other == value)}"


def _words(value: float | None) -> str:
    return "nothing measured" if value is None else repr(value)
