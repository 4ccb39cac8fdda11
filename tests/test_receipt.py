"""The receipt: one release decision from a report, every reason named, nothing of the report taken for granted."""

from __future__ import annotations

import copy
import functools
import hashlib
import json
import math
import os
from collections.abc import Callable, Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import Run, dump, evalkit, judged

import evalkit as library
from evalkit.contracts.contract import Contract
from evalkit.contracts.policy import Policy
from evalkit.contracts.policy_toml import read_policy
from evalkit.errors import Refusal
from evalkit.families.selective.receipt import Receipt, receipt
from evalkit.families.selective.recheck import least_ece

FIXTURES = Path(__file__).parent.parent / "data-fixtures"
POLICY = FIXTURES / "policy" / "policy.toml"

Plain = dict[str, Any]


@functools.cache
def _report(dumped: str) -> str:
    return library.compare(FIXTURES / dumped, "0.5").to_json()


def go() -> Plain:
    """Return the report on ``go.jsonl``: heron-2 is recommended, with 18 of 19 right at a threshold of 0.81."""
    found: Plain = json.loads(_report("selective/go.jsonl"))
    return found


def heron(report: Plain) -> Plain:
    """Return the recommended candidate."""
    return next(one for one in report["candidates"] if one["model"] == "heron-2")


def policy(floor: str = "0.8") -> Policy:
    """Make a policy with a floor."""
    texts = dict.fromkeys(("no-suggestion", "low-quality", "low-confidence"), "No.")
    return Policy(Decimal(floor), ("good",), "quality", texts)


def write(folder: Path, report: object) -> Path:
    """Write a report that a test has tampered with."""
    path = folder / "report.json"
    path.write_text(json.dumps(report), encoding="utf-8")
    return path


@pytest.fixture
def decide(tmp_path: Path) -> Callable[..., Receipt]:
    """Decide on a report that a test has tampered with."""
    return lambda report, *rest: receipt(write(tmp_path, report), *rest)


Decide = Callable[..., Receipt]


def codes(found: Receipt) -> list[str]:
    """Return the codes of the reasons."""
    return [reason.code for reason in found.reasons]


def texts(found: Receipt) -> list[str]:
    """Return the sentences of the reasons."""
    return [reason.text for reason in found.reasons]


# allowed


def test_a_candidate_that_passes_is_allowed(decide: Decide) -> None:
    """A whole report that says GO, on real records, with numbers that pass, is allowed and gives no reason."""
    found = decide(go())
    assert (found.decision, found.allowed, found.reasons) == ("allowed", True, ())
    assert (found.model, found.threshold, found.policy) == ("heron-2", 0.81, None)
    assert found.limits == {"macroF1": 0.8, "precisionAtCoverage": 0.9, "ece": 0.05}


