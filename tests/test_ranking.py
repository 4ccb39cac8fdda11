"""Ranked retrieval: what a query must hold, what its rankings come to, and that the fast path is the exact one."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.exact import rounded
from evalkit.families.ranking import lines, metrics
from evalkit.families.ranking.cutting import cut_apart
from evalkit.families.ranking.metrics import Outcome, ndcg_at_10, outcome, recall_at_10
from evalkit.families.ranking.rules import SYSTEMS, Query, canonical_query, read_query
from evalkit.families.ranking.shape import pattern
from evalkit.families.ranking.tally import Tally

REAL = Path(__file__).parent.parent / "data-fixtures" / "real" / "retrieval"


def case(**changes: Any) -> dict[str, Any]:
    """Return a valid case with changes; a field that is changed to ``...`` is left out."""
    found = {"query_id": "q1", "source_id": "s1", "relevance": {"a": 1, "b": 0}}
    found |= {"lexical": ["a"], "dense": ["b", "a"], "candidate": []}
    return {name: value for name, value in {**found, **changes}.items() if value is not ...}


def rules(found: object) -> list[tuple[str, str | None]]:
    """Return rule and field of each violation."""
    assert isinstance(found, tuple)
    assert not isinstance(found, Query)
    return [(one.rule, one.field) for one in found]


# metrics


def values(relevance: dict[str, int], ranking: Sequence[str]) -> tuple[float | None, float | None]:
    """Return Recall@10 and nDCG@10 of one query."""
    outcomes = {outcome(relevance, ranking): 1}
    return rounded(recall_at_10(outcomes)), rounded(ndcg_at_10(outcomes))


def test_a_document_of_grade_zero_is_not_relevant_and_takes_its_rank() -> None:
    """Of z, graded 0, and a, graded 1, the recall is 1 of 1, and the gain is discounted by log2(3)."""
    assert values({"a": 1, "z": 0}, ["z", "a"]) == (1.0, 0.630929753571458)


def test_a_document_without_a_judgment_is_not_relevant_and_takes_its_rank() -> None:
    """Unjudged documents count as grade 0."""
    assert values({"a": 1}, ["x", "a"]) == (1.0, 0.630929753571458)


def test_the_gain_is_exponential() -> None:
    """Grades 1, -, 3, 2 against 3, 2, 1 give 0.617; the linear gain of pytrec_eval gives 0.706."""
    recall, ndcg = values({"a": 3, "b": 2, "c": 1}, ["c", "x", "a", "b"])
    assert recall == 1.0
    assert ndcg == pytest.approx(0.6166463990037038, abs=1e-15)


def test_the_ideal_order_is_cut_at_ten_and_recall_is_not() -> None:
    """Five of twelve relevant documents first: nDCG divides by the gain of ten of them, recall by twelve."""
    grades = {f"d{number}": 1 for number in range(12)}
    recall, ndcg = values(grades, ["d0", "d1", "d2", "d3", "d4"])
    assert recall == 0.4166666666666667
    assert ndcg == pytest.approx(0.6489315753318465, abs=1e-15)


def test_only_ten_ranks_count() -> None:
    """What stands at rank eleven is not found."""
    others = [f"x{number}" for number in range(10)]
    assert values({"a": 1}, [*others, "a"]) == (0.0, 0.0)
    assert values({"a": 1}, [*others[:9], "a"]) == (1.0, 0.289064826317888)


def test_an_empty_ranking_is_a_measured_zero() -> None:
    """It found nothing; that is no missing value."""
    assert values({"a": 1}, []) == (0.0, 0.0)


def test_without_queries_nothing_is_measured() -> None:
    """Neither metric has a value over no queries."""
    assert recall_at_10({}) is None
    assert ndcg_at_10({}) is None
    assert not Tally()


def test_recall_is_the_exact_mean_of_fractions() -> None:
    """1/3, 2/3 and 1/7 have the mean 8/21; each query has the same weight."""
    outcomes = Counter({Outcome((1,), (1,) * 3, 3): 1, Outcome((1, 1), (1,) * 3, 3): 1, Outcome((1,), (1,) * 7, 7): 1})
    assert recall_at_10(outcomes) == Fraction(8, 21)


def test_the_gate_can_be_met_exactly() -> None:
    """17 of 20 queries with all found and three with nothing are 0.85, no less."""
    assert recall_at_10({Outcome((1,), (1,), 1): 17, Outcome((), (1,), 1): 3}) == Fraction(17, 20)


def test_discounted_gains_are_summed_as_decimals() -> None:
    """Three queries of 1/log2(3) add up to three times its 15 decimal places."""
    found = ndcg_at_10({Outcome((0, 1), (1,), 1): 3})
    assert found == (Decimal("1.892789260714374"), 3)


@pytest.mark.parametrize("grade", [1, 3, 53])
def test_the_best_order_has_the_value_one(grade: int) -> None:
    """Whatever the grades are, the ideal order has nDCG 1 exactly."""
    assert values({"a": grade, "b": 1}, ["a", "b"]) == (1.0, 1.0)


# rules


def test_a_valid_case_is_a_query() -> None:
    """Its judgments and rankings are taken as they stand."""
    assert read_query(case(stratum="long"), {"s1"}) == Query(
        "q1", "s1", {"a": 1, "b": 0}, {"lexical": ["a"], "dense": ["b", "a"], "candidate": []}, "long"
    )


@pytest.mark.parametrize("grade", [4, -1, 1.5, 2.0, True, False, None, "1", [1], 10**30])
def test_a_grade_is_a_whole_number_from_0_to_3(grade: object) -> None:
    """No truth value, no text, no fraction, though it be zero, and nothing else is a grade."""
    found = read_query(case(relevance={"a": grade, "b": 1}), {"s1"})
    assert rules(found) == [("grade", "relevance.a")]


def test_every_bad_grade_is_named() -> None:
    """All three are, in their order; whether something is relevant is not asked then."""
    found = read_query(case(relevance={"a": 4, "b": True, "c": 1.5}), {"s1"})
    assert rules(found) == [("grade", "relevance.a"), ("grade", "relevance.b"), ("grade", "relevance.c")]


@pytest.mark.parametrize(
    ("changes", "rule", "field"),
    [
        ({"relevance": {"a": 0}}, "no-relevant-document", "relevance"),
        ({"relevance": {}}, "no-relevant-document", "relevance"),
        ({"relevance": ["a"]}, "relevance", "relevance"),
        ({"relevance": None}, "relevance", "relevance"),
        ({"relevance": {" ": 1}}, "document-id", "relevance"),
        ({"lexical": ["a", "b", "a"]}, "duplicate-document", "lexical"),
        ({"lexical": "a"}, "ranking", "lexical"),
        ({"lexical": None}, "ranking", "lexical"),
        ({"lexical": {"a": 1}}, "ranking", "lexical"),
        ({"dense": ["a", 1]}, "document-id", "dense[1]"),
        ({"dense": [""]}, "document-id", "dense[0]"),
        ({"candidate": ...}, "missing-field", "candidate"),
        ({"dense": ...}, "missing-field", "dense"),
        ({"relevance": ...}, "missing-field", "relevance"),
        ({"query_id": ""}, "id", "query_id"),
        ({"query_id": 7}, "id", "query_id"),
        ({"source_id": "s2"}, "source-not-declared", "source_id"),
        ({"source_id": ["s1"]}, "source-not-declared", "source_id"),
        ({"stratum": 1}, "stratum", "stratum"),
        ({"stratum": None}, "stratum", "stratum"),
        ({"sparse": []}, "unknown-field", None),
    ],
)
def test_what_breaks_a_rule_is_named(changes: dict[str, Any], rule: str, field: str | None) -> None:
    """Each fault has its rule and its field, and no other is told."""
    assert rules(read_query(case(**changes), {"s1"})) == [(rule, field)]


@pytest.mark.parametrize("value", [None, [], "q", 1, True])
def test_a_case_is_an_object(value: object) -> None:
    """Nothing else is."""
    assert rules(read_query(value, {"s1"})) == [("object", None)]


def test_everything_that_is_wrong_is_said_at_once() -> None:
    """Faults of several fields are all there."""
    found = read_query({"query_id": "", "relevance": {"a": 9}, "lexical": 1, "dense": []}, {"s1"})
    assert rules(found) == [
        ("id", "query_id"),
        ("missing-field", "source_id"),
        ("grade", "relevance.a"),
        ("ranking", "lexical"),
        ("missing-field", "candidate"),
    ]


def test_a_query_is_written_as_rfc_8785_asks() -> None:
    """Keys by UTF-16 units, so that a smiley comes before U+FB33; no blanks; characters as they are."""
    relevance = {"\ufb33": 1, "😀": 2, 'b\n"é': 0}
    query = Query("q", "s", relevance, {"candidate": ["x y"], "lexical": [], "dense": ["z"]}, "t")
    assert canonical_query(query) == (
        '{"candidate":["x y"],"dense":["z"],"lexical":[],"query_id":"q",'
        '"relevance":{"b\\n\\"é":0,"😀":2,"\ufb33":1},"source_id":"s","stratum":"t"}'
    )


# tally


def test_tallies_of_parts_add_up_to_that_of_the_whole() -> None:
    """However the queries are split."""
    queries = [
        Query(f"q{n}", "s", {"a": 1 + n % 3, "b": 1}, {"x": ["a", "b"][: n % 3]}, "st"[: n % 2]) for n in range(9)
    ]
    whole = Tally.of_queries(queries)
    assert Tally.of_queries(queries[5:]) + Tally.of_queries(queries[:5]) == whole
    assert Tally.total(map(Tally.of, queries)) == whole
    assert metrics.queries(whole.outcomes("x")) == 9


def test_strata_and_systems_are_in_a_fixed_order() -> None:
    """Systems of a document first, in their order; strata by name, the queries without one last."""
    rankings: dict[str, list[str]] = {"zeta": [], "candidate": [], "lexical": [], "alpha": []}
    queries = [Query(name or "-", "s", {"a": 1}, rankings, name) for name in (None, "long", "brief")]
    tally = Tally.of_queries(queries)
    assert tally.systems == ("lexical", "candidate", "alpha", "zeta")
    assert tally.strata == ("brief", "long", None)
    assert metrics.queries(tally.outcomes("alpha", ["long"])) == 1
    assert metrics.queries(tally.outcomes("alpha", [None, "long"])) == 2


# lines


def exactly(raw: bytes, sources: frozenset[str] | None) -> tuple[Any, ...]:
    """Read lines one by one, without any fast path."""
    queries, ids, places, faults = [], [], [], []
    for place, line in enumerate(raw.removesuffix(b"\n").split(b"\n") if raw else [], 1):
        found = lines.read_line(line, sources)
        if isinstance(found, Query):
            queries.append(found)
            ids.append(found.query_id)
            places.append(place)
        elif found is not None:
            faults.append((place, found))
    canonical = ",".join(map(canonical_query, queries)).encode()
    return Tally.of_queries(queries), canonical, ids, places, tuple(faults)


def quickly(raw: bytes, sources: frozenset[str] | None) -> tuple[Any, ...]:
    """Read lines as the program does."""
    found = lines.read_chunk(raw, sources)
    return found.tally, found.canonical, found.ids.to_list(), found.lines.to_list(), found.faults


PLAIN_IDS = st.integers(0, 30).map("doc{}".format)
IDS = st.one_of(
    PLAIN_IDS, st.text(st.sampled_from('ab: ,]["\\{}!é\u00ff\u3042\ue000😀\u00a0-1'), min_size=1, max_size=4)
)
SIGNS = ('"', ",", "]", "{", "4", "", " ", "\t", ":", "a")


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Write a case in some spelling: half of them plain, and some with a fault somewhere."""
    plain = draw(st.booleans())
    ids = PLAIN_IDS if plain else IDS
    one: dict[str, Any] = {"query_id": draw(ids), "source_id": draw(st.sampled_from(["s1", "s1", "s2"]))}
    one["relevance"] = draw(st.dictionaries(ids, st.integers(0, 3), max_size=14)) | {"doc1": draw(st.integers(0, 2))}
    one |= {system: draw(st.lists(ids, max_size=13, unique=draw(st.booleans()))) for system in SYSTEMS}
    if draw(st.booleans()):
        one["stratum"] = draw(ids)
    order = list(one) if plain else draw(st.sampled_from([list(one), sorted(one), list(reversed(one))]))
    spelling = draw(st.sampled_from([(",", ":"), (", ", ": "), (", ", ": "), (" , ", " : ")]))
    text = json.dumps({key: one[key] for key in order}, separators=spelling, ensure_ascii=draw(st.booleans()))
    if draw(st.integers(0, 3)) == 0:
        place = draw(st.integers(0, len(text) - 1))
        text = text[:place] + draw(st.sampled_from(SIGNS)) + text[place + draw(st.integers(0, 1)) :]
    return text


