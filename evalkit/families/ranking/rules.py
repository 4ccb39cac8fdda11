"""What a query must hold: its judgments and three rankings, or every rule that it breaks.

This is the definition of a valid query. The fast path (``lines``) may only accept what is accepted here, with the same
values; whatever it does not accept comes here, and only this module words what is wrong.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Container, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from evalkit.errors import Violation
from evalkit.families.ranking.metrics import MAX_GRADE
from evalkit.records.rules import is_name
from evalkit.records.strict_json import show

SYSTEMS = ("lexical", "dense", "candidate")
"""The systems of a document."""

REQUIRED = ("query_id", "source_id", "relevance", *SYSTEMS)
"""The fields that each query has."""

STRATUM = "stratum"

_BLANK = "must be a text of more than white space, without the character U+0000"


class Query(NamedTuple):
    """A valid query.

    Attributes:
        query_id: Its id.
        source_id: The declared source that it is about.
        relevance: The grade of each judged document, from 0, not relevant, up.
        rankings: The documents that each system found, best first.
        stratum: What it is counted apart by; None where it says nothing.
    """

    query_id: str
    source_id: str
    relevance: Mapping[str, int]
    rankings: Mapping[str, Sequence[str]]
    stratum: str | None = None


def read_query(case: object, sources: Container[str] | None) -> Query | tuple[Violation, ...]:
    """Read one case of ``retrieval_queries``: a query, or every rule that it breaks.

    Args:
        case: What ``strict_json`` parsed.
        sources: The declared sources; None where they are not known, and any will do.

    Returns:
        The query; or violations that name a field of it, and neither file nor line. Whether its id stands only once is
        not asked here.

    >>> case = {"query_id": "q", "source_id": "s", "relevance": {"a": 1}, "lexical": ["a"]}
    >>> case |= {"dense": [], "candidate": []}
    >>> read_query(case, {"s"}).rankings["lexical"]
    ['a']
    >>> print(*read_query({**case, "relevance": {"a": True}}, {"s"}))
    relevance.a: must be a whole number from 0 to 3, without fraction or quotes; found true [grade]
    """
    if not isinstance(case, dict):
        return (Violation("object", "must be an object", value=show(case)),)
    if faults := tuple(_faults(case, sources)):
        return faults
    rankings = {system: case[system] for system in SYSTEMS}
    return Query(case["query_id"], case["source_id"], case["relevance"], rankings, case.get(STRATUM))


def canonical_query(query: Query) -> str:
    """Write a query as RFC 8785 does.

    >>> canonical_query(Query("q", "s", {"b": 1, "a": 2}, {"bm25": ["b"]}))
    '{"bm25":["b"],"query_id":"q","relevance":{"a":2,"b":1},"source_id":"s"}'
    """
    case = {"query_id": query.query_id, "source_id": query.source_id, "relevance": in_order(query.relevance)}
    case |= query.rankings
    if query.stratum is not None:
        case[STRATUM] = query.stratum
    return json.dumps(in_order(case), ensure_ascii=False, separators=(",", ":"))


def in_order(members: Mapping[str, Any]) -> dict[str, Any]:
    """Order keys by their UTF-16 units, as RFC 8785 asks."""
    return dict(sorted(members.items(), key=lambda member: member[0].encode("utf-16-be")))


def _faults(case: Mapping[str, Any], sources: Container[str] | None) -> Iterator[Violation]:
    for name in case:
        if name not in REQUIRED and name != STRATUM:
            yield Violation("unknown-field", "there is no such field in a query", value=show(name))
    for name in REQUIRED:
        if name not in case:
            yield Violation("missing-field", "is missing", field=name)
        else:
            yield from _judge(name, case[name], sources)
    if STRATUM in case:
        yield from _judge_text(STRATUM, case[STRATUM], "stratum")


def _judge(name: str, value: object, sources: Container[str] | None) -> Iterator[Violation]:
    if name == "query_id":
        yield from _judge_text(name, value, "id")
    elif name == "source_id":
        if sources is None:
            yield from _judge_text(name, value, "source-not-declared")
        elif not isinstance(value, str) or value not in sources:
            yield Violation("source-not-declared", "must be one of source_ids", field=name, value=show(value))
    elif name == "relevance":
        yield from _judge_relevance(value)
    else:
        yield from _judge_ranking(name, value)


def _judge_text(name: str, value: object, rule: str) -> Iterator[Violation]:
    if not is_name(value):
        yield Violation(rule, _BLANK, field=name, value=show(value))


def _judge_relevance(value: object) -> Iterator[Violation]:
    if not isinstance(value, dict):
        message = "must be an object of a grade for each judged document"
        yield Violation("relevance", message, field="relevance", value=show(value))
        return
    sound = True
    for document, grade in value.items():
        if not is_name(document):
            yield Violation("document-id", _BLANK, field="relevance", value=show(document))
        if type(grade) is not int or not 0 <= grade <= MAX_GRADE:
            sound = False
            message = f"must be a whole number from 0 to {MAX_GRADE}, without fraction or quotes"
            yield Violation("grade", message, field=f"relevance.{document}", value=show(grade))
    if sound and not any(value.values()):
        message = f"must hold a document with a grade from 1 to {MAX_GRADE}; a query without one says nothing"
        yield Violation("no-relevant-document", message, field="relevance", value=show(value))


def _judge_ranking(name: str, value: object) -> Iterator[Violation]:
    if not isinstance(value, list):
        message = "must be an array of document ids, best first; an empty one where nothing was found"
        yield Violation("ranking", message, field=name, value=show(value))
        return
    if all(map(is_name, value)) and len(set(value)) == len(value):
        return
    for place, document in enumerate(value):
        if not is_name(document):
            yield Violation("document-id", _BLANK, field=f"{name}[{place}]", value=show(document))
    for document, times in Counter(document for document in value if isinstance(document, str)).items():
        if times > 1:
            message = "no document may stand twice in one ranking; keep its best rank"
            yield Violation("duplicate-document", message, field=name, value=show(document))
