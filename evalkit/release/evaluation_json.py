"""An evaluation as JSON: parsed so that what breaks a rule of JSON itself hides none of the other faults."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evalkit.errors import Refusal, Violation
from evalkit.families.observations.structure import Flawed, parse_flawed
from evalkit.records.strict_json import MAX_LINE, Beyond, decode, parse_sound

_MARK = b"\xef\xbb\xbf"
_METRICS = "metrics"


def parse_evaluation(raw: bytes, limit: int = MAX_LINE) -> tuple[Mapping[str, Any], Sequence[Violation]]:
    """Parse an evaluation, of so many bytes at most.

    Returns:
        The evaluation, of each key the first member; and what its keys, texts and numbers break, with its place.

    Raises:
        Refusal: It is no JSON object.

    >>> plain, faults = parse_evaluation(b'{"metrics": [{"value": 0.5, "value": NaN}]}')
    >>> plain["metrics"], [(fault.field, fault.rule) for fault in faults]
    ([{'value': 0.5}], [('metrics[0]', 'duplicate-key'), ('metrics[0]', 'json')])
    """
    try:
        text = decode(raw.removeprefix(_MARK), limit)
        plain = parse_sound(text)
        return (plain, []) if isinstance(plain, dict) and not _infinite(plain) else _flawed(text)
    except Refusal as refusal:
        said = (replace(one, message=one.message.replace("the line", "the document")) for one in refusal.violations)
        raise Refusal.of(*said) from None


def _infinite(plain: Mapping[str, Any]) -> bool:
    """Tell whether some metric holds a number that no float does, which is to be shown as it was written."""
    metrics = plain.get(_METRICS)
    found = [one for one in metrics if isinstance(one, dict)] if isinstance(metrics, list) else []
    return any(isinstance(one, float) and math.isinf(one) for metric in found for one in metric.values())


def _flawed(text: str) -> tuple[Mapping[str, Any], Sequence[Violation]]:
    plain, faults = parse_flawed(text, (_METRICS,))
    listed = plain.get(_METRICS)
    if isinstance(listed, list):
        for place, one in enumerate(listed):
            if isinstance(one, Flawed):
                faults += (replace(fault, field=f"{_METRICS}[{place}]") for fault in one.faults)
                listed[place] = one.value
    return _numbers(plain), faults


def _numbers(value: Any) -> Any:
    """Turn numbers that were kept as they were written into what they are, where a float or an integer holds them."""
    if isinstance(value, dict):
        return {key: _numbers(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_numbers(member) for member in value]
    return _number(value) if isinstance(value, Beyond) else value


def _number(written: Beyond) -> float | int | Beyond:
    if written.text.removeprefix("-").isdigit():
        return written if len(written.text) > 1000 else int(written.text)
    found = float(written.text)
    return found if math.isfinite(found) else written
