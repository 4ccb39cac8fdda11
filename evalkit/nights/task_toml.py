"""One evaluation of a job file: which keys its kind has, and what each of them may hold."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

from evalkit.contracts.toml_lines import show_value
from evalkit.errors import Refusal, Violation
from evalkit.exact import tolerance, unit_fraction
from evalkit.families.observations.measure import judged_of
from evalkit.families.observations.reading import Judged
from evalkit.families.probability.defaults import MAX_BINS
from evalkit.families.ranking.metrics import GREATEST_GRADE, MAX_GRADE
from evalkit.nights.job import DATE, DIRECTIONS, KINDS, LAST_GO, Amount, Baseline, Kind, Task, is_date

_LISTS = ("ocr", "commands", "retrieval", "proposals", "claims", "merges", "queue")
_INPUTS: Mapping[Kind, tuple[str, ...]] = {
    "compare": ("predictions",),
    "evaluate": ("predictions", "gold"),
    "measure": ("document", *_LISTS, "qrels"),
}
_REQUIRED: Mapping[Kind, tuple[str, ...]] = {
    "compare": ("predictions", "min_coverage"),
    "evaluate": ("predictions", "gold"),
    "measure": ("document",),
}
_FILES: Mapping[Kind, tuple[str, ...]] = {
    "compare": ("contract", "policy", "run_record"),
    "evaluate": ("run_record",),
    "measure": (),
}
_OTHERS: Mapping[Kind, tuple[str, ...]] = {
    "compare": ("min_coverage", "by", "synthetic", "baseline"),
    "evaluate": ("bins", "sum_tolerance", "max_gold", "synthetic", "gates", "baseline"),
    "measure": ("run", "source", "max_grade", "drop_queries_without_relevant", "gates", "baseline"),
}
_BRACES = re.compile(r"\{[^{}]*\}")


@dataclass(slots=True)
class Faults:
    """What is wrong with a job so far."""

    found: list[Violation] = field(default_factory=list)

    def add(self, where: str, message: str, *value: object) -> None:
        """Add a fault at a dotted path; a value that is None is missing."""
        shown = None if not value else "nothing" if value[0] is None else show_value(value[0])
        self.found.append(Violation("job", message, field=where, value=shown))


def read_task(table: Mapping[str, Any], path: str, faults: Faults) -> Task | None:
    """Read one ``[[evaluation]]``; None where its kind is unknown, or anything in it is wrong."""
    kind: Kind | None = next((one for one in KINDS if one == table.get("kind")), None)
    if kind is None:
        faults.add(f"{path}.kind", f"must be one of {', '.join(KINDS)}", table.get("kind"))
        return None
    before = len(faults.found)
    _check_keys(table, kind, path, faults)
    inputs = {key: _patterns(table[key], f"{path}.{key}", kind, faults) for key in _INPUTS[kind] if key in table}
    files = {key: _path(table[key], f"{path}.{key}", faults) for key in _FILES[kind] if key in table}
    task = Task(
        str(table.get("name")),
        kind,
        inputs,
        files,
        _runs(table.get("run", {}), f"{path}.run", faults),
        _amounts(table, path, faults),
        {key: _option(table[key], f"{path}.{key}", faults) for key in _OPTIONS if key in table},
        _limits(table.get("gates", {}), f"{path}.gates", kind, faults),
        _baseline(table.get("baseline"), f"{path}.baseline", kind, faults),
    )
    if kind == "measure" and len(faults.found) == before:
        try:
            judged(task, lambda name: name)
        except Refusal as refusal:
            faults.add(f"{path}.qrels", refusal.violations[0].message)
    return task if len(faults.found) == before else None


def judged(task: Task, path: Callable[[str], str]) -> Judged | None:
    """Put together what a task says of TREC files.

    Raises:
        Refusal: Judgments, rankings or the source are lacking.
    """
    qrels = task.inputs.get("qrels")
    runs = {system: path(name) for system, name in task.runs.items()}
    return judged_of(
        None if qrels is None else path(qrels[0]),
        runs,
        cast("str | None", task.options.get("source")),
        int(cast("int", task.options.get("max_grade", MAX_GRADE))),
        task.options.get("drop_queries_without_relevant") is True,
    )


def _check_keys(table: Mapping[str, Any], kind: Kind, path: str, faults: Faults) -> None:
    known = ("name", "kind", *_INPUTS[kind], *_FILES[kind], *_OTHERS[kind])
    for key in table:
        if key == "gates" and kind == "compare":
            faults.add(f"{path}.gates", "the gates of compare are the limits of its contract; write them there")
        elif key not in known:
            faults.add(f"{path}.{key}", f"there is no such key; {kind} has {', '.join(known)}")
    for key in _REQUIRED[kind]:
        if key not in table:
            faults.add(f"{path}.{key}", f"must be there: {kind} needs {' and '.join(_REQUIRED[kind])}", None)


def _patterns(value: object, where: str, kind: Kind, faults: Faults) -> tuple[str, ...]:
    """Read the patterns of an input: a list, or one path where a measurement takes one."""
    if kind == "measure":
        return (_path(value, where, faults),)
    if not isinstance(value, list) or not value:
        faults.add(where, 'must be a list of at least one path or pattern, such as ["dumps/{date}/*.jsonl"]', value)
        return ()
    return tuple(_path(one, f"{where}[{place}]", faults) for place, one in enumerate(value))


def _path(value: object, where: str, faults: Faults) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        faults.add(where, "must be a path, relative to the job file", value)
        return ""
    if value == "-":
        faults.add(where, "must name a file: a job has no standard input", value)
    for braces in _BRACES.findall(value):
        if braces != DATE:
            faults.add(where, f"holds {braces}; only {DATE} is filled in", value)
    return value


def _runs(value: object, where: str, faults: Faults) -> dict[str, str]:
    if not isinstance(value, dict):
        faults.add(where, 'must be a table of one file a system, such as { bm25 = "bm25.run" }', value)
        return {}
    if not all(system.strip() for system in value):
        faults.add(where, "must name each system by a text of more than white space")
    return {system: _path(path, f"{where}.{system}", faults) for system, path in value.items()}


def _amounts(table: Mapping[str, Any], path: str, faults: Faults) -> dict[str, Amount]:
    checks: Mapping[str, Callable[[str, str], Fraction]] = {"min_coverage": unit_fraction, "sum_tolerance": tolerance}
    found = {key: _amount(table[key], f"{path}.{key}", faults, check) for key, check in checks.items() if key in table}
    return {key: amount for key, amount in found.items() if amount is not None}


def _amount(
    value: object, where: str, faults: Faults, check: Callable[[str, str], Fraction] = tolerance
) -> Amount | None:
    long = isinstance(value, int) and value.bit_length() > 64  # Python does not write out any whole number
    if long or isinstance(value, bool) or not isinstance(value, str | int | Decimal):
        faults.add(where, 'must be a decimal, such as "0.01"', value)
        return None
    try:
        exact = check(str(value), "job")
    except Refusal as refusal:
        faults.add(where, refusal.violations[0].message, value)
        return None
    text = f"{Decimal(str(value)):f}"
    return Amount(text.rstrip("0").rstrip(".") or "0" if "." in text else text, exact)


_OPTIONS: Mapping[str, str] = {
    "bins": "must be a whole number",
    "max_gold": "must be a whole number",
    "max_grade": "must be a whole number",
    "by": "must be a list of texts, the dotted paths of fields",
    "source": "must be a text",
    "synthetic": "must be true or false",
    "drop_queries_without_relevant": "must be true or false",
}

_RANGES: Mapping[str, tuple[int, int]] = {
    "bins": (1, MAX_BINS),
    "max_gold": (0, 10**12),
    "max_grade": (1, GREATEST_GRADE),
}


def _option(value: Any, where: str, faults: Faults) -> bool | int | str | tuple[str, ...]:
    message = _OPTIONS[where.rpartition(".")[2]]
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        fits, value = "list of" in message, tuple(value)
    else:
        kinds = {bool: "true or", int: "whole", str: "a text"}
        fits = type(value) in kinds and kinds[type(value)] in message and "list of" not in message
    least, most = _RANGES.get(where.rpartition(".")[2], (0, 0))
    if not fits or (type(value) is int and not least <= value <= most):
        between = f" from {least:,} to {most:,}" if most else ""
        faults.add(where, message + between, list(value) if isinstance(value, tuple) else value)
    return value  # type: ignore[no-any-return]  # what does not fit is a fault, and no task comes of it


def _limits(value: object, where: str, kind: Kind, faults: Faults) -> dict[str, Amount]:
    """Read a decimal for each of several metrics of a kind."""
    if not isinstance(value, dict):
        faults.add(where, "must be a table of one decimal a metric", value)
        return {}
    known = [name for name, direction in DIRECTIONS[kind].items() if direction != "none"]
    found: dict[str, Amount] = {}
    for metric, text in value.items():
        if metric not in known:
            faults.add(f"{where}.{metric}", f"there is no such metric with a better side; there are {', '.join(known)}")
        elif (amount := _amount(text, f"{where}.{metric}", faults)) is not None:
            found[metric] = amount
    return found


def _baseline(value: object, where: str, kind: Kind, faults: Faults) -> Baseline | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        faults.add(where, "must be a table with against and margins", value)
        return None
    for key in value:
        if key not in ("against", "margins"):
            faults.add(f"{where}.{key}", "there is no such key; there are against, margins")
    against = value.get("against")
    if isinstance(against, datetime.date):  # TOML has dates of its own
        against = against.isoformat()
    if against != LAST_GO and not is_date(against):
        faults.add(f"{where}.against", f'must be "{LAST_GO}" or a date such as "2026-01-31"', against)
    margins = _limits(value.get("margins", {}), f"{where}.margins", kind, faults)
    if not value.get("margins"):
        faults.add(f"{where}.margins", "must state a margin for at least one metric", value.get("margins"))
    return Baseline(str(against), margins)