def test_the_receipt_says_what_it_was_made_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A receipt names the report with its bytes and their digest, the limits and the policy, without its texts."""
    monkeypatch.chdir(tmp_path)
    raw = write(tmp_path, go()).read_bytes()
    assert receipt("report.json", policy()).to_dict() == {
        "schema": "evalkit-receipt-v1",
        "decision": "allowed",
        "reasons": [],
        "report": {"name": "report.json", "bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()},
        "model": "heron-2",
        "threshold": 0.81,
        "limits": {"macroF1": 0.8, "precisionAtCoverage": 0.9, "ece": 0.05},
        "policy": {"confidenceFloor": 0.8, "acceptedQuality": ["good"], "qualityField": "quality"},
    }


def test_a_report_in_memory_is_decided_on_as_its_file_is(tmp_path: Path) -> None:
    """The report itself gives the receipt that the file it writes gives; only the name is missing."""
    report = library.compare(FIXTURES / "selective" / "go.jsonl", "0.5")
    report.write_json(tmp_path / "r.json")
    inside, outside = receipt(report).to_dict(), receipt(tmp_path / "r.json").to_dict()
    assert (inside["report"].pop("name"), outside["report"].pop("name")) == (None, str(tmp_path / "r.json"))
    assert inside == outside
    assert inside["decision"] == "allowed"


@pytest.mark.parametrize("case", ["B82-macrof1-exactly-080", "B83-ece-exactly-005"])
def test_a_candidate_exactly_on_the_line_is_allowed(case: str) -> None:
    """Limits are inclusive: f1 values that average to 0.8, 36 of 40 right, an ECE of 0.05 all pass."""
    report = library.compare(FIXTURES / "cases" / case / "input.jsonl", "0.5")
    assert receipt(report).decision == "allowed"


def test_a_candidate_that_needs_the_policy_is_allowed_under_it() -> None:
    """What is wrong on poor pictures alone passes when they abstain; strata and policy in a report are whole."""
    readings, rules = FIXTURES / "policy" / "readings.jsonl", read_policy(str(POLICY))
    assert codes(receipt(library.compare(readings, "0.5"), rules)) == ["verdict-blocked", "no-recommendation"]
    found = receipt(library.compare(readings, "0.5", policy=rules, by=["photo.quality"]), rules)
    assert (codes(found), found.model, found.threshold) == ([], "heron-3", 0.93)


# blocked: each reason by itself


def change(report: Plain, path: str, value: object) -> Plain:
    """Set what stands at a dotted path; the path begins with ``heron`` for the recommended candidate."""
    *steps, last = path.split(".")
    place: Any = heron(report) if steps[:1] == ["heron"] or (not steps and last == "heron") else report
    for step in steps[1:] if steps[:1] == ["heron"] else steps:
        place = place[step]
    place[last] = value
    return report


ASKED = "the limits must be those asked for now"

REASONS: Mapping[str, tuple[Mapping[str, object], str]] = {
    "verdict-blocked": ({"verdict": "BLOCKED"}, 'the verdict is "BLOCKED"; it must be GO'),
    "no-recommendation": (
        {"recommended": None},
        "the report recommends nobody; it must recommend one of its candidates",
    ),
    "unknown-recommendation": (
        {"recommended": "heron-3"},
        'the recommended candidate "heron-3" is not in the report; it must be one of its candidates',
    ),
    "gate-macroF1": ({"heron.macroF1": 0.7}, "macroF1 must be at least 0.80; found 0.7 in macroF1"),
    "gate-precisionAtCoverage": (
        {"heron.gates.precisionAtCoverage.value": 0.89},
        "precisionAtCoverage must be at least 0.90; found 0.89 in gates.precisionAtCoverage.value",
    ),
    "gate-ece": (
        {"heron.ece": 0.06, "heron.gates.ece.value": 0.06},
        "ece must be at most 0.05; found 0.06 in ece and gates.ece.value",
    ),
    "limits-differ": (
        {"limits.macroF1": 0.7, "heron.gates.ece.limit": 0.06},
        f"{ASKED}; limits.macroF1 is 0.7 and must be 0.80, gates.ece.limit is 0.06 and must be 0.05",
    ),
    "synthetic": ({"synthetic": True}, "the records are invented; they must be those of a real model"),
    "threshold-missing": (
        {"heron.threshold": None},
        "the candidate has no threshold; it must have one from 0 to 1",
    ),
    "threshold-not-from-validation": (
        {"heron.thresholdSplit": "test"},
        'the threshold was chosen on "test"; it must be chosen on validation',
    ),
    "not-scored-on-test": (
        {"heron.scoredSplit": "validation"},
        'the candidate was scored on "validation"; it must be scored on test',
    ),
    "threshold-below-policy-floor": (
        {"heron.threshold": 0.79},
        "the threshold is 0.79; it must be at or above the policy's floor, 0.80",
    ),
}
"""For each code, what is changed in a report that is allowed, and the sentence that follows."""


@pytest.mark.parametrize("code", REASONS)
def test_each_reason_is_named_by_itself(decide: Decide, code: str) -> None:
    """One thing wrong with a report gives one reason, which says what was found and what is needed."""
    report = go()
    assert decide(report, policy("0.80")).allowed
    changes, text = REASONS[code]
    for path, value in changes.items():
        change(report, path, value)
    found = decide(report, policy("0.80"))
    assert (found.decision, codes(found), texts(found)) == ("blocked", [code], [text])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (None, "no report is named; name the report that evalkit compare --json writes"),
        ("none.json", "there is no file none.json; name the report that evalkit compare --json writes"),
        ("none/r.json", "there is no file none/r.json; name the report that evalkit compare --json writes"),
        ("file/r.json", "there is no file file/r.json; name the report that evalkit compare --json writes"),
        ("dangling", "there is no file dangling; name the report that evalkit compare --json writes"),
        ("", 'there is no file ""; name the report that evalkit compare --json writes'),
        ("n" * 300, f"there is no file {'n' * 300}; name the report that evalkit compare --json writes"),
        ("a\0b", "there is no file a\0b; name the report that evalkit compare --json writes"),
    ],
)
def test_a_missing_report_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str | None, text: str) -> None:
    """No report, or one that is not there, is a block and never a default allow; there is nothing else to say."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "dangling").symlink_to("nowhere")
    found = receipt(name, policy())
    assert (codes(found), texts(found)) == (["missing-report"], [text])
    assert (found.report, found.model, found.threshold) == (None, None, None)
    assert found.policy is not None


@pytest.mark.parametrize("threshold", [1.5, -0.25])
def test_a_threshold_out_of_range_is_none(decide: Decide, threshold: float) -> None:
    """A threshold is from 0 to 1, both included."""
    found = decide(change(go(), "heron.threshold", threshold))
    assert (codes(found), texts(found)) == (
        ["threshold-missing"],
        [f"{threshold} is no threshold; it must be from 0 to 1"],
    )
    for end in (0.0, 1.0):
        assert decide(change(go(), "heron.threshold", end)).allowed


def test_every_reason_is_named_in_a_fixed_order(decide: Decide) -> None:
    """All that is wrong is named at once, in the order of the list, whatever the order in the report."""
    report = go()
    for path, value in {
        "heron.threshold": -1.0,
        "heron.thresholdSplit": "train",
        "heron.scoredSplit": "train",
        "heron.ece": None,
        "heron.macroF1": None,
        "heron.precisionAtCoverage": None,
        "synthetic": True,
        "limits": {},
        "verdict": "go",
    }.items():
        change(report, path, value)
    assert codes(decide(report, policy())) == [
        "verdict-blocked",
        "gate-macroF1",
        "gate-precisionAtCoverage",
        "gate-ece",
        "limits-differ",
        "synthetic",
        "threshold-missing",
        "threshold-not-from-validation",
        "not-scored-on-test",
        "threshold-below-policy-floor",
    ]


def test_a_blocked_report_says_why(tmp_path: Path) -> None:
    """The receipt of the committed invented predictions is blocked: nobody passed, and nothing there is real."""
    report = library.compare(FIXTURES / "selective" / "blocked.jsonl", "0.5", synthetic=True)
    found = receipt(report, policy())
    assert codes(found) == ["verdict-blocked", "no-recommendation", "synthetic"]
    assert (found.model, found.threshold) == (None, None)


