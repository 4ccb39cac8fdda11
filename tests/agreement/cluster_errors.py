"""Print standard errors and exact intervals of invented clustered records, as statsmodels and SciPy give them.

The values stand in ``tests/test_uncertainty_agreement.py``, since statsmodels is worth no dependency. To get them
again, in an environment of its own::

    pip install statsmodels==0.14.5 scipy==1.17.1 numpy==2.4.6 pandas==2.3.3
    python tests/agreement/cluster_errors.py

Nothing of evalkit is used. A mean, a ratio of sums and an F1 are each the intercept of a regression on nothing else,
weighted where a record counts twice. ``CR1`` is what statsmodels calls cluster-robust, its correction included;
``jackknife`` is K fits, each without one contributor.
"""

from __future__ import annotations

from importlib import import_module

import numpy as np
import numpy.typing as npt

SIZES = (3, 5, 8, 2, 13, 7, 4, 9, 6, 1, 11, 10)
"""The records of each contributor."""

Numbers = npt.NDArray[np.float64]


def records() -> list[tuple[int, int, int, float, int, int]]:
    """Return contributor, right, accepted, score, label and answer of each record."""
    found = []
    for who, size in enumerate(SIZES):
        for number in range(size):
            right = int((7 * who + 3 * number) % 10 < 8)
            label = (5 * who + 3 * number) % 3
            answer = label if right else (label + 1) % 3
            score = (13 * who + 29 * number) % 101 / 100
            found.append((who, right, int((who + 2 * number) % 4 != 0), score, label, answer))
    return found


def fitted(values: Numbers, weights: Numbers, who: Numbers) -> tuple[float, float, float]:
    """Return the weighted mean, its cluster-robust standard error, and that of the jackknife."""
    models = import_module("statsmodels.api")
    kept = weights > 0
    values, weights, who = values[kept], weights[kept], who[kept]
    whole = models.WLS(values, np.ones_like(values), weights=weights)
    done = whole.fit(cov_type="cluster", cov_kwds={"groups": who})
    without = [
        float(
            models.WLS(values[who != one], np.ones(int((who != one).sum())), weights=weights[who != one])
            .fit()
            .params[0]
        )
        for one in np.unique(who)
    ]
    number = len(without)
    squares = sum((one - float(done.params[0])) ** 2 for one in without)
    return float(done.params[0]), float(done.bse[0]), ((number - 1) / number * squares) ** 0.5


def main() -> None:
    """Print the values."""
    who, right, accepted, score, label, answer = (np.array(column, float) for column in zip(*records(), strict=True))
    ones = np.ones_like(right)
    print("accuracy", *fitted(right, ones, who))
    print("precision", *fitted(right, accepted, who))
    print("score", *fitted(score, ones, who))
    hit = (label == 1) & (answer == 1)
    print("f1 of 1", *fitted(hit.astype(float), ((label == 1).astype(float) + (answer == 1)), who))
    confint = import_module("statsmodels.stats.proportion").proportion_confint
    for count, trials in ((0, 20), (3, 50), (48, 50), (20, 20)):
        print("beta", count, trials, *map(float, confint(count, trials, alpha=0.05, method="beta")))
    stats = import_module("scipy.stats")
    for some, of in ((2.5, 40.25), (31.75, 33.5)):
        low = stats.beta.ppf(0.025, some, of - some + 1)
        high = stats.beta.ppf(0.975, some + 1, of - some)
        print("fractional", some, of, float(low), float(high))
    for degrees in (11.0, 8.5):
        print("t", degrees, float(stats.t.ppf(0.975, degrees)), float(stats.t.sf(2.0, degrees)))
    print("binomial tail", float(stats.binom.sf(8, 10, 0.5)), float(stats.binom.sf(44, 50, 0.8)))


if __name__ == "__main__":
    main()
