"""Measure risk and coverage of invented answers with two other tools, for ``tests/test_risk_coverage_agreement.py``.

The values stand in ``risk_coverage.json``, since neither tool is worth a dependency: torch-uncertainty asks for
PyTorch and Lightning, and fd-shifts is not on PyPI. To get them again, in an environment of its own::

    pip install --no-deps torch-uncertainty==0.13.0
    pip install torch==2.13.0 torchmetrics==1.9.0 matplotlib scikit-learn==1.9.1 numpy
    python tests/agreement/risk_coverage.py FD_SHIFTS > tests/agreement/risk_coverage.json

FD_SHIFTS is a checkout of https://github.com/IML-DKFZ/fd-shifts (Apache-2.0); of it only
``fd_shifts/analysis/rc_stats_utils.py`` is run, at 8ac4f6dbb5dd4bc3cb3a9756758f4ee31fd5aa5d. Its areas are what
``rc_stats.py`` makes of these points: the trapezoids, times 1000. Of torch-uncertainty only the module of these
metrics is run, without the rest of the package. Nothing of evalkit is used.
"""

from __future__ import annotations

import importlib.util
import json
import math
import random
import sys
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np


def answers(places: int | None) -> dict[str, list[Any]]:
    """Invent answers; confidences of one or two places have ties."""
    numbers = random.Random(20)
    confidence = [0.51 + 0.49 * numbers.random() for _ in range(200)]
    correct = [numbers.random() < one for one in confidence]
    rounded = confidence if places is None else [round(one, places) for one in confidence]
    return {"confidence": rounded, "correct": correct}


def module(file: Path) -> ModuleType:
    """Load one file of a tool, without the package around it."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def fd_shifts(checkout: Path, confidence: list[float], correct: list[bool]) -> dict[str, float]:
    """Measure with fd-shifts; the areas as it shows them, times 1000."""
    from sklearn.metrics import auc

    tool = module(checkout / "fd_shifts" / "analysis" / "rc_stats_utils.py")
    given = {"confids": np.array(confidence), "residuals": 1 - np.array(correct, dtype=int)}
    found = {}
    for name, points in (("aurc", tool.selective_risk_stats), ("augrc", tool.generalized_risk_stats)):
        curve = points(**given)
        found[name] = 1000 * float(auc(curve["coverages"], curve["risks"]))
    error = float(given["residuals"].mean())
    return {**found, "eaurc": found["aurc"] - 1000 * (error + (1 - error) * math.log(1 - error))}


def torch_uncertainty(confidence: list[float], correct: list[bool]) -> dict[str, float]:
    """Measure with torch-uncertainty, in 64 bits."""
    torch = import_module("torch")

    spec = importlib.util.find_spec("torch_uncertainty")
    assert spec is not None
    assert spec.origin is not None
    tool = module(Path(spec.origin).parent / "metrics" / "classification" / "risk_coverage.py")
    made = {
        "aurc": tool.AURC(),
        "augrc": tool.AUGRC(),
        "coverage_at_risk_0.1": tool.CovAtxRisk(risk_threshold=0.1),
        "coverage_at_risk_0.2": tool.CovAtxRisk(risk_threshold=0.2),
    }
    probability = torch.tensor(confidence, dtype=torch.float64)
    found = {}
    for name, metric in made.items():
        metric.set_dtype(torch.float64)
        metric.update(probability, torch.tensor(correct).long())
        found[name] = float(metric.compute())
    return found


def main() -> None:
    """Print the answers and what each tool makes of them, as JSON."""
    checkout = Path(sys.argv[1])
    found = {}
    for name, places in (("distinct", None), ("tied", 1)):
        data = answers(places)
        values = {"fd-shifts": fd_shifts(checkout, **data), "torch-uncertainty": torch_uncertainty(**data)}
        found[name] = {**data, "values": values}
    tools = {name: version(name) for name in ("torch-uncertainty", "torch", "torchmetrics", "scikit-learn", "numpy")}
    tools["fd-shifts"] = "8ac4f6dbb5dd4bc3cb3a9756758f4ee31fd5aa5d"
    print(json.dumps({"versions": tools, "data": found}))


if __name__ == "__main__":
    main()
