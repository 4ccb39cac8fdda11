"""The contract: which fields a record has, which labels there are, how a key derives its split, what the gates ask."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType

from evalkit.errors import Refusal, Violation

SPLITS = ("train", "validation", "test")
"""The three splits, in the order of their byte ranges."""

BRISTOL_LIMITS: Mapping[str, Decimal] = MappingProxyType(
    {"macroF1": Decimal("0.80"), "precisionAtCoverage": Decimal("0.90"), "ece": Decimal("0.05")}
)

MAX_LABELS = 10_000
"""Most labels of a contract."""

MAX_LABEL_BITS = 59
"""Most bits of a label: no column and no JSON reader has trouble with those."""

MAX_BINS = 1000
"""Most confidence bins of a contract."""

MAX_PLACES = 400
"""Most decimal places of a limit."""

ARROW = "->"
"""What joins two labels in the confusion matrix of a report, and so may stand in none."""


@dataclass(frozen=True)
class Fields:
    """Where in a record each thing stands, as dotted paths."""

    model: str = "model"
    subject: str = "subjectKey"
    split: str = "split"
    truth: str = "truth.bristolType"
    predicted: str = "prediction.bristolType"
    confidence: str = "prediction.confidence"

    @cached_property
    def prediction(self) -> str | None:
        """The object that holds predicted label and confidence and nothing else of the contract; None if there is none.

        Where there is one, it is null when nothing was offered. Where there is none, label and confidence both are.

        >>> Fields().prediction, Fields(predicted="guess", confidence="score").prediction
        ('prediction', None)
        """
        parent = self.predicted.rpartition(".")[0]
        if not parent or parent != self.confidence.rpartition(".")[0]:
            return None
        others = (self.model, self.subject, self.split, self.truth)
        return None if any(path.startswith(f"{parent}.") for path in others) else parent


@dataclass(frozen=True, slots=True)
class SplitRule:
    """The split that a subject key of lower-case hexadecimal digits derives from its first byte.

    Attributes:
        train_below: First bytes below this are ``train``.
        validation_below: First bytes from there to below this are ``validation``; the rest are ``test``.
        key_digits: How many digits a key has.

    >>> rule = SplitRule()
    >>> [rule.derive(key) for key in ("cc00000000000000", "cd00000000000000", "e600000000000000")]
    ['train', 'validation', 'test']
    """

    train_below: int = 205
    validation_below: int = 230
    key_digits: int = 16

    def derive(self, key: str) -> str:
        """Return the split of a key."""
        byte = int(key[:2], 16)
        return "train" if byte < self.train_below else "validation" if byte < self.validation_below else "test"

    def bytes_of(self, split: str) -> range:
        """Return the first bytes whose keys belong to a split."""
        edges = (0, self.train_below, self.validation_below, 256)
        place = SPLITS.index(split)
        return range(edges[place], edges[place + 1])


@dataclass(frozen=True)
class Contract:
    """All that a reader, a rule and a gate need to know of a dump.

    Attributes:
        fields: Where each thing stands in a record.
        labels: The labels in order: whole numbers without a gap, or texts.
        split_rule: How a subject key derives its split. None: splits are taken as declared, a key is any text that is
            not blank, and only leaks are checked.
        limits: The limit of each gate, a decimal from 0 to 1.
        bins: The number of equal-width confidence bins.
        scalars: Dotted paths of what is read besides, as texts, and may be absent: strata and quality.

    Raises:
        Refusal: The contract makes no sense; each violation names the field in question.

    >>> Contract().labels
    (1, 2, 3, 4, 5, 6, 7)
    >>> Contract(labels=("cat", "cat"))
    Traceback (most recent call last):
    ...
    evalkit.errors.Refusal: labels: no label may stand twice; found "cat" [contract]
    """

    fields: Fields = Fields()
    labels: tuple[int, ...] | tuple[str, ...] = (1, 2, 3, 4, 5, 6, 7)
    split_rule: SplitRule | None = SplitRule()
    limits: Mapping[str, Decimal] = field(default_factory=lambda: BRISTOL_LIMITS)
    bins: int = 10
    scalars: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        faults = [Violation("contract", message, field=where, value=value) for where, message, value in _problems(self)]
        if faults:
            raise Refusal.of(*faults)

    @cached_property
    def label_texts(self) -> tuple[str, ...]:
        """The labels as texts, in order."""
        return tuple(str(label) for label in self.labels)

    @cached_property
    def label_order(self) -> Mapping[str, int]:
        """The place of each label, by its text."""
        return {text: place for place, text in enumerate(self.label_texts)}

    @cached_property
    def label_kind(self) -> type:
        """The type of the labels: ``int`` or ``str``."""
        return type(self.labels[0])

    @cached_property
    def label_set(self) -> frozenset[int | str]:
        """The labels, for looking them up."""
        return frozenset(self.labels)

    @cached_property
    def key_pattern(self) -> re.Pattern[str] | None:
        """What a whole subject key matches; None where splits are declared."""
        return None if self.split_rule is None else re.compile(f"[0-9a-f]{{{self.split_rule.key_digits}}}")


Problem = tuple[str, str, str | None]
"""Where in a contract something is wrong, what, and the value found."""


def _problems(contract: Contract) -> Iterator[Problem]:
    yield from _field_problems(asdict(contract.fields))
    yield from _label_problems(contract.labels)
    if contract.split_rule is not None:
        yield from _split_problems(contract.split_rule)
    yield from _limit_problems(contract.limits)
    if type(contract.bins) is not int or not 1 <= contract.bins <= MAX_BINS:
        yield "bins", f"must be a whole number from 1 to {MAX_BINS}", _shown(contract.bins)
    yield from _scalar_problems(contract)


def _field_problems(paths: Mapping[str, str]) -> Iterator[Problem]:
    sound: dict[str, str] = {}
    for name, path in paths.items():
        here = f"fields.{name}"
        if not is_path(path):
            yield here, "must be the dotted path of a field, such as truth.label", _shown(path)
            continue
        for other, earlier in sound.items():
            if path == earlier:
                yield here, f"has the path of fields.{other}; each field stands in a place of its own", f'"{path}"'
            elif _on_one_way(path, earlier):
                yield here, f"and fields.{other} cannot both be there: one path leads through the other", f'"{path}"'
        sound[name] = path


def _scalar_problems(contract: Contract) -> Iterator[Problem]:
    fields = asdict(contract.fields)
    for place, path in enumerate(contract.scalars):
        if not is_path(path):
            yield "by", "must be the dotted path of a field, such as meta.device", _shown(path)
        elif any(_on_one_way(path, other) for other in fields.values()):
            yield "by", "is one of the contract's own fields, or stands above or below one", f'"{path}"'
        elif any(_on_one_way(path, other) for other in contract.scalars[:place]):
            yield "by", "is named twice, or leads through another that is named", f'"{path}"'


def _on_one_way(path: str, other: str) -> bool:
    return f"{path}.".startswith(f"{other}.") or f"{other}.".startswith(f"{path}.")


def is_path(path: object) -> bool:
    """Tell whether a value is a dotted path: names joined by dots, none of them empty.

    >>> is_path("truth.label"), is_path("truth..label")
    (True, False)
    """
    return isinstance(path, str) and len(path) <= 1000 and path.isprintable() and all(path.split("."))


def distinct(paths: str | Iterable[str]) -> tuple[str, ...]:
    """Return one path, or several, each once.

    >>> distinct("site"), distinct(["site", "device", "site"])
    (('site',), ('site', 'device'))
    """
    return (paths,) if isinstance(paths, str) else tuple(dict.fromkeys(paths))


def _label_problems(labels: tuple[object, ...]) -> Iterator[Problem]:
    if not labels or len(labels) > MAX_LABELS:
        yield "labels", f"must be from 1 to {MAX_LABELS:,} labels", f"{len(labels):,}"
    elif any(isinstance(label, int) and label.bit_length() > MAX_LABEL_BITS for label in labels):
        yield "labels", "whole numbers must have at most 18 digits", None
    elif all(type(label) is int for label in labels):
        if any(later - label != 1 for label, later in pairwise(labels)):  # type: ignore[operator]
            yield "labels", "whole numbers must follow each other without a gap; name others as texts", None
    elif all(isinstance(label, str) for label in labels):
        seen = set()
        for label in labels:
            text = str(label)
            if text in seen:
                yield "labels", "no label may stand twice", f'"{text}"'
            elif not text.strip() or not text.isprintable():
                yield "labels", "must be texts of printable characters, not blank", _shown(label)
            elif ARROW in text:
                yield "labels", f"no label may hold {ARROW}, which joins two labels in a report", f'"{text}"'
            seen.add(text)
    else:
        yield "labels", "must be whole numbers, or texts", None


def _split_problems(rule: SplitRule) -> Iterator[Problem]:
    limits = {"train_below": rule.train_below, "validation_below": rule.validation_below}
    bad = {name: limit for name, limit in limits.items() if type(limit) is not int or not 0 <= limit <= 255}
    for name, limit in bad.items():
        yield f"splits.{name}", "must be a whole number from 0 to 255: the value of a byte", _shown(limit)
    if not bad and rule.validation_below <= rule.train_below:
        message = f"must be above train_below, {rule.train_below}; else train and validation overlap"
        yield "splits.validation_below", message, str(rule.validation_below)
    if type(rule.key_digits) is not int or not 2 <= rule.key_digits <= 128 or rule.key_digits % 2:
        yield "splits.key_digits", "must be an even number from 2 to 128", _shown(rule.key_digits)


def _limit_problems(limits: Mapping[str, object]) -> Iterator[Problem]:
    for name in BRISTOL_LIMITS:
        limit = limits.get(name)
        if not is_limit(limit):
            found = "nothing" if limit is None else _cut(str(limit))
            yield f"limits.{name}", "must be a decimal from 0 to 1, such as 0.80", found
    for name in limits:
        if name not in BRISTOL_LIMITS:
            yield f"limits.{name}", f"there is no such gate; there are {', '.join(BRISTOL_LIMITS)}", None


def is_limit(value: object) -> bool:
    """Tell whether a value is a decimal from 0 to 1, with no more places than a fraction can be made of."""
    if not isinstance(value, Decimal) or not value.is_finite() or not 0 <= value <= 1:
        return False
    return int(value.as_tuple().exponent) >= -MAX_PLACES


def _shown(value: object) -> str:
    """Show a value, cut short. A whole number of thousands of digits is none that Python writes."""
    if isinstance(value, int) and value.bit_length() > 1000:
        return "a number of hundreds of digits"
    return _cut(repr(value))


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"


BRISTOL = Contract()
"""The contract that ships as the default."""
