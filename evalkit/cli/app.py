"""The program: its options, its commands, and how it starts and leaves."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from typing import Annotated, NoReturn

import typer

from evalkit import __version__
from evalkit.cli.compare import compare
from evalkit.cli.contract import app as contract
from evalkit.cli.convert import convert
from evalkit.cli.ending import FAILED, GO, TERMINATED, TerminatedError, keep_open, printing, terminate
from evalkit.cli.evaluate import evaluate
from evalkit.cli.history import history
from evalkit.cli.inspect import inspect
from evalkit.cli.measure import measure
from evalkit.cli.nightly import nightly
from evalkit.cli.plan import plan
from evalkit.cli.query import query
from evalkit.cli.readiness import readiness
from evalkit.cli.receipt import receipt
from evalkit.cli.report import report
from evalkit.cli.verify import verify

app = typer.Typer(
    name="evalkit",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)


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

    Exit codes: 0 done, GO, verified or ready; 3 BLOCKED, differs or not ready; 2 refused, or a usage error; 1
    evalkit or the machine failed; 130 interrupted; 143 terminated. Nothing is written but on 0 and 3.
    """


app.command(short_help="Judge candidates on a dump of selective predictions.")(compare)
app.command(short_help="Measure probability vectors against gold.")(evaluate)
app.command(short_help="Measure labelled observations: text, commands, rankings, reviews.")(measure)
app.command(short_help="Recompute a report from its inputs and compare.")(verify)
app.command(short_help="Draw a report: charts, a page, an image or tables.")(report)
app.command(short_help="Turn a report into one release decision.")(receipt)
app.command(short_help="Say whether an evaluation meets every condition, or what fails.")(readiness)
app.command(short_help="Say how many contributors would settle a gate.")(plan)
app.command(short_help="Ask results and records in SQL.")(query)
app.command(short_help="Run a job's evaluations for a date, and judge them against earlier nights.")(nightly)
app.command(short_help="Print what every night of a store says of its metrics.")(history)
app.command(short_help="Look through a dump: what it holds, and all that is wrong with it.")(inspect)
app.command(short_help="Check a dump once and write it as typed Parquet.")(convert)
app.add_typer(contract, name="contract", short_help="Show, check or guess the contract of a dump.")


_LISTS = {"evaluate": ("--predictions", "--gold"), "verify": ("--predictions", "--gold")}
"""Options of commands that take all values that follow, up to the next option, as a shell's pattern gives them."""


def spread(words: Sequence[str]) -> list[str]:
    """Repeat an option that takes a list before each of its values.

    >>> spread(["evaluate", "--predictions", "a", "b", "--gold", "-", "--bins", "5"])
    ['evaluate', '--predictions', 'a', '--predictions', 'b', '--gold', '-', '--bins', '5']
    """
    found: list[str] = []
    lists = _LISTS.get(words[0], ()) if words else ()
    current, values = "", 0
    for place, word in enumerate(words):
        if word == "--":
            return [*found, *words[place:]]
        if word.startswith("-") and word != "-":
            current, values = word if word in lists else "", 0
        elif current:
            found += [current] * (values > 0)
            values += 1
        found.append(word)
    return found


def run() -> NoReturn:
    """Run the command line."""
    signal.signal(signal.SIGTERM, terminate)
    for descriptor in range(3):
        keep_open(descriptor)
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    code: object = GO
    try:
        app(spread(sys.argv[1:]))
    except TerminatedError:  # before the command's work began, or after it
        code = TERMINATED
    except SystemExit as end:
        code = end.code
    with printing():
        pass
    # All is written and flushed: what is left would be to give back, piece by piece, memory that ends with us.
    os._exit(code if isinstance(code, int) else FAILED)
