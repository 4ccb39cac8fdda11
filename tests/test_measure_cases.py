"""Small observations that evaluation tools get wrong: each case folder through the real command line."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from support import evalkit

CASES = Path(__file__).parent.parent / "data-fixtures" / "cases"
EXPECTED: dict[str, dict[str, Any]] = {
    folder.name: json.loads((folder / "expect.json").read_bytes())
    for folder in sorted(CASES.iterdir())
    if (folder / "observations.json").exists()
}
GRADE = "must be a whole number from 0 to 3, without fraction or quotes"
OVERLAP = "stands in source_ids too; what development has seen is not held out"
REFUSALS = {
    "B111-bad-grades": [
        f'observations.json: retrieval_queries[0].relevance.a: {GRADE}, in "q1"; found 4 [grade]',
        f'observations.json: retrieval_queries[0].relevance.b: {GRADE}, in "q1"; found true [grade]',
        f'observations.json: retrieval_queries[0].relevance.c: {GRADE}, in "q1"; found 1.5 [grade]',
    ],
    "B112-held-out-overlap": [f'observations.json: development_source_ids: {OVERLAP}; found "s1" [source-overlap]'],
}
"""What each case that must be refused is refused with."""

RATIOS = {
    "OCR CER": ("cer", "char_edits", "ref_chars"),
    "OCR WER": ("wer", "word_edits", "ref_words"),
    "OCR fidelity": ("fidelity", None, "ref_chars"),
}
RANKED = {"Recall@10": "recall_at_10", "nDCG@10": "ndcg_at_10"}


def test_every_case_is_run() -> None:
    """No case is left out, and no key of an expectation is left unread."""
    assert sorted(name.partition("-")[0] for name in EXPECTED) == [
        *("B110", "B111", "B112", "B91", "B93", "B94", "B95", "B97", "B98")
    ]
    assert {name for name, expect in EXPECTED.items() if expect["refuse"]} == set(REFUSALS)
    for expect in EXPECTED.values():
        assert (expect["kind"], expect["inputs"], expect["args"]) == ("observations", ["observations.json"], {})
        assert set(expect["values"]) <= {"ocr", "retrieval"}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_must_be_refused_is_refused(name: str, tmp_path: Path) -> None:
    """A refusal is exit 2 with document, list, position and rule; nothing is measured and nothing is written."""
    shutil.copyfile(CASES / name / "observations.json", tmp_path / "observations.json")
    done = evalkit("measure", "observations.json", "--output", "out.json", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[1:] == [f"  {fault}" for fault in REFUSALS[name]]
    assert not (tmp_path / "out.json").exists()


@pytest.mark.parametrize("name", [name for name in EXPECTED if name not in REFUSALS])
def test_what_can_be_measured_is_measured_right(name: str, tmp_path: Path) -> None:
    """Every rate, every count of edits and every length is that of the definitions."""
    expect = EXPECTED[name]
    done = evalkit("measure", CASES / name / "observations.json", "--output", "out.json", "-q", cwd=tmp_path)
    assert (done.code, done.out, done.err) == (0, "", "")
    rows = {
        (row["name"], row.get("system")): row for row in json.loads((tmp_path / "out.json").read_bytes())["metrics"]
    }
    for measure, (key, edits, length) in RATIOS.items():
        if "ocr" in expect["values"]:
            values, row = expect["values"]["ocr"], rows[measure, None]
            assert row["value"] == pytest.approx(values[key], abs=1e-12)
            assert (row["denominator"], row["sample_size"]) == (values[length], values["cases"])
            assert edits is None or row["numerator"] == values[edits]
    for system, values in expect["values"].get("retrieval", {}).items():
        for measure, key in RANKED.items():
            row = rows[measure, system]
            assert row["value"] == pytest.approx(values[key], abs=1e-12)
            assert row["sample_size"] == values["queries"]
