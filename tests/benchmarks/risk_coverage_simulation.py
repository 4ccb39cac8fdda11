"""How often the intervals of risk and coverage hold the truth, by simulation: the table of docs/risk-coverage.md.

    python tests/benchmarks/risk_coverage_simulation.py [--runs 2000] [--only intervals|certify]

Contributors have an effect of standard deviation 0.8 on the logit of being right; a record's score is uniform on
(0, 1) and moves that logit too. The truth comes from quadrature, not from the code that is tried.
"""

import argparse
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import bdtr

from evalkit.exact import fraction
from evalkit.risk_coverage.areas import areas
from evalkit.risk_coverage.bootstrap import bootstrap
from evalkit.risk_coverage.certify import binomial_p, cluster_p
from evalkit.risk_coverage.claim import read_claim
from evalkit.risk_coverage.curve import curve
from evalkit.risk_coverage.grid import grid
from evalkit.risk_coverage.jackknife import Counts, grid_augrc, grid_aurc, grid_e_aurc, jackknife
from evalkit.risk_coverage.levels import Level, first_size, least_size, levels, sequence
from evalkit.risk_coverage.points import coverage_at_risk
from evalkit.risk_coverage.shown import Interval

EFFECT = 0.8
LEVEL = Fraction(95, 100)
RISK = Fraction(1, 10)
STEPS = 20_000


@dataclass(frozen=True)
class Model:
    """The logit of being right: intercept + slope · score + a contributor's effect."""

    intercept: float
    slope: float

    def draw(self, numbers: np.random.Generator, contributors: int, each: int) -> pl.DataFrame:
        """Draw outcomes."""
        who = np.repeat(np.arange(contributors, dtype=np.uint64), each)
        effect = np.repeat(numbers.normal(0, EFFECT, contributors), each)
        score = numbers.random(who.size)
        right = numbers.random(who.size) < 1 / (1 + np.exp(-(self.intercept + self.slope * score + effect)))
        columns = {"confidence": score, "correct": right, "n": np.ones(who.size, np.int64), "contributor": who}
        return pl.DataFrame(columns)

    def risks(self) -> NDArray[np.float64]:
        """Return the true risk at each of ``STEPS`` equal steps of coverage."""
        points, weight = np.polynomial.hermite_e.hermegauss(60)
        score = 1 - (np.arange(STEPS) + 0.5) / STEPS
        logit = self.intercept + self.slope * score[:, None] + EFFECT * points
        wrong = (1 / (1 + np.exp(logit))) @ (weight / weight.sum())
        found: NDArray[np.float64] = np.cumsum(wrong) / np.arange(1, STEPS + 1)
        return found

    def truth(self) -> dict[str, float]:
        """Return the true values."""
        risk = self.risks()
        coverage = np.arange(1, STEPS + 1) / STEPS
        error, aurc = float(risk[-1]), float(risk.mean())
        reached = float(coverage[risk <= float(RISK)].max(initial=0))
        excess = aurc - (error + (1 - error) * math.log(1 - error))
        return {"AURC": aurc, "E-AURC": excess, "AUGRC": float((risk * coverage).mean()), "coverage at risk": reached}


MODEL = Model(0.3, 3.2)


MINIMUM = {"": 30, ", from least": 20}
CLAIM = read_claim("precision>=0.9@0.95")


def interval_rows(runs: int, sizes: Sequence[tuple[int, int]]) -> Iterator[list[str]]:
    """Try the intervals; a row for each number of contributors."""
    truth = MODEL.truth()
    wanted = {**truth, "by jackknife": truth["coverage at risk"]}
    for contributors, each in sizes:
        numbers, held = np.random.default_rng(contributors), dict.fromkeys(wanted, 0)
        for seed in range(runs):
            for name, one in made(MODEL.draw(numbers, contributors, each), seed).items():
                assert one.low is not None
                assert one.high is not None
                held[name] += one.low <= wanted[name] <= one.high
        yield [f"{contributors} × {each}", *(f"{held[name] / runs:.3f}" for name in wanted)]


