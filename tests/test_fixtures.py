"""The fixtures: what each dump shows, number by number.

The numbers of the invented dumps were computed apart from evalkit, as fractions of the decimal texts, and checked with
scikit-learn; those of the real data are in its `expected.json`.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest

import evalkit
from evalkit import Refusal, Report

FIXTURES = Path(__file__).parent.parent / "data-fixtures"
SELECTIVE = FIXTURES / "selective"
REAL: dict[str, Any] = json.loads((FIXTURES / "real" / "expected.json").read_bytes())[
    "selective.jsonl --min-coverage 0.5"
]

LIMITS = {"precisionAtCoverage": (0.9, "higher"), "macroF1": (0.8, "higher"), "ece": (0.05, "lower")}
"""Limit and direction of each gate."""

Share = float | None
Score = tuple[Share, Share, Share]


def _candidate(
    *,
    passed: bool,
    threshold: Share,
    selection: tuple[int, int | None, Share, Share],
    optimism: tuple[Share, Share],
    total: int,
    reason: str | None = None,
    accepted: int | None = None,
    abstentions: tuple[int, int] | None = None,
    coverage: Share = None,
    scores: Score = (None, None, None),
    gates: tuple[bool, bool, bool] = (False, False, False),
    excluded: list[int] | None = None,
    per_class: dict[str, tuple[int, int, Share, Share, Share]] | None = None,
    confusion: dict[str, int] | None = None,
    bins: list[tuple[float, float, int, float, float]] | None = None,
) -> dict[str, Any]:
    """Write a candidate as the report has it; scores and gates are precision at coverage, macro F1 and ECE."""
    row = ("support", "predicted", "precision", "recall", "f1")
    column = ("lower", "upper", "count", "meanConfidence", "accuracy")
    named = dict(zip(LIMITS, scores, strict=True))
    return {
        "passed": passed,
        "reason": reason,
        "threshold": threshold,
        "thresholdSplit": "validation",
        "scoredSplit": "test",
        "selection": {
            **dict(zip(("total", "accepted", "coverage", "precisionAtCoverage"), selection, strict=True)),
            "optimism": dict(zip(("coverage", "precisionAtCoverage"), optimism, strict=True)),
        },
        "total": total,
        "accepted": accepted,
        "abstentions": None
        if abstentions is None
        else dict(zip(("no-suggestion", "low-confidence"), abstentions, strict=True)),
        "coverage": coverage,
        **named,
        "excludedClasses": excluded,
        "perClass": None
        if per_class is None
        else {label: dict(zip(row, values, strict=True)) for label, values in per_class.items()},
        "confusion": confusion,
        "bins": None if bins is None else [dict(zip(column, values, strict=True)) for values in bins],
        "gates": {
            name: {
                "value": named[name],
                "limit": limit,
                "direction": direction,
                "passed": passes,
                "reason": "not-measured" if named[name] is None else None,
            }
            for (name, (limit, direction)), passes in zip(LIMITS.items(), gates, strict=True)
        },
        "strata": None,
    }


GO = {
    "egret-mini": _candidate(
        passed=False,
        reason=None,
        threshold=0.849,
        selection=(16, 11, 0.6875, 0.8181818181818182),
        optimism=(-0.22916666666666666, 0.09090909090909091),
        total=24,
        accepted=22,
        abstentions=(0, 2),
        coverage=0.9166666666666666,
        scores=(0.7272727272727273, 0.6458462172747887, 0.22845454545454547),
        gates=(False, False, False),
        excluded=[],
        per_class={
            "1": (1, 0, None, 0.0, 0.0),
            "2": (3, 4, 0.5, 0.6666666666666666, 0.5714285714285714),
            "3": (3, 3, 0.3333333333333333, 0.3333333333333333, 0.3333333333333333),
            "4": (5, 6, 0.6666666666666666, 0.8, 0.7272727272727273),
            "5": (5, 4, 1.0, 0.8, 0.8888888888888888),
            "6": (3, 3, 1.0, 1.0, 1.0),
            "7": (2, 2, 1.0, 1.0, 1.0),
        },
        confusion={
            "1->2": 1,
            "2->2": 2,
            "2->3": 1,
            "3->2": 1,
            "3->3": 1,
            "3->4": 1,
            "4->3": 1,
            "4->4": 4,
            "5->4": 1,
            "5->5": 4,
            "6->6": 3,
            "7->7": 2,
        },
        bins=[(0.9, 1.0, 22, 0.9557272727272728, 0.7272727272727273)],
    ),
    "heron-1": _candidate(
        passed=False,
        reason=None,
        threshold=0.66,
        selection=(16, 14, 0.875, 0.8571428571428571),
        optimism=(0.125, 0.023809523809523808),
        total=24,
        accepted=18,
        abstentions=(1, 5),
        coverage=0.75,
        scores=(0.8333333333333334, 0.8551587301587301, 0.10722222222222222),
        gates=(False, True, False),
        excluded=[7],
        per_class={
            "1": (2, 2, 1.0, 1.0, 1.0),
            "2": (2, 2, 1.0, 1.0, 1.0),
            "3": (3, 4, 0.75, 1.0, 0.8571428571428571),
            "4": (4, 4, 0.75, 0.75, 0.75),
            "5": (4, 2, 1.0, 0.5, 0.6666666666666666),
            "6": (3, 4, 0.75, 1.0, 0.8571428571428571),
        },
        confusion={"1->1": 2, "2->2": 2, "3->3": 3, "4->3": 1, "4->4": 3, "5->4": 1, "5->5": 2, "5->6": 1, "6->6": 3},
        bins=[
            (0.6, 0.7, 1, 0.68, 1.0),
            (0.7, 0.8, 8, 0.73875, 0.75),
            (0.8, 0.9, 5, 0.852, 1.0),
            (0.9, 1.0, 4, 0.945, 0.75),
        ],
    ),
    "heron-2": _candidate(
        passed=True,
        reason=None,
        threshold=0.81,
        selection=(16, 15, 0.9375, 1.0),
        optimism=(0.14583333333333334, 0.05263157894736842),
        total=24,
        accepted=19,
        abstentions=(4, 1),
        coverage=0.7916666666666666,
        scores=(0.9473684210526315, 0.9365079365079365, 0.033736842105263155),
        gates=(True, True, True),
        excluded=[],
        per_class={
            "1": (1, 1, 1.0, 1.0, 1.0),
            "2": (3, 3, 1.0, 1.0, 1.0),
            "3": (2, 1, 1.0, 0.5, 0.6666666666666666),
            "4": (4, 5, 0.8, 1.0, 0.8888888888888888),
            "5": (5, 5, 1.0, 1.0, 1.0),
            "6": (3, 3, 1.0, 1.0, 1.0),
            "7": (1, 1, 1.0, 1.0, 1.0),
        },
        confusion={"1->1": 1, "2->2": 3, "3->3": 1, "3->4": 1, "4->4": 4, "5->5": 5, "6->6": 3, "7->7": 1},
        bins=[(0.8, 0.9, 6, 0.8593333333333333, 0.8333333333333334), (0.9, 1.0, 13, 0.9626923076923077, 1.0)],
    ),
}
BLOCKED = {
    "ece-just-over": _candidate(
        passed=False,
        reason=None,
        threshold=0.95,
        selection=(3, 3, 1.0, 0.6666666666666666),
        optimism=(0.0, -0.23333333333333334),
        total=40,
        accepted=40,
        abstentions=(0, 0),
        coverage=1.0,
        scores=(0.9, 0.8, 0.050025),
        gates=(True, True, False),
        excluded=[],
        per_class={"1": (5, 5, 0.6, 0.6, 0.6), "2": (10, 10, 0.8, 0.8, 0.8), "3": (25, 25, 1.0, 1.0, 1.0)},
        confusion={"1->1": 3, "1->2": 2, "2->1": 2, "2->2": 8, "3->3": 25},
        bins=[(0.9, 1.0, 40, 0.950025, 0.9)],
    ),
    "macro-f1-under": _candidate(
        passed=False,
        reason=None,
        threshold=0.95,
        selection=(2, 2, 1.0, 0.5),
        optimism=(0.0, -0.4),
        total=20,
        accepted=20,
        abstentions=(0, 0),
        coverage=1.0,
        scores=(0.9, 0.7222222222222222, 0.05),
        gates=(True, False, True),
        excluded=[],
        per_class={
            "4": (17, 19, 0.8947368421052632, 1.0, 0.9444444444444444),
            "5": (3, 1, 1.0, 0.3333333333333333, 0.5),
        },
        confusion={"4->4": 17, "5->4": 2, "5->5": 1},
        bins=[(0.9, 1.0, 20, 0.95, 0.9)],
    ),
    "mostly-silent": _candidate(
        passed=False,
        reason="no-cut-clears-floor",
        threshold=None,
        selection=(4, None, None, None),
        optimism=(None, None),
        total=2,
    ),
    "never-tested": _candidate(
        passed=False,
        reason="no-test-records",
        threshold=0.9,
        selection=(3, 2, 0.6666666666666666, 1.0),
        optimism=(None, None),
        total=0,
        accepted=0,
        abstentions=(0, 0),
        coverage=None,
        scores=(None, None, None),
        gates=(False, False, False),
        excluded=[],
        per_class={},
        confusion={},
        bins=[],
    ),
    "never-validated": _candidate(
        passed=False,
        reason="no-validation-records",
        threshold=None,
        selection=(0, None, None, None),
        optimism=(None, None),
        total=3,
    ),
    "precision-just-under": _candidate(
        passed=False,
        reason=None,
        threshold=0.9,
        selection=(3, 3, 1.0, 0.6666666666666666),
        optimism=(0.0, -0.22807017543859648),
        total=19,
        accepted=19,
        abstentions=(0, 0),
        coverage=1.0,
        scores=(0.8947368421052632, 0.8944444444444445, 0.005263157894736842),
        gates=(False, True, True),
        excluded=[],
        per_class={
            "3": (10, 10, 0.9, 0.9, 0.9),
            "4": (9, 9, 0.8888888888888888, 0.8888888888888888, 0.8888888888888888),
        },
        confusion={"3->3": 9, "3->4": 1, "4->3": 1, "4->4": 8},
        bins=[(0.9, 1.0, 19, 0.9, 0.8947368421052632)],
    ),
    "shy-on-test": _candidate(
        passed=False,
        reason="nothing-accepted",
        threshold=0.8,
        selection=(3, 2, 0.6666666666666666, 1.0),
        optimism=(0.6666666666666666, None),
        total=3,
        accepted=0,
        abstentions=(1, 2),
        coverage=0.0,
        scores=(None, None, None),
        gates=(False, False, False),
        excluded=[3, 4, 6],
        per_class={},
        confusion={},
        bins=[],
    ),
}


def _judge(path: Path) -> Report:
    return evalkit.compare(path, min_coverage="0.5")


def _candidates(report: Report) -> dict[str, dict[str, Any]]:
    found = {one.pop("model"): one for one in report.to_dict()["candidates"]}
    assert list(found) == sorted(found)
    return found


def _near(found: Any, expected: Any) -> bool:
    """Tell whether two numbers are the same but for the rounding of either."""
    return found is None if expected is None else bool(found == pytest.approx(expected, rel=0, abs=1e-12))


@pytest.fixture(scope="module")
def real() -> Report:
    """Judge the real predictions, once."""
    return _judge(FIXTURES / "real" / "selective.jsonl")


@pytest.mark.parametrize("model", GO)
def test_go_candidates(model: str) -> None:
    """Every number of every candidate is the definition's, rounded once: equal to the last bit."""
    assert _candidates(_judge(SELECTIVE / "go.jsonl"))[model] == GO[model]


