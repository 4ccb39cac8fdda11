"""CSV to the letter of RFC 4180: the definition of a row and of its cells.

A line break ends a row where the number of quotes before it is even. So what is a row depends on the text alone,
however it is cut; a row whose quotes are misplaced breaks a rule, wherever it ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from evalkit.errors import Refusal, Violation
from evalkit.records.strict_json import MAX_LINE, decode
from evalkit.sources.stream import pieces_of

_CELL = re.compile(r'"((?:[^"]|"")*+)"|([^",]*+)')

_LOOSE = "a quote stands in a cell that does not begin with one; quote the cell, and double each quote in it"
_AFTER = "text follows a closing quote; double each quote that a quoted cell holds"
_OPEN = "a quote is never closed"
_RETURN = r"a carriage return stands outside of quotes; end lines with \n or \r\n"
_LONG = f"no row may be longer than {MAX_LINE // (1024 * 1024)} MiB; look for a quote that is never closed"


class EndlessRowError(Exception):
    """A row is longer than any may be; no more is read."""

    def __init__(self, lines: int, violation: Violation) -> None:
        self.lines = lines
        self.violation = violation
        super().__init__(str(violation))


def whole_rows(text: Any, size: int) -> Iterator[bytes]:
    """Cut a text into blocks of whole rows.

    Raises:
        EndlessRowError: A row does not end.
    """
    held: list[bytes] = []
    length = 0
    inside = False
    for piece in pieces_of(text):
        end, inside = _last_end(piece, inside=inside)
        if end == 0 or length + len(piece) < size:
            held.append(piece)
            length += len(piece)
            if end == 0 and length > size + MAX_LINE:
                raise _endless(b"".join(held))
            continue
        yield b"".join([*held, piece[:end]])
        held, length = ([piece[end:]], len(piece) - end) if end < len(piece) else ([], 0)
    if held:
        yield b"".join(held)


def _last_end(piece: bytes, *, inside: bool) -> tuple[int, bool]:
    """Return where the last row ends that does so in a piece, or 0, and whether the piece ends inside quotes."""
    quotes = inside + piece.count(b'"')
    end, before = piece.rfind(b"\n") + 1, quotes
    stop = len(piece)
    while end:
        before -= piece.count(b'"', end, stop)
        if before % 2 == 0:
            break
        end, stop = piece.rfind(b"\n", 0, end - 1) + 1, end
    return end, quotes % 2 == 1


def _endless(data: bytes) -> EndlessRowError:
    end, _ = _last_end(data, inside=False)
    return EndlessRowError(data.count(b"\n", 0, end), Violation("csv-cells", _LONG))


def rows_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield each row, without its line end, with the number of its first line, counted from 0."""
    held: list[bytes] = []
    first = quotes = 0
    for number, line in enumerate(data.removesuffix(b"\n").split(b"\n") if data else ()):
        quotes += line.count(b'"')
        if not held:
            first = number
        held.append(line)
        if quotes % 2 == 0:
            yield first, b"\n".join(held).removesuffix(b"\r")
            held, quotes = [], 0
    if held:
        yield first, b"\n".join(held)


def is_blank(row: bytes) -> bool:
    """Tell a row that is skipped."""
    return not row.strip(b" \t\r")


def cells_of(row: bytes) -> list[str]:
    r"""Return the cells of a row.

    Raises:
        Refusal: It is no row of CSV.

    >>> cells_of(b'a,"b ""c"", d",')
    ['a', 'b "c", d', '']
    >>> cells_of(b'a,"b')
    Traceback (most recent call last):
    ...
    evalkit.errors.Refusal: a quote is never closed [csv-quote]
    """
    if len(row) > MAX_LINE:
        raise Refusal.of(Violation("csv-cells", _LONG))
    text = _decoded(row)
    cells: list[str] = []
    place = 0
    while True:
        found = _CELL.match(text, place)
        quoted = found is not None and found[1] is not None
        value = "" if found is None else found[1].replace('""', '"') if quoted else found[2]
        place = len(text) if found is None else found.end()
        if not quoted and "\r" in value:
            raise Refusal.of(Violation("csv-quote", _RETURN))
        cells.append(value)
        if place == len(text):
            return cells
        if text[place] != ",":
            opens = not quoted and not value
            raise Refusal.of(Violation("csv-quote", _AFTER if quoted else _OPEN if opens else _LOOSE))
        place += 1


def _decoded(row: bytes) -> str:
    """Return the text of a row, held to the same as a line of JSON."""
    try:
        text = row.decode("utf-8")
    except UnicodeDecodeError:
        return decode(row)  # says where it is none
    return decode(row) if text.startswith("\ufeff") else text  # says that the mark must not stand here


def header_faults(names: Sequence[str]) -> Iterator[Violation]:
    """Find the columns without a name, and those whose name another has."""
    for place, name in enumerate(names, 1):
        if not name:
            message = f"column {place} has no name; pandas writes one such for its index, unless told index=False"
            yield Violation("csv-header", message)
        elif name in names[: place - 1]:
            yield Violation("csv-header", "is the name of two columns; give each its own", field=name)
