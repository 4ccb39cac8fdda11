"""``evalkit inspect``."""

from __future__ import annotations

import signal
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from evalkit.cli.ending import GO, REFUSED, exit_codes, interrupt, printing, say
from evalkit.cli.given import contract_of
from evalkit.cli.progress import progress_bar
from evalkit.cli.showing import show_json, show_view, warn

if TYPE_CHECKING:
    from evalkit.inspection import Inspection


def inspect(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILES", help="Predictions: files, patterns, folders of Parquet, - for stdin."),
    ],
    *,
    contract: Annotated[str | None, typer.Option(metavar="FILE", help="The contract of the dump, in TOML.")] = None,
    by: Annotated[
        list[str] | None, typer.Option(metavar="FIELD", help="Count the values of this field too; may be repeated.")
    ] = None,
    refusals: Annotated[
        str | None, typer.Option(metavar="PATH", help="Write every violation as a row of this Parquet file.")
    ] = None,
    json: Annotated[str | None, typer.Option(metavar="PATH", help="Write what was found; - for stdout.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print violations only; the exit code tells.")] = False,
) -> None:
    """Look through a dump: what it holds, and everything that is wrong with it.

    Counts the valid records by model and split, label and stratum, with null
    predictions and contributors, and names every rule that a record breaks.
    Leaks and splits that the key does not derive are looked for once all
    records are valid.

    Exit codes: 0 clean, 2 something is wrong. What was asked for is written
    either way.
    """
    with exit_codes():
        found = _inspect(files, contract, by or [], refusals, json, quiet)
        with printing():
            _show(found, to_stdout=json == "-", quiet=quiet)
    raise typer.Exit(GO if found.clean else REFUSED)


def _inspect(
    files: list[str], contract: str | None, by: list[str], refusals: str | None, json: str | None, quiet: bool
) -> Inspection:
    from evalkit.contracts.contract import distinct
    from evalkit.results.outputs import Outputs, check_outputs
    from evalkit.sources.partition import Inputs
    from evalkit.sources.source import resolve

    rules = contract_of(contract)
    sources = resolve(files)
    for path in (refusals, json):
        check_outputs(Outputs(path, None), sources, *([] if contract is None else [contract]))
    with Inputs(sources) as inputs:
        from evalkit.inspection import inspect_inputs

        signal.signal(signal.SIGINT, interrupt)  # importing Polars has put its own handler in place
        with progress_bar(inputs.stored, quiet) as progress:
            found = inspect_inputs(inputs, replace(rules, scalars=distinct(by)), progress=progress)
    if refusals is not None:
        found.write_refusals(refusals)
    if json not in (None, "-"):
        found.write_json(json)
    return found


def _show(found: Inspection, *, to_stdout: bool, quiet: bool) -> None:
    if to_stdout:
        show_json(found)
    stream = sys.stderr if to_stdout else sys.stdout
    if not quiet and stream is not None:
        from evalkit.cli.view_inspection import inspection_view

        warn(found.warnings)
        show_view(inspection_view(found), stream)
    if found.first is not None:
        from evalkit.cli.view_report import refusal_text

        say(refusal_text(found.first, done="every violation was counted"))
