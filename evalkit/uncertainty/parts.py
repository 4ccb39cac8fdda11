"""The parts of a sum of absolute values, such as the gaps of a calibration error, as seen and in every resample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import fsum, log, sqrt

import numpy as np
import numpy.typing as npt

from evalkit.uncertainty.clusters import Sums
from evalkit.uncertainty.estimand import Estimand, ratios

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a sum of absolute values.

    Attributes:
        at: The parts as seen.
        moved: How far each is off that in each resample.
    """

    at: Sequence[float]
    moved: Sequence[Floats]

    def sure(self, contributors: int) -> list[bool]:
        """Tell of which parts the sign is sure: those over √(2 ln K) standard errors from zero, of K contributors."""
        reach = sqrt(2 * log(contributors))
        return [abs(part) > reach * spread(some) for part, some in zip(self.at, self.moved, strict=True)]


@dataclass(frozen=True, slots=True)
class Resampled:
    """What an estimand's parts are in each resample.

    Attributes:
        drawn: Each part, by what it is made of: as seen, and in each resample.
        undefined: In which resamples none is defined.
    """

    drawn: Mapping[tuple[str, ...], tuple[float, Floats]]
    undefined: npt.NDArray[np.bool_]

    def of(self, names: Sequence[tuple[str, ...]], kept: npt.NDArray[np.bool_]) -> Parts:
        """Return parts in this order, in these resamples; one that there is not is 0 in all."""
        nothing = (0.0, np.zeros(len(self.undefined)))
        found = [self.drawn.get(name, nothing) for name in names]
        return Parts([at for at, _ in found], [some[kept] - at for at, some in found])


def resampled(estimand: Estimand, columns: Sequence[str], totals: Mapping[str, int], sums: Sums | None) -> Resampled:
    """Measure an estimand's parts in every resample.

    Args:
        estimand: The number.
        columns: The name of each column.
        totals: The sum of each column.
        sums: The sums in each resample.

    Raises:
        ValueError: No resamples were prepared.
    """
    if sums is None:
        raise ValueError("no resamples were prepared")
    whole = np.array([[totals[column] for column in columns]], np.int64)
    at = [float(np.nan_to_num(part[0])) for part in ratios(estimand, columns, whole)]
    drawn = ratios(estimand, columns, sums)
    names = [tuple(sorted(term.numerator)) for term in estimand.terms]
    parts = {name: (here, np.nan_to_num(some)) for name, here, some in zip(names, at, drawn, strict=True)}
    return Resampled(parts, np.logical_and.reduce([np.isnan(part) for part in drawn]))


def spread(numbers: Floats) -> float:
    """Return the root of the mean square, added without an error that could depend on the order."""
    return sqrt(fsum((numbers * numbers).tolist()) / len(numbers))
