"""Calibration against independent tools, whose values are stored with the script that made them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from calibration_levels import of

from evalkit.calibration import binned, corp, curve, decomposition, null, smooth

STORED = json.loads((Path(__file__).parent / "agreement" / "calibration_expected.json").read_text(encoding="utf-8"))
PARTS = ("score", "miscalibration", "discrimination", "uncertainty")

Case = tuple[pl.DataFrame, dict[str, Any]]


@pytest.fixture(params=STORED["data"])
def case(request: pytest.FixtureRequest) -> Case:
    """Give levels and what the tools said of them."""
    stored = STORED["data"][request.param]
    return of(*(tuple(row) for row in stored["levels"])), stored


def test_scores_and_errors_are_those_of_other_tools(case: Case) -> None:
    """Brier score and log loss: scikit-learn. Plug-in and debiased error: uncertainty-calibration (Kumar)."""
    levels, stored = case
    bins = binned.equal_width(levels, 10)
    whole = decomposition.decomposition(bins)
    assert whole is not None
    ours = (
        whole.brier,
        decomposition.log_loss(levels),
        binned.plug_in_error(bins),
        binned.debiased_squared_error(bins),
    )
    theirs = [stored[name] for name in ("brier", "log_loss", "plug_in", "debiased")]
    assert [float(value) for value in ours if value is not None] == pytest.approx(theirs, abs=1e-14)


def test_recalibration_is_that_of_other_tools(case: Case) -> None:
    """The curve: scikit-learn. Score, MCB, DSC and UNC, by Brier score and log loss: model-diagnostics."""
    levels, stored = case
    blocks = corp.blocks(levels)
    curve_of = [next(b.correct / b.n for b in blocks if b.low <= c <= b.high) for c in levels["confidence"].sort()]
    assert curve_of == pytest.approx(stored["isotonic"], abs=1e-14)
    for name, parts, near in (
        ("brier_parts", corp.brier_parts(levels), 1e-14),
        ("log_parts", corp.log_parts(levels), 1e-12),
    ):
        assert [float(getattr(parts, part)) for part in PARTS] == pytest.approx(stored[name], abs=near)


def test_the_null_is_that_of_other_tools(case: Case) -> None:
    """Its mean: SciPy's Poisson-binomial distribution. Quantile, p and MCB: 4000 draws of NumPy, within their error."""
    levels, stored = case
    expected = stored["null"]
    found, of_curve = null.null_error(levels, 10, replicates=4000), curve.null_curve(levels)
    assert found is not None
    assert of_curve is not None
    assert found.expected == pytest.approx(expected["expected"], abs=1e-11)
    assert found.quantile == pytest.approx(expected["quantile"], rel=0.03)
    assert found.p_value == pytest.approx(expected["p_value"], abs=0.03)
    assert of_curve.brier.expected == pytest.approx(expected["mcb_expected"], rel=0.04)
    assert of_curve.brier.quantile == pytest.approx(expected["mcb_quantile"], rel=0.06)


def test_smooth_error_is_that_of_its_authors(case: Case) -> None:
    """relplot: at fixed widths to 1e-5; at its own to 1/1024, since relplot halves the width ten times and stops."""
    levels, stored = case
    for width, value in stored["smooth"]["widths"].items():
        assert smooth.smoothed_error(levels, float(width)) == pytest.approx(value, abs=1e-5)
    assert smooth.smooth_error(levels) == pytest.approx(stored["smooth"]["own"], abs=1 / 1024)
