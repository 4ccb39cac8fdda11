"""A metric may not be worse than on an earlier night by more than a margin, and a limit that was loosened is said."""

from __future__ import annotations

import json
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest
from nights import DIGITS, job, night, vectors
from support import BLOCKED, judged

from evalkit import nightly
from evalkit.metric import Direction
from evalkit.nights.held import Night, baseline_held, limits_held
from evalkit.nights.job import Amount, Baseline, Task
from evalkit.nights.numbers import Number
from evalkit.nights.settings import changes
from evalkit.nights.verdict import Held

NIGHTS = ("2026-01-28", "2026-01-29", "2026-01-30", "2026-01-31")


def number(metric: str, value: float | None, model: str | None = None, ratio: tuple[int, int] | None = None) -> Number:
    """Return a number; where it is a ratio, with its terms."""
    top, bottom = (None, None) if ratio is None else (Decimal(ratio[0]), Decimal(ratio[1]))
    direction: Direction = "lower" if metric in ("ece", "nll", "OCR CER") else "higher"
    return Number(metric, model, value, top, bottom, 10, direction, None if value is not None else "no-cases")


def held(
    kind: str, metric: str, margin: str, now: list[Number], before: list[Number] | None, **recommended: str
) -> list[Held]:
    """Hold a night against an earlier one."""
    amount = Amount(margin, Fraction(margin))
    task = Task("t", kind, {}, baseline=Baseline("last-go", {metric: amount}))  # type: ignore[arg-type]
    old = None if before is None else Night(NIGHTS[0], before, recommended.get("then"))
    return list(baseline_held(task, Night(NIGHTS[1], now, recommended.get("tonight")), old))


@pytest.mark.parametrize(
    ("metric", "before", "now", "margin", "limit", "passed"),
    [
        ("accuracy", (10, 10), (9, 10), "0.1", 0.9, True),  # exactly on the line
        ("accuracy", (10, 10), (9, 10), "0.0999999999999999999", 0.9, False),
        ("accuracy", (1, 3), (2, 6), "0", 1 / 3, True),
        ("accuracy", (333333, 1000000), (1, 3), "0", 0.333333, True),
        ("accuracy", (1, 2), (1, 1), "0", 0.5, True),  # better is never worse
        ("ece", (1, 20), (6, 100), "0.01", 0.06, True),
        ("ece", (1, 20), (61, 1000), "0.01", 0.06, False),
        ("ece", (1, 20), (0, 1), "0", 0.05, True),
    ],
)
def test_a_margin_is_exact_and_knows_the_better_side(
    metric: str, before: tuple[int, int], now: tuple[int, int], margin: str, limit: float, passed: bool
) -> None:
    """Ratios are compared as fractions: higher metrics may fall, lower ones rise, by the margin and not a hair more."""
    old, new = (number(metric, top / bottom, ratio=(top, bottom)) for top, bottom in (before, now))
    (found,) = held("evaluate", metric, margin, [new], [old])
    assert (found.limit, found.passed, found.baseline, found.margin) == (limit, passed, NIGHTS[0], margin)


def test_a_number_without_terms_is_taken_as_its_decimal_on_both_nights() -> None:
    """14/17 is stored as 0.8235294117647058, which is less: the same value is no fall, whoever has terms."""
    whole, text = number("accuracy", 14 / 17, ratio=(14, 17)), number("accuracy", 14 / 17)
    for pair in ((whole, text), (text, whole), (text, text)):
        (found,) = held("evaluate", "accuracy", "0", [pair[0]], [pair[1]])
        assert found.passed is True


def test_without_an_earlier_go_nothing_is_kept_back() -> None:
    """The first night has nothing to compare with: the gate says so, and neither passes nor fails."""
    (found,) = held("evaluate", "accuracy", "0.1", [number("accuracy", 0.5)], None)
    assert (found.passed, found.reason, found.limit) == (None, "no-earlier-go", None)


