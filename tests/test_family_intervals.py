"""Intervals of evaluations and measurements: against other tools, by hand, and the same in any order and any split."""

from __future__ import annotations

import hashlib
import json
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from typer.testing import CliRunner

import evalkit
from evalkit.cli import app
from evalkit.families.observations.sure import Told as Measured
from evalkit.report import document as document_of
from evalkit.uncertainty.row_keys import GROUPS, MAX_ROWS, row_keys
from evalkit.uncertainty.told import Told
from evalkit.verification.jev_bridge import as_jev_bridge

ROOT = Path(__file__).parent.parent
REAL = ROOT / "data-fixtures" / "real"
STORED: dict[str, Any] = json.loads((ROOT / "tests" / "agreement" / "family_intervals.json").read_bytes())
HEADER = {"run_id": "r", "model_revision": "m", "dataset_id": "d", "synthetic": True, "split": "held_out"}


def real_gold() -> pl.DataFrame:
    """Return the gold rows with a writer, as ``tests/agreement/family_intervals.py`` makes it up."""
    number = pl.col("id").str.extract("([0-9]+)").cast(pl.Int64) // 15
    return pl.read_ndjson(REAL / "gold.jsonl").with_columns(writer="w" + number.cast(pl.String))


def intervals(report: evalkit.Evaluation, family: str | None = None) -> dict[tuple[Any, ...], Told]:
    """Return the intervals of the one model, over all families or of one."""
    assert report.statistics is not None
    (one,) = report.statistics.candidates
    found = one.intervals if family is None else next(s.intervals for s in one.strata if s.by == {"family": family})
    return {(told.name, told.label, told.bin): told for told in found}


@cache
def real(by: str) -> evalkit.Evaluation:
    """Return the evaluation of the real predictions."""
    cluster_by = None if by == "row" else by
    asked: dict[str, Any] = {"interval": "0.95", "cluster_by": cluster_by, "replicates": 4000}
    return evalkit.evaluate(REAL / "predictions.jsonl", real_gold(), **asked)


@pytest.mark.parametrize("by", ["row", "writer"])
def test_evaluation_intervals_are_those_of_leaving_out_clusters(by: str) -> None:
    """Intervals of means and bins are those of leaving out a cluster at a time; of recalls, of effective trials."""
    found = intervals(real(by))
    keys = {
        "nll": ("nll", None, None),
        "brier": ("brier_multiclass", None, None),
        "recall false": ("per_class_recall", "false", None),
        "mean confidence 9": ("mean_confidence", None, 9),
    }
    for name, key in keys.items():
        told = found[key]
        assert (told.value, told.low, told.high) == pytest.approx(tuple(STORED["evaluation"][by][name]), abs=1e-9)
        assert told.method == ("exact-binomial" if name == "recall false" else "cluster-t")


@pytest.mark.parametrize("by", ["row", "writer"])
def test_the_calibration_error_is_resampled_as_by_whole_clusters(by: str) -> None:
    """The Poisson bootstrap and the multinomial one, with 4,000 and 20,000 resamples, agree within resampling noise."""
    told = intervals(real(by))["ece", None, None]
    value, low, high = STORED["evaluation"][by]["ece"]
    assert told.method == "cluster-bootstrap"
    assert told.value == pytest.approx(value, abs=1e-12)
    assert (told.low, told.high) == pytest.approx((low, high), abs=0.05 * (high - low))


def test_a_recall_without_an_error_has_the_exact_interval() -> None:
    """35 of 35 rows right, each for itself: the interval of Clopper and Pearson, as SciPy gives it."""
    found = intervals(real("row"))["per_class_recall", "0", None]
    assert found.method == "exact-binomial"
    assert (found.value, found.low, found.high) == pytest.approx(tuple(STORED["measurement"]["35 of 35"]), abs=1e-12)


def four(gold: str = "aabb") -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return four predictions of ``a`` and their gold; the first two rows are one writer's, and so are the others."""
    ids = ["1", "2", "3", "4"]
    vectors = {"id": ids, "option_ids": [["a", "b"]] * 4, "probabilities": [[0.75, 0.25]] * 4}
    return pl.DataFrame(vectors), pl.DataFrame({"id": ids, "gold": list(gold), "writer": [7, 7, 8, 9]})