@settings(max_examples=250, deadline=None)
@given(st.lists(texts(), max_size=8), st.booleans(), st.sampled_from(["\n", "\r\n", "\n\n"]), st.integers(1, 4000))
def test_the_fast_path_reads_what_the_exact_reader_reads(
    cases: list[str], declared: bool, end: str, piece: int
) -> None:
    """Whatever the lines hold, and in however many pieces: the same tally, canonical text, ids, lines and faults."""
    raw = end.join(cases).encode()
    sources = frozenset({"s1"}) if declared else None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "PIECE_BYTES", piece)
        assert quickly(raw, sources) == exactly(raw, sources)


PLAIN = json.dumps(case(relevance={"b: c": 1, "a": 3, "b": 0}, dense=["b: c", "http://x/#1", "é"]), ensure_ascii=False)


@pytest.mark.parametrize("text", [PLAIN, PLAIN.replace(", ", ",").replace('": ', '":')])
def test_plain_lines_stay_on_the_fast_path(text: str) -> None:
    """Else the law above would hold for want of anything fast."""
    frame = pl.DataFrame({"line": [0], "text": [text]}, schema={"line": pl.UInt32, "text": pl.String})
    shape = tuple(case())
    cut, rest = cut_apart(frame, shape, pattern(shape), frozenset({"s1"}))
    assert (cut.rows.height, rest.height) == (1, 0)


