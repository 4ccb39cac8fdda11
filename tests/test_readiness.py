"""Readiness: every fault refused and named, every failing condition named, and no approval ever."""

from __future__ import annotations

import copy
import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import Run, evalkit

import evalkit as library
from evalkit import Readiness, Refusal

Plain = dict[str, Any]

RECALL = {"name": "Recall@10", "system": "candidate", "value": 0.85, "threshold": 0.85, "sample_size": 20}
MERGES: Plain = {
    "name": "Incorrect accepted merges",
    "value": 0,
    "threshold": 0,
    "direction": "lower",
    "sample_size": 0,
    "review_complete": True,
}


def fraction(name: str, value: float, **more: Any) -> Plain:
    """Return a metric that is a fraction."""
    return {"name": name, "value": value, "direction": "higher", "sample_size": 40, **more}


def ready() -> Plain:
    """Return an evaluation in which every condition is just met."""
    return {
        "run_id": "run-7",
        "model_revision": "r2",
        "dataset_id": "books",
        "synthetic": False,
        "split": "held_out",
        "source_ids": ["b1"],
        "development_source_ids": ["b0"],
        "evidence_sha256": "0123456789abcdef" * 4,
        "metrics": [
            {"name": "OCR CER", "value": 1.25, "threshold": None, "direction": "lower", "sample_size": 40},
            fraction("OCR fidelity", 0.9, threshold=0.9),
            fraction("Schema validity", 0.95, threshold=0.95),
            fraction("Claim support", 0.95, threshold=0.95),
            RECALL | {"system": "lexical", "value": 0.1, "threshold": None},
            dict(RECALL),
            fraction("Merge precision", 0.5),
            dict(MERGES),
            fraction("Provenance completeness", 1.0, threshold=1.0),
        ],
    }


def metric(plain: Plain, name: str, system: str | None = None) -> Plain:
    """Return a metric of an evaluation, to be tampered with."""
    found: Plain = next(one for one in plain["metrics"] if (one["name"], one.get("system")) == (name, system))
    return found


def changed(which: str, of: str | None = None, /, **changes: Any) -> Plain:
    """Return the evaluation with one metric changed; what is changed to ``...`` is left out."""
    plain = ready()
    found = metric(plain, which, of)
    found.update(changes)
    for key in [key for key, value in changes.items() if value is ...]:
        del found[key]
    return plain


def without(name: str) -> Plain:
    """Return the evaluation without a metric."""
    plain = ready()
    plain["metrics"] = [one for one in plain["metrics"] if one["name"] != name]
    return plain


