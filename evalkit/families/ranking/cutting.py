"""Certified lines, cut apart and counted in a frame.

Of a certified line it is known that a quotation mark always begins or ends a text, and that brackets, commas and the
blanks beside quotation marks are structure (``shape``). So plain searches for them cut it apart, in a fraction of the
time that a parser or the groups of a pattern need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import and_

import polars as pl

from evalkit.families.ranking.metrics import CUTOFF, MAX_GRADE, Outcome
from evalkit.families.ranking.rules import STRATUM, SYSTEMS
from evalkit.families.ranking.shape import Shape
from evalkit.families.ranking.tally import Key, Tally

_KEY_END = "\x01"
"""Stands between an id and its grade; it sorts before whatever an id may hold, so that the ids are sorted."""

_GRADES = tuple(map(str, range(MAX_GRADE, 0, -1)))
"""The grades of relevant documents, and the columns that count them."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What certified lines came to.

    Attributes:
        tally: The queries, counted.
        rows: ``line`` from 0, ``id`` and ``canonical`` of each query.
    """

    tally: Tally
    rows: pl.DataFrame


def cut_apart(
    lines: pl.DataFrame, shape: Shape, pattern: str, sources: frozenset[str] | None, *, by_source: bool = False
) -> tuple[Cut, pl.DataFrame]:
    """Count the lines that a pattern certifies; return the others as they are.

    Args:
        lines: ``line`` and ``text``.
        shape: The order of their keys.
        pattern: What it was compiled to.
        sources: The declared sources; None where they are not known.
        by_source: Whether queries are counted by source too.
    """
    matched = lines["text"].str.contains(pattern)
    parts = _parts(lines.filter(matched), shape)
    sound = parts.select(_is_sound(sources)).to_series()
    good = parts if sound.all() else parts.filter(sound)
    rest = pl.concat([lines.filter(~matched), lines.filter(pl.col("line").is_in(parts["line"].filter(~sound)))])
    rows = good.select("line", pl.col("query_id").alias("id"), canonical=_canonical())
    return Cut(_tally(good, by_source=by_source), rows), rest


def _parts(lines: pl.DataFrame, shape: Shape) -> pl.DataFrame:
    """Cut lines into their scalars, ``graded``, how often each grade stands in it, and the ids of each system."""
    systems = [key for key in shape if key in SYSTEMS]
    compact = pl.col("text").str.replace_all(', "', ',"', literal=True).str.replace_all('": ', '":', literal=True)
    pieces = lines.lazy().select("line", _split(compact, "]", (*systems, "end"))).unnest("pieces")
    lists = pieces.select("line", "end", *(_split(pl.col(key), "[", ("before", "ids"), key) for key in systems))
    befores = [pl.col(key).struct.field("before") for key in systems]
    ids = [pl.col(system).struct.field("ids").alias(_written(system)) for system in SYSTEMS]
    rest = lists.select("line", *ids, rest=pl.concat_str(*befores, "end"))
    opened = rest.with_columns(_split(pl.col("rest"), "{", ("", "before", "inside"), "opened"))
    closed = _split(pl.col("opened").struct.field("inside"), "}", ("graded", "after"), "closed")
    apart = opened.with_columns(closed).with_columns(
        graded=pl.col("closed").struct.field("graded").str.replace_all('":', _KEY_END, literal=True),
        scalars=pl.concat_str(pl.col("opened").struct.field("before"), pl.col("closed").struct.field("after")),
    )
    written = [_written(system) for system in SYSTEMS]
    split = [_ids(pl.col(_written(system))).alias(system) for system in SYSTEMS]
    return apart.select("line", *written, *split, *_scalars(shape), *_counts(), graded=_sorted_grades()).collect()


def _written(system: str) -> str:
    """Name the column of a system's ids as they are written."""
    return f"{system} written"


def _split(text: pl.Expr, sign: str, names: Sequence[str], alias: str = "pieces") -> pl.Expr:
    """Split a text at every one of a sign into pieces of these names."""
    return text.str.split_exact(sign, len(names) - 1).struct.rename_fields(list(names)).alias(alias)


def _ids(text: pl.Expr) -> pl.Expr:
    """Split the ids between brackets; an empty text holds none."""
    inner = text.str.strip_prefix('"').str.strip_suffix('"')
    return pl.when(inner != "").then(inner.str.split('","')).otherwise(pl.lit([], pl.List(pl.String)))


