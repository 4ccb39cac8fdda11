"""Calibration: the same bytes on any processor and with any number of threads, and no import that was not asked for."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np

PANEL = """
import numpy as np, polars as pl, sys
from evalkit.calibration.panel import panel
from evalkit.report import canonical

n, state, drawn = 3000, 1, []
for _ in range(2 * n):
    state = (6364136223846793005 * state + 1442695040888963407) % 2**64
    drawn.append((state >> 11) / 2**53)
confidence = np.array(drawn[:n])
right = (np.array(drawn[n:]) < confidence).astype(np.int64)
levels = pl.DataFrame({"confidence": confidence, "n": np.ones(n, dtype=np.int64), "correct": right})
sys.stdout.buffer.write(canonical(panel(levels, 10, replicates=100)))
"""


def _said(code: str, **variables: str) -> bytes:
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **variables}, capture_output=True, check=True
    )
    return done.stdout


def test_the_same_bytes_without_vector_instructions_and_on_one_thread() -> None:
    """Floats differ in their last bits where a processor adds in another order; the bytes of a panel do not."""
    found = np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])
    assert _said(PANEL, NPY_DISABLE_CPU_FEATURES=" ".join(found), POLARS_MAX_THREADS="1") == _said(PANEL)


def test_nothing_imports_calibration_unasked() -> None:
    """Neither ``import evalkit`` nor its command line loads SciPy; calibration never loads ``scipy.stats``."""
    loaded = "; import sys; print(*sorted({'scipy', 'scipy.stats', 'evalkit.calibration'} & set(sys.modules)))"
    assert _said("import evalkit, evalkit.cli" + loaded) == b"\n"
    assert _said("import evalkit.calibration.panel" + loaded) == b"evalkit.calibration scipy\n"
