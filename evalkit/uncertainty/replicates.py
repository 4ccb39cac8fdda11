"""The sums of every resample: weights times tallies, in whole numbers, so that no order of adding can show."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from evalkit.uncertainty.clusters import LARGEST, Clusters, Sums
from evalkit.uncertainty.weights import MAX_WEIGHT, poisson_weights

_EXACT = {np.float32: 2**24, np.float64: 2**53}
"""Whole numbers below these are exact as floats, and so are their sums, in whatever order."""

_LIMB = 2**24
_WEIGHTS = 2**24
"""Weights that are held at a time."""


def replicate_sums(clusters: Clusters, replicates: int, seed: int) -> Sums:
    """Return the sum of each column in each resample: one row a resample, one column a column.

    Args:
        clusters: The tallies of each contributor.
        replicates: How many resamples.
        seed: The seed.

    Raises:
        OverflowError: A sum could pass 64 bits.
    """
    found = np.zeros((replicates, len(clusters.columns)), np.int64)
    reach = np.zeros(len(clusters.columns))
    step = max(_WEIGHTS // max(replicates, 1), 1)
    for keys, matrix in clusters.blocks():
        for start in range(0, len(keys), step):
            part = matrix[start : start + step]
            most = np.abs(part.astype(np.float64)).sum(axis=0) * MAX_WEIGHT
            reach += most
            if (reach >= LARGEST).any():
                raise OverflowError("a sum in a resample could pass 64 bits")
            weights = poisson_weights(keys[start : start + step], range(replicates), seed)
            found += _product(weights, part, most)
    return found


def _product(weights: npt.NDArray[np.uint8], part: Sums, most: npt.NDArray[np.float64]) -> Sums:
    """Multiply in the shortest floats in which that is exact; a column that is too large goes in two limbs.

    Args:
        weights: One row a resample, one column a contributor.
        part: One row a contributor, one column a column.
        most: What no sum of a column can be above.
    """
    found = np.empty((len(weights), part.shape[1]), np.int64)
    light = most < _EXACT[np.float32]
    heavy = most >= _EXACT[np.float64]
    for kind, taken in ((np.float32, light), (np.float64, ~light & ~heavy)):
        if taken.any():
            found[:, taken] = _exactly(weights, part[:, taken], kind)
    if heavy.any():
        high, low = np.divmod(part[:, heavy], _LIMB)
        found[:, heavy] = _exactly(weights, high, np.float64) * _LIMB + _exactly(weights, low, np.float64)
    return found


def _exactly(weights: npt.NDArray[np.uint8], part: Sums, kind: type[Any]) -> Sums:
    product: Sums = (weights.astype(kind) @ part.astype(kind)).astype(np.int64)
    return product
