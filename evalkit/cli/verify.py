"""``evalkit verify``."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from evalkit.cli.ending import BLOCKED, GO, exit_codes, interrupt, printing
from evalkit.cli.given import contract_of, policy_of
from evalkit.cli.progress import progress_bar
from evalkit.cli.showing import show_json, warn

if TYPE_CHECKING:
    from evalkit.results.outputs import Outputs
    from evalkit.verification.options import Options
    from evalkit.verification.verify import Verification

_TOLERANCE = "1e-12"
_MEASURE = "As for evalkit measure."


def verify(
    report: Annotated[str, typer.Argument(metavar="REPORT", help="The report that is to be verified; - for stdin.")],
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILES", help="Predictions or document, named as when it was made."),
    ] = None,
    predictions: Annotated[
        list[str] | None, typer.Option(metavar="FILES", help="Predictions too, as for evalkit evaluate.")
    ] = None,
    gold: Annotated[list[str] | None, typer.Option(metavar="FILES", help="The gold of an evaluation.")] = None,
    *,
    tol: Annotated[
        str, typer.Option(metavar="DECIMAL", help="How far a measured number may be off, at least 0.")
    ] = _TOLERANCE,
    min_coverage: Annotated[
        str | None, typer.Option(metavar="SHARE", help="As for evalkit compare; a report of it needs it.")
    ] = None,
    contract: Annotated[str | None, typer.Option(metavar="FILE", help="As for evalkit compare.")] = None,
    policy: Annotated[str | None, typer.Option(metavar="FILE", help="As for evalkit compare.")] = None,
    by: Annotated[
        list[str] | None, typer.Option(metavar="FIELD", help="As for evalkit compare; may be repeated.")
    ] = None,
    bins: Annotated[int | None, typer.Option(metavar="N", help="As for evalkit evaluate.")] = None,
    sum_tolerance: Annotated[str | None, typer.Option(metavar="DECIMAL", help="As for evalkit evaluate.")] = None,
    max_gold: Annotated[int | None, typer.Option(metavar="N", help="As for evalkit evaluate.")] = None,
    synthetic: Annotated[bool, typer.Option("--synthetic", help="The records are invented.")] = False,
    run_record: Annotated[
        str | None, typer.Option(metavar="FILE", help="The record of the run that the report must hold.")
    ] = None,
    ocr: Annotated[str | None, typer.Option(metavar="FILE", help=_MEASURE)] = None,
    commands: Annotated[str | None, typer.Option(metavar="FILE", help=_MEASURE)] = None,
    retrieval: Annotated[str | None, typer.Option(metavar="FILE", help=_MEASURE)] = None,
    proposals: Annotated[str | None, typer.Option(metavar="FILE", help=_MEASURE)] = None,
    claims: Annotated[str | None, typer.Option(metavar="FILE", help=_MEASURE)] = None,
    merges: Annotated[str | None, typer.Option(metavar="FILE", help=_MEASURE)] = None,
    queue: Annotated[str | None, typer.Option(metavar="FILE", help=_MEASURE)] = None,
    qrels: Annotated[str | None, typer.Option(metavar="FILE", help=_MEASURE)] = None,
    run: Annotated[
        list[str] | None, typer.Option(metavar="SYSTEM=FILE", help="As for evalkit measure; may be repeated.")
    ] = None,
    source: Annotated[str | None, typer.Option(metavar="ID", help=_MEASURE)] = None,
    max_grade: Annotated[int | None, typer.Option(metavar="N", help=_MEASURE)] = None,
    drop_queries_without_relevant: Annotated[
        bool, typer.Option("--drop-queries-without-relevant", help=_MEASURE)
    ] = False,
    interval: Annotated[str | None, typer.Option(metavar="LEVEL", help="As for evalkit compare, of bounds.")] = None,
    min_contributors: Annotated[
        int | None, typer.Option(metavar="N", help="As for evalkit compare, of bounds.")
    ] = None,
    gate_on: Annotated[str | None, typer.Option(metavar="point|bound", help="As for evalkit compare.")] = None,
    min_support: Annotated[int | None, typer.Option(metavar="N", help="As for evalkit compare.")] = None,
    no_excluded_class: Annotated[bool, typer.Option("--no-excluded-class", help="As for evalkit compare.")] = False,
    json: Annotated[str | None, typer.Option(metavar="PATH", help="Write the outcome; - for stdout.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print refusals only; the exit code tells.")] = False,
) -> None:
    """Recompute a report from its inputs and compare it field by field.

    The report is a claim, the inputs are the evidence. Name the inputs and the
    options as for the command that made the report: nothing of that is read
    from the report, which tells its schema, and of statistics how they were
    made. Measured numbers may be off by --tol; counts, settings, texts and
    digests must be equal.

    It verifies what evalkit compare, evalkit evaluate and evalkit measure
    write, and reports of jev-bridge.

    Exit codes: 0 verified, 3 differs, 2 refused.
    """
    from evalkit.results.outputs import Outputs

    with exit_codes():
        outputs = Outputs(json, None)
        given = Given(report, [*(files or ()), *(predictions or ())], gold or [], tol)
        notes = Notes(contract, policy, run_record)
        evaluated = Evaluated(bins, sum_tolerance, max_gold)
        lists = (ocr, commands, retrieval, proposals, claims, merges, queue, qrels)
        measured = Measured(lists, run or [], source, max_grade, drop_queries_without_relevant)
        deciding = Deciding(interval, min_contributors, gate_on, min_support, no_excluded_class)
        options = _options(notes, min_coverage, by or [], evaluated, measured, deciding, synthetic)
        found = _verify(given, options, notes, outputs, quiet)
        with printing():
            _show(found, outputs, quiet)
    raise typer.Exit(GO if found.verified else BLOCKED)


class Given(NamedTuple):
    """The claim, the evidence, and how far they may be apart."""

    report: str
    predictions: list[str]
    gold: list[str]
    tolerance: str


class Notes(NamedTuple):
    """The small files that a verification is told about."""

    contract: str | None
    policy: str | None
    run_record: str | None


class Evaluated(NamedTuple):
    """What only an evaluation is made with."""

    bins: int | None
    sum_tolerance: str | None
    max_gold: int | None


class Measured(NamedTuple):
    """What only a measurement is made with; the files are those of ``_FILES``."""

    files: tuple[str | None, ...]
    runs: list[str]
    source: str | None
    max_grade: int | None
    drop: bool


_FILES = ("ocr", "commands", "retrieval", "proposals", "claims", "merges", "queue", "qrels")


class Deciding(NamedTuple):
    """What a verdict was asked for besides the gates on points, as ``Options`` calls it."""

    interval: str | None
    min_contributors: int | None
    gate_on: str | None
    min_support: int | None
    no_excluded_class: bool


def _options(
    notes: Notes,
    min_coverage: str | None,
    by: list[str],
    evaluated: Evaluated,
    measured: Measured,
    deciding: Deciding,
    synthetic: bool,
) -> Options:
    from evalkit.cli.measure import runs_of
    from evalkit.contracts.contract import distinct
    from evalkit.results.run_record import read_run_record
    from evalkit.verification.options import Options

    return Options(
        min_coverage=min_coverage,
        bins=evaluated.bins,
        contract=None if notes.contract is None else contract_of(notes.contract),
        by=distinct(by),
        policy=policy_of(notes.policy),
        sum_tolerance=evaluated.sum_tolerance,
        synthetic=synthetic,
        run=None if notes.run_record is None else read_run_record(notes.run_record),
        max_gold=evaluated.max_gold,
        files={name: path for name, path in zip(_FILES, measured.files, strict=True) if path is not None},
        runs=runs_of(measured.runs) or None,
        source=measured.source,
        max_grade=measured.max_grade,
        drop_queries_without_relevant=measured.drop,
        **deciding._asdict(),
    )


def _verify(given: Given, options: Options, notes: Notes, outputs: Outputs, quiet: bool) -> Verification:
    from evalkit.results.outputs import check_outputs
    from evalkit.sources.source import STANDARD_INPUT
    from evalkit.verification.evidence import Named
    from evalkit.verification.task import prepare
    from evalkit.verification.verify import carry_out

    named = Named(tuple(given.predictions), tuple(given.gold))
    task = prepare(given.report, named, options, given.tolerance)
    read = [path for path in (*notes, given.report) if path is not None and path != STANDARD_INPUT]
    check_outputs(outputs, task.plan.sources, *read)
    with task.plan.open() as opened:
        # Polars has put a handler of its own in place, under which a wait for a pipe is not interrupted.
        signal.signal(signal.SIGINT, interrupt)
        with progress_bar(opened.stored, quiet) as progress:
            found = carry_out(task, opened, progress)
    if outputs.json_path is not None:
        found.write_json(outputs.json_path)
    return found


def _show(found: Verification, outputs: Outputs, quiet: bool) -> None:
    if outputs.json_to_stdout:
        show_json(found)
    if quiet:
        return
    from evalkit.cli.view_verification import verification_lines
    from evalkit.errors import printable

    warn(found.warnings)
    stream = sys.stderr if outputs.json_to_stdout else sys.stdout
    if stream is None:
        return
    for line in verification_lines(found):
        print(line, file=stream)
    if outputs.json_path is not None:
        print(f"verification: {printable(str(outputs.json_path))}", file=stream)
