"""What charts show and never show: bars only for what was measured, targets as targets, every text harmless."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import altair
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit import Refusal, evaluate, measure
from evalkit.charts import curve as curves
from evalkit.charts.bars import bars, inside
from evalkit.charts.confusion import confusion
from evalkit.charts.figures import figures
from evalkit.charts.grid import grid
from evalkit.charts.markdown import markdown
from evalkit.charts.model import Bin, Cell, Column, Curve, Grid, Measure, Part, Point, Reliability, Row, Subject
from evalkit.charts.page import page
from evalkit.charts.palette import BAR, DARK, INK, ON_BAR, PAPER, QUIET, STEPS, TARGET, on_step
from evalkit.charts.read import read
from evalkit.charts.reliability import reliability, small_multiples
from evalkit.charts.sheet import svg
from evalkit.charts.svg import draw
from evalkit.charts.vega import Spec

FIXTURES = Path(__file__).parent.parent / "data-fixtures" / "charts"
SVG = "{http://www.w3.org/2000/svg}"

Plain = dict[str, Any]

GONE = object()
"""Stands for a key that is taken away."""


def document(*metrics: Plain, **more: Any) -> Plain:
    """Write a measurement document."""
    return {"run_id": "r1", "model_revision": "m1", "synthetic": False, "metrics": list(metrics), **more}


def metric(name: str = "accuracy", value: float | None = 0.5, threshold: float | None = 0.9, **more: Any) -> Plain:
    """Write a metric object."""
    row = {"name": name, "value": value, "threshold": threshold, "sample_size": 4, "direction": "higher"}
    return {**row, **more}


def measurement(*metrics: Plain, **more: Any) -> Plain:
    """Return the measurement of the fixtures, with other metrics where some are given."""
    plain: Plain = json.loads((FIXTURES / "measurement.json").read_text("utf-8"))
    return {**plain, **({"metrics": list(metrics)} if metrics else {}), **more}


def drawn(plain: Plain) -> ET.Element:
    """Draw a document and parse the SVG."""
    return ET.fromstring(svg(read(plain)))  # noqa: S314 - our own


def texts(root: ET.Element) -> list[str]:
    """Return the texts that are painted, in order."""
    return [one.text or "" for one in root.iter(f"{SVG}text")]


def bar_widths(root: ET.Element) -> list[float]:
    """Return the widths of the bars of metrics, in pixels; a whole bar is 260 wide."""
    paths = [one.get("d", "") for one in root.iter(f"{SVG}path") if one.get("fill") == BAR]
    return [float(found[1]) for path in paths if (found := re.match(r"M256,[\d.]+h([\d.]+)v", path))]


def markers(root: ET.Element) -> int:
    """Count the markers of targets."""
    return sum(one.get("fill") == TARGET for one in root.iter(f"{SVG}path"))


# a row a metric


def test_a_bar_is_as_long_as_the_value_on_a_scale_from_0_to_1() -> None:
    """0.5 is half of the 260 pixels, 1.0 all of them."""
    assert bar_widths(drawn(document(metric(value=0.5), metric(value=1.0)))) == [130, 260]


def test_a_row_has_name_value_target_sample_size_direction_and_outcome() -> None:
    """Each of a row's facts is a text of its own."""
    row = metric("Recall@10", 0.75, 0.85, system="candidate", sample_size=1234)
    shown = texts(drawn(document(row)))
    assert {"Recall@10", "candidate", "0.7500", "≥ 0.85", "1,234", "higher", "missed"} <= set(shown)


def test_what_was_not_measured_is_said_and_has_no_bar() -> None:
    """Null is "not measured": no bar, and no number; the target stays a marker."""
    root = drawn(document(metric(value=None, sample_size=0, reason="no-cases")))
    assert bar_widths(root) == []
    assert texts(root).count("not measured") == 2
    assert "no cases" in texts(root)
    assert "0.0000" not in texts(root)
    assert markers(root) == 1


def test_a_measured_zero_is_a_zero() -> None:
    """0.0 is a number with a stroke where its bar begins, and not "not measured"."""
    root = drawn(document(metric(value=0.0)))
    assert {"0.0000", "measured: 0", "missed"} <= set(texts(root))
    assert "not measured" not in texts(root)
    strokes = [one for one in root.iter(f"{SVG}line") if one.get("stroke") == BAR]
    assert len(strokes) == 1


@pytest.mark.parametrize(("value", "shown"), [(1.37, "1.3700"), (1e308, "1e+308")])
def test_a_rate_above_1_keeps_its_number_and_its_bar_says_that_it_is_capped(value: float, shown: str) -> None:
    """The bar ends at 1, and says so."""
    root = drawn(document(metric("OCR WER", value, None, direction="lower")))
    assert bar_widths(root) == [260]
    assert {shown, f"bar capped at 1: {shown} is above it"} <= set(texts(root))


