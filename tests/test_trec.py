"""TREC files: real pairs with the values of independent tools, the order of results, and every refusal."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit import Refusal
from evalkit.exact import rounded
from evalkit.families.ranking import lines, trec_queries
from evalkit.families.ranking.metrics import METRICS
from evalkit.families.ranking.tally import Tally
from evalkit.families.ranking.trec import Trec, read_trec
from evalkit.families.ranking.trec_lines import RESULTS, read_lines

REAL = Path(__file__).parent.parent / "data-fixtures" / "real" / "retrieval"

Values = dict[str, list[float | None]]


def scores(tally: Tally) -> Values:
    """Return Recall@10 and nDCG@10 of each system."""
    return {system: [rounded(one(tally.outcomes(system))) for one in METRICS] for system in tally.systems}


def real(qrels: str, runs: Mapping[str, str], **options: Any) -> Trec:
    """Read a real pair."""
    return read_trec(str(REAL / qrels), {system: str(REAL / run) for system, run in runs.items()}, "s", **options)


def written(folder: Path, qrels: str, **runs: str) -> tuple[str, dict[str, str]]:
    """Write files of these texts."""
    for name, text in {"qrels": qrels, **runs}.items():
        (folder / name).write_text(text, encoding="utf-8", newline="")
    return str(folder / "qrels"), {name: str(folder / name) for name in runs}


def refused(folder: Path, qrels: str, run: str, **options: Any) -> list[str]:
    """Return what a refusal says, without the folder."""
    with pytest.raises(Refusal) as refusal:
        read_trec(*written(folder, qrels, bm25=run), "s", **options)
    return str(refusal.value).replace(f"{folder}/", "").splitlines()


# real pairs


@pytest.mark.parametrize(
    ("qrels", "run", "options", "values"),
    [
        (
            "qrels.comment.test.gz",
            "results.comment.test.gz",
            {"drop_queries_without_relevant": True},
            [0.08545607419487578, 0.5237347959442517],
        ),
        ("qrels.test", "results.test", {}, [0.031709500063930446, 0.3015771992102278]),
        ("qrels.rel_level", "results.test", {"max_grade": 4}, [0.031709500063930446, 0.2553032040959405]),
        ("qrels.test", "results.trunc", {}, [0.13473980309423347, 0.17170115944586908]),
        ("compat.qrels", "compat.run", {"max_grade": 50}, [0.056179775280898875, 0.08861968317717524]),
    ],
    ids=["TREC RAG 2024", "301-303", "301-303, grades -1 to 4", "truncated", "CAsT, grades to 50"],
)
def test_a_real_pair_has_the_values_of_independent_tools(
    qrels: str, run: str, options: dict[str, Any], values: list[float]
) -> None:
    """Recall@10 and nDCG@10, computed apart from evalkit; pytrec_eval agrees on grades rewritten to 2^g - 1."""
    found = real(qrels, {"x": run}, **options)
    assert scores(found.tally) == {"x": pytest.approx(values, abs=1e-12)}


def test_any_systems_may_be_given_under_any_names() -> None:
    """Four rankings of NovelEval on one set of labels; in the fused one, scores tie for real."""
    names = ("bm25", "char3-tfidf", "initial-order", "rrf")
    found = real("novel_eval.qrels.txt", {name: f"novel_eval.run.{name}.trec" for name in names})
    assert scores(found.tally) == {
        "bm25": pytest.approx([0.7134920634920634, 0.6225619597824267], abs=1e-12),
        "char3-tfidf": pytest.approx([0.7257936507936508, 0.638357919119907], abs=1e-12),
        "initial-order": pytest.approx([0.7107142857142857, 0.6467015185625826], abs=1e-12),
        "rrf": pytest.approx([0.7464285714285714, 0.6521425104668568], abs=1e-12),
    }


def test_queries_that_are_not_judged_or_have_nothing_relevant_are_counted() -> None:
    """270 of the 301 queries of the run are not judged, and one of 31 judged ones has no relevant document.

    pytrec_eval, ranx and trec_eval count that one as 0: their mean of recall over 31 is 0.0827, this over 30 is 0.0855.
    """
    found = real("qrels.comment.test.gz", {"x": "results.comment.test.gz"}, drop_queries_without_relevant=True)
    assert asdict(found.counts) == {
        "queries": 30,
        "unjudged_queries": {"x": 270},
        "missing_queries": {"x": 0},
        "negative_grades": 0,
        "queries_without_relevant": 1,
    }
    ((recall, _),) = scores(found.tally).values()
    assert recall == pytest.approx(0.08269942664020237 * 31 / 30, abs=1e-12)


def test_without_the_option_a_query_without_a_relevant_document_is_refused() -> None:
    """It is named with the line that judges it first."""
    with pytest.raises(Refusal) as refusal:
        real("qrels.comment.test.gz", {"x": "results.comment.test.gz"})
    assert str(refusal.value) == (
        f"{REAL / 'qrels.comment.test.gz'}:3699: query: has no relevant document; judge one, or give "
        '--drop-queries-without-relevant; found "2024-36302" [no-relevant-document]'
    )


def test_a_judged_query_that_the_run_lacks_is_an_empty_ranking() -> None:
    """Topic 302 is missing: nDCG@10 is 0.1717 over three, where pytrec_eval has 0.2576 over the two that are there."""
    found = real("qrels.test", {"x": "results.trunc"})
    assert (found.counts.queries, found.counts.missing_queries) == (3, {"x": 1})
    ((_, ndcg),) = scores(found.tally).values()
    assert ndcg == pytest.approx(0.25755173916880364 * 2 / 3, abs=1e-12)


def test_negative_grades_count_as_zero_and_are_counted() -> None:
    """The pool has 304 of them."""
    assert real("qrels.rel_level", {"x": "results.test"}, max_grade=4).counts.negative_grades == 304


@pytest.mark.parametrize(
    ("qrels", "run", "lines_refused"), [("qrels.rel_level", "results.test", 6), ("compat.qrels", "compat.run", 38)]
)
def test_without_the_option_higher_grades_are_refused(qrels: str, run: str, lines_refused: int) -> None:
    """Every line with a grade above 3 is counted."""
    with pytest.raises(Refusal) as refusal:
        real(qrels, {"x": run})
    assert refusal.value.counts == {"grade": lines_refused}


def test_the_gain_is_not_the_linear_one() -> None:
    """With grades -1 to 4, trec_eval's ndcg_cut_10 is 0.2656, with the gain 2^grade - 1 it is 0.2553."""
    ((_, ndcg),) = scores(real("qrels.rel_level", {"x": "results.test"}, max_grade=4).tally).values()
    assert ndcg == pytest.approx(0.2553032040959405, abs=1e-12)
    assert ndcg != pytest.approx(0.2656330381569622, abs=1e-3)


