"""``evalkit query``."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalkit.cli.ending import GO, exit_codes, interrupt, printing
from evalkit.cli.given import contract_of
from evalkit.cli.progress import progress_bar
from evalkit.cli.receipt import STANDARD_OUTPUT, check_targets
from evalkit.cli.showing import warn

if TYPE_CHECKING:
    import polars as pl

    from evalkit.analysis.query import Answer

TABLE = "table"


def query(
    sql: Annotated[str, typer.Argument(metavar="QUERY", help="One SELECT, in quotes.")],
    paths: Annotated[
        list[str],
        typer.Argument(metavar="INPUTS", help="Results folders (--out), a store of nightly results, or dumps."),
    ],
    *,
    contract: Annotated[str | None, typer.Option(metavar="FILE", help="The contract of the dump, in TOML.")] = None,
    by: Annotated[
        list[str] | None, typer.Option(metavar="FIELD", help="A column of records from this field; may be repeated.")
    ] = None,
    form: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="table, csv, json, jsonl, markdown or parquet."),
    ] = None,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="PATH", help="Write the rows; the format is that of the ending.")
    ] = STANDARD_OUTPUT,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No warnings and no progress.")] = False,
) -> None:
    """Ask results and records in SQL.

    The tables are those of a results folder: candidates, per_class, confusion,
    bins, curve, measurements, and of statistics contributors, gates,
    reliability, certified, comparison, flips, as far as they are there; in a
    store of nightly results each has evaluation and date as well. The table
    records holds what a dump holds: model, subject_key, split, truth, predicted,
    confidence, and the fields named by --by.

    Only what is named is read, and only SELECT is run. Records are checked as
    evalkit compare checks them; a query that stops early says what was not.

    Exit codes: 0 done, 2 refused.
    """
    with exit_codes():
        chosen = _format(form, output)
        found = _answer(sql, paths, contract, by or [], output, quiet)
        if output != STANDARD_OUTPUT:
            _write(found.rows, chosen, Path(output))
        with printing():
            if not quiet:
                warn(found.warnings)
            _show(found.rows, chosen, output, quiet)
    raise typer.Exit(GO)


def _format(form: str | None, output: str) -> str:
    from evalkit.analysis.written import FORMATS, format_of
    from evalkit.errors import Refusal, Violation

    if form is not None and form not in FORMATS:
        raise Refusal.of(Violation("rows-format", f"is no format; there are {', '.join(FORMATS)}", "--format"))
    chosen = form or (TABLE if output == STANDARD_OUTPUT else format_of(output))
    on_terminal = output == STANDARD_OUTPUT and sys.stdout is not None and sys.stdout.isatty()
    if chosen == "parquet" and on_terminal:
        raise Refusal.of(Violation("rows-format", "Parquet is nothing for a terminal; name a file with -o", "--format"))
    return chosen


def _answer(sql: str, paths: list[str], contract: str | None, by: list[str], output: str, quiet: bool) -> Answer:
    from evalkit.analysis.query import Tables, answer
    from evalkit.analysis.sql import Select

    asked = Select.of(sql)
    rules = contract_of(contract)
    tables = Tables.of(paths, rules, by)
    if output != STANDARD_OUTPUT:
        check_targets([output], [*tables.files, contract])
        _check_outside(output, paths)
    stored = None if tables.records is None else tables.records.stored
    with progress_bar(stored, quiet or tables.records is None) as progress:
        if tables.records is not None:
            tables.records.progress = progress
        elif (by or contract is not None) and not quiet:
            warn(["no dump is named, so --by and --contract say nothing"])
        signal.signal(signal.SIGINT, interrupt)  # importing Polars has put its own handler in place
        return _waited(partial(answer, asked, tables))


def _waited(task: Callable[[], Answer]) -> Answer:
    """Run a task beside the main thread, which a signal reaches at once only while it waits."""
    found: Future[Answer] = Future()

    def work() -> None:
        try:
            found.set_result(task())
        except BaseException as error:  # noqa: BLE001 - handed on to the one that waits
            found.set_exception(error)

    threading.Thread(target=work, name="evalkit-query", daemon=True).start()
    return found.result()


def _check_outside(output: str, paths: list[str]) -> None:
    """Refuse a file in a folder that is an input: it would be taken for a part of it."""
    from evalkit.errors import Refusal, Violation
    from evalkit.sources.source import label

    for path in paths:
        if os.path.isdir(path) and Path(path).resolve() in Path(output).resolve().parents:
            message = f"is in the input {label(path)}; name a file outside it"
            raise Refusal.of(Violation("output-unusable", message, label(output)))


def _write(rows: pl.DataFrame, form: str, path: Path) -> None:
    from evalkit.analysis.written import pieces
    from evalkit.results.files import new_file, write_file

    if form == "parquet":
        with new_file(path) as temporary:
            rows.write_parquet(temporary)
    elif form == TABLE:
        from evalkit.cli.view_rows import table_lines

        write_file(path, (f"{line}\n".encode() for line in table_lines(rows, None)))
    else:
        write_file(path, pieces(rows, form))


def _show(rows: pl.DataFrame, form: str, output: str, quiet: bool) -> None:
    stream = sys.stdout
    if stream is None:
        return
    if output != STANDARD_OUTPUT:
        from evalkit.errors import printable

        if not quiet:
            print(f"rows: {printable(output)}", file=stream)
    elif form == "parquet":
        rows.write_parquet(stream.buffer)
    elif form == TABLE:
        _show_table(rows)
    else:
        from evalkit.analysis.written import pieces

        stream.buffer.writelines(pieces(rows, form))  # UTF-8 under every locale


def _show_table(rows: pl.DataFrame) -> None:
    """Print a table; on a terminal it is as wide as that, and its head is bold unless NO_COLOR is set."""
    from evalkit.cli.view_rows import table_lines

    terminal = sys.stdout.isatty()
    width = None
    if terminal:
        from rich.console import Console

        console = Console(file=sys.stdout)
        width, terminal = console.width, console.color_system is not None and not console.no_color
    for place, line in enumerate(table_lines(rows, width)):
        print(f"\x1b[1m{line}\x1b[0m" if terminal and place == 0 else line)
