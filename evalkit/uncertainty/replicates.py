"""The sums of every resample: weights times tallies, in whole numbers, so that no order of adding can show."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evalkit.uncertainty.clusters import Clusters, Sums
from evalkit.uncertainty.weights import MAX_WEIGHT, poisson_weights

_EXACT = 2**53
"""Whole numbers below this are exact as 64-bit floats, and so are their sums, in whatever order."""

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
    for keys, matrix in clusters.blocks():
        step = max(_WEIGHTS // replicates, 1)
        for start in range(0, len(keys), step):
            part = matrix[start : start + step]
            reach += np.abs(part).sum(axis=0) * float(MAX_WEIGHT)
            if (reach >= 2**63).any():
                raise OverflowError("a sum in a resample could pass 64 bits")
            weights = poisson_weights(keys[start : start + step], range(replicates), seed)
            found += _product(weights.astype(np.float64), part)
    return found


def _product(weights: npt.NDArray[np.float64], part: Sums) -> Sums:
    """Multiply in floats where that is exact; a column that is too large goes in two limbs."""
    heavy = np.abs(part).sum(axis=0) * float(MAX_WEIGHT) >= _EXACT
    if not heavy.any():
        product: Sums = (weights @ part.astype(np.float64)).astype(np.int64)
        return product
    found = np.empty((len(weights), part.shape[1]), np.int64)
    found[:, ~heavy] = (weights @ part[:, ~heavy].astype(np.float64)).astype(np.int64)
    high, low = np.divmod(part[:, heavy], _LIMB)
    upper, lower = ((weights @ limb.astype(np.float64)).astype(np.int64) for limb in (high, low))
    found[:, heavy] = upper * _LIMB + lower
    return found