def test_variance_by_hand() -> None:
    """Four rows, two right: the variance of accuracy is 4/3 · 4 · (1/2)² / 4² = 1/12, t of 3 degrees 3.182446.

    Fewer than five rows are wrong, so the exact interval holds: with the design effect (1/4) / (1/12) = 3 rows count,
    of which 1.5 are right. The Brier terms are 1/8, 1/8, 9/8, 9/8: off their mean by 1/2 each, variance 1/12 as well.
    """
    found = intervals(evalkit.evaluate(*four(), interval="0.95", min_contributors=2))
    accuracy, brier = found["accuracy", None, None], found["brier_multiclass", None, None]
    assert (accuracy.value, accuracy.method, accuracy.contributors) == (0.5, "exact-binomial", 4)
    assert brier.value == 0.625
    half = 3.182446305284263 * math.sqrt(1 / 12)
    assert (brier.low, brier.high) == pytest.approx((0.0, 0.625 + half), abs=1e-9)
    assert (brier.at_least, brier.at_most) == pytest.approx(
        (0.0, 0.625 + 2.3533634348018264 * math.sqrt(1 / 12)), abs=1e-9
    )


def test_clusters_by_hand() -> None:
    """Writers with 2, 1 and 1 rows: their Brier residuals add to -1, 1/2 and 1/2.

    Left out they move the mean by 1/2, 1/6 and 1/6: the variance is 2/3 · (1/4 + 1/36 + 1/36) = 11/54. Effective
    writers are 16 / 6, the largest share is 1/2, and SciPy's t.ppf(0.95, 5 / 3) is 3.3599716363312084.
    """
    report = evalkit.evaluate(*four(), interval="0.9", cluster_by="writer", min_contributors=2)
    brier = intervals(report)["brier_multiclass", None, None]
    assert (brier.contributors, brier.effective_contributors, brier.largest_share) == (3, 16 / 6, 0.5)
    assert brier.high == pytest.approx(0.625 + 3.3599716363312084 * math.sqrt(11 / 54), abs=1e-9)
    assert report.statistics is not None
    assert (report.statistics.clustered_by, report.statistics.level) == ("writer", 0.9)


def test_under_the_floor_there_is_no_interval() -> None:
    """Fewer clusters than 30 give a value, no interval, and the reason; clusters all alike give no variance."""
    told = intervals(evalkit.evaluate(*four(), interval="0.95"))["nll", None, None]
    assert (told.low, told.high, told.method, told.reason) == (None, None, None, "insufficient-contributors")
    alike = intervals(evalkit.evaluate(*four("aaaa"), interval="0.95", min_contributors=2))
    assert alike["nll", None, None].reason == "no-variance"
    right = alike["balanced_accuracy", None, None]
    assert right.method == "exact-binomial"
    assert right.low == pytest.approx(0.025 ** (1 / 4))


def test_what_was_not_measured_has_the_reason_of_the_metric() -> None:
    """Rows without a vector give no calibration; a family without a prediction gives nothing, and neither is zero."""
    labels = pl.DataFrame({"id": ["1", "2"], "option_ids": [["a", "b"]] * 2, "label": ["a", "b"]})
    gold = pl.DataFrame({"id": ["1", "2", "3"], "gold": ["a", "a", "b"], "family": ["x", "x", "y"]})
    report = evalkit.evaluate(labels, gold, interval="0.95", calibration=True, min_contributors=2)
    found = intervals(report)
    assert (found["ece", None, None].value, found["ece", None, None].reason) == (None, "nothing-scored")
    assert found["accuracy", None, None].method == "exact-binomial"
    assert intervals(report, "y")["accuracy", None, None].reason == "nothing-predicted"
    assert evalkit.verify(report.to_dict(), labels, gold).verified


def test_the_report_without_statistics_keeps_its_bytes() -> None:
    """Asked for, statistics are one more key at the end; every byte before it stays."""
    plain = evalkit.evaluate(*four())
    asked = evalkit.evaluate(*four(), interval="0.95", min_contributors=2)
    assert "statistics" not in plain.to_dict()
    assert list(asked.to_dict())[-1] == "statistics"
    assert asked.to_json().startswith(plain.to_json().removesuffix("\n}\n") + ',\n  "statistics": {')


