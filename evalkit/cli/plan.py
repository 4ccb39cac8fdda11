"""``evalkit plan``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from evalkit.cli.ending import GO, exit_codes, printing

if TYPE_CHECKING:
    from rich.console import Group

    from evalkit.uncertainty.plan_result import Plan


def plan(
    *,
    gate: Annotated[str, typer.Option(metavar="GATE", help='The gate, such as "precision>=0.9".')],
    true: Annotated[str, typer.Option(metavar="VALUE", help="What the model is taken to be worth, such as 0.93.")],
    level: Annotated[str, typer.Option(metavar="LEVEL", help="The confidence of the bound.")] = "0.95",
    power: Annotated[str, typer.Option(metavar="CHANCE", help="The chance to pass that is wished for.")] = "0.8",
    per_contributor: Annotated[
        int | None,
        typer.Option(metavar="N", help="Records per contributor; 20 where it is neither given nor measured."),
    ] = None,
    correlation: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="How alike a contributor's records are, 0 to below 1; 0.15 where it is neither given nor measured.",
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="DIR", help="Results with contributors.parquet, to measure both in."),
    ] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="The model to measure, of several.")] = None,
    min_contributors: Annotated[
        int, typer.Option(metavar="N", help="Fewest contributors that a bound is given for.")
    ] = 30,
    contributors: Annotated[
        list[int] | None, typer.Option(metavar="N", help="Show the chances of this number too; may be repeated.")
    ] = None,
    json: Annotated[str | None, typer.Option(metavar="PATH", help="Write the plan as JSON; - for stdout.")] = None,
) -> None:
    """Say how many contributors would settle a gate that asks for a bound.

    The gate is judged 4000 times on invented contributors, as evalkit compare
    would judge its bound: the share of passes is the chance to pass. It plans
    for shares: precision, coverage, accuracy, recall and errorRate.

    Exit codes: 0 printed, 2 refused.
    """
    with exit_codes():
        from evalkit.cli.receipt import check_targets
        from evalkit.uncertainty.planning import plan as ask

        check_targets([] if json is None else [json], [])
        found = ask(
            gate,
            true,
            level=level,
            power=power,
            per_contributor=per_contributor,
            correlation=correlation,
            source=source,
            model=model,
            min_contributors=min_contributors,
            contributors=contributors or (),
        )
        with printing():
            _show(found, json)
    raise typer.Exit(GO)


def _show(found: Plan, json: str | None) -> None:
    from pathlib import Path

    from evalkit.cli.showing import show_view
    from evalkit.results.files import write_file

    if json is not None and json != "-":
        write_file(Path(json), found.to_json().encode("utf-8"))
    if sys.stdout is None:
        return
    if json == "-":
        sys.stdout.buffer.write(found.to_json().encode("utf-8"))
    else:
        show_view(_view(found), sys.stdout)


def _view(found: Plan) -> Group:
    """Build the view: what was asked, the chances, the answer."""
    from rich.console import Group
    from rich.text import Text

    from evalkit.cli.showing import bare_table, whole
    from evalkit.errors import printable

    sign = ">=" if found.direction == "higher" else "<="
    asked = f"{found.name} {sign} {found.limit:g} at {found.level:.12g}, true value {found.true:g}"
    alike = f"{found.records_per_contributor:.4g} records a contributor, correlation {found.correlation:.3g}"
    lines = [asked, f"{alike}, design effect {found.design_effect:.3g}"]
    if found.measured is not None:
        one = found.measured
        measured = f"{one.model}, {one.contributors:,} contributors, {found.name} {one.value:.4f}"
        lines.append(f"measured in {one.source}: {measured}")
    table = bare_table()
    for heading in ("contributors", "records", "pass", "insufficient", "fail"):
        table.add_column(heading, justify="right")
    for row in found.rows:
        chances = (f"{chance:.1%}" for chance in (row.passed, row.insufficient, row.failed))
        table.add_row(f"{row.contributors:,}", f"{row.records:,}", *chances)
    said = "no number up to ten million reaches" if found.needed is None else f"{found.needed:,} contributors reach"
    answer = f"{said} a chance of {found.power:g} to pass"
    return Group(*(whole(Text(printable(line))) for line in lines), table, whole(Text(answer, style="bold")))
