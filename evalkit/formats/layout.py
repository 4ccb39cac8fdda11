"""From the columns of a table to where each field of the contract stands in it, or what hinders that.

A dotted path is a column of that very name, or leads from a column through the fields of its structs. Nothing here
knows a library of tables: a column's type is told by its ``Kind``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import product

from evalkit.contracts.contract import Contract, Fields
from evalkit.errors import Violation
from evalkit.formats.grammar import scalar
from evalkit.records.reader import names
from evalkit.sources.dataset import Hive


@dataclass(frozen=True, slots=True)
class Kind:
    """What the values of a column are.

    Attributes:
        name: ``text``, ``whole``, ``float``, ``truth`` (true or false), ``time``, ``null`` (nothing but nulls),
            ``struct``, ``cell`` (a text that spells a value, as in CSV) or ``other``.
        told: The type as its library calls it.
        members: The fields of a struct.
    """

    name: str
    told: str
    members: Mapping[str, Kind] | None = None


CELL = Kind("cell", "text")

_NEEDED: Mapping[str, tuple[frozenset[str], str]] = {
    "text": (frozenset({"text"}), "texts"),
    "whole": (frozenset({"whole", "float"}), "whole numbers"),
    "number": (frozenset({"whole", "float"}), "numbers"),
    "scalar": (frozenset({"text", "whole", "float", "truth", "time"}), "texts, numbers, truth values, dates or times"),
}


@dataclass(frozen=True, slots=True)
class Column:
    """Where one field of the contract stands.

    Attributes:
        path: The dotted path in the contract.
        way: The column, and the fields of structs that lead on from it.
        kind: What stands at the end of the way.
        covered: How many names of the path the way covers: all, but where it ends in a column of nothing but nulls.
        first: How many names of the path the name of the column covers.
    """

    path: str
    way: tuple[str, ...]
    kind: Kind
    covered: int
    first: int

    def names_to(self, depth: int) -> tuple[str, ...]:
        """Return the names of the path that so many steps of the way cover."""
        return names(self.path)[: self.first + depth - 1]


class _SideBySide(Fields):
    """Fields whose label and confidence are columns of their own, so that no object is null, but both of them."""

    @cached_property
    def prediction(self) -> str | None:
        """There is no such object."""
        return None


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything stands.

    Attributes:
        contract: What a row must hold, as it is laid out here.
        columns: The fields of the contract by role: ``model`` … ``confidence``, ``scalar_0`` …; a scalar may be absent.
        hive: The columns of the contract that the names of folders tell, with their texts.
        checked: The same of those that the file holds as well, with the kind that they have there.
    """

    contract: Contract
    columns: Mapping[str, Column]
    hive: Mapping[str, str | None]
    checked: Mapping[str, str | None]

    @property
    def stored(self) -> list[Column]:
        """The columns that are read from the table itself."""
        return [column for column in self.columns.values() if column.way[0] not in self.hive]

    @property
    def structs(self) -> list[tuple[str, ...]]:
        """The ways to all structs that are passed through, each once."""
        ways = [column.way[:depth] for column in self.stored for depth in range(1, len(column.way))]
        return list(dict.fromkeys(ways))

    @property
    def remarks(self) -> list[str]:
        """What the caller should know of the columns, though every row be valid."""
        labels = (self.columns["truth"], self.columns["predicted"])
        floats = [one for one in labels if one.kind.name == "float"]
        return [f"{one.path} is a column of floats ({one.kind.told}); every value is whole" for one in floats]


def lay_out(schema: Mapping[str, Kind], contract: Contract, hive: Hive = ()) -> Layout | tuple[Violation, ...]:
    """Find the contract's fields among columns.

    Args:
        schema: The kind of each column.
        contract: What is looked for.
        hive: What the names of folders tell, for columns that the table may lack.

    Returns:
        The layout; or one violation for each field that is not there, is there twice or cannot hold what it must.

    >>> text, whole = Kind("text", "String"), Kind("whole", "Int64")
    >>> table = dict.fromkeys(("model", "subjectKey", "split"), text) | {"truth.bristolType": whole}
    >>> table["prediction"] = Kind("struct", "Struct", {"bristolType": whole, "confidence": Kind("float", "Float64")})
    >>> lay_out(table, Contract()).columns["confidence"].way
    ('prediction', 'confidence')
    >>> [str(fault) for fault in lay_out({**table, "split": whole}, Contract())]
    ['split: is a column of type Int64; it must hold texts [column-type]']
    """
    told = {name: text for name, text in hive if name not in schema}
    known = {**schema, **dict.fromkeys(told, CELL)}
    faults: list[Violation] = []
    columns: dict[str, Column] = {}
    for role, path in roles(contract).items():
        found = _column(path, _needed(role, contract), known)
        if isinstance(found, Column):
            columns[role] = found
        elif found is not None:
            faults.append(found)
    faults += _beside(columns.values())
    used = {column.way[0] for column in columns.values()}
    checked = {name: text for name, text in hive if name in schema and name in used}
    for name in checked:
        if schema[name].name in ("struct", "other"):
            message = f"is told by the folders, and a column of type {schema[name].told} in the file; keep one of them"
            faults.append(Violation("hive-differs", message, field=name))
    if faults:
        return tuple(dict.fromkeys(faults))
    if not _in_one_struct(columns, contract):
        contract = replace(contract, fields=_SideBySide(**asdict(contract.fields)))
    return Layout(contract, columns, {name: text for name, text in told.items() if name in used}, checked)


