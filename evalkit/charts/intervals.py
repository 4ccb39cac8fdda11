"""How sure a number is, as charts and tables say it: an interval, what it rests on, what a gate made of its bound."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from evalkit.charts.words import number
from evalkit.metric import Direction

Outcome = Literal["passed", "failed", "insufficient"]

RULINGS: Mapping[Outcome, str] = {
    "passed": "passed",
    "failed": "failed",
    "insufficient": "insufficient evidence",
}
"""What a gate that asks for a bound can say, in words."""

NO_INTERVAL = "no interval"

_UNITS = {"contributor": "contributors", "row": "rows", "source": "sources", "date": "days", "query": "queries"}


@dataclass(frozen=True, slots=True)
class Interval:
    """How sure a number is.

    Attributes:
        low: The lower end of the two-sided interval; None where there is none.
        high: The upper end.
        at_least: The one-sided lower bound.
        at_most: The one-sided upper bound.
        method: How it was made.
        reason: Why there is none.
        contributors: On how many contributors it rests.
        effective: How many of equal size they are worth.
        largest: The share of the largest of them.
        unit: What a contributor is called, many.
    """

    low: float | None = None
    high: float | None = None
    at_least: float | None = None
    at_most: float | None = None
    method: str | None = None
    reason: str | None = None
    contributors: int | None = None
    effective: float | None = None
    largest: float | None = None
    unit: str = "contributors"

    @property
    def ends(self) -> tuple[float, float] | None:
        """Both ends; None where there is no interval."""
        return None if self.low is None or self.high is None else (self.low, self.high)


@dataclass(frozen=True, slots=True)
class Ruling:
    """What a gate said that was held against a bound.

    Attributes:
        outcome: ``passed``, ``failed`` or ``insufficient``.
        bound: The one-sided bound; None where there is none.
        reason: Why it did not pass.
        value: What was held against the limit.
        limit: The limit; None where that is not said here.
        direction: Which side of it passes.
    """

    outcome: Outcome
    bound: float | None = None
    reason: str | None = None
    value: float | None = None
    limit: float | None = None
    direction: Direction = "none"


def unit(clustered_by: str) -> str:
    """Return what is drawn as a whole, many of them.

    >>> unit("contributor"), unit("row"), unit("clinic")
    ('contributors', 'rows', 'values of clinic')
    """
    return _UNITS.get(clustered_by, f"values of {clustered_by}")


def bracket(one: Interval | None, places: int = 4) -> str:
    """Write the ends of an interval; nothing where there is none.

    >>> bracket(Interval(0.88, 0.94)), bracket(Interval(0.88, 0.94), 3), bracket(Interval(reason="x"))
    ('[0.8800, 0.9400]', '[0.880, 0.940]', '')
    """
    if one is None or one.ends is None:
        return ""
    low, high = (number(end, places=places) for end in one.ends)
    return f"[{low}, {high}]"


def basis(one: Interval) -> str:
    """Say what an interval rests on, or why there is none.

    >>> basis(Interval(0.1, 0.2, method="cluster-t", contributors=1400))
    'cluster-t, 1,400 contributors'
    >>> basis(Interval(reason="insufficient-contributors", contributors=12))
    'no interval: insufficient contributors (12)'
    """
    if one.ends is None:
        count = f" ({one.contributors:,})" if one.contributors is not None and one.reason != "count" else ""
        return f"{NO_INTERVAL}: {plain_reason(one.reason)}{count}"
    rests_on = [] if one.contributors is None else [f"{one.contributors:,} {one.unit}"]
    return ", ".join([*([one.method] if one.method else []), *rests_on])


def plain_reason(reason: str | None) -> str:
    """Write a reason code as words.

    >>> plain_reason("undefined-in-resamples"), plain_reason("count"), plain_reason(None)
    ('undefined in resamples', 'it is a count', 'not given')
    """
    return {None: "not given", "count": "it is a count"}.get(reason) or str(reason).replace("-", " ")


def sample_told(one: Interval) -> str:
    """Say who the records came from; nothing where that is not known.

    >>> sample_told(Interval(contributors=412, effective=380.2, largest=0.01))
    '412 contributors, worth 380.2 of equal size; the largest has 1.0 % of the records.'
    """
    if one.contributors is None:
        return ""
    said = f"{one.contributors:,} {one.unit}"
    if one.effective is not None:
        said += f", worth {one.effective:,.1f} of equal size"
    if one.largest is not None:
        said += f"; the largest has {100 * one.largest:.1f} % of the records"
    return f"{said}."
