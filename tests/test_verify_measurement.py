"""Verifying reports of ``measure``: document and files are named again, and whatever differs is found."""

from __future__ import annotations

import copy
import functools
import json
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from observations import document, page, query, write_document, write_lines
from support import evalkit
from tampering import Plain, Tamper, at, drop, leaves, nothing, others, put

import evalkit as library
from evalkit import MeasurementReport, Refusal
from evalkit.cli.view_verification import verification_lines
from evalkit.families.observations.measure import OPTIONS
from evalkit.verification.differ import differ
from evalkit.verification.findings import Difference, Findings
from evalkit.verification.schemas import LISTS, SCHEMAS
from evalkit.verification.verify import Verification, verify

DATA = Path(__file__).parent.parent / "data-fixtures"
SYNTHETIC = DATA / "observations" / "synthetic.json"
RETRIEVAL = DATA / "real" / "retrieval"
CASES = sorted(
    folder / "observations.json"
    for folder in (DATA / "cases").iterdir()
    if (folder / "observations.json").exists() and not json.loads((folder / "expect.json").read_bytes())["refuse"]
)

NOVEL = {
    "bm25": RETRIEVAL / "novel_eval.run.bm25.trec",
    "candidate": RETRIEVAL / "novel_eval.run.rrf.trec",
}
JUDGED: Mapping[str, Plain] = {
    "novel_eval": {"qrels": RETRIEVAL / "novel_eval.qrels.txt", "runs": NOVEL},
    "test": {"qrels": RETRIEVAL / "qrels.test", "runs": {"x": RETRIEVAL / "results.test"}},
    "truncated": {"qrels": RETRIEVAL / "qrels.test", "runs": {"x": RETRIEVAL / "results.trunc"}},
    "comment": {
        "qrels": RETRIEVAL / "qrels.comment.test.gz",
        "runs": {"x": RETRIEVAL / "results.comment.test.gz"},
        "drop_queries_without_relevant": True,
    },
    "rel_level": {
        "qrels": RETRIEVAL / "qrels.rel_level",
        "runs": {"x": RETRIEVAL / "results.test"},
        "max_grade": 4,
    },
    "compat": {
        "qrels": RETRIEVAL / "compat.qrels",
        "runs": {"x": RETRIEVAL / "compat.run"},
        "max_grade": 50,
        "drop_queries_without_relevant": True,
    },
}
"""Judgments and rankings that other programs have written."""


def paths(found: Verification) -> list[str]:
    """Return where the differences are."""
    return [one.path for one in found.differences]


def refusal(*arguments: Any, **options: Any) -> list[str]:
    """Return what a verification is refused for."""
    with pytest.raises(Refusal) as caught:
        verify(*arguments, **options)
    return [str(one) for one in caught.value.violations]


# what is verified


@pytest.mark.parametrize("path", [SYNTHETIC, *CASES], ids=lambda path: f"{path.parent.name}/{path.name}")
def test_what_measure_reports_is_verified(path: Path, tmp_path: Path) -> None:
    """The report that ``measure`` writes agrees with its document to the last bit; every scalar of it was looked at."""
    library.measure(path).write_json(tmp_path / "r.json")
    found = verify(tmp_path / "r.json", path, tol=0)
    assert (found.verified, found.differences, found.report_schema) == (True, (), "evalkit-measurement-v1")
    assert found.checks == _nodes(json.loads((tmp_path / "r.json").read_bytes()))


def _nodes(value: object) -> int:
    """Count the scalars, the objects and the arrays of a report: one check is made of each."""
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_nodes, below))


@pytest.mark.parametrize("name", JUDGED)
def test_what_measure_reports_of_trec_files_is_verified(name: str) -> None:
    """Judgments and rankings are named by the same options, and agree; one query more is another digest and a count."""
    header = document(source_ids=["s"])
    given = JUDGED[name]
    claim = library.measure(header, **given, source="s").to_dict()
    assert verify(claim, header, **given, source="s", tol=0).differences == ()
    claim["trec"]["queries"] += 1
    assert paths(verify(claim, header, **given, source="s", tol=1)) == ["report.trec.queries"]


