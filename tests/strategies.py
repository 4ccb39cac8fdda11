"""Hypothesis strategies: valid records, coverage floors, odd but valid spellings of a record, damaged lines.

`records()` draws choice by choice, so it shrinks well. `spellings()` and `mutated()` are called once a line, so they
draw a few switches and one seed; a failing line shrinks by switching its oddities off and by dropping damages.
"""

import json
import math
import random
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from contract_oracle import Rules, Terms, Written
from hypothesis import strategies as st

Record = dict[str, Any]
Damage = Callable[[random.Random, str], str]

SPLITS = {"train": (0x00, 0xCC), "validation": (0xCD, 0xE5), "test": (0xE6, 0xFF)}
"""First and last value of the first byte of the subject keys of each split."""

MIXES = (
    *(["train", "validation", "test"],) * 4,
    *(["validation", "validation", "test", "test", "train"],) * 4,
    *(["validation", "test"],) * 3,
    ["validation"],
    ["test"],
    ["train"],
)
"""Which splits a candidate has, weighted: most have what they need, some are blocked."""

# fmt: off
ODD_NAMES = (
    "m1", "M1", " m1", "m1 ", "m 1", "\u00a0m1", "\u3000m1", "model", "null", "NaN", "1e5", "0", "2026-01-05", "'",
    "%s", 'a"b', "a\\b", "a\\u0062", '\\"', "\\", "a/b", "../x", "a|b", "<b>&amp;", "(.*)+$", "a,b", "{}", "[1]", "$1",
    "^a$", "\u00e9", "e\u0301", "Stra\u00dfe", "STRASSE", "\u0130", "i\u0307", "\u03c3", "\u03c2", "\ufb01", "\u4e2d",
    "\u202ex", "\U0001f600", "\U0001d52a", "\U0010ffff", "\uffff", "\ue000", "x\u2028y", "x\u0085y", "x\x7fy", "\u200b",
    "x" * 300, "x\ty", "x\ny", "x\ry", "x\x03y", "x\x1fy", "x\x0b", '","split":"test', '{"model":"m1"}',
    "\\ud83d\\ude00", "\ud7ff\ue000",
)
# fmt: on
"""Names that are valid and easy to get wrong."""

NEVER = "\0\ufeff"
"""Characters that no valid text here holds: NUL is refused, a mark inside a text is left open by the rules."""

EDGES = tuple(
    near for i in range(1, 11) for near in (math.nextafter(i / 10, 0), i / 10, math.nextafter(i / 10, 1)) if near <= 1.0
)
GRID = tuple(k / 10 for k in range(11))
FINE_GRID = (*(k / 20 for k in range(21)), -0.0, 0.0, 1.0)
SURE = (0.95, 0.95, 0.96, 0.97, 1.0, math.nextafter(0.95, 0), math.nextafter(0.95, 1))
TINY = (5e-324, 2.2250738585072014e-308, 1e-300, 5e-16, 5.000000000000001e-16, 1.5e-15, 5e-05, 1e-05, 0.0001, -0.0)


def split_of(key: str) -> str:
    """Return the split that the key derives."""
    first = int(key[:2], 16)
    return next(split for split, (low, high) in SPLITS.items() if low <= first <= high)


def line(record: Record) -> str:
    """Write a record as the plainest JSON line, without a line end."""
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


# --- records


def names() -> st.SearchStrategy[str]:
    """Draw valid model names, odd ones mostly."""
    letters = st.characters(exclude_categories=["Cs"], exclude_characters=NEVER)
    free = st.text(letters, min_size=1, max_size=12).filter(lambda text: bool(text.strip()))
    return st.one_of(st.sampled_from(ODD_NAMES), free)


def model_lists() -> st.SearchStrategy[list[str]]:
    """Draw one to four different model names, now and then some that are almost the same."""
    twins = [["m1", "M1"], ["m1", " m1", "m1 "], ["\u00e9", "e\u0301"], ["a", "B", "b", "A"], ["\uffff", "\U0001f600"]]
    return st.one_of(st.lists(names(), min_size=1, max_size=4, unique=True), st.sampled_from(twins))


def keys(split: str) -> st.SearchStrategy[str]:
    """Draw subject keys of one split, often at its first or last byte, sometimes of digits only or like a number."""
    low, high = SPLITS[split]
    first = st.one_of(st.sampled_from([low, high]), st.integers(low, high))
    rest = st.one_of(
        st.sampled_from(["0" * 14, "f" * 14, "00000000000001", "0000000000e100"]),
        st.integers(0, 16**14 - 1).map(lambda number: f"{number:014x}"),
    )
    return st.builds(lambda byte, tail: f"{byte:02x}{tail}", first, rest)


def confidences() -> st.SearchStrategy[float]:
    """Draw floats in 0-1 of every kind: few-valued, arbitrary, next to a bin edge, tiny, minus zero."""
    return st.one_of(
        st.sampled_from(GRID),
        st.sampled_from(FINE_GRID),
        st.floats(0.0, 1.0),
        st.sampled_from(EDGES),
        st.sampled_from(TINY),
    )


