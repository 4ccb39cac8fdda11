"""An evaluation of probability vectors as it is shown: a part for each model, with a row for each family."""

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
_COLUMNS = (
    *(Column(name) for name in ("items", "scored", "missing")),
    *(Column(name, 1.0) for name in ("accuracy", "balanced", "ECE")),
    *(Column(name) for name in ("NLL", "Brier")),
)


def evaluation(report: Mapping[str, Any], fields: Fields) -> Subject:
    """Show a report; what is wrong with it is noted in the fields."""
    synthetic = report.get("synthetic")
    synthetic = synthetic is not None and fields.flag(synthetic, "synthetic")
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
    yield "bins", f"{fields.whole(report.get('bins'), 'bins'):,}"
    for side in ("predictions", "gold"):
        digest = report.get(f"{side}_sha256")
        if digest is not None:
            yield f"{side} SHA-256", fields.text(digest, f"{side}_sha256")
    yield from scalars({"run": report.get("run") if isinstance(report.get("run"), dict) else {}})


def _parts(report: Mapping[str, Any], fields: Fields) -> Iterator[Part]:
    models = report.get("by_model")
    if models is None:
        families = fields.mapping(report.get("by_family"), "by_family")
        yield _part("All records", report.get("overall"), families, "", fields)
        return
    for name, found in fields.mapping(models, "by_model").items():
        path = step("by_model", name)
        here = fields.mapping(found, path)
        families = fields.mapping(here.get("by_family"), f"{path}.by_family")
        yield _part(name, here.get("overall"), families, f"{path}.", fields)


def _part(title: str, overall: object, families: Mapping[str, Any], path: str, fields: Fields) -> Part:
    found = fields.mapping(overall, f"{path}overall")
    rows, small = [], []
    for name, one in families.items():
        where = step(f"{path}by_family", name)
        family = fields.mapping(one, where)
        rows.append(Row(name, _numbers(family, where, fields)))
        small.append(Reliability(name, _bins(family, where, fields)))
    counts = _numbers(found, f"{path}overall", fields)
    grids = [Grid("Families", "family", _COLUMNS, (Row("all", counts), *rows))]
    if recalls := _recalls(found, f"{path}overall", fields):
        grids.append(Grid("Classes", "class", (Column("recall", 1.0),), recalls))
    scored, items = counts["scored"], counts["items"]
    return Part(
        title=title,
        summary=f"{items:,} items; {scored:,} scored; {counts['missing']:,} missing",
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
        **{name: fields.whole(found.get(key), f"{path}.{key}") for name, key in counts.items()},
        **{name: fields.share(found.get(key), f"{path}.{key}") for name, key in shares.items()},
        **{name: fields.real(found.get(key), f"{path}.{key}") for name, key in reals.items()},
    }


def _measures(found: Mapping[str, Any], path: str, fields: Fields) -> Iterator[Measure]:
    def size(key: str) -> int:
        return fields.whole(found.get(key), f"{path}.{key}")

    predicted, scored = size("n_predicted"), size("n_scored")
    for name, key, sample in (
        ("accuracy", "accuracy", predicted),
        ("balanced accuracy", "balanced_accuracy", predicted),
        ("ECE", "ece", scored),
        ("Brier, positive class", "brier_binary", size("n_binary")),
    ):
        value = fields.share(found.get(key), f"{path}.{key}")
        yield Measure(name, value, direction="higher" if "accuracy" in key else "lower", sample_size=sample)
    for name, key in (("Brier, all classes (0–2)", "brier_multiclass"), ("NLL", "nll")):
        value = fields.real(found.get(key), f"{path}.{key}")
        yield Measure(name, value, "number", "lower", sample_size=scored)


def _bins(found: Mapping[str, Any], path: str, fields: Fields) -> tuple[Bin, ...]:
    bins = []
    for place, one in enumerate(fields.array(found.get("reliability"), f"{path}.reliability")):
        where = f"{path}.reliability[{place}]"
        row = fields.mapping(one, where)
        count = fields.whole(row.get("n"), f"{where}.n")
        edges = [fields.share(row.get(key), f"{where}.{key}") for key in ("lower", "upper")]
        means = [fields.share(row.get(key), f"{where}.{key}") for key in ("mean_confidence", "accuracy")]
        if edges[0] is None or edges[1] is None:
            fields.fault(where, "must have a lower and an upper edge")
            continue
        bins.append(Bin(edges[0], edges[1], count, *means))
    return tuple(bins)


def _recalls(found: Mapping[str, Any], path: str, fields: Fields) -> tuple[Row, ...]:
    where = f"{path}.per_class_recall"
    recalls = found.get("per_class_recall")
    members = {} if recalls is None else fields.mapping(recalls, where)
    return tuple(Row(name, {"recall": fields.share(value, step(where, name))}) for name, value in members.items())


def _overview(parts: tuple[Part, ...]) -> tuple[Row, ...]:
    return tuple(Row(part.title, part.grids[0].rows[0].values) for part in parts)
