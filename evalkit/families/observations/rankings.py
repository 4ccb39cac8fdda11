"""Queries and their rankings as parts of a list, like those of every other family."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evalkit.errors import Ledger, Violation
from evalkit.families.observations.part import Part
from evalkit.families.observations.structure import Flawed
from evalkit.families.ranking.rules import Query, canonical_query, read_query
from evalkit.families.ranking.tally import Tally
from evalkit.records.rules import is_name
from evalkit.records.strict_json import show

if TYPE_CHECKING:
    from evalkit.engines.engine import Engine

PART_BYTES = 8 * 1024 * 1024
"""About how many bytes of lines are read at a time."""


def cases_part(cases: Sequence[Any], sources: Collection[str] | None, *, by_source: bool = False) -> Part:
    """Read parsed cases."""
    queries: dict[int, Query] = {}
    broken = []
    for place, case in enumerate(cases):
        value, flaws = case if isinstance(case, Flawed) else (case, ())
        found = read_query(value, sources)
        if isinstance(found, Query) and not flaws:
            queries[place] = found
        else:
            broken.append(_placed(_named((*flaws, *(() if isinstance(found, Query) else found)), value), place))
    tally = Tally.of_queries(queries.values(), by_source=by_source)
    canonical = ",".join(map(canonical_query, queries.values())).encode("utf-8")
    ids = [query.query_id for query in queries.values()]
    return Part(len(cases), list(queries), ids, tally, canonical, Ledger.of(broken))


def line_parts(
    parts: Iterable[bytes], sources: Collection[str] | None, engine: Engine | None = None, *, by_source: bool = False
) -> Iterator[Part]:
    """Read whole lines, part by part."""
    from evalkit.families.ranking.lines import read_chunks  # only where there are lines: it takes polars

    for found in read_chunks(parts, sources, engine, by_source=by_source):
        ledger = Ledger.of(_placed(faults, line - 1) for line, faults in found.faults)
        places = (found.lines - 1).to_list()
        yield Part(found.line_count, places, found.ids.to_list(), found.tally, bytes(found.canonical), ledger)


def _named(faults: Sequence[Violation], case: Any) -> Sequence[Violation]:
    """Say of which query violations are."""
    name = case.get("query_id") if isinstance(case, dict) else None
    return [replace(one, message=f"{one.message}, in {show(name)}") for one in faults] if is_name(name) else faults


def _placed(faults: Sequence[Violation], place: int) -> tuple[Violation, ...]:
    return tuple(replace(one, line=place) for one in faults)