# the order of results


@pytest.mark.parametrize(
    ("scored", "recall", "ndcg"),
    [
        ("q Q0 b 1 2 r\nq Q0 a 2 3 r\n", 1.0, 1.0),  # the rank column is not read
        ("q Q0 b 1 1 r\nq Q0 a 2 1 r\n", 1.0, 0.630929753571458),  # b before a
        ("q Q0 a 1 1.00000001 r\nq Q0 b 2 1 r\n", 1.0, 0.630929753571458),  # the same as 32-bit floats
        ("q Q0 a 1 1.0000002 r\nq Q0 b 2 1 r\n", 1.0, 1.0),  # not the same
        ("q Q0 a 1 -0.0 r\nq Q0 b 2 0 r\n", 1.0, 0.630929753571458),  # zero has no sign
        ("q Q0 b 1 -1e-3 r\nq Q0 a 2 -.5E-3 r\n", 1.0, 1.0),
    ],
)
def test_results_are_ordered_as_trec_eval_orders_them(tmp_path: Path, scored: str, recall: float, ndcg: float) -> None:
    """By 32-bit score, the highest first; equal ones by document id, the greatest first.

    ranx compares 64-bit scores and keeps the order of the file among equal ones: it has nDCG 1 on the third and on
    the fifth. pytrec_eval has the values here.
    """
    found = read_trec(*written(tmp_path, "q 0 a 1\n", bm25=scored), "s")
    assert scores(found.tally) == {"bm25": [recall, ndcg]}


def test_equal_scores_are_ordered_by_the_bytes_of_the_ids(tmp_path: Path) -> None:
    """Not by numbers in them, and not by UTF-16: d9 is after d10, and an astral character after U+FF01."""
    run = "".join(f"q Q0 {document} 1 1 r\n" for document in ("d10", "d9", "！", "😀"))
    found = read_trec(*written(tmp_path, "q 0 a 1\n", bm25=run), "s")
    assert json.loads(b"".join(found.canonical()))["bm25"] == ["😀", "！", "d9", "d10"]


# what the files say


