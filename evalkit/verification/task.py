"""A verification before it begins: all that is wrong with what the caller says is found out before an input is read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from evalkit.errors import Refusal, Violation
from evalkit.exact import tolerance
from evalkit.sources.source import STANDARD_INPUT
from evalkit.verification.claim import Claim, read_claim
from evalkit.verification.evidence import Named, Plan
from evalkit.verification.options import TOLERANCE, Options, check_options
from evalkit.verification.schemas import SCHEMAS, Schema
from evalkit.verification.statistics import claimed


@dataclass(frozen=True, slots=True)
class Task:
    """A verification that can begin.

    Attributes:
        claim: The claim, read.
        schema: Its schema.
        plan: How the report is made anew.
        tolerance: How far a measured number may be off.
    """

    claim: Claim
    schema: Schema
    plan: Plan
    tolerance: Fraction


def prepare(
    report: str | os.PathLike[str] | object,
    named: Named,
    options: Options,
    tol: str | float | Decimal | Fraction = TOLERANCE,
) -> Task:
    """Read the claim, and make sure that the options are usable and fit it, and that the inputs are there.

    Raises:
        Refusal: See ``evalkit.verify``.
    """
    most_off = tolerance(tol, "tolerance")
    if _is_standard_input(report) and any(map(_is_standard_input, _all(named, options))):
        message = "is named as the report and as an input, and can be read only once; name a file"
        raise Refusal.of(Violation("standard-input-twice", message, STANDARD_INPUT))
    claim = read_claim(report, SCHEMAS)
    schema = SCHEMAS[claim.schema]
    check_options(options, gold=bool(named.gold), schema=claim.schema, allowed=schema.allowed, needed=schema.needed)
    statistics = claimed(claim.plain) if schema.bridge is None else None  # another program's are another's
    return Task(claim, schema, schema.plan(named, options, statistics), most_off)


def _all(named: Named, options: Options) -> Iterator[object]:
    yield from (*named.inputs, *named.gold, *options.files.values(), *(options.runs or {}).values())


def _is_standard_input(named: object) -> bool:
    return isinstance(named, str) and named == STANDARD_INPUT
