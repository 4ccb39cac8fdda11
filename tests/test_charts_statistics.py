"""How sure numbers are, as charts show it: whiskers, bounds, calibration against chance, risk, differences."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import altair
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit import Refusal
from evalkit.charts.bars import bars
from evalkit.charts.corp import corp, score_parts
from evalkit.charts.fields import taking
from evalkit.charts.figures import figures, grid_figure
from evalkit.charts.forest import forest, reach_of
from evalkit.charts.grid import grid
from evalkit.charts.intervals import Interval, Ruling
from evalkit.charts.markdown import markdown
from evalkit.charts.model import Bin, Column, Grid, Measure, Part, Reliability, Row, Subject
from evalkit.charts.of_evaluation import evaluation
from evalkit.charts.of_metrics import metrics
from evalkit.charts.page import page
from evalkit.charts.palette import DARK, GOOD, INK, STRONG, TARGET
from evalkit.charts.panels import (
    BandPoint,
    Block,
    Calibration,
    Chance,
    Claim,
    Difference,
    Error,
    Forest,
    Group,
    Risk,
    RiskPoint,
    ScoreParts,
)
from evalkit.charts.read import read, with_curves
from evalkit.charts.reliability import reliability
from evalkit.charts.risk import risk
from evalkit.charts.svg import draw
from evalkit.charts.tables import tables
from evalkit.charts.vega import Spec
from evalkit.report import snake

FIXTURES = Path(__file__).parent.parent / "data-fixtures" / "charts"
PLAIN: dict[str, Any] = json.loads((FIXTURES / "statistics.json").read_text("utf-8"))
NO_INTERVAL = "No interval is given: a number that rests on few records says little."


def report() -> dict[str, Any]:
    """Return the report with statistics: alpha passes by its bounds, beta does not."""
    return copy.deepcopy(PLAIN)


def own(plain: dict[str, Any], place: int = 0) -> dict[str, Any]:
    """Return the statistics of a candidate."""
    found: dict[str, Any] = plain["statistics"]["candidates"][place]
    return found


def rows_of(spec: Spec, mark: str, color: str) -> list[dict[str, Any]]:
    """Return the rows of all layers of a mark in a colour."""
    layers = [one for one in spec["layer"] if one["mark"]["type"] == mark and one["mark"].get("color") == color]
    return [row for one in layers for row in one["data"]["values"]]


def words(spec: Spec) -> list[str]:
    """Return every text of a chart."""
    layers = [one for one in spec["layer"] if one["mark"]["type"] == "text"]
    return [row["text"] for one in layers for row in one["data"]["values"]]


def told(subject: Subject) -> list[str]:
    """Return the rows of all tables, as lines."""
    return [" | ".join(row) for part in subject.parts for one in tables(part) for row in one.rows]


# intervals and gates


def test_a_metric_has_its_interval_and_what_its_gate_said() -> None:
    """Of beta, 0.883 is not shown to reach 0.9, 0.78 is not settled at 0.8."""
    measures = {one.name: one for one in read(report()).parts[1].measures}
    precision, macro = measures["precision at coverage"], measures["macro-F1"]
    assert precision.interval is not None
    assert (precision.interval.ends, precision.interval.contributors) == ((0.865, 0.901), 400)
    assert precision.ruling == Ruling("failed", 0.869, None, 0.883, 0.9, "higher")
    assert macro.ruling == Ruling("insufficient", 0.755, "insufficient-evidence", 0.78, 0.8, "higher")
    assert measures["coverage"].ruling is None


def test_a_whisker_goes_from_the_low_to_the_high_end() -> None:
    """Over 260 pixels from 256: 0.25 is at 321, 0.75 at 451; the bound of 0.5 at 386."""
    one = Measure("m", 0.6, limit=0.9, direction="higher", interval=Interval(0.25, 0.75), ruling=Ruling("failed", 0.5))
    spec = bars([one])
    assert [(row["x"], row["x2"]) for row in rows_of(spec, "rule", INK) if "x2" in row] == [(321.0, 451.0)]
    assert [row["x"] for row in rows_of(spec, "point", STRONG)] == [386.0]
    assert {"[0.2500, 0.7500]", "bound 0.500", "failed"} <= set(words(spec))


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_no_whisker_leaves_the_scale(value: float, one: float, other: float) -> None:
    """Whatever the ends are."""
    low, high = sorted((one, other))
    spec = bars([Measure("m", value, interval=Interval(low, high))])
    ends = [row[key] for row in rows_of(spec, "rule", INK) for key in ("x", "x2") if key in row]
    assert len(ends) == 4
    assert all(256 <= end <= 516 for end in ends)


def test_what_is_beyond_the_scale_has_no_stroke_there() -> None:
    """A whisker of a rate up to 1.4 ends at the scale's end without a stroke; one above 1 is not drawn."""
    over = bars([Measure("m", 1.2, "rate", interval=Interval(0.5, 1.4))])
    assert [(row["x"], row["x2"]) for row in rows_of(over, "rule", INK) if "x2" in row] == [(386.0, 516.0)]
    assert [row["x"] for row in rows_of(over, "rule", INK) if "y2" in row] == [386.0]
    beyond = bars([Measure("m", 1.2, "rate", interval=Interval(1.1, 1.4))])
    assert rows_of(beyond, "rule", INK) == []


