"""The policy: what it accepts, the fixed words for what it does not, and which policies make no sense."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.contracts.policy import (
    LOW_CONFIDENCE,
    LOW_QUALITY,
    NO_SUGGESTION,
    Abstention,
    Policy,
    Terms,
    explain,
)
from evalkit.contracts.policy_toml import read_policy
from evalkit.errors import Refusal

FIXTURE = Path(__file__).parent.parent / "data-fixtures" / "policy" / "policy.toml"

TEXTS = {"no-suggestion": "Nothing seen.", "low-quality": "Too blurred.", "low-confidence": "Not sure."}
NOTHING = Abstention("no-suggestion", "Nothing seen.")
BLURRED = Abstention("low-quality", "Too blurred.")
UNSURE = Abstention("low-confidence", "Not sure.")

BELOW = math.nextafter(0.8, 0.0)
"""The greatest float below the floor: 0.7999999999999999."""


def policy(floor: str = "0.8", qualities: tuple[str, ...] = ("good", "fair"), **changes: Any) -> Policy:
    """Make a policy."""
    given: dict[str, Any] = {"quality_field": "photo.quality", "refusal": TEXTS, **changes}
    return Policy(confidence_floor=Decimal(floor), accepted_quality=qualities, **given)


# what is accepted


@pytest.mark.parametrize(
    ("offered", "quality", "confidence", "threshold", "expected"),
    [
        (True, "good", 0.8, None, None),
        (True, "fair", 1.0, None, None),
        (True, "good", BELOW, None, UNSURE),
        (True, "good", 0.0, None, UNSURE),
        (True, "good", 0.9, 0.9, None),
        (True, "good", 0.85, 0.9, UNSURE),
        (True, "good", BELOW, 0.1, UNSURE),  # the floor holds whatever the threshold is
        (True, "good", None, None, UNSURE),
        (True, "good", 0.9, math.nan, UNSURE),
        (True, "poor", 0.94, None, BLURRED),
        (True, "poor", 1.0, None, BLURRED),
        (True, None, 1.0, None, BLURRED),
        (True, "", 1.0, None, BLURRED),
        (True, "Good", 1.0, None, BLURRED),
        (True, "good ", 1.0, None, BLURRED),
        (True, "poor", 0.1, None, BLURRED),  # low confidence too; the first that applies is given
        (False, "good", None, None, NOTHING),
        (False, "poor", None, None, NOTHING),
        (False, None, None, 0.5, NOTHING),
        (False, "good", 0.9, None, NOTHING),
    ],
)
def test_the_first_reason_that_applies_is_given(
    offered: bool, quality: str | None, confidence: float | None, threshold: float | None, expected: Abstention | None
) -> None:
    """A suggestion is accepted when it is there, of accepted quality, and at or above floor and threshold."""
    found = policy().explain(offered=offered, quality=quality, confidence=confidence, threshold=threshold)
    assert found == expected


def test_a_confident_reading_of_a_poor_picture_abstains_in_its_own_words() -> None:
    """A reading of confidence 0.94 on a picture of poor quality abstains for the quality, not for the confidence."""
    found = read_policy(str(FIXTURE)).explain(offered=True, quality="poor", confidence=0.94)
    text = "The photo is not clear enough to read. Please enter the type yourself."
    assert found == Abstention("low-quality", text)


@pytest.mark.parametrize(
    ("offered", "confidence", "threshold", "expected"),
    [
        (True, 0.0, None, None),
        (True, 0.5, 0.5, None),
        (True, 0.4, 0.5, Abstention("low-confidence", "The confidence of the suggestion is below the threshold.")),
        (False, None, 0.5, Abstention("no-suggestion", "No suggestion was made.")),
    ],
)
def test_without_a_policy_there_are_two_reasons(
    offered: bool, confidence: float | None, threshold: float | None, expected: Abstention | None
) -> None:
    """Without a policy there is no rule about quality and no floor; the two other reasons are the same."""
    assert explain(None, offered=offered, quality="poor", confidence=confidence, threshold=threshold) == expected


@pytest.mark.parametrize("confidence", [94, 1.0000000000000002, -0.1, math.nan, math.inf])
@pytest.mark.parametrize("rules", [None, policy()], ids=["no policy", "a policy"])
def test_what_is_no_confidence_is_refused(rules: Policy | None, confidence: float) -> None:
    """A confidence that is no number from 0 to 1 is refused: one in percent would clear any floor."""
    with pytest.raises(Refusal) as refused:
        explain(rules, offered=True, quality="good", confidence=confidence)
    assert refused.value.counts == {"confidence": 1}


@pytest.mark.parametrize(
    ("floor", "confidence", "accepted"),
    [
        ("0.1", 0.1, True),
        ("0.3", 0.1 + 0.2, True),
        ("0.30000000000000001", 0.3, True),  # the same 64-bit float
        ("0.3000000000000001", 0.3, False),
        ("0", 0.0, True),
        ("1", 1.0, True),
        ("1.00", math.nextafter(1.0, 0.0), False),
        ("0.99999999999999999999", math.nextafter(1.0, 0.0), False),
    ],
)
def test_the_floor_is_a_float_and_inclusive(floor: str, confidence: float, accepted: bool) -> None:
    """Confidence and floor are compared as 64-bit floats; at the floor is accepted."""
    found = policy(floor).explain(offered=True, quality="good", confidence=confidence)
    assert (found is None) == accepted


SHARES = st.floats(0, 1)
QUALITIES = st.sampled_from(["good", "fair", "poor", "unreadable"])


@given(confidence=SHARES, quality=QUALITIES, other=QUALITIES)
def test_another_policy_changes_every_outcome(confidence: float, quality: str, other: str) -> None:
    """No limit stands anywhere but in the policy: whatever one accepts, another refuses, for either reason."""
    exact = Decimal(confidence)
    reading: dict[str, Any] = {"offered": True, "quality": quality, "confidence": confidence}
    assert Policy(exact, (quality,), "q", TEXTS).explain(**reading) is None
    if confidence < 1:
        above = Decimal(math.nextafter(confidence, 1.0))
        assert Policy(above, (quality,), "q", TEXTS).explain(**reading) == UNSURE
    if other != quality:
        assert Policy(exact, (other,), "q", TEXTS).explain(**reading) == BLURRED


@given(
    floor=st.integers(0, 100),
    qualities=st.sets(QUALITIES, min_size=1),
    offered=st.booleans(),
    quality=st.none() | QUALITIES,
    confidence=st.integers(0, 100),
    threshold=st.none() | st.integers(0, 100),
)
def test_a_suggestion_is_accepted_when_all_of_its_policy_says_so(
    floor: int, qualities: set[str], offered: bool, quality: str | None, confidence: int, threshold: int | None
) -> None:
    """For any policy and any reading the outcome follows from the policy's own floor, qualities and texts."""
    texts = {reason: f"{reason} at {floor}" for reason in ("no-suggestion", "low-quality", "low-confidence")}
    rules = Policy(Decimal(floor) / 100, tuple(sorted(qualities)), "q", texts)
    found = rules.explain(
        offered=offered,
        quality=quality,
        confidence=confidence / 100 if offered else None,
        threshold=None if threshold is None else threshold / 100,
    )
    if not offered:
        expected = "no-suggestion"
    elif quality not in qualities:
        expected = "low-quality"
    else:
        expected = "low-confidence" if confidence < max(floor, threshold or 0) else ""
    assert found == (Abstention(expected, f"{expected} at {floor}") if expected else None)


