"""Write the intervals of evaluations and measurements as statsmodels and SciPy give them.

They stand in ``family_intervals.json``, beside the invented cases that they are of, and are held against evalkit's in
``tests/test_family_intervals.py``. statsmodels is no dependency; to get them again, in an environment of its own::

    pip install statsmodels==0.15.0 scipy==1.17.1 numpy==2.4.6
    python tests/agreement/family_intervals.py

Nothing of evalkit is used. A mean, or a ratio of sums as a mean with weights, is a regression on a constant, with the
covariance of clusters and Student's t; the calibration error is resampled by whole clusters, multinomially.
"""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).parent
REAL = HERE.parent.parent / "data-fixtures" / "real"
LEVEL = 0.95


def clustered(values: Any, groups: Any, weights: Any = None) -> list[float]:
    """Return the mean of values and its interval."""
    models = import_module("statsmodels.api")
    values = np.asarray(values, float)
    weights = np.ones(len(values)) if weights is None else np.asarray(weights, float)
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    model = models.WLS(values, np.ones(len(values)), weights=weights)
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": codes}, use_t=True)
    return [float(fit.params[0]), *map(float, fit.conf_int(1 - LEVEL)[0])]


def rows() -> list[dict[str, Any]]:
    """Return the scored rows of the real predictions; what is clustered by is the number in the id, by fifteens."""
    gold = {one["id"]: one for one in map(json.loads, (REAL / "gold.jsonl").read_bytes().splitlines())}
    found = []
    for said in map(json.loads, (REAL / "predictions.jsonl").read_bytes().splitlines()):
        vector = np.array(said.get("probabilities") or [])
        if not vector.size:
            continue
        truth = gold[said["id"]]["gold"]
        slot = said["option_ids"].index(truth)
        number = int(re.sub("[^0-9]", "", said["id"])) // 15
        off = vector - (np.arange(len(vector)) == slot)
        found.append(
            {
                "writer": f"w{number}",
                "gold": truth,
                "correct": int(vector.argmax() == slot),
                "confidence": float(vector.max()),
                "nll": float(-np.log(max(vector[slot], 1e-12))),
                "brier": float((off * off).sum()),
            }
        )
    return found


def evaluation() -> dict[str, Any]:
    """Return the intervals of the rows that have a vector, by row and by writer."""
    every = rows()
    found: dict[str, Any] = {}
    for by in ("row", "writer"):
        groups = [place if by == "row" else one["writer"] for place, one in enumerate(every)]
        own = {name: clustered([one[name] for one in every], groups) for name in ("nll", "brier")}
        some = [place for place, one in enumerate(every) if one["gold"] == "false"]
        own["recall false"] = clustered([every[place]["correct"] for place in some], [groups[place] for place in some])
        last = [place for place, one in enumerate(every) if one["confidence"] >= 0.9]
        confidences = [every[place]["confidence"] for place in last]
        own["mean confidence 9"] = clustered(confidences, [groups[place] for place in last])
        own["ece"] = resampled(every, groups)
        found[by] = own
    return found


def resampled(every: list[dict[str, Any]], groups: list[Any]) -> list[float]:
    """Return the calibration error of ten bins, and the pivotal interval of whole clusters drawn with replacement."""
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    confidence = np.array([one["confidence"] for one in every])
    gap = np.array([one["correct"] for one in every]) - confidence
    place = np.minimum(np.floor(confidence * 10).astype(int), 9)
    clusters = int(codes.max()) + 1
    sums, sizes = np.zeros((clusters, 10)), np.zeros(clusters)
    np.add.at(sums, (codes, place), gap)
    np.add.at(sizes, codes, 1)
    drawn = np.random.default_rng(7).multinomial(clusters, np.ones(clusters) / clusters, 20_000)
    errors = np.abs(drawn @ sums).sum(axis=1) / (drawn @ sizes)
    at = float(np.abs(sums.sum(axis=0)).sum() / sizes.sum())
    low, high = np.quantile(errors, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return [at, 2 * at - float(high), 2 * at - float(low)]


def cases() -> list[list[Any]]:
    """Return invented pages: source, length, wrong signs; sources differ in both."""
    return [
        [f"s{s}", 20 + (7 * s + 13 * page) % 40, (s * s + 5 * page) % 9] for s in range(40) for page in range(1 + s % 4)
    ]


def ranks() -> list[list[Any]]:
    """Return invented queries with one relevant document: source, and its rank, above ten where it was not found."""
    return [[f"s{s}", 1 + (3 * s + 4 * query) % 12] for s in range(35) for query in range(1 + s % 3)]


def measurement() -> dict[str, Any]:
    """Return the intervals of the invented cases."""
    stats = import_module("scipy.stats")
    groups, lengths, wrong = zip(*cases(), strict=True)
    rates = np.array(wrong) / np.array(lengths)
    sources, places = zip(*ranks(), strict=True)
    gains = [1 / float(np.log2(rank + 1)) if rank <= 10 else 0.0 for rank in places]
    mean, error = float(np.mean(gains)), float(stats.sem(gains))
    return {
        "OCR CER": clustered(rates, groups, lengths),
        "nDCG@10 by source": clustered(gains, sources),
        "nDCG@10 by query": [mean, *map(float, stats.t.interval(LEVEL, len(gains) - 1, mean, error))],
        "35 of 35": [1.0, *map(float, stats.binomtest(35, 35).proportion_ci(LEVEL, "exact"))],
    }


def main() -> None:
    """Write the file."""
    found = {"cases": cases(), "ranks": ranks(), "evaluation": evaluation(), "measurement": measurement()}
    (HERE / "family_intervals.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