@pytest.mark.parametrize(
    "row",
    [
        metric("Incorrect accepted merges", 0, 0, direction="lower", review_complete=True),
        metric("Incorrect accepted merges", 1, 0, direction="lower", review_complete=True),
        metric("timeouts", 3, None),
        metric("timeouts", 1, None, kind="count"),
        metric("timeouts", 1, 0),
    ],
)
def test_a_count_has_no_bar(row: Plain) -> None:
    """It is a number and the words that it is a count; its target is no marker on a scale that it is not on."""
    root = drawn(document(row))
    assert bar_widths(root) == []
    assert markers(root) == 0
    assert {str(row["value"]), "a count: no bar"} <= set(texts(root))


def test_a_measurement_of_evalkit_writes_only_counts_whole() -> None:
    """There 1 is a count and 1.0 is all of a share; in what others write 1 may be either, and is drawn as a share."""
    rows = [metric("days", 1, None), metric("share", 1.0, None)]
    assert [one.scale for one in read(measurement(*rows)).parts[0].measures] == ["count", "fraction"]
    assert [one.scale for one in read(document(*rows)).parts[0].measures] == ["fraction", "fraction"]


def test_a_unit_makes_a_number_without_a_bar() -> None:
    """0.8 seconds is no share of anything."""
    root = drawn(document(metric("latency", 0.8, 1.5, unit="s")))
    assert bar_widths(root) == []
    assert {"0.8000", "≥ 1.50", "not on a 0–1 scale: no bar"} <= set(texts(root))


def test_days_observed_are_said_beside_the_value() -> None:
    """Queue completion over few days says little."""
    assert "3 days observed" in texts(drawn(document(metric("Queue completion", days_observed=3))))


def test_a_target_is_never_drawn_as_a_result() -> None:
    """A target alone makes a marker and no bar, whatever it is."""
    rows = [metric(value=None, threshold=target) for target in (0.0, 0.5, 1.0)]
    root = drawn(document(*rows))
    assert bar_widths(root) == []
    assert markers(root) == 3


def test_a_target_off_the_scale_has_no_marker() -> None:
    """It is written, and not drawn at the scale's end."""
    root = drawn(document(metric(threshold=90.0)))
    assert markers(root) == 0
    assert "≥ 90.00" in texts(root)


def test_a_negative_value_has_no_bar() -> None:
    """It keeps its number."""
    root = drawn(document(metric(value=-0.25)))
    assert bar_widths(root) == []
    assert {"-0.2500", "below 0: no bar"} <= set(texts(root))


@pytest.mark.parametrize(
    ("row", "outcome"),
    [
        (metric(value=0.9), "met"),
        (metric(value=0.8999999), "missed"),
        (metric(value=0.9, direction="lower"), "met"),
        (metric(value=0.91, direction="lower"), "missed"),
        (metric(threshold=None), "no target"),
        (metric(direction="none"), "no target"),
        (metric(value=None), "not measured"),
        # 2700000000000000299/3000000000000000333 is just under 9/10, and rounds to it
        (metric(value=0.9, numerator=2700000000000000299, denominator=3000000000000000333), "missed"),
        (metric("Incorrect accepted merges", 0, 0, direction="lower", review_complete=True), "met"),
        (metric("Incorrect accepted merges", 0, 0, direction="lower", review_complete=False), "missed"),
        (metric("Incorrect accepted merges", 0, 0, direction="lower"), "missed"),
    ],
)
def test_an_outcome_is_a_word(row: Plain, outcome: str) -> None:
    """Limits are inclusive and exact; no review, no pass; nothing measured, no outcome."""
    assert texts(drawn(document(row)))[-2:] != []
    assert outcome in texts(drawn(document(row)))
    others = {"met", "missed", "no target"} - {outcome}
    assert not others & set(texts(drawn(document(row))))


def test_outcomes_differ_in_shape() -> None:
    """Met, missed and neither differ in more than colour."""
    marks = [one["mark"] for one in bars([Measure("a", 1.0)])["layer"] if one["mark"].get("size") == 60]
    assert len({(mark["shape"], mark["filled"]) for mark in marks}) == 3


def test_a_value_near_its_target_is_told_from_it() -> None:
    """No rounding shows a missed target as met, or something as nothing."""
    shown = texts(drawn(document(metric(value=0.8999999), metric(value=0.99999999), metric(value=1e-9))))
    assert {"0.8999999", "0.99999999", "1e-09"} <= set(shown)


# the document


