"""``evalkit measure``."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from evalkit.cli.ending import GO, exit_codes, interrupt, printing
from evalkit.cli.progress import progress_bar
from evalkit.cli.showing import show_json, show_view
from evalkit.cli.stated import INTERVAL, LEAST, MIN_CONTRIBUTORS, REPLICATED, REPLICATES, SEED, Stated

if TYPE_CHECKING:
    from evalkit.families.observations.measure import Question
    from evalkit.families.observations.reading import Judged
    from evalkit.families.observations.result import MeasurementReport
    from evalkit.results.outputs import Outputs

_LINES = "The {}, as JSON Lines; - for stdin."


def measure(
    document: Annotated[
        str, typer.Argument(metavar="DOCUMENT", help="The observation document, JSON; - for standard input.")
    ],
    *,
    ocr: Annotated[str | None, typer.Option(metavar="FILE", help=_LINES.format("ocr_cases"))] = None,
    commands: Annotated[str | None, typer.Option(metavar="FILE", help=_LINES.format("commands"))] = None,
    retrieval: Annotated[str | None, typer.Option(metavar="FILE", help=_LINES.format("retrieval_queries"))] = None,
    proposals: Annotated[str | None, typer.Option(metavar="FILE", help=_LINES.format("proposals"))] = None,
    claims: Annotated[str | None, typer.Option(metavar="FILE", help=_LINES.format("claims"))] = None,
    merges: Annotated[str | None, typer.Option(metavar="FILE", help=_LINES.format("merges"))] = None,
    queue: Annotated[str | None, typer.Option(metavar="FILE", help=_LINES.format("queue"))] = None,
    qrels: Annotated[
        str | None, typer.Option(metavar="FILE", help="TREC judgments, in place of retrieval_queries.")
    ] = None,
    run: Annotated[
        list[str] | None,
        typer.Option(metavar="SYSTEM=FILE", help="A system's TREC rankings; may be repeated."),
    ] = None,
    source: Annotated[
        str | None, typer.Option(metavar="ID", help="The declared source that the TREC queries are about.")
    ] = None,
    max_grade: Annotated[int, typer.Option(metavar="N", help="The highest grade of the TREC judgments.")] = 3,
    drop_queries_without_relevant: Annotated[
        bool,
        typer.Option(
            "--drop-queries-without-relevant", help="Leave out TREC queries without a relevant document; count them."
        ),
    ] = False,
    interval: Annotated[str | None, INTERVAL] = None,
    replicates: Annotated[int, REPLICATED] = REPLICATES,
    seed: Annotated[int, SEED] = 0,
    min_contributors: Annotated[int, LEAST] = MIN_CONTRIBUTORS,
    output: Annotated[
        str | None, typer.Option(metavar="PATH", help="Write the evaluation as JSON; - for stdout.")
    ] = None,
    out: Annotated[
        str | None, typer.Option(metavar="DIR", help="Write report.json and measurements.parquet into this folder.")
    ] = None,
    engine: Annotated[
        str,
        typer.Option(metavar="ENGINE", help="Who reads: local, processes:N, dask://host:port, ray://auto."),
    ] = "local",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print refusals only; the exit code tells.")] = False,
) -> None:
    """Measure labelled observations: recorded text, commands, rankings, reviews.

    The document names the run, the model, the data set and its sources, and
    holds lists of cases; a large list may come as a file of JSON Lines beside
    it. Nothing is generated, judged or approved: what was recorded is compared
    with what was labelled, and a family without a case is not measured.

    --interval gives each measure its confidence interval. Cases of one source
    vary together, and count as one; so do units of work of one day.

    Exit codes: 0 measured, 2 refused.
    """
    with exit_codes():
        from evalkit.families.observations.measure import OPTIONS, Question
        from evalkit.results.outputs import Outputs

        given = (ocr, commands, retrieval, proposals, claims, merges, queue)
        files = {name: path for name, path in zip(OPTIONS.values(), given, strict=True) if path is not None}
        judged = _judged(qrels, run or [], source, max_grade, drop_queries_without_relevant)
        outputs = Outputs(output, out)
        chosen = Stated(interval, replicates, seed, min_contributors).chosen()
        report = _measure(Question(document, files, judged, chosen), outputs, engine, quiet)
        with printing():
            _show(report, outputs, quiet)
    raise typer.Exit(GO)


def _judged(qrels: str | None, runs: list[str], source: str | None, max_grade: int, drop: bool) -> Judged | None:
    from evalkit.families.observations.measure import judged_of

    return judged_of(qrels, runs_of(runs), source, max_grade, drop)


def runs_of(runs: list[str]) -> dict[str, str]:
    """Return the file of each system that is named as SYSTEM=FILE."""
    from evalkit.errors import Refusal, Violation

    named: dict[str, str] = {}
    for run in runs:
        system, sign, path = run.partition("=")
        if not (system.strip() and sign and path):
            raise Refusal.of(
                Violation("trec-options", "must be a system and a file, such as bm25=bm25.run", field="--run")
            )
        if system in named:
            raise Refusal.of(Violation("trec-options", "no system may be named twice", field="--run", value=system))
        named[system] = path
    return named


def _measure(question: Question, outputs: Outputs, engine: str, quiet: bool) -> MeasurementReport:
    from evalkit.families.observations.document import RETRIEVAL
    from evalkit.families.observations.given import sources_of
    from evalkit.families.observations.measure import answer
    from evalkit.reading.engine import engine_of, workers_of
    from evalkit.results.outputs import check_outputs

    sources = sources_of(question.paths)
    check_outputs(outputs, list(sources.values()))
    if question.judged is not None or RETRIEVAL in question.files:
        import polars  # noqa: F401 - it puts a handler of its own in place, under which a wait is not interrupted
    signal.signal(signal.SIGINT, interrupt)
    plain = [sources[name].identity for name in question.files if not sources[name].compressed]
    known = [one.size for one in plain if one is not None]
    stored = sum(known) if len(known) == len(question.files) else None
    with workers_of(engine) as workers, progress_bar(stored, quiet or not question.files) as progress:
        report = answer(question, progress=progress, engine=engine_of(workers))
    if outputs.out_path is not None:
        report.write_tables(outputs.out_path)
    if outputs.json_path is not None:
        report.write_json(outputs.json_path)
    return report


def _show(report: MeasurementReport, outputs: Outputs, quiet: bool) -> None:
    if outputs.json_to_stdout:
        show_json(report)
    stream = sys.stderr if outputs.json_to_stdout else sys.stdout
    if quiet or stream is None:
        return
    from evalkit.cli.view_measurement import measurement_view
    from evalkit.errors import printable

    show_view(measurement_view(report), stream)
    for what, path in (("evaluation", outputs.json_path), ("tables", outputs.out_path)):
        if path is not None:
            print(f"{what}: {printable(str(path))}", file=stream)
