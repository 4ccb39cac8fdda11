"""Which statistics are wanted beside the numbers of an evaluation or a measurement; checked before work starts."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from evalkit.errors import Refusal, Violation
from evalkit.uncertainty.asked import MIN_CONTRIBUTORS, REPLICATES, Asked
from evalkit.uncertainty.needs import assert_installed


@dataclass(frozen=True, slots=True)
class Chosen:
    """The statistics wanted.

    Attributes:
        asked: Level, resamples, seed and the least number of contributors.
        intervals: Whether intervals are wanted.
        cluster_by: The field that says which records belong together; None: what the family takes by itself.
        calibration: Whether calibration is to be judged.
    """

    asked: Asked
    intervals: bool = True
    cluster_by: str | None = None
    calibration: bool = False


def choose(
    interval: str | float | Decimal | Fraction | None,
    replicates: int = REPLICATES,
    seed: int = 0,
    min_contributors: int = MIN_CONTRIBUTORS,
    *,
    cluster_by: str | None = None,
    calibration: bool = False,
) -> Chosen | None:
    """Read what a caller says of statistics; None where nothing is wanted.

    Args:
        interval: The confidence of intervals; None where none are wanted.
        replicates: Resamples.
        seed: Their seed.
        min_contributors: Fewest contributors that an interval is given for.
        cluster_by: The field that says which records belong together.
        calibration: Whether calibration is to be judged.

    Raises:
        Refusal: Something makes no sense, or nothing is asked that it could tune, or what statistics need is not
            installed.

    >>> choose(None) is None
    True
    >>> choose(None, seed=7)
    Traceback (most recent call last):
    ...
    evalkit.errors.Refusal: seed: nothing is asked that this could tune; give a level by interval [statistics]
    """
    asked = Asked.of(interval, replicates, seed, min_contributors)
    if interval is None and not calibration:
        usual = Asked()
        tuned = {
            "replicates": asked.replicates != usual.replicates,
            "seed": asked.seed != usual.seed,
            "min-contributors": asked.min_contributors != usual.min_contributors,
            "cluster-by": cluster_by is not None,
        }
        for name in (name for name, differs in tuned.items() if differs):
            message = "nothing is asked that this could tune; give a level by interval"
            raise Refusal.of(Violation("statistics", message, field=name))
        return None
    assert_installed()
    return Chosen(asked, interval is not None, cluster_by, calibration)
