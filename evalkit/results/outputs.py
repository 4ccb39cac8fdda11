"""Where a command writes: checked before the work starts, written only after it is done."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evalkit.errors import Refusal, Violation
from evalkit.results.files import Target, check_file_target, check_folder_target
from evalkit.sources.source import Source, label
from evalkit.sources.urls import is_url, store

STANDARD_OUTPUT = "-"

TABLES = ("candidates", "per_class", "confusion", "bins", "curve", "measurements")
"""The tables of a results folder."""

STATISTICS = ("contributors", "gates", "reliability", "certified", "comparison", "flips")
"""The tables that statistics add."""

RESULT_FILES = frozenset({"report.json", *(f"{name}.parquet" for name in (*TABLES, *STATISTICS))})
"""The files that a results folder consists of."""


@dataclass(frozen=True, slots=True)
class Outputs:
    """The targets of one run.

    Attributes:
        json: The report's path or URL; ``-`` for standard output; None for none.
        out: The results folder, or None.
    """

    json: str | None
    out: str | None

    @property
    def json_to_stdout(self) -> bool:
        """Whether the report itself goes to standard output."""
        return self.json == STANDARD_OUTPUT

    @property
    def json_path(self) -> Target | None:
        """The file to write the report to."""
        return None if self.json is None or self.json_to_stdout else target_of(self.json)

    @property
    def out_path(self) -> Target | None:
        """The folder to write the tables to."""
        return None if self.out is None else target_of(self.out)


def target_of(name: str) -> Target:
    """Return the target that a name means: a path, or a URL as it is."""
    return name if is_url(name) else Path(name)


def check_outputs(outputs: Outputs, sources: Sequence[Source], *notes: str) -> None:
    """Refuse targets that cannot be written, or that would destroy an input or each other.

    Args:
        outputs: The targets.
        sources: The inputs.
        notes: The paths of small files that are read too, such as the run record.

    Raises:
        Refusal: Some target is not usable.
    """
    inputs = {source.place: source.label for source in sources}
    named = [source.name for source in sources]
    for note in notes:
        inputs[_place(target_of(note))] = label(note)
        named.append(note)
    if (path := outputs.json_path) is not None:
        check_file_target(path)
        if (isinstance(path, str) or path.exists()) and (found := _place(path)) in inputs:
            raise _refused(path, f"is the input {inputs[found]}; name another file")
    if (folder := outputs.out_path) is not None:
        for name in named:
            if _holds(folder, target_of(name)):
                raise _refused(folder, f"holds the input {label(name)}; name another folder")
        check_folder_target(folder, RESULT_FILES)
        if path is not None:
            _check_apart(path, folder)


def _check_apart(path: Target, folder: Target) -> None:
    # The folder is replaced whole. Its own report.json has the same bytes, so writing that twice does no harm.
    inside = _holds(folder, path) and not _is_report(path, folder)
    if inside or _whole(path) == _whole(folder) or _holds(path, folder):
        raise _refused(path, f"clashes with the results folder {folder}; name a file outside it")


def _whole(path: Target) -> Target:
    """Return a name by which others can be compared with it."""
    return path.rstrip("/") if isinstance(path, str) else path.resolve()


def _holds(folder: Target, path: Target) -> bool:
    """Tell whether a name is of something in a folder; nothing in a store is in a folder of this machine."""
    outer, inner = _whole(folder), _whole(path)
    if isinstance(outer, str) or isinstance(inner, str):
        return isinstance(outer, str) and isinstance(inner, str) and inner.startswith(f"{outer}/")
    return outer in inner.parents


def _is_report(path: Target, folder: Target) -> bool:
    place = _whole(folder)
    report = f"{place}/report.json" if isinstance(place, str) else place / "report.json"
    return _whole(path) == report


def _place(path: Target) -> tuple[int, int]:
    if isinstance(path, str):
        found: tuple[int, int] = store().place_number(path)
        return found
    status = os.stat(path)
    return status.st_dev, status.st_ino


def _refused(path: Target, message: str) -> Refusal:
    return Refusal.of(Violation("output-unusable", message, str(path)))
