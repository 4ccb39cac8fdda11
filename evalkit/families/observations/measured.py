"""From sums to measurements: which measures there are, on what each rests, and what it must reach.

The table of measures is the order of the report. A family without a case gives null, never zero and never perfect.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

from evalkit.exact import Ratio, fraction, rounded
from evalkit.families.observations import commands, review, text
from evalkit.families.observations.part import Clusters, Tally, added
from evalkit.families.ranking import metrics as ranking
from evalkit.families.ranking.rules import SYSTEMS
from evalkit.families.ranking.tally import Key
from evalkit.families.ranking.tally import Tally as Rankings
from evalkit.gates import Gate, judge
from evalkit.metric import Measurement, Metric, Place, measure

NO_CASES = "no-cases"
UNLABELLED = "unlabelled"
"""The stratum of the cases that name none, where others of their family do."""

RETRIEVAL = "retrieval_queries"
GATED_SYSTEM = "candidate"
"""The system whose Recall@10 has a limit."""


class Measure(NamedTuple):
    """One line of the table of measures.

    Attributes:
        family: The list that it is measured on.
        metric: The metric.
        rests_on: Which of the family's sums the sample size is.
        limit: What it must reach; None where it only informs.
        whole: Whether it is a count and no ratio.
    """

    family: str
    metric: Metric
    rests_on: str
    limit: Decimal | None = None
    whole: bool = False


MEASURES = (
    Measure("ocr_cases", text.cer, "cases"),
    Measure("ocr_cases", text.wer, "cases"),
    Measure("ocr_cases", text.fidelity, "cases", Decimal("0.90")),
    Measure("commands", commands.command_fidelity, "cases"),
    Measure("commands", commands.token_fidelity, "cases"),
    Measure("commands", commands.flag_fidelity, "cases"),
    Measure("proposals", review.schema_validity, "cases", Decimal("0.95")),
    Measure("claims", review.claim_support, "reviewed", Decimal("0.95")),
    Measure(RETRIEVAL, ranking.recall_at_10, "queries", Decimal("0.85")),
    Measure(RETRIEVAL, ranking.ndcg_at_10, "queries"),
    Measure("merges", review.merge_precision, "accepted"),
    Measure("merges", review.incorrect_merges, "accepted", Decimal(0), whole=True),
    Measure("claims", review.provenance, "cases", Decimal("1.00")),
    Measure("queue", review.queue_completion, "due"),
)
"""All measures, in the order of the report."""


@dataclass(frozen=True, slots=True)
class Tallies:
    """The sums of every family.

    Attributes:
        families: By list; a family without a case may be missing.
        rankings: Those of the rankings.
        clusters: Those of every family by source too, where that is asked for.
    """

    families: Mapping[str, Tally]
    rankings: Rankings
    clusters: Mapping[str, Clusters] = field(default_factory=dict)

    def by_stratum(self) -> dict[str, Tallies]:
        """Cut the sums apart: those of each stratum, by its name."""
        families: dict[str, dict[str, Tally]] = {}
        for family, tally in self.families.items():
            names = labels(tally)
            for one, counts in tally.items():
                if (name := names[one]) is not None:
                    own = families.setdefault(name, {})
                    own[family] = added(own.get(family, {}), {name: counts})
        names = labels(self.rankings.strata)
        ranked: dict[str, list[tuple[Key, int]]] = {}
        for key, count in self.rankings.counts.items():
            if (name := names[key.stratum]) is not None:
                ranked.setdefault(name, []).append((key._replace(stratum=name), count))
        every = sorted({*families, *ranked})
        return {name: Tallies(families.get(name, {}), Rankings.of_counts(ranked.get(name, ()))) for name in every}


def labels(strata: Any) -> dict[str | None, str | None]:
    """Return what the strata of a family are called; all None where no case names one."""
    named = any(one is not None for one in strata)
    return {one: UNLABELLED if one is None and named else one for one in strata}


@dataclass(frozen=True, slots=True)
class Row:
    """A measurement, and what else is said of it.

    Attributes:
        measurement: The measurement.
        whole: Whether it is a count.
        notes: What stands beside it in the report.
    """

    measurement: Measurement
    whole: bool = False
    notes: Mapping[str, Any] = field(default_factory=dict)

    def plain(self) -> dict[str, Any]:
        """Return the row as it stands in a report: only the keys that apply to it."""
        one = self.measurement
        exact = fraction(one.value)
        plain: dict[str, Any] = {"name": one.name}
        if one.place.model is not None:
            plain["system"] = one.place.model
        plain["value"] = int(exact) if self.whole and exact is not None else rounded(exact)
        plain["threshold"] = int(one.limit) if self.whole and one.limit is not None else rounded(one.limit)
        plain |= {"direction": one.direction, "sample_size": one.sample_size}
        if not self.whole and isinstance(one.value, Ratio) and isinstance(one.value.numerator, int):
            plain |= {"numerator": one.value.numerator, "denominator": one.value.denominator}
        return {**plain, **self.notes, **({} if one.reason is None else {"reason": one.reason})}


def rows(tallies: Tallies, split: str, stratum: str | None = None) -> Iterator[Row]:
    """Measure everything.

    Args:
        tallies: The sums.
        split: The split that the observations are of.
        stratum: The stratum; None over all cases, where families without a case are named too.
    """
    place = Place(split=split, stratum_field=None if stratum is None else "stratum", stratum=stratum)
    for one in MEASURES:
        if one.family == RETRIEVAL:
            yield from _ranked(one, tallies.rankings, place)
            continue
        counts = _counts(tallies.families.get(one.family, {}), stratum)
        if counts is not None or stratum is None:
            yield _row(one, place, counts)


def _counts(tally: Tally, stratum: str | None) -> Any:
    """Sum the counts of a stratum; None where it has no case."""
    names = labels(tally)
    total: Tally = {}
    for one, counts in tally.items():
        if stratum is None or names[one] == stratum:
            total = added(total, {None: counts})
    found = total.get(None)
    return found if found is not None and found.cases else None


def _row(one: Measure, place: Place, counts: Any) -> Row:
    if counts is None:
        absent = Measurement(one.metric.name, place, None, 0, one.metric.direction, NO_CASES)
        return Row(_judged(one, absent), one.whole, _notes(one.family, None))
    measured = measure(one.metric, place, counts, sample_size=getattr(counts, one.rests_on))
    if one.metric is review.merge_precision and not counts.review_complete:  # it has two reasons to be null
        measured = replace(measured, reason=review.REVIEW_INCOMPLETE)
    notes = _notes(one.family, counts)
    return Row(_judged(one, measured, complete=notes.get("review_complete") is not False), one.whole, notes)


def _notes(family: str, counts: Any) -> dict[str, Any]:
    if family == "merges":
        return {"review_complete": None if counts is None else counts.review_complete}
    if family == "queue":
        days = None if counts is None else len(counts.days)
        few = days is not None and days < review.FEWEST_DAYS
        return {"days_observed": days, "caution": CAUTION if few else None}
    return {}


CAUTION = f"observed on fewer than {review.FEWEST_DAYS} days"


def _judged(one: Measure, measured: Measurement, *, complete: bool = True) -> Measurement:
    """Hold a measurement over all cases against its limit; merges pass only once all accepted ones are reviewed."""
    if one.limit is None or measured.place.stratum is not None:
        return measured
    result = judge(Gate.of(one.metric, one.limit), measured.value)
    return replace(measured, limit=Fraction(one.limit), passed=result.passed and complete)


def _ranked(one: Measure, rankings: Rankings, place: Place) -> Iterator[Row]:
    names = labels(rankings.strata)
    strata = [own for own, label in names.items() if place.stratum is None or label == place.stratum]
    if not strata and place.stratum is not None:
        return
    for system in rankings.systems or SYSTEMS:
        outcomes = rankings.outcomes(system, strata)
        here = replace(place, model=system)
        measured = measure(one.metric, here, outcomes, sample_size=ranking.queries(outcomes))
        if not rankings:
            measured = replace(measured, reason=NO_CASES)
        yield Row(_judged(one if system == GATED_SYSTEM else one._replace(limit=None), measured))
