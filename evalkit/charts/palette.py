"""The colours of charts: few, each with the one that stands for it on a dark ground."""

from __future__ import annotations

from collections.abc import Mapping

PAPER = "#ffffff"
INK = "#1f2933"
QUIET = "#52606d"
LINE = "#cbd2d9"
FAINT = "#e4e7eb"
BAR = "#3f7fbf"
STRONG = "#1b4f85"
TARGET = "#b45309"
GOOD = "#1a7f37"
BAD = "#b42318"
ON_BAR = "#fffffe"
STEPS = ("#f7f9fb", "#dbe8f5", "#b3cfe9", "#7fadd9", "#3f7fbe", "#1b4f86")
"""Six steps of a share, lightest first."""

DARK: Mapping[str, str] = {
    PAPER: "#14181d",
    INK: "#e8ecf0",
    QUIET: "#a9b4bf",
    LINE: "#4a5561",
    FAINT: "#2b333b",
    BAR: "#5a9bdc",
    STRONG: "#a5cdf5",
    TARGET: "#f5a742",
    GOOD: "#5cc97c",
    BAD: "#ff8a7a",
    ON_BAR: "#0b1015",
    STEPS[0]: "#1b2027",
    STEPS[1]: "#1f3347",
    STEPS[2]: "#27496b",
    STEPS[3]: "#336394",
    STEPS[4]: "#4d8fce",
    STEPS[5]: "#9cc8f3",
}
"""What a colour becomes where the reader prefers dark."""


def on_step(step: int) -> str:
    """Return the colour of text on a step of a share."""
    return ON_BAR if step >= 4 else INK


def dark_style(inside: str = "") -> str:
    """Return the style sheet that turns charts dark, for elements inside a selector."""
    rules = "".join(
        f'{inside}[fill="{light}"]{{fill:{dark}}}{inside}[stroke="{light}"]{{stroke:{dark}}}'
        for light, dark in DARK.items()
    )
    return f"@media (prefers-color-scheme:dark){{{rules}}}"
