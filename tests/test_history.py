"""History: every night's numbers, limits and verdicts, as rows for Python and the command line, and for other tools."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pytest
from nights import DIGITS, job, night, vectors
from support import BLOCKED, evalkit, judged

from evalkit import Refusal, history, nightly
from evalkit.charts.trend import MOST_MODELS, Point, trend, trend_svg

NIGHTS = ("2026-01-30", "2026-01-31", "2026-02-01")
VECTORS = """
[[evaluation]]
name = "001"
kind = "evaluate"
predictions = ["p.jsonl"]
gold = ["g.jsonl"]
synthetic = true
"""


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a store of three nights: GO, BLOCKED, and GO by a margin of 0.03; and one night of vectors."""
    folder = tmp_path_factory.mktemp("nights")
    for date, lines in zip(
        NIGHTS, (judged("alpha", right=10), BLOCKED, judged("alpha", right=19, wrong=1)), strict=True
    ):
        night(folder, date, lines)
    vectors(folder, right=9, of=10)
    margin = 'baseline = { against = "last-go", margins = { macroF1 = "0.03" } }\n'
    assert nightly(job(folder, DIGITS + margin, VECTORS), NIGHTS[0]).code == 0
    path = job(folder, DIGITS + margin)
    assert [nightly(path, date).code for date in NIGHTS[1:]] == [3, 0]
    return folder / "store"


def test_history_has_a_row_for_each_night_and_model(store: Path) -> None:
    """Values, limits and verdicts of a metric stand by night: the limit stated, and the one that the baseline gave."""
    found = history(store, evaluation="digits", metric="macroF1")
    assert [(r.date, r.model, r.value, r.limit, r.baseline_limit, r.passed, r.verdict) for r in found] == [
        (NIGHTS[0], "alpha", 1.0, 0.8, None, True, "GO"),
        (NIGHTS[1], "beta", 14 / 17, 0.8, None, True, "BLOCKED"),
        (NIGHTS[2], "alpha", 38 / 39, 0.8, 0.97, True, "GO"),
    ]
    assert {(r.sample_size, r.direction, r.synthetic, r.reason) for r in found[:1]} == {(10, "higher", False, None)}


def test_without_a_metric_those_with_a_gate_are_given(store: Path) -> None:
    """Of an evaluation with gates the gated metrics; of one without, all that have a better side."""
    metrics = {(r.evaluation, r.metric) for r in history(store)}
    assert {metric for name, metric in metrics if name == "digits"} == {"ece", "macroF1", "precisionAtCoverage"}
    assert {metric for name, metric in metrics if name == "001"} == {
        *("accuracy", "balanced_accuracy", "nll", "brier_multiclass", "brier_binary", "ece"),
    }


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"evaluation": "letters"}, "there is no such evaluation in the store; there are 001, digits"),
        ({"metric": "speed"}, "there is no such metric in the store; there are accuracy, balanced_accuracy"),
    ],
)
def test_what_the_store_does_not_have_is_refused(store: Path, asked: dict[str, str], message: str) -> None:
    """An unknown evaluation or metric is no empty history; what there is is named."""
    with pytest.raises(Refusal) as refused:
        history(store, **asked)
    assert refused.value.violations[0].rule == "no-history"
    assert refused.value.violations[0].message.startswith(message)


def test_a_folder_without_nights_is_no_store(tmp_path: Path) -> None:
    """So is one in which a run was killed before its first night was whole."""
    (tmp_path / "evaluation=digits").mkdir()
    with pytest.raises(Refusal, match="holds no results of nightly runs"):
        history(tmp_path)


def test_the_command_prints_a_table(store: Path) -> None:
    """A table for each evaluation and metric, a line a night and model, that fits 80 columns."""
    done = evalkit("history", store, "--evaluation", "digits", "--metric", "macroF1", cwd=store)
    assert (done.code, done.err) == (0, "")
    assert done.lines == [
        "digits: macroF1, higher is better",
        "date       model  value limit baseline  n passed verdict",
        "2026-01-30 alpha 1.0000   0.8        – 10 yes    GO",
        "2026-01-31 beta  0.8235   0.8        – 10 yes    BLOCKED",
        "2026-02-01 alpha 0.9744   0.8     0.97 20 yes    GO",
    ]


