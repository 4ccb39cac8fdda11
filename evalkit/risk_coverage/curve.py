"""The exact risk–coverage curve: one point for each distinct confidence, so that no order of records can show.

NumPy is imported here: this room needs the optional extra ``evalkit[stats]`` and is imported on demand only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

COLUMNS = ("confidence", "correct", "n")
"""The columns that outcomes must have; ``contributor`` may come with them."""


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """What each cut accepts, the highest cut first; cutting at a confidence accepts it and all above.

    Records of equal confidence enter together, as one point: no cut can part them. A curve that takes them one by one
    depends on the order of rows. Records that were never offered are in ``total`` at every cut, so coverage,
    accepted / total, ends at offered / total, below 1 where there are any.

    Attributes:
        cut: The distinct confidences, falling.
        accepted: Records at or above each cut, rising.
        errors: Wrong ones among them.
        total: All records, offered or not.
    """

    cut: NDArray[np.float64]
    accepted: NDArray[np.int64]
    errors: NDArray[np.int64]
    total: int

    @property
    def offered(self) -> int:
        """Records with a confidence: what the most lenient cut accepts."""
        return int(self.accepted[-1]) if self.accepted.size else 0

    @property
    def wrong(self) -> int:
        """Wrong records among those offered."""
        return int(self.errors[-1]) if self.errors.size else 0

    def frame(self) -> pl.DataFrame:
        """Return the points as a table: the counts, and coverage and risk, each rounded once.

        >>> one = pl.DataFrame({"confidence": [0.9, 0.8, None], "correct": [True, False, None], "n": [2, 1, 1]})
        >>> curve(one).frame().rows()
        [(0.9, 2, 0, 4, 0.5, 0.0), (0.8, 3, 1, 4, 0.75, 0.3333333333333333)]
        """
        counts = pl.DataFrame({"cut": self.cut, "accepted": self.accepted, "errors": self.errors})
        return counts.with_columns(
            pl.lit(self.total, pl.Int64).alias("total"),
            (pl.col("accepted") / self.total).alias("coverage"),
            (pl.col("errors") / pl.col("accepted")).alias("risk"),
        )


def curve(outcomes: pl.DataFrame) -> Curve:
    """Build the risk–coverage curve of one model on one split.

    Risk at a cut is errors / accepted, the error rate among what is accepted (El-Yaniv & Wiener 2010; Geifman &
    El-Yaniv 2017). It is not the generalised risk, errors / total, and says nothing of what was not accepted.

    Args:
        outcomes: ``confidence`` (Float64 from 0 to 1; null where nothing was offered or may be accepted), ``correct``
            (Boolean, null with confidence) and ``n`` (Int64, how many equal records), in any order.

    Returns:
        The curve; without any point where nothing was offered.

    Raises:
        ValueError: A column is missing or of another type, a confidence is not from 0 to 1, a count is below 1, or
            one of confidence and correct is null without the other.
    """
    check(outcomes)
    total = int(outcomes["n"].sum())
    found = offered(outcomes)
    counts = found["n"]
    if counts.len() and counts.min() == counts.max():
        return _of_equal_counts(found, int(counts[0]), total)
    return _of_counts(found, total)


def offered(outcomes: pl.DataFrame) -> pl.DataFrame:
    """Return the records with a confidence; without a copy where all have one."""
    return outcomes.filter(pl.col("confidence").is_not_null()) if outcomes["confidence"].null_count() else outcomes


def check(outcomes: pl.DataFrame) -> None:
    """Make sure that outcomes are what they must be.

    Raises:
        ValueError: They are not.
    """
    wanted: dict[str, Any] = {"confidence": pl.Float64, "correct": pl.Boolean, "n": pl.Int64}
    if "contributor" in outcomes.columns:
        wanted["contributor"] = pl.UInt64
    for name, kind in wanted.items():
        if name not in outcomes.columns or outcomes[name].dtype != kind:
            raise ValueError(f"outcomes need a column {name} of {kind}")
    confidence, correct = outcomes["confidence"], outcomes["correct"]
    absent = confidence.null_count()
    if absent != correct.null_count() or (absent and not (confidence.is_null() == correct.is_null()).all()):
        raise ValueError("confidence and correct must be null together")
    for column in ("n", "contributor"):
        if column in outcomes.columns and outcomes[column].null_count():
            raise ValueError(f"{column} must not be null")
    if outcomes.height and outcomes.select(pl.col("n").min() < 1).item():
        raise ValueError("n must be at least 1")
    if not outcomes.select(pl.col("confidence").is_between(0, 1).all()).item():
        raise ValueError("a confidence must be a number from 0 to 1")


def _of_equal_counts(found: pl.DataFrame, each: int, total: int) -> Curve:
    """Sort confidence and error as one whole number: the bits of a float from 0 to 1 rise as it does.

    The largest, those of 1.0, are below 2^62, so one more bit fits beside them.
    """
    bits = found["confidence"].to_numpy().view(np.uint64) << np.uint64(1)  # the sign of −0 falls out
    bits |= ~found["correct"].to_numpy()
    keys = pl.Series(bits).sort(descending=True).to_numpy()
    del bits
    cut = (keys >> np.uint64(1)).view(np.float64)
    wrong = (keys & np.uint64(1)).view(np.int64)
    del keys
    np.cumsum(wrong, out=wrong)
    ends = cut[1:] != cut[:-1]
    if ends.all():  # no two are tied
        accepted = np.arange(1, cut.size + 1, dtype=np.int64)
    else:
        last = np.flatnonzero(np.append(ends, np.True_))
        cut, wrong, accepted = cut[last], wrong[last], last + 1
    if each != 1:
        accepted *= each
        wrong *= each
    return Curve(cut, accepted, wrong, total)


def _of_counts(found: pl.DataFrame, total: int) -> Curve:
    points = (
        found.lazy()
        .group_by((pl.col("confidence") + 0.0).alias("cut"))
        .agg(pl.col("n").sum().alias("accepted"), pl.col("n").filter(~pl.col("correct")).sum().alias("errors"))
        .sort("cut", descending=True)
        .with_columns(pl.col("accepted", "errors").cum_sum())
        .collect()
    )
    return Curve(points["cut"].to_numpy(), points["accepted"].to_numpy(), points["errors"].to_numpy(), total)
