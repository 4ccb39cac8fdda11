"""How often an interval holds the true value: records simulated by contributor, judged by evalkit, counted.

    python tests/benchmarks/coverage.py                  1,000 runs a cell, printed and written to coverage.json
    python tests/benchmarks/coverage.py --runs 200 --no-write
    python tests/benchmarks/coverage.py --correlation 0.8       contributors who are almost of one mind

A contributor has an effect on how often the model is right about them, and another on how sure it is. Both are
normal and enter through the normal distribution function, so that the true value of every number is known in closed
form. Two records of a contributor are correlated at 0.163 before they are cut into right and wrong, which is what an
effect with a standard deviation of 0.8 on the logit gives (0.8² / (0.8² + π² / 3)).

The page ``docs/uncertainty.md`` shows the stored results; the same seed gives them again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from fractions import Fraction
from itertools import product
from math import pi, sqrt
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
from scipy import special

from evalkit.uncertainty.clusters import Clusters, Entry, clustered
from evalkit.uncertainty.estimand import UNIT, Estimand, Term, share
from evalkit.uncertainty.interval import Asked, Interval, intervals, prepare

STORED = Path(__file__).with_suffix(".json")

CONTRIBUTORS = (20, 100, 400)
RECORDS = (5, 20)

CORRELATION = 0.8**2 / (0.8**2 + pi**2 / 3)
CUT = 0.7
"""Confidences are spread evenly from 0.5 to 1; from here on an answer is accepted."""

PREVALENCE = (0.4, 0.3, 0.2, 0.1)
BINS = 10
OVERCONFIDENT = 0.12
SLIGHTLY = 0.03
WORSE = 0.05
RARE = 0.01

MIN_CONTRIBUTORS = 10
"""The floor of the study; the program's own is 30, and 20 contributors are here to show why."""

_LABELS = len(PREVALENCE)
_CELLS = [f"cell{truth}{answer}" for truth, answer in product(range(_LABELS), repeat=2)]
_GAPS = ("calibrated", "slightly", "overconfident")
_PLAIN = ("n", "accepted", "right", "score", "worse", "rare", "truth0")
COLUMNS = (*_PLAIN, *_CELLS, *(f"{gap}{place}" for gap in _GAPS for place in range(BINS)))

Numbers = npt.NDArray[np.float64]


def estimands() -> dict[str, tuple[Estimand, float]]:
    """Return what is measured, each with its true value."""
    precision = (1 + CUT) / 2
    return {
        "coverage": (share("coverage", "accepted", "n"), (1 - CUT) / 0.5),
        "precision at coverage": (share("precisionAtCoverage", "right", "accepted"), precision),
        "recall of one label": (share("recall", "cell00", "truth0"), precision),
        "error rate of 1 %": (share("errors", "rare", "n"), RARE),
        "macro F1": (Estimand("macroF1", tuple(map(_f1, range(_LABELS))), proportion=True), _macro_f1(precision)),
        "mean of a score (Brier)": (Estimand("score", (Term({"score": 1}, {"n": UNIT}),)), 1 / 6),
        "difference of two error rates": (
            Estimand("difference", (Term({"worse": 1}, {"n": 1}),), low=Fraction(-1)),
            WORSE,
        ),
        "ECE, calibrated": (_ece("calibrated"), 0.0),
        "ECE, off by 0.03": (_ece("slightly"), SLIGHTLY),
        "ECE, off by 0.12": (_ece("overconfident"), OVERCONFIDENT),
    }


def _f1(label: int) -> Term:
    both = {f"cell{label}{label}": 2}
    answers = {f"cell{label}{other}": 1 for other in range(_LABELS) if other != label}
    truths = {f"cell{other}{label}": 1 for other in range(_LABELS) if other != label}
    return Term(both, both | answers | truths, {f"cell{label}{other}": 1 for other in range(_LABELS)})


def _macro_f1(right: float) -> float:
    wrong = (1 - right) / (_LABELS - 1)
    return sum(2 * p * right / (p + p * right + (1 - p) * wrong) for p in PREVALENCE) / _LABELS


