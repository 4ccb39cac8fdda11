"""A policy inside `compare`: which suggestions may supply a cut, which are accepted, and why the others are not."""

from __future__ import annotations

import json
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from support import compare, dump, record

import evalkit
from evalkit import Refusal
from evalkit.contracts.policy import Policy

MISSING = object()
TEXTS = {"no-suggestion": "Nothing seen.", "low-quality": "Too blurred.", "low-confidence": "Not sure."}

TOML = """
confidence_floor = 0.8
accepted_quality = ["good", "fair"]
quality_field = "photo.quality"

[refusal]
no-suggestion = "Nothing seen."
low-quality = "Too blurred."
low-confidence = "Not sure."
"""


def policy(
    floor: str = "0.8", accepted: tuple[str, ...] = ("good", "fair"), where: str = "photo.quality", **texts: str
) -> Policy:
    """Make a policy."""
    return Policy(Decimal(floor), accepted, where, {**TEXTS, **texts})


def shot(line: str, quality: Any = "good") -> str:
    """Add `photo.quality` to a record, or a photo without one."""
    return json.dumps({**json.loads(line), "photo": {} if quality is MISSING else {"quality": quality}})


VALIDATION = [
    shot(record("alpha", "validation", 1, 4, 4, 0.95), "good"),
    shot(record("alpha", "validation", 2, 4, 4, 0.8), "fair"),
    shot(record("alpha", "validation", 3, 5, 4, 0.79), "good"),
    shot(record("alpha", "validation", 4, 4, 4, 0.99), "poor"),
    shot(record("alpha", "validation", 5, 4, None), "good"),
]
"""The cuts are 0.95 and 0.8, with coverage 1/5 and 2/5: 0.79 is below the floor, 0.99 on a poor photo."""

