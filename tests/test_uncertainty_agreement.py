"""Standard errors, quantiles and exact intervals beside statsmodels and SciPy.

The expected values are those of ``tests/agreement/cluster_errors.py``, which names the versions.
"""

from __future__ import annotations

from fractions import Fraction
from math import sqrt

import numpy as np
import polars as pl
import pytest

from evalkit.uncertainty.clusters import Clusters, Entry, clustered
from evalkit.uncertainty.distributions import binomial_bound, binomial_tail, normal_quantile, t_quantile, t_tail
from evalkit.uncertainty.estimand import Estimand, Term, share
from evalkit.uncertainty.interval import Asked, interval, prepare
from evalkit.uncertainty.moments import moments

SIZES = (3, 5, 8, 2, 13, 7, 4, 9, 6, 1, 11, 10)

CENTS = 100
"""Parts of one in which the score is held."""

ACCURACY = share("accuracy", "right", "n")
PRECISION = share("precision", "accepted right", "accepted")
SCORE = Estimand("score", (Term({"score": 1}, {"n": CENTS}),))
F1 = Estimand("f1", (Term({"hit": 2}, {"label": 1, "answer": 1}),))

CLOSE = 1e-9


@pytest.fixture(scope="module")
def counted() -> Clusters:
    """Count the invented records of the script by contributor."""
    rows = []
    for who, size in enumerate(SIZES):
        for number in range(size):
            right = int((7 * who + 3 * number) % 10 < 8)
            accepted = int((who + 2 * number) % 4 != 0)
            label = (5 * who + 3 * number) % 3
            answer = label if right else (label + 1) % 3
            score = (13 * who + 29 * number) % 101
            hit = int(label == answer == 1)
            rows.append((who, 1, right, accepted, accepted * right, score, int(label == 1), int(answer == 1), hit))
    names = ("n", "right", "accepted", "accepted right", "score", "label", "answer", "hit")
    frame = pl.DataFrame(rows, schema=["who", *names], orient="row")
    entries = [Entry(pl.repeat(code, len(frame), eager=True), frame[name]) for code, name in enumerate(names)]
    return clustered(frame["who"].cast(pl.UInt64), names, entries)


@pytest.mark.parametrize(
    ("estimand", "error"),
    [
        (ACCURACY, 0.01906627574248648),
        (PRECISION, 0.023414254331113875),
        (SCORE, 0.017518202767179452),
        (F1, 0.03006717824949396),
    ],
)
def test_errors_agree_with_statsmodels(counted: Clusters, estimand: Estimand, error: float) -> None:
    """The error is the jackknife's: as many fits as there are contributors, each without one of them."""
    found = moments(counted, [estimand], counted.totals())[0]
    assert sqrt(found.variance or 0) == pytest.approx(error, rel=CLOSE)


def test_an_interval_is_student_s_of_the_effective_contributors(counted: Clusters) -> None:
    """The score's interval by hand: t of 79² / 675 - 1 = 8.2459… degrees times the jackknife's error."""
    asked = Asked(min_contributors=12)
    found = interval(SCORE, prepare(counted, asked, resampled=False), asked)
    effective = Fraction(79**2, 675)
    reach = t_quantile(0.975, float(effective) - 1) * 0.017518202767179452
    assert (found.method, found.sample.effective) == ("cluster-t", effective)
    assert found.low == pytest.approx(0.48696202531645577 - reach, rel=CLOSE)
    assert found.high == pytest.approx(0.48696202531645577 + reach, rel=CLOSE)


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [
        (0, 20, 0.0, 0.16843347098308534),
        (3, 50, 0.01254858783533406, 0.16548194660377288),
        (48, 50, 0.8628623743960326, 0.9951185665738356),
        (20, 20, 0.8315665290169146, 1.0),
        (2.5, 40.25, 0.01046814039030788, 0.18573375448265647),
        (31.75, 33.5, 0.8111312903056961, 0.9948975665786292),
    ],
)
def test_exact_bounds_agree_with_statsmodels_and_scipy(
    successes: float, trials: float, low: float, high: float
) -> None:
    """Clopper & Pearson's interval, and the same of fractions of records."""
    assert binomial_bound(successes, trials, 0.975, upper=False) == pytest.approx(low, rel=CLOSE)
    assert binomial_bound(successes, trials, 0.975, upper=True) == pytest.approx(high, rel=CLOSE)


def test_quantiles_and_tails_agree_with_scipy() -> None:
    """Student's t with whole and with fractional degrees, the normal distribution, and a binomial tail."""
    assert t_quantile(0.975, 11.0) == pytest.approx(2.200985160091639, rel=CLOSE)
    assert t_quantile(0.975, 8.5) == pytest.approx(2.282604893392452, rel=CLOSE)
    assert t_tail(2.0, 11.0) == pytest.approx(0.03540197753401729, rel=CLOSE)
    assert t_tail(2.0, 8.5) == pytest.approx(0.03920855419777438, rel=CLOSE)
    assert normal_quantile(0.975) == pytest.approx(1.959963984540054, rel=CLOSE)
    assert binomial_tail(9, 10, 0.5) == pytest.approx(0.0107421875, rel=CLOSE)
    assert binomial_tail(45, 50, 0.8) == pytest.approx(0.04802721937073359, rel=CLOSE)


def test_a_proportion_is_korn_and_graubard_s(counted: Clusters) -> None:
    """Accuracy by hand: n / design effect, times the square of a ratio of t quantiles, into Clopper & Pearson's."""
    asked = Asked(min_contributors=12)
    found = interval(ACCURACY, prepare(counted, asked, resampled=False), asked)
    at = 64 / 79
    independent = at * (1 - at) / 0.01906627574248648**2
    narrower = t_quantile(0.975, 78) / t_quantile(0.975, 79**2 / 675 - 1)
    trials = min(independent * narrower**2, 79.0)
    assert found.method == "exact-binomial"
    assert found.low == pytest.approx(binomial_bound(at * trials, trials, 0.975, upper=False), rel=1e-7)
    assert np.isclose(found.high or 0, binomial_bound(at * trials, trials, 0.975, upper=True), rtol=1e-7)
