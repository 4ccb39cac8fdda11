"""Strata: the same test metrics over the records that share a value, made when they are looked at.

A thousand models in two hundred strata are more numbers than need be held at a time. So the tallies are held, which
are small, and what is reported of a stratum is made from them candidate by candidate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

import polars as pl

from evalkit.contracts.contract import Contract
from evalkit.contracts.policy import Policy
from evalkit.families.selective.candidate import Stratum, crossed
from evalkit.families.selective.judge import judge_stratum
from evalkit.families.selective.metrics import Counts
from evalkit.families.selective.plan import Tallies, counts, curve, tally
from evalkit.formats.grammar import scalar

UNLABELLED = "unlabelled"
"""The stratum of the records that have no value."""


def groupings(by: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the fields that strata are formed by: each alone and, where there are several, all together.

    >>> groupings(["site", "device"])
    [('site',), ('device',), ('site', 'device')]
    """
    alone: list[tuple[str, ...]] = [(path,) for path in by]
    return [*alone, tuple(by)] if len(by) > 1 else alone


@dataclass(frozen=True, slots=True)
class Grouping:
    """The tallies of all strata that some fields form.

    Attributes:
        fields: The fields.
        tallies: The tallies, sorted by model; the fields are the key columns after it.
        spans: For each tally, where a model's rows begin and how many they are.
    """

    fields: tuple[str, ...]
    tallies: Tallies
    spans: tuple[Mapping[str, tuple[int, int]], ...]

    @classmethod
    def of(cls, fields: tuple[str, ...], tallies: Tallies) -> Grouping:
        """Sort tallies by model, so that those of one model are a slice."""
        ordered = Tallies(*(frame.with_columns(pl.col("model").cast(pl.String)).sort("model") for frame in tallies))
        return cls(fields, ordered, tuple(_spans(frame) for frame in ordered))

    def counts(self, model: str) -> dict[tuple[str, ...], Counts]:
        """Return the counts of one model's strata, by value."""
        own = (
            frame.slice(*spans.get(model, (0, 0))).drop("model")
            for frame, spans in zip(self.tallies, self.spans, strict=True)
        )
        return counts(Tallies(*own), len(self.fields))

    def worst(self, number: int) -> list[tuple[float, int, str, tuple[str, ...]]]:
        """Return precision at coverage, the negative of accepted, model and values where precision is lowest."""
        cells = self.tallies.cells
        keys = [pl.col(column).cast(pl.String) for column in cells.columns[: 1 + len(self.fields)]]
        right = (pl.col("n") * (pl.col("truth") == pl.col("predicted"))).sum()
        found = cells.group_by(keys).agg(size=pl.col("n").sum(), precision=right / pl.col("n").sum())
        lowest = found.sort("precision", -pl.col("size"), *cells.columns[: len(keys)]).head(number)
        return [(row[-1], -row[-2], row[0], row[1:-2]) for row in lowest.iter_rows()]


def _spans(frame: pl.DataFrame) -> dict[str, tuple[int, int]]:
    sizes = frame.group_by("model", maintain_order=True).len()
    starts = sizes["len"].cum_sum() - sizes["len"]
    return dict(zip(sizes["model"], zip(starts, sizes["len"], strict=True), strict=True))


def group(
    test: pl.LazyFrame, thresholds: Mapping[str, float], contract: Contract, by: Sequence[str]
) -> tuple[Grouping, ...]:
    """Count the test records of every stratum.

    Args:
        test: Outcomes of the test split; the fields to group by are the first of the contract's scalars.
        thresholds: The threshold of each model.
        contract: The number of bins.
        by: The fields.
    """
    columns = columns_of(by)
    named = labelled(test, columns)
    return tuple(
        Grouping.of(fields, tally(named, thresholds, contract.bins, [columns[path] for path in fields]))
        for fields in groupings(by)
    )


def columns_of(by: Sequence[str]) -> dict[str, str]:
    """Return the column of each field, which are the first of the contract's scalars."""
    return {path: scalar(place) for place, path in enumerate(by)}


def labelled(outcomes: pl.LazyFrame, columns: Mapping[str, str]) -> pl.LazyFrame:
    """Put records without a value into the stratum ``unlabelled``."""
    return outcomes.with_columns(pl.col(column).fill_null(UNLABELLED) for column in columns.values())


def curves(validation: pl.LazyFrame, by: Sequence[str], floor: float) -> pl.DataFrame:
    """Draw the validation curve of every model, over all records and in each stratum.

    Args:
        validation: Outcomes of the validation split; the fields to group by are the first of the contract's scalars.
        by: The fields.
        floor: The least confidence that a cut may have.
    """
    columns = columns_of(by)
    named = labelled(validation, columns)
    return pl.concat([_curve(named, fields, columns, floor) for fields in ((), *groupings(by))])


def _curve(validation: pl.LazyFrame, fields: tuple[str, ...], columns: Mapping[str, str], floor: float) -> pl.DataFrame:
    keys = [columns[path] for path in fields]
    records = validation.group_by("model", *keys).agg(total=pl.col("n").sum())
    drawn = curve(validation, keys, floor).lazy()
    drawn = drawn.join(records.with_columns(pl.col("model", *keys).cast(pl.String)), on=["model", *keys])
    found = drawn.collect()
    values = found.select(keys).unique()
    texts = values.with_columns(stratum=pl.Series(map(crossed, values.iter_rows()), dtype=pl.String))
    place = found.join(texts, on=keys, how="left") if keys else found.with_columns(stratum=pl.lit(None, pl.String))
    field = pl.lit(crossed(fields) or None, pl.String)
    return place.select("model", "cut", "accepted", "correct", "total", "stratum", stratum_field=field)


class Strata(Sequence[Stratum]):
    """The strata of one candidate, by field and value, made anew whenever they are gone through."""

    def __init__(self, model: str, grouped: Sequence[Grouping], contract: Contract, policy: Policy | None) -> None:
        self._model, self._contract, self._policy = model, contract, policy
        self.grouped = grouped

    def __iter__(self) -> Iterator[Stratum]:
        for grouping in self.grouped:
            found = grouping.counts(self._model)
            for values in sorted(found):
                yield self._made(grouping, values, found[values])

    def __len__(self) -> int:
        return sum(len(grouping.counts(self._model)) for grouping in self.grouped)

    @overload
    def __getitem__(self, index: int) -> Stratum: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Stratum]: ...
    def __getitem__(self, index: int | slice) -> Stratum | Sequence[Stratum]:
        return tuple(self)[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    __hash__ = None  # type: ignore[assignment]  # equal by content, like a list

    def one(self, grouping: Grouping, values: tuple[str, ...]) -> Stratum:
        """Return one stratum."""
        return self._made(grouping, values, grouping.counts(self._model)[values])

    def _made(self, grouping: Grouping, values: tuple[str, ...], found: Counts) -> Stratum:
        by = dict(zip(grouping.fields, values, strict=True))
        return judge_stratum(self._model, by, found, self._contract, self._policy)


def worst(strata: Mapping[str, Strata], number: int) -> list[tuple[str, Stratum]]:
    """Return the strata of lowest precision at coverage, of larger ones first among equals, each with its model."""
    grouped = next(iter(strata.values())).grouped if strata else ()
    found = [(*place, index) for index, one in enumerate(grouped) for place in one.worst(number)]
    return [(model, strata[model].one(grouped[index], values)) for _, _, model, values, index in sorted(found)[:number]]
