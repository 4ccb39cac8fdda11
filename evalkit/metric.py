"""Metrics: pure functions from counts to an exact value, each declared with its direction and range; measurements.

A metric never sees a frame. It takes a small object of counts and returns a ``Ratio``, a ``Fraction``, or None where
there is nothing to divide by. From the declarations come the documentation, the law tests and the charts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from evalkit.exact import Exact, fraction

Direction = Literal["higher", "lower", "none"]
"""Which values are better; ``none`` for numbers that only inform."""


@dataclass(frozen=True, slots=True)
class Metric:
    """A declared metric; calling it gives the exact value.

    Attributes:
        name: The name in reports and tables, exactly.
        direction: Which values are better.
        low: The least value possible.
        high: The greatest value possible; None where there is none.
        undefined: The reason given where the value is None.
        function: From counts to the exact value.
    """

    name: str
    direction: Direction
    low: Fraction
    high: Fraction | None
    undefined: str
    function: Callable[..., Exact]

    def __call__(self, *counts: Any) -> Exact:
        """Return the exact value."""
        return self.function(*counts)

    @property
    def definition(self) -> str:
        """The definition in words, from the docstring."""
        return (self.function.__doc__ or "").strip()


def metric(
    name: str, direction: Direction, undefined: str, *, low: int = 0, high: int | None = 1
) -> Callable[[Callable[..., Exact]], Metric]:
    """Declare a metric.

    >>> @metric("hitRate", "higher", "no-tries")
    ... def hit_rate(hits, tries):
    ...     return Fraction(hits, tries) if tries else None
    >>> hit_rate(3, 4), hit_rate.high
    (Fraction(3, 4), Fraction(1, 1))
    """

    def declare(function: Callable[..., Exact]) -> Metric:
        top = None if high is None else Fraction(high)
        return Metric(name, direction, Fraction(low), top, undefined, function)

    return declare


@dataclass(frozen=True, slots=True)
class Place:
    """Where a number stands; None where it is not about that.

    Attributes:
        model: The candidate.
        split: The split.
        label: The label.
        bin: The confidence bin.
        stratum_field: The field, or fields, that the stratum is one of.
        stratum: The stratum; None over all records.
    """

    model: str | None = None
    split: str | None = None
    label: str | None = None
    bin: int | None = None
    stratum_field: str | None = None
    stratum: str | None = None


@dataclass(frozen=True, slots=True)
class Measurement:
    """One number and where it stands; the one currency of gates, tables, readiness and history.

    Attributes:
        name: What was measured.
        place: What it is about.
        value: The exact value, or None.
        sample_size: How many records the number rests on.
        direction: Which values are better.
        reason: Why the value is None.
        limit: The gate's limit, where a gate applies.
        passed: Whether the gate passed.
    """

    name: str
    place: Place
    value: Exact
    sample_size: int
    direction: Direction = "none"
    reason: str | None = None
    limit: Fraction | None = None
    passed: bool | None = None


def measure(measured: Metric, place: Place, *counts: Any, sample_size: int) -> Measurement:
    """Measure one metric; a value that is None carries the reason that the metric declares."""
    value = measured(*counts)
    reason = measured.undefined if fraction(value) is None else None
    return Measurement(measured.name, place, value, sample_size, measured.direction, reason)
