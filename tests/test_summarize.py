"""``summarize``: the metrics of a report, over any groups of any frame."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracle import metrics

import evalkit

STRATA = Path(__file__).parent.parent / "data-fixtures" / "selective" / "strata.jsonl"
COLUMNS = [
    *("total", "accepted", "no_suggestion", "low_confidence", "coverage", "precision_at_coverage", "macro_f1", "ece"),
    "excluded_classes",
]
RECORDS = pl.DataFrame(
    {
        "model": ["m", "m", "m", "m", "n"],
        "site": ["a", "a", None, "b", "a"],
        "truth": [4, 4, 4, 5, 7],
        "predicted": [4, 5, 4, None, 7],
        "confidence": [0.9, 0.8, 0.7, None, 0.1],
    }
)


def test_every_metric_of_a_group() -> None:
    """One row a group, sorted; counts and metrics as defined, worked out by hand."""
    found = evalkit.summarize(RECORDS, threshold="0.8")
    assert found.columns == ["model", *COLUMNS]
    # m: 0.9 right and 0.8 wrong are accepted of four; f1 of 4 is 2·1/(2+1); bins 9 and 8: (|1−0.9| + |0−0.8|) / 2.
    assert found.row(0) == ("m", 4, 2, 1, 1, 0.5, 0.5, 2 / 3, 0.45, ["5"])
    assert found.row(1) == ("n", 1, 0, 0, 1, 0.0, None, None, None, ["7"])
    assert found.height == 2


def test_without_a_threshold_all_that_was_offered_is_accepted() -> None:
    """Also what was offered with no confidence at all."""
    records = pl.DataFrame({"truth": ["x"], "predicted": ["x"], "confidence": [0.0]})
    assert evalkit.summarize(records, by=()).row(0) == (1, 1, 0, 0, 1.0, 1.0, 1.0, 1.0, [])


def test_groups_are_any_columns_and_a_null_is_one() -> None:
    """Several columns, none, one that is no text; values keep their types, nulls come last."""
    found = evalkit.summarize(RECORDS, by=["site", "model"])
    assert found.select("site", "model", "total").rows() == [
        ("a", "m", 2),
        ("a", "n", 1),
        ("b", "m", 1),
        (None, "m", 1),
    ]
    assert evalkit.summarize(RECORDS, by=[]).select("total", "accepted").rows() == [(5, 4)]
    assert evalkit.summarize(RECORDS, by="truth").select("truth", "total").rows() == [(4, 3), (5, 1), (7, 1)]


def test_groups_that_python_cannot_tell_apart_stay_apart() -> None:
    """Two times one nanosecond apart are two groups."""
    times = pl.Series([1, 2], dtype=pl.Int64).cast(pl.Datetime("ns"))
    records = RECORDS.head(2).with_columns(time=times)
    assert evalkit.summarize(records, by="time")["total"].to_list() == [1, 1]


def test_a_threshold_for_each_model_also_holds_where_models_are_pooled() -> None:
    """Each record is held against the threshold of its own model, whatever the groups."""
    thresholds = {"m": 0.9, "n": "0.1", "unused": 1}
    found = evalkit.summarize(RECORDS, by="site", threshold=thresholds)
    assert found.select("site", "total", "accepted").rows() == [("a", 3, 2), ("b", 1, 0), (None, 1, 0)]


@pytest.mark.parametrize("by", [(), ("site",), ("meta.device",), ("site", "meta.device")])
def test_the_numbers_are_those_of_compare(by: tuple[str, ...]) -> None:
    """At the thresholds of a report, over the test split, each number is the report's to the last bit."""
    report = evalkit.compare(STRATA, "0.5", by=by)
    thresholds = {one.model: one.threshold for one in report.candidates if one.threshold is not None}
    records = evalkit.scan(STRATA, by=by).filter(pl.col("split") == "test")
    labelled = records.with_columns(pl.col(by).fill_null("unlabelled")) if by else records
    found = evalkit.summarize(labelled, by=["model", *by], threshold=thresholds)
    expected = {}
    for one in report.candidates:
        places: list[Any] = [one] if not by else [s for s in one.strata or () if tuple(s.by) == by]
        for place in places:
            key = (one.model, *(place.by.values() if by else ()))
            counts = [place.abstentions["no-suggestion"], place.abstentions["low-confidence"]]
            numbers = [place.coverage, place.precision_at_coverage, place.macro_f1, place.ece]
            expected[key] = [place.total, place.accepted, *counts, *numbers, [str(c) for c in place.excluded_classes]]
    assert {row[: 1 + len(by)]: list(row[1 + len(by) :]) for row in found.iter_rows()} == expected
    assert len(expected) >= 2


def test_any_frame_and_any_spelling_of_labels_give_the_same() -> None:
    """Eager, lazy, pyarrow, pandas; labels as whole numbers, texts or categories; rows in any order."""
    expected = evalkit.summarize(RECORDS, threshold=0.8)
    texts = RECORDS.with_columns(pl.col("truth", "predicted").cast(pl.String))
    frames: list[Any] = [
        RECORDS.lazy(),
        RECORDS.to_arrow(),
        pa.Table.from_batches(RECORDS.to_arrow().to_batches()),
        texts,
        texts.with_columns(pl.col("truth", "predicted", "model").cast(pl.Categorical)),
        RECORDS.reverse(),
    ]
    for frame in frames:
        found = evalkit.summarize(frame, threshold=0.8)
        assert found.with_columns(pl.col("model").cast(pl.String)).equals(expected)
    numbers = dict.fromkeys(("truth", "predicted"), "Int64")
    frame = pd.DataFrame(RECORDS.to_dict(as_series=False)).astype(numbers)
    assert evalkit.summarize(frame, threshold=0.8).rows() == expected.rows()