TEST = [
    shot(record("alpha", "test", 1, 4, 4, 0.94), "poor"),  # low quality, however confident
    shot(record("alpha", "test", 2, 4, 4, 0.8), "good"),  # accepted, on the floor
    shot(record("alpha", "test", 3, 4, 4, 0.9), "fair"),  # accepted
    shot(record("alpha", "test", 4, 5, 4, 0.85), "good"),  # accepted, wrong
    shot(record("alpha", "test", 5, 4, None), "poor"),  # no suggestion comes first
    shot(record("alpha", "test", 6, 4, 4, 0.5), "poor"),  # low quality comes before low confidence
    shot(record("alpha", "test", 7, 4, 4, 0.79), "good"),  # low confidence
    shot(record("alpha", "test", 8, 4, 4, 0.99), MISSING),
    shot(record("alpha", "test", 9, 4, 4, 0.99), "GOOD"),
    shot(record("alpha", "test", 10, 4, 4, 0.99), None),
    shot(record("alpha", "test", 11, 4, 4, 0.99), True),
    record("alpha", "test", 12, 4, 4, 0.99),
]
"""Of twelve three are accepted; one offers nothing, seven are of no accepted quality, one is not confident enough."""


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Write the dump whose numbers are above."""
    return dump(tmp_path / "photos.jsonl", VALIDATION + TEST)


def judged(path: Path, floor: str, under: Policy | None, **options: Any) -> Mapping[str, Any]:
    """Return the only candidate as the report has it."""
    plain: dict[str, Any] = evalkit.compare(path, floor, policy=under, **options).to_dict()
    only: dict[str, Any] = plain["candidates"][0]
    return only


# cuts


def test_only_accepted_quality_at_or_above_the_floor_supplies_cuts(photos: Path) -> None:
    """The curve has no cut of a suggestion below the floor, of another quality, or of none."""
    report = evalkit.compare(photos, "0.4", policy=policy())
    table = report.tables()["curve"]
    assert table.select("cut", "accepted", "correct", "total", "coverage").rows() == [
        (0.95, 1, 1, 5, 0.2),
        (0.8, 2, 2, 5, 0.4),
    ]
    assert report["alpha"].threshold == 0.8


def test_all_records_count_in_the_coverage(photos: Path) -> None:
    """Coverage is of all validation records, whatever their quality: 2/5 clears 0.4 and nothing clears more."""
    one = judged(photos, "0.4", policy())
    assert one["selection"] == {
        "total": 5,
        "accepted": 2,
        "coverage": 0.4,
        "precisionAtCoverage": 1.0,
        "optimism": {"coverage": 0.15, "precisionAtCoverage": 0.3333333333333333},  # 2/5 - 3/12, 1 - 2/3
    }
    none = judged(photos, "0.41", policy())
    assert (none["passed"], none["reason"], none["threshold"]) == (False, "no-cut-clears-floor", None)
    assert (none["total"], none["accepted"], none["abstentions"]) == (12, None, None)


def test_without_a_policy_quality_is_not_looked_at(photos: Path) -> None:
    """Without one the same dump has other cuts, no third reason and no policy in its report."""
    report = evalkit.compare(photos, "0.8").to_dict()
    one = report["candidates"][0]
    assert report["policy"] is None
    assert (one["threshold"], one["selection"]["accepted"]) == (0.79, 4)
    assert one["abstentions"] == {"no-suggestion": 1, "low-confidence": 1}


@pytest.mark.parametrize(
    ("floor", "confidence", "cut"),
    [
        ("0.8", 0.8, 0.8),
        ("0.80", 0.8, 0.8),
        ("0.8", 0.7999999999999999, None),
        ("0.3", 0.3, 0.3),
        ("0.30000000000000001", 0.3, 0.3),  # the same 64-bit float
        ("0.3", 0.30000000000000004, 0.30000000000000004),
        ("1", 1.0, 1.0),
        ("1", 0.9999999999999999, None),
        ("0", 0.0, 0.0),
    ],
)
def test_the_floor_is_inclusive(tmp_path: Path, floor: str, confidence: float, cut: float | None) -> None:
    """A confidence exactly on the floor supplies a cut; the next float below it does not."""
    lines = [shot(record("alpha", split, 1, confidence=confidence)) for split in ("validation", "test")]
    assert judged(dump(tmp_path / "d.jsonl", lines), "0", policy(floor))["threshold"] == cut


# test


def test_every_abstention_has_the_first_reason_that_applies(photos: Path) -> None:
    """No suggestion, then low quality, then low confidence, in this order; with the accepted ones they are all."""
    one = judged(photos, "0.4", policy())
    assert list(one["abstentions"].items()) == [("no-suggestion", 1), ("low-quality", 7), ("low-confidence", 1)]
    assert (one["total"], one["accepted"]) == (12, 3)
    assert (one["coverage"], one["precisionAtCoverage"]) == (0.25, 0.6666666666666666)
    assert one["confusion"] == {"4->4": 2, "5->4": 1}
    assert [(row["lower"], row["count"], row["accuracy"]) for row in one["bins"]] == [(0.8, 2, 0.5), (0.9, 1, 1.0)]
    assert one["ece"] == 0.25  # (2 · |0.5 - 0.825| + |1 - 0.9|) / 3


@pytest.mark.parametrize(
    ("quality", "reason"),
    [
        ("good", None),
        ("fair", None),
        ("poor", "low-quality"),
        ("Good", "low-quality"),
        ("good ", "low-quality"),
        ("", "low-quality"),
        (MISSING, "low-quality"),
        (None, "low-quality"),
        (1, "low-quality"),
        (True, "low-quality"),
    ],
)
def test_a_quality_is_accepted_or_abstains(tmp_path: Path, quality: Any, reason: str | None) -> None:
    """Only the qualities that the policy names are accepted, letter by letter."""
    lines = [shot(record("alpha", "validation", 1, confidence=0.9)), shot(record("alpha", "test", 1), quality)]
    one = judged(dump(tmp_path / "d.jsonl", lines), "1", policy())
    assert [name for name, count in one["abstentions"].items() if count] == ([] if reason is None else [reason])
    assert one["accepted"] == (reason is None)


def test_a_poor_photo_abstains_at_0_94(tmp_path: Path) -> None:
    """A suggestion at 0.94 on a poor photo is no fact, though 0.94 clears every threshold."""
    lines = [shot(record("alpha", "validation", 1, confidence=0.9))]
    lines += [shot(record("alpha", "test", 1, confidence=0.94), "poor")]
    one = judged(dump(tmp_path / "d.jsonl", lines), "1", policy())
    assert one["reason"] == "nothing-accepted"
    assert one["abstentions"] == {"no-suggestion": 0, "low-quality": 1, "low-confidence": 0}
    assert one["excludedClasses"] == [4]


def test_no_record_of_accepted_quality_is_no_cut(tmp_path: Path) -> None:
    """Where no record says its quality there is no cut, not even at a coverage floor of 0; and it is said."""
    lines = [record("alpha", split, number) for split in ("validation", "test") for number in range(3)]
    report = evalkit.compare(dump(tmp_path / "d.jsonl", lines), "0", policy=policy())
    assert report["alpha"].reason == "no-cut-clears-floor"
    assert any("photo.quality" in warning for warning in report.warnings)


def test_an_absent_quality_is_not_called_unlabelled(tmp_path: Path) -> None:
    """A policy that accepts `unlabelled` accepts those that say so, and not those that say nothing."""
    lines = [shot(record("alpha", split, 1), "unlabelled") for split in ("validation", "test")]
    lines += [record("alpha", split, 2) for split in ("validation", "test")]
    one = judged(dump(tmp_path / "d.jsonl", lines), "0", policy(accepted=("unlabelled",)), by="photo.quality")
    assert one["abstentions"]["low-quality"] == 1
    assert [(part["by"], part["total"], part["accepted"]) for part in one["strata"]] == [
        ({"photo.quality": "unlabelled"}, 2, 1)
    ]


def test_a_policy_can_make_the_verdict(tmp_path: Path) -> None:
    """A candidate that fails over all photos passes on good ones: what it says of poor ones is not offered."""
    lines = []
    for split in ("validation", "test"):
        lines += [shot(record("alpha", split, number)) for number in range(9)]
        lines += [shot(record("alpha", split, 9 + number, 5, 4, 0.97), "poor") for number in range(9)]
    path = dump(tmp_path / "d.jsonl", lines)
    assert evalkit.compare(path, "0.5").verdict == "BLOCKED"
    under = evalkit.compare(path, "0.5", policy=policy())
    assert (under.verdict, under["alpha"].precision_at_coverage, under["alpha"].coverage) == ("GO", 1.0, 0.5)


# strata, report, tables


def test_strata_under_a_policy(photos: Path) -> None:
    """Each stratum counts its own reasons, also where the strata are the qualities themselves."""
    one = judged(photos, "0.4", policy(), by=["photo.quality"])
    found = [(part["by"]["photo.quality"], part["accepted"], *part["abstentions"].values()) for part in one["strata"]]
    assert found == [
        ("GOOD", 0, 0, 1, 0),
        ("fair", 1, 0, 0, 0),
        ("good", 2, 0, 0, 1),
        ("poor", 0, 1, 2, 0),
        ("true", 0, 0, 1, 0),
        ("unlabelled", 0, 0, 3, 0),
    ]
    for place in range(4):
        whole = (one["accepted"], *one["abstentions"].values())[place]
        assert sum(row[1 + place] for row in found) == whole


def test_the_terms_are_in_the_report(photos: Path) -> None:
    """Floor, qualities and field of the policy, and none of its texts."""
    report = evalkit.compare(photos, "0.4", policy=policy("0.80", ("fair", "good")))
    assert report.to_dict()["policy"] == {
        "confidenceFloor": 0.8,
        "acceptedQuality": ["fair", "good"],
        "qualityField": "photo.quality",
    }
    assert "blurred" not in report.to_json()


def test_the_tables_count_low_quality(photos: Path) -> None:
    """`low_quality` is a column, null without a policy, and a measurement under one."""
    under, without = (evalkit.compare(photos, "0.4", policy=one).tables() for one in (policy(), None))
    shown = ["accepted", "no_suggestion", "low_quality", "low_confidence"]
    assert under["candidates"].select(shown).rows() == [(3, 1, 7, 1)]
    assert without["candidates"]["low_quality"].to_list() == [None]
    assert under["measurements"].filter(name="low-quality")["value"].to_list() == [7.0]
    assert without["measurements"].filter(name="low-quality").is_empty()


def test_the_quality_may_stand_in_the_prediction(tmp_path: Path) -> None:
    """A quality beside the label is read there, and is absent where nothing was offered."""
    lines = []
    for split in ("validation", "test"):
        for number, quality in enumerate(["good", "poor", None]):
            plain = json.loads(record("alpha", split, number, 4, None if quality is None else 4))
            if quality is not None:
                plain["prediction"]["quality"] = quality
            lines.append(json.dumps(plain))
    one = judged(dump(tmp_path / "d.jsonl", lines), "0", policy(where="prediction.quality"))
    assert list(one["abstentions"].values()) == [1, 1, 0]


def test_a_quality_that_is_no_scalar_is_refused(photos: Path, tmp_path: Path) -> None:
    """As for a stratum: an object is no quality, and is not taken for an absent one."""
    path = dump(tmp_path / "d.jsonl", [*VALIDATION, shot(record("alpha", "test", 1), {"level": "good"})])
    with pytest.raises(Refusal) as caught:
        evalkit.compare(path, "0", policy=policy())
    only = caught.value.violations[0]
    assert (only.rule, only.line, only.field) == ("scalar", 6, "photo.quality")


@pytest.mark.parametrize("where", ["truth", "prediction.confidence", "prediction.confidence.x", "model"])
def test_the_quality_is_no_field_of_the_contract(photos: Path, where: str) -> None:
    """A quality field that is one of the contract's, or above or below one, is refused."""
    with pytest.raises(Refusal):
        evalkit.compare(photos, "0", policy=policy(where=where))