def test_measurements_have_the_ends_and_contributors_add_up() -> None:
    """The table of measurements has the interval of each number; the sums of contributors are those of the report."""
    report = evalkit.evaluate(*four(), interval="0.95", cluster_by="writer", min_contributors=2)
    tables = report.tables()
    row = tables["measurements"].filter(pl.col("stratum").is_null(), name="nll").row(0, named=True)
    told = intervals(report)["nll", None, None]
    assert (row["low"], row["high"], row["level"], row["method"]) == (told.low, told.high, 0.95, "cluster-t")
    found = tables["contributors"].select("n", "correct", "brier").sum().row(0)
    assert tuple(map(float, found)) == (4.0, 2.0, 2.5)
    assert "contributors" not in evalkit.evaluate(*four()).tables()


def parts(frame: pl.DataFrame, seed: int) -> Iterator[pl.DataFrame]:
    """Shuffle rows and cut them into three."""
    order = list(range(frame.height))
    Random(seed).shuffle(order)
    shuffled = frame[order]
    yield from (shuffled[:7], shuffled[7:100], shuffled[100:])


@pytest.mark.parametrize("cluster_by", [None, "writer"])
def test_no_order_and_no_split_shows(cluster_by: str | None) -> None:
    """The same rows give the same statistics to the last bit, however they are ordered and cut."""
    predictions, gold = pl.read_ndjson(REAL / "predictions.jsonl"), real_gold()
    asked: dict[str, Any] = {"interval": "0.95", "cluster_by": cluster_by, "replicates": 200}
    whole = evalkit.evaluate(predictions, gold, **asked)
    cut = evalkit.evaluate(list(parts(predictions, 1)), list(parts(gold, 2)), **asked)
    assert whole.statistics == cut.statistics
    assert whole.tables()["contributors"].equals(cut.tables()["contributors"])


def test_many_rows_stand_in_groups() -> None:
    """Up to 65,536 rows are told apart; with one more they stand in 4,096 groups, told by the id alone."""
    ids = pl.select(pl.int_range(MAX_ROWS + 1).cast(pl.String)).to_series()
    assert row_keys(ids[:-1]).n_unique() == MAX_ROWS
    grouped = row_keys(ids)
    assert grouped.n_unique() == GROUPS
    assert grouped.max() == GROUPS - 1
    assert grouped.reverse().equals(row_keys(ids.reverse()))


@pytest.mark.parametrize("kind", ["jsonl", "parquet", "csv", "frame", "predictions"])
def test_the_field_is_read_the_same_in_every_format(kind: str, tmp_path: Path) -> None:
    """A whole number and the text of its digits are one cluster; the field stands in gold, or else in predictions."""
    predictions, gold = four()
    expected = evalkit.evaluate(predictions, gold, interval="0.95", cluster_by="writer", min_contributors=2).statistics
    texts = gold.with_columns(pl.col("writer").cast(pl.String))
    path = tmp_path / f"gold.{kind}"
    if kind == "predictions":
        predictions, given = predictions.with_columns(writer=gold["writer"]), gold.drop("writer")
        found = evalkit.evaluate(predictions, given, interval="0.95", cluster_by="writer", min_contributors=2)
        assert found.statistics == expected
        return
    if kind == "jsonl":
        mixed = [
            json.dumps({**row, "writer": str(row["writer"])} if i % 2 else row) for i, row in enumerate(gold.to_dicts())
        ]
        path.write_text("\n".join(mixed), "utf-8")
    elif kind == "parquet":
        gold.write_parquet(path)
    elif kind == "csv":
        gold.write_csv(path)
    source = texts if kind == "frame" else path
    found = evalkit.evaluate(predictions, source, interval="0.95", cluster_by="writer", min_contributors=2)
    assert found.statistics == expected


def spelled(writer: object, place: int) -> str:
    """Spell a gold row as JSON, in one of several ways."""
    row = {"id": f"r{place}", "gold": "a", "writer": writer}
    turned = dict(reversed(row.items())) if place % 3 == 0 else row
    return json.dumps(turned, ensure_ascii=place % 2 == 0, separators=(",", ":") if place % 5 == 0 else None)


