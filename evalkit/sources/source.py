"""From what the caller names to sources: files, patterns, folders of Parquet, standard input and data frames.

Each source is there once, and is looked at before any is read.
"""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Protocol, cast

from evalkit.errors import Refusal, Violation
from evalkit.sources import dataset
from evalkit.sources.dataset import Hive
from evalkit.sources.formats import FRAME, HEAD, JSON_LINES, Format, codec_of, detect
from evalkit.sources.identity import Identity as Identity
from evalkit.sources.identity import label as label
from evalkit.sources.identity import open_same as open_same
from evalkit.sources.urls import is_url, store, unknown

STANDARD_INPUT = "-"


class ArrowStream(Protocol):
    """Whatever exports a stream of Arrow data: frames and tables of Polars, pyarrow, pandas and others."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the stream."""


class Lazy(Protocol):
    """A lazy frame of Polars."""

    def collect_batches(self, *, chunk_size: int | None = None) -> Iterator[Any]:
        """Return the rows in batches."""


Input = str | os.PathLike[str] | ArrowStream | Lazy
"""What records are read from: a path, a pattern, a folder, or a data frame."""


@dataclass(frozen=True, slots=True)
class Source:
    """One input.

    Attributes:
        name: The name as the caller gave it, or as a pattern found it.
        place: The device and the inode where it lies: what two names of one file have in common.
        identity: The regular file's identity when it was named; None for standard input, pipes and data frames.
        compressed: Whether the file's first bytes are those of gzip or Zstandard.
        format: Its format.
        hive: What the names of the folders that it lies in say of every record, in a folder of Parquet.
        frame: The data frame, where it is one.
    """

    name: str
    place: tuple[int, int]
    identity: Identity | None = None
    compressed: bool = False
    format: Format = JSON_LINES
    hive: Hive = ()
    frame: Any = field(default=None, repr=False, compare=False)

    @property
    def label(self) -> str:
        """The name as it is reported."""
        return label(self.name)

    @property
    def in_order(self) -> bool:
        """Whether it is read from beginning to end, and digested on the way."""
        return self.format != FRAME and (self.identity is None or self.compressed or self.format.in_order)


class BrokenSourceError(Exception):
    """A source is broken as a whole, and nothing more of it can be read."""

    def __init__(self, violation: Violation) -> None:
        self.violation = violation
        super().__init__(str(violation))


class Evidence(NamedTuple):
    """What was read.

    Attributes:
        name: The name as given.
        bytes: The stored bytes; None for a data frame, of which nothing is stored.
        sha256: Their SHA-256; None likewise.
        records: The records.
        converted_from: The evidence of what the file was converted from; None where it was not converted.
    """

    name: str
    bytes: int | None
    sha256: str | None
    records: int
    converted_from: tuple[Evidence, ...] | None = None


def resolve(given: Sequence[Input]) -> list[Source]:
    """Turn paths, patterns, folders, ``-`` and data frames into sources, in the order given.

    A file that exists is that file, even where its name looks like a pattern. A pattern stands for files only, in
    sorted order, and a folder for the Parquet files in it. A frame is called ``frame``; several are numbered.

    Raises:
        Refusal: A path does not exist, a pattern matches nothing, a directory holds no Parquet, a file cannot be read,
            or one file is named twice. Everything that is wrong is said at once.
        TypeError: Something is neither a path nor a data frame.
    """
    faults: list[Violation] = []
    sources: list[Source] = []
    seen: dict[tuple[int, int], Source] = {}
    for source in _sources(given, faults):
        earlier = seen.setdefault(source.place, source)
        if earlier is not source:
            what = "frame" if source.format == FRAME else "file"
            message = f"is the same {what} as {earlier.label}; name each {what} once"
            faults.append(Violation("same-file-twice", message, source.label))
        sources.append(source)
    if not given:
        faults.append(Violation("no-input", "no input is named; give files, patterns, or - for standard input"))
    if faults:
        raise Refusal.of(*faults)
    return sources


def resolve_sides(predictions: Sequence[Input], gold: Sequence[Input]) -> tuple[list[Source], list[Source]]:
    """Resolve the inputs of two sides, of which no file may be on both.

    Raises:
        Refusal: See ``resolve``; or one input is named on both sides.
    """
    sides = resolve(predictions), resolve(gold)
    seen = {source.place: source for source in sides[0]}
    for source in sides[1]:
        if source.place in seen:
            message = f"is named as gold, and as predictions ({seen[source.place].label}); name each on its side"
            raise Refusal.of(Violation("same-file-twice", message, source.label))
    return sides


