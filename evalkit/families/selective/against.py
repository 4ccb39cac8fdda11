"""Candidates against a baseline, on test records at each one's own threshold: differences, flips, cautions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import polars as pl

from evalkit.errors import Refusal, Violation
from evalkit.exact import rounded
from evalkit.families.selective import metrics
from evalkit.families.selective.comparison import Against, Comparison
from evalkit.families.selective.pairs import PairBy, pairs_of, records_with_id
from evalkit.families.selective.sides import Side
from evalkit.records.strict_json import show
from evalkit.uncertainty.aligned import paired
from evalkit.uncertainty.asked import Asked
from evalkit.uncertainty.difference import Difference
from evalkit.uncertainty.interval import interval
from evalkit.uncertainty.paired import differ
from evalkit.uncertainty.several import BestOf, best_of, holm

NO_THRESHOLD = "no-threshold"
RANKED_BY = metrics.macro_f1
"""What the recommended candidate is chosen by."""


def held_against(
    outcomes: pl.DataFrame,
    thresholds: Mapping[str, float],
    sides: Mapping[str, Side],
    baseline: str,
    asked: Asked,
    *,
    models: Sequence[str] = (),
    pair_by: PairBy | None = None,
    margin: Fraction | None = None,
    recommended: str | None = None,
) -> Comparison:
    """Hold every other model against the baseline.

    Args:
        outcomes: ``model``, ``split``, ``truth``, ``predicted``, ``confidence``, ``usable``, ``contributor`` and their
            number ``n``; also the column of the id, where records are paired.
        thresholds: The threshold of each model that has one.
        sides: The tallies of each of these models.
        baseline: The model that the others are held against.
        asked: Level, resamples, floor of contributors.
        models: All models, those without a threshold too.
        pair_by: The id that pairs records.
        margin: How much worse a candidate may be, for every metric.
        recommended: The recommended candidate.

    Raises:
        Refusal: No model has the baseline's name (``baseline``), or it has no threshold; an id stands twice, or has
            two truths or contributors (``pair-duplicate``, ``pair-truth``, ``pair-contributor``).
    """
    everyone = sorted({*models, *thresholds})
    _assert_baseline(baseline, everyone, thresholds)
    test = outcomes.filter(pl.col("split").cast(pl.String) == "test")
    people = _people(test)
    identified = {} if pair_by is None else records_with_id(test, thresholds, pair_by.column, pair_by.path)
    against = [
        _against(model, baseline, sides, asked, margin, identified, people, pair_by)
        if model in thresholds
        else Against(model, NO_THRESHOLD, (), None, ())
        for model in everyone
        if model != baseline
    ]
    return Comparison(
        baseline=baseline,
        level=rounded(asked.level),
        paired_by=None if pair_by is None else pair_by.path,
        margin=rounded(margin),
        against=_adjusted(against),
        best_of=_caution(sides, recommended, len(thresholds), asked),
    )


def _against(
    model: str,
    baseline: str,
    sides: Mapping[str, Side],
    asked: Asked,
    margin: Fraction | None,
    identified: Mapping[str, pl.DataFrame],
    people: Mapping[str, pl.DataFrame],
    pair_by: PairBy | None,
) -> Against:
    """Hold one candidate against the baseline."""
    pairs = None
    if pair_by is not None:
        pairs = pairs_of(identified[baseline], identified[model], (baseline, model), pair_by.path)
    differences = _differences(sides[model], sides[baseline], asked, margin)
    warnings = (*_unlike(people, baseline, model), *_uncovered(differences[0], baseline, model))
    if pair_by is not None and pairs is not None and pairs.only_baseline and pairs.only_candidate and not pairs.paired:
        warnings += (f"no test record of {model} has the same {pair_by.path} as one of {baseline}",)
    return Against(model, None, differences, pairs, warnings)


def _assert_baseline(baseline: str, models: Sequence[str], thresholds: Mapping[str, float]) -> None:
    if baseline not in models:
        message = "no record names this model; the models are " + ", ".join(models)
    elif baseline not in thresholds:
        message = "has no threshold, so that nothing can be held against it"
    elif len(models) < 2:
        message = "is the only model, so that nothing can be held against it"
    else:
        return
    raise Refusal.of(Violation("baseline", message, field="baseline", value=show(baseline)))


def _differences(ours: Side, theirs: Side, asked: Asked, margin: Fraction | None) -> tuple[Difference, ...]:
    aligned = paired(ours.measured, theirs.measured)
    return tuple(
        differ(
            aligned,
            ours.estimand(one.name),
            theirs.estimand(one.name),
            asked,
            direction=one.direction,
            exact=(ours.exact[one.name], theirs.exact[one.name]) if one.name in ours.exact else None,
            margin=margin,
        )
        for one in metrics.SPLIT_METRICS
    )


def _adjusted(against: Sequence[Against]) -> tuple[Against, ...]:
    """Allow for the number of candidates, metric by metric (Holm)."""
    judged = [one for one in against if one.reason is None]
    places = range(len(metrics.SPLIT_METRICS))
    columns = [holm([one.differences[place].p_value for one in judged]) for place in places]
    tests = holm([None if one.pairs is None else one.pairs.clustered.p_value for one in judged])
    found = {}
    for row, one in enumerate(judged):
        differences = tuple(
            replace(each, adjusted_p_value=column[row]) for each, column in zip(one.differences, columns, strict=True)
        )
        pairs = None if one.pairs is None else replace(one.pairs, adjusted_p_value=tests[row])
        found[one.model] = replace(one, differences=differences, pairs=pairs)
    return tuple(found.get(one.model, one) for one in against)


def _people(test: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Count each model's test records by contributor and truth."""
    keys = [pl.col("model").cast(pl.String), "contributor", pl.col("truth").cast(pl.String)]
    counted = test.group_by(keys).agg(pl.col("n").sum()).sort("model", "contributor", "truth")
    return {str(key[0]): frame.drop("model") for key, frame in counted.partition_by("model", as_dict=True).items()}