def confidence_kinds() -> st.SearchStrategy[st.SearchStrategy[float]]:
    """Draw what the confidences of one whole list look like."""
    few = st.lists(confidences(), min_size=1, max_size=4).map(st.sampled_from)
    fixed = [confidences(), st.sampled_from(GRID), st.sampled_from(SURE), st.sampled_from(EDGES), st.floats(0.0, 1.0)]
    return st.one_of(few, st.sampled_from(fixed))


@st.composite
def records(draw: st.DrawFn) -> list[Record]:
    """Draw up to 60 valid records of one to four models; the split always follows the key, keys repeat often."""
    models = draw(model_lists())
    mixes = {model: draw(st.sampled_from(MIXES)) for model in models}
    pools = {split: draw(st.lists(keys(split), min_size=1, max_size=3)) for split in SPLITS}
    labels = draw(st.lists(st.integers(1, 7), min_size=1, max_size=7, unique=True))
    promising = draw(st.sampled_from([True, False, False]))
    confidence = draw(
        st.sampled_from([SURE, (0.95,), (0.9,), (0.9, 1.0)]).map(st.sampled_from) if promising else confidence_kinds()
    )
    right = draw(
        st.sampled_from([[True], [True] * 9 + [False]] if promising else [[True], [True, True, False], [False]])
    )
    offered = draw(st.sampled_from([[True], [True, True, False], [True, False], [True] * 9 + [False]]))
    low, high = draw(st.sampled_from([(0, 4), (1, 20), (12, 60), (30, 60)]))
    result = []
    for _ in range(draw(st.integers(low, high))):
        model = draw(st.sampled_from(models))
        key = draw(st.sampled_from(pools[draw(st.sampled_from(mixes[model]))]))
        label = draw(st.sampled_from(labels))
        prediction = None
        if draw(st.sampled_from(offered)):
            guess = label if draw(st.sampled_from(right)) else draw(st.integers(1, 7))
            prediction = {"bristolType": guess, "confidence": draw(confidence)}
        result.append(
            {
                "model": model,
                "subjectKey": key,
                "split": split_of(key),
                "truth": {"bristolType": label},
                "prediction": prediction,
            }
        )
    return result


def floors() -> st.SearchStrategy[str]:
    """Draw coverage floors: decimal texts in 0-1, often one that a coverage meets exactly or just misses."""
    common = st.sampled_from(["0", "1", "0.0", "1.0", "1.000", "0.5", "0.50", "0.1", "0.8", "0.25", "0.03", "0.999"])
    shares = st.builds(
        _share, st.integers(1, 60), st.integers(0, 60), st.integers(1, 30), st.sampled_from([-1, 0, 0, 1])
    )
    free = st.integers(1, 20).flatmap(lambda places: st.integers(0, 10**places).map(lambda n: _decimal(n, places)))
    return st.one_of(common, shares, free)


def _share(whole: int, part: int, places: int, nudge: int) -> str:
    """Write part/whole cut to some places, moved by one unit of the last place."""
    units = min(part, whole) * 10**places // whole
    return _decimal(min(10**places, max(0, units + nudge)), places)


def _decimal(units: int, places: int) -> str:
    """Write units of 10**-places with a decimal point."""
    digits = f"{units:0{places + 1}d}"
    return f"{digits[:-places]}.{digits[-places:]}"


# --- spellings


@dataclass(frozen=True)
class Style:
    """Which oddities one spelling has, and the seed of their details."""

    shuffle: bool
    blanks: bool
    escapes: bool
    numbers: bool
    extras: bool
    seed: int


class Raw(str):
    """A JSON number or literal that is written as it stands."""


JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?", re.ASCII)
SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "/": "\\/", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}

# fmt: off
EXTRA_KEYS = (
    "id", "note", "quality", "contributor", "", " ", "Model", "model ", "MODEL", "subjectkey", "subject_key", "Split",
    "label", "model", "subjectKey", "split", "truth", "prediction", "bristolType", "confidence", "bristoltype",
    "Confidence", "truth.x", "a.b", "a\\u006dodel", 'qu"ote', "back\\slash", "\u00e9", "e\u0301", "\U0001f600",
    "\u2028", "tab\t", "__proto__", "0", "$",
)
# fmt: on
"""Keys to ignore where the record does not use them; the names of its own fields count at the other levels."""

