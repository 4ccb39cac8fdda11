"""A contract as TOML: read with all that is wrong said at once, and written with a comment beside each setting."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from evalkit.contracts.contract import BRISTOL, BRISTOL_LIMITS, MAX_BINS, MAX_LABELS, Contract, Fields, SplitRule
from evalkit.contracts.contract_notes import NOTES, limit_notes, split_notes
from evalkit.contracts.toml_lines import cut, load_toml, show_value
from evalkit.contracts.toml_text import layout
from evalkit.errors import Ledger, Refusal, Violation
from evalkit.exact import unit_fraction
from evalkit.sources.source import label

RULE = "contract"
KEY, DECLARED = "key", "declared"
"""The two split rules: derived from the key, or as the record declares it."""

LIMITS_OF_BYTES = ("train_below", "validation_below", "key_digits")

SETTINGS: Mapping[str, tuple[str, ...]] = {
    "fields": tuple(asdict(BRISTOL.fields)),
    "labels": ("from", "to", "names"),
    "splits": ("rule", *LIMITS_OF_BYTES),
    "limits": tuple(BRISTOL_LIMITS),
}
"""The tables of a contract and the keys that each may have; ``bins`` stands above them."""

_HINTS = 100
_LABELS = range(-(10**18) + 1, 10**18)


def read_contract(path: str | os.PathLike[str]) -> Contract:
    """Read a contract. What it leaves out is as in the default one.

    Args:
        path: A TOML file; ``evalkit contract show`` prints one to edit.

    Raises:
        Refusal: The file cannot be read, or the contract makes no sense. Everything that is wrong is said at once,
            each with its line.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "my.toml")
    ...     _ = path.write_text('labels = {names = ["cat", "dog"]}')
    ...     read_contract(path).labels
    ('cat', 'dog')
    """
    path = os.fspath(path)
    data, locate = load_toml(path, RULE)
    settings = _Settings(data)
    contract = settings.contract()
    if contract is None:
        placed = sorted(((locate(one.field or "") or 1, one) for one in settings.faults), key=lambda pair: pair[0])
        found = (replace(one, file=label(path), line=line, field=cut(one.field or "")) for line, one in placed)
        raise Refusal.from_ledger(Ledger.of((one,) for one in found))
    return contract


class _Settings:
    """Takes settings out of parsed TOML, and notes what is wrong with each; a sound one stands in for a broken one."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self.faults: list[Violation] = []
        self._tables = {name: self._table(name) for name in SETTINGS}

    def contract(self) -> Contract | None:
        """Return the contract, or None where anything is wrong."""
        self._check_names("", self._data, ("bins", *SETTINGS))
        bins = self._whole("bins", self._data.get("bins", BRISTOL.bins), BRISTOL.bins, range(1, MAX_BINS + 1))
        fields, labels, rule, limits = self._fields(), self._labels(), self._split_rule(), self._limits()
        broken = {fault.field for fault in self.faults}
        if "splits.train_below" in broken:
            broken.add("splits.validation_below")  # is compared with it
        try:
            contract = Contract(fields, labels, rule, limits, bins)
        except Refusal as refusal:
            self.faults += [self._sharpened(one) for one in refusal.violations if one.field not in broken]
        return None if self.faults else contract

    def _note(self, field: str, message: str, value: object = None) -> None:
        shown = None if value is None else show_value(value)
        self.faults.append(Violation(RULE, message, field=field, value=shown))

    def _sharpened(self, fault: Violation) -> Violation:
        """Name the setting that a fault of the whole contract comes from, and cut its value short."""
        table, _, name = (fault.field or "").partition(".")
        if table == "labels":
            return replace(fault, field="labels.names", value=fault.value and cut(fault.value))
        if name not in self._tables[table]:
            return replace(fault, message=f"{fault.message}; it is left out here, so this is the default")
        return replace(fault, value=show_value(self._tables[table][name]))

    def _table(self, name: str) -> Mapping[str, Any]:
        table = self._data.get(name, {})
        if not isinstance(table, dict):
            self._note(name, f"must be a table; write [{name}] and its settings below it", table)
            return {}
        self._check_names(f"{name}.", table, SETTINGS[name])
        return table

    def _check_names(self, place: str, table: Mapping[str, Any], known: Sequence[str]) -> None:
        for name in table:
            if name in known:
                continue
            near = get_close_matches(name, known, 1) if len(name) <= 40 and len(self.faults) < _HINTS else []
            hint = f"; did you mean {near[0]}?" if near else f"; there are {', '.join(known)}"
            hint = "; it must stand above the first [table]" if place and name == "bins" else hint
            self._note(f"{place}{name}", f"is no setting{hint}")

    def _fields(self) -> Fields:
        paths = {}
        for name, default in asdict(BRISTOL.fields).items():
            paths[name] = self._tables["fields"].get(name, default)
            if not isinstance(paths[name], str):
                self._note(f"fields.{name}", "must be a text: the dotted path of a field", paths[name])
                paths[name] = f"(no {name})"  # clashes with no other path
        return Fields(**paths)

    def _labels(self) -> tuple[int, ...] | tuple[str, ...]:
        table = self._tables["labels"]
        ends = [name for name in ("from", "to") if name in table]
        if "names" in table:
            for name in ends:
                self._note(f"labels.{name}", "stands beside names; give names alone, or from and to")
            return self._names(table["names"])
        if len(ends) == 1:
            self._note(f"labels.{ends[0]}", f'needs "{"to" if ends == ["from"] else "from"}" beside it')
        faults = len(self.faults)
        low, high = (self._whole(f"labels.{name}", table[name], 0) for name in ends) if len(ends) == 2 else (0, 0)
        if len(self.faults) > faults or not ends:
            return BRISTOL.labels
        if low <= high < low + MAX_LABELS:
            return tuple(range(low, high + 1))
        message = f"with from, {low}, must make at most {MAX_LABELS:,} labels"
        self._note("labels.to", message if low < high else f"must not be below from, {low}", high)
        return BRISTOL.labels

    def _names(self, names: object) -> tuple[int, ...] | tuple[str, ...]:
        if not isinstance(names, list):
            self._note("labels.names", "must be an array of texts", names)
            return BRISTOL.labels
        other = [name for name in names if not isinstance(name, str)]
        for name in other:
            self._note("labels.names", "must be texts; put each in quotes, or use from and to", name)
        return BRISTOL.labels if other else tuple(names)

    def _split_rule(self) -> SplitRule | None:
        table = self._tables["splits"]
        rule = table.get("rule", KEY)
        given = {name: table[name] for name in LIMITS_OF_BYTES if name in table}
        if rule == DECLARED:
            for name in given:
                self._note(f"splits.{name}", f'means nothing with rule = "{DECLARED}"; leave it out')
            return None
        if rule != KEY:
            self._note("splits.rule", f'must be "{KEY}" or "{DECLARED}"', rule)
        allowed = {"train_below": range(256), "validation_below": range(256), "key_digits": range(2, 129, 2)}
        default = SplitRule()
        numbers = {
            name: self._whole(f"splits.{name}", value, getattr(default, name), allowed[name])
            for name, value in given.items()
        }
        return SplitRule(**numbers)

    def _whole(self, field: str, value: object, instead: int, allowed: range = _LABELS) -> int:
        if type(value) is int and value in allowed:
            return value
        kind = "an even number" if allowed.step == 2 else "a whole number"
        bounds = "of at most 18 digits" if allowed == _LABELS else f"from {allowed[0]} to {allowed[-1]}"
        self._note(field, f"must be {kind} {bounds}", value)
        return instead

    def _limits(self) -> Mapping[str, Decimal]:
        limits = dict(BRISTOL_LIMITS)
        for name, value in self._tables["limits"].items():
            if name not in limits:
                continue
            text = value if isinstance(value, str) else show_value(value)
            if isinstance(value, Decimal) and value.is_finite():
                text = format(value, "f")
            try:
                unit_fraction(text, RULE)
                limits[name] = Decimal(text)
            except Refusal as refusal:
                self._note(f"limits.{name}", refusal.violations[0].message, value)
        return limits