@pytest.mark.parametrize(
    "changes",
    [{"dense": ["a", "a"]}, {"relevance": {"a": 0}}, {"source_id": "s2"}],
    ids=["twice", "nothing relevant", "undeclared"],
)
def test_what_no_pattern_sees_is_refused_all_the_same(changes: dict[str, Any]) -> None:
    """A document twice, nothing relevant and an undeclared source are found on lines that look sound."""
    raw = "\n".join([PLAIN, json.dumps(case(**changes)), PLAIN]).encode()
    found = lines.read_chunk(raw, ["s1"])
    assert [line for line, _ in found.faults] == [2]
    assert found.lines.to_list() == [1, 3]


def test_a_key_that_stands_twice_in_relevance_is_refused() -> None:
    """The pattern of a line cannot see it; programs differ in which of the two they keep."""
    raw = PLAIN.replace('"a": 3', '"a": 3, "a": 3').encode()
    ((line, faults),) = lines.read_chunk(PLAIN.encode() + b"\n" + raw, ["s1"]).faults
    assert (line, faults[0].rule) == (2, "duplicate-key")


def test_lines_that_are_no_text_are_named() -> None:
    """One byte that is not UTF-8 is told with its line, and the lines around it are read."""
    raw = PLAIN.encode() + b"\n\n" + PLAIN.encode().replace(b"http", b"\xff") + b"\n" + PLAIN.encode() + b"\n"
    found = lines.read_chunk(raw, ["s1"])
    assert [(line, [one.rule for one in faults]) for line, faults in found.faults] == [(3, ["encoding"])]
    assert (found.lines.to_list(), found.line_count) == ([1, 4], 4)