# what makes no sense


def faults(refusal: Refusal) -> list[tuple[str, str | None, str | None]]:
    """Return rule, field and value of each violation."""
    return [(one.rule, one.field, one.value) for one in refusal.violations]


@pytest.mark.parametrize(
    ("changes", "field", "value"),
    [
        ({"confidence_floor": Decimal("1.01")}, "confidence_floor", "1.01"),
        ({"confidence_floor": Decimal("-0.01")}, "confidence_floor", "-0.01"),
        ({"confidence_floor": Decimal("NaN")}, "confidence_floor", "NaN"),
        ({"confidence_floor": Decimal("Infinity")}, "confidence_floor", "Infinity"),
        ({"confidence_floor": 0.8}, "confidence_floor", "0.8"),
        ({"confidence_floor": True}, "confidence_floor", "true"),
        ({"confidence_floor": "80%"}, "confidence_floor", '"80%"'),
        ({"confidence_floor": None}, "confidence_floor", "nothing"),
        ({"accepted_quality": ()}, "accepted_quality", "an array of 0"),
        ({"accepted_quality": "good"}, "accepted_quality", '"good"'),
        ({"accepted_quality": ("good", "good")}, "accepted_quality", '"good"'),
        ({"accepted_quality": ("good", " ")}, "accepted_quality", '" "'),
        ({"accepted_quality": ("good", "a\nb")}, "accepted_quality", '"a\\nb"'),
        ({"accepted_quality": (1,)}, "accepted_quality", "1"),
        ({"accepted_quality": None}, "accepted_quality", "nothing"),
        ({"quality_field": ""}, "quality_field", '""'),
        ({"quality_field": "photo..quality"}, "quality_field", '"photo..quality"'),
        ({"quality_field": None}, "quality_field", "nothing"),
        ({"quality_field": 4}, "quality_field", "4"),
        ({"refusal": None}, "refusal", "nothing"),
        ({"refusal": "no"}, "refusal", '"no"'),
        ({"refusal": {**TEXTS, "low-quality": ""}}, "refusal.low-quality", '""'),
        ({"refusal": {**TEXTS, "low-quality": " \n"}}, "refusal.low-quality", '" \\n"'),
        ({"refusal": {**TEXTS, "low-quality": "a\x1b[31m"}}, "refusal.low-quality", '"a\\u001b[31m"'),
        ({"refusal": {**TEXTS, "low-quality": "\ud800"}}, "refusal.low-quality", '"\\ud800"'),
        ({"refusal": {**TEXTS, "low-quality": 4}}, "refusal.low-quality", "4"),
        (
            {"refusal": {key: TEXTS[key] for key in ("no-suggestion", "low-confidence")}},
            "refusal.low-quality",
            "nothing",
        ),
        ({"refusal": {**TEXTS, "blurred": "Blurred."}}, "refusal.blurred", None),
    ],
)
def test_a_policy_that_makes_no_sense_is_refused(changes: dict[str, Any], field: str, value: str | None) -> None:
    """A policy says its floor, its qualities, its field and three texts; the refusal names the field and the value."""
    whole: dict[str, Any] = {
        "confidence_floor": Decimal("0.8"),
        "accepted_quality": ("good",),
        "quality_field": "photo.quality",
        "refusal": TEXTS,
    }
    assert Policy(**whole)
    with pytest.raises(Refusal) as refused:
        Policy(**{**whole, **changes})
    assert faults(refused.value) == [("policy", field, value)]