def write_contract(contract: Contract) -> str:
    """Write a contract as TOML, ready to edit; ``read_contract`` gives an equal one.

    >>> print(write_contract(Contract(labels=("cat", "dog"), split_rule=None)).partition("[labels]")[2])
    <BLANKLINE>
    names = ["cat", "dog"]
    <BLANKLINE>
    ...
    """
    values: dict[str, object] = {f"fields.{name}": path for name, path in asdict(contract.fields).items()}
    values |= label_settings(contract.labels) | split_settings(contract.split_rule)
    values |= {f"limits.{name}": format(limit.copy_abs(), "f") for name, limit in contract.limits.items()}
    head = "A contract: what a record holds, and what is asked of a candidate. What is left out is as in the default."
    return layout(
        {"bins": contract.bins, **values}, {**NOTES, **limit_notes(), **split_notes(contract.split_rule)}, head
    )


def label_settings(labels: Sequence[int] | Sequence[str]) -> dict[str, object]:
    """Return the settings that name labels."""
    if labels and isinstance(labels[0], int):
        return {"labels.from": labels[0], "labels.to": labels[-1]}
    return {"labels.names": list(labels)}


def split_settings(rule: SplitRule | None) -> dict[str, object]:
    """Return the settings of a split rule."""
    if rule is None:
        return {"splits.rule": DECLARED}
    return {"splits.rule": KEY, **{f"splits.{name}": value for name, value in asdict(rule).items()}}
