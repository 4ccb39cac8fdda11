"""Candidates against a baseline, as a run of ``compare`` asks for them; NumPy and SciPy are loaded only then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import polars as pl

from evalkit.contracts.contract import Contract
from evalkit.families.selective import metrics
from evalkit.families.selective.candidate import Candidate
from evalkit.families.selective.comparison import Comparison
from evalkit.families.selective.pairs import PairBy
from evalkit.families.selective.wanted import Wanted
from evalkit.formats.grammar import scalar

__all__ = ["Comparison", "Records", "versus"]


class Records(Protocol):
    """What a comparison is made of: outcomes of the test split, and the threshold of each model that has one."""

    @property
    def test(self) -> pl.LazyFrame:
        """Outcomes with ``usable`` and ``contributor`` among their columns."""

    @property
    def thresholds(self) -> Mapping[str, float]:
        """The thresholds by model."""


def versus(
    records: Records,
    candidates: Sequence[Candidate],
    contract: Contract,
    wanted: Wanted,
    recommended: str | None,
) -> Comparison | None:
    """Hold every candidate against the baseline that is wanted.

    Args:
        records: The records, and where they were cut.
        candidates: The candidates as they were judged.
        contract: The labels and bins; its scalars hold the id where records are paired.
        wanted: The baseline, the id, the margin; level and resamples.
        recommended: The recommended candidate, or None.

    Returns:
        The comparison; None where no baseline is wanted.

    Raises:
        Refusal: See ``held_against``.
    """
    from evalkit.families.selective.against import held_against
    from evalkit.families.selective.sides import sides_of

    if wanted.baseline is None:
        return None
    exact = {
        one.model: {metric.name: one.exact(metric.name) for metric in metrics.SPLIT_METRICS}
        for one in candidates
        if one.model in records.thresholds
    }
    pair_by = None
    if wanted.pair_by is not None:
        pair_by = PairBy(wanted.pair_by, scalar(contract.scalars.index(wanted.pair_by)))
    test = records.test.collect(engine="streaming")
    return held_against(
        test,
        records.thresholds,
        sides_of(test, records.thresholds, contract.label_texts, contract.bins, wanted.asked, exact),
        wanted.baseline,
        wanted.asked,
        models=[one.model for one in candidates],
        pair_by=pair_by,
        margin=wanted.margin,
        recommended=recommended,
    )
