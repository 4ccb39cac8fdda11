"""TREC files: judgments and the results of any systems, taken for the queries that they say.

Results are ranked by score, the highest first, and equal scores by document id, the greatest first; the rank column is
not read. So trec_eval does, which keeps scores as 32-bit floats: scores that differ only beyond are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import polars as pl

from evalkit.errors import Refusal, Violation
from evalkit.families.ranking.metrics import GREATEST_GRADE, MAX_GRADE
from evalkit.families.ranking.rules import REQUIRED, STRATUM, SYSTEMS
from evalkit.families.ranking.tally import Tally
from evalkit.families.ranking.trec_lines import RESULTS, judgments, read_lines
from evalkit.families.ranking.trec_queries import Judged, canonical, judged, ranked, tally
from evalkit.records.rules import is_name
from evalkit.records.strict_json import show
from evalkit.sources.source import label


@dataclass(frozen=True, slots=True)
class TrecCounts:
    """What was left out or taken otherwise than it stands.

    Attributes:
        queries: The queries measured.
        unjudged_queries: Of each system, the queries in its results that are not judged: left out.
        missing_queries: Of each system, the measured queries that its results lack: empty rankings.
        negative_grades: The grades below 0: they count as 0.
        queries_without_relevant: The judged queries without a relevant document: left out.
    """

    SNAKE_CASE: ClassVar[bool] = True

    queries: int
    unjudged_queries: Mapping[str, int]
    missing_queries: Mapping[str, int]
    negative_grades: int
    queries_without_relevant: int


@dataclass(frozen=True, slots=True)
class Trec:
    """The queries that TREC files say.

    Attributes:
        tally: The queries, counted.
        counts: What was left out.
    """

    tally: Tally
    counts: TrecCounts
    _judged: Judged = field(repr=False)
    _rankings: Mapping[str, pl.DataFrame] = field(repr=False)
    _source_id: str

    def canonical(self) -> Iterator[bytes]:
        """Write the queries as RFC 8785 writes cases of ``retrieval_queries``, in the order of the judgments."""
        yield from canonical(self._judged, self._rankings, self._source_id)


def read_trec(
    qrels: str,
    runs: Mapping[str, str],
    source_id: str,
    *,
    max_grade: int = MAX_GRADE,
    drop_queries_without_relevant: bool = False,
) -> Trec:
    """Read judgments and results.

    Args:
        qrels: The file of judgments: query, anything, document, grade.
        runs: Of each system, the file of its results: query, anything, document, rank, score, run. Text after the
            sixth column is not read.
        source_id: The declared source that all queries are about.
        max_grade: The highest grade that is taken.
        drop_queries_without_relevant: Leave judged queries without a relevant document out, instead of refusing them.

    Raises:
        Refusal: A file cannot be read, a line is malformed, a document stands twice under one query, a grade is too
            high, a judged query has no relevant document, or no system is named.
    """
    _check(runs, max_grade)
    found = read_lines(qrels, judgments(max_grade), {})
    results = {system: read_lines(path, RESULTS, found.queries) for system, path in runs.items()}
    if (ledger := sum((one.ledger for one in results.values()), found.ledger)).lines:
        raise Refusal.from_ledger(ledger)
    if not found.queries:
        raise Refusal.of(Violation("no-records", "holds no judgments", label(qrels)))
    judgment = judged(found, label(qrels), drop=drop_queries_without_relevant)
    unjudged = {system: len(one.queries) - len(found.queries) for system, one in results.items()}
    # One after the other, so that the lines of one system alone are there beside its ranking.
    rankings = {system: ranked(results.pop(system), judgment, label(path)) for system, path in runs.items()}
    measured = judgment.grades["query"].n_unique()
    missing = {system: measured - one["query"].n_unique() for system, one in rankings.items()}
    counts = TrecCounts(measured, unjudged, missing, judgment.negative, judgment.dropped)
    return Trec(tally(judgment, rankings), counts, judgment, rankings, source_id)


def _check(runs: Mapping[str, str], max_grade: int) -> None:
    """Refuse names and numbers that no file is needed for to know them wrong."""
    faults = []
    if not runs:
        faults.append(Violation("system", "no system is named; give at least one file of results"))
    taken = {*REQUIRED, STRATUM} - {*SYSTEMS}
    for system in runs:
        if not is_name(system) or system in taken:
            message = f"a system needs a name of more than white space, and none of {', '.join(sorted(taken))}"
            faults.append(Violation("system", message, value=show(system)))
    if not 1 <= max_grade <= GREATEST_GRADE:
        message = f"must be from 1 to {GREATEST_GRADE}: higher gains are no longer exact"
        faults.append(Violation("max-grade", message, value=str(max_grade)))
    if faults:
        raise Refusal.of(*faults)
