"""The evaluation with json, NumPy and scikit-learn, as a notebook would have it; no checks.

    python tests/benchmarks/peers/vectors_numpy.py PREDICTIONS.jsonl GOLD.jsonl

Prints one JSON line per family, sorted by family.
"""

import json
import sys
from collections import defaultdict

import numpy as np
from sklearn.metrics import accuracy_score, recall_score


def main() -> None:
    """Print the measures of each family."""
    with open(sys.argv[2], encoding="utf-8") as file:
        gold = {row["id"]: row for row in map(json.loads, file)}
    truth: dict[str, list[str]] = defaultdict(list)
    predicted: dict[str, list[str]] = defaultdict(list)
    scored: dict[str, list[tuple[float, bool, float, float]]] = defaultdict(list)
    with open(sys.argv[1], encoding="utf-8") as file:
        for row in map(json.loads, file):
            answer = gold[row["id"]]
            family = answer.get("family", "unlabelled")
            truth[family].append(answer["gold"])
            if row["probabilities"] is None:
                predicted[family].append(row["label"])
                continue
            vector = np.array(row["probabilities"])
            slot, best = row["option_ids"].index(answer["gold"]), int(vector.argmax())
            predicted[family].append(row["option_ids"][best])
            target = np.zeros(len(vector))
            target[slot] = 1
            brier = ((vector - target) ** 2).sum()
            scored[family].append((vector[best], best == slot, -np.log(max(vector[slot], 1e-12)), brier))
    for family in sorted(truth):
        rows = np.array(scored[family], dtype=float)
        bins = np.minimum(9, np.floor(rows[:, 0] * 10)).astype(int)
        gaps = [abs(rows[bins == place, 1].sum() - rows[bins == place, 0].sum()) for place in range(10)]
        labels = sorted(set(truth[family]))
        numbers = {
            "family": family,
            "accuracy": accuracy_score(truth[family], predicted[family]),
            "balanced_accuracy": recall_score(truth[family], predicted[family], labels=labels, average="macro"),
            "nll": rows[:, 2].mean(),
            "brier_multiclass": rows[:, 3].mean(),
            "ece": sum(gaps) / len(rows),
        }
        print(json.dumps(numbers))


if __name__ == "__main__":
    main()
