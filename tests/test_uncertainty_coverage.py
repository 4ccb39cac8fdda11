"""A small study: intervals of simulated records hold the true value as often as they say, in the bounds of chance."""

from __future__ import annotations

import importlib.util
import json
import sys
from math import sqrt
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from evalkit.exact import rounded
from evalkit.uncertainty.estimand import value

SCRIPT = Path(__file__).parent / "benchmarks" / "coverage.py"

RUNS = 150


@pytest.fixture(scope="module")
def study() -> ModuleType:
    """Load the script of the study."""
    spec = importlib.util.spec_from_file_location("interval_coverage", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # its dataclasses look themselves up
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(("contributors", "least"), [(20, 0.90), (100, 0.93), (400, 0.93)])
def test_intervals_hold_the_true_value(study: ModuleType, contributors: int, least: float) -> None:
    """Of 150 runs no fewer hold it than chance lets, were the interval right in 0.93, or 0.90 of 20 contributors.

    An end is missed no more often than chance lets, were it wrong in 0.07, or 0.10; three standard errors are allowed.
    """
    cells = study.study(contributors, 5, RUNS, seed=1, replicates=200)
    assert len(cells) == 10
    for cell in cells:
        runs = cell.runs - cell.none
        slack = 3 * sqrt(least * (1 - least) / runs)
        assert cell.held / runs > least - slack, cell
        assert max(cell.too_high, cell.too_low) / runs < 1 - least + slack, cell


def test_records_taken_one_by_one_promise_too_much(study: ModuleType) -> None:
    """Forty contributors of 40 records: what takes each record for its own contributor misses coverage too often."""
    cells = {cell.metric: cell for cell in study.study(40, 40, 60, seed=2, replicates=100)}
    found = cells["coverage"]
    assert found.held >= 50
    assert found.held_by_rows < 45


def test_the_stored_study_is_the_script_s(study: ModuleType) -> None:
    """What the page shows was made by this script, with a thousand runs a cell or more."""
    stored: dict[str, Any] = json.loads(study.STORED.read_text("utf-8"))
    assert stored["runs"] >= 1000
    assert {cell["metric"] for cell in stored["cells"]} == set(study.estimands())
    pairs = {(cell["contributors"], cell["records"]) for cell in stored["cells"]}
    assert pairs == {(each, per) for each in study.CONTRIBUTORS for per in study.RECORDS}


def test_true_values_are_those_of_many_records(study: ModuleType) -> None:
    """The closed forms agree with four hundred thousand simulated contributors of one record."""
    keys, rows = study.simulated(np.random.default_rng(5), 400_000, 1)
    totals = study.counted(keys, rows).totals()
    for name, (estimand, true) in study.estimands().items():
        found = rounded(value(estimand, totals))
        assert found == pytest.approx(true, abs=0.006 if name.startswith("ECE") else 0.004), name