def test_go_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """GO when at least one candidate passes, which is recommended; the evidence is the file as stored."""
    monkeypatch.chdir(SELECTIVE)
    report = evalkit.compare("go.jsonl", min_coverage="0.5", synthetic=True).to_dict()
    candidates = report.pop("candidates")
    assert [one["model"] for one in candidates] == ["egret-mini", "heron-1", "heron-2"]
    assert report == {
        "schema": "evalkit-selective-v1",
        "synthetic": True,
        "run": None,
        "verdict": "GO",
        "recommended": "heron-2",
        "minCoverage": 0.5,
        "limits": {"macroF1": 0.8, "precisionAtCoverage": 0.9, "ece": 0.05},
        "bins": 10,
        "policy": None,
        "evidence": [
            {
                "name": "go.jsonl",
                "bytes": 20739,
                "sha256": "3f4e1813957fcecd44a173e024c94eef6e842b2d0def68274ec3c9e174e2451c",
                "records": 144,
                "convertedFrom": None,
            }
        ],
    }


@pytest.mark.parametrize("model", BLOCKED)
def test_blocked_candidates(model: str) -> None:
    """On the line passes, just over does not; what cannot be measured is null, and its gate fails as not measured."""
    assert _candidates(_judge(SELECTIVE / "blocked.jsonl"))[model] == BLOCKED[model]


