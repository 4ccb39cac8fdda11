"""How long contributor tallies, their resamples and intervals take, and what memory: one process, printed.

    python tests/benchmarks/resamples.py [--records 10000000] [--contributors 100000] [--replicates 1000]

Seven labels and ten bins make 79 columns: each truth by each answer, and records, right ones and confidence of each
bin. Measured are all numbers of a report: four of the split, three of each label and two of each bin. The records
themselves are made before the clock starts and are not in the memory that is told.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import TypeVar

import numpy as np
import polars as pl

from evalkit.uncertainty.clusters import Clusters, Entry, clustered
from evalkit.uncertainty.estimand import UNIT, Estimand, Term, share
from evalkit.uncertainty.interval import Asked, Interval, intervals, prepare

LABELS, BINS = 7, 10
CELLS = [[f"cell{truth}{answer}" for answer in range(LABELS)] for truth in range(LABELS)]
COLUMNS = [cell for row in CELLS for cell in row] + [f"{what}{place}" for what in "nrc" for place in range(BINS)]

Made = TypeVar("Made")


def estimands() -> list[Estimand]:
    """Return the 45 numbers of a report's split."""
    right = {CELLS[label][label]: 1 for label in range(LABELS)}
    every = {cell: 1 for row in CELLS for cell in row}
    gaps = tuple(
        Term({f"c{place}": 1, f"r{place}": -UNIT}, {f"n{b}": UNIT for b in range(BINS)}) for place in range(BINS)
    )
    truths = [dict.fromkeys(CELLS[label], 1) for label in range(LABELS)]
    answers = [{row[label]: 1 for row in CELLS} for label in range(LABELS)]
    ones = [{CELLS[label][label]: 1} for label in range(LABELS)]
    f1 = [
        Term({CELLS[label][label]: 2}, truths[label] | answers[label] | {CELLS[label][label]: 2}, truths[label])
        for label in range(LABELS)
    ]
    found = [
        Estimand("coverage", (Term(every, every),), proportion=True),
        Estimand("precisionAtCoverage", (Term(right, every),), proportion=True),
        Estimand("macroF1", tuple(f1), proportion=True),
        Estimand("ece", gaps, kind="absolute"),
    ]
    for label in range(LABELS):
        found.append(Estimand("precision", (Term(ones[label], answers[label]),), label=str(label), proportion=True))
        found.append(Estimand("recall", (Term(ones[label], truths[label]),), label=str(label), proportion=True))
        found.append(Estimand("f1", (f1[label],), label=str(label), proportion=True))
    for place in range(BINS):
        found.append(share("accuracy", f"r{place}", f"n{place}", bin=place))
        found.append(Estimand("meanConfidence", (Term({f"c{place}": 1}, {f"n{place}": UNIT}),), bin=place))
    return found


def records(number: int, contributors: int) -> tuple[pl.Series, list[Entry]]:
    """Invent records: the contributor of each, and what it adds."""
    rng = np.random.default_rng(0)
    keys = rng.integers(0, 2**64, contributors, np.uint64)
    who = pl.Series(keys[rng.integers(0, contributors, number)])
    truth = rng.integers(0, LABELS, number, np.uint8)
    answer = np.where(rng.random(number) < 0.8, truth, rng.integers(0, LABELS, number, np.uint8))
    confidence = rng.random(number)
    place = pl.Series((confidence * BINS).astype(np.uint8))
    first = LABELS * LABELS
    one = pl.Series(np.ones(number, np.uint8))
    entries = [
        Entry(pl.Series(truth * np.uint8(LABELS) + answer), one),
        Entry(place + first, one),
        Entry(place + (first + BINS), pl.Series((truth == answer).astype(np.uint8))),
        Entry(place + (first + 2 * BINS), pl.Series(np.rint(confidence * UNIT).astype(np.int64))),
    ]
    return who, entries


def timed(name: str, make: Callable[[], Made]) -> Made:
    """Make something and print how long it took, by the clock and in processor seconds."""
    clock, cpu = time.perf_counter(), time.process_time()
    made = make()
    print(f"{name:28}{time.perf_counter() - clock:8.2f} s {time.process_time() - cpu:8.2f} s of processors")
    return made


def main() -> None:
    """Measure."""
    options = argparse.ArgumentParser(description="How long intervals take.")
    options.add_argument("--records", type=int, default=10_000_000)
    options.add_argument("--contributors", type=int, default=100_000)
    options.add_argument("--replicates", type=int, default=1000)
    given = options.parse_args()
    who, entries = records(given.records, given.contributors)
    asked = Asked(replicates=given.replicates)
    intervals(
        estimands(),
        prepare(
            clustered(who[:1000], COLUMNS, [Entry(e.column[:1000], e.amount[:1000]) for e in entries]),
            asked,
            resampled=True,
        ),
        asked,
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tallies: Clusters = timed("tallies by contributor", lambda: clustered(who, COLUMNS, entries))
    ready = timed(f"{given.replicates} resamples", lambda: prepare(tallies, asked, resampled=True))
    found: list[Interval] = timed("45 intervals", lambda: intervals(estimands(), ready, asked))
    print(
        f"memory above the records    {(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**10:8.0f} MiB"
    )
    told = sum(one.low is not None for one in found)
    print(f"cells that are not 0        {len(tallies.amounts):8d}; intervals given: {told}")


if __name__ == "__main__":
    main()
