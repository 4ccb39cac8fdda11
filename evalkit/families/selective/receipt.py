"""``receipt``: from a report to one release decision, blocked with every reason named or allowed for want of any."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evalkit.contracts.contract import ARROW, BRISTOL, MAX_LABELS, Contract
from evalkit.contracts.policy import Policy, Terms
from evalkit.errors import Violation
from evalkit.families.selective import metrics
from evalkit.families.selective.recheck import failing_gates
from evalkit.records.strict_json import show
from evalkit.report import canonical, document
from evalkit.results.files import write_file
from evalkit.results.report_file import Stored, parse_report, read_bytes, refused, stored
from evalkit.sources.source import label

if TYPE_CHECKING:
    from evalkit.families.selective.result import Report

SCHEMA = "evalkit-receipt-v1"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a release is blocked: a stable code, and what was found and is needed."""

    code: str
    text: str


@dataclass(frozen=True, slots=True)
class Receipt:
    """One release decision and what it was made from.

    Attributes:
        schema: ``evalkit-receipt-v1``.
        decision: ``allowed`` or ``blocked``.
        reasons: Every reason to block, in a fixed order; none where the release is allowed.
        report: The bytes of the report; None where there is none.
        model: The candidate that the report recommends, or None.
        threshold: Its threshold, or None.
        limits: The limits that it was held against: the caller's.
        policy: The policy in force, or None.
    """

    schema: str
    decision: Literal["allowed", "blocked"]
    reasons: tuple[Reason, ...]
    report: Stored | None
    model: str | None
    threshold: float | None
    limits: Mapping[str, float]
    policy: Terms | None

    @property
    def allowed(self) -> bool:
        """Whether the release is allowed."""
        return self.decision == "allowed"

    def to_dict(self) -> dict[str, Any]:
        """Return the receipt as plain data, keys as in the JSON."""
        plain: dict[str, Any] = document(self)
        return plain

    def to_json(self) -> str:
        """Return the receipt as JSON; the same report, policy and limits give the same text."""
        return canonical(self).decode("utf-8")

    def write_json(self, path: str | Path) -> None:
        """Write the JSON, whole or not at all."""
        write_file(path, canonical(self))


def receipt(
    report: str | os.PathLike[str] | Report | None, policy: Policy | None = None, contract: Contract = BRISTOL
) -> Receipt:
    r"""Decide whether the candidate that a report recommends may be released.

    Nothing that the report says of itself is taken for granted: its numbers are held against the contract's limits
    again. A report that is not there blocks.

    Args:
        report: The file that ``compare`` wrote, ``-`` for standard input, the report itself, or None for none.
        policy: The policy in force, or None.
        contract: Whose limits apply.

    Raises:
        Refusal: The file is there but cannot be read, is no strict JSON, or is no whole report of ``compare``.

    >>> print(*receipt(None).reasons, sep="\n")
    Reason(code='missing-report', text='no report is named; name the report that evalkit compare --json writes')
    """
    raw, name = _bytes(report)
    found = None if raw is None else _whole(raw, name)
    candidate = None if found is None else _recommended(found)
    reasons = [_missing(name)] if found is None else list(_reasons(found, candidate, policy, contract))
    return Receipt(
        schema=SCHEMA,
        decision="blocked" if reasons else "allowed",
        reasons=tuple(reasons),
        report=None if raw is None else stored(name, raw),
        model=None if found is None else found["recommended"],
        threshold=None if candidate is None else candidate["threshold"],
        limits={name: float(limit) for name, limit in contract.limits.items()},
        policy=None if policy is None else policy.terms,
    )


def _bytes(report: str | os.PathLike[str] | Report | None) -> tuple[bytes | None, str | None]:
    """Return a report's bytes, None where there are none, and the file's name, None where no file was named."""
    if report is None:
        return None, None
    if not isinstance(report, str | os.PathLike):
        return canonical(report), None
    name = os.fspath(report)
    return read_bytes(name), name


def _whole(raw: bytes, name: str | None) -> dict[str, Any]:
    """Parse a report, or refuse one that no ``compare`` can have written."""
    from evalkit.families.selective import result  # here, for it brings the dataframe library with it

    report = parse_report(raw, result.SCHEMA, result.Report, name)
    if faults := list(_contradictions(report)):
        raise refused(faults, name)
    return report


def _missing(name: str | None) -> Reason:
    found = "no report is named" if name is None else f"there is no file {label(name)}"
    return Reason("missing-report", f"{found}; name the report that evalkit compare --json writes")


