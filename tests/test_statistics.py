"""How sure a selective report is: intervals by contributor, gates on bounds, contributor tallies."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support import GO, compare, dump, key, record

import evalkit
from evalkit import Refusal

SIX = [(2, 1), (2, 1), (2, 1), (2, 1), (2, 1), (4, 1)]
"""Test records and right ones of six contributors: precision 6/14, and each has right and wrong ones."""


def of_contributors(counts: Sequence[tuple[int, int]], model: str = "alpha") -> list[str]:
    """Write test records, all accepted, truth 4 throughout; what is wrong says 5. One of validation sets the cut."""
    lines = [record(model, "validation", 1, 4, 4, 0.9)]
    for number, (n, right) in enumerate(counts, 1):
        offered = [4] * right + [5] * (n - right)
        lines += [record(model, "test", number, 4, predicted, 0.9) for predicted in offered]
    return lines


def judged(folder: Path, lines: list[str], **options: Any) -> evalkit.Report:
    """Judge lines in a file."""
    return evalkit.compare(dump(folder / "dump.jsonl", lines), "0.5", **options)


def row(report: evalkit.Report, name: str, label: str | None = None, bin: int | None = None) -> Any:
    """Return the interval of one number of the first candidate."""
    assert report.statistics is not None
    rows = report.statistics.candidates[0].intervals
    assert rows is not None
    return next(one for one in rows if (one.name, one.label, one.bin) == (name, label, bin))


def test_a_share_by_contributor(tmp_path: Path) -> None:
    """The interval of a precision is Clopper and Pearson's of its records over the design effect, and of no more.

    Five contributors have z = 1/98, one has −5/98, which without them would move it by 1/84 and 5/70: the variance is
    5/6 · 41/7056, as of 33 records once few contributors are allowed for. There are 14, and so the interval is that of
    6 of 14: SciPy's beta.ppf gives 0.17661109 and 0.71139060, at one side 0.20607334 and 0.67497152.
    """
    found = row(judged(tmp_path, of_contributors(SIX), interval="0.95", min_contributors=6), "precisionAtCoverage")
    assert (found.value, found.method, found.contributors) == (0.42857142857142855, "exact-binomial", 6)
    assert (found.low, found.high) == pytest.approx((0.17661109, 0.7113906))
    assert (found.at_least, found.at_most) == pytest.approx((0.20607334, 0.67497152))
    assert found.effective_contributors == pytest.approx(196 / 36)
    assert found.largest_share == pytest.approx(4 / 14)


def test_no_error_seen(tmp_path: Path) -> None:
    """Where no error was seen the interval is exact, each contributor counting as one record: 0.025 ** (1/6) to 1."""
    found = row(judged(tmp_path, of_contributors([(2, 2)] * 6), interval="0.95", min_contributors=6), "recall", "4")
    assert (found.method, found.high) == ("exact-binomial", 1.0)
    assert found.low == pytest.approx(0.025 ** (1 / 6))


def test_no_error_seen_in_a_mean(tmp_path: Path) -> None:
    """Nor is a macro F1 of one certain where no error was seen: it is as unsure as the share of right ones."""
    found = row(judged(tmp_path, of_contributors([(2, 2)] * 6), interval="0.95", min_contributors=6), "macroF1")
    assert (found.value, found.method, found.high) == (1.0, "exact-binomial", 1.0)
    assert found.low == pytest.approx(0.025 ** (1 / 6))


def test_too_few_contributors(tmp_path: Path) -> None:
    """Under the floor of contributors there is no interval, and the reason is said; the floor is 30."""
    found = row(judged(tmp_path, of_contributors(SIX), interval="0.95"), "precisionAtCoverage")
    assert (found.value, found.low, found.high, found.method) == (0.42857142857142855, None, None, None)
    assert (found.reason, found.contributors) == ("insufficient-contributors", 6)


def test_every_metric_has_an_interval(tmp_path: Path) -> None:
    """Every metric of the split, of each label and of each bin has one."""
    report = judged(tmp_path, of_contributors(SIX), interval="0.95", min_contributors=2)
    assert report.statistics is not None
    rows = report.statistics.candidates[0].intervals or ()
    assert [(one.name, one.label, one.bin) for one in rows] == [
        ("coverage", None, None),
        ("precisionAtCoverage", None, None),
        ("macroF1", None, None),
        ("ece", None, None),
        ("precision", "4", None),
        ("recall", "4", None),
        ("f1", "4", None),
        ("precision", "5", None),
        ("recall", "5", None),
        ("f1", "5", None),
        ("meanConfidence", None, 9),
        ("accuracy", None, 9),
    ]
    undefined = [one.name for one in rows if one.value is None]
    assert undefined == ["recall"]  # of label 5, which is no truth


@pytest.mark.parametrize(
    ("right", "outcome", "reason", "verdict"),
    [(20, "passed", None, "GO"), (19, "insufficient", "insufficient-evidence", "BLOCKED")],
)
def test_gate_on_bound(tmp_path: Path, right: int, outcome: str, reason: str | None, verdict: str) -> None:
    """A gate on the bound passes where the bound does; what the point passes alone is not settled, and blocks.

    Of 20 of 20 right ones at 0.8 the lower bound is 0.05 ** (1/20) = 0.861; of 19 of 20 it is 0.784. The gate is 0.8.
    """
    contract = evalkit.Contract(
        limits={"macroF1": Decimal("0.1"), "precisionAtCoverage": Decimal("0.8"), "ece": Decimal("1.0")}
    )
    counts = [(1, 1)] * right + [(1, 0)] * (20 - right)
    options = {"gate_on": "bound", "min_contributors": 20, "contract": contract}
    report = judged(tmp_path, of_contributors(counts), **options)
    assert report.statistics is not None
    gate = (report.statistics.candidates[0].gates or {})["precisionAtCoverage"]
    assert (gate.outcome, gate.reason, report.verdict) == (outcome, reason, verdict)
    assert report["alpha"].gates["precisionAtCoverage"].passed  # the contract's gate asks for the point
    assert report["alpha"].reason == (None if verdict == "GO" else "insufficient-evidence")


def test_gate_on_bound_fails(tmp_path: Path) -> None:
    """Where the whole interval is beyond the limit the gate failed, and that is no lack of evidence."""
    report = judged(tmp_path, of_contributors([(10, 1)] * 20 + [(10, 2)] * 20), gate_on="bound")
    assert report.statistics is not None
    gate = (report.statistics.candidates[0].gates or {})["precisionAtCoverage"]
    assert (gate.outcome, gate.reason, report["alpha"].reason) == ("failed", None, None)


def test_minimum_support(tmp_path: Path) -> None:
    """Each label in truth must have so many accepted test records, else it is not settled."""
    assert judged(tmp_path, GO, min_support=10).verdict == "GO"
    report = judged(tmp_path, GO, min_support=11)
    assert report.statistics is not None
    gate = (report.statistics.candidates[0].gates or {})["support"]
    assert (gate.outcome, gate.value, gate.limit, gate.reason) == ("insufficient", 10.0, 11.0, "insufficient-support")
    assert (report.verdict, report["alpha"].reason) == ("BLOCKED", "insufficient-evidence")


def test_no_excluded_class(tmp_path: Path) -> None:
    """A label whose every record abstained blocks where none may."""
    lines = [*GO, record("alpha", "test", 99, 7, None)]
    assert judged(tmp_path, lines).verdict == "GO"
    report = judged(tmp_path, lines, no_excluded_class=True)
    assert report.statistics is not None
    gate = (report.statistics.candidates[0].gates or {})["excludedClasses"]
    assert (gate.outcome, gate.value, report.verdict) == ("failed", 1.0, "BLOCKED")


def test_nothing_asked_nothing_said(tmp_path: Path) -> None:
    """Without such options the report has no key of them; with them every other byte is as it was."""
    plain = judged(tmp_path, of_contributors(SIX))
    asked = judged(tmp_path, of_contributors(SIX), interval="0.95")
    assert "statistics" not in plain.to_dict()
    without = asked.to_dict()
    assert without.pop("statistics")["level"] == 0.95
    assert without == plain.to_dict()


def test_same_bytes_in_any_order(tmp_path: Path) -> None:
    """The same records give the same statistics in any order and any files, strata too."""
    lines = of_contributors([(5, 3), (4, 4), (3, 1), (6, 2), (1, 1), (2, 1), (7, 7), (3, 2)])
    lines = [json.dumps({**json.loads(line), "site": "ab"[n % 2]}) for n, line in enumerate(lines)]
    options: dict[str, Any] = {"interval": "0.9", "by": "site", "gate_on": "bound", "min_contributors": 2}
    texts = set()
    for seed in range(3):
        random.Random(seed).shuffle(lines)
        cut = 5 * seed + 1
        files = [dump(tmp_path / "1.jsonl", lines[:cut]), dump(tmp_path / "2.jsonl", lines[cut:])]
        report = evalkit.compare(files, "0.5", **options)
        texts.add(json.dumps(report.to_dict()["statistics"]))
    assert len(texts) == 1


def test_a_pile_that_is_merged_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are so many records that equal ones are merged while reading, nothing changes."""
    lines = of_contributors([(5, 3), (4, 4), (3, 1), (6, 2), (1, 1), (2, 1), (7, 7), (3, 2)])
    files = [dump(tmp_path / f"{place}.jsonl", lines[place::4]) for place in range(4)]
    options: dict[str, Any] = {"interval": "0.9", "min_contributors": 2, "baseline": None, "calibration": True}
    texts = set()
    for rows in (4_000_000, 3):
        monkeypatch.setattr("evalkit.reading.tally.COMPACT_ROWS", rows)
        texts.add(evalkit.compare(files, "0.5", **options).to_json())
    assert len(texts) == 1


