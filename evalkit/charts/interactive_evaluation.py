"""An evaluation of probability vectors for an interactive page: for each model all records, and each family."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evalkit.charts.figures import MOST_BINS
from evalkit.charts.interactive_data import Entry, View, Words
from evalkit.charts.interactive_room import Room, named

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
    if report.get("by_model") is None:
        yield _entry("All records", report)
        return
    for name, found in report["by_model"].items():
        yield _entry(name, found)


def _entry(name: str, found: Mapping[str, Any]) -> Entry:
    families = found["by_family"]
    strata = (_view(family, one) for family, one in families.items())
    return Entry({"name": named(name)}, _view("all records", found["overall"]), strata, len(families))


def _view(name: str, one: Mapping[str, Any]) -> View:
    core = {
        "name": named(name),
        "numbers": [[title, one.get(key), counted] for title, key, counted in _NUMBERS],
    }
    return View(core, {"bins": lambda _: _bins(one), "classes": lambda room: _classes(one, room)})


def _bins(one: Mapping[str, Any]) -> list[list[Any]]:
    keys = ("lower", "upper", "n", "mean_confidence", "accuracy")
    return [[row.get(key) for key in keys] for row in one["reliability"][:MOST_BINS]]


def _classes(one: Mapping[str, Any], room: Room) -> dict[str, Any]:
    recalls = one.get("per_class_recall") or {}
    rows = [[room.place(label), recall] for label, recall in list(recalls.items())[:MOST_CLASS_ROWS]]
    return {"columns": [["recall", False]], "of": len(recalls), "rows": rows}