def _recommended(report: Mapping[str, Any]) -> dict[str, Any] | None:
    named = (one for one in report["candidates"] if one["model"] == report["recommended"])
    return next(named, None)


def _contradictions(report: Mapping[str, Any]) -> Iterator[Violation]:
    """Find what no report can say though each of its values is of the right type."""
    seen: set[str] = set()
    gates = [one.name for one in metrics.GATED]
    for place, one in enumerate(report["candidates"]):
        here = f"candidates[{place}]"
        if one["model"] in seen:
            twice = "no candidate may stand twice"
            yield Violation("not-whole", twice, field=f"{here}.model", value=show(one["model"]))
        seen.add(one["model"])
        for name in (name for name in gates if name not in one["gates"]):
            yield Violation("not-whole", "is missing", field=f"{here}.gates.{name}")
        for name in (name for name in one["gates"] if name not in gates):
            yield Violation("not-whole", "there is no such gate", field=f"{here}.gates", value=show(name))
        for cell, count in (one["confusion"] or {}).items():
            if cell.count(ARROW) != 1 or count < 1:
                message = f"must be truth{ARROW}predicted and how often it occurred, at least once"
                yield Violation("not-whole", message, field=f"{here}.confusion", value=f"{show(cell)}: {count}")
        if len({label for cell in one["confusion"] or () for label in cell.split(ARROW)}) > MAX_LABELS:
            yield Violation("not-whole", f"must name at most {MAX_LABELS:,} labels", field=f"{here}.confusion")


def _reasons(
    report: Mapping[str, Any], candidate: Mapping[str, Any] | None, policy: Policy | None, contract: Contract
) -> Iterator[Reason]:
    if report["verdict"] != "GO":
        yield Reason("verdict-blocked", f"the verdict is {show(report['verdict'])}; it must be GO")
    if report["recommended"] is None:
        yield Reason("no-recommendation", "the report recommends nobody; it must recommend one of its candidates")
    elif candidate is None:
        found = f"the recommended candidate {show(report['recommended'])} is not in the report"
        yield Reason("unknown-recommendation", f"{found}; it must be one of its candidates")
    failing = {} if candidate is None else failing_gates(candidate, contract.limits)
    for name, text in failing.items():
        yield Reason(f"gate-{name}", text)
    if differing := list(_differing_limits(report, candidate, contract)):
        yield Reason("limits-differ", f"the limits must be those asked for now; {', '.join(differing)}")
    if report["synthetic"]:
        yield Reason("synthetic", "the records are invented; they must be those of a real model")
    if candidate is not None:
        yield from _threshold_reasons(candidate, policy)


def _differing_limits(
    report: Mapping[str, Any], candidate: Mapping[str, Any] | None, contract: Contract
) -> Iterator[str]:
    held = [("limits.{}", report["limits"])]
    if candidate is not None:
        held.append(("gates.{}.limit", {name: gate["limit"] for name, gate in candidate["gates"].items()}))
    for place, limits in held:
        for name in {**contract.limits, **limits}:
            found, asked = limits.get(name), contract.limits.get(name)
            if asked is None:
                yield f"{show(name)} is no limit asked for"
            elif found is None:
                yield f"{place.format(name)} is missing and must be {asked}"
            elif found != float(asked):
                yield f"{place.format(name)} is {found!r} and must be {asked}"


def _threshold_reasons(candidate: Mapping[str, Any], policy: Policy | None) -> Iterator[Reason]:
    threshold = candidate["threshold"]
    if threshold is None:
        yield Reason("threshold-missing", "the candidate has no threshold; it must have one from 0 to 1")
    elif not 0 <= threshold <= 1:
        yield Reason("threshold-missing", f"{threshold!r} is no threshold; it must be from 0 to 1")
    if (split := candidate["thresholdSplit"]) != "validation":
        text = f"the threshold was chosen on {show(split)}; it must be chosen on validation"
        yield Reason("threshold-not-from-validation", text)
    if (split := candidate["scoredSplit"]) != "test":
        yield Reason("not-scored-on-test", f"the candidate was scored on {show(split)}; it must be scored on test")
    if policy is not None and threshold is not None and threshold < float(policy.confidence_floor):
        needed = f"the policy's floor, {policy.confidence_floor}"
        text = f"the threshold is {threshold!r}; it must be at or above {needed}"
        yield Reason("threshold-below-policy-floor", text)