def test_what_was_not_measured_has_no_whisker() -> None:
    """Whatever the report says of its interval."""
    spec = bars([Measure("m", None, interval=Interval(0.2, 0.4))])
    assert rows_of(spec, "rule", INK) == []
    assert "[0.2000, 0.4000]" not in words(spec)


@pytest.mark.parametrize(
    ("outcome", "said"),
    [("passed", ["passed"]), ("failed", ["failed"]), ("insufficient", ["insufficient", "evidence"])],
)
def test_a_bounds_outcome_is_words_and_a_shape(outcome: Any, said: list[str]) -> None:
    """Three words and three shapes; whether the value itself meets the target is no longer said."""
    one = Measure("m", 0.95, limit=0.9, direction="higher", met=True, ruling=Ruling(outcome, 0.89))
    spec = bars([one])
    assert [word for word in words(spec) if word in ("passed", "failed", "insufficient", "evidence", "met")] == said
    shapes = {one["mark"]["shape"] for one in spec["layer"] if one["mark"].get("size") == 60 and one["data"]["values"]}
    assert shapes == {{"passed": "circle", "failed": "cross", "insufficient": "triangle-up"}[outcome]}


def test_where_there_is_no_interval_the_reason_is_said() -> None:
    """In the chart, in its words and in the table."""
    why = Interval(reason="insufficient-contributors", contributors=12)
    part = Part("m", measures=(Measure("recall", 0.5, sample_size=40, interval=why),))
    (figure,) = figures(part)
    assert figure.spec is not None
    said = "no interval: insufficient contributors (12)"
    assert said in words(figure.spec)
    assert said in figure.told
    (table,) = tables(part)
    assert table.rows == (("recall", "0.5000", "–", "none", "40", "–", "no target", said),)


def test_classes_and_strata_have_the_ends_below_their_numbers() -> None:
    """Class 5 of alpha has a precision of 0.945; of class 6 twelve contributors are too few; north is told by name."""
    part = read(report()).parts[0]
    classes, strata, _ = part.grids
    drawn = grid(classes)
    assert {"0.9450", "[0.915, 0.975]", "no interval"} <= set(words(drawn))
    assert grid_figure(classes).caption == "No interval: insufficient contributors."
    lines = told(read(report()))
    assert "5 | 260 | 260 | 0.9450 [0.9150, 0.9750] | 0.9150 [0.8850, 0.9450] | 0.9300 [0.9000, 0.9600]" in lines
    assert any(line.startswith("6 | 220 | 230 | 0.9550 (no interval: insufficient contributors)") for line in lines)
    assert strata.rows[0].name == "site=north"
    assert strata.rows[0].intervals["precision"].ends == (0.91, 0.96)