def test_blocked_verdict() -> None:
    """BLOCKED when no candidate passes: nobody is recommended, and the candidates that can be judged still are."""
    report = _judge(SELECTIVE / "blocked.jsonl")
    assert (report.verdict, report.recommended) == ("BLOCKED", None)
    assert {one.model: one.reason for one in report.candidates} == {
        "ece-just-over": None,
        "macro-f1-under": None,
        "mostly-silent": "no-cut-clears-floor",
        "never-tested": "no-test-records",
        "never-validated": "no-validation-records",
        "precision-just-under": None,
        "shy-on-test": "nothing-accepted",
    }


@pytest.mark.parametrize(
    ("splits", "reason"),
    [
        (["train"], "no-validation-records"),
        (["train", "test"], "no-validation-records"),
        (["validation"], "no-test-records"),
        (["validation", "test"], "no-cut-clears-floor"),
    ],
)
def test_the_first_reason_that_applies(splits: list[str], reason: str, tmp_path: Path) -> None:
    """Of several reasons the first is given: no validation records, no test records, no cut, nothing accepted."""
    lines = (SELECTIVE / "blocked.jsonl").read_text(encoding="utf-8").splitlines()
    silent = [re.sub(r'"prediction":\{.*?\}', '"prediction":null', line) for line in lines]
    kept = [line for line in silent if any(f'"split":"{split}"' in line for split in splits)]
    path = tmp_path / "silent.jsonl"
    path.write_text("".join(re.sub('"model":"[^"]*"', '"model":"m"', line) + "\n" for line in kept), encoding="utf-8")
    report = _judge(path)
    assert [(one.model, one.reason, one.passed) for one in report.candidates] == [("m", reason, False)]


