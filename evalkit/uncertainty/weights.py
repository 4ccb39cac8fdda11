"""How often each contributor is drawn in each resample: a hash of seed, resample and contributor, and of nothing else.

The Poisson bootstrap (Hanley & MacGibbon 2006; Chamandy, Muralidharan, Najmi & Naidu 2012) draws each contributor an
independent Poisson(1) number of times. Where the number is a hash of the contributor's key, no draw depends on the
order of records, on files, threads or workers, and whoever has the key can draw it again.
"""

from __future__ import annotations

from functools import cache
from math import exp, factorial

import numpy as np
import numpy.typing as npt

from evalkit.splitmix import splitmix64

Keys = npt.NDArray[np.uint64]

_LANES = 4
"""Draws that one hash of 64 bits gives, sixteen bits each."""

MAX_WEIGHT = 8
"""Most often that a contributor is drawn; a Poisson variable is above that once in a million draws."""


def poisson_weights(contributors: Keys, replicates: range, seed: int) -> npt.NDArray[np.uint8]:
    """Return how often each contributor is drawn in each resample.

    Args:
        contributors: Their keys as numbers.
        replicates: Which resamples; the first must be a multiple of four.
        seed: The seed.

    Returns:
        One row a resample, one column a contributor.

    >>> poisson_weights(np.array([1, 2], np.uint64), range(0, 4), 0).shape
    (4, 2)
    """
    if replicates.start % _LANES or replicates.step != 1:
        raise ValueError(f"resamples are drawn {_LANES} at a time")
    drawn = np.empty((-(-len(replicates) // _LANES) * _LANES, len(contributors)), np.uint8)
    start = splitmix64(np.array([seed % 2**64], np.uint64))[0]
    table = _table()
    for place in range(0, len(drawn), _LANES):
        salt = splitmix64(np.array([start ^ np.uint64(replicates.start + place)], np.uint64))[0]
        lanes = splitmix64(contributors ^ salt).astype("<u8", copy=False).view("<u2").reshape(-1, _LANES)
        drawn[place : place + _LANES] = table.take(lanes, mode="clip").T  # no lane is beyond it: nothing to check
    return drawn[: len(replicates)]


@cache
def _table() -> npt.NDArray[np.uint8]:
    """Return the Poisson(1) number of each of 65,536 equally likely draws; their mean and variance are exactly 1."""
    cells = 2**16
    shares = [round(cells * exp(-1) / factorial(number)) for number in range(MAX_WEIGHT + 1)]
    above = range(3, MAX_WEIGHT + 1)  # the first three are such that number, mean and variance are exact
    shares[2] = (cells - sum(number * (number - 1) * shares[number] for number in above)) // 2
    shares[1] = cells - sum(number * shares[number] for number in (2, *above))
    shares[0] = cells - sum(shares[1:])
    return np.repeat(np.arange(MAX_WEIGHT + 1, dtype=np.uint8), shares)
