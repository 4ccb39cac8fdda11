"""``nightly``: every evaluation of a job on its own, so that one that fails keeps no other from being judged."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from evalkit.errors import Refusal, Violation
from evalkit.exact import fraction
from evalkit.metric import Measurement
from evalkit.nights.asking import Answer, Asked, ask, assert_unchanged, digests
from evalkit.nights.held import Night, baseline_held, limits_held
from evalkit.nights.job import LAST_GO, Job, Task
from evalkit.nights.job_toml import read_date, read_job
from evalkit.nights.lock import locked
from evalkit.nights.numbers import numbers
from evalkit.nights.outcome import FAILED, REFUSED, REPLACED, STORED, UNCHANGED, NightlyRun, Outcome
from evalkit.nights.settings import changes
from evalkit.nights.store import Store
from evalkit.nights.summary import summary
from evalkit.nights.telling import night_files
from evalkit.nights.verdict import BLOCKED, SCHEMA, Change, InputFile, Verdict, verdict_of


class Event(NamedTuple):
    """Something that happened.

    Attributes:
        event: What happened, such as ``evaluation-finished``.
        evaluation: The evaluation that it is about, or None.
        details: What else is to be said, as plain data.
    """

    event: str
    evaluation: str | None
    details: Mapping[str, Any]


Log = Callable[[Event], None]


def nightly(job: str | os.PathLike[str], date: str, *, replace: bool = False, log: Log | None = None) -> NightlyRun:
    """Run every evaluation of a job for a date, put the results into its store, and judge them.

    Args:
        job: The job, a TOML file; its paths are relative to it.
        date: The night, such as ``2026-01-31``.
        replace: Whether results of other inputs or settings for the same date may be replaced.
        log: Told what happens, event by event.

    Returns:
        What became of each evaluation. One that is refused or fails leaves the others alone.

    Raises:
        Refusal: The job or the date is unsound, or the store cannot be used, or another run is using it. Nothing was
            run then.
        OSError: The store could not be made.
    """
    say = log or (lambda _: None)
    asked = read_job(job)
    night = read_date(date)
    store = Store(asked.store_path)
    store.prepare()
    with locked(store.path):
        store.sweep()
        say(Event("started", None, {"date": night, "evaluations": len(asked.tasks)}))
        outcomes = tuple(_outcome(asked, task, night, store, allowed=replace, say=say) for task in asked.tasks)
        names = {task.name for task in asked.tasks}
        dropped = tuple(name for name in store.evaluations() if name not in names and store.dates(name))
        run = _told(NightlyRun(night, store.path, outcomes, dropped), store, say)
        say(Event("finished", None, {"code": run.code}))
    return run


def _told(run: NightlyRun, store: Store, say: Log) -> NightlyRun:
    """Write down what is said of a night. The results are there by then, whatever becomes of this."""
    details: dict[str, Any] = {}
    text = ""
    try:
        text = summary(run)
        store.put_night(run.date, {"summary.md": text.encode("utf-8"), **night_files(run, store)})
    except (OSError, MemoryError, Refusal) as error:
        details["error"] = f"the summary could not be written: {error or 'out of memory'}"
    except Exception as error:  # noqa: BLE001 - a bug in a chart must not hide the verdicts; it is told as one
        details["error"] = f"a bug in evalkit: {type(error).__name__}: {error}"
        details["trace"] = traceback.format_exc()
    if details:
        say(Event("failed", None, details))
    return replace(run, summary=text, failure=details.get("error"))


def _outcome(job: Job, task: Task, date: str, store: Store, *, allowed: bool, say: Log) -> Outcome:
    """Run one evaluation, whatever becomes of it."""
    say(Event("evaluation-started", task.name, {"kind": task.kind}))
    try:
        found = _run(job, task, date, store, allowed=allowed)
    except Refusal as refusal:
        found = Outcome(task.name, task.kind, REFUSED, refusal=_renamed(refusal, job))
    except (OSError, MemoryError) as error:
        found = Outcome(task.name, task.kind, FAILED, error=str(error) or "out of memory")
    except Exception as error:  # noqa: BLE001 - a bug in one evaluation must not hide the others; it is told as one
        text = f"a bug in evalkit: {type(error).__name__}: {error}"
        found = Outcome(task.name, task.kind, FAILED, error=text, trace=traceback.format_exc())
    say(Event("evaluation-finished", task.name, _details(found)))
    return found


def _details(found: Outcome) -> dict[str, Any]:
    details: dict[str, Any] = {"state": found.state, "verdict": found.word}
    if found.state == UNCHANGED:
        details["note"] = "same inputs and settings as stored, so there was nothing to do"
    if found.refusal is not None:
        details["violations"] = [str(one) for one in found.refusal.violations]
    if found.error is not None:
        details["error"] = found.error
    if found.trace is not None:
        details["trace"] = found.trace
    if found.verdict is not None and found.verdict.loosened:
        details["loosened"] = [one.setting for one in found.verdict.loosened]
    return details


def _renamed(refusal: Refusal, job: Job) -> Refusal:
    """Name files as the job names them."""
    shown = (one if one.file is None else replace(one, file=job.name_of(one.file)) for one in refusal.violations)
    return Refusal(shown, refusal.counts, refusal.lines)


def _run(job: Job, task: Task, date: str, store: Store, *, allowed: bool) -> Outcome:
    asked = ask(job, task, date)
    there = store.verdict(task.name, date)
    inputs = digests(job, asked)
    if there is not None:
        if there.inputs == inputs and not changes(there.settings, asked.settings, date):
            return Outcome(task.name, task.kind, UNCHANGED, there)
        if not allowed:
            raise Refusal.of(_already(there, inputs, asked))
    before = _baseline(task, date, store)
    answer = asked.answer()
    assert_unchanged(asked)
    verdict = _judged(task, date, answer, asked, inputs, before, _changes(store, task, date, there, asked), there)
    store.put(verdict, answer.write_tables)
    return Outcome(task.name, task.kind, STORED if there is None else REPLACED, verdict)


def _already(there: Verdict, inputs: tuple[InputFile, ...], asked: Asked) -> Violation:
    what = "settings" if there.inputs == inputs else "inputs"
    if what == "inputs" and changes(there.settings, asked.settings, there.date):
        what = "inputs and settings"
    message = f"has results for {there.date} from other {what}; name another date, or replace them with --replace"
    return Violation("already-stored", message, field=there.evaluation)


def _baseline(task: Task, date: str, store: Store) -> Night | None:
    """Read what an evaluation is compared with.

    Raises:
        Refusal: The date that the job names has no results, or is not before the night.
    """
    if task.baseline is None:
        return None
    against = task.baseline.against
    if against == LAST_GO:
        found = store.last_go(task.name, task.kind, date)
    else:
        found = store.verdict(task.name, against) if against < date else None
        if found is None or found.kind != task.kind:
            message = f"must be a date before {date} for which the store has results of {task.name} by {task.kind}"
            raise Refusal.of(Violation("baseline-missing", message, field="baseline.against", value=against))
    return None if found is None else store.numbers(found)


def _changes(store: Store, task: Task, date: str, there: Verdict | None, asked: Asked) -> tuple[Change, ...]:
    """Compare the settings with the night before, and with those of every run that is replaced."""
    earlier = store.before(task.name, date)
    runs = [] if earlier is None else [(earlier.settings, earlier.date)]
    runs += [(settings, date) for settings in _replaced(there)]
    return tuple(dict.fromkeys(one for settings, since in runs for one in changes(settings, asked.settings, since)))


def _replaced(there: Verdict | None) -> list[Mapping[str, str]]:
    if there is None:
        return []
    return [*there.replaced, *([] if there.settings in there.replaced else [there.settings])]


def _judged(
    task: Task,
    date: str,
    answer: Answer,
    asked: Asked,
    inputs: tuple[InputFile, ...],
    before: Night | None,
    changed: tuple[Change, ...],
    there: Verdict | None,
) -> Verdict:
    recommended = getattr(answer, "recommended", None)
    now = Night(date, numbers(answer.tables()["measurements"]), recommended, _exact(answer))
    gates = (*limits_held(task, now), *baseline_held(task, now, before))
    return Verdict(
        schema=SCHEMA,
        evaluation=task.name,
        kind=task.kind,
        date=date,
        synthetic=answer.synthetic,
        verdict=verdict_of(gates, blocked=getattr(answer, "verdict", None) == BLOCKED),
        recommended=recommended,
        gates=gates,
        settings=asked.settings,
        changes=changed,
        replaced=tuple(_replaced(there)),
        inputs=inputs,
    )


def _exact(answer: Answer) -> dict[tuple[str, str | None], Fraction]:
    """Return the exact values over all records; a report of ``compare`` has judged its own."""
    found: Iterable[Measurement] = getattr(answer, "measurements", ())
    over_all = (one for one in found if (one.place.stratum_field, one.place.label, one.place.bin) == (None, None, None))
    values = ((one.name, one.place.model, fraction(one.value)) for one in over_all)
    return {(name, model): value for name, model, value in values if value is not None}
