"""What is said when records cannot be judged honestly: violations, and the one exception that carries them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

SHOWN_LINES = 20
"""How many broken lines a refusal spells out before it only counts."""


def printable(text: str) -> str:
    r"""Return a text of one line that can do no harm to a terminal: what is not printable becomes an escape.

    >>> printable("a\x1b[31mb")
    'a\\u001b[31mb'
    """
    return "".join(c if c.isprintable() else f"\\u{ord(c):04x}" if ord(c) < 65536 else f"\\U{ord(c):08x}" for c in text)


def spot(file: str, line: int | None, unit: str = "line") -> str:
    """Name a line, or a row, of a file.

    >>> spot("a.jsonl", 3), spot("a.parquet", 3, "row")
    ('a.jsonl:3', 'a.parquet: row 3')
    """
    if line is None:
        return file
    return f"{file}:{line}" if unit == "line" else f"{file}: {unit} {line}"


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule at one place.

    Attributes:
        rule: The rule's stable name, such as ``confidence``.
        message: What is wrong and what to do, in words.
        file: The source's name as given by the caller; None where no single source is to blame.
        line: The line number, counted from 1 with blank lines; in a source of rows, the row's; None where the whole
            source is to blame.
        field: The field's dotted path; None where the whole line is to blame.
        value: The value as JSON text, cut short; None where it must not or cannot be shown.
        unit: What ``line`` counts: ``line``, or ``row`` in a source that has no lines.

    >>> print(Violation("split", "must be train, validation or test", "a.jsonl", 3, "split", '"dev"'))
    a.jsonl:3: split: must be train, validation or test; found "dev" [split]
    """

    rule: str
    message: str
    file: str | None = None
    line: int | None = None
    field: str | None = None
    value: str | None = None
    unit: str = "line"

    def __str__(self) -> str:
        place = spot(self.file or "", self.line, self.unit)
        parts = [part for part in (place, self.field) if part]
        found = f"; found {self.value}" if self.value is not None else ""
        return printable(": ".join([*parts, f"{self.message}{found} [{self.rule}]"]))


@dataclass(frozen=True, slots=True)
class Ledger:
    """Violations counted per rule, of which only those of the first lines are kept in words.

    A ledger of one part of the input adds to that of the next, so memory stays small however much is broken.

    Attributes:
        shown: The violations of the first ``SHOWN_LINES`` broken lines, in the order of the input.
        counts: How often each rule was broken, in all lines.
        lines: How many lines are broken.
    """

    shown: tuple[Violation, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    lines: int = 0

    @classmethod
    def of(cls, broken: Iterable[tuple[Violation, ...]], *, every: bool = False) -> Ledger:
        """Count the violations of broken lines, given one tuple a line, in the order of the input.

        With ``every`` all are kept in words.
        """
        shown: list[Violation] = []
        counts: Counter[str] = Counter()
        lines = 0
        for violations in broken:
            if every or lines < SHOWN_LINES:
                shown.extend(violations)
            counts.update(violation.rule for violation in violations)
            lines += 1
        return cls(tuple(shown), dict(counts), lines)

    def __add__(self, later: Ledger) -> Ledger:
        """Add the ledger of a later part of the input."""
        room = SHOWN_LINES - self.lines
        places: dict[tuple[str | None, int | None], None] = dict.fromkeys((v.file, v.line) for v in later.shown)
        kept = set(list(places)[: max(room, 0)])
        shown = self.shown + tuple(v for v in later.shown if (v.file, v.line) in kept)
        counts = Counter(self.counts) + Counter(later.counts)
        return Ledger(shown, dict(counts), self.lines + later.lines)


class Refusal(Exception):  # noqa: N818 - a refusal is an answer, not an error of the program
    """The input cannot be judged honestly: nothing was scored, nothing was written.

    Attributes:
        violations: The violations of the first 20 broken lines, by file and line.
        counts: How often each rule was broken, over all lines.

    >>> str(Refusal.of(Violation("no-records", "holds no records at all", "a.jsonl")))
    'a.jsonl: holds no records at all [no-records]'
    """

    def __init__(self, violations: Iterable[Violation], counts: Mapping[str, int], lines: int) -> None:
        self.violations = tuple(violations)
        self.counts = dict(counts)
        self.lines = lines
        super().__init__(self._text())

    @classmethod
    def of(cls, *violations: Violation) -> Refusal:
        """Refuse for these violations, all of which are shown."""
        return cls(violations, Counter(violation.rule for violation in violations), len(violations))

    @classmethod
    def from_ledger(cls, ledger: Ledger) -> Refusal:
        """Refuse for all that a ledger counted."""
        return cls(ledger.shown, ledger.counts, ledger.lines)

    def __reduce__(self) -> tuple[type[Refusal], tuple[object, ...]]:
        return (Refusal, (self.violations, self.counts, self.lines))

    def _text(self) -> str:
        lines = [str(violation) for violation in self.violations]
        if self.hidden:
            lines.append(f"… and {self.hidden:,} more; in all:")
            width = len(f"{max(self.counts.values()):,}")
            lines += [f"  {count:>{width},} × {rule}" for rule, count in sorted(self.counts.items())]
        return "\n".join(lines)

    @property
    def hidden(self) -> int:
        """How many violations were counted but not kept in words."""
        return sum(self.counts.values()) - len(self.violations)
