"""An evaluation of probability vectors as it is shown: a part for each model, with a row for each family.

The report is whole, so every field is there and of its type; what is left to be found is a number outside of its range.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from evalkit.charts import of_statistics as sure
from evalkit.charts.fields import Fields, scalars, step
from evalkit.charts.intervals import Interval
from evalkit.charts.members import Members
from evalkit.charts.model import Bin, Column, Grid, Measure, Part, Reliability, Row, Subject
from evalkit.charts.of_calibration import calibration, class_grid, strata_grid
from evalkit.charts.panels import Calibration
from evalkit.metric import Direction

SCHEMA = "evalkit-evaluation-v1"
_SYNTHETIC = "The records are invented: this says nothing about a real model."
_SCORED = "Only records with a vector enter NLL, Brier and ECE; n of each row says how many they are."
_UNSURE = "No interval is given: a number that rests on few records says little."
_BIN = ("lower", "upper", "mean_confidence", "accuracy")
_COLUMNS = (
    *(Column(name) for name in ("items", "scored", "missing")),
    *(Column(name, 1.0) for name in ("accuracy", "balanced", "ECE")),
    *(Column(name) for name in ("NLL", "Brier")),
)


def evaluation(report: Mapping[str, Any], fields: Fields) -> Subject:
    """Show a report that conforms to its schema; a number out of range is noted in the fields."""
    synthetic: bool = report["synthetic"]
    found = sure.statistics(report, fields)
    parts = tuple(_parts(report, found, fields))
    return Subject(
        title="Probability vectors against gold",
        synthetic=synthetic,
        facts=(*_facts(report, fields), *found.facts),
        overview=Grid("Models", "model", _COLUMNS, _overview(parts)) if len(parts) > 1 else None,
        parts=parts,
        limitations=(*([_SYNTHETIC] if synthetic else []), _SCORED, *sure.limits(found, _UNSURE)),
    )


def _facts(report: Mapping[str, Any], fields: Fields) -> Iterator[tuple[str, str]]:
    yield "bins", f"{fields.whole(report['bins'], 'bins'):,}"
    for side in ("predictions", "gold"):
        if (digest := report[f"{side}_sha256"]) is not None:
            yield f"{side} SHA-256", digest
    yield from scalars({"run": report["run"] or {}})


def _parts(report: Mapping[str, Any], found: sure.Statistics, fields: Fields) -> Iterator[Part]:
    if report["by_model"] is None:
        yield _part("All records", report, "", found.of(None), fields)
        return
    for name, one in report["by_model"].items():
        yield _part(name, one, f"{step('by_model', name)}.", found.of(name), fields)


def _part(title: str, own: Mapping[str, Any], path: str, known: sure.Sure, fields: Fields) -> Part:
    found = own["overall"]
    rows, small = [], []
    for name, family in own["by_family"].items():
        where, here = step(f"{path}by_family", name), known.stratum({"family": name})
        rows.append(Row(name, _numbers(family, where, fields), _intervals(here)))
        small.append(Reliability(name, _bins(family, where, here, fields)))
    counts = _numbers(found, f"{path}overall", fields)
    grids = [Grid("Families", "family", _COLUMNS, (Row("all", counts, _intervals(known)), *rows))]
    if recalls := _recalls(found, f"{path}overall", known, fields):
        grids.append(Grid("Classes", "class", (Column("recall", 1.0),), recalls))
    grids += _calibrated(known, own["by_family"])
    scored, items = counts["scored"], counts["items"]
    rows_told = "1 item" if items == 1 else f"{items:,} items"
    return Part(
        title=title,
        summary=f"{rows_told}; {scored:,} scored; {counts['missing']:,} missing",
        measures=tuple(_measures(found, f"{path}overall", known, fields)),
        reliability=Reliability(title, _bins(found, f"{path}overall", known, fields)),
        calibration=_panel(known),
        small=tuple(small) if len(small) > 1 else (),
        grids=tuple(grids),
        notes=tuple(sure.notes(known)),
    )


def _panel(known: sure.Sure) -> Calibration | None:
    """Return the calibration of the answer that was given; None where it was not asked for."""
    top = None if (both := known.inner("calibration")) is None else both.inner("topLabel")
    return None if top is None else calibration(top)


def _calibrated(known: sure.Sure, families: Iterable[str]) -> Iterator[Grid]:
    """Yield the calibration of each family, and of the probability of each class."""
    by_family = [(name, _panel(known.stratum({"family": name}))) for name in families]
    found = strata_grid((name, panel) for name, panel in by_family if panel is not None)
    classes: Members | None = None if (both := known.inner("calibration")) is None else both.inner("classWise")
    if found is not None:
        yield found
    if classes is not None:
        yield class_grid(classes)


def _intervals(known: sure.Sure) -> dict[str, Interval]:
    """Return the intervals of the columns of numbers."""
    keys = {"accuracy": "accuracy", "balanced": "balanced_accuracy", "ECE": "ece", "NLL": "nll"}
    keys |= {"Brier": "brier_multiclass"}
    return {name: interval for name, key in keys.items() if (interval := known.of(key)) is not None}


def _numbers(found: Mapping[str, Any], path: str, fields: Fields) -> dict[str, Any]:
    counts = {"items": "n_items", "scored": "n_scored", "missing": "n_missing"}
    shares = {"accuracy": "accuracy", "balanced": "balanced_accuracy", "ECE": "ece"}
    reals = {"NLL": "nll", "Brier": "brier_multiclass"}
    return {
        **{name: fields.whole(found[key], f"{path}.{key}") for name, key in counts.items()},
        **{name: fields.share(found[key], f"{path}.{key}") for name, key in shares.items()},
        **{name: found[key] for name, key in reals.items()},
    }


def _measures(found: Mapping[str, Any], path: str, known: sure.Sure, fields: Fields) -> Iterator[Measure]:
    def size(key: str) -> int:
        return fields.whole(found[key], f"{path}.{key}")

    predicted, scored = size("n_predicted"), size("n_scored")
    for name, key, sample in (
        ("accuracy", "accuracy", predicted),
        ("balanced accuracy", "balanced_accuracy", predicted),
        ("ECE", "ece", scored),
        ("Brier, positive class", "brier_binary", size("n_binary")),
    ):
        value = fields.share(found[key], f"{path}.{key}")
        better: Direction = "higher" if "accuracy" in key else "lower"
        yield Measure(name, value, direction=better, sample_size=sample, interval=known.of(key))
    for name, key in (("Brier, all classes (0–2)", "brier_multiclass"), ("NLL", "nll")):
        yield Measure(name, found[key], "number", "lower", sample_size=scored, interval=known.of(key))


def _bins(found: Mapping[str, Any], path: str, known: sure.Sure, fields: Fields) -> tuple[Bin, ...]:
    bins = []
    for place, row in enumerate(found["reliability"]):
        where = f"{path}.reliability[{place}]"
        count = fields.whole(row["n"], f"{where}.n")
        lower, upper, mean, accuracy = (fields.share(row[key], f"{where}.{key}") for key in _BIN)
        start = lower or 0.0
        bins.append(Bin(start, upper or 0.0, count, mean, accuracy, known.of_bin(start)))
    return tuple(bins)


def _recalls(found: Mapping[str, Any], path: str, known: sure.Sure, fields: Fields) -> tuple[Row, ...]:
    rows = []
    for name, value in found["per_class_recall"].items():
        interval = known.of("per_class_recall", name)
        recall = fields.share(value, step(f"{path}.per_class_recall", name))
        rows.append(Row(name, {"recall": recall}, {} if interval is None else {"recall": interval}))
    return tuple(rows)


def _overview(parts: tuple[Part, ...]) -> tuple[Row, ...]:
    first = [(part.title, part.grids[0].rows[0]) for part in parts]
    return tuple(Row(title, row.values, row.intervals) for title, row in first)
