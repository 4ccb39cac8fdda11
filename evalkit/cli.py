"""The command line: it mirrors the library, and is the only module that prints or exits.

Libraries are imported where they are used: ``--help`` and ``--version`` answer at once, and the digests of the inputs
are under way while the dataframe library loads.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from evalkit import __version__
from evalkit.errors import Refusal

if TYPE_CHECKING:
    from evalkit.families.selective.result import Report
    from evalkit.outputs import Outputs
    from evalkit.read import Progress

GO, FAILED, REFUSED, BLOCKED, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143

app = typer.Typer(
    name="evalkit",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)


class _TerminatedError(BaseException):
    """SIGTERM arrived."""


def run() -> NoReturn:
    """Run the command line."""
    signal.signal(signal.SIGTERM, _terminate)
    for descriptor in range(3):
        _keep_open(descriptor)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    code: object = GO
    try:
        app()
    except _TerminatedError:  # before the command's work began, or after it
        code = TERMINATED
    except SystemExit as end:
        code = end.code
    with _printing():
        pass
    # All is written and flushed: what is left would be to give back, piece by piece, memory that ends with us.
    os._exit(code if isinstance(code, int) else FAILED)


def _keep_open(descriptor: int) -> None:
    """Open a standard stream that the caller has closed, lest some file of ours take its number and get its output."""
    try:
        os.fstat(descriptor)
    except OSError:
        os.open(os.devnull, os.O_RDWR)


def _terminate(*_: object) -> NoReturn:
    _only_once()
    raise _TerminatedError


def _interrupt(*_: object) -> NoReturn:
    _only_once()
    raise KeyboardInterrupt


def _only_once() -> None:
    """Ignore further signals: what the first one makes us put away is put away whole."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def _exit_codes() -> Iterator[None]:
    """Turn what ends a command's work into its exit code; every cleanup has run by then."""
    try:
        yield
    except Refusal as refusal:
        from evalkit.terminal import refusal_text

        _fail(refusal_text(refusal), REFUSED)
    except KeyboardInterrupt:
        _fail("interrupted", INTERRUPTED)
    except _TerminatedError:
        _fail("terminated", TERMINATED)
    except (OSError, MemoryError) as error:
        _fail(f"failed, and not for the input: {error or 'out of memory'}", FAILED)
    except Exception:  # noqa: BLE001 - the last resort, and it says that it is a bug
        traceback.print_exc()
        _fail("this is a bug in evalkit; please report the lines above", FAILED)


@contextmanager
def _printing() -> Iterator[None]:
    """Print; that the reader of a standard stream has left changes no exit code."""
    try:
        yield
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for descriptor in (1, 2):  # Python would complain once more when it flushes at exit
            os.dup2(nowhere, descriptor)


def _fail(message: str, code: int) -> NoReturn:
    with _printing():
        _say(message)
    raise typer.Exit(code) from None


