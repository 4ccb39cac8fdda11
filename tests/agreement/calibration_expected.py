"""Write what independent tools say of calibration, for ``tests/test_calibration_agreement.py``.

The values stand in ``calibration_expected.json`` beside this file, with the version of each tool, since none of them is
worth a dependency. To get them again, in an environment of its own::

    pip install relplot==1.0.3 model-diagnostics==1.5.0 scikit-learn==1.9.1 scipy==1.17.1 uncertainty-calibration==0.1.4
    python tests/agreement/calibration_expected.py

Nothing of evalkit is used. Outcomes come from a linear congruential generator, so the data are the same anywhere; what
is simulated comes from NumPy's own generator and is compared within the error of the simulation.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
TOOLS = ("relplot", "model-diagnostics", "scikit-learn", "scipy", "uncertainty-calibration", "numpy")
BINS = 10
WIDTHS = (0.02, 0.05, 0.1, 0.3)
REPLICATES = 4000


def chances(seed: int) -> Iterator[float]:
    """Yield numbers from 0 to 1 (Knuth's MMIX generator, upper 32 bits)."""
    state = seed
    while True:
        state = (6364136223846793005 * state + 1442695040888963407) % 2**64
        yield (state >> 32) / 2**32


def drawn(seed: int, records: int, steps: int, low: float, power: float) -> tuple[list[float], list[int]]:
    """Draw confidences from ``low`` to 1, in the middle of steps, and outcomes right with confidence ** power.

    With a power of 2 as steps none is an edge of ten bins, where tools differ.
    """
    source = chances(seed)
    confidence = [(int((low + (1 - low) * next(source)) * steps) + 0.5) / steps for _ in range(records)]
    return confidence, [int(next(source) < c**power) for c in confidence]


DATA = {
    "calibrated, 400": drawn(1, 400, 2**20, 0.5, 1.0),
    "overconfident, 3000 with ties": drawn(2, 3000, 2**8, 0.0, 1.6),
    "underconfident, 60": drawn(3, 60, 2**16, 0.6, 0.4),
}


def scores(f: Any, y: Any) -> dict[str, Any]:
    """Scores, their parts, and the recalibrated value of each record."""
    measures, scoring = import_module("sklearn.metrics"), import_module("model_diagnostics.scoring")
    isotonic = import_module("sklearn.isotonic").IsotonicRegression(y_min=0, y_max=1).fit(f, y)
    found: dict[str, Any] = {
        "brier": float(measures.brier_score_loss(y, f)),
        "log_loss": float(measures.log_loss(y, f)),
        "isotonic": [float(value) for value in isotonic.predict(np.unique(f))],
    }
    for name, function in (("brier_parts", scoring.SquaredError()), ("log_parts", scoring.LogLoss())):
        row = scoring.decompose(y_obs=y, y_pred=f, scoring_function=function).row(0, named=True)
        found[name] = [row[part] for part in ("score", "miscalibration", "discrimination", "uncertainty")]
    return found


def binned(f: Any, y: Any) -> dict[str, Any]:
    """Plug-in and debiased error over bins of equal width, by Kumar's tool."""
    tool = import_module("calibration.utils")
    bins = tool.fast_bin(list(zip(f, y, strict=True)), tool.get_equal_prob_bins(f, num_bins=BINS))
    return {"plug_in": float(tool.plugin_ce(bins, power=1)), "debiased": float(tool.unbiased_square_ce(bins))}


def null(f: Any, observed: Any) -> dict[str, Any]:
    """The null of the binned error, its mean exactly and the rest by simulation; and that of MCB, by simulation."""
    stats, isotonic = import_module("scipy.stats"), import_module("sklearn.isotonic").isotonic_regression
    places = np.minimum(np.floor(f * BINS), BINS - 1)
    expected = 0.0
    for place in np.unique(places):
        inside = f[places == place]
        k = np.arange(len(inside) + 1)
        expected += float((stats.poisson_binom(inside).pmf(k) * np.abs(k - inside.sum())).sum())
    generator, order = np.random.default_rng(0), np.argsort(f, kind="stable")
    c = f[order]
    _, each = np.unique(c, return_inverse=True)
    n = np.bincount(each)
    errors, mcb = [], []
    for _ in range(REPLICATES):
        y = (generator.random(len(c)) < c).astype(float)
        errors.append(np.abs(np.bincount(places[order].astype(int), y - c, BINS)).sum() / len(c))
        curve = isotonic(np.bincount(each, y) / n, sample_weight=n)[each]
        mcb.append(np.mean((y - c) ** 2) - np.mean((y - curve) ** 2))
    seen = np.abs(np.bincount(places.astype(int), observed - f, BINS)).sum() / len(f)
    return {
        "expected": expected / len(f),
        "quantile": float(np.quantile(errors, 0.95)),
        "p_value": float(np.mean(np.array(errors) >= seen - 1e-12)),
        "mcb_expected": float(np.mean(mcb)),
        "mcb_quantile": float(np.quantile(mcb, 0.95)),
    }


def smooth(f: Any, y: Any) -> dict[str, Any]:
    """Smooth calibration error, at fixed widths and at its own."""
    tool = import_module("relplot")
    vars(import_module("relplot.config"))["smECE_mesh_pts"] = 20_000
    at = {str(width): float(tool.smECE_sigma(f, y, sigma=width)) for width in WIDTHS}
    return {"widths": at, "own": float(tool.smECE(f, y))}


def main() -> None:
    """Write the file."""
    found = {}
    for name, (confidence, right) in DATA.items():
        f, y = np.array(confidence), np.array(right, dtype=float)
        levels = [[float(c), int((f == c).sum()), int(y[f == c].sum())] for c in np.unique(f)]
        tools = {**scores(f, y), **binned(f, y), "null": null(f, y), "smooth": smooth(f, y)}
        found[name] = {"levels": levels, **tools}
    text = json.dumps({"versions": {tool: version(tool) for tool in TOOLS}, "data": found})
    (HERE / "calibration_expected.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