def test_a_violation_names_the_query() -> None:
    """Beside line and field stands the id."""
    ((_, (fault,)),) = lines.read_chunk(json.dumps(case(candidate=1)).encode(), ["s1"]).faults
    assert str(fault) == (
        "candidate: must be an array of document ids, best first; an empty one where nothing was found, "
        'in "q1"; found 1 [ranking]'
    )


def test_parts_come_in_their_order_and_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many pieces are under way, their chunks come in the order of the lines, and together say the same."""
    monkeypatch.setattr(lines, "PIECE_BYTES", 1)
    parts = [b"".join(json.dumps(case(query_id=f"q{n}")).encode() + b"\n" for n in range(k, k + 7)) for k in (0, 7, 14)]
    found = list(lines.read_chunks(parts, ["s1"]))
    assert len(found) >= len(parts)
    assert [name for one in found for name in one.ids] == [f"q{n}" for n in range(21)]
    whole = lines.read_chunk(b"".join(parts), ["s1"])
    assert b",".join(one.canonical for one in found) == whole.canonical
    assert Tally.total(one.tally for one in found) == whole.tally
    assert list(lines.read_chunks([], ["s1"])) == []


def test_no_lines_are_no_queries() -> None:
    """Of nothing there is nothing."""
    found = lines.read_chunk(b"", ["s1"])
    assert (bool(found.tally), found.canonical, found.ids.to_list(), found.line_count) == (False, b"", [], 0)


def test_the_real_document_has_the_values_of_independent_tools() -> None:
    """NovelEval by array position: BM25, character trigrams and their fusion, as computed apart from evalkit."""
    document = json.loads((REAL / "novel_eval.observations.three-systems.json").read_bytes())
    raw = "\n".join(map(json.dumps, document["retrieval_queries"])).encode()
    found = lines.read_chunk(raw, document["source_ids"])
    scores = {system: [rounded(one(found.tally.outcomes(system))) for one in metrics.METRICS] for system in SYSTEMS}
    assert scores == {
        "lexical": pytest.approx([0.7134920634920634, 0.6225619597824267], abs=1e-12),
        "dense": pytest.approx([0.7257936507936508, 0.638357919119907], abs=1e-12),
        "candidate": pytest.approx([0.7464285714285714, 0.6581783572242136], abs=1e-12),
    }