def test_invented_records_block_though_they_pass(tmp_path: Path) -> None:
    """A candidate that passes all gates on invented records is not released."""
    report = library.compare(FIXTURES / "selective" / "go.jsonl", "0.5", synthetic=True)
    assert codes(receipt(report)) == ["synthetic"]


# the numbers are checked again


def test_the_flags_are_not_trusted(decide: Decide) -> None:
    """A report that recommends a failing candidate and says that all of it passed is blocked by its numbers."""
    report = go()
    report["recommended"] = "egret-mini"  # 16 of 22 right, macro F1 0.646, ECE 0.228
    egret = report["candidates"][0]
    egret["passed"] = True
    for gate in egret["gates"].values():
        gate["passed"] = True
    found = decide(report)
    assert codes(found) == ["gate-macroF1", "gate-precisionAtCoverage", "gate-ece"]
    assert texts(found)[1] == (
        "precisionAtCoverage must be at least 0.90; found 0.7272727272727273 in precisionAtCoverage and "
        "gates.precisionAtCoverage.value and its confusion, counted again"
    )


@pytest.mark.parametrize(
    ("name", "line", "beyond"),
    [
        ("macroF1", 0.8, math.nextafter(0.8, 0)),
        ("precisionAtCoverage", 0.9, math.nextafter(0.9, 0)),
        ("ece", 0.05, math.nextafter(0.05, 1)),
    ],
)
@pytest.mark.parametrize("place", ["heron.{}", "heron.gates.{}.value"])
def test_one_float_beyond_the_line_blocks(decide: Decide, place: str, name: str, line: float, beyond: float) -> None:
    """A reported value on the line passes; the next float on the wrong side does not, in either place of the report."""
    assert decide(change(go(), place.format(name), line)).allowed
    assert codes(decide(change(go(), place.format(name), beyond))) == [f"gate-{name}"]
    assert codes(decide(change(go(), place.format(name), None))) == [f"gate-{name}"]


@pytest.mark.parametrize(("name", "value"), [("macroF1", 1.5), ("precisionAtCoverage", 1e300), ("ece", -0.1)])
def test_a_value_that_the_metric_cannot_take_blocks(decide: Decide, name: str, value: float) -> None:
    """A share above 1 and an error below 0 are no numbers of a candidate, so they pass no gate."""
    assert codes(decide(change(go(), f"heron.{name}", value))) == [f"gate-{name}"]


def test_confusion_is_counted_again(decide: Decide) -> None:
    """Where the reported numbers are too good for the confusion matrix beside them, the matrix decides."""
    report = change(go(), "heron.confusion", {"4->4": 8, "4->5": 1, "5->5": 1})
    found = decide(report)  # 9 of 10 right; f1 of 4 is 16/17, of 5 it is 2/3: their mean is 41/51
    assert found.allowed
    report = change(go(), "heron.confusion", {"4->4": 7, "4->5": 2, "5->5": 1})
    found = decide(report)  # 8 of 10 right; f1 of 4 is 14/16, of 5 it is 2/4: their mean is 11/16
    assert texts(found) == [
        "macroF1 must be at least 0.80; found 0.6875 in its confusion, counted again",
        "precisionAtCoverage must be at least 0.90; found 0.8 in its confusion, counted again",
    ]


def test_counting_again_is_exact(decide: Decide) -> None:
    """A precision that only a fraction tells from the limit, since as a float it is the limit, is blocked."""
    right, wrong = 9 * 10**17, 10**17
    assert decide(change(go(), "heron.confusion", {"4->4": right, "4->5": wrong})).allowed
    found = decide(change(go(), "heron.confusion", {"4->4": right - 1, "4->5": wrong + 1}))
    assert texts(found) == [
        "precisionAtCoverage must be at least 0.90; found nearly 0.9 in its confusion, counted again"
    ]


@pytest.mark.parametrize("empty", [None, {}])
def test_without_a_confusion_matrix_nothing_is_measured(decide: Decide, empty: object) -> None:
    """A candidate without a confusion matrix passes neither of the gates that are counted from it."""
    found = decide(change(go(), "heron.confusion", empty))
    assert texts(found) == [
        "macroF1 must be at least 0.80; found nothing measured in its confusion, counted again",
        "precisionAtCoverage must be at least 0.90; found nothing measured in its confusion, counted again",
    ]


def bin_row(count: int, confidence: float | None, accuracy: float | None) -> Plain:
    """Make a bin of a report."""
    return {"lower": 0.9, "upper": 1.0, "count": count, "meanConfidence": confidence, "accuracy": accuracy}


@pytest.mark.parametrize(
    ("bins", "allowed"),
    [
        ([bin_row(20, 0.95, 1.0)], True),
        ([bin_row(20, 0.94, 1.0)], False),
        ([bin_row(10, 0.9, 1.0), bin_row(10, 1.0, 1.0)], True),
        ([bin_row(10, 0.89, 1.0), bin_row(10, 1.0, 1.0)], False),
        ([bin_row(3, 0.97, 0.6666666666666666)], False),
        ([bin_row(20, None, 1.0)], False),
        ([bin_row(20, 0.95, None)], False),
        ([bin_row(0, 0.95, 1.0)], False),
        ([bin_row(20, 1e308, 1e308)], False),
        ([bin_row(20, 0.95, 1.0), bin_row(-10, 0.95, 1.0)], False),
        ([], False),
        (None, False),
    ],
)
def test_the_bins_must_allow_the_calibration_error(decide: Decide, bins: object, allowed: bool) -> None:
    """A calibration error that is too small for the bins beside it does not pass; on the line it does."""
    assert codes(decide(change(go(), "heron.bins", bins))) == ([] if allowed else ["gate-ece"])


BIN = st.lists(st.tuples(st.integers(0, 10**15), st.booleans()), min_size=1, max_size=30)


