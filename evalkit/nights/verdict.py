"""What a night says of one evaluation, as it stands in the store: its gates, its settings, and what changed in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from evalkit.metric import Direction

SCHEMA = "evalkit-nightly-v1"

GO, BLOCKED, DONE = "GO", "BLOCKED", "DONE"
"""All gates passed; one failed; there was none."""

LIMIT, BASELINE = "limit", "baseline"


@dataclass(frozen=True, slots=True)
class Held:
    """A gate, and what it said.

    Attributes:
        gate: ``limit``, one that is stated; ``baseline``, one that an earlier night and a margin give.
        metric: The metric.
        model: The candidate, model or system; None where none is named.
        value: The value; None where nothing was measured.
        limit: The limit, inclusive; None where there is nothing to compare with.
        direction: Which side of the limit passes.
        passed: Whether it passed; None where there is nothing to compare with.
        reason: Why it failed without a value, or could not be compared.
        baseline: The night that it is compared with.
        baseline_value: The value of that night.
        margin: By how much it may be worse, as it was written.
    """

    SNAKE_CASE: ClassVar[bool] = True

    gate: str
    metric: str
    model: str | None
    value: float | None
    limit: float | None
    direction: Direction
    passed: bool | None
    reason: str | None = None
    baseline: str | None = None
    baseline_value: float | None = None
    margin: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A setting that differs from an earlier run.

    Attributes:
        setting: The setting.
        since: The night of the earlier run.
        before: What it was; None where it was not set.
        now: What it is; None where it is not set.
        kind: ``loosened``, ``tightened``, or ``changed`` where neither can be told.
    """

    SNAKE_CASE: ClassVar[bool] = True

    setting: str
    since: str
    before: str | None
    now: str | None
    kind: str


@dataclass(frozen=True, slots=True)
class InputFile:
    """An input.

    Attributes:
        side: The option that names it.
        name: The name, relative to the job.
        bytes: The stored bytes.
        sha256: Their SHA-256.
    """

    SNAKE_CASE: ClassVar[bool] = True

    side: str
    name: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a night says of one evaluation.

    Attributes:
        schema: ``evalkit-nightly-v1``.
        evaluation: Its name.
        kind: The command that it is a run of.
        date: The night.
        synthetic: Whether its records are invented.
        verdict: ``GO``, ``BLOCKED``, or ``DONE`` where it has no gate.
        recommended: The candidate that ``compare`` recommends.
        gates: Its gates: those of the recommended candidate; of all candidates where none is recommended.
        settings: All that was asked for, each setting as text.
        changes: What differs from the night before, and from the runs that this one replaced.
        replaced: The settings of the runs that this one replaced.
        inputs: What was read.
    """

    SNAKE_CASE: ClassVar[bool] = True

    schema: str
    evaluation: str
    kind: str
    date: str
    synthetic: bool
    verdict: str
    recommended: str | None
    gates: tuple[Held, ...]
    settings: Mapping[str, str]
    changes: tuple[Change, ...]
    replaced: tuple[Mapping[str, str], ...]
    inputs: tuple[InputFile, ...]

    @property
    def loosened(self) -> tuple[Change, ...]:
        """The changes that let more pass."""
        return tuple(one for one in self.changes if one.kind == "loosened")

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> Verdict:
        """Take a verdict from the plain data that it was written as."""
        lists = {
            "gates": tuple(Held(**one) for one in plain["gates"]),
            "changes": tuple(Change(**one) for one in plain["changes"]),
            "inputs": tuple(InputFile(**one) for one in plain["inputs"]),
            "replaced": tuple(plain["replaced"]),
        }
        return cls(**{**plain, **lists})


def verdict_of(gates: tuple[Held, ...], *, blocked: bool = False) -> str:
    """Put gates together to one verdict. A gate that had nothing to compare with keeps nothing back.

    >>> gate = Held("limit", "ece", None, 0.04, 0.05, "lower", True)
    >>> verdict_of((gate,)), verdict_of(()), verdict_of((gate,), blocked=True)
    ('GO', 'DONE', 'BLOCKED')
    """
    if blocked or any(one.passed is False for one in gates):
        return BLOCKED
    return GO if gates else DONE