def _unlike(people: Mapping[str, pl.DataFrame], baseline: str, model: str) -> tuple[str, ...]:
    """Say where two models were not scored on the same records, as far as it shows without an id."""
    if baseline not in people or model not in people:
        absent = [name for name in (baseline, model) if name not in people]
        return tuple(f"{name} has no test records" for name in absent)
    theirs, ours = (people[name] for name in (baseline, model))
    sizes = [int(one["n"].sum()) for one in (ours, theirs)]
    if sizes[0] != sizes[1]:
        return (f"{model} was scored on {sizes[0]:,} test records and {baseline} on {sizes[1]:,}",)
    sums = [one.group_by("contributor").agg(pl.col("n").sum()).sort("contributor") for one in (ours, theirs)]
    if not sums[0].equals(sums[1]):
        return (f"{model} and {baseline} have test records of different contributors, or different numbers of them",)
    if not ours.equals(theirs):
        return (f"{model} and {baseline} have different truths for the test records of the same contributors",)
    return ()


def _uncovered(coverage: Difference, baseline: str, model: str) -> Iterator[str]:
    """Say where two models are shown to accept different shares: the wider one also takes what is harder."""
    if coverage.low is not None and coverage.high is not None and (coverage.low > 0 or coverage.high < 0):
        shares = f"{model} accepts {coverage.candidate:.1%} of its test records and {baseline} {coverage.baseline:.1%}"
        yield f"{shares}: their precision, macro F1 and calibration error are not those of the same coverage"


def _caution(sides: Mapping[str, Side], recommended: str | None, candidates: int, asked: Asked) -> BestOf | None:
    if recommended is None or recommended not in sides:
        return None
    side = sides[recommended]
    return best_of(candidates, interval(side.estimand(RANKED_BY.name), side.measured, asked), float(asked.level))