# fmt: off
EXTRA_TEXTS = (
    "", " ", "x", "train", "validation", "test", "4", "0.5", "true", "null", "NaN", "\u00e9", "\U0001f600", "\u2028",
    "\x7f", '{"model":"m9"}', '","split":"test","x":"', '"confidence":0.5', "\\", '\\"', '"', "}", "]}", "},{", "//",
    "\\u0000", "a\nb", "\\ud800", '{"truth":{"bristolType":9},"prediction":null}', "a\r\nb", "\x01", "x" * 200,
)
EXTRA_NUMBERS = (
    "0", "-0", "7", "8", "-1", "4.0", "1e5", "1E+2", "0.1e-7", "1e400", "-1e400", "1e-400", "9007199254740993",
)
EXTRA_LITERALS = (
    "true", "false", "null", "123456789012345678901234567890", "18446744073709551616", "3.14159265358979323846264",
)
# fmt: on


def spellings(record: Record) -> st.SearchStrategy[str]:
    """Draw JSON lines (without line end) that all mean this record.

    A line holds no raw line feed and no byte-order mark. A lone carriage return may stand between two tokens, since it
    is     JSON white space, but never at either end of the line.
    """
    flag = st.booleans()
    style = st.builds(Style, flag, flag, flag, flag, flag, st.integers(0, 2**32 - 1))
    return style.map(lambda one: spell(record, one))


def spell(record: Record, style: Style) -> str:
    """Write the record in the given style."""
    rng = random.Random(style.seed)
    tree = _decorated(record, style, rng)
    tokens = list(_tokens(tree, style, rng))
    if not style.blanks:
        return "".join(tokens)
    inner = [token + _blank(rng, " \t\r") for token in tokens[:-1]]
    return "".join([_blank(rng, " \t"), *inner, tokens[-1], _blank(rng, " \t")])


def number_spellings(value: float) -> list[str]:
    """List JSON numbers that are read as exactly this non-negative float."""
    exact = abs(Decimal(repr(value)))
    digits = "".join(map(str, exact.as_tuple().digits))
    power = int(exact.as_tuple().exponent)
    plain = f"{exact:f}"
    pointed = plain if "." in plain else plain + ".0"
    top = power + len(digits) - 1
    texts = [repr(value), plain, pointed, pointed + "0", pointed + "0" * 20, pointed + "0" * 30 + "1", pointed + "e0"]
    texts += [pointed + "E-0", pointed + "e+00", f"{digits}e{power}", f"{digits}E{power:+d}", f"{digits}0e{power - 1}"]
    texts += [
        f"{digits}.0e{power:+03d}",
        f"{digits[0]}.{digits[1:] or '0'}E{top}",
        f"{digits[0]}.{digits[1:]}00e{top:+03d}",
    ]
    texts += [
        f"0.{digits}e{top + 1}",
        f"0.{digits}0E{top + 1:+d}",
        f"0.00{digits}e{top + 3}",
        f"0.{digits}e{top + 1:+04d}",
    ]
    texts += [f"{value:.17g}", f"{value:.18e}", f"{value:.25f}", f"{value:.40E}", f"{Decimal(value):f}"[:1100]]
    if value == 0:
        texts += ["0", "-0", "-0.0", "0e0", "-0E5", "0E+400", "0.000e-5", "1e-400", "-1e-400", "0e400"]
    if value == 1:
        texts += [
            "1",
            "1e0",
            "10e-1",
            "100E-02",
            "0.01e+2",
            "1.00000000000000001",
            "0.99999999999999999999",
            "1" + "0" * 30 + "e-30",
        ]
    return [text for text in texts if JSON_NUMBER.fullmatch(text) and float(text) == value]


def _decorated(record: Record, style: Style, rng: random.Random) -> dict[str, Any]:
    """Copy the record with its numbers spelled, extra fields added and its keys in their final order."""
    pairs: list[tuple[str, Any]] = []
    for key, value in record.items():
        if isinstance(value, dict):
            pairs.append((key, _decorated(value, style, rng)))
        elif isinstance(value, float):
            pairs.append((key, Raw(rng.choice(number_spellings(value)) if style.numbers else repr(value))))
        else:
            pairs.append((key, value))
    if style.extras:
        for key in _extra_keys(rng, set(record)):
            pairs.insert(rng.randint(0, len(pairs)), (key, _extra_value(rng, 3)))
    if style.shuffle:
        rng.shuffle(pairs)
    return dict(pairs)


def _extra_keys(rng: random.Random, taken: set[str]) -> list[str]:
    """Choose a few different keys that are not taken."""
    free = [key for key in EXTRA_KEYS if key not in taken]
    return rng.sample(free, rng.choice([0, 1, 1, 2, 4]))


def _extra_value(rng: random.Random, depth: int) -> Any:
    """Make up a value of any JSON kind."""
    kind = rng.randrange(6 if depth else 4)
    if kind < 2:
        return rng.choice(EXTRA_TEXTS)
    if kind < 4:
        return Raw(rng.choice(EXTRA_NUMBERS if kind == 2 else EXTRA_LITERALS))
    if kind == 4:
        return [_extra_value(rng, depth - 1) for _ in range(rng.randrange(4))]
    return {key: _extra_value(rng, depth - 1) for key in _extra_keys(rng, set())}


