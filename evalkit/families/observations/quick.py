r"""Lines of texts on a straight way: patterns learned from the first lines of a part, in place of a JSON parser.

A line that matches is surely a valid case, whose canonical JSON is put together from what the pattern found. Every
other line goes to the exact reader (``part``), which is the definition: what is accepted here it accepts, with the
same values. So what goes there may be only odd: a surrogate pair as two escapes, a field twice, a blank line.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in the stubs
from json.encoder import encode_basestring
from operator import itemgetter
from typing import Any, NamedTuple

from evalkit.families.observations.cases import SOURCE, STRATUM, Family
from evalkit.families.observations.rules import judge_id, judge_text
from evalkit.records.strict_json import MAX_LINE, parse_sound

_PLAIN = r'[^"\\\x00-\x1f]*+'
_CODE = r"u(?!0000|[dD][89a-fA-F])[0-9a-fA-F]{4}"
_STRING = rf'"({_PLAIN}(?:\\(?:["\\/bfnrt]|{_CODE}){_PLAIN})*+)"'
_SPACE = r"[ \t]*+"

_CONTROLS = bytes(sign for sign in range(0x20) if sign != 0x0A)
"""What ends a line is no part of it; no other of these may stand in a text as it is."""

SHAPES = 4
"""Orders of keys that are learned in one part."""


class Found(NamedTuple):
    """A valid case, and its canonical JSON."""

    case: dict[str, Any]
    canonical: str


def is_plain(raw: bytes) -> bool:
    r"""Tell whether lines hold no control character but their ends.

    >>> is_plain(b"a\nb\n"), is_plain(b"a\tb\n")
    (True, False)
    """
    return len(raw.translate(None, _CONTROLS)) == len(raw)


class Quick:
    """Reads lines whose keys stand in the order of a first one."""

    def __init__(self, names: tuple[str, ...], family: Family, sources: Collection[str]) -> None:
        """Make the pattern.

        Args:
            names: The keys in their order.
            family: A family of texts alone.
            sources: The declared sources.
        """
        member = f"{_SPACE},{_SPACE}".join(f'"{re.escape(name)}"{_SPACE}:{_SPACE}{_STRING}' for name in names)
        self._match = re.compile(rf"{_SPACE}\{{{_SPACE}{member}{_SPACE}\}}[ \t\r]*+").fullmatch
        self._names = names
        self._id, self._source = names.index(family.id), names.index(SOURCE)
        self._stratum = names.index(STRATUM) if STRATUM in names else self._id
        self._sources = sources
        written = [name for name in family.written if name in names]
        self._in_order = itemgetter(*(names.index(name) for name in written))
        self._template = "{" + ",".join(f'"{name}":"%s"' for name in written) + "}"
        self._between: list[str] = []

    @classmethod
    def learn(cls, line: str, family: Family, sources: Collection[str] | None) -> Quick | None:
        """Learn the order of keys from a line; None where no pattern would be right, or worth it."""
        if sources is None or not all(judge in (judge_id, judge_text) for judge in family.fields.values()):
            return None
        first = parse_sound(line)
        if not isinstance(first, dict) or not set(family.required) <= first.keys() <= set(family.written):
            return None
        return cls(tuple(first), family, sources)

    def read(self, line: str, *, plain: bool = False) -> Found | None:
        """Read a line; None where the exact reader has to.

        Args:
            line: The line.
            plain: Whether it surely holds no control character.
        """
        if len(line) > MAX_LINE // 4:
            return None
        if "\\" not in line:
            values = canonical = self._cut(line, plain=plain)
        elif (found := self._match(line)) is not None:
            values = [scanstring(f'{one}"', 0)[0] if "\\" in one else one for one in found.groups()]
            canonical = [encode_basestring(one)[1:-1] for one in values]
        else:
            return None
        if not values:
            return None
        if values[self._source] not in self._sources or not (
            values[self._id].strip() and values[self._stratum].strip()
        ):
            return None
        return Found(dict(zip(self._names, values, strict=True)), self._template % self._in_order(canonical))

    def _cut(self, line: str, *, plain: bool) -> Sequence[str]:
        """Return the texts of a line without an escape; none where it does not match.

        In such a line each quotation mark begins or ends a text. So what stands between the texts of a line that
        matched is all that has to be compared, and a good deal sooner than the pattern is.
        """
        between = line.split('"')
        values = between[3::4]
        del between[3::4]
        if plain and between == self._between:
            return values
        found = self._match(line)
        if found is None:
            return ()
        self._between = between
        return found.groups()
