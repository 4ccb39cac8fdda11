"""What every command shows in the same way: JSON on standard output, warnings, a view, and the parts of views."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING, Any

from evalkit.cli.ending import say
from evalkit.errors import printable

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from evalkit.results.outputs import Outputs


def show_json(report: Any) -> None:
    """Write a report to standard output."""
    from evalkit.report import written

    if sys.stdout is not None:
        sys.stdout.buffer.writelines(written(report))  # JSON is UTF-8 under every locale


def warn(warnings: Iterable[str]) -> None:
    """Say warnings on standard error."""
    for warning in warnings:
        say(f"warning: {printable(warning)}")


def show_view(view: Group, stream: IO[str]) -> None:
    """Print a view, as wide as a terminal is; a file or a pipe gets its lines whole."""
    from rich.console import Console

    console = Console(file=stream)
    with console.capture() as shown:  # Rich ends the program itself where printing fails
        console.print(view, crop=stream.isatty())
    print(shown.get(), end="", file=stream)


def bare_table() -> Table:
    """Make a table without lines."""
    from rich.table import Table

    return Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))


def whole(line: Text) -> Text:
    """Keep a line whole that a script may look for; a terminal folds it itself."""
    line.no_wrap, line.overflow = True, "ignore"
    return line


def number(value: float | None) -> str:
    """Write a number with four decimals; a dash where there is none."""
    return "–" if value is None else f"{value:.4f}"


def sure(value: float | None, low: float | None, high: float | None, reason: str | None) -> str:
    """Write a number with its interval, or why there is none.

    >>> sure(0.9123, 0.895, 0.9296, None)
    '0.9123 [0.8950, 0.9296]'
    """
    return f"{number(value)} {between(low, high, reason)}".rstrip()


def between(low: float | None, high: float | None, reason: str | None) -> str:
    """Write an interval, or why there is none.

    >>> between(None, None, "insufficient-contributors")
    'insufficient-contributors'
    """
    return reason or "" if low is None or high is None else f"[{low:.4f}, {high:.4f}]"


def show_written(outputs: Outputs, stream: IO[str]) -> None:
    """Say what was written where."""
    for what, path in (("report", outputs.json_path), ("tables", outputs.out_path)):
        if path is not None:
            print(f"{what}: {printable(str(path))}", file=stream)
