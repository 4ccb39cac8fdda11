"""The families of observations: for each list its fields, their rules and what is counted, as one small table.

Rankings have a family of their own (``evalkit.families.ranking``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from evalkit.errors import Violation
from evalkit.families.observations import commands, review, rules, text
from evalkit.records.rules import is_name
from evalkit.records.strict_json import kind_of, show

Case = Mapping[str, Any]
Counts = Any
"""What a family's ``count`` returns: a tuple of sums, which add up."""

SOURCE, STRATUM, DATE = "source_id", "stratum", "date"


@dataclass(frozen=True)
class Family:
    """One list of cases.

    Attributes:
        name: The list's name in the document.
        noun: What one case is called in messages.
        fields: The fields and their rules, the id first. ``source_id`` stands apart: its rule is the header's.
        count: From valid cases of one stratum, and the declared sources, to their sums.
        whole: What a case breaks though each field is right by itself.
        sourced: Whether a case names a declared source.
    """

    name: str
    noun: str
    fields: Mapping[str, rules.Judge]
    count: Callable[[Sequence[Case], Collection[str]], Counts]
    whole: Callable[[Case], Violation | None] = lambda _: None
    sourced: bool = True

    @cached_property
    def id(self) -> str:
        """The field that holds the id."""
        return next(iter(self.fields))

    @property
    def cluster(self) -> str:
        """The field whose cases vary together: the source, or where none is named the date."""
        return SOURCE if self.sourced else DATE

    @cached_property
    def required(self) -> tuple[str, ...]:
        """The fields that each case must have."""
        return (*self.fields, SOURCE) if self.sourced else tuple(self.fields)

    @cached_property
    def written(self) -> tuple[str, ...]:
        """All fields in the order of canonical JSON: their names are ASCII."""
        return tuple(sorted((*self.required, STRATUM)))


def _unanswered(answer: str) -> Callable[[Case], Violation | None]:
    """Make the rule that a question is answered exactly where the case was reviewed."""

    def judge(case: Case) -> Violation | None:
        if case["reviewed"] is (case[answer] is not None):
            return None
        message = "must be true or false once reviewed is true, and null before"
        return Violation("review", message, field=answer, value=show(case[answer]))

    return judge


_TEXTS: Mapping[str, rules.Judge] = {"reference": rules.judge_text, "output": rules.judge_text}

FAMILIES: Mapping[str, Family] = {
    one.name: one
    for one in (
        Family("ocr_cases", "a case", {"case_id": rules.judge_id, **_TEXTS}, lambda cases, _: text.count_ocr(cases)),
        Family(
            "commands",
            "a command",
            {"command_id": rules.judge_id, **_TEXTS},
            lambda cases, _: commands.count_commands(cases),
        ),
        Family(
            "proposals",
            "a proposal",
            {"proposal_id": rules.judge_id, "valid": rules.judge_boolean},
            lambda cases, _: review.count_proposals(cases),
        ),
        Family(
            "claims",
            "a claim",
            {
                "claim_id": rules.judge_id,
                "reviewed": rules.judge_boolean,
                "supported": rules.judge_answer,
                "source_refs": rules.judge_references,
            },
            review.count_claims,
            _unanswered("supported"),
        ),
        Family(
            "merges",
            "a merge",
            {
                "merge_id": rules.judge_id,
                "accepted": rules.judge_boolean,
                "reviewed": rules.judge_boolean,
                "correct": rules.judge_answer,
            },
            lambda cases, _: review.count_merges(cases),
            _unanswered("correct"),
        ),
        Family(
            "queue",
            "a unit",
            {
                "unit_id": rules.judge_id,
                DATE: rules.judge_date,
                **dict.fromkeys(("planned", "due", "completed"), rules.judge_boolean),
            },
            lambda cases, _: review.count_queue(cases),
            sourced=False,
        ),
    )
}
"""The families, by the name of their list."""


def faults(case: object, family: Family, sources: Collection[str] | None) -> tuple[Violation, ...]:
    """Return the rules that a case breaks; each violation names a field of it, and neither file nor list.

    Args:
        case: What was parsed.
        family: The family whose rules hold.
        sources: The declared sources; None where the header does not tell, and nothing is asked of them.
    """
    if not isinstance(case, dict):
        return (Violation("object", "must be an object", value=kind_of(case)),)
    found = tuple(_faults(case, family, sources))
    if not found and (fault := family.whole(case)) is not None:
        return (fault,)
    return found


def _faults(case: Case, family: Family, sources: Collection[str] | None) -> Iterator[Violation]:
    if not case.keys() <= (known := {*family.required, STRATUM}):
        yield from rules.unknown(case, known, family.noun)
    for name, judge in family.fields.items():
        if name not in case:
            yield Violation("missing-field", "is missing", field=name)
        elif (fault := judge(case[name])) is not None:
            yield replace(fault, field=f"{name}{fault.field or ''}")
    if family.sourced:
        if SOURCE not in case:
            yield Violation("missing-field", "is missing", field=SOURCE)
        elif not is_declared(case[SOURCE], sources):
            yield Violation(
                "source-not-declared", "must be one of source_ids", field=SOURCE, value=_source(case[SOURCE])
            )
    if STRATUM in case and (fault := rules.judge_stratum(case[STRATUM])) is not None:
        yield replace(fault, field=STRATUM)


def is_declared(value: object, sources: Collection[str] | None) -> bool:
    """Tell whether a value is a declared source; any name is, where nothing is known of them."""
    if not isinstance(value, str):
        return False
    return is_name(value) if sources is None else value in sources


def _source(value: object) -> str:
    return show(value) if isinstance(value, str) else kind_of(value)


def name_of(case: object, family: Family) -> str | None:
    """Return the id of a case as it is shown, or None where it has none."""
    found = case.get(family.id) if isinstance(case, dict) else None
    return show(found) if is_name(found) else None
