"""The report of probability vectors, as Python objects, as JSON and as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import polars as pl

from evalkit.families.probability.family import Metrics, summarize
from evalkit.families.probability.measured import measurements
from evalkit.families.probability.metrics import Counts, added
from evalkit.families.probability.rows import COLUMNS, CONTRIBUTORS, contributor_rows, family_tables
from evalkit.metric import Measurement, Place
from evalkit.report import canonical, document, written
from evalkit.results import tables
from evalkit.results.files import write_file, write_folder
from evalkit.sources.source import Evidence
from evalkit.uncertainty.told import Statistics, ends_of

SCHEMA = "evalkit-evaluation-v1"


@dataclass(frozen=True, slots=True)
class Read:
    """What was read.

    Attributes:
        side: ``predictions`` or ``gold``.
        name: The name as given.
        bytes: The stored bytes; None for a data frame.
        sha256: Their SHA-256; None likewise.
        records: The records.
    """

    SNAKE_CASE: ClassVar[bool] = True

    side: str
    name: str
    bytes: int | None
    sha256: str | None
    records: int


@dataclass(frozen=True, slots=True)
class ModelMetrics:
    """The numbers of one model.

    Attributes:
        overall: Over all gold rows.
        by_family: Per family, sorted by its name.
    """

    SNAKE_CASE: ClassVar[bool] = True

    overall: Metrics
    by_family: Mapping[str, Metrics]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The outcome of ``evaluate``.

    Attributes:
        schema: ``evalkit-evaluation-v1``.
        synthetic: Whether the caller said that the records are invented.
        run: The caller's own record of the run, or None.
        bins: The number of confidence bins.
        predictions_sha256: The SHA-256 of the predictions, where they are one file.
        gold_sha256: That of gold, where it is one file.
        evidence: What was read, predictions first, each side in the order given.
        overall: The numbers over all gold rows; None where predictions name models.
        by_family: Those of each family, sorted by its name; None likewise.
        by_model: Both for each model, sorted by its name; None where predictions name none.
        warnings: What the caller should know though nothing was refused.
        contributors: The tallies that intervals are made of; None where no statistics were asked for.
        statistics: How sure the numbers are; None likewise.
    """

    SNAKE_CASE: ClassVar[bool] = True

    schema: str
    synthetic: bool
    run: Mapping[str, Any] | None
    bins: int
    predictions_sha256: str | None
    gold_sha256: str | None
    evidence: tuple[Read, ...]
    overall: Metrics | None
    by_family: Mapping[str, Metrics] | None
    by_model: Mapping[str, ModelMetrics] | None
    warnings: tuple[str, ...] = field(default=(), metadata={"report": False})
    contributors: pl.DataFrame | None = field(default=None, repr=False, compare=False, metadata={"report": False})
    statistics: Statistics | None = field(default=None, metadata={"optional": True})

    @property
    def models(self) -> Mapping[str | None, ModelMetrics]:
        """The numbers by model; by None where predictions name none."""
        if self.overall is not None and self.by_family is not None:
            return {None: ModelMetrics(self.overall, self.by_family)}
        return {model: own for model, own in (self.by_model or {}).items()}  # noqa: C416 - so that None may be a key

    @property
    def measurements(self) -> Iterator[Measurement]:
        """Every number, exact, and where it stands."""
        for place, one in self._places():
            yield from measurements(place, one.counts)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, keys as in the JSON."""
        plain: dict[str, Any] = document(self)
        return plain

    def to_json(self) -> str:
        """Return the report as JSON; the same records give the same text."""
        return canonical(self).decode("utf-8")

    def write_json(self, path: str | Path) -> None:
        """Write the JSON, whole or not at all."""
        write_file(path, written(self))

    def write_tables(self, folder: str | Path) -> None:
        """Write a results folder, whole or not at all: ``report.json`` and a Parquet file for each of ``tables()``."""
        notes = tables.metadata(self.schema, self.evidence, synthetic=self.synthetic)

        def fill(inside: Path) -> None:
            write_file(inside / "report.json", written(self))
            tables.write_tables(inside, self._columns, self._chunks(), notes)

        write_folder(folder, fill)

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the numbers as tidy tables with snake_case columns, one row a thing."""
        return tables.joined(self._columns, self._chunks())

    @property
    def _columns(self) -> Mapping[str, dict[str, pl.DataType]]:
        return COLUMNS if self.contributors is None else {**COLUMNS, "contributors": CONTRIBUTORS}

    def _places(self) -> Iterator[tuple[Place, Metrics]]:
        for model, own in self.models.items():
            yield Place(model), own.overall
            for family, one in own.by_family.items():
                yield Place(model, stratum_field="family", stratum=family), one

    def _chunks(self) -> Iterator[dict[str, pl.DataFrame]]:
        """Make the rows of each table, family by family."""
        ends = {} if self.statistics is None else ends_of(self.statistics, "family")
        for place, one in self._places():
            rows = family_tables(place, one)
            if self.statistics is not None:
                own, level = ends[place.model, place.stratum], self.statistics.level
                rows["measurements"] = tables.with_intervals(rows["measurements"], own, level)
            yield rows
        if self.contributors is not None:
            yield {"contributors": contributor_rows(self.contributors)}


def evaluation(
    counts: Mapping[str | None, Mapping[str, Counts]],
    bins: int,
    evidence: Mapping[str, Sequence[Evidence]],
    *,
    synthetic: bool,
    run: Mapping[str, Any] | None,
    warnings: tuple[str, ...],
    judged: tuple[Statistics, pl.DataFrame] | None = None,
) -> Evaluation:
    """Make the report.

    Args:
        counts: The counts of each family, by model; by None where predictions name none.
        bins: The number of confidence bins.
        evidence: What was read of each side.
        synthetic: Whether the records are invented.
        run: The caller's own record of the run.
        warnings: What the caller should know.
        judged: How sure the numbers are, and the tallies of contributors; None where nobody asked.
    """
    by_model = {model: _model_metrics(own, bins) for model, own in counts.items()}
    alone = by_model.get(None)
    digests = {side: one[0].sha256 if len(one) == 1 else None for side, one in evidence.items()}
    return Evaluation(
        schema=SCHEMA,
        synthetic=synthetic,
        run=run,
        bins=bins,
        predictions_sha256=digests["predictions"],
        gold_sha256=digests["gold"],
        evidence=tuple(Read(side, *one[:4]) for side, each in evidence.items() for one in each),
        overall=None if alone is None else alone.overall,
        by_family=None if alone is None else alone.by_family,
        by_model=None if alone else {model: own for model, own in by_model.items() if model is not None},
        warnings=warnings,
        contributors=None if judged is None else judged[1],
        statistics=None if judged is None else judged[0],
    )


def _model_metrics(families: Mapping[str, Counts], bins: int) -> ModelMetrics:
    overall = summarize(added(families.values()), bins)
    return ModelMetrics(overall, {family: summarize(own, bins) for family, own in sorted(families.items())})