def test_the_queries_are_those_of_the_document_that_says_the_same() -> None:
    """NovelEval as TREC files and as lines: the same canonical text, so the same digest, and the same tally."""
    systems = {"lexical": "bm25", "dense": "char3-tfidf", "candidate": "rrf"}
    found = real("novel_eval.qrels.txt", {name: f"novel_eval.run.{file}.trec" for name, file in systems.items()})
    canonical = b",".join(found.canonical())
    again = lines.read_chunk(b"\n".join(found.canonical()), ["s"])
    assert (again.faults, again.canonical, again.tally) == ((), canonical, found.tally)
    assert hashlib.sha256(canonical).hexdigest() == "8f3afd0e13bb15743fe40fe0648c6383b3df6a6649912f7ac5058bdf94cb7ca8"


def test_queries_stand_in_the_order_in_which_they_are_judged(tmp_path: Path) -> None:
    """And their judgments by document; what needs an escape in JSON gets it."""
    qrels = 'z 0 \\b 2\na 0 x 1\nz 0 "a 0\nz 0 é -1\n'
    run = 'a Q0 x 1 1 r\nz Q0 \\b 2 5 r\nz Q0 y" 1 7 r and more text\nother Q0 x 1 1 r\n'
    found = read_trec(*written(tmp_path, qrels, bm25=run), "book")
    assert b",".join(found.canonical()).decode() == (
        '{"bm25":["y\\"","\\\\b"],"query_id":"z","relevance":{"\\"a":0,"\\\\b":2,"é":0},"source_id":"book"},'
        '{"bm25":["x"],"query_id":"a","relevance":{"x":1},"source_id":"book"}'
    )
    assert (found.counts.unjudged_queries, found.counts.negative_grades) == ({"bm25": 1}, 1)


def test_columns_may_be_parted_and_ended_in_any_white_space(tmp_path: Path) -> None:
    """Blanks, tabs, blank lines, line ends of both kinds, none at the end, a mark at the start: all say the same."""
    qrels = "\ufeff  q\t0   a 1 \r\n\r\nq 0 b\t+2"
    run = "\tq  Q0\ta 1   +1. r\ttrailing \x01 text\r\n\n q Q0 b 2 2e0 r"
    found = read_trec(*written(tmp_path, qrels, bm25=run), "s")
    plain = read_trec(*written(tmp_path, "q 0 a 1\nq 0 b 2\n", bm25="q Q0 a 1 1 r\nq Q0 b 2 2 r\n"), "s")
    assert list(found.canonical()) == list(plain.canonical())
    assert found.tally == plain.tally


def test_compressed_files_are_read(tmp_path: Path) -> None:
    """Whatever their names are."""
    qrels, runs = written(tmp_path, "q 0 a 1\n", bm25="q Q0 a 1 1 r\n")
    Path(qrels).write_bytes(gzip.compress(b"q 0 a 1\n"))
    assert scores(read_trec(qrels, runs, "s").tally) == {"bm25": [1.0, 1.0]}


def test_one_file_may_be_the_results_of_two_systems(tmp_path: Path) -> None:
    """And a name that ends in .csv is no table."""
    qrels, _ = written(tmp_path, "q 0 a 1\n")
    run = tmp_path / "run.csv"
    run.write_text("q Q0 a 1 1 r\n", encoding="utf-8")
    found = read_trec(qrels, {"one": str(run), "two": str(run)}, "s")
    assert scores(found.tally) == {"one": [1.0, 1.0], "two": [1.0, 1.0]}


def test_empty_results_are_measured_zeros(tmp_path: Path) -> None:
    """A system that found nothing has no results, and every judged query is missing."""
    found = read_trec(*written(tmp_path, "q 0 a 1\n", bm25=""), "s")
    assert (scores(found.tally), found.counts.missing_queries) == ({"bm25": [0.0, 0.0]}, {"bm25": 1})


ROWS = st.lists(
    st.tuples(st.sampled_from("pqr"), st.sampled_from("abcdefghijklmn"), st.integers(0, 3)),
    unique_by=lambda row: row[:2],
    min_size=1,
    max_size=30,
)


