"""A job as TOML: read strictly, and every key that is unknown, missing or wrong is named with its line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evalkit.contracts.toml_lines import load_toml, show_value
from evalkit.errors import Refusal, Violation
from evalkit.nights.job import NAME_RULE, Job, Task, is_date, is_safe
from evalkit.nights.task_toml import Faults, read_task
from evalkit.sources.source import label
from evalkit.sources.urls import is_url

RULE = "job"
_KEYS = ("store", "evaluation")
MOST = 1000
"""Most evaluations of one job."""


def read_job(path: str | os.PathLike[str]) -> Job:
    """Read the job that a TOML file holds.

    Raises:
        Refusal: The file cannot be read, is no TOML, or the job in it makes no sense. Everything that is wrong is said
            at once, with its line.
    """
    name = os.fspath(path)
    data, line = load_toml(name, RULE)
    faults = Faults()
    for key in data:
        if key not in _KEYS:
            faults.add(key, f"there is no such key; there are {', '.join(_KEYS)}")
    store = data.get("store")
    if not isinstance(store, str) or not store.strip() or "\0" in store:
        faults.add("store", "must be the path of the store's folder", store)
    elif is_url(store) or (is_url(name) and not os.path.isabs(store)):
        faults.add("store", "must be a folder of this machine, where a night is put in place by a rename", store)
    tasks = _tasks(data.get("evaluation"), faults)
    if faults.found:
        placed = [replace(fault, file=label(name), line=line(fault.field or "")) for fault in faults.found]
        raise Refusal.of(*sorted(placed, key=lambda fault: fault.line or 0))
    return Job(os.path.dirname(name), str(store), tasks)


def _tasks(tables: object, faults: Faults) -> tuple[Task, ...]:
    if not isinstance(tables, list) or not tables or not all(isinstance(one, dict) for one in tables):
        faults.add("evaluation", "must be at least one table [[evaluation]]", tables)
        return ()
    if len(tables) > MOST:
        faults.add("evaluation", f"must be at most {MOST:,} tables", tables)
        return ()
    _check_names(tables, faults)
    found = [read_task(table, f"evaluation[{place}]", faults) for place, table in enumerate(tables)]
    return tuple(one for one in found if one is not None)


def _check_names(tables: list[Mapping[str, Any]], faults: Faults) -> None:
    seen: dict[str, int] = {}
    for place, table in enumerate(tables):
        name = table.get("name")
        if not is_safe(name):
            faults.add(f"evaluation[{place}].name", NAME_RULE, name)
            continue
        folded = str(name).lower()  # some file systems do not tell them apart
        if folded in seen:
            message = f"is the name of evaluation[{seen[folded]}] too, in lower case; give each a name of its own"
            faults.add(f"evaluation[{place}].name", message, name)
        seen.setdefault(folded, place)


def read_date(text: str) -> str:
    """Check a date.

    Raises:
        Refusal: It is no date as ISO 8601 writes it.

    >>> read_date("2026-01-31")
    '2026-01-31'
    >>> read_date("2026-02-30")
    Traceback (most recent call last):
    ...
    evalkit.errors.Refusal: date: must be a day that exists, written as 2026-01-31; found "2026-02-30" [date]
    """
    if is_date(text):
        return text
    message = "must be a day that exists, written as 2026-01-31"
    raise Refusal.of(Violation("date", message, field="date", value=show_value(text)))
