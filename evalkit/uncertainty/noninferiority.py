"""As good as the baseline, but for a margin: shown, shown not to be, or not settled by the records."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from evalkit.exact import rounded
from evalkit.gates import INSUFFICIENT, Outcome
from evalkit.metric import Direction


@dataclass(frozen=True, slots=True)
class NonInferiority:
    """Whether a candidate is shown to be worse than the baseline by less than a margin.

    Attributes:
        outcome: ``passed``: the careful bound of the difference is within the margin; ``failed``: the difference is
            shown to be beyond it; ``insufficient``: the records do not settle it.
        margin: How much worse it may be.
        bound: The one-sided bound that was held against the margin; None where there is none.
        reason: Why it did not pass, or None.
    """

    outcome: Outcome
    margin: float
    bound: float | None
    reason: str | None


def non_inferior(
    at_least: float | None, at_most: float | None, margin: Fraction, direction: Direction, reason: str | None = None
) -> NonInferiority:
    """Hold the one-sided bounds of candidate − baseline against a margin.

    Where higher is better the lower bound must be above −margin; where lower is better the upper bound must be below
    the margin, both as the nearest floats. Without bounds nothing is settled.

    Args:
        at_least: The lower bound of the difference, or None.
        at_most: The upper bound, or None.
        margin: How much worse the candidate may be, 0 or more.
        direction: Which values are better.
        reason: Why there are no bounds.

    >>> margin = Fraction("0.02")
    >>> [non_inferior(*ends, margin, "higher").outcome for ends in ((-0.01, 0.03), (-0.03, 0.01), (-0.06, -0.03))]
    ['passed', 'insufficient', 'failed']
    >>> non_inferior(-0.03, 0.01, margin, "lower").outcome
    'passed'
    """
    shown = rounded(margin)
    if at_least is None or at_most is None:
        return NonInferiority("insufficient", shown, None, reason or INSUFFICIENT)
    careful, kind = (-at_least, -at_most) if direction != "lower" else (at_most, at_least)
    bound = at_least if direction != "lower" else at_most
    if careful < shown:
        return NonInferiority("passed", shown, bound, None)
    if kind < shown:
        return NonInferiority("insufficient", shown, bound, INSUFFICIENT)
    return NonInferiority("failed", shown, bound, None)
