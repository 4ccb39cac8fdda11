"""From the lines of TREC files to queries: judged, ranked, counted and written, some whole queries at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from evalkit.errors import Ledger, Refusal, Violation
from evalkit.families.ranking.metrics import CUTOFF, Outcome, cut
from evalkit.families.ranking.rules import in_order
from evalkit.families.ranking.tally import Key, Tally
from evalkit.families.ranking.trec_lines import Lines
from evalkit.records.strict_json import show

BATCH = 500_000
"""About how many rows are sorted or written at a time."""

_NO_ORDER = r"[\x{e000}-\x{10ffff}]"
"""Characters that UTF-8 may order otherwise than UTF-16."""


@dataclass(frozen=True, slots=True)
class Judged:
    """The judgments.

    Attributes:
        grades: ``query``, ``document`` and ``grade``, as RFC 8785 orders them; only queries that are measured.
        names: The id of each query, by its number.
        negative: How many grades were below 0.
        dropped: How many queries without a relevant document were left out.
    """

    grades: pl.DataFrame
    names: list[str]
    negative: int
    dropped: int


def judged(lines: Lines, file: str, *, drop: bool) -> Judged:
    """Take the judgments of all queries.

    Args:
        lines: The lines of the file.
        file: Its name.
        drop: Leave queries without a relevant document out.

    Raises:
        Refusal: A document stands twice under one query; or a query has no relevant document and is not to be left out.
    """
    names = list(lines.queries)
    rows = lines.rows.rename({"number": "grade"})
    _refuse_repeated(rows, names, file)
    best = rows.group_by("query").agg(pl.col("grade").max(), pl.col("line").min()).filter(pl.col("grade") < 1)
    if best.height and not drop:
        raise _without_relevant(best.sort("line"), names, file)
    negative = int((rows["grade"] < 0).sum())
    grades = rows.join(best, on="query", how="anti").select("query", "document", pl.col("grade").clip(0))
    return Judged(_in_order(grades), names, negative, best.height)


def ranked(lines: Lines, judged: Judged, file: str) -> pl.DataFrame:
    """Rank the results of judged queries, best first: ``query`` and ``document``.

    Raises:
        Refusal: A document stands twice under one query.
    """
    names = list(lines.queries)
    measured = judged.grades.lazy().select("query").unique()
    found = [lines.rows.select("query", "document").clear()]
    together = lines.rows["query"].is_sorted()  # as results nearly always are
    for rows in batches(lines.rows if together else lines.rows.sort("query", maintain_order=True)):
        _refuse_repeated(rows, names, file)
        kept = rows.lazy().join(measured, on="query", how="semi")
        order = kept.sort("query", "number", "document", descending=[False, True, True])
        found.append(order.select("query", "document").collect())
    return pl.concat(found).with_columns(pl.col("query").set_sorted())


def batches(rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Cut rows in the order of their queries into slices of whole queries."""
    queries, start = rows["query"], 0
    while start < rows.height:
        last = queries[min(start + BATCH, rows.height) - 1]
        stop = queries.search_sorted(last, side="right")
        yield rows[start:stop]
        start = stop


def tally(judged: Judged, rankings: Mapping[str, pl.DataFrame]) -> Tally:
    """Count the queries by what each system's ranking came to; one that it lacks is an empty ranking."""
    grade = pl.col("grade")
    positive = judged.grades.lazy().group_by("query").agg(grade.filter(grade > 0).sort(descending=True))
    counts = positive.select("query", best=grade.list.head(CUTOFF), relevant=grade.list.len()).collect()
    counted = []
    for system, ranking in rankings.items():
        top = _best(ranking).lazy()
        top = top.join(judged.grades.lazy(), on=["query", "document"], how="left", maintain_order="left")
        found = top.group_by("query", maintain_order=True).agg(grade.fill_null(0)).collect()
        rows = counts.join(found, on="query", how="left").select("best", "relevant", "grade").iter_rows()
        counted += [
            (Key(system, None, Outcome(cut(grades or ()), tuple(best), relevant)), 1) for best, relevant, grades in rows
        ]
    return Tally.of_counts(counted)


