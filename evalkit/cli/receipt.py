"""``evalkit receipt``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from evalkit.cli.ending import BLOCKED, GO, exit_codes, printing
from evalkit.cli.given import contract_of, policy_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evalkit.families.selective.receipt import Receipt

STANDARD_OUTPUT = "-"


def receipt(
    report: Annotated[
        str | None, typer.Argument(metavar="REPORT", help="What evalkit compare --json wrote; - for stdin.")
    ] = None,
    *,
    policy: Annotated[
        str | None, typer.Option(metavar="FILE", help="The policy in force, as TOML; its floor bounds the threshold.")
    ] = None,
    contract: Annotated[
        str | None, typer.Option(metavar="FILE", help="The contract whose limits apply, as TOML.")
    ] = None,
    json: Annotated[str | None, typer.Option(metavar="PATH", help="Write the receipt; - for stdout.")] = None,
    export: Annotated[
        str | None, typer.Option(metavar="PATH", help="Write the policy as JSON for other programs; - for stdout.")
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print refusals only; the exit code tells.")] = False,
) -> None:
    """Turn a report into one release decision: allowed, or blocked and why.

    The candidate that the report recommends is held against the limits again:
    those of the contract, never those in the report. Every reason to block is
    named by a stable code. No report, or none there, is a block.

    Exit codes: 0 allowed, 3 blocked, 2 refused.
    """
    if export is not None and policy is None:
        raise typer.BadParameter("there is no policy to write; name one with --policy", param_hint="--export")
    with exit_codes():
        found, outputs = _receipt(report, policy, contract, json, export)
        with printing():
            _show(found, outputs, quiet)
    raise typer.Exit(GO if found.allowed else BLOCKED)


class Output(NamedTuple):
    """What is written, where to, and its text."""

    what: str
    path: str
    text: str


def _receipt(
    report: str | None, policy: str | None, contract: str | None, json: str | None, export: str | None
) -> tuple[Receipt, list[Output]]:
    from evalkit.families.selective.receipt import receipt as decide
    from evalkit.results.files import write_file

    check_targets([path for path in (json, export) if path is not None], [report, policy, contract])
    rules = policy_of(policy)
    found = decide(report, rules, contract_of(contract))
    outputs = []
    if json is not None:
        outputs.append(Output("receipt", json, found.to_json()))
    if export is not None and rules is not None:
        outputs.append(Output("policy", export, rules.to_json()))
    for one in outputs:
        if one.path != STANDARD_OUTPUT:
            write_file(one.path, one.text.encode("utf-8"))
    return found, outputs


def check_targets(targets: Sequence[str], inputs: Sequence[str | None]) -> None:
    """Refuse targets that cannot be written, that are inputs, or of which two are the same."""
    from evalkit.errors import Refusal, Violation
    from evalkit.results.files import check_file_target
    from evalkit.sources.source import STANDARD_INPUT, label

    named = [path for path in inputs if path is not None and path != STANDARD_INPUT]
    for place, target in enumerate(targets):
        for other in targets[:place]:
            if _same(target, other):
                message = "is named for two outputs; name another place for one of them"
                raise Refusal.of(Violation("output-unusable", message, label(target)))
        if target == STANDARD_OUTPUT:
            continue
        check_file_target(target)
        for path in named:
            if _same(target, path):
                message = f"is the input {label(path)}; name another file"
                raise Refusal.of(Violation("output-unusable", message, label(target)))


def _same(target: str, other: str) -> bool:
    """Tell whether two names are of one file, which may not be there yet."""
    if STANDARD_OUTPUT in (target, other):
        return target == other
    try:
        return os.path.realpath(target) == os.path.realpath(other) or os.path.samefile(target, other)
    except (OSError, ValueError):  # one is not there
        return False


def _show(found: Receipt, outputs: Sequence[Output], quiet: bool) -> None:
    from evalkit.errors import printable

    to_stdout = [one for one in outputs if one.path == STANDARD_OUTPUT]
    for one in to_stdout:
        if sys.stdout is not None:
            sys.stdout.buffer.write(one.text.encode("utf-8"))  # JSON is UTF-8 under every locale
    stream = sys.stderr if to_stdout else sys.stdout
    if quiet or stream is None:
        return
    if found.allowed:
        print(f"ALLOWED: {printable(found.model or '')} at threshold {found.threshold}", file=stream)
    else:
        count = len(found.reasons)
        print(f"BLOCKED: {count} reason{'' if count == 1 else 's'}", file=stream)
    for reason in found.reasons:
        print(f"  {reason.code}: {printable(reason.text)}", file=stream)
    for one in outputs:
        if one.path != STANDARD_OUTPUT:
            print(f"{one.what}: {printable(one.path)}", file=stream)
