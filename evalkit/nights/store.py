"""The store: a folder for each evaluation and night, which is there whole or not at all, and a folder for each night.

evaluation=NAME/date=DATE/   verdict.json, report.json and the tables; measurements.parquet of all is the history
night=DATE/                  summary.md, junit.xml and the trends
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from evalkit.errors import Refusal, Violation
from evalkit.nights.held import Night
from evalkit.nights.job import is_date, is_safe
from evalkit.nights.numbers import TABLE, stored_numbers
from evalkit.nights.verdict import GO, SCHEMA, Verdict
from evalkit.report import canonical
from evalkit.results.files import check_file_target, write_file, write_folder
from evalkit.results.report_file import parse_report, read_bytes
from evalkit.sources.source import label

VERDICT = "verdict.json"
_EVALUATION, _DATE, _NIGHT = "evaluation=", "date=", "night="


@dataclass(frozen=True, slots=True)
class Store:
    """A store of nights."""

    path: str

    def prepare(self) -> None:
        """Make the folder.

        Raises:
            Refusal: It cannot be made or written to.
        """
        if os.path.lexists(self.path) and not os.path.isdir(self.path):
            raise Refusal.of(Violation("store", "must be a folder, or not there yet", label(self.path)))
        check_file_target(Path(self.path, VERDICT))
        os.makedirs(self.path, exist_ok=True)

    def sweep(self) -> None:
        """Remove what a killed run has left half-written. Whoever calls holds the lock."""
        for folder in (self.path, *(os.path.join(self.path, _EVALUATION + name) for name in self.evaluations())):
            for name in os.listdir(folder):
                if name.startswith(".evalkit-") and name.endswith(".tmp"):
                    shutil.rmtree(os.path.join(folder, name), ignore_errors=True)

    def evaluations(self) -> list[str]:
        """Return the names of the evaluations that have a folder, sorted."""
        return [name for name in self._named(self.path, _EVALUATION) if is_safe(name)]

    def dates(self, evaluation: str) -> list[str]:
        """Return the nights of an evaluation, sorted."""
        folder = os.path.join(self.path, _EVALUATION + evaluation)
        return [date for date in self._named(folder, _DATE) if is_date(date)]

    def _named(self, folder: str, prefix: str) -> list[str]:
        if not os.path.isdir(folder):
            return []
        return sorted(name.removeprefix(prefix) for name in os.listdir(folder) if name.startswith(prefix))

    def folder(self, evaluation: str, date: str) -> Path:
        """Return the folder of an evaluation and a night."""
        return Path(self.path, _EVALUATION + evaluation, _DATE + date)

    def night(self, date: str) -> Path:
        """Return the folder of a night."""
        return Path(self.path, _NIGHT + date)

    def verdict(self, evaluation: str, date: str) -> Verdict | None:
        """Read a verdict; None where the evaluation has none of that night.

        Raises:
            Refusal: It is there, and no verdict of that evaluation and night.
        """
        name = str(self.folder(evaluation, date) / VERDICT)
        raw = read_bytes(name)
        if raw is None:
            if os.path.lexists(os.path.dirname(name)):
                raise Refusal.of(Violation("store", "is missing; restore the folder, or remove it whole", label(name)))
            return None
        found = Verdict.of(parse_report(raw, SCHEMA, Verdict, name))
        if (found.evaluation, found.date) != (evaluation, date):
            message = f"is the verdict of {found.evaluation} on {found.date}; move the folder back"
            raise Refusal.of(Violation("store", message, label(name)))
        return found

    def verdicts(self, evaluation: str, until: str | None = None) -> Iterator[Verdict]:
        """Read the verdicts of an evaluation in the order of the nights, up to and with one."""
        for date in self.dates(evaluation):
            if (until is None or date <= until) and (found := self.verdict(evaluation, date)) is not None:
                yield found

    def before(self, evaluation: str, date: str) -> Verdict | None:
        """Read the latest verdict before a night."""
        earlier = [one for one in self.dates(evaluation) if one < date]
        return self.verdict(evaluation, earlier[-1]) if earlier else None

    def last_go(self, evaluation: str, kind: str, date: str) -> Verdict | None:
        """Read the latest verdict before a night that is GO, of a run of the same kind."""
        for one in reversed([one for one in self.dates(evaluation) if one < date]):
            found = self.verdict(evaluation, one)
            if found is not None and (found.verdict, found.kind) == (GO, kind):
                return found
        return None

    def numbers(self, verdict: Verdict) -> Night:
        """Read the numbers behind a verdict.

        Raises:
            Refusal: They are not there, or cannot be read.
        """
        folder = self.folder(verdict.evaluation, verdict.date)
        try:
            return Night(verdict.date, stored_numbers(str(folder)), verdict.recommended)
        except Exception as error:
            if isinstance(error, MemoryError):
                raise
            message = f"cannot be read as measurements: {str(error).partition(chr(10))[0][:200]}"
            raise Refusal.of(Violation("store", message, label(str(folder / TABLE)))) from None

    def put(self, verdict: Verdict, write_tables: Callable[[Path], None]) -> None:
        """Put the results of an evaluation and a night in place, whole or not at all."""

        def fill(inside: Path) -> None:
            write_tables(inside)
            write_file(inside / VERDICT, canonical(verdict))

        write_folder(self.folder(verdict.evaluation, verdict.date), fill)

    def put_night(self, date: str, files: Mapping[str, bytes]) -> None:
        """Put what is said of a night in place, whole or not at all; what is there already is left alone."""
        folder = self.night(date)
        if self._holds(folder, files):
            return

        def fill(inside: Path) -> None:
            for name, content in files.items():
                write_file(inside / name, content)

        write_folder(folder, fill)

    def _holds(self, folder: Path, files: Mapping[str, bytes]) -> bool:
        there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        return there == set(files) and all((folder / name).read_bytes() == content for name, content in files.items())
