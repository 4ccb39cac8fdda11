"""``evalkit contract``: show the default one, check one, guess one from a dump."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from evalkit.cli.ending import exit_codes, printing, say

if TYPE_CHECKING:
    from evalkit.contracts.guess import Guess

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Show, check or guess a contract: the fields, labels, splits and limits of a dump.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
)

FIRST_RECORDS = 1000
"""How many records a contract is guessed from."""


@app.command(short_help="Print the default contract as TOML, ready to edit.")
def show() -> None:
    """Print the default contract as TOML, ready to edit.

    What a contract leaves out is as in this one.
    """
    from evalkit.contracts.contract import BRISTOL
    from evalkit.contracts.contract_toml import write_contract

    with exit_codes(), printing():
        _print(write_contract(BRISTOL))


@app.command(short_help="Check a contract, and say in words what it means.")
def check(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The contract, a TOML file.")],
    *,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print refusals only; the exit code tells.")] = False,
) -> None:
    """Check a contract, and say in words what it means.

    All that is wrong is said at once, each with its line and its setting.

    Exit codes: 0 sound, 2 refused.
    """
    from evalkit.contracts.contract_toml import read_contract
    from evalkit.contracts.contract_words import contract_words

    with exit_codes():
        contract = read_contract(file)
        if not quiet:
            with printing():
                print("\n".join(contract_words(contract)))


@app.command(short_help="Guess a contract from the first records of a dump.")
def guess(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILES", help="Predictions: files, patterns, folders of Parquet, - for stdin."),
    ],
    *,
    output: Annotated[
        str | None, typer.Option("--output", "-o", metavar="PATH", help="Write the contract there, not to stdout.")
    ] = None,
) -> None:
    """Guess a contract from the first records of a dump, to be edited.

    It reads 1,000 records, as many of each file. What it cannot tell it says
    on standard error, and leaves open in the contract: `contract check` refuses
    that until it is filled in.

    Exit codes: 0 guessed, whatever is left open; 2 refused.
    """
    from evalkit.errors import printable

    with exit_codes():
        guessed = _guess(files, output)
        with printing():
            if output is None or output == "-":
                _print(guessed.to_toml())
            else:
                print(f"contract: {printable(output)}")
            for name, why in guessed.undecided.items():
                say(f"undecided: {name}: {why}")


def _guess(files: list[str], output: str | None) -> Guess:
    from evalkit.contracts.guess import guess
    from evalkit.reading.first import first_documents
    from evalkit.results.outputs import Outputs, check_outputs
    from evalkit.sources.source import resolve

    outputs = Outputs(output, None)
    check_outputs(outputs, resolve(files))
    first = first_documents(files, FIRST_RECORDS)
    guessed = guess(first.documents, flat=first.flat)
    if (path := outputs.json_path) is not None:
        from evalkit.results.files import write_file

        write_file(path, guessed.to_toml().encode("utf-8"))
    return guessed


def _print(toml: str) -> None:
    if sys.stdout is not None:
        sys.stdout.buffer.write(toml.encode("utf-8"))  # TOML is UTF-8 under every locale