def test_lists_beside_the_document_are_named_by_their_options(tmp_path: Path) -> None:
    """Each list may come as JSON Lines, as when the report was made: where it stands changes nothing."""
    plain = json.loads(SYNTHETIC.read_bytes())
    header = {name: member for name, member in plain.items() if name not in OPTIONS.values()}
    files: Plain = {option: write_lines(tmp_path / f"{option}.jsonl", plain[name]) for option, name in OPTIONS.items()}
    claim = library.measure(SYNTHETIC)
    assert verify(claim, header, **files).verified
    assert set(files) == set(LISTS)
    write_document(tmp_path / "header.json", header)
    claim.write_json(tmp_path / "r.json")
    named = [argument for option in files for argument in (f"--{option}", f"{option}.jsonl")]
    done = evalkit("verify", "r.json", "header.json", *named, cwd=tmp_path)
    assert (done.code, done.out, done.err) == (0, "verified: 233 checks, 0 differences\n", "")
    less = evalkit("verify", "r.json", "header.json", *named[2:], cwd=tmp_path)
    assert less.code == 3
    assert "  report.metrics[0].sample_size: claimed 3, recomputed 0" in less.lines


def test_the_program_takes_trec_files_as_measure_does(tmp_path: Path) -> None:
    """Judgments, runs, source, highest grade, and what is left out, are stated as when the report was made."""
    write_document(tmp_path / "h.json", document())
    (tmp_path / "qrels").write_text("q1 0 a 9\nq2 0 b 0\n", "utf-8")
    (tmp_path / "run").write_text("q1 Q0 a 1 0.5 x\n", "utf-8")
    named = ["--qrels", "qrels", "--run", "x=run", "--source", "s", "--max-grade", "9"]
    named.append("--drop-queries-without-relevant")
    assert evalkit("measure", "h.json", *named, "--output", "r.json", "-q", cwd=tmp_path).code == 0
    assert evalkit("verify", "r.json", "h.json", *named, cwd=tmp_path).code == 0
    other = evalkit("verify", "r.json", "h.json", *named[:3], "y=run", *named[4:], cwd=tmp_path)
    assert (other.code, len(other.lines)) == (3, 10)
    assert other.lines[2] == (
        '  report.metrics[name="Recall@10", system="y"]: claimed nothing, recomputed an object of 6'
    )
    assert other.lines[4] == (
        '  report.metrics[name="Recall@10", system="x"]: claimed an object of 6, recomputed nothing'
    )
    for without, said in ((named[:-1], "[no-relevant-document]"), ([*named[:6], named[8]], "[grade]")):
        done = evalkit("verify", "r.json", "h.json", *without, cwd=tmp_path)
        assert (done.code, said in done.err) == (2, True)


def test_a_document_from_standard_input(tmp_path: Path) -> None:
    """``-`` is the document, or the report, but not both."""
    library.measure(SYNTHETIC).write_json(tmp_path / "r.json")
    with SYNTHETIC.open("rb") as file:
        assert evalkit("verify", "r.json", "-", cwd=tmp_path, stdin=file.fileno()).code == 0
    with (tmp_path / "r.json").open("rb") as file:
        assert evalkit("verify", "-", SYNTHETIC, cwd=tmp_path, stdin=file.fileno()).code == 0
    for beside in ({"ocr": "-"}, {"qrels": "q", "runs": {"x": "-"}, "source": "s"}):
        assert refusal("-", SYNTHETIC, **beside)[0].endswith("[standard-input-twice]")
    both = evalkit("verify", "-", "-", cwd=tmp_path)
    assert (both.code, "[standard-input-twice]" in both.err) == (2, True)


