"""Print the calibration error of the real predictions as two other tools measure it.

The values stand in ``tests/test_evaluate_agreement.py``, since neither tool is worth a dependency: netcal asks for
PyTorch, and uncertainty-calibration has had no release since 2022. To get them again, in an environment of its own::

    pip install uncertainty-calibration==0.1.4 netcal==1.4.0
    python tests/agreement/calibration_error.py

Nothing of evalkit is used: rows are joined by id, and confidence and answer are NumPy's ``max`` and ``argmax``.
"""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

REAL = Path(__file__).parent.parent.parent / "data-fixtures" / "real"


def lines(name: str) -> list[dict[str, Any]]:
    """Read JSON Lines."""
    return [json.loads(line) for line in (REAL / name).read_bytes().splitlines()]


def main() -> None:
    """Print bins, family, rows and the error by each tool."""
    said = {line["id"]: line for line in lines("predictions.jsonl")}
    rows: dict[str, list[tuple[float, int]]] = {"overall": []}
    for gold in lines("gold.jsonl"):
        vector = np.array(said.get(gold["id"], {}).get("probabilities") or [])
        if vector.size:
            answer = said[gold["id"]]["option_ids"][int(vector.argmax())]
            row = (float(vector.max()), int(answer == gold["gold"]))
            rows["overall"].append(row)
            rows.setdefault(gold.get("family") or "unlabelled", []).append(row)
    for bins in (10, 15):
        for family, inside in sorted(rows.items()):
            confidence, right = np.array([row[0] for row in inside]), np.array([row[1] for row in inside])
            one = import_module("calibration").get_ece(confidence, right, num_bins=bins)
            other = import_module("netcal.metrics").ECE(bins).measure(confidence, right)
            print(bins, family, len(inside), float(one), float(other))


if __name__ == "__main__":
    main()