def test_a_blocked_candidate_does_not_hide_another() -> None:
    """Candidates are judged apart: beside those that do not pass, one that does keeps its numbers."""
    together = evalkit.compare([SELECTIVE / "blocked.jsonl", SELECTIVE / "go.jsonl"], min_coverage="0.5")
    assert (together.verdict, together.recommended) == ("GO", "heron-2")
    assert _candidates(together) == GO | BLOCKED


def test_leaked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A contributor in two splits is refused over all models together, leaks first, naming the earlier line as well."""
    monkeypatch.chdir(SELECTIVE)
    with pytest.raises(Refusal) as refused:
        evalkit.compare("leaked.jsonl", min_coverage="0.5")
    place, key = "leaked.jsonl:5: split:", "d00000000000000a"
    assert str(refused.value).splitlines() == [
        f"{place} contributor {key} is in test here and in validation at leaked.jsonl:1 [leak]",
        f'{place} cannot be re-derived: the key {key} belongs in validation; found "test" [split-not-derived]',
    ]


def test_real_verdict(real: Report) -> None:
    """On predictions of real models, verdict, recommendation and thresholds are those of the definitions."""
    assert (real.verdict, real.recommended) == ("GO", "gaussian-naive-bayes")
    assert {one.model: one.threshold for one in real.candidates} == {
        "gaussian-naive-bayes": 1.0,
        "logistic-c0.002": 0.32481,
        "random-forest-200": 0.45,
    }
    assert [(one.bytes, one.records, one.sha256) for one in real.evidence] == [
        (587705, 3795, "e0ae2d5022490f3ee21691e8d9c3b5b7cf52cc1307037014133cdd242e15d93c")
    ]


@pytest.mark.parametrize("model", REAL["candidates"])
def test_real_selection(model: str, real: Report) -> None:
    """The report shows validation at the threshold, and how much better it looked there than on test."""
    expected = REAL["candidates"][model]
    validation, test = expected["validation"], expected["test"]
    found = _candidates(real)[model]
    assert _near(found["threshold"], expected["threshold"])
    assert found["selection"]["total"] == validation["total"]
    assert found["selection"]["accepted"] == validation["accepted"]
    for name in ("coverage", "precisionAtCoverage"):
        assert _near(found["selection"][name], validation[name])
        assert _near(found["selection"]["optimism"][name], validation[name] - test[name])


@pytest.mark.parametrize("model", REAL["candidates"])
def test_real_metrics(model: str, real: Report) -> None:
    """Every test metric of predictions of real models, per class and per bin too, is the definition's."""
    expected = REAL["candidates"][model]["test"]
    found = _candidates(real)[model]
    assert found["total"] == expected["total"]
    assert found["accepted"] == expected["accepted"]
    assert found["abstentions"] == {
        "no-suggestion": expected["noSuggestion"],
        "low-confidence": expected["lowConfidence"],
    }
    for name in ("coverage", "precisionAtCoverage", "macroF1", "ece"):
        assert _near(found[name], expected[name])
    assert found["excludedClasses"] == expected["excludedClasses"]
    assert found["confusion"] == expected["confusion"]
    assert list(found["perClass"]) == list(expected["perClass"])
    for label, row in expected["perClass"].items():
        assert set(found["perClass"][label]) == set(row)
        assert all(_near(found["perClass"][label][name], value) for name, value in row.items())
    assert len(found["bins"]) == len(expected["bins"])
    for one, row in zip(found["bins"], expected["bins"], strict=True):
        assert (one["lower"], one["upper"]) == (row["index"] / 10, (row["index"] + 1) / 10)
        assert one["count"] == row["count"]
        assert all(_near(one[name], row[name]) for name in ("accuracy", "meanConfidence"))