@settings(max_examples=40, deadline=None)
@given(ROWS, ROWS, st.randoms(use_true_random=False), st.sampled_from([1, 3, 500_000]))
def test_neither_the_order_of_lines_nor_how_many_are_taken_at_a_time_shows(
    tmp_path_factory: pytest.TempPathFactory, judged: Any, results: Any, random: Any, batch: int
) -> None:
    """Results in any order are the same ranking, and whole queries at a time give what all at once do."""
    folder = tmp_path_factory.mktemp("trec")
    qrels = "".join(f"{query} 0 {document} {grade}\n" for query, document, grade in [*judged, ("p", "z", 1)])
    rows = [f"{query} Q0 {document} 1 {score} r\n" for query, document, score in results]
    once = read_trec(*written(folder, qrels, x="".join(rows)), "s", drop_queries_without_relevant=True)
    random.shuffle(rows)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trec_queries, "BATCH", batch)
        again = read_trec(*written(folder, qrels, x="".join(rows)), "s", drop_queries_without_relevant=True)
        assert (again.tally, again.counts, list(again.canonical())) == (once.tally, once.counts, list(once.canonical()))
    assert lines.read_chunk(b"\n".join(_three(once)), ["s"]).tally.outcomes("dense") == once.tally.outcomes("x")


def _three(found: Trec) -> list[bytes]:
    """Write the queries with the one system under three names."""
    cases = [json.loads(case) for case in found.canonical()]
    rankings = [dict.fromkeys(("lexical", "dense", "candidate"), case.pop("x")) for case in cases]
    return [json.dumps({**case, **three}).encode() for case, three in zip(cases, rankings, strict=True)]


# lines


def naively(text: str) -> tuple[list[tuple[str, str, float]], list[int]]:
    """Read results line by line: query, document and score of sound ones, and the numbers of broken ones."""
    rows, broken = [], []
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        words = [word for word in re.split("[ \t]", line.rstrip("\r")) if word]
        sound = len(words) > 5 and not any(re.search(r"[\x00-\x20\x7f\s]", word) for word in words[:6])
        if sound and re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", words[4], re.ASCII):
            rows.append((words[0], words[2], float(words[4])))
        elif words:
            broken.append(number)
    return rows, broken


RESULT = st.tuples(
    st.sampled_from(["q", "p", "é"]),
    st.just("Q0"),
    st.integers(0, 99).map("d{}".format),
    st.just("1"),
    st.sampled_from(["1", "0.5", "-2", "1e2", ".25", "3.", "nan", "0x1", "1e", "٣"]),
    st.sampled_from(["r", "r and more", "r\tmore", ""]),
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(RESULT, st.sampled_from([" ", " ", " ", "\t", "  ", "\u00a0", "\x0b"])), max_size=6),
    st.sampled_from(["\n", "\r\n", "\n\n", " \n"]),
)
def test_lines_are_taken_apart_as_a_naive_reader_does(
    tmp_path_factory: pytest.TempPathFactory, results: list[tuple[tuple[str, ...], str]], end: str
) -> None:
    """Whether all lines are plain, which is quicker, or not: the same columns, and the same lines are broken."""
    path = tmp_path_factory.mktemp("lines") / "run"
    text = "".join(sign.join(words) + end for words, sign in results)
    path.write_text(text, encoding="utf-8", newline="")
    found = read_lines(str(path), RESULTS, {})
    names = list(found.queries)
    rows = [(names[row["query"]], row["document"], row["number"]) for row in found.rows.iter_rows(named=True)]
    assert (rows, sorted({fault.line or 0 for fault in found.ledger.shown})) == naively(text)


# refusals

SOUND = "q Q0 a 1 1 r\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q 0 a", "must have 4 columns: query, iteration, document, grade; found 3 columns [columns]"),
        ("q 0 a 1 x", "must have 4 columns: query, iteration, document, grade; found 5 columns [columns]"),
        (
            "q 0 a 1.0",
            'grade: must be a whole number up to 3; give --max-grade where grades go higher; found "1.0" [grade]',
        ),
        (
            "q 0 a 4",
            'grade: must be a whole number up to 3; give --max-grade where grades go higher; found "4" [grade]',
        ),
        (
            "q 0 a x",
            'grade: must be a whole number up to 3; give --max-grade where grades go higher; found "x" [grade]',
        ),
        ("q 0 a\x01 1", 'document: must hold no control character and no white space; found "a\\u0001" [columns]'),
        ("q\u00a0r 0 a 1", 'query: must hold no control character and no white space; found "q\\u00a0r" [columns]'),
    ],
)
def test_a_malformed_judgment_is_refused(tmp_path: Path, line: str, message: str) -> None:
    """With file, line and column."""
    assert refused(tmp_path, f"q 0 b 1\n\n{line}\n", SOUND) == [f"qrels:3: {message}"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("q Q0 b 1 1", "must have 6 columns: query, iteration, document, rank, score, run; found 5 columns [columns]"),
        ("q Q0 b 1 nan r", 'score: must be a decimal number that a 32-bit float holds; found "nan" [score]'),
        ("q Q0 b 1 -inf r", 'score: must be a decimal number that a 32-bit float holds; found "-inf" [score]'),
        ("q Q0 b 1 1e39 r", 'score: must be a decimal number that a 32-bit float holds; found "1e39" [score]'),
        ("q Q0 b 1 0x1p3 r", 'score: must be a decimal number that a 32-bit float holds; found "0x1p3" [score]'),
        ("q Q0 b 1 1_0 r", 'score: must be a decimal number that a 32-bit float holds; found "1_0" [score]'),
        ("q Q0 b 1 1,5 r", 'score: must be a decimal number that a 32-bit float holds; found "1,5" [score]'),
    ],
)
def test_a_malformed_result_is_refused(tmp_path: Path, line: str, message: str) -> None:
    """With file, line and column, though the query be one that is not judged."""
    assert refused(tmp_path, "q 0 a 1\n", f"{SOUND}{line}\n") == [f"bm25:2: {message}"]
    assert refused(tmp_path, "z 0 a 1\n", f"{SOUND}{line}\n") == [f"bm25:2: {message}"]


