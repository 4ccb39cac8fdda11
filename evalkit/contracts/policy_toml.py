"""A policy as TOML: read strictly, and every fault named with its line."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import fields, replace
from decimal import Decimal
from typing import Any

from evalkit.contracts.policy import Policy
from evalkit.contracts.toml_lines import load_toml
from evalkit.errors import Refusal, Violation
from evalkit.exact import unit_fraction
from evalkit.sources.source import label

KEYS = tuple(one.name for one in fields(Policy))
"""The keys of a policy file."""


def read_policy(path: str | os.PathLike[str]) -> Policy:
    """Read the policy that a TOML file holds.

    The floor may be written as a number or as text; either is taken as the decimal that stands there.

    Raises:
        Refusal: The file cannot be read, is no TOML, or the policy in it makes no sense. Everything that is wrong is
            said at once, with its line.
    """
    path = os.fspath(path)
    data, line = load_toml(path, "policy")
    faults = [
        Violation("policy", f"there is no such key; there are {', '.join(KEYS)}", field=key)
        for key in data
        if key not in KEYS
    ]
    policy = None
    try:
        policy = _policy(data)
    except Refusal as refusal:
        faults = [*refusal.violations, *faults]
    if policy is not None and not faults:
        return policy
    placed = [replace(fault, file=label(path), line=line(fault.field or "")) for fault in faults]
    raise Refusal.of(*sorted(placed, key=lambda fault: fault.line or 0))


def _policy(data: Mapping[str, Any]) -> Policy:
    qualities = data.get("accepted_quality")
    return Policy(
        _decimal(data.get("confidence_floor")),  # the policy itself finds out what is no decimal, no list, no table
        tuple(qualities) if isinstance(qualities, list) else qualities,  # type: ignore[arg-type]
        data.get("quality_field"),  # type: ignore[arg-type]
        data.get("refusal"),  # type: ignore[arg-type]
    )


def _decimal(value: Any) -> Any:
    """Return the decimal that a TOML value says, or the value itself where it says none from 0 to 1."""
    if isinstance(value, str):
        try:
            unit_fraction(value, "policy")
        except Refusal:
            return value
        return Decimal(value)
    return Decimal(value) if type(value) is int and value in (0, 1) else value
