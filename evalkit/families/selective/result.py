"""The report of selective prediction, as Python objects, as JSON and as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl

from evalkit.contracts.contract import BRISTOL_LIMITS
from evalkit.contracts.policy import Terms
from evalkit.exact import rounded
from evalkit.families.selective.candidate import Candidate, Stratum
from evalkit.families.selective.contributors import ContributorPlan
from evalkit.families.selective.rows import COLUMNS, candidate_tables
from evalkit.families.selective.statistics_rows import COLUMNS as STATISTICS_COLUMNS
from evalkit.families.selective.statistics_rows import statistics_tables, whole_tables
from evalkit.families.selective.strata import Strata, worst
from evalkit.families.selective.sureness import Statistics
from evalkit.report import canonical, document, written
from evalkit.results import tables
from evalkit.results.files import write_file, write_folder
from evalkit.sources.source import Evidence

SCHEMA = "evalkit-selective-v1"


@dataclass(frozen=True, slots=True)
class Report:
    """The outcome of ``compare``: one verdict, and every number behind it.

    Attributes:
        schema: ``evalkit-selective-v1``.
        synthetic: Whether the caller said that the records are invented.
        run: The caller's own record of the run, or None.
        verdict: ``GO`` when at least one candidate passes all gates, else ``BLOCKED``.
        recommended: The passing candidate of highest macro F1, then precision at coverage; None when BLOCKED.
        min_coverage: The coverage floor that the thresholds cleared.
        limits: The limit of each gate.
        bins: The number of confidence bins.
        policy: The policy in force, or None.
        evidence: What was read, in the order given.
        candidates: One judgement a model, sorted by name.
        statistics: How sure the numbers are; None, and not in the JSON, where nothing of it was asked for.
        cuts: Every cut of every model on validation, over all records and in each stratum: accepted, correct, total.
        tallies: The plan of the contributor tallies, where statistics were asked for.
        warnings: What the caller should know though nothing was refused.
    """

    schema: str
    synthetic: bool
    run: Mapping[str, Any] | None
    verdict: str
    recommended: str | None
    min_coverage: float
    limits: Mapping[str, float]
    bins: int
    policy: Terms | None
    evidence: tuple[Evidence, ...]
    candidates: tuple[Candidate, ...]
    statistics: Statistics | None = field(repr=False, metadata={"optional": True})
    cuts: pl.DataFrame = field(repr=False, compare=False, metadata={"report": False})
    tallies: ContributorPlan | None = field(default=None, repr=False, compare=False, metadata={"report": False})
    warnings: tuple[str, ...] = field(default=(), metadata={"report": False})

    def __getitem__(self, model: str) -> Candidate:
        """Return the candidate of this name."""
        for candidate in self.candidates:
            if candidate.model == model:
                return candidate
        raise KeyError(model)

    @property
    def changed_limits(self) -> dict[str, float]:
        """The limits that are not the default ones."""
        default = {name: rounded(Fraction(limit)) for name, limit in BRISTOL_LIMITS.items()}
        return {name: limit for name, limit in self.limits.items() if limit != default.get(name)}

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

    def worst_strata(self, number: int) -> list[tuple[Candidate, Stratum]]:
        """Return the strata of lowest precision at coverage, the largest first among equals."""
        strata = {one.model: one.strata for one in self.candidates if isinstance(one.strata, Strata)}
        return [(self[model], stratum) for model, stratum in worst(strata, number)]

    @property
    def _columns(self) -> Mapping[str, Mapping[str, pl.DataType]]:
        return COLUMNS if self.statistics is None else {**COLUMNS, **STATISTICS_COLUMNS}

    def _chunks(self) -> Iterator[dict[str, pl.DataFrame]]:
        """Make the rows of each table, candidate by candidate."""
        cuts = self.cuts.partition_by("model", as_dict=True)
        sure = {one.model: one for one in (self.statistics.candidates if self.statistics is not None else ())}
        for one in self.candidates:
            found = candidate_tables(one, one.model == self.recommended, cuts.get((one.model,)))
            if self.statistics is not None:
                found |= statistics_tables(sure[one.model], found["measurements"], self.statistics.level)
            yield found
        if self.statistics is not None and self.tallies is not None:
            yield whole_tables(self.statistics, self.tallies)
