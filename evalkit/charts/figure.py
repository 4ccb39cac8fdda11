"""A chart with its title, its caption, and what it says in words."""

from __future__ import annotations

from dataclasses import dataclass

from evalkit.charts.vega import Spec


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart to be drawn.

    Attributes:
        title: What it is.
        caption: How to read it, and what is not on it.
        told: What it says, for those who do not see it.
        spec: The Vega-Lite specification; None where there is nothing to draw, which the caption then says.
    """

    title: str
    caption: str
    told: str
    spec: Spec | None