def _scalars(shape: Shape) -> list[pl.Expr]:
    """Find the values of the keys that hold a text; what is no key has no colon after it."""
    return [
        pl.col("scalars").str.extract(f'"{key}":"([^"]*)"').alias(key)
        if key in shape
        else pl.lit(None, pl.String).alias(key)
        for key in ("query_id", "source_id", STRATUM)
    ]


def _counts() -> list[pl.Expr]:
    return [pl.col("graded").str.count_matches(_KEY_END + grade, literal=True).alias(grade) for grade in _GRADES]


def _sorted_grades() -> pl.Expr:
    return pl.col("graded").str.strip_prefix('"').str.split(',"').list.sort()


def _is_sound(sources: frozenset[str] | None) -> pl.Expr:
    """Tell the queries in which nothing stands twice, something is relevant, and the source is declared."""
    judged = pl.col("graded").list.eval(_document(pl.element()))
    once = [ids.list.n_unique() == ids.list.len() for ids in (*map(pl.col, SYSTEMS), judged)]
    relevant = pl.sum_horizontal(_GRADES) > 0
    declared = pl.lit(value=True) if sources is None else pl.col("source_id").is_in(sorted(sources))
    return reduce(and_, once, relevant & declared)


def _document(graded: pl.Expr) -> pl.Expr:
    """Return the id of a document with its grade."""
    return graded.str.head(-2)


def _canonical() -> pl.Expr:
    """Write queries as RFC 8785 does: keys in order, no blanks; what holds no escape is spelled as it was."""
    graded = pl.col("graded").list.join(',"').str.replace_all(_KEY_END, '":', literal=True)
    pieces: list[pl.Expr] = [pl.lit("{")]
    for system in sorted(SYSTEMS):
        pieces += [pl.lit(f'"{system}":['), pl.col(_written(system)), pl.lit("],")]
    pieces += [pl.lit('"query_id":"'), pl.col("query_id"), pl.lit('","relevance":{"'), graded]
    pieces += [pl.lit('},"source_id":"'), pl.col("source_id"), pl.lit('"')]
    stratum = pl.concat_str(pl.lit(f',"{STRATUM}":"'), STRATUM, pl.lit('"')).fill_null("")
    return pl.concat_str(*pieces, stratum, pl.lit("}"))


def _tally(good: pl.DataFrame, *, by_source: bool) -> Tally:
    """Count queries by what their rankings came to."""
    source = pl.col("source_id") if by_source else pl.lit(None, pl.String)
    besides = good.lazy().select("line", STRATUM, source.alias("source"), *_GRADES)
    graded = pl.col("graded")
    judged = good.lazy().select("line", "graded").explode("graded")
    judged = judged.select("line", document=_document(graded), grade=graded.str.tail(1)).filter(pl.col("grade") != "0")
    tops = [
        good.lazy().select("line", document=pl.col(system).list.head(CUTOFF), system=pl.lit(system))
        for system in SYSTEMS
    ]
    found = (
        pl.concat(tops)
        .explode("document", empty_as_null=True)
        .join(judged, on=["line", "document"], how="left", maintain_order="left")
    )
    found = found.group_by("line", "system", maintain_order=True).agg(pl.col("grade").fill_null("0").str.join(""))
    grade = pl.col("grade").str.strip_chars_end("0")
    counted = found.join(besides, on="line").group_by("system", STRATUM, "source", grade, *_GRADES).len().collect()
    return Tally.of_counts(
        (Key(system, stratum, _outcome(grades, numbers), source), count)
        for system, stratum, source, grades, *numbers, count in counted.iter_rows()
    )


def _outcome(found: str, numbers: Sequence[int]) -> Outcome:
    """Make an outcome of the grades found and of how many documents have each grade, the highest first."""
    return Outcome(tuple(found.encode().translate(_DIGITS)), _ideal(tuple(numbers)), sum(numbers))


_DIGITS = bytes.maketrans(b"0123456789", bytes(range(10)))
"""Turns the bytes of digits into the numbers that they are."""


@lru_cache(maxsize=10_000)
def _ideal(numbers: tuple[int, ...]) -> tuple[int, ...]:
    ideal = [int(grade) for grade, number in zip(_GRADES, numbers, strict=True) for _ in range(min(number, CUTOFF))]
    return tuple(ideal[:CUTOFF])
