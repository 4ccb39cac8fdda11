"""TREC files through `evalkit measure`: any systems, one declared source, the digest of the queries that they say."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from observations import document, query, write_document
from support import evalkit as run_evalkit

import evalkit
from evalkit import Refusal

QRELS = "q1 0 a 2\nq1 0 b 0\nq1 0 c -1\nq2 0 d 1\n"
RUN = "q1 Q0 b 1 0.5 x\nq1 Q0 a 9 0.9 x\nq3 Q0 z 1 1 x\n"


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Any]:
    """Write judgments and the run of one system."""
    (tmp_path / "qrels").write_text(QRELS, "utf-8")
    (tmp_path / "run").write_text(RUN, "utf-8")
    return {"qrels": tmp_path / "qrels", "runs": {"bm25": tmp_path / "run"}, "source": "s"}


def test_what_was_left_out_and_added_is_counted(files: dict[str, Any]) -> None:
    """Ranks are by score; unjudged queries go, lacking ones are empty, negative grades are 0: each is counted."""
    found = evalkit.measure(document(), **files)
    assert [(one["name"], one.get("system")) for one in found.metrics if "@" in one["name"]] == [
        *(("Recall@10", "bm25"), ("nDCG@10", "bm25"))
    ]
    recall = found["Recall@10", "bm25"]
    assert (recall["value"], recall["sample_size"], recall["threshold"]) == (0.5, 2, None)
    assert found["nDCG@10", "bm25"]["value"] == 0.5
    assert found.to_dict()["trec"] == {
        "queries": 2,
        "unjudged_queries": {"bm25": 1},
        "missing_queries": {"bm25": 1},
        "negative_grades": 1,
        "queries_without_relevant": 0,
    }


def test_the_candidate_has_a_limit(files: dict[str, Any]) -> None:
    """Only a system of the name candidate is held against the limit of recall."""
    found = evalkit.measure(document(), **{**files, "runs": {"candidate": files["runs"]["bm25"]}})
    assert found["Recall@10", "candidate"]["threshold"] == 0.85


def test_the_digest_is_that_of_the_queries_that_they_say(files: dict[str, Any]) -> None:
    """For the digest TREC files stand as the `retrieval_queries` that they say."""
    cases = [
        {"query_id": "q1", "source_id": "s", "relevance": {"a": 2, "b": 0, "c": 0}, "bm25": ["a", "b"]},
        {"query_id": "q2", "source_id": "s", "relevance": {"d": 1}, "bm25": []},
    ]
    expected = hashlib.sha256(rfc8785.dumps(document(retrieval_queries=cases))).hexdigest()
    assert evalkit.measure(document(), **files).evidence_sha256 == expected


def test_the_three_systems_of_a_document_from_files(tmp_path: Path) -> None:
    """Files of the three systems give the evaluation of the document that holds the same, but for what they count."""
    queries = [query(1, {"a": 3, "b": 1}, "b", "x", lexical=["a"], dense=["x", "a"]), query(2, {"c": 1}, "c")]
    lines: dict[str, list[str]] = {"lexical": [], "dense": [], "candidate": []}
    for one in queries:
        for system, said in lines.items():
            said += [f"{one['query_id']} Q0 {name} 0 {9 - rank} t\n" for rank, name in enumerate(one[system])]
    for system, said in lines.items():
        (tmp_path / system).write_text("".join(said), "utf-8")
    judged = [f"{one['query_id']} 0 {name} {grade}\n" for one in queries for name, grade in one["relevance"].items()]
    (tmp_path / "qrels").write_text("".join(judged), "utf-8")
    runs = {system: tmp_path / system for system in lines}
    from_files = evalkit.measure(document(), qrels=tmp_path / "qrels", runs=runs, source="t").to_dict()
    inside = evalkit.measure(document(retrieval_queries=queries)).to_dict()
    assert from_files.pop("trec")["queries"] == 2
    assert inside.pop("trec") is None
    assert from_files == inside


def test_the_source_must_be_declared(files: dict[str, Any]) -> None:
    """The source that the queries are about is one of the document's."""
    with pytest.raises(Refusal, match=r'--source: must be one of source_ids; found "u" \[source-not-declared\]'):
        evalkit.measure(document(), **{**files, "source": "u"})


def test_grades_and_queries_without_relevant_documents(files: dict[str, Any], tmp_path: Path) -> None:
    """Grades above three, and queries without a relevant document, are refused unless their option is given."""
    (tmp_path / "qrels").write_text(QRELS + "q4 0 x 0\nq1 0 e 9\n", "utf-8")
    with pytest.raises(Refusal) as caught:
        evalkit.measure(document(), **files)
    assert {one.rule for one in caught.value.violations} >= {"grade"}
    with pytest.raises(Refusal) as caught:
        evalkit.measure(document(), **files, max_grade=9)
    assert {one.rule for one in caught.value.violations} == {"no-relevant-document"}
    found = evalkit.measure(document(), **files, max_grade=9, drop_queries_without_relevant=True)
    assert found.to_dict()["trec"]["queries_without_relevant"] == 1


def test_the_command(files: dict[str, Any], tmp_path: Path) -> None:
    """The options of the command line are the parameters of the function."""
    write_document(tmp_path / "d.json", document())
    done = run_evalkit(
        *("measure", "d.json", "--qrels", "qrels", "--run", "bm25=run", "--source", "s", "--output", "e.json"),
        cwd=tmp_path,
    )
    assert (done.code, done.err) == (0, "")
    assert (tmp_path / "e.json").read_text("utf-8") == evalkit.measure(tmp_path / "d.json", **files).to_json()
    assert ["Recall@10", "bm25", "0.5000", "higher", "–", "2"] in [line.split() for line in done.lines]


def test_rankings_come_from_one_place(files: dict[str, Any]) -> None:
    """Queries of the document and TREC files exclude each other."""
    with pytest.raises(Refusal, match="list-twice"):
        evalkit.measure(document(retrieval_queries=[query(1, {"a": 1})]), **files)
    assert json.loads(evalkit.measure(document(retrieval_queries=[]), **files).to_json())["trec"]["queries"] == 2