def test_words_of_every_language_may_be_in_a_text() -> None:
    """A text may have lines, letters of any script and spaces that do not break; only controls are refused."""
    text = "Qualité insuffisante\u00a0: réessayez.\n写真が\u200dぼやけています。"
    assert policy(refusal={**TEXTS, "low-quality": text}).refusal["low-quality"] == text


# from TOML


def toml(path: Path, text: str) -> str:
    """Write a policy file and return its name."""
    path.write_text(text, encoding="utf-8")
    return str(path)


WHOLE = """\
confidence_floor = 0.8
accepted_quality = ["good", "fair"]
quality_field = "photo.quality"

[refusal]
no-suggestion = "Nothing seen."
low-quality = "Too blurred."
low-confidence = "Not sure."
"""


@pytest.mark.parametrize("floor", ["0.8", '"0.8"', "0.80", "8e-1"])
def test_a_policy_is_read_from_toml(tmp_path: Path, floor: str) -> None:
    """The floor may be a number or a text; it is the decimal that stands there."""
    path = toml(tmp_path / "policy.toml", WHOLE.replace("0.8", floor))
    assert read_policy(path) == policy("0.8")


@pytest.mark.parametrize(("floor", "exact"), [("0", "0"), ("1", "1"), ('"0.30"', "0.30"), ("0.1", "0.1")])
def test_the_floor_is_the_decimal_that_stands_there(tmp_path: Path, floor: str, exact: str) -> None:
    """A floor is read without rounding; whole numbers are decimals too."""
    path = toml(tmp_path / "policy.toml", WHOLE.replace("0.8", floor))
    assert str(read_policy(path).confidence_floor) == exact


def test_the_fixture_is_a_policy() -> None:
    """The policy among the fixtures accepts good and fair pictures from a confidence of 0.8."""
    found = read_policy(FIXTURE)
    assert found.terms == Terms(0.8, ("good", "fair"), "photo.quality")
    assert list(found.refusal) == ["no-suggestion", "low-quality", "low-confidence"]
    assert (NO_SUGGESTION, LOW_QUALITY, LOW_CONFIDENCE) == ("no-suggestion", "low-quality", "low-confidence")


def refusals(path: str, folder: Path) -> list[str]:
    """Return the lines of the refusal of a policy file, its folder left out."""
    with pytest.raises(Refusal) as refused:
        read_policy(path)
    assert set(refused.value.counts) == {"policy"}
    return str(refused.value).replace(f"{folder}/", "").split("\n")


