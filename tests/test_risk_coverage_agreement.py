"""Risk and coverage beside fd-shifts and torch-uncertainty: the same, or apart by what their conventions say.

Their values are stored with the script that made them, ``agreement/risk_coverage.py``.
"""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evalkit.risk_coverage.areas import Areas, areas
from evalkit.risk_coverage.curve import Curve, curve
from evalkit.risk_coverage.points import coverage_at_risk

STORED = json.loads((Path(__file__).parent / "agreement" / "risk_coverage.json").read_text("utf-8"))["data"]
CLOSE, FLOAT32 = 1e-12, 2e-8
"""torch-uncertainty has its axis of coverage in 32 bits, whatever its numbers are in."""


def measured(name: str) -> tuple[Curve, Areas, dict[str, Any]]:
    """Measure stored answers; give what the tools say too."""
    data = STORED[name]
    outcomes = pl.DataFrame({"confidence": data["confidence"], "correct": data["correct"], "n": [1] * 200})
    found = curve(outcomes)
    size = areas(found)
    assert size is not None
    return found, size, data["values"]


def trapezoids(found: Curve) -> Fraction:
    """Return what straight lines between the points take off from AURC: Σ n · (risk − risk before) / 2N."""
    risk = [Fraction(int(e), int(a)) for e, a in zip(found.errors, found.accepted, strict=True)]
    own = [int(b) - int(a) for a, b in zip([0, *found.accepted], found.accepted, strict=False)]
    steps = zip(own, risk, [risk[0], *risk], strict=False)
    return sum((n * (here - before) for n, here, before in steps), Fraction(0)) / (2 * found.offered)


@pytest.mark.parametrize("name", ["distinct", "tied"])
def test_augrc_is_that_of_fd_shifts(name: str) -> None:
    """Both join points by straight lines from the origin; fd-shifts shows it times 1000."""
    _, found, values = measured(name)
    assert 1000 * float(found.augrc) == pytest.approx(values["fd-shifts"]["augrc"], rel=0, abs=1000 * CLOSE)


@pytest.mark.parametrize("name", ["distinct", "tied"])
def test_aurc_differs_from_fd_shifts_by_its_straight_lines(name: str) -> None:
    """fd-shifts joins risks by straight lines; no cut has the risks between, so here the risk of a group holds."""
    line, found, values = measured(name)
    assert 1000 * float(found.aurc - trapezoids(line)) == pytest.approx(values["fd-shifts"]["aurc"], abs=1000 * CLOSE)
    assert abs(1000 * float(found.aurc) - values["fd-shifts"]["aurc"]) > 0.5


def test_the_ideal_ordering_is_of_so_many_records_not_of_infinitely_many() -> None:
    """fd-shifts subtracts the limit for many records; the ideal of 200 records with 44 errors is larger by 0.0005."""
    line, found, values = measured("distinct")
    limit = 1000 * float(found.aurc - trapezoids(line)) - values["fd-shifts"]["eaurc"]
    assert limit == pytest.approx(26.200139747170314, abs=1e-9)
    assert float(found.ideal_aurc) == pytest.approx(0.026749093813911950, abs=1e-12)


def test_torch_uncertainty_integrates_from_the_first_record_and_stretches() -> None:
    """Its areas are trapezoids from coverage 1/N to 1, divided by 1 − 1/N; without ties that is ours so changed."""
    line, found, values = measured("distinct")
    size, last = line.offered, Fraction(line.wrong, line.offered)
    first = Fraction(int(line.errors[0]), 1)
    assert float((size * found.aurc - (first + last) / 2) / (size - 1)) == pytest.approx(
        values["torch-uncertainty"]["aurc"], abs=FLOAT32
    )
    general = size * found.augrc - first / (2 * size)
    assert float(general / (size - 1)) == pytest.approx(values["torch-uncertainty"]["augrc"], abs=FLOAT32)


@pytest.mark.parametrize("limit", ["0.1", "0.2"])
def test_coverage_at_risk_is_that_of_torch_uncertainty_without_ties(limit: str) -> None:
    """Both take the widest cut within the risk."""
    line, _, values = measured("distinct")
    found = coverage_at_risk(line, Fraction(limit))
    assert found.accepted is not None
    expected = values["torch-uncertainty"][f"coverage_at_risk_{limit}"]
    assert found.accepted / 200 == pytest.approx(expected, abs=FLOAT32)


def test_with_ties_torch_uncertainty_accepts_part_of_a_group() -> None:
    """It takes tied records one by one, in the order of rows: 116 of 200, where cuts accept 93 or 135."""
    line, _, values = measured("tied")
    assert coverage_at_risk(line, Fraction("0.1")).accepted == 93
    assert round(200 * values["torch-uncertainty"]["coverage_at_risk_0.1"]) == 116
    assert 116 not in line.accepted.tolist()