def test_seed_draws_anew(tmp_path: Path) -> None:
    """Another seed draws other resamples: the interval of a resampled metric differs, that of a linearised does not."""
    counts = [(5, 3), (4, 4), (3, 1), (6, 2), (1, 1), (2, 1), (7, 7), (3, 2)]
    one, other = (
        judged(tmp_path, of_contributors(counts), interval="0.9", min_contributors=2, seed=seed) for seed in (0, 1)
    )
    assert row(one, "precisionAtCoverage") == row(other, "precisionAtCoverage")
    assert row(one, "ece") != row(other, "ece")


def test_measurements_have_their_intervals(tmp_path: Path) -> None:
    """In measurements.parquet a number has its low, high, level and method; what has no interval has none of them."""
    report = judged(tmp_path, of_contributors(SIX), interval="0.95", min_contributors=6)
    found = report.tables()["measurements"].filter(split="test")
    precision = found.row(by_predicate=(pl.col("name") == "precisionAtCoverage"), named=True)
    assert (precision["low"], precision["high"]) == pytest.approx((0.17661109, 0.7113906))
    assert (precision["level"], precision["method"]) == (0.95, "exact-binomial")
    total = found.row(by_predicate=(pl.col("name") == "total"), named=True)
    assert [total[name] for name in ("low", "high", "level", "method")] == [None] * 4