def test_the_command_prints_csv_and_json(store: Path) -> None:
    """Other formats have every column, values to the last digit, and nothing for what is not there."""
    asked = ("history", store, "--evaluation", "digits", "--metric", "ece")
    rows = list(csv.DictReader(io.StringIO(evalkit(*asked, "--format", "csv", cwd=store).out)))
    assert [(r["date"], r["value"], r["baseline_limit"], r["passed"]) for r in rows] == [
        (NIGHTS[0], "0.03", "", "true"),
        (NIGHTS[1], "0.27", "", "false"),
        (NIGHTS[2], "0.02", "", "true"),
    ]
    plain = json.loads(evalkit(*asked, "--format", "json", cwd=store).out)
    assert list(plain[0]) == [
        *("evaluation", "date", "metric", "model", "value", "reason", "sample_size", "direction"),
        *("limit", "baseline_limit", "passed", "verdict", "synthetic"),
    ]
    assert [one["value"] for one in plain] == [0.03, 0.27, 0.02]


def test_a_refusal_of_history_is_exit_2(store: Path) -> None:
    """A history that is not there ends with exit 2."""
    done = evalkit("history", "none", cwd=store)
    assert (done.code, done.out, "no-history" in done.err) == (2, "", True)


PATTERN = "evaluation=*/date=*/measurements.parquet"
WANTED = [("001", NIGHTS[0]), *(("digits", date) for date in NIGHTS)]


def test_polars_reads_the_history(store: Path) -> None:
    """The measurements are partitioned as Hive does; names that look like numbers stay texts with a schema."""
    schema = {"evaluation": pl.String(), "date": pl.Date()}
    found = pl.read_parquet(store / PATTERN, hive_partitioning=True, hive_schema=schema)
    rows = found.select("evaluation", pl.col("date").cast(pl.String)).unique().sort("evaluation", "date").rows()
    assert rows == WANTED


def test_duckdb_reads_the_history(store: Path) -> None:
    """DuckDB takes evaluation and date from the folders."""
    query = f"""
        SELECT DISTINCT evaluation, CAST(date AS VARCHAR)
        FROM read_parquet('{store}/{PATTERN}', hive_partitioning = true, hive_types = {{'evaluation': VARCHAR}})
        ORDER BY ALL
    """  # noqa: S608 - the path is the test's own
    assert duckdb.execute(query).fetchall() == WANTED


def test_pandas_reads_the_history(store: Path) -> None:
    """Pandas takes evaluation and date from the folders of a list of files."""
    files: Any = sorted(map(str, store.glob(PATTERN)))  # the stubs know one path only
    found = pd.read_parquet(files)
    assert sorted(set(zip(found["evaluation"].astype(str), found["date"].astype(str), strict=True))) == WANTED


def points(model: str, count: int = 3) -> list[Point]:
    """Return nights of a model, of which the second failed and the third was not judged."""
    said = (True, False, None)
    return [Point(f"2026-01-{day + 1:02}", model, 0.5, 0.4, None, said[day % 3]) for day in range(count)]


def test_a_trend_marks_each_night_by_its_verdict() -> None:
    """What passed, what failed and what no gate judged have marks of their own, and the limit is a line of steps."""
    layers = trend(points("a"))["layer"]
    marks = [(one["mark"].get("shape"), len(one["data"]["values"])) for one in layers if one["mark"]["type"] == "point"]
    assert marks == [("stroke", 3), ("triangle-down", 0), ("circle", 1), ("circle", 1), ("M-1,-1L1,1M1,-1L-1,1", 1)]
    steps = [one for one in layers if one["mark"].get("interpolate") == "step-after"]
    assert [one["value"] for one in steps[0]["data"]["values"]] == [0.4, 0.4, 0.4]


def test_a_trend_of_many_models_says_what_it_leaves_out() -> None:
    """No more models are drawn than can be told apart, and the chart says how many are not."""
    many = [point for number in range(MOST_MODELS + 2) for point in points(f"m{number}")]
    picture = trend_svg("t", "said", many, synthetic=True)
    assert "2 more models are not drawn" in picture
    assert "t, synthetic example" in picture
    assert trend_svg("t", "said", many, synthetic=True) == picture


def test_a_trend_of_one_night_without_a_value_is_drawn() -> None:
    """A night that measured nothing leaves a gap, and no number."""
    picture = trend_svg("t", "said", [Point("2026-01-01", "a", None, None, None, None)], synthetic=False)
    assert picture.startswith("<svg")
    assert "2026-01-01" in picture


def test_hostile_names_do_no_harm_to_a_trend() -> None:
    """Texts are data: markup in the name of a model is written as text."""
    picture = trend_svg("t", "said", points("<script>x</script>"), synthetic=False)
    assert "<script" not in picture
