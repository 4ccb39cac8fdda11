"""One HTML page to look around in: the static page, and before it a part that a script fills and that asks nobody.

The script is a few hundred lines that are shipped beside this module, not a library for charts: Vega would be 898 kB of
a page that is to stay under 1.2 MB, and the data must have room. The script is let in by its hash, as the style is.
What it shows stands as data in the page; every name is put in as text.

Where no script runs, the page is the static one. Where one runs, the static part is folded up.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from typing import Any

from evalkit.charts import of_selective
from evalkit.charts.interactive_data import Packed, packed
from evalkit.charts.interactive_evaluation import WORDS as EVALUATION_WORDS
from evalkit.charts.interactive_evaluation import evaluation
from evalkit.charts.interactive_read import Opened
from evalkit.charts.interactive_room import embedded, named
from evalkit.charts.interactive_selective import WORDS as SELECTIVE_WORDS
from evalkit.charts.interactive_selective import selective
from evalkit.charts.model import Part, Subject
from evalkit.charts.page import assembled, closing, compared, glance, opening, section, table
from evalkit.charts.palette import BAD, BAR, DARK, GOOD, ON_BAR, STEPS, STRONG
from evalkit.charts.svg import escaped
from evalkit.charts.tables import Table

MOST_BYTES = 1_200_000
"""Bytes that no page has more of."""

DATA_ROOM, STATIC_ROOM, EDGE_ROOM = 580_000, 380_000, 50_000
"""How many of them are for the data, for static charts and tables, for the head; inputs and script have the rest."""

MOST_INPUTS = 100
"""Most inputs whose digests are in the page."""

_VARIABLES = {
    "--bar": BAR,
    "--strong": STRONG,
    "--good": GOOD,
    "--bad": BAD,
    "--on": ON_BAR,
    **{f"--step{number}": color for number, color in enumerate(STEPS)},
}


def interactive_page(found: Opened) -> str:
    """Return a report of candidates or models as one page to look around in."""
    return assembled(found.subject, _body(found, _packed(found)), _style(), _file("js"))


def _packed(found: Opened) -> Packed:
    if found.plain["schema"] == of_selective.SCHEMA:
        order = [part.title for part in found.subject.parts]
        return packed(list(selective(found.plain, order, found.cuts)), DATA_ROOM, SELECTIVE_WORDS)
    return packed(list(evaluation(found.plain)), DATA_ROOM, EVALUATION_WORDS)


def _body(found: Opened, data: Packed) -> Iterator[str]:
    yield from _edge(found.subject)
    if data.data["entries"]:
        left_out = "".join(f"<li>{escaped(one)}</li>" for one in data.left_out)
        why = "For its size this page has not all that the report has:"
        yield _file("html").replace("<!-- left out -->", f"<p>{why}</p><ul>{left_out}</ul>" if left_out else "")
    if inputs := _inputs(found.plain.get("evidence")):
        yield table(_evidence(inputs))
    inner = "\n".join(_static(found.subject))
    yield f'<details id="static" open="open"><summary>Charts and tables, one by one</summary>\n{inner}\n</details>'
    yield from closing(found.subject)
    yield f'<script type="application/json" id="data">{embedded(data.data)}</script>'


def _edge(subject: Subject) -> Iterator[str]:
    """Yield what the page begins with; where it is too long, without the facts and with the verdict cut short."""
    whole = list(opening(subject))
    if _size(whole) <= EDGE_ROOM:
        return iter(whole)
    told = (("not here", "what the report says of its run is too long for this page"),)
    return opening(replace(subject, verdict=named(subject.verdict), facts=told))


def _inputs(evidence: object) -> list[Mapping[str, Any]]:
    """Return what was read, as far as a report says it: that of an evaluation need not have come from here."""
    return [one for one in evidence if isinstance(one, Mapping)] if isinstance(evidence, list) else []


def _evidence(evidence: Sequence[Mapping[str, Any]]) -> Table:
    caption = "Evidence: what was read"
    if len(evidence) > MOST_INPUTS:
        caption += f" (the first {MOST_INPUTS:,} of {len(evidence):,} inputs)"
    keys = ("name", "records", "bytes", "sha256")
    rows = [tuple(_said(one.get(key)) for key in keys) for one in evidence[:MOST_INPUTS]]
    return Table(caption, ("input", "records", "bytes", "SHA-256"), tuple(rows))


def _said(value: object) -> str:
    return "–" if value is None else f"{value:,}" if type(value) is int else named(str(value))


def _static(subject: Subject) -> Iterator[str]:
    """Yield static charts and tables as far as there is room, and say what is left out."""
    left = STATIC_ROOM
    overview = list(glance(subject))
    if (size := _size(overview)) <= left // 4:
        left -= size
        yield from overview
    else:
        yield "<p>All of them at a glance are left out for the size of this page.</p>"
    against = list(compared(subject))
    if (size := _size(against)) <= left // 4:
        left -= size
        yield from against
    else:
        yield "<p>The differences to the baseline are left out for the size of this page.</p>"
    shown = 0
    for place, part in enumerate(subject.parts, 1):
        pieces, whole = _fitting(part, place, subject, left)
        yield from pieces
        left -= _size(pieces)
        shown += bool(pieces)
        if not whole:
            break
    if (left_out := len(subject.parts) - shown) > 0:
        yield f"<p>{left_out:,} more are not shown here; a page made without --interactive has them.</p>"


def _fitting(part: Part, place: int, subject: Subject, room: int) -> tuple[list[str], bool]:
    """Return a part's elements, with as much as fits, and whether that is all."""
    for smaller, one in enumerate(_smaller(part)):
        pieces = list(section(one, place, subject))
        if _size(pieces) <= room:
            return pieces, smaller == 0
    return [], False


def _smaller(part: Part) -> Iterator[Part]:
    yield part
    if part.calibration is not None or part.risk is not None:
        part = _lacking(replace(part, calibration=None, risk=None), "calibration against chance, risk and coverage")
        yield part
    yield _lacking(replace(part, cells=None), "the confusion matrix")
    yield _lacking(replace(part, cells=None, grids=()), "the confusion matrix, classes and strata")


def _lacking(part: Part, what: str) -> Part:
    return replace(part, notes=(*part.notes, f"Left out for the size of this page: {what}."))


def _size(pieces: Sequence[str]) -> int:
    return sum(len(one.encode("utf-8")) + 1 for one in pieces)


def _style() -> str:
    light = "".join(f"{name}:{color};" for name, color in _VARIABLES.items())
    dark = "".join(f"{name}:{DARK[color]};" for name, color in _VARIABLES.items())
    return f":root{{{light}}}@media (prefers-color-scheme:dark){{:root{{{dark}}}}}{_file('css')}"


def _file(ending: str) -> str:
    return files("evalkit.charts").joinpath(f"interactive.{ending}").read_text("utf-8").strip()
