"""Candidates against a baseline: differences, records paired by id, cautions, and the rows of both."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import polars as pl
import pytest
from support import environment

from evalkit import Refusal
from evalkit.contracts.contract import BRISTOL
from evalkit.families.selective.against import held_against
from evalkit.families.selective.candidate import Chosen
from evalkit.families.selective.comparison import Comparison
from evalkit.families.selective.judge import judge_candidate, recommend
from evalkit.families.selective.pairs import Discordant, PairBy, Pairs
from evalkit.families.selective.plan import count
from evalkit.families.selective.sides import sides_of
from evalkit.families.selective.versus import versus
from evalkit.families.selective.versus_rows import COLUMNS, comparison_tables
from evalkit.families.selective.wanted import wanted
from evalkit.report import canonical, document
from evalkit.uncertainty.asked import Asked

ASKED = Asked(min_contributors=2, replicates=400)
BY_ID = PairBy("id", "scalar_0")
SCHEMA = {
    "model": pl.Categorical(),
    "split": pl.Enum(("train", "validation", "test")),
    "truth": pl.Enum(("a", "b")),
    "predicted": pl.Enum(("a", "b")),
    "confidence": pl.Float64(),
    "usable": pl.Boolean(),
    "n": pl.Int64(),
    "contributor": pl.UInt64(),
    "scalar_0": pl.Categorical(),
}

Row = tuple[str | None, float, str]
"""What was offered, its confidence, the truth."""

RIGHT: Row = ("a", 0.9, "a")
WRONG: Row = ("b", 0.9, "a")
LOW: Row = ("a", 0.4, "a")
NONE: Row = (None, 0.0, "a")


def outcomes(**models: Sequence[Row]) -> pl.DataFrame:
    """Make test outcomes: record k of a model has the id k and is one of the four of its contributor."""
    rows = [
        (model, "test", truth, offered, None if offered is None else sure, True, 1, place // 4, f"r{place}")
        for model, given in models.items()
        for place, (offered, sure, truth) in enumerate(given)
    ]
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def compared(frame: pl.DataFrame, baseline: str = "old", **asked: Any) -> Comparison:
    """Hold every model against the baseline, each at a threshold of 0.5."""
    thresholds = dict.fromkeys(sorted(frame["model"].cast(pl.String).unique()), 0.5)
    sides = sides_of(frame, thresholds, ("a", "b"), 10, ASKED)
    return held_against(frame, thresholds, sides, baseline, ASKED, **asked)


def pairs(found: Comparison) -> Pairs:
    """Return the pairs of the first candidate."""
    assert found.against[0].pairs is not None
    return found.against[0].pairs


OLD = [RIGHT, RIGHT, WRONG, NONE] * 10
NEW = [RIGHT, WRONG, RIGHT, LOW] * 5 + [RIGHT, RIGHT, RIGHT, RIGHT] * 5


def test_each_metric_is_candidate_minus_baseline() -> None:
    """Coverage 35/40 against 30/40, precision 30/35 against 20/30, at each one's own threshold."""
    found = compared(outcomes(old=OLD, new=NEW))
    (against,) = found.against
    assert (found.baseline, found.level, against.model, against.reason) == ("old", 0.95, "new", None)
    by_name = {one.name: one for one in against.differences}
    assert list(by_name) == ["coverage", "precisionAtCoverage", "macroF1", "ece"]
    coverage, precision = by_name["coverage"], by_name["precisionAtCoverage"]
    assert (coverage.candidate, coverage.baseline, coverage.value) == (35 / 40, 30 / 40, 5 / 40)
    assert precision.value == pytest.approx(30 / 35 - 20 / 30)
    assert by_name["ece"].value == pytest.approx(abs(30 / 35 - 0.9) - abs(20 / 30 - 0.9))
    assert (by_name["ece"].direction, by_name["ece"].method) == ("lower", "cluster-bootstrap")
    assert [one.contributors for one in against.differences] == [10, 10, 10, 10]


def test_the_discordant_table_counts_an_abstention_as_not_right() -> None:
    """Of 40 pairs: both right 15, only the old one 5, only the new one 15, neither 5."""
    found = pairs(compared(outcomes(old=OLD, new=NEW), pair_by=BY_ID))
    assert (found.paired, found.contributors) == (40, 10)
    assert found.discordant == Discordant(15, 5, 15, 5)
    assert (found.mcnemar.only_baseline, found.mcnemar.only_candidate) == (5, 15)
    assert found.mcnemar.exact == pytest.approx(0.0413895, abs=1e-7)  # 2 · P(Binomial(20, ½) ≤ 5)