def test_strata_are_found_by_their_fields_not_by_their_order() -> None:
    """The statistics of strata may stand in any order."""
    plain = report()
    own(plain)["strata"].reverse()
    rows = read(plain).parts[0].grids[1].rows
    assert [(row.name, row.intervals["precision"].ends) for row in rows] == [
        ("site=north", (0.91, 0.96)),
        ("site=south", (0.89, 0.94)),
    ]


def test_a_bin_has_the_interval_of_its_own_accuracy() -> None:
    """That of bin 6 is of 0.6 to 0.7; bin 5 has too few contributors."""
    found = read(report()).parts[0].reliability
    assert found is not None
    assert [None if one.interval is None else one.interval.ends for one in found.bins] == [
        None,
        (0.59, 0.81),
        (0.6914, 0.8514),
        (0.795, 0.905),
        (0.928, 0.972),
    ]


def test_whiskers_take_the_place_of_gaps_in_a_reliability_diagram() -> None:
    """A whisker about the accuracy, and no second line at the same place."""
    sure = Bin(0.8, 0.9, 10, 0.85, 0.9, Interval(0.7, 0.99))
    diagram = reliability(Reliability("m", (sure, Bin(0.9, 1.0, 5, 0.95, 0.8))))["vconcat"][0]
    whiskers = rows_of(diagram, "rule", INK)
    assert whiskers == [{"confidence": 0.85, "low": 0.7, "high": 0.99}]
    assert rows_of(diagram, "rule", STRONG) == []
    plain = reliability(Reliability("m", (Bin(0.9, 1.0, 5, 0.95, 0.8),)))["vconcat"][0]
    assert len(rows_of(plain, "rule", STRONG)) == 1


def test_bars_that_differ_in_width_are_all_labelled_or_none() -> None:
    """Counts of narrow bins would run into each other, and some without looks like nothing in them."""

    def labels(*edges: float) -> list[str]:
        bins = tuple(Bin(low, high, 87, low, low) for low, high in pairwise(edges))
        return words(reliability(Reliability("m", bins))["vconcat"][1])

    assert labels(0.5, 0.6, 0.7) == ["87", "87"]
    assert labels(0.5, 0.6, 0.8) == ["87", "87"]
    assert labels(0.5, 0.6, 0.62) == []


def test_facts_say_what_was_asked_and_whom_the_records_are_from() -> None:
    """Level, resamples, seed, floor; contributors, their effective number and the largest share."""
    subject = read(report())
    assert subject.facts[-4:] == (
        ("intervals", "95 %, by contributor; 1,000 resamples, seed 0; none below 30 contributors"),
        ("gates", "held against the one-sided bound of each number, not against the number itself"),
        ("support", "at least 200 accepted test records of each label in truth"),
        ("excluded classes", "none is allowed"),
    )
    sample = "412 contributors, worth 380.2 of equal size; the largest has 1.0 % of the records."
    assert sample in subject.parts[0].notes
    plain = report()
    plain["statistics"] |= {"gateOn": "point", "minSupport": 0, "noExcludedClass": False}
    assert [name for name, _ in read(plain).facts][-1] == "intervals"


def test_what_gates_ask_for_besides_is_a_count_with_its_limit() -> None:
    """The fewest accepted records of a label, and labels of which none was accepted: no bar, but an outcome."""
    rows = {one.name: one for one in read(report()).parts[1].measures}
    fewest, excluded = list(rows.values())[-2:]
    assert (fewest.value, fewest.limit, fewest.scale) == (120, 200, "count")
    assert (fewest.remark, fewest.ruling and fewest.ruling.outcome) == ("insufficient support", "insufficient")
    assert (excluded.value, excluded.limit, excluded.ruling and excluded.ruling.outcome) == (0, 0, "passed")