def _best(ranking: pl.DataFrame) -> pl.DataFrame:
    """Return the first ten rows of each query, of rows in the order of queries."""
    lengths = ranking["query"].rle().struct.field("len").cast(pl.Int64)
    starts = pl.DataFrame({"start": lengths.cum_sum() - lengths, "length": lengths})
    rows = starts.select(pl.int_ranges("start", pl.col("start") + pl.col("length").clip(upper_bound=CUTOFF)).explode())
    return ranking[rows.to_series()]


def canonical(judged: Judged, rankings: Mapping[str, pl.DataFrame], source_id: str) -> Iterator[bytes]:
    """Write queries as RFC 8785 does, in the order of their numbers."""
    lists = {system: _Lists(ranking) for system, ranking in rankings.items()}
    document = _written(judged.grades["document"])
    for grades in batches(judged.grades):
        graded = pl.concat_str(document, pl.lit('":'), pl.col("grade"))
        relevance = grades.group_by("query", maintain_order=True).agg(graded.str.join(',"'))
        columns = {system: found.of(relevance["query"]) for system, found in lists.items()}
        for place, (query, text) in enumerate(relevance.iter_rows()):
            members = {system: texts[place] for system, texts in columns.items()}
            members |= {"query_id": _text(judged.names[query]), "source_id": _text(source_id)}
            members["relevance"] = f'{{"{text}}}'
            yield ("{" + ",".join(f"{_text(key)}:{value}" for key, value in in_order(members).items()) + "}").encode()


class _Lists:
    """The rankings of one system, written as arrays."""

    def __init__(self, ranking: pl.DataFrame) -> None:
        self._ranking = ranking
        self._written = _written(ranking["document"])

    def of(self, queries: pl.Series) -> list[str]:
        """Return the arrays of some queries, given by their numbers in order."""
        numbers = self._ranking["query"]
        start = numbers.search_sorted(queries[0], side="left")
        stop = numbers.search_sorted(queries[-1], side="right")
        rows = self._ranking[start:stop].lazy().group_by("query").agg(self._written.str.join('","'))
        found = queries.to_frame().lazy().join(rows, on="query", how="left", maintain_order="left")
        texts = pl.concat_str(pl.lit('["'), "document", pl.lit('"]')).fill_null("[]")
        return found.select(texts).collect().to_series().to_list()


def _written(documents: pl.Series) -> pl.Expr:
    """Spell document ids as in JSON; they hold no control character."""
    document = pl.col("document")
    if not documents.str.contains(r'["\\]').any():
        return document
    return document.str.replace_all("\\", "\\\\", literal=True).str.replace_all('"', '\\"', literal=True)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _in_order(grades: pl.DataFrame) -> pl.DataFrame:
    """Order judgments by query, and under one query by the UTF-16 units of the document."""
    document = pl.col("document")
    if grades.select(document.str.contains(_NO_ORDER).any()).item():
        document = document.map_elements(lambda text: text.encode("utf-16-be").hex(), return_dtype=pl.String)
    return grades.sort("query", document)


def _refuse_repeated(rows: pl.DataFrame, names: list[str], file: str) -> None:
    """Refuse a document that stands twice under one query."""
    # Equal pairs have equal digests; other pairs nearly never do, and are then told apart.
    if rows.select((pl.col("query").hash() ^ pl.col("document").hash()).n_unique()).item() == rows.height:
        return
    pair = pl.struct("query", "document")
    again = rows.filter(~pair.is_first_distinct()).sort("line").select("line", "query", "document")
    if again.is_empty():
        return
    raise _refused(
        Violation(
            "duplicate-document",
            f"stands twice under query {show(names[query])}; keep one",
            file,
            line,
            "document",
            show(text),
        )
        for line, query, text in again.iter_rows()
    )


def _without_relevant(queries: pl.DataFrame, names: list[str], file: str) -> Refusal:
    message = "has no relevant document; judge one, or give --drop-queries-without-relevant"
    return _refused(
        Violation("no-relevant-document", message, file, line, "query", show(names[query]))
        for line, query in queries.select("line", "query").iter_rows()
    )


def _refused(faults: Iterable[Violation]) -> Refusal:
    return Refusal.from_ledger(Ledger.of((fault,) for fault in faults))