def roles(contract: Contract) -> dict[str, str]:
    """Return the path of each field of a contract, by role."""
    return asdict(contract.fields) | {scalar(place): path for place, path in enumerate(contract.scalars)}


def _needed(role: str, contract: Contract) -> str:
    if role in ("truth", "predicted"):
        return "whole" if contract.label_kind is int else "text"
    if role == "confidence":
        return "number"
    return "text" if role in ("model", "subject", "split") else "scalar"


def _column(path: str, needed: str, schema: Mapping[str, Kind]) -> Column | Violation | None:
    """Return the column at a path, what is wrong with it, or None for a scalar that is not there."""
    ends = list(_ends(path, schema))
    complete = [one for one in ends if one.covered == len(names(path))]
    nothing = [one for one in ends if one.kind.name == "null"]
    if len(complete) > 1:
        places = " and ".join(".".join(one.way) if len(one.way) == 1 else f"inside {one.way[0]}" for one in complete)
        return Violation("ambiguous-column", f"stands in two places, {places}; leave one of them out", field=path)
    if not complete and not nothing:
        return _missing(path, needed, ends)
    found = (complete or nothing)[0]
    kinds, words = _NEEDED[needed]
    if found.kind.name in kinds | {"null", "cell"}:
        return found
    return Violation("column-type", f"is a column of type {found.kind.told}; it must hold {words}", field=path)


def _ends(path: str, schema: Mapping[str, Kind]) -> Iterator[Column]:
    """Follow a path from each column that it may begin with, as far as it leads."""
    parts = names(path)
    for first in range(len(parts), 0, -1):
        column = ".".join(parts[:first])
        kind = schema.get(column)
        if kind is None:
            continue
        way, covered = [column], first
        while covered < len(parts) and kind.members is not None and parts[covered] in kind.members:
            kind = kind.members[parts[covered]]
            way.append(parts[covered])
            covered += 1
        if covered == len(parts) or kind.name != "cell":  # a text leads nowhere
            yield Column(path, tuple(way), kind, covered, first)


def _beside(columns: Iterable[Column]) -> Iterator[Violation]:
    """Find the columns that lie beside a struct in which their path says that they are."""
    for one, other in product(columns, repeat=2):
        leads_on = one.first < len(names(one.path))
        below = names(other.path)[: one.first] == names(one.path)[: one.first]
        if leads_on and below and other.way[0] != one.way[0]:
            message = f"stands beside the column {one.way[0]}, in which its path says that it is; put it there"
            yield Violation("ambiguous-column", message, field=other.path)


def _missing(path: str, needed: str, ends: list[Column]) -> Violation | None:
    blocked = next((one for one in ends if one.kind.name != "struct"), None)
    if blocked is not None:
        stands = ".".join(names(path)[: blocked.covered])
        message = f"is a column of type {blocked.kind.told}; it must be of structs, for {path}"
        return Violation("column-type", message, field=stands)
    if needed == "scalar":
        return None
    if ends:
        inside = ".".join(names(path)[: ends[0].covered])
        return Violation("missing-column", f"there is no such field in the column {inside}", field=path)
    return Violation("missing-column", "there is no such column", field=path)


def _in_one_struct(columns: Mapping[str, Column], contract: Contract) -> bool:
    """Tell whether label and confidence stand in one struct, which is null where nothing was offered."""
    predicted, confidence = columns["predicted"], columns["confidence"]
    if contract.fields.prediction is None:
        return True  # the contract has no such object anyway
    if predicted.covered < len(names(predicted.path)):
        return predicted.way == confidence.way
    return len(predicted.way) > 1 and predicted.way[:-1] == confidence.way[:-1]