@pytest.mark.parametrize("before", [[], [number("accuracy", None)]], ids=["absent", "null"])
def test_a_baseline_that_lacks_the_metric_compares_nothing(before: list[Number]) -> None:
    """Where the earlier night has no such value the gate says so; a limit is what holds a new metric."""
    (found,) = held("evaluate", "accuracy", "0.1", [number("accuracy", 0.5)], before)
    assert (found.passed, found.reason, found.value) == (None, "baseline-lacks-metric", 0.5)


@pytest.mark.parametrize("now", [[], [number("accuracy", None)]], ids=["absent", "null"])
def test_what_was_measured_and_no_longer_is_fails(now: list[Number]) -> None:
    """A value that the baseline has and this night lacks is a failure, and no reason to pass."""
    (found,) = held("evaluate", "accuracy", "1", now, [number("accuracy", 0.5)])
    assert (found.passed, found.reason, found.value, found.baseline_value) == (False, "not-measured", None, 0.5)


def test_models_are_compared_each_with_itself() -> None:
    """A model that one night lacks is named: a new one has no baseline, one that is gone fails."""
    now = [number("accuracy", 0.5, "a"), number("accuracy", 0.9, "c")]
    before = [number("accuracy", 0.5, "a"), number("accuracy", 0.9, "b")]
    found = held("evaluate", "accuracy", "0", now, before)
    assert [(one.model, one.passed, one.reason) for one in found] == [
        ("a", True, None),
        ("b", False, "not-measured"),
        ("c", None, "baseline-lacks-metric"),
    ]


def test_compare_compares_what_would_be_released() -> None:
    """The recommended candidate is held against the recommended one of the baseline, whatever each is called."""
    now, before = [number("ece", 0.04, "new"), number("ece", 0.01, "old")], [number("ece", 0.03, "old")]
    (found,) = held("compare", "ece", "0.005", now, before, tonight="new", then="old")
    assert (found.model, found.value, found.baseline_value, found.limit, found.passed) == (
        "new",
        0.04,
        0.03,
        0.035,
        False,
    )
    (found,) = held("compare", "ece", "0.005", now, before, then="old")
    assert (found.passed, found.reason) == (None, "nothing-recommended")


def test_of_rankings_only_the_candidate_is_held() -> None:
    """The lexical and dense systems are there to be compared with; a gate is about the candidate."""
    systems = [
        number("Recall@10", value, name) for name, value in (("lexical", 0.1), ("dense", 0.2), ("candidate", 0.9))
    ]
    task = Task("t", "measure", {}, gates={"Recall@10": Amount("0.85", Fraction(17, 20))})
    (found,) = limits_held(task, Night(NIGHTS[0], systems))
    assert (found.model, found.passed) == ("candidate", True)


def test_the_last_go_is_the_baseline_and_a_blocked_night_is_not(tmp_path: Path) -> None:
    """macro-F1 is 1, then blocked, then 38/39: the third night is compared with the first, 0.01 below 1 is too far."""
    for date, lines in zip(NIGHTS, (judged("a", right=10), BLOCKED, judged("a", right=19, wrong=1)), strict=False):
        night(tmp_path, date, lines)
    tight = 'baseline = { against = "last-go", margins = { macroF1 = "0.01" } }\n'
    path = job(tmp_path, DIGITS + tight)
    assert [nightly(path, date).code for date in NIGHTS[:3]] == [0, 3, 3]
    stored = json.loads((tmp_path / f"store/evaluation=digits/date={NIGHTS[2]}/verdict.json").read_text())
    assert stored["verdict"] == "BLOCKED"
    assert stored["gates"][-1] == {
        "gate": "baseline",
        "metric": "macroF1",
        "model": "a",
        "value": 38 / 39,
        "limit": 0.99,
        "direction": "higher",
        "passed": False,
        "reason": None,
        "baseline": NIGHTS[0],
        "baseline_value": 1.0,
        "margin": "0.01",
    }
    summary = (tmp_path / f"store/night={NIGHTS[2]}/summary.md").read_text()
    assert f"| macroF1, at most 0.01 worse than 1.0000 on {NIGHTS[0]} | a | 0.9744 | ≥ 0.99 | failed |" in summary
    path.write_text(path.read_text().replace('"0.01"', '"0.03"'))
    run = nightly(path, NIGHTS[2], replace=True)
    assert run.code == 0
    assert f"- loosened since {NIGHTS[1]}: baseline.margins.macroF1: 0.01 → 0.03" in run.summary
    assert f"- loosened since {NIGHTS[2]}: baseline.margins.macroF1: 0.01 → 0.03" in run.summary
    assert run.summary.splitlines()[2] == "**Limits were loosened:** digits. See below."


