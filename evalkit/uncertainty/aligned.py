"""Two sides over one set of contributors, aligned by key, with their tallies side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from evalkit.uncertainty.clusters import Clusters
from evalkit.uncertainty.interval import Measured

CANDIDATE, BASELINE = "candidate:", "baseline:"
"""What the columns of each side begin with where both stand side by side."""


@dataclass(frozen=True, slots=True)
class Paired:
    """Two sides over one set of contributors, aligned by key.

    Attributes:
        candidate: The candidate's tallies.
        baseline: The baseline's.
        joint: Both side by side; columns begin with ``candidate:`` or ``baseline:``.
        both: Contributors that both sides have.
        only_candidate: Contributors that only the candidate has.
        only_baseline: Contributors that only the baseline has.
    """

    candidate: Measured
    baseline: Measured
    joint: Clusters
    both: int
    only_candidate: int
    only_baseline: int


def paired(candidate: Measured, baseline: Measured) -> Paired:
    """Align two sides by contributor key."""
    ours, theirs = candidate.clusters, baseline.clusters
    keys = np.union1d(ours.keys, theirs.keys)
    rows = np.concatenate([np.searchsorted(keys, one.keys)[one.rows] for one in (ours, theirs)])
    codes = np.concatenate([ours.codes, theirs.codes + len(ours.columns)])
    amounts = np.concatenate([ours.amounts, theirs.amounts])
    order = np.lexsort((codes, rows))
    columns = (*(CANDIDATE + one for one in ours.columns), *(BASELINE + one for one in theirs.columns))
    both = len(ours.keys) + len(theirs.keys) - len(keys)
    joint = Clusters(keys, columns, rows[order].astype(np.int64), codes[order], amounts[order])
    return Paired(candidate, baseline, joint, both, len(ours.keys) - both, len(theirs.keys) - both)


Number = TypeVar("Number")


def prefixed(prefix: str, combination: Mapping[str, Number]) -> dict[str, Number]:
    """Return a combination of one side's columns as one of the columns side by side."""
    return {prefix + column: number for column, number in combination.items()}
