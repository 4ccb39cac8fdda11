"""``evalkit readiness``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evalkit.cli.ending import BLOCKED, GO, exit_codes, printing
from evalkit.cli.receipt import STANDARD_OUTPUT, check_targets

if TYPE_CHECKING:
    from evalkit.release.readiness import Readiness


def readiness(
    evaluation: Annotated[
        str,
        typer.Argument(metavar="EVALUATION", help="What evalkit measure wrote: JSON or folder; - for stdin."),
    ],
    *,
    json: Annotated[str | None, typer.Option(metavar="OUT", help="Write the answer as JSON; - for stdout.")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print refusals only; the exit code tells.")] = False,
) -> None:
    """Say whether an evaluation meets every condition, or name all that fail.

    The limits are fixed: OCR fidelity at least 0.90, schema validity and claim
    support 0.95, Recall@10 of the candidate 0.85, provenance complete, and no
    incorrect accepted merge, with every accepted merge reviewed. Synthetic and
    development runs are refused, and so is whatever is no sound measurement.

    Human counts and flags are declarations: they have to be audited.

    Exit codes: 0 ready, 3 not ready, 2 refused.
    """
    with exit_codes():
        found = _readiness(evaluation, json)
        with printing():
            _show(found, json, quiet)
    raise typer.Exit(GO if found.ready else BLOCKED)


def _readiness(evaluation: str, json: str | None) -> Readiness:
    from evalkit.release.readiness import evaluation_file
    from evalkit.release.readiness import readiness as judge

    if json is not None:
        check_targets([json], [evaluation_file(evaluation)])
    found = judge(evaluation)
    if json is not None and json != STANDARD_OUTPUT:
        found.write_json(Path(json))
    return found


def _show(found: Readiness, json: str | None, quiet: bool) -> None:
    from evalkit.cli.showing import show_json
    from evalkit.errors import printable

    if json == STANDARD_OUTPUT:
        show_json(found)
    stream = sys.stderr if json == STANDARD_OUTPUT else sys.stdout
    if quiet or stream is None:
        return
    about = f"run {found.run_id}, model {found.model_revision}, data set {found.dataset_id}, split {found.split}"
    print(printable(about), file=stream)
    for gate in found.gates:
        value = "not measured" if gate.value is None else str(gate.value)
        sign = "at least" if gate.direction == "higher" else "at most"
        size = "" if gate.sample_size is None else f", n = {gate.sample_size:,}"
        verdict = "met" if gate.passed else "fails"
        print(f"  {gate.name}: {value}, {sign} {gate.limit:g}{size}: {verdict}", file=stream)
    count = len(found.conditions)
    print(
        "READY: every condition is met"
        if found.ready
        else f"NOT READY: {count} condition{'' if count == 1 else 's'} failed",
        file=stream,
    )
    for one in found.conditions:
        print(f"  {one.code}: {one.metric}: {printable(one.text)}", file=stream)
    for text in found.declarations:
        print(text, file=stream)
    if json is not None and json != STANDARD_OUTPUT:
        print(f"readiness: {printable(json)}", file=stream)
