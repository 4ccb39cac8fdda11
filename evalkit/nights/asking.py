"""One evaluation of a job, put to the same functions that the commands use: what it reads, what it asks, its answer."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, cast

import polars as pl

from evalkit.contracts.contract import BRISTOL, distinct
from evalkit.contracts.contract_toml import read_contract
from evalkit.contracts.policy_toml import read_policy
from evalkit.errors import Refusal, Violation
from evalkit.families.observations.given import sources_of
from evalkit.families.observations.measure import OPTIONS, answer
from evalkit.families.observations.measure import Question as Observed
from evalkit.families.probability.evaluate import Question as Vectors
from evalkit.families.probability.evaluate import evaluate_inputs
from evalkit.families.selective.compare import Question as Selective
from evalkit.families.selective.compare import compare_inputs
from evalkit.nights.job import Job, Task
from evalkit.nights.settings import settings_of
from evalkit.nights.task_toml import judged
from evalkit.nights.verdict import InputFile
from evalkit.results.run_record import read_run_record
from evalkit.sources.partition import Inputs
from evalkit.sources.source import Source, open_same, resolve, resolve_sides
from evalkit.sources.urls import open_now

_PIECE = 1 << 20


class Answer(Protocol):
    """A report, of whatever kind."""

    @property
    def synthetic(self) -> bool:
        """Whether its records are invented."""

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return its tables."""

    def write_tables(self, folder: str | Path) -> None:
        """Write it as a results folder."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An evaluation that is ready to run.

    Attributes:
        settings: All that is asked of it.
        sources: What it reads, each with the option that names it.
        answer: Runs it.
    """

    settings: Mapping[str, str]
    sources: tuple[tuple[str, Source], ...]
    answer: Callable[[], Answer]


def ask(job: Job, task: Task, date: str) -> Asked:
    """Look at all that an evaluation reads, and get it ready.

    Raises:
        Refusal: An input is missing, or a small file is unsound.
    """
    asked = {"compare": _compare, "evaluate": _evaluate, "measure": _measure}[task.kind](job, task, date)
    for side, source in asked.sources:
        if source.identity is None:
            message = f"must be a regular file, so that {side} can be told from that of another run"
            raise Refusal.of(Violation("job-input", message, source.label))
    return asked


def digests(job: Job, asked: Asked) -> tuple[InputFile, ...]:
    """Read every input and return what it is."""
    return tuple(_digest(job, side, source) for side, source in asked.sources)


def assert_unchanged(asked: Asked) -> None:
    """See to it that every input is still the file that was looked at.

    Raises:
        Refusal: One is not.
    """
    for _, source in asked.sources:
        if source.identity is not None:
            open_same(source.name, source.identity).close()


def _digest(job: Job, side: str, source: Source) -> InputFile:
    digest, size = hashlib.sha256(), 0
    with open_now(source.name) as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
            size += len(piece)
    return InputFile(side, job.name_of(source.label), size, digest.hexdigest())


def _compare(job: Job, task: Task, date: str) -> Asked:
    contract = read_contract(job.file(task.files["contract"], date)) if "contract" in task.files else BRISTOL
    policy = read_policy(job.file(task.files["policy"], date)) if "policy" in task.files else None
    run, notes = _run_record(job, task, date)
    question = Selective(
        task.amounts["min_coverage"].value,
        contract,
        distinct(cast("tuple[str, ...]", task.options.get("by", ()))),
        policy,
        task.options.get("synthetic") is True,
        run,
    )
    sources = resolve([job.path(one, date) for one in task.inputs["predictions"]])

    def run_it() -> Answer:
        with Inputs(sources) as inputs:
            report = compare_inputs(inputs, question)
        return replace(report, evidence=tuple(one._replace(name=job.name_of(one.name)) for one in report.evidence))

    settings = settings_of(task, contract, policy)
    return Asked(settings, (*(("predictions", one) for one in sources), *notes), run_it)


def _evaluate(job: Job, task: Task, date: str) -> Asked:
    run, notes = _run_record(job, task, date)
    given: dict[str, Any] = {key: task.options[key] for key in ("bins", "max_gold", "synthetic") if key in task.options}
    if "sum_tolerance" in task.amounts:
        given["sum_tolerance"] = task.amounts["sum_tolerance"].value
    question = Vectors(**given, run=run)
    predictions, gold = resolve_sides(
        *([job.path(one, date) for one in task.inputs[side]] for side in ("predictions", "gold"))
    )

    def run_it() -> Answer:
        with Inputs(predictions) as ours, Inputs(gold) as answers:
            report = evaluate_inputs(ours, answers, question)
        return replace(report, evidence=tuple(replace(one, name=job.name_of(one.name)) for one in report.evidence))

    named = (*(("predictions", one) for one in predictions), *(("gold", one) for one in gold), *notes)
    return Asked(settings_of(task, None, None), named, run_it)


def _run_record(job: Job, task: Task, date: str) -> tuple[dict[str, Any] | None, tuple[tuple[str, Source], ...]]:
    """Read the record of the run, which is put into the report, and so is an input of it."""
    if "run_record" not in task.files:
        return None, ()
    path = job.file(task.files["run_record"], date)
    return read_run_record(path), tuple(("run_record", one) for one in resolve([path]))


def _measure(job: Job, task: Task, date: str) -> Asked:
    (document,) = task.inputs["document"]
    files = {OPTIONS[key]: job.path(task.inputs[key][0], date) for key in OPTIONS if key in task.inputs}
    question = Observed(job.path(document, date), files, judged(task, lambda path: job.path(path, date)))
    sources = sources_of(question.paths)
    return Asked(settings_of(task, None, None), tuple(sources.items()), lambda: answer(question))
