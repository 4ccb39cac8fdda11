"""History: what every night of a store says of a metric, with its limits and verdicts, oldest night first."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from evalkit.contracts.toml_lines import show_value
from evalkit.errors import Refusal, Violation
from evalkit.metric import Direction
from evalkit.nights.numbers import Number, informative
from evalkit.nights.store import Store
from evalkit.nights.verdict import BASELINE, LIMIT, Held, Verdict
from evalkit.sources.source import label


@dataclass(frozen=True, slots=True)
class TrendRow:
    """One number of one night.

    Attributes:
        evaluation: The evaluation.
        date: The night.
        metric: The metric.
        model: The candidate, model or system; None where none is named.
        value: The value; None where nothing was measured.
        reason: Why there is none.
        sample_size: How many records it rests on.
        direction: Which values are better.
        limit: The limit that is stated; None where there is none.
        baseline_limit: The limit that an earlier night and a margin gave; None likewise.
        passed: Whether it passed every gate on it; None where no gate judged it.
        verdict: The verdict of the evaluation.
        synthetic: Whether its records are invented.
    """

    SNAKE_CASE: ClassVar[bool] = True

    evaluation: str
    date: str
    metric: str
    model: str | None
    value: float | None
    reason: str | None
    sample_size: int
    direction: Direction
    limit: float | None
    baseline_limit: float | None
    passed: bool | None
    verdict: str
    synthetic: bool


def history(
    store: str | os.PathLike[str], *, evaluation: str | None = None, metric: str | None = None
) -> tuple[TrendRow, ...]:
    """Read what every night of a store says of its metrics.

    Args:
        store: The store's folder.
        evaluation: Only this evaluation.
        metric: Only this metric. Without one, those that a gate was on; all that have a better side where none was.

    Raises:
        Refusal: There is no such store, evaluation or metric, or something in the store cannot be read.

    >>> history("no-store")
    Traceback (most recent call last):
    ...
    evalkit.errors.Refusal: no-store: holds no results of nightly runs [no-history]
    """
    held = Store(os.fspath(store))
    names = [name for name in held.evaluations() if held.dates(name)]
    if not names:
        raise Refusal.of(Violation("no-history", "holds no results of nightly runs", label(held.path)))
    if evaluation is not None:
        names = [_known(evaluation, names, "evaluation")]
    found = [row for name in names for row in rows(held, name, metric=metric)]
    if metric is not None and not found:
        known = sorted({row.metric for name in names for row in rows(held, name, every=True)})
        _known(metric, known, "metric")
    return tuple(found)


def _known(name: str, known: list[str], what: str) -> str:
    if name in known:
        return name
    message = f"there is no such {what} in the store; there are {', '.join(known)}"
    raise Refusal.of(Violation("no-history", message, field=what, value=show_value(name)))


def rows(
    store: Store, evaluation: str, *, metric: str | None = None, until: str | None = None, every: bool = False
) -> Iterator[TrendRow]:
    """Read the rows of an evaluation, by metric, night and model."""
    nights = [(one, store.numbers(one).numbers) for one in store.verdicts(evaluation, until)]
    gated = dict.fromkeys(gate.metric for one, _ in nights for gate in one.gates)
    better = dict.fromkeys(name for _, numbers in nights for name in informative(numbers))
    wanted = [metric] if metric is not None else list(better if every or not gated else gated)
    for name in wanted:
        for one, numbers in nights:
            for number in sorted((n for n in numbers if n.metric == name), key=lambda n: n.model or ""):
                yield _row(one, number)


def _row(one: Verdict, number: Number) -> TrendRow:
    gates: Mapping[str, Held] = {
        gate.gate: gate for gate in one.gates if (gate.metric, gate.model) == (number.metric, number.model)
    }
    stated, before = gates.get(LIMIT), gates.get(BASELINE)
    limit, passed = None if stated is None else stated.limit, None
    if one.kind == "compare" and stated is None:  # the limits of its contract, which hold for every candidate
        limit, passed = number.limit, number.passed
    judged = [said for said in (passed, *(gate.passed for gate in gates.values())) if said is not None]
    return TrendRow(
        one.evaluation,
        one.date,
        number.metric,
        number.model,
        number.value,
        number.reason,
        number.sample_size,
        number.direction,
        limit,
        None if before is None else before.limit,
        all(judged) if judged else None,
        one.verdict,
        one.synthetic,
    )
