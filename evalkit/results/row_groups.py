"""Parquet written row group by row group: frames pile up until they are worth one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import polars as pl


class RowGroups:
    """Writes one Parquet file; what is held when a block ends by an exception is not written."""

    def __init__(self, path: Path, none: pl.DataFrame, rows: int, plain: tuple[str, ...] = ()) -> None:
        """Begin a file.

        Args:
            path: The file.
            none: A frame without rows that has its columns.
            rows: About how many rows a row group has.
            plain: Columns whose values hardly repeat, for which a dictionary would be in vain.
        """
        from pyarrow.parquet import ParquetWriter  # only where tables are written: it takes a tenth of a second

        schema = _arrow(none).schema
        repeated = [name for name in schema.names if name not in plain] if plain else True
        self._limit = rows
        self._held = [none]
        self._rows = 0
        self._writer = ParquetWriter(path, schema, compression="zstd", use_dictionary=repeated)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._flush()
        self._writer.close()

    def add(self, frame: pl.DataFrame) -> None:
        """Add rows."""
        self._held.append(frame)
        self._rows += frame.height
        if self._rows >= self._limit:
            self._flush()

    def note(self, notes: Mapping[str, str]) -> None:
        """Put notes into the file's metadata."""
        self._writer.add_key_value_metadata(dict(notes))

    def _flush(self) -> None:
        if self._rows:
            self._writer.write_table(_arrow(pl.concat(self._held)))
            self._held, self._rows = self._held[:1], 0


def _arrow(frame: pl.DataFrame) -> Any:
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())