def _ece(kind: str) -> Estimand:
    return Estimand("ece", tuple(Term({f"{kind}{place}": 1}, {"n": UNIT}) for place in range(BINS)), kind="absolute")


def simulated(
    rng: np.random.Generator, contributors: int, records: int, correlation: float = CORRELATION
) -> tuple[npt.NDArray[np.uint64], pl.DataFrame]:
    """Return the contributor of each record, and what the record adds to which columns."""
    shape = (contributors, records)
    ease, sureness = rng.standard_normal((2, contributors, 1))

    def uniform(effect: Numbers, alike: float, noise: Numbers) -> Numbers:
        found: Numbers = special.ndtr(sqrt(alike) * effect + sqrt(1 - alike) * noise)
        return found

    confidence = 0.5 + 0.5 * uniform(sureness, 0.2, rng.standard_normal(shape))
    luck, other_luck = rng.standard_normal((2, *shape))
    drawn = uniform(ease, correlation, luck)
    right = drawn < confidence
    other = uniform(ease, correlation, sqrt(0.5) * luck + sqrt(0.5) * other_luck) < confidence - WORSE
    accepted = confidence >= CUT
    truth = rng.choice(_LABELS, shape, p=PREVALENCE)
    answer = np.where(right, truth, (truth + rng.integers(1, _LABELS, shape)) % _LABELS)
    tallies = {
        "n": np.ones(shape, np.int64),
        "accepted": accepted,
        "right": accepted & right,
        "score": np.rint((confidence - right) ** 2 * UNIT),
        "worse": right.astype(np.int64) - other,
        "rare": uniform(ease, correlation, rng.standard_normal(shape)) < RARE,
    }
    tallies["truth0"] = accepted & (truth == 0)
    tallies["cell"] = np.where(accepted, _LABELS * truth + answer, -1)
    tallies["bin"] = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    for kind, off in zip(_GAPS, (0.0, SLIGHTLY, OVERCONFIDENT), strict=True):
        tallies[kind] = np.rint((confidence - (drawn < confidence - off)) * UNIT)
    keys = np.repeat(rng.integers(0, 2**64, contributors, np.uint64), records)
    return keys, pl.DataFrame({name: column.reshape(-1).astype(np.int64) for name, column in tallies.items()})


def counted(keys: npt.NDArray[np.uint64], rows: pl.DataFrame) -> Clusters:
    """Count simulated records by contributor."""
    first = len(_PLAIN)
    codes = [pl.repeat(place, len(rows), dtype=pl.Int64, eager=True) for place in range(first)]
    entries = [Entry(code, rows[name]) for code, name in zip(codes, _PLAIN, strict=True)]
    cell = rows.select(pl.when(pl.col("cell") >= 0).then(pl.col("cell") + first)).to_series()
    entries.append(Entry(cell, rows["n"]))
    for number, kind in enumerate(_GAPS):
        entries.append(Entry(rows["bin"] + (first + len(_CELLS) + number * BINS), rows[kind]))
    return clustered(pl.Series(keys), COLUMNS, entries)


@dataclass
class Cell:
    """How one number's interval did in one cell of the study.

    Attributes:
        metric: What was measured.
        contributors: How many contributors a run has.
        records: How many records each of them.
        runs: How many runs there were.
        none: In how many of them no interval was given.
        held: In how many of the others the interval held the true value.
        held_by_rows: The same of the interval that takes each record for its own contributor; None where none is made.
        too_high: In how many the one-sided lower bound was above the true value.
        too_low: In how many the one-sided upper bound was below it.
        width: The sum of the intervals' widths.
    """

    metric: str
    contributors: int
    records: int
    runs: int = 0
    none: int = 0
    held: int = 0
    held_by_rows: int | None = None
    too_high: int = 0
    too_low: int = 0
    width: float = 0.0

    def add(self, found: Interval, by_rows: Interval | None, true: float) -> None:
        """Count one run."""
        self.runs += 1
        if found.low is None or found.high is None or found.at_least is None or found.at_most is None:
            self.none += 1
            return
        self.held += found.low <= true <= found.high
        self.too_high += found.at_least > true
        self.too_low += found.at_most < true
        self.width += found.high - found.low
        if by_rows is not None and by_rows.low is not None and by_rows.high is not None:
            self.held_by_rows = (self.held_by_rows or 0) + (by_rows.low <= true <= by_rows.high)