def _tokens(value: Any, style: Style, rng: random.Random) -> Iterable[str]:
    """Write a value token by token."""
    if isinstance(value, Raw):
        yield str(value)
    elif isinstance(value, str):
        yield _quoted(value, style, rng)
    elif isinstance(value, dict):
        yield "{"
        for index, (key, inner) in enumerate(value.items()):
            yield from ([","] if index else [])
            yield from (_quoted(key, style, rng), ":")
            yield from _tokens(inner, style, rng)
        yield "}"
    elif isinstance(value, list):
        yield "["
        for index, inner in enumerate(value):
            yield from ([","] if index else [])
            yield from _tokens(inner, style, rng)
        yield "]"
    else:
        yield json.dumps(value)


def _quoted(text: str, style: Style, rng: random.Random) -> str:
    """Write a text, escaping none, some or all of the characters that need no escape."""
    if not style.escapes:
        return json.dumps(text, ensure_ascii=False)
    share = rng.choice([0.0, 0.0, 0.1, 0.5, 1.0])
    return '"' + "".join(_letter(char, share, rng) for char in text) + '"'


def _letter(char: str, share: float, rng: random.Random) -> str:
    """Write one character raw or escaped, the short escape and the long one by chance."""
    if char not in '"\\' and char >= " " and rng.random() >= share:
        return char
    if char in SHORT_ESCAPES and rng.random() < 0.5:
        return SHORT_ESCAPES[char]
    units = char.encode("utf-16-be").hex()
    return "".join("\\u" + rng.choice([str.lower, str.upper])(units[at : at + 4]) for at in range(0, len(units), 4))


def _blank(rng: random.Random, letters: str) -> str:
    """Make up white space, often none."""
    return "".join(rng.choices(letters, k=rng.choice([0, 0, 1, 1, 3])))


# --- damages

# fmt: off
WRONG_VALUES = (
    "true", "false", "null", '"4"', "4.0", "4e0", "40e-1", "8", "0", "-1", "260", "4294967300", "18446744073709551620",
    "-0", "1e400", "-1e400", "NaN", "Infinity", "-Infinity", "1.0000000000000002", "1.00000000000000001", "-1e-9",
    "-1e-400", '"0.5"', '""', '" "', '"\\u2003"', '"\\u0000"', '"\\ud800"', '"\\ude00\\ud83d"', "[]", "{}", "[4]",
    '{"bristolType":4}', "", "01", "+1", ".5", "1.", "1e", "0x1", "-", "1_0", "\u0664", "'m1'", "None", "nan", '"test"',
    '"train"', '"validation"', '"Test"', '"test "', '"cd00000000000001"', '"CD00000000000001"', '"cd0000000000001"',
    '"cd000000000000001"', '"\uff10d00000000000001"',
)
LONE_SURROGATES = (
    "\\ud800", "\\uDBFF", "\\udc00", "\\uDFFF", "\\ud83d\\ud83d", "\\ude00\\ud83d", "\\ud83dx", "\\ud83d\\n",
)
# fmt: on
BAD_ESCAPES = ("\\u0000", "\\x41", "\\u12", "\\u{41}", "\\'", "\\", "\\U0001f600", "\\u 041", "\\u+041")
CONTROLS = "".join(map(chr, range(32))).replace("\n", "")
LETTERS = "{}[]:,\"\\ 0123456789.-+eEabtrufnlsx/\t\r\x00\x7f\u0085\u00a0\u2028\u00e9\U0001f600\ufeff#'"
TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[-+0-9.eE]+|[A-Za-z]+|[{}\[\]:,]|[ \t\r\n]+|.', re.DOTALL)


def mutated(text: str) -> st.SearchStrategy[str]:
    """Draw one to three damages done to a valid line; the result may still be valid, and is encodable as UTF-8.

    No raw line feed is ever put in, so a line stays one line.
    """
    steps = st.lists(st.tuples(st.sampled_from(DAMAGES), st.integers(0, 2**32 - 1)), min_size=1, max_size=3)
    return steps.map(lambda chosen: _damaged(text, chosen))


def _damaged(text: str, steps: list[tuple[Damage, int]]) -> str:
    """Do the damages one after the other."""
    for damage, seed in steps:
        text = damage(random.Random(seed), text)
    return text


def _put(rng: random.Random, text: str, piece: str) -> str:
    """Put a piece anywhere."""
    at = rng.randint(0, len(text))
    return text[:at] + piece + text[at:]


def _put_first(_rng: random.Random, text: str, piece: str) -> str:
    """Put a piece in front of everything."""
    return piece + text


def _put_in_text(rng: random.Random, text: str, piece: str) -> str:
    """Put a piece inside one of the quoted texts."""
    tokens = TOKEN.findall(text)
    quoted = [index for index, token in enumerate(tokens) if len(token) >= 2 and token[0] == '"']
    if not quoted:
        return _put(rng, text, piece)
    index = rng.choice(quoted)
    tokens[index] = '"' + _put(rng, tokens[index][1:-1], piece) + '"'
    return "".join(tokens)