@given(st.lists(BIN, min_size=1, max_size=4))
def test_rounding_never_counts_against_a_candidate(bins: list[list[tuple[int, bool]]]) -> None:
    """What the rounded bins of a report allow is never above the true calibration error, and hardly below it."""
    rows, gaps = [], Fraction(0)
    for suggestions in bins:
        count, right = len(suggestions), sum(one for _, one in suggestions)
        confidence = Fraction(sum(places for places, _ in suggestions), 10**15)
        mean, accuracy = confidence / count, Fraction(right, count)
        rows.append({"count": count, "meanConfidence": float(mean), "accuracy": float(accuracy)})
        gaps += abs(right - confidence)
    true = gaps / sum(len(suggestions) for suggestions in bins)
    least = least_ece(rows)
    assert least is not None
    assert true - Fraction(1, 10**15) <= least <= true


# limits and policy


def test_the_limits_are_the_caller_s(decide: Decide) -> None:
    """A report made with weaker limits is blocked under the default ones, by its limits and by its numbers."""
    weak = Contract(limits={"macroF1": Decimal("0.6"), "precisionAtCoverage": Decimal("0.7"), "ece": Decimal("0.3")})
    report = go()
    report["recommended"] = "egret-mini"
    report["limits"] = {"macroF1": 0.6, "precisionAtCoverage": 0.7, "ece": 0.3}
    for one in report["candidates"]:
        for name, gate in one["gates"].items():
            gate["limit"] = report["limits"][name]
    assert codes(decide(report)) == ["gate-macroF1", "gate-precisionAtCoverage", "gate-ece", "limits-differ"]
    found = decide(report, None, weak)
    assert (found.decision, found.model) == ("allowed", "egret-mini")
    assert found.limits == {"macroF1": 0.6, "precisionAtCoverage": 0.7, "ece": 0.3}


@pytest.mark.parametrize(
    ("limits", "text"),
    [
        ({"macroF1": 0.8, "ece": 0.05}, "limits.precisionAtCoverage is missing and must be 0.90"),
        (
            {"macroF1": 0.8, "precisionAtCoverage": 0.9, "ece": 0.05, "recall": 0.1},
            '"recall" is no limit asked for',
        ),
        (
            {"macroF1": 0.8000000000000002, "precisionAtCoverage": 0.9, "ece": 0.05},
            "limits.macroF1 is 0.8000000000000002 and must be 0.80",
        ),
    ],
)
def test_other_limits_are_told(decide: Decide, limits: Plain, text: str) -> None:
    """A limit that is missing, unknown or off by the last bit makes the limits differ."""
    found = decide(change(go(), "limits", limits))
    assert (codes(found), texts(found)) == (
        ["limits-differ"],
        [f"{ASKED}; {text}"],
    )


@pytest.mark.parametrize(
    ("floor", "allowed"),
    [("0", True), ("0.81", True), ("0.810000000000000001", True), ("0.8100001", False), ("1", False)],
)
def test_another_floor_is_another_decision(decide: Decide, floor: str, allowed: bool) -> None:
    """The policy alone holds the floor: the same report is allowed under one policy and blocked under another."""
    assert codes(decide(go(), policy(floor))) == ([] if allowed else ["threshold-below-policy-floor"])


# not whole


def at(report: Any, path: str) -> Any:
    """Return what stands at a dotted path."""
    for step in path.split("."):
        report = report[int(step)] if step.isdigit() and isinstance(report, list) else report[step]
    return report


