"""A Parquet file as such: whether it is whole, what its end tells, whether its pages carry checksums."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from evalkit.errors import Violation
from evalkit.formats.columnar import arrow_file, opened
from evalkit.sources.formats import PARQUET
from evalkit.sources.source import BrokenSourceError, Identity, label
from evalkit.sources.urls import read_at


@dataclass(frozen=True, slots=True)
class Footer:
    """What the end of a file tells."""

    metadata: Any
    schema: pa.Schema


@lru_cache(maxsize=64)
def footer_of(path: str, identity: Identity) -> Footer:
    """Read the end of a file.

    Raises:
        BrokenSourceError: It is no whole Parquet file, or an encrypted one.
    """
    with opened_parquet(path, identity) as file:
        parquet = pq.ParquetFile(arrow_file(file))
        return Footer(parquet.metadata, parquet.schema_arrow)


_SIZES, _CHECKSUM = 3, b"\x15"
"""A page begins with its kind and two sizes, each a number of the compact Thrift protocol; then may come a checksum."""


def has_checksums(file: IO[bytes], metadata: Any) -> bool:
    """Tell whether the first page of the first column carries a checksum: writers give one to all pages or to none."""
    if not metadata.num_row_groups or not metadata.num_columns:
        return False
    column = metadata.row_group(0).column(0)
    starts = [place for place in (column.dictionary_page_offset, column.data_page_offset) if place]
    head = read_at(file, 64, min(starts, default=0))
    place = 0
    for _ in range(_SIZES):
        place += 1
        while place < len(head) and head[place] & 0x80:
            place += 1
        place += 1
    return head[place : place + 1] == _CHECKSUM


@contextmanager
def opened_parquet(path: str, identity: Identity) -> Iterator[IO[bytes]]:
    """Open a whole Parquet file that is not encrypted.

    Raises:
        BrokenSourceError: It is none, or Arrow could not read it while it was open.
        Refusal: The file was changed.
    """
    try:
        with opened(path, identity, "parquet-broken") as file:
            _check_ends(path, file, identity.size)
            yield file
    except BrokenSourceError as error:
        if "decrypt" in error.violation.message.lower():  # columns may be encrypted where the end of the file is not
            raise _encrypted(path) from None
        raise


def _check_ends(path: str, file: IO[bytes], size: int) -> None:
    head, tail = read_at(file, 4, 0), read_at(file, 4, max(size - 4, 0))
    plain, encrypted = PARQUET.magic
    if encrypted in (head, tail):
        raise _encrypted(path)
    if head != plain:
        message = "is named as Parquet and is none"
    elif tail != plain or size < 12:
        message = "is cut off: it has no end as Parquet has; copy it again, or wait until its writer is done"
    else:
        return
    raise BrokenSourceError(Violation("parquet-broken", message, label(path)))


def _encrypted(path: str) -> BrokenSourceError:
    message = "is encrypted; write it again in the clear, or name what it was made from"
    return BrokenSourceError(Violation("parquet-encrypted", message, label(path)))