def test_flips_tell_the_three_results_apart() -> None:
    """Right, wrong and abstained of the baseline by right, wrong and abstained of the candidate; zeros are there."""
    found = pairs(compared(outcomes(old=OLD, new=NEW), pair_by=BY_ID))
    assert {(one.baseline, one.candidate): one.count for one in found.flips} == {
        ("right", "right"): 15,
        ("right", "wrong"): 5,
        ("right", "abstained"): 0,
        ("wrong", "right"): 10,
        ("wrong", "wrong"): 0,
        ("wrong", "abstained"): 0,
        ("abstained", "right"): 5,
        ("abstained", "wrong"): 0,
        ("abstained", "abstained"): 5,
    }


def test_the_clustered_test_counts_contributors() -> None:
    """Five contributors have one for and one against, five have two for: (Σd)² = 100, δ = −¼, ½(Σ(d−4δ)² + Σd²) = 15.

    Σd² is 20, Σ(d + 1)² is 5 + 5 = 10; the statistic is 9/10 · 100 / 15 = 6.
    """
    found = pairs(compared(outcomes(old=OLD, new=NEW), pair_by=BY_ID))
    assert (found.clustered.method, found.clustered.statistic) == ("obuchowski-modified", 6.0)
    assert found.clustered.p_value == pytest.approx(0.0143059, abs=1e-7)  # χ² of one degree of freedom


def test_order_and_id_and_nothing_else_pair_records() -> None:
    """The rows may stand in any order: the same report to the last byte."""
    frame = outcomes(old=OLD, new=NEW)
    one, other = (compared(each, pair_by=BY_ID, margin=Fraction("0.02")) for each in (frame, frame.reverse()))
    assert canonical(one) == canonical(other)


def test_ids_on_one_side_are_counted_and_told() -> None:
    """What only one side has is left out of the pairs and counted; so is a record without an id."""
    frame = outcomes(old=OLD, new=NEW[:30])
    nameless = pl.when(pl.col("scalar_0").cast(pl.String) == "r0").then(None).otherwise("scalar_0")
    found = compared(frame.with_columns(scalar_0=nameless), pair_by=BY_ID)
    one = pairs(found)
    assert (one.paired, one.only_baseline, one.only_candidate, one.without_id) == (29, 10, 0, 2)
    assert found.against[0].warnings[0] == "new was scored on 30 test records and old on 40"


def test_an_id_that_stands_twice_pairs_nothing() -> None:
    """Two records of one model with one id are refused, with the id and how often it stands, tallied or not."""
    frame = outcomes(old=OLD, new=NEW)
    renamed = pl.col("scalar_0").cast(pl.String).replace({"r7": "r5", "r2": "r1"}).cast(pl.Categorical)
    double = pl.when(pl.col("model").cast(pl.String) == "new").then(renamed).otherwise("scalar_0")
    for broken in (frame.with_columns(scalar_0=double), frame.with_columns(n=pl.lit(2, pl.Int64))):
        with pytest.raises(Refusal) as refusal:
            compared(broken, pair_by=BY_ID)
        assert set(refusal.value.counts) == {"pair-duplicate"}
    with pytest.raises(
        Refusal, match=r'stands 2 times among the test records of new.*; so does another id; found "r1"'
    ):
        compared(frame.with_columns(scalar_0=double), pair_by=BY_ID)


@pytest.mark.parametrize(("column", "rule"), [("truth", "pair-truth"), ("contributor", "pair-contributor")])
def test_an_id_has_one_truth_and_one_contributor(column: str, rule: str) -> None:
    """What no model may change must be the same on both sides."""
    frame = outcomes(old=OLD, new=NEW)
    here = (pl.col("model").cast(pl.String) == "new") & (pl.col("scalar_0").cast(pl.String) == "r3")
    other = {"truth": pl.lit("b", SCHEMA["truth"]), "contributor": pl.lit(99, pl.UInt64)}[column]
    broken = frame.with_columns(pl.when(here).then(other).otherwise(column).alias(column))
    with pytest.raises(Refusal, match='found "r3"') as refusal:
        compared(broken, pair_by=BY_ID)
    assert set(refusal.value.counts) == {rule}


def test_without_an_id_records_may_be_tallied() -> None:
    """Without an id rows may stand for several records, and nothing is paired."""
    frame = outcomes(old=OLD, new=NEW).drop("scalar_0")
    whole = frame.group_by(pl.exclude("n")).agg(pl.col("n").sum())
    one, other = compared(frame), compared(whole)
    assert canonical(one) == canonical(other)
    assert one.paired_by is None
    assert one.against[0].pairs is None


