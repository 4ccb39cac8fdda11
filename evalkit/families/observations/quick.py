r"""Lines of texts on a straight way: patterns learned from the first lines of a part, in place of a JSON parser.

A line that matches is surely a valid case, whose canonical JSON is put together from what the pattern found. Every
other line goes to the exact reader (``part``), which is the definition: what is accepted here it accepts, with the
same values. So what goes there may be only odd: a surrogate pair as two escapes, a field twice, a blank line.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from json.decoder import scanstring  # type: ignore[attr-defined]  # not in the stubs
from json.encoder import encode_basestring
from typing import Any, NamedTuple

from evalkit.families.observations.cases import SOURCE, STRATUM, Family
from evalkit.families.observations.rules import judge_id, judge_text
from evalkit.records.strict_json import MAX_LINE, parse_sound

_PLAIN = r'[^"\\\x00-\x1f]*+'
_CODE = r"u(?!0000|[dD][89a-fA-F])[0-9a-fA-F]{4}"
_STRING = rf'"({_PLAIN}(?:\\(?:["\\/bfnrt]|{_CODE}){_PLAIN})*+)"'
_SPACE = r"[ \t]*+"

SHAPES = 4
"""Orders of keys that are learned in one part."""


class Found(NamedTuple):
    """A valid case, and its canonical JSON."""

    case: dict[str, Any]
    canonical: str


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
        self._order = [names.index(name) for name in written]
        self._template = "{" + ",".join(f'"{name}":"%s"' for name in written) + "}"

    @classmethod
    def learn(cls, line: str, family: Family, sources: Collection[str] | None) -> Quick | None:
        """Learn the order of keys from a line; None where no pattern would be right, or worth it."""
        if sources is None or not all(judge in (judge_id, judge_text) for judge in family.fields.values()):
            return None
        first = parse_sound(line)
        if not isinstance(first, dict) or not set(family.required) <= first.keys() <= set(family.written):
            return None
        return cls(tuple(first), family, sources)

    def read(self, line: str) -> Found | None:
        """Read a line; None where the exact reader has to."""
        found = self._match(line)
        if found is None or len(line) > MAX_LINE // 4:
            return None
        raw = found.groups()
        if "\\" not in line:
            values, canonical = raw, raw
        else:
            values = tuple(scanstring(f'{one}"', 0)[0] if "\\" in one else one for one in raw)
            canonical = tuple(encode_basestring(one)[1:-1] for one in values)
        if values[self._source] not in self._sources or not (
            values[self._id].strip() and values[self._stratum].strip()
        ):
            return None
        case = dict(zip(self._names, values, strict=True))
        return Found(case, self._template % tuple([canonical[place] for place in self._order]))
