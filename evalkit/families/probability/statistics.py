"""How sure the numbers of an evaluation are: an interval for every metric, class and bin, by family and over all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from evalkit.exact import rounded
from evalkit.families.probability.estimands import clusters_of, estimands
from evalkit.families.probability.measured import measurements
from evalkit.families.probability.metrics import Counts, added
from evalkit.metric import Place
from evalkit.uncertainty.asked import Asked
from evalkit.uncertainty.chosen import Chosen
from evalkit.uncertainty.clusters import sample
from evalkit.uncertainty.estimand import Estimand
from evalkit.uncertainty.interval import interval, prepare, sizes_of
from evalkit.uncertainty.slices import Slices
from evalkit.uncertainty.told import ROW, Candidate, Sampled, Statistics, Stratum, Told


@dataclass(frozen=True, slots=True)
class Tallies:
    """What statistics are made of; tables as ``terms`` makes them, equal keys merged.

    Attributes:
        contributors: By contributor.
        levels: By confidence; None where calibration is not asked for.
        options: By option and probability; likewise.
    """

    contributors: pl.DataFrame
    levels: pl.DataFrame | None = None
    options: pl.DataFrame | None = None

    def of(self, model: str | None, family: str | None) -> Tallies:
        """Return the tallies of one model, and of one family or of all together."""
        chosen = pl.col("model").cast(pl.String).eq_missing(model)
        if family is not None:
            chosen &= pl.col("family").cast(pl.String) == family
        levels, options = (None if one is None else one.filter(chosen) for one in (self.levels, self.options))
        return Tallies(self.contributors.filter(chosen), levels, options)


def statistics(
    counts: Mapping[str | None, Mapping[str, Counts]], tallies: Tallies, chosen: Chosen, bins: int
) -> Statistics:
    """Say how sure every number is.

    Args:
        counts: The counts of each family, by model.
        tallies: The tallies of all models and families.
        chosen: What is wanted.
        bins: The number of confidence bins.
    """
    asked = chosen.asked
    return Statistics(
        level=rounded(asked.level),
        replicates=asked.replicates,
        seed=asked.seed,
        clustered_by=chosen.cluster_by or ROW,
        min_contributors=asked.min_contributors,
        candidates=tuple(_candidate(model, own, tallies, chosen, bins) for model, own in counts.items()),
    )


def _candidate(
    model: str | None, families: Mapping[str, Counts], tallies: Tallies, chosen: Chosen, bins: int
) -> Candidate:
    strata = tuple(
        _stratum({"family": family}, own, tallies.of(model, family), chosen, bins)
        for family, own in sorted(families.items())
    )
    over_all = _stratum({}, added(families.values()), tallies.of(model, None), chosen, bins)
    return Candidate.of(model, over_all, strata)


def _stratum(by: Mapping[str, str], counts: Counts, tallies: Tallies, chosen: Chosen, bins: int) -> Stratum:
    slices = Slices(clusters_of(tallies.contributors, sorted(counts.classes), sorted(counts.bins)))
    sampled = Sampled.of(sample(sizes_of(slices.of(["predicted"]), {"predicted": 1})))
    told = tuple(_intervals(counts, slices, chosen.asked)) if chosen.intervals else ()
    return Stratum.of(by, sampled, told, _calibrated(tallies, bins, chosen.asked))


def _calibrated(tallies: Tallies, bins: int, asked: Asked) -> Any:
    if tallies.levels is None or tallies.options is None:
        return None
    from evalkit.families.probability.calibrated import calibrated  # only where it is asked for

    return calibrated(tallies.levels, tallies.options, bins, asked)


def _intervals(counts: Counts, slices: Slices, asked: Asked) -> Iterator[Told]:
    exact = {(one.name, one.place.label, one.place.bin): one for one in measurements(Place(), counts)}
    for one in estimands(sorted(counts.classes), sorted(counts.bins)):
        of = exact[one.name, one.label, one.bin]
        measured = prepare(slices.of(_columns(one)), asked, resampled=one.kind == "absolute")
        found = interval(one, measured, asked)
        yield Told.of(found if of.reason is None else replace(found, reason=of.reason), of.value)


def _columns(one: Estimand) -> list[str]:
    return [column for term in one.terms for part in (term.numerator, term.denominator) for column in part]
