"""How sure one wants to be: level, resamples, seed and the least number of contributors; checked before work starts."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from evalkit.errors import Refusal, Violation
from evalkit.exact import unit_fraction

LEVEL = "0.95"
"""The confidence, where the caller does not say."""

REPLICATES = 1000
"""Resamples, where the caller does not say."""

MAX_REPLICATES = 100_000
"""Most resamples."""

MIN_CONTRIBUTORS = 30
"""Fewest contributors that an interval is given for, where the caller does not say."""


@dataclass(frozen=True, slots=True)
class Asked:
    """How sure one wants to be.

    Attributes:
        level: The confidence of the interval, two-sided, and of each bound, one-sided.
        replicates: Resamples where the number is not smooth.
        seed: The seed of the resamples.
        min_contributors: Fewest contributors that an interval is given for.

    Raises:
        Refusal: The level is not between 0.5 and 1, or a number is out of its range.

    >>> Asked().level
    Fraction(19, 20)
    >>> Asked(replicates=10)
    Traceback (most recent call last):
    ...
    evalkit.errors.Refusal: replicates: must be a whole number from 100 to 100000; found 10 [statistics]
    """

    level: Fraction = Fraction(LEVEL)
    replicates: int = REPLICATES
    seed: int = 0
    min_contributors: int = MIN_CONTRIBUTORS

    def __post_init__(self) -> None:
        if not Fraction(1, 2) < self.level < 1:
            message = "must be a decimal between 0.5 and 1, such as 0.95"
            raise Refusal.of(Violation("statistics", message, field="interval", value=str(float(self.level))))
        whole_number(self.replicates, "replicates", 100, MAX_REPLICATES)
        whole_number(self.seed, "seed", 0, 2**63 - 1)
        whole_number(self.min_contributors, "min-contributors", 2, 10**9)

    @classmethod
    def of(cls, level: str | float | Decimal | Fraction | None, replicates: int, seed: int, least: int) -> Asked:
        """Read what a caller says; a level that is None is the usual one."""
        return cls(unit_fraction(LEVEL if level is None else level, "interval"), replicates, seed, least)


def whole_number(value: int, name: str, least: int, most: int) -> None:
    """Refuse what is no whole number of a range.

    Raises:
        Refusal: It is not.
    """
    if type(value) is not int or not least <= value <= most:
        message = f"must be a whole number from {least} to {most}"
        raise Refusal.of(Violation("statistics", message, field=name, value=str(value)))
