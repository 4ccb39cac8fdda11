"""One HTML page that needs nothing else: charts as SVG in it, every number in a table, no script, nothing fetched."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator

from evalkit.charts.figure import Figure
from evalkit.charts.figures import MOST_PARTS, figures, grid_figure
from evalkit.charts.model import Part, Subject
from evalkit.charts.palette import DARK, FAINT, INK, LINE, PAPER, QUIET, TARGET, dark_style
from evalkit.charts.svg import draw, escaped, whole
from evalkit.charts.tables import MOST_TABLED_PARTS, Table, grid_table, tables
from evalkit.charts.words import SYNTHETIC

_STYLE = (
    f":root{{color-scheme:light dark;--paper:{PAPER};--ink:{INK};--quiet:{QUIET};--line:{LINE};--faint:{FAINT};"
    f"--mark:{TARGET}}}"
    f"@media (prefers-color-scheme:dark){{:root{{--paper:{DARK[PAPER]};--ink:{DARK[INK]};--quiet:{DARK[QUIET]};"
    f"--line:{DARK[LINE]};--faint:{DARK[FAINT]};--mark:{DARK[TARGET]}}}}}"
    "body{margin:0 auto;max-width:62rem;padding:1.5rem;background:var(--paper);color:var(--ink);"
    "font:1rem/1.5 system-ui,sans-serif;overflow-wrap:break-word}"
    "h1,h2,dd,p,li,figcaption{overflow-wrap:anywhere}"
    "h1{margin:0;font-size:1.6rem}h2{margin:2.5rem 0 0;border-top:1px solid var(--line);padding-top:1rem}"
    ".synthetic{display:inline-block;border:2px solid var(--mark);color:var(--mark);font-weight:700;"
    "padding:.1rem .7rem}"
    ".verdict{font-weight:700}dl{display:grid;grid-template-columns:max-content 1fr;gap:.1rem 1rem;color:var(--quiet)}"
    "dd{margin:0}.summary{color:var(--quiet)}"
    ".charts{display:flex;flex-wrap:wrap;gap:0 3rem}figure{margin:1.5rem 0 0;max-width:100%;overflow-x:auto}"
    "figcaption{color:var(--quiet);font-size:.85rem;width:0;min-width:max(100%,16rem)}"
    "h3{font-size:1rem;margin:0 0 .5rem}svg{max-width:max(100%,40rem);height:auto}"
    ".wide{overflow-x:auto;margin:1.5rem 0}table{border-collapse:collapse;font-size:.85rem}"
    "caption{text-align:left;font-weight:700;padding-bottom:.3rem}"
    "th,td{text-align:left;vertical-align:top;padding:.2rem .9rem .2rem 0;border-top:1px solid var(--faint)}"
    "tbody th{font-weight:400;max-width:24rem;min-width:7rem;overflow-wrap:anywhere}"
    "td{font-variant-numeric:tabular-nums}"
    "details{margin:1rem 0}summary{cursor:pointer}"
    f"{dark_style('svg ')}"
)


def page(subject: Subject) -> str:
    """Return a report as one page."""
    return assembled(
        subject, [*opening(subject), *glance(subject), *compared(subject), *_sections(subject), *closing(subject)]
    )


def assembled(subject: Subject, body: Iterable[str], style: str = "", script: str = "") -> str:
    """Put a page together, whose policy lets nothing in but the style and the script that are given here.

    Args:
        subject: The report, for the title.
        body: The elements of the page.
        style: More rules for the style sheet.
        script: What runs when the page is there; without one the policy forbids every script.
    """
    title = f"{subject.title}, {SYNTHETIC}" if subject.synthetic else subject.title
    style = _STYLE + style
    scripts = f" script-src 'sha256-{_digest(script)}';" if script else ""
    policy = f"default-src 'none'; style-src 'sha256-{_digest(style)}';{scripts} base-uri 'none'; form-action 'none'"
    head = (
        f'<meta charset="utf-8"/><meta http-equiv="Content-Security-Policy" content="{policy}"/>'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>'
        f'<meta name="referrer" content="no-referrer"/><title>{escaped(title)}</title><style>{style}</style>'
    )
    inner = "\n".join(body) + (f"\n<script>{script}</script>" if script else "")
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body><main>\n{inner}\n</main></body></html>\n'


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")


def opening(subject: Subject) -> Iterator[str]:
    """Yield what a page begins with: what the report is of, and its verdict."""
    yield f"<h1>{escaped(subject.title)}</h1>"
    if subject.synthetic:
        yield f'<p class="synthetic">{SYNTHETIC}</p>'
    if subject.verdict:
        yield f'<p class="verdict">{_free(subject.verdict)}</p>'
    if subject.facts:
        facts = "".join(f"<dt>{_free(name)}</dt><dd>{_free(text)}</dd>" for name, text in subject.facts)
        yield f"<dl>{facts}</dl>"


def glance(subject: Subject) -> Iterator[str]:
    """Yield all parts at a glance, where there are several."""
    if subject.overview is not None:
        yield _figure(grid_figure(subject.overview), "o", subject)
        yield table(grid_table(subject.overview))


def compared(subject: Subject) -> Iterator[str]:
    """Yield the parts against a baseline, where that was asked for."""
    if subject.comparison is not None:
        yield from section(subject.comparison, 0, subject)


def _sections(subject: Subject) -> Iterator[str]:
    for place, part in enumerate(subject.parts[:MOST_TABLED_PARTS], 1):
        yield from section(part, place, subject)
    if not subject.parts:
        yield "<p>There is nothing in this report.</p>"
    if (left_out := len(subject.parts) - MOST_TABLED_PARTS) > 0:
        yield f"<p>{left_out:,} more are not shown; the report has all.</p>"


def closing(subject: Subject) -> Iterator[str]:
    """Yield the limitations."""
    limits = "".join(f"<li>{_free(one)}</li>" for one in subject.limitations)
    yield f"<h2>Limitations</h2><ul>{limits}</ul>"


def section(part: Part, place: int, subject: Subject) -> Iterator[str]:
    """Yield one part of a report: charts, and tables that can be unfolded."""
    yield f'<section aria-labelledby="p{place}"><h2 id="p{place}">{_free(part.title)}</h2>'
    for line in (part.summary, *part.notes):
        if line:
            yield f'<p class="summary">{_free(line)}</p>'
    if place <= MOST_PARTS:
        drawn = "\n".join(
            _figure(figure, f"p{place}f{number}", subject) for number, figure in enumerate(figures(part), 1)
        )
        yield f'<div class="charts">\n{drawn}\n</div>'
    inner = "\n".join(table(one) for one in tables(part))
    if inner:
        shown = ' open="open"' if len(subject.parts) == 1 else ""
        yield f"<details{shown}><summary>Numbers in tables</summary>\n{inner}\n</details>"
    yield "</section>"


def _figure(figure: Figure, name: str, subject: Subject) -> str:
    chart = ""
    if figure.spec is not None:
        drawing = draw(figure.spec, name)
        title = f"{figure.title}, {SYNTHETIC}" if subject.synthetic else figure.title
        chart = whole(drawing.width, drawing.height, title, figure.told, drawing.inner, name, alone=False)
    caption = f"<figcaption>{_free(figure.caption)}</figcaption>" if figure.caption else ""
    return f"<figure><h3>{escaped(figure.title)}</h3>{chart}{caption}</figure>"


def table(found: Table) -> str:
    """Return a table as an element, which may be wider than the page and is then scrolled."""
    head = "".join(f'<th scope="col">{_free(name)}</th>' for name in found.head)
    rows = "".join(
        f'<tr><th scope="row">{_free(row[0])}</th>{"".join(f"<td>{_free(cell)}</td>" for cell in row[1:])}</tr>\n'
        for row in found.rows
    )
    inner = (
        f"<table><caption>{_free(found.caption)}</caption><thead><tr>{head}</tr></thead><tbody>\n{rows}</tbody></table>"
    )
    return f'<div class="wide" role="region" aria-label="{escaped(found.caption)}" tabindex="0">{inner}</div>'


def _free(text: str) -> str:
    """Escape a text and keep its direction to itself, so that a right-to-left name turns nothing around it."""
    return f"<bdi>{escaped(text)}</bdi>"