WRITERS = ["ann", "Ärzte", 7, "7", "07", 0, -3, 10**17, 10**19, 'a "b"', "\\", "", "00000000000000ff", "ff", "FF" * 8]


def test_names_and_numbers_become_clusters_as_the_page_says(tmp_path: Path) -> None:
    """Sixteen hexadecimal digits are their number; any other text, and the digits of a number, go by their SHA-256."""
    rows = [WRITERS[place % len(WRITERS)] for place in range(300)]
    path = tmp_path / "gold.jsonl"
    path.write_text("\n".join(spelled(writer, place) for place, writer in enumerate(rows)), "utf-8")
    said = {"id": [f"r{place}" for place in range(300)], "option_ids": [["a"]] * 300, "label": ["a"] * 300}
    report = evalkit.evaluate(pl.DataFrame(said), path, interval="0.95", cluster_by="writer")
    expected: Counter[int] = Counter()
    for text in map(str, rows):
        digest = hashlib.sha256(text.encode("utf-8")).digest()[:8]
        expected[255 if text == "00000000000000ff" else int.from_bytes(digest, "big")] += 1
    found = report.tables()["contributors"].group_by("contributor").agg(pl.col("n").sum())
    assert dict(found.iter_rows()) == expected
    assert len(expected) == len(WRITERS) - 1  # 7 and "7" are one


def refused(**asked: Any) -> evalkit.Violation:
    """Return what the first violation is."""
    predictions, gold = asked.pop("sides", four())
    with pytest.raises(evalkit.Refusal) as caught:
        evalkit.evaluate(predictions, gold, **asked)
    return caught.value.violations[0]


def test_what_makes_no_sense_is_refused() -> None:
    """A field that is not there, not everywhere, or means something else; a value of another type; a lone option."""
    predictions, gold = four()
    lone = refused(interval="0.95", cluster_by="page")
    assert (lone.rule, lone.field, lone.line) == ("cluster-missing", "page", 1)
    some = gold.with_columns(writer=pl.Series([7, None, 8, 9]))
    partial = refused(interval="0.95", cluster_by="writer", sides=(predictions, some))
    assert (partial.rule, partial.field, partial.line) == ("cluster-missing", "writer", 2)
    assert refused(interval="0.95", cluster_by="family").rule == "cluster-by"
    assert refused(interval="0.95", cluster_by="row").rule == "cluster-by"
    halves = gold.with_columns(pl.col("writer").cast(pl.Float64))
    assert refused(interval="0.95", cluster_by="writer", sides=(predictions, halves)).rule == "column-type"
    assert refused(cluster_by="writer").field == "cluster-by"
    assert refused(interval="0.2").rule == "statistics"


def test_models_have_statistics_of_their_own() -> None:
    """Where predictions name models each has its statistics; strata are those of the families."""
    predictions, gold = four()
    named = pl.concat([predictions.with_columns(model=pl.lit(name)) for name in ("m1", "m2")])
    gold = gold.with_columns(family=pl.Series(["x", "x", "y", "y"]))
    report = evalkit.evaluate(named, gold, interval="0.95", min_contributors=2)
    assert report.statistics is not None
    assert [one.model for one in report.statistics.candidates] == ["m1", "m2"]
    assert [one.by for one in report.statistics.candidates[0].strata] == [{"family": "x"}, {"family": "y"}]
    assert report.statistics.candidates[0].strata[0].contributors == 2


def document(ocr: Sequence[Sequence[Any]] = (), queries: Sequence[Sequence[Any]] = ()) -> dict[str, Any]:
    """Return an observation document of pages with so many wrong signs, and of queries with a document at a rank."""
    pages = [
        {"case_id": f"{i}", "source_id": s, "reference": "a" * length, "output": "b" * wrong + "a" * (length - wrong)}
        for i, (s, length, wrong) in enumerate(ocr)
    ]
    asked = []
    for i, (source, rank) in enumerate(queries):
        ranking = [f"x{place}" for place in range(1, 13)]
        ranking[rank - 1] = "right"
        rankings = dict.fromkeys(("lexical", "dense", "candidate"), ranking)
        asked.append({"query_id": f"{i}", "source_id": source, "relevance": {"right": 1}, **rankings})
    sources = sorted({one[0] for one in (*ocr, *queries)})
    lists = {"ocr_cases": pages, "retrieval_queries": asked}
    return {**HEADER, "source_ids": sources, "development_source_ids": [], **lists}


