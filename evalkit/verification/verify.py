"""``verify``: recompute a report from its inputs and compare it with what it claims, field by field."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evalkit.contracts.contract import Contract, distinct
from evalkit.contracts.policy import Policy
from evalkit.errors import Refusal, Violation
from evalkit.exact import rounded
from evalkit.report import canonical, document
from evalkit.results.files import write_file
from evalkit.results.report_file import Stored
from evalkit.sources.source import Input, label, listed
from evalkit.verification.claim import Claim
from evalkit.verification.differ import differ
from evalkit.verification.evidence import Document, Named, Opened
from evalkit.verification.findings import Difference
from evalkit.verification.options import TOLERANCE, Options
from evalkit.verification.task import Task, prepare

if TYPE_CHECKING:
    from evalkit.reading.read import Progress

File = str | os.PathLike[str]
SCHEMA = "evalkit-verification-v1"


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a report says what its inputs give.

    Attributes:
        schema: ``evalkit-verification-v1``.
        verified: Whether there is no difference.
        report: The bytes of the report.
        report_schema: The schema that it says it is.
        tolerance: How far measured numbers were allowed to be off.
        checks: Comparisons made: of a scalar, of the keys of an object, of the length of an array.
        differing: How many differences there are.
        differences: The first 10,000 of them, in the order of the report.
        warnings: What the caller should know of the inputs though nothing was refused.
    """

    schema: str
    verified: bool
    report: Stored
    report_schema: str
    tolerance: float
    checks: int
    differing: int
    differences: tuple[Difference, ...]
    warnings: tuple[str, ...] = field(default=(), metadata={"report": False})

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain data, keys as in the JSON."""
        plain: dict[str, Any] = document(self)
        return plain

    def to_json(self) -> str:
        """Return the outcome as JSON; the same report and inputs give the same text."""
        return canonical(self).decode("utf-8")

    def write_json(self, path: str | Path) -> None:
        """Write the JSON, whole or not at all."""
        write_file(path, canonical(self))


def verify(
    report: File | object,
    predictions: Input | Iterable[Input] | Document,
    gold: Input | Iterable[Input] | None = None,
    *,
    tol: str | float | Decimal | Fraction = TOLERANCE,
    min_coverage: str | float | Decimal | Fraction | None = None,
    bins: int | None = None,
    contract: Contract | None = None,
    by: str | Sequence[str] = (),
    policy: Policy | None = None,
    sum_tolerance: str | float | Decimal | Fraction | None = None,
    synthetic: bool = False,
    run: Mapping[str, Any] | None = None,
    max_gold: int | None = None,
    ocr: File | None = None,
    commands: File | None = None,
    retrieval: File | None = None,
    proposals: File | None = None,
    claims: File | None = None,
    merges: File | None = None,
    queue: File | None = None,
    qrels: File | None = None,
    runs: Mapping[str, File] | None = None,
    source: str | None = None,
    max_grade: int | None = None,
    drop_queries_without_relevant: bool = False,
    interval: str | float | Decimal | Fraction | None = None,
    min_contributors: int | None = None,
    gate_on: str | None = None,
    min_support: int | None = None,
    no_excluded_class: bool = False,
) -> Verification:
    r"""Recompute a report from its inputs and compare field by field.

    The report is a claim, the inputs are the evidence. Which schema it is, and where it has statistics how these were
    made, is all that is taken from it; everything else is what the caller states, and must be stated as it was when the
    report was made.

    Args:
        report: A file, ``-`` for standard input, or the report itself.
        predictions: The predictions, named as for the function that made the report; for a report of ``measure`` the
            observation document, a path or plain data.
        gold: The gold, for a report that was made with one.
        tol: How far a measured number may be off, a decimal of at least 0. Whole numbers, and what the caller states,
            such as limits, must be equal.
        min_coverage: As for ``compare``.
        bins: As for ``evaluate``; None is its default.
        contract: As for ``compare``; None is its default.
        by: As for ``compare``.
        policy: As for ``compare``.
        sum_tolerance: As for ``evaluate``; None is its default.
        synthetic: Whether the records are invented.
        run: The record of the run that the report must hold.
        max_gold: As for ``evaluate``; None is its default.
        ocr: As for ``measure``, and so all that follow; None is its default.
        commands: As for ``measure``.
        retrieval: As for ``measure``.
        proposals: As for ``measure``.
        claims: As for ``measure``.
        merges: As for ``measure``.
        queue: As for ``measure``.
        qrels: As for ``measure``.
        runs: As for ``measure``.
        source: As for ``measure``.
        max_grade: As for ``measure``.
        drop_queries_without_relevant: As for ``measure``.
        interval: As for ``compare``, where gates asked for bounds; how other statistics were made the report says.
        min_contributors: Likewise.
        gate_on: As for ``compare``: what decides must be stated.
        min_support: As for ``compare``.
        no_excluded_class: As for ``compare``.

    Returns:
        The number of checks, and every difference with its path.

    Raises:
        Refusal: The report cannot be read, is no strict JSON or of no schema that can be verified; an option is
            missing, does not apply or is not usable; or the inputs are refused.
        OSError: The machine failed, not the input.

    >>> import evalkit, pathlib, tempfile
    >>> line = '{"model":"m","subjectKey":"%s","split":"%s","truth":{"bristolType":4},"prediction":%s}\n'
    >>> offered = '{"bristolType":4,"confidence":0.97}'
    >>> dump = pathlib.Path(tempfile.mkdtemp(), "dump.jsonl")
    >>> _ = dump.write_text(line % ("cd" + "0" * 14, "validation", offered) + line % ("e6" + "0" * 14, "test", offered))
    >>> claim = evalkit.compare(dump, min_coverage="0.5").to_dict()
    >>> verify(claim, dump, min_coverage="0.5").verified
    True
    >>> claim["candidates"][0]["ece"] = 0.01
    >>> verify(claim, dump, min_coverage="0.5").differences
    (Difference(path='report.candidates[0].ece', claimed='0.01', recomputed='0.03'),)
    """
    lists = {"ocr": ocr, "commands": commands, "retrieval": retrieval, "proposals": proposals, "claims": claims}
    lists |= {"merges": merges, "queue": queue, "qrels": qrels}
    options = Options(
        min_coverage=min_coverage,
        bins=bins,
        contract=contract,
        by=distinct(by),
        policy=policy,
        sum_tolerance=sum_tolerance,
        synthetic=synthetic,
        run=run,
        max_gold=max_gold,
        files={name: os.fspath(path) for name, path in lists.items() if path is not None},
        runs={system: os.fspath(path) for system, path in runs.items()} if runs else None,
        source=source,
        max_grade=max_grade,
        drop_queries_without_relevant=drop_queries_without_relevant,
        interval=interval,
        min_contributors=min_contributors,
        gate_on=gate_on,
        min_support=min_support,
        no_excluded_class=no_excluded_class,
    )
    task = prepare(report, _named(predictions, gold), options, tol)
    with task.plan.open() as opened:
        return carry_out(task, opened)


def _named(inputs: Input | Iterable[Input] | Document, gold: Input | Iterable[Input] | None) -> Named:
    """Return what a caller of Python names: each side one input or several; a mapping is one document."""
    several = (inputs,) if isinstance(inputs, Mapping) else tuple(listed(inputs))
    return Named(several, () if gold is None else tuple(listed(gold)))


def carry_out(task: Task, opened: Opened, progress: Progress | None = None) -> Verification:
    """Recompute and compare.

    Args:
        task: The verification.
        opened: Its evidence.
        progress: Told how far reading has come.
    """
    try:
        recomputed = opened.recompute(progress)
    except Refusal as refusal:
        if task.schema.bridge is not None:
            raise _not_verifiable(task.claim, refusal) from None
        raise
    warnings = tuple(getattr(recomputed, "warnings", ()))
    if task.schema.bridge is not None:
        recomputed = task.schema.bridge(recomputed)
    found = differ(task.claim.plain, recomputed, task.schema.rules(task.tolerance))
    return Verification(
        schema=SCHEMA,
        verified=not found.count,
        report=task.claim.stored,
        report_schema=task.claim.schema,
        tolerance=rounded(task.tolerance),
        checks=found.checks,
        differing=found.count,
        differences=tuple(found.kept),
        warnings=warnings,
    )


def _not_verifiable(claim: Claim, refusal: Refusal) -> Refusal:
    """Say of a report by another program that it is not verified where its inputs are refused here."""
    message = (
        f"is a report of {claim.schema} over inputs that are refused here; it cannot be verified, be it right or wrong"
    )
    name = claim.stored.name
    first = Violation("not-verifiable", message, None if name is None else label(name))
    counts = {first.rule: 1, **refusal.counts}
    return Refusal((first, *refusal.violations), counts, refusal.lines + 1)
