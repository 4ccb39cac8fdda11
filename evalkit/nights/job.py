"""A job: the evaluations of a night, where their inputs lie, what is asked of them, and the store.

Plain data. ``job_toml`` reads it from a file; nothing here opens one.
"""

from __future__ import annotations

import datetime
import glob
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from evalkit.families.observations.measured import MEASURES
from evalkit.families.probability.metrics import METRICS as VECTOR_METRICS
from evalkit.families.selective.metrics import SPLIT_METRICS
from evalkit.metric import Direction
from evalkit.sources.urls import is_url

Kind = Literal["compare", "evaluate", "measure"]
KINDS: tuple[Kind, ...] = ("compare", "evaluate", "measure")

LAST_GO = "last-go"
"""The baseline that is the latest earlier night whose verdict is GO."""

DATE = "{date}"
"""What stands for the date in a path of a job."""

DIRECTIONS: Mapping[Kind, Mapping[str, Direction]] = {
    "compare": {one.name: one.direction for one in SPLIT_METRICS},
    "evaluate": {one.name: one.direction for one in VECTOR_METRICS},
    "measure": {one.metric.name: one.metric.direction for one in MEASURES},
}
"""The metrics over all records, by kind, each with its better side."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
NAME_RULE = "must be 1 to 100 letters, digits, dots, hyphens or underscores of ASCII, the first a letter or a digit"


def is_safe(name: object) -> bool:
    """Tell whether a name can stand in a path without leading anywhere else.

    >>> is_safe("digits-v2.1"), is_safe("../x"), is_safe("."), is_safe(""), is_safe("a/b")
    (True, False, False, False, False)
    """
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def is_date(text: object) -> bool:
    """Tell whether a text is a day as ISO 8601 writes it, with hyphens."""
    if not isinstance(text, str) or len(text) != 10 or not text.isascii():
        return False
    try:
        return datetime.date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Amount:
    """A decimal: its text without needless digits, and its exact value."""

    text: str
    value: Fraction


@dataclass(frozen=True, slots=True)
class Baseline:
    """What an evaluation is compared with.

    Attributes:
        against: ``last-go``, or a date.
        margins: By how much each metric may be worse.
    """

    against: str
    margins: Mapping[str, Amount]


@dataclass(frozen=True, slots=True)
class Task:
    """One evaluation of a job.

    Attributes:
        name: Its name, which is safe in a path.
        kind: The command that it is a run of.
        inputs: Its patterns by option, such as ``predictions``; all relative to the job.
        files: Its small files by option, such as ``contract``.
        runs: The rankings of each system, for TREC files.
        amounts: Its options that are decimals.
        options: Its other options, as the commands take them.
        gates: The least, or the most, that each metric must reach.
        baseline: What it is compared with, or None.
    """

    name: str
    kind: Kind
    inputs: Mapping[str, tuple[str, ...]]
    files: Mapping[str, str] = field(default_factory=dict)
    runs: Mapping[str, str] = field(default_factory=dict)
    amounts: Mapping[str, Amount] = field(default_factory=dict)
    options: Mapping[str, bool | int | str | tuple[str, ...]] = field(default_factory=dict)
    gates: Mapping[str, Amount] = field(default_factory=dict)
    baseline: Baseline | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """A job.

    Attributes:
        folder: Where its file lies; its paths are relative to it.
        store: The store's folder.
        tasks: Its evaluations, in the order of the file.
    """

    folder: str
    store: str
    tasks: tuple[Task, ...]

    def path(self, pattern: str, date: str) -> str:
        """Return a path of the job for a date, as a program that runs elsewhere opens it.

        >>> Job("jobs", "store", ()).path("dumps/{date}/*.gz", "2026-01-31")
        'jobs/dumps/2026-01-31/*.gz'
        """
        dated = pattern.replace(DATE, date)
        if is_url(dated):
            return dated
        return os.path.join(glob.escape(self.folder) if glob.has_magic(dated) else self.folder, dated)

    def file(self, path: str, date: str) -> str:
        """Return a path that is no pattern."""
        dated = path.replace(DATE, date)
        return dated if is_url(dated) else os.path.join(self.folder, dated)

    def name_of(self, path: str) -> str:
        """Return how the job names a file, wherever it was started from.

        >>> Job("jobs", "store", ()).name_of("jobs/dumps/2026-01-31/a.gz")
        'dumps/2026-01-31/a.gz'
        """
        return path.removeprefix(os.path.join(self.folder, "")) if self.folder else path

    @property
    def store_path(self) -> str:
        """The store's folder, as a program that runs elsewhere opens it."""
        return os.path.join(self.folder, self.store)
