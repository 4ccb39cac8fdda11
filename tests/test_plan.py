"""``evalkit plan``: how many contributors would settle a gate."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import evalkit as run

import evalkit
from evalkit import Refusal, plan
from evalkit.families.selective.contributors import COLUMNS
from evalkit.uncertainty.asked import Asked
from evalkit.uncertainty.clusters import Entry, clustered
from evalkit.uncertainty.estimand import share
from evalkit.uncertainty.interval import interval, prepare
from evalkit.uncertainty.plan_draws import World, bounds, kinds
from evalkit.uncertainty.plan_result import Chances


def at(contributors: int, **asked: Any) -> Chances:
    """Return the chances of one number of contributors, of a gate at 0.9 and 5 records each.

    So small a power is reached at once, and no other number is looked for.
    """
    found = plan(
        asked.pop("gate", "precision>=0.9"),
        contributors=[contributors],
        **{"per_contributor": 5, "power": "0.01", **asked},
    )
    return next(row for row in found.rows if row.contributors == contributors)


@pytest.mark.parametrize(
    ("contributors", "true", "passed"),
    [(100, "0.92", 0.300), (100, "0.94", 0.788), (400, "0.92", 0.770), (400, "0.94", 1.0)],
)
def test_the_chance_to_pass_is_what_another_simulation_found(contributors: int, true: str, passed: float) -> None:
    """Beta-binomial contributors of 5 records and correlation 0.15, judged one by one with NumPy's own draws.

    That simulation judged 4000 times or fewer, this one 4000 times: both are known to about one in a hundred.
    """
    assert at(contributors, true=true).passed == pytest.approx(passed, abs=0.025)


def test_a_true_value_below_the_limit_passes_as_seldom_as_the_level_says() -> None:
    """Just below the limit a gate at 95 % is passed in about 5 of 100, and never shown to fail more often than that."""
    row = at(1000, gate="precision<=0.9", true="0.8999")
    assert 0.03 <= row.passed <= 0.07
    assert row.failed <= 0.07


def test_independent_records_follow_the_binomial_distribution() -> None:
    """With one record each and no correlation, of 600 the chances are those of an exact binomial gate.

    SciPy's beta.ppf(0.05, x · 599/600, (600 − x) · 599/600 + 1) is 0.9 or more from x = 553 on, since a variance has
    n − 1 degrees; binom.sf(552, 600, 0.91) is 0.17751 and binom.sf(552, 600, 0.95) 0.99889.
    """
    row = at(600, true="0.95", per_contributor=1, correlation="0")
    assert row.passed == pytest.approx(0.99889, abs=0.002)
    assert at(600, true="0.91", per_contributor=1, correlation="0").passed == pytest.approx(0.17751, abs=0.02)


@settings(deadline=None, max_examples=50)
@given(
    st.integers(1, 9).flatmap(
        lambda size: st.lists(st.tuples(st.integers(0, size), st.just(size)), min_size=10, max_size=60)
    )
)
def test_the_bounds_are_those_of_a_real_gate(rows: list[tuple[int, int]]) -> None:
    """Invented contributors of one size are judged as real ones: by the bounds of ``interval`` on the same tallies."""
    right, size = (np.array(column, np.int64) for column in zip(*rows, strict=True))
    features = (right, size, right**2, right * size, size**2, right > 0, right < size)
    low, high = bounds(0.95, len(rows), np.array([[float(one.sum()) for one in features]]))
    keys = pl.Series(range(len(rows)), dtype=pl.UInt64)
    entries = [Entry(pl.Series([place] * len(rows)), pl.Series(one)) for place, one in enumerate((right, size))]
    asked = Asked(min_contributors=2)
    measured = prepare(clustered(keys, ["right", "n"], entries), asked, resampled=False)
    found = interval(share("precisionAtCoverage", "right", "n"), measured, asked)
    assert found.at_least is not None
    assert found.at_most is not None
    assert (found.at_least, found.at_most) == pytest.approx((max(low[0], 0.0), min(high[0], 1.0)), abs=1e-9)


def test_contributors_whose_records_are_wholly_alike_are_single_records() -> None:
    """Kinds of contributors have the mean and the variance that the correlation asks for."""
    sizes = (4,)
    found, chances = kinds(World(0.9, 0.25, sizes, 0.8, "higher", 0.95, 30))
    right = found[:, 1]
    mean = float((right * chances).sum())
    assert chances.sum() == pytest.approx(1.0)
    assert mean == pytest.approx(3.6)
    # 4 · 0.9 · 0.1 · (1 + 3 · 0.25)
    assert float((right**2 * chances).sum()) - mean**2 == pytest.approx(0.63)


def test_the_number_needed_is_the_first_that_reaches_the_power() -> None:
    """Rows are in rising order; the one needed is among them and reaches the power, those before it do not."""
    found = plan("precision>=0.9", "0.93")
    assert found.needed is not None
    reached = [row.contributors for row in found.rows if row.passed >= 0.8]
    assert reached[0] == found.needed
    assert [row.contributors for row in found.rows] == sorted(row.contributors for row in found.rows)
    assert found.design_effect == pytest.approx(1 + 19 * 0.15)
    assert all(row.passed + row.insufficient + row.failed == pytest.approx(1) for row in found.rows)
    assert all(row.records == 20 * row.contributors for row in found.rows)


def test_more_than_can_be_simulated_is_told_by_the_normal_distribution() -> None:
    """A thousandth above the limit: (1.645 + 0.842)² · 0.0899 · 1.6 / (5 · 0.001²) is 178,000 contributors."""
    found = plan("errorRate<=0.1", "0.099", per_contributor=5)
    assert found.needed == 180_000
    assert found.rows[-1].method == "normal"
    assert {row.method for row in found.rows if row.contributors <= 5000} == {"simulated"}


def test_no_number_may_be_enough() -> None:
    """Where ten million contributors do not do there is no number."""
    assert plan("precision>=0.9", "0.90001").needed is None


def test_fewer_than_the_floor_settle_nothing() -> None:
    """Under the fewest contributors that a bound is given for, the records never settle the gate."""
    row = at(20, true="0.97")
    assert (row.passed, row.insufficient, row.failed) == (0.0, 1.0, 0.0)


def test_where_no_error_is_seen_contributors_count_as_single_records() -> None:
    """Nearly always right: a gate of 0.9 is passed from 0.05^(1/K) ≥ 0.9 on: by 29 contributors, not by 28."""
    assert at(29, true="0.999999", min_contributors=2).passed == pytest.approx(1, abs=0.001)
    assert at(28, true="0.999999", min_contributors=2).passed == pytest.approx(0, abs=0.001)


def test_the_same_question_has_the_same_answer() -> None:
    """Draws are hashes: the answer is the same in every run and whatever else is asked for."""
    assert plan("precision>=0.9", "0.93").to_json() == plan("precision>=0.9", "0.93").to_json()
    assert at(100, true="0.93") == next(
        row for row in plan("precision>=0.9", "0.93", per_contributor=5).rows if row.contributors == 100
    )


@pytest.mark.parametrize(
    ("gate", "asked", "message"),
    [
        ("precision>=0.9", {"true": "0.9"}, "is on the limit"),
        ("precision>=0.9", {"true": "0.88"}, "does not pass the gate; that it fails is shown by [0-9]+ contributors"),
        ("errorRate<=0.1", {"true": "0.1000"}, "is on the limit"),
        ("macroF1>=0.8", {"true": "0.9"}, "is no share"),
        ("precision=0.9", {"true": "0.9"}, "must be a metric, >= or <=, and a limit"),
        ("precision>=1", {"true": "0.9"}, "must be a decimal between 0 and 1"),
        ("precision>=0.9", {"true": "93%"}, "for 93 percent write 0.93"),
        ("precision>=0.9", {"true": "1"}, "above 0 and below 1"),
        ("precision>=0.9", {"true": "0.93", "power": "1"}, "power: must be a decimal above 0 and below 1"),
        ("precision>=0.9", {"true": "0.93", "level": "0.5"}, "level: must be a decimal between 0.5 and 1"),
        ("precision>=0.9", {"true": "0.93", "correlation": "1"}, "correlation: must be a decimal from 0 to below 1"),
        ("precision>=0.9", {"true": "0.93", "per_contributor": 0}, "per-contributor: must be a whole number"),
        ("precision>=0.9", {"true": "0.93", "contributors": [0]}, "contributors: must be a whole number"),
        ("precision>=0.9", {"true": "0.93", "min_contributors": 2.5}, "min-contributors: must be a whole number"),
    ],
)
def test_what_cannot_be_planned_is_refused(gate: str, asked: dict[str, Any], message: str) -> None:
    """Each refusal names what is wrong, under one rule."""
    with pytest.raises(Refusal, match=message) as refusal:
        plan(gate, **asked)
    assert set(refusal.value.counts) == {"plan"}


def test_a_true_value_on_the_wrong_side_says_how_many_show_it() -> None:
    """About (1.645 + 0.842)² · 0.1056 · 1.6 / (5 · 0.02²) contributors, 523, show that 0.88 fails 0.9."""
    with pytest.raises(Refusal, match=r"shown by 5[0-9]0 contributors, with a chance of 0\.8"):
        plan("precision>=0.9", "0.88", per_contributor=5)


# from results


def results(folder: Path, models: dict[str, list[tuple[int, int, int]]]) -> Path:
    """Write contributor tallies: of each contributor right, wrong and abstained records."""
    rows = []
    for model, contributors in models.items():
        for who, (right, wrong, abstained) in enumerate(contributors):
            for predicted, outcome, n in (
                ("a", "accepted", right),
                ("b", "accepted", wrong),
                (None, "low-confidence", abstained),
            ):
                rows.append((model, "test", None, None, who, "a", predicted, outcome, None, n, None))
    pl.DataFrame(rows, schema=COLUMNS, orient="row").filter(pl.col("n") > 0).write_parquet(
        folder / "contributors.parquet"
    )
    return folder


ALIKE = [(4, 0, 1), (4, 0, 0), (0, 4, 2), (4, 0, 0), (4, 0, 3)]


def test_records_and_correlation_are_measured_in_results(tmp_path: Path) -> None:
    """Five contributors of 4, one of them always wrong: Σz² is 4 · 0.8² + 3.2² = 12.8, and 5/4 · 12.8 / 400 = 0.04.

    Independent records would have 0.16 / 20 = 0.008: the design effect is 5, and (5 − 1)/(4 − 1) more than 0.99.
    """
    found = plan("precision>=0.7", "0.75", source=str(results(tmp_path, {"m": ALIKE})))
    one = found.measured
    assert one is not None
    assert (one.model, one.contributors, one.value, one.records_per_contributor) == ("m", 5, 0.8, 4.0)
    assert one.design_effect == pytest.approx(5)
    assert one.correlation == 0.99
    assert (found.records_per_contributor, found.correlation) == (4.0, 0.99)


def test_coverage_counts_abstentions(tmp_path: Path) -> None:
    """Coverage is 20 of 26 records; sizes are 5, 4, 6, 4 and 7."""
    found = plan("coverage>=0.5", "0.7", source=str(results(tmp_path, {"m": ALIKE})), correlation="0.1")
    assert found.measured is not None
    assert found.measured.value == 20 / 26
    assert (found.records_per_contributor, found.correlation) == (5.2, 0.1)


@pytest.mark.parametrize(
    ("gate", "models", "model", "message"),
    [
        ("precision>=0.7", {"m": ALIKE, "k": ALIKE}, None, "name one of its models with --model: k, m"),
        ("precision>=0.7", {"m": ALIKE}, "x", "name one of its models with --model: m"),
        ("precision>=0.7", {"m": [(4, 0, 0)] * 9}, None, "all records are right"),
        ("recall>=0.7", {"m": ALIKE}, None, "tell precisionAtCoverage and coverage"),
        ("precision>=0.7", {}, None, "holds no test records"),
        ("precision>=0.7", None, None, "holds no contributors.parquet"),
    ],
)
def test_results_that_do_not_tell_are_refused(
    tmp_path: Path, gate: str, models: dict[str, list[tuple[int, int, int]]] | None, model: str | None, message: str
) -> None:
    """Several models, no error, another metric, no records, no tallies: each is named."""
    folder = tmp_path if models is None else results(tmp_path, models)
    with pytest.raises(Refusal, match=message) as refusal:
        plan(gate, "0.75", source=str(folder), model=model)
    assert set(refusal.value.counts) == {"plan"}


def test_a_file_that_is_none_of_ours_is_refused(tmp_path: Path) -> None:
    """Bytes that are no Parquet, and a table with other columns, are refused and not a crash."""
    (tmp_path / "contributors.parquet").write_bytes(b"no table")
    with pytest.raises(Refusal, match="is not what compare writes"):
        plan("precision>=0.7", "0.75", source=str(tmp_path))
    pl.DataFrame({"model": ["m"]}).write_parquet(tmp_path / "contributors.parquet")
    with pytest.raises(Refusal, match="is not what compare writes"):
        plan("precision>=0.7", "0.75", source=str(tmp_path))


# the command


ASK = ("plan", "--gate", "precision>=0.9", "--true", "0.93")


def test_the_command_prints_a_table_and_an_answer(tmp_path: Path) -> None:
    """Exit code 0, a row a number, and the smallest number in the last line."""
    done = run(*ASK, cwd=tmp_path)
    assert done.code == 0
    assert "precisionAtCoverage >= 0.9 at 0.95, true value 0.93" in done.out
    assert "20 records a contributor, correlation 0.15, design effect 3.85" in done.out
    assert done.out.rstrip().endswith("contributors reach a chance of 0.8 to pass")


def test_the_command_writes_json(tmp_path: Path) -> None:
    """``--json -`` prints the plan as JSON and nothing else; a path is written; Python gives the same."""
    done = run(*ASK, "--json", "-", cwd=tmp_path)
    assert run(*ASK, "--json", "plan.json", cwd=tmp_path).code == 0
    expected = evalkit.plan("precision>=0.9", "0.93").to_json()
    assert done.out == expected == (tmp_path / "plan.json").read_text(encoding="utf-8")
    assert json.loads(expected)["schema"] == "evalkit-plan-v1"


def test_the_command_refuses_with_exit_code_2(tmp_path: Path) -> None:
    """A gate that cannot be planned is a refusal: nothing is printed on standard output, nothing is written."""
    done = run("plan", "--gate", "ece<=0.05", "--true", "0.03", "--json", "plan.json", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "is no share" in done.err
    assert not (tmp_path / "plan.json").exists()
