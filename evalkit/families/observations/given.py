"""What a list is read from: whole lines of a file, plain or compressed, or of standard input, part by part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

from evalkit.errors import Refusal, Violation
from evalkit.records.strict_json import MAX_LINE
from evalkit.sources.formats import JSON_LINES
from evalkit.sources.source import STANDARD_INPUT, Source, open_same, resolve
from evalkit.sources.stream import BrokenDataError, Tap, decompressed, pieces_of, whole_lines, without_mark

PART_BYTES = 1
"""A part ends with the last whole line of each megabyte that is read."""


def sources_of(paths: Mapping[str, str]) -> dict[str, Source]:
    """Look at files, each by the name of what it holds, before any is read.

    Raises:
        Refusal: A path does not exist, is no file of JSON, or is named twice.
    """
    found: dict[str, Source] = {}
    faults: list[Violation] = []
    places: dict[tuple[int, int], str] = {}
    for name, path in paths.items():
        try:
            several = resolve([path])
        except Refusal as refusal:
            faults += refusal.violations
            continue
        for source in several:
            if source.place in places:
                message = f"is the same file as {places[source.place]}; name each file once"
                faults.append(Violation("same-file-twice", message, source.label))
            places.setdefault(source.place, source.label)
            found[name] = source
        if len(several) > 1 or found[name].format != JSON_LINES:
            message = "must be one file of JSON or JSON Lines, plain or compressed"
            faults.append(Violation("one-file", message, found[name].label))
    if faults:
        raise Refusal.of(*faults)
    return found


def whole(source: Source) -> bytes:
    """Read a text whole, or so much of it as shows that it is too long for a document."""
    with _opened(source) as text:
        pieces: list[bytes] = []
        held = 0
        for piece in pieces_of(text):
            pieces.append(piece)
            held += len(piece)
            if held > MAX_LINE:
                break
    return b"".join(pieces)


def parts(source: Source, size: int = PART_BYTES) -> Iterator[bytes]:
    """Read a text in parts of whole lines."""
    with _opened(source) as text:
        for number, part in enumerate(whole_lines(text, size)):
            yield without_mark(part, first=number == 0)


@contextmanager
def _opened(source: Source) -> Iterator[Any]:
    """Open the text behind a source; once it is read, the file must still be the one that was named."""
    try:
        with ExitStack() as stack:
            if source.identity is not None:
                raw = stack.enter_context(open_same(source.name, source.identity))
                yield stack.enter_context(decompressed(Tap(raw, None))) if source.compressed else raw
            else:
                name, own = (0, False) if source.name == STANDARD_INPUT else (source.name, True)
                raw = stack.enter_context(open(name, "rb", buffering=0, closefd=own))
                yield stack.enter_context(decompressed(Tap(raw, None)))
    except BrokenDataError as error:
        message = f"the compressed data is broken or cut off: {error}"
        raise Refusal.of(Violation("compressed-data", message, source.label)) from None
    if source.identity is not None:
        open_same(source.name, source.identity).close()
