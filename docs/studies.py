"""Parts of the docs that show stored results of studies which take too long to run with the docs."""

from __future__ import annotations

import json
from collections.abc import Mapping
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