def test_that_no_interval_is_given_is_said_only_where_none_is() -> None:
    """Without statistics, and where every interval lacks for some reason."""
    assert NO_INTERVAL not in read(report()).limitations
    assert any("say how far a number may move with other contributors" in one for one in read(report()).limitations)
    bare = report()
    del bare["statistics"]
    assert NO_INTERVAL in read(bare).limitations
    assert read(bare).comparison is None
    empty = report()
    for one in empty["statistics"]["candidates"]:
        for each in [one, *one["strata"]]:
            for interval in each["intervals"]:
                interval |= {"low": None, "high": None, "reason": "insufficient-contributors"}
    assert NO_INTERVAL in read(empty).limitations


def test_what_was_not_asked_for_is_null() -> None:
    """No intervals, no panel, no curve, no certificate, no strata, no gates, no comparison."""
    plain = report()
    for one in plain["statistics"]["candidates"]:
        one |= dict.fromkeys(("intervals", "calibration", "riskCoverage", "optimism", "certified", "strata", "gates"))
    plain["statistics"]["comparison"] = None
    subject = read(plain)
    assert (subject.parts[0].calibration, subject.parts[0].risk, subject.comparison) == (None, None, None)
    assert subject.parts[0].measures[1].ruling is None
    assert [row[5] for row in next(iter(tables(subject.parts[0]))).rows] == ["no target", "met", "met", "met"]
    assert NO_INTERVAL in subject.limitations
    assert "intervals" not in dict(subject.facts)
    assert dict(subject.facts)["statistics"].startswith("95 %, by contributor")


def removed(*path: str | int) -> dict[str, Any]:
    """Return the report without a member of its statistics."""
    return replaced(None, *path, gone=True)


def replaced(value: object, *path: str | int, gone: bool = False) -> dict[str, Any]:
    """Return the report with another member in its statistics."""
    plain = report()
    place: Any = plain["statistics"]
    for key in path[:-1]:
        place = place[key]
    if gone:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return plain


FIRST = ("candidates", 0)
BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "no level": (removed("level"), "statistics.level: is missing"),
    "a level that is a text": (replaced("0.95", "level"), "statistics.level: must be a number with a fraction"),
    "no list": (replaced({}, "candidates"), "statistics.candidates: must be an array; found an object of 0"),
    "no name": (removed(*FIRST, "intervals", 0, "name"), "statistics.candidates[0].intervals[0].name: is missing"),
    "an outcome of its own": (
        replaced("maybe", *FIRST, "gates", "macroF1", "outcome"),
        'gates.macroF1.outcome: must be one of "passed", "failed", "insufficient"; found "maybe"',
    ),
    "no curve": (removed(*FIRST, "calibration", "corp"), "statistics.candidates[0].calibration.corp: is missing"),
    "no area": (removed(*FIRST, "riskCoverage", "test", "augrc"), "riskCoverage.test.augrc: is missing"),
    "no validation": (
        removed(*FIRST, "riskCoverage", "validation"),
        "statistics.candidates[0].riskCoverage.validation: must be an object",
    ),
    "more accepted than there are": (
        replaced(5000, *FIRST, "certified", 0, "accepted"),
        "statistics.candidates[0].certified[0].accepted: must be at most the records of validation",
    ),
}


@pytest.mark.parametrize(("plain", "message"), BROKEN.values(), ids=BROKEN)
def test_statistics_that_are_not_whole_are_refused(plain: dict[str, Any], message: str) -> None:
    """What is there must be of its type, and what is needed must be there."""
    with pytest.raises(Refusal) as refused:
        read(plain)
    assert message in str(refused.value)
    assert {one.rule for one in refused.value.violations} == {"not-whole"}


# calibration

PARTS = ScoreParts(0.2, 0.02, 0.05, 0.23, Chance(0.01, 0.03, 0.2))
BLOCKS = (Block(0.5, 0.7, 10, 6), Block(0.8, 0.8, 5, 4))
BAND = (BandPoint(0.5, 0.2, 0.8), BandPoint(0.8, 0.4, 1.0))
EQUAL = Reliability("equal mass", (Bin(0.5, 0.8, 15, 0.62, 0.67),))
PANEL = Calibration(15, 0.95, BLOCKS, BAND, (Error("ECE", 0.1, Chance(0.08, 0.2, 0.4)),), PARTS, EQUAL)


