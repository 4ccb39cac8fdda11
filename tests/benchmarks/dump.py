"""Generated dumps for the benchmarks: invented records, the same bytes for the same arguments.

    python tests/benchmarks/dump.py OUT.jsonl RECORDS [--shuffled] [--contributors N]

Three models, one record a line in the default contract's format. Keys are spread evenly, so about 80 % of the
records are train. A model is right with the probability that it states, and offers nothing for one record in twenty.
``--shuffled`` writes the fields of every record in an order of its own; with ``--contributors`` the records are of so
many contributors, instead of one each.
"""

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

MODELS = ("baseline-logistic", "distilled-student-v2", "specialist-candidate")


def record(rng: random.Random, keys: Sequence[str]) -> dict[str, object]:
    """Draw one record, of one of the contributors; of a new one where none are given."""
    key = rng.choice(keys) if keys else f"{rng.getrandbits(64):016x}"
    byte = int(key[:2], 16)
    truth = rng.randint(1, 7)
    prediction = None
    if rng.random() >= 0.05:
        confidence = round(1 - 0.6 * rng.random() ** 2, 6)
        predicted = truth if rng.random() < confidence else rng.randint(1, 7)
        prediction = {"bristolType": predicted, "confidence": confidence}
    return {
        "model": rng.choice(MODELS),
        "subjectKey": key,
        "split": "train" if byte < 205 else "validation" if byte < 230 else "test",
        "truth": {"bristolType": truth},
        "prediction": prediction,
    }


def shuffled(mapping: dict[str, object], rng: random.Random) -> dict[str, object]:
    """Put the keys of a record, and of its prediction, in a random order."""
    items = [(k, shuffled(v, rng) if isinstance(v, dict) else v) for k, v in mapping.items()]
    rng.shuffle(items)
    return dict(items)


def lines(records: int, shuffle: bool, contributors: int = 0) -> Iterator[str]:
    """Yield the lines of a dump."""
    rng = random.Random(20260101)
    order = random.Random(7)
    keys = [f"{order.getrandbits(64):016x}" for _ in range(contributors)]
    for _ in range(records):
        drawn = record(rng, keys)
        yield json.dumps(shuffled(drawn, order) if shuffle else drawn, separators=(",", ":")) + "\n"


def write(path: Path, records: int, *, shuffle: bool = False, contributors: int = 0) -> None:
    """Write a dump, unless it is there already."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with part.open("w", encoding="utf-8") as out:
        out.writelines(lines(records, shuffle, contributors))
    part.rename(path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="write a generated dump")
    parser.add_argument("out", type=Path)
    parser.add_argument("records", type=int)
    parser.add_argument("--shuffled", action="store_true")
    parser.add_argument("--contributors", type=int, default=0)
    arguments = parser.parse_args()
    write(arguments.out, arguments.records, shuffle=arguments.shuffled, contributors=arguments.contributors)
