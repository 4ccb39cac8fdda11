"""Candidates against a baseline, read for charts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evalkit.charts.intervals import Ruling, plain_reason
from evalkit.charts.members import Members
from evalkit.charts.model import Column, Grid, Part, Row
from evalkit.charts.of_statistics import interval_of, outcome_of
from evalkit.charts.panels import Difference, Forest, Group
from evalkit.charts.words import number, probability
from evalkit.metric import Direction

_NAMES = {
    "precisionAtCoverage": "precision at coverage",
    "precision_at_coverage": "precision at coverage",
    "macroF1": "macro-F1",
    "macro_f1": "macro-F1",
    "ece": "ECE",
}
_DISCORDANT = {
    "both right": "bothRight",
    "only baseline": "onlyBaselineRight",
    "only candidate": "onlyCandidateRight",
    "neither": "neitherRight",
}


def comparison(members: Members | None) -> Part | None:
    """Read a comparison as a part of its own; None where none was asked for."""
    if members is None:
        return None
    against = tuple(members.items("against"))
    baseline = members.needed_text("baseline")
    forest = Forest(baseline, members.real("margin"), tuple(_groups(against)))
    return Part(
        title=f"Against {baseline}",
        summary=f"candidate minus baseline, on test, each at its own threshold; {len(against):,} held against it",
        forest=forest,
        grids=tuple(_grids(against)),
        notes=tuple(_notes(members, against)),
    )


def _groups(against: Sequence[Members]) -> Iterator[Group]:
    """Yield the differences metric by metric, in the order of the report."""
    by_metric: dict[str, list[tuple[Direction, Difference]]] = {}
    for one in against:
        model = one.needed_text("model")
        for each in one.items("differences"):
            by_metric.setdefault(each.needed_text("name"), []).append(_difference(each, model))
    for name, found in by_metric.items():
        yield Group(_NAMES.get(name, name), found[0][0], tuple(row for _, row in found))


def _difference(one: Members, model: str) -> tuple[Direction, Difference]:
    return one.direction(), Difference(
        candidate=model,
        baseline_value=one.real("baseline"),
        candidate_value=one.real("candidate"),
        value=one.real("value"),
        interval=interval_of(one),
        p_value=one.real("pValue"),
        adjusted=one.real("adjustedPValue"),
        ruling=_ruling(one.inner("nonInferiority")),
    )


def _ruling(one: Members | None) -> Ruling | None:
    if one is None:
        return None
    outcome = outcome_of(one)
    return None if outcome is None else Ruling(outcome, one.real("bound"), one.text("reason"))


def _grids(against: Sequence[Members]) -> Iterator[Grid]:
    """Yield who is right on paired records, and what became of each result of the baseline."""
    paired = [(one.needed_text("model"), pairs) for one in against if (pairs := one.inner("pairs")) is not None]
    if not paired:
        return
    names = ("paired", *_DISCORDANT, "p", "adjusted p")
    rows = []
    for model, one in paired:
        discordant, clustered = one.need("discordant"), one.need("clustered")
        counts = (discordant.whole(key) for key in _DISCORDANT.values())
        values = (
            one.whole("paired"),
            *counts,
            probability(clustered.real("pValue")),
            probability(one.real("adjustedPValue")),
        )
        rows.append(Row(model, dict(zip(names, values, strict=True))))
    yield Grid("Who is right on the same record", "candidate", tuple(map(Column, names)), tuple(rows))
    yield _flips(paired)


def _flips(paired: Sequence[tuple[str, Members]]) -> Grid:
    """Return what became of each result of the baseline, a row for each of them and each candidate."""
    columns: dict[str, None] = {}
    rows: dict[str, dict[str, float | int | str | None]] = {}
    for model, one in paired:
        for flip in one.items("flips"):
            became = f"candidate {flip.needed_text('candidate')}"
            columns[became] = None
            rows.setdefault(f"{model}: baseline {flip.needed_text('baseline')}", {})[became] = flip.whole("count")
    found = tuple(Row(name, values) for name, values in rows.items())
    return Grid("Flips: what became of each result of the baseline", "result", tuple(map(Column, columns)), found)


def _notes(members: Members, against: Sequence[Members]) -> Iterator[str]:
    if (path := members.text("pairedBy")) is not None:
        yield f"Records are paired by {path}."
    if (margin := members.real("margin")) is not None:
        yield f"A candidate passes where it is shown to be worse by less than {number(margin)}."
    for one in against:
        if (reason := one.text("reason")) is not None:
            yield f"{one.needed_text('model')} is not compared: {plain_reason(reason)}."
        warnings = one.take("warnings") or []
        for warning in one.fields.array(warnings, one.where("warnings")):
            yield f"{one.fields.text(warning, one.where('warnings'))}."
    best = members.inner("bestOf")
    if best is not None and (text := best.text("text")) is not None:
        yield f"{text[:1].upper()}{text[1:]}."
