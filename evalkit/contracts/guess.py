"""From the first records of a dump to a contract to edit: what can be told is told with its reason, the rest is named.

What is undecided is written so that reading the contract refuses it, with its line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from evalkit.contracts.contract import ARROW, BRISTOL, MAX_LABELS, SPLITS, Contract, Fields, SplitRule
from evalkit.contracts.contract_notes import NOTES, hexadecimal, limit_notes, split_notes
from evalkit.contracts.contract_toml import split_settings
from evalkit.contracts.guess_columns import Column, Columns, columns_of, nested, on_one_way
from evalkit.contracts.guess_fields import choose, listed, many
from evalkit.contracts.toml_text import layout
from evalkit.records.reader import Record, read_document
from evalkit.records.strict_json import show

FEW_KEYS = 8
"""Fewest keys of which it is no accident that their first bytes separate the splits."""

_STRATA = 50
"""Most values of a field that is named for ``--by``."""


@dataclass(frozen=True, slots=True)
class Guess:
    """A contract to edit.

    Attributes:
        records: How many records it was guessed from.
        settings: The value of each setting by its dotted path.
        notes: What each decision rests on, by setting.
        undecided: The settings that could not be told, with what they might be.
        remarks: What else there is to know.
    """

    records: int
    settings: dict[str, object] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    undecided: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)

    def to_toml(self) -> str:
        """Write the contract, with a comment on each decision."""
        head = [f"Guessed from {many(self.records, 'record')}. Check each setting before you use it.", *self.remarks]
        notes = self.notes | {name: f"undecided: {why}" for name, why in self.undecided.items()}
        return layout(self.settings, notes, "\n".join(head))


def guess(documents: Sequence[Mapping[str, Any]], *, flat: bool = False) -> Guess:
    """Guess a contract from records.

    Args:
        documents: Records as parsed from JSON.
        flat: Whether they are rows of a table, where a dotted column name is a path. In JSON no path leads to a name
            with a dot.

    >>> rows = [{"model": "a", "user": "u1", "fold": "test", "label": "cat", "pred": "dog", "conf": 0.5}]
    >>> found = guess(rows)
    >>> found.settings["fields.truth"], found.settings["labels.names"], found.undecided
    ('label', ['cat', 'dog'], {})
    """
    records = [nested(document) for document in documents] if flat else documents
    columns = columns_of(records)
    choices = choose(columns)
    chosen = {name: choices[name].column for name in asdict(BRISTOL.fields)}
    draft = Guess(len(records))
    _set(draft, "bins", BRISTOL.bins, NOTES["bins"])
    for name, column in chosen.items():
        _set(draft, f"fields.{name}", column.path if column else "", choices[name].note, told=column is not None)
    labels = _guess_labels(draft, [*choices["truth"].among, *choices["predicted"].among])
    rule = _guess_splits(draft, chosen["subject"], chosen["split"])
    for name, limit in BRISTOL.limits.items():
        _set(draft, f"limits.{name}", str(limit), limit_notes()[f"limits.{name}"])
    draft.notes.update({name: NOTES[name] for name in ("fields", "limits")})
    paths = {name: column.path for name, column in chosen.items() if column}
    if not draft.undecided:
        draft.remarks.append(_soundness(records, paths, labels, rule))
    draft.remarks.extend(_others(columns, list(paths.values())))
    return draft


def _set(draft: Guess, name: str, value: object, note: str, *, told: bool = True) -> None:
    draft.settings[name] = value
    (draft.notes if told else draft.undecided)[name] = note


def _guess_labels(draft: Guess, columns: Sequence[Column]) -> tuple[int, ...] | tuple[str, ...]:
    """Set the labels to all that were seen as truth or prediction."""
    found = {value for column in columns for value in column.distinct}
    numbers = sorted(value for value in found if isinstance(value, int))
    texts = sorted(value for value in found if isinstance(value, str))
    sound = tuple(text for text in texts if text.strip() and text.isprintable() and ARROW not in text)
    span = range(numbers[0], numbers[-1] + 1) if numbers else range(0)
    seen = many(draft.records, "record")
    if numbers and not texts and len(span) <= MAX_LABELS:
        _set(draft, "labels.from", span[0], f"seen in {seen}: widen the range where there may be others")
        _set(draft, "labels.to", span[-1], "")
        return tuple(span)
    if sound and not numbers and len(sound) <= MAX_LABELS:
        bad = [show(text) for text in texts if text not in sound]
        more = f" Left out, since evalkit takes no label that is blank, not printable or holds {ARROW}: " + listed(bad)
        words = f"the {many(len(sound), 'label')} seen in {seen}: add those that others hold." + (more if bad else "")
        _set(draft, "labels.names", list(sound), words)
        return sound
    why = "they follow from truth and predicted" if not columns else "what was seen makes no set of labels"
    if numbers and texts:
        why = "truth and predicted hold values of different types, texts and whole numbers"
    elif numbers:
        why = f"whole numbers from {span[0]} to {span[-1]} are more than {MAX_LABELS:,} labels; name them as texts"
    _set(draft, "labels.names", [], why, told=False)
    return ()


def _guess_splits(draft: Guess, subject: Column | None, split: Column | None) -> SplitRule | None:
    if subject is None or split is None:
        _set(draft, "splits.rule", "", "it follows from subject and split", told=False)
        return None
    rule, why = _rule(subject, split)
    for name, value in split_settings(rule).items():
        _set(draft, name, value, why if name == "splits.rule" else "")
    draft.notes.update(split_notes(rule))
    return rule


def _rule(subject: Column, split: Column) -> tuple[SplitRule | None, str]:
    """Return the rule by which keys derive the splits seen, or None, and the reason."""
    if not subject.is_hexadecimal:
        return None, "keys are not lower-case hexadecimal digits of one even length; only leaks are checked"
    pairs = {(subject.values[place], value) for place, value in split.values.items() if place in subject.values}
    first = {one: sorted(int(key[:2], 16) for key, value in pairs if value == one) for one in SPLITS}
    keys = many(len(subject.distinct), "key")
    usual = SplitRule(key_digits=len(next(iter(subject.distinct))))
    if all(byte in usual.bytes_of(one) for one, found in first.items() for byte in found):
        return usual, f"all of the {keys} seen derive their split by the usual limits"
    rule = _limits(first, usual) if len(pairs) >= FEW_KEYS else None
    seen = ", ".join(f"{hexadecimal(range(found[0], found[-1] + 1))} {one}" for one, found in first.items() if found)
    if rule is None:
        return (
            None,
            f"first bytes of the {keys} seen do not separate the splits; only leaks are checked",
        )
    return rule, f"first bytes of the {keys} seen: {seen}; the limits fit these, check them"


def _limits(first: Mapping[str, Sequence[int]], usual: SplitRule) -> SplitRule | None:
    """Return limits that separate the first bytes of the splits, the usual ones where they fit."""
    train, validation, test = (first[split] for split in SPLITS)
    if sum(bool(found) for found in (train, validation, test)) < 2:
        return None
    lowest = max(train, default=-1) + 1
    highest = min([*validation, *test, 254])
    least = max([*train, *validation, lowest]) + 1
    most = min([*test, 255])
    for train_below in (usual.train_below, highest, lowest):
        for validation_below in (usual.validation_below, most):
            fits = lowest <= train_below <= highest and least <= validation_below <= most
            if fits and train_below < validation_below:
                return SplitRule(train_below, validation_below, usual.key_digits)
    return None


def _soundness(
    records: Sequence[Mapping[str, Any]], paths: Mapping[str, str], labels: Any, rule: SplitRule | None
) -> str:
    """Read the records under the contract, and say whether they are sound."""
    contract = Contract(Fields(**paths), labels, rule)
    outcomes = [read_document(record, contract) for record in records]
    broken = [(place, found) for place, found in enumerate(outcomes, 1) if not isinstance(found, Record)]
    if not broken:
        return "All of them are sound under this contract."
    place, faults = broken[0]
    return f"{len(broken):,} of them are not sound under this contract; the first is record {place:,}: {faults[0]}"


def _others(columns: Columns, taken: Sequence[str]) -> Iterator[str]:
    """Name what may be a stratum, and what no path leads to."""
    free = {
        path: column
        for path, column in sorted(columns.known.items())
        if len(column.distinct) <= _STRATA and not any(on_one_way(path, other) for other in taken)
    }
    if free:
        shown = listed(f"{path} ({many(len(column.distinct), 'value')})" for path, column in free.items())
        yield f"Other fields, for --by: {shown}."
    if columns.unnamed:
        what = "hold a dot or what cannot be printed, or are too long"
        yield f"No dotted path leads to these names, since they {what}: {listed(map(show, columns.unnamed))}."
