"""``evalkit nightly``."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from evalkit.cli.ending import exit_codes, interrupt, printing

if TYPE_CHECKING:
    from evalkit.nights.outcome import NightlyRun
    from evalkit.nights.run import Event

LogFormat = Literal["text", "json"]
_TROUBLE = ("REFUSED", "FAILED")


def nightly(
    job: Annotated[str, typer.Argument(metavar="JOB", help="The job: its evaluations and its store, in TOML.")],
    *,
    date: Annotated[
        str | None, typer.Option(metavar="DATE", help="The night, such as 2026-01-31. Without one, today in UTC.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace results for the date that are of other inputs or settings.")
    ] = False,
    log_format: Annotated[LogFormat, typer.Option(help="How events are written to stderr, one a line.")] = "text",
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print refusals and failures only; the exit code tells.")
    ] = False,
) -> None:
    """Run the evaluations of a job for a date, and keep what they give.

    Each evaluation is a run of compare, evaluate or measure, held against its
    limits and against an earlier night. Its results go into the store, whole or
    not at all, and so do a summary, JUnit XML and a chart of every metric. The
    summary goes to standard output too, events to standard error.

    Run again with the same inputs and settings, it does nothing. An evaluation
    that is refused or fails leaves the others alone.

    Exit codes: 0 all done or GO, 3 one BLOCKED, 2 one refused, 1 one failed; of
    several the worst: 1, then 2, 3, 0.
    """
    with exit_codes():
        run = _nightly(job, date or _today(), replace, log_format, quiet)
        with printing():
            if not quiet and sys.stdout is not None:
                print(run.summary, end="")
    raise typer.Exit(run.code)


def _today() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).date().isoformat()


def _nightly(job: str, date: str, replace: bool, log_format: LogFormat, quiet: bool) -> NightlyRun:
    import polars  # noqa: F401 - it puts a handler of its own in place, under which a wait is not interrupted

    from evalkit.nights.run import nightly as run_job

    signal.signal(signal.SIGINT, interrupt)

    def log(event: Event) -> None:
        if sys.stderr is None or (quiet and not _is_trouble(event)):
            return
        with printing():
            for line in [_json(event)] if log_format == "json" else _lines(event):
                print(line, file=sys.stderr, flush=True)

    return run_job(job, date, replace=replace, log=log)


def _is_trouble(event: Event) -> bool:
    return event.event == "failed" or event.details.get("verdict") in _TROUBLE


def _json(event: Event) -> str:
    """Write an event as one line of JSON, with the time, which no report holds."""
    import json
    from datetime import UTC, datetime

    time = datetime.now(UTC).isoformat(timespec="milliseconds")
    return json.dumps({"time": time, "event": event.event, "evaluation": event.evaluation, **event.details})


def _lines(event: Event) -> list[str]:
    """Write an event as a line; whoever looks for a bug gets the lines that show where."""
    from evalkit.errors import printable

    said = {name: value for name, value in event.details.items() if name != "trace"}
    texts = (f"{name} {'; '.join(value) if isinstance(value, list) else value}" for name, value in said.items())
    about = f"{event.evaluation}: " if event.evaluation is not None else ""
    line = printable(f"evalkit: {about}{event.event}: {', '.join(texts)}")
    return [line, *str(event.details.get("trace", "")).splitlines()]
