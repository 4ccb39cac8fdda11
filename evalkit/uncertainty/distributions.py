"""The quantiles and tails of textbook distributions, as SciPy's special functions give them."""

from __future__ import annotations

from scipy import special


def t_quantile(share: float, degrees: float) -> float:
    """Return the quantile of Student's t.

    >>> round(t_quantile(0.975, 29), 4)
    2.0452
    """
    return float(special.stdtrit(degrees, share))


def t_tail(value: float, degrees: float) -> float:
    """Return the probability that Student's t is at least so large.

    >>> round(t_tail(2.045, 29), 4)
    0.025
    """
    return float(special.stdtr(degrees, -value))


def normal_quantile(share: float) -> float:
    """Return the quantile of the standard normal distribution.

    >>> round(normal_quantile(0.975), 4)
    1.96
    """
    return float(special.ndtri(share))


def normal_tail(value: float) -> float:
    """Return the probability that a standard normal variable is at least so large.

    >>> round(normal_tail(1.96), 4)
    0.025
    """
    return float(special.ndtr(-value))


def binomial_bound(successes: float, trials: float, share: float, *, upper: bool) -> float:
    """Return the one-sided exact bound of a proportion (Clopper & Pearson 1934).

    The numbers may be fractions of records, as where they are divided by a design effect (Korn & Graubard 1998).

    Args:
        successes: How often it happened.
        trials: Out of how many.
        share: The confidence of the bound.
        upper: Whether the upper bound is wanted.

    >>> round(binomial_bound(20, 20, 0.95, upper=False), 4)  # 0.05 ** (1 / 20)
    0.8609
    >>> binomial_bound(20, 20, 0.95, upper=True)
    1.0
    """
    if upper:
        return 1.0 if successes >= trials else float(special.betaincinv(successes + 1, trials - successes, share))
    return 0.0 if successes <= 0 else float(special.betaincinv(successes, trials - successes + 1, 1 - share))


def binomial_tail(successes: float, trials: float, probability: float) -> float:
    """Return the probability of at least so many successes; numbers may be fractions, by the incomplete beta function.

    >>> round(binomial_tail(9, 10, 0.5), 6)  # 11 / 1024
    0.010742
    """
    if successes <= 0:
        return 1.0
    return float(special.betainc(successes, trials - successes + 1, probability))