def test_a_document_twice_under_one_query_is_refused(tmp_path: Path) -> None:
    """In judgments, which may contradict each other, and in results, which would be credited twice."""
    assert refused(tmp_path, "q 0 a 1\np 0 a 1\nq 0 a 1\n", SOUND) == [
        'qrels:3: document: stands twice under query "q"; keep one; found "a" [duplicate-document]'
    ]
    assert refused(tmp_path, "q 0 a 1\n", f"{SOUND}p Q0 a 1 1 r\nq Q0 a 2 0.5 r\n") == [
        'bm25:3: document: stands twice under query "q"; keep one; found "a" [duplicate-document]'
    ]


def test_a_line_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    """With its number and its byte."""
    qrels, runs = written(tmp_path, "q 0 a 1\n", bm25="")
    Path(runs["bm25"]).write_bytes(SOUND.encode() + b"q Q0 \xff 1 1 r\n")
    with pytest.raises(Refusal) as refusal:
        read_trec(qrels, runs, "s")
    assert str(refusal.value).endswith("bm25:2: must be UTF-8; byte 6 of the line is not; found 0xff [encoding]")


def test_what_is_wrong_in_all_files_is_said_at_once(tmp_path: Path) -> None:
    """Judgments first, then the systems in the order given."""
    assert [line.split(":")[0] for line in refused(tmp_path, "q 0 a\n", "q Q0 a\n")] == ["qrels", "bm25"]


def test_files_without_judgments_are_refused(tmp_path: Path) -> None:
    """There would be nothing to measure, and no one would notice."""
    assert refused(tmp_path, "\n", SOUND) == ["qrels: holds no judgments [no-records]"]


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """As everywhere."""
    with pytest.raises(Refusal) as refusal:
        read_trec(str(tmp_path / "none"), {"x": str(tmp_path / "none")}, "s")
    assert refusal.value.counts == {"path-missing": 1}


def test_a_pattern_of_several_files_is_refused(tmp_path: Path) -> None:
    """The judgments, and the results of one system, are one file each."""
    qrels, runs = written(tmp_path, "q 0 a 1\n", bm25=SOUND, bm26=SOUND)
    with pytest.raises(Refusal) as refusal:
        read_trec(qrels, {"x": f"{runs['bm25'][:-1]}*"}, "s")
    assert refusal.value.counts == {"one-file": 1}


@pytest.mark.parametrize("name", ["", " ", "relevance", "query_id", "source_id", "stratum"])
def test_a_system_needs_a_name_of_its_own(name: str) -> None:
    """It is a key of a query, beside those that a query has anyway."""
    with pytest.raises(Refusal) as refusal:
        read_trec("qrels", {name: "run"}, "s")
    assert refusal.value.counts == {"system": 1}


def test_some_system_must_be_named() -> None:
    """An empty set of systems would measure nothing."""
    with pytest.raises(Refusal, match="no system is named"):
        read_trec("qrels", {}, "s")


@pytest.mark.parametrize("grade", [0, -1, 54])
def test_the_highest_grade_is_one_whose_gain_is_exact(grade: int) -> None:
    """2^53 - 1 is a 64-bit float, 2^54 - 1 is none."""
    with pytest.raises(Refusal) as refusal:
        read_trec("qrels", {"x": "run"}, "s", max_grade=grade)
    assert refusal.value.counts == {"max-grade": 1}
