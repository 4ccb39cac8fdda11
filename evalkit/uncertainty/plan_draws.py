"""A gate that asks for a bound, judged again and again on invented contributors, as evalkit judges it.

A contributor's records share its own chance of being right, drawn from a beta distribution: so many right ones of so
many records are beta-binomial (Skellam 1948), and the intra-class correlation is its one parameter. Draws are a hash
of repetition and contributor, so that the same question has the same answer everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import special

from evalkit.metric import Direction
from evalkit.splitmix import splitmix64

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

REPETITIONS = 4000
"""How often the gate is judged: a chance of 0.8 is then known to 0.006."""

_CELLS = 2**22
_MANY_KINDS = 500
_NOTHING = 1e-12


@dataclass(frozen=True, slots=True)
class World:
    """What contributors are like, and what is asked of them.

    Attributes:
        true: The true value of the share.
        correlation: The intra-class correlation of a contributor's records, from 0 to below 1.
        sizes: How many records contributors have, each size as likely as the others.
        limit: The gate's limit.
        direction: Which side of it passes.
        level: The confidence of the one-sided bounds.
        min_contributors: Fewest contributors that bounds are given for.
    """

    true: float
    correlation: float
    sizes: tuple[int, ...]
    limit: float
    direction: Direction
    level: float
    min_contributors: int

    @property
    def design_effect(self) -> float:
        """How many times larger the variance is than that of as many independent records: 1 + (Σs²/Σs − 1) · ρ."""
        return 1 + (sum(size * size for size in self.sizes) / sum(self.sizes) - 1) * self.correlation

    @property
    def mean_size(self) -> float:
        """Records per contributor."""
        return sum(self.sizes) / len(self.sizes)


def kinds(world: World) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return every kind of contributor: its records, how many of them are right; and how likely each kind is.

    >>> found, chances = kinds(World(0.9, 0.0, (1,), 0.8, "higher", 0.95, 30))
    >>> found.tolist(), chances.round(3).tolist()
    ([[1, 0], [1, 1]], [0.1, 0.9])
    """
    rows, chances = [], []
    for size in sorted(set(world.sizes)):
        right = np.arange(size + 1)
        ways = special.gammaln(size + 1) - special.gammaln(right + 1) - special.gammaln(size - right + 1)
        if world.correlation > 0:
            spread = 1 / world.correlation - 1
            a, b = world.true * spread, (1 - world.true) * spread
            logs = ways + special.betaln(right + a, size - right + b) - special.betaln(a, b)
        else:
            logs = ways + special.xlogy(right, world.true) + special.xlogy(size - right, 1 - world.true)
        rows.append(np.column_stack((np.full(size + 1, size), right)))
        chances.append(np.exp(logs) * world.sizes.count(size) / len(world.sizes))
    return np.concatenate(rows), np.concatenate(chances)