def test_the_outcome_is_never_written_over_the_evidence(tmp_path: Path) -> None:
    """Neither the document nor a file beside it may be where the outcome goes."""
    write_document(tmp_path / "h.json", document())
    write_lines(tmp_path / "ocr.jsonl", [page(1, "a", "b")])
    library.measure(tmp_path / "h.json", ocr=tmp_path / "ocr.jsonl").write_json(tmp_path / "r.json")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    for target in before:
        done = evalkit("verify", "r.json", "h.json", "--ocr", "ocr.jsonl", "--json", target, cwd=tmp_path)
        assert (done.code, f"is the input {target}" in done.err) == (2, True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


# what the caller states


def test_other_inputs_are_found() -> None:
    """Over a document with one letter more the digest differs, and each number that rests on it."""
    plain = json.loads(SYNTHETIC.read_bytes())
    plain["ocr_cases"][1]["output"] = "the 1amp is lit!"
    found = verify(library.measure(SYNTHETIC), plain, tol=0)
    changed = ["metrics[0].value", "metrics[0].numerator", "metrics[2].value", "metrics[2].numerator"]
    inside = [f"strata[0].{one}" for one in changed]
    words = ["metrics[1].value", "metrics[1].numerator", "strata[0].metrics[1].value", "strata[0].metrics[1].numerator"]
    assert sorted(paths(found)) == sorted(f"report.{one}" for one in ["evidence_sha256", *changed, *inside, *words])


def test_a_highest_grade_that_is_not_the_callers_is_refused_or_counts_the_same(tmp_path: Path) -> None:
    """The highest grade steers what is refused, not what is counted; nothing of it is read from the report."""
    (tmp_path / "qrels").write_text("q1 0 a 5\nq1 0 b 1\n", "utf-8")
    (tmp_path / "run").write_text("q1 Q0 b 1 0.5 x\n", "utf-8")
    given: Plain = {"qrels": tmp_path / "qrels", "runs": {"x": tmp_path / "run"}, "source": "s"}
    claim = library.measure(document(), **given, max_grade=5).to_dict() | {"max_grade": 5}
    (fault,) = {one.rpartition("[")[2] for one in refusal(claim, document(), **given)}
    assert fault == "grade]"
    assert paths(verify(claim, document(), **given, max_grade=5)) == ["report.max_grade"]


def test_options_that_do_not_apply_are_refused_by_name() -> None:
    """A measurement has neither floor nor gold, and a report of ``compare`` no lists, judgments or runs."""
    claim = library.measure(SYNTHETIC).to_dict()
    floor, gold = refusal(claim, SYNTHETIC, gold="g.jsonl", min_coverage="0.5")
    known = (
        "claims, commands, drop-queries-without-relevant, max-grade, merges, ocr, proposals, qrels, queue, retrieval, "
        "run, source"
    )
    says = f"is no option of a report of evalkit-measurement-v1; it has {known} [verify-option]"
    assert (floor, gold) == (f"gold: {says}", f"min-coverage: {says}")
    dump = DATA / "selective" / "go.jsonl"
    report = library.compare(dump, "0.5")
    stated: Plain = {"ocr": "o", "qrels": "q", "runs": {"x": "r"}, "source": "s", "max_grade": 3}
    found = refusal(report, dump, min_coverage="0.5", **stated, drop_queries_without_relevant=True)
    assert [one.partition(":")[0] for one in found] == [
        *("drop-queries-without-relevant", "max-grade", "ocr", "qrels", "run", "source")
    ]


def test_judgments_need_runs_and_a_source() -> None:
    """What ``measure`` refuses of options is refused alike, before a list is read."""
    claim = library.measure(SYNTHETIC).to_dict()
    (found,) = refusal(claim, SYNTHETIC, qrels="q")
    assert found.endswith("must be named together [trec-options]")
    (found,) = refusal(claim, SYNTHETIC, ocr="no-such-file.jsonl")
    assert found == "no-such-file.jsonl: there is no such file [path-missing]"


def test_there_is_one_document() -> None:
    """Two documents, or none, are no evidence; what lies beside a document has an option."""
    claim = library.measure(SYNTHETIC).to_dict()
    assert refusal(claim, [SYNTHETIC, SYNTHETIC]) == [
        "must be one observation document; name what lies beside it by its option, like --ocr; found 2 [verify-option]"
    ]
    with pytest.raises(TypeError):
        verify(claim, pl.DataFrame({"run_id": ["r"]}))
    assert refusal(claim, []) == ["no input is named; give the observation document, or - for it [no-input]"]


def test_inputs_that_are_refused_verify_nothing() -> None:
    """Where the document is refused there is nothing to compare with, and the refusal names the place in it."""
    claim = library.measure(document(ocr_cases=[page(1, "a", "b")])).to_dict()
    (found,) = refusal(claim, document(ocr_cases=[page(1, "a", "b", more=1)]))
    assert found.startswith("document: ocr_cases[0]: there is no such field in a case")


# each way to tamper


@functools.cache
def report() -> MeasurementReport:
    """Return the report on the synthetic document: every family, rankings of three systems, strata, a short queue."""
    return library.measure(SYNTHETIC)


def plain() -> Plain:
    """Return it as plain data."""
    found: Plain = json.loads(report().to_json())
    return found


FIRST = "report.metrics[0]"
MERGES = "report.metrics[15]"
WIDE = ("--tol", "1")
TAMPERED: Sequence[Tamper] = (
    Tamper("a number", put("metrics.3.value", 0.75), ("report.metrics[3].value: claimed 0.75, recomputed 0.5",)),
    Tamper(
        "a number in its ninth place",
        put("metrics.3.value", 0.500000001),
        ("report.metrics[3].value: claimed 0.500000001, recomputed 0.5",),
    ),
    Tamper(
        "a number beyond --tol 1",
        put("metrics.3.value", 1.6),
        ("report.metrics[3].value: claimed 1.6, recomputed 0.5",),
        WIDE,
    ),
    Tamper(
        "a numerator, at --tol 1",
        put("metrics.0.numerator", 5),
        (f"{FIRST}.numerator: claimed 5, recomputed 6",),
        WIDE,
    ),
    Tamper(
        "a denominator, at --tol 1",
        put("metrics.0.denominator", 36),
        (f"{FIRST}.denominator: claimed 36, recomputed 35",),
        WIDE,
    ),
    Tamper(
        "a sample size, at --tol 1",
        put("metrics.0.sample_size", 4),
        (f"{FIRST}.sample_size: claimed 4, recomputed 3",),
        WIDE,
    ),
    Tamper(
        "a count with a fraction",
        put("metrics.0.numerator", 6.0),
        (f"{FIRST}.numerator: claimed 6.0, recomputed 6",),
    ),
    Tamper(
        "the incorrect merges, at --tol 1",
        put("metrics.15.value", 0),
        (f"{MERGES}.value: claimed 0, recomputed 1",),
        WIDE,
    ),
    Tamper(
        "the incorrect merges as a measured number, at --tol 1",
        put("metrics.15.value", 0.0),
        (f"{MERGES}.value: claimed 0.0, recomputed 1",),
        WIDE,
    ),
    Tamper(
        "a review said to be incomplete",
        put("metrics.14.review_complete", False),
        ("report.metrics[14].review_complete: claimed false, recomputed true",),
    ),
    Tamper("a review left out", drop("metrics.15.review_complete"), (f"{MERGES}.review_complete: claimed nothing, ",)),
    Tamper(
        "the days of the queue, at --tol 1",
        put("metrics.17.days_observed", 7),
        ("report.metrics[17].days_observed: claimed 7, recomputed 3",),
        WIDE,
    ),
    Tamper(
        "the caution of the queue",
        put("metrics.17.caution", None),
        ('report.metrics[17].caution: claimed null, recomputed "observed on fewer than 7 days"',),
    ),
    Tamper(
        "a threshold, at --tol 1",
        put("metrics.2.threshold", 0.8),
        ("report.metrics[2].threshold: claimed 0.8, recomputed 0.9",),
        WIDE,
    ),
    Tamper(
        "a threshold of what has none",
        put("metrics.0.threshold", 0.1),
        (f"{FIRST}.threshold: claimed 0.1, recomputed null",),
    ),
    Tamper(
        "a threshold taken away",
        put("metrics.2.threshold", None),
        ("report.metrics[2].threshold: claimed null, recomputed 0.9",),
    ),
    Tamper(
        "a direction",
        put("metrics.0.direction", "higher"),
        (f'{FIRST}.direction: claimed "higher", recomputed "lower"',),
    ),
    Tamper("a null for a number", put("metrics.3.value", None), ("report.metrics[3].value: claimed null, ",)),
    Tamper("a number as text", put("metrics.3.value", "0.5"), ('report.metrics[3].value: claimed "0.5", ',)),
    Tamper(
        "a number for a null",
        put("stage", 0),
        ('report.stage: claimed 0, recomputed "synthetic"',),
    ),
    Tamper(
        "a number beyond any float",
        nothing,
        (f"{FIRST}.value: claimed 1e400, ",),
        ("--tol", "9"),
        text=lambda text: text.replace('"value": 0.17142857142857143', '"value": 1e400', 1),
    ),
    Tamper(
        "NaN",
        nothing,
        ("json",),
        code=2,
        text=lambda text: text.replace('"value": 0.17142857142857143', '"value": NaN', 1),
    ),
    Tamper(
        "a key twice",
        nothing,
        ("duplicate-key",),
        code=2,
        text=lambda text: text.replace('"synthetic": true', '"synthetic": false, "synthetic": true', 1),
    ),
    Tamper("a report cut off", nothing, ("json",), code=2, text=lambda text: text[:-1]),
    Tamper("another schema", put("schema", "evalkit-measurement-v2"), ("report-schema",), code=2),
    Tamper(
        "a metric left out",
        drop("metrics.2"),
        ('report.metrics[name="OCR fidelity"]: claimed nothing, recomputed an object of 7',),
    ),
    Tamper(
        "a system's metric left out",
        drop("metrics.10"),
        ('report.metrics[name="Recall@10", system="candidate"]: claimed nothing, recomputed an object of 6',),
    ),
    Tamper(
        "a metric too many",
        lambda claim: claim["metrics"].append({**claim["metrics"][0], "name": "OCR"}),
        ('report.metrics[name="OCR"]: claimed an object of 7, recomputed nothing',),
    ),
    Tamper(
        "a metric twice, the better first",
        lambda claim: claim["metrics"].insert(0, {**claim["metrics"][0], "value": 0.0}),
        (f"{FIRST}.value: claimed 0.0, recomputed 0.17142857142857143", "report.metrics[1]: claimed an object of 7, "),
    ),
    Tamper(
        "a metric under another name",
        put("metrics.0.name", "x/OCR CER"),
        (
            'report.metrics[name="OCR CER"]: claimed nothing, recomputed an object of 7',
            'report.metrics[name="x/OCR CER"]: claimed an object of 7, recomputed nothing',
        ),
    ),
    Tamper(
        "two systems changed about",
        lambda claim: (put("metrics.8.system", "dense")(claim), put("metrics.9.system", "lexical")(claim)),
        (
            "report.metrics[9].value: claimed 1.0, recomputed 0.25",
            "report.metrics[8].value: claimed 0.25, recomputed 1.0",
            "report.metrics: claimed name and system in another order, recomputed name and system in order",
        ),
    ),
    Tamper("metrics left out", put("metrics", None), ("report.metrics: claimed null, recomputed an array of 18",)),
    Tamper(
        "a stratum left out",
        drop("strata.0"),
        ('report.strata[stratum="hand"]: claimed nothing, recomputed an object of 2',),
    ),
    Tamper(
        "strata left out",
        put("strata", []),
        (
            'report.strata[stratum="hand"]: claimed nothing, recomputed an object of 2',
            'report.strata[stratum="print"]: claimed nothing, recomputed an object of 2',
        ),
    ),
    Tamper(
        "a number in a stratum",
        put("strata.1.metrics.1.value", 0.1),
        ("report.strata[1].metrics[1].value: claimed 0.1, recomputed 0.0",),
    ),
    Tamper(
        "a threshold in a stratum, at --tol 1",
        put("strata.1.metrics.2.threshold", 0.1),
        ("report.strata[1].metrics[2].threshold: claimed 0.1, recomputed null",),
        WIDE,
    ),
    Tamper(
        "a metric of a stratum left out",
        drop("strata.1.metrics.1"),
        ('report.strata[1].metrics[name="OCR WER"]: claimed nothing, recomputed an object of 7',),
    ),
    Tamper("a field left out", drop("split"), ('report.split: claimed nothing, recomputed "held_out"',)),
    Tamper("a field too many", put("approved", True), ("report.approved: claimed true, recomputed nothing",)),
    Tamper(
        "a field too many in a metric",
        put("metrics.0.passed", True),
        (f"{FIRST}.passed: claimed true, recomputed nothing",),
    ),
    Tamper("a tolerance declared in the report", put("tol", 1.0), ("report.tol: claimed 1.0, recomputed nothing",)),
    Tamper(
        "a number and a tolerance to excuse it",
        lambda claim: (put("tolerance", 1.0)(claim), put("metrics.3.value", 1.0)(claim)),
        (
            "report.metrics[3].value: claimed 1.0, recomputed 0.5",
            "report.tolerance: claimed 1.0, recomputed nothing",
        ),
    ),
    Tamper("the digest", put("evidence_sha256", "0" * 64), (f'report.evidence_sha256: claimed "{"0" * 64}", ',), WIDE),
    Tamper("synthetic", put("synthetic", False), ("report.synthetic: claimed false, recomputed true",)),
    Tamper("the stage", put("stage", "five-books"), ('report.stage: claimed "five-books", recomputed "synthetic"',)),
    Tamper("the run", put("run_id", "run-2"), ('report.run_id: claimed "run-2", recomputed "demo-1"',)),
    Tamper("the model", put("model_revision", "x/scan-2"), ('report.model_revision: claimed "x/scan-2", ',)),
    Tamper("a source", put("source_ids.0", "x"), ('report.source_ids[0]: claimed "x", recomputed "notebook-a"',)),
    Tamper(
        "a source of development left out",
        put("development_source_ids", []),
        ("report.development_source_ids: claimed an array of 0, recomputed an array of 1",),
    ),
    Tamper("failures, at --tol 1", put("run.failures", 1), ("report.run.failures: claimed 1, recomputed 0",), WIDE),
    Tamper(
        "the rate of the cache, at --tol 1",
        put("run.cache.hit_rate", 1.0),
        ("report.run.cache.hit_rate: claimed 1.0, recomputed 0.75",),
        WIDE,
    ),
    Tamper(
        "what was not recorded",
        put("run.not_recorded", ["container"]),
        ("report.run.not_recorded: claimed an array of 1, recomputed an array of 2",),
    ),
    Tamper("judgments that there were not", put("trec", {"queries": 2}), ("report.trec: claimed an object of 1, ",)),
    Tamper(
        "a limitation in other words",
        put("limitations.3", "An example proves all."),
        ('report.limitations[3]: claimed "An example proves all.", ',),
    ),
    Tamper(
        "a limitation left out",
        drop("limitations.6"),
        ("report.limitations: claimed an array of 6, recomputed an array of 7",),
    ),
    Tamper("limitations left out", drop("limitations"), ("report.limitations: claimed nothing, ",)),
)
"""Every way, on the report of the synthetic document."""


@pytest.mark.parametrize("one", TAMPERED, ids=lambda one: one.what)
def test_each_way_to_tamper_is_found(one: Tamper, tmp_path: Path) -> None:
    """What was changed is named with its path, claimed and recomputed, or the report is refused; nothing else is."""
    claim = plain()
    one.change(claim)
    text = json.dumps(claim) if one.text is None else one.text(json.dumps(claim))
    assert text != json.dumps(plain()), "nothing was tampered with"
    path = tmp_path / "report.json"
    path.write_text(text, encoding="utf-8")
    tol = one.more[1] if one.more else "1e-12"
    if one.code == 2:
        assert [fault.rpartition(" ")[2] for fault in refusal(path, SYNTHETIC, tol=tol)] == [f"[{one.found[0]}]"]
        return
    head, *lines = verification_lines(verify(path, SYNTHETIC, tol=tol))
    assert head.endswith(f", {len(lines)} difference{'' if len(lines) == 1 else 's'}")
    assert [line[2:][: len(start)] for line, start in zip(lines, one.found, strict=True)] == list(one.found)


def test_a_review_that_is_not_complete_cannot_be_said_to_be(tmp_path: Path) -> None:
    """Where an accepted merge is not reviewed, a report that says otherwise, or leaves the caution out, differs."""
    merges = [{"merge_id": "m", "source_id": "s", "accepted": True, "reviewed": False, "correct": None}]
    source = write_document(tmp_path / "d.json", document(merges=merges))
    claim = library.measure(source).to_dict()
    assert verify(claim, source).verified
    claim["metrics"][-3]["review_complete"] = True
    claim["limitations"].pop()
    assert [verify(claim, source).differences[0], len(verify(claim, source).differences)] == [
        Difference("report.metrics[15].review_complete", "true", "false"),
        2,
    ]


# any value


def everything() -> MeasurementReport:
    """Return a report with TREC counts, a fraction that is a mean, strata, and a value for every field of the run."""
    run = {
        "commit": "c",
        "python": "3.12",
        "container": "i",
        "fixture_version": "1",
        "model_revisions": {"reader": "r/1"},
        "failures": 2,
        "cache": {"hits": 2, "misses": 1},
    }
    plain = json.loads(SYNTHETIC.read_bytes())
    queries = [query(1, {"a": 2, "b": 1}, "x", "a", stratum="long"), query(2, {"c": 1}, "c")]
    lists = {name: plain[name] for name in OPTIONS.values() if name != "retrieval_queries"}
    sources = ["s", "t", "notebook-a", "notebook-b"]
    return library.measure(
        document(split="development", source_ids=sources, run=run, **lists, retrieval_queries=queries)
    )


JUDGED_REPORT = library.measure(document(source_ids=["s"]), **JUDGED["novel_eval"], source="s")
EVERYTHING = everything()
REPORTS: Sequence[tuple[MeasurementReport, Plain]] = [
    (one, json.loads(one.to_json())) for one in (EVERYTHING, JUDGED_REPORT)
]
LEAVES = [(number, way) for number, (_, whole) in enumerate(REPORTS) for way in leaves(whole)]


def check(number: int, claim: Plain, tolerance: Fraction = Fraction(1, 10**12)) -> Findings:
    """Compare a claim with the report that it was made from."""
    return differ(claim, REPORTS[number][0], SCHEMAS["evalkit-measurement-v1"].rules(tolerance))


def test_the_whole_reports_agree_with_themselves() -> None:
    """No difference but by tampering; there are values of every kind to tamper with."""
    for number, (_, whole) in enumerate(REPORTS):
        assert check(number, copy.deepcopy(whole)).kept == []
    assert {type(at(REPORTS[number][1], way)) for number, way in LEAVES} == {str, int, float, bool, type(None)}


@given(st.data())
def test_any_one_changed_value_is_found(data: st.DataObject) -> None:
    """Whatever single value of a report is changed, there is a difference."""
    number, way = data.draw(st.sampled_from(LEAVES))
    whole = REPORTS[number][1]
    claim = copy.deepcopy(whole)
    at(claim, way[:-1])[way[-1]] = data.draw(others(at(whole, way)))
    assert check(number, claim).count >= 1


@given(st.data())
def test_any_one_value_left_out_or_added_is_found(data: st.DataObject) -> None:
    """Whatever is removed from a report, or put into one of its objects, is a difference."""
    number, way = data.draw(st.sampled_from(LEAVES))
    depth = data.draw(st.integers(1, len(way)))
    claim = copy.deepcopy(REPORTS[number][1])
    del at(claim, way[: depth - 1])[way[depth - 1]]
    assert check(number, claim).count >= 1
    claim = copy.deepcopy(REPORTS[number][1])
    inside = at(claim, way[:-1])
    if isinstance(inside, dict):
        inside["more"] = data.draw(st.none() | st.integers() | st.text(max_size=2))
        assert check(number, claim).count == 1


@given(st.data(), st.sampled_from(["0", "1", "1e300"]))
def test_no_tolerance_excuses_a_count_a_text_or_a_setting(data: st.DataObject, tolerance: str) -> None:
    """However wide the tolerance, only the value of a metric that is no count may be off."""
    exact = [
        (number, way)
        for number, way in LEAVES
        if not (way[-1] == "value" and isinstance(at(REPORTS[number][1], way), float))
    ]
    number, way = data.draw(st.sampled_from(exact))
    claim = copy.deepcopy(REPORTS[number][1])
    at(claim, way[:-1])[way[-1]] = data.draw(others(at(REPORTS[number][1], way)))
    assert check(number, claim, Fraction(tolerance)).count >= 1
