"""Which id stands twice in a list of any length: eight bytes of memory an id, the ids themselves in a temporary file.

Each id is kept as its hash alone. Only where two hashes are equal are the ids read back and compared.
"""

from __future__ import annotations

import json
import tempfile
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import NamedTuple, Self

_BUCKETS = 256
_IN_MEMORY = 4 * 1024 * 1024


class Twice(NamedTuple):
    """An id that stands at a place, and stood at an earlier one."""

    place: int
    id: str
    first: int


class Ids:
    """The ids of one list, in order."""

    def __init__(self) -> None:
        self._buckets = [array("q") for _ in range(_BUCKETS)]
        self._stack = ExitStack()
        self._spool = self._stack.enter_context(
            tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY, mode="w+", encoding="utf-8", newline="\n")  # noqa: SIM115
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def add(self, places: Sequence[int], ids: Sequence[str]) -> None:
        """Add ids and where they stand."""
        for one in map(hash, ids):
            self._buckets[one % _BUCKETS].append(one)
        self._spool.write(json.dumps([list(places), list(ids)]) + "\n")  # dump() is ten times as slow

    def twice(self) -> Iterator[Twice]:
        """Yield each id that stood before."""
        suspects = {one for bucket in self._buckets if len(set(bucket)) < len(bucket) for one in _repeated(bucket)}
        if not suspects:
            return
        first: dict[str, int] = {}
        self._spool.seek(0)
        for line in self._spool:
            for place, one in zip(*json.loads(line), strict=True):
                if hash(one) in suspects and first.setdefault(one, place) != place:
                    yield Twice(place, one, first[one])


def _repeated(bucket: array[int]) -> Iterator[int]:
    return (one for one, times in Counter(bucket).items() if times > 1)
