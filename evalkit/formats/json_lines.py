"""JSON Lines: byte ranges of plain files, blocks of whole lines of all else, read by the line grammar."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any

from evalkit.contracts.contract import Contract
from evalkit.errors import Refusal
from evalkit.formats.rows import Rows, read_rows
from evalkit.records.strict_json import MAX_LINE, decode, parse_sound
from evalkit.sources.formats import JSON_LINES, Format
from evalkit.sources.partition import Given
from evalkit.sources.source import Identity, open_same
from evalkit.sources.stream import whole_lines, without_mark
from evalkit.sources.urls import ahead, read_at

if TYPE_CHECKING:
    from evalkit.formats.flat import FlatKind, FlatRows

_LOOK = 16 * 1024


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that were read already."""

    source: int
    number: int
    stored: int
    data: bytes
    format: Format = JSON_LINES

    def load(self) -> bytes:
        """Return the lines, without a byte-order mark at the start of the source."""
        return without_mark(self.data, first=self.number == 0)


@dataclass(frozen=True, slots=True)
class Range:
    """The lines of a plain file that begin in a byte range."""

    source: int
    number: int
    path: str
    identity: Identity
    start: int
    stop: int
    format: Format = JSON_LINES

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
            file = ahead(file, max(self.start - 1, 0), self.stop + _LOOK)
            begin = self._line_after(file, self.start, self.stop)
            end = self._line_after(file, self.stop, self.stop + MAX_LINE + 1)
            # One read of just these lines: a slice of a larger one would copy them all again.
            data = read_at(file, end - begin, begin) if begin < self.stop else b""
        return without_mark(data, first=self.start == 0)

    def _line_after(self, file: IO[bytes], position: int, limit: int) -> int:
        """Return where the first line begins that does so at a position or later; the limit where none is found."""
        if position == 0:
            return 0
        limit = min(limit, self.identity.size)
        # The byte before the position tells whether a line begins there.
        for offset in range(position - 1, limit, _LOOK):
            found = read_at(file, _LOOK, offset).find(b"\n") + 1
            if found:
                return min(offset + found, limit)
        return limit


def cut(given: Given) -> Iterator[Block | Range]:
    """Cut a source into partitions of whole lines."""
    identity = given.source.identity
    if given.stream is not None:
        blocks = given.stream.measured(whole_lines(given.stream.text, given.size))
        for number, (data, stored) in enumerate(blocks):
            yield Block(given.index, number, stored, data)
    elif identity is not None:
        for number, start in enumerate(range(0, identity.size, given.size)):
            stop = min(start + given.size, identity.size)
            yield Range(given.index, number, given.source.name, identity, start, stop)


def read(partition: Block | Range, contract: Contract, *, every: bool) -> Rows:
    """Read a partition's lines."""
    return read_rows(partition.load(), contract, every=every)


def read_flat(partition: Block | Range, kind: FlatKind) -> Iterator[FlatRows]:
    """Read a partition's lines as flat records."""
    from evalkit.formats import flat_lines

    yield flat_lines.read(partition.load(), kind)


def documents(partition: Block | Range) -> Iterator[dict[str, Any]]:
    """Yield the objects of the lines that are sound."""
    for raw in partition.load().split(b"\n"):
        try:
            found = parse_sound(decode(raw.removesuffix(b"\r")))
        except Refusal:
            continue
        if isinstance(found, dict):
            yield found
