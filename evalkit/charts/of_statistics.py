"""The ``statistics`` of a report, read for charts: how sure its numbers are, member by member and with its type.

A report has them only where they were asked for. What is optional may be missing or null; anything else that is
missing, or of another type, is a fault, so nothing is drawn that the report does not say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from evalkit.charts.fields import Fields
from evalkit.charts.intervals import RULINGS, Interval, Outcome, Ruling, sample_told, unit
from evalkit.charts.members import Members

KEY = "statistics"

Place = tuple[str, str | None, int | None]
"""Where an interval belongs: the metric, a class or system, a bin."""


@dataclass(frozen=True, slots=True)
class Sure:
    """How sure the numbers of a candidate, or of one of its strata, are.

    Attributes:
        sample: Who its test records came from.
        intervals: Each number's interval, by its place.
        rulings: What each gate said of its bound; empty where gates are held against values.
        strata: The same of its strata, by their fields.
        bins: The number of bins that confidence is put into.
        members: The members themselves; None where there are none.
    """

    sample: Interval = field(default_factory=Interval)
    intervals: Mapping[Place, Interval] = field(default_factory=dict)
    rulings: Mapping[str, Ruling] = field(default_factory=dict)
    strata: Mapping[frozenset[tuple[str, str]], Sure] = field(default_factory=dict)
    bins: int = 0
    members: Members | None = None

    def of(self, name: str, label: str | None = None, bin_: int | None = None) -> Interval | None:
        """Return the interval of a number; None where it has none."""
        return self.intervals.get((name, label, bin_))

    def of_bin(self, lower: float) -> Interval | None:
        """Return the interval of the accuracy of the bin that begins at a confidence."""
        return self.of("accuracy", bin_=round(lower * self.bins))

    def stratum(self, by: Mapping[str, str]) -> Sure:
        """Return what is known of a stratum, by its fields."""
        return self.strata.get(frozenset(by.items()), UNSURE)

    def inner(self, name: str) -> Members | None:
        """Return an optional member; None where it is null or missing."""
        return None if self.members is None else self.members.inner(name)

    def items(self, name: str) -> tuple[Members, ...]:
        """Return the items of an optional member."""
        return () if self.members is None else tuple(self.members.items(name))

    @property
    def given(self) -> bool:
        """Tell whether there is any interval at all."""
        return any(one.ends is not None for one in self.intervals.values())


UNSURE = Sure()


@dataclass(frozen=True, slots=True)
class Statistics:
    """How sure the numbers of a report are.

    Attributes:
        facts: What was asked for.
        level: The confidence of the intervals.
        many: What is drawn as a whole, many of them.
        found: Each candidate's, by its name; by None where a report has no models.
        members: The members themselves; None where a report has none.
    """

    facts: tuple[tuple[str, str], ...] = ()
    level: float | None = None
    many: str = ""
    found: Mapping[str | None, Sure] = field(default_factory=dict)
    members: Members | None = None

    def of(self, model: str | None) -> Sure:
        """Return what is known of a candidate."""
        return self.found.get(model, UNSURE)

    @property
    def given(self) -> bool:
        """Tell whether there is any interval at all."""
        return any(one.given or any(each.given for each in one.strata.values()) for one in self.found.values())


def statistics(report: Mapping[str, Any], fields: Fields) -> Statistics:
    """Read the statistics of a report; what is wrong with them is noted in the fields."""
    if report.get(KEY) is None:
        return Statistics()
    members = Members(fields.mapping(report[KEY], KEY), KEY, fields)
    level = members.needed_real("level")
    by = members.needed_text("clusteredBy")
    many = unit(by)
    found: dict[str | None, Sure] = {}
    bins = fields.whole(report.get("bins", 0), "bins")
    for one in members.items("candidates"):
        found[one.text("model")] = _sure(one, many, bins)
    if members.take("candidates") is None:
        found[None] = _listed(members)
    return Statistics(tuple(_facts(members, level, by)), level, many, found, members)


def _facts(members: Members, level: float, by: str) -> Iterator[tuple[str, str]]:
    asked = f"{100 * level:g} %, by {by}"
    if (replicates := members.whole("replicates")) is not None:
        asked += f"; {replicates:,} resamples, seed {members.whole('seed') or 0}"
    if (least := members.whole("minContributors")) is not None:
        asked += f"; none below {least:,} {unit(by)}"
    lists = [members.take("intervals"), *(one.take("intervals") for one in members.items("candidates"))]
    yield "intervals" if any(one is not None for one in lists) else "statistics", asked
    if members.text("gateOn") == "bound":
        yield "gates", "held against the one-sided bound of each number, not against the number itself"
    if fewest := members.whole("minSupport"):
        yield "support", f"at least {fewest:,} accepted test records of each label in truth"
    if members.take("noExcludedClass") is True:
        yield "excluded classes", "none is allowed"


def _sure(members: Members, many: str, bins: int) -> Sure:
    strata = {}
    for one in members.items("strata"):
        by = one.inner("by")
        if by is not None:
            strata[frozenset((key, str(value)) for key, value in by.found.items())] = _sure(one, many, bins)
    return Sure(
        sample=interval_of(members, many),
        intervals={_place(one): interval_of(one, many) for one in members.items("intervals")},
        rulings=dict(_rulings(members)),
        strata=strata,
        bins=bins,
        members=members,
    )


def _listed(members: Members) -> Sure:
    """Read the intervals of a report without candidates: a list, of all cases and of each stratum."""
    by_stratum: dict[str | None, dict[Place, Interval]] = {None: {}}
    for one in members.items("intervals"):
        many = unit(one.needed_text("clusteredBy"))
        by_stratum.setdefault(one.text("stratum"), {})[_place(one)] = interval_of(one, many)
    strata = {
        frozenset({("stratum", name)}): Sure(intervals=found) for name, found in by_stratum.items() if name is not None
    }
    return Sure(intervals=by_stratum[None], strata=strata, members=members)


def _place(one: Members) -> Place:
    label = one.text("label") if one.take("label") is not None else one.text("system")
    return one.needed_text("name"), label, one.whole("bin")


def interval_of(one: Members, many: str = "contributors") -> Interval:
    """Read how sure a number is."""
    return Interval(
        low=one.real("low"),
        high=one.real("high"),
        at_least=one.real("atLeast"),
        at_most=one.real("atMost"),
        method=one.text("method"),
        reason=one.text("reason"),
        contributors=one.whole("contributors"),
        effective=one.real("effectiveContributors"),
        largest=one.real("largestShare"),
        unit=many,
    )


def outcome_of(one: Members) -> Outcome | None:
    """Read what a gate or a margin said; None, and a fault, where that is none of the three."""
    outcome = one.needed_text("outcome")
    if outcome not in RULINGS:
        one.fields.must_be("passed, failed or insufficient", one.where("outcome"), outcome)
        return None
    return cast("Outcome", outcome)


def _rulings(members: Members) -> Iterator[tuple[str, Ruling]]:
    gates = members.inner("gates")
    if gates is None:
        return
    for name in gates.found:
        one = gates.inner(name)
        if one is None:
            continue
        outcome = outcome_of(one)
        if outcome is None:
            continue
        numbers = one.real("value"), one.needed_real("limit")
        yield name, Ruling(outcome, one.real("bound"), one.text("reason"), *numbers, one.direction())


def notes(sure: Sure) -> Iterator[str]:
    """Yield the sentence that says who a candidate's records came from."""
    if told := sample_told(sure.sample):
        yield told


def limits(found: Statistics, unsure: str) -> tuple[str, ...]:
    """Return what must be said of intervals, or of having none."""
    if not found.given or found.level is None:
        return (unsure,)
    said = (
        f"Intervals of {100 * found.level:g} % say how far a number may move with other {found.many} of the same kind"
    )
    return (f"{said}; they say nothing of another population, another year, or a wrong label.",)