def test_a_recalibrated_curve_is_drawn_in_steps() -> None:
    """A block is a step over its confidences at its share of right ones; the band is that of chance."""
    spec = corp(PANEL)
    assert rows_of(spec, "rule", STRONG) == [{"x": 0.5, "x2": 0.7, "y": 0.6}, {"x": 0.8, "x2": 0.8, "y": 0.8}]
    assert rows_of(spec, "point", STRONG) == [{"x": 0.8, "x2": 0.8, "y": 0.8}]
    (area,) = [one for one in spec["layer"] if one["mark"]["type"] == "area"]
    assert area["data"]["values"] == [{"x": 0.5, "low": 0.2, "high": 0.8}, {"x": 0.8, "low": 0.4, "high": 1.0}]


def test_a_score_is_taken_apart_with_what_chance_gives() -> None:
    """Of 328 pixels 0.23 is all; 0.01 and 0.03 of chance lie at 14.3 and 42.8 beyond the edge."""
    spec = score_parts(PARTS)
    assert {"0.0200", "0.0500", "0.2300", "0.2000", "+ MCB, miscalibration", "= Brier score"} <= set(words(spec))
    (line,) = rows_of(spec, "rule", TARGET)
    assert (round(line["x"] - 2, 1), round(line["x2"] - 2, 1)) == (14.3, 42.8)


def test_calibration_is_told_beside_chance() -> None:
    """The frozen ECE with its expectation by chance and its p-value, smooth and debiased errors, equal mass."""
    part = read(report()).parts[0]
    titles = [one.title for one in figures(part)]
    assert titles[3:6] == ["Recalibrated confidence (CORP)", "Brier score in parts", "Reliability, bins of equal mass"]
    lines = told(read(report()))
    assert "ECE, bins of equal width | 0.0177 | 0.0206 | 0.0335 | 0.629" in lines
    assert "smooth ECE, no bins | 0.0202 | – | – | –" in lines
    assert "debiased squared error, equal width | -0.0003 | – | – | –" in lines
    assert "Brier score | 0.0017 | 0.0133 | 0.1414 | 0.1298" in lines
    assert "0.59 to 0.72 | 169 | 114 | 0.6746" in lines


def test_calibration_of_strata_is_a_row_each() -> None:
    """Where strata have panels."""
    names = [[one.title for one in part.grids] for part in read(report()).parts]
    assert names == [["Classes", "Strata", "Calibration by stratum"], ["Classes", "Strata"]]


def test_where_nothing_was_measured_no_chart_of_calibration_is_drawn() -> None:
    """The reason stands in its place."""
    nothing = Calibration(
        0, 0.95, (), (), (), ScoreParts(None, None, None, None, Chance()), Reliability("e", ()), "no-records"
    )
    found = list(figures(Part("m", calibration=nothing)))
    assert [one.spec for one in found] == [None, None, None]
    assert found[0].caption == "Recalibration is not measured: no records."
    assert list(tables(Part("m", calibration=nothing))) == []


# risk and coverage

CLAIM = Claim(0.9, 0.95, 0.7, RiskPoint(0.8, 0.08), None)
NONE = Claim(0.99, 0.95, None, RiskPoint(None, None), "first-cut-failed")
CURVE = tuple(RiskPoint(n / 10, n / 100) for n in range(1, 10))
RISK = Risk(CURVE, 0.8, RiskPoint(0.5, 0.05), (CLAIM, NONE), RiskPoint(0.9, 0.09))


