"""The difference of two numbers over the same contributors: what both share falls out of it.

A contributor is drawn equally often for both sides, since the draw is a hash of its key; and in the variance its two
influences are subtracted before they are squared. A contributor that one side lacks weighs nothing there.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import sqrt

import numpy as np

from evalkit.exact import Exact, rounded
from evalkit.exact import difference as minus
from evalkit.metric import Direction
from evalkit.uncertainty.aligned import BASELINE, CANDIDATE, Paired, prefixed
from evalkit.uncertainty.asked import Asked
from evalkit.uncertainty.clusters import Sums, sample, squared
from evalkit.uncertainty.difference import Difference
from evalkit.uncertainty.distributions import binomial_bound, t_tail
from evalkit.uncertainty.ends import difference_ends, t_ends
from evalkit.uncertainty.estimand import Estimand, gradient, value, weighed
from evalkit.uncertainty.interval import (
    BOOTSTRAP,
    CLUSTER_T,
    EXACT,
    FEW,
    PART_CONTRIBUTORS,
    TOO_FEW,
    TOO_FEW_IN_PART,
    UNDEFINED_SHARE,
    UNSTABLE,
    degrees_of,
    sizes_of,
    unseen,
    widened,
)
from evalkit.uncertainty.linearised import influence, largest, shift, whole
from evalkit.uncertainty.moments import SPARED, left_without, moments
from evalkit.uncertainty.noninferiority import non_inferior

UNDEFINED = "undefined"
TOO_ALIKE = "too-few-contributors-differ"


@dataclass(frozen=True, slots=True)
class _Found:
    """An interval of a difference in the making: two-sided ends, one-sided ends, p-value; or why there is none."""

    ends: tuple[float, float, float, float] | None = None
    p_value: float | None = None
    method: str | None = None
    reason: str | None = None


def differ(
    sides: Paired,
    candidate: Estimand,
    baseline: Estimand,
    asked: Asked,
    *,
    direction: Direction = "higher",
    exact: tuple[Exact, Exact] | None = None,
    margin: Fraction | None = None,
) -> Difference:
    """Measure the difference of a number and say how sure it is.

    A smooth number is linearised: each contributor's influence on the baseline's is subtracted from that on the
    candidate's, each as it would be with the contributor left out, and the interval is Student's t with the degrees of
    freedom of the side that rests on fewer contributors, as that of one number is. A sum of absolute values is
    resampled, both sides with the same draws (see ``difference_ends``). A share of which fewer than five contributors
    differ is bounded by the share of contributors that may differ, each counted as one record;
    of any other number there is no interval then.

    A difference that is not significant is no proof that the two are alike: for that, give a margin.

    Args:
        sides: The two sides.
        candidate: The number on the candidate's columns.
        baseline: The same number on the baseline's columns.
        asked: Level, resamples, floor of contributors.
        direction: Which values are better.
        exact: The two values as they are reported, candidate first, where they are not to be taken from the tallies.
        margin: How much worse the candidate may be, 0 or more.
    """
    ours, theirs = exact or (value(candidate, sides.candidate.totals), value(baseline, sides.baseline.totals))
    gap = minus(ours, theirs)
    question = _Question(sides, candidate, baseline, asked)
    found = _Found(reason=UNDEFINED) if gap is None else question.answer(gap)
    low, high, at_least, at_most = found.ends or (None, None, None, None)
    held = None if margin is None else non_inferior(at_least, at_most, margin, direction, found.reason)
    return Difference(
        name=candidate.name,
        direction=direction,
        baseline=rounded(theirs),
        candidate=rounded(ours),
        value=rounded(gap),
        low=low,
        high=high,
        at_least=at_least,
        at_most=at_most,
        p_value=found.p_value,
        method=found.method,
        reason=found.reason,
        contributors=question.contributors,
        both=sides.both,
        only_baseline=sides.only_baseline,
        only_candidate=sides.only_candidate,
        non_inferiority=held,
    )


@dataclass(frozen=True)
class _Question:
    """The difference of one number of two sides."""

    sides: Paired
    candidate: Estimand
    baseline: Estimand
    asked: Asked

    @cached_property
    def _weights(self) -> tuple[Sums, Sums]:
        """How much each contributor weighs in the number of each side."""
        ours, theirs = (
            sizes_of(self.sides.joint, prefixed(prefix, weighed(one)))
            for prefix, one in ((CANDIDATE, self.candidate), (BASELINE, self.baseline))
        )
        return ours, theirs

    @property
    def contributors(self) -> int:
        """How many contributors have a part in either number."""
        ours, theirs = self._weights
        return int(((ours > 0) | (theirs > 0)).sum())

    def answer(self, gap: Fraction) -> _Found:
        """Find the interval of the difference, which is ``gap``."""
        fewest = min(int((one > 0).sum()) for one in self._weights)
        if fewest < max(self.asked.min_contributors, 2):
            return _Found(reason=TOO_FEW)
        if self._differing() < FEW:
            return self._alike(gap)
        if "absolute" in (self.candidate.kind, self.baseline.kind):
            return self._resampled()
        return (
            self._linearised(gap) if self._fewest_of_a_part() >= PART_CONTRIBUTORS else _Found(reason=TOO_FEW_IN_PART)
        )

    def _fewest_of_a_part(self) -> int:
        """Count the contributors of the ratio of either side that has the fewest."""
        sides = ((self.candidate, self.sides.candidate), (self.baseline, self.sides.baseline))
        return min(moments(side.clusters, [one], side.totals)[0].fewest for one, side in sides)

    def _linearised(self, gap: Fraction) -> _Found:
        variance = self._variance()
        if not variance:
            return _Found(reason=TOO_ALIKE)
        error, at = sqrt(variance), rounded(gap)
        ends = t_ends(at, error, self._degrees, float(self.asked.level))
        return _Found(self._kept(ends), min(2 * t_tail(abs(at) / error, self._degrees), 1.0), CLUSTER_T)

    def _variance(self) -> Fraction:
        """Return the variance of the difference, of the jackknife as that of one number is (see ``moments``)."""
        ours = prefixed(CANDIDATE, gradient(self.candidate, self.sides.candidate.totals))
        theirs = prefixed(BASELINE, gradient(self.baseline, self.sides.baseline.totals))
        joint = self.sides.joint
        places = {column: place for place, column in enumerate(joint.columns)}
        bits = shift(ours | theirs, dict(zip(joint.columns, largest(joint).tolist(), strict=True))) - SPARED
        records = [int(one.sum()) for one in self._weights]
        moved = start = 0
        for keys, matrix in joint.blocks():
            left = [
                left_without(one[start : start + len(keys)], all_)
                for one, all_ in zip(self._weights, records, strict=True)
            ]
            apart = influence(ours, places, matrix) / left[0] - influence(theirs, places, matrix) / left[1]
            moved += squared(whole(apart, bits))
            start += len(keys)
        return Fraction(self.contributors - 1, self.contributors) * Fraction(moved) / Fraction(4) ** bits

    @property
    def _degrees(self) -> float:
        """The degrees of freedom: those of the side that rests on fewer contributors."""
        return min(degrees_of(sample(one)) for one in self._weights)

    def _differing(self) -> int:
        """Count the contributors that do not add the same to the two numbers, ratio by ratio."""
        joint, nothing = self.sides.joint, np.zeros(len(self.sides.joint), np.int64)
        parts: list[dict[tuple[str, ...], Sums]] = []
        for prefix, one in ((CANDIDATE, self.candidate), (BASELINE, self.baseline)):
            found: dict[tuple[str, ...], Sums] = {}
            for term in one.terms:
                for place, part in enumerate((term.numerator, term.denominator)):
                    found[str(place), *sorted(term.numerator)] = sizes_of(joint, prefixed(prefix, dict(part)))
            parts.append(found)
        ours, theirs = parts
        differ = np.zeros(len(joint), np.bool_)
        for key in sorted(ours.keys() | theirs.keys()):
            differ |= ours.get(key, nothing) != theirs.get(key, nothing)
        return int(differ.sum())

    def _alike(self, gap: Fraction) -> _Found:
        """Bound a share's difference by the share of contributors that may differ (Clopper & Pearson 1934)."""
        plain = all(one.proportion and len(one.terms) == 1 for one in (self.candidate, self.baseline))
        if not plain:  # in a mean of shares one contributor may weigh more than its part of the records
            return _Found(reason=TOO_ALIKE)
        counted = min(float(sample(one).effective or 0) for one in self._weights)
        share, level = min(self._differing(), counted), float(self.asked.level)
        two, one = (binomial_bound(share, counted, each, upper=True) for each in ((1 + level) / 2, level))
        wide = abs(rounded(gap))  # where one large contributor differs, the difference seen may be the greater one
        return _Found(self._kept((-max(two, wide), max(two, wide), -max(one, wide), max(one, wide))), None, EXACT)

    def _resampled(self) -> _Found:
        sides = [self.sides.candidate.parts(self.candidate), self.sides.baseline.parts(self.baseline)]
        undefined = sides[0].undefined | sides[1].undefined
        if undefined.sum() > UNDEFINED_SHARE * len(undefined):
            return _Found(reason=UNSTABLE)
        names = sorted(sides[0].drawn.keys() | sides[1].drawn.keys())
        ours, theirs = (one.of(names, ~undefined) for one in sides)
        ends, p_value = difference_ends(ours, theirs, self.contributors, self._degrees, float(self.asked.level))
        sure = widened(ends, *self._unseen())
        return _Found(self._kept(sure), p_value if sure == ends else None, BOOTSTRAP)

    def _unseen(self) -> tuple[float, float]:
        """Return by how much errors of either side that were not seen may move the difference."""
        level = float(self.asked.level)
        sides = ((self.candidate, self.sides.candidate), (self.baseline, self.sides.baseline))
        found = [unseen(one, moments(side.clusters, [one], side.totals)[0], side.totals, level) for one, side in sides]
        return found[0][0] + found[1][0], found[0][1] + found[1][1]

    def _kept(self, ends: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
        """Keep the ends within what a difference can be."""
        least, most = float(self.candidate.low), self.candidate.high
        reach = float("inf") if most is None else float(most) - least
        low, high, at_least, at_most = (min(max(end, -reach), reach) for end in ends)
        return low, high, at_least, at_most