def test_contributor_tallies_are_written(tmp_path: Path) -> None:
    """The tallies by contributor are a table: what became of the records of each, by truth, prediction and bin."""
    lines = [*of_contributors([(2, 1)]), record("alpha", "test", 2, 4, None), record("alpha", "test", 2, 4, 4, 0.5)]
    judged(tmp_path, lines, interval="0.95").write_tables(tmp_path / "out")
    found = pl.read_parquet(tmp_path / "out" / "contributors.parquet").filter(split="test")
    keep = ["contributor", "truth", "predicted", "outcome", "bin", "n", "confidence"]
    rows = [(*one[:-1], float(one[-1])) for one in found.select(keep).iter_rows()]
    first, second = (int(key("test", number), 16) for number in (1, 2))
    assert rows == [
        (first, "4", "4", "accepted", 9, 1, 0.9),
        (first, "4", "5", "accepted", 9, 1, 0.9),
        (second, "4", None, "low-confidence", None, 1, 0.0),
        (second, "4", None, "no-suggestion", None, 1, 0.0),
    ]


def test_tallies_of_days_add_up(tmp_path: Path) -> None:
    """The tallies of two days, summed, are those of both days together."""
    monday, tuesday = (of_contributors(counts) for counts in ([(2, 1), (3, 3)], [(1, 1), (4, 0), (2, 2)]))

    def tallies(lines: list[str]) -> pl.DataFrame:
        return judged(tmp_path, lines, interval="0.95").tables()["contributors"]

    both = tallies([*monday, *tuesday])
    keys = [name for name in both.columns if name not in ("n", "confidence")]
    added = pl.concat([tallies(monday), tallies(tuesday)]).group_by(keys).agg(pl.col("n", "confidence").sum())
    assert added.sort(keys).select(both.columns).equals(both.sort(keys))