# the command line


def test_a_policy_on_the_command_line(photos: Path, tmp_path: Path) -> None:
    """`--policy FILE` gives the report that the same policy gives in Python, and the terminal says its terms."""
    (tmp_path / "policy.toml").write_text(TOML)
    run = compare("photos.jsonl", "--policy", "policy.toml", "--json", "r.json", cwd=tmp_path)
    assert run.code == 3
    assert "policy: quality good, fair; confidence at least 0.8" in run.lines
    assert "alpha: blocked, no cut clears the floor" in run.lines
    found = json.loads((tmp_path / "r.json").read_bytes())
    expected = evalkit.compare(photos, "0.5", policy=policy()).to_dict()
    assert {**found, "evidence": None} == {**expected, "evidence": None}


def test_a_go_under_a_policy_is_exit_0(tmp_path: Path) -> None:
    """The verdict is that of what the policy lets through."""
    (tmp_path / "policy.toml").write_text(TOML)
    lines = [shot(record("alpha", split, number)) for split in ("validation", "test") for number in range(9)]
    lines += [shot(record("alpha", "test", 10, 5, 4), "poor")]
    dump(tmp_path / "d.jsonl", lines)
    assert compare("d.jsonl", "--policy", "policy.toml", cwd=tmp_path).code == 0


def test_a_broken_policy_is_exit_2(photos: Path, tmp_path: Path) -> None:
    """Every fault is named, and nothing is scored or written."""
    (tmp_path / "policy.toml").write_text('confidence_floor = 80\naccepted_quality = []\nquality_field = "a..b"\n')
    run = compare("photos.jsonl", "--policy", "policy.toml", "--json", "r.json", cwd=tmp_path)
    assert (run.code, run.stdout, (tmp_path / "r.json").exists()) == (2, b"", False)
    for name in ("confidence_floor", "accepted_quality", "quality_field", "refusal"):
        assert name in run.err


@pytest.mark.parametrize("name", ["policy.toml", "./policy.toml", "link.toml"])
def test_a_policy_is_never_written_over(photos: Path, tmp_path: Path, name: str) -> None:
    """The policy is an input: no output may take its place, by whatever name."""
    (tmp_path / "policy.toml").write_text(TOML)
    (tmp_path / "link.toml").symlink_to("policy.toml")
    run = compare("photos.jsonl", "--policy", "policy.toml", "--json", name, cwd=tmp_path)
    assert (run.code, (tmp_path / "policy.toml").read_text()) == (2, TOML)
    assert "output-unusable" in run.err