def test_certified_thresholds_stand_beside_the_one_in_use() -> None:
    """Each with its shape and its words; the risk that a claim allows is a line, and none where none is certified."""
    spec = risk(RISK)
    assert [(row["coverage"], row["risk"]) for row in rows_of(spec, "point", STRONG)] == [(0.5, 0.05)]
    assert [(row["coverage"], row["risk"]) for row in rows_of(spec, "point", GOOD)] == [(0.8, 0.08)]
    assert [round(row["risk"], 6) for row in rows_of(spec, "rule", TARGET)] == [0.1, 0.01]
    assert {"in use", "certified 0.9", "risk 0.1: precision 0.9", "risk 0.01: precision 0.99"} <= set(words(spec))
    (figure,) = figures(Part("m", risk=RISK))
    assert "No threshold is certified for precision 0.99, 95 % sure: first cut failed." in figure.caption
    assert "It ends at coverage 0.9000" in figure.caption


def test_the_curve_of_risk_is_that_of_validation() -> None:
    """Its points are those of the curve's table: of 10 records 4 accepted with 1 wrong is a risk of 0.25."""
    subject = read(report())
    assert subject.parts[0].risk is not None
    assert subject.parts[0].risk.points is None
    cuts = pl.DataFrame(
        {"model": ["alpha"] * 2, "cut": [0.9, 0.8], "accepted": [4, 8], "correct": [3, 7], "total": [10, 10]}
    ).with_columns(stratum_field=pl.lit(None, pl.String))
    found = with_curves(subject, cuts).parts[0].risk
    assert found is not None
    assert found.points == (RiskPoint(0.4, 0.25), RiskPoint(0.8, 0.125))


def test_of_test_there_are_areas_and_no_curve() -> None:
    """Both splits have their areas in numbers; the caption says why one is not drawn."""
    (figure,) = [one for one in figures(read(report()).parts[0]) if one.title == "Risk and coverage, on validation"]
    assert "Of test there are numbers only" in figure.caption
    lines = told(read(report()))
    assert "AUGRC: mean rate of undetected errors | 0.0353 [0.0295, 0.0412] | 0.0416 [0.0323, 0.0509]" in lines
    assert "coverage where the curve ends | 0.9290 | 0.9400" in lines
    assert "precision at the threshold | 0.9433 | 0.9350 | 0.0083 | 0.0121" in lines
    assert "precision ≥ 0.99, 95 % sure | first cut failed | – | – | – | – | – | – | –" in lines


def test_without_any_point_no_curve_of_risk_is_drawn() -> None:
    """No cut was chosen, none certified, and the curve is not at hand."""
    nowhere = RiskPoint(None, None)
    (figure,) = figures(Part("m", risk=Risk(None, None, nowhere, (NONE,), nowhere)))
    assert figure.spec is None


# differences

SURE = Interval(-0.01, 0.03, method="cluster-t", contributors=40)


def group(metric: str, direction: Any, *values: float) -> Group:
    """Return differences of candidates named by letters."""
    rows = tuple(
        Difference(name, 0.5, 0.5 + one, one, SURE, 0.2, 0.4, None) for name, one in zip("abc", values, strict=False)
    )
    return Group(metric, direction, rows)


def test_a_forest_has_a_zero_line_and_the_margin_on_the_worse_side() -> None:
    """Higher is better: left of zero; lower is better: right of it. The scale to 0.05 has 2800 pixels to 1."""
    found = Forest("base", 0.02, (group("f1", "higher", 0.01), group("ece", "lower", 0.01)))
    assert reach_of(found) == 0.05
    spec = forest(found)
    assert [round(row["x"], 6) for row in rows_of(spec, "rule", TARGET)] == [340, 452]
    assert [round(row["x"], 6) for row in rows_of(spec, "point", STRONG)] == [424, 424]
    whiskers = [(round(row["x"], 6), round(row["x2"], 6)) for row in rows_of(spec, "rule", INK) if "x2" in row]
    assert whiskers == [(368, 480), (368, 480)]
    assert {"f1: right of 0 is better", "ece: left of 0 is better", "+0.0100", "[-0.010, 0.030]"} <= set(words(spec))


