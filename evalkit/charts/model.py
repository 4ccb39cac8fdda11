"""What charts and tables are made from: one small model of a report, whatever its schema."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from evalkit.charts.intervals import Interval, Ruling
from evalkit.charts.panels import Calibration, Forest, Risk
from evalkit.metric import Direction

Scale = Literal["fraction", "rate", "count", "number"]
"""What a value is: a ``fraction`` lies in 0–1, a ``rate`` may exceed 1; a ``count`` or ``number`` has no bar."""


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric as a row.

    Attributes:
        name: The metric.
        value: What was measured; None where nothing was.
        scale: What kind of number it is.
        direction: Which values are better.
        limit: The target or the gate's limit; None where there is none.
        sample_size: How many things the value rests on; None where that is not known.
        about: What else tells this row from others of its name: the system, the stratum.
        reason: Why the value is None.
        remark: What must be said beside the value, such as that a review is not complete.
        met: Whether the limit is met; None where there is no limit or no value.
        interval: How sure the value is; None where that was not asked for.
        ruling: What its gate said of its bound; None where gates are held against the value itself.
    """

    name: str
    value: float | int | None
    scale: Scale = "fraction"
    direction: Direction = "none"
    limit: float | None = None
    sample_size: int | None = None
    about: str = ""
    reason: str | None = None
    remark: str = ""
    met: bool | None = None
    interval: Interval | None = None
    ruling: Ruling | None = None


@dataclass(frozen=True, slots=True)
class Bin:
    """One bin of confidence that is not empty; how sure its accuracy is, where that was asked for."""

    lower: float
    upper: float
    count: int
    mean_confidence: float | None
    accuracy: float | None
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Cell:
    """How many records of one true class got one predicted class."""

    truth: str
    predicted: str
    count: int


@dataclass(frozen=True, slots=True)
class Point:
    """One point of a coverage–precision curve; None where it was not measured."""

    coverage: float | None
    precision: float | None


@dataclass(frozen=True, slots=True)
class Curve:
    """How precision changes with coverage, and the cut that was chosen.

    Attributes:
        points: All cuts of validation, the narrowest first; None where the curve itself is not at hand.
        cut: The chosen threshold.
        chosen: Where it was chosen: on validation.
        scored: The same cut on test.
        floor: The least coverage that a cut could have.
        limit: The gate on precision.
    """

    points: tuple[Point, ...] | None
    cut: float | None
    chosen: Point
    scored: Point
    floor: float | None
    limit: float | None


@dataclass(frozen=True, slots=True)
class Row:
    """One row about a class, a family, a stratum or a candidate: its numbers, and how sure they are, by column."""

    name: str
    values: Mapping[str, float | int | str | None]
    intervals: Mapping[str, Interval] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Column:
    """One column of such rows: its name, and the top of its scale where it has bars."""

    name: str
    top: float | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """Rows of numbers under common columns."""

    title: str
    head: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class Reliability:
    """Confidence against accuracy, for one set of records."""

    name: str
    bins: tuple[Bin, ...]


@dataclass(frozen=True, slots=True)
class Part:
    """What a report says of one candidate, model, or all records; what it does not say is empty.

    Attributes:
        title: What it is about.
        summary: The outcome in one line.
        measures: A row a metric.
        reliability: A diagram for all records of the part.
        small: Diagrams for parts of them.
        curve: The coverage–precision curve.
        calibration: Calibration against chance.
        risk: The curve of risk and coverage.
        forest: Differences to a baseline.
        cells: The confusion matrix.
        classes: The class names in order.
        grids: Rows by class, family, stratum.
        notes: Sentences that must be read with it.
    """

    title: str
    summary: str = ""
    measures: tuple[Measure, ...] = ()
    reliability: Reliability | None = None
    small: tuple[Reliability, ...] = ()
    curve: Curve | None = None
    calibration: Calibration | None = None
    risk: Risk | None = None
    forest: Forest | None = None
    cells: tuple[Cell, ...] | None = None
    classes: tuple[str, ...] = ()
    grids: tuple[Grid, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Subject:
    """A report as it is shown.

    Attributes:
        title: What kind of report it is.
        synthetic: Whether it is a synthetic example.
        facts: What it is about: names and texts.
        verdict: The outcome, or nothing.
        overview: All parts at a glance, where there are several.
        comparison: The parts against a baseline, where that was asked for.
        parts: The parts, those first that are drawn first.
        limitations: Sentences that are printed on it.
    """

    title: str
    synthetic: bool
    facts: tuple[tuple[str, str], ...]
    verdict: str = ""
    overview: Grid | None = None
    comparison: Part | None = None
    parts: tuple[Part, ...] = ()
    limitations: tuple[str, ...] = field(default=())