@pytest.mark.parametrize(
    ("change", "warning"),
    [
        (
            {"contributor": pl.col("contributor") + pl.lit(1, pl.UInt64)},
            "new and old have test records of different contributors, or different numbers of them",
        ),
        (
            {"truth": pl.lit("b", SCHEMA["truth"])},
            "new and old have different truths for the test records of the same contributors",
        ),
    ],
)
def test_what_was_not_scored_on_the_same_records_is_told(change: dict[str, pl.Expr], warning: str) -> None:
    """Other contributors or other truths show even where no id is read."""
    frame = outcomes(old=OLD, new=NEW)
    ours = pl.col("model").cast(pl.String) == "new"
    changed = [pl.when(ours).then(value).otherwise(name).alias(name) for name, value in change.items()]
    assert warning not in compared(frame).against[0].warnings
    assert compared(frame.with_columns(changed)).against[0].warnings[0] == warning


def test_other_coverage_is_told() -> None:
    """Where one is shown to accept more, its precision is of records that the other did not take."""
    wide = [RIGHT, RIGHT, RIGHT, LOW] * 4 + [RIGHT, RIGHT, RIGHT, RIGHT] * 6
    narrow = [RIGHT, RIGHT, LOW, LOW] * 10
    (warning,) = compared(outcomes(old=narrow, new=wide)).against[0].warnings
    assert warning == (
        "new accepts 90.0% of its test records and old 50.0%: their precision, macro F1 and calibration error are not "
        "those of the same coverage"
    )


def test_several_candidates_are_allowed_for() -> None:
    """Each metric's p-values are adjusted over the candidates (Holm), and so is that of the clustered test."""
    found = compared(outcomes(old=OLD, new=NEW, other=NEW[20:] + NEW[:20]), pair_by=BY_ID)
    plain = [one.differences[1].p_value for one in found.against]
    adjusted = [one.differences[1].adjusted_p_value for one in found.against]
    assert [one.model for one in found.against] == ["new", "other"]
    assert adjusted == [2 * min(p for p in plain if p is not None)] * 2
    tests = [one.pairs for one in found.against if one.pairs is not None]
    assert [one.adjusted_p_value for one in tests] == [pytest.approx(2 * 0.0143059, abs=1e-6)] * 2


def test_a_margin_is_held_against_every_metric() -> None:
    """With a margin each difference says whether the candidate is shown to be no worse by more."""
    found = compared(outcomes(old=OLD, new=NEW), margin=Fraction("0.5"))
    assert found.margin == 0.5
    outcomes_ = [one.non_inferiority.outcome for one in found.against[0].differences if one.non_inferiority]
    assert outcomes_ == ["passed", "passed", "passed", "passed"]
    assert all(one.non_inferiority is None for one in compared(outcomes(old=OLD, new=NEW)).against[0].differences)


def test_a_recommended_candidate_was_chosen_among_several() -> None:
    """The best of three equal candidates shows 0.8463 standard errors more than it is worth."""
    frame = outcomes(old=OLD, new=NEW, other=OLD)
    found = compared(frame, recommended="new").best_of
    assert found is not None
    assert (found.name, found.candidates) == ("macroF1", 3)
    assert found.excess == pytest.approx(0.846284 * found.standard_error, rel=1e-5)
    assert compared(frame).best_of is None


def test_a_model_without_a_threshold_is_not_compared() -> None:
    """A candidate whose cut never cleared the floor is named with a reason; a baseline without one is refused."""
    frame = outcomes(old=OLD, new=NEW)
    thresholds = {"old": 0.5}
    sides = sides_of(frame, thresholds, ("a", "b"), 10, ASKED)
    (against,) = held_against(frame, thresholds, sides, "old", ASKED, models=("new", "old"), pair_by=BY_ID).against
    assert (against.model, against.reason, against.differences) == ("new", "no-threshold", ())
    with pytest.raises(Refusal, match="has no threshold"):
        held_against(frame, thresholds, sides, "new", ASKED, models=("new", "old"))
    with pytest.raises(Refusal, match="the models are old"):
        held_against(frame, thresholds, sides, "gone", ASKED)
    with pytest.raises(Refusal, match="is the only model"):
        held_against(frame, thresholds, sides, "old", ASKED)


