"""Settings written as TOML by hand's habit: a comment beside each, one table after the other."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

_WIDEST = 120


def layout(values: Mapping[str, object], notes: Mapping[str, str], head: str = "") -> str:
    """Lay out settings as TOML.

    Args:
        values: The value of each setting by its dotted path, the tables one after the other.
        notes: Comments, one a setting or a table. One too long for its line stands above it.
        head: A comment at the top.
    """
    lines = [*_comment(head), ""] if head else []
    table = ""
    for path, value in values.items():
        place, _, name = path.rpartition(".")
        if place != table:
            lines += ["", *_comment(notes.get(place, "")), f"[{place}]"]
            table = place
        lines += _setting(name, value, notes.get(path, ""))
    return "\n".join(lines) + "\n"


def _setting(name: str, value: object, note: str) -> Iterator[str]:
    written = quoted(value) if isinstance(value, str) else str(value)
    if isinstance(value, list):
        written = f"[{', '.join(map(quoted, value))}]"
    line = f"{name} = {written}"
    beside = f"{line}  # {note}" if note else line
    if len(beside) <= _WIDEST and "\n" not in note:
        yield beside
        return
    yield from _comment(note)
    if isinstance(value, list) and len(line) > _WIDEST:
        yield from (f"{name} = [", *(f"  {quoted(one)}," for one in value), "]")
    else:
        yield line


def _comment(text: str) -> list[str]:
    lines = (line for part in text.split("\n") for line in textwrap.wrap(part, _WIDEST - 2, break_on_hyphens=False))
    return [f"# {line}" for line in lines]


def quoted(text: str) -> str:
    r"""Write a text as TOML, on one line; half a surrogate pair, which TOML has no way to write, as U+FFFD.

    >>> quoted('a"b\n')
    '"a\\"b\\u000a"'
    """
    return '"' + "".join(map(_character, text)) + '"'


def _character(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    if "\ud800" <= character <= "\udfff":
        return "\ufffd"
    code = ord(character)
    return character if character.isprintable() else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"
