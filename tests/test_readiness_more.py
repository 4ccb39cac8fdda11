"""Readiness as its users meet it: faults that hide no others, folders, reports from Python, marks at the start."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from observations import document, page
from support import evalkit

import evalkit as library
from evalkit import Refusal

Plain = dict[str, Any]

READY: Plain = {
    "run_id": "run-7",
    "model_revision": "r2",
    "dataset_id": "books",
    "synthetic": False,
    "split": "held_out",
    "evidence_sha256": "0123456789abcdef" * 4,
    "metrics": [
        {"name": "OCR fidelity", "value": 0.9, "sample_size": 4},
        {"name": "Schema validity", "value": 0.95, "sample_size": 4},
        {"name": "Claim support", "value": 0.95, "sample_size": 4},
        {"name": "Recall@10", "value": 0.85, "sample_size": 4},
        {"name": "Incorrect accepted merges", "value": 0, "sample_size": 0, "review_complete": True},
        {"name": "Provenance completeness", "value": 1.0, "sample_size": 4},
    ],
}


def faults(path: Path, text: str) -> list[tuple[str | None, str]]:
    """Return where an evaluation that is refused breaks which rules."""
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Refusal) as refusal:
        library.readiness(path)
    return [(one.field, one.rule) for one in refusal.value.violations]


@pytest.mark.parametrize(
    ("written", "instead", "found"),
    [
        ('"value": 0.9,', '"value": NaN,', [("metrics[0]", "json"), ("metrics[0].value", "metric-value")]),
        ('"value": 0.9,', '"value": 0.9, "value": 0.1,', [("metrics[0]", "duplicate-key")]),
        ('"books"', '"\\ud800"', [("dataset_id", "surrogate")]),
        ('"split":', '"synthetic": true, "split":', [(None, "duplicate-key")]),
    ],
)
def test_what_breaks_json_hides_no_other_fault(
    tmp_path: Path, written: str, instead: str, found: list[tuple[str | None, str]]
) -> None:
    """Every fault is listed with its place, not just the first: also where a number or a key is none of JSON's."""
    text = json.dumps(READY | {"run_id": " "})
    assert written in text
    assert sorted(faults(tmp_path / "e.json", text.replace(written, instead)), key=str) == sorted(
        [*found, ("run_id", "missing-id")], key=str
    )


def test_a_number_is_shown_as_it_was_written(tmp_path: Path) -> None:
    """1e999 is no number that a float holds, and the message shows it so, not as Infinity."""
    path = tmp_path / "e.json"
    path.write_text(json.dumps(READY).replace('"value": 0.9,', '"value": 1e999,'))
    with pytest.raises(Refusal, match=r"metrics\[0\]\.value: must be a fraction .*; found 1e999 \[metric-value\]"):
        library.readiness(path)


def test_a_mark_at_the_start_of_the_file_is_none_of_the_text(tmp_path: Path) -> None:
    """A byte-order mark at the start of an evaluation is passed over, as at the start of every other input."""
    path = tmp_path / "e.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(READY).encode())
    assert library.readiness(path).ready


def test_a_broken_document_is_called_a_document(tmp_path: Path) -> None:
    """An evaluation has many lines, so what is broken is not called a line."""
    path = tmp_path / "e.json"
    path.write_text("{\n\n")
    with pytest.raises(Refusal, match="the document is broken at character 4 of 3"):
        library.readiness(path)


def test_what_measure_returned_and_wrote_can_be_judged_as_it_is(tmp_path: Path) -> None:
    """The report itself, its JSON and its results folder get the same answer."""
    report = library.measure(document(synthetic=False, ocr_cases=[page(1, "abcd", "abcd")]))
    report.write_json(tmp_path / "evaluation.json")
    report.write_tables(tmp_path / "results")
    found = [library.readiness(one) for one in (report, tmp_path / "evaluation.json", tmp_path / "results")]
    codes = [[(one.code, one.metric) for one in answer.conditions] for answer in found]
    assert codes[0] == [
        ("not-measured", "Schema validity"),
        ("not-measured", "Claim support"),
        ("not-measured", "Recall@10"),
        ("not-measured", "Incorrect accepted merges"),
        ("review-incomplete", "Incorrect accepted merges"),
        ("not-measured", "Provenance completeness"),
    ]
    assert codes[1] == codes[2] == codes[0]


def test_the_answer_never_takes_the_place_of_the_evaluation(tmp_path: Path) -> None:
    """The JSON of the answer is refused where the folder that is judged holds the evaluation."""
    library.measure(document(synthetic=False)).write_tables(tmp_path / "results")
    before = (tmp_path / "results" / "report.json").read_bytes()
    run = evalkit("readiness", "results", "--json", "results/report.json", cwd=tmp_path)
    assert (run.code, "[output-unusable]" in run.stderr.decode()) == (2, True)
    assert (tmp_path / "results" / "report.json").read_bytes() == before


def test_an_evaluation_of_many_strata_is_read(tmp_path: Path) -> None:
    """What measure writes is read up to 256 MiB, that of two hundred thousand strata; more is refused unread."""
    path = tmp_path / "e.json"
    path.write_bytes(json.dumps(READY).encode() + b" " * (65 * 1024 * 1024))
    assert library.readiness(path).ready
    with path.open("r+b") as file:
        file.truncate(256 * 1024 * 1024 + 1)
    with pytest.raises(Refusal, match=r"e\.json: must be at most 256 MiB long \[report-too-long\]"):
        library.readiness(path)
