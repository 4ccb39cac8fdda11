"""Write the intervals of evaluations and measurements as NumPy and SciPy give them.

They stand in ``family_intervals.json``, beside the invented cases that they are of, and are held against evalkit's in
``tests/test_family_intervals.py``. To get them again::

    pip install scipy==1.17.1 numpy==2.4.6
    python tests/agreement/family_intervals.py

Nothing of evalkit is used. The variance of a mean is what leaving out one cluster after the other makes of it; shares
are Clopper and Pearson's of effective trials; the calibration error is resampled by whole clusters, multinomially.
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


def moments(values: Any, groups: Any, weights: Any = None) -> tuple[float, float, float, int]:
    """Return the mean, its variance by leaving out one cluster at a time, the effective clusters and the clusters."""
    values, codes = np.asarray(values, float), np.unique(np.asarray(groups), return_inverse=True)[1]
    weights = np.ones(len(values)) if weights is None else np.asarray(weights, float)
    sums, sizes = np.bincount(codes, values * weights), np.bincount(codes, weights)
    without = (sums.sum() - sums) / (sizes.sum() - sizes)
    at, number = float(sums.sum() / sizes.sum()), len(sizes)
    spread = (number - 1) / number * float(((without - at) ** 2).sum())
    return at, spread, float(sizes.sum() ** 2 / (sizes**2).sum()), number


def clustered(values: Any, groups: Any, weights: Any = None) -> list[float]:
    """Return the mean of values and its interval: Student's t with as many degrees as effective clusters, less one."""
    at, spread, effective, _ = moments(values, groups, weights)
    stats = import_module("scipy.stats")
    return [at, *map(float, stats.t.interval(LEVEL, effective - 1, at, spread**0.5))]


def shared(right: Any, groups: Any) -> list[float]:
    """Return a share and its interval: Clopper and Pearson's, of as many trials as Korn and Graubard count."""
    beta, t = import_module("scipy.stats").beta, import_module("scipy.stats").t
    at, spread, effective, _ = moments(right, groups)
    tail, seen = (1 + LEVEL) / 2, np.asarray(groups)
    erred = min(len(set(seen[np.asarray(right) == one])) for one in (0, 1))
    narrower = t.ppf(tail, len(seen) - 1) / t.ppf(tail, effective - 1)
    trials = min(at * (1 - at) / spread * narrower**2, effective * (1 + erred), len(seen))
    ends = beta.ppf(1 - tail, at * trials, (1 - at) * trials + 1), beta.ppf(tail, at * trials + 1, (1 - at) * trials)
    return [at, *map(float, ends)]


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
        own["recall false"] = shared([every[place]["correct"] for place in some], [groups[place] for place in some])
        last = [place for place, one in enumerate(every) if one["confidence"] >= 0.9]
        confidences = [every[place]["confidence"] for place in last]
        own["mean confidence 9"] = clustered(confidences, [groups[place] for place in last])
        own["ece"] = resampled(every, groups)
        found[by] = own
    return found


def resampled(every: list[dict[str, Any]], groups: list[Any]) -> list[float]:
    """Return the calibration error of ten bins, and its interval by whole clusters drawn with replacement."""
    codes = np.unique(np.asarray(groups), return_inverse=True)[1]
    confidence = np.array([one["confidence"] for one in every])
    gap = np.array([one["correct"] for one in every]) - confidence
    place = np.minimum(np.floor(confidence * 10).astype(int), 9)
    clusters = int(codes.max()) + 1
    sums, sizes = np.zeros((clusters, 10)), np.zeros(clusters)
    np.add.at(sums, (codes, place), gap)
    np.add.at(sizes, codes, 1)
    drawn = np.random.default_rng(7).multinomial(clusters, np.ones(clusters) / clusters, 20_000)
    parts = sums.sum(axis=0) / sizes.sum()
    off = (drawn @ sums) / (drawn @ sizes)[:, None] - parts
    sure = np.abs(parts) > np.sqrt(2 * np.log(clusters)) * off.std(axis=0)
    swing = np.where(sure, np.sign(parts) * off, np.abs(off)).sum(axis=1)
    stats = import_module("scipy.stats")
    tail, degrees = (1 + LEVEL) / 2, sizes.sum() ** 2 / (sizes**2).sum() - 1
    wider = stats.t.ppf(tail, degrees) / stats.norm.ppf(tail) * (clusters / (clusters - 1)) ** 0.5
    at = float(np.abs(parts).sum())
    high = float(np.quantile(np.abs(parts + wider * off).sum(axis=1), tail))
    return [at, max(at - wider * float(np.quantile(swing, tail)), 0.0), high]


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
