"""``evalkit report``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from evalkit.cli.ending import GO, exit_codes, printing


def report(
    report: Annotated[
        str,
        typer.Argument(metavar="REPORT", help="A report as JSON, a results folder, or metrics as JSON; - for stdin."),
    ],
    outs: Annotated[
        list[str], typer.Argument(metavar="OUT", help="Files to write: .svg, .html, .png or .md; one or more.")
    ],
    *,
    interactive: Annotated[
        bool,
        typer.Option("--interactive", help="Make .html a page to choose candidate and stratum and to move the cut in."),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print refusals only; the exit code tells.")] = False,
) -> None:
    """Draw a report: charts as SVG, a page, an image, or tables as Markdown.

    Draws what evalkit compare, evaluate and measure report, and any JSON
    document with a run id, a model revision and metrics. Of a results folder
    the coverage-precision curves are drawn whole. What was not measured has no
    bar; a synthetic example says so.

    Each file needs nothing else: no font, nothing from outside, and no script
    but with --interactive. Such a page, of candidates or models, has its script
    and its data in it, asks nobody, and stays under 1.2 MB. Its cut moves on
    validation only: of test it has what the chosen threshold gave.

    Exit codes: 0 done, 2 refused.
    """
    from evalkit.errors import printable

    with exit_codes():
        from evalkit.charts.render import render

        render(report, *outs, interactive=interactive)
        with printing():
            if not quiet and sys.stdout is not None:
                for out in outs:
                    print(f"report: {printable(out)}")
    raise typer.Exit(GO)