def test_a_synthetic_document_says_so_everywhere() -> None:
    """The words "synthetic example" are on the SVG, in its title, on the page and in the Markdown."""
    subject = read(document(metric(), synthetic=True))
    root = ET.fromstring(svg(subject))  # noqa: S314
    assert "synthetic example" in texts(root)
    assert root.findtext(f"{SVG}title") == "Measurement, synthetic example"
    assert '<p class="synthetic">synthetic example</p>' in page(subject)
    assert "**synthetic example**" in markdown(subject)
    assert any("synthetic" in one for one in subject.limitations)


@pytest.mark.parametrize("name", ["evaluation", "selective"])
def test_other_synthetic_reports_say_so_too(name: str) -> None:
    """Every schema has the flag."""
    plain = json.loads((FIXTURES / f"{name}.json").read_text("utf-8"))
    assert "synthetic example" in texts(drawn(plain))
    assert "synthetic example" not in texts(drawn({**plain, "synthetic": False}))


def test_limitations_are_printed() -> None:
    """Each on a line; where a document names none, that is said."""
    assert "• One language only." in texts(drawn(document(limitations=["One language only."])))
    assert "• The document names no limitations." in texts(drawn(document()))


def test_an_empty_document_is_still_readable() -> None:
    """No metrics: the head, the words, the limitations."""
    shown = texts(drawn(document()))
    assert {"Measurement", "run: r1", "no metrics", "Limitations"} <= set(shown)


SPELLINGS = [
    {"runId": "r", "modelRevision": "m", "synthetic": False},
    {"run-id": "r", "Model Revision": "m", "synthetic": False},
    {"run_identifier": "r", "model_version": "m", "synthetic": False},
]


@pytest.mark.parametrize("head", SPELLINGS, ids=lambda head: next(iter(head)))
def test_keys_may_be_spelled_in_other_ways(head: Plain) -> None:
    """Any case and any of `_`, `-`, space; a few other words; metrics by name instead of in a list."""
    row = {"observed": 0.5, "target": 0.4, "sampleSize": 3, "better": "Higher is better"}
    subject = read({**head, "metrics": {"exact match": row}})
    assert subject.facts[:2] == (("run", "r"), ("model revision", "m"))
    assert subject.parts[0].measures == (
        Measure("exact match", 0.5, direction="higher", limit=0.4, sample_size=3, met=True),
    )


def without(plain: Plain, key: str) -> Plain:
    """Leave a key out."""
    return {name: value for name, value in plain.items() if name != key}


REFUSED: dict[str, tuple[Plain, str]] = {
    "no flag": (without(document(), "synthetic"), "synthetic: is missing"),
    "flag is text": (document(synthetic="false"), 'synthetic: must be true or false; found "false"'),
    "flag is a number": (document(synthetic=0), "synthetic: must be true or false; found 0"),
    "no run": (without(document(), "run_id"), "run_id: is missing"),
    "blank model": (document(model_revision=" "), "model_revision: must be a text of more than white space"),
    "no metrics": (without(document(), "metrics"), "metrics: is missing"),
    "a metric is no object": (document(7), "metrics[0]: must be an object; found 7"),  # type: ignore[arg-type]
    "no name": (document(without(metric(), "name")), "metrics[0].name: is missing"),
    "no value": (document(without(metric(), "value")), "metrics[0].value: is missing"),
    "no threshold": (document(without(metric(), "threshold")), "metrics[0].threshold: is missing"),
    "no sample size": (document(without(metric(), "sample_size")), "metrics[0].sample_size: is missing"),
    "no direction": (document(without(metric(), "direction")), "metrics[0].direction: is missing"),
    "value is text": (document(metric(value="0.9")), 'metrics[0].value: must be a number or null; found "0.9"'),  # type: ignore[arg-type]
    "value is a flag": (document(metric(value=True)), "metrics[0].value: must be a number or null; found true"),
    "half a sample": (document(metric(sample_size=1.5)), "metrics[0].sample_size: must be a whole number"),
    "value without n": (document(metric(sample_size=None)), "metrics[0].sample_size: must be a whole number"),
    "direction unknown": (document(metric(direction="sideways")), "metrics[0].direction: must be higher, lower or"),
    "two run ids": (document(runId="r2"), "run_id: must be said once; found run_id and runId"),
    "too many": (document(*[metric()] * 10_001), "metrics: must be at most 10,000 metrics"),
    "unknown schema": (document(schema="evalkit-receipt-v1"), "schema: must be a report that can be drawn"),
}


@pytest.mark.parametrize(("plain", "message"), REFUSED.values(), ids=REFUSED)
def test_a_document_that_lacks_what_a_chart_must_show_is_refused(plain: Plain, message: str) -> None:
    """With the path of each fault."""
    with pytest.raises(Refusal) as refused:
        read(plain)
    assert message in str(refused.value)


