"""Class-wise calibration: the error of the probability given to each class, and the plain mean over classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from evalkit.calibration import binned
from evalkit.calibration.levels import NO_RECORDS
from evalkit.exact import mean, rounded

NO_CLASSES = "no-classes"
CLASS_UNMEASURED = "a-class-is-unmeasured"
"""Why there is no mean: some class has no value, and a mean of the others would be of other classes."""


@dataclass(frozen=True, slots=True)
class ClassRow:
    """The error of the probability given to one class.

    Attributes:
        label: The class.
        records: How many records it is over.
        plug_in: Expected calibration error over bins of equal width.
        debiased: Squared calibration error without the part that noise adds; may be negative.
        bins_of_one: Bins of one record, which ``debiased`` leaves out.
        reason: Why ``debiased``, or both, are None.
    """

    label: str
    records: int
    plug_in: float | None
    debiased: float | None
    bins_of_one: int
    reason: str | None


@dataclass(frozen=True, slots=True)
class ClassWise:
    """The errors of all classes and their plain means.

    Attributes:
        plug_in: The mean of ``plug_in``: class-wise ECE.
        debiased: The mean of ``debiased``.
        reason: Why ``debiased``, or both, are None.
        classes: Class by class, in the order given.
    """

    plug_in: float | None
    debiased: float | None
    reason: str | None
    classes: tuple[ClassRow, ...]


def class_wise(levels_by_class: Mapping[str, pl.DataFrame], bins: int) -> ClassWise:
    """Measure each class's probability against how often it is the truth, over all records, and take plain means.

    Of each class ``confidence`` is the probability that a record gives to it, whether or not it is the answer, and
    ``correct`` how often it is the truth. With equal-width bins and plain means ``plug_in`` is the class-wise ECE of
    Kull et al. 2019 (arXiv 1910.12656), which is the static calibration error (SCE) of Nixon et al. 2019 (arXiv
    1904.01685). From 0 to 1; ``debiased`` (``binned.debiased_squared_error``) from -1/4 to 1.

    What it is not: the adaptive error of Nixon et al., which has bins of equal mass; the error of the answer, which
    ``panel`` measures; nor comparable between numbers of classes: most probabilities of many classes are near 0 and
    hardly err, so the mean falls with their number.

    A class without records has no value, and then the mean has none.

    >>> cat = pl.DataFrame({"confidence": [0.75], "n": [4], "correct": [2]})
    >>> dog = pl.DataFrame({"confidence": [0.25], "n": [4], "correct": [2]})
    >>> class_wise({"cat": cat, "dog": dog}, 10).plug_in
    0.25
    """
    found = {label: binned.equal_width(levels, bins) for label, levels in levels_by_class.items()}
    errors = {label: (binned.plug_in_error(one), binned.debiased_squared_error(one)) for label, one in found.items()}
    plain, debiased = (
        None if None in values else mean([value for value in values if value is not None])
        for values in ([pair[at] for pair in errors.values()] for at in (0, 1))
    )
    rows = (
        ClassRow(
            label,
            sum(each.n for each in one),
            rounded(errors[label][0]),
            rounded(errors[label][1]),
            binned.records_alone(one),
            None if errors[label][1] is not None else binned.BINS_OF_ONE if one else NO_RECORDS,
        )
        for label, one in found.items()
    )
    reason = None if debiased is not None else CLASS_UNMEASURED if found else NO_CLASSES
    return ClassWise(rounded(plain), rounded(debiased), reason, tuple(rows))
