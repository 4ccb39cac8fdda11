"""An evaluation of probability vectors as it is shown: a part for each model, with a row for each family.

The report is whole, so every field is there and of its type; what is left to be found is a number outside of its range.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evalkit.charts.fields import Fields, scalars, step
from evalkit.charts.model import Bin, Column, Grid, Measure, Part, Reliability, Row, Subject

SCHEMA = "evalkit-evaluation-v1"
_SYNTHETIC = "The records are invented: this says nothing about a real model."
_LIMITS = (
    "Only records with a vector enter NLL, Brier and ECE; n of each row says how many they are.",
    "No interval is given: a number that rests on few records says little.",
)
_BIN = ("lower", "upper", "mean_confidence", "accuracy")
_COLUMNS = (
    *(Column(name) for name in ("items", "scored", "missing")),
    *(Column(name, 1.0) for name in ("accuracy", "balanced", "ECE")),
    *(Column(name) for name in ("NLL", "Brier")),
)


def evaluation(report: Mapping[str, Any], fields: Fields) -> Subject:
    """Show a report that conforms to its schema; a number out of range is noted in the fields."""
    synthetic: bool = report["synthetic"]
    parts = tuple(_parts(report, fields))
    return Subject(
        title="Probability vectors against gold",
        synthetic=synthetic,
        facts=tuple(_facts(report, fields)),
        overview=Grid("Models", "model", _COLUMNS, _overview(parts)) if len(parts) > 1 else None,
        parts=parts,
        limitations=(*([_SYNTHETIC] if synthetic else []), *_LIMITS),
    )


def _facts(report: Mapping[str, Any], fields: Fields) -> Iterator[tuple[str, str]]:
    yield "bins", f"{fields.whole(report['bins'], 'bins'):,}"
    for side in ("predictions", "gold"):
        if (digest := report[f"{side}_sha256"]) is not None:
            yield f"{side} SHA-256", digest
    yield from scalars({"run": report["run"] or {}})


def _parts(report: Mapping[str, Any], fields: Fields) -> Iterator[Part]:
    if report["by_model"] is None:
        yield _part("All records", report, "", fields)
        return
    for name, one in report["by_model"].items():
        yield _part(name, one, f"{step('by_model', name)}.", fields)


def _part(title: str, own: Mapping[str, Any], path: str, fields: Fields) -> Part:
    found = own["overall"]
    rows, small = [], []
    for name, family in own["by_family"].items():
        where = step(f"{path}by_family", name)
        rows.append(Row(name, _numbers(family, where, fields)))
        small.append(Reliability(name, _bins(family, where, fields)))
    counts = _numbers(found, f"{path}overall", fields)
    grids = [Grid("Families", "family", _COLUMNS, (Row("all", counts), *rows))]
    if recalls := _recalls(found, f"{path}overall", fields):
        grids.append(Grid("Classes", "class", (Column("recall", 1.0),), recalls))
    scored, items = counts["scored"], counts["items"]
    rows_told = "1 item" if items == 1 else f"{items:,} items"
    return Part(
        title=title,
        summary=f"{rows_told}; {scored:,} scored; {counts['missing']:,} missing",
        measures=tuple(_measures(found, f"{path}overall", fields)),
        reliability=Reliability(title, _bins(found, f"{path}overall", fields)),
        small=tuple(small) if len(small) > 1 else (),
        grids=tuple(grids),
    )


def _numbers(found: Mapping[str, Any], path: str, fields: Fields) -> dict[str, Any]:
    counts = {"items": "n_items", "scored": "n_scored", "missing": "n_missing"}
    shares = {"accuracy": "accuracy", "balanced": "balanced_accuracy", "ECE": "ece"}
    reals = {"NLL": "nll", "Brier": "brier_multiclass"}
    return {
        **{name: fields.whole(found[key], f"{path}.{key}") for name, key in counts.items()},
        **{name: fields.share(found[key], f"{path}.{key}") for name, key in shares.items()},
        **{name: found[key] for name, key in reals.items()},
    }


def _measures(found: Mapping[str, Any], path: str, fields: Fields) -> Iterator[Measure]:
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
        yield Measure(name, value, direction="higher" if "accuracy" in key else "lower", sample_size=sample)
    for name, key in (("Brier, all classes (0–2)", "brier_multiclass"), ("NLL", "nll")):
        yield Measure(name, found[key], "number", "lower", sample_size=scored)


def _bins(found: Mapping[str, Any], path: str, fields: Fields) -> tuple[Bin, ...]:
    bins = []
    for place, row in enumerate(found["reliability"]):
        where = f"{path}.reliability[{place}]"
        count = fields.whole(row["n"], f"{where}.n")
        lower, upper, *means = (fields.share(row[key], f"{where}.{key}") for key in _BIN)
        bins.append(Bin(lower or 0.0, upper or 0.0, count, *means))
    return tuple(bins)


def _recalls(found: Mapping[str, Any], path: str, fields: Fields) -> tuple[Row, ...]:
    where = f"{path}.per_class_recall"
    recalls = found["per_class_recall"].items()
    return tuple(Row(name, {"recall": fields.share(value, step(where, name))}) for name, value in recalls)


def _overview(parts: tuple[Part, ...]) -> tuple[Row, ...]:
    return tuple(Row(part.title, part.grids[0].rows[0].values) for part in parts)
