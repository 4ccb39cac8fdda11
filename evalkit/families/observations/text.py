"""How far recorded text is from its reference: character and word edits, summed over cases, as whole numbers.

Text stays as it is: spaces, case and code points. A character is a code point; words are what ``str.split()`` gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from operator import ne
from typing import Any, NamedTuple

from rapidfuzz.distance import LCSseq, Levenshtein

from evalkit.exact import Exact, Ratio
from evalkit.metric import metric

_HINTED = 128
"""Characters from which a guess of the distance pays: it picks the width of the band that is searched first."""

_GUESS = 14
"""One edit in so many characters is the guess; any other gives the same distance, only later."""

_distance = Levenshtein.distance

_SURE = 3
"""Words that differ where they stand, of equally many, below which no shift can be shorter: it takes two edits."""

_CODES = 0x110000
"""How many characters there are to number words with."""

_OTHER = chr(0)
"""The sign of every word that the reference does not have."""

_SIGNS = tuple(map(chr, range(1, 4096)))
"""The first signs of those that it has, which nearly always suffice."""


class OcrCounts(NamedTuple):
    """Sums over cases of recorded text.

    Attributes:
        cases: The cases.
        char_edits: Insertions, deletions and substitutions of characters, the fewest that lead from one to the other.
        ref_chars: Characters of the references.
        word_edits: The same of words.
        ref_words: Words of the references.
    """

    cases: int = 0
    char_edits: int = 0
    ref_chars: int = 0
    word_edits: int = 0
    ref_words: int = 0


def count_ocr(cases: Iterable[Mapping[str, Any]]) -> OcrCounts:
    """Sum over cases.

    >>> count_ocr([{"reference": "ab cd", "output": "ab  ce"}])
    OcrCounts(cases=1, char_edits=2, ref_chars=5, word_edits=1, ref_words=2)
    """
    number = char_edits = ref_chars = word_edits = ref_words = 0
    for case in cases:
        reference, output = case["reference"], case["output"]
        words = reference.split()
        number += 1
        ref_chars += len(reference)
        ref_words += len(words)
        if reference != output:
            char_edits += character_edits(reference, output)
            word_edits += item_edits(words, output.split())
    return OcrCounts(number, char_edits, ref_chars, word_edits, ref_words)


def character_edits(reference: str, output: str) -> int:
    """Return the Levenshtein distance of two texts in code points.

    >>> character_edits("a😀b", "ab")
    1
    """
    if len(reference) < _HINTED:
        return _distance(reference, output)
    return _distance(reference, output, score_hint=len(reference) // _GUESS)


def item_edits(reference: Sequence[str], output: Sequence[str]) -> int:
    """Return the Levenshtein distance of two sequences of words, each word one unit.

    Of words that stand as lists the library compares hashes, so that its distance may be too small, and never too
    great. Where it is as great as replacing word for word, it is right.

    >>> item_edits("the cat sat".split(), "the cat".split())
    1
    """
    if len(reference) == len(output):
        replaced: int = sum(map(ne, reference, output))
        if replaced < _SURE or (2 * replaced < len(reference) and _distance(reference, output) == replaced):
            return replaced
    return _distance(*numbered(reference, output))


def items_kept(reference: Sequence[str], output: Sequence[str]) -> int:
    """Return the length of the longest common subsequence of two sequences of words.

    >>> items_kept("a b c d".split(), "b a c".split())
    2
    """
    return len(reference) if reference == output else LCSseq.similarity(*numbered(reference, output))


def numbered(reference: Sequence[str], output: Sequence[str]) -> tuple[Any, Any]:
    """Write two sequences of words with one sign for each distinct word of the first, and one for all others.

    Signs are equal exactly where the words are, and hashes of words only nearly always.

    >>> left, right = numbered(["x", "yy"], ["yy"])
    >>> left[1] == right, left[0] == right
    (True, False)
    """
    if len(reference) <= len(_SIGNS):
        sign = dict(zip(reference, _SIGNS, strict=False))
    elif len(reference) < _CODES:
        sign = dict(zip(reference, map(chr, range(1, _CODES)), strict=False))
    else:
        numbers = dict(zip(reference, range(len(reference)), strict=True))
        return [numbers[word] for word in reference], [numbers.get(word, -1) for word in output]
    return "".join(map(sign.__getitem__, reference)), "".join(map(sign.get, output, repeat(_OTHER)))


@metric("OCR CER", "lower", "no-reference-characters", high=None)
def cer(counts: OcrCounts) -> Exact:
    """Character error rate: Σ character edits / Σ reference characters. Insertions can take it above 1.

    A case with an empty reference adds its insertions and no length. A long page weighs more than a short one.

    >>> cer(OcrCounts(cases=2, char_edits=2, ref_chars=20))
    Ratio(numerator=2, denominator=20)
    """
    return Ratio(counts.char_edits, counts.ref_chars)


@metric("OCR WER", "lower", "no-reference-words", high=None)
def wer(counts: OcrCounts) -> Exact:
    """Word error rate: Σ word edits / Σ reference words, words as Python's ``str.split()`` cuts them.

    >>> wer(OcrCounts(cases=2, word_edits=1, ref_words=2))
    Ratio(numerator=1, denominator=2)
    """
    return Ratio(counts.word_edits, counts.ref_words)


@metric("OCR fidelity", "higher", "no-reference-characters")
def fidelity(counts: OcrCounts) -> Exact:
    """``max(0, 1 − OCR CER)``, the only number here that is clamped.

    >>> fidelity(OcrCounts(cases=1, char_edits=4, ref_chars=2))
    Ratio(numerator=0, denominator=2)
    """
    return Ratio(max(0, counts.ref_chars - counts.char_edits), counts.ref_chars)
