"""``evalkit compare``."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from evalkit.cli.ending import BLOCKED, GO, exit_codes, interrupt, printing
from evalkit.cli.given import contract_of, policy_of
from evalkit.cli.progress import progress_bar
from evalkit.cli.showing import show_json, show_view, show_written, warn

if TYPE_CHECKING:
    from evalkit.families.selective.result import Report
    from evalkit.families.selective.wanted import Options
    from evalkit.results.outputs import Outputs


def compare(
    files: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILES", help="Predictions: files, patterns, folders of Parquet, s3://… and the like, - for stdin."
        ),
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
    contract: Annotated[
        str | None, typer.Option(metavar="FILE", help="Field names, labels, split rule, limits: a contract in TOML.")
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="FIELD", help="Every number for each value of this field too; may be repeated."),
    ] = None,
    policy: Annotated[
        str | None, typer.Option(metavar="FILE", help="A rule about quality and a floor of confidence, in TOML.")
    ] = None,
    json: Annotated[str | None, typer.Option(metavar="PATH", help="Write the report; - for stdout.")] = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write report.json and all tables as Parquet into this folder.")
    ] = None,
    synthetic: Annotated[bool, typer.Option("--synthetic", help="Say that the records are invented.")] = False,
    run_record: Annotated[
        str | None, typer.Option(metavar="FILE", help="A JSON object about the run to put into the report.")
    ] = None,
    interval: Annotated[
        str | None, typer.Option(metavar="LEVEL", help="Intervals at this confidence, such as 0.95.")
    ] = None,
    gate_on: Annotated[
        str,
        typer.Option(metavar="point|bound", help="Gates ask for the value, or for its one-sided bound."),
    ] = "point",
    min_contributors: Annotated[
        int, typer.Option(metavar="N", help="Fewest contributors that an interval is given for.")
    ] = 30,
    min_support: Annotated[
        int, typer.Option(metavar="N", help="Fewest accepted test records of each label in truth.")
    ] = 0,
    no_excluded_class: Annotated[
        bool, typer.Option("--no-excluded-class", help="No label may have all records abstained.")
    ] = False,
    calibration: Annotated[
        bool, typer.Option("--calibration", help="Calibration beside what chance alone would show.")
    ] = False,
    curves: Annotated[bool, typer.Option("--curves", help="Areas of the risk-coverage curve.")] = False,
    certify: Annotated[
        list[str] | None,
        typer.Option(metavar="CLAIM", help='A threshold with a guarantee: "precision>=0.9@0.95".'),
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="MODEL", help="Compare the other candidates with this one.")
    ] = None,
    pair_by: Annotated[
        str | None, typer.Option(metavar="FIELD", help="The field that pairs records of two models.")
    ] = None,
    margin: Annotated[
        str | None, typer.Option(metavar="SHARE", help="How much worse than the baseline is allowed.")
    ] = None,
    replicates: Annotated[int, typer.Option(metavar="N", help="Resamples of the contributors.")] = 1000,
    seed: Annotated[int, typer.Option(metavar="N", help="Seed of the resamples.")] = 0,
    engine: Annotated[
        str,
        typer.Option(metavar="ENGINE", help="Who reads: local, processes:N, dask://host:port, ray://auto."),
    ] = "local",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print refusals only; the exit code tells.")] = False,
) -> None:
    """Judge candidates on a dump of selective predictions: may one be released?

    Each record names a model, a contributor's key, a split, the truth and what
    the model offered with its confidence, or null. One threshold a candidate is
    fixed on validation; the candidate is then scored on test and held against
    the gates: macro-F1 at least 0.80, precision at coverage at least 0.90, ECE
    at most 0.05, all inclusive. Other fields, labels or limits are a contract:
    see evalkit contract.

    Malformed records, contributors in more than one split and splits that the
    key does not derive are refused, each with file, line, field and rule.

    Exit codes: 0 GO, 3 BLOCKED, 2 refused.
    """
    from evalkit.results.outputs import Outputs

    options: Options = {
        "interval": interval,
        "gate_on": gate_on,  # type: ignore[typeddict-item]  # checked with the others
        "min_contributors": min_contributors,
        "min_support": min_support,
        "no_excluded_class": no_excluded_class,
        "calibration": calibration,
        "curves": curves,
        "certify": certify or (),
        "baseline": baseline,
        "pair_by": pair_by,
        "margin": margin,
        "replicates": replicates,
        "seed": seed,
    }
    with exit_codes():
        outputs = Outputs(json, out)
        notes = Notes(contract, policy, run_record)
        names = [*(files or ()), *(predictions or ())]
        report = _compare(names, min_coverage, by or [], notes, outputs, synthetic, engine, quiet, options)
        with printing():
            _show(report, outputs, quiet)
    raise typer.Exit(GO if report.verdict == "GO" else BLOCKED)


class Notes(NamedTuple):
    """The small files that a run is told about."""

    contract: str | None
    policy: str | None
    run_record: str | None


def _compare(
    names: list[str],
    min_coverage: str,
    by: list[str],
    notes: Notes,
    outputs: Outputs,
    synthetic: bool,
    engine: str,
    quiet: bool,
    options: Options,
) -> Report:
    from evalkit.contracts.contract import distinct
    from evalkit.exact import unit_fraction
    from evalkit.families.selective.wanted import wanted
    from evalkit.reading.engine import digests_by, workers_of
    from evalkit.results.outputs import check_outputs
    from evalkit.results.run_record import read_run_record
    from evalkit.sources.partition import Inputs
    from evalkit.sources.source import resolve

    floor = unit_fraction(min_coverage, "min-coverage")
    run = None if notes.run_record is None else read_run_record(notes.run_record)
    rules, policy = contract_of(notes.contract), policy_of(notes.policy)
    asked = wanted(options)
    sources = resolve(names)
    check_outputs(outputs, sources, *(path for path in notes if path is not None))
    with workers_of(engine) as workers, Inputs(sources, digests=digests_by(workers)) as inputs:
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-4)  # else the import keeps the digests waiting, five milliseconds for each megabyte
        from evalkit.families.selective.compare import Question, compare_inputs

        sys.setswitchinterval(interval)

        # Polars has put a handler of its own in place, under which a wait for a pipe is not interrupted.
        signal.signal(signal.SIGINT, interrupt)
        question = Question(floor, rules, distinct(by), policy, synthetic, run, asked)
        with progress_bar(inputs.stored, quiet) as progress:
            report = compare_inputs(inputs, question, workers=workers, progress=progress)
    if outputs.out_path is not None:
        report.write_tables(outputs.out_path)
    if outputs.json_path is not None:
        report.write_json(outputs.json_path)
    return report


def _show(report: Report, outputs: Outputs, quiet: bool) -> None:
    if outputs.json_to_stdout:
        show_json(report)
    if quiet:
        return
    from evalkit.cli.view_report import report_view

    warn(report.warnings)
    stream = sys.stderr if outputs.json_to_stdout else sys.stdout
    if stream is None:
        return
    show_view(report_view(report), stream)
    show_written(outputs, stream)
