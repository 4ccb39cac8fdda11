"""Exact numbers: counts become fractions, and a fraction is rounded once, when it is reported."""

from __future__ import annotations

import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import NamedTuple, overload

from evalkit.errors import Refusal, Violation

PLACES = 15
"""Decimal places that a confidence keeps in a sum."""


class Ratio(NamedTuple):
    """One sum over another, not reduced, so that both stay readable.

    >>> Ratio(28, 35).value()
    Fraction(4, 5)
    >>> Ratio(0, 0).value() is None
    True
    """

    numerator: int | Decimal
    denominator: int | Decimal

    def value(self) -> Fraction | None:
        """Return the exact quotient, or None where there is nothing to divide by."""
        if self.denominator == 0:
            return None
        return Fraction(self.numerator) / Fraction(self.denominator)


Exact = Ratio | Fraction | None
"""What a metric returns: one ratio of sums, a fraction made of several, or None where it is undefined."""


def fraction(value: Exact) -> Fraction | None:
    """Return the exact value of what a metric returned.

    >>> fraction(Ratio(1, 3))
    Fraction(1, 3)
    """
    return value.value() if isinstance(value, Ratio) else value


def mean(values: Iterable[Fraction]) -> Fraction | None:
    """Return the plain mean, or None of nothing.

    >>> mean([Fraction(3, 5), Fraction(4, 5), Fraction(1)])
    Fraction(4, 5)
    """
    terms = list(values)
    return sum(terms, Fraction(0)) / len(terms) if terms else None


@overload
def rounded(value: Fraction) -> float: ...
@overload
def rounded(value: Exact) -> float | None: ...
def rounded(value: Exact) -> float | None:
    """Round to the nearest 64-bit float, the one rounding on the way to a report.

    >>> rounded(Ratio(1, 3))
    0.3333333333333333
    >>> rounded(None) is None
    True
    """
    exact = fraction(value)
    return None if exact is None else exact.numerator / exact.denominator


def difference(left: Exact, right: Exact) -> Fraction | None:
    """Return left minus right, or None where either is undefined.

    >>> difference(Ratio(9, 10), Ratio(4, 5))
    Fraction(1, 10)
    """
    a, b = fraction(left), fraction(right)
    return None if a is None or b is None else a - b


def unit_fraction(value: str | float | Decimal | Fraction, rule: str) -> Fraction:
    """Read a share from 0 to 1, exactly as its decimal text says.

    Raises:
        Refusal: It is no decimal from 0 to 1; the rule names what was asked for.

    >>> unit_fraction("0.5", "min-coverage")
    Fraction(1, 2)
    >>> unit_fraction("50%", "floor")
    Traceback (most recent call last):
    ...
    evalkit.errors.Refusal: floor: must be a decimal from 0 to 1; for 50 percent write 0.5; found "50%" [floor]
    """
    if isinstance(value, Fraction) and 0 <= value <= 1:
        return value
    text = value if isinstance(value, str) else _text_of(value)
    if _DECIMAL.fullmatch(text) and Fraction(text) <= 1:
        return Fraction(text)
    hint = _hint(text)
    shown = text if len(text) <= 40 else text[:40] + "…"
    raise Refusal.of(Violation(rule, f"must be a decimal from 0 to 1{hint}", field=rule, value=f'"{shown}"'))


def tolerance(value: str | float | Decimal | Fraction, rule: str) -> Fraction:
    """Read a tolerance, exactly as its decimal text says; it may have an exponent.

    Raises:
        Refusal: It is no decimal, negative, or not finite.

    >>> tolerance("1e-3", "sum-tolerance")
    Fraction(1, 1000)
    >>> tolerance("nan", "tolerance")
    Traceback (most recent call last):
    ...
    evalkit.errors.Refusal: tolerance: must be a finite decimal, 0 or more, such as 1e-12; found "nan" [tolerance]
    """
    if isinstance(value, Fraction) and 0 <= value <= _GREATEST:
        return value
    text = value if isinstance(value, str) else str(value)
    if isinstance(value, bool) or not _WITH_EXPONENT.fullmatch(text) or Fraction(text) > _GREATEST:
        shown = text if len(text) <= 40 else text[:40] + "…"
        message = "must be a finite decimal, 0 or more, such as 1e-12"
        raise Refusal.of(Violation(rule, message, field=rule, value=f'"{shown}"'))
    return Fraction(text)


_WITH_EXPONENT = re.compile(r"(?:[0-9]{1,60}(?:\.[0-9]{0,60})?|\.[0-9]{1,60})(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
_GREATEST = Fraction(10**308)
_DECIMAL = re.compile(r"(?:[0-9]{1,3}(?:\.[0-9]{0,400})?|\.[0-9]{1,400})", re.ASCII)


def _text_of(value: object) -> str:
    """Write a number as the decimal that it prints as, and whatever else there is as it prints."""
    try:
        number = Decimal(str(value))
    except (InvalidOperation, ValueError):
        return f"a {type(value).__name__}"
    short = number.is_finite() and -1000 < int(number.as_tuple().exponent) < 1000  # else its digits take all memory
    return format(number, "f") if short and not isinstance(value, bool) else str(value)


def _hint(text: str) -> str:
    found = re.fullmatch(r"\s*([0-9.,]+)\s*(%?)\s*", text, re.ASCII)
    number = found[1].replace(",", ".", 1) if found else ""
    if found is None or not _DECIMAL.fullmatch(number):
        return ", such as 0.5"
    if (found[2] or Fraction(number) > 1) and Fraction(number) <= 100:
        return f"; for {number} percent write {(Decimal(number) / 100).normalize():f}"
    return f"; with a decimal point, write {number}" if "," in found[1] and Fraction(number) <= 1 else ", such as 0.5"
