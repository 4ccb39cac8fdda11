"""Readiness: whether an evaluation of labelled observations meets every condition, or what stands in the way.

Three answers: refused, for the evaluation cannot be judged; not ready, for some condition fails; ready. The limits are
the program's own, none is taken from the file. What people counted and declared is believed here, and so has to be
audited: ready is a statement about numbers, and no permission.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, runtime_checkable

from evalkit.errors import Refusal, Violation
from evalkit.release.conditions import Condition, Gate, judge
from evalkit.release.evaluation_json import parse_evaluation
from evalkit.release.evidence import examine
from evalkit.report import canonical, document
from evalkit.results.files import write_file
from evalkit.results.report_file import Stored, read_bytes, stored
from evalkit.sources.source import label
from evalkit.sources.urls import is_url

SCHEMA = "evalkit-readiness-v1"
REPORT = "report.json"

DECLARATIONS = (
    "Human counts, reviews and flags are declarations; audit them against actual records.",
    "The digest ties the numbers to one input; it proves no label, and no source to be what it is called.",
    "Ready says that every condition is met; it releases nothing.",
)
"""What stands beside every answer."""

MAX_EVALUATION = 256 * 1024 * 1024
"""Longest evaluation in bytes: that of two hundred thousand strata."""

SHOWN_FAULTS = 1000
"""Most faults that a refusal spells out; others it counts."""


@dataclass(frozen=True, slots=True)
class Readiness:
    """Whether every condition is met.

    Attributes:
        schema: ``evalkit-readiness-v1``.
        ready: Whether every condition is met.
        conditions: Every condition that fails, in a fixed order.
        gates: Every limit, with what was found.
        run_id: The run.
        model_revision: The revision of the model.
        dataset_id: The data set.
        split: The held-out split.
        evidence_sha256: The digest of what was measured, as the evaluation says it.
        evaluation: The bytes of the evaluation; None where it was given as plain data.
        declarations: What has to be audited by people.
    """

    SNAKE_CASE: ClassVar[bool] = True

    schema: str
    ready: bool
    conditions: tuple[Condition, ...]
    gates: tuple[Gate, ...]
    run_id: str
    model_revision: str
    dataset_id: str
    split: str
    evidence_sha256: str
    evaluation: Stored | None
    declarations: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain data, keys as in the JSON."""
        plain: dict[str, Any] = document(self)
        return plain

    def to_json(self) -> str:
        """Return the answer as JSON; the same evaluation gives the same text."""
        return canonical(self).decode("utf-8")

    def write_json(self, path: str | Path) -> None:
        """Write the JSON, whole or not at all."""
        write_file(path, canonical(self))


@runtime_checkable
class Measured(Protocol):
    """What ``measure`` returns, of which nothing is asked but its plain data."""

    def to_dict(self) -> dict[str, Any]:
        """Return the evaluation as plain data."""


def readiness(evaluation: str | os.PathLike[str] | Mapping[str, Any] | Measured) -> Readiness:
    """Hold an evaluation against every condition of readiness.

    Args:
        evaluation: The file that ``measure`` wrote, or its results folder, or any other document of metrics; ``-``
            for standard input; or such a document as plain data, or what ``measure`` returned.

    Raises:
        Refusal: It cannot be judged; every fault is named.

    >>> readiness({"synthetic": True})
    Traceback (most recent call last):
    evalkit.errors.Refusal: run_id: must be a text of more than white space, and is missing [missing-id]
    ...
    """
    if isinstance(evaluation, Measured):
        evaluation = evaluation.to_dict()
    if isinstance(evaluation, Mapping):
        return _answer(evaluation, [], None, None)
    name = evaluation_file(os.fspath(evaluation))
    raw = read_bytes(name, MAX_EVALUATION)
    if raw is None:
        raise Refusal.of(Violation("path-missing", "there is no such file", label(name)))
    plain, faults = _parsed(raw, name)
    return _answer(plain, faults, name, stored(name, raw))


def evaluation_file(path: str) -> str:
    """Return the file of an evaluation, which may be named by its results folder."""
    if is_url(path):
        return f"{path}{REPORT}" if path.endswith("/") else path
    return os.path.join(path, REPORT) if os.path.isdir(path) else path


def _answer(
    evaluation: Mapping[str, Any], faults: Sequence[Violation], name: str | None, bytes_: Stored | None
) -> Readiness:
    metrics, found = examine(evaluation)
    if faults or found:
        raise _refused([*faults, *found], name)
    gates, conditions = judge(metrics)
    header = {key: evaluation[key] for key in ("run_id", "model_revision", "dataset_id", "split", "evidence_sha256")}
    return Readiness(
        schema=SCHEMA,
        ready=not conditions,
        conditions=conditions,
        gates=gates,
        **header,
        evaluation=bytes_,
        declarations=DECLARATIONS,
    )


def _parsed(raw: bytes, name: str) -> tuple[Mapping[str, Any], Sequence[Violation]]:
    if len(raw) > MAX_EVALUATION:
        message = f"must be at most {MAX_EVALUATION // (1024 * 1024)} MiB long"
        raise _refused([Violation("report-too-long", message)], name)
    try:
        return parse_evaluation(raw, MAX_EVALUATION)
    except Refusal as refusal:
        raise _refused(refusal.violations, name) from None


def _refused(faults: Sequence[Violation], name: str | None) -> Refusal:
    file = None if name is None else label(name)
    shown = [replace(fault, file=file) for fault in faults[:SHOWN_FAULTS]]
    return Refusal(shown, Counter(fault.rule for fault in faults), len(faults))