def test_a_pinned_night_is_the_baseline_whatever_came_after(tmp_path: Path) -> None:
    """Small falls add up against the last GO, and not against a date; a date without results is refused."""
    text = """
[[evaluation]]
name = "vectors"
kind = "evaluate"
predictions = ["p.jsonl"]
gold = ["g.jsonl"]
baseline = { against = "2026-01-28", margins = { accuracy = "0.1" } }
"""
    path = job(tmp_path, text.replace('"2026-01-28"', '"last-go"'))
    codes = []
    for date, right in zip(NIGHTS, (10, 9, 8, 8), strict=True):
        vectors(tmp_path, right, of=10)
        codes.append(nightly(path, date).code)
    assert codes == [0, 0, 0, 0]
    pinned = job(tmp_path, text)
    assert nightly(pinned, NIGHTS[3], replace=True).code == 3
    for date in (NIGHTS[0], "2026-01-01"):
        refusal = nightly(pinned, date, replace=True)["vectors"].refusal
        assert refusal is not None
        assert refusal.violations[0].rule == "baseline-missing"


@pytest.mark.parametrize(
    ("setting", "before", "now", "kind"),
    [
        ("min_coverage", "0.5", "0.4", "loosened"),
        ("min_coverage", "0.5", "0.6", "tightened"),
        ("contract.limits.macroF1", "0.80", "0.79", "loosened"),
        ("contract.limits.ece", "0.05", "0.06", "loosened"),
        ("contract.limits.ece", "0.05", "0.04", "tightened"),
        ("contract.bins", "10", "20", "changed"),
        ("contract.splits.rule", "key", "declared", "loosened"),
        ("baseline.margins.ece", "0.01", "0.02", "loosened"),
        ("baseline.margins.ece", "0.01", None, "loosened"),
        ("baseline.margins.ece", None, "0.01", "tightened"),
        ("baseline.against", "last-go", "2026-01-01", "changed"),
        ("policy.confidenceFloor", "0.8", "0.7", "loosened"),
        ("policy.confidenceFloor", "0.8", None, "loosened"),
        ("policy.acceptedQuality", "good", "good, fair", "loosened"),
        ("policy.acceptedQuality", "good, fair", "good", "tightened"),
        ("policy.acceptedQuality", "good", "fair", "changed"),
    ],
)
def test_which_way_a_setting_moved(setting: str, before: str | None, now: str | None, kind: str) -> None:
    """A setting is loosened where more passes than before; where neither can be told, it has changed."""
    old, new = ({"kind": "compare"} | ({} if text is None else {setting: text}) for text in (before, now))
    ((found,),) = (changes(old, new, NIGHTS[0]),)
    assert (found.setting, found.before, found.now, found.kind, found.since) == (setting, before, now, kind, NIGHTS[0])


@pytest.mark.parametrize(
    ("kind", "setting", "before", "now", "moved"),
    [
        ("evaluate", "sum_tolerance", "0.001", "0.01", "loosened"),
        ("evaluate", "gates.accuracy", "0.9", "0.8", "loosened"),
        ("evaluate", "gates.nll", "0.5", "0.6", "loosened"),
        ("measure", "gates.OCR CER", "0.5", None, "loosened"),
        ("measure", "gates.OCR CER", "0.5", "0.4", "tightened"),
    ],
)
def test_which_way_a_setting_of_other_kinds_moved(
    kind: str, setting: str, before: str, now: str | None, moved: str
) -> None:
    """The better side of a metric decides, kind by kind; a gate that is gone lets all pass."""
    new = {"kind": kind} | ({} if now is None else {setting: now})
    (found,) = changes({"kind": kind, setting: before}, new, NIGHTS[0])
    assert found.kind == moved