def delete_characters(rng: random.Random, text: str) -> str:
    """Delete one to three characters in a row."""
    at = rng.randint(0, len(text))
    return text[:at] + text[at + rng.randint(1, 3) :]


def insert_character(rng: random.Random, text: str) -> str:
    """Insert one character anywhere."""
    return _put(rng, text, rng.choice(LETTERS))


def replace_character(rng: random.Random, text: str) -> str:
    """Replace one character."""
    at = rng.randint(0, max(0, len(text) - 1))
    return text[:at] + rng.choice(LETTERS) + text[at + 1 :]


def double_characters(rng: random.Random, text: str) -> str:
    """Write a short piece twice."""
    at = rng.randint(0, len(text))
    return text[:at] + text[at : at + rng.randint(1, 3)] + text[at:]


def swap_case(rng: random.Random, text: str) -> str:
    """Change the case of one character."""
    at = rng.randint(0, max(0, len(text) - 1))
    return text[:at] + text[at : at + 1].swapcase() + text[at + 1 :]


def delete_token(rng: random.Random, text: str) -> str:
    """Delete one token."""
    tokens = TOKEN.findall(text) or [""]
    del tokens[rng.randrange(len(tokens))]
    return "".join(tokens)


def double_token(rng: random.Random, text: str) -> str:
    """Write one token twice."""
    tokens = TOKEN.findall(text) or [""]
    at = rng.randrange(len(tokens))
    return "".join([*tokens[:at], tokens[at], *tokens[at:]])


def swap_tokens(rng: random.Random, text: str) -> str:
    """Let two tokens change places."""
    tokens = TOKEN.findall(text) or [""]
    one, other = rng.randrange(len(tokens)), rng.randrange(len(tokens))
    tokens[one], tokens[other] = tokens[other], tokens[one]
    return "".join(tokens)


def insert_token(rng: random.Random, text: str) -> str:
    """Insert one token, of this line or a wrong one."""
    tokens = TOKEN.findall(text)
    piece = rng.choice([*tokens, *WRONG_VALUES, "//x", "/**/", ",", ":", "{", "}", "\u00a0", "\x0c"])
    tokens.insert(rng.randint(0, len(tokens)), piece)
    return "".join(tokens)


def truncate(rng: random.Random, text: str) -> str:
    """Cut the line off."""
    return text[: rng.randint(0, max(0, len(text) - 1))]


def behead(rng: random.Random, text: str) -> str:
    """Cut the beginning of the line off."""
    return text[rng.randint(1, max(1, len(text))) :]


def wrong_value(rng: random.Random, text: str) -> str:
    """Put a wrong value in the place of one value, be it a scalar or an object."""
    tokens = TOKEN.findall(text)
    found = _members(tokens)
    if not found:
        return rng.choice(WRONG_VALUES)
    _, value, end = rng.choice(found)
    return "".join([*tokens[:value], rng.choice(WRONG_VALUES), *tokens[end:]])


def duplicate_key(rng: random.Random, text: str) -> str:
    """Write a key twice in one object, with the same or another value, sometimes escaped."""
    tokens = TOKEN.findall(text)
    found = _members(tokens)
    if not found:
        return text + text
    start, value, end = rng.choice(found)
    _, other_value, other_end = rng.choice([rng.choice(found), (start, value, end)])
    key = tokens[start]
    if rng.random() < 0.4 and len(key) > 2 and "\\" not in key:
        at = rng.randrange(1, len(key) - 1)
        key = key[:at] + "".join(f"\\u{unit:04x}" for unit in _utf16(key[at])) + key[at + 1 :]
    copy = [key, ":", *tokens[other_value:other_end]]
    if rng.random() < 0.5:
        return "".join([*tokens[:start], *copy, ",", *tokens[start:]])
    return "".join([*tokens[:end], ",", *copy, *tokens[end:]])


def drop_member(rng: random.Random, text: str) -> str:
    """Take one key and its value out, and the comma with it."""
    tokens = TOKEN.findall(text)
    found = _members(tokens)
    if not found:
        return ""
    start, _, end = rng.choice(found)
    if end < len(tokens) and tokens[end] == ",":
        end += 1
    elif start and tokens[start - 1] == ",":
        start -= 1
    return "".join([*tokens[:start], *tokens[end:]])


def rename_key(rng: random.Random, text: str) -> str:
    """Misspell a key, or give it the name of another."""
    tokens = TOKEN.findall(text)
    found = _members(tokens)
    if not found:
        return text[::-1]
    start, _, _ = rng.choice(found)
    key = tokens[start]
    other = tokens[rng.choice(found)[0]]
    tokens[start] = rng.choice([key[:-1] + 's"', key.lower(), key.upper(), '"' + " " + key[1:], other, '""'])
    return "".join(tokens)


def insert_control(rng: random.Random, text: str) -> str:
    """Put a raw control character (NUL too, never a line feed) anywhere or inside a text."""
    return rng.choice([_put, _put_in_text])(rng, text, rng.choice(["\0", *CONTROLS]))