HOSTILE: Mapping[str, tuple[bytes, str]] = {
    "duplicate key": (b'{"schema": "evalkit-selective-v1", "verdict": "BLOCKED", "verdict": "GO"}', "duplicate-key"),
    "escaped duplicate key": (b'{"verdict": "GO", "v\\u0065rdict": "GO"}', "duplicate-key"),
    "NaN": (b'{"schema": "evalkit-selective-v1", "minCoverage": NaN}', "json"),
    "Infinity": (b'{"schema": "evalkit-selective-v1", "minCoverage": -Infinity}', "json"),
    "empty": (b"", "json"),
    "blank": (b" \n", "json"),
    "an array": (b"[]", "json"),
    "a text": (b'"GO"', "json"),
    "null": (b"null", "json"),
    "cut off": (b'{"schema": "evalkit-selective-v1"', "json"),
    "two objects": (b"{}{}", "json"),
    "not UTF-8": (b'{"schema": "evalkit-selective-v1", "verdict": "G\xff"}', "encoding"),
    "UTF-16": ('{"schema": "evalkit-selective-v1"}'.encode("utf-16"), "encoding"),
    "byte-order mark": (b'\xef\xbb\xbf{"schema": "evalkit-selective-v1"}', "byte-order-mark"),
    "half a surrogate pair": (b'{"schema": "evalkit-selective-v1", "verdict": "\\ud800"}', "surrogate"),
    "a NUL in a key": (b'{"schema": "evalkit-selective-v1", "a\\u0000": 1}', "nul"),
    "too deep": (b'{"a":' * 200 + b"1" + b"}" * 200, "nesting"),
    "an empty object": (b"{}", "report-schema"),
    "another schema": (b'{"schema": "evalkit-receipt-v1"}', "report-schema"),
    "a schema that is no text": (b'{"schema": 1}', "report-schema"),
    "nothing but a schema": (b'{"schema": "evalkit-selective-v1"}', "not-whole"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_report_is_refused(tmp_path: Path, name: str) -> None:
    """A file that is there and is no strict JSON, or no report of ``compare``, is refused with its name."""
    raw, rule = HOSTILE[name]
    (tmp_path / "r.json").write_bytes(raw)
    with pytest.raises(Refusal) as refused:
        receipt(tmp_path / "r.json")
    assert set(refused.value.counts) == {rule}
    assert {one.file for one in refused.value.violations} == {str(tmp_path / "r.json")}


DELETE = object()
NO_CELL = "must be truth->predicted and how often it occurred, at least once"

DAMAGED: Mapping[str, tuple[str, object, str]] = {
    "an unknown key": ("extra", 1, 'there is no such key in a report; found "extra"'),
    "an unknown key inside": (
        "candidates.0.selection.note",
        "",
        'candidates[0].selection: there is no such key in a report; found "note"',
    ),
    "a missing key": ("synthetic", DELETE, "synthetic: is missing"),
    "a missing key inside": ("candidates.1.threshold", DELETE, "candidates[1].threshold: is missing"),
    "a missing limit": (
        "candidates.0.gates.ece",
        DELETE,
        "candidates[0].gates.ece: is missing",
    ),
    "an unknown gate": (
        "candidates.0.gates.recall",
        {"value": None, "limit": 0.5, "direction": "higher", "passed": False, "reason": None},
        'candidates[0].gates: there is no such gate; found "recall"',
    ),
    "a truth value as text": ("synthetic", "false", 'synthetic: must be true or false; found "false"'),
    "a truth value as number": ("synthetic", 0, "synthetic: must be true or false; found 0"),
    "a number as text": (
        "candidates.0.threshold",
        "0.9",
        'candidates[0].threshold: must be a number with a fraction, such as 1.0, or null; found "0.9"',
    ),
    "a number as truth value": (
        "candidates.0.macroF1",
        True,
        "candidates[0].macroF1: must be a number with a fraction, such as 1.0, or null; found true",
    ),
    "a whole number for a float": (
        "minCoverage",
        1,
        "minCoverage: must be a number with a fraction, such as 1.0; found 1",
    ),
    "a float for a whole number": ("bins", 10.0, "bins: must be a whole number; found 10.0"),
    "null where there is always a value": ("verdict", None, "verdict: must be a text; found null"),
    "an object for an array": ("evidence", {}, "evidence: must be an array; found an object of 0"),
    "an array for an object": ("limits", [], "limits: must be an object; found an array of 0"),
    "a wrong item": ("candidates.2", 7, "candidates[2]: must be an object; found 7"),
    "a direction that is none": (
        "candidates.0.gates.ece.direction",
        "up",
        'candidates[0].gates.ece.direction: must be one of "higher", "lower", "none"; found "up"',
    ),
    "a count below 1": (
        "candidates.0.confusion.4->4",
        -4,
        'candidates[0].confusion: must be truth->predicted and how often it occurred, at least once; found "4->4": -4',
    ),
    "a cell that is none": (
        "candidates.0.confusion.4",
        4,
        f'candidates[0].confusion: {NO_CELL}; found "4": 4',
    ),
    "a cell of three labels": (
        "candidates.0.confusion.4->4->5",
        4,
        f'candidates[0].confusion: {NO_CELL}; found "4->4->5": 4',
    ),
    "a candidate twice": (
        "candidates.1.model",
        "heron-2",
        'candidates[2].model: no candidate may stand twice; found "heron-2"',
    ),
    "a key that would spoil a terminal": (
        "candidates.0.perClass.\x1b[2J",
        None,
        'candidates[0].perClass["\\u001b[2J"]: must be an object; found null',
    ),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_report_that_is_not_whole_is_refused(tmp_path: Path, name: str) -> None:
    """A key that is missing, unknown or of a type that ``compare`` does not write is refused, with its path."""
    path, value, text = DAMAGED[name]
    report = go()
    parent, _, last = path.rpartition(".")
    place = at(report, parent) if parent else report
    key: Any = int(last) if isinstance(place, list) else last
    if value is DELETE:
        del place[key]
    else:
        place[key] = value
    with pytest.raises(Refusal) as refused:
        receipt(write(tmp_path, report))
    assert str(refused.value) == f"{tmp_path}/report.json: {text} [not-whole]"


@pytest.mark.parametrize("number", ["1e400", "-1e999", "9" * 400])
def test_a_number_that_no_float_holds_is_refused(tmp_path: Path, number: str) -> None:
    """Numbers beyond all floats are refused where they stand, also in the caller's own record of the run."""
    for key, old in (("minCoverage", "0.5"), ("run", "null")):
        text = json.dumps(go()).replace(f'"{key}": {old}', f'"{key}": {number if key != "run" else {"n": 0}}')
        text = text.replace("{'n': 0}", f'{{"n": {number}}}')
        (tmp_path / "r.json").write_text(text)
        with pytest.raises(Refusal) as refused:
            receipt(tmp_path / "r.json")
        assert refused.value.counts == {"not-whole": 1}
        assert refused.value.violations[0].field == {"minCoverage": "minCoverage", "run": "run.n"}[key]


def test_many_faults_are_counted(tmp_path: Path) -> None:
    """The first 20 faults are told in words, and all are counted."""
    report = go()
    report.update({f"k{number:03}": 0 for number in range(500)})
    with pytest.raises(Refusal) as refused:
        receipt(write(tmp_path, report))
    assert (len(refused.value.violations), refused.value.counts) == (20, {"not-whole": 500})


def test_a_file_longer_than_any_report_is_refused(tmp_path: Path) -> None:
    """A file of 2 GB is not read to its end: more than 64 MiB are no report."""
    path = tmp_path / "huge.json"
    path.touch()
    os.truncate(path, 2 * 1024**3)
    with pytest.raises(Refusal) as refused:
        receipt(path)
    assert str(refused.value) == f"{path}: must be at most 64 MiB long [report-too-long]"


@pytest.mark.parametrize(
    ("name", "text"),
    [(".", "Is a directory"), ("loop.json", "Too many levels of symbolic links")],
)
def test_a_file_that_cannot_be_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    """A report that is there and cannot be read is no missing one: nothing is decided."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.json").symlink_to("loop.json")
    with pytest.raises(Refusal) as refused:
        receipt(name)
    assert str(refused.value) == f"{name}: cannot be read: {text} [report-unreadable]"


# laws

FLOATS = st.none() | st.sampled_from([0.0, 0.05, 0.06, 0.5, 0.79, 0.8, 0.81, 0.9, 1.0, 1.5, -0.5])
COUNTS = st.integers(1, 40)
DECISIVE: Mapping[str, st.SearchStrategy[object]] = {
    "verdict": st.sampled_from(["GO", "BLOCKED", "go", ""]),
    "recommended": st.sampled_from([None, "heron-1", "heron-2", "egret-mini", "heron-3"]),
    "synthetic": st.booleans(),
    "limits": st.fixed_dictionaries(
        {
            "macroF1": st.sampled_from([0.0, 0.8]),
            "precisionAtCoverage": st.just(0.9),
            "ece": st.sampled_from([0.05, 1.0]),
        }
    ),
    "heron.passed": st.booleans(),
    "heron.threshold": FLOATS,
    "heron.thresholdSplit": st.sampled_from(["train", "validation", "test"]),
    "heron.scoredSplit": st.sampled_from(["train", "validation", "test"]),
    "heron.macroF1": FLOATS,
    "heron.precisionAtCoverage": FLOATS,
    "heron.ece": FLOATS,
    "heron.confusion": st.none() | st.dictionaries(st.sampled_from(["4->4", "5->5", "4->5", "6->4"]), COUNTS),
    "heron.gates.macroF1.value": FLOATS,
    "heron.gates.precisionAtCoverage.value": FLOATS,
    "heron.gates.ece.value": FLOATS,
    "heron.gates.macroF1.passed": st.booleans(),
    "heron.gates.precisionAtCoverage.passed": st.booleans(),
    "heron.gates.ece.passed": st.booleans(),
    "heron.gates.macroF1.limit": st.sampled_from([0.0, 0.8]),
    "heron.gates.ece.limit": st.sampled_from([0.05, 1.0]),
    "heron.bins": st.none() | st.just([bin_row(20, 0.95, 1.0)]) | st.just([bin_row(20, 0.5, 1.0)]) | st.just([]),
}
"""What a decision rests on, or might seem to."""

MUTATION = st.sampled_from(sorted(DECISIVE)).flatmap(lambda path: st.tuples(st.just(path), DECISIVE[path]))


def decided(report: Plain, folder: Path) -> bool:
    """Tell whether a report is allowed under a floor of 0.8."""
    return receipt(write(folder, report), policy("0.8")).allowed


def allowed(report: Plain) -> bool:
    """Say from the contract alone whether a report with these candidates may be allowed under a floor of 0.8."""
    limits = {"macroF1": 0.8, "precisionAtCoverage": 0.9, "ece": 0.05}
    if report["verdict"] != "GO" or report["synthetic"] or report["limits"] != limits:
        return False
    if report["recommended"] != "heron-2":  # the others fail, or are not there
        return False
    one = heron(report)
    if one["threshold"] is None or not 0.8 <= one["threshold"] <= 1:
        return False
    if (one["thresholdSplit"], one["scoredSplit"]) != ("validation", "test"):
        return False
    if any(gate["limit"] != limits[name] for name, gate in one["gates"].items()):
        return False
    for name in limits:
        for value in (one[name], one["gates"][name]["value"]):
            least, most = (0, 0.05) if name == "ece" else (limits[name], 1)
            if value is None or not least <= value <= most:
                return False
    return _enough(one["confusion"] or {}) and bool(one["bins"]) and one["bins"] != [bin_row(20, 0.5, 1.0)]


def _enough(confusion: Mapping[str, int]) -> bool:
    pairs = {tuple(cell.split("->")): count for cell, count in confusion.items()}
    right = sum(count for (truth, predicted), count in pairs.items() if truth == predicted)
    if not pairs or 10 * right < 9 * sum(pairs.values()):
        return False
    scores = []
    for label in {truth for truth, _ in pairs}:
        hits = pairs.get((label, label), 0)
        both = sum(count * ((truth == label) + (predicted == label)) for (truth, predicted), count in pairs.items())
        scores.append(Fraction(2 * hits, both))
    return sum(scores) / len(scores) >= Fraction(4, 5)


@given(mutations=st.lists(MUTATION, max_size=4))
def test_what_is_allowed_is_what_the_contract_allows(
    tmp_path_factory: pytest.TempPathFactory, mutations: list[tuple[str, object]]
) -> None:
    """Whatever is changed in a report, it is allowed exactly when each of its numbers may be; no flag matters."""
    report = go()
    for path, value in mutations:
        change(report, path, copy.deepcopy(value))
    assert decided(report, tmp_path_factory.getbasetemp()) == allowed(report)


@given(code=st.sampled_from(sorted(REASONS)), mutation=MUTATION)
def test_no_single_change_makes_up_for_another(
    tmp_path_factory: pytest.TempPathFactory, code: str, mutation: tuple[str, object]
) -> None:
    """A report that is blocked for one reason stays blocked whatever one other thing in it is changed."""
    report = go()
    blocking, _ = REASONS[code]
    path, value = mutation
    if any(path.startswith(other) or other.startswith(path) for other in blocking):
        return
    for other, wrong in blocking.items():
        change(report, other, wrong)
    change(report, path, copy.deepcopy(value))
    assert not decided(report, tmp_path_factory.getbasetemp())


# the command


def run(folder: Path, *arguments: str | Path, **options: Any) -> Run:
    """Run ``evalkit receipt``."""
    return evalkit("receipt", *arguments, cwd=folder, **options)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Make a folder with a report that is allowed, one that is blocked, and a policy."""
    (tmp_path / "go.json").write_text(_report("selective/go.jsonl"))
    (tmp_path / "blocked.json").write_text(_report("selective/blocked.jsonl"))
    (tmp_path / "policy.toml").write_bytes(POLICY.read_bytes())
    return tmp_path


def test_allowed_is_0(here: Path) -> None:
    """Exit 0: the decision line says which candidate may be released at which threshold."""
    found = run(here, "go.json", "--policy", "policy.toml", "--json", "new/receipt.json")
    assert (found.code, found.err) == (0, "")
    assert found.lines == ["ALLOWED: heron-2 at threshold 0.81", "receipt: new/receipt.json"]
    written = (here / "new/receipt.json").read_text()
    assert written == receipt_of(here, "go.json")


def receipt_of(folder: Path, name: str) -> str:
    """Return the receipt under the policy of the fixtures, as the library writes it, with the name as given."""
    rules = Policy(
        Decimal("0.8"),
        ("good", "fair"),
        "photo.quality",
        dict.fromkeys(("no-suggestion", "low-quality", "low-confidence"), "No."),
    )
    return receipt(folder / name, rules).to_json().replace(f'"{folder}/', '"')


def test_blocked_is_3(here: Path) -> None:
    """Exit 3: a line for each reason follows the decision, and the receipt is written all the same."""
    found = run(here, "blocked.json", "--json", "receipt.json")
    assert (found.code, found.err) == (3, "")
    assert found.lines == [
        "BLOCKED: 2 reasons",
        '  verdict-blocked: the verdict is "BLOCKED"; it must be GO',
        "  no-recommendation: the report recommends nobody; it must recommend one of its candidates",
        "receipt: receipt.json",
    ]
    written = json.loads((here / "receipt.json").read_bytes())
    assert [reason["code"] for reason in written["reasons"]] == ["verdict-blocked", "no-recommendation"]


@pytest.mark.parametrize("arguments", [(), ("none.json",)], ids=["no report", "none there"])
def test_no_report_is_3(here: Path, arguments: tuple[str, ...]) -> None:
    """Exit 3, and a receipt, also when no report is named or the file is not there."""
    found = run(here, *arguments, "--json", "receipt.json")
    assert (found.code, found.err, found.lines[0]) == (3, "", "BLOCKED: 1 reason")
    written = json.loads((here / "receipt.json").read_bytes())
    assert (written["decision"], written["report"]) == ("blocked", None)


@pytest.mark.parametrize("name", ["duplicate key", "NaN", "empty", "an array", "not UTF-8", "another schema"])
def test_unreadable_is_2(here: Path, name: str) -> None:
    """Exit 2 with a sentence, nothing on standard output, no traceback; an older receipt is untouched."""
    raw, rule = HOSTILE[name]
    (here / "r.json").write_bytes(raw)
    (here / "receipt.json").write_text("older")
    found = run(here, "r.json", "--json", "receipt.json", "--policy", "policy.toml", "--export", "p.json")
    head, line = found.err.splitlines()
    assert (found.code, found.out, (here / "receipt.json").read_text()) == (2, "", "older")
    assert head == "evalkit: refused: 1 violation; nothing was scored, nothing was written"
    assert line.startswith("  r.json: ")
    assert line.endswith(f" [{rule}]")
    assert not (here / "p.json").exists()


def test_quiet_prints_nothing(here: Path) -> None:
    """``--quiet``: the exit code tells; refusals are printed all the same."""
    assert run(here, "go.json", "-q") == (0, b"", b"")
    assert run(here, "blocked.json", "--quiet") == (3, b"", b"")
    found = run(here, "policy.toml", "-q")
    assert (found.code, found.out, found.err.startswith("evalkit: refused: 1 violation")) == (2, "", True)


def test_json_to_standard_output(here: Path) -> None:
    """``--json -``: the receipt alone is on standard output, the lines for people are on standard error."""
    found = run(here, "go.json", "--policy", "policy.toml", "--json", "-")
    assert (found.code, found.out) == (0, receipt_of(here, "go.json"))
    assert found.err == "ALLOWED: heron-2 at threshold 0.81\n"
    quiet = run(here, "go.json", "--policy", "policy.toml", "--json", "-", "-q")
    assert quiet == (0, found.stdout, b"")


def test_a_report_from_standard_input(here: Path) -> None:
    """``-`` is the report on standard input, so that a receipt can follow ``compare`` in a pipe."""
    found = run(here, "-", "--json", "-", "-q", stdin=(here / "go.json").read_bytes())
    assert (found.code, json.loads(found.out)["report"]["name"]) == (0, "-")
    assert run(here, "-", "-q", stdin=b"").code == 2


def test_a_real_run_from_dump_to_receipt(tmp_path: Path) -> None:
    """What ``compare`` writes the receipt reads: a candidate exactly on the line of the ECE is released."""
    dump(tmp_path / "d.jsonl", judged("steady", right=20, confidence=0.95))
    assert evalkit("compare", "d.jsonl", "--min-coverage", "0.5", "--json", "r.json", "-q", cwd=tmp_path).code == 0
    found = run(tmp_path, "r.json")
    assert (found.code, found.out) == (0, "ALLOWED: steady at threshold 0.95\n")


def test_the_policy_is_exported(here: Path) -> None:
    """``--export`` writes the policy for other programs, on a block too, and to standard output as ``-``."""
    found = run(here, "blocked.json", "--policy", "policy.toml", "--export", "out/policy.json")
    assert (found.code, found.lines[-1]) == (3, "policy: out/policy.json")
    written = json.loads((here / "out/policy.json").read_bytes())
    assert list(written) == ["schema", "confidenceFloor", "acceptedQuality", "qualityField", "refusal"]
    assert (written["schema"], written["confidenceFloor"]) == ("evalkit-policy-v1", 0.8)
    assert written["refusal"]["low-quality"] == "The photo is not clear enough to read. Please enter the type yourself."
    assert run(here, "go.json", "--policy", "policy.toml", "--export", "-", "-q").out == (
        (here / "out/policy.json").read_text()
    )


def test_an_export_needs_a_policy(here: Path) -> None:
    """``--export`` without ``--policy`` is refused before anything is read or written."""
    found = run(here, "none.json", "--export", "p.json")
    assert (found.code, found.out) == (2, "")
    assert found.err.endswith("Invalid value for --export: there is no policy to write; name one with --policy\n")
    assert not (here / "p.json").exists()


def test_a_policy_that_makes_no_sense_is_2(here: Path) -> None:
    """A policy that cannot be read is refused with its line, also where there is no report."""
    (here / "policy.toml").write_text("confidence_floor = 80\n")
    found = run(here, "none.json", "--policy", "policy.toml")
    assert found.code == 2
    assert "policy.toml:1: confidence_floor: must be a decimal from 0 to 1, such as 0.8; found 80 [policy]" in found.err


def test_the_contract_sets_the_limits(here: Path) -> None:
    """``--contract``: its limits apply, not the default ones and not those of the report."""
    (here / "strict.toml").write_text("[limits]\nmacroF1 = 0.95\n")
    found = run(here, "go.json", "--contract", "strict.toml", "--json", "receipt.json")
    assert (found.code, found.lines[0]) == (3, "BLOCKED: 2 reasons")
    written = json.loads((here / "receipt.json").read_bytes())
    assert [reason["code"] for reason in written["reasons"]] == ["gate-macroF1", "limits-differ"]
    assert written["limits"] == {"macroF1": 0.95, "precisionAtCoverage": 0.9, "ece": 0.05}


TARGETS: list[tuple[tuple[str, ...], str]] = [
    (("go.json", "--json", "go.json"), "go.json: is the input go.json; name another file [output-unusable]"),
    (("go.json", "--json", "./go.json"), "./go.json: is the input go.json; name another file [output-unusable]"),
    (("go.json", "--json", "link.json"), "link.json: is the input go.json; name another file [output-unusable]"),
    (("go.json", "--json", "hard.json"), "hard.json: is the input go.json; name another file [output-unusable]"),
    (("none.json", "--json", "none.json"), "none.json: is the input none.json; name another file [output-unusable]"),
    (
        ("go.json", "--policy", "policy.toml", "--json", "policy.toml"),
        "policy.toml: is the input policy.toml; name another file [output-unusable]",
    ),
    (
        ("go.json", "--policy", "policy.toml", "--export", "go.json"),
        "go.json: is the input go.json; name another file [output-unusable]",
    ),
    (
        ("go.json", "--contract", "policy.toml", "--json", "policy.toml"),
        "policy.toml: is the input policy.toml; name another file [output-unusable]",
    ),
    (
        ("go.json", "--policy", "policy.toml", "--json", "new.json", "--export", "./new.json"),
        "./new.json: is named for two outputs; name another place for one of them [output-unusable]",
    ),
    (
        ("go.json", "--policy", "policy.toml", "--json", "-", "--export", "-"),
        "-: is named for two outputs; name another place for one of them [output-unusable]",
    ),
    (("go.json", "--json", "folder"), "folder: is a directory; name a file [output-unwritable]"),
    (("go.json", "--json", "go.json/x"), "go.json/x: cannot be written: go.json: Not a directory [output-unwritable]"),
]


@pytest.mark.parametrize(("arguments", "text"), TARGETS, ids=[" ".join(arguments) for arguments, _ in TARGETS])
def test_targets_are_checked_before(here: Path, arguments: tuple[str, ...], text: str) -> None:
    """A target that is an input, another target or no place to write is refused; every file stays as it was."""
    (here / "link.json").symlink_to("go.json")
    (here / "hard.json").hardlink_to(here / "go.json")
    (here / "folder").mkdir()
    before = {path.name: path.read_bytes() for path in here.iterdir() if path.is_file()}
    found = run(here, *arguments)
    assert (found.code, found.out) == (2, "")
    assert found.err.splitlines()[1:] == [f"  {text}"]
    assert {path.name: path.read_bytes() for path in here.iterdir() if path.is_file()} == before


def test_what_a_report_says_spoils_no_terminal(here: Path) -> None:
    """Names from a report are printed with escapes; the receipt as JSON has them as they are."""
    report = go()
    report["recommended"] = heron(report)["model"] = "evil\x1b[2J\nALLOWED"
    (here / "r.json").write_text(json.dumps(report))
    found = run(here, "r.json", "--json", "receipt.json")
    assert found.lines == ["ALLOWED: evil\\u001b[2J\\u000aALLOWED at threshold 0.81", "receipt: receipt.json"]
    assert json.loads((here / "receipt.json").read_bytes())["model"] == "evil\x1b[2J\nALLOWED"
