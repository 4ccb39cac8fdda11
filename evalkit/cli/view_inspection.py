"""What a person sees of an inspection: models and splits, labels, strata, fields, files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich.console import Group
from rich.table import Table
from rich.text import Text

from evalkit.cli.showing import bare_table, whole
from evalkit.errors import printable
from evalkit.inspection import Count, Inspection

SHOWN = 30
"""Most lines of a table that the terminal shows."""


def inspection_view(found: Inspection) -> Group:
    """Build the view of an inspection."""
    places = [one for one in found.counts if one.label is None and one.stratum_field is None]
    lines = [Text(line) for line in (*_totals(found), *_labels(found), *_strata(found), *_shape(found), *_files(found))]
    return Group(_table(places), *map(whole, lines))


def _table(places: list[Count]) -> Table:
    table = bare_table()
    table.add_column("model", overflow="fold")
    table.add_column("split")
    for heading in ("records", "null predictions", "subjects"):
        table.add_column(heading, justify="right")
    for one in places[:SHOWN]:
        nothing = f"{one.nothing_offered:,} ({one.share_nothing_offered or 0:.1%})"
        table.add_row(printable(one.model or ""), one.split, f"{one.records:,}", nothing, f"{one.subjects:,}")
    return table


def _totals(found: Inspection) -> Iterator[str]:
    places = sum(one.label is None and one.stratum_field is None for one in found.counts)
    if places > SHOWN:
        yield f"the first {SHOWN} of {places:,} models and splits; --json has all"
    yield f"{found.records:,} valid records from {found.subjects:,} contributors"
    if not found.held_out_checked:
        yield "leaks and splits were not looked at: not every record is valid"


def _labels(found: Inspection) -> Iterator[str]:
    total: Counter[str] = Counter()
    for one in found.counts:
        if one.label is not None:
            total[one.label] += one.records
    if total:
        yield f"labels: {_listed(total)}"


def _strata(found: Inspection) -> Iterator[str]:
    fields: dict[str, Counter[str]] = {}
    for one in found.counts:
        if one.stratum_field is not None and one.stratum is not None:
            fields.setdefault(one.stratum_field, Counter())[one.stratum] += one.records
    for path, values in fields.items():
        yield f"{printable(path)}: {_listed(values)}"


def _shape(found: Inspection) -> Iterator[str]:
    """Tell each field with its kinds, and of how many records where not all have it."""
    told = []
    for one in found.shape.fields[:SHOWN]:
        kinds = " or ".join(one.kinds)
        missing = found.shape.records - sum(one.kinds.values())
        told.append(f"{printable(one.field)} {kinds}" + (f" (not in {missing:,})" if missing > 0 else ""))
    if told:
        more = len(found.shape.fields) - SHOWN
        yield f"fields of the first {found.shape.records:,} records: {', '.join(told)}" + (
            f", and {more:,} more" if more > 0 else ""
        )


def _listed(numbers: Counter[str]) -> str:
    shown = ", ".join(f"{printable(name)} {number:,}" for name, number in list(numbers.items())[:SHOWN])
    return shown if len(numbers) <= SHOWN else f"{shown}, and {len(numbers) - SHOWN:,} more"


def _files(found: Inspection) -> Iterator[str]:
    for one in found.evidence[:SHOWN]:
        stored = "in memory" if one.sha256 is None else f"{one.bytes:,} bytes, sha256 {one.sha256}"
        yield f"{printable(one.name)}: {one.records:,} records, {stored}"
    if len(found.evidence) > SHOWN:
        yield f"and {len(found.evidence) - SHOWN:,} files more"
