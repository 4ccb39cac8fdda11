"""From what the caller names to sources: files, patterns and standard input, each once, checked before any is read."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, NamedTuple

from evalkit.errors import Refusal, Violation

STANDARD_INPUT = "-"


class Identity(NamedTuple):
    """What tells whether a file is still the same file with the same content."""

    device: int
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, status: os.stat_result) -> Identity:
        """Take the identity from a file's status."""
        return cls(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)


@dataclass(frozen=True, slots=True)
class Source:
    """One input.

    Attributes:
        name: The name as the caller gave it, or as a pattern found it.
        place: The device and the inode where it lies: what two names of one file have in common.
        identity: The regular file's identity when it was named; None for standard input and pipes.
        compressed: Whether the file's first bytes are those of gzip or Zstandard.
    """

    name: str
    place: tuple[int, int]
    identity: Identity | None = None
    compressed: bool = False

    @property
    def label(self) -> str:
        """The name as it is reported."""
        return label(self.name)


def label(name: str) -> str:
    """Return a file's name as it is reported: valid UTF-8 whatever the file system holds, and never nothing."""
    return name.encode("utf-8", "backslashreplace").decode("utf-8") or '""'


class Evidence(NamedTuple):
    """What was read: the name as given, the stored bytes, their SHA-256, the records."""

    name: str
    bytes: int
    sha256: str
    records: int


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


def resolve(paths: Sequence[str]) -> list[Source]:
    """Turn paths, patterns and ``-`` into sources, in the order given; a pattern's files in sorted order.

    A file that exists is that file, even where its name looks like a pattern. A pattern stands for files only.

    Raises:
        Refusal: A path does not exist, a pattern matches nothing, a directory is named, a file cannot be read, or one
            file is named twice. Everything that is wrong is said at once.
    """
    faults: list[Violation] = []
    sources: list[Source] = []
    seen: dict[tuple[int, int], Source] = {}
    for path in paths:
        for name in _expand(path, faults):
            source = _examine(name, faults)
            if source is None:
                continue
            earlier = seen.setdefault(source.place, source)
            if earlier is not source:
                message = f"is the same file as {earlier.label}; name each file once"
                faults.append(Violation("same-file-twice", message, source.label))
            sources.append(source)
    if not paths:
        faults.append(Violation("no-input", "no input is named; give files, patterns, or - for standard input"))
    if faults:
        raise Refusal.of(*faults)
    return sources


def open_same(path: str, identity: Identity) -> IO[bytes]:
    """Open a file that was examined before.

    Raises:
        Refusal: It is gone, or it is not the same file with the same size and time any more.
    """
    try:
        file = open(path, "rb", buffering=0)  # noqa: SIM115 - the caller closes it
    except OSError as error:
        message = f"was there at the start and cannot be opened now: {error.strerror}"
        raise Refusal.of(Violation("file-changed", message, label(path))) from None
    if Identity.of(os.fstat(file.fileno())) != identity:
        file.close()
        message = "was changed while it was read; run again when it is whole"
        raise Refusal.of(Violation("file-changed", message, label(path)))
    return file


def _expand(path: str, faults: list[Violation]) -> list[str]:
    if path == STANDARD_INPUT or _is_there(path):
        return [path]
    if "\0" in path or not glob.has_magic(path):
        faults.append(Violation("path-missing", "there is no such file", label(path)))
        return []
    found = sorted(name for name in glob.glob(path, recursive=True) if not os.path.isdir(name))
    if not found:
        faults.append(Violation("pattern-empty", "the pattern matches no file", label(path)))
    # What a pattern finds is a file, also where it is called "-".
    return [os.path.join(".", name) if name == STANDARD_INPUT else name for name in found]


def _is_there(path: str) -> bool:
    """Tell whether a name is that of a file, or may be one that only its folder hides."""
    try:
        os.lstat(path)
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False
    return True


def _examine(name: str, faults: list[Violation]) -> Source | None:
    """Look at a file: the source that it makes, or None and a fault."""
    try:
        status = os.fstat(0) if name == STANDARD_INPUT else os.stat(name)
        place = (status.st_dev, status.st_ino)
        if stat.S_ISDIR(status.st_mode):
            message = "is a directory; name its files, or a pattern such as DIRECTORY/*.jsonl"
            faults.append(Violation("path-directory", message, label(name)))
            return None
        if name == STANDARD_INPUT or stat.S_ISFIFO(status.st_mode):
            return Source(name, place)
        with open(name, "rb") as file:
            if not stat.S_ISREG(status.st_mode):
                return Source(name, place)
            return Source(name, place, Identity.of(status), codec_of(file.read(4)) is not None)
    except FileNotFoundError:
        faults.append(Violation("path-missing", "there is no such file", label(name)))
    except OSError as error:
        faults.append(Violation("path-unreadable", f"cannot be read: {error.strerror}", label(name)))
    return None
