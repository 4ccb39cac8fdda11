"""What people and checkers said: valid proposals, supported claims, correct merges, sources named, queue worked off."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, NamedTuple

from evalkit.exact import Exact, Ratio
from evalkit.metric import metric

Cases = Iterable[Mapping[str, Any]]

NOTHING_ACCEPTED = "none-accepted"
REVIEW_INCOMPLETE = "review-incomplete"
FEWEST_DAYS = 7
"""Days of observation below which the queue's number comes with a caution."""


class ProposalCounts(NamedTuple):
    """Proposals, and how many of them are valid."""

    cases: int = 0
    valid: int = 0


class ClaimCounts(NamedTuple):
    """Sums over claims.

    Attributes:
        cases: The claims.
        reviewed: Those that somebody has reviewed.
        supported: Those reviewed and found supported.
        sourced: Those that name at least one source, and only declared ones.
    """

    cases: int = 0
    reviewed: int = 0
    supported: int = 0
    sourced: int = 0


class MergeCounts(NamedTuple):
    """Sums over merges.

    Attributes:
        cases: The merges.
        accepted: Those accepted.
        reviewed: Those accepted and reviewed.
        correct: Those accepted, reviewed and found correct.
    """

    cases: int = 0
    accepted: int = 0
    reviewed: int = 0
    correct: int = 0

    @property
    def review_complete(self) -> bool:
        """Whether every accepted merge was reviewed."""
        return self.accepted == self.reviewed


class QueueCounts(NamedTuple):
    """Sums over units of work.

    Attributes:
        cases: The units.
        due: Those that were due.
        completed: Those that were due, planned and completed.
        days: The days on which units were observed.
    """

    cases: int = 0
    due: int = 0
    completed: int = 0
    days: frozenset[str] = frozenset()


def count_proposals(cases: Cases) -> ProposalCounts:
    """Count proposals."""
    valid = [case["valid"] for case in cases]
    return ProposalCounts(len(valid), sum(valid))


def count_claims(cases: Cases, sources: Collection[str]) -> ClaimCounts:
    """Count claims; ``sources`` are the declared ones.

    >>> count_claims([{"reviewed": True, "supported": True, "source_refs": ["s"]}], {"s"})
    ClaimCounts(cases=1, reviewed=1, supported=1, sourced=1)
    """
    found = [
        (
            case["reviewed"],
            case["supported"] is True,
            bool(refs := case["source_refs"]) and all(one in sources for one in refs),
        )
        for case in cases
    ]
    return ClaimCounts(len(found), *(sum(column) for column in zip(*found, strict=True)))


def count_merges(cases: Cases) -> MergeCounts:
    """Count merges."""
    number = 0
    accepted: list[Any] = []
    for case in cases:
        number += 1
        if case["accepted"]:
            accepted.append(case["correct"])
    reviewed = [answer for answer in accepted if answer is not None]
    return MergeCounts(number, len(accepted), len(reviewed), sum(reviewed))


def count_queue(cases: Cases) -> QueueCounts:
    """Count units of work."""
    found = [(case["due"], case["due"] and case["planned"] and case["completed"], case["date"]) for case in cases]
    due, completed, days = zip(*found, strict=True) if found else ((), (), ())
    return QueueCounts(len(found), sum(due), sum(completed), frozenset(days))


@metric("Schema validity", "higher", "no-cases")
def schema_validity(counts: ProposalCounts) -> Exact:
    """Valid proposals / all proposals.

    >>> schema_validity(ProposalCounts(20, 19))
    Ratio(numerator=19, denominator=20)
    """
    return Ratio(counts.valid, counts.cases)


@metric("Claim support", "higher", "nothing-reviewed")
def claim_support(counts: ClaimCounts) -> Exact:
    """Claims reviewed and found supported / reviewed claims.

    >>> claim_support(ClaimCounts(cases=30, reviewed=20, supported=19))
    Ratio(numerator=19, denominator=20)
    """
    return Ratio(counts.supported, counts.reviewed)


@metric("Merge precision", "higher", NOTHING_ACCEPTED)
def merge_precision(counts: MergeCounts) -> Exact:
    """Correct accepted merges / accepted merges; null when none was accepted, or an accepted one is not reviewed.

    >>> merge_precision(MergeCounts(cases=9, accepted=4, reviewed=4, correct=3))
    Ratio(numerator=3, denominator=4)
    >>> merge_precision(MergeCounts(cases=9, accepted=4, reviewed=3, correct=3)) is None
    True
    """
    return Ratio(counts.correct, counts.accepted) if counts.review_complete else None


@metric("Incorrect accepted merges", "lower", "no-cases", high=None)
def incorrect_merges(counts: MergeCounts) -> Exact:
    """Accepted merges that were reviewed and found incorrect, a count.

    >>> incorrect_merges(MergeCounts(cases=9, accepted=4, reviewed=3, correct=2))
    Ratio(numerator=1, denominator=1)
    """
    return Ratio(counts.reviewed - counts.correct, 1)


@metric("Provenance completeness", "higher", "no-cases")
def provenance(counts: ClaimCounts) -> Exact:
    """Claims whose ``source_refs`` are not empty and all declared / claims.

    >>> provenance(ClaimCounts(cases=2, sourced=1))
    Ratio(numerator=1, denominator=2)
    """
    return Ratio(counts.sourced, counts.cases)


@metric("Queue completion", "higher", "nothing-due")
def queue_completion(counts: QueueCounts) -> Exact:
    """Planned units that were due and completed / units that were due.

    >>> queue_completion(QueueCounts(cases=9, due=4, completed=3))
    Ratio(numerator=3, denominator=4)
    """
    return Ratio(counts.completed, counts.due)