TEXTS: dict[str, tuple[bytes, str]] = {
    "NaN": (b'{"run_id":"r","metrics":[{"value":NaN}]}', "[json]"),
    "beyond a float": (json.dumps(document(metric())).replace("0.5", "1e400").encode(), "must be a number or null"),
    "duplicate key": (b'{"run_id":"r","run_id":"s"}', "[duplicate-key]"),
    "half a surrogate": (b'{"run_id":"\\ud800"}', "[surrogate]"),
    "no object": (b"[]", "[json]"),
    "deep": (b'{"a":' * 200 + b"1" + b"}" * 200, "[nesting]"),
    "empty": (b"", "[json]"),
}


@pytest.mark.parametrize(("raw", "message"), TEXTS.values(), ids=TEXTS)
def test_a_report_that_is_no_strict_json_is_refused(tmp_path: Path, raw: bytes, message: str) -> None:
    """NaN, duplicate keys and the like are never drawn."""
    path = tmp_path / "report.json"
    path.write_bytes(raw)
    with pytest.raises(Refusal) as refused:
        read(path)
    assert message in str(refused.value)


# evaluation


def evaluation() -> Plain:
    """Return the evaluation of the fixtures."""
    plain: Plain = json.loads((FIXTURES / "evaluation.json").read_text("utf-8"))
    return plain


def test_an_evaluation_has_its_measures_bins_families_and_classes() -> None:
    """Overall and each family with counts; reliability overall and by family; recall by class."""
    part = read(evaluation()).parts[0]
    assert part.summary == "22 items; 20 scored; 2 missing"
    assert [(one.name, one.value, one.sample_size) for one in part.measures] == [
        ("accuracy", 0.75, 20),
        ("balanced accuracy", 0.7, 20),
        ("ECE", 0.07, 20),
        ("Brier, positive class", 0.15, 20),
        ("Brier, all classes (0–2)", 0.31, 20),
        ("NLL", 0.53, 20),
    ]
    assert part.reliability is not None
    assert part.reliability.bins[0] == Bin(0.5, 0.6, 4, 0.55, 0.5)
    assert [(one.name, len(one.bins)) for one in part.small] == [("clinic", 2), ("field", 2), ("שטח", 0)]
    families, classes = part.grids
    assert [(row.name, row.values["items"], row.values["missing"]) for row in families.rows] == [
        ("all", 22, 2),
        ("clinic", 15, 1),
        ("field", 7, 1),
        ("שטח", 1, 1),
    ]
    assert classes.rows == (Row("no", {"recall": 0.6}), Row("yes", {"recall": 0.8}))


def test_an_evaluation_by_model_has_a_part_for_each() -> None:
    """Models are never pooled."""
    plain = evaluation()
    both = {"overall": plain["overall"], "by_family": plain["by_family"]}
    subject = read({**plain, "overall": None, "by_family": None, "by_model": {"b": both, "a": both}})
    assert [part.title for part in subject.parts] == ["b", "a"]
    assert subject.overview is not None
    assert [row.name for row in subject.overview.rows] == ["b", "a"]


BROKEN: Sequence[tuple[tuple[str | int, ...], object, str]] = [
    (("bins",), "ten", 'bins: must be a whole number; found "ten"'),
    (("overall",), None, "by_model: must be null exactly where overall and by_family are there"),
    (("by_model",), {}, "by_model: must be null exactly where overall and by_family are there"),
    (("overall", "accuracy"), 1.5, "overall.accuracy: must be a number from 0 to 1, or null; found 1.5"),
    (("overall", "accuracy"), 1, "overall.accuracy: must be a number with a fraction, such as 1.0, or null; found 1"),
    (("overall", "n_items"), None, "overall.n_items: must be a whole number; found null"),
    (("overall", "n_missing"), -1, "overall.n_missing: must be a whole number, zero or more; found -1"),
    (("overall", "reliability"), {}, "overall.reliability: must be an array; found an object of 0"),
    (("overall", "reliability", 0, "n"), GONE, "overall.reliability[0].n: is missing"),
    (("overall", "reliability", 0, "upper"), 1.5, "overall.reliability[0].upper: must be a number from 0 to 1"),
    (("overall", "f1"), 0.5, 'overall: there is no such key in a report; found "f1"'),
    (
        ("by_family", "clinic", "ece"),
        "x",
        "by_family.clinic.ece: must be a number with a fraction, such as 1.0, or null",
    ),
    (("synthetic",), "true", 'synthetic: must be true or false; found "true"'),
    (("synthetic",), GONE, "synthetic: is missing"),
    (("evidence",), GONE, "evidence: is missing"),
]
"""What is changed in an evaluation, and what it is refused for."""