def test_everything_wrong_is_said_with_its_line(tmp_path: Path) -> None:
    """Each fault of a file is named with file, line, field and value, in the order of the lines."""
    path = toml(
        tmp_path / "p.toml",
        """\
# a comment
confidence_floor = 80
acepted_quality = ["good"]
quality_field = "photo..quality"

[refusal]
no-suggestion = "Nothing seen."
low-quality = ""
too-dark = "Too dark."
""",
    )
    keys, reasons = "confidence_floor, accepted_quality, quality_field, refusal", ", ".join(TEXTS)
    no_text = "must be a text of characters that can be written, not blank"
    no_path = "must be the dotted path of a field, such as photo.quality"
    assert refusals(path, tmp_path) == [
        'p.toml: accepted_quality: must be a list of at least one quality, such as ["good"]; found nothing [policy]',
        "p.toml:2: confidence_floor: must be a decimal from 0 to 1, such as 0.8; found 80 [policy]",
        f"p.toml:3: acepted_quality: there is no such key; there are {keys} [policy]",
        f'p.toml:4: quality_field: {no_path}; found "photo..quality" [policy]',
        f"p.toml:6: refusal.low-confidence: {no_text}; found nothing [policy]",
        f'p.toml:8: refusal.low-quality: {no_text}; found "" [policy]',
        f"p.toml:9: refusal.too-dark: there is no such reason; there are {reasons} [policy]",
    ]


@pytest.mark.parametrize(
    ("before", "after", "line", "field", "value"),
    [
        ("= 0.8", "= 0.8000001e6", 1, "confidence_floor", "800000.1"),
        ("= 0.8", "= nan", 1, "confidence_floor", "NaN"),
        ("= 0.8", "= 1e999999999", 1, "confidence_floor", "1e999999999"),
        ("= 0.8", "= true", 1, "confidence_floor", "true"),
        ("= 0.8", '= "80%"', 1, "confidence_floor", '"80%"'),
        ("= 0.8", '= "0,8"', 1, "confidence_floor", '"0,8"'),
        ("= 0.8", "= [0.8]", 1, "confidence_floor", "an array of 1"),
        ("= 0.8", f"= 0x{'f' * 5000}", 1, "confidence_floor", "a whole number of more than 64 bits"),
        ('["good", "fair"]', '"good"', 2, "accepted_quality", '"good"'),
        ('["good", "fair"]', "[]", 2, "accepted_quality", "an array of 0"),
        ('["good", "fair"]', '["good",\n"good"]', 2, "accepted_quality", '"good"'),
        ('["good", "fair"]', f"[0x{'f' * 5000}]", 2, "accepted_quality", "a whole number of more than 64 bits"),
        ('"photo.quality"', "4", 3, "quality_field", "4"),
        ('"Too blurred."', "['Too blurred.']", 7, "refusal.low-quality", "an array of 1"),
        ('"Too blurred."', "2026-01-01", 7, "refusal.low-quality", "2026-01-01"),
    ],
)
def test_a_value_of_another_kind_is_refused(
    tmp_path: Path, before: str, after: str, line: int, field: str, value: str
) -> None:
    """No value is converted: a floor in percent, a lone quality, a number for a text are refused with their line."""
    assert before in WHOLE
    path = toml(tmp_path / "p.toml", WHOLE.replace(before, after, 1))
    with pytest.raises(Refusal) as refused:
        read_policy(path)
    assert [(one.line, one.field, one.value) for one in refused.value.violations] == [(line, field, value)]


def test_what_is_no_toml_is_refused_with_its_line(tmp_path: Path) -> None:
    """Broken TOML, a key set twice and a file that is not there are refused under the policy's rule."""
    for text, line in (("confidence_floor = \n", 1), (WHOLE + 'low-quality = "x"\n', 9)):
        with pytest.raises(Refusal) as refused:
            read_policy(toml(tmp_path / "p.toml", text))
        assert [(one.rule, one.line) for one in refused.value.violations] == [("policy", line)]
    assert refusals(str(tmp_path / "none.toml"), tmp_path) == [
        "none.toml: cannot be read: No such file or directory [policy]"
    ]


# for other programs


def test_a_policy_is_exported_as_json() -> None:
    """The exported policy holds the floor, the qualities, the field and every text, under a schema of its own."""
    text = policy("0.80", refusal=dict(reversed(TEXTS.items()))).to_json()
    assert text == (
        "{\n"
        '  "schema": "evalkit-policy-v1",\n'
        '  "confidenceFloor": 0.8,\n'
        '  "acceptedQuality": [\n    "good",\n    "fair"\n  ],\n'
        '  "qualityField": "photo.quality",\n'
        '  "refusal": {\n'
        '    "no-suggestion": "Nothing seen.",\n'
        '    "low-quality": "Too blurred.",\n'
        '    "low-confidence": "Not sure."\n'
        "  }\n"
        "}\n"
    )
    assert json.loads(text)["confidenceFloor"] == 0.8