def insert_mark(rng: random.Random, text: str) -> str:
    """Put a byte-order mark at the beginning, anywhere or inside a text."""
    return rng.choice([_put_first, _put, _put_in_text])(rng, text, "\ufeff")


def insert_surrogate(rng: random.Random, text: str) -> str:
    """Put the escape of half a character inside a text."""
    return _put_in_text(rng, text, rng.choice(LONE_SURROGATES))


def insert_bad_escape(rng: random.Random, text: str) -> str:
    """Put an escape that is wrong, or means NUL, inside a text."""
    return _put_in_text(rng, text, rng.choice(BAD_ESCAPES))


def add_around(rng: random.Random, text: str) -> str:
    """Add something before or after the object, or wrap it."""
    around = (text + text, text + "," + text, f"[{text}]", text + "x", text + "}", text + ",", "," + text, f'"{text}"')
    return rng.choice(
        [*around, text + " " + text, text + "\0", "\x0c" + text, text + "\u00a0", f'{{"a":{text}}}', "null"]
    )


# fmt: off
DAMAGES: tuple[Damage, ...] = (
    delete_characters, insert_character, replace_character, double_characters, swap_case,
    delete_token, double_token, swap_tokens, insert_token, truncate, behead,
    wrong_value, wrong_value, wrong_value, duplicate_key, duplicate_key, drop_member, rename_key,
    insert_control, insert_mark, insert_surrogate, insert_bad_escape, add_around,
)
# fmt: on
"""Every way to damage a line; the likelier mistakes stand in it more than once."""


def _utf16(char: str) -> list[int]:
    """Return the UTF-16 units of a character."""
    data = char.encode("utf-16-be")
    return [int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2)]


def _members(tokens: list[str]) -> list[tuple[int, int, int]]:
    """Find every key with its value: where the key, where the value begins and where it ends."""
    found = []
    for start, token in enumerate(tokens):
        colon = _skip_blank(tokens, start + 1)
        if token[:1] == '"' and colon < len(tokens) and tokens[colon] == ":":
            value = _skip_blank(tokens, colon + 1)
            if value < len(tokens):
                found.append((start, value, _value_end(tokens, value)))
    return found


def _skip_blank(tokens: list[str], at: int) -> int:
    """Return the place of the first token from here on that is not white space."""
    while at < len(tokens) and not tokens[at].strip(" \t\r\n"):
        at += 1
    return at


def _value_end(tokens: list[str], at: int) -> int:
    """Return the place behind the value that begins here."""
    depth = 0
    for end in range(at, len(tokens)):
        depth += (tokens[end] in ("{", "[")) - (tokens[end] in ("}", "]"))
        if depth <= 0:
            return end + 1
    return len(tokens)


# --- contracts, strata and policies

# fmt: off
PATH_NAMES = (
    "m", "who", "fold", "gold", "guess", "score", "meta", "site", "kind", "a b", "n\u00e9", 'q"u', "b\\c", "\u540d",
    "*", "^a$", "x'", "<b>", "%s", "\U0001f600k", "line", "fields", "(?P<x>", "A",
)
# fmt: on
"""Names to make paths of. None is in `EXTRA_KEYS`: a field that a record does not have must stay absent."""

ODD_LABELS = (
    *(
        "cat",
        "catfish",
        "ca",
        "Cat",
        'a"b',
        "a\\b",
        "a\\",
        "\u00e9",
        "e\u0301",
        "\\u00e9",
        "\u540d",
        "a b",
        " a",
        "null",
    ),
    *("1", "1.0", "true", ".", "[a-z]", "$^", "a|b", "(?:x)", "-", ">", "unlabelled", "\U0001f600", "x" * 60, "a × b"),
)
"""Labels that are valid and easy to get wrong."""

ODD_KEYS = ("Ann", "ann", " Ann", "Ann ", "\u00e9", "e\u0301", 'a"b', "a\\b", "a\nb", "\x1f.", "4", "null", "x" * 300)
"""Contributors of dumps without a key."""

_SCALARS = (
    *("a", "b", "a × b", "unlabelled", "\u00e9", 'q"', "x\ny", "", " ", "a\\b", "1", "true", "null", "good"),
    *map(Written, ("1", "1.0", "1e0", "-0", "0.10", "1E400", "-1e400", "123456789012345678901234567890", "0.1")),
    *(True, False, None, None),
)


@dataclass(frozen=True)
class Dump:
    """Valid records, and what they are judged by. Where splits are derived, all follow from the keys."""

    terms: Terms
    records: list[Record]


def holder(fields: Mapping[str, str]) -> str | None:
    """Return the object that is null when nothing was offered; None where label and confidence both are."""
    parent = fields["predicted"].rpartition(".")[0]
    alone = not any(fields[name].startswith(parent + ".") for name in ("model", "subject", "split", "truth"))
    return parent if parent and alone and parent == fields["confidence"].rpartition(".")[0] else None