def listed(given: Input | Iterable[Input]) -> list[Input]:
    """Return what a caller gave, one path or frame or several, as a list.

    >>> listed("a.jsonl"), listed(["a.jsonl", "b.jsonl"])
    (['a.jsonl'], ['a.jsonl', 'b.jsonl'])
    """
    alone = isinstance(given, str | os.PathLike) or is_frame(given)
    return [cast("Input", given)] if alone else list(cast("Iterable[Input]", given))


def is_frame(given: object) -> bool:
    """Tell whether something is a data frame: a lazy one of Polars, or whatever exports a stream of Arrow data."""
    lazy = type(given).__name__ == "LazyFrame" and type(given).__module__.partition(".")[0] == "polars"
    return lazy or hasattr(given, "__arrow_c_stream__")


def _sources(given: Iterable[Input], faults: list[Violation]) -> Iterator[Source]:
    things = list(given)
    frames = sum(map(is_frame, things))
    number = 0
    for thing in things:
        if is_frame(thing):
            number += 1
            name = "frame" if frames == 1 else f"frame {number}"
            yield Source(name, (-1, id(thing)), format=FRAME, frame=thing)
            continue
        path = os.fspath(cast("str", thing))
        if is_url(path):
            yield from store().sources(path, faults)
            continue
        for name, hive in _expand(path, faults):
            source = _examine(name, hive, faults)
            if source is not None:
                yield source


def _expand(path: str, faults: list[Violation]) -> list[tuple[str, Hive]]:
    if path != STANDARD_INPUT and "\0" not in path and os.path.isdir(path):
        inside, wrong = dataset.files(path)
        faults.extend(replace(one, file=label(one.file or "")) for one in wrong)
        return inside
    if path == STANDARD_INPUT or _is_there(path):
        return [(path, ())]
    if (said := unknown(path)) is not None:
        faults.append(Violation("store-url", said, label(path)))
        return []
    if "\0" in path or not glob.has_magic(path):
        faults.append(Violation("path-missing", "there is no such file", label(path)))
        return []
    found = sorted(name for name in glob.glob(path, recursive=True) if not os.path.isdir(name))
    if not found:
        faults.append(Violation("pattern-empty", "the pattern matches no file", label(path)))
    # What a pattern finds is a file, also where it is called "-".
    return [(os.path.join(".", name) if name == STANDARD_INPUT else name, ()) for name in found]


def _is_there(path: str) -> bool:
    """Tell whether a name is that of a file, or may be one that only its folder hides."""
    try:
        os.lstat(path)
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True


def _examine(name: str, hive: Hive, faults: list[Violation]) -> Source | None:
    """Look at a file: the source that it makes, or None and a fault."""
    try:
        status = os.fstat(0) if name == STANDARD_INPUT else os.stat(name)
        place = (status.st_dev, status.st_ino)
        if stat.S_ISDIR(status.st_mode):  # only standard input can still be one
            message = "is a directory; name its files, or a pattern such as DIRECTORY/*.jsonl"
            faults.append(Violation("path-directory", message, label(name)))
            return None
        if name == STANDARD_INPUT:
            return Source(name, place)
        regular = stat.S_ISREG(status.st_mode)
        head = b""
        if not stat.S_ISFIFO(status.st_mode):
            with open(name, "rb") as file:
                head = file.read(HEAD) if regular else b""
    except FileNotFoundError:
        faults.append(Violation("path-missing", "there is no such file", label(name)))
        return None
    except OSError as error:
        faults.append(Violation("path-unreadable", f"cannot be read: {error.strerror}", label(name)))
        return None
    return sound(name, place, Identity.of(status) if regular else None, head, hive, faults)


def sound(
    name: str, place: tuple[int, int], identity: Identity | None, head: bytes, hive: Hive, faults: list[Violation]
) -> Source | None:
    """Make a source of what was looked at, or add a fault: where its format cannot be read from a stream."""
    compressed = codec_of(head) is not None
    form = detect(name, head)
    if form.seeks and (compressed or identity is None):
        faults.append(needs_file(name, form, compressed=compressed))
        return None
    return Source(name, place, identity, compressed, form, hive)


def needs_file(name: str, form: Format, *, compressed: bool = False) -> Violation:
    """Say that a format is not read from a stream."""
    message = f"holds {form.name}, which is not read from beginning to end; name the file itself"
    if compressed:
        message = f"is compressed as a whole; {form.name} compresses what is in it, so unpack the file first"
    return Violation("needs-file", message, label(name))
