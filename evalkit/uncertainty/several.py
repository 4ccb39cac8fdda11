"""Several candidates at once: p-values that allow for it, and what the best of many shows though none is better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import expm1, fsum, log1p
from typing import TYPE_CHECKING

from evalkit.exact import rounded

if TYPE_CHECKING:
    from evalkit.uncertainty.interval import Interval

_STEP = 2.0**-10
_REACH = 12


def holm(p_values: Sequence[float | None]) -> tuple[float | None, ...]:
    """Adjust p-values so that the chance of any false one is kept, however they hang together (Holm 1979).

    The smallest is multiplied by their number, the next by one less, and so on; none is let below an earlier one, nor
    above 1. What has no p-value stays without and is not counted.

    >>> holm([0.01, None, 0.04, 0.03])
    (0.03, None, 0.06, 0.06)
    """
    order = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    adjusted: list[float | None] = [None] * len(p_values)
    least = 0.0
    for rank, (p, place) in enumerate(order):
        least = max(least, min((len(order) - rank) * p, 1.0))
        adjusted[place] = least
    return tuple(adjusted)


def expected_maximum(number: int) -> float:
    """Return the expected largest of so many independent standard normal variables: ∫₀^∞ 1 − Φ(x)ᵐ − Φ(−x)ᵐ dx.

    >>> [round(expected_maximum(number), 4) for number in (2, 3, 5)]
    [0.5642, 0.8463, 1.163]
    """
    import numpy as np
    from scipy import special

    if number < 2:
        return 0.0
    at = (np.arange(_REACH / _STEP) + 0.5) * _STEP
    above = 1 - special.ndtr(at) ** number - special.ndtr(-at) ** number
    return fsum(above.tolist()) * _STEP


def at_least_one(single: float, number: int) -> float:
    """Return the chance that at least one of so many independent candidates passes, given that of a single one.

    >>> round(at_least_one(0.08, 5), 3)
    0.341
    """
    return -expm1(number * log1p(-single)) if single < 1 else 1.0


@dataclass(frozen=True, slots=True)
class BestOf:
    """What the best of several candidates must be read with.

    Attributes:
        name: The metric that the recommended one was chosen by.
        candidates: How many there were to choose from.
        standard_error: Of the recommended one's number.
        excess: How far the best of as many equal ones is expected to lie above what it is worth.
        text: The same as a sentence.
    """

    name: str
    candidates: int
    standard_error: float
    excess: float
    text: str


def best_of(candidates: int, chosen: Interval, level: float) -> BestOf | None:
    """Say by how much the best of several equal candidates is expected to look better than it is.

    It is the expected largest of as many normal variables times the standard error. Candidates that are scored on the
    same records err alike, and their best then lies less far above: it is the most that it can be expected to be.

    It is no correction of the number, and says nothing of candidates that do differ.

    Args:
        candidates: How many there were to choose from.
        chosen: The interval of the one that was chosen.
        level: The confidence of the interval.

    Returns:
        The caution; None of a single candidate, or where the chosen one has no interval.
    """
    from evalkit.uncertainty.distributions import t_quantile
    from evalkit.uncertainty.interval import degrees_of

    at = rounded(chosen.value)
    if candidates < 2 or at is None or chosen.low is None or chosen.high is None:
        return None
    # An end may have been kept within the range of the number; the other then says how wide it is.
    reach = max(at - chosen.low, chosen.high - at)
    error = reach / t_quantile((1 + level) / 2, degrees_of(chosen.sample))
    excess = expected_maximum(candidates) * error
    name = chosen.estimand.name
    text = (
        f"the best of {candidates} equal candidates is expected to show a {name} up to {excess:.4f} above what it is "
        f"worth; the recommended one was chosen so"
    )
    return BestOf(name, candidates, error, excess, text)
