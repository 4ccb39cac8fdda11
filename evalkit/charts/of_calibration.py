"""The calibration panel of a report, read for charts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from evalkit.charts.intervals import plain_reason
from evalkit.charts.members import Members
from evalkit.charts.model import Bin, Column, Grid, Reliability, Row
from evalkit.charts.panels import BandPoint, Block, Calibration, Chance, Error, ScoreParts
from evalkit.charts.words import probability

_SCREENS = {
    "spiegelhalter": "Spiegelhalter's z",
    "kolmogorovSmirnov": "largest cumulative difference, standardised",
    "kuiper": "range of cumulative differences, standardised",
}


def calibration(members: Members) -> Calibration:
    """Read a panel."""
    corp = members.need("corp")
    return Calibration(
        records=members.needed_whole("records"),
        level=members.needed_real("level"),
        blocks=tuple(_block(one) for one in corp.items("blocks")),
        band=tuple(
            BandPoint(one.needed_real("confidence"), one.needed_real("low"), one.needed_real("high"))
            for one in corp.items("band")
        ),
        errors=tuple(_errors(members)),
        parts=_parts(corp.need("brier")),
        equal_mass=_equal_mass(members),
        reason=members.text("reason"),
    )


def _block(one: Members) -> Block:
    low, high = one.needed_real("low"), one.needed_real("high")
    return Block(low, high, one.needed_whole("n"), one.needed_whole("correct"))


def _errors(members: Members) -> Iterator[Error]:
    wide, mass = members.need("equalWidth"), members.need("equalMass")
    reason = wide.text("reason")
    yield Error("ECE, bins of equal width", wide.real("plugIn"), _chance(members.need("nullError")), reason)
    yield Error("ECE, bins of equal mass", mass.real("plugIn"), reason=mass.text("reason"))
    yield Error("smooth ECE, no bins", members.real("smooth"), reason=members.text("reason"))
    yield Error("debiased squared error, equal width", wide.real("debiased"), reason=reason)
    yield Error("debiased squared error, equal mass", mass.real("debiased"), reason=mass.text("reason"))
    brier = members.need("corp").need("brier")
    parts = _parts(brier)
    yield Error("miscalibration (MCB) of the Brier score", parts.miscalibration, parts.chance, brier.text("reason"))
    for key, name in _SCREENS.items():
        one = members.need(key)
        yield Error(name, one.real("statistic"), Chance(p_value=one.real("pValue")), one.text("reason"))


def _parts(brier: Members) -> ScoreParts:
    return ScoreParts(
        score=brier.real("score"),
        miscalibration=brier.real("miscalibration"),
        discrimination=brier.real("discrimination"),
        uncertainty=brier.real("uncertainty"),
        chance=_chance(brier.need("null")),
    )


def _chance(one: Members) -> Chance:
    return Chance(one.real("expected"), one.real("quantile"), one.real("pValue"))


def _equal_mass(members: Members) -> Reliability:
    bins = members.need("equalMass").items("bins")
    return Reliability(
        "equal mass",
        tuple(
            Bin(
                one.needed_real("low"),
                one.needed_real("high"),
                one.needed_whole("n"),
                one.real("meanConfidence"),
                one.real("accuracy"),
            )
            for one in bins
        ),
    )


def error_grid(found: Calibration) -> Grid:
    """Return the measures of miscalibration as rows beside what chance alone would give."""
    most = f"{100 * found.level:g} % below"
    columns = tuple(Column(name) for name in ("value", "by chance", most, "p"))
    rows = []
    for one in found.errors:
        chance = {"by chance": one.chance.expected, most: one.chance.quantile, "p": probability(one.chance.p_value)}
        name = one.name if one.value is not None else f"{one.name} ({plain_reason(one.reason)})"
        rows.append(Row(name, {"value": one.value, **chance}))
    return Grid("Calibration error beside chance", "measure", columns, tuple(rows))


def strata_grid(found: Iterable[tuple[str, Calibration]]) -> Grid | None:
    """Return the calibration of strata, a row each; None where there is none."""
    names = ("records", "ECE", "by chance", "p", "smooth ECE", "debiased", "MCB")
    rows = []
    for name, one in found:
        by_name = {error.name: error for error in one.errors}
        wide = by_name["ECE, bins of equal width"]
        values = (
            *(one.records, wide.value, wide.chance.expected, probability(wide.chance.p_value)),
            by_name["smooth ECE, no bins"].value,
            by_name["debiased squared error, equal width"].value,
            one.parts.miscalibration,
        )
        rows.append(Row(name, dict(zip(names, values, strict=True))))
    return Grid("Calibration by stratum", "stratum", tuple(map(Column, names)), tuple(rows)) if rows else None


def class_grid(members: Members) -> Grid:
    """Return the error of the probability of each class, and their means, as rows."""
    names = ("records", "ECE", "debiased")
    means = (None, members.real("plugIn"), members.real("debiased"))
    rows = [Row("mean over classes", dict(zip(names, means, strict=True)))]
    for one in members.items("classes"):
        values = (one.whole("records"), one.real("plugIn"), one.real("debiased"))
        rows.append(Row(one.needed_text("label"), dict(zip(names, values, strict=True))))
    return Grid("Calibration of the probability of each class", "class", tuple(map(Column, names)), tuple(rows))
