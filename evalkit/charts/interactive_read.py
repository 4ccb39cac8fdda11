"""A report read for an interactive page: as it is shown, as plain data, and with the curves of its strata."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evalkit.charts import of_evaluation, of_selective
from evalkit.charts.model import Subject
from evalkit.charts.read import CURVE, REPORT, subject_of, with_curves
from evalkit.errors import Violation
from evalkit.records.strict_json import show
from evalkit.report import canonical
from evalkit.results.report_file import read_bytes, refused

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True)
class Opened:
    """A report.

    Attributes:
        subject: As it is shown.
        plain: As plain data, of a schema that an interactive page is made of.
        cuts: Every cut on validation, of all records and of each stratum; None where no curves are at hand.
    """

    subject: Subject
    plain: Mapping[str, Any]
    cuts: pl.DataFrame | None


def opened(report: str | os.PathLike[str] | Mapping[str, Any] | object) -> Opened:
    """Read a report of candidates or of models.

    Args:
        report: As ``evalkit.charts.read.read`` takes it.

    Raises:
        Refusal: It cannot be read, or is of another schema.
    """
    if not isinstance(report, str | os.PathLike):
        raw, cuts = canonical(report), getattr(report, "cuts", None)
        subject = subject_of(raw, None, None)
        return Opened(subject if cuts is None else with_curves(subject, cuts), _chosen_from(raw, None), cuts)
    path = os.fspath(report)
    folder = os.path.isdir(path)
    file, curve = (os.path.join(path, REPORT), os.path.join(path, CURVE)) if folder else (path, None)
    raw_or_none = read_bytes(file)
    if raw_or_none is None:
        raise refused([Violation("report-unreadable", "there is no such report")], file)
    subject = subject_of(raw_or_none, file, curve)
    return Opened(subject, _chosen_from(raw_or_none, file), _cuts(curve))


def _chosen_from(raw: bytes, name: str | None) -> dict[str, Any]:
    """Return a report, which has been read strictly, as plain data."""
    plain: dict[str, Any] = json.loads(raw)
    if (schema := plain.get("schema")) not in (of_selective.SCHEMA, of_evaluation.SCHEMA):
        message = "must be a report of compare or evaluate, which alone have candidates or models to choose from"
        raise refused([Violation("report-schema", message, field="schema", value=show(schema))], name)
    return plain


def _cuts(path: str | None) -> pl.DataFrame | None:
    """Read curves with their strata; that they are of the report beside them has been seen."""
    import polars as pl

    if path is None or not os.path.exists(path):
        return None
    try:
        cuts = pl.read_parquet(
            path, columns=["model", "stratum_field", "stratum", "cut", "accepted", "correct", "total"]
        )
    except (OSError, pl.exceptions.PolarsError) as error:
        message = f"cannot be read as curves: {str(error).splitlines()[0]}"
        raise refused([Violation("curve-unreadable", message)], path) from None
    return cuts
