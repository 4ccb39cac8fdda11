"""One prediction: what its line must hold, judged exactly one by one, by whole columns where nothing is in doubt."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction
from typing import Any

import polars as pl

from evalkit.errors import Violation
from evalkit.exact import PLACES
from evalkit.families.probability.faults import Faults
from evalkit.formats.flat import NAME, NUMBERS, TEXT, TEXTS, Field, Table, Values
from evalkit.records.rules import is_confidence, is_name, judge_model
from evalkit.records.strict_json import show

_UNIT = 10**PLACES
_DOUBT = 1e-9
"""How near to the tolerance a sum of floats may come and still tell on which side of it the sum of decimals is."""

_LONG = 100_000
"""Options from which on a sum of floats tells too little."""

FIELDS = (
    Field("id", TEXT),
    Field("option_ids", TEXTS),
    Field("probabilities", NUMBERS, required=False),
    Field("label", TEXT, required=False),
    Field("model", TEXT, required=False),
)


def named(name: str | None) -> tuple[str, ...]:
    """Return a name that may be None as none or one."""
    return () if name is None else (name,)


def own_field(cluster_by: str | None) -> tuple[Field, ...]:
    """Return the field that rows are clustered by, where there is one: a text, or a whole number as its digits."""
    return tuple(Field(name, NAME, required=False) for name in named(cluster_by))


@dataclass(frozen=True, slots=True)
class Prediction:
    """The kind of record that a prediction is.

    Attributes:
        tolerance: How far the sum of a vector may be off 1.
        cluster_by: The field that says which rows belong together, or None.
    """

    tolerance: Fraction
    cluster_by: str | None = None

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields that are read."""
        return (*FIELDS, *own_field(self.cluster_by))

    def judge(self, document: Mapping[str, Any]) -> Values | tuple[Violation, ...]:
        """Return the values of a prediction, or the rules that it breaks."""
        faults = Faults(document, "prediction")
        options = _options(document, faults)
        vector = self._vector(document, options, faults)
        label = faults.take_text("label", "label")
        if vector is None and isinstance(label, str) and options is not None and label not in set(options):
            faults.note(Violation("label", "must be one of the row's options", field="label", value=show(label)))
        model = document.get("model")
        if model is not None and (fault := judge_model(model)) is not None:
            faults.note(fault, "model")
        own = () if self.cluster_by is None else (faults.take_name(self.cluster_by),)
        if faults.found:
            return faults.all()
        return faults.id, options, vector, label, model, *own

    def _vector(self, document: Mapping[str, Any], options: list[str] | None, faults: Faults) -> list[float] | None:
        vector = document.get("probabilities")
        if vector is None:
            return None
        if not isinstance(vector, list):
            message = "must be a list with a number for each option, or null"
            faults.note(Violation("probability", message, field="probabilities", value=show(vector)))
            return None
        wrong = [place for place, value in enumerate(vector) if not is_confidence(value)]
        if wrong:
            faults.note(_no_probability(vector, wrong))
        elif options is not None and len(vector) != len(options):
            message = f"must have {len(options)} numbers, as there are options; it has {len(vector)}"
            faults.note(Violation("vector-length", message, field="probabilities"))
        elif abs(off := deviation(vector)) > self.tolerance:
            faults.note(_off(off, self.tolerance))
        else:
            return [float(value) for value in vector]
        return None

    def is_valid(self, table: Table) -> pl.Series:
        """Tell the rows that are valid beyond doubt."""
        frame, options = table.rows, table.lists["option_ids"]
        rows = frame.with_columns(
            sound=table.of("option_ids", _are_options(options)), length=table.of("option_ids", options.list.len())
        )
        vector = pl.col("probabilities").list
        within = _within(frame["probabilities"])
        within &= (vector.len() == pl.col("length")) & (pl.col("length") < _LONG)
        within &= (vector.sum() - 1).abs() <= float(self.tolerance) - _DOUBT
        known = sound = pl.lit(value=True)
        if frame["label"].null_count() < frame.height:
            sound = pl.col("label").is_null() | no_nul("label")
            known = sound & pl.Series(_is_known(table))
        judged = pl.when(pl.col("probabilities").is_null()).then(known).otherwise(within & sound)
        wrong = [name for name in frame["model"].unique().drop_nulls() if not is_name(name)]
        modelled = ~pl.col("model").is_in(wrong).fill_null(value=False) if wrong else pl.lit(value=True)
        own = [no_nul(name).fill_null(value=True) for name in named(self.cluster_by)]
        checks = pl.all_horizontal("sound", no_nul("id"), judged, modelled, *own)
        return rows.select(checks.fill_null(value=False)).to_series()