@pytest.mark.parametrize("model", REAL["candidates"])
def test_real_gates(model: str, real: Report) -> None:
    """Each gate of a real candidate says what the definitions say, and all three must pass."""
    expected = REAL["candidates"][model]
    found = _candidates(real)[model]
    assert {name: gate["passed"] for name, gate in found["gates"].items()} == expected["gates"]
    assert all(gate["value"] == found[name] for name, gate in found["gates"].items())
    assert found["passed"] is expected["passed"]


def test_each_file_of_a_rule_is_named_after_it() -> None:
    """There is a refused dump for every rule about content, and the README says that all of them are invented."""
    assert sorted({path.name.partition(".")[0] for path in (SELECTIVE / "refused").iterdir()}) == [
        *("byte-order-mark", "compressed-data", "confidence", "duplicate-key", "encoding", "json", "leak"),
        *("missing-field", "model", "nesting", "no-records", "nul", "object", "predicted", "prediction", "split"),
        *("split-not-derived", "subject-key", "surrogate", "truth"),
    ]
    text = (FIXTURES / "README.md").read_text(encoding="utf-8")
    assert "**Everything in `selective/` and `cases/` is invented.**" in text


def test_invented_keys_are_no_key_of_the_real_data() -> None:
    """No contributor of an invented dump is one of another data set."""
    invented, others = (
        {key for path in folder.rglob("*.jsonl") for key in re.findall(rb'"subjectKey":"(\w+)"', path.read_bytes())}
        for folder in (SELECTIVE, FIXTURES / "real")
    )
    assert len(invented) > 50
    assert not invented & others
