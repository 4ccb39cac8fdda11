"""The report of a measurement: every number with what it rests on, as Python objects, as JSON and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from evalkit.exact import Ratio, rounded
from evalkit.families.observations.document import DEVELOPMENT, Header
from evalkit.families.observations.measured import CAUTION, Row, Tallies, rows
from evalkit.families.observations.sure import Statistics, ends_of
from evalkit.metric import Measurement
from evalkit.report import canonical, document, written

if TYPE_CHECKING:
    import polars as pl

    from evalkit.families.ranking.trec import TrecCounts
    from evalkit.uncertainty.chosen import Chosen

SCHEMA = "evalkit-measurement-v1"
MEASUREMENTS = "measurements"

LIMITATIONS = (
    "Labels, reviews and flags are declarations, not proofs; they have to be audited against actual records.",
    "Sources are told apart by their declared ids; renamed or duplicated sources can leak past declared ids.",
    "Nothing here shows learner improvement, which needs repeated practice observations over 30 days.",
    "A synthetic example proves software behaviour only.",
    "Text is compared as it is: white space, case and code points all count.",
    "No uncertainty is estimated; small samples say little.",
)
"""What a chart of any measurement must say."""

INTERVALS = "Intervals say how numbers would vary with other sources of the same kind, and nothing of wrong labels."
"""What stands in place of the last where uncertainty is estimated."""


@dataclass(frozen=True, slots=True)
class Cache:
    """How the cache was used; null where it was not recorded.

    Attributes:
        hits: Answers that came from it.
        misses: Answers that did not.
        hit_rate: hits / (hits + misses).
    """

    SNAKE_CASE: ClassVar[bool] = True

    hits: int | None = None
    misses: int | None = None
    hit_rate: float | None = None


@dataclass(frozen=True, slots=True)
class Run:
    """What was recorded of the run; null where it was not.

    Attributes:
        commit: The commit.
        python: The version of Python.
        container: The container.
        fixture_version: The version of the fixtures.
        model_revisions: The revisions of the models.
        failures: How many attempts failed.
        cache: How the cache was used.
        not_recorded: The names of what was not recorded.
    """

    SNAKE_CASE: ClassVar[bool] = True

    commit: str | None
    python: str | None
    container: str | None
    fixture_version: str | None
    model_revisions: Any
    failures: int | None
    cache: Cache
    not_recorded: tuple[str, ...]

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Run:
        """Take what was given.

        >>> run = Run.of({"commit": "c1", "cache": {"hits": 3, "misses": 1}})
        >>> run.cache.hit_rate, run.not_recorded
        (0.75, ('python', 'container', 'fixture_version', 'model_revisions', 'failures'))
        """
        cache = Cache()
        if "cache" in given:
            hits, misses = given["cache"]["hits"], given["cache"]["misses"]
            cache = Cache(hits, misses, rounded(Ratio(hits, hits + misses)))
        names = [one.name for one in fields(cls) if one.name != "not_recorded"]
        lacking = tuple(name for name in names if name not in given)
        return cls(**{**dict.fromkeys(names), **given, "cache": cache, "not_recorded": lacking})


@dataclass(frozen=True, slots=True)
class Stratum:
    """The measures of one stratum, of the families that have a case in it."""

    SNAKE_CASE: ClassVar[bool] = True

    stratum: str
    metrics: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True, slots=True)
class MeasurementReport:
    """What was measured on labelled observations, and what it rests on.

    Attributes:
        schema: ``evalkit-measurement-v1``.
        run_id: The run.
        model_revision: The revision of the model.
        dataset_id: The data set.
        synthetic: Whether the observations are invented.
        split: The split that they are of.
        stage: How far the programme of evaluation has come, or None.
        source_ids: The declared sources.
        development_source_ids: The sources that development has seen.
        run: What was recorded of the run.
        evidence_sha256: SHA-256 of the validated input in canonical JSON (RFC 8785).
        metrics: The measures, as plain rows.
        strata: The measures of each stratum.
        trec: What was left out or added while TREC files were read; None where there were none.
        limitations: What a chart of these numbers must say.
        rows: The measures with their exact values.
        statistics: How sure the numbers are; None where nobody asked.
    """

    SNAKE_CASE: ClassVar[bool] = True

    schema: str
    run_id: str
    model_revision: str
    dataset_id: str
    synthetic: bool
    split: str
    stage: str | None
    source_ids: tuple[str, ...]
    development_source_ids: tuple[str, ...]
    run: Run
    evidence_sha256: str
    metrics: tuple[Mapping[str, Any], ...]
    strata: tuple[Stratum, ...]
    trec: Mapping[str, Any] | None
    limitations: tuple[str, ...]
    rows: tuple[Row, ...] = field(repr=False, compare=False, metadata={"report": False})
    statistics: Statistics | None = field(default=None, metadata={"optional": True})

    def __getitem__(self, key: str | tuple[str, str]) -> Mapping[str, Any]:
        """Return a measure by its name, or by its name and the system."""
        name, system = (key, None) if isinstance(key, str) else key
        for row in self.metrics:
            if row["name"] == name and row.get("system") == system:
                return row
        raise KeyError(key)

    @property
    def measurements(self) -> Iterator[Measurement]:
        """Every number with its exact value, those of strata too."""
        return (row.measurement for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, keys as in the JSON."""
        plain: dict[str, Any] = document(self)
        return plain

    def to_json(self) -> str:
        """Return the report as JSON; the same observations give the same text."""
        return canonical(self).decode("utf-8")

    def write_json(self, path: str | Path) -> None:
        """Write the report as JSON, whole or not at all."""
        from evalkit.results.files import write_file

        write_file(path, written(self))

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the numbers as a tidy table, one row a number."""
        from evalkit.results import tables

        found = tables.measurements("measurement", self.measurements)
        if self.statistics is not None:
            found = tables.with_intervals(found, ends_of(self.statistics, self.split), self.statistics.level)
        return {MEASUREMENTS: found}

    def write_tables(self, folder: str | Path) -> None:
        """Write a results folder, whole or not at all: ``report.json`` and ``measurements.parquet``."""
        from evalkit.results import tables
        from evalkit.results.files import write_file, write_folder

        notes = tables.metadata(self.schema, (), synthetic=self.synthetic)
        notes["evalkit.evidence_sha256"] = self.evidence_sha256

        def fill(inside: Path) -> None:
            write_file(inside / "report.json", written(self))
            tables.write_tables(inside, {MEASUREMENTS: tables.MEASUREMENT}, [self.tables()], notes)

        write_folder(folder, fill)


def report(
    header: Header, tallies: Tallies, sha256: str, trec: TrecCounts | None, chosen: Chosen | None = None
) -> MeasurementReport:
    """Make the report."""
    over_all = tuple(rows(tallies, header.split))
    by_stratum = {name: tuple(rows(own, header.split, name)) for name, own in tallies.by_stratum().items()}
    whole = (*over_all, *(row for found in by_stratum.values() for row in found))
    return MeasurementReport(
        schema=SCHEMA,
        run_id=header.run_id,
        model_revision=header.model_revision,
        dataset_id=header.dataset_id,
        synthetic=header.synthetic,
        split=header.split,
        stage=header.stage,
        source_ids=header.source_ids,
        development_source_ids=header.development_source_ids,
        run=Run.of(header.run),
        evidence_sha256=sha256,
        metrics=tuple(row.plain() for row in over_all),
        strata=tuple(Stratum(name, tuple(row.plain() for row in found)) for name, found in by_stratum.items()),
        trec=None if trec is None else document(trec),
        limitations=tuple(_limitations(header, over_all, sure=chosen is not None)),
        rows=whole,
        statistics=None if chosen is None else _statistics(tallies, whole, chosen),
    )


def _statistics(tallies: Tallies, measured: tuple[Row, ...], chosen: Chosen) -> Statistics:
    from evalkit.families.observations.statistics import statistics  # it takes the statistics library

    return statistics(tallies, measured, chosen)


def _limitations(header: Header, over_all: tuple[Row, ...], *, sure: bool) -> Iterator[str]:
    yield from LIMITATIONS[:-1]
    yield INTERVALS if sure else LIMITATIONS[-1]
    if header.split == DEVELOPMENT:
        yield "This is a development run: its sources were seen before, and it says nothing about held-out ones."
    notes: dict[str, Any] = {}
    for row in over_all:
        notes |= row.notes
    if notes.get("review_complete") is False:
        yield "Not every accepted merge is reviewed; incorrect ones may be among the others."
    if notes.get("caution") is not None:
        yield f"The queue was {CAUTION}."
