"""Queries from JSON Lines: whole lines in, their tally out, with what the digest and the checks of the whole need.

Lines that the grammar certifies (``shape``) are cut apart and counted in a frame; every other line is read one by one
by the exact reader, which alone words what is wrong. Both give the same tally and the same canonical text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from typing import Any

import polars as pl

from evalkit.errors import Refusal, Violation
from evalkit.families.ranking.cutting import Cut, cut_apart
from evalkit.families.ranking.rules import Query, canonical_query, read_query
from evalkit.families.ranking.shape import pattern, shapes
from evalkit.families.ranking.tally import Tally
from evalkit.formats.certify import sample
from evalkit.reading.engine import WORKERS, Workers, gather
from evalkit.records.rules import is_name
from evalkit.records.strict_json import decode, parse_sound, parse_text, show

PIECE_BYTES = 4 * 1024 * 1024
"""Least bytes that a thread is worth."""

_SAMPLED = 16
_BLANK = r"^[ \t\r]*$"


@dataclass(frozen=True, slots=True)
class Chunk:
    """What whole lines came to.

    Attributes:
        tally: Their queries, counted.
        canonical: The queries as RFC 8785 writes them, in the order of the lines, joined with commas.
        ids: The id of each query, in that order.
        lines: The line of each, counted from 1 with blank lines.
        line_count: How many lines there are, blank ones included.
        faults: What is wrong with each broken line, in order, by its number; without a file.
    """

    tally: Tally
    canonical: bytes
    ids: pl.Series
    lines: pl.Series
    line_count: int
    faults: tuple[tuple[int, tuple[Violation, ...]], ...]


def read_chunk(raw: bytes, sources: Iterable[str] | None) -> Chunk:
    """Read whole lines, one query each; a large chunk piece by piece, in as many threads as there are workers.

    Args:
        raw: The lines; the last may lack its end.
        sources: The declared sources; None where they are not known.
    """
    declared = None if sources is None else frozenset(sources)
    return _joined(list(gather(partial(_read, sources=declared), _pieces(raw), in_order=True)))


def read_chunks(
    parts: Iterable[bytes],
    sources: Iterable[str] | None,
    workers: Workers | None = None,
    *,
    by_source: bool = False,
) -> Iterator[Chunk]:
    """Read parts of whole lines; while what came of some is taken, others are under way.

    Args:
        parts: The lines, part after part.
        sources: The declared sources; None where they are not known.
        workers: Workers at a time, or the engine that has them; None for one more than processors.
        by_source: Whether queries are counted by source too.
    """
    declared = None if sources is None else frozenset(sources)
    pieces = (piece for part in parts for piece in _pieces(part))
    yield from gather(
        partial(_read, sources=declared, by_source=by_source), pieces, workers or WORKERS + 1, in_order=True
    )


def _pieces(raw: bytes) -> Iterator[bytes]:
    """Cut whole lines into a piece for each worker, none of them small."""
    size, start = max(len(raw) // WORKERS, PIECE_BYTES), 0
    while start < len(raw):
        stop = raw.find(b"\n", start + size) + 1 or len(raw)
        yield raw[start:stop]
        start = stop


def _joined(pieces: Sequence[Chunk]) -> Chunk:
    """Put pieces together again."""
    starts = list(accumulate((piece.line_count for piece in pieces), initial=0))
    placed = list(zip(starts, pieces, strict=False))
    return Chunk(
        Tally.total(piece.tally for piece in pieces),
        b",".join(piece.canonical for piece in pieces if piece.canonical),
        pl.concat([pl.Series([], dtype=pl.String), *(piece.ids for piece in pieces)]),
        pl.concat([pl.Series([], dtype=pl.Int64), *(piece.lines + start for start, piece in placed)]),
        starts[-1],
        tuple((start + line, faults) for start, piece in placed for line, faults in piece.faults),
    )


def _read(raw: bytes, sources: frozenset[str] | None, *, by_source: bool = False) -> Chunk:
    """Read whole lines."""
    try:
        lines = pl.scan_lines(raw, name="text", row_index_name="line").collect(engine="streaming")
    except pl.exceptions.PolarsError:  # not UTF-8: the exact reader says where
        every = raw.removesuffix(b"\n").split(b"\n")
        return _chunk([], _Exact(sources, enumerate(every)), len(every), by_source=by_source)
    cuts, rest = [], lines
    for shape in shapes(_valid(sample(raw, _SAMPLED), sources)):
        found, rest = cut_apart(rest, shape, pattern(shape), sources, by_source=by_source)
        cuts.append(found)
    odd = rest.filter(~pl.col("text").str.contains(_BLANK)).sort("line")
    return _chunk(cuts, _Exact(sources, odd.iter_rows()), lines.height, by_source=by_source)


def read_line(raw: bytes, sources: frozenset[str] | None) -> Query | tuple[Violation, ...] | None:
    r"""Read one line, without its ``\n``: a query, the rules that it breaks, or None for a blank line.

    >>> [str(fault) for fault in read_line(b"null", frozenset())]
    ['must be one JSON object; found null [json]']
    """
    raw = raw.removesuffix(b"\r")
    if not raw.strip(b" \t\r"):
        return None
    try:
        text = decode(raw)
        document = parse_sound(text)
        if isinstance(document, dict) and isinstance(query := read_query(document, sources), Query):
            return query
        document, structural = parse_text(text)
    except Refusal as refusal:
        return refusal.violations
    found = read_query(document, sources)
    faults = (*structural, *(() if isinstance(found, Query) else found))
    return named(faults, document) or found


def named(faults: Iterable[Violation], case: object) -> tuple[Violation, ...]:
    """Let violations name the query that they are about, where it has an id."""
    found = case.get("query_id") if isinstance(case, dict) else None
    about = f", in {show(found)}" if is_name(found) else ""
    return tuple(replace(fault, message=fault.message + about) for fault in faults)


def _valid(sample: Iterable[bytes], sources: frozenset[str] | None) -> Iterator[dict[str, Any]]:
    """Yield the sampled lines that are queries beyond doubt, as they are parsed."""
    for raw in sample:
        if isinstance(read_line(raw, sources), Query):
            document = parse_sound(decode(raw.removesuffix(b"\r")))
            if document is not None:
                yield document


class _Exact:
    """Reads lines one by one."""

    def __init__(self, sources: frozenset[str] | None, lines: Iterable[tuple[int, str | bytes]]) -> None:
        self.queries: list[Query] = []
        self.faults: list[tuple[int, tuple[Violation, ...]]] = []
        self._lines: list[int] = []
        for line, text in lines:
            found = read_line(text.encode() if isinstance(text, str) else text, sources)
            if isinstance(found, Query):
                self.queries.append(found)
                self._lines.append(line)
            elif found is not None:
                self.faults.append((line + 1, found))

    def rows(self) -> pl.DataFrame:
        """Return the queries, columns of ``Cut.rows``."""
        texts = [canonical_query(query) for query in self.queries]
        ids = [query.query_id for query in self.queries]
        kinds = {"line": pl.UInt32, "id": pl.String, "canonical": pl.String}
        return pl.DataFrame({"line": self._lines, "id": ids, "canonical": texts}, schema=kinds)


def _chunk(cuts: Sequence[Cut], exact: _Exact, line_count: int, *, by_source: bool) -> Chunk:
    rows = pl.concat([*(one.rows for one in cuts), exact.rows()]).sort("line")
    tally = Tally.total([*(one.tally for one in cuts), Tally.of_queries(exact.queries, by_source=by_source)])
    canonical = ",".join(rows["canonical"].to_list()).encode()
    return Chunk(tally, canonical, rows["id"], rows["line"].cast(pl.Int64) + 1, line_count, tuple(exact.faults))
