"""How sure the measures are: each as ratios of sums by source, which are what varies from sample to sample.

Cases of one source vary together. Units of work name no source: those of one day do. Where all queries are about one
source, as those of TREC files are, each query stands for itself: the interval then says nothing of other sources.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache

import polars as pl

from evalkit.exact import Exact, fraction, rounded
from evalkit.families.observations import commands, review, text
from evalkit.families.observations.cases import FAMILIES, SOURCE
from evalkit.families.observations.measured import MEASURES, RETRIEVAL, Row, Tallies, labels
from evalkit.families.observations.sure import Statistics, Told
from evalkit.families.ranking import metrics as ranking
from evalkit.families.ranking.metrics import Outcome, Outcomes
from evalkit.reading.contributors import numbers_of
from evalkit.uncertainty.asked import Asked
from evalkit.uncertainty.chosen import Chosen
from evalkit.uncertainty.clusters import Clusters, Entry, Sample, clustered
from evalkit.uncertainty.estimand import UNIT, Estimand, Term, share
from evalkit.uncertainty.interval import Interval, from_variance, interval, prepare
from evalkit.uncertainty.told import SOURCE as BY_SOURCE

BY_DATE, BY_QUERY = "date", "query"

COUNT = "count"
"""Why there is no interval of a count: it grows with the number of cases, and is no property of their kind."""

_EDITS = Term({"char_edits": 1}, {"ref_chars": 1})

ESTIMANDS: Mapping[str, Estimand] = {
    one.name: one
    for one in (
        Estimand(text.cer.name, (_EDITS,), high=None),
        Estimand(text.wer.name, (Term({"word_edits": 1}, {"ref_words": 1}),), high=None),
        Estimand(text.fidelity.name, (Term({"ref_chars": 1, "char_edits": -1}, {"ref_chars": 1}),)),
        share(commands.command_fidelity.name, "identical", "cases"),
        share(commands.token_fidelity.name, "tokens_kept", "ref_tokens"),
        share(commands.flag_fidelity.name, "flags_kept", "ref_flags"),
        share(review.schema_validity.name, "valid", "cases"),
        share(review.claim_support.name, "supported", "reviewed"),
        share(review.merge_precision.name, "correct", "accepted"),
        share(review.provenance.name, "sourced", "cases"),
        share(review.queue_completion.name, "completed", "due"),
        Estimand(ranking.recall_at_10.name, (Term({ranking.recall_at_10.name: 1}, {"queries": UNIT}),)),
        Estimand(ranking.ndcg_at_10.name, (Term({ranking.ndcg_at_10.name: 1}, {"queries": UNIT}),)),
    )
}
"""Every measure that is no count."""


def statistics(tallies: Tallies, rows: tuple[Row, ...], chosen: Chosen) -> Statistics:
    """Say how sure every measure is.

    Args:
        tallies: The sums, those by source among them.
        rows: The measures.
        chosen: What is wanted.
    """
    asked = chosen.asked
    return Statistics(
        level=rounded(asked.level),
        replicates=asked.replicates,
        seed=asked.seed,
        clustered_by=BY_SOURCE,
        min_contributors=asked.min_contributors,
        intervals=tuple(_intervals(_Clustered(tallies), rows, asked)),
    )


def _intervals(clusters: _Clustered, rows: tuple[Row, ...], asked: Asked) -> Iterator[Told]:
    families = {one.metric.name: one.family for one in MEASURES}
    for row in rows:
        one = row.measurement
        family = families[one.name]
        by, found = clusters.interval(row, family, asked)
        yield Told(
            one.name,
            one.place.model,
            one.place.stratum,
            rounded(one.value),
            *(found.low, found.high, found.at_least, found.at_most),
            found.method,
            found.reason,
            by,
            found.sample.contributors,
            rounded(found.sample.effective),
            rounded(found.sample.largest_share),
        )


_NOBODY = Sample(0, None, None, 0)


class _Clustered:
    """The sums by source as matrices, each made once."""

    def __init__(self, tallies: Tallies) -> None:
        self._tallies = tallies
        self._labels = {family: labels({key[0] for key in own}) for family, own in tallies.clusters.items()}
        self._ranked = labels(tallies.rankings.strata)
        self._sources = {key.source for key in tallies.rankings.counts}
        self._matrices: dict[tuple[str, str | None], Clusters] = {}

    def interval(self, row: Row, family: str, asked: Asked) -> tuple[str, Interval]:
        """Return what varies as one, and the interval."""
        one = row.measurement
        by = self._by(family)
        estimand = ESTIMANDS.get(one.name, Estimand(one.name, ()))
        if row.whole or one.reason is not None:
            return by, Interval(estimand, one.value, _NOBODY, reason=COUNT if one.reason is None else one.reason)
        if by == BY_QUERY:
            return by, _over_queries(estimand, one.value, self._outcomes(one.place.model, one.place.stratum), asked)
        matrix = self._matrix(family if family != RETRIEVAL else f"{RETRIEVAL} {one.place.model}", one.place.stratum)
        return by, interval(estimand, prepare(matrix, asked, resampled=False), asked)

    def _by(self, family: str) -> str:
        if family == RETRIEVAL:
            return BY_SOURCE if len(self._sources) > 1 else BY_QUERY
        return BY_SOURCE if FAMILIES[family].cluster == SOURCE else BY_DATE

    def _matrix(self, what: str, stratum: str | None) -> Clusters:
        found = self._matrices.get((what, stratum))
        if found is None:
            ranked = what.startswith(RETRIEVAL)
            sums = self._queries(what.removeprefix(f"{RETRIEVAL} "), stratum) if ranked else self._sums(what, stratum)
            found = self._matrices[what, stratum] = _matrix(sums)
        return found

    def _sums(self, family: str, stratum: str | None) -> list[tuple[str, Mapping[str, int]]]:
        names = self._labels[family]
        return [
            (source, {name: sum_ for name, sum_ in counts._asdict().items() if isinstance(sum_, int)})
            for (own, source), counts in self._tallies.clusters[family].items()
            if stratum is None or names[own] == stratum
        ]

    def _queries(self, system: str, stratum: str | None) -> list[tuple[str, Mapping[str, int]]]:
        return [
            (key.source or "", {name: amount * count for name, amount in _scores(key.outcome).items()})
            for key, count in self._tallies.rankings.counts.items()
            if key.system == system and (stratum is None or self._ranked[key.stratum] == stratum)
        ]

    def _outcomes(self, system: str | None, stratum: str | None) -> Outcomes:
        strata = None if stratum is None else [one for one, name in self._ranked.items() if name == stratum]
        return self._tallies.rankings.outcomes(system or "", strata)


@cache
def _scores(outcome: Outcome) -> Mapping[str, int]:
    """Return what one query adds, in whole parts of one, each rounded once."""
    scores = {one.name: round((fraction(one({outcome: 1})) or 0) * UNIT) for one in ranking.METRICS}
    return {"queries": 1, **scores}


def _matrix(sums: list[tuple[str, Mapping[str, int]]]) -> Clusters:
    names = list(sums[0][1]) if sums else []
    entries = [
        Entry(
            pl.repeat(place, len(sums), dtype=pl.Int64, eager=True),
            pl.Series([counts[name] for _, counts in sums], dtype=pl.Int64),
        )
        for place, name in enumerate(names)
    ]
    return clustered(numbers_of(pl.Series([source for source, _ in sums], dtype=pl.String)), names, entries)


def _over_queries(estimand: Estimand, value: Exact, outcomes: Outcomes, asked: Asked) -> Interval:
    """Return the interval of a mean over queries, each of which stands for itself; equal outcomes are taken together.

    The variance is 1 / (n (n - 1)) · Σ (one query's score - the mean)².
    """
    metric = next(one for one in ranking.METRICS if one.name == estimand.name)
    number = ranking.queries(outcomes)
    mean = fraction(value) or Fraction(0)
    off = sum((((fraction(metric({one: 1})) or 0) - mean) ** 2 * count for one, count in outcomes.items()), Fraction(0))
    squared = off / (number * (number - 1)) if number > 1 else Fraction(0)
    sample = Sample(number, Fraction(number), Fraction(1, number), number)
    return from_variance(estimand, value, sample, squared, asked)