def failing(plain: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return code and metric of each condition that fails."""
    return [(one.code, one.metric) for one in library.readiness(plain).conditions]


def faults(plain: Mapping[str, Any]) -> list[tuple[str, str | None]]:
    """Return rule and field of each fault."""
    with pytest.raises(Refusal) as refusal:
        library.readiness(plain)
    return [(one.rule, one.field) for one in refusal.value.violations]


def run(folder: Path, plain: object, *options: str) -> Run:
    """Run the command on an evaluation, or on a text."""
    text = plain if isinstance(plain, str) else json.dumps(plain)
    (folder / "evaluation.json").write_text(text, encoding="utf-8")
    return evalkit("readiness", "evaluation.json", *options, cwd=folder)


# ready, and not


def test_an_evaluation_that_meets_every_limit_exactly_is_ready() -> None:
    """Limits are inclusive, and no merge need have been accepted."""
    found = library.readiness(ready())
    assert (found.ready, found.conditions) == (True, ())
    assert [(gate.name, gate.system, gate.value, gate.limit, gate.passed) for gate in found.gates] == [
        ("OCR fidelity", None, 0.9, 0.9, True),
        ("Schema validity", None, 0.95, 0.95, True),
        ("Claim support", None, 0.95, 0.95, True),
        ("Recall@10", "candidate", 0.85, 0.85, True),
        ("Incorrect accepted merges", None, 0, 0.0, True),
        ("Provenance completeness", None, 1.0, 1.0, True),
    ]


GATED = ["OCR fidelity", "Schema validity", "Claim support", "Recall@10", "Provenance completeness"]


@pytest.mark.parametrize("name", [*GATED, "Incorrect accepted merges"])
def test_a_gated_metric_that_is_absent_fails(name: str) -> None:
    """What was not looked at is not met."""
    assert failing(without(name)) == [("absent", name)]


@pytest.mark.parametrize("name", GATED)
def test_a_gated_metric_that_was_not_measured_fails(name: str) -> None:
    """Null is neither zero nor met, and needs no sample size."""
    plain = changed(name, "candidate" if name == "Recall@10" else None, value=None, sample_size=0, reason="no-cases")
    assert failing(plain) == [("not-measured", name)]
    assert library.readiness(plain).conditions[0].text.startswith('not measured ("no-cases"); it must be at least ')


@pytest.mark.parametrize("name", GATED)
def test_a_value_just_under_its_limit_fails(name: str) -> None:
    """By one step of a 64-bit float."""
    system = "candidate" if name == "Recall@10" else None
    limit = metric(ready(), name, system)["value"]
    assert failing(changed(name, system, value=math.nextafter(limit, 0))) == [("beyond-limit", name)]


def test_an_incorrect_merge_fails() -> None:
    """One of a thousand is one too many."""
    plain = changed("Incorrect accepted merges", value=1, sample_size=1000)
    assert failing(plain) == [("beyond-limit", "Incorrect accepted merges")]


@pytest.mark.parametrize("said", [False, None, ..., 1, "true", [True]])
def test_a_review_that_is_not_exactly_complete_fails(said: object) -> None:
    """Only ``true`` is; what looks like it is not."""
    plain = changed("Incorrect accepted merges", review_complete=said)
    assert failing(plain) == [("review-incomplete", "Incorrect accepted merges")]


def test_merges_may_have_two_conditions_that_fail() -> None:
    """An incorrect merge is found, and others are not reviewed."""
    plain = changed("Incorrect accepted merges", value=2, review_complete=False)
    assert [code for code, _ in failing(plain)] == ["beyond-limit", "review-incomplete"]


def test_every_condition_that_fails_is_named() -> None:
    """Without any metric, each of the six is."""
    assert failing(ready() | {"metrics": []}) == [
        ("absent", "OCR fidelity"),
        ("absent", "Schema validity"),
        ("absent", "Claim support"),
        ("absent", "Recall@10"),
        ("absent", "Incorrect accepted merges"),
        ("absent", "Provenance completeness"),
    ]


def test_recall_is_that_of_the_candidate() -> None:
    """Another system's recall stands for nothing, however high."""
    plain = changed("Recall@10", "lexical", value=1.0)
    plain["metrics"].remove(RECALL)
    assert failing(plain) == [("absent", "Recall@10")]


def test_recall_may_have_no_system() -> None:
    """A document of one system need not name it."""
    plain = ready()
    plain["metrics"] = [one for one in plain["metrics"] if one["name"] != "Recall@10"]
    plain["metrics"].append(fraction("Recall@10", 0.9))
    assert failing(plain) == []
    plain["metrics"][-1]["value"] = 0.8
    assert failing(plain) == [("beyond-limit", "Recall@10")]


def test_other_metrics_are_not_gated() -> None:
    """A CER above one, a low nDCG, an unreviewed precision: reported, and no condition."""
    plain = changed("OCR CER", value=17.5)
    plain["metrics"] += [fraction("nDCG@10", 0.0), fraction("Queue completion", 0.1)]
    assert failing(plain) == []


def test_names_are_told_apart_without_case_and_white_space() -> None:
    """So that no second spelling slips past its gate."""
    plain = changed("OCR fidelity", name="  ocr FIDELITY ", value=0.5)
    assert failing(plain) == [("beyond-limit", "OCR fidelity")]


# refused


@pytest.mark.parametrize(
    ("changes", "rule", "field"),
    [
        ({"synthetic": True}, "synthetic-run", "synthetic"),
        ({"synthetic": None}, "synthetic-run", "synthetic"),
        ({"synthetic": "false"}, "synthetic-run", "synthetic"),
        ({"synthetic": 0}, "synthetic-run", "synthetic"),
        ({"stage": "synthetic"}, "synthetic-run", "stage"),
        ({"split": "development"}, "development-run", "split"),
        ({"split": " Development"}, "development-run", "split"),
        ({"split": " "}, "development-run", "split"),
        ({"split": None}, "development-run", "split"),
        ({"development_source_ids": ["b1"]}, "development-run", "source_ids"),
        ({"run_id": " "}, "missing-id", "run_id"),
        ({"model_revision": None}, "missing-id", "model_revision"),
        ({"dataset_id": 7}, "missing-id", "dataset_id"),
        ({"evidence_sha256": "0123456789ABCDEF" * 4}, "evidence-digest", "evidence_sha256"),
        ({"evidence_sha256": "0" * 63}, "evidence-digest", "evidence_sha256"),
        ({"evidence_sha256": "0" * 64 + "\n"}, "evidence-digest", "evidence_sha256"),
        ({"evidence_sha256": None}, "evidence-digest", "evidence_sha256"),
        ({"schema": "evalkit-selective-v1"}, "report-schema", "schema"),
        ({"schema": None}, "report-schema", "schema"),
        ({"metrics": {}}, "metrics", "metrics"),
        ({"metrics": None}, "metrics", "metrics"),
    ],
)
def test_a_fault_of_the_header_is_refused(changes: Plain, rule: str, field: str) -> None:
    """With its rule and its field."""
    assert faults(ready() | changes) == [(rule, field)]


@pytest.mark.parametrize(
    "name", ["run_id", "model_revision", "dataset_id", "evidence_sha256", "synthetic", "split", "metrics"]
)
def test_what_is_missing_from_the_header_is_refused(name: str) -> None:
    """Nothing of it may be left to guess."""
    plain = ready()
    del plain[name]
    assert [field for _, field in faults(plain)] == [name]


def test_the_schema_may_be_named_or_left_out() -> None:
    """A document of another program has none."""
    assert failing(ready() | {"schema": "evalkit-measurement-v1"}) == []


@pytest.mark.parametrize("value", [True, False, 1.0000000000000002, -1e-300, 1e308, 2, math.inf, math.nan, "0.99", [1]])
def test_what_is_no_fraction_is_refused(value: object) -> None:
    """Also of a metric that nobody gates, since somebody reads it."""
    assert faults(changed("Merge precision", value=value)) == [("metric-value", "metrics[6].value")]


@pytest.mark.parametrize("value", [0.0, 1.5, -1, True, False, "0", math.inf])
def test_a_number_of_merges_is_whole(value: object) -> None:
    """0.0 is no count, and ``false`` is none either."""
    assert faults(changed("Incorrect accepted merges", value=value)) == [("metric-value", "metrics[7].value")]


@pytest.mark.parametrize("value", [True, -0.1, math.nan, math.inf, "1"])
def test_an_error_rate_is_a_number_from_zero(value: object) -> None:
    """It may be above one, and is a number all the same."""
    assert faults(changed("OCR CER", value=value)) == [("metric-value", "metrics[0].value")]


@pytest.mark.parametrize("size", [0, -1, None, ..., True, 40.0, "40"])
def test_a_fraction_with_a_value_has_a_sample_size(size: object) -> None:
    """A whole number above zero."""
    assert faults(changed("Merge precision", sample_size=size)) == [("sample-size", "metrics[6].sample_size")]


@pytest.mark.parametrize("size", [-1, True, 1.0, "0"])
def test_a_sample_size_that_may_be_zero_is_whole_too(size: object) -> None:
    """As of merges, where none may have been accepted."""
    assert faults(changed("Incorrect accepted merges", sample_size=size)) == [("sample-size", "metrics[7].sample_size")]


@pytest.mark.parametrize(
    ("name", "system"),
    [("OCR fidelity", None), (" ocr Fidelity\t", None), ("Recall@10", " CANDIDATE"), ("RECALL@10", "candidate")],
)
def test_a_metric_that_stands_twice_is_refused(name: str, system: str | None) -> None:
    """After trimming and case folding, per system: one of the two would be believed."""
    plain = ready()
    plain["metrics"].append(fraction(name, 0.99, system=system))
    assert faults(plain) == [("duplicate-metric", "metrics[9]")]


@pytest.mark.parametrize("threshold", [0.5, 0.8999999999999999, 0, "0.9", True, math.nan])
def test_a_threshold_of_the_file_that_differs_is_refused(threshold: object) -> None:
    """The limits are the program's."""
    assert faults(changed("OCR fidelity", threshold=threshold)) == [("threshold", "metrics[1].threshold")]


def test_a_direction_that_differs_is_refused() -> None:
    """Of a gated metric it is known which values are better."""
    assert faults(changed("OCR fidelity", direction="lower")) == [("direction", "metrics[1].direction")]


@pytest.mark.parametrize("name", ["", " ", None, 7, ...])
def test_a_metric_has_a_name(name: object) -> None:
    """Else nobody knows what it is."""
    assert faults(changed("Merge precision", name=name)) == [("metric-name", "metrics[6].name")]


@pytest.mark.parametrize("system", ["", 7, ["candidate"]])
def test_a_system_is_a_name_or_null(system: object) -> None:
    """Nothing else tells two systems apart."""
    assert faults(changed("Merge precision", system=system)) == [("metric-name", "metrics[6].system")]


def test_a_metric_is_an_object() -> None:
    """A list of numbers is no list of metrics."""
    plain = ready()
    plain["metrics"].append(0.99)
    assert faults(plain) == [("metrics", "metrics[9]")]


def test_every_fault_is_named() -> None:
    """Those of the header and those of each metric, at once."""
    plain = changed("OCR fidelity", value=True, sample_size=0) | {"run_id": "", "synthetic": True}
    metric(plain, "Schema validity")["value"] = "1"
    assert faults(plain) == [
        ("missing-id", "run_id"),
        ("synthetic-run", "synthetic"),
        ("metric-value", "metrics[1].value"),
        ("sample-size", "metrics[1].sample_size"),
        ("metric-value", "metrics[2].value"),
    ]


CHANGES: Mapping[str, Callable[[Plain], object]] = {
    "value": lambda one: one.update(value=None),
    "low": lambda one: one.update(value=0),
    "size": lambda one: one.update(sample_size=0),
    "review": lambda one: one.pop("review_complete", None),
    "gone": lambda one: one.update(name="another"),
}


@given(st.lists(st.tuples(st.integers(0, 8), st.sampled_from(sorted(CHANGES))), min_size=1, max_size=3), st.randoms())
def test_the_order_of_metrics_does_not_show(changes: list[tuple[int, str]], random: Any) -> None:
    """Whatever is wrong: the same conditions, and as many faults of each rule."""

    def judged(plain: Plain) -> object:
        try:
            return library.readiness(plain).to_json()
        except Refusal as refusal:
            return refusal.counts

    plain = copy.deepcopy(ready())
    for place, change in changes:
        CHANGES[change](plain["metrics"][place])
    shuffled = copy.deepcopy(plain)
    random.shuffle(shuffled["metrics"])
    assert judged(shuffled) == judged(plain)


# files


def test_a_file_is_read_strictly(tmp_path: Path) -> None:
    """A key that stands twice could say two things; NaN and 1e999 are no JSON numbers that a float holds."""
    text = json.dumps(ready())
    for broken, rule in [
        (text.replace('"synthetic": false', '"synthetic": true, "synthetic": false'), "duplicate-key"),
        (text.replace("1.25", "NaN"), "json"),
        (text.replace("1.25", "1e999"), "metric-value"),
        (text.replace("1.25", "9" * 5000), "metric-value"),
        (text.replace("books", "\\ud800"), "surrogate"),
        (text[:-1], "json"),
        ("[]", "json"),
        ("", "json"),
        ("[" * 100_000, "nesting"),
    ]:
        found = run(tmp_path, broken, "--json", "answer.json")
        assert (found.code, found.out) == (2, ""), broken[:50]
        assert f"[{rule}]" in found.err
        assert not (tmp_path / "answer.json").exists()


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """It is no evaluation that was not measured."""
    found = evalkit("readiness", "none.json", cwd=tmp_path)
    assert found.code == 2
    assert "none.json: there is no such file [path-missing]" in found.err


def test_the_command_says_ready_and_never_more(tmp_path: Path) -> None:
    """Exit code 0, the numbers, and that human counts and flags are declarations."""
    found = run(tmp_path, ready(), "--json", "answer.json")
    assert (found.code, found.err) == (0, "")
    assert found.out.splitlines() == [
        "run run-7, model r2, data set books, split held_out",
        "  OCR fidelity: 0.9, at least 0.9, n = 40: met",
        "  Schema validity: 0.95, at least 0.95, n = 40: met",
        "  Claim support: 0.95, at least 0.95, n = 40: met",
        "  Recall@10: 0.85, at least 0.85, n = 20: met",
        "  Incorrect accepted merges: 0, at most 0, n = 0: met",
        "  Provenance completeness: 1.0, at least 1, n = 40: met",
        "READY: every condition is met",
        "Human counts, reviews and flags are declarations; audit them against actual records.",
        "The digest ties the numbers to one input; it proves no label, and no source to be what it is called.",
        "Ready says that every condition is met; it releases nothing.",
        "readiness: answer.json",
    ]
    answer = json.loads((tmp_path / "answer.json").read_bytes())
    assert (answer["schema"], answer["ready"], answer["conditions"]) == ("evalkit-readiness-v1", True, [])
    assert answer["evaluation"]["name"] == "evaluation.json"
    assert answer["gates"][3] == {
        "name": "Recall@10",
        "system": "candidate",
        "value": 0.85,
        "limit": 0.85,
        "direction": "higher",
        "sample_size": 20,
        "review_complete": None,
        "passed": True,
    }
    said = (found.out + json.dumps(answer)).lower()
    assert "approv" not in said
    assert "declarations" in said


def test_the_command_names_every_condition_that_fails(tmp_path: Path) -> None:
    """Exit code 3."""
    plain = changed("Incorrect accepted merges", value=1, review_complete=False)
    metric(plain, "OCR fidelity").update(value=None)
    found = run(tmp_path, plain)
    assert (found.code, found.err) == (3, "")
    review = "review_complete is false and must be true, once every accepted merge was reviewed"
    assert found.out.splitlines()[7:11] == [
        "NOT READY: 3 conditions failed",
        "  not-measured: OCR fidelity: not measured; it must be at least 0.9",
        "  beyond-limit: Incorrect accepted merges: is 1; it must be the whole number 0",
        f"  review-incomplete: Incorrect accepted merges: {review}",
    ]


def test_names_can_do_no_harm(tmp_path: Path) -> None:
    """Markup, control characters and characters that turn text around are printed as what they are."""
    hostile = "[bold]\x1b[31m</script>\u202e\n"
    plain = changed("Merge precision", name=hostile, value=2) | {"run_id": hostile}
    refused = run(tmp_path, plain)
    assert refused.code == 2
    ready_run = run(tmp_path, ready() | {"run_id": hostile})
    assert ready_run.code == 0
    for text in (refused.err, ready_run.out):
        assert not re.search("[\x00-\x09\x0b-\x1f\u202e]", text)
    assert ready_run.out.startswith("run [bold]\\u001b[31m</script>\\u202e\\u000a, model r2")


def test_the_answer_goes_to_standard_output(tmp_path: Path) -> None:
    """The words then go to standard error; with ``--quiet`` there are none."""
    found = run(tmp_path, ready(), "--json", "-")
    assert json.loads(found.out)["ready"] is True
    assert "READY" in found.err
    assert run(tmp_path, ready(), "--quiet") == Run(0, b"", b"")


def test_the_evaluation_is_not_written_over(tmp_path: Path) -> None:
    """Whatever its name."""
    found = run(tmp_path, ready(), "--json", "./evaluation.json")
    assert (found.code, "[output-unusable]" in found.err) == (2, True)


def test_many_metrics_are_judged_in_bounded_time(tmp_path: Path) -> None:
    """Fifty thousand faults are counted, and a thousand of them shown."""
    plain = ready() | {"metrics": [{"name": f"m{place}", "value": 2, "sample_size": 1} for place in range(50_000)]}
    found = run(tmp_path, plain)
    assert found.code == 2
    assert "refused: 50,000 violations" in found.err
    assert found.err.count("metrics[") == 1000


def test_the_python_function_is_the_command(tmp_path: Path) -> None:
    """The same answer from the file, from its path and from plain data, but for the bytes."""
    path = tmp_path / "evaluation.json"
    path.write_text(json.dumps(ready()), encoding="utf-8")
    found = library.readiness(path)
    assert isinstance(found, Readiness)
    assert found.evaluation is not None
    assert found.evaluation.name == str(path)
    assert found.to_dict() | {"evaluation": None} == library.readiness(ready()).to_dict()
    found.write_json(tmp_path / "answer.json")
    assert (tmp_path / "answer.json").read_text("utf-8") == found.to_json()


@pytest.mark.parametrize("value", [{1}, 10**400, object(), 0.5j])
def test_plain_data_may_hold_anything(value: object) -> None:
    """What JSON does not know is refused like any other value that is wrong."""
    assert faults(changed("Merge precision", value=value)) == [("metric-value", "metrics[6].value")]
