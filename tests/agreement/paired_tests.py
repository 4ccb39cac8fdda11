"""Print what other tools say of paired records: McNemar's exact and mid-p tests, Holm, the clustered tests.

The values stand in ``tests/test_mcnemar.py`` and ``tests/test_several.py``. To get them again, in an environment of its
own::

    pip install statsmodels==0.15.0 scipy==1.17.1 numpy==2.4.6
    python tests/agreement/paired_tests.py

Nothing of evalkit is used. The exact test and Holm's adjustment are those of statsmodels. It has no mid-p test and no
clustered one: the mid-p value is made of SciPy's binomial distribution; the clustered statistics are made the long way
round, from the two models' shares of right records and NumPy's outer products of contributors, and not from the
short forms that evalkit uses.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

DISCORDANT = [(8, 1), (1, 8), (10, 10), (0, 6), (59, 6), (121, 75), (1, 0), (1005, 901)]
P_VALUES = [0.013, 0.2, 0.04, 0.001, 0.04, 0.9]
CLUSTERS = {
    "few of several sizes": [(3, 2, 0, 1), (0, 1, 0, 1), (4, 3, 1, 2), (2, 0, 1, 1), (1, 0, 0, 3), (5, 2, 0, 0)],
    "few of one size": [(2, 1, 0, 1), (1, 2, 1, 0), (0, 3, 0, 1), (3, 0, 1, 0), (4, 0, 0, 0)],
    "many of several sizes": [(k % 4, (k * k) % 3, (k * 7 + 1) % 2, k % 3) for k in range(1, 61)],
}
"""Records by contributor: both right, only the baseline, only the candidate, neither."""


def modified_obuchowski(rows: Any) -> float:
    """Return the statistic from shares: the mean of the variances under equal shares and at the shares seen."""
    counts = np.array(rows, dtype=np.float64)
    sizes = counts.sum(axis=1)
    first, second = counts[:, 0] + counts[:, 1], counts[:, 0] + counts[:, 2]
    total, number = sizes.sum(), len(sizes)
    shares = np.array([first.sum(), second.sum()]) / total
    found = []
    for held in (np.full(2, shares.mean()), shares):
        left = np.column_stack((first, second)) - sizes[:, None] * held
        covariance = number / (number - 1) * left.T @ left / total**2
        found.append(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    return float((shares[0] - shares[1]) ** 2 / np.mean(found))


def durkalski(rows: Any) -> float:
    """Return the statistic from each contributor's own difference of shares."""
    counts = np.array(rows, dtype=np.float64)
    sizes = counts.sum(axis=1)
    gaps = (counts[:, 0] + counts[:, 1]) / sizes - (counts[:, 0] + counts[:, 2]) / sizes
    return float(gaps.sum() ** 2 / (gaps**2).sum())


def main() -> None:
    """Print every value with what it is of."""
    mcnemar = import_module("statsmodels.stats.contingency_tables").mcnemar
    adjusted = import_module("statsmodels.stats.multitest").multipletests
    stats = import_module("scipy.stats")
    for b, c in DISCORDANT:
        exact = mcnemar([[0, b], [c, 0]], exact=True).pvalue
        point = stats.binom.pmf(min(b, c), b + c, 0.5)
        mid = 1 - point / 2 if b == c else 2 * (stats.binom.cdf(min(b, c), b + c, 0.5) - point / 2)
        print("mcnemar", b, c, float(exact), float(mid))
    print("holm", P_VALUES, adjusted(P_VALUES, method="holm")[1].tolist())
    for name, rows in CLUSTERS.items():
        for test in (durkalski, modified_obuchowski):
            found = test(rows)
            print(name, test.__name__, found, float(stats.chi2.sf(found, 1)))


if __name__ == "__main__":
    main()
