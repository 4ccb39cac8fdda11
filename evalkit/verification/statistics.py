"""The statistics that a report claims: how they were made is data of the report, checked for sense and then made anew.

Level, resamples, seed and the least number of contributors decide no number of the report but the statistics
themselves, in which each of them stands: whoever reads an interval reads how sure it claims to be.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evalkit.errors import Refusal, Violation
from evalkit.records.rules import is_name
from evalkit.records.strict_json import show
from evalkit.uncertainty.chosen import Chosen, choose

Claimed = Mapping[str, Any]
"""The ``statistics`` of a report, as anybody may have written them."""

_LEVEL, _REPLICATES, _SEED, _LEAST = "level", "replicates", "seed", "min_contributors"


def claimed(plain: Mapping[str, Any]) -> Claimed | None:
    """Return the statistics that a report has; None where it has none.

    Raises:
        Refusal: They are no object.
    """
    if "statistics" not in plain:
        return None
    found = plain["statistics"]
    if not isinstance(found, dict):
        raise _senseless("must be an object", "statistics", found)
    return found


def chosen(found: Claimed | None, *, unclustered: str, names: Mapping[str, str] | None = None) -> Chosen | None:
    """Return what statistics were asked for, as the report says it; None where it has none.

    Args:
        found: The statistics of the report.
        unclustered: What they say that records are clustered by where no field was named.
        names: The keys as this schema spells them, where not as they are spelled here.

    Raises:
        Refusal: What is said makes no sense.
    """
    if found is None:
        return None
    keys = {key: (names or {}).get(key, key) for key in (_LEVEL, _REPLICATES, _SEED, _LEAST, "clustered_by")}
    level, by = found.get(keys[_LEVEL]), found.get(keys["clustered_by"])
    if not isinstance(level, float) or not 0.5 < level < 1:
        raise _senseless("must be a number between 0.5 and 1", keys[_LEVEL], level)
    for key in (_REPLICATES, _SEED, _LEAST):
        if type(found.get(keys[key])) is not int:
            raise _senseless("must be a whole number", keys[key], found.get(keys[key]))
    if not is_name(by):
        raise _senseless("must be a name", keys["clustered_by"], by)
    wanted = choose(
        level,
        *(found[keys[key]] for key in (_REPLICATES, _SEED, _LEAST)),
        cluster_by=None if by == unclustered else str(by),
        calibration=_has(found, "calibration"),
    )
    if wanted is None or _has(found, "intervals"):
        return wanted
    return Chosen(wanted.asked, intervals=False, cluster_by=wanted.cluster_by, calibration=wanted.calibration)


def _has(found: Claimed, key: str) -> bool:
    """Tell whether some candidate, or the whole where there are none, has something under a key."""
    candidates = found.get("candidates")
    every = candidates if isinstance(candidates, list) else [found]
    return any(isinstance(one, dict) and bool(one.get(key)) for one in every)


def _senseless(message: str, field: str, value: object) -> Refusal:
    where = field if field == "statistics" else f"statistics.{field}"
    return Refusal.of(Violation("verify-statistics", message, field=where, value=show(value)))
