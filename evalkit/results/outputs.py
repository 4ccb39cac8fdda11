"""Where a command writes: checked before the work starts, written only after it is done."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evalkit.errors import Refusal, Violation
from evalkit.results.files import check_file_target, check_folder_target
from evalkit.sources.remote import is_remote
from evalkit.sources.source import Source, label

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
        json: The report's path; ``-`` for standard output; None for none.
        out: The results folder, or None.
    """

    json: str | None
    out: str | None

    @property
    def json_to_stdout(self) -> bool:
        """Whether the report itself goes to standard output."""
        return self.json == STANDARD_OUTPUT

    @property
    def json_path(self) -> Path | None:
        """The file to write the report to."""
        return None if self.json is None or self.json_to_stdout else Path(self.json)

    @property
    def out_path(self) -> Path | None:
        """The folder to write the tables to."""
        return None if self.out is None else Path(self.out)


def check_outputs(outputs: Outputs, sources: Sequence[Source], *notes: str) -> None:
    """Refuse targets that cannot be written, or that would destroy an input or each other.

    Args:
        outputs: The targets.
        sources: The inputs.
        notes: The paths of small files that are read too, such as the run record.

    Raises:
        Refusal: Some target is not usable.
    """
    for target in filter(is_remote, (outputs.json or "", outputs.out or "")):
        message = "is the address of an object, and only inputs may be; write a file and copy it"
        raise Refusal.of(Violation("output-unwritable", message, target))
    inputs = {source.place: source.label for source in sources}
    named = [source.name for source in sources if not is_remote(source.name)]
    for note in notes:
        inputs[_place(Path(note))] = label(note)
        named.append(note)
    if (path := outputs.json_path) is not None:
        check_file_target(path)
        if path.exists() and (found := _place(path)) in inputs:
            raise _refused(path, f"is the input {inputs[found]}; name another file")
    if (folder := outputs.out_path) is not None:
        for name in named:
            if folder.resolve() in Path(name).resolve().parents:
                raise _refused(folder, f"holds the input {label(name)}; name another folder")
        check_folder_target(folder, RESULT_FILES)
        if path is not None:
            _check_apart(path, folder)


def _check_apart(path: Path, folder: Path) -> None:
    # The folder is replaced whole. Its own report.json has the same bytes, so writing that twice does no harm.
    file, place = path.resolve(), folder.resolve()
    inside = place in file.parents and file != place / "report.json"
    if inside or file == place or file in place.parents:
        raise _refused(path, f"clashes with the results folder {folder}; name a file outside it")


def _place(path: Path) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_dev, status.st_ino


def _refused(path: Path, message: str) -> Refusal:
    return Refusal.of(Violation("output-unusable", message, str(path)))