def splits_of(rule: tuple[int, int, int] | None) -> dict[str, range]:
    """Return the first bytes of each split; splits without any are left out."""
    if rule is None:
        return dict.fromkeys(SPLITS, range(256))
    found = {"train": range(rule[0]), "validation": range(rule[0], rule[1]), "test": range(rule[1], 256)}
    return {split: values for split, values in found.items() if values}


@st.composite
def paths(draw: st.DrawFn) -> list[str]:
    """Draw nine paths of which none leads through another: flat, like the default ones, or of any depth."""
    kind = draw(st.sampled_from(["flat", "usual", "usual", "any", "deep"]))
    names = draw(st.permutations(PATH_NAMES))
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    found: list[str] = []
    if kind == "usual":
        m, w, f, g, p, label, c, x, y = names[:9]
        truth = rng.choice([f"{g}.{label}"] * 3 + [f"{p}.{m}"])
        found = [m, w, f, truth, f"{p}.{label}", f"{p}.{c}"]
        others = [f"{x}.{y}", f"{x}.{m}", y, f"{p}.{x}", f"{g}.{y}", f"{c}.{x}.{y}"]
        return found + rng.sample(others, 3)
    depths = {"flat": [1], "any": [1, 1, 2, 3], "deep": [2, 3, 4, 6]}[kind]
    while len(found) < 9:
        path = ".".join(rng.choice(names[:10]) for _ in range(rng.choice(depths)))
        if not any(f"{path}.".startswith(f"{one}.") or f"{one}.".startswith(f"{path}.") for one in found):
            found.append(path)
    return found


def label_sets() -> st.SearchStrategy[tuple[int | str, ...]]:
    """Draw label sets: whole numbers from -120 on, or one to eight odd texts."""
    starts = st.sampled_from([-120, -11, -3, -1, 0, 1, 8, 95, 998])
    wholes = st.builds(lambda low, size: tuple(range(low, low + size)), starts, st.integers(1, 14))
    return st.one_of(wholes, st.lists(st.sampled_from(ODD_LABELS), min_size=1, max_size=8, unique=True).map(tuple))


def split_rules() -> st.SearchStrategy[tuple[int, int, int] | None]:
    """Draw first bytes of validation and test and the digits of a key; None for declared splits."""
    edges = [(205, 230), (205, 230), (0, 1), (0, 255), (1, 2), (128, 192), (254, 255), (15, 16), (16, 160)]
    digits = st.sampled_from([2, 4, 8, 16, 64, 128])
    return st.one_of(st.none(), st.builds(lambda edge, size: (*edge, size), st.sampled_from(edges), digits))


@st.composite
def terms(draw: st.DrawFn) -> Terms:
    """Draw a contract, fields to stratify by, and now and then a policy."""
    found = draw(paths())
    fields = dict(zip(("model", "subject", "split", "truth", "predicted", "confidence"), found[:6], strict=True))
    by = tuple(found[6 : 6 + draw(st.sampled_from([0, 1, 1, 2]))])
    policy = None
    if draw(st.sampled_from([True, True, False])):
        floor = draw(st.sampled_from(["0", "0.5", "0.90", "0.95", "0.8", "1"]))
        accepted = draw(st.lists(st.sampled_from(["a", "b", "good", "1", "true", "unlabelled", "1.0"]), min_size=1))
        policy = Rules(floor, tuple(dict.fromkeys(accepted)), draw(st.sampled_from([*by, found[8]])))
    limits = {
        "macroF1": draw(st.sampled_from(["0.80", "0.5", "0", "1"])),
        "precisionAtCoverage": draw(st.sampled_from(["0.90", "0.6", "0.0", "1.00"])),
        "ece": draw(st.sampled_from(["0.05", "0.5", "1", "0"])),
    }
    bins = draw(st.sampled_from([10, 10, 1, 5, 15, 1000]))
    return Terms(fields, draw(label_sets()), draw(split_rules()), limits, bins, by, policy)


@st.composite
def dumps(draw: st.DrawFn, sizes: tuple[int, int] = (1, 40)) -> Dump:
    """Draw valid records of one to three models under any contract."""
    asked = draw(terms())
    rule = asked.split_rule
    splits = splits_of(rule)
    models = draw(model_lists())[:3]
    pools = _subjects(draw, rule, list(splits))
    weights = draw(st.sampled_from([["train", "validation", "test"], ["validation", "test"], ["test", "validation"]]))
    open_splits = [split for split in weights if split in splits] or list(splits)
    labels = draw(st.lists(st.sampled_from(asked.labels), min_size=1, max_size=5, unique=True))
    right = draw(st.sampled_from([[True], [True] * 9 + [False], [True, False]]))
    offered = draw(st.sampled_from([[True], [True, True, False]]))
    confidence = draw(confidence_kinds())
    values = {
        path: draw(st.lists(st.sampled_from((*_SCALARS, "good")), min_size=1, max_size=4)) for path in asked.extra
    }
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    records = []
    for _ in range(draw(st.integers(*sizes))):
        split, truth = rng.choice(open_splits), rng.choice(labels)
        guess = truth if rng.choice(right) else rng.choice(asked.labels)
        given = {"model": rng.choice(models), "subject": rng.choice(pools[split]), "split": split, "truth": truth}
        sure = draw(confidence) if rng.choice(offered) else None
        record = _record(asked.fields, given, guess, sure)
        for path in asked.extra:
            _put_scalar(record, path, rng.choice(values[path]), rng)
        records.append(record)
    return Dump(asked, records)