def test_declared_keys_are_not_written(tmp_path: Path) -> None:
    """Where a key is any text, the table has the first eight bytes of its SHA-256 as a number, and no text of it."""
    contract = evalkit.Contract(split_rule=None)
    lines = [
        json.dumps({**json.loads(line), "subjectKey": f"{json.loads(line)['split']} ann"})
        for line in of_contributors([(2, 1)])
    ]
    found = judged(tmp_path, lines, interval="0.95", contract=contract).tables()["contributors"]
    # printf 'test ann' | sha256sum | cut -c1-16
    assert found.filter(split="test")["contributor"].unique().to_list() == [0x0B630B5AF94A41CC]
    assert "ann" not in found.write_csv()


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"interval": "95"}, "interval"),
        ({"interval": "0.4"}, "interval"),
        ({"interval": "0.95", "replicates": 5}, "replicates"),
        ({"interval": "0.95", "seed": -1}, "seed"),
        ({"interval": "0.95", "min_contributors": 1}, "min-contributors"),
        ({"gate_on": "hope"}, "gate-on"),
        ({"seed": 3}, "seed"),
        ({"pair_by": "id"}, "pair-by"),
        ({"min_support": -1}, "min-support"),
    ],
)
def test_options_that_make_no_sense(tmp_path: Path, options: dict[str, Any], field: str) -> None:
    """An option out of range, or one that tunes what is not asked for, is refused by its name."""
    with pytest.raises(Refusal) as refused:
        judged(tmp_path, GO, **options)
    assert refused.value.violations[0].field == field


