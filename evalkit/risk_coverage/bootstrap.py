"""Intervals for coverage at risk, which jumps: a Poisson bootstrap of groups of contributors on the grid."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from evalkit.risk_coverage.grid import Grid
from evalkit.risk_coverage.points import at_most
from evalkit.risk_coverage.shown import Interval
from evalkit.splitmix import splitmix64

BOOTSTRAP = "poisson-bootstrap-of-groups"
REPLICATES = 1000
_AT_ONCE = 125


def bootstrap(found: Grid, risks: Sequence[Fraction], level: Fraction, seed: int) -> list[Interval]:
    """Make the interval of the coverage at each risk: the middle ``level`` of its replicates.

    Each replicate counts each group of contributors so often as a Poisson number of mean 1 says, drawn from a hash of
    seed, replicate and group (Hanley & MacGibbon 2006; Chamandy et al. 2012), so the interval is the same for any order
    of records, and for any other limits asked for. A replicate without a cut within the risk has coverage 0. The
    jackknife does not fit a quantity that jumps from cut to cut.

    Args:
        found: The counts.
        risks: The limits.
        level: The level, such as 95/100.
        seed: The seed.
    """
    out = int((1 - level) / 2 * REPLICATES)
    intervals = []
    for each in np.sort(_replicated(found, risks, seed), axis=1):
        ends = float(each[out]), float(each[REPLICATES - 1 - out])
        intervals.append(Interval(*ends, None, BOOTSTRAP, found.own.shape[0]))
    return intervals


def _replicated(found: Grid, risks: Sequence[Fraction], seed: int) -> NDArray[np.float64]:
    """Return the coverage at each risk, a row each, in each replicate.

    Weights and counts are whole numbers far below 2^53: their products are exact in whatever order they are summed.
    """
    own, wrong, totals = (table.astype(np.float64) for table in (found.own, found.wrong, found.totals))
    every = np.zeros((len(risks), REPLICATES))
    for start in range(0, REPLICATES, _AT_ONCE):
        here = range(start, min(start + _AT_ONCE, REPLICATES))
        weight = weights(found.own.shape[0], here, seed).astype(np.float64)
        accepted, errors = (np.cumsum((weight @ table).astype(np.int64), axis=1) for table in (own, wrong))
        total = np.maximum(weight @ totals, 1.0)
        for row, risk in zip(every, risks, strict=True):
            reached = np.where(at_most(errors, accepted, risk), accepted, 0).max(axis=1)
            row[here.start : here.stop] = reached / total
    return every


def weights(groups: int, replicates: range, seed: int) -> NDArray[np.uint8]:
    """Draw a Poisson number of mean 1 for each replicate and group.

    >>> weights(6, range(2), seed=0).tolist()
    [[0, 0, 0, 1, 0, 3], [2, 0, 2, 1, 1, 1]]
    """
    state = splitmix64(np.full(1, seed % 2**64, np.uint64))
    state = splitmix64(state ^ np.arange(replicates.start, replicates.stop, dtype=np.uint64))
    drawn = splitmix64(splitmix64(state)[:, None] ^ np.arange(groups, dtype=np.uint64)[None, :])
    return np.searchsorted(_limits(), drawn, side="right").astype(np.uint8)


@cache
def _limits() -> NDArray[np.uint64]:
    """Return 2^64 · P(Poisson(1) ≤ k) for k = 0, 1, …, rounded down, until it rounds to 2^64."""
    with localcontext(prec=50):
        term = Decimal(-1).exp()
        limits, sum_, k = [], Decimal(0), 0
        while (sum_ := sum_ + term) * 2**64 < 2**64 - 1:
            limits.append(int(sum_ * 2**64))
            term /= (k := k + 1)
    return np.array(limits, np.uint64)
