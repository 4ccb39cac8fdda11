"""``evalkit convert``."""

from __future__ import annotations

import signal
from dataclasses import replace
from typing import Annotated

import typer

from evalkit.cli.ending import GO, exit_codes, interrupt, printing
from evalkit.cli.given import contract_of
from evalkit.cli.progress import progress_bar
from evalkit.cli.showing import warn


def convert(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILES", help="Predictions: files, patterns, folders of Parquet, - for stdin."),
    ],
    *,
    output: Annotated[str, typer.Option("--output", "-o", metavar="PATH", help="The Parquet file to write.")],
    contract: Annotated[str | None, typer.Option(metavar="FILE", help="The contract of the dump, in TOML.")] = None,
    by: Annotated[
        list[str] | None, typer.Option(metavar="FIELD", help="Keep this field for strata; may be repeated.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print refusals only.")] = False,
) -> None:
    """Check a dump once and write its records as typed Parquet, in their order.

    The file holds model, subject key, split, truth, predicted label and
    confidence, and the fields named by --by; all other fields are left out. Its
    metadata holds the contract and the digests of the dump. compare gives the
    same report for it, in less time, and says what it was converted from.

    Exit codes: 0 written, 2 refused.
    """
    with exit_codes():
        records, inputs = _convert(files, output, contract, by or [], quiet)
        if not quiet:
            with printing():
                from evalkit.errors import printable

                print(f"{printable(output)}: {records:,} records of {inputs}")
    raise typer.Exit(GO)


def _convert(files: list[str], output: str, contract: str | None, by: list[str], quiet: bool) -> tuple[int, str]:
    from evalkit.contracts.contract import distinct
    from evalkit.results.outputs import Outputs, check_outputs
    from evalkit.sources.partition import Inputs
    from evalkit.sources.source import resolve

    rules = contract_of(contract)
    sources = resolve(files)
    check_outputs(Outputs(output, None), sources, *([] if contract is None else [contract]))
    with Inputs(sources) as inputs:
        from evalkit.conversion import convert_inputs

        signal.signal(signal.SIGINT, interrupt)  # importing Polars has put its own handler in place
        with progress_bar(inputs.stored, quiet) as progress:
            done = convert_inputs(inputs, output, replace(rules, scalars=distinct(by)), progress=progress)
    if not quiet:
        warn(done.warnings)
    named = "1 input" if len(done.evidence) == 1 else f"{len(done.evidence):,} inputs"
    return sum(one.records for one in done.evidence), named