@pytest.mark.parametrize(("path", "value", "message"), BROKEN)
def test_an_evaluation_must_be_whole(path: tuple[str | int, ...], value: object, message: str) -> None:
    """A key that is missing, unknown, of another type or out of range is a fault with its path."""
    with pytest.raises(Refusal) as refused:
        read(changed(evaluation(), path, value))
    assert message in str(refused.value)
    assert {one.rule for one in refused.value.violations} == {"not-whole"}


def changed(plain: Plain, path: tuple[str | int, ...], value: object) -> Plain:
    """Return a report with another value at a place, or without it where the value is ``GONE``."""
    plain = copy.deepcopy(plain)
    *way, last = path
    place: Any = plain
    for key in way:
        place = place[key]
    if value is GONE:
        del place[last]
    else:
        place[last] = value
    return plain


def test_a_report_of_evaluate_by_model_is_drawn(tmp_path: Path) -> None:
    """Each model of predictions that name models has its own part, with its own numbers."""
    rows = [
        {"id": "a", "option_ids": ["x", "y"], "probabilities": [0.9, 0.1], "model": "left"},
        {"id": "a", "option_ids": ["x", "y"], "probabilities": [0.2, 0.8], "model": "right"},
    ]
    (tmp_path / "p.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    (tmp_path / "g.jsonl").write_text('{"id": "a", "gold": "x", "family": "only"}\n', "utf-8")
    report = evaluate(tmp_path / "p.jsonl", tmp_path / "g.jsonl", synthetic=True)
    subject = read(report)
    assert [(part.title, part.measures[0].value, part.summary) for part in subject.parts] == [
        ("left", 1.0, "1 item; 1 scored; 0 missing"),
        ("right", 0.0, "1 item; 1 scored; 0 missing"),
    ]
    assert subject.overview is not None
    assert [row.values["accuracy"] for row in subject.overview.rows] == [1.0, 0.0]
    assert {"left", "right", "synthetic example"} <= set(texts(drawn(report.to_dict())))


# measurement


def test_a_measurement_has_a_part_for_each_stratum() -> None:
    """All cases come first, then the strata in the order of the report, each with its own numbers and no targets."""
    parts = read(measurement()).parts
    assert [part.title for part in parts] == ["Metrics", "Stratum hand <b>", "Stratum unlabelled"]
    assert [(one.name, one.about, one.value, one.limit, one.sample_size) for one in parts[2].measures] == [
        ("OCR CER", "", 0.34, None, 1),
        ("OCR fidelity", "", 0.66, None, 1),
        ("Recall@10", "lexical", 0.5, None, 1),
        ("Claim support", "", None, None, 0),
    ]
    assert parts[1].summary == "2 metrics, 2 measured; targets are for all cases only"
    assert parts[2].measures[3].reason == "no reviewed claims"
    shown = texts(drawn(measurement()))
    assert {"Stratum hand <b>", "2.4000", "bar capped at 1: 2.4000 is above it", "0.6600"} <= set(shown)
    told = markdown(read(measurement()))
    assert "## Stratum hand &lt;b&gt;" in told
    assert "| OCR fidelity |  | 0.6600 | none | 1 | higher | no target |  |" in told


def test_of_many_strata_the_first_are_drawn_and_the_others_counted() -> None:
    """Seven strata fit beside all cases; how many are left out is said in the picture and below the tables."""
    strata = [{"stratum": f"s{number:03d}", "metrics": []} for number in range(120)]
    plain = measurement(strata=strata)
    shown = texts(drawn(plain))
    assert {"Stratum s006", "113 more are not drawn; the report has all."} <= set(shown)
    assert "Stratum s007" not in shown
    assert "21 more are not shown; the report has all." in markdown(read(plain))


def test_what_measure_reports_is_drawn() -> None:
    """The report itself, its plain data and its file have the same picture; nothing of it is refused."""
    report = measure(FIXTURES.parent / "observations" / "synthetic.json")
    subject = read(report)
    assert [part.title for part in subject.parts] == ["Metrics", "Stratum hand", "Stratum print"]
    assert subject == read(json.loads(report.to_json()))
    assert [len(part.measures) for part in subject.parts] == [18, 3, 3]


UNFINISHED: Sequence[tuple[tuple[str | int, ...], object, str]] = [
    (("limitations",), GONE, "limitations: is missing"),
    (("strata",), GONE, "strata: is missing"),
    (("evidence_sha256",), None, "evidence_sha256: must be a text; found null"),
    (("run", "not_recorded"), GONE, "run.not_recorded: is missing"),
    (("run", "cache", "hits"), 3.0, "run.cache.hits: must be a whole number, or null; found 3.0"),
    (("approved",), True, 'there is no such key in a report; found "approved"'),
    (("metrics", 0, "sample_size"), GONE, "metrics[0].sample_size: is missing"),
    (("metrics", 0, "sample_size"), 2.0, "metrics[0].sample_size: must be a whole number; found 2.0"),
    (
        ("metrics", 0, "value"),
        "0.5",
        "metrics[0].value: must be a number with a fraction, such as 1.0, or a whole number",
    ),
    (
        ("metrics", 0, "value"),
        True,
        "metrics[0].value: must be a number with a fraction, such as 1.0, or a whole number",
    ),
    (("metrics", 0, "direction"), "up", 'metrics[0].direction: must be one of "higher", "lower", "none"; found "up"'),
    (("metrics", 0, "passed"), True, 'metrics[0]: there is no such key in a report; found "passed"'),
    (("metrics", 6, "review_complete"), "yes", "metrics[6].review_complete: must be true or false, or null"),
    (("metrics", 0), 7, "metrics[0]: must be an object; found 7"),
    (("strata", 1, "metrics", 2, "system"), 1, "strata[1].metrics[2].system: must be a text, or null; found 1"),
    (("strata", 1, "metrics", 2, "threshold"), 0.5, "strata[1].metrics[2].threshold: must be null: thresholds are for"),
    (("strata", 0, "stratum"), None, "strata[0].stratum: must be a text; found null"),
]
"""What is changed in a measurement of evalkit, and what it is refused for."""


@pytest.mark.parametrize(("path", "value", "message"), UNFINISHED)
def test_a_measurement_of_evalkit_must_be_whole(path: tuple[str | int, ...], value: object, message: str) -> None:
    """What says that it is evalkit's has all that evalkit writes; without the schema it is a document as any other."""
    plain = changed(measurement(), path, value)
    with pytest.raises(Refusal) as refused:
        read(plain)
    assert message in str(refused.value)
    assert {one.rule for one in refused.value.violations} == {"not-whole"}


def test_a_foreign_document_need_not_be_whole() -> None:
    """Without a schema of evalkit keys may be missing or more, and there are no strata."""
    plain = changed(measurement(), ("limitations",), GONE) | {"approved": True}
    del plain["schema"]
    assert [part.title for part in read(plain).parts] == ["Metrics"]


# selective


def selective() -> Plain:
    """Return the selective report of the fixtures: alpha passes, beta does not."""
    plain: Plain = json.loads((FIXTURES / "selective.json").read_text("utf-8"))
    return plain


def test_a_selective_report_shows_its_verdict_and_the_recommended_candidate_first() -> None:
    """Then the others; each with gates, bins, the matrix and its classes."""
    subject = read(selective())
    assert subject.verdict == "GO: alpha is recommended; 1 of 2 candidates passed all gates"
    assert [part.title for part in subject.parts] == ["alpha", "beta"]
    beta = subject.parts[1]
    assert [(one.name, one.value, one.limit, one.met) for one in beta.measures] == [
        ("coverage", 1.0, None, None),
        ("macro-F1", 0.8235294117647058, 0.8, True),
        ("precision at coverage", 0.7, 0.9, False),
        ("ECE", 0.27, 0.05, False),
    ]
    assert beta.cells == (Cell("4", "4", 7), Cell("4", "5", 3))
    assert beta.classes == ("4", "5")
    assert beta.grids[0].rows[1].name == "5"


def test_a_bare_report_says_where_its_curve_is() -> None:
    """It has the chosen cut on validation and test only."""
    (found,) = [one for one in figures(read(selective()).parts[0]) if one.title == "Coverage and precision"]
    assert "The whole curve is in a results folder only" in found.caption


def test_a_report_that_is_not_whole_is_refused() -> None:
    """A selective report is held against its schema."""
    plain = selective()
    del plain["candidates"][0]["gates"]
    with pytest.raises(Refusal, match=r"candidates\[0\]\.gates: is missing \[not-whole\]"):
        read(plain)


def test_only_so_many_candidates_are_drawn_and_the_rest_counted() -> None:
    """Of many candidates the eight best are drawn; the text says how many are not."""
    plain = selective()
    one = plain["candidates"][0]
    plain["candidates"] = [{**one, "model": f"m{number:03}"} for number in range(120)]
    plain["recommended"] = None
    shown = texts(drawn(plain))
    assert "112 more are not drawn; the report has all." in shown
    assert "20 more rows are not drawn; the tables have more." in shown
    assert "20 more are not shown; the report has all." in markdown(read(plain))


# each kind of chart

BINS = tuple(Bin(n / 10, (n + 1) / 10, 10 * n, n / 10 + 0.05, n / 10) for n in range(10))
CELLS = (Cell("a", "a", 5), Cell("a", "b", 1), Cell("b", "b", 4))
POINTS = tuple(Point(n / 10, 1 - n / 50) for n in range(1, 11))
CURVE = Curve(POINTS, 0.8, Point(0.7, 0.9), Point(0.6, 0.85), 0.5, 0.9)
LONG = "a name of two hundred characters " * 7
NAMES = [f"{LONG[:190]} {number}" for number in range(60)]
SPECS: dict[str, Callable[[], Spec]] = {
    "bars": lambda: bars([Measure("a", 0.5, limit=0.9, met=False), Measure("b", None), Measure("c", 2.0, "rate")]),
    "no bars": lambda: bars([]),
    "grid": lambda: grid(Grid("t", "class", (Column("n"), Column("f1", 1.0)), (Row("a", {"n": 3, "f1": None}),))),
    "empty grid": lambda: grid(Grid("t", "class", (Column("n"),), ())),
    "reliability": lambda: reliability(Reliability("all", BINS)),
    "small multiples": lambda: small_multiples([Reliability("a", BINS), Reliability("b", ())]),
    "curve": lambda: curves.curve(CURVE),
    "curve without points": lambda: curves.curve(Curve(None, None, Point(None, None), Point(0.5, None), None, None)),
    "confusion": lambda: confusion(CELLS, ["a", "b"]),
    "confusion of 60": lambda: confusion([Cell(name, name, 3000) for name in NAMES], NAMES),
}


@pytest.mark.parametrize("make", SPECS.values(), ids=SPECS)
def test_every_specification_is_valid_and_is_drawn(make: Callable[[], Spec]) -> None:
    """Against the schema of Vega-Lite; what is drawn has a size, and no text or mark in a colour that has no twin."""
    spec = make()
    altair.Chart.from_dict(spec)
    found = draw(spec, "x")
    assert found.width > 100
    assert found.height > 20
    root = ET.fromstring(f'<svg xmlns="http://www.w3.org/2000/svg">{found.inner}</svg>')  # noqa: S314
    colors = {one.get(key) for one in root.iter() for key in ("fill", "stroke")} - {None, "none", "transparent"}
    assert colors <= set(DARK)


def test_nothing_is_fetched_from_outside() -> None:
    """A specification that names an address fails instead of fetching."""
    spec = {**SPECS["curve"](), "data": {"url": "http://127.0.0.1:9/data.csv"}}
    spec["layer"] = [{"mark": "point", "encoding": {"x": {"field": "a", "type": "quantitative"}}}]
    with pytest.raises(ValueError, match=r"127\.0\.0\.1"):
        draw(spec, "x")


def test_a_curve_keeps_its_ends_and_extremes_when_it_is_thinned() -> None:
    """A spike among 10,000 points is still seen."""
    points = [Point(n / 10_000, 0.9) for n in range(1, 10_001)]
    points[5000] = Point(0.50005, 0.1)
    kept = curves.thinned(points)
    assert len(kept) <= 400
    assert kept[0] == points[0]
    assert kept[-1] == points[-1]
    assert points[5000] in kept


def test_of_many_classes_those_of_most_records_are_drawn() -> None:
    """Sixty of 100, in their order, and the caption says so."""
    classes = tuple(f"c{number}" for number in range(100))
    cells = tuple(Cell(name, name, number) for number, name in enumerate(classes))
    part = Part("m", cells=cells, classes=classes)
    (figure,) = list(figures(part))
    assert "The 60 classes of most records, of 100." in figure.caption
    assert figure.spec is not None
    shown = texts(ET.fromstring(f'<svg xmlns="http://www.w3.org/2000/svg">{draw(figure.spec, "x").inner}</svg>'))  # noqa: S314
    assert "c40" in shown
    assert "c39" not in shown


def test_bins_that_are_too_many_are_not_drawn() -> None:
    """A million bins make no chart; the caption says so, and the families that can be drawn still are."""
    fine = tuple(Bin(n / 1000, (n + 1) / 1000, 1, None, None) for n in range(1000))
    part = Part("m", reliability=Reliability("m", fine), small=(Reliability("a", fine), Reliability("b", BINS)))
    whole, small = figures(part)
    assert (whole.spec, whole.caption) == (None, "1,000 bins are too many to be drawn; the tables have more.")
    assert small.caption.endswith("1 of 2.")


def test_long_names_are_numbered_in_the_matrix_and_whole_in_the_rows() -> None:
    """Sixty names of 192 characters that differ at their end are told apart."""
    spec = SPECS["confusion of 60"]()
    shown = texts(ET.fromstring(f'<svg xmlns="http://www.w3.org/2000/svg">{draw(spec, "x").inner}</svg>'))  # noqa: S314
    labels = [one for one in shown if one.endswith("…")]
    assert len(labels) == 120
    assert len(set(labels)) == 60
    rows = grid(Grid("t", "class", (Column("n"),), (Row(NAMES[59], {"n": 1}),)))
    lines = [row["text"] for one in rows["layer"] for row in one["data"]["values"] if "text" in row]
    assert " ".join(lines[2:-1]) == NAMES[59]


def _luminance(color: str) -> float:
    parts = [int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: str, other: str) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


PAIRS = [(INK, PAPER), (QUIET, PAPER), (TARGET, PAPER), *((on_step(n), STEPS[n]) for n in (1, 2, 3, 5))]


@pytest.mark.parametrize(("text", "ground"), PAIRS)
def test_texts_stand_out_in_light_and_dark(text: str, ground: str) -> None:
    """By at least 4.5 to 1, the ratio that WCAG 2 asks of small text."""
    assert _contrast(text, ground) >= 4.5
    assert _contrast(DARK[text], DARK[ground]) >= 4.5


@pytest.mark.parametrize(("text", "ground"), [(ON_BAR, BAR), (on_step(4), STEPS[4])])
def test_texts_on_bars_can_be_read(text: str, ground: str) -> None:
    """By at least 4 to 1: they repeat what stands beside the bar, or in the table."""
    assert _contrast(text, ground) >= 4
    assert _contrast(DARK[text], DARK[ground]) >= 4


# hostile texts

HOSTILE = [
    "</text><script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "&lt;b&gt; & ]]> <!-- -->",
    'url(#clip0) id="x" {datum.text}',
    "a\x00b\x0bc\x1b[31m\ufffe",
    "\u202eright to left\u2066",
    "שלום עולם, 文字認識の精度",
    "javascript:alert(1)",
    "=cmd|' /C calc'!A1",
]


