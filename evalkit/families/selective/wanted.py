"""Which statistics are wanted beside the frozen numbers: read from what a caller says, checked before work starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypedDict

from evalkit.errors import Refusal, Violation
from evalkit.exact import unit_fraction
from evalkit.uncertainty.asked import MIN_CONTRIBUTORS, REPLICATES, Asked, whole_number
from evalkit.uncertainty.needs import assert_installed

if TYPE_CHECKING:
    from evalkit.risk_coverage.claim import Claim

Number = str | float | Decimal | Fraction
GateOn = Literal["point", "bound"]


class Options(TypedDict, total=False):
    """What may be asked besides; each may be left out.

    Attributes:
        interval: The confidence of intervals and bounds, such as ``"0.95"``.
        replicates: Resamples of the contributors, 1000 where not said.
        seed: Their seed, 0 where not said.
        min_contributors: Fewest contributors that an interval is given for, 30 where not said.
        gate_on: ``point``, the contract's gates; ``bound``: a gate passes where the one-sided bound does.
        min_support: Fewest accepted test records of each label in truth.
        no_excluded_class: No label may have all its records abstained.
        calibration: Judge calibration honestly: its null distribution, debiased, isotonic, smooth.
        curves: Measure the risk–coverage curve: its areas and the coverage at given risks.
        certify: Thresholds with a guarantee, such as ``"precision>=0.9@0.95"``.
        baseline: The model that the others are compared with, record by record or contributor by contributor.
        pair_by: The field whose value pairs the records of two models.
        margin: How much worse than the baseline a candidate may be, 0 to 1.
    """

    interval: Number | None
    replicates: int
    seed: int
    min_contributors: int
    gate_on: GateOn
    min_support: int
    no_excluded_class: bool
    calibration: bool
    curves: bool
    certify: str | Sequence[str]
    baseline: str | None
    pair_by: str | None
    margin: Number | None


@dataclass(frozen=True)
class Wanted:
    """The statistics wanted.

    Attributes:
        asked: Level, resamples, seed and the least number of contributors.
        intervals: Whether intervals are wanted.
        gate_on: Whether gates ask for the point or for the bound.
        min_support: Fewest accepted test records of each label in truth; 0 asks for none.
        no_excluded_class: Whether a label may have all its records abstained.
        calibration: Whether the calibration panel is wanted.
        curves: Whether the risk–coverage suite is wanted.
        claims: What thresholds are to be certified for.
        baseline: The model to compare with, or None.
        pair_by: The field that pairs records, or None.
        margin: How much worse a candidate may be, or None.
    """

    asked: Asked
    intervals: bool
    gate_on: GateOn
    min_support: int
    no_excluded_class: bool
    calibration: bool
    curves: bool
    claims: tuple[Claim, ...]
    baseline: str | None
    pair_by: str | None
    margin: Fraction | None

    @property
    def asks(self) -> bool:
        """Whether anything is to be measured, and it is not only told how."""
        measured = self.intervals or self.calibration or self.curves
        return measured or self.stricter or bool(self.claims) or self.baseline is not None

    @property
    def stricter(self) -> bool:
        """Whether the verdict asks for more than the contract's point gates."""
        return self.gate_on == "bound" or self.min_support > 0 or self.no_excluded_class


def wanted(options: Options) -> Wanted | None:
    """Read what a caller says of statistics; None where nothing is wanted.

    Raises:
        Refusal: An option makes no sense, or what statistics need is not installed.
    """
    found = _read(options)
    if found == _read({}):
        return None
    if found.baseline is None:
        for name, value in (("pair-by", found.pair_by), ("margin", found.margin)):
            if value is not None:
                message = "is about a comparison, and no baseline is named"
                raise Refusal.of(Violation("statistics", message, field=name))
    if not found.asks:
        message = (
            "nothing is asked that this could tune: add interval, gate-on, calibration, curves, certify or baseline"
        )
        given = sorted(name for name, value in options.items() if _read({name: value}) != _read({}))  # type: ignore[misc]
        raise Refusal.of(Violation("statistics", message, field=given[0].replace("_", "-")))
    assert_installed()
    return found


def _read(options: Options) -> Wanted:
    gate_on = options.get("gate_on", "point")
    if gate_on not in ("point", "bound"):
        raise Refusal.of(Violation("statistics", "must be point or bound", field="gate-on", value=f'"{gate_on}"'))
    level, margin = options.get("interval"), options.get("margin")
    support = options.get("min_support", 0)
    whole_number(support, "min-support", 0, 10**9)
    baseline, pair_by = options.get("baseline"), options.get("pair_by")
    return Wanted(
        asked=Asked.of(
            level,
            options.get("replicates", REPLICATES),
            options.get("seed", 0),
            options.get("min_contributors", MIN_CONTRIBUTORS),
        ),
        intervals=level is not None or gate_on == "bound",
        gate_on=gate_on,
        min_support=support,
        no_excluded_class=options.get("no_excluded_class", False),
        calibration=options.get("calibration", False),
        curves=options.get("curves", False),
        claims=_claims(options.get("certify", ())),
        baseline=baseline,
        pair_by=pair_by,
        margin=None if margin is None else unit_fraction(margin, "margin"),
    )


def _claims(texts: str | Sequence[str]) -> tuple[Claim, ...]:
    told = [texts] if isinstance(texts, str) else list(texts)
    from evalkit.risk_coverage.claim import read_claim

    return tuple(map(read_claim, told))
