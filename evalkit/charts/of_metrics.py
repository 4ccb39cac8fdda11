"""Any document with a run, a model revision and metrics as it is shown: a row for each metric.

evalkit's own measurement is one, and has a part for each of its strata; what other programs write may spell its keys in
their own way: ``runId`` is ``run_id``. What is missing is refused, so that no chart stands without its sample sizes or
its synthetic mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from evalkit.charts import of_statistics as sure
from evalkit.charts.fields import MISSING, Fields, scalars
from evalkit.charts.model import Measure, Part, Scale, Subject
from evalkit.metric import Direction

SCHEMA = "evalkit-measurement-v1"

MOST_METRICS = 10_000
"""Most metrics that one document, or one stratum of it, is drawn with."""

_RUN = ("run_id", "run_identifier")
_MODEL = ("model_revision", "model_version", "revision")
_METRICS = ("metrics", "measures")
_NAME = ("name", "metric")
_VALUE = ("value", "observed")
_LIMIT = ("threshold", "target", "limit")
_SIZE = ("sample_size", "samples", "n")
_DIRECTION = ("direction", "improvement_direction", "improvement", "better")
_SCALE = ("scale", "kind", "unit")
_ABOUT = ("system", "stratum")

_BETTER: Mapping[str, Direction] = {
    **dict.fromkeys(("higher", "higherisbetter", "up", "increase", "maximize", "maximise", "max"), "higher"),
    **dict.fromkeys(("lower", "lowerisbetter", "down", "decrease", "minimize", "minimise", "min"), "lower"),
    **dict.fromkeys(("none", "neutral", "descriptive"), "none"),
}
_SCALES: Mapping[str, Scale] = {"fraction": "fraction", "rate": "rate", "count": "count", "number": "number"}
_RATES = frozenset({"ocrcer", "ocrwer", "cer", "wer"})
_MERGES = "incorrectacceptedmerges"

_SYNTHETIC = "A synthetic example proves software behaviour only."
_NO_LIMITATIONS = "The document names no limitations."


def metrics(report: Mapping[str, Any], fields: Fields) -> Subject:
    """Show a document; what is wrong with it is noted in the fields."""
    found = _Keys(report, "", fields)
    run = fields.text(found.take(_RUN), "run_id")
    model = fields.text(found.take(_MODEL), "model_revision")
    synthetic = fields.flag(found.take(("synthetic",)), "synthetic")
    own = report.get("schema") == SCHEMA
    known = sure.statistics(report, fields) if own else sure.Statistics()
    rows = _known(_rows(found.take(_METRICS), fields, own=own), known.of(None))
    limitations = _limitations(found.take(("limitations",), needed=False), fields)
    if synthetic and not any("synthetic" in one.casefold() for one in limitations):
        limitations = (_SYNTHETIC, *limitations)
    return Subject(
        title="Measurement",
        synthetic=synthetic,
        facts=(("run", run), ("model revision", model), *_facts(report), *known.facts),
        parts=(
            Part("Metrics", _summary(rows), measures=rows, notes=tuple(sure.notes(known.of(None)))),
            *(_strata(report, known.of(None), fields) if own else ()),
        ),
        limitations=limitations or (_NO_LIMITATIONS,),
    )


class _Keys:
    """The keys of an object, however they are spelled."""

    def __init__(self, found: Mapping[str, Any], path: str, fields: Fields) -> None:
        self._path, self._fields = path, fields
        self._spelled: dict[str, list[str]] = {}
        for key in found:
            self._spelled.setdefault(_bare(key), []).append(key)
        self._found = found

    def take(self, names: tuple[str, ...], *, needed: bool = True) -> Any:
        """Return the member of one of these names; where it is needed, a missing or an ambiguous one is a fault."""
        keys = [key for name in names for key in self._spelled.get(_bare(name), [])]
        path = f"{self._path}{names[0]}"
        if len(keys) > 1 and needed:
            self._fields.fault(path, f"must be said once; found {keys[0]} and {keys[1]}")
        elif not keys and needed:
            self._fields.fault(path, "is missing")
        if not keys:
            return MISSING if needed else None
        return self._found[keys[0]]


def _bare(key: str) -> str:
    return re.sub(r"[\s_-]", "", key).casefold()


def _known(rows: Iterable[Measure], known: sure.Sure) -> tuple[Measure, ...]:
    """Give each metric its interval: that of its name and its system."""
    return tuple(replace(one, interval=known.of(one.name, one.about or None)) for one in rows)


def _strata(report: Mapping[str, Any], known: sure.Sure, fields: Fields) -> Iterator[Part]:
    """Yield a part for each stratum of a measurement that is whole."""
    for place, one in enumerate(report["strata"]):
        here = known.stratum({"stratum": one["stratum"]})
        rows = _known(_rows(one["metrics"], fields, f"strata[{place}].metrics", own=True), here)
        yield Part(f"Stratum {one['stratum']}", f"{_counted(rows)}; targets are for all cases only", measures=rows)


def _rows(found: object, fields: Fields, path: str = "metrics", *, own: bool) -> Iterator[Measure]:
    if isinstance(found, dict):  # metric objects by name
        found = [{"name": name, **one} if isinstance(one, dict) else one for name, one in found.items()]
    rows = fields.array(found, path)
    if len(rows) > MOST_METRICS:
        fields.fault(path, f"must be at most {MOST_METRICS:,} metrics", f"{len(rows):,}")
        return
    for place, one in enumerate(rows):
        where = f"{path}[{place}]"
        yield _measure(_Keys(fields.mapping(one, where), f"{where}.", fields), where, fields, own=own)


def _measure(keys: _Keys, path: str, fields: Fields, *, own: bool) -> Measure:
    name = fields.text(keys.take(_NAME), f"{path}.name")
    value = fields.real(keys.take(_VALUE), f"{path}.value")
    limit = fields.real(keys.take(_LIMIT), f"{path}.threshold")
    size = keys.take(_SIZE)
    size = None if size is None and value is None else fields.whole(size, f"{path}.sample_size")
    direction = _direction(keys.take(_DIRECTION), path, fields)
    about = [text for one in _ABOUT if isinstance(text := keys.take((one,), needed=False), str)]
    reviewed = _reviewed(name, keys)
    reason = keys.take(("reason",), needed=False)
    terms = keys.take(("numerator",), needed=False), keys.take(("denominator",), needed=False)
    met = _met(value, limit, direction, terms)
    said = keys.take(_SCALE, needed=False)
    return Measure(
        name=name,
        value=value,
        scale=_scale(name, value, limit, said, own=own),
        direction=direction,
        limit=limit,
        sample_size=size,
        about=", ".join(about),
        reason=reason.replace("-", " ") if isinstance(reason, str) and value is None else None,
        remark=_remark(reviewed, keys),
        met=False if met and reviewed is False else met,
    )


def _reviewed(name: str, keys: _Keys) -> bool | None:
    """Tell whether a review is complete; None where none is asked for. Of merges it must be said."""
    complete = keys.take(("review_complete",), needed=False)
    if isinstance(complete, bool):
        return complete
    return False if _bare(name) == _MERGES else None


def _remark(reviewed: bool | None, keys: _Keys) -> str:  # noqa: FBT001
    days = keys.take(("days_observed",), needed=False)
    said = [] if reviewed is None else ["review complete" if reviewed else "review not complete"]
    if isinstance(days, int) and not isinstance(days, bool):
        said.append("1 day observed" if days == 1 else f"{days:,} days observed")
    return ", ".join(said)


def _direction(found: object, path: str, fields: Fields) -> Direction:
    if found is None:
        return "none"
    known = _BETTER.get(_bare(found)) if isinstance(found, str) else None
    if known is None:
        fields.must_be("higher, lower or none", f"{path}.direction", found)
    return known or "none"


def _scale(name: str, value: float | int | None, limit: float | int | None, said: object, *, own: bool) -> Scale:
    """Tell what a value is: as the document says, by its name, or by how it is written.

    evalkit itself writes a whole number without a fraction for a count only. In what others write, one above 1 is a
    count, and so is one whose target is a whole number but 1; 0 and 1 alone may be none or all of a share.
    """
    if isinstance(said, str):
        return _SCALES.get(_bare(said), "number" if said.strip() else "fraction")
    if (bare := _bare(name)) in _RATES:
        return "rate"
    if bare == _MERGES:
        return "count"
    whole = own or (value is not None and value > 1) or (isinstance(limit, int) and limit != 1)
    return "count" if isinstance(value, int) and whole else "fraction"


def _met(value: float | None, limit: float | None, direction: Direction, terms: tuple[object, object]) -> bool | None:
    """Hold a value against its target; by numerator and denominator where they give the value."""
    if value is None or limit is None or direction == "none":
        return None
    over, under = terms
    found, wanted = Fraction(str(value)), Fraction(str(limit))
    if isinstance(over, int) and isinstance(under, int) and under > 0 and over / under == value:
        found = Fraction(over, under)
    return found >= wanted if direction == "higher" else found <= wanted


def _summary(rows: tuple[Measure, ...]) -> str:
    return f"{_counted(rows)}; a target is what was asked for, never a result" if rows else "no metrics"


def _counted(rows: tuple[Measure, ...]) -> str:
    measured = sum(one.value is not None for one in rows)
    metrics = "1 metric" if len(rows) == 1 else f"{len(rows):,} metrics"
    return f"{metrics}, {measured:,} measured"


def _limitations(found: object, fields: Fields) -> tuple[str, ...]:
    if found is None:
        return ()
    listed = [found] if isinstance(found, str) else fields.array(found, "limitations")
    return tuple(fields.text(one, f"limitations[{place}]") for place, one in enumerate(listed))


def _facts(report: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    known = {"datasetid": "data set", "split": "split", "stage": "stage", "evidencesha256": "evidence SHA-256"}
    for key, value in report.items():
        if (name := known.get(_bare(key))) and isinstance(value, str):
            yield name, value
        elif _bare(key) == "sourceids" and isinstance(value, list):
            yield "sources", f"{len(value):,}"
        elif key == "run" and isinstance(value, dict):
            yield from scalars({"run": value})