def _are_options(lists: pl.Series) -> pl.Series:
    """Tell the lists of at least one text, all distinct, none with U+0000."""
    length = lists.list.len()
    found = ((length >= 1) & (lists.list.n_unique() == length)).fill_null(value=False)
    inner = lists.explode(empty_as_null=False, keep_nulls=False)
    if inner.null_count() or inner.str.contains("\0", literal=True).any():
        wrong = lists.list.eval(pl.element().is_null() | pl.element().str.contains("\0", literal=True)).list.any()
        found &= ~wrong.fill_null(value=True)
    return found


def _within(vectors: pl.Series) -> pl.Expr:
    """Tell the vectors of numbers from 0 to 1; mostly one look at all of them tells."""
    flat = vectors.explode(empty_as_null=False, keep_nulls=False)
    if not flat.null_count() and flat.is_between(0, 1).all():
        return pl.lit(value=True)
    return pl.col("probabilities").list.eval(pl.element().is_between(0, 1).fill_null(value=False)).list.all()


def _is_known(table: Table) -> pl.Series:
    """Tell the rows whose label is one of their options, or that need none."""
    rows = table.rows.with_row_index("row")
    asked = rows.filter(pl.col("probabilities").is_null() & pl.col("label").is_not_null())
    lists = table.lists["option_ids"].gather(asked["option_ids"])
    there = asked.select("row", there=lists.list.contains(asked["label"])).filter(
        ~pl.col("there").fill_null(value=False)
    )
    return ~rows["row"].is_in(there["row"].implode())


def no_nul(name: str) -> pl.Expr:
    """Tell the texts without U+0000."""
    return ~pl.col(name).str.contains("\0", literal=True)


def _options(document: Mapping[str, Any], faults: Faults) -> list[str] | None:
    """Return the options, or None where they are not what they must be."""
    if "option_ids" not in document:
        faults.note(Violation("missing-field", "is missing", field="option_ids"))
        return None
    options = document["option_ids"]
    if not isinstance(options, list) or not options:
        message = "must be a list of texts, of at least one"
        faults.note(Violation("options", message, field="option_ids", value=show(options)))
        return None
    seen: set[str] = set()
    for place, option in enumerate(options):
        fault = None
        if not isinstance(option, str):
            fault = Violation("options", "must be a text")
        elif "\0" in option:
            fault = Violation("nul", "no option may hold the character U+0000")
        elif option in seen:
            fault = Violation("option-twice", "each option may stand once")
        if fault is not None:  # the first tells; a list may hold thousands
            faults.note(replace(fault, value=show(option)), f"option_ids[{place}]")
            return None
        seen.add(option)
    return options


def _no_probability(vector: list[Any], wrong: list[int]) -> Violation:
    first, others = wrong[0], len(wrong) - 1
    more = f"; so must {others:,} more of the row" if others else ""
    shown = vector[first]
    said = str(shown) if isinstance(shown, float) and not math.isfinite(shown) else show(shown)
    return Violation("probability", f"must be a number from 0 to 1{more}", field=f"probabilities[{first}]", value=said)


def deviation(vector: list[float]) -> Fraction:
    """Return how far the sum of a vector is off 1, each probability taken as a decimal of 15 places.

    >>> deviation([0.5, 0.499])
    Fraction(-1, 1000)
    """
    return Fraction(sum(round(value * _UNIT) for value in vector), _UNIT) - 1


def _off(off: Fraction, tolerance: Fraction) -> Violation:
    total = decimal(1 + off)
    message = f"must sum to 1 within {decimal(tolerance)}; it sums to {total}, off by {decimal(abs(off))}"
    return Violation("sum", message, field="probabilities")


def decimal(value: Fraction) -> str:
    """Write a fraction as a decimal of at most 15 places."""
    places = Decimal(1).scaleb(-PLACES)
    exact = (Decimal(value.numerator) / Decimal(value.denominator)).quantize(places, ROUND_HALF_EVEN)
    text = f"{exact:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
