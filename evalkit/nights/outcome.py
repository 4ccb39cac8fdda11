"""What became of a job: an outcome for each of its evaluations, as data, and the one exit code of them all."""

from __future__ import annotations

from dataclasses import dataclass, field

from evalkit.errors import Refusal
from evalkit.nights.verdict import BLOCKED, Verdict

STORED, REPLACED, UNCHANGED, REFUSED, FAILED = "stored", "replaced", "unchanged", "refused", "failed"
_CODES = {REFUSED: 2, FAILED: 1}
_WORST_FIRST = (1, 2, 3, 0)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one evaluation.

    Attributes:
        evaluation: Its name.
        kind: The command that it is a run of.
        state: ``stored``, ``replaced``, ``unchanged``, ``refused`` or ``failed``.
        verdict: What the store says of it; None where it was refused or failed.
        refusal: Why it was refused.
        error: What failed.
        trace: Where it failed, for whoever looks for a bug.
    """

    evaluation: str
    kind: str
    state: str
    verdict: Verdict | None = None
    refusal: Refusal | None = None
    error: str | None = None
    trace: str | None = field(default=None, repr=False)

    @property
    def word(self) -> str:
        """The verdict, or why there is none."""
        return self.verdict.verdict if self.verdict is not None else self.state.upper()

    @property
    def code(self) -> int:
        """The exit code that it calls for."""
        if self.verdict is None:
            return _CODES[self.state]
        return 3 if self.verdict.verdict == BLOCKED else 0


@dataclass(frozen=True, slots=True)
class NightlyRun:
    """What became of a job.

    Attributes:
        date: The night.
        store: The store's folder.
        outcomes: What became of each evaluation, in the order of the job.
        dropped: Evaluations that have results in the store and are not in the job.
        summary: What is said of the night, as Markdown.
        failure: Why what is said of the night could not be written; None where it was.
    """

    date: str
    store: str
    outcomes: tuple[Outcome, ...]
    dropped: tuple[str, ...]
    summary: str = ""
    failure: str | None = None

    def __getitem__(self, evaluation: str) -> Outcome:
        """Return what became of an evaluation."""
        for one in self.outcomes:
            if one.evaluation == evaluation:
                return one
        raise KeyError(evaluation)

    @property
    def code(self) -> int:
        """The exit code: the worst of all, of which 1 is the worst, then 2, 3 and 0."""
        codes = {one.code for one in self.outcomes} | ({1} if self.failure else set())
        return next(code for code in _WORST_FIRST if code in codes)
