"""Lines of TREC files, strictly: judgments of four columns, results of six, white space between them.

One pattern certifies and takes apart the sound lines of a part in one pass. What does not match, or holds a number out
of range, is looked at again, line by line, by the code that words what is wrong with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import polars as pl

from evalkit.errors import Ledger, Refusal, Violation
from evalkit.reading.engine import gather
from evalkit.records.strict_json import show
from evalkit.sources.formats import JSON_LINES
from evalkit.sources.partition import Inputs
from evalkit.sources.source import label, resolve

_WORD = r"[^\x00-\x20\x7f\s]+"
_NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"


@dataclass(frozen=True, slots=True)
class Layout:
    """The columns of one kind of file.

    Attributes:
        columns: What they are called.
        rule: The column of the number, and the rule about it.
        number: The pattern of the number.
        says: What the number must be.
        least: The least it may be.
        most: The most it may be.
        kind: The type that keeps it.
        rest: The pattern of what may follow the last column.
    """

    columns: tuple[str, ...]
    rule: str
    number: str
    says: str
    least: float
    most: float
    kind: Any
    rest: str

    @property
    def line(self) -> str:
        """The pattern of a line, with a group for each column that is read."""
        words = {"query": f"(?P<query>{_WORD})", "document": f"(?P<document>{_WORD})"}
        words[self.rule] = f"(?P<number>{self.number})"
        columns = r"[ \t]+".join(words.get(column, _WORD) for column in self.columns)
        return rf"^[ \t]*{columns}{self.rest}$"

    @property
    def plain(self) -> str:
        """The pattern of a line with one blank between columns, as nearly all are."""
        columns = " ".join(self.number if column == self.rule else _WORD for column in self.columns)
        return f"^{columns}{self.rest}$"


def judgments(max_grade: int) -> Layout:
    """Return the columns of judgments whose grades go up to so much."""
    says = f"must be a whole number up to {max_grade}; give --max-grade where grades go higher"
    columns = ("query", "iteration", "document", "grade")
    return Layout(columns, "grade", "[+-]?[0-9]{1,18}", says, -(10**18), max_grade, pl.Int64, r"[ \t\r]*")


GREATEST_SCORE = 3.4028234663852886e38
"""The greatest score: trec_eval keeps scores as 32-bit floats, and so they are compared."""

RESULTS = Layout(
    ("query", "iteration", "document", "rank", "score", "run"),
    "score",
    _NUMBER,
    "must be a decimal number that a 32-bit float holds",
    -GREATEST_SCORE,
    GREATEST_SCORE,
    pl.Float32,
    r"(?:[ \t\r].*)?",
)
"""The columns of results; whatever text follows them is not read."""


@dataclass(frozen=True, slots=True)
class Lines:
    """The lines of one file.

    Attributes:
        rows: ``query`` as a number, ``document``, ``number`` and ``line``, counted from 1.
        queries: The number of each query; those given come first, others as they appear.
        ledger: What is wrong with other lines.
    """

    rows: pl.DataFrame
    queries: dict[str, int]
    ledger: Ledger


def read_lines(path: str, layout: Layout, known: dict[str, int]) -> Lines:
    """Read a file.

    Args:
        path: The file; it may be compressed.
        layout: Its columns.
        known: Queries that have a number already.

    Raises:
        Refusal: The file cannot be read, or a pattern stands for several.
    """
    sources = [replace(source, format=JSON_LINES) for source in resolve([path])]
    if len(sources) > 1:
        message = f"stands for {len(sources)} files; name one of them"
        raise Refusal.of(Violation("one-file", message, label(path)))
    queries, frames, ledger, before = dict(known), [_EMPTY.cast({"number": layout.kind})], Ledger(), 0
    with Inputs(sources) as inputs:
        for part in gather(partial(_read_part, layout=layout), inputs.partitions(), in_order=True):
            name = sources[part.source].label
            before = before if part.number else 0
            ledger += Ledger.of(_placed(part.broken, name, before + 1))
            numbers = {query: queries.setdefault(query, len(queries)) for query in part.queries}
            query = pl.col("query").replace_strict(numbers, return_dtype=pl.UInt32)
            if part.queries:
                frames.append(part.rows.select(query, "document", "number", pl.col("line") + before + 1))
            before += part.lines
        if inputs.broken:
            raise Refusal.of(*inputs.broken.values())
    return Lines(pl.concat(frames), queries, ledger)


_EMPTY = pl.DataFrame(schema={"query": pl.UInt32, "document": pl.String, "number": pl.Int64, "line": pl.UInt32})


@dataclass(frozen=True, slots=True)
class _Part:
    source: int
    number: int
    rows: pl.DataFrame
    queries: list[str]
    broken: list[tuple[Violation, ...]]
    lines: int


def _read_part(partition: Any, layout: Layout) -> _Part:
    raw: bytes = partition.load()
    try:
        lines = pl.scan_lines(raw, name="text", row_index_name="line").collect(engine="streaming")
    except pl.exceptions.PolarsError:  # not UTF-8: it will be refused, and only what is wrong matters
        every = raw.removesuffix(b"\n").split(b"\n")
        return _Part(partition.source, partition.number, _EMPTY, [], _explained(enumerate(every), layout), len(every))
    number = pl.col("number").cast(pl.Float64 if layout.kind == pl.Float32 else pl.Int64, strict=False)
    rows = lines.select("line", _columns(lines["text"], layout)).unnest("text").with_columns(number)
    sound = rows.select(pl.col("number").is_between(layout.least, layout.most).fill_null(value=False)).to_series()
    broken = [] if sound.all() else _explained(lines.filter(~sound).iter_rows(), layout)
    rows = rows.filter(sound).with_columns(pl.col("number").cast(layout.kind))
    queries = rows["query"].unique(maintain_order=True).to_list()
    return _Part(partition.source, partition.number, rows, queries, broken, lines.height)


def _columns(text: pl.Series, layout: Layout) -> pl.Expr:
    """Take lines apart into ``query``, ``document`` and ``number``, each null where a line is not sound."""
    column = pl.col("text")
    parted = column.str.replace_all("\t", " ", literal=True) if text.str.contains("\t", literal=True).any() else column
    plain = text.to_frame().select(parted.str.contains(layout.plain).all()).item()
    if not plain:
        return column.str.extract_groups(layout.line)
    # A third of the time: what is known to be plain need only be cut.
    pieces = parted.str.split_exact(" ", len(layout.columns) - 1)
    places = {"query": 0, "document": 2, "number": layout.columns.index(layout.rule)}
    return pl.struct(pieces.struct[place].alias(name) for name, place in places.items()).alias("text")


def _placed(broken: list[tuple[Violation, ...]], name: str, first: int) -> Iterator[tuple[Violation, ...]]:
    for faults in broken:
        yield tuple(replace(fault, file=name, line=first + (fault.line or 0)) for fault in faults)


def _explained(lines: Any, layout: Layout) -> list[tuple[Violation, ...]]:
    """Say what is wrong with each line that is not blank."""
    found = ((line, tuple(_faults(text, layout))) for line, text in lines)
    return [tuple(replace(fault, line=line) for fault in faults) for line, faults in found if faults]


def _faults(text: str | bytes, layout: Layout) -> Iterator[Violation]:
    certain = isinstance(text, str)  # that something is wrong with it
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            message = f"must be UTF-8; byte {error.start + 1} of the line is not"
            yield Violation("encoding", message, value=f"0x{text[error.start]:02x}")
            return
    words = re.findall(r"[^ \t]+", text.strip(" \t\r"))
    if not words:
        return
    if len(words) < len(layout.columns) or (len(words) > len(layout.columns) and layout.rule == "grade"):
        names = ", ".join(layout.columns)
        yield Violation("columns", f"must have {len(layout.columns)} columns: {names}", value=f"{len(words)} columns")
        return
    wrong = [*_wrong(words, layout)]
    if certain and not wrong:
        wrong.append(Violation("columns", "cannot be taken apart into its columns"))
    yield from wrong


def _wrong(words: list[str], layout: Layout) -> Iterator[Violation]:
    for column, word in zip(layout.columns, words, strict=False):
        if column == layout.rule and not _is_number(word, layout):
            fault = Violation("score", layout.says) if layout.rule == "score" else Violation("grade", layout.says)
            yield replace(fault, field=column, value=show(word))
        elif not re.fullmatch(_WORD, word):
            message = "must hold no control character and no white space"
            yield Violation("columns", message, field=column, value=show(word))


def _is_number(word: str, layout: Layout) -> bool:
    return re.fullmatch(layout.number, word) is not None and layout.least <= float(word) <= layout.most
