"""The charts of calibration against chance, of risk and coverage, and of differences, with their words."""

from __future__ import annotations

from evalkit.charts.corp import MOST_BLOCKS, corp, score_parts
from evalkit.charts.figure import Figure
from evalkit.charts.forest import MOST_CANDIDATES, forest, signed
from evalkit.charts.intervals import RULINGS, bracket, plain_reason
from evalkit.charts.panels import Calibration, Difference, Forest, Risk, RiskPoint, ScoreParts
from evalkit.charts.risk import risk
from evalkit.charts.words import NOT_MEASURED, number, probability

_TOLD = 40
"""Most blocks that are said in words."""


def calibration_figures(found: Calibration) -> tuple[Figure, Figure]:
    """Return the recalibrated curve, and the Brier score taken apart."""
    titles = ("Recalibrated confidence (CORP)", "Brier score in parts")
    if not found.blocks:
        caption = f"Recalibration is {NOT_MEASURED}: {plain_reason(found.reason)}."
        return Figure(titles[0], caption, NOT_MEASURED, None), Figure(titles[1], caption, NOT_MEASURED, None)
    caption = (
        "Steps: the share of right ones among neighbouring confidences, pooled so that it never falls. On the dashed "
        "line confidence is accuracy. Shaded: where the steps of a calibrated model lie by chance, "
        f"{100 * found.level:g} % of the time at each confidence."
    )
    if len(found.blocks) > MOST_BLOCKS:
        caption += f" The {MOST_BLOCKS} blocks of most records, of {len(found.blocks):,}."
    said = [
        f"{one.low:.4g} to {one.high:.4g}: {one.correct:,} of {one.records:,} right, {number(one.share)}"
        for one in found.blocks[:_TOLD]
    ]
    return Figure(titles[0], caption, ". ".join(said), corp(found)), _parts(found.parts, titles[1])


def _parts(found: ScoreParts, title: str) -> Figure:
    caption = "MCB: what recalibration takes off; 0 is best. DSC: what confidences tell apart; more is better."
    if found.chance.expected is not None and found.chance.quantile is not None:
        caption += (
            f" Below MCB: what chance alone gives, {number(found.chance.expected)} in the mean (triangle), seldom more "
            f"than {number(found.chance.quantile)} (end of the line); p = {probability(found.chance.p_value)}."
        )
    said = (
        f"score {number(found.score)}, miscalibration {number(found.miscalibration)}, "
        f"discrimination {number(found.discrimination)}, uncertainty {number(found.uncertainty)}; "
        f"by chance miscalibration of {number(found.chance.expected)}, p {probability(found.chance.p_value)}"
    )
    return Figure(title, caption, said, score_parts(found))


def risk_figure(found: Risk) -> Figure:
    """Return the curve of risk and coverage."""
    title = "Risk and coverage, on validation"
    said = [f"Filled diamond: the threshold in use, {_cut(found.threshold)}; {_at(found.chosen)}."]
    for one in found.claims:
        name = f"precision {one.target:g}, {100 * one.confidence:g} % sure"
        if one.threshold is None:
            said.append(f"No threshold is certified for {name}: {plain_reason(one.reason)}.")
        else:
            said.append(f"Open triangle: certified for {name}, {_cut(one.threshold)}; {_at(one.at)}.")
    if found.points is None:
        said.append("The whole curve is in a results folder only: compare --out.")
    else:
        said.append("Line: every cut on validation.")
    if found.reached.coverage is not None:
        end = number(found.reached.coverage)
        said.append(f"It ends at coverage {end}: no other record has a suggestion that may be accepted.")
    said.append("Of test there are numbers only: a cut chosen on its curve would no longer be tested by it.")
    caption = " ".join(said)
    points = (found.chosen, *(one.at for one in found.claims))
    if not found.points and all(one.coverage is None for one in points):
        return Figure(title, caption, caption, None)
    return Figure(title, caption, caption, risk(found))


def _cut(threshold: float | None) -> str:
    return "none" if threshold is None else repr(threshold)


def _at(point: RiskPoint) -> str:
    if point.coverage is None or point.risk is None:
        return NOT_MEASURED
    return f"coverage {number(point.coverage)}, risk {number(point.risk)}"


def forest_figure(found: Forest) -> Figure:
    """Return the differences to the baseline."""
    title = f"Differences to {found.baseline}"
    if not any(group.rows for group in found.groups):
        return Figure(title, "Nothing was compared.", "Nothing was compared.", None)
    caption = "Squares: candidate minus baseline. Whiskers: the interval of the difference. Line: no difference."
    if found.margin is not None:
        caption += f" Dashed: the margin, {number(found.margin)} on the side that is worse."
    if any(len(group.rows) > MOST_CANDIDATES for group in found.groups):
        caption += f" The first {MOST_CANDIDATES} candidates; the tables have all."
    said = [f"{group.metric}: {'; '.join(map(_told, group.rows[:MOST_CANDIDATES]))}" for group in found.groups]
    return Figure(title, caption, ". ".join(said), forest(found))


def _told(one: Difference) -> str:
    ends = bracket(one.interval) or f"no interval, {plain_reason(one.interval.reason)}"
    verdict = "" if one.ruling is None else f", by the margin {RULINGS[one.ruling.outcome]}"
    return f"{one.candidate} {signed(one.value)} {ends}, p {probability(one.adjusted)}{verdict}"
