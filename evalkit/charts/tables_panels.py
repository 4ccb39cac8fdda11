"""The numbers of calibration, and of differences to a baseline, as tables of text."""

from __future__ import annotations

from collections.abc import Iterator

from evalkit.charts.forest import heading, signed
from evalkit.charts.intervals import RULINGS, basis, bracket
from evalkit.charts.panels import Calibration, Difference, Forest
from evalkit.charts.words import number, probability

Rows = tuple[str, tuple[str, ...], list[tuple[str, ...]]]
"""A caption, the names of the columns, the rows."""


def calibration_rows(found: Calibration) -> Iterator[Rows]:
    """Yield the tables of the recalibrated curve and of the Brier score."""
    blocks: list[tuple[str, ...]] = [
        (f"{one.low:.4g} to {one.high:.4g}", f"{one.records:,}", f"{one.correct:,}", number(one.share))
        for one in found.blocks
    ]
    if blocks:
        yield "Recalibrated confidence (CORP)", ("confidence", "records", "right", "share"), blocks
        band: list[tuple[str, ...]] = [
            (f"{one.confidence:.4g}", number(one.low), number(one.high)) for one in found.band
        ]
        caption = f"Where a calibrated model's curve lies, {100 * found.level:g} % of the time"
        yield caption, ("confidence", "low", "high"), band
        parts = found.parts
        values = (parts.miscalibration, parts.discrimination, parts.uncertainty, parts.score)
        names = ("MCB", "DSC", "UNC", "score = MCB − DSC + UNC")
        row = ("Brier score", *map(number, values))
        yield "Brier score in parts", ("score", *names), [row]


def forest_rows(found: Forest) -> Iterator[Rows]:
    """Yield the differences, a table a metric."""
    ruled = any(one.ruling is not None for group in found.groups for one in group.rows)
    head = ("candidate", "baseline", "candidate's", "difference", "interval", "p", "adjusted p")
    more = ("bound", "by the margin") if ruled else ()
    for group in found.groups:
        yield heading(group), (*head, *more, "remark"), [_difference(one, ruled=ruled) for one in group.rows]


def _difference(one: Difference, *, ruled: bool) -> tuple[str, ...]:
    ruling: tuple[str, ...] = ()
    if ruled:
        ruling = ("–", "–") if one.ruling is None else (signed(one.ruling.bound), RULINGS[one.ruling.outcome])
    return (
        one.candidate,
        number(one.baseline_value),
        number(one.candidate_value),
        signed(one.value),
        bracket(one.interval) or "–",
        probability(one.p_value),
        probability(one.adjusted),
        *ruling,
        basis(one.interval),
    )
