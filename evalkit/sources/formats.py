"""The registry of formats: how each is told from a file's name and first bytes, and which module cuts and reads it.

A format is one entry here and one module, which has three functions: ``cut(given)``, ``read(partition, contract,
every=…)`` and ``read_flat(partition, kind)``. The module is named, not imported: it is loaded when the first source of
its format is cut, so that digests are under way by then, and a run over plain JSON Lines loads nothing that only
another format needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

PACKED = (".gz", ".zst")
"""Suffixes of compressed files; whether a file is compressed is told by its first bytes alone."""

HEAD = 8
"""First bytes of a file that tell its format."""


@dataclass(frozen=True, slots=True)
class Format:
    """One format.

    Attributes:
        name: What it is called.
        module: The module that cuts and reads it.
        unit: What its records are counted in: a ``line``, or a ``row`` where there are no lines.
        magic: First bytes of which each is proof of the format.
        suffixes: Names that a file of the format may end in, in lower case.
        seeks: Whether it is read from places all over the file, so that neither a pipe nor a compressed file will do.
        in_order: Whether even a plain file is read from beginning to end, and digested on the way.
    """

    name: str
    module: str
    unit: str = "row"
    magic: tuple[bytes, ...] = ()
    suffixes: tuple[str, ...] = ()
    seeks: bool = False
    in_order: bool = False


JSON_LINES = Format("JSON Lines", "evalkit.formats.json_lines", unit="line")
PARQUET = Format(
    "Parquet",
    "evalkit.formats.parquet",
    magic=(b"PAR1", b"PARE"),
    suffixes=(".parquet", ".pq", ".parq"),
    seeks=True,
)
ARROW = Format(
    "Arrow IPC",
    "evalkit.formats.arrow_ipc",
    magic=(b"ARROW1", b"FEA1"),
    suffixes=(".arrow", ".arrows", ".feather", ".ipc"),
    seeks=True,
)
CSV = Format("CSV", "evalkit.formats.csv_lines", unit="line", suffixes=(".csv",), in_order=True)
FRAME = Format("a data frame", "evalkit.formats.frames")

FORMATS = (PARQUET, ARROW, CSV)
"""The formats that are told from a file; what is none of them is JSON Lines."""


def detect(name: str, head: bytes) -> Format:
    r"""Tell a file's format by its first bytes, else by its name.

    >>> detect("dump", b"PAR1").name, detect("DUMP.CSV.GZ", b"\x1f\x8b").name, detect("dump.txt", b"{").name
    ('Parquet', 'CSV', 'JSON Lines')
    """
    return by_magic(head) or by_suffix(name) or JSON_LINES


def by_magic(head: bytes) -> Format | None:
    """Tell a format by first bytes that no text of JSON begins with."""
    return next((one for one in FORMATS if head.startswith(one.magic)), None)


def by_suffix(name: str) -> Format | None:
    """Tell a format by a file's name, whether or not the file is compressed."""
    plain = name.lower()
    for suffix in PACKED:
        plain = plain.removesuffix(suffix)
    return next((one for one in FORMATS if plain.endswith(one.suffixes)), None)


def codec_of(head: bytes) -> str | None:
    r"""Tell the compression from a file's first bytes; no JSON text begins with either magic number.

    >>> codec_of(b"\x1f\x8b\x08"), codec_of(b'{"mo')
    ('gzip', None)
    """
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    # A Zstandard file may begin with a skippable frame, whose magic number has sixteen forms.
    skippable = head[1:4] == b"\x2a\x4d\x18" and head[:1] and 0x50 <= head[0] <= 0x5F
    return "zstd" if head.startswith(b"\x28\xb5\x2f\xfd") or skippable else None


def home(of: Format) -> Any:
    """Return the module of a format."""
    return import_module(of.module)


def read_rows(partition: Any, contract: Any, *, every: bool = False) -> Any:
    """Read a partition of any format.

    Args:
        partition: An ``evalkit.sources.partition.Partition``.
        contract: An ``evalkit.contracts.contract.Contract``.
        every: Whether the table must hold all records, also those of the train split that nothing scores.

    Returns:
        The ``evalkit.formats.rows.Rows`` of the partition.
    """
    return home(partition.format).read(partition, contract, every=every)


def read_flat(partition: Any, kind: Any) -> Any:
    """Read a partition of any format whose records are flat.

    Args:
        partition: An ``evalkit.sources.partition.Partition``.
        kind: An ``evalkit.formats.flat.FlatKind``.

    Returns:
        Iterates over ``evalkit.formats.flat.FlatRows``: the partition in pieces that are not too large, since a list
        may be of any length. Lines count from 0 in the partition.
    """
    return home(partition.format).read_flat(partition, kind)
