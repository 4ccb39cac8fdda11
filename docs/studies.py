"""Parts of the docs that show stored results of studies which take too long to run with the docs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from shell import ROOT

HEAD = (
    "number",
    "contributors × records",
    "held",
    "row by row",
    "`atLeast` above truth",
    "`atMost` below truth",
    "none",
)
"""The columns of the table of intervals."""


def interval_coverage() -> str:
    """Show how often intervals of simulated records held the true value."""
    stored = json.loads((ROOT / "tests" / "benchmarks" / "coverage.json").read_text("utf-8"))
    runs, chance = stored["runs"], (0.95 * 0.05 / stored["runs"]) ** 0.5
    words = (
        f"{runs:,} runs a line, so that a share of 0.95 is known to ± {2 * chance:.3f} (two standard errors). "
        f"Right and wrong of two accepted records of one contributor are correlated at {stored['alike']:.2f}."
    )
    lines = ["| " + " | ".join(HEAD) + " |", "| " + " | ".join("---" for _ in HEAD) + " |"]
    lines += ["| " + " | ".join(_line(cell)) + " |" for cell in stored["cells"]]
    return "\n".join([words, "", *lines])


def _line(cell: Mapping[str, Any]) -> list[str]:
    given = cell["runs"] - cell["none"]
    shares = [cell["held"], cell["held_by_rows"], cell["too_high"], cell["too_low"]]
    shown = ["–" if one is None else f"{one / given:.3f}" for one in shares]
    return [cell["metric"], f"{cell['contributors']} × {cell['records']}", *shown, f"{cell['none'] / cell['runs']:.3f}"]


MIB = 2**20
RECORDS = 10**10
CORES = 32
"""The run that is worked out on paper."""

CONFIDENCES = 600_000
"""Different confidences that six places leave between 0.4 and 1, as in the dumps of the study."""


def _scale() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ROOT / "tests" / "benchmarks" / "scale.json").read_text("utf-8"))
    return found


def _cell(stored: Mapping[str, Any], records: int, engine: str, *, interval: bool) -> Mapping[str, Any] | None:
    asked = (records, engine, interval)
    cells = stored["cells"]
    return next((one for one in cells if (one["records"], one["engine"], one["interval"]) == asked), None)


def scale_table() -> str:
    """Show what runs of each size took."""
    stored = _scale()
    head = ["records", "read by", "interval", "wall s", "CPU s", "peak MiB", "workers CPU s", "largest worker MiB"]
    lines = [f"Measured on {stored['machine']}.", "CPU and peak are those of the process that judges.", ""]
    lines += ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    for cell in stored["cells"]:
        wall = f"over {stored['memory']:g} GiB" if cell["wall"] is None else f"{cell['wall']:.1f}"
        uses = [_used(cell.get(role)) for role in ("driver", "workers")]
        read = "2 workers of Dask" if cell["engine"] == "dask" else f"`{cell['engine']}`"
        row = [f"{cell['records']:,}", read, "0.95" if cell["interval"] else "–", wall, *uses[0], *uses[1]]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines)


def _used(use: Mapping[str, Any] | None) -> list[str]:
    return ["–", "–"] if use is None else [f"{use['cpu']:.1f}", f"{use['peak']:,}"]


def scale_slopes() -> str:
    """Show what a million more records cost, between one size and the next."""
    stored = _scale()
    head = ["from", "to", "read by", "interval", "wall s", "CPU s", "workers CPU s", "memory MiB"]
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    sizes = sorted({cell["records"] for cell in stored["cells"]})
    engines = list(dict.fromkeys(cell["engine"] for cell in stored["cells"]))
    for engine in engines:
        for interval in (False, True):
            for small, large in pairwise(sizes):
                ends = [_cell(stored, size, engine, interval=interval) for size in (small, large)]
                if ends[0] and ends[1] and ends[0]["wall"] and ends[1]["wall"]:
                    slope = _Slope(ends[0], ends[1])
                    said = [f"{small:,}", f"{large:,}", f"`{engine}`", "0.95" if interval else "–"]
                    said += [slope.of("wall"), slope.of("driver", "cpu"), slope.of("workers", "cpu")]
                    lines.append("| " + " | ".join([*said, slope.of("driver", "peak")]) + " |")
    return "\n".join(lines)


class _Slope:
    """How much more a million records take, between two runs."""

    def __init__(self, small: Mapping[str, Any], large: Mapping[str, Any]) -> None:
        self._ends = (small, large)
        self._millions = (large["records"] - small["records"]) / 10**6

    def million(self, *path: str) -> float | None:
        """Return it; None where there is no such process."""
        ends: list[Any] = list(self._ends)
        for name in path:
            ends = [end.get(name, {}) for end in ends]
        return None if {} in ends else (ends[1] - ends[0]) / self._millions

    def of(self, *path: str) -> str:
        """Say it."""
        found = self.million(*path)
        return "–" if found is None else f"{found:.2f}"


def scale_carried() -> str:
    """Show what a task carries back."""
    stored = _scale()["rates"]
    head = ["", "plain", "with contributors"]
    rows = [
        ("stored bytes of a task", "stored"),
        ("records of it", "records"),
        ("rows that go back: validation and test", "rows"),
        ("bytes that go back, packed", "bytes"),
        ("milliseconds to unpack them", "unpack_ms"),
        ("bytes of a row in memory", "row_bytes"),
        ("rows merged in a second", "merge_rows_a_second"),
    ]
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    for words, name in rows:
        lines.append("| " + " | ".join([words, *(f"{one[name]:,}" for one in stored["carried"])]) + " |")
    lines.append(f"| milliseconds that Dask takes for a task | {stored['task_ms']} | {stored['task_ms']} |")
    digested = _gb(stored)
    lines.append(f"| gigabytes of a file digested in a second, by one core | {digested} | {digested} |")
    return "\n".join(lines)


def _gb(rates: Mapping[str, Any]) -> str:
    return f"{rates['digest_bytes_a_second'] / 10**9:.2f}"


def scale_paper() -> str:
    """Work out ten thousand million records on 32 workers from what was measured."""
    stored = _scale()
    head = ["what", "how", "plain", "how, with `--interval`", "with `--interval`"]
    lines = ["| " + " | ".join(head) + " |", "| " + " | ".join("---" for _ in head) + " |"]
    both = [list(_worked_out(stored, interval=interval)) for interval in (False, True)]
    for (what, how, value), (_, other, with_interval) in zip(*both, strict=True):
        lines.append(f"| {what} | {how} | {value} | {'the same' if other == how else other} | {with_interval} |")
    return "\n".join(lines)


_Lines = Iterator[tuple[str, str, str]]
_NOTHING = {"records": 0, "driver": {"cpu": 0, "peak": 0}, "workers": {"cpu": 0}}


def _worked_out(stored: Mapping[str, Any], *, interval: bool) -> _Lines:
    rates = stored["rates"]
    carried = rates["carried"][int(interval)]
    tasks = -(-RECORDS // carried["records"])
    size = RECORDS * carried["stored"] / carried["records"]
    back = tasks * carried["bytes"]
    yield "stored", f"10¹⁰ × {carried['stored'] / carried['records']:.1f} B", f"{size / 10**12:.2f} TB"
    yield "tasks", f"10¹⁰ ÷ {carried['records']:,}", f"{tasks:,}"
    yield "Dask's scheduler", f"{tasks:,} × {rates['task_ms']} ms", _duration(tasks * rates["task_ms"] / 1000)
    took = _duration(size / rates["digest_bytes_a_second"])
    yield "one file's digest", f"{size / 10**12:.2f} TB ÷ {_gb(rates)} GB/s", took
    yield "to the process that judges", f"{tasks:,} × {carried['bytes']:,} B", f"{back / 10**9:.0f} GB"
    rows, cells = RECORDS * carried["rows"] // carried["records"], 3 * 2 * 49 * CONFIDENCES
    count = f"{rows:,} rows" if interval else f"at most 3 × 2 × 49 × {CONFIDENCES:,} rows"
    held = (rows if interval else min(rows, cells)) * carried["row_bytes"] / 10**9
    yield "what it holds at the end", f"{count} × {carried['row_bytes']} B", f"{held:.1f} GB"
    yield from _from_slope(stored, interval=interval)


def _from_slope(stored: Mapping[str, Any], *, interval: bool) -> _Lines:
    """Say what follows from the slope on Dask; where the large dump was not read to its end, from the small one."""
    small, large = (_cell(stored, size, "dask", interval=interval) for size in (10**7, 10**8))
    slope = _Slope(small, large) if small and large and large["wall"] else _Slope(_NOTHING, small or {})
    found = [slope.million(*path) for path in (("workers", "cpu"), ("driver", "cpu"), ("driver", "peak"))]
    worker, driver, memory = (one or 0.0 for one in found)
    millions = RECORDS // 10**6
    yield "workers", f"10⁴ × {worker:.2f} s ÷ {CORES}", _duration(millions * worker / CORES)
    yield "CPU of the process that judges", f"10⁴ × {driver:.2f} s", _duration(millions * driver)
    yield "workers that it keeps busy", f"{worker:.2f} s ÷ {driver:.2f} s", f"{worker / driver:.0f}"
    grown = f"{millions * memory / 1024:.0f} GiB"
    yield "its memory, were it to grow as it did", f"10⁴ × {memory:.1f} MiB", grown


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"


def scale_enough() -> str:
    """Say in a sentence what one machine does."""
    stored = _scale()
    cells = [cell for cell in stored["cells"] if cell["engine"] == "local" and cell["wall"]]
    cells = [cell for cell in cells if cell["records"] == cells[-1]["records"]]
    took = [f"{_duration(cell['wall'])} and {cell['driver']['peak'] / 1024:.1f} GiB" for cell in cells]
    cores, size = stored["machine"].partition(" cores")[0], cells[0]["records"]
    return f"On {cores} cores {size:,} records, 157 bytes each, took {', with intervals '.join(took)}."
