"""``plan``: how many contributors would settle a gate, given what the model is worth."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, Literal

from evalkit.exact import rounded
from evalkit.uncertainty.asked import MIN_CONTRIBUTORS
from evalkit.uncertainty.needs import assert_installed
from evalkit.uncertainty.plan_asked import BEYOND, Share, gate_of, refused, share, whole
from evalkit.uncertainty.plan_result import SCHEMA, Chances, Plan

if TYPE_CHECKING:
    from evalkit.uncertainty.plan_draws import World

LARGEST = 5000
"""Most contributors that are simulated; of more the normal distribution tells."""

PER_CONTRIBUTOR, CORRELATION = 20, 0.15
"""Records per contributor, and how alike they are, where the caller does not say."""

MOST_RECORDS = 10_000
"""Most records per contributor."""

SHOWN = (30, 50, 100, 200, 500, 1000, 2000, 5000)
"""Numbers of contributors whose chances are shown, as far as they are near."""

Goal = Literal["passed", "failed"]


def plan(
    gate: str,
    true: Share,
    *,
    level: Share = "0.95",
    power: Share = "0.8",
    per_contributor: int | None = None,
    correlation: Share | None = None,
    source: str | None = None,
    model: str | None = None,
    min_contributors: int = MIN_CONTRIBUTORS,
    contributors: Sequence[int] = (),
) -> Plan:
    """Say how many contributors would settle a gate that asks for a bound.

    The gate is judged 4000 times on invented contributors as ``compare`` would judge it: a contributor's records share
    a chance of being right, drawn from a beta distribution around the true value. Of more than 5000 contributors the
    normal distribution tells. It plans for shares (precision, coverage, accuracy, recall, error rate); macro F1 and
    the calibration error hang on more than one share, and are not planned.

    It is a plan and no proof: contributors may be less alike, or more, than the correlation says.

    Args:
        gate: Such as ``precision>=0.9``.
        true: What the model is taken to be worth.
        level: The confidence of the bound.
        power: The chance to pass that is wished for.
        per_contributor: Records per contributor that the share is made of (of a precision: accepted ones); 20 where
            neither it nor a folder is given.
        correlation: The intra-class correlation of a contributor's records, 0 to below 1; 0.15 where neither it nor a
            folder is given.
        source: A results folder with contributor tallies, in which records per contributor and correlation are
            measured, as far as they are not given.
        model: The model of the folder, where it has several.
        min_contributors: Fewest contributors that a bound is given for.
        contributors: More numbers that the chances are wanted of.

    Raises:
        Refusal: The gate is none of a share, a number is out of its range, or the true value does not pass the gate.

    >>> import evalkit
    >>> found = evalkit.plan("precision>=0.9", "0.92", per_contributor=5, contributors=[400])
    >>> found.needed, [round(row.passed, 2) for row in found.rows if row.contributors in (100, 400)]
    (440, [0.3, 0.77])
    """
    assert_installed()
    from evalkit.uncertainty.plan_draws import World
    from evalkit.uncertainty.plan_evidence import measured

    name, direction, limit = gate_of(gate)
    found, sizes = (None, (PER_CONTRIBUTOR,)) if source is None else measured(source, name, model)
    if per_contributor is not None:
        sizes = (whole(per_contributor, "per-contributor", MOST_RECORDS),)
    alike = CORRELATION if found is None else found.correlation
    if correlation is not None:
        alike = rounded(share(correlation, "correlation", "from 0 to below 1", Fraction(-1), Fraction(1)))
    worth, wished = (share(*each, "above 0 and below 1") for each in ((true, "true"), (power, "power")))
    sure = rounded(share(level, "level", "between 0.5 and 1, such as 0.95", Fraction(1, 2)))
    least = max(whole(min_contributors, "min-contributors"), 2)
    world = World(rounded(worth), alike, sizes, rounded(limit), direction, sure, least)
    _assert_passing(world, worth - limit, rounded(wished))
    needed, rows = _searched(world, "passed", rounded(wished), [whole(each, "contributors") for each in contributors])
    return Plan(
        schema=SCHEMA,
        name=name,
        direction=direction,
        limit=world.limit,
        true=world.true,
        level=world.level,
        power=rounded(wished),
        records_per_contributor=world.mean_size,
        correlation=alike,
        design_effect=world.design_effect,
        min_contributors=least,
        measured=found,
        needed=needed,
        rows=rows,
    )


def _assert_passing(world: World, beyond: Fraction, power: float) -> None:
    """Refuse a true value that does not pass; say what it takes to show that it fails."""
    if (beyond > 0) == (world.direction == "higher") and beyond:
        return
    if not beyond:
        raise refused("true", "is on the limit, where no number of contributors settles the gate", world.true)
    needed, _ = _searched(world, "failed", power, ())
    many = f"{needed:,}" if needed else f"more than {BEYOND:,}"
    message = f"does not pass the gate; that it fails is shown by {many} contributors, with a chance of {power:g}"
    raise refused("true", message, world.true)


def _searched(world: World, goal: Goal, power: float, wanted: Sequence[int]) -> tuple[int | None, tuple[Chances, ...]]:
    """Find the smallest number whose chance to reach the goal is the power, and the chances of the numbers shown."""
    shown, last = {*SHOWN, *wanted}, max(wanted, default=0)
    found: dict[int, Chances] = {}
    needed: int | None = None

    def pending() -> Iterator[int]:
        """Yield all numbers until one is enough, and after it those that are shown besides."""
        for number in sorted({*_two_digits(world.min_contributors), *shown}):
            if needed is None or (number in shown and number <= max(2 * needed, last)):
                yield number

    for one in _judged(world, pending()):
        reached = needed is None and getattr(one, goal) >= power
        needed = one.contributors if reached else needed
        if reached or one.contributors in shown:
            found[one.contributors] = one
    return needed, tuple(found[number] for number in sorted(found))


def _judged(world: World, numbers: Iterator[int]) -> Iterator[Chances]:
    """Judge the gate for more and more contributors, numbers looked at one by one."""
    from evalkit.uncertainty.plan_draws import REPETITIONS, approximate, simulated

    beyond: list[int] = []

    def few() -> Iterator[int]:
        for number in numbers:
            if number > LARGEST:
                beyond.append(number)
                return
            yield number

    for number, passed, failed in simulated(world, few()):
        passing, other, failing = (each / REPETITIONS for each in (passed, REPETITIONS - passed - failed, failed))
        yield Chances(number, round(number * world.mean_size), passing, other, failing, "simulated")
    for number in chain(beyond, numbers):
        passing, failing = approximate(world, number)
        other = max(1 - passing - failing, 0.0)
        yield Chances(number, round(number * world.mean_size), passing, other, failing, "normal")


def _two_digits(least: int) -> Iterator[int]:
    """Yield the whole numbers of two digits and then noughts, from a least one on.

    >>> from itertools import islice
    >>> list(islice(_two_digits(98), 4))
    [98, 99, 100, 110]
    """
    number, step = least, 10 ** max(len(str(least)) - 2, 0)
    number = -(-least // step) * step
    while number <= BEYOND:
        yield number
        number += step
        if number >= 100 * step:
            step *= 10
