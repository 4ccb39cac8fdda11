"""A report read back for drawing: from a file, from a results folder with its curves, or from what Python holds."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evalkit.charts import of_evaluation, of_metrics, of_selective, whole
from evalkit.charts.fields import taking
from evalkit.charts.model import Point, Subject
from evalkit.errors import Refusal, Violation
from evalkit.records.strict_json import parse_object, show
from evalkit.report import canonical
from evalkit.results.report_file import MAX_REPORT, read_bytes, refused

if TYPE_CHECKING:
    import polars as pl

REPORT, CURVE = "report.json", "curve.parquet"


def read(report: str | os.PathLike[str] | Mapping[str, Any] | object) -> Subject:
    """Read a report of any schema of evalkit, or a document with metrics.

    Args:
        report: A file, a results folder, ``-`` for standard input, plain data, or a ``Report``.

    Raises:
        Refusal: It cannot be read, is no strict JSON, or lacks what a chart must show.
    """
    if isinstance(report, str | os.PathLike):
        path = os.fspath(report)
        folder = os.path.isdir(path)
        file = os.path.join(path, REPORT) if folder else path
        raw = read_bytes(file)
        if raw is None:
            raise refused([Violation("report-unreadable", "there is no such report")], file)
        return subject_of(raw, file, os.path.join(path, CURVE) if folder else None)
    cuts = getattr(report, "cuts", None)
    subject = subject_of(canonical(report), None, None)
    return subject if cuts is None else with_curves(subject, cuts)


def subject_of(raw: bytes, name: str | None, curve: str | None) -> Subject:
    """Read a report, with the curves of the file named beside it; None for none."""
    plain = _plain(raw, name)
    schema = plain.get("schema")
    if isinstance(schema, str) and schema.startswith("evalkit-"):
        _refuse_broken(plain, schema, name)
    ours = schema in (of_selective.SCHEMA, of_evaluation.SCHEMA)
    fields = taking("not-whole") if ours else taking("metric-document")
    if schema == of_selective.SCHEMA:
        subject = of_selective.selective(plain, fields)
    elif schema == of_evaluation.SCHEMA:
        subject = of_evaluation.evaluation(plain, fields)
    else:
        subject = of_metrics.metrics(plain, fields)
    if fields.faults:
        raise refused(fields.faults, name)
    if schema == of_selective.SCHEMA and curve is not None and os.path.exists(curve):
        return with_curves(subject, _cuts(curve, plain))
    return subject


_OWN: Mapping[str, Callable[[Mapping[str, Any]], Iterator[Violation]]] = {
    of_selective.SCHEMA: whole.selective_faults,
    of_evaluation.SCHEMA: whole.evaluation_faults,
    of_metrics.SCHEMA: whole.measurement_faults,
}


def _refuse_broken(plain: Mapping[str, Any], schema: str, name: str | None) -> None:
    """Refuse what says that it is evalkit's and is not whole, or is of a kind that has no charts."""
    if schema not in _OWN:
        message = "must be a report that can be drawn: of compare, evaluate or measure"
        raise refused([Violation("report-schema", message, field="schema", value=show(schema))], name)
    if faults := list(_OWN[schema](plain)):
        raise refused(faults, name)


def _plain(raw: bytes, name: str | None) -> dict[str, Any]:
    if len(raw) > MAX_REPORT:
        message = f"must be at most {MAX_REPORT // (1024 * 1024)} MiB long"
        raise refused([Violation("report-too-long", message)], name)
    try:
        plain, faults = parse_object(raw)
    except Refusal as refusal:
        raise refused(refusal.violations, name) from None
    if faults:
        raise refused(faults, name)
    return plain


def _cuts(path: str, report: Mapping[str, Any]) -> pl.DataFrame:
    """Read the curves of a results folder, which must be of the report beside them."""
    import polars as pl

    try:
        notes = pl.read_parquet_metadata(path)
        wanted = ["model", "stratum_field", "cut", "accepted", "correct", "total"]
        cuts = pl.read_parquet(path, columns=wanted)
        evidence = json.loads(notes.get("evalkit.evidence", "null"))
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        message = f"cannot be read as curves: {str(error).splitlines()[0]}"
        raise refused([Violation("curve-unreadable", message)], path) from None
    kinds = {"model": pl.String(), "cut": pl.Float64(), **dict.fromkeys(("accepted", "correct", "total"), pl.Int64())}
    if evidence != report["evidence"] or any(cuts.schema[key] != kind for key, kind in kinds.items()):
        raise refused([Violation("curve-unreadable", "is not of the report beside it")], path)
    return cuts


def with_curves(subject: Subject, cuts: pl.DataFrame) -> Subject:
    """Give each part its curve."""
    import polars as pl

    from evalkit.charts.of_selective import with_points

    whole = cuts.filter(pl.col("stratum_field").is_null()).sort("cut", descending=True)
    by_model = whole.partition_by("model", as_dict=True)
    parts = []
    for part in subject.parts:
        rows = by_model.get((part.title,))
        points = [] if rows is None else rows.select("accepted", "correct", "total").iter_rows()
        found = tuple(Point(over / all_, right / over) for over, right, all_ in points if over and all_)
        parts.append(with_points(part, found))
    return replace(subject, parts=tuple(parts))