def _say(message: str) -> None:
    if sys.stderr is not None:  # else print() would take standard output
        print(f"evalkit: {message}", file=sys.stderr)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"evalkit {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Strict, exact and fast evaluation of large dumps of model predictions.

    Exit codes: 0 done, or GO; 3 BLOCKED; 2 refused, or a usage error; 1 evalkit or the machine failed; 130
    interrupted; 143 terminated. Nothing is written but on 0 and 3.
    """


@app.command(short_help="Judge candidates on a dump of selective predictions.")
def compare(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILES", help="JSON Lines, plain, .gz or .zst: files, patterns, - for stdin."),
    ] = None,
    predictions: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="One more input; may be repeated.")
    ] = None,
    *,
    min_coverage: Annotated[
        str,
        typer.Option(
            metavar="SHARE",
            help="The least coverage on validation that a threshold may have, a decimal from 0 to 1. No default.",
        ),
    ],
    json: Annotated[str | None, typer.Option(metavar="PATH", help="Write the report; - for stdout.")] = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write report.json and all tables as Parquet into this folder.")
    ] = None,
    synthetic: Annotated[bool, typer.Option("--synthetic", help="Say that the records are invented.")] = False,
    run_record: Annotated[
        str | None, typer.Option(metavar="FILE", help="A JSON object about the run to put into the report.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print refusals only; the exit code tells.")] = False,
) -> None:
    """Judge candidates on a dump of selective predictions: may one be released?

    Each record names a model, a contributor's key, a split, the truth and what
    the model offered with its confidence, or null. One threshold a candidate is
    fixed on validation; the candidate is then scored on test and held against
    the gates: macro-F1 at least 0.80, precision at coverage at least 0.90, ECE
    at most 0.05, all inclusive.

    Malformed records, contributors in more than one split and splits that the
    key does not derive are refused, each with file, line, field and rule.

    Exit codes: 0 GO, 3 BLOCKED, 2 refused.
    """
    from evalkit.outputs import Outputs

    with _exit_codes():
        outputs = Outputs(json, out)
        report = _compare([*(files or ()), *(predictions or ())], min_coverage, outputs, synthetic, run_record, quiet)
        with _printing():
            _show(report, outputs, quiet)
    raise typer.Exit(GO if report.verdict == "GO" else BLOCKED)


def _compare(
    names: list[str], min_coverage: str, outputs: Outputs, synthetic: bool, run_record: str | None, quiet: bool
) -> Report:
    from evalkit.exact import unit_fraction
    from evalkit.outputs import check_outputs
    from evalkit.partition import Inputs
    from evalkit.run_record import read_run_record
    from evalkit.source import resolve

    floor = unit_fraction(min_coverage, "min-coverage")
    run = None if run_record is None else read_run_record(run_record)
    sources = resolve(names)
    check_outputs(outputs, sources, run_record)
    with Inputs(sources) as inputs:
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-4)  # else the import keeps the digests waiting, five milliseconds for each megabyte
        from evalkit.families.selective.compare import compare_inputs

        sys.setswitchinterval(interval)

        # Polars has put a handler of its own in place, under which a wait for a pipe is not interrupted.
        signal.signal(signal.SIGINT, _interrupt)
        with _progress(inputs.stored, quiet) as progress:
            report = compare_inputs(inputs, floor, synthetic=synthetic, run=run, progress=progress)
    if outputs.out_path is not None:
        report.write_tables(outputs.out_path)
    if outputs.json_path is not None:
        report.write_json(outputs.json_path)
    return report


def _show(report: Report, outputs: Outputs, quiet: bool) -> None:
    if outputs.json_to_stdout and sys.stdout is not None:
        sys.stdout.buffer.write(report.to_json().encode("utf-8"))  # JSON is UTF-8 under every locale
    if quiet:
        return
    from rich.console import Console

    from evalkit.errors import printable
    from evalkit.terminal import report_view

    for warning in report.warnings:
        _say(f"warning: {printable(warning)}")
    stream = sys.stderr if outputs.json_to_stdout else sys.stdout
    if stream is None:
        return
    console = Console(file=stream)
    with console.capture() as shown:  # Rich ends the program itself where printing fails
        console.print(report_view(report))
    print(shown.get(), end="", file=stream)
    for what, path in (("report", outputs.json_path), ("tables", outputs.out_path)):
        if path is not None:
            print(f"{what}: {printable(str(path))}", file=stream)


@contextmanager
def _progress(stored: int | None, quiet: bool) -> Iterator[Progress | None]:
    """Show a bar on standard error while a read goes on, where somebody can see it."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(24), DownloadColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=stored, rate="")
        seen = 0

        def advance(size: int, records: int) -> None:
            nonlocal seen
            seen += records
            elapsed = bar.tasks[0].elapsed or 0
            rate = f"{seen / elapsed:,.0f} records/s" if elapsed else ""
            bar.update(task, advance=size, rate=rate)

        yield advance