def made(outcomes: pl.DataFrame, seed: int) -> dict[str, Interval]:
    """Make every interval, and the one of coverage at risk by the jackknife, which evalkit does not give."""
    line = curve(outcomes)
    counts, found = grid(outcomes, line), areas(line)
    assert found is not None
    reached = fraction(coverage_at_risk(line, RISK).coverage) or Fraction(0)
    return {
        "AURC": jackknife(counts, found.aurc, grid_aurc, 1.0, LEVEL),
        "E-AURC": jackknife(counts, found.e_aurc, grid_e_aurc, 1.0, LEVEL),
        "AUGRC": jackknife(counts, found.augrc, grid_augrc, 0.5, LEVEL),
        "coverage at risk": bootstrap(counts, [RISK], LEVEL, seed)[0],
        "by jackknife": jackknife(counts, reached, _grid_coverage, 1.0, LEVEL),
    }


def _grid_coverage(own: Counts, wrong: Counts) -> float:
    accepted, errors = np.cumsum(own), np.cumsum(wrong)
    within = accepted[errors * RISK.denominator <= accepted * RISK.numerator]
    return float(within.max(initial=0) / accepted[-1])


def flat(precision: float) -> Model:
    """Return the model whose confidence says nothing and whose precision is this one at every cut."""
    low, high = -10.0, 10.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if 1 - Model(middle, 0).risks()[-1] > precision else (middle, high)
    return Model(low, 0)


def chosen(rows: Sequence[Level], values: Sequence[float]) -> float | None:
    """Return the cut of a fixed sequence."""
    cut = None
    for row, value in zip(rows, values, strict=True):
        if value > float(CLAIM.alpha):
            break
        cut = row.cut
    return cut


def certify_rows(runs: int, models: dict[str, Model], sizes: Sequence[tuple[int, int]]) -> Iterator[list[str]]:
    """Try the certificates: how often one is wrong, how often there is one, and the mean coverage where there is."""
    firsts = {"": first_size(CLAIM), ", from least": least_size(CLAIM)}
    for name, model in models.items():
        risks = model.risks()
        for contributors, each in sizes:
            numbers = np.random.default_rng(contributors)
            found: dict[str, list[float | None]] = {}
            for _ in range(runs):
                outcomes = model.draw(numbers, contributors, each)
                line = curve(outcomes)
                for start, first in firsts.items():
                    found_levels = levels(outcomes, sequence(line, first))
                    rows = [one for one in found_levels if one.contributors >= MINIMUM[start]]
                    for rule, p_value in RULES.items():
                        cut = chosen(rows, [p_value(one) for one in rows])
                        found.setdefault(rule + start, []).append(cut)
            for rule, cuts in found.items():
                reached = [1 - cut for cut in cuts if cut is not None]
                wrong = sum(risks[min(STEPS - 1, int(one * STEPS))] > float(1 - CLAIM.target) for one in reached)
                mean = f"{sum(reached) / len(reached):.3f}" if reached else "–"
                shares = (f"{wrong / runs:.3f}", f"{len(reached) / runs:.3f}", mean)
                yield [name, f"{contributors} × {each}", rule, *shares]


def _rows_only(level: Level) -> float:
    return float(bdtr(level.errors, level.accepted, float(1 - CLAIM.target)))


RULES: dict[str, Callable[[Level], float]] = {
    "binomial over records": _rows_only,
    "cluster t": lambda level: cluster_p(level, CLAIM),
    "binomial, design effect": lambda level: binomial_p(level, CLAIM),
    "the larger of the last two": lambda level: max(binomial_p(level, CLAIM), cluster_p(level, CLAIM)),
}


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description="simulate the intervals and certificates of risk and coverage")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--only", choices=("intervals", "certify"))
    asked = parser.parse_args()
    if asked.only != "certify":
        print("contributors × records | AURC | E-AURC | AUGRC | coverage at risk 0.1 | the same by jackknife")
        for row in interval_rows(asked.runs, ((20, 10), (100, 10), (400, 10))):
            print(" | ".join(row), flush=True)
    if asked.only != "intervals":
        print("model | contributors × records | rule | wrong | certified | mean coverage")
        models = {"rising": MODEL, "flat": flat(0.8999)}
        for row in certify_rows(asked.runs, models, ((40, 20), (100, 5), (300, 20))):
            print(" | ".join(row), flush=True)


if __name__ == "__main__":
    main()