def test_numbers_that_are_written_otherwise_are_no_change() -> None:
    """0.80 and 0.8 are one limit."""
    assert (
        changes(
            {"kind": "compare", "contract.limits.ece": "0.80"},
            {"kind": "compare", "contract.limits.ece": "0.8"},
            NIGHTS[0],
        )
        == ()
    )


def test_a_loosened_contract_is_said_on_the_night_that_it_is_first_used(tmp_path: Path) -> None:
    """The night after the limit was lowered says so; the night after that has nothing to say."""
    for date in NIGHTS[:3]:
        night(tmp_path, date)
    (tmp_path / "c.toml").write_text('[limits]\nmacroF1 = "0.80"\n')
    path = job(tmp_path, DIGITS + 'contract = "c.toml"\n')
    assert "loosened" not in nightly(path, NIGHTS[0]).summary
    (tmp_path / "c.toml").write_text('[limits]\nmacroF1 = "0.10"\n')
    assert f"- loosened since {NIGHTS[0]}: contract.limits.macroF1: 0.80 → 0.10" in nightly(path, NIGHTS[1]).summary
    assert "loosened" not in nightly(path, NIGHTS[2]).summary


def test_a_loosened_limit_cannot_hide_behind_a_second_replacement(tmp_path: Path) -> None:
    """The settings of every run that was replaced are kept, and the night goes on saying what was loosened since."""
    night(tmp_path, NIGHTS[0])
    path = job(tmp_path, DIGITS)
    nightly(path, NIGHTS[0])
    path.write_text(path.read_text().replace('"0.5"', '"0.1"'))
    nightly(path, NIGHTS[0], replace=True)
    night(tmp_path, NIGHTS[0], judged("alpha", right=11))
    run = nightly(path, NIGHTS[0], replace=True)
    assert f"- loosened since {NIGHTS[0]}: min_coverage".replace("_", "\\_") + ": 0.5 → 0.1" in run.summary


def test_a_default_that_is_left_is_told_from_what_takes_its_place(tmp_path: Path) -> None:
    """Settings hold the defaults: a wider tolerance is loosened; the default written out is the same."""
    text = """
[[evaluation]]
name = "vectors"
kind = "evaluate"
predictions = ["p.jsonl"]
gold = ["g.jsonl"]
"""
    vectors(tmp_path, 9, of=10)
    nightly(job(tmp_path, text), NIGHTS[0])
    written = job(tmp_path, text + "bins = 10\nmax_gold = 10\nsum_tolerance = 0.001\n")
    assert nightly(written, NIGHTS[0])["vectors"].state == "unchanged"
    found = nightly(job(tmp_path, text + "sum_tolerance = 0.1\n"), NIGHTS[1])["vectors"].verdict
    assert found is not None
    assert [(one.setting, one.before, one.now) for one in found.loosened] == [("sum_tolerance", "0.001", "0.1")]


def test_a_limit_is_held_against_the_exact_value(tmp_path: Path) -> None:
    """One of three is stored as 0.3333333333333333, below 0.33333333333333333, and is exactly above it."""
    vectors(tmp_path, 1, of=3)
    text = """
[[evaluation]]
name = "vectors"
kind = "evaluate"
predictions = ["p.jsonl"]
gold = ["g.jsonl"]
gates = { accuracy = "0.33333333333333333", balanced_accuracy = "0.33333333333333333" }
"""
    assert nightly(job(tmp_path, text), NIGHTS[0]).code == 0
    assert nightly(job(tmp_path, text.replace('33" }', '34" }')), NIGHTS[1]).code == 3
