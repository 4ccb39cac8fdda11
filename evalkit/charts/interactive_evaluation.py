"""An evaluation of probability vectors for an interactive page: for each model all records, and each family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evalkit.charts import interactive_sure as sure
from evalkit.charts.figures import MOST_BINS
from evalkit.charts.interactive_data import Entry, View, Words
from evalkit.charts.interactive_room import Room, named
from evalkit.charts.of_statistics import Sure

WORDS = Words("model", "models", "family", "families")

MOST_CLASS_ROWS = 300
"""Most rows of a table of classes."""

_NUMBERS = (
    ("items", "n_items", True),
    ("scored", "n_scored", True),
    ("missing", "n_missing", True),
    ("accuracy", "accuracy", False),
    ("balanced accuracy", "balanced_accuracy", False),
    ("ECE", "ece", False),
    ("NLL", "nll", False),
    ("Brier, all classes (0–2)", "brier_multiclass", False),
    ("Brier, positive class", "brier_binary", False),
)


def evaluation(report: Mapping[str, Any]) -> Iterator[Entry]:
    """Yield the models of a report; all records where it names none."""
    known = sure.known(report)
    if report.get("by_model") is None:
        yield _entry("All records", report, known.of(None))
        return
    for name, found in report["by_model"].items():
        yield _entry(name, found, known.of(name))


def _entry(name: str, found: Mapping[str, Any], own: Sure) -> Entry:
    families = found["by_family"]
    strata = (_view(family, one, own.stratum({"family": family})) for family, one in families.items())
    return Entry({"name": named(name)}, _view("all records", found["overall"], own), strata, len(families))


def _view(name: str, one: Mapping[str, Any], own: Sure) -> View:
    core = {"name": named(name), "numbers": sure.numbers(_NUMBERS, one, own)}
    large = {"bins": lambda _: sure.bins(_bins(one), own), "classes": lambda room: _classes(one, room, own)}
    return View(core, large)


def _bins(one: Mapping[str, Any]) -> list[list[Any]]:
    keys = ("lower", "upper", "n", "mean_confidence", "accuracy")
    return [[row.get(key) for key in keys] for row in one["reliability"][:MOST_BINS]]


def _classes(one: Mapping[str, Any], room: Room, own: Sure) -> dict[str, Any]:
    recalls = one.get("per_class_recall") or {}
    kept = list(recalls)[:MOST_CLASS_ROWS]
    rows = [[room.place(label), recalls[label]] for label in kept]
    ends = {str(room.place(label)): found for label in kept if (found := sure.ends(own, label, ["per_class_recall"]))}
    return {"columns": [["recall", False]], "of": len(recalls), "rows": rows, **({"ends": ends} if ends else {})}
