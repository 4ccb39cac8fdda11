"""Invented observations for the tests, and an edit distance written as its definition says."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

HEADER: Mapping[str, Any] = {
    "run_id": "r",
    "model_revision": "m",
    "dataset_id": "d",
    "synthetic": True,
    "split": "held_out",
    "source_ids": ["s", "t"],
    "development_source_ids": ["dev"],
}
"""A header, and the sources that the cases below are about."""


def document(**members: Any) -> dict[str, Any]:
    """Return a document with these members besides, or in place of, those of the header."""
    return {**HEADER, **members}


def page(number: int | str, reference: str, output: str, **more: Any) -> dict[str, Any]:
    """Return a case of recorded text."""
    return {"case_id": str(number), "source_id": "s", "reference": reference, "output": output, **more}


def command(number: int | str, reference: str, output: str, **more: Any) -> dict[str, Any]:
    """Return a recorded command."""
    return {"command_id": str(number), "source_id": "s", "reference": reference, "output": output, **more}


def claim(number: int, supported: bool | None, *refs: str) -> dict[str, Any]:
    """Return a claim; it is reviewed where it is told whether it is supported."""
    fields = {"reviewed": supported is not None, "supported": supported, "source_refs": list(refs)}
    return {"claim_id": f"k{number}", "source_id": "s", **fields}


def merge(number: int, accepted: bool, correct: bool | None) -> dict[str, Any]:
    """Return a merge; it is reviewed where it is told whether it is correct."""
    fields = {"accepted": accepted, "reviewed": correct is not None, "correct": correct}
    return {"merge_id": f"m{number}", "source_id": "s", **fields}


def unit(number: int, date: str, planned: bool, due: bool, completed: bool) -> dict[str, Any]:
    """Return a unit of work."""
    return {"unit_id": f"u{number}", "date": date, "planned": planned, "due": due, "completed": completed}


def query(number: int, relevance: Mapping[str, int], *candidate: str, **more: Any) -> dict[str, Any]:
    """Return a query whose lexical and dense rankings are empty."""
    fields = {"relevance": dict(relevance), "lexical": [], "dense": [], "candidate": list(candidate)}
    return {"query_id": f"q{number}", "source_id": "t", **fields, **more}


def write_document(path: Path, content: Any) -> Path:
    """Write a document, or whatever stands in its place."""
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


def write_lines(path: Path, cases: Iterable[Any]) -> Path:
    """Write cases as JSON Lines, code points as they are."""
    path.write_text("".join(json.dumps(case, ensure_ascii=False) + "\n" for case in cases), "utf-8")
    return path


def edits(left: Sequence[Any], right: Sequence[Any]) -> int:
    """Return the Levenshtein distance, by the whole table of Wagner and Fischer."""
    before = list(range(len(right) + 1))
    for row, one in enumerate(left, 1):
        line = [row]
        for column, other in enumerate(right, 1):
            line.append(min(before[column] + 1, line[-1] + 1, before[column - 1] + (one != other)))
        before = line
    return before[-1]


def common(left: Sequence[Any], right: Sequence[Any]) -> int:
    """Return the length of the longest common subsequence, by its whole table."""
    before = [0] * (len(right) + 1)
    for one in left:
        line = [0]
        for column, other in enumerate(right, 1):
            line.append(before[column - 1] + 1 if one == other else max(before[column], line[-1]))
        before = line
    return before[-1]
