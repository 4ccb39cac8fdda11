"""The bar on standard error that shows how far a read has come."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evalkit.reading.read import Progress


@contextmanager
def progress_bar(stored: int | None, quiet: bool) -> Iterator[Progress | None]:
    """Show a bar on standard error while a read goes on, where somebody can see it."""
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (BarColumn(24), DownloadColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=stored, rate="")
        seen = 0

        def advance(size: int, records: int) -> None:
            nonlocal seen
            seen += records
            elapsed = bar.tasks[0].elapsed or 0
            rate = f"{seen / elapsed:,.0f} records/s" if elapsed else ""
            bar.update(task, advance=size, rate=rate)

        yield advance
