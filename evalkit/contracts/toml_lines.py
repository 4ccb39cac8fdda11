"""TOML read strictly, with the line of each key: whatever is wrong with a setting is said with file and line.

The standard library tells no positions. A file that it has parsed is cut into its statements, each of which is valid
TOML by itself; where a key stands is found by parsing them one by one, and only once something is wrong.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from functools import cache
from typing import Any, NamedTuple

from evalkit.errors import Refusal, Violation
from evalkit.records.strict_json import Beyond, show
from evalkit.sources.source import label
from evalkit.sources.urls import open_now

MAX_TOML = 1024 * 1024
"""Longest file in bytes: settings are written by hand."""

MAX_PARTS = 32
"""Most names that dots may join to one key: the time to parse a key grows with the square of them."""

MAX_NUMBER = 400
"""Most characters of a number with a fraction or an exponent, and its largest exponent."""

Locator = Callable[[str], int | None]
"""From a dotted path of keys to the line, counted from 1, on which it or else the nearest table around it is set."""

# A text that is not closed ends with its line or with the file, so that no place is looked at twice.
_STRING = r"""
    \"{3} (?:[^"\\]|\\.?|"(?!""))*+ (?:\"{3,5}|\Z) | '{3} (?:[^']|'(?!''))*+ (?:'{3,5}|\Z)
    | "(?:[^"\\\n]|\\.?)*+"? | '[^'\n]*+'?
"""
_TOKEN = re.compile(rf"(?:{_STRING}) | \#[^\n]*+ | [\[\]{{}}\n]", re.VERBOSE | re.DOTALL)
_TEXT = re.compile(rf"(?:{_STRING}) | \#[^\n]*+", re.VERBOSE | re.DOTALL)
_LONG_KEY = re.compile(rf"""(?<![\w"-])(?:[\w"-]++[\ \t]*+\.[\ \t]*+){{{MAX_PARTS}}}""", re.ASCII)
_PLACE = re.compile(r"(?P<words>.*) \(at (?:line (?P<line>\d+), column (?P<column>\d+)|end of document)\)", re.DOTALL)
_BETTER_WORDS = {
    "Cannot overwrite a value": "the key is set already",
    "Illegal character '\\n'": "the text is not closed",
    "Invalid value": "what stands there is no value; put a text in quotes",
    "Invalid statement": "a line must be a [table], or a key, =, and a value",
}
_SHOWN = 80
_LONGEST_PATH = 1000


def load_toml(path: str, rule: str) -> tuple[dict[str, Any], Locator]:
    r"""Read a TOML file. Numbers with a fraction or an exponent are decimals, exactly as written.

    A number that no settings need, with more than 400 characters or places, is a ``Beyond``: to turn it into a
    fraction could take all memory.

    Args:
        path: The file.
        rule: The rule that a refusal names.

    Returns:
        The data, and a function from a dotted path of keys, such as ``limits.ece``, to the line that sets it. For a
        key that is not set it is the line of the table that would hold it, and None at the top. The second of an
        array of tables is ``name[1]``.

    Raises:
        Refusal: The file cannot be read, is no TOML in UTF-8, or is too long or too deep to look into.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "my.toml")
    ...     _ = path.write_text("bins = 10\n[limits]\nece = 0.05\n")
    ...     data, line = load_toml(str(path), "contract")
    >>> data["limits"], line("limits.ece"), line("limits.macroF1")
    ({'ece': Decimal('0.05')}, 3, 2)
    """
    name = label(path)
    try:
        text = _decode(_read(path))
        data = _parse(text)
    except _BadTomlError as error:
        raise Refusal.of(Violation(rule, error.message, name, error.line)) from None
    lines = cache(lambda: _lines_of_keys(text))
    return data, lambda key: _nearest(lines(), key)


def show_value(value: object) -> str:
    """Return a TOML value on one line, cut short.

    >>> show_value("50%"), show_value(Decimal("1.50")), show_value(True), show_value([1, 2])
    ('"50%"', '1.50', 'true', 'an array of 2')
    """
    if isinstance(value, dict):
        return f"a table of {len(value)}"
    if isinstance(value, int) and value.bit_length() > 64:
        return "a whole number of more than 64 bits"
    return show(value if isinstance(value, bool | int | str | list | Beyond) else Beyond(str(value)))


class _BadTomlError(Exception):
    """What is wrong with the file as a whole, or from which line on."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


def _read(path: str) -> bytes:
    try:
        with open_now(path) as file:
            raw = file.read(MAX_TOML + 1)
    except OSError as error:
        raise _BadTomlError(f"cannot be read: {error.strerror}") from None
    except ValueError:  # U+0000 in the name
        raise _BadTomlError("cannot be read: there is no such file") from None
    if len(raw) > MAX_TOML:
        raise _BadTomlError(f"must be at most {MAX_TOML // (1024 * 1024)} MiB long")
    return raw


