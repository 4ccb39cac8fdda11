"""What a caller states to have a report verified: the same as to have it made, and nothing of it from the report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from decimal import Decimal
from fractions import Fraction
from typing import Any

from evalkit.contracts.contract import Contract
from evalkit.contracts.policy import Policy
from evalkit.errors import Refusal, Violation

TOLERANCE = "1e-12"
"""How far a measured number may be off where the caller states nothing."""


@dataclass(frozen=True, slots=True)
class Options:
    """What the report is to be recomputed with, None or nothing where it is not stated; see ``evalkit.verify``.

    ``files`` are those beside an observation document, by the names of their options; ``runs`` those of TREC systems.
    """

    min_coverage: str | float | Decimal | Fraction | None = None
    bins: int | None = None
    contract: Contract | None = None
    by: tuple[str, ...] = ()
    policy: Policy | None = None
    sum_tolerance: str | float | Decimal | Fraction | None = None
    synthetic: bool = False
    run: Mapping[str, Any] | None = None
    max_gold: int | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    runs: Mapping[str, str] | None = None
    source: str | None = None
    max_grade: int | None = None
    drop_queries_without_relevant: bool = False
    interval: str | float | Decimal | Fraction | None = None
    min_contributors: int | None = None
    gate_on: str | None = None
    min_support: int | None = None
    no_excluded_class: bool = False

    @property
    def stated(self) -> frozenset[str]:
        """The names of those that are stated."""
        values = ((one.name, getattr(self, one.name)) for one in fields(self) if one.name != "files")
        names = (name for name, value in values if value is not None and value is not False and value != ())
        return frozenset((*names, *self.files))


def check_options(
    options: Options, *, gold: bool, schema: str, allowed: frozenset[str], needed: frozenset[str]
) -> None:
    """Refuse options that a schema does not have, and the lack of those that it needs.

    Args:
        options: The options.
        gold: Whether gold is named.
        schema: The schema.
        allowed: The options that it has, ``gold`` among them where it has gold.
        needed: Those that it cannot do without.

    Raises:
        Refusal: Each option that is too many or missing, by name.
    """
    stated = options.stated | ({"gold"} if gold else frozenset())
    faults = [*_missing(needed - stated, schema), *_foreign(stated - allowed, schema, allowed)]
    if faults:
        raise Refusal.of(*faults)


def _missing(names: frozenset[str], schema: str) -> Iterator[Violation]:
    for name in sorted(names):
        message = f"is needed to verify a report of {schema}; state it as it was stated when the report was made"
        yield Violation("verify-option", message, field=_spelled(name))


def _foreign(names: frozenset[str], schema: str, allowed: frozenset[str]) -> Iterator[Violation]:
    for name in sorted(names):
        known = ", ".join(sorted(map(_spelled, allowed)))
        yield Violation("verify-option", f"is no option of a report of {schema}; it has {known}", field=_spelled(name))


_SPELLED = {"run": "run-record", "runs": "run"}


def _spelled(name: str) -> str:
    """Return a parameter's name as the command line has it."""
    return _SPELLED.get(name, name.replace("_", "-"))
