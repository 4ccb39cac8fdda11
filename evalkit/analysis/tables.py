"""The tables of results folders, and of a store of nightly ones, by name."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from evalkit.errors import Refusal, Violation
from evalkit.results.outputs import STATISTICS, TABLES
from evalkit.sources.source import label

REPORT = "report.json"
_NIGHTS = "evaluation=*/date=*"
"""Where in a store the results of each night lie."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One file of a table.

    Attributes:
        path: The file.
        told: What the names of its folders say of each row.
    """

    path: Path
    told: tuple[tuple[str, str], ...] = ()


@dataclass(slots=True)
class Folders:
    """Which files make up each table.

    Attributes:
        pieces: The files of each table, in order.
    """

    pieces: dict[str, list[Piece]] = field(default_factory=dict)

    def add(self, folder: Path, told: tuple[tuple[str, str], ...] = ()) -> None:
        """Add the tables of a results folder."""
        for name in (*TABLES, *STATISTICS):
            path = folder / f"{name}.parquet"
            if path.is_file():
                self.pieces.setdefault(name, []).append(Piece(path, told))

    def add_store(self, store: Path) -> None:
        """Add the tables of all nights of a store, with ``evaluation`` and ``date`` among their columns."""
        for folder in sorted(store.glob(_NIGHTS)):
            self.add(folder, hive(folder.relative_to(store)))

    @property
    def files(self) -> list[Path]:
        """All files."""
        return [piece.path for pieces in self.pieces.values() for piece in pieces]

    def assert_distinct(self) -> None:
        """Refuse a file that is there twice: its rows would count twice.

        Raises:
            Refusal: There is one.
        """
        seen: dict[str, Path] = {}
        for path in self.files:
            earlier = seen.setdefault(os.path.realpath(path), path)
            if earlier is not path:
                message = f"is the same file as {label(os.fspath(earlier))}; name each folder once"
                raise Refusal.of(Violation("same-file-twice", message, label(os.fspath(path))))

    def read(self, name: str) -> pl.DataFrame:
        """Read one table; a column that only some of its files have is null in the others.

        Raises:
            Refusal: A file cannot be read, or two of them disagree on the type of a column.
        """
        frames = [_read(piece) for piece in self.pieces[name]]
        if len(frames) == 1:
            return frames[0]
        try:
            return pl.concat(frames, how="diagonal_relaxed")
        except pl.exceptions.PolarsError as error:
            raise _unreadable(
                self.pieces[name][0].path, f"and the others of table {name} do not agree: {error}"
            ) from None


def hive(path: Path) -> tuple[tuple[str, str], ...]:
    """Return what names of folders say, as texts.

    >>> hive(Path("evaluation=ocr/date=2026-01-31"))
    (('evaluation', 'ocr'), ('date', '2026-01-31'))
    """
    named = (part.partition("=") for part in path.parts if "=" in part)
    return tuple((name, unquote(value)) for name, _, value in named)


def is_results(path: Path) -> bool:
    """Tell whether a folder is one that a command wrote with ``--out``."""
    if not os.path.isdir(path) or not (path / REPORT).is_file():
        return False
    return any((path / f"{name}.parquet").is_file() for name in TABLES)


def store_of(path: Path) -> Path | None:
    """Return the root of the store that a folder is, or that it holds as ``store``; None where there is none."""
    for root in (path, path / "store"):
        if os.path.isdir(root) and any(one.is_dir() for one in root.glob(_NIGHTS)):
            return root
    return None


def _read(piece: Piece) -> pl.DataFrame:
    try:
        found = pl.read_parquet(piece.path, glob=False, hive_partitioning=False)
    except (OSError, pl.exceptions.PolarsError) as error:
        raise _unreadable(piece.path, f"cannot be read as Parquet: {str(error).splitlines()[0]}") from None
    return found.with_columns(pl.lit(value).alias(name) for name, value in piece.told if name not in found.columns)


def _unreadable(path: Path, message: str) -> Refusal:
    return Refusal.of(Violation("parquet-broken", message, label(os.fspath(path))))
