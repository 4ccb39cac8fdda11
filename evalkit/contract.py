"""The contract: which fields a record has, which labels there are, how a key derives its split, what the gates ask."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from types import MappingProxyType

SPLITS = ("train", "validation", "test")
"""The three splits, in the order of their byte ranges."""

BRISTOL_LIMITS: Mapping[str, Decimal] = MappingProxyType(
    {"macroF1": Decimal("0.80"), "precisionAtCoverage": Decimal("0.90"), "ece": Decimal("0.05")}
)


@dataclass(frozen=True, slots=True)
class Fields:
    """Where in a record each thing stands, as dotted paths."""

    model: str = "model"
    subject: str = "subjectKey"
    split: str = "split"
    truth: str = "truth.bristolType"
    predicted: str = "prediction.bristolType"
    confidence: str = "prediction.confidence"

    @property
    def prediction(self) -> str:
        """The object that holds prediction and confidence, null where nothing was offered."""
        return self.predicted.rpartition(".")[0]


@dataclass(frozen=True, slots=True)
class SplitRule:
    """The split that a subject key derives from its first byte.

    Attributes:
        train_below: First bytes below this are ``train``.
        validation_below: First bytes from there to below this are ``validation``; the rest are ``test``.

    >>> rule = SplitRule()
    >>> [rule.derive(key) for key in ("cc00000000000000", "cd00000000000000", "e600000000000000")]
    ['train', 'validation', 'test']
    """

    train_below: int = 205
    validation_below: int = 230

    def derive(self, key: str) -> str:
        """Return the split of a key of lower-case hexadecimal digits."""
        byte = int(key[:2], 16)
        return "train" if byte < self.train_below else "validation" if byte < self.validation_below else "test"

    def bytes_of(self, split: str) -> range:
        """Return the first bytes whose keys belong to a split."""
        edges = (0, self.train_below, self.validation_below, 256)
        place = SPLITS.index(split)
        return range(edges[place], edges[place + 1])


@dataclass(frozen=True, slots=True)
class Contract:
    """All that a reader, a rule and a gate need to know of a dump.

    Attributes:
        fields: Where each thing stands in a record.
        labels: The labels, in order.
        split_rule: How a subject key derives its split.
        limits: The limit of each gate.
        bins: The number of equal-width confidence bins.

    >>> Contract().labels
    (1, 2, 3, 4, 5, 6, 7)
    """

    fields: Fields = Fields()
    labels: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7)
    split_rule: SplitRule = SplitRule()
    limits: Mapping[str, Decimal] = field(default_factory=lambda: BRISTOL_LIMITS)
    bins: int = 10


BRISTOL = Contract()
"""The contract that ships as the default."""
