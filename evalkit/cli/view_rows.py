"""Rows of any query as a table: numbers to the right, each value whole but where a terminal is too narrow."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evalkit.errors import printable

if TYPE_CHECKING:
    import polars as pl

_GAP = "  "
_NARROWEST = 8


def table_lines(rows: pl.DataFrame, width: int | None) -> Iterator[str]:
    """Return the lines of a table: its head, its rows, and how many there are.

    Args:
        rows: The rows.
        width: The columns of the terminal, to which values are cut; None where nothing may be cut.
    """
    from evalkit.analysis.written import cell

    head = [printable(name) for name in rows.columns]
    right = [kind.is_numeric() for kind in rows.dtypes]
    body = [["–" if value is None else printable(cell(value)) for value in row] for row in rows.iter_rows()]
    widths = [max(map(_width, column)) for column in zip(head, *body, strict=True)]
    if width is not None:
        widths = fitted(widths, width)
    for line in (head, *body):
        padded = (_pad(text, size, to_right) for text, size, to_right in zip(line, widths, right, strict=True))
        yield _GAP.join(padded).rstrip()
    yield f"({rows.height:,} row{'' if rows.height == 1 else 's'})"


def fitted(widths: Sequence[int], room: int) -> list[int]:
    """Narrow the widest columns until all fit, or none is wide.

    >>> fitted([4, 60, 30], 50), fitted([8, 8], 5)
    ([4, 21, 21], [8, 8])
    """
    found = list(widths)
    while sum(found) + len(_GAP) * (len(found) - 1) > room and max(found) > _NARROWEST:
        found[found.index(max(found))] -= 1
    return found


def _width(text: str) -> int:
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _pad(text: str, size: int, right: bool) -> str:
    if _width(text) > size:
        from rich.cells import set_cell_size

        return set_cell_size(text, size - 1) + "…"
    space = " " * (size - _width(text))
    return space + text if right else text + space
