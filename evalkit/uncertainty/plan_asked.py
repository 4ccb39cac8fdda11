"""What ``plan`` is asked: a gate, shares and whole numbers, read strictly."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction

from evalkit.errors import Refusal, Violation
from evalkit.exact import unit_fraction
from evalkit.metric import Direction
from evalkit.records.strict_json import show

Share = str | float | Decimal | Fraction

SHARES = {"precision": "precisionAtCoverage", "precisionAtCoverage": "precisionAtCoverage"} | {
    name: name for name in ("coverage", "accuracy", "recall", "errorRate")
}
"""The metrics that are shares of things that are so or not so, by the names they may be given."""

_GATE = re.compile(r"\s*([A-Za-z0-9_]+)\s*(>=|<=)\s*(\S+)\s*", re.ASCII)
_SIGNS: Mapping[str, Direction] = {">=": "higher", "<=": "lower"}

BEYOND = 10**7
"""Most contributors that are looked at."""


def gate_of(text: str) -> tuple[str, Direction, Fraction]:
    """Read a gate such as ``precision>=0.9``.

    >>> gate_of("precision >= 0.9")
    ('precisionAtCoverage', 'higher', Fraction(9, 10))
    """
    found = _GATE.fullmatch(text)
    if found is None:
        raise refused("gate", "must be a metric, >= or <=, and a limit, such as precision>=0.9", text)
    if found[1] not in SHARES:
        message = f"is no share; what can be planned for is {', '.join(SHARES)}"
        raise refused("gate", message, found[1])
    return SHARES[found[1]], _SIGNS[found[2]], share(found[3], "gate", "between 0 and 1")


def share(
    given: Share, field: str, range: str, above: Fraction = Fraction(0), below: Fraction = Fraction(1)
) -> Fraction:
    """Read a decimal that is above and below some numbers."""
    try:
        found = unit_fraction(given, "plan")
    except Refusal as refusal:
        raise Refusal.of(*(replace(one, field=field) for one in refusal.violations)) from None
    if not above < found < below:
        raise refused(field, f"must be a decimal {range}", given)
    return found


def whole(given: int, field: str, most: int = BEYOND) -> int:
    """Read a whole number of at least 1."""
    if type(given) is not int or not 1 <= given <= most:
        raise refused(field, f"must be a whole number from 1 to {most}", given)
    return given


def refused(field: str, message: str, value: object) -> Refusal:
    """Return the refusal of one value."""
    return Refusal.of(Violation("plan", message, field=field, value=show(str(value))))
