"""Predictions met with gold, partition by partition: tallies of what meets, and what is needed to refuse the rest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from operator import add

import polars as pl

from evalkit.errors import Ledger, Violation
from evalkit.families.probability import terms
from evalkit.families.probability.gold import Gold
from evalkit.families.probability.prediction import Prediction
from evalkit.formats.flat import LINE, FlatRows, broken
from evalkit.reading.contributors import CONTRIBUTOR, numbers_of
from evalkit.reading.counted import Place
from evalkit.reading.tally import merge
from evalkit.records.strict_json import show
from evalkit.sources.formats import read_flat
from evalkit.sources.partition import Partition

FIRST_IDS = 5
"""How many ids without gold are named."""

_BINARY = ("true", "false")
"""Options, in this order, of which the first is the positive class unless gold says otherwise."""

_HASHED = {"model": pl.Categorical, "key": pl.UInt64}


@dataclass(frozen=True, slots=True)
class Unmet:
    """Predictions without gold.

    Attributes:
        count: How many there are.
        ids: The first of their ids, sorted.
        hashes: The hashes of all their ids, with their models.
    """

    count: int = 0
    ids: tuple[str, ...] = ()
    hashes: pl.DataFrame = field(default_factory=lambda: pl.DataFrame(schema=_HASHED))

    def __add__(self, other: Unmet) -> Unmet:
        """Add others."""
        ids = sorted({*self.ids, *other.ids})[:FIRST_IDS]
        return Unmet(self.count + other.count, tuple(ids), pl.concat([self.hashes, other.hashes]))


MORE_KEYS = {
    "contributors": terms.CONTRIBUTOR_KEYS,
    "levels": terms.LEVEL_KEYS,
    "options": terms.OPTION_KEYS,
}
"""By what the tallies are counted that statistics need."""


@dataclass(frozen=True, slots=True)
class More:
    """What statistics need of predictions.

    Attributes:
        tallies: By the names of ``MORE_KEYS``; those alone that are asked for.
        unclustered: The first line without what rows are clustered by; None where all have it.
    """

    tallies: Mapping[str, pl.DataFrame] = field(default_factory=dict)
    unclustered: int | None = None

    def __add__(self, later: More) -> More:
        """Add what a later piece gave."""
        lines = [line for line in (self.unclustered, later.unclustered) if line is not None]
        names = dict.fromkeys((*self.tallies, *later.tallies))
        every = {name: [one.tallies[name] for one in (self, later) if name in one.tallies] for name in names}
        return More({name: merge(some, MORE_KEYS[name]) for name, some in every.items()}, min(lines, default=None))


@dataclass(frozen=True, slots=True)
class Joined:
    """What one partition of predictions gave; lines count from 0 in it.

    Attributes:
        place: The partition.
        stored: How many stored bytes it stands for.
        lines: How many lines it has.
        records: How many of them are valid predictions.
        ledger: What is wrong with the others.
        apart: What is wrong with predictions that are valid, but not for their gold.
        met: The model and the gold row of each prediction, as ``key``.
        unmet: The predictions without gold.
        unnamed: The first line without a model; None where all have one.
        named: Whether some prediction has a model.
        by_class: See ``terms.outcomes``.
        by_bin: See ``terms.outcomes``.
        more: What statistics need.
    """

    place: Place
    stored: int
    lines: int
    records: int
    ledger: Ledger
    apart: Ledger
    met: pl.DataFrame
    unmet: Unmet
    unnamed: int | None
    named: bool
    by_class: pl.DataFrame
    by_bin: pl.DataFrame
    more: More

    def __add__(self, later: Joined) -> Joined:
        """Add what a later piece of the same partition gave."""
        lines = [line for line in (self.unnamed, later.unnamed) if line is not None]
        return Joined(
            self.place,
            self.stored,
            self.lines + later.lines,
            self.records + later.records,
            self.ledger + later.ledger,
            self.apart + later.apart,
            pl.concat([self.met, later.met]),
            self.unmet + later.unmet,
            min(lines, default=None),
            self.named or later.named,
            merge([self.by_class, later.by_class], terms.CLASS_KEYS),
            merge([self.by_bin, later.by_bin], terms.BIN_KEYS),
            self.more + later.more,
        )

    def emptied(self) -> Joined:
        """Return it without the tallies, which are added up elsewhere."""
        more = replace(self.more, tallies={})
        return replace(self, by_class=self.by_class.clear(), by_bin=self.by_bin.clear(), more=more)


def join(partition: Partition, kind: Prediction, gold: Gold, bins: int, *, calibration: bool = False) -> Joined:
    """Read one partition of predictions and meet it with gold, piece by piece.

    Args:
        partition: The partition.
        kind: What a prediction is.
        gold: All gold rows.
        bins: The number of confidence bins.
        calibration: Whether levels of probabilities are to be counted.
    """
    counted = partial(_join, partition=partition, kind=kind, gold=gold, bins=bins, calibration=calibration)
    pieces = (counted(rows) for rows in read_flat(partition, kind))
    first = next(pieces, None) or counted(broken(kind, ()))
    return reduce(add, pieces, first)


def _join(
    rows: FlatRows, partition: Partition, kind: Prediction, gold: Gold, bins: int, *, calibration: bool
) -> Joined:
    read = rows.table.rows
    table = read.with_columns(pl.col("model").cast(pl.Categorical), gold.find(read["id"]).alias("key"))
    met, unmet = table, table.clear()
    if table["key"].null_count():
        met, unmet = table.filter(pl.col("key").is_not_null()), table.filter(pl.col("key").is_null())
    lists = rows.table.lists["option_ids"]
    joined = _with_gold(met, lists, gold)
    if kind.cluster_by is not None and CONTRIBUTOR not in joined.columns:
        joined = joined.with_columns(numbers_of(joined[kind.cluster_by]))
    fits, apart = _fitting(joined)
    scored, labelled = terms.judged(fits, bins)
    by_class, by_bin = terms.outcomes(scored, labelled)
    unnamed = table.filter(pl.col("model").is_null())[LINE]
    return Joined(
        (partition.source, partition.number),
        partition.stored,
        rows.lines,
        rows.records,
        rows.ledger,
        apart,
        met.select("model", pl.col("key").cast(pl.UInt32)),
        _unmet(unmet, gold),
        None if unnamed.is_empty() else unnamed.sort()[0],
        table["model"].null_count() < table.height,
        by_class,
        by_bin,
        _more(fits, lists, scored, labelled, calibration=calibration),
    )


def _more(
    fits: pl.DataFrame, lists: pl.Series, scored: pl.DataFrame, labelled: pl.DataFrame, *, calibration: bool
) -> More:
    found, first = {}, None
    if CONTRIBUTOR in fits.columns:
        found["contributors"] = terms.by_contributor(scored, labelled)
        lacking = fits.filter(pl.col(CONTRIBUTOR).is_null())[LINE]
        first = None if lacking.is_empty() else int(lacking.sort()[0])
    if calibration:
        found |= {"levels": terms.levels(scored), "options": terms.option_levels(fits, lists)}
    return More(found, first)


def _unmet(rows: pl.DataFrame, gold: Gold) -> Unmet:
    if rows.is_empty():
        return Unmet()
    ids = rows["id"]
    hashes = rows.select("model", gold.hashes_of(ids).alias("key"))
    return Unmet(len(ids), tuple(ids.unique().bottom_k(FIRST_IDS).sort()), hashes)


def _with_gold(met: pl.DataFrame, lists: pl.Series, gold: Gold) -> pl.DataFrame:
    """Add what gold says of each prediction, and where its answer and its positive class stand among the options."""
    names = [name for name in ("gold", "family", "positive", CONTRIBUTOR) if name in gold.table.columns]
    rows = met.hstack(gold.table.select(names)[met["key"]])
    place, positive = rows["option_ids"], rows["positive"].cast(pl.String)
    slot = terms.slots(lists, place, rows["gold"].cast(pl.String))
    binary = (lists.list.len() == len(_BINARY)) & (lists.list.get(0, null_on_oob=True) == _BINARY[0])
    binary &= lists.list.get(1, null_on_oob=True) == _BINARY[1]
    first = pl.select(pl.when(binary).then(pl.lit(0, pl.Int64))).to_series().gather(place)
    if positive.null_count() < len(positive):
        said = terms.slots(lists, place, positive)
        first = pl.select(pl.when(positive.is_null()).then(first).otherwise(said)).to_series()
    return rows.with_columns(slot.alias("slot"), first.alias("positive_slot"))


def _fitting(rows: pl.DataFrame) -> tuple[pl.DataFrame, Ledger]:
    """Part the rows whose gold is among their options from the others, and say what is wrong with those."""
    outside = pl.col("slot").is_null()
    positive = pl.col("positive").is_not_null() & pl.col("positive_slot").is_null()
    wrong = rows.filter(outside | positive).sort(LINE)
    if wrong.is_empty():
        return rows, Ledger()
    told = wrong.select(LINE, "id", pl.col("gold", "positive").cast(pl.String), "slot", positive.alias("no_positive"))
    broken = []
    for line, one, gold, named, slot, no_positive in told.iter_rows():
        faults = [_outside("gold-option", f"its gold row says {show(gold)}", line, one)] if slot is None else []
        if no_positive:
            faults.append(_outside("positive-option", f"its gold row names {show(named)} as positive", line, one))
        broken.append(tuple(faults))
    return rows.filter(~(outside | positive)), Ledger.of(broken)


def _outside(rule: str, said: str, line: int, one: str) -> Violation:
    message = f"{said}, which is none of the options, in prediction {show(one)}"
    return Violation(rule, message, line=line, field="option_ids")