def simulated(world: World, numbers: Iterable[int]) -> Iterator[tuple[int, int, int]]:
    """Judge the gate on invented contributors.

    Args:
        world: What they are like, and the gate.
        numbers: How many contributors there are to be, in rising order; each adds to those before. The next is
            asked for when the answer to the last was taken.

    Yields:
        The number, and in how many of the repetitions the gate passes and fails; else the records do not settle it.
    """
    found, chances = kinds(world)
    edges = np.cumsum(chances)
    size, right = found[:, 0], found[:, 1]
    wrong = size - right
    features = np.column_stack((right, size, right**2, right * size, size**2, right > 0, wrong > 0)).astype(np.float64)
    salts = splitmix64(np.arange(REPETITIONS, dtype=np.uint64))
    sums, done = np.zeros((REPETITIONS, features.shape[1])), 0
    for number in numbers:
        while done < number:
            step = min(number - done, max(_CELLS // REPETITIONS, 1))
            sums += _added(_kinds_drawn(salts, range(done, done + step), edges), features)
            done += step
        passed, failed = _judged(world, number, sums)
        yield number, int(passed.sum()), int(failed.sum())


def _kinds_drawn(salts: npt.NDArray[np.uint64], contributors: range, edges: Floats) -> npt.NDArray[np.int64]:
    """Return the kind of each contributor in each repetition: one row a repetition."""
    keys = np.array(contributors, np.uint64)
    shares = (splitmix64(salts[:, None] ^ keys[None, :]) >> np.uint64(11)) * 2.0**-53
    return np.minimum(np.searchsorted(edges, shares, side="right"), len(edges) - 1)


def _added(drawn: npt.NDArray[np.int64], features: Floats) -> Floats:
    """Add up the features of the kinds drawn, repetition by repetition; whole numbers, and so exact in any order."""
    repetitions, many = len(drawn), len(features)
    if many > _MANY_KINDS:
        return np.column_stack([column[drawn].sum(axis=1) for column in features.T])
    places = drawn + np.arange(repetitions)[:, None] * many
    counts = np.bincount(places.ravel(), minlength=repetitions * many).reshape(repetitions, many)
    product: Floats = counts.astype(np.float64) @ features
    return product


def _judged(world: World, number: int, sums: Floats) -> tuple[Flags, Flags]:
    """Hold the bounds of each repetition against the limit, as ``interval`` and ``judge_bound`` do."""
    if number < max(world.min_contributors, 2):
        never = np.zeros(len(sums), np.bool_)
        return never, never
    low, high = bounds(world.level, number, sums)
    limit = world.limit
    return (low >= limit, high < limit) if world.direction == "higher" else (high <= limit, low > limit)


def bounds(level: float, number: int, sums: Floats) -> tuple[Floats, Floats]:
    """Return the one-sided bounds of a share in each repetition, as ``interval`` has them.

    Where contributors are of one size they are the same; else each is thought to have the share of the records that
    contributors have on average, weighed by their records.

    Args:
        level: The confidence.
        number: How many contributors.
        sums: One row a repetition: Σx, Σs, Σx², Σxs, Σs², contributors with x > 0 and with x < s; x being a
            contributor's right records and s all of them.
    """
    right, size, squares, crossed, sizes, with_right, with_wrong = sums.T
    share, effective = right / size, size**2 / sizes
    spread = squares - 2 * share * crossed + share**2 * sizes
    spread = np.where(spread > _NOTHING * squares, spread, 0.0)  # floats leave crumbs where all shares are equal
    squared = (number - 1) / number * spread / size**2 / (1 - 1 / effective) ** 2
    narrower = special.stdtrit(size - 1, level) / special.stdtrit(np.maximum(effective - 1, 1), level)
    trials = np.minimum(effective * (1 + np.minimum(with_right, with_wrong)), size)
    with np.errstate(divide="ignore", invalid="ignore"):
        wanted = share * (1 - share) / squared * narrower**2
        trials = np.where(squared > 0, np.minimum(wanted, trials), trials)
        low = special.betaincinv(share * trials, (1 - share) * trials + 1, 1 - level)
        high = special.betaincinv(share * trials + 1, (1 - share) * trials, level)
    return np.where(share <= 0, 0.0, low), np.where(share >= 1, 1.0, high)


def approximate(world: World, number: int) -> tuple[float, float]:
    """Return the chances to pass and to fail as the normal distribution has them; for very many contributors.

    >>> world = World(0.93, 0.15, (20,), 0.9, "higher", 0.95, 30)
    >>> [round(chance, 3) for chance in approximate(world, 100)]
    [0.846, 0.0]
    """
    error = (world.true * (1 - world.true) * world.design_effect / (number * world.mean_size)) ** 0.5
    beyond = (world.true - world.limit) * (1 if world.direction == "higher" else -1)
    reach = float(special.stdtrit(number - 1, world.level))
    return float(special.ndtr(beyond / error - reach)), float(special.ndtr(-beyond / error - reach))
