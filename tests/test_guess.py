"""Guessing a contract: what is told from records, what is left open, and that neither can be mistaken."""

from __future__ import annotations

import json
import time
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalkit.contracts.contract import BRISTOL, Contract, Fields, SplitRule
from evalkit.contracts.contract_toml import read_contract
from evalkit.contracts.guess import Guess, guess
from evalkit.errors import Refusal

FIXTURES = Path(__file__).parent.parent / "data-fixtures"

KEYS = {"train": "0{}00000000abcdef", "validation": "d{}00000000abcdef", "test": "f{}00000000abcdef"}
"""Keys that derive their split by the usual limits; the second digit is the contributor."""


def records(**changes: Any) -> list[dict[str, Any]]:
    """Make 36 sound records of 12 contributors; a field is replaced by a value, or by a list to take from in turn."""
    found = []
    for number in range(36):
        split = ("train", "validation", "test")[number % 3]
        found.append(
            {
                "model": ("owl", "wren")[number % 2],
                "person": KEYS[split].format(number % 12 // 3),
                "fold": split,
                "label": ("cat", "dog", "eel", "cat")[number % 4],
                "guess": ("cat", "dog", "dog", "eel")[number % 4],
                "score": (number + 1) / 40,
            }
        )
    for name, value in changes.items():
        for number, record in enumerate(found):
            record[name] = value[number % len(value)] if isinstance(value, list) else value
    return found


def without(name: str) -> list[dict[str, Any]]:
    """Make the same records without a field."""
    return [{key: value for key, value in record.items() if key != name} for record in records()]


def read(found: Guess, folder: Path) -> Contract:
    """Read a guessed contract as a file."""
    path = folder / "guessed.toml"
    path.write_text(found.to_toml(), "utf-8")
    return read_contract(str(path))


def refused_settings(found: Guess, folder: Path) -> set[str | None]:
    """Return the settings for which a guessed contract is refused."""
    try:
        read(found, folder)
    except Refusal as refusal:
        return {one.field for one in refusal.violations}
    return set()


USUAL = Fields("model", "person", "fold", "label", "guess", "score")


# what is told


def test_a_sound_dump_is_told_whole(tmp_path: Path) -> None:
    """Records with telling names are guessed whole: fields, labels, keys with the usual limits."""
    found = guess(records())
    assert found.undecided == {}
    assert read(found, tmp_path) == Contract(USUAL, labels=("cat", "dog", "eel"))
    assert found.remarks == ["All of them are sound under this contract."]


@pytest.mark.parametrize("name", ["selective/go.jsonl", "real/selective.jsonl"])
def test_the_default_contract_is_found_again(name: str, tmp_path: Path) -> None:
    """From a dump of the default contract the default contract is guessed."""
    lines = (FIXTURES / name).read_text("utf-8").splitlines()[:1000]
    assert read(guess([json.loads(line) for line in lines]), tmp_path) == BRISTOL


def test_each_decision_has_its_reason() -> None:
    """Beside each setting stands what it rests on."""
    assert (
        guess(records()).to_toml()
        == """\
# Guessed from 36 records. Check each setting before you use it.
# All of them are sound under this contract.

bins = 10  # confidence bins of equal width

# Where each thing stands in a record, as dotted paths.
[fields]
model = "model"  # owl, wren
subject = "person"  # 12 texts of 16 hexadecimal digits
split = "fold"  # train, validation, test
truth = "label"  # cat, dog, eel
predicted = "guess"  # cat, dog, eel
confidence = "score"  # numbers from 0.025 to 0.9

[labels]
names = ["cat", "dog", "eel"]  # the 3 labels seen in 36 records: add those that others hold.

[splits]
rule = "key"  # all of the 12 keys seen derive their split by the usual limits
train_below = 205  # first bytes 00-cc train
validation_below = 230  # cd-e5 validation, e6-ff test
key_digits = 16

# What a candidate must reach on test, inclusive: decimals from 0 to 1, exact.
[limits]
macroF1 = "0.80"  # at least
precisionAtCoverage = "0.90"  # at least
ece = "0.05"  # at most
"""
    )


def test_prediction_and_confidence_may_be_null_together() -> None:
    """What is null in the same records as the confidence is the prediction, whatever its name."""
    rows = records(answer=["cat", None, "eel", "cat"], score=[0.5, None, 0.75, 0.25])
    for row in rows:
        del row["guess"]
    found = guess(rows)
    assert found.settings["fields.predicted"] == "answer"
    assert found.notes["fields.predicted"] == "cat, eel; none in 9 records of 36"
    assert found.remarks == ["All of them are sound under this contract."]


def test_an_object_may_be_null() -> None:
    """A null object offers nothing; nested fields are named by dotted paths."""
    offered = [{"cls": 1, "p": 0.5}, None, {"cls": 3, "p": 0.75}]
    rows = [
        {"engine": {"name": "a"}, "user": {"id": "u1"}, "split": "test", "gold": {"cls": 2 + n % 2}, "out": out}
        for n, out in enumerate(offered * 4)
    ]
    found = guess(rows)
    assert [found.settings[f"fields.{name}"] for name in ("model", "subject", "truth", "predicted", "confidence")] == [
        *("engine.name", "user.id", "gold.cls", "out.cls", "out.p")
    ]
    assert (found.settings["labels.from"], found.settings["labels.to"]) == (1, 3)


def test_keys_of_another_rule_give_other_limits(tmp_path: Path) -> None:
    """Where first bytes separate the splits, limits that fit are written, with what was seen and that it is a guess."""
    first = {"train": "1a", "validation": "90", "test": "a0"}
    rows = [row | {"person": f"{first[row['fold']]}{n % 12:06x}"} for n, row in enumerate(records())]
    found = guess(rows)
    assert read(found, tmp_path).split_rule == SplitRule(train_below=144, validation_below=160, key_digits=8)
    assert found.notes["splits.rule"] == (
        "first bytes of the 12 keys seen: 1a train, 90 validation, a0 test; the limits fit these, check them"
    )


@pytest.mark.parametrize(
    ("person", "why"),
    [
        (
            ["f0000000000000ab", "00000000000000ab", "d0000000000000ab"],
            "first bytes of the 3 keys seen do not separate the splits; only leaks are checked",
        ),
        (
            ["ann", "bob", "cy"],
            "keys are not lower-case hexadecimal digits of one even length; only leaks are checked",
        ),
        (
            ["0A000000", "D0000000", "F0000000"],
            "keys are not lower-case hexadecimal digits of one even length; only leaks are checked",
        ),
    ],
)
def test_other_splits_are_declared(person: list[str], why: str, tmp_path: Path) -> None:
    """Where keys derive no split, splits are taken as declared, and the reason is given."""
    found = guess(records(person=person))
    assert read(found, tmp_path).split_rule is None
    assert found.notes["splits.rule"] == why


def test_few_keys_prove_no_other_rule() -> None:
    """That a few keys happen to be in order is no rule."""
    few = guess(records(person=["00000000000000ab", "10000000000000ab", "20000000000000ab"]))
    assert few.settings["splits.rule"] == "declared"


def test_numbers_in_a_range_are_labels() -> None:
    """Whole numbers give the range that was seen."""
    found = guess(records(label=[0, 4, 9], guess=[0, 9, 9]))
    assert (found.settings["labels.from"], found.settings["labels.to"]) == (0, 9)
    assert found.notes["labels.from"] == "seen in 36 records: widen the range where there may be others"


def test_labels_that_no_contract_takes_are_left_out() -> None:
    """A label that evalkit refuses is not written, and that is said, as is that records are not sound then."""
    found = guess(records(label=["cat", "a->b", " "], guess=["cat", "dog"]))
    assert found.settings["labels.names"] == ["cat", "dog"]
    assert found.notes["labels.names"].endswith(
        'Left out, since evalkit takes no label that is blank, not printable or holds ->: " ", "a->b"'
    )
    fault = 'label: must be one of cat, dog; found "a->b" [truth]'
    assert found.remarks == [f"24 of them are not sound under this contract; the first is record 2: {fault}"]


def test_other_fields_are_named_as_strata() -> None:
    """Scalars with few values are named for ``--by``; the fields of the contract are not."""
    found = guess(records(light=["day", "night"], meta=[{"hour": 3}, {"hour": 4}, {}], n=list(range(36)), tags=[[1]]))
    assert found.remarks[1:] == ["Other fields, for --by: light (2 values), meta.hour (2 values), n (36 values)."]


def test_rows_of_a_table_have_dotted_columns(tmp_path: Path) -> None:
    """In a table a dotted column name is a path; in JSON no path leads to it, which is said."""
    rows = [
        {("offer." + key if key in {"guess", "score"} else key): value for key, value in row.items()}
        for row in records()
    ]
    table = guess(rows, flat=True)
    assert read(table, tmp_path).fields == Fields("model", "person", "fold", "label", "offer.guess", "offer.score")
    document = guess(rows)
    assert document.settings["fields.predicted"] == ""
    assert document.remarks[-1] == (
        "No dotted path leads to these names, since they hold a dot or what cannot be printed, or are too long: "
        '"offer.guess", "offer.score".'
    )


def test_labels_are_those_of_all_that_may_be_the_truth() -> None:
    """While it is open which field is the truth, the labels of each are among those written."""
    found = guess(records(gold=["cat", "fox"], label="cat", guess=["cat", "dog"]))
    assert found.undecided["fields.truth"] == "gold, label"
    assert found.settings["labels.names"] == ["cat", "dog", "fox"]


# what is left open


@pytest.mark.parametrize(
    ("rows", "setting", "why"),
    [
        (records(gold=["cat", "dog", "eel", "cat"]), "fields.truth", "gold, label"),
        (records(prediction=["cat", "dog", "dog", "eel"]), "fields.predicted", "guess, prediction"),
        ([records()[0] | {"gold": "cat", "guess": "dog"}], "fields.truth", "gold, label"),
        (records(conf=0.5), "fields.confidence", "conf, score"),
        (records(score=[97.5, 12.0]), "fields.confidence", "no field fits; score holds numbers from 12.0 to 97.5"),
        (records(score=True), "fields.confidence", "no field fits; score holds true or false"),
        (
            records(fold=["train", "val", "test"]),
            "fields.split",
            "fold holds test, train, val; evalkit takes train, validation and test only, so write these",
        ),
        (without("fold"), "fields.split", "no field fits"),
        (records(model=3), "fields.model", "no field fits; model holds 3 and no other number"),
        (records(person=[70001, 70002]), "fields.subject", "no field fits; person holds whole numbers"),
        (records(label=[True, False]), "fields.truth", "no field fits; label holds true or false"),
        (records(label=[4.0, 5.0]), "fields.truth", "no field fits; label holds numbers from 4.0 to 5.0"),
        (
            records(label=[10**18, 5]),
            "fields.truth",
            "no field fits; label holds whole numbers from 5 to 1000000000000000000",
        ),
        (records(label=["cat", None, None, None]), "fields.truth", "label"),
    ],
)
def test_what_cannot_be_told_is_left_open(
    rows: Sequence[Mapping[str, Any]], setting: str, why: str, tmp_path: Path
) -> None:
    """An undecided field is empty, with what it might be in its comment, and is refused when the contract is read."""
    found = guess(rows)
    assert found.undecided[setting] == why
    text = found.to_toml()
    line = f'{setting.partition(".")[2]} = ""  # undecided: {why}'
    assert line in text.splitlines()
    with pytest.raises(Refusal) as caught:
        read(found, tmp_path)
    assert (setting, text.splitlines().index(line) + 1) in [(one.field, one.line) for one in caught.value.violations]


def test_the_value_of_a_key_is_never_shown() -> None:
    """A key may be a name or an address: neither a comment nor a remark shows one, whatever is wrong with it."""
    for person in (["ann@a.org", "bob@b.org"], [70001, 70002], ["ann@a.org", None], ["ann@a.org", 7]):
        found = guess(records(person=person, user_mail=["zoe@z.org", None]))
        assert not [text for text in ("ann@", "bob@", "zoe@", "7000") if text in found.to_toml()], person


def test_nothing_is_told_of_nothing(tmp_path: Path) -> None:
    """Of no records everything is undecided, and each open setting is refused with its line."""
    found = guess([])
    assert list(found.undecided) == [
        *(f"fields.{name}" for name in ("model", "subject", "split", "truth", "predicted", "confidence")),
        *("labels.names", "splits.rule"),
    ]
    with pytest.raises(Refusal) as caught:
        read(found, tmp_path)
    assert [one.line for one in caught.value.violations] == [7, 8, 9, 10, 11, 12, 15, 18]


# whatever comes


NAMES = st.one_of(
    st.sampled_from(["model", "label", "guess", "score", "split", "person", "truth", "prediction", "p", "id"]),
    st.text(max_size=6),
    st.sampled_from(["", ".", "a.b", 'quo"te', "new\nline", "\0", "\ud800", "\u202e", "x" * 1001]),
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.integers(0, 3),
    st.floats(0, 1),
    st.floats(),
    st.sampled_from(["train", "validation", "test", "dev", "cat", "dog", "->", " ", "\n", "0" * 16, "deadbeef"]),
    st.text(max_size=5),
    st.text(min_size=300, max_size=301),
)
OBJECTS = st.recursive(
    st.dictionaries(NAMES, SCALARS, max_size=8),
    lambda inner: st.dictionaries(NAMES, st.one_of(SCALARS, inner, st.lists(SCALARS, max_size=2)), max_size=6),
    max_leaves=4,
)


@given(documents=st.lists(OBJECTS, max_size=6), flat=st.booleans())
def test_any_records_give_a_contract_to_edit(
    documents: list[dict[str, Any]], flat: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever the records hold, TOML comes out; it is refused exactly for what is undecided, else it is a contract."""
    found = guess(documents, flat=flat)
    tomllib.loads(found.to_toml())
    assert refused_settings(found, tmp_path_factory.getbasetemp()) == set(found.undecided)


@given(documents=st.lists(OBJECTS, max_size=6), order=st.randoms())
def test_the_order_of_records_does_not_matter(documents: list[dict[str, Any]], order: Any) -> None:
    """The same records in another order give the same settings."""
    shuffled = documents[:]
    order.shuffle(shuffled)
    assert guess(shuffled).settings == guess(documents).settings


def test_thousands_of_names_and_long_texts_take_seconds() -> None:
    """Neither thousands of names nor long texts make it slow; a square of either would be minutes."""
    start = time.process_time()
    wide = guess([{f"k{name}": ("a", "b")[name % 2] for name in range(3000)} for _ in range(100)])
    assert wide.undecided["fields.truth"] == "k0, k1, k10, k100, k1000, k1001, k1002, k1003 and 2,992 more"
    long = guess([{"text": "x" * 1_000_000 + str(number), "y" * 1_000_000: 1} for number in range(20)])
    assert len(long.to_toml()) < 3000
    assert time.process_time() - start < 20


def test_a_deep_record_is_no_trouble() -> None:
    """A record nested deeper than Python calls itself is looked through."""
    deep: dict[str, Any] = {"label": "cat"}
    for _ in range(20_000):
        deep = {"a": deep}
    assert guess([deep]).undecided["fields.truth"] == "no field fits"
