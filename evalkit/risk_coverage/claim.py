"""The claim that a cut is to be certified for, as text: ``precision>=0.9@0.95``."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

from evalkit.errors import Refusal, Violation

_CLAIM = re.compile(r"\s*precision\s*>=\s*(\d*\.?\d+)\s*@\s*(\d*\.?\d+)\s*", re.ASCII)
_LONGEST = 100


@dataclass(frozen=True, slots=True)
class Claim:
    """Precision among accepted records is at least ``target``, said wrongly in at most 1 − ``confidence`` of cases.

    Attributes:
        target: The precision, between 0 and 1.
        confidence: How sure, from 0.5 to below 1.
    """

    target: Fraction
    confidence: Fraction

    @property
    def alpha(self) -> Fraction:
        """The chance of a wrong certificate that is allowed: 1 − confidence."""
        return 1 - self.confidence


def read_claim(text: str) -> Claim:
    """Read a claim; white space around its parts is allowed.

    Raises:
        Refusal: It is no such claim; the target is not between 0 and 1, or the confidence not from 0.5 to below 1.

    >>> read_claim("precision>=0.9@0.95") == read_claim("precision >= .9 @ 0.95")
    True
    >>> read_claim("precision>=90%@0.95")
    Traceback (most recent call last):
    ...
    evalkit.errors.Refusal: certify: must be a claim such as precision>=0.9@0.95, target and confidence as decimals; \
found "precision>=90%@0.95" [certify]
    """
    found = _CLAIM.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None:
        raise _refused(text, "must be a claim such as precision>=0.9@0.95, target and confidence as decimals")
    target, confidence = Fraction(found[1]), Fraction(found[2])
    if not 0 < target < 1:
        raise _refused(text, "the target must be above 0 and below 1; a precision of 1 can never be certified")
    if not Fraction(1, 2) <= confidence < 1:
        raise _refused(text, "the confidence must be at least 0.5 and below 1, such as 0.95")
    return Claim(target, confidence)


def _refused(text: str, message: str) -> Refusal:
    shown = text if len(text) <= 40 else text[:40] + "…"
    return Refusal.of(Violation("certify", message, field="certify", value=f'"{shown}"'))