def told(report: evalkit.MeasurementReport, name: str, system: str | None = None) -> Measured:
    """Return the interval of a measure over all cases."""
    assert report.statistics is not None
    return next(
        one for one in report.statistics.intervals if (one.name, one.system, one.stratum) == (name, system, None)
    )


def test_measurement_intervals_are_those_of_leaving_out_sources(tmp_path: Path) -> None:
    """CER is a ratio of sums by source, nDCG a mean over queries by source; where there is one source, by query."""
    plain = document(STORED["cases"], STORED["ranks"])
    report = evalkit.measure(plain, interval="0.95")
    rate, gain = told(report, "OCR CER"), told(report, "nDCG@10", "candidate")
    assert (rate.value, rate.low, rate.high) == pytest.approx(tuple(STORED["measurement"]["OCR CER"]), abs=1e-9)
    assert (rate.clustered_by, rate.contributors) == ("source", 40)
    by_source = tuple(STORED["measurement"]["nDCG@10 by source"])
    assert (gain.value, gain.low, gain.high) == pytest.approx(by_source, abs=1e-8)
    alone = document(queries=[["s", rank] for _, rank in STORED["ranks"]])
    one = told(evalkit.measure(alone, interval="0.95"), "nDCG@10", "candidate")
    assert (one.value, one.low, one.high) == pytest.approx(tuple(STORED["measurement"]["nDCG@10 by query"]), abs=1e-9)
    assert (one.clustered_by, one.contributors) == ("query", len(STORED["ranks"]))
    fidelity = told(report, "OCR fidelity")
    assert fidelity.low is not None
    assert rate.high is not None
    assert fidelity.low == pytest.approx(1 - rate.high)
    lines = tmp_path / "queries.jsonl"
    lines.write_text("\n".join(map(json.dumps, plain.pop("retrieval_queries"))), "utf-8")
    assert evalkit.measure(plain, retrieval=lines, interval="0.95").statistics == report.statistics


def test_measures_say_what_varies_as_one() -> None:
    """Units of work vary by date, a count has no interval; the order of cases does not matter."""
    path = ROOT / "data-fixtures" / "observations" / "synthetic.json"
    report = evalkit.measure(path, interval="0.95", min_contributors=2)
    assert told(report, "Queue completion").clustered_by == "date"
    count = told(report, "Incorrect accepted merges")
    assert (count.value, count.low, count.reason) == (1.0, None, "count")
    assert told(report, "Command fidelity").reason == "insufficient-contributors"
    assert any(one.startswith("Intervals say") for one in report.limitations)
    plain = json.loads(path.read_bytes())
    turned = {name: value[::-1] if isinstance(value, list) else value for name, value in plain.items()}
    assert evalkit.measure(turned, interval="0.95", min_contributors=2).statistics == report.statistics
    quiet = evalkit.measure(path)
    assert "statistics" not in quiet.to_dict()
    assert any(one.startswith("No uncertainty") for one in quiet.limitations)
    row = report.tables()["measurements"].filter(pl.col("stratum").is_null(), name="OCR CER").row(0, named=True)
    assert (row["low"], row["method"]) == (told(report, "OCR CER").low, "cluster-t")


def test_verification_makes_statistics_anew(tmp_path: Path) -> None:
    """Each number of the statistics is compared; a claim of other settings is made anew with these, and differs."""
    predictions, gold = four()
    claim = evalkit.evaluate(predictions, gold, interval="0.95", cluster_by="writer", min_contributors=2).to_dict()
    assert evalkit.verify(claim, predictions, gold).verified
    claim["statistics"]["candidates"][0]["intervals"][2]["high"] += 0.001
    (found,) = evalkit.verify(claim, predictions, gold).differences
    assert found.path == "report.statistics.candidates[0].intervals[2].high"
    claim["statistics"]["clustered_by"] = "row"
    assert not evalkit.verify(claim, predictions, gold).verified
    path = ROOT / "data-fixtures" / "observations" / "synthetic.json"
    measured = evalkit.measure(path, interval="0.9", min_contributors=2).to_dict()
    assert evalkit.verify(measured, path).verified
    measured["statistics"]["level"] = 0.8
    assert evalkit.verify(measured, path).differing > 1
    for name, wrong in (("level", 1), ("level", 2.0), ("seed", "0"), ("replicates", 3), ("clustered_by", None)):
        with pytest.raises(evalkit.Refusal) as caught:
            evalkit.verify({**measured, "statistics": {**measured["statistics"], name: wrong}}, path)
        assert caught.value.violations[0].rule in ("verify-statistics", "statistics")


