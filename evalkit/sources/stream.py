"""Streams: what can only be read in order, digested on the way, decompressed, and cut into blocks of whole lines."""

from __future__ import annotations

import hashlib
import io
import select
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any

from evalkit.records.strict_json import MAX_LINE
from evalkit.sources.formats import HEAD, codec_of
from evalkit.sources.urls import Stored

STEP = 1024 * 1024
"""Bytes read at a time; more fall out of the processor's cache before they are digested."""

_MARK = b"\xef\xbb\xbf"


class Tap(io.RawIOBase):
    """A stream that digests, counts and, where asked to, keeps all that is read from it."""

    def __init__(self, raw: IO[bytes], spool: IO[bytes] | None) -> None:
        self.raw = raw
        self.spool = spool
        self.sha256 = hashlib.sha256()
        self.count = 0
        self._head: bytes | None = None
        self._ended = False

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def head(self) -> bytes:
        """Return the first bytes without taking them."""
        if self._head is None:
            self._head = b""
            while len(self._head) < HEAD and (piece := self._take(HEAD - len(self._head))):
                self._head += piece
        return self._head

    def _take(self, size: int) -> bytes:
        while not self._ended:
            # A signal ends this wait, but not the read of a pipe once the dataframe library has set its own handler.
            if not self._ready():
                continue
            piece = self.raw.read(size)
            if piece is not None:  # None: a pipe that does not block has nothing yet
                self._ended = not piece  # a terminal would else have to be told twice
                return piece
        return b""

    def _ready(self) -> bool:
        if isinstance(self.raw, Stored):
            return True
        poll = select.poll()
        poll.register(self.raw, select.POLLIN)
        return bool(poll.poll(1000))

    def readinto(self, buffer: Any) -> int:
        """Read into a buffer, as raw streams do."""
        piece, self._head = (self._head, b"") if self._head else (self._take(len(buffer)), self._head)
        size = len(piece)
        buffer[:size] = piece
        self.sha256.update(piece)
        self.count += size
        if self.spool is not None:
            self.spool.write(piece)
        return size


def decompressed(tap: Tap) -> Any:
    """Return a stream of the text behind a stored stream; several members or frames joined are one text."""
    codec = codec_of(tap.head())
    if codec is None:
        return tap
    import pyarrow as pa  # only where something is compressed: it takes a tenth of a second

    return pa.CompressedInputStream(pa.PythonFile(tap, mode="r"), codec)


@dataclass(frozen=True, slots=True)
class Stream:
    """A text that is read from beginning to end.

    Attributes:
        tap: The stored bytes.
        text: The stream of the text behind them.
    """

    tap: Tap
    text: Any

    def measured(self, blocks: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
        """Yield each block of the text with the number of stored bytes that were read for it."""
        before = 0
        for block in blocks:
            yield block, self.tap.count - before
            before = self.tap.count


class BrokenDataError(Exception):
    """What was to be decompressed is no compressed data, or not all of it."""


def whole_lines(text: Any, size: int) -> Iterator[bytes]:
    """Cut a text into blocks of whole lines; what is past the longest line allowed is left out of a line."""
    pieces: list[bytes] = []
    held = 0
    for piece in pieces_of(text):
        end = piece.rfind(b"\n") + 1
        if end == 0:
            if held <= size + MAX_LINE:
                pieces.append(piece)
                held += len(piece)
            continue
        if held + len(piece) < size:
            pieces.append(piece)
            held += len(piece)
            continue
        yield b"".join([*pieces, piece[:end]])
        pieces, held = ([piece[end:]], len(piece) - end) if end < len(piece) else ([], 0)
    if held:
        yield b"".join(pieces)


def pieces_of(text: Any) -> Iterator[bytes]:
    """Read pieces of the same size, however little a pipe gives at a time: a second reading must cut the same."""
    while True:
        piece = b""
        try:
            while len(piece) < STEP and (more := text.read(STEP - len(piece))):
                piece += more
        except OSError as error:
            if error.errno is not None:  # the machine's failure, not the data's
                raise
            raise BrokenDataError(str(error)) from None
        if not piece:
            return
        yield piece


def without_mark(data: bytes, *, first: bool) -> bytes:
    """Return a block without the byte-order mark that it may begin with where it is the first of its source."""
    return data.removeprefix(_MARK) if first else data
