"""What a comparison found: each difference in short texts by which a person can tell the two sides apart."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from enum import Enum

from evalkit.records.strict_json import Beyond
from evalkit.report import is_list, members

MAX_KEPT = 10_000
"""Most differences that are kept; all are counted."""

_SHOWN_CHARACTERS = 100
_CONTEXT = 20


class Absent(Enum):
    """What stands for a value that is not there."""

    ABSENT = 0


@dataclass(frozen=True, slots=True)
class Difference:
    """One disagreement between a report and its inputs.

    Attributes:
        path: Where in the report, such as ``report.overall.accuracy``. A place in an array is its place in the report.
        claimed: What the report says, as JSON text, cut short where it is long; of an object or array how long it is.
            None where it says nothing.
        recomputed: What the inputs give, likewise.
    """

    path: str
    claimed: str | None
    recomputed: str | None


@dataclass(slots=True)
class Findings:
    """What a comparison found.

    Attributes:
        checks: Comparisons made: of a scalar, of the keys of an object, of the length of an array.
        count: How many of them were differences.
        kept: The first ``MAX_KEPT`` differences.
    """

    checks: int = 0
    count: int = 0
    kept: list[Difference] = field(default_factory=list)

    def add(self, path: str, claimed: object, recomputed: object) -> None:
        """Note a difference."""
        self.count += 1
        if len(self.kept) < MAX_KEPT:
            self.kept.append(Difference(path, *_shown(claimed, recomputed)))

    def add_words(self, path: str, claimed: str, recomputed: str) -> None:
        """Note a difference that is one of no single value."""
        self.count += 1
        if len(self.kept) < MAX_KEPT:
            self.kept.append(Difference(path, claimed, recomputed))


def _shown(claimed: object, recomputed: object) -> tuple[str | None, str | None]:
    """Return both sides as text, short, and so that they can be told apart."""
    left, right = _text(claimed), _text(recomputed)
    start = 0
    if left is not None and right is not None and max(len(left), len(right)) > _SHOWN_CHARACTERS:
        same = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), 0)
        start = max(0, same - _CONTEXT)
    return cut(left, start), cut(right, start)


def cut(text: str | None, start: int = 0) -> str | None:
    """Cut a long text short."""
    if text is None:
        return None
    short = text[start : start + _SHOWN_CHARACTERS]
    return f"{'…' if start else ''}{short}{'…' if start + len(short) < len(text) else ''}"


def _text(value: object) -> str | None:
    if isinstance(value, Absent):
        return None
    if isinstance(value, Beyond):
        return value.text
    if (found := members(value)) is not None:
        return f"an object of {len(found)}"
    if is_list(value):
        return f"an array of {len(value)}"  # type: ignore[arg-type]
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    return json.dumps(value, ensure_ascii=False)
