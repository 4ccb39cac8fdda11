"""Measuring as its users meet it: plain data of every kind, what a person reads, many strata."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest
from observations import HEADER, document, page, query
from support import evalkit

import evalkit as library
from evalkit import Refusal


def test_a_value_is_told_from_its_limit_on_the_screen(tmp_path: Path) -> None:
    """A fidelity of 0.89996 misses 0.90, so it is not printed as 0.9000; a rate of 1 in 25,000 is not printed as 0."""
    reference = "a" * 25_000
    for edits in (2501, 1):
        text = "b" * edits + reference[edits:]
        (tmp_path / f"{edits}.json").write_text(json.dumps(document(ocr_cases=[page(1, reference, text)])))
    runs = [evalkit("measure", f"{edits}.json", cwd=tmp_path).out.splitlines() for edits in (2501, 1)]
    assert runs[0][3].split() == ["OCR", "fidelity", "0.89996", "higher", "≥", "0.90", "1"]
    assert runs[1][1].split() == ["OCR", "CER", "4e-05", "lower", "–", "1"]


DEEP: dict[str, Any] = {}
for _ in range(10_000):
    DEEP = {"inside": DEEP}

ITSELF: list[Any] = []
ITSELF.append(ITSELF)


@pytest.mark.parametrize(
    ("member", "said"),
    [
        ({"source_ids": {"s"}}, "must be made of mappings, lists, texts, numbers, truth values and None; found set"),
        ({"run_id": b"r"}, "must be made of mappings, lists, texts, numbers, truth values and None; found bytes"),
        ({"retrieval_queries": [query(1, {1: 2})]}, "every key must be a text"),  # type: ignore[dict-item]
        ({"run": {("a",): 1}}, "every key must be a text"),
        ({"run": DEEP}, "nothing may be nested so deep, or hold itself"),
        ({"ocr_cases": ITSELF}, "nothing may be nested so deep, or hold itself"),
    ],
)
def test_plain_data_that_is_none_of_json_is_refused(member: dict[str, Any], said: str) -> None:
    """What no JSON file could say is refused by name: no key becomes a text by itself, and nothing is a traceback."""
    with pytest.raises(Refusal) as refusal:
        library.measure(document(**member))
    assert str(refusal.value) == f"document: {said} [json]"


def test_any_mapping_is_a_document() -> None:
    """A mapping that is no dict is read as one, at every level."""
    case = MappingProxyType(page(1, "ab", "ax"))
    found = library.measure(MappingProxyType({**HEADER, "ocr_cases": [case]}))
    assert found["OCR CER"]["value"] == 0.5
    assert found.evidence_sha256 == library.measure({**HEADER, "ocr_cases": [page(1, "ab", "ax")]}).evidence_sha256


def test_strata_take_time_by_their_number_not_its_square() -> None:
    """Three thousand strata are a matter of a second or two, not of half a minute."""
    count = 3_000
    began = time.process_time()
    found = library.measure(
        document(
            ocr_cases=[page(number, "ab", "ax", stratum=f"{number:04}") for number in range(count)],
            retrieval_queries=[query(number, {"a": 1}, "b", "a", stratum=f"{number:04}") for number in range(count)],
        )
    )
    assert time.process_time() - began < 10
    assert [one.stratum for one in found.strata] == [f"{number:04}" for number in range(count)]
    assert [(row["name"], row.get("system"), row["value"]) for row in found.strata[2999].metrics] == [
        ("OCR CER", None, 0.5),
        ("OCR WER", None, 1.0),
        ("OCR fidelity", None, 0.5),
        ("Recall@10", "lexical", 0.0),
        ("Recall@10", "dense", 0.0),
        ("Recall@10", "candidate", 1.0),
        ("nDCG@10", "lexical", 0.0),
        ("nDCG@10", "dense", 0.0),
        ("nDCG@10", "candidate", 0.630929753571458),
    ]


def test_faults_of_trec_files_hide_no_others(tmp_path: Path) -> None:
    """What is wrong with the header, with TREC files and with other lists is said at once."""
    (tmp_path / "a.qrels").write_text("q1 0 d1 7\n")
    (tmp_path / "a.run").write_text("q1 Q0 d1 1 x t\n")
    plain = {**document(ocr_cases=[page(1, "a", "a"), page(1, "b", "b")], queue=[{}]), "run_id": ""}
    with pytest.raises(Refusal) as refusal:
        library.measure(plain, qrels=tmp_path / "a.qrels", runs={"a": tmp_path / "a.run"}, source="nowhere")
    found = [(Path(one.file or "").name, one.field, one.rule) for one in refusal.value.violations]
    assert found == [
        ("document", "run_id", "header"),
        ("document", "ocr_cases[1].case_id", "id-twice"),
        *(("document", f"queue[0].{name}", "missing-field") for name in ("unit_id", "date", "planned", "due")),
        ("document", "queue[0].completed", "missing-field"),
        ("document", "--source", "source-not-declared"),
        ("a.qrels", "grade", "grade"),
        ("a.run", "score", "score"),
    ]


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_a_number_that_json_does_not_have_is_refused_with_the_id_of_its_case(tmp_path: Path, constant: str) -> None:
    """In a document and in JSON Lines alike, NaN is named with list, position and id, and hides no other fault."""
    case = f'{{"case_id": "p7", "source_id": "x", "reference": "secret", "output": {constant}}}'
    (tmp_path / "d.json").write_text(json.dumps(document())[:-1] + f', "ocr_cases": [{case}]}}')
    (tmp_path / "h.json").write_text(json.dumps(document()))
    (tmp_path / "o.jsonl").write_text(case + "\n")
    said = []
    for files in (("d.json",), ("h.json", "--ocr", "o.jsonl")):
        run = evalkit("measure", *files, cwd=tmp_path)
        said.append([line.strip() for line in run.stderr.decode().splitlines()[1:]])
        assert (run.code, "secret" in run.out + run.stderr.decode()) == (2, False)
    for lines, place in zip(said, ("d.json: ocr_cases[0]", "o.jsonl:1: ocr_cases"), strict=True):
        assert lines == [
            f'{place}: must be JSON, which has no such number, in "p7"; found {constant} [json]',
            f'{place}.output: must be a text; an empty one is written "", in "p7"; found a number [text]',
            f'{place}.source_id: must be one of source_ids, in "p7"; found "x" [source-not-declared]',
        ]
