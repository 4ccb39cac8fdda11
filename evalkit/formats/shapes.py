"""Learn the shapes of a dump's records: which keys stand in which order, from lines that the exact reader accepts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from evalkit.contracts.contract import Contract
from evalkit.records.reader import Record, names, read_line

MAX_SHAPES = 8
"""Most key orders that are tried one by one."""

RARE = 0.05
"""Share of the sample below which a key order is not worth a pattern: the grammar without an order reads those."""

MAX_NESTED = 3
"""Deepest nesting of what is learned: patterns grow with the power of it, since an array writes its element twice."""

Shape = tuple[tuple[str, Any], ...]
"""An object's keys in order, each with ``SCALAR``, a nested shape, ``Items``, or None for a null prediction."""

SCALAR = "scalar"

Path = tuple[str | None, ...]
"""The keys that lead to a value, from the outermost; ``ITEM`` for the elements of an array."""

ITEM = None


@dataclass(frozen=True, slots=True)
class Learned:
    """What sample lines taught.

    Attributes:
        common: The shapes that deserve a pattern of their own, the most frequent first.
        rare: The other shapes.
        models: The names of the models seen, sorted.
    """

    common: tuple[Shape, ...]
    rare: tuple[Shape, ...]
    models: tuple[str, ...]


def learn(sample: Iterable[bytes], contract: Contract) -> Learned:
    """Learn shapes and names from lines; those that are no valid records teach nothing."""
    shapes: Counter[Shape] = Counter()
    models = set()
    for raw in sample:
        record = read_line(raw, contract)
        if isinstance(record, Record):
            models.add(record.model)
            shape = shape_of(raw, contract)
            if shape is not None:
                shapes[shape] += 1
    common, rare = _by_frequency(_merge_gaps(shapes))
    return Learned(tuple(common), tuple(rare), tuple(sorted(models)))


@dataclass(frozen=True, slots=True)
class Items:
    """An array whose elements all look alike."""

    element: Any


class UnlearnableError(Exception):
    """The line holds something that no pattern of this module describes."""


def shape_of(raw: bytes, contract: Contract) -> Shape | None:
    """Return the shape of a line that the exact reader accepted, or None where no pattern could describe it."""
    # Numbers stay text: their values do not matter here, and Python refuses to read thousands of digits.
    pairs = json.loads(raw.decode("utf-8"), object_pairs_hook=tuple, parse_int=str, parse_float=str)
    try:
        container = contract.fields.prediction
        shape: Shape = _shape(pairs, (), None if container is None else names(container), MAX_NESTED)
    except UnlearnableError:
        return None
    return shape


def _shape(value: Any, path: Path, prediction: Path | None, depth: int) -> Any:
    if isinstance(value, tuple | list) and depth < 0:
        raise UnlearnableError
    if isinstance(value, tuple):
        return tuple((key, _shape(member, (*path, key), prediction, depth - 1)) for key, member in value)
    if isinstance(value, list):
        elements = [_shape(element, (*path, ITEM), prediction, depth - 1) for element in value] or [SCALAR]
        if any(element != elements[0] for element in elements):
            raise UnlearnableError
        return Items(elements[0])
    return None if value is None and path == prediction else SCALAR


def generic_shape(value: Any, depth: int) -> Any:
    """Return the shape of a value that was parsed with its objects as pairs.

    Raises:
        UnlearnableError: No pattern could describe it.
    """
    return _shape(value, (), None, depth)


def _merge_gaps(shapes: Counter[Shape]) -> Counter[Shape]:
    """Count a shape with a null prediction as one that is alike but for it, where there is one."""
    full = [shape for shape in shapes if not has_gap(shape)]
    merged: Counter[Shape] = Counter()
    for shape, count in shapes.items():
        home = next((one for one in full if _fits(shape, one)), shape) if has_gap(shape) else shape
        merged[home] += count
    return merged


def _by_frequency(shapes: Counter[Shape]) -> tuple[list[Shape], list[Shape]]:
    """Part the shapes that deserve a pattern of their own from the others; the most frequent first."""
    ordered = sorted(shapes, key=lambda shape: (-shapes[shape], repr(shape)))
    least = RARE * shapes.total()
    common = [shape for shape in ordered[:MAX_SHAPES] if shapes[shape] >= least]
    return common, ordered[len(common) :]


def has_gap(shape: Any) -> bool:
    """Tell whether a shape has a null prediction in it, whose keys are not known."""
    return isinstance(shape, tuple) and any(member is None or has_gap(member) for _, member in shape)


def _fits(gap: Any, shape: Any) -> bool:
    if gap is None or gap == shape:
        return True
    if not (isinstance(gap, tuple) and isinstance(shape, tuple) and len(gap) == len(shape)):
        return False
    return all(a == b and _fits(x, y) for (a, x), (b, y) in zip(gap, shape, strict=True))
