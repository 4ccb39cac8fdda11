"""Statistics at their edges: what is not measured, what is on the line, what the terminal says of it."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support import GO, compare, dump, record

import evalkit
from evalkit import Refusal
from evalkit.gates import Gate, judge_bound
from evalkit.metric import Direction
from evalkit.uncertainty.noninferiority import non_inferior


def judged(folder: Path, lines: list[str], **options: Any) -> evalkit.Report:
    """Judge lines in a file."""
    return evalkit.compare(dump(folder / "dump.jsonl", lines), "0.5", **options)


@pytest.mark.parametrize(
    ("limit", "direction", "bound", "outcome"),
    [
        ("0.05", "lower", 0.05, "passed"),  # as a double it is above 1/20
        ("0.05", "lower", 0.05000000000000001, "insufficient"),
        ("0.7", "higher", 0.7, "passed"),  # as a double it is below 7/10
        ("0.7", "higher", 0.6999999999999998, "insufficient"),
    ],
)
def test_a_bound_on_the_line_passes(limit: str, direction: Direction, bound: float, outcome: str) -> None:
    """Limits are inclusive: a bound that is written as the limit is passes, whatever its last bits are."""
    ends = (0.0, bound) if direction == "lower" else (bound, 1.0)
    assert judge_bound(Gate("any", direction, Fraction(limit)), Fraction(limit), *ends).outcome == outcome


@pytest.mark.parametrize("margin", ["0.05", "0.07", "0.1", "0.3"])
def test_a_bound_on_the_margin_does_not_pass(margin: str) -> None:
    """Worse by just the margin is not less: as decimals say it, although some of these doubles are below theirs."""
    end = float(margin)
    assert non_inferior(-end, 0.5, Fraction(margin), "higher").outcome == "insufficient"
    assert non_inferior(-0.5, end, Fraction(margin), "lower").outcome == "insufficient"
    assert non_inferior(-0.5, -end, Fraction(margin), "higher").outcome == "failed"


def test_conditions_of_what_was_not_measured(tmp_path: Path) -> None:
    """Without a threshold nothing was accepted or excluded: the conditions have no value, and say so."""
    lines = [*GO, record("beta", "test", 1)]  # no validation records, so no threshold
    report = judged(tmp_path, lines, min_support=1, no_excluded_class=True)
    assert report.statistics is not None
    gates = report.statistics.candidates[1].gates or {}
    assert [
        (gates[name].outcome, gates[name].value, gates[name].reason) for name in ("support", "excludedClasses")
    ] == [
        ("failed", None, "not-measured"),
        ("failed", None, "not-measured"),
    ]


def test_errors_that_were_not_seen_may_be_there(tmp_path: Path) -> None:
    """All 40 right at confidence 1: the error is 0, and no surer than the accuracy is, up to 1 - 0.025 ** (1/40)."""
    lines = [record("alpha", split, number, 4, 4, 1.0) for split in ("validation", "test") for number in range(40)]
    report = judged(tmp_path, lines, gate_on="bound")
    assert report.statistics is not None
    one = report.statistics.candidates[0]
    ece = next(row for row in one.intervals or () if row.name == "ece")
    assert (ece.value, ece.low) == (0.0, 0.0)
    assert (ece.high, ece.at_most) == pytest.approx((0.0880973, 0.0721575), abs=1e-6)  # the latter 1 - 0.05 ** (1/40)
    assert (one.gates or {})["ece"].outcome == "insufficient"  # 0.05 is asked


@pytest.mark.parametrize(("name", "value"), [("margin", "0.02"), ("pair_by", "id")])
def test_a_comparison_needs_a_baseline(tmp_path: Path, name: str, value: str) -> None:
    """What only a comparison can use is refused without a baseline, and not passed over."""
    with pytest.raises(Refusal, match=f"{name.replace('_', '-')}: is about a comparison"):
        judged(tmp_path, GO, interval="0.95", **{name: value})


def test_ids_that_no_two_share_are_told(tmp_path: Path) -> None:
    """Where both have ids and none is the other's, a warning says that nothing was paired."""
    lines = [
        f'{record(model, split, number)[:-1]}, "id": "{model}{split}{number}"}}'
        for model in ("alpha", "beta")
        for split in ("validation", "test")
        for number in range(3)
    ]
    report = judged(tmp_path, lines, baseline="alpha", pair_by="id")
    assert "no test record of beta has the same id as one of alpha" in report.warnings


def test_the_terminal_says_which_condition_is_not_met(tmp_path: Path) -> None:
    """The table shows gates on numbers; a condition that blocks is said below it."""
    file = dump(tmp_path / "dump.jsonl", [*GO, record("alpha", "test", 99, 7, None)])
    done = compare(file, "--min-coverage", "0.5", "--min-support", "11", "--no-excluded-class", cwd=tmp_path)
    assert done.code == 3
    assert "alpha: a label in truth has 0 accepted test records, asked 11 of each" in done.out
    assert "alpha: no class may be excluded, and 1 is" in done.out


def test_the_terminal_says_why_there_is_no_interval(tmp_path: Path) -> None:
    """A dash in place of an interval is explained, of a number and of a difference."""
    file = dump(tmp_path / "dump.jsonl", [*GO, *(line.replace("alpha", "beta") for line in GO)])
    options = ("--min-coverage", "0.5", "--interval", "0.95", "--baseline", "alpha")
    done = compare(file, *options, cwd=tmp_path)
    assert "alpha: no interval of coverage, precision, macro-F1, ECE (insufficient contributors)" in done.out
    assert (
        "beta: no interval of the difference in coverage, precision, macro-F1, ECE (insufficient contributors)"
        in done.out
    )
