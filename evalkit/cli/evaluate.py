"""``evalkit evaluate``."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from evalkit.cli.ending import GO, exit_codes, interrupt, printing
from evalkit.cli.progress import progress_bar
from evalkit.cli.showing import show_json, show_view, show_written, warn
from evalkit.cli.stated import INTERVAL, LEAST, MIN_CONTRIBUTORS, REPLICATED, REPLICATES, SEED, Stated
from evalkit.families.probability import defaults

if TYPE_CHECKING:
    from evalkit.families.probability.result import Evaluation
    from evalkit.results.outputs import Outputs
    from evalkit.uncertainty.chosen import Chosen


def evaluate(
    *,
    predictions: Annotated[
        list[str],
        typer.Option(metavar="FILES", help="Predictions: files, patterns, folders of Parquet, - for stdin."),
    ],
    gold: Annotated[list[str], typer.Option(metavar="FILES", help="Their right answers, likewise.")],
    bins: Annotated[int, typer.Option(metavar="N", help="Equal-width confidence bins.")] = defaults.BINS,
    sum_tolerance: Annotated[
        str, typer.Option(metavar="X", help="How far the sum of a vector may be off 1, a decimal.")
    ] = defaults.SUM_TOLERANCE,
    max_gold: Annotated[
        int, typer.Option(metavar="N", help="Most gold rows; they are held in memory.")
    ] = defaults.MAX_GOLD,
    interval: Annotated[str | None, INTERVAL] = None,
    cluster_by: Annotated[
        str | None,
        typer.Option(
            metavar="FIELD", help="Rows that agree in this field of gold, or of predictions, belong together."
        ),
    ] = None,
    calibration: Annotated[bool, typer.Option("--calibration", help="Judge calibration honestly.")] = False,
    replicates: Annotated[int, REPLICATED] = REPLICATES,
    seed: Annotated[int, SEED] = 0,
    min_contributors: Annotated[int, LEAST] = MIN_CONTRIBUTORS,
    json: Annotated[str | None, typer.Option(metavar="PATH", help="Write the report; - for stdout.")] = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write report.json and all tables as Parquet into this folder.")
    ] = None,
    synthetic: Annotated[bool, typer.Option("--synthetic", help="Say that the records are invented.")] = False,
    run_record: Annotated[
        str | None, typer.Option(metavar="FILE", help="A JSON object about the run to put into the report.")
    ] = None,
    engine: Annotated[
        str,
        typer.Option(metavar="ENGINE", help="Who reads: local, processes:N, dask://host:port, ray://auto."),
    ] = "local",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print refusals only; the exit code tells.")] = False,
) -> None:
    """Measure probability vectors against gold: is their confidence worth anything?

    Each prediction has an id, option_ids in their declared order, and
    probabilities, a number for each option; or null, and perhaps a label. Each
    gold row has the id, gold, and perhaps a family and a positive class. Where
    predictions name a model, every number is given per model.

    Accuracy, balanced accuracy, negative log-likelihood, Brier scores, expected
    calibration error and the reliability bins, overall and for each family.
    Gold rows without a prediction are counted as missing; a prediction without
    gold, an id twice, a vector that does not sum to 1 and whatever else cannot
    be judged honestly is refused, with file, line, field and rule.

    --interval gives each number its confidence interval. Rows stand for
    themselves, or are clustered by a field: then rows of one value, such as
    all of one writer, count as one source of evidence.

    Exit codes: 0 done, 2 refused.
    """
    from evalkit.results.outputs import Outputs

    with exit_codes():
        outputs = Outputs(json, out)
        stated = Stated(interval, replicates, seed, min_contributors, cluster_by, calibration)
        asked = Asked(predictions, gold, bins, sum_tolerance, max_gold, synthetic, run_record, stated.chosen(), engine)
        report = _evaluate(asked, outputs, quiet)
        with printing():
            _show(report, outputs, quiet)
    raise typer.Exit(GO)


class Asked(NamedTuple):
    """What the caller asked."""

    predictions: list[str]
    gold: list[str]
    bins: int
    sum_tolerance: str
    max_gold: int
    synthetic: bool
    run_record: str | None
    chosen: Chosen | None
    engine: str


def _evaluate(asked: Asked, outputs: Outputs, quiet: bool) -> Evaluation:
    from evalkit.exact import tolerance
    from evalkit.reading.engine import digests_by, workers_of
    from evalkit.results.outputs import check_outputs
    from evalkit.results.run_record import read_run_record
    from evalkit.sources.partition import Inputs
    from evalkit.sources.source import resolve_sides

    allowed = tolerance(asked.sum_tolerance, "sum-tolerance")
    run = None if asked.run_record is None else read_run_record(asked.run_record)
    predictions, gold = resolve_sides(asked.predictions, asked.gold)
    notes = () if asked.run_record is None else (asked.run_record,)
    check_outputs(outputs, [*predictions, *gold], *notes)
    with (
        workers_of(asked.engine) as workers,
        Inputs(predictions, digests=digests_by(workers)) as given,
        Inputs(gold, digests=digests_by(workers)) as answers,
    ):
        interval = sys.getswitchinterval()
        sys.setswitchinterval(1e-4)  # else the import keeps the digests waiting, five milliseconds for each megabyte
        from evalkit.families.probability.evaluate import Question, evaluate_inputs

        sys.setswitchinterval(interval)

        # Polars has put a handler of its own in place, under which a wait for a pipe is not interrupted.
        signal.signal(signal.SIGINT, interrupt)
        question = Question(asked.bins, allowed, asked.synthetic, run, asked.max_gold, asked.chosen)
        stored = None if given.stored is None or answers.stored is None else given.stored + answers.stored
        with progress_bar(stored, quiet) as progress:
            report = evaluate_inputs(given, answers, question, workers=workers, progress=progress)
    if outputs.out_path is not None:
        report.write_tables(outputs.out_path)
    if outputs.json_path is not None:
        report.write_json(outputs.json_path)
    return report


def _show(report: Evaluation, outputs: Outputs, quiet: bool) -> None:
    if outputs.json_to_stdout:
        show_json(report)
    if quiet:
        return
    from evalkit.cli.view_evaluation import evaluation_view

    warn(report.warnings)
    stream = sys.stderr if outputs.json_to_stdout else sys.stdout
    if stream is not None:
        show_view(evaluation_view(report), stream)
        show_written(outputs, stream)
