"""The policy: which suggestions may be offered as fact, and the fixed words for each that may not.

Whoever reads predictions, ``compare`` under a policy and the receipt all ask here, so that there is one explanation of
a refusal and no second place that holds a limit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from evalkit.contracts.contract import is_path
from evalkit.contracts.toml_lines import show_value
from evalkit.errors import Refusal, Violation
from evalkit.report import canonical, document

SCHEMA = "evalkit-policy-v1"

NO_SUGGESTION = "no-suggestion"
LOW_QUALITY = "low-quality"
LOW_CONFIDENCE = "low-confidence"

REASONS = (NO_SUGGESTION, LOW_QUALITY, LOW_CONFIDENCE)
"""Why a suggestion is not accepted; where several apply, the first is given."""

PLAIN_TEXTS: Mapping[str, str] = {
    NO_SUGGESTION: "No suggestion was made.",
    LOW_CONFIDENCE: "The confidence of the suggestion is below the threshold.",
}
"""The words where no policy is in force. There is no rule about quality then."""

_UNWRITABLE = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Abstention:
    """Why a suggestion is not accepted.

    Attributes:
        reason: One of ``REASONS``.
        text: The fixed words for it.
    """

    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Terms:
    """What a report or a receipt says of the policy in force.

    Attributes:
        confidence_floor: The least confidence, as the 64-bit float that confidences are compared with.
        accepted_quality: The qualities that are accepted.
        quality_field: Where a record says its quality, a dotted path.
    """

    confidence_floor: float
    accepted_quality: tuple[str, ...]
    quality_field: str


@dataclass(frozen=True, slots=True)
class Policy:
    """What a suggestion needs to be accepted, and what is said where it is not.

    Attributes:
        confidence_floor: The least confidence, a decimal from 0 to 1, inclusive.
        accepted_quality: The qualities that are accepted; all others abstain, and so does an absent one.
        quality_field: Where a record says its quality, a dotted path.
        refusal: One fixed text for each of ``REASONS``.

    Raises:
        Refusal: The policy makes no sense; each violation names the field in question.

    >>> texts = {"no-suggestion": "Nothing seen.", "low-quality": "Too blurred.", "low-confidence": "Not sure enough."}
    >>> policy = Policy(Decimal("0.8"), ("good", "fair"), "photo.quality", texts)
    >>> policy.explain(offered=True, quality="poor", confidence=0.94)
    Abstention(reason='low-quality', text='Too blurred.')
    >>> policy.explain(offered=True, quality="good", confidence=0.8) is None
    True
    """

    confidence_floor: Decimal
    accepted_quality: tuple[str, ...]
    quality_field: str
    refusal: Mapping[str, str]

    def __post_init__(self) -> None:
        faults = [Violation("policy", message, field=where, value=value) for where, message, value in _problems(self)]
        if faults:
            raise Refusal.of(*faults)

    @property
    def terms(self) -> Terms:
        """The policy without its texts, for reports and receipts."""
        return Terms(float(self.confidence_floor), tuple(self.accepted_quality), self.quality_field)

    def accepts_quality(self, quality: str | None) -> bool:
        """Tell whether a record of this quality may be accepted; None stands for a record that says none."""
        return quality in self.accepted_quality

    def explain(
        self, *, offered: bool, quality: str | None, confidence: float | None, threshold: float | None = None
    ) -> Abstention | None:
        """Say why a suggestion is not accepted under this policy, or None where it is; see ``explain``."""
        return explain(self, offered=offered, quality=quality, confidence=confidence, threshold=threshold)

    def to_dict(self) -> dict[str, Any]:
        """Return the policy as plain data, keys as in the JSON."""
        plain: dict[str, Any] = document(self.terms)
        return {"schema": SCHEMA, **plain, "refusal": {reason: self.refusal[reason] for reason in REASONS}}

    def to_json(self) -> str:
        """Return the policy as JSON for other programs."""
        return canonical(self.to_dict()).decode("utf-8")


def explain(
    policy: Policy | None,
    *,
    offered: bool,
    confidence: float | None,
    quality: str | None = None,
    threshold: float | None = None,
) -> Abstention | None:
    """Say why a suggestion is not accepted: the first of ``REASONS`` that applies, or None where it is accepted.

    Args:
        policy: The policy in force; None for none, and then there is neither a rule about quality nor a floor.
        offered: Whether there is a suggestion at all.
        confidence: Its confidence. A suggestion that states none is never confident enough.
        quality: The quality that the record says, or None.
        threshold: The candidate's threshold, which applies beside the floor; None for none.

    Raises:
        Refusal: The confidence is no number from 0 to 1, such as one in percent, which would clear any floor.

    >>> explain(None, offered=True, confidence=0.4, threshold=0.5)
    Abstention(reason='low-confidence', text='The confidence of the suggestion is below the threshold.')
    >>> explain(None, offered=True, confidence=0.5, threshold=0.5) is None
    True
    """
    if confidence is not None and not 0 <= confidence <= 1:
        raise Refusal.of(Violation("confidence", "must be a number from 0 to 1", value=_found(confidence)))
    texts = PLAIN_TEXTS if policy is None else policy.refusal
    if not offered:
        return Abstention(NO_SUGGESTION, texts[NO_SUGGESTION])
    if policy is not None and not policy.accepts_quality(quality):
        return Abstention(LOW_QUALITY, texts[LOW_QUALITY])
    floor = None if policy is None else float(policy.confidence_floor)
    bars = [bar for bar in (floor, threshold) if bar is not None]
    if confidence is None or not all(confidence >= bar for bar in bars):
        return Abstention(LOW_CONFIDENCE, texts[LOW_CONFIDENCE])
    return None


Problem = tuple[str, str, str | None]
"""Where in a policy something is wrong, what, and the value found."""


def _problems(policy: Policy) -> Iterator[Problem]:
    # A policy is made of what a file holds: no type can be relied on here.
    floor: object = policy.confidence_floor
    if not isinstance(floor, Decimal) or not floor.is_finite() or not 0 <= floor <= 1:
        yield "confidence_floor", "must be a decimal from 0 to 1, such as 0.8", _found(floor)
    yield from _quality_problems(policy.accepted_quality)
    if not is_path(policy.quality_field):
        message = "must be the dotted path of a field, such as photo.quality"
        yield "quality_field", message, _found(policy.quality_field)
    yield from _text_problems(policy.refusal)


def _quality_problems(qualities: object) -> Iterator[Problem]:
    if not isinstance(qualities, tuple | list) or not qualities:
        yield "accepted_quality", 'must be a list of at least one quality, such as ["good"]', _found(qualities)
        return
    seen: set[str] = set()
    for quality in qualities:
        if not isinstance(quality, str) or not quality.strip() or not quality.isprintable():
            yield "accepted_quality", "must hold texts of printable characters, not blank", _found(quality)
        elif quality in seen:
            yield "accepted_quality", "no quality may stand twice", _found(quality)
        else:
            seen.add(quality)


def _text_problems(texts: object) -> Iterator[Problem]:
    if not isinstance(texts, Mapping):
        yield "refusal", f"must be a table of one text each for {', '.join(REASONS)}", _found(texts)
        return
    for reason in REASONS:
        text = texts.get(reason)
        if not isinstance(text, str) or not text.strip() or _UNWRITABLE.search(text):
            message = "must be a text of characters that can be written, not blank"
            yield f"refusal.{reason}", message, _found(text)
    for reason in texts:
        if reason not in REASONS:
            yield f"refusal.{reason}", f"there is no such reason; there are {', '.join(REASONS)}", None


def _found(value: object) -> str:
    return "nothing" if value is None else show_value(list(value) if isinstance(value, tuple) else value)
