"""The panel: every number of calibration, beside what chance alone would give, and the series to draw them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import polars as pl

from evalkit.calibration import binned
from evalkit.calibration.corp import Parts, blocks, brier_parts_of, log_parts_of
from evalkit.calibration.curve import CurveNull, null_curve
from evalkit.calibration.decomposition import INFINITE, Decomposition, corrected, decomposition, log_loss
from evalkit.calibration.levels import NO_RECORDS, Bin, arranged, pooled
from evalkit.calibration.null import LEVEL, REPLICATES, Null, null_error
from evalkit.calibration.screen import NO_CHANCE, Screened, kolmogorov_smirnov, kuiper, spiegelhalter
from evalkit.calibration.shown import Binned, BinRow, Corp, DecompositionRow, NullRow, Panel, ScoreRow, ScreenRow
from evalkit.calibration.smooth import smooth_error
from evalkit.exact import rounded


def panel(
    levels: pl.DataFrame, bins: int, *, level: Fraction = LEVEL, replicates: int = REPLICATES, seed: int = 0
) -> Panel:
    """Measure calibration in every way, each beside what chance alone would give.

    What each number is, its range, its source and what it is not: at the function that works it out, in the modules of
    ``evalkit.calibration``. The same records give the same panel, in any order.

    What it is not: a verdict. p-values, quantiles and the band take records as independent; those of one contributor
    are not, and then p-values are too small and bands too narrow.

    Args:
        levels: ``confidence`` (each distinct value once, from 0 to 1), ``n`` records that have it, ``correct`` ones
            among them.
        bins: The number of bins.
        level: The share of calibrated outcomes that quantiles and the band hold.
        replicates: How often outcomes are drawn.
        seed: What the draws depend on, besides the records.

    Returns:
        The panel. Without records every number is None and the reason is ``no-records``.

    Raises:
        ValueError: The table is none of levels.

    >>> found = panel(pl.DataFrame({"confidence": [0.95], "n": [20], "correct": [20]}), 10, replicates=99)
    >>> found.records, found.equal_width.plug_in, found.equal_width.debiased, found.corp.brier.miscalibration
    (20, 0.05, 0.0025, 0.0025)
    >>> found.null_error.expected, found.null_error.p_value > 0.05
    (0.035848592241, True)
    """
    frame = arranged(levels)
    wide = binned.equal_width(frame, bins)
    every, reason = pooled(wide), None if wide else NO_RECORDS
    return Panel(
        records=every.n if every else 0,
        levels=frame.height,
        level=rounded(level),
        replicates=replicates,
        seed=seed,
        mean_confidence=rounded(every.mean_confidence if every else None),
        accuracy=rounded(every.accuracy if every else None),
        reason=reason,
        equal_width=_binned(wide),
        null_error=_null(null_error(frame, bins, level=level, replicates=replicates, seed=seed), NO_RECORDS),
        equal_mass=_binned(binned.equal_mass(frame, bins)),
        smooth=smooth_error(frame),
        corp=_corp(frame, every, null_curve(frame, level=level, replicates=replicates, seed=seed)),
        decomposition=_decomposed(decomposition(wide), NO_RECORDS),
        corrected=_decomposed(corrected(wide), reason or binned.BINS_OF_ONE),
        spiegelhalter=_screened(spiegelhalter(frame), reason),
        kolmogorov_smirnov=_screened(kolmogorov_smirnov(frame), reason),
        kuiper=_screened(kuiper(frame), reason),
    )


def _binned(bins: Sequence[Bin]) -> Binned:
    debiased = binned.debiased_squared_error(bins)
    missing = binned.BINS_OF_ONE if bins else NO_RECORDS
    rows = (
        BinRow(one.low, one.high, one.n, one.correct, rounded(one.mean_confidence), rounded(one.accuracy))
        for one in bins
    )
    return Binned(
        plug_in=rounded(binned.plug_in_error(bins)),
        debiased=rounded(debiased),
        bins_of_one=binned.records_alone(bins),
        reason=missing if debiased is None else None,
        bins=tuple(rows),
    )


def _null(found: Null | None, reason: str) -> NullRow:
    if found is None:
        return NullRow(None, None, None, None, reason)
    return NullRow(found.observed, found.expected, found.quantile, found.p_value, None)


def _corp(frame: pl.DataFrame, every: Bin | None, null: CurveNull | None) -> Corp:
    curve = blocks(frame)
    return Corp(
        brier=_score(brier_parts_of(every, curve), null.brier if null else None),
        log_loss=_score(log_parts_of(log_loss(frame), curve), null.log if null else None),
        blocks=curve,
        cells=null.cells if null else 0,
        band=null.band if null else (),
    )


def _score(found: Parts | None, null: Null | None) -> ScoreRow:
    if found is None:
        return ScoreRow(None, None, None, None, NO_RECORDS, _null(None, NO_RECORDS))
    return ScoreRow(
        score=rounded(found.score),
        miscalibration=rounded(found.miscalibration),
        discrimination=rounded(found.discrimination),
        uncertainty=rounded(found.uncertainty),
        reason=INFINITE if found.score is None else None,
        null=_null(null, INFINITE),
    )


def _decomposed(found: Decomposition | None, reason: str) -> DecompositionRow:
    if found is None:
        return DecompositionRow(0, None, None, None, None, None, None, reason)
    return DecompositionRow(
        records=found.records,
        brier=rounded(found.brier),
        reliability=rounded(found.reliability),
        resolution=rounded(found.resolution),
        uncertainty=rounded(found.uncertainty),
        within_variance=rounded(found.within_variance),
        within_covariance=rounded(found.within_covariance),
        reason=None,
    )


def _screened(found: Screened | None, reason: str | None) -> ScreenRow:
    if found is None:
        return ScreenRow(None, None, reason or NO_CHANCE)
    return ScreenRow(found.statistic, found.p_value, None)
