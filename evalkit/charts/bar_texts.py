"""The words and numbers of a row that is a metric: its name, value and interval, target and bound, n, direction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from evalkit.charts.intervals import bracket
from evalkit.charts.model import Measure
from evalkit.charts.palette import INK, QUIET
from evalkit.charts.vega import SIZE, SMALL, Spec, pixel, text
from evalkit.charts.words import number, target, width

VALUE, TARGET_TEXT, SIZE_TEXT, BETTER, OUTCOME = 536, 636, 716, 802, 858
LINE = 15
_GAP = 4
_HALF = 8


def texts(rows: Sequence[dict[str, Any]]) -> list[Spec]:
    """Write the words and numbers of rows."""
    names = [
        {"text": line, "x": 0, "y": row["name_top"] + place * LINE}
        for row in rows
        for place, line in enumerate(row["names"])
    ]
    notes = [
        {"text": line, "x": 0, "y": row["note_top"] + place * LINE}
        for row in rows
        for place, line in enumerate(row["notes"])
    ]
    values = [
        {"text": _value(row["measure"]), "x": VALUE, "y": row["middle"] - (_HALF if _ends(row["measure"]) else 0)}
        for row in rows
    ]
    ends = [{"text": found, "x": VALUE, "y": row["middle"] + _HALF} for row in rows if (found := _ends(row["measure"]))]
    cells = [cell for row in rows for cell in _cells(row["measure"], row["middle"])]
    return [
        text(names, pixel("x"), pixel("y")),
        text(notes, pixel("x"), pixel("y"), fontSize=SMALL, color=QUIET),
        text(values, pixel("x"), pixel("y"), fontWeight="bold"),
        text(cells, pixel("x"), pixel("y"), fontSize=SMALL, color=INK),
        *([text(ends, pixel("x"), pixel("y"), fontSize=SMALL, color=INK)] if ends else ()),
    ]


def _ends(one: Measure) -> str:
    """Return the ends of an interval as there is room for them; a value that was not measured has none."""
    if one.value is None:
        return ""
    room = TARGET_TEXT - VALUE - _GAP
    written = [bracket(one.interval, places) for places in (4, 3)]
    return next((found for found in written if width(found, SMALL) <= room), _coarse(one))


def _coarse(one: Measure) -> str:
    low, high = (one.interval and one.interval.ends) or (0.0, 0.0)
    return f"[{low:.3g}, {high:.3g}]"


def _value(one: Measure) -> str:
    return fitted(number(one.value, one.limit), one.value or 0, SIZE, TARGET_TEXT - VALUE - _GAP)


def _cells(one: Measure, y: float) -> Iterable[dict[str, Any]]:
    limit, size = one.limit or 0, one.sample_size or 0
    wanted = "none" if one.limit is None else target(one.limit, one.direction)
    wanted = fitted(wanted, limit, SMALL, SIZE_TEXT - TARGET_TEXT - _GAP, wanted[:2])
    rests_on = "–" if one.sample_size is None else f"{size:,}"
    bound = None if one.ruling is None else one.ruling.bound
    yield {"text": wanted, "x": TARGET_TEXT, "y": y - (0 if bound is None else _HALF)}
    if bound is not None:
        yield {"text": _bound(bound, one.limit), "x": TARGET_TEXT, "y": y + _HALF}
    yield {"text": fitted(rests_on, size, SMALL, BETTER - SIZE_TEXT - _GAP), "x": SIZE_TEXT, "y": y}
    yield {"text": {"none": "–"}.get(one.direction, one.direction), "x": BETTER, "y": y}


def _bound(bound: float, limit: float | None) -> str:
    room = SIZE_TEXT - TARGET_TEXT - _GAP
    return fitted(f"bound {number(bound, limit, places=3)}", bound, SMALL, room, "bound ").replace("≈ ", "≈")


def fitted(text: str, value: float, size: float, room: float, lead: str = "") -> str:
    """Shorten a number that would run into the next column, and say so; the tables have it whole.

    >>> fitted("1,234", 1234, 10, 80), fitted("1,234,567,890,123", 1234567890123, 10, 80)
    ('1,234', '≈ 1.23e+12')
    """
    return text if width(text, size) <= room else f"{lead}≈ {value:.3g}"