def test_a_model_without_test_records_is_compared_by_nothing() -> None:
    """No test record: every difference is undefined, no pair is found, and it is told."""
    frame = outcomes(old=OLD, new=NEW)
    late = pl.when(pl.col("model").cast(pl.String) == "new").then(pl.lit("validation", SCHEMA["split"]))
    (against,) = compared(frame.with_columns(split=late.otherwise("split")), pair_by=BY_ID).against
    assert {one.reason for one in against.differences} == {"undefined"}
    assert against.warnings == ("new has no test records",)
    assert against.pairs is not None
    assert (against.pairs.paired, against.pairs.mcnemar.reason) == (0, "no-discordant-records")


def test_a_suggestion_of_poor_quality_is_an_abstention() -> None:
    """What the policy in force does not accept is no result of the model."""
    frame = outcomes(old=OLD, new=NEW).with_columns(usable=pl.col("model").cast(pl.String) != "new")
    flips = pairs(compared(frame, pair_by=BY_ID)).flips
    assert {one.candidate for one in flips if one.count} == {"abstained"}


def test_rows_say_what_the_report_says() -> None:
    """A row a metric and candidate, a row a pair of results; columns as declared."""
    found = compared(outcomes(old=OLD, new=NEW), pair_by=BY_ID, margin=Fraction("0.5"))
    made = comparison_tables(found)
    assert {name: dict(frame.schema) for name, frame in made.items()} == {name: COLUMNS[name] for name in COLUMNS}
    first = made["comparison"].row(0, named=True)
    assert (first["baseline"], first["model"], first["name"], first["value"]) == ("old", "new", "coverage", 0.125)
    assert (first["margin"], first["outcome"], first["level"]) == (0.5, "passed", 0.95)
    assert made["flips"]["count"].sum() == 40
    empty = comparison_tables(replace(found, against=()))
    assert [frame.height for frame in empty.values()] == [0, 0]


def test_the_json_is_spelled_as_reports_are() -> None:
    """Keys are in camelCase, in the order of the attributes."""
    plain = document(compared(outcomes(old=OLD, new=NEW), pair_by=BY_ID))
    assert list(plain) == ["baseline", "level", "pairedBy", "margin", "against", "bestOf"]
    (against,) = plain["against"]
    assert list(against) == ["model", "reason", "differences", "pairs", "warnings"]
    assert list(against["pairs"]["discordant"]) == [
        "bothRight",
        "onlyBaselineRight",
        "onlyCandidateRight",
        "neitherRight",
    ]


class Judged(NamedTuple):
    """What ``compare`` has of its records when it asks for a comparison."""

    test: pl.LazyFrame
    thresholds: dict[str, float]


def test_a_run_compares_the_numbers_that_it_reports() -> None:
    """As ``compare`` asks for it: the values are the report's own, the id is a scalar of the contract."""
    frame = outcomes(old=OLD, new=NEW)
    thresholds = {"new": 0.5, "old": 0.5}
    contract = replace(BRISTOL, labels=("a", "b"), scalars=("image",))
    counted = count(frame.lazy(), thresholds, 10)
    chosen = Chosen(40, 0.5, 30, 30)
    candidates = [judge_candidate(model, chosen, 40, counted[model], contract) for model in thresholds]
    asked = wanted({"baseline": "old", "pair_by": "image", "margin": "0.5", "min_contributors": 2, "replicates": 400})
    assert asked is not None
    found = versus(Judged(frame.lazy(), thresholds), candidates, contract, asked, recommend(candidates))
    assert found is not None
    assert (found.paired_by, found.margin, pairs(found).paired) == ("image", 0.5, 40)
    by_name = {one.name: (one.baseline, one.candidate) for one in found.against[0].differences}
    new, old = candidates
    assert by_name == {
        "coverage": (old.coverage, new.coverage),
        "precisionAtCoverage": (old.precision_at_coverage, new.precision_at_coverage),
        "macroF1": (old.macro_f1, new.macro_f1),
        "ece": (old.ece, new.ece),
    }
    assert found == compared(frame, pair_by=PairBy("image", "scalar_0"), margin=Fraction("0.5"))
    assert versus(Judged(frame.lazy(), thresholds), candidates, contract, replace(asked, baseline=None), None) is None


def test_what_only_describes_a_comparison_loads_no_statistics() -> None:
    """A run without statistics reads the columns and the objects of a comparison, and neither NumPy nor SciPy."""
    modules = "evalkit.families.selective.versus, evalkit.families.selective.versus_rows"
    code = f"import sys, {modules}; print([name for name in ('numpy', 'scipy') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
