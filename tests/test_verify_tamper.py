"""Tampering with a report: whatever is changed in it is found, each way by itself and any one value at random."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import evalkit
from tampering import Plain, Tamper, at, drop, leaves, nothing, others, put

import evalkit as library
from evalkit import Refusal, Report
from evalkit.cli.view_verification import verification_lines
from evalkit.contracts.policy_toml import read_policy
from evalkit.verification.differ import differ
from evalkit.verification.findings import Findings
from evalkit.verification.schemas import SCHEMAS
from evalkit.verification.verify import verify

FIXTURES = Path(__file__).parent.parent / "data-fixtures"
READINGS = str(FIXTURES / "policy" / "readings.jsonl")
POLICY = str(FIXTURES / "policy" / "policy.toml")

STATED = ("--min-coverage", "0.5", "--policy", POLICY, "--by", "photo.quality", "--synthetic")
"""What the report was made with, as the program takes it."""


@functools.cache
def report() -> Report:
    """Return a report that has all there is: strata, a policy, a run record."""
    return library.compare(
        READINGS,
        "0.5",
        policy=read_policy(POLICY),
        by="photo.quality",
        synthetic=True,
        run={"commit": "abc", "seed": 7, "rate": 0.5, "dirty": False, "note": None},
    )


@functools.cache
def _plain() -> str:
    return json.dumps(report().to_dict() | {"run": None})


def plain() -> Plain:
    """Return the report without its run record, as plain data."""
    found: Plain = json.loads(_plain())
    return found


# each way


ONE = "report.candidates[0]"
TAMPERED: Sequence[Tamper] = (
    Tamper("a number", put("candidates.0.ece", 0.04), (f"{ONE}.ece: claimed 0.04, recomputed 0.045",)),
    Tamper(
        "a number in its ninth place",
        put("candidates.0.ece", 0.045000001),
        (f"{ONE}.ece: claimed 0.045000001, recomputed 0.045",),
    ),
    Tamper(
        "a count, at --tol 1",
        put("candidates.0.accepted", 21),
        (f"{ONE}.accepted: claimed 21, recomputed 20",),
        ("--tol", "1"),
    ),
    Tamper(
        "a count with a fraction", put("candidates.0.accepted", 20.0), (f"{ONE}.accepted: claimed 20.0, recomputed 20",)
    ),
    Tamper(
        "a cell of the confusion",
        put("candidates.0.confusion.3->3", 9),
        (f'{ONE}.confusion["3->3"]: claimed 9, ',),
        ("--tol", "1"),
    ),
    Tamper("a number as text", put("candidates.0.ece", "0.045"), (f'{ONE}.ece: claimed "0.045", recomputed 0.045',)),
    Tamper("a null for a number", put("candidates.0.ece", None), (f"{ONE}.ece: claimed null, recomputed 0.045",)),
    Tamper("a number for a null", put("candidates.0.reason", 0), (f"{ONE}.reason: claimed 0, recomputed null",)),
    Tamper(
        "a number beyond any float",
        nothing,
        (f"{ONE}.threshold: claimed 1e400, recomputed 0.93",),
        ("--tol", "9"),
        text=lambda text: text.replace('"threshold": 0.93', '"threshold": 1e400', 1),
    ),
    Tamper("NaN", nothing, ("json",), code=2, text=lambda text: text.replace('"ece": 0.045', '"ece": NaN', 1)),
    Tamper(
        "a key twice",
        nothing,
        ("duplicate-key",),
        code=2,
        text=lambda text: text.replace('"verdict": "GO"', '"verdict": "BLOCKED", "verdict": "GO"', 1),
    ),
    Tamper("a report cut off", nothing, ("json",), code=2, text=lambda text: text[:-1]),
    Tamper("another schema", put("schema", "evalkit-receipt-v1"), ("report-schema",), code=2),
    Tamper("the verdict", put("verdict", "BLOCKED"), ('report.verdict: claimed "BLOCKED", recomputed "GO"',)),
    Tamper("the recommendation", put("recommended", "x"), ('report.recommended: claimed "x", recomputed "heron-3"',)),
    Tamper(
        "a gate that passed",
        put("candidates.0.gates.ece.passed", False),
        (f"{ONE}.gates.ece.passed: claimed false, recomputed true",),
    ),
    Tamper(
        "a limit, at --tol 1",
        put("limits.ece", 0.5),
        ("report.limits.ece: claimed 0.5, recomputed 0.05",),
        ("--tol", "1"),
    ),
    Tamper(
        "the limit of a gate, at --tol 1",
        put("candidates.0.gates.ece.limit", 0.5),
        (f"{ONE}.gates.ece.limit: claimed 0.5, recomputed 0.05",),
        ("--tol", "1"),
    ),
    Tamper(
        "the floor, at --tol 1",
        put("minCoverage", 0.4),
        ("report.minCoverage: claimed 0.4, recomputed 0.5",),
        ("--tol", "1"),
    ),
    Tamper("the bins", put("bins", 12), ("report.bins: claimed 12, recomputed 10",), ("--tol", "9")),
    Tamper(
        "an edge of a bin, at --tol 1",
        put("candidates.0.bins.0.upper", 0.95),
        (f"{ONE}.bins[0].upper: claimed 0.95, recomputed 1.0",),
        ("--tol", "1"),
    ),
    Tamper(
        "the policy",
        put("policy.confidenceFloor", 0.7),
        ("report.policy.confidenceFloor: claimed 0.7, recomputed 0.8",),
        ("--tol", "1"),
    ),
    Tamper("synthetic", put("synthetic", False), ("report.synthetic: claimed false, recomputed true",)),
    Tamper("a run record", put("run", {"id": 1}), ("report.run: claimed an object of 1, recomputed null",)),
    Tamper("a tolerance declared in the report", put("tol", 1.0), ("report.tol: claimed 1.0, recomputed nothing",)),
    Tamper(
        "a number and a tolerance to excuse it",
        lambda claim: (put("tolerance", 1.0)(claim), put("candidates.0.ece", 0.0)(claim)),
        (f"{ONE}.ece: claimed 0.0, recomputed 0.045", "report.tolerance: claimed 1.0, recomputed nothing"),
    ),
    Tamper("a digest", put("evidence.0.sha256", "0" * 64), (f'report.evidence[0].sha256: claimed "{"0" * 64}", ',)),
    Tamper(
        "the name of a file", put("evidence.0.name", "real.jsonl"), ('report.evidence[0].name: claimed "real.jsonl", ',)
    ),
    Tamper("the number of records", put("evidence.0.records", 49), ("report.evidence[0].records: claimed 49, ",)),
    Tamper(
        "evidence left out", put("evidence", []), ("report.evidence: claimed an array of 0, recomputed an array of 1",)
    ),
    Tamper("a field left out", drop("candidates.0.ece"), (f"{ONE}.ece: claimed nothing, recomputed 0.045",)),
    Tamper("a field too many", put("candidates.0.f2", 1.0), (f"{ONE}.f2: claimed 1.0, recomputed nothing",)),
    Tamper(
        "a model left out",
        put("candidates", []),
        ('report.candidates[model="heron-3"]: claimed nothing, recomputed an object of 20',),
    ),
    Tamper(
        "a model too many",
        lambda claim: claim["candidates"].append({**claim["candidates"][0], "model": "z"}),
        ('report.candidates[model="z"]: claimed an object of 20, recomputed nothing',),
    ),
    Tamper(
        "a model under another name",
        put("candidates.0.model", "z"),
        (
            'report.candidates[model="heron-3"]: claimed nothing, recomputed an object of 20',
            'report.candidates[model="z"]: claimed an object of 20, recomputed nothing',
        ),
    ),
    Tamper(
        "a stratum left out",
        drop("candidates.0.strata.1"),
        (f'{ONE}.strata[by={{"photo.quality": "good"}}]: claimed nothing, recomputed an object of 12',),
    ),
    Tamper(
        "strata left out", put("candidates.0.strata", None), (f"{ONE}.strata: claimed null, recomputed an array of 3",)
    ),
    Tamper("a number in a stratum", put("candidates.0.strata.0.total", 1), (f"{ONE}.strata[0].total: claimed 1, ",)),
    Tamper(
        "a bin left out",
        drop("candidates.0.bins.0"),
        (f"{ONE}.bins[lower=0.9]: claimed nothing, recomputed an object of 5",),
    ),
    Tamper(
        "a label left out",
        drop("candidates.0.perClass.3"),
        (f"{ONE}.perClass.3: claimed nothing, recomputed an object of 5",),
    ),
    Tamper(
        "a reason of abstentions left out",
        drop("candidates.0.abstentions.low-quality"),
        (f"{ONE}.abstentions.low-quality: claimed nothing, recomputed 4",),
    ),
    Tamper(
        "rows in another order",
        lambda claim: claim["candidates"][0]["strata"].reverse(),
        (f"{ONE}.strata: claimed by in another order, recomputed by in order",),
    ),
)
"""Every way, on the report of ``STATED``."""


@pytest.mark.parametrize("one", TAMPERED, ids=lambda one: one.what)
def test_each_way_to_tamper_is_found(one: Tamper, tmp_path: Path) -> None:
    """What was changed is named with its path, claimed and recomputed, or the report is refused; nothing else is."""
    path = tmp_path / "report.json"
    path.write_text(tampered(one), encoding="utf-8")
    stated: Plain = {"min_coverage": "0.5", "policy": read_policy(POLICY), "by": "photo.quality", "synthetic": True}
    if one.code == 2:
        with pytest.raises(Refusal, match=rf"\[{one.found[0]}\]"):
            verify(path, READINGS, **stated)
        return
    head, *lines = verification_lines(verify(path, READINGS, **stated, **_tolerance(one.more)))
    assert head.endswith(f", {len(lines)} difference{'' if len(lines) == 1 else 's'}")
    assert len(lines) == len(one.found)
    assert [line[2:][: len(start)] for line, start in zip(lines, one.found, strict=True)] == list(one.found)


def _tolerance(more: tuple[str, ...]) -> Plain:
    return {"tol": more[1]} if more else {}


def tampered(one: Tamper) -> str:
    """Return the report, tampered with."""
    claim = plain()
    one.change(claim)
    text = json.dumps(claim)
    changed = text if one.text is None else one.text(text)
    assert changed != _plain(), "nothing was tampered with"
    return changed


@pytest.mark.parametrize(("tamper", "code"), [(None, 0), ("a count, at --tol 1", 3), ("NaN", 2)])
def test_the_program_says_what_python_says(tamper: str | None, code: int, tmp_path: Path) -> None:
    """The command line takes the same options, and its exit code tells verified, differing and refused apart."""
    one = next((one for one in TAMPERED if one.what == tamper), None)
    (tmp_path / "report.json").write_text(_plain() if one is None else tampered(one), encoding="utf-8")
    more = () if one is None else one.more
    done = evalkit("verify", "report.json", READINGS, *STATED, *more, cwd=tmp_path)
    assert done.code == code
    said = done.err if code == 2 else done.out
    assert (", 0 differences" if one is None else one.found[0]) in said


# any value


def check(claim: Plain, tolerance: Fraction = Fraction(1, 10**12)) -> Findings:
    """Compare a claim with the report that has all there is."""
    return differ(claim, report(), SCHEMAS["evalkit-selective-v1"].rules(tolerance))


WHOLE: Plain = json.loads(report().to_json())
LEAVES = list(leaves(WHOLE))


def test_the_whole_report_agrees_with_itself() -> None:
    """No difference but by tampering; there are values of every kind to tamper with."""
    assert check(copy.deepcopy(WHOLE)).kept == []
    assert {type(at(WHOLE, way)) for way in LEAVES} == {str, int, float, bool, type(None)}


@given(st.data())
def test_any_one_changed_value_is_found(data: st.DataObject) -> None:
    """Whatever single value of a report is changed, there is a difference."""
    way = data.draw(st.sampled_from(LEAVES))
    if way[:1] == ("evidence",) and way[-1] == "name":
        return  # a test of its own: the folder is not compared
    claim = copy.deepcopy(WHOLE)
    at(claim, way[:-1])[way[-1]] = data.draw(others(at(WHOLE, way)))
    assert check(claim).count >= 1


@given(st.data())
def test_any_one_value_left_out_or_added_is_found(data: st.DataObject) -> None:
    """Whatever is removed from a report, or put into one of its objects, is exactly one difference or more."""
    way = data.draw(st.sampled_from(LEAVES))
    depth = data.draw(st.integers(1, len(way)))
    claim = copy.deepcopy(WHOLE)
    parent = at(claim, way[: depth - 1])
    del parent[way[depth - 1]]
    assert check(claim).count >= 1
    claim = copy.deepcopy(WHOLE)
    inside = at(claim, way[:-1])
    if isinstance(inside, dict):
        inside["more"] = data.draw(st.none() | st.integers() | st.text(max_size=2))
        assert check(claim).count == (2 if "by" in way else 1)  # a stratum by more is another stratum


@given(st.data(), st.sampled_from(["0", "1", "1e300"]))
def test_no_tolerance_excuses_a_count_a_text_or_a_setting(data: st.DataObject, tolerance: str) -> None:
    """However wide the tolerance, only measured numbers are allowed to be off."""
    exact = [
        way for way in LEAVES if not isinstance(at(WHOLE, way), float) or way[0] in ("limits", "minCoverage", "run")
    ]
    way = data.draw(st.sampled_from([way for way in exact if way[-1] != "name"]))
    claim = copy.deepcopy(WHOLE)
    at(claim, way[:-1])[way[-1]] = data.draw(others(at(WHOLE, way)))
    assert check(claim, Fraction(tolerance)).count >= 1
