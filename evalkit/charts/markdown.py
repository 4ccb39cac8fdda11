"""A report as Markdown: tables and sentences, no images."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evalkit.charts.model import Part, Subject
from evalkit.charts.tables import MOST_TABLED_PARTS, Table, grid_table, tables
from evalkit.charts.words import SYNTHETIC, clean

_SPECIAL = re.compile(r"([\\`*_{}\[\]()#+!|~$])")


def plain(text: str) -> str:
    r"""Write a text that Markdown and HTML in it leave as it is.

    >>> plain("a|b <img src=x> *c*")
    'a\\|b &lt;img src=x&gt; \\*c\\*'
    """
    text = clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return _SPECIAL.sub(r"\\\1", text)


def markdown(subject: Subject) -> str:
    """Return a report as Markdown."""
    return "\n\n".join(_blocks(subject)) + "\n"


def _blocks(subject: Subject) -> Iterator[str]:
    yield f"# {plain(subject.title)}"
    if subject.synthetic:
        yield f"**{SYNTHETIC}**"
    if subject.verdict:
        yield f"**{plain(subject.verdict)}**"
    if subject.facts:
        yield "\n".join(f"- {plain(name)}: {plain(text)}" for name, text in subject.facts)
    if subject.overview is not None:
        yield from _table(grid_table(subject.overview))
    if subject.comparison is not None:
        yield from _part(subject.comparison)
    for part in subject.parts[:MOST_TABLED_PARTS]:
        yield from _part(part)
    if not subject.parts:
        yield "There is nothing in this report."
    if (left_out := len(subject.parts) - MOST_TABLED_PARTS) > 0:
        yield f"{left_out:,} more are not shown; the report has all."
    yield "## Limitations"
    yield "\n".join(f"- {plain(one)}" for one in subject.limitations)


def _part(part: Part) -> Iterator[str]:
    yield f"## {plain(part.title)}"
    yield from (plain(line) for line in (part.summary, *part.notes) if line)
    for one in tables(part):
        yield from _table(one)


def _table(found: Table) -> Iterator[str]:
    yield f"### {plain(found.caption)}"
    lines = [_line(found.head), _line(["---"] * len(found.head), escape=False), *map(_line, found.rows)]
    yield "\n".join(lines)


def _line(cells: tuple[str, ...] | list[str], *, escape: bool = True) -> str:
    return f"| {' | '.join(plain(cell) if escape else cell for cell in cells)} |"