def harmless(subject: Subject) -> Iterator[ET.Element]:
    """Parse what is made of a subject, and find nothing in it that acts or fetches."""
    for text in (svg(subject), page(subject).removeprefix("<!DOCTYPE html>\n")):
        root = ET.fromstring(text)  # noqa: S314
        kinds = {one.tag.rpartition("}")[2] for one in root.iter()}
        assert not kinds & {"script", "image", "img", "use", "a", "foreignObject", "iframe", "link", "object"}
        names = {name.rpartition("}")[2] for one in root.iter() for name in one.attrib}
        assert not {name for name in names if name.startswith("on") or name in ("href", "src", "style", "srcset")}
        yield root


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_in_any_text_is_text(text: str) -> None:
    """In names, facts, reasons and limitations: it is shown, and is nothing else."""
    row = metric(text, None, system=text, reason=text)
    plain = document(row, run_id=text, model_revision=text, limitations=[text], run={"note": text})
    text_of = re.sub("[\u202e\u2066]", "\ufffd", text)
    clean = (
        text_of.replace("\x00", "\ufffd")
        .replace("\x0b", "\ufffd")
        .replace("\x1b", "\ufffd")
        .replace("\ufffe", "\ufffd")
    )
    subject = read(plain)
    drawing, website = harmless(subject)
    assert f"• {clean}" in texts(drawing)
    assert clean in [one.text for one in website.iter("bdi")]
    lines = markdown(subject).splitlines()
    assert not [line for line in lines if "<" in line]
    assert len([line for line in lines if line.startswith("| ")]) == 3


@settings(max_examples=15, deadline=None)
@given(st.text(min_size=1, max_size=30).filter(str.strip))
def test_any_text_makes_well_formed_files(text: str) -> None:
    """Whatever Unicode a name holds."""
    assert len(list(harmless(read(document(metric(text), run_id=text))))) == 2


def test_a_selective_report_with_hostile_names_is_harmless() -> None:
    """In models, classes and cells."""
    plain = json.loads(json.dumps(selective()).replace('"5"', '"<script>5"').replace("->5", "-><script>5"))
    plain["candidates"][0]["model"] = plain["recommended"] = HOSTILE[0]
    assert len(list(harmless(read(plain)))) == 2


def test_ids_are_those_of_the_chart_and_each_is_there_once() -> None:
    """So that several charts stand on one page."""
    for root in harmless(read(evaluation())):
        ids = [one.get("id") for one in root.iter() if one.get("id")]
        assert len(ids) == len(set(ids))
        told = [ref for one in root.iter() for ref in (one.get("aria-labelledby") or "").split()]
        assert set(told) <= set(ids)


def test_a_metric_inside_its_bar_is_silent() -> None:
    """An ordinary value needs no words on its bar."""
    assert inside(Measure("a", 0.5)) == ""