def study(
    contributors: int, records: int, runs: int, seed: int, replicates: int = 1000, correlation: float = CORRELATION
) -> list[Cell]:
    """Simulate one cell of the study."""
    rng = np.random.default_rng([seed, contributors, records])
    asked = Asked(min_contributors=MIN_CONTRIBUTORS, replicates=replicates)
    wanted = estimands()
    smooth = [one for one, _ in wanted.values() if one.kind == "mean"]
    cells = {name: Cell(name, contributors, records) for name in wanted}
    for _ in range(runs):
        keys, rows = simulated(rng, contributors, records, correlation)
        tallies = prepare(counted(keys, rows), asked, resampled=True)
        apart = prepare(counted(np.arange(len(keys), dtype=np.uint64), rows), asked, resampled=False)
        by_rows = {id(one.estimand): one for one in intervals(smooth, apart, asked)}
        found = intervals([one for one, _ in wanted.values()], tallies, asked)
        for (name, (one, true)), interval in zip(wanted.items(), found, strict=True):
            cells[name].add(interval, by_rows.get(id(one)), true)
    return list(cells.values())


def alike(seed: int = 0) -> float:
    """Return the correlation of right and wrong between two records of a contributor."""
    rng = np.random.default_rng(seed)
    _, rows = simulated(rng, 400_000, 2)
    accepted, right = (rows[name].to_numpy().reshape(-1, 2) for name in ("accepted", "right"))
    both = right[accepted.all(axis=1)]
    return float(np.corrcoef(both[:, 0], both[:, 1])[0, 1])


def shown(cells: Sequence[Mapping[str, object]]) -> str:
    """Return the results as a text table."""
    lines = [
        f"{'metric':32}{'K':>5}{'each':>6}{'none':>7}{'held':>8}{'by rows':>9}{'> true':>8}{'< true':>8}{'width':>8}"
    ]
    for one in (Cell(**cell) for cell in cells):  # type: ignore[arg-type]
        n = max(one.runs - one.none, 1)
        rows = "–" if one.held_by_rows is None else f"{one.held_by_rows / n:.3f}"
        shares = (one.held / n, one.too_high / n, one.too_low / n)
        held, high, low = (f"{some:.3f}" for some in shares)
        lines.append(
            f"{one.metric:32}{one.contributors:>5}{one.records:>6}{one.none / one.runs:>7.3f}"
            f"{held:>8}{rows:>9}{high:>8}{low:>8}{one.width / n:>8.4f}"
        )
    return "\n".join(lines)


def main() -> None:
    """Simulate, print and store."""
    options = argparse.ArgumentParser(description="How often an interval holds the true value.")
    options.add_argument("--runs", type=int, default=1000, help="runs a cell")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--correlation", type=float, help="how alike a contributor's records are; nothing is stored")
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--no-write", action="store_true", help="do not store the results")
    given = options.parse_args()
    pairs = list(product(CONTRIBUTORS, RECORDS))[::-1]
    settings = [given.runs, given.seed, 1000, CORRELATION if given.correlation is None else given.correlation]
    with ProcessPoolExecutor(given.workers) as pool:
        done = list(pool.map(study, *zip(*pairs, strict=True), *([one] * len(pairs) for one in settings)))
    order = list(estimands())
    cells = sorted(
        (one for cell in done for one in cell), key=lambda c: (order.index(c.metric), c.contributors, c.records)
    )
    found = [asdict(one) for one in cells]
    print(shown(found))
    if not given.no_write and given.correlation is None:
        kept = {"runs": given.runs, "seed": given.seed, "alike": round(alike(), 3), "cells": found}
        STORED.write_text(json.dumps(kept, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