def test_a_comparison_is_a_part_of_its_own() -> None:
    """Differences by metric with interval, p-values and what the margin says; who is right; flips; cautions."""
    found = read(report()).comparison
    assert found is not None
    assert found.title == "Against alpha"
    assert [one.title for one in found.grids] == [
        "Who is right on the same record",
        "Flips: what became of each result of the baseline",
    ]
    lines = [" | ".join(row) for one in tables(found) for row in one.rows]
    assert lines[1] == (
        "beta | 0.9350 | 0.9290 | -0.0060 | [-0.0200, 0.0080] | 0.030 | 0.060 | -0.0180 | passed | "
        "cluster-t, 412 contributors"
    )
    assert "beta | 1,000 | 770 | 47 | 30 | 153 | 0.150 | 0.300" in lines
    assert "beta: baseline right | 770 | 34 | 35" in lines
    assert "Records are paired by sample.id." in found.notes
    assert "## Against alpha" in markdown(read(report())).splitlines()


def test_what_could_not_be_compared_is_said() -> None:
    """A candidate without a threshold is named, and nothing is drawn."""
    plain = report()
    against = {
        "model": "beta",
        "reason": "no-threshold",
        "differences": [],
        "pairs": None,
        "warnings": ["other records"],
    }
    plain["statistics"]["comparison"]["against"] = [against]
    found = read(plain).comparison
    assert found is not None
    assert {"beta is not compared: no threshold.", "other records."} <= set(found.notes)
    assert [one.spec for one in figures(found)] == [None]


# other reports


def test_an_evaluation_spells_its_statistics_with_underscores() -> None:
    """All rows, a class and a family have intervals; a report without models has one candidate without a name."""
    plain = json.loads((FIXTURES / "evaluation.json").read_text("utf-8"))
    panel = snaked(own(PLAIN)["calibration"])
    classes = [{"label": "yes", "records": 20, "plug_in": 0.1, "debiased": 0.01, "bins_of_one": 0, "reason": None}]
    wise = {"plug_in": 0.1, "debiased": 0.01, "reason": None, "classes": classes}
    interval = {"name": "accuracy", "low": 0.7, "high": 0.8, "method": "cluster-t", "contributors": 20}
    clinic = {"by": {"family": "clinic"}, "intervals": [{**interval, "low": 0.6}], "calibration": None}
    recall = {**interval, "name": "per_class_recall", "label": "yes"}
    candidate: dict[str, Any] = {"model": None, "contributors": 20, "intervals": [interval, recall], "strata": [clinic]}
    candidate["calibration"] = {"top_label": panel, "class_wise": wise}
    asked = {"level": 0.9, "clustered_by": "row", "min_contributors": 5, "candidates": [candidate]}
    subject = evaluation({**plain, "statistics": asked}, taking("not-whole"))
    part = subject.parts[0]
    assert part.measures[0].interval is not None
    assert (part.measures[0].interval.ends, part.measures[0].interval.unit) == ((0.7, 0.8), "rows")
    families, recalls, wide = part.grids
    assert {row.name: row for row in families.rows}["clinic"].intervals["accuracy"].ends == (0.6, 0.8)
    assert {row.name: row for row in recalls.rows}["yes"].intervals["recall"].ends == (0.7, 0.8)
    assert wide.rows[1] == Row("yes", {"records": 20, "ECE": 0.1, "debiased": 0.01})
    assert part.calibration is not None
    assert part.calibration.blocks[0] == Block(0.56, 0.56, 2, 1)
    assert "20 rows." in part.notes
    assert NO_INTERVAL not in subject.limitations


def snaked(value: Any) -> Any:
    """Spell the keys of plain data with underscores."""
    if isinstance(value, dict):
        return {snake(key): snaked(member) for key, member in value.items()}
    return [snaked(one) for one in value] if isinstance(value, list) else value


