"""Settings as flat text, and which way one moved: a limit that was loosened since an earlier run must not go unsaid."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from evalkit.contracts.contract import Contract
from evalkit.contracts.contract_toml import write_contract
from evalkit.contracts.policy import Policy
from evalkit.families.probability.defaults import BINS, SUM_TOLERANCE
from evalkit.families.ranking.metrics import MAX_GRADE
from evalkit.metric import Direction
from evalkit.nights.job import DIRECTIONS, Kind, Task
from evalkit.nights.verdict import Change
from evalkit.report import document

Settings = Mapping[str, str]

_DEFAULTS: Mapping[Kind, Settings] = {
    "compare": {"by": "", "synthetic": "false"},
    "evaluate": {"bins": str(BINS), "sum_tolerance": f"{Decimal(SUM_TOLERANCE):f}", "synthetic": "false"},
    "measure": {"max_grade": str(MAX_GRADE), "drop_queries_without_relevant": "false"},
}


def settings_of(task: Task, contract: Contract | None, policy: Policy | None) -> dict[str, str]:
    """Return all that is asked of an evaluation, its inputs aside, by the name of each setting; defaults are said too.

    How much gold may be held in memory is no setting: it changes no number.
    """
    found: dict[str, str] = {"kind": task.kind, **_DEFAULTS[task.kind]}
    found |= {name: amount.text for name, amount in task.amounts.items()}
    found |= {name: _text(value) for name, value in task.options.items() if name != "max_gold"}
    if contract is not None:
        found |= dict(_flat("contract", tomllib.loads(write_contract(contract))))
    if policy is not None:
        terms = document(policy.terms) | {"confidenceFloor": f"{policy.confidence_floor:f}"}
        found |= dict(_flat("policy", terms))
    found |= {f"gates.{name}": amount.text for name, amount in task.gates.items()}
    if task.baseline is not None:
        found["baseline.against"] = task.baseline.against
        found |= {f"baseline.margins.{name}": amount.text for name, amount in task.baseline.margins.items()}
    return dict(sorted(found.items()))


def _flat(before: str, table: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        name = f"{before}.{key}"
        if isinstance(value, dict):
            yield from _flat(name, value)
        else:
            yield name, _text(value)


def _text(value: object) -> str:
    """Write a setting: truth values as TOML does, the items of a list one after the other."""
    if isinstance(value, bool):
        return str(value).lower()
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def changes(before: Settings, now: Settings, since: str) -> tuple[Change, ...]:
    """Compare the settings of two runs.

    >>> for one in changes({"min_coverage": "0.5"}, {"min_coverage": "0.4", "bins": "10"}, "2026-01-30"):
    ...     print(one.setting, one.before, one.now, one.kind)
    bins None 10 changed
    min_coverage 0.5 0.4 loosened
    """
    names = sorted(before.keys() | now.keys())
    return tuple(
        Change(name, since, before.get(name), now.get(name), _moved(name, before, now))
        for name in names
        if not _same(before.get(name), now.get(name))
    )


def _same(before: str | None, now: str | None) -> bool:
    """Tell whether two settings say the same; 0.80 is 0.8."""
    if before == now:
        return True
    numbers = _number(before), _number(now)
    return None not in numbers and numbers[0] == numbers[1]


def _moved(name: str, before: Settings, now: Settings) -> str:
    if name == "contract.splits.rule" and now.get(name) == "declared":  # then no split is derived, and none is checked
        return "loosened"
    strict = _strict_side(name, now.get("kind", ""))
    if strict is None:
        return "changed"
    if strict == "fewer":
        return _moved_list(before.get(name), now.get(name))
    if name not in before or name not in now:
        return "tightened" if name in now else "loosened"  # a gate that is gone lets all pass
    numbers = _number(before[name]), _number(now[name])
    if numbers[0] is None or numbers[1] is None:
        return "changed"
    return "tightened" if (numbers[1] > numbers[0]) == (strict == "higher") else "loosened"


def _moved_list(before: str | None, now: str | None) -> str:
    """Judge a list of what is accepted; where there is no list, all is."""
    if before is None or now is None:
        return "tightened" if before is None else "loosened"
    old, new = set(before.split(", ")), set(now.split(", "))
    return "tightened" if new < old else "loosened" if new > old else "changed"


def _strict_side(name: str, kind: str) -> str | None:
    """Tell which side of a setting lets less pass: ``higher``, ``lower``, ``fewer``; None where neither can be told."""
    if name in ("min_coverage", "policy.confidenceFloor"):
        return "higher"
    if name == "sum_tolerance" or name.startswith("baseline.margins."):
        return "lower"
    if name == "policy.acceptedQuality":
        return "fewer"
    group, _, metric = name.rpartition(".")
    if group in ("contract.limits", "gates"):
        return _direction(metric, kind)
    return None


def _direction(metric: str, kind: str) -> Direction | None:
    found = next((own for known, own in DIRECTIONS.items() if known == kind), {})
    return found.get(metric)


def _number(text: str | None) -> Fraction | None:
    try:
        return None if text is None else Fraction(text)
    except (ValueError, ZeroDivisionError):
        return None
