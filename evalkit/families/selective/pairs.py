"""Two models' test records paired by an id: what each made of the same record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Literal

import polars as pl

from evalkit.errors import Refusal, Violation
from evalkit.families.selective.contributors import ACCEPTED, judged
from evalkit.reading.contributors import CONTRIBUTOR
from evalkit.records.strict_json import show
from evalkit.uncertainty.mcnemar import ClusteredMcNemar, Disagreement, McNemar, clustered_mcnemar, mcnemar

Result = Literal["right", "wrong", "abstained"]
RESULTS: tuple[Result, ...] = ("right", "wrong", "abstained")
"""What a model can make of a record at its threshold."""


@dataclass(frozen=True, slots=True)
class PairBy:
    """How records are paired.

    Attributes:
        path: The dotted path of the id.
        column: The column of the outcomes that holds it.
    """

    path: str
    column: str


@dataclass(frozen=True, slots=True)
class Discordant:
    """Paired records by who has them right; a record that is abstained from is not right."""

    both_right: int
    only_baseline_right: int
    only_candidate_right: int
    neither_right: int


@dataclass(frozen=True, slots=True)
class Flip:
    """How many paired records went from one result of the baseline to one of the candidate."""

    baseline: Result
    candidate: Result
    count: int


@dataclass(frozen=True, slots=True)
class Pairs:
    """Two models on the records that have the same id.

    Attributes:
        paired: Records that both have.
        only_baseline: Ids that only the baseline has.
        only_candidate: Ids that only the candidate has.
        without_id: Test records of either that have no id, and stand outside.
        contributors: Contributors of the paired records.
        discordant: Who has them right.
        flips: Every result of the baseline by every result of the candidate.
        mcnemar: McNemar's test, as if no two records were one contributor's.
        clustered: The same by contributors; the one to read where a contributor has several records.
        adjusted_p_value: The p-value of ``clustered`` with as many candidates allowed for (Holm), or None.
    """

    paired: int
    only_baseline: int
    only_candidate: int
    without_id: int
    contributors: int
    discordant: Discordant
    flips: tuple[Flip, ...]
    mcnemar: McNemar
    clustered: ClusteredMcNemar
    adjusted_p_value: float | None = None


def records_with_id(
    test: pl.DataFrame, thresholds: Mapping[str, float], id_column: str, path: str
) -> dict[str, pl.DataFrame]:
    """Return each model's test records with what it made of them: ``id``, ``truth``, ``contributor``, ``result``.

    Args:
        test: Outcomes of the test split.
        thresholds: The threshold of each model; models without one are left out.
        id_column: The column that holds the id, null where a record has none.
        path: The id's field, for refusals.

    Raises:
        Refusal: An id stands more than once among the test records of one model (``pair-duplicate``).
    """
    right = (pl.col("truth") == pl.col("predicted")).fill_null(value=False)
    taken = pl.col("outcome") == ACCEPTED
    result = pl.when(~taken).then(pl.lit("abstained")).when(right).then(pl.lit("right")).otherwise(pl.lit("wrong"))
    texts = (pl.col(name).cast(pl.String).alias(alias) for name, alias in ((id_column, "id"), ("truth", "truth")))
    records = judged(test.lazy(), thresholds, 1).select(
        pl.col("model").cast(pl.String), *texts, CONTRIBUTOR, "n", result=result
    )
    parted = records.collect().partition_by("model", as_dict=True, include_key=False)
    none = records.drop("model").collect_schema().to_frame()
    found = {name: parted.get((name,), none) for name in thresholds}
    for name, frame in found.items():
        _assert_once(name, frame, path)
    return found


def _assert_once(model: str, records: pl.DataFrame, path: str) -> None:
    counts = records.filter(pl.col("id").is_not_null()).group_by("id").agg(pl.col("n").sum())
    twice = counts.filter(pl.col("n") > 1).sort("id")
    if twice.height:
        first, times = twice.row(0)
        more = _others(twice.height - 1, "; so does another id", "; so do {:,} other ids")
        message = f"stands {times:,} times among the test records of {model}, so it pairs no records{more}"
        raise Refusal.of(Violation("pair-duplicate", message, field=path, value=show(first)))


def _others(number: int, one: str, several: str) -> str:
    return several.format(number) if number > 1 else one * number


def pairs_of(baseline: pl.DataFrame, candidate: pl.DataFrame, names: tuple[str, str], path: str) -> Pairs:
    """Pair two models' records by id.

    Args:
        baseline: The baseline's records, from ``records_with_id``.
        candidate: The candidate's.
        names: The names of both models, the baseline's first.
        path: The id's field, for refusals.

    Raises:
        Refusal: One id has two truths (``pair-truth``) or two contributors (``pair-contributor``).
    """
    theirs, ours = (one.filter(pl.col("id").is_not_null()) for one in (baseline, candidate))
    both = theirs.join(ours, on="id", suffix="_candidate")
    _assert_same(both, "truth", "pair-truth", names, path)
    _assert_same(both, "contributor", "pair-contributor", names, path)
    flips = _flips(both)
    discordant = _discordant(flips)
    clusters = _disagreements(both)
    return Pairs(
        paired=both.height,
        only_baseline=theirs.height - both.height,
        only_candidate=ours.height - both.height,
        without_id=int(sum(one.filter(pl.col("id").is_null())["n"].sum() for one in (baseline, candidate))),
        contributors=len(clusters),
        discordant=discordant,
        flips=flips,
        mcnemar=mcnemar(discordant.only_baseline_right, discordant.only_candidate_right),
        clustered=clustered_mcnemar(clusters),
    )


def _assert_same(both: pl.DataFrame, column: str, rule: str, names: tuple[str, str], path: str) -> None:
    """Refuse pairs whose sides do not agree on what no model may change."""
    unlike = both.filter(pl.col(column) != pl.col(f"{column}_candidate")).sort("id")
    if unlike.height:
        row = unlike.row(0, named=True)
        said = f" ({row['truth']} and {row['truth_candidate']})" if column == "truth" else ""
        more = _others(unlike.height - 1, "; so has another id", "; so have {:,} other ids")
        message = f"has another {column} in {names[1]} than in {names[0]}{said}{more}"
        raise Refusal.of(Violation(rule, message, field=path, value=show(row["id"])))


def _flips(both: pl.DataFrame) -> tuple[Flip, ...]:
    sizes = {row[:2]: row[2] for row in both.group_by("result", "result_candidate").len().iter_rows()}
    return tuple(Flip(was, now, sizes.get((was, now), 0)) for was, now in product(RESULTS, RESULTS))


def _discordant(flips: tuple[Flip, ...]) -> Discordant:
    found = dict.fromkeys(product((True, False), (True, False)), 0)
    for one in flips:
        found[one.baseline == "right", one.candidate == "right"] += one.count
    return Discordant(found[True, True], found[True, False], found[False, True], found[False, False])


def _disagreements(both: pl.DataFrame) -> list[Disagreement]:
    """Count by contributor, in the order of their keys."""
    was, now = pl.col("result") == "right", pl.col("result_candidate") == "right"
    sums = both.group_by("contributor").agg(b=(was & ~now).sum(), c=(~was & now).sum(), n=pl.len()).sort("contributor")
    return [Disagreement(*row) for row in sums.select("b", "c", "n").iter_rows()]