def _decode(raw: bytes) -> str:
    """Return the text; a byte-order mark at its start is skipped, as at the start of a dump."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise _BadTomlError(f"must be UTF-8; byte 0x{raw[error.start]:02x} is not", line) from None
    return text.removeprefix("\ufeff").replace("\r\n", "\n")


def _parse(text: str) -> dict[str, Any]:
    bare = _TEXT.sub('""', text)
    if found := _LONG_KEY.search(bare):
        # Within a text of several lines the count would be off, so the line is counted in the text itself.
        start = _start_of(text, found.start())
        raise _BadTomlError(f"a key may have at most {MAX_PARTS} names joined by dots", text.count("\n", 0, start) + 1)
    try:
        return tomllib.loads(text, parse_float=_number)
    except tomllib.TOMLDecodeError as error:
        raise _syntax_error(text, str(error)) from None
    except RecursionError:
        raise _BadTomlError("arrays and tables are nested too deep", _first_unparsable(text)) from None
    except ValueError:  # Python refuses to read thousands of digits
        raise _BadTomlError("holds a number that is too long", _first_unparsable(text)) from None


def _start_of(text: str, bare: int) -> int:
    """Return where in a text stands what is at a place in the text whose strings are blanked out."""
    ahead = 0
    for found in _TEXT.finditer(text):
        if found.start() - ahead >= bare:
            break
        ahead += len(found[0]) - 2
    return bare + ahead


def _number(text: str) -> Decimal | Beyond:
    try:
        number = Decimal(text)
    except InvalidOperation:
        return Beyond(text)
    if not number.is_finite():
        return number
    exponent = number.as_tuple().exponent
    return number if len(text) <= MAX_NUMBER and abs(int(exponent)) <= MAX_NUMBER else Beyond(text)


def _syntax_error(text: str, message: str) -> _BadTomlError:
    found = _PLACE.fullmatch(message)
    if found is None:
        return _BadTomlError(f"must be TOML; {cut(message)}")
    words = _BETTER_WORDS.get(found["words"]) or found["words"][:1].lower() + cut(found["words"][1:])
    if found["line"] is None:
        return _BadTomlError(f"must be TOML; at the end of the file: {words}", text.rstrip().count("\n") + 1)
    return _BadTomlError(f"must be TOML; at column {found['column']}: {words}", int(found["line"]))


def cut(text: str) -> str:
    """Return a text of at most 80 characters."""
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "…"


class _Statement(NamedTuple):
    line: int
    text: str


def _statements(text: str) -> Iterator[_Statement]:
    """Cut valid TOML into its statements, each with the line on which it begins; a blank line is one, a comment too."""
    start = depth = 0
    line = next_line = 1
    for token in _TOKEN.finditer(text):
        next_line += token[0].count("\n")
        if token[0] in "[{":
            depth += 1
        elif token[0] in "]}":
            depth -= 1
        elif token[0] == "\n" and depth == 0:
            yield _Statement(line, text[start : token.start()].strip(" \t"))
            start, line = token.end(), next_line
    yield _Statement(line, text[start:].strip(" \t"))


def _first_unparsable(text: str) -> int | None:
    for statement in _statements(text):
        try:
            tomllib.loads(statement.text, parse_float=_number)
        except (ValueError, RecursionError):
            return statement.line
    return None


def _lines_of_keys(text: str) -> dict[str, int]:
    """Return the line of each dotted path: in an array of tables that of the first, and of each by its number."""
    lines: dict[str, int] = {}
    table = numbered = ""
    counts: dict[str, int] = {}
    for line, statement in _statements(text):
        if not statement or statement.startswith("#"):
            continue
        found = list(_paths(tomllib.loads(statement, parse_float=_number)))
        if statement.startswith("["):
            table = found[-1] + "." if found else ""
            if statement.startswith("[["):
                counts[table] = counts.get(table, -1) + 1
            numbered = _numbered(table, counts)
            lines.setdefault(table[:-1], line)
            lines.setdefault(numbered[:-1], line)
            continue
        for path in found:
            if len(table) + len(path) <= _LONGEST_PATH:
                lines.setdefault(table + path, line)
                lines.setdefault(numbered + path, line)
    return lines


def _numbered(table: str, counts: Mapping[str, int]) -> str:
    """Write the number of the array's table that a table is, or is in: ``job[1].`` for the second ``[[job]]``."""
    within = max((one for one in counts if table.startswith(one)), key=len, default="")
    return f"{within[:-1]}[{counts[within]}].{table[len(within) :]}" if within else table


def _paths(table: dict[str, Any]) -> Iterator[str]:
    """Yield the dotted path of each key, the outer before the inner."""
    waiting = [("", table)]
    while waiting:
        before, members = waiting.pop()
        for key, value in members.items():
            path = before + key
            yield path
            if isinstance(value, list) and value and isinstance(value[-1], dict):
                value = value[-1]
            if isinstance(value, dict) and len(path) <= _LONGEST_PATH:
                waiting.append((f"{path}.", value))


def _nearest(lines: dict[str, int], path: str) -> int | None:
    path = path[: _LONGEST_PATH + 1]  # what is longer is no key of the index, but the tables around it may be
    while path:
        if path in lines:
            return lines[path]
        path = path[: path.rindex("[")] if path.endswith("]") and "[" in path else path.rpartition(".")[0]
    return None
