"""Text on charts: characters that XML can carry, numbers that hide nothing, lines that fit."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator

from evalkit.metric import Direction

REPLACEMENT = "\ufffd"
NOT_MEASURED = "not measured"
SYNTHETIC = "synthetic example"

_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]|[\u202a-\u202e\u2066-\u2069]")
_WHITE = re.compile(r"[\t\n\r\x85\u2028\u2029]")


def clean(text: str) -> str:
    r"""Return a text that XML can carry on one line: U+FFFD stands for each character that it cannot.

    So it does for those that turn the direction of what follows: a name with one could reverse the verdict beside it.

    >>> clean("a\x00b\x1b[31m\n\u202ec")
    'a\ufffdb\ufffd[31m \ufffdc'
    """
    return _WHITE.sub(" ", _NO_XML.sub(REPLACEMENT, text))


def number(value: float | int | None, limit: float | None = None, places: int = 4) -> str:
    """Write a number with four decimals, or with as many as it takes to tell it from 0, from 1, and from a limit.

    Args:
        value: The number.
        limit: The limit.
        places: The decimals to begin with.

    >>> number(0.9), number(3), number(0.00001), number(0.899999, 0.9), number(1e308), number(None), number(-0.0)
    ('0.9000', '3', '1e-05', '0.899999', '1e+308', '–', '0.0000')
    >>> number(0.99951, places=3), number(0.9, places=3)
    ('0.9995', '0.900')
    """
    if value is None:
        return "–"
    value = value or abs(value)  # 0 has no sign
    if isinstance(value, int):
        return f"{value:,}"
    if value != 0 and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.6g}"
    told_from = {0.0, 1.0, *(() if limit is None else (limit,))} - {value}
    for more in range(places, 13):
        text = f"{value:.{more}f}"
        if float(text) not in told_from:
            return text
    return repr(value)


def probability(value: float | None) -> str:
    """Write a p-value; a very small one as a bound.

    >>> probability(0.0312), probability(0.00001), probability(1.0), probability(None)
    ('0.031', '< 0.001', '1.000', '–')
    """
    if value is None:
        return "–"
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def target(limit: float, direction: Direction) -> str:
    """Write a target.

    >>> target(0.9, "higher"), target(0.05, "lower"), target(0, "lower")
    ('≥ 0.90', '≤ 0.05', '≤ 0')
    """
    limit = limit or abs(limit)  # 0 has no sign
    plain = math.isfinite(limit) and abs(limit) < 1e6
    text = f"{limit:.2f}" if plain and not isinstance(limit, int) and limit == round(limit, 2) else f"{limit:.6g}"
    return f"{'≤' if direction == 'lower' else '≥'} {text}"


def em(character: str) -> float:
    """Estimate a character's width in parts of the font size, as in the widest of common sans-serif fonts.

    >>> em("i"), em("W"), em("語")
    (0.38, 0.98, 1.05)
    """
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.05
    if character in "iljtfrI.,:;'|!()[] ":
        return 0.38
    if character in "mwMW%@—…":
        return 0.98
    return 0.74 if character.isupper() else 0.62


def width(text: str, size: float) -> float:
    """Estimate how wide a text is."""
    return size * sum(map(em, text))


def wrapped(text: str, size: float, room: float, most: int = 1000) -> list[str]:
    """Break a text into lines that fit, at spaces where there are any; past the most lines it ends in an ellipsis.

    >>> wrapped("one two three", 10, 50)
    ['one two', 'three']
    >>> wrapped("abcdefghijkl", 10, 40)
    ['abcdef', 'ghijkl']
    """
    lines: list[str] = []
    line = ""
    for piece in _pieces(clean(text), size, room):
        if line and width(line + piece.rstrip(), size) > room:
            lines.append(line.rstrip())
            line = piece.lstrip()
        else:
            line += piece
        if len(lines) > most:
            break
    lines.append(line.rstrip())
    if len(lines) > most:
        lines = [*lines[: most - 1], cut(lines[most - 1] + "……", size, room)]
    return lines


def _pieces(text: str, size: float, room: float) -> Iterator[str]:
    """Cut a text at its spaces, and inside what is too long for a line."""
    for word in re.findall(r"\S+\s*|\s+", text):
        piece, used = "", 0.0
        for character in word:
            wide = size * em(character)
            if piece and used + wide > room and not character.isspace():
                yield piece
                piece, used = "", 0.0
            piece += character
            used += wide
        yield piece


def cut(text: str, size: float, room: float) -> str:
    """Cut a text to one line that fits, with an ellipsis where something is left out.

    >>> cut("abcdefghijkl", 10, 40), cut("abc", 10, 40)
    ('abcd…', 'abc')
    """
    text = clean(text)
    if width(text, size) <= room:
        return text
    kept, used = "", size * em("…")
    for character in text:
        used += size * em(character)
        if used > room:
            break
        kept += character
    return kept.rstrip() + "…"