def _subjects(draw: st.DrawFn, rule: tuple[int, int, int] | None, splits: list[str]) -> dict[str, list[str]]:
    """Draw the contributors of each split; none is in two."""
    if rule is None:
        names = draw(st.permutations(ODD_KEYS))
        return {split: list(names[3 * place : 3 * place + 3]) for place, split in enumerate(splits)}
    rng = random.Random(draw(st.integers(0, 2**32 - 1)))
    found = {}
    for split, values in splits_of(rule).items():
        firsts = [values[0], values[-1], rng.choice(values)]
        found[split] = [f"{byte:02x}" + "".join(rng.choices("0123456789abcdef", k=rule[2] - 2)) for byte in firsts]
    return found


def _record(fields: Mapping[str, str], given: Mapping[str, Any], guess: Any, confidence: float | None) -> Record:
    record: Record = {}
    for name, value in given.items():
        put_at(record, fields[name], value)
    parent = holder(fields)
    if confidence is None and parent is not None:
        put_at(record, parent, None)
    else:
        put_at(record, fields["predicted"], None if confidence is None else guess)
        put_at(record, fields["confidence"], confidence)
    return record


def put_at(record: Record, path: str, value: Any) -> None:
    """Put a value at a dotted path."""
    *outer, last = path.split(".")
    for name in outer:
        record = record.setdefault(name, {})
    record[last] = value


def _put_scalar(record: Record, path: str, value: Any, rng: random.Random) -> None:
    """Put a scalar where its way is free; one that is absent may be so because its way ends in null."""
    names = path.split(".")
    place: Any = record
    for depth, name in enumerate(names[:-1], 1):
        if name not in place:
            if rng.random() < 0.2:
                put_at(record, ".".join(names[:depth]), None)
                return
            break
        place = place[name]
        if place is None:
            return
    if rng.random() < 0.8:
        put_at(record, path, value)


def raw(value: Any) -> Any:
    """Copy a record so that its written numbers are spelled as they are."""
    if isinstance(value, Written):
        return Raw(value)
    return {key: raw(member) for key, member in value.items()} if isinstance(value, dict) else value


def plain(record: Record, seed: int | None = None) -> str:
    """Write a record as a compact line; with a seed, with its keys in another order."""
    return spell(raw(record), Style(seed is not None, False, False, False, False, seed or 0))


def odd_spellings(record: Record) -> st.SearchStrategy[str]:
    """Draw lines that mean this record, written numbers included."""
    return spellings(raw(record))


def mistaken(text: str, asked: Terms) -> st.SearchStrategy[str]:
    """Draw a line with one or two values replaced by some that would be right elsewhere, or nearly."""
    seeds = st.lists(st.integers(0, 2**32 - 1), min_size=1, max_size=2)
    return seeds.map(lambda found: _mistaken(text, asked, found))


def _mistaken(text: str, asked: Terms, seeds: Iterable[int]) -> str:
    for seed in seeds:
        rng = random.Random(seed)
        tokens = TOKEN.findall(text)
        found = _members(tokens)
        if not found:
            break
        _, value, end = rng.choice(found)
        label, digits = rng.choice(asked.labels), 16 if asked.split_rule is None else asked.split_rule[2]
        first = f"{rng.choice([0, 1, 0x7F, 0x80, 0xCC, 0xCD, 0xE5, 0xE6, 0xFF]):02x}"
        pieces = [
            json.dumps(label),
            json.dumps(str(label)),
            json.dumps(f"{label}s"),
            json.dumps(label, ensure_ascii=False),
        ]
        pieces += [f'"{first}{"0" * (digits - drop)}"' for drop in (1, 2, 3, 4)] + [f'"{first}"', '"train"', '"test"']
        pieces += [
            "null",
            "{}",
            "[]",
            '"x"',
            '"\\u0000"',
            "true",
            "1",
            "1e400",
            "-0",
            '{"x":1}',
            '{"site":null}',
            '" "',
        ]
        pieces += ["0.5", '"\\u2003x"', '"\x1cx"', '"\\u001fx"', f'{{{json.dumps(rng.choice(PATH_NAMES))}:"x"}}']
        text = "".join([*tokens[:value], rng.choice(pieces), *tokens[end:]])
    return text
