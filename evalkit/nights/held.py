"""Gates of a night: stated limits, and metrics that may not be worse than on an earlier night by more than a margin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from evalkit.exact import rounded
from evalkit.gates import NOT_MEASURED
from evalkit.nights.job import DIRECTIONS, Amount, Kind, Task
from evalkit.nights.numbers import Number, exactly, of_metric
from evalkit.nights.verdict import BASELINE, LIMIT, Held

NO_EARLIER_GO = "no-earlier-go"
BASELINE_LACKS = "baseline-lacks-metric"
NOTHING_RECOMMENDED = "nothing-recommended"


@dataclass(frozen=True, slots=True)
class Night:
    """The numbers of a night.

    Attributes:
        date: The night.
        numbers: Its numbers over all records.
        recommended: The candidate that ``compare`` recommends.
        exact: Exact values by metric and model, of a night that was just measured: the store has rounded ones.
    """

    date: str
    numbers: Sequence[Number]
    recommended: str | None = None
    exact: Mapping[tuple[str, str | None], Fraction] = field(default_factory=dict)


def limits_held(task: Task, now: Night) -> Iterator[Held]:
    """Hold a night against the limits that are stated.

    Those of ``compare`` were judged by its report, and are those of the recommended candidate: the others may fail.
    Where none is recommended they are those of all candidates.
    """
    if task.kind == "compare":
        for one in now.numbers:
            if one.limit is not None and now.recommended in (None, one.model):
                yield Held(LIMIT, one.metric, one.model, one.value, one.limit, one.direction, one.passed, _reason(one))
        return
    for metric, amount in task.gates.items():
        own = of_metric(now.numbers, metric, ranked=task.kind == "measure")
        for model, number in own.items():
            yield _limit(now, model, number, amount)
        if not own:
            direction = DIRECTIONS[task.kind][metric]
            yield Held(LIMIT, metric, None, None, rounded(amount.value), direction, passed=False, reason=NOT_MEASURED)


def _reason(one: Number) -> str | None:
    return None if one.value is not None else one.reason or NOT_MEASURED


def _limit(now: Night, model: str | None, number: Number, amount: Amount) -> Held:
    stored = number.decimal if number.ratio is None else number.ratio
    exact = now.exact.get((number.metric, model), stored)
    passed = exact is not None and _no_worse(exact, amount.value, number.direction)
    limit = rounded(amount.value)
    return Held(LIMIT, number.metric, model, number.value, limit, number.direction, passed, _reason(number))


def _no_worse(value: Fraction, limit: Fraction, direction: str) -> bool:
    return value >= limit if direction == "higher" else value <= limit


def baseline_held(task: Task, now: Night, before: Night | None) -> Iterator[Held]:
    """Hold a night against an earlier one; None where there is no earlier GO, and then nothing is kept back.

    Candidates of ``compare`` are compared as what would be released: the recommended one of either night. All else is
    compared model by model, also a model that only one of the nights has.
    """
    if task.baseline is None:
        return
    for metric, margin in task.baseline.margins.items():
        if before is None:
            direction = DIRECTIONS[task.kind][metric]
            yield Held(BASELINE, metric, None, None, None, direction, None, NO_EARLIER_GO, margin=margin.text)
        elif task.kind == "compare":
            yield _released(metric, margin, now, before)
        else:
            ranked = task.kind == "measure"
            new, old = (of_metric(night.numbers, metric, ranked=ranked) for night in (now, before))
            for model in sorted(new.keys() | old.keys(), key=lambda one: one or ""):
                yield _against(metric, model, (new.get(model), old.get(model)), margin, before.date, task.kind)


def _released(metric: str, margin: Amount, now: Night, before: Night) -> Held:
    pair = [
        None if night.recommended is None else of_metric(night.numbers, metric, ranked=False).get(night.recommended)
        for night in (now, before)
    ]
    held = _against(metric, now.recommended, (pair[0], pair[1]), margin, before.date, "compare")
    if now.recommended is not None:
        return held
    return replace(held, limit=None, passed=None, reason=NOTHING_RECOMMENDED)


def _against(
    metric: str,
    model: str | None,
    pair: tuple[Number | None, Number | None],
    margin: Amount,
    date: str,
    kind: Kind,
) -> Held:
    """Compare a number with that of the baseline. What the baseline has and this night lacks is a failure."""
    new, old = pair
    direction = DIRECTIONS[kind][metric]
    value = None if new is None else new.value
    if old is None or old.value is None:
        return Held(BASELINE, metric, model, value, None, direction, None, BASELINE_LACKS, date, None, margin.text)
    exact, base = (None, old.decimal) if new is None else exactly(new, old)
    limit = (base or Fraction(0)) + (-margin.value if direction == "higher" else margin.value)
    passed = exact is not None and _no_worse(exact, limit, direction)
    reason = None if exact is not None else NOT_MEASURED
    shown = rounded(limit)
    return Held(BASELINE, metric, model, value, shown, direction, passed, reason, date, old.value, margin.text)
