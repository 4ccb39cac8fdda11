"""The files that a night is told by, beside its summary: JUnit XML, and a chart of every metric over the nights."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from evalkit.charts.trend import Point, trend_svg
from evalkit.charts.words import number
from evalkit.nights.history import TrendRow, rows
from evalkit.nights.junit import junit
from evalkit.nights.outcome import NightlyRun
from evalkit.nights.store import Store

TRENDS = "trends"
_TOLD = 30


def night_files(run: NightlyRun, store: Store) -> dict[str, bytes]:
    """Return the files of a night by name."""
    files = {"junit.xml": junit(run).encode("utf-8")}
    for outcome in run.outcomes:
        for name, picture in _trends(store, outcome.evaluation, run.date):
            files[f"{TRENDS}/{name}"] = picture.encode("utf-8")
    return files


def _trends(store: Store, evaluation: str, date: str) -> Iterator[tuple[str, str]]:
    """Draw a chart for each metric that an evaluation has a gate on, or else for each that has a better side."""
    taken: set[str] = set()
    for metric, group in groupby(rows(store, evaluation, until=date), key=lambda row: row.metric):
        own = list(group)
        points = [Point(one.date, one.model or "", one.value, one.limit, one.baseline_limit, one.passed) for one in own]
        title = f"{evaluation}: {metric}, {own[0].direction} is better"
        synthetic = any(one.synthetic for one in own)
        name = file_name(evaluation, metric)
        while name in taken:
            name = f"_{name}"
        taken.add(name)
        yield name, trend_svg(title, _told(own), points, synthetic=synthetic)


def file_name(evaluation: str, metric: str) -> str:
    """Name a chart.

    >>> file_name("digits", "Recall@10")
    'digits.Recall-10.svg'
    """
    return f"{evaluation}.{re.sub('[^A-Za-z0-9]+', '-', metric)}.svg"


def _told(own: Sequence[TrendRow]) -> str:
    """Say the latest nights in words."""
    said = []
    for one in own[-_TOLD:]:
        model = f"{one.model} " if one.model else ""
        verdict = {True: ", passed", False: ", failed", None: ""}[one.passed]
        said.append(f"{one.date}: {model}{number(one.value, one.limit)}{verdict}.")
    return " ".join(said)
