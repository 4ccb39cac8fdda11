"""What makes an evaluation unfit to be judged: every fault of its header and of its metrics.

The evaluation may come from anywhere: only what readiness rests on is looked at, and that strictly. A truth value is
no number, and a number that no float holds is none either.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from evalkit.errors import Violation
from evalkit.families.observations.document import DEVELOPMENT
from evalkit.records.rules import is_name
from evalkit.records.strict_json import show
from evalkit.release.conditions import LIMITS, MERGES, RATES, Key, folded

EVALUATION = "evalkit-measurement-v1"

_IDS = ("run_id", "model_revision", "dataset_id")
_SHA256 = re.compile("[0-9a-f]{64}")
_SYNTHETIC = "synthetic"

Metrics = dict[Key, Mapping[str, Any]]


def examine(evaluation: Mapping[str, Any]) -> tuple[Metrics, list[Violation]]:
    """Find every fault of an evaluation, given as plain data.

    Returns:
        The metrics that have a name of their own, and the faults with the fields that they are in.

    >>> metrics, faults = examine({"synthetic": True, "metrics": []})
    >>> [fault.rule for fault in faults]
    ['missing-id', 'missing-id', 'missing-id', 'evidence-digest', 'synthetic-run', 'development-run']
    """
    faults = list(_header(evaluation))
    metrics: Metrics = {}
    listed = evaluation.get("metrics")
    if not isinstance(listed, list):
        message = "must be an array of metrics"
        return metrics, [*faults, _violation("metrics", message, "metrics", evaluation)]
    for place, metric in enumerate(listed):
        faults += _metric(metric, f"metrics[{place}]", metrics)
    return metrics, faults


def _header(evaluation: Mapping[str, Any]) -> Iterator[Violation]:
    if "schema" in evaluation and evaluation["schema"] != EVALUATION:
        yield _violation("report-schema", f"must be {EVALUATION}, where there is one", "schema", evaluation)
    for name in _IDS:
        if not is_name(evaluation.get(name)):
            yield _violation("missing-id", "must be a text of more than white space", name, evaluation)
    digest = evaluation.get("evidence_sha256")
    if not isinstance(digest, str) or not _SHA256.fullmatch(digest):
        message = "must be a SHA-256 of 64 lower-case hexadecimal digits"
        yield _violation("evidence-digest", message, "evidence_sha256", evaluation)
    if evaluation.get("synthetic") is not False:
        message = "must be false: a synthetic example says nothing about a real model"
        yield _violation("synthetic-run", message, "synthetic", evaluation)
    if evaluation.get("stage") == _SYNTHETIC:
        yield _violation("synthetic-run", "must be the stage of a real run", "stage", evaluation)
    yield from _split(evaluation)


def _split(evaluation: Mapping[str, Any]) -> Iterator[Violation]:
    split = evaluation.get("split")
    if not is_name(split) or folded(str(split)) == DEVELOPMENT:
        message = "must name a held-out split: a development run has seen its sources"
        yield _violation("development-run", message, "split", evaluation)
    sources, seen = (evaluation.get(name) for name in ("source_ids", "development_source_ids"))
    if isinstance(sources, list) and isinstance(seen, list):
        shared = [one for one in sources if isinstance(one, str) and one in seen]
        if shared:
            message = "must hold none of development_source_ids"
            yield Violation("development-run", message, field="source_ids", value=show(shared[0]))


def _metric(metric: object, path: str, metrics: Metrics) -> Iterator[Violation]:
    """Judge one metric, and note it under its key where that is its own."""
    if not isinstance(metric, dict):
        yield Violation("metrics", "must be an object", field=path, value=_shown(metric))
        return
    name, system = metric.get("name"), metric.get("system")
    if not is_name(name):
        yield _violation("metric-name", "must be a text of more than white space", "name", metric, path)
        return
    if system is not None and not is_name(system):
        yield _violation("metric-name", "must be a text of more than white space, or null", "system", metric, path)
        return
    key = (folded(str(name)), None if system is None else folded(str(system)))
    if key in metrics:
        yield Violation("duplicate-metric", "no metric may stand twice for one system", field=path, value=show(name))
    metrics.setdefault(key, metric)
    yield from _value(metric, key, path)
    yield from _sample_size(metric, key, path)
    yield from _limit(metric, key, path)


def _value(metric: Mapping[str, Any], key: Key, path: str) -> Iterator[Violation]:
    value = metric.get("value")
    if value is None:
        return
    if key[0] == MERGES:
        valid, message = type(value) is int and value >= 0, "must be a whole number from 0, without fraction, or null"
    elif key[0] in RATES:
        valid, message = _is_number(value) and value >= 0, "must be a number from 0, or null where nothing was measured"
    else:
        valid = _is_number(value) and 0 <= value <= 1
        message = "must be a fraction from 0 to 1, or null where nothing was measured"
    if not valid:
        yield _violation("metric-value", message, "value", metric, path)


def _sample_size(metric: Mapping[str, Any], key: Key, path: str) -> Iterator[Violation]:
    size = metric.get("sample_size")
    fraction = key[0] != MERGES and key[0] not in RATES
    if fraction and metric.get("value") is not None:
        if type(size) is not int or size < 1:
            message = "must be a whole number above 0 where there is a value"
            yield _violation("sample-size", message, "sample_size", metric, path)
    elif size is not None and (type(size) is not int or size < 0):
        yield _violation("sample-size", "must be a whole number from 0", "sample_size", metric, path)


def _limit(metric: Mapping[str, Any], key: Key, path: str) -> Iterator[Violation]:
    """Judge what a metric says of its limit: where the program has one, nothing else."""
    threshold, limit = metric.get("threshold"), LIMITS.get(key[0])
    if threshold is not None and not _is_number(threshold):
        yield _violation("threshold", "must be a number, or null", "threshold", metric, path)
    elif threshold is not None and limit is not None and threshold != limit.value:
        message = f"must be the fixed limit {limit.value:g}"
        yield _violation("threshold", message, "threshold", metric, path)
    direction = metric.get("direction")
    if limit is not None and direction is not None and direction != limit.direction:
        yield _violation("direction", f"must be {limit.direction}", "direction", metric, path)


def _is_number(value: object) -> bool:
    """Tell whether a value is a number that a float holds, and no truth value."""
    if type(value) is int:
        return abs(value) < 2**1023
    return isinstance(value, float) and math.isfinite(value)


def _violation(rule: str, message: str, name: str, holder: Mapping[str, Any], path: str = "") -> Violation:
    shown = _shown(holder[name]) if name in holder else None
    missing = "" if name in holder else ", and is missing"
    return Violation(rule, message + missing, field=f"{path}.{name}" if path else name, value=shown)


def _shown(value: object) -> str:
    """Show a value, which in plain data may be one that JSON does not know."""
    try:
        return show(value)
    except (TypeError, ValueError):
        return type(value).__name__
