"""How sure the numbers of a selective report are: intervals, gates on bounds, calibration, curves, comparison.

All of it stands beside the frozen numbers and changes none of them. It is made from the outcomes of the test split,
and of validation where curves and certified thresholds are asked for, model by model.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from evalkit.calibration.panel import panel
from evalkit.calibration.shown import Panel
from evalkit.contracts.contract import Contract
from evalkit.exact import rounded
from evalkit.families.selective.candidate import Candidate
from evalkit.families.selective.contributors import ACCEPTED, judged
from evalkit.families.selective.decided import decided, gates
from evalkit.families.selective.estimands import clusters_of, estimands
from evalkit.families.selective.judge import recommend
from evalkit.families.selective.strata import columns_of, groupings, labelled
from evalkit.families.selective.sureness import CandidateStatistics, IntervalRow, Statistics, StratumStatistics
from evalkit.families.selective.versus import versus
from evalkit.families.selective.wanted import Wanted
from evalkit.gates import BoundResult
from evalkit.metric import Measurement, Place
from evalkit.reading.contributors import CONTRIBUTOR
from evalkit.risk_coverage.certify import certify
from evalkit.risk_coverage.optimism import optimism
from evalkit.risk_coverage.suite import suite
from evalkit.uncertainty.clusters import Sample, sample
from evalkit.uncertainty.interval import Interval, intervals, prepare
from evalkit.uncertainty.told import numbers_of


@dataclass(frozen=True, slots=True)
class Records:
    """What statistics are made of.

    Attributes:
        validation: Outcomes of the validation split, ``usable`` and ``contributor`` among their columns.
        test: Outcomes of the test split.
        thresholds: The threshold of each model that has one.
    """

    validation: pl.LazyFrame
    test: pl.LazyFrame
    thresholds: Mapping[str, float]


def statistics(
    records: Records, candidates: Sequence[Candidate], contract: Contract, by: Sequence[str], wanted: Wanted
) -> Statistics:
    """Say how sure the numbers of candidates are.

    Args:
        records: The records, and where they were cut.
        candidates: The candidates judged on points.
        contract: The number of bins, the limits, the labels.
        by: The fields of the strata.
        wanted: What is wanted.
    """
    named = columns_of(by)
    told = judged(records.test, records.thresholds, contract.bins)
    kept = ("model", CONTRIBUTOR, "truth", "predicted", "outcome", "bin", "confidence", "n", *named.values())
    whole = labelled(told, named).select(kept).collect(engine="streaming")
    own = whole.with_columns(pl.col("model").cast(pl.String)).partition_by("model", as_dict=True)
    empty = whole.clear()
    found = tuple(_candidate(one, own.get((one.model,), empty), records, contract, named, wanted) for one in candidates)
    recommended = recommend([decided(one, sure.gates) for one, sure in zip(candidates, found, strict=True)])
    asked = wanted.asked
    return Statistics(
        level=rounded(asked.level),
        replicates=asked.replicates,
        seed=asked.seed,
        clustered_by=CONTRIBUTOR,
        min_contributors=asked.min_contributors,
        gate_on=wanted.gate_on,
        min_support=wanted.min_support,
        no_excluded_class=wanted.no_excluded_class,
        candidates=found,
        comparison=versus(records, candidates, contract, wanted, recommended),
    )


def decide(candidates: Sequence[Candidate], sure: Statistics) -> tuple[Candidate, ...]:
    """Let what was asked of gates decide who passes."""
    return tuple(decided(one, found.gates) for one, found in zip(candidates, sure.candidates, strict=True))


def _candidate(
    one: Candidate,
    told: pl.DataFrame,
    records: Records,
    contract: Contract,
    named: Mapping[str, str],
    wanted: Wanted,
) -> CandidateStatistics:
    place = Place(one.model, one.scored_split)
    found = _found(told, one.measurements, place, contract, wanted)
    return CandidateStatistics(
        model=one.model,
        **_numbers(found, wanted),
        gates=_gates(one, found, contract, wanted) if wanted.stricter else None,
        **_ranks(one, records, wanted),
        strata=None if one.strata is None else tuple(_strata(one, told, contract, named, wanted)),
    )


def _gates(one: Candidate, found: Found, contract: Contract, wanted: Wanted) -> dict[str, BoundResult]:
    whole = {
        measured.name: sure
        for measured, sure in found.intervals
        if measured.place.label is None and measured.place.bin is None
    }
    return gates(one, whole, contract, wanted)


def _strata(
    one: Candidate, told: pl.DataFrame, contract: Contract, named: Mapping[str, str], wanted: Wanted
) -> Iterator[StratumStatistics]:
    parts: dict[tuple[str, ...], dict[tuple[Any, ...], pl.DataFrame]] = {}
    for fields in groupings(list(named)):
        columns = [named[path] for path in fields]
        parts[fields] = told.with_columns(pl.col(columns).cast(pl.String)).partition_by(columns, as_dict=True)
    for stratum in one.strata or ():
        own = parts[tuple(stratum.by)].get(tuple(stratum.by.values()), told.clear())
        place = Place(one.model, one.scored_split, stratum_field=stratum.stratum_field, stratum=stratum.stratum)
        found = _found(own, stratum.measurements, place, contract, wanted)
        yield StratumStatistics(by=stratum.by, **_numbers(found, wanted))


@dataclass(frozen=True, slots=True)
class Found:
    """What was found of some test records.

    Attributes:
        sample: On how many contributors they rest.
        intervals: Each metric, with the measurement as the report has it.
        panel: The honest view of calibration, or None.
    """

    sample: Sample
    intervals: tuple[tuple[Measurement, Interval], ...]
    panel: Panel | None


def _found(
    told: pl.DataFrame, measurements: Sequence[Measurement], place: Place, contract: Contract, wanted: Wanted
) -> Found:
    sizes = told.group_by(CONTRIBUTOR).agg(pl.col("n").sum())["n"]
    accepted = told.filter(pl.col("outcome") == ACCEPTED)
    levels = accepted.group_by("confidence").agg(
        pl.col("n").sum(), correct=(pl.col("n") * (pl.col("truth") == pl.col("predicted"))).sum()
    )
    asked = wanted.asked
    return Found(
        sample(sizes.to_numpy()),
        tuple(_intervals(told, accepted, measurements, place, contract, wanted)) if wanted.intervals else (),
        panel(levels, contract.bins, level=asked.level, replicates=asked.replicates, seed=asked.seed)
        if wanted.calibration
        else None,
    )


def _intervals(
    told: pl.DataFrame,
    accepted: pl.DataFrame,
    measurements: Sequence[Measurement],
    place: Place,
    contract: Contract,
    wanted: Wanted,
) -> Iterator[tuple[Measurement, Interval]]:
    """Yield each metric of a place that is made of sums; the value is the one that the report has."""
    order = contract.label_order
    seen = {label for name in ("truth", "predicted") for label in accepted[name].cast(pl.String).unique()}
    labels, bins = sorted(seen, key=order.__getitem__), sorted(accepted["bin"].unique())
    measured = prepare(clusters_of(told, labels, contract.bins), wanted.asked, resampled=True)
    known = {(one.name, one.place): one for one in measurements}
    for sure in intervals(list(estimands(labels, bins)), measured, wanted.asked):
        of = sure.estimand
        at = Place(place.model, place.split, of.label, of.bin, place.stratum_field, place.stratum)
        yield known[of.name, at], sure


def _numbers(found: Found, wanted: Wanted) -> dict[str, Any]:
    """Return what candidates and strata have in common."""
    return {
        "contributors": found.sample.contributors,
        "effective_contributors": rounded(found.sample.effective),
        "largest_share": rounded(found.sample.largest_share),
        "intervals": tuple(IntervalRow(**numbers_of(sure, measured.value)) for measured, sure in found.intervals)
        if wanted.intervals
        else None,
        "calibration": found.panel,
    }


def _ranks(one: Candidate, records: Records, wanted: Wanted) -> dict[str, Any]:
    """Return what is said of the ranking by confidence: curves of both splits, optimism, certified thresholds."""
    asked, floor = wanted.asked, wanted.asked.min_contributors
    found: dict[str, Any] = dict.fromkeys(("risk_coverage", "optimism", "certified"))
    if not wanted.curves and not wanted.claims:
        return found
    validation, test = (_ranked(one.model, outcomes) for outcomes in (records.validation, records.test))
    if wanted.claims:
        found["certified"] = tuple(certify(validation, claim, minimum=floor) for claim in wanted.claims)
    if wanted.curves:
        suites = [suite(each, level=asked.level, seed=asked.seed, minimum=floor) for each in (validation, test)]
        found["risk_coverage"] = dict(zip(("validation", "test"), suites, strict=True))
        if one.threshold is not None:
            found["optimism"] = optimism(one.threshold, (validation, test), (suites[0], suites[1]))
    return found


def _ranked(model: str, outcomes: pl.LazyFrame) -> pl.DataFrame:
    """Return one model's records by confidence; null where there is nothing that could be accepted."""
    offered = pl.col("predicted").is_not_null() & pl.col("usable")
    return (
        outcomes.filter(pl.col("model").cast(pl.String) == model)
        .select(
            "n",
            CONTRIBUTOR,
            confidence=pl.when(offered).then("confidence"),
            correct=pl.when(offered).then(pl.col("truth") == pl.col("predicted")),
        )
        .collect(engine="streaming")
    )
