"""Expressions over typed columns: which rows are surely valid records, and which of them nothing scores."""

from __future__ import annotations

from functools import cached_property, reduce
from operator import and_

import polars as pl

from evalkit.contracts.contract import SPLITS
from evalkit.formats.layout import Column, Layout
from evalkit.formats.patterns import NUMBER
from evalkit.records.reader import names
from evalkit.records.rules import is_model, scalar_text

LINE = "line"

_NOT_BLANK = r"^[^\x00]*[^\s\x00-\x1f][^\x00]*$"
"""A text without U+0000 that Python, too, does not call blank."""

_HEXADECIMAL = b"0123456789abcdef"

_YES, _NO = pl.lit(value=True), pl.lit(value=False)

_DAY = 86_400
_FIRST, _LAST = -62_135_596_800, 253_402_300_799
"""The years 1 to 9999 in seconds since 1970: beyond them the library's calendar panics."""


def struct_column(way: tuple[str, ...]) -> str:
    """Name the column that tells where a struct is null."""
    return f"null:{'.'.join(way)}"


def hive_column(name: str) -> str:
    """Name the column that holds, as texts, what the folders tell as well."""
    return f"hive:{name}"


class Judge:
    """Judges the rows of one frame; see ``typed.read_typed`` for its columns."""

    def __init__(self, frame: pl.DataFrame, layout: Layout) -> None:
        self._frame = frame
        self._layout = layout
        self._contract = layout.contract

    @cached_property
    def models(self) -> frozenset[str]:
        """The names of all models that may be names."""
        return frozenset(name for name in self._names if is_model(name))

    @cached_property
    def _names(self) -> list[str]:
        return self._frame["model"].unique().cast(pl.String).drop_nulls().to_list()

    def is_valid(self) -> pl.Expr:
        """Tell the rows that are valid records beyond doubt."""
        kept = [pl.col(LINE).is_not_null(), self._is_model(), self._is_subject(), self._is_split()]
        kept += [self._is_label("truth"), self._is_prediction()]
        for role, column in self._layout.columns.items():
            if role.startswith("scalar_"):
                kept.append(_is_scalar(role, column))
        kept += [pl.col(hive_column(name)).eq_missing(pl.lit(text)) for name, text in self._layout.checked.items()]
        return reduce(and_, kept).fill_null(value=False)

    def is_unscored(self) -> pl.Expr:
        """Tell, among valid rows, those of the train split whose key derives it."""
        rule = self._contract.split_rule
        if rule is None:
            return _NO
        # Lower-case hexadecimal digits sort as the bytes that they spell.
        derived = pl.col("subject").cast(pl.String) < f"{rule.train_below:02x}"
        return ((pl.col("split") == SPLITS[0]) & derived).fill_null(value=False)

    def _is_model(self) -> pl.Expr:
        wrong = [name for name in self._names if not is_model(name)]
        there = pl.col("model").is_not_null()
        return there & ~pl.col("model").is_in(wrong) if wrong else there

    def _is_subject(self) -> pl.Expr:
        rule = self._contract.split_rule
        if rule is not None and _all_hexadecimal(self._frame["subject"], rule.key_digits):
            return _YES
        pattern = _NOT_BLANK if rule is None else f"^[0-9a-f]{{{rule.key_digits}}}$"
        return pl.col("subject").cast(pl.String).str.contains(pattern)

    def _is_split(self) -> pl.Expr:
        return self._is_one_of("split", SPLITS)

    def _is_one_of(self, role: str, texts: tuple[str, ...]) -> pl.Expr:
        if self._frame.schema[role] == pl.Null:
            return _NO
        return pl.col(role).is_in(texts)

    def _is_label(self, role: str) -> pl.Expr:
        kind = self._layout.columns[role].kind.name
        if kind not in ("whole", "float"):
            return self._is_one_of(role, self._contract.label_texts)
        low, high = self._contract.labels[0], self._contract.labels[-1]
        if kind == "whole":
            return pl.col(role).is_between(low, high)
        value = pl.col(role).cast(pl.Float64)  # Float16 has no floor that works
        return value.is_between(low, high) & (value == value.floor())

    def _is_confidence(self) -> pl.Expr:
        kind = self._layout.columns["confidence"].kind.name
        if kind == "null":
            return _NO
        value = pl.col("confidence")
        if kind == "cell":
            return value.str.contains(f"^{NUMBER}$") & value.cast(pl.Float64, strict=False).is_between(0, 1)
        return value.cast(pl.Float64).is_between(0, 1)

    def _is_prediction(self) -> pl.Expr:
        both = self._is_label("predicted") & self._is_confidence()
        path = self._contract.fields.prediction
        if path is None:
            return both | (pl.col("predicted").is_null() & pl.col("confidence").is_null())
        column = self._layout.columns["predicted"]
        if column.covered < len(names(column.path)):  # a column of nulls alone, for the object or what it stands in
            return _YES if column.covered == len(names(path)) else _NO
        ways = [column.way[:depth] for depth in range(1, len(column.way))]
        gap = pl.col(struct_column(ways[-1]))
        return reduce(and_, (~pl.col(struct_column(way)) for way in ways[:-1]), both | gap)


def _all_hexadecimal(keys: pl.Series, digits: int) -> bool:
    """Tell whether all keys are of so many lower-case digits, in half the time of a pattern; they nearly always are."""
    if keys.dtype != pl.String or keys.null_count() or not (keys.str.len_bytes() == digits).all():
        return False
    text = keys.to_arrow(compat_level=pl.CompatLevel.oldest()).buffers()[2]
    held = b"" if text is None else text.to_pybytes()
    return len(held) == digits * len(keys) and not held.translate(None, _HEXADECIMAL)


def _is_scalar(role: str, column: Column) -> pl.Expr:
    kind = column.kind.name
    if kind == "float":
        return pl.col(role).is_null() | pl.col(role).cast(pl.Float64).is_finite()
    if kind in ("text", "cell"):
        return pl.col(role).is_null() | ~pl.col(role).cast(pl.String).str.contains("\0", literal=True)
    return _YES


def scalar_texts(rows: pl.DataFrame, layout: Layout) -> dict[str, pl.Expr | pl.Series]:
    """Return each scalar that is there as a column of texts: what is none is its JSON text."""
    found: dict[str, pl.Expr | pl.Series] = {}
    for role, column in layout.columns.items():
        if not role.startswith("scalar_"):
            continue
        if column.kind.name == "float":  # the library spells floats otherwise than JSON writers do
            found[role] = pl.Series(role, map(scalar_text, rows[role].to_list()), pl.String)
        else:
            found[role] = pl.col(role).cast(pl.String)
    return found


def written(role: str, kind: pl.DataType) -> pl.Expr:
    """Return dates or times as ISO 8601 writes them, and what lies beyond its years as the number that is stored."""
    if isinstance(kind, pl.Datetime):
        steps = {"ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}[kind.time_unit]
        layout = "%Y-%m-%dT%H:%M:%S%.f%:z" if kind.time_zone else "%Y-%m-%dT%H:%M:%S%.f"
        first, last = _FIRST * steps, _LAST * steps
    else:
        layout, first, last = "%Y-%m-%d", _FIRST // _DAY, _LAST // _DAY
    number = pl.col(role).to_physical().cast(pl.Int64)
    within = number.is_between(max(first, -(2**63)), min(last, 2**63 - 1))
    return (
        pl.when(within)
        .then(pl.when(within).then(pl.col(role)).dt.to_string(layout))
        .otherwise(number.cast(pl.String))
        .alias(role)
    )
