"""The report of selective prediction, as Python objects, as JSON and as tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from evalkit import tables
from evalkit.families.selective.candidate import Candidate
from evalkit.files import write_file, write_folder
from evalkit.report import canonical, document
from evalkit.source import Evidence

SCHEMA = "evalkit-selective-v1"

_PLACE: dict[str, pl.DataType] = {"model": pl.String(), "split": pl.String(), **tables.STRATUM}
_COUNT, _VALUE = pl.Int64(), pl.Float64()


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
        evidence: What was read, in the order given.
        candidates: One judgement a model, sorted by name.
        cuts: Every cut of every model on validation: model, cut, accepted, correct.
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
    evidence: tuple[Evidence, ...]
    candidates: tuple[Candidate, ...]
    cuts: pl.DataFrame = field(repr=False, compare=False, metadata={"report": False})
    warnings: tuple[str, ...] = field(default=(), metadata={"report": False})

    def __getitem__(self, model: str) -> Candidate:
        """Return the candidate of this name."""
        for candidate in self.candidates:
            if candidate.model == model:
                return candidate
        raise KeyError(model)

    def to_dict(self) -> dict[str, Any]:
        """Return the report as plain data, keys as in the JSON."""
        plain: dict[str, Any] = document(self)
        return plain

    def to_json(self) -> str:
        """Return the report as JSON; the same records give the same text."""
        return canonical(self.to_dict()).decode("utf-8")

    def write_json(self, path: str | Path) -> None:
        """Write the JSON, whole or not at all."""
        write_file(Path(path), canonical(self.to_dict()))

    def write_tables(self, folder: str | Path) -> None:
        """Write a results folder, whole or not at all: ``report.json`` and a Parquet file for each of ``tables()``."""
        notes = tables.metadata(self.schema, self.evidence, synthetic=self.synthetic)

        def fill(inside: Path) -> None:
            write_file(inside / "report.json", canonical(self.to_dict()))
            tables.write_tables(inside, self.tables(), notes)

        write_folder(Path(folder), fill)

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return the numbers as tidy tables with snake_case columns, one row a thing."""
        return {
            "candidates": tables.table([_candidate_row(one, self.recommended) for one in self.candidates], _CANDIDATE),
            "per_class": tables.table(
                [
                    {"model": one.model, "split": one.scored_split, "label": label, **asdict(row)}
                    for one in self.candidates
                    for label, row in (one.per_class or {}).items()
                ],
                _PER_CLASS,
            ),
            "confusion": tables.table([row for one in self.candidates for row in _confusion_rows(one)], _CONFUSION),
            "bins": tables.table(
                [
                    {"model": one.model, "split": one.scored_split, **asdict(row)}
                    for one in self.candidates
                    for row in one.bins or ()
                ],
                _BINS,
            ),
            "curve": self._curve(),
            "measurements": tables.measurements("selective", (m for one in self.candidates for m in one.measurements)),
        }

    def _curve(self) -> pl.DataFrame:
        """Return the validation curve: counts, and the two ratios for those who draw it."""
        totals = tables.table(
            [{"model": one.model, "total": one.selection.total} for one in self.candidates],
            {"model": pl.String(), "total": _COUNT},
        )
        return (
            self.cuts.join(totals, on="model")
            .with_columns(
                split=pl.lit("validation"),
                coverage=pl.col("accepted") / pl.col("total"),
                precision=pl.col("correct") / pl.col("accepted"),
                **{name: pl.lit(None, kind) for name, kind in tables.STRATUM.items()},
            )
            .select(*_PLACE, "cut", "accepted", "correct", "total", "coverage", "precision")
            .sort("model", "cut", descending=[False, True])
        )


_CANDIDATE: dict[str, pl.DataType] = {
    **_PLACE,
    "passed": pl.Boolean(),
    "recommended": pl.Boolean(),
    "reason": pl.String(),
    "threshold": _VALUE,
    "validation_total": _COUNT,
    "validation_accepted": _COUNT,
    "validation_coverage": _VALUE,
    "validation_precision_at_coverage": _VALUE,
    "total": _COUNT,
    "accepted": _COUNT,
    "no_suggestion": _COUNT,
    "low_confidence": _COUNT,
    "coverage": _VALUE,
    "precision_at_coverage": _VALUE,
    "macro_f1": _VALUE,
    "ece": _VALUE,
    "excluded_classes": pl.List(pl.String()),
}
_PER_CLASS: dict[str, pl.DataType] = {
    **_PLACE,
    "label": pl.String(),
    "support": _COUNT,
    "predicted": _COUNT,
    "precision": _VALUE,
    "recall": _VALUE,
    "f1": _VALUE,
}
_CONFUSION: dict[str, pl.DataType] = {**_PLACE, "truth": pl.String(), "predicted": pl.String(), "count": _COUNT}
_BINS: dict[str, pl.DataType] = {
    **_PLACE,
    "bin": pl.Int16(),
    "lower": _VALUE,
    "upper": _VALUE,
    "count": _COUNT,
    "mean_confidence": _VALUE,
    "accuracy": _VALUE,
}


def _candidate_row(one: Candidate, recommended: str | None) -> dict[str, Any]:
    abstentions = one.abstentions or {}
    excluded = one.excluded_classes
    return {
        "model": one.model,
        "split": one.scored_split,
        "passed": one.passed,
        "recommended": one.model == recommended,
        "reason": one.reason,
        "threshold": one.threshold,
        "validation_total": one.selection.total,
        "validation_accepted": one.selection.accepted,
        "validation_coverage": one.selection.coverage,
        "validation_precision_at_coverage": one.selection.precision_at_coverage,
        "total": one.total,
        "accepted": one.accepted,
        "no_suggestion": abstentions.get("no-suggestion"),
        "low_confidence": abstentions.get("low-confidence"),
        "coverage": one.coverage,
        "precision_at_coverage": one.precision_at_coverage,
        "macro_f1": one.macro_f1,
        "ece": one.ece,
        "excluded_classes": None if excluded is None else [str(label) for label in excluded],
    }


def _confusion_rows(one: Candidate) -> list[dict[str, Any]]:
    place = {"model": one.model, "split": one.scored_split}
    return [{**place, "truth": truth, "predicted": predicted, "count": count} for truth, predicted, count in one.cells]
