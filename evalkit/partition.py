"""From sources to partitions: byte ranges of plain files, blocks of everything that can only be read in order.

A partition is the unit everywhere: it bounds memory, moves the progress bar, and is what a worker gets. However a
source is cut, the same lines come out. No module of the dataframe library is imported here, so that digests are under
way while it loads.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, Protocol, Self

from evalkit.errors import Violation
from evalkit.source import STANDARD_INPUT, Identity, Source, open_same
from evalkit.stream import STEP, BrokenDataError, Tap, decompressed, whole_lines
from evalkit.strict_json import MAX_LINE

PARTITION_BYTES = 15 * 1024 * 1024
"""Bytes of a partition: twice as many are no faster and hold twice the memory; 32 MiB and more is memory that the
allocator fetches anew each time."""

_LOOK = 16 * 1024
_MARK = b"\xef\xbb\xbf"


class Partition(Protocol):
    """Whole lines of one source."""

    @property
    def source(self) -> int:
        """Which source they are from, by its place in the list."""

    @property
    def number(self) -> int:
        """The partition's place in its source."""

    @property
    def stored(self) -> int:
        """How many stored bytes the partition stands for."""

    def load(self) -> bytes:
        """Return the lines, without a byte-order mark at the start of the source."""


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that were read already."""

    source: int
    number: int
    stored: int
    data: bytes

    def load(self) -> bytes:
        """Return the lines."""
        return _without_mark(self.data, first=self.number == 0)


@dataclass(frozen=True, slots=True)
class Range:
    """The lines of a plain file that begin in a byte range."""

    source: int
    number: int
    path: str
    identity: Identity
    start: int
    stop: int

    @property
    def stored(self) -> int:
        """The length of the range."""
        return self.stop - self.start

    def load(self) -> bytes:
        """Read from the start of the first line that begins in the range to the end of the last.

        Raises:
            Refusal: The file is gone, or is not the one that was named.
        """
        with open_same(self.path, self.identity) as file:
            begin = self._line_after(file.fileno(), self.start, self.stop)
            end = self._line_after(file.fileno(), self.stop, self.stop + MAX_LINE + 1)
            # One read of just these lines: a slice of a larger one would copy them all again.
            data = os.pread(file.fileno(), end - begin, begin) if begin < self.stop else b""
        return _without_mark(data, first=self.start == 0)

    def _line_after(self, fd: int, position: int, limit: int) -> int:
        """Return where the first line begins that does so at a position or later; the limit where none is found."""
        if position == 0:
            return 0
        limit = min(limit, self.identity.size)
        # The byte before the position tells whether a line begins there.
        for offset in range(position - 1, limit, _LOOK):
            found = os.pread(fd, _LOOK, offset).find(b"\n") + 1
            if found:
                return min(offset + found, limit)
        return limit


class Inputs:
    """The sources of one run: their partitions, as often as asked for, and their digests.

    Plain files are digested in a thread of its own from the start. Everything else is digested as it passes through,
    and what cannot be read a second time is kept in a temporary file without a name. A source whose compressed data
    turns out to be broken ends there, and is noted in ``broken``.
    """

    def __init__(self, sources: Sequence[Source], partition_bytes: int = PARTITION_BYTES) -> None:
        self.sources = tuple(sources)
        self._size = partition_bytes
        self._digests: dict[int, tuple[int, str]] = {}
        self._spools: dict[int, IO[bytes]] = {}
        self._stack = ExitStack()
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self.broken: dict[int, Violation] = {}
        self._thread = threading.Thread(target=self._digest_files, name="evalkit-digest", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._stack.close()

    @property
    def labels(self) -> list[str]:
        """The name of each source as it is reported."""
        return [source.label for source in self.sources]

    @property
    def stored(self) -> int | None:
        """All stored bytes, or None where that is not known before the end."""
        sizes = [source.identity.size for source in self.sources if source.identity]
        return sum(sizes) if len(sizes) == len(self.sources) else None

    def partitions(self) -> Iterator[Partition]:
        """Cut all sources, in order. A later call cuts the same again."""
        for index, source in enumerate(self.sources):
            if source.identity is not None and not source.compressed:
                yield from self._ranges(index, source.name, source.identity)
            else:
                yield from self._blocks(index, source)

    def digests(self) -> list[tuple[int, str]]:
        """Return the stored bytes and the SHA-256 of each source, once all partitions were taken.

        Raises:
            Refusal: A file was changed while it was read.
        """
        self._thread.join()
        if self._failure is not None:
            raise self._failure
        for source in self.sources:
            if source.identity is not None:
                open_same(source.name, source.identity).close()
        return [self._digests[index] for index in range(len(self.sources))]

    def _ranges(self, index: int, path: str, identity: Identity) -> Iterator[Partition]:
        for number, start in enumerate(range(0, identity.size, self._size)):
            yield Range(index, number, path, identity, start, min(start + self._size, identity.size))

    def _blocks(self, index: int, source: Source) -> Iterator[Partition]:
        with ExitStack() as stack:
            tap = Tap(self._open(index, source, stack), self._spool(index, source))
            text = stack.enter_context(decompressed(tap))
            before = number = 0
            try:
                for data in whole_lines(text, self._size):
                    yield Block(index, number, tap.count - before, data)
                    before, number = tap.count, number + 1
            except BrokenDataError as error:
                message = f"the compressed data is broken or cut off: {error}"
                self.broken[index] = Violation("compressed-data", message, source.label)
        self._digests[index] = (tap.count, tap.sha256.hexdigest())

    def _open(self, index: int, source: Source, stack: ExitStack) -> IO[bytes]:
        if index in self._spools and index in self._digests:
            self._spools[index].seek(0)
            return self._spools[index]
        if source.identity is not None:
            return stack.enter_context(open_same(source.name, source.identity))
        name, own = (0, False) if source.name == STANDARD_INPUT else (source.name, True)
        return stack.enter_context(open(name, "rb", buffering=0, closefd=own))

    def _spool(self, index: int, source: Source) -> IO[bytes] | None:
        if source.identity is not None or index in self._digests:
            return None
        self._spools[index] = self._stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
        return self._spools[index]

    def _digest_files(self) -> None:
        try:
            for index, source in enumerate(self.sources):
                if source.identity is not None and not source.compressed:
                    self._digests[index] = (source.identity.size, self._digest(source.name, source.identity))
        except BaseException as error:  # noqa: BLE001 - handed on to the caller of digests()
            self._failure = error

    def _digest(self, path: str, identity: Identity) -> str:
        sha256 = hashlib.sha256()
        buffer = bytearray(STEP)
        with open_same(path, identity) as file:
            while not self._stop.is_set() and (count := file.readinto(buffer)):  # type: ignore[attr-defined]
                sha256.update(memoryview(buffer)[:count])
        return sha256.hexdigest()


def _without_mark(data: bytes, *, first: bool) -> bytes:
    return data[len(_MARK) :] if first and data.startswith(_MARK) else data