def test_statistics_of_another_program_are_a_difference() -> None:
    """A report of jev-bridge has no statistics; what one claims under that key is neither read nor made anew."""
    claim = {**document_of(as_jev_bridge(evalkit.evaluate(*four()))), "statistics": {"level": "high"}}
    assert [one.path for one in evalkit.verify(claim, *four()).differences] == ["report.statistics"]


def test_the_core_needs_no_statistics_library() -> None:
    """Without NumPy and SciPy an evaluation is made as ever, and one with intervals is refused."""
    code = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("numpy", "scipy"):
            raise ModuleNotFoundError(name=name)
sys.meta_path.insert(0, Absent())
import importlib.util
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, *more: None if name in ("numpy", "scipy") else found(name, *more)
import evalkit
observed = "data-fixtures/observations/synthetic.json"
real = ("data-fixtures/real/predictions.jsonl", "data-fixtures/real/gold.jsonl")
print(evalkit.evaluate(*real).overall.n_items, evalkit.measure(observed)["OCR CER"]["numerator"])
try:
    evalkit.evaluate(*real, interval="0.95")
except evalkit.Refusal as refusal:
    print(refusal.violations[0].rule)
"""
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.stdout.split() == ["641", "6", "stats-not-installed"], run.stderr


def shown(*words: str) -> str:
    """Return what a command prints."""
    found = CliRunner().invoke(app, [*words])
    assert found.exit_code == 0, found.output
    return found.stdout


def test_the_terminal_shows_each_number_with_its_interval() -> None:
    """Numbers over all families stand with their intervals, calibration beside chance; measures in their table."""
    sides = ("--predictions", str(REAL / "predictions.jsonl"), "--gold", str(REAL / "gold.jsonl"))
    out = shown("evaluate", *sides, "--interval", "0.95", "--calibration")
    assert "nll               0.2375 [0.2110, 0.2640]      628" in out
    assert "95% intervals, rows as they are" in out
    assert "0.1331    0.0281" in out
    path = str(ROOT / "data-fixtures" / "observations" / "synthetic.json")
    out = shown("measure", path, "--interval", "0.95", "--min-contributors", "2")
    assert "OCR CER                             0.1714 [0.0000, 0.5993]" in out
    assert "95% intervals, cases clustered by source, date" in out
    assert "no interval where there is a dash: insufficient-contributors, count" in out


def test_calibration_is_that_of_the_answer_and_of_every_class() -> None:
    """Four answers of 0.75, two right: the gap is 1/4; class b has 0.25 and is the truth twice: 1/4 too."""
    report = evalkit.evaluate(*four(), calibration=True)
    assert report.statistics is not None
    (one,) = report.statistics.candidates
    assert one.intervals == ()
    assert (one.calibration["top_label"]["records"], one.calibration["top_label"]["equal_width"]["plug_in"]) == (
        4,
        0.25,
    )
    classes = {row["label"]: row["plug_in"] for row in one.calibration["class_wise"]["classes"]}
    assert classes == {"a": 0.25, "b": 0.25}
    claim = report.to_dict()
    assert evalkit.verify(claim, *four()).verified
    claim["statistics"]["candidates"][0]["calibration"]["top_label"]["smooth"] += 0.01
    assert [one.path for one in evalkit.verify(claim, *four()).differences] == [
        "report.statistics.candidates[0].calibration.top_label.smooth"
    ]


def test_readiness_reads_an_evaluation_with_statistics() -> None:
    """Statistics change no answer about readiness."""
    plain = document(STORED["cases"]) | {"synthetic": False}
    answers = [evalkit.readiness(evalkit.measure(plain, interval=level).to_dict()) for level in (None, "0.95")]
    assert answers[0].conditions == answers[1].conditions
