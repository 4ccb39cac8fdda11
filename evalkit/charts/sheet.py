"""One SVG that holds a whole report: what it is about, its charts one below the other, its limitations; and its PNG."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from evalkit.charts.figure import Figure
from evalkit.charts.figures import MOST_PARTS, figures, grid_figure
from evalkit.charts.model import Part, Subject
from evalkit.charts.palette import INK, LINE, QUIET, TARGET
from evalkit.charts.svg import Drawing, draw, escaped, whole
from evalkit.charts.vega import SIZE, SMALL, WIDTH
from evalkit.charts.words import NOT_MEASURED, SYNTHETIC, width, wrapped

_MARGIN = 28
_ROOM = WIDTH
_GAP = 24
_LONGEST_TOLD = 6000
_MOST_PIXELS = 40_000_000
_DOUBLE = 2.0


@dataclass(slots=True)
class _Sheet:
    """What is on the sheet so far, and how far down it reaches."""

    y: float = _MARGIN
    pieces: list[str] = field(default_factory=list)

    def write(self, text: str, size: float, color: str = INK, weight: str = "", room: float = _ROOM) -> None:
        """Write a text, folded, and go below it."""
        for line in wrapped(text, size, room, most=30):
            self.y += size + 5
            self.put(_MARGIN, self.y - 4, line, size, color, weight)

    def put(self, x: float, y: float, line: str, size: float, color: str = INK, weight: str = "") -> None:
        """Write one line at a place."""
        bold = f' font-weight="{weight}"' if weight else ""
        self.pieces.append(
            f'<text x="{x:g}" y="{y:g}" font-size="{size:g}px" fill="{color}"{bold}>{escaped(line)}</text>'
        )


def svg(subject: Subject) -> str:
    """Return a report as one SVG."""
    sheet = _Sheet()
    _head(sheet, subject)
    if subject.overview is not None:
        _place(sheet, [grid_figure(subject.overview)], "o")
    if subject.comparison is not None:
        _part(sheet, subject.comparison, "c")
    for place, part in enumerate(subject.parts[:MOST_PARTS], 1):
        _part(sheet, part, f"p{place}")
    if not subject.parts:
        sheet.write("There is nothing in this report.", SIZE)
    if (left_out := len(subject.parts) - MOST_PARTS) > 0:
        sheet.y += _GAP
        sheet.write(f"{left_out:,} more are not drawn; the report has all.", SIZE, QUIET)
    _limitations(sheet, subject)
    title = f"{subject.title}, {SYNTHETIC}" if subject.synthetic else subject.title
    size = (_ROOM + 2 * _MARGIN, sheet.y + _MARGIN)
    return whole(*size, title, description(subject), "".join(sheet.pieces), "report", alone=True) + "\n"


def png(picture: str, height: float) -> bytes:
    """Return an SVG as an image, at double size where that is not too large."""
    import vl_convert

    pixels = (_ROOM + 2 * _MARGIN) * height
    return vl_convert.svg_to_png(picture, scale=min(_DOUBLE, (_MOST_PIXELS / pixels) ** 0.5))


def _head(sheet: _Sheet, subject: Subject) -> None:
    sheet.write(subject.title, 22, weight="bold", room=_ROOM - 200)
    sheet.y += 6
    if subject.synthetic:
        wide = 1.1 * width(SYNTHETIC, 15) + 20
        x = _MARGIN + _ROOM - wide
        box = f'x="{x:g}" y="{_MARGIN}" width="{wide:g}" height="30"'
        sheet.pieces.append(f'<rect {box} fill="none" stroke="{TARGET}" stroke-width="2"/>')
        sheet.put(x + 10, _MARGIN + 20, SYNTHETIC, 15, TARGET, "bold")
        sheet.y = max(sheet.y, _MARGIN + 34)
    if subject.verdict:
        sheet.write(subject.verdict, 14, weight="bold")
    for name, text in subject.facts:
        sheet.write(f"{name}: {text}", SIZE, QUIET)


def _part(sheet: _Sheet, part: Part, name: str) -> None:
    sheet.y += _GAP
    sheet.pieces.append(
        f'<line x1="{_MARGIN}" x2="{_MARGIN + _ROOM}" y1="{sheet.y:g}" y2="{sheet.y:g}" stroke="{LINE}"/>'
    )
    sheet.y += 6
    sheet.write(part.title, 16, weight="bold")
    for line in (part.summary, *part.notes):
        if line:
            sheet.write(line, SIZE, QUIET)
    _place(sheet, figures(part), name)


def _place(sheet: _Sheet, found: Iterable[Figure], name: str) -> None:
    """Draw figures from left to right, and below where there is no room left."""
    line: list[tuple[Figure, Drawing | None]] = []
    used = 0.0
    for place, figure in enumerate(found, 1):
        drawing = None if figure.spec is None else draw(figure.spec, f"{name}f{place}")
        wide = 260 if drawing is None else drawing.width
        if line and used + wide > _ROOM:
            _place_line(sheet, line)
            line, used = [], 0.0
        line.append((figure, drawing))
        used += wide + 2 * _GAP
    if line:
        _place_line(sheet, line)


def _place_line(sheet: _Sheet, line: list[tuple[Figure, Drawing | None]]) -> None:
    sheet.y += _GAP
    x, top, bottom = float(_MARGIN), sheet.y, sheet.y
    for figure, drawing in line:
        wide = max(260.0, 0.0 if drawing is None else drawing.width)
        sheet.put(x, top + 11, figure.title, 13, INK, "bold")
        y = top + 22
        if drawing is not None:
            sheet.pieces.append(f'<g transform="translate({x:g},{y:g})">{drawing.inner}</g>')
            y += drawing.height + 4
        for text in wrapped(figure.caption, SMALL, wide) if figure.caption else ():
            y += SMALL + 4
            sheet.put(x, y, text, SMALL, QUIET)
        bottom = max(bottom, y)
        x += wide + 2 * _GAP
    sheet.y = bottom


def _limitations(sheet: _Sheet, subject: Subject) -> None:
    sheet.y += _GAP
    sheet.write("Limitations", 13, weight="bold")
    for one in subject.limitations:
        sheet.write(f"• {one}", SIZE)


def description(subject: Subject) -> str:
    """Say a report in words, for those who do not see it."""
    said = " ".join(f"{sentence.rstrip('.')}." for sentence in _sentences(subject))
    return said if len(said) <= _LONGEST_TOLD else f"{said[:_LONGEST_TOLD]}…"


def _sentences(subject: Subject) -> Iterator[str]:
    if subject.synthetic:
        yield SYNTHETIC
    if subject.verdict:
        yield subject.verdict
    yield from (f"{name}: {text}" for name, text in subject.facts)
    compared = () if subject.comparison is None else (subject.comparison,)
    for part in (*compared, *subject.parts[:MOST_PARTS]):
        yield f"{part.title}: {part.summary or NOT_MEASURED}"
        for figure in figures(part):
            yield f"{figure.title}: {figure.told}"
    yield from subject.limitations
