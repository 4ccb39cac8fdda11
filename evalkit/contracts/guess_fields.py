"""Which of the columns of some records is which field of a contract: by name, by form, and by what goes together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from evalkit.contracts.contract import SPLITS
from evalkit.contracts.guess_columns import Column, Columns, on_one_way
from evalkit.errors import printable
from evalkit.records.strict_json import show


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


WORDS: Mapping[str, frozenset[str]] = {
    "model": _words("model candidate system engine classifier checkpoint variant"),
    "subject": _words(
        "subject contributor person patient participant user author customer client speaker writer donor"
    ),
    "split": _words("split fold subset partition"),
    "truth": _words("truth true label gold target actual reference expected annotation"),
    "predicted": _words("predicted prediction pred guess output suggestion suggested proposed hypothesis"),
    "confidence": _words("confidence conf score prob probability p certainty"),
}
"""Words in a path that hint at what stands there."""

_SPLIT_LIKE = _words("train training val valid validation dev development eval test testing holdout")
_RENAME = "evalkit takes train, validation and test only, so write these"
_SHOWN = 8
_LONGEST = 60
_MOST_PAIRED = 60
"""Most columns of which every two are held against each other as truth and prediction."""


@dataclass(frozen=True, slots=True)
class Choice:
    """What was decided about one field.

    Attributes:
        column: The column; None where it is undecided.
        note: Why; where it is undecided, what it might be.
        among: The column, or those of which it seems to be one.
    """

    column: Column | None
    note: str
    among: tuple[Column, ...] = ()


def choose(columns: Columns) -> dict[str, Choice]:
    """Decide about each field of a contract.

    >>> from evalkit.contracts.guess_columns import columns_of
    >>> found = choose(columns_of([{"gold": {"class": "cat"}, "label": "cat", "prediction": {"class": "cat"}}]))
    >>> found["truth"].note, found["predicted"].column.path
    ('gold.class, label', 'prediction.class')
    """
    left = list(columns.known.values())
    found: dict[str, Choice] = {}

    def take(field: str, choice: Choice) -> None:
        nonlocal left
        found[field] = choice
        if (column := choice.column) is not None:  # a contract takes no two paths of which one leads through the other
            left = [one for one in left if not on_one_way(one.path, column.path)]

    for field, decide in (("split", _split), ("subject", _subject), ("confidence", _confidence), ("model", _model)):
        take(field, decide(left))
    truth, predicted = _labels(left, found["confidence"].column)
    take("truth", truth)
    take("predicted", predicted)
    if found["model"].column is None:  # what turned out to be a label is none of those that it might be
        take("model", _model(left))
    return found


def listed(names: Iterable[str]) -> str:
    """Join names, of many only the first."""
    shown = [printable(name if len(name) <= _LONGEST else name[:_LONGEST] + "…") for name in names]
    return ", ".join(shown[:_SHOWN]) + (f" and {len(shown) - _SHOWN:,} more" if len(shown) > _SHOWN else "")


def _hinted(field: str) -> Callable[[Column], bool]:
    return lambda column: not WORDS[field].isdisjoint(column.words)


def _plain(field: str) -> Callable[[Column], bool]:
    """Make a test for a name that hints at no other field."""
    others = frozenset().union(*(words for other, words in WORDS.items() if other != field))
    return lambda column: others.isdisjoint(column.words)


def _narrowed(candidates: Sequence[Column], *tests: Callable[[Column], bool]) -> Sequence[Column]:
    """Keep those that pass a test, as long as there are several and some do."""
    for test in tests:
        if len(candidates) > 1:
            candidates = [one for one in candidates if test(one)] or candidates
    return candidates


def _undecided(field: str, candidates: Sequence[Column], known: Sequence[Column]) -> Choice:
    """Name what a field might be; where none of that has the name of such a field, also what has but does not fit."""
    words = [listed(sorted(one.path for one in candidates)) or "no field fits"]
    if not any(map(_hinted(field), candidates)):
        unfit = [one for one in known if _hinted(field)(one) and _plain(field)(one)]
        describe = kind_of if field == "subject" else described  # a key may be a name or an address
        words += [f"{listed([one.path])} holds {describe(one)}{_gaps(one)}" for one in unfit[:3]]
    return Choice(None, "; ".join(words))


def _gaps(column: Column) -> str:
    empty = column.total - len(column.values)
    return f"; none in {many(empty, 'record')} of {column.total:,}" if empty else ""


def many(count: int, what: str) -> str:
    """Count things in words."""
    return f"1 {what}" if count == 1 else f"{count:,} {what}s"


def kind_of(column: Column) -> str:
    """Say what kind of values a column holds, and none of them."""
    if column.kinds <= {int, float}:
        return "whole numbers" if column.kinds == {int} else "numbers"
    if column.is_text:
        return many(len(column.distinct), "text")
    return "true or false" if column.kinds == {bool} else "values of another type"


def described(column: Column) -> str:
    """Say what kind of values a column holds, and which: of texts a few, of numbers the smallest and the largest."""
    if column.is_text and len(column.distinct) <= _SHOWN:
        return listed(sorted(column.distinct))
    if column.kinds <= {int, float}:
        low, high = min(column.distinct), max(column.distinct)
        return (
            f"{kind_of(column)} from {show(low)} to {show(high)}" if low < high else f"{show(low)} and no other number"
        )
    return kind_of(column)


def _split(known: Sequence[Column]) -> Choice:
    fitting = _narrowed(
        [one for one in known if one.is_text and one.distinct <= set(SPLITS)],
        _hinted("split"),
        lambda one: one.complete,
        _plain("split"),
    )
    if len(fitting) == 1:
        return Choice(fitting[0], ", ".join(split for split in SPLITS if split in fitting[0].distinct))
    if fitting:
        return _undecided("split", fitting, known)
    for one in known:
        names = {value.lower() for value in one.distinct} if one.is_text else set()
        if names and names <= _SPLIT_LIKE and (len(names) > 1 or _hinted("split")(one)):
            return Choice(None, f"{listed([one.path])} holds {listed(sorted(one.distinct))}; {_RENAME}")
    return _undecided("split", (), known)


def _subject(known: Sequence[Column]) -> Choice:
    texts = [one for one in known if one.is_text]
    by_name = [one for one in texts if _hinted("subject")(one)]
    by_form = [one for one in texts if one.is_hexadecimal and one.repeats]  # else each may be the key of one record
    fitting = _narrowed(by_name or by_form, lambda one: one.is_hexadecimal, lambda one: one.complete, _plain("subject"))
    if len(fitting) == 1:
        digits = f" of {len(next(iter(fitting[0].distinct)))} hexadecimal digits" if fitting[0].is_hexadecimal else ""
        return Choice(fitting[0], kind_of(fitting[0]) + digits)
    return _undecided("subject", fitting or [one for one in texts if one.complete and not one.is_few], known)


def _confidence(known: Sequence[Column]) -> Choice:
    shares = [one for one in known if float in one.kinds and one.is_share]
    fitting = _narrowed(shares, _hinted("confidence"), _hinted("predicted"), lambda one: not _hinted("truth")(one))
    broken = any(value % 1 for one in fitting for value in one.distinct)
    if len(fitting) == 1 and (broken or _hinted("confidence")(fitting[0])):
        return Choice(fitting[0], described(fitting[0]))
    return _undecided("confidence", fitting, known)


def _model(known: Sequence[Column]) -> Choice:
    texts = [one for one in known if one.is_text and one.complete]
    by_name = [one for one in texts if _hinted("model")(one)]
    fitting = _narrowed(by_name, _plain("model"), lambda one: one.is_few)
    if len(fitting) == 1:
        return Choice(fitting[0], listed(sorted(fitting[0].distinct)))
    return _undecided("model", fitting or [one for one in texts if one.is_few], known)


def _labels(known: Sequence[Column], confidence: Column | None) -> tuple[Choice, Choice]:
    """Decide about truth and prediction together: they hold the same labels."""
    labels = [one for one in known if one.is_label]
    hinted = [one for one in labels if _hinted("truth")(one) or _hinted("predicted")(one)]
    paired = labels if len(labels) <= _MOST_PAIRED else hinted[:_MOST_PAIRED]
    scored = [(_points(truth, guess, confidence), truth, guess) for truth in paired for guess in paired]
    best = max((points for points, _, _ in scored), default=0)
    pairs = [(truth, guess) for points, truth, guess in scored if points == best > 0]
    truths = {truth.path: truth for truth, _ in pairs}
    guesses = {guess.path: guess for _, guess in pairs}
    if len(truths) == 1:
        name = pairs[0][0].name
        guesses = {one.path: one for one in _narrowed(list(guesses.values()), lambda one: one.name == name)}
    if not pairs:
        guesses = {one.path: one for one in labels if _hinted("predicted")(one)}
        truths = {one.path: one for one in hinted if one.complete and not _any_on_way(one, guesses)}
    left = [one for one in labels if one.path not in {*truths, *guesses}]
    return _one_of("truth", truths, left, known), _one_of("predicted", guesses, left, known)


def _any_on_way(column: Column, paths: Iterable[str]) -> bool:
    return any(on_one_way(column.path, path) for path in paths)


def _one_of(field: str, found: Mapping[str, Column], others: Sequence[Column], known: Sequence[Column]) -> Choice:
    among = tuple(found.values())
    if len(among) != 1:
        return replace(_undecided(field, among or others, known), among=among)
    return Choice(among[0], described(among[0]) + _gaps(among[0]), among)


def _points(truth: Column, guess: Column, confidence: Column | None) -> int:
    """Count what speaks for one column as the truth and another as the prediction; 0 where something speaks against."""
    shared = len(truth.distinct & guess.distinct)
    alike = truth.kinds == guess.kinds and 2 * shared >= min(len(truth.distinct), len(guess.distinct))
    together = confidence is not None and guess.values.keys() == confidence.values.keys()
    if (
        on_one_way(truth.path, guess.path)
        or not truth.complete
        or not alike
        or not (guess.complete or confidence is None or together)
    ):
        return 0
    is_truth, is_guess = (_hinted("truth")(truth), _hinted("predicted")(guess))
    null_together = together and not guess.complete
    if not is_guess and (_hinted("predicted")(truth) or (_hinted("truth")(guess) and not null_together)):
        return 0
    beside = confidence is not None and guess.parent == confidence.parent != truth.parent
    return (is_truth and not _hinted("predicted")(truth)) + is_guess + null_together + beside
