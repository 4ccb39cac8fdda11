"""Why predictions and gold cannot be judged together, said with side, line and id; most of it by a second reading."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import NamedTuple

import polars as pl

from evalkit.errors import Ledger, Refusal, Violation, spot
from evalkit.families.probability.gold import Gold
from evalkit.families.probability.join import FIRST_IDS, Joined
from evalkit.families.probability.prediction import Prediction, decimal, deviation
from evalkit.formats.flat import LINE, FlatRows
from evalkit.reading.counted import Counted, Place, in_order, placed, starts_of
from evalkit.reading.engine import Workers, gather
from evalkit.records.strict_json import show
from evalkit.sources.formats import read_flat
from evalkit.sources.partition import Inputs, Partition

_ANY = Fraction(10**12)
_NEAR = 1e-9


class Deviation(NamedTuple):
    """How far a sum is off 1, and where."""

    off: Fraction
    place: Place
    line: int


def explained(ledger: Ledger, inputs: Inputs, parts: Sequence[Counted], workers: Workers) -> Ledger:
    """Add to what is said of sums that are off 1 how far off the worst is, and the option that would take it."""
    if "sum" not in ledger.counts:
        return ledger
    found = [one for one in gather(_worst, inputs.partitions(), workers) if one is not None]
    if not found:  # each such row has other faults too, and is no row until they are mended
        return ledger
    most = _farthest(found)
    where = spot(inputs.labels[most.place[0]], starts_of(parts)[most.place] + most.line, inputs.units[most.place[0]])
    more = f"; the largest deviation is {decimal(most.off)}, at {where}: where probabilities are rounded, allow it by "
    more += f"--sum-tolerance {decimal(most.off)}"
    shown = (replace(one, message=one.message + more) if one.rule == "sum" else one for one in ledger.shown)
    return replace(ledger, shown=tuple(shown))


def _worst(partition: Partition) -> Deviation | None:
    """Return the largest deviation in a partition."""
    found = [one for rows in read_flat(partition, Prediction(_ANY)) if (one := _worst_of(rows, partition)) is not None]
    return _farthest(found) if found else None


def _worst_of(rows: FlatRows, partition: Partition) -> Deviation | None:
    vectors = rows.table.rows.filter(pl.col("probabilities").is_not_null())
    if vectors.is_empty():
        return None
    far = vectors.with_columns(off=(pl.col("probabilities").list.sum() - 1).abs())
    # Sums of floats rank those that are as good as equal by chance.
    nearly = far.filter(pl.col("off") >= pl.col("off").max() - _NEAR).select(LINE, "probabilities")
    place = (partition.source, partition.number)
    return _farthest(Deviation(abs(deviation(vector)), place, line) for line, vector in nearly.iter_rows())


def _farthest(found: Iterable[Deviation]) -> Deviation:
    """Choose the largest deviation, the first among equals."""
    return min(found, key=lambda one: (-one.off, one.place, one.line))


def twice_in_gold(gold: Gold, inputs: Inputs, parts: Sequence[Counted]) -> Ledger:
    """Say which ids gold has twice."""
    starts = starts_of(parts)

    def where(row: int) -> tuple[str, int, str]:
        place, line = gold.place_of(row)
        return inputs.labels[place[0]], starts[place] + line, inputs.units[place[0]]

    def said() -> Iterator[tuple[Violation, ...]]:
        for pair in gold.twice:
            file, line, unit = where(pair.later)
            message = f"gold {show(pair.id)} is also at {spot(*where(pair.earlier))}; keep one of them"
            yield (Violation("duplicate-id", message, file, line, "id", unit=unit),)

    return Ledger.of(said())


def twice_predicted(gold: Gold, inputs: Inputs, parts: Sequence[Joined], workers: Workers) -> Ledger:
    """Say which ids a model predicts twice."""
    keys = pl.concat([part.met.cast({"key": pl.UInt64}) for part in parts])
    unmet = pl.concat([part.unmet.hashes for part in parts])
    rows, hashes = _repeated(keys), _repeated(unmet)
    if rows.is_empty() and hashes.is_empty():
        return Ledger()
    task = partial(_lines_of, gold=gold, rows=rows, hashes=hashes)
    starts = starts_of(parts)
    found = [
        lines.with_columns(pl.col(LINE) + starts[place], source=pl.lit(place[0]))
        for place, lines in gather(task, inputs.partitions(), workers)
    ]
    lines = pl.concat(found).sort("source", LINE)
    first = pl.struct("source", LINE).first().over("model", "id")
    later = lines.with_columns(first=first).filter(pl.struct("source", LINE) != pl.col("first"))
    columns = later.select("source", LINE, "id", pl.col("model").cast(pl.String), "first")
    return Ledger.of((_twice(inputs, *one),) for one in columns.iter_rows())


def _repeated(keys: pl.DataFrame) -> pl.DataFrame:
    if keys.height < 2 or (keys["model"].n_unique() == 1 and keys["key"].n_unique() == keys.height):
        return keys.clear()
    return keys.group_by("model", "key").len().filter(pl.col("len") > 1).select("model", "key")


def _lines_of(partition: Partition, gold: Gold, rows: pl.DataFrame, hashes: pl.DataFrame) -> tuple[Place, pl.DataFrame]:
    """Return the lines of a partition whose gold row, or whose hash where they have none, is among those given."""
    found = [_among(read, gold, rows, hashes) for read in read_flat(partition, Prediction(_ANY))]
    none = pl.DataFrame(schema={LINE: pl.UInt32, "id": pl.String, "model": pl.Categorical})
    return (partition.source, partition.number), pl.concat([none, *found])


def _among(read: FlatRows, gold: Gold, rows: pl.DataFrame, hashes: pl.DataFrame) -> pl.DataFrame:
    table = read.table.rows.select(LINE, "id", pl.col("model").cast(pl.Categorical))
    row = gold.find(table["id"]).cast(pl.UInt64)
    met = table.with_columns(key=row).join(rows, on=["model", "key"], how="semi", nulls_equal=True)
    unmet = table.filter(row.is_null()).with_columns(key=gold.hashes_of(table["id"].filter(row.is_null())))
    unmet = unmet.join(hashes, on=["model", "key"], how="semi", nulls_equal=True)
    return pl.concat([met.filter(pl.col("key").is_not_null()), unmet]).drop("key")


def _twice(inputs: Inputs, source: int, line: int, one: str, model: str | None, first: dict[str, int]) -> Violation:
    earlier = spot(inputs.labels[first["source"]], first[LINE], inputs.units[first["source"]])
    of = "" if model is None else f" of model {show(model)}"
    message = f"prediction {show(one)}{of} is also at {earlier}; keep one of them"
    return Violation("duplicate-id", message, inputs.labels[source], line, "id", unit=inputs.units[source])


def apart(inputs: Inputs, parts: Sequence[Joined]) -> Ledger:
    """Say which predictions do not fit their gold."""
    starts, found = starts_of(parts), Ledger()
    for part in in_order(parts):
        source = part.place[0]
        shown = tuple(replace(one, unit=inputs.units[source]) for one in part.apart.shown)
        found += placed(replace(part.apart, shown=shown), inputs.labels[source], starts[part.place])
    return found


def without_gold(inputs: Inputs, parts: Sequence[Joined]) -> Ledger:
    """Say how many predictions have no gold, and the first of their ids."""
    count = sum(part.unmet.count for part in parts)
    if not count:
        return Ledger()
    ids = sorted({one for part in parts for one in part.unmet.ids})[:FIRST_IDS]
    named = ", ".join(map(show, ids))
    what = "1 prediction has no gold row" if count == 1 else f"{count:,} predictions have no gold row"
    message = f"{what}: {named}{', …' if count > len(ids) else ''}; add their gold or leave them out"
    return Ledger.of([(Violation("no-gold", message, ", ".join(inputs.labels), field="id"),)])


def partly_named(inputs: Inputs, parts: Sequence[Joined]) -> Ledger:
    """Say where the first prediction without a model stands, if others have one."""
    if not any(part.named for part in parts):
        return Ledger()
    starts = starts_of(parts)
    for part in in_order(parts):
        if part.unnamed is not None:
            source = part.place[0]
            message = "is missing, and other predictions have it; all must name their model, or none"
            line = starts[part.place] + part.unnamed
            fault = Violation("model-missing", message, inputs.labels[source], line, "model", unit=inputs.units[source])
            return Ledger.of([(fault,)])
    return Ledger()


def unclustered_gold(
    gold: Gold, row: int | None, inputs: Inputs, parts: Sequence[Counted], field: str | None
) -> Ledger:
    """Say where the first gold row stands that lacks what rows are clustered by, if others have it."""
    if row is None:
        return Ledger()
    place, line = gold.place_of(row)
    return _unclustered(inputs, place, starts_of(parts)[place] + line, field, "other gold rows have it; all must")


def unclustered(inputs: Inputs, parts: Sequence[Joined], field: str | None) -> Ledger:
    """Say where the first prediction stands that lacks what rows are clustered by, where no gold row has it."""
    starts = starts_of(parts)
    for part in in_order(parts):
        if (line := part.more.unclustered) is not None:
            return _unclustered(inputs, part.place, starts[part.place] + line, field, "no gold row has it either")
    return Ledger()


def _unclustered(inputs: Inputs, place: Place, line: int, field: str | None, others: str) -> Ledger:
    source = place[0]
    message = f"is missing, and rows are clustered by it; {others}"
    fault = Violation("cluster-missing", message, inputs.labels[source], line, field, unit=inputs.units[source])
    return Ledger.of([(fault,)])


def refuse(*ledgers: Ledger) -> None:
    """Refuse for all that ledgers counted, if they counted anything.

    Raises:
        Refusal: Something is wrong.
    """
    whole = sum(ledgers, Ledger())
    if whole.lines:
        raise Refusal.from_ledger(whole)