def test_a_measurement_has_intervals_by_metric_and_system() -> None:
    """Of the candidate, not of the baseline; of a stratum, not of another; each with what varies as one."""
    plain = json.loads((FIXTURES / "measurement.json").read_text("utf-8"))
    whole = {"name": "Recall@10", "system": "candidate", "stratum": None, "low": 0.5, "high": 1.0}
    rows = [
        {**whole, "clustered_by": "query", "contributors": 40},
        {**whole, "name": "OCR fidelity", "system": None, "stratum": "hand <b>", "clustered_by": "source"},
    ]
    asked = {"level": 0.95, "clustered_by": "source", "intervals": rows}
    parts = metrics({**plain, "statistics": asked}, taking("not-whole")).parts
    sure = [[(one.name, one.about) for one in part.measures if one.interval is not None] for part in parts]
    assert sure == [[("Recall@10", "candidate")], [("OCR fidelity", "")], []]
    assert [one.interval.unit for one in parts[0].measures if one.interval is not None] == ["queries"]


# every chart

LONG = "a name of two hundred characters " * 7
SPECS: dict[str, Callable[[], Spec]] = {
    "bars": lambda: bars(
        [Measure(LONG, 0.5, limit=0.4, interval=Interval(0.2, 0.8), ruling=Ruling("insufficient", 0.3))]
    ),
    "grid": lambda: grid(Grid("t", "c", (Column("f1", 1.0),), (Row(LONG, {"f1": 0.5}, {"f1": SURE}),))),
    "corp": lambda: corp(PANEL),
    "one confidence": lambda: corp(Calibration(5, 0.95, BLOCKS[1:], BAND[:1], (), PARTS, EQUAL)),
    "score": lambda: score_parts(PARTS),
    "score of nothing": lambda: score_parts(ScoreParts(None, None, None, None, Chance())),
    "risk": lambda: risk(RISK),
    "risk without points": lambda: risk(Risk(None, 0.8, RiskPoint(0.5, 0.05), (CLAIM,), RiskPoint(None, None))),
    "forest": lambda: forest(Forest("b", 0.02, (group("f1", "higher", 0.01, -0.2), group("n", "none", 0.0)))),
    "forest of nothing": lambda: forest(Forest("b", None, ())),
    "reliability": lambda: reliability(Reliability("m", (Bin(0.8, 0.9, 10, 0.85, 0.9, SURE),))),
}


@pytest.mark.parametrize("make", SPECS.values(), ids=SPECS)
def test_every_specification_is_valid_and_is_drawn(make: Callable[[], Spec]) -> None:
    """Against the schema of Vega-Lite; every colour has a twin for dark grounds."""
    spec = make()
    altair.Chart.from_dict(spec)
    root = ET.fromstring(f'<svg xmlns="http://www.w3.org/2000/svg">{draw(spec, "x").inner}</svg>')  # noqa: S314 - ours
    colors = {one.get(key) for one in root.iter() for key in ("fill", "stroke")} - {None, "none", "transparent"}
    assert colors <= set(DARK)


def pages(subject: Subject) -> Iterator[ET.Element]:
    """Parse the page of a subject."""
    yield ET.fromstring(page(subject).removeprefix("<!DOCTYPE html>\n"))  # noqa: S314 - ours


def test_hostile_names_in_statistics_are_text() -> None:
    """In models, strata, reasons, methods and warnings."""
    hostile = "</text><script>alert(1)</script>"
    plain = report()
    plain["candidates"][1]["model"] = own(plain, 1)["model"] = hostile
    for one in own(plain, 1)["intervals"]:
        one |= {"method": hostile, "reason": hostile}
    against = plain["statistics"]["comparison"]["against"][0]
    against |= {"model": hostile, "warnings": [hostile]}
    plain["statistics"]["comparison"]["bestOf"]["text"] = hostile
    for root in pages(read(plain)):
        assert not [one for one in root.iter() if one.tag.endswith("script")]
        ids = [one.get("id") for one in root.iter() if one.get("id")]
        assert len(ids) == len(set(ids))
        assert f"{hostile}." in {one.text for one in root.iter("bdi")}