def test_without_numpy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where NumPy or SciPy is lacking, statistics are refused with what to install."""
    monkeypatch.setattr("evalkit.uncertainty.needs.find_spec", lambda name: None if name == "scipy" else object())
    with pytest.raises(Refusal, match=r'pip install "evalkit\[stats\]"'):
        judged(tmp_path, GO, interval="0.95")


def test_command_line(tmp_path: Path) -> None:
    """The command line says the intervals, what is not settled and why, and exits 3; exit codes are as ever."""
    file = dump(tmp_path / "dump.jsonl", of_contributors([(1, 1)] * 20))
    done = compare(file, "--min-coverage", "0.5", "--gate-on", "bound", "--min-contributors", "20", cwd=tmp_path)
    assert done.code == 3
    assert "95 % interval" in done.out
    # 0.05 ** (1/20)
    assert "precisionAtCoverage not settled, sure of at least 0.8609, asked 0.9" in done.out


EVERYTHING: dict[str, Any] = {
    "interval": "0.9",
    "min_contributors": 2,
    "seed": 3,
    "calibration": True,
    "curves": True,
    "certify": ["precision>=0.5@0.9", "precision>=0.999@0.9"],
    "baseline": "alpha",
    "margin": "0.1",
}
"""All that can be asked besides gates."""


def test_verified(tmp_path: Path) -> None:
    """A report with statistics is verified: they are made anew as it says, and every number is compared."""
    lines = [*of_contributors(SIX), *of_contributors([(2, 2)] * 6, "beta")]
    claim = judged(tmp_path, lines, **EVERYTHING).to_dict()
    again = {"min_coverage": "0.5"}
    found = evalkit.verify(claim, tmp_path / "dump.jsonl", **again)  # type: ignore[arg-type]
    assert (found.verified, found.differences) == (True, ())
    claim["statistics"]["candidates"][0]["intervals"][1]["low"] += 0.001
    claim["statistics"]["comparison"]["against"][0]["differences"][0]["high"] += 0.001
    found = evalkit.verify(claim, tmp_path / "dump.jsonl", **again)  # type: ignore[arg-type]
    assert [one.path for one in found.differences] == [
        "report.statistics.candidates[0].intervals[1].low",
        "report.statistics.comparison.against[0].differences[0].high",
    ]


def test_what_decides_must_be_stated(tmp_path: Path) -> None:
    """What gates asked for is not taken from a report: who verifies states it, or it differs."""
    counts = [(1, 1)] * 20
    claim = judged(tmp_path, of_contributors(counts), gate_on="bound", min_contributors=20).to_dict()
    stated: dict[str, Any] = {"min_coverage": "0.5", "gate_on": "bound", "min_contributors": 20}
    assert evalkit.verify(claim, tmp_path / "dump.jsonl", **stated).verified
    found = evalkit.verify(claim, tmp_path / "dump.jsonl", min_coverage="0.5")
    assert "report.statistics.gateOn" in [one.path for one in found.differences]
    assert not evalkit.verify(claim, tmp_path / "dump.jsonl", **{**stated, "min_contributors": 2}).verified


@pytest.mark.parametrize(
    ("key", "value"), [("level", "0.9"), ("replicates", 1000.0), ("seed", None), ("minContributors", True)]
)
def test_senseless_statistics_are_not_verified(tmp_path: Path, key: str, value: object) -> None:
    """A report that says no sense of how its statistics were made is refused, with the key."""
    claim = judged(tmp_path, of_contributors(SIX), interval="0.9").to_dict()
    claim["statistics"][key] = value
    with pytest.raises(Refusal) as refused:
        evalkit.verify(claim, tmp_path / "dump.jsonl", min_coverage="0.5")
    assert refused.value.violations[0].field == f"statistics.{key}"


def test_everything_on_the_terminal(tmp_path: Path) -> None:
    """The terminal says what was asked: calibration by chance, areas, certified thresholds, differences, cautions."""
    file = dump(tmp_path / "dump.jsonl", [*of_contributors(SIX), *of_contributors([(2, 2)] * 6, "beta")])
    options = ["--interval", "0.9", "--min-contributors", "2", "--calibration", "--curves", "--baseline", "alpha"]
    done = compare(file, "--min-coverage", "0.5", *options, "--certify", "precision>=0.999@0.9", cwd=tmp_path)
    assert "by chance" in done.out
    assert "AUGRC" in done.out
    assert "minus alpha" in done.out
    assert "no threshold can be certified for a precision of at least 0.999 with 90% confidence" in done.out
    assert "alpha was scored on 14 test records" in done.err or "beta was scored on 12 test records" in done.err


def test_a_plain_run_loads_no_statistics(tmp_path: Path) -> None:
    """What asks for no statistics needs neither NumPy nor SciPy, and does not wait for them."""
    dump(tmp_path / "dump.jsonl", GO)
    code = "import sys, evalkit; evalkit.compare('dump.jsonl', '0.5'); print({'numpy', 'scipy'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