@st.composite
def some_records(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Draw records as objects, confidences on the edges of bins among them."""
    confidence = st.one_of(st.sampled_from([0.0, 0.1, 0.3, 0.6, 0.7, 1.0]), st.floats(0, 1, width=32))
    offered = st.builds(lambda label, sure: {"bristolType": label, "confidence": sure}, st.integers(1, 7), confidence)
    truth = st.integers(1, 7).map(lambda label: {"bristolType": label})
    one = st.fixed_dictionaries({"truth": truth, "prediction": st.one_of(st.none(), offered)})
    return draw(st.lists(one, min_size=1, max_size=30))


@settings(max_examples=60, deadline=None)
@given(some_records(), st.sampled_from([0.0, 0.1, 0.3, 0.5, 0.6, 0.75, 1.0]), st.randoms())
def test_the_numbers_are_those_of_the_definition(records: list[dict[str, Any]], cut: float, rng: Any) -> None:
    """On random records each number is that of the oracle, written from the definitions alone, in any order."""
    rows = [
        (
            one["truth"]["bristolType"],
            *(
                (None, None)
                if one["prediction"] is None
                else (one["prediction"]["bristolType"], one["prediction"]["confidence"])
            ),
        )
        for one in records
    ]
    rng.shuffle(rows)
    schema = {"truth": pl.Int64, "predicted": pl.Int64, "confidence": pl.Float64}
    found = evalkit.summarize(pl.DataFrame(rows, schema=schema, orient="row"), by=(), threshold=Fraction(cut))
    told = metrics(records, cut)
    row = found.row(0, named=True)
    assert (row["total"], row["accepted"]) == (told["total"], told["accepted"])
    assert [row["coverage"], row["precision_at_coverage"], row["macro_f1"], row["ece"]] == [
        told[name] for name in ("coverage", "precisionAtCoverage", "macroF1", "ece")
    ]
    assert row["excluded_classes"] == [str(label) for label in told["excludedClasses"]]


def _refused(records: pl.DataFrame, **asked: Any) -> str:
    with pytest.raises(evalkit.Refusal) as refused:
        evalkit.summarize(records, **asked)
    return str(refused.value)


def test_a_frame_that_holds_no_records_in_this_sense_is_refused() -> None:
    """Missing columns, wrong types and values that no record may have are named, with their row."""
    told = _refused(RECORDS.drop("truth"), by="place")
    assert told.splitlines() == [
        "frame: truth: is not there; the columns are model, site, predicted, confidence [missing-column]",
        "frame: place: is not there; the columns are model, site, predicted, confidence [missing-column]",
    ]
    floats = RECORDS.with_columns(pl.col("truth").cast(pl.Float64), confidence=pl.lit("0.9"))
    assert _refused(floats).splitlines() == [
        "frame: truth: must be texts or whole numbers; it is Float64 [column-type]",
        "frame: confidence: must be floats; it is String [column-type]",
    ]
    assert "model: must be plain values; it is List(String) [column-type]" in _refused(
        RECORDS.with_columns(model=pl.concat_list("model"))
    )
    spoiled = RECORDS.with_columns(
        truth=pl.Series([None, 4, 4, 5, 7], dtype=pl.Int64),
        predicted=pl.Series([4, None, None, 5, 7], dtype=pl.Int64),
        confidence=pl.Series([0.9, 0.8, 0.7, float("nan"), 1.5]),
    )
    assert _refused(spoiled).splitlines() == [
        "frame: row 1: truth: is null; each record needs its true label [truth]",
        "frame: row 2: predicted: and confidence must both be there, or both be null; 2 rows in all [prediction]",
        "frame: row 4: confidence: must be a number from 0 to 1; 2 rows in all [confidence]",
    ]


def test_thresholds_and_bins_that_mean_nothing_are_refused() -> None:
    """A percentage, a model without a threshold, no bins."""
    assert 'threshold: must be a decimal from 0 to 1; for 80 percent write 0.8; found "80%"' in _refused(
        RECORDS, threshold="80%"
    )
    assert _refused(RECORDS, threshold={"m": 0.5, "n": None}) == (
        "threshold: has none for n; leave out records of models that have no threshold [no-threshold]"
    )
    assert "model: is null; each record needs the name of a model" in _refused(
        RECORDS.with_columns(model=pl.lit(None, pl.String)), threshold={"m": 0.5}
    )
    assert _refused(RECORDS, bins=0) == "bins: must be a whole number from 1 to 1000 [bins]"


def test_a_group_may_have_the_name_of_any_column() -> None:
    """Columns called like those that are made on the way do no harm."""
    records = RECORDS.with_columns(group=pl.lit(1), n=pl.lit(2), usable=pl.lit(value=False), group_0=pl.lit(3))
    found = evalkit.summarize(records, by=["group", "n", "usable", "group_0"])
    assert found.row(0)[:6] == (1, 2, False, 3, 5, 4)
