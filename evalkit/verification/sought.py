"""Statistics of a selective report: what decides the caller states, how the rest was made the report says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from evalkit.errors import Refusal, Violation
from evalkit.families.selective.wanted import Options as Asked
from evalkit.families.selective.wanted import Wanted, wanted
from evalkit.records.strict_json import show
from evalkit.verification.options import Options
from evalkit.verification.statistics import Claimed

_WHOLE = {"replicates": "replicates", "seed": "seed"}


def sought(found: Claimed | None, options: Options) -> Wanted | None:
    """Return what statistics a report must have.

    Where gates asked for bounds, the level and the least number of contributors decide too, and are not taken from the
    report.

    Args:
        found: The statistics that the report claims.
        options: What the caller states.

    Raises:
        Refusal: What the report says makes no sense, or what is stated does not.
    """
    bound = options.gate_on == "bound"
    asked: Asked = {}
    if options.gate_on is not None:
        asked["gate_on"] = options.gate_on  # type: ignore[typeddict-item]  # checked with the others
    if options.min_support is not None:
        asked["min_support"] = options.min_support
    asked["no_excluded_class"] = options.no_excluded_class
    if found is not None:
        _told(asked, found, decided=not bound)
    if options.interval is not None:
        asked["interval"] = options.interval
    if options.min_contributors is not None:
        asked["min_contributors"] = options.min_contributors
    return wanted(asked)


def _told(asked: Asked, found: Claimed, *, decided: bool) -> None:
    """Take from a report how its statistics were made, and which there are."""
    asked["replicates"], asked["seed"] = _whole(found, "replicates"), _whole(found, "seed")
    candidates = [one for one in _list(found.get("candidates")) if isinstance(one, dict)]
    if decided:
        asked["min_contributors"] = _whole(found, "minContributors")
        if any(one.get("intervals") is not None for one in candidates):
            asked["interval"] = _decimal(found, "level")
    asked["calibration"] = any(one.get("calibration") is not None for one in candidates)
    asked["curves"] = any(one.get("riskCoverage") is not None for one in candidates)
    asked["certify"] = list(_claims(candidates[0])) if candidates else ()
    compared = found.get("comparison")
    if isinstance(compared, dict):
        asked["baseline"], asked["pair_by"] = _text(compared, "baseline"), _text(compared, "pairedBy")
        asked["margin"] = None if compared.get("margin") is None else _decimal(compared, "margin")


def _claims(one: Mapping[str, Any]) -> Iterator[str]:
    for claim in _list(one.get("certified")):
        if not isinstance(claim, dict):
            raise _senseless("must be an object", "certified", claim)
        yield f"precision>={_decimal(claim, 'target')}@{_decimal(claim, 'confidence')}"


def _whole(found: Mapping[str, Any], key: str) -> int:
    value = found.get(key)
    if type(value) is not int:
        raise _senseless("must be a whole number", key, value)
    return value


def _decimal(found: Mapping[str, Any], key: str) -> str:
    value = found.get(key)
    if not isinstance(value, float) or not 0 <= value <= 1:
        raise _senseless("must be a number from 0 to 1", key, value)
    return format(Decimal(repr(value)), "f")


def _text(found: Mapping[str, Any], key: str) -> str | None:
    value = found.get(key)
    if value is not None and not isinstance(value, str):
        raise _senseless("must be a text or null", key, value)
    return value


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _senseless(message: str, key: str, value: object) -> Refusal:
    return Refusal.of(Violation("verify-statistics", message, field=f"statistics.{key}", value=show(value)))
