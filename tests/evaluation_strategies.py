"""Random predictions with their gold: what `evalkit evaluate` accepts, in every shape and spelling.

`pair()` makes one up from a random generator, many rows at once, since a run costs the same for ten rows as for a
thousand; `pairs()` draws small ones through Hypothesis, which shrinks them by rows and by switches.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import strategies
from hypothesis import strategies as st
from strategies import EDGES, EXTRA_KEYS, EXTRA_LITERALS, EXTRA_NUMBERS, EXTRA_TEXTS, Raw, Style

Line = dict[str, Any]

PLACES = 10**15
TOLERANCE = 10**12
"""The largest deviation of a sum from 1 that is accepted unasked, in units of 10^-15."""

MARK = b"\xef\xbb\xbf"
FIELDS = {
    "predictions": ("id", "option_ids", "probabilities", "label", "model"),
    "gold": ("id", "gold", "family", "positive"),
}
"""The fields that have a meaning on each side; whatever else stands there is ignored."""

# fmt: off
ODD_IDS = (
    "1", "01", "1.0", "1e0", "+1", "-1", "001", "0", "-0", "1_0", "9007199254740993", "9007199254740992", "true",
    "null", "NaN", "nan", "2026-01-05", "a", "A", "a ", " a", "\u00e9", "e\u0301", "\u4e2d", "\U0001f600", "\uffff",
    "\U0010ffff", 'a"b', "a\\b", "\\u0061", "x\ty", "x\ny", "x\u2028y", "x\x1fy", "x\x7fy", "\ufb01", "fi", "\u0130",
    "i\u0307", "Stra\u00dfe", "STRASSE", "," * 3, "[1]", "{}", "'", "x" * 200, "\u200b", "\u202ex",
)
ODD_OPTIONS = (
    "a", "b", "c", "A", "a ", "0", "1", "01", "1.0", "yes", "no", "true", "false", "True", "null", "None", "\u00e9",
    "e\u0301", "\u4e2d", "\U0001f600", "\uffff", 'q"', "\\", "x\ny", "a,b", "[", "unlabelled", "overall", "o" * 60,
)
FAMILIES = (
    "ink-light", "ink", "overall", "unlabelled", "by_family", "1", "01", "\u00e9", "e\u0301", "Z", "a", "\U0001f600",
    "\uffff", 'f"',
)
MODELS = ("m", "M", "m ", "1", "01", "overall", "\u00e9", "e\u0301", "\U0001f600", "\uffff", "2026-01-05", 'q"')
# fmt: on


@dataclass(frozen=True)
class Shape:
    """What a pair is made of.

    Attributes:
        rows: How many gold lines.
        models: How many models; 0 leaves the field out.
        whole: Every row has a vector, and all have the same number of options.
        odd: Ids, options and families hold what is easy to get wrong.
        tight: Options come from a few, so that classes have many rows.
    """

    rows: int
    models: int = 0
    whole: bool = False
    odd: bool = True
    tight: bool = True


@dataclass(frozen=True)
class Pair:
    """Predictions and gold, as parsed lines."""

    predictions: list[Line]
    gold: list[Line]

    def shuffled(self, rng: random.Random) -> Pair:
        """Return both sides in another order."""
        return Pair(rng.sample(self.predictions, len(self.predictions)), rng.sample(self.gold, len(self.gold)))


def pair(rng: random.Random, shape: Shape) -> Pair:
    """Make up predictions and gold of this shape."""
    gold: list[Line] = []
    predictions: list[Line] = []
    models = [None] if shape.models == 0 else rng.sample(MODELS, shape.models)
    width = rng.choice([1, 2, 2, 3, 4, 5, 8])
    families = rng.sample(FAMILIES, rng.choice([1, 2, 5]))
    for name in ids(rng, shape):
        options = option_list(rng, shape, width)
        line: Line = {"id": name, "gold": rng.choice(options)}
        maybe(rng, line, "family", rng.choice(families), shape)
        if rng.random() < 0.3:
            maybe(rng, line, "positive", rng.choice(options), shape)
        gold.append(line)
        heard = [model for model in models if shape.whole or rng.random() < 0.9]
        predictions += [prediction(rng, name, other_order(rng, options), model, shape) for model in heard]
    if not predictions:
        predictions.append(prediction(rng, gold[0]["id"], [gold[0]["gold"]], models[0], replace(shape, whole=True)))
        gold[0].pop("positive", None)
    return Pair(predictions, gold).shuffled(rng)


def ids(rng: random.Random, shape: Shape) -> list[str]:
    """Make up different ids, those first that look like something else."""
    odd = rng.sample(ODD_IDS, min(len(ODD_IDS), shape.rows)) if shape.odd else []
    return odd + [f"{rng.choice('abcx-')}{number:05d}" for number in range(shape.rows - len(odd))]


def option_list(rng: random.Random, shape: Shape, width: int) -> list[str]:
    """Make up one to eight different options."""
    if not shape.whole and rng.random() < 0.25:
        return rng.choice([["true", "false"], ["false", "true"]])
    known = (ODD_OPTIONS if shape.odd else ("a", "b", "c", "d", "e", "f", "g", "h"))[: 12 if shape.tight else None]
    return rng.sample(known, min(width if shape.whole else rng.choice([1, 2, 2, 3, 4, 6, 8]), len(known)))


def other_order(rng: random.Random, options: list[str]) -> list[str]:
    """Return the options as they are, or now and then in another order."""
    return options if rng.random() < 0.7 else rng.sample(options, len(options))


def maybe(rng: random.Random, line: Line, field: str, value: str, shape: Shape) -> None:
    """Set a field, or set it to null, or leave it out."""
    chance = rng.random()
    if chance < 0.7:
        line[field] = value
    elif chance < 0.85:
        line[field] = None


def prediction(rng: random.Random, name: str, options: list[str], model: str | None, shape: Shape) -> Line:
    """Make up one prediction: with a vector, with a label only, or with neither."""
    line: Line = {"id": name, "option_ids": options}
    chance = 0.0 if shape.whole else rng.random()
    if chance < 0.8:
        line["probabilities"] = vector(rng, len(options))
        if rng.random() < 0.3:
            line["label"] = rng.choice([None, options[0], options[-1], "no such option"])
    elif chance < 0.9:
        line.update({"label": rng.choice(options)} | ({"probabilities": None} if rng.random() < 0.5 else {}))
    else:
        line.update({"label": None} if rng.random() < 0.5 else {})
        line.update({"probabilities": None} if rng.random() < 0.5 else {})
    return line if model is None else {**line, "model": model}


# --- vectors


def vector(rng: random.Random, size: int) -> list[float]:
    """Make up a vector whose sum is close enough to 1."""
    made = rng.choice(VECTORS)(rng, size)
    assert abs(sum(round(one * 1e15) for one in made) - PLACES) <= TOLERANCE, made
    return made


def shares(rng: random.Random, size: int) -> list[float]:
    """Divide by the sum: all 17 digits of a float."""
    parts = [rng.random() ** 3 + 1e-9 for _ in range(size)]
    return [part / sum(parts) for part in parts]


def tenths(rng: random.Random, size: int) -> list[float]:
    """Share out ten tenths: many ties, and confidences on the edges of bins."""
    counts = [0] * size
    for _ in range(10):
        counts[rng.randrange(size)] += 1
    return [count / 10 for count in counts]


def even(_rng: random.Random, size: int) -> list[float]:
    """Give all the same."""
    return [1 / size] * size


def sure(rng: random.Random, size: int) -> list[float]:
    """Give all to one, so that gold may have nothing; zeros of either sign."""
    made = [rng.choice([0.0, -0.0]) for _ in range(size)]
    made[rng.randrange(size)] = 1.0
    return made


def nearly_sure(rng: random.Random, size: int) -> list[float]:
    """Give next to nothing to all but one, around the floor of the logarithm."""
    tiny = (1e-12, math.nextafter(1e-12, 0), math.nextafter(1e-12, 1), 5e-13, 1e-15, 5e-16, 4e-16, 1e-300, 5e-324, 1e-6)
    made = [rng.choice(tiny) for _ in range(size)]
    made[rng.randrange(size)] = rng.choice([1.0, math.nextafter(1.0, 0), 1 - 1e-6])
    return made


def at_an_edge(rng: random.Random, size: int) -> list[float]:
    """Put one on the edge of a bin or next to it, and share out the rest."""
    top = rng.choice(EDGES) if size > 1 else rng.choice([one for one in EDGES if one > 0.9995])
    rest = (1 - top) / max(size - 1, 1)
    made = [rest] * size
    made[rng.randrange(size)] = top
    return made


def cut_short(rng: random.Random, size: int) -> list[float]:
    """Keep four places, so that the sum is off by a little."""
    return [round(part, 4) for part in shares(rng, size)]


def off_by_all_that_is_allowed(rng: random.Random, size: int) -> list[float]:
    """Let the sum be off by exactly the tolerance, either way where there is room."""
    made = tenths(rng, size)
    top = made.index(max(made))
    made[top] = round(made[top] + (-0.001 if size == 1 or made[top] > 0.99 else rng.choice([-0.001, 0.001])), 3)
    return made


VECTORS: tuple[Callable[[random.Random, int], list[float]], ...] = (
    *(shares, shares, tenths, tenths, even, sure, nearly_sure, at_an_edge, cut_short, off_by_all_that_is_allowed),
)


# --- spellings


def plain(lines: Iterable[Line]) -> bytes:
    """Write lines in the plainest way."""
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


def spelled(rng: random.Random, lines: Iterable[Line], side: str) -> bytes:
    """Write lines in odd ways that mean the same: order of keys, blanks, escapes, numbers, other fields, line ends."""
    end = rng.choice(["\n", "\r\n"])
    pieces = [MARK.decode() if rng.random() < 0.5 else ""]
    for line in lines:
        pieces.extend([" " * rng.randrange(2), end] if rng.random() < 0.05 else [])
        flags = [rng.random() < 0.5 for _ in range(4)]
        style = Style(flags[0], flags[1], flags[2], numbers=False, extras=False, seed=rng.randrange(2**32))
        given = with_numbers(rng, line) if flags[3] else line
        pieces += [strategies.spell(with_extras(rng, given, side), style), end]
    if rng.random() < 0.5:
        pieces.pop()
    return "".join(pieces).encode()


def with_numbers(rng: random.Random, line: Line) -> Line:
    """Spell every number in another way that is read as the same float."""
    given = line.get("probabilities")
    if given is None:
        return line
    return {**line, "probabilities": [Raw(number(rng, one)) for one in given]}


def number(rng: random.Random, value: float) -> str:
    """Spell a number so that it is read as this float; zero keeps no sign."""
    return rng.choice(strategies.number_spellings(abs(value)))


def with_extras(rng: random.Random, line: Line, side: str) -> Line:
    """Add fields that mean nothing on this side."""
    other = [name for fields in FIELDS.values() for name in fields]
    free = sorted({*EXTRA_KEYS, *other} - {*FIELDS[side]})
    return {**line, **{key: extra(rng, 2) for key in rng.sample(free, rng.choice([0, 0, 1, 2]))}}


def extra(rng: random.Random, depth: int) -> Any:
    """Make up a value of any kind."""
    kind = rng.randrange(4 if depth else 2)
    if kind == 0:
        return rng.choice(EXTRA_TEXTS)
    if kind == 1:
        return Raw(rng.choice((*EXTRA_NUMBERS, *EXTRA_LITERALS)))
    if kind == 2:
        return [extra(rng, depth - 1) for _ in range(rng.randrange(3))]
    return {key: extra(rng, depth - 1) for key in rng.sample(EXTRA_KEYS, rng.randrange(3))}


def dealt(rng: random.Random, lines: Sequence[Line], files: int) -> list[list[Line]]:
    """Deal lines out to files, each of which gets at least one where there are enough."""
    hands: list[list[Line]] = [[] for _ in range(min(files, len(lines)))]
    for at, line in enumerate(rng.sample(lines, len(lines))):
        hands[at if at < len(hands) else rng.randrange(len(hands))].append(line)
    return hands


@st.composite
def pairs(draw: st.DrawFn) -> Pair:
    """Draw a small pair."""
    flag = st.booleans()
    models = draw(st.sampled_from([0, 0, 1, 2, 3]))
    shape = Shape(draw(st.integers(1, 25)), models, whole=draw(flag), odd=draw(flag), tight=draw(flag))
    return pair(random.Random(draw(st.integers(0, 2**16))), shape)
