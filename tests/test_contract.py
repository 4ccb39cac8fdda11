"""The contract as a file: what it means, what it may say, and what is refused with its line."""

from __future__ import annotations

import gzip
import json
import os
import time
import tomllib
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import Run, evalkit

from evalkit.contracts.contract import BRISTOL, BRISTOL_LIMITS, Contract, Fields, SplitRule
from evalkit.contracts.contract_toml import read_contract, write_contract
from evalkit.contracts.contract_words import contract_words, example
from evalkit.contracts.toml_lines import MAX_TOML, load_toml
from evalkit.contracts.toml_text import quoted
from evalkit.errors import Refusal
from evalkit.reading.first import first_documents
from evalkit.records.reader import Record, read_line
from evalkit.records.strict_json import Beyond

CONTRACTS = Path(__file__).parent.parent / "data-fixtures" / "contracts"
REFUSED = CONTRACTS / "refused"

NO_PATH = "must be the dotted path of a field, such as truth.label"

ANIMALS = Contract(
    Fields("model", "person", "fold", "label", "guess", "score"),
    labels=("cat", "dog", "eel"),
    split_rule=None,
    limits={**BRISTOL_LIMITS, "ece": Decimal("0.10")},
)
DIGITS = Contract(
    Fields("model", "writer.key", "split", "gold.digit", "answer.digit", "answer.certainty"),
    labels=(0, 1, 2, 3, 4, 5, 6, 7, 8, 9),
    split_rule=SplitRule(train_below=128, validation_below=192, key_digits=8),
    limits={"macroF1": Decimal("0.95"), "precisionAtCoverage": Decimal("0.975"), "ece": Decimal("0.05")},
    bins=15,
)

FAULTS = {
    "syntax": ["2: must be TOML; at column 9: what stands there is no value; put a text in quotes"],
    "unclosed": ["2: must be TOML; at column 22: the text is not closed"],
    "repeated-key": ["2: must be TOML; at column 10: the key is set already"],
    "encoding": ["2: must be UTF-8; byte 0xe9 is not"],
    "unknown-setting": [
        "3: field: is no setting; did you mean fields?",
        "7: limits.macroF2: is no setting; did you mean macroF1?",
        "8: limits.bins: is no setting; it must stand above the first [table]",
    ],
    "wrong-type": [
        '1: bins: must be a whole number from 1 to 1000; found "ten"',
        "4: fields.truth: must be a text: the dotted path of a field; found 7",
        "5: fields.model: must be a text: the dotted path of a field; found a table of 1",
        '8: labels.names: must be an array of texts; found "cat"',
        '11: splits.rule: must be "key" or "declared"; found 1',
        "12: splits.key_digits: must be an even number from 2 to 128; found 16.0",
        "15: limits.ece: must be a decimal from 0 to 1, such as 0.5; found true",
    ],
    "overlap": [
        "3: splits.validation_below: must be above train_below, 230; else train and validation overlap; found 205"
    ],
    "declared-with-bytes": [
        '3: splits.train_below: means nothing with rule = "declared"; leave it out',
        '4: splits.validation_below: means nothing with rule = "declared"; leave it out',
    ],
    "from-without-to": ['2: labels.from: needs "to" beside it'],
    "names-and-from": [
        "3: labels.from: stands beside names; give names alone, or from and to",
        "4: labels.to: stands beside names; give names alone, or from and to",
    ],
    "too-many-labels": ["3: labels.to: with from, 0, must make at most 10,000 labels; found 999999999999999999"],
    "limits": [
        '2: limits.macroF1: must be a decimal from 0 to 1; for 80 percent write 0.8; found "80%"',
        "3: limits.precisionAtCoverage: must be a decimal from 0 to 1; for 90 percent write 0.9; found 90",
        "4: limits.ece: must be a decimal from 0 to 1, such as 0.5; found NaN",
    ],
    "paths": [
        '3: fields.predicted: has the path of fields.truth; each field stands in a place of its own; found "label"',
        (
            "4: fields.confidence: and fields.truth cannot both be there: one path leads through the other; "
            'found "label.score"'
        ),
        (
            "4: fields.confidence: and fields.predicted cannot both be there: one path leads through the other; "
            'found "label.score"'
        ),
    ],
    "default-path": [
        (
            "1: fields.predicted: has the path of fields.truth; each field stands in a place of its own; "
            'it is left out here, so this is the default; found "prediction.bristolType"'
        )
    ],
    "labels": [
        '2: labels.names: no label may stand twice; found "cat"',
        '2: labels.names: no label may hold ->, which joins two labels in a report; found "cat->dog"',
        "2: labels.names: must be texts of printable characters, not blank; found ' '",
    ],
    "undecided": [f'2: fields.truth: {NO_PATH}; found ""'],
}
"""What is wrong with each of the refused contracts, by line."""

DEFAULT = """\
# A contract: what a record holds, and what is asked of a candidate. What is left out is as in the default.

bins = 10  # confidence bins of equal width

# Where each thing stands in a record, as dotted paths.
[fields]
model = "model"  # the candidate's name
subject = "subjectKey"  # the contributor's key
split = "split"  # train, validation or test
truth = "truth.bristolType"  # the true label
predicted = "prediction.bristolType"  # the label that the candidate offers
confidence = "prediction.confidence"  # its confidence, a number from 0 to 1

# The labels. Texts instead of whole numbers: names = ["cat", "dog"] in place of from and to.
[labels]
from = 1
to = 7

# rule = "key": the first two hexadecimal digits of the key derive the split; every record is checked.
# rule = "declared": splits are taken as the records state them. Leave the three numbers out then.
[splits]
rule = "key"
train_below = 205  # first bytes 00-cc train
validation_below = 230  # cd-e5 validation, e6-ff test
key_digits = 16  # digits of a key, lower-case hexadecimal

# What a candidate must reach on test, inclusive: decimals from 0 to 1, exact.
[limits]
macroF1 = "0.80"  # at least
precisionAtCoverage = "0.90"  # at least
ece = "0.05"  # at most
"""


def written(folder: Path, text: str | bytes) -> str:
    """Write a contract and return its path."""
    path = folder / "c.toml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return str(path)


def faults(path: str) -> list[str]:
    """Return what a contract is refused for, without the file and the rule."""
    with pytest.raises(Refusal) as caught:
        read_contract(path)
    assert {fault.rule for fault in caught.value.violations} == {"contract"}
    lines = str(caught.value).split("\n")
    return [line.removeprefix(f"{path}:").removesuffix(" [contract]").strip() for line in lines]


# what a contract may say


@pytest.mark.parametrize(
    ("name", "contract"),
    [
        ("animals", ANIMALS),
        ("digits", DIGITS),
        ("limits", Contract(limits={**BRISTOL_LIMITS, "ece": Decimal("0.02")})),
    ],
)
def test_a_contract_says_what_stands_in_it(name: str, contract: Contract) -> None:
    """Each setting is taken as written, in any of TOML's spellings; what is left out is as in the default."""
    assert read_contract(str(CONTRACTS / f"{name}.toml")) == contract


def test_an_empty_contract_is_the_default(tmp_path: Path) -> None:
    """What a contract leaves out is as in the default one, down to all of it."""
    assert read_contract(written(tmp_path, "")) == BRISTOL
    assert read_contract(written(tmp_path, "[labels]\n[splits]\n[fields]\n[limits]\n")) == BRISTOL


@pytest.mark.parametrize(
    ("text", "limit"),
    [
        ('"0.80"', "0.80"),
        ("0.80", "0.80"),
        ("0.050000000000000000000000000000000000001", "0.050000000000000000000000000000000000001"),
        ('".5"', "0.5"),
        ("5e-2", "0.05"),
        ("1", "1"),
        ("0", "0"),
        ("1.0", "1.0"),
    ],
)
def test_a_limit_is_taken_exactly(tmp_path: Path, text: str, limit: str) -> None:
    """A limit is the decimal that stands there, as text or as number; it never becomes a float."""
    found = read_contract(written(tmp_path, f"[limits]\nece = {text}\n")).limits["ece"]
    assert type(found) is Decimal
    assert found == Decimal(limit)


@pytest.mark.parametrize(
    "text",
    [
        *('"80%"', "80", "true", "nan", "-nan", "inf", "1e400", "1e99999999999999999999", "1e-401", "-0.1", "1.01"),
        *('"nan"', '"1e-1"', '"0,8"', '""', '" 0.8"', "[0.8]", "{a = 0.8}", "1979-05-27", f"0.{'0' * 500}1"),
    ],
)
def test_no_other_limit_is_taken(tmp_path: Path, text: str) -> None:
    """Percent, booleans, NaN, infinities and what is beyond 0 to 1 are refused, and so is what no decimal needs."""
    (fault,) = faults(written(tmp_path, f"[limits]\nece = {text}\n"))
    assert fault.startswith("2: limits.ece: must be a decimal from 0 to 1")


PATHS = st.lists(st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=5), min_size=1, max_size=3)


@st.composite
def contracts(draw: st.DrawFn) -> Contract:
    """Draw any contract."""
    names = [f"{place}{'.'.join(name.replace('.', '_') for name in draw(PATHS))}" for place in "abcdef"]
    if draw(st.booleans()):
        names[4:] = ["offer.label", "offer.score"]
    low = draw(st.integers(-(10**6), 10**6))
    texts = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=30).filter(
        lambda text: "->" not in text
    )
    numbers = st.integers(1, 40).map(lambda count: tuple(range(low, low + count)))
    labels = draw(st.one_of(numbers, st.lists(texts, min_size=1, max_size=40, unique=True).map(tuple)))
    train = draw(st.integers(0, 254))
    digits = draw(st.integers(1, 64)) * 2
    rule = SplitRule(train, draw(st.integers(train + 1, 255)), digits) if draw(st.booleans()) else None
    limit = st.decimals(0, 1, places=draw(st.integers(0, 20)))
    limits = {name: draw(limit) for name in BRISTOL_LIMITS}
    return Contract(Fields(*names), labels, rule, limits, draw(st.integers(1, 1000)))


@given(contract=contracts())
def test_what_is_written_reads_back(tmp_path_factory: pytest.TempPathFactory, contract: Contract) -> None:
    """Any contract, written and read again, is the same contract."""
    path = written(tmp_path_factory.getbasetemp(), write_contract(contract))
    assert read_contract(path) == contract


@given(contract=contracts())
def test_the_example_satisfies_its_contract(contract: Contract) -> None:
    """The record that is shown as an example is one that the exact reader accepts."""
    record = read_line(json.dumps(example(contract)).encode(), contract)
    assert isinstance(record, Record)
    assert (record.split, record.truth, record.predicted) == ("test", contract.labels[0], contract.labels[0])


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_can_be_written(text: str) -> None:
    """A text stays the same through TOML, whatever it holds, and takes one line."""
    line = f"a = {quoted(text)}"
    assert line.isprintable()
    assert tomllib.loads(line) == {"a": text}


# what is refused


def test_every_refused_contract_is_tested() -> None:
    """Each of the refused fixtures has its faults listed here."""
    assert {path.stem for path in REFUSED.iterdir()} == set(FAULTS)


@pytest.mark.parametrize("name", FAULTS)
def test_all_that_is_wrong_is_said_with_its_line(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that is wrong is said at once, by line, each with the setting and the value cut short."""
    monkeypatch.chdir(REFUSED)
    assert faults(f"{name}.toml") == FAULTS[name]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("names = []", "2: labels.names: must be from 1 to 10,000 labels; found 0"),
        ("names = [1, 2]", "2: labels.names: must be texts; put each in quotes, or use from and to; found 1"),
        ("from = 3\nto = 1", "3: labels.to: must not be below from, 3; found 1"),
        ('from = "1"\nto = 7', '2: labels.from: must be a whole number of at most 18 digits; found "1"'),
        ("from = true\nto = 7", "2: labels.from: must be a whole number of at most 18 digits; found true"),
        ("from = 1\nto = 7.0", "3: labels.to: must be a whole number of at most 18 digits; found 7.0"),
        (
            f"from = 1\nto = 0x{'f' * 5000}",
            "3: labels.to: must be a whole number of at most 18 digits; found a whole number of more than 64 bits",
        ),
        ("from = 0\nto = 10000", "3: labels.to: with from, 0, must make at most 10,000 labels; found 10000"),
    ],
)
def test_labels_that_are_none(tmp_path: Path, text: str, fault: str) -> None:
    """Labels are whole numbers of a range or texts; a range is refused before it is made."""
    assert faults(written(tmp_path, f"[labels]\n{text}\n"))[0] == fault


def test_ten_thousand_labels_are_taken(tmp_path: Path) -> None:
    """The largest set of labels: 10,000, as a range or as texts."""
    assert len(read_contract(written(tmp_path, "[labels]\nfrom = -5000\nto = 4999\n")).labels) == 10_000
    names = "".join(f'  "label {number}",\n' for number in range(10_000))
    assert len(read_contract(written(tmp_path, f"[labels]\nnames = [\n{names}]\n")).labels) == 10_000


def test_many_faults_are_counted(tmp_path: Path) -> None:
    """Of many faults the first twenty are spelled out, the others counted."""
    found = faults(written(tmp_path, "".join(f"x{number} = 1\n" for number in range(1000))))
    assert found[0] == "1: x0: is no setting; there are bins, fields, labels, splits, limits"
    assert found[19:] == [
        "20: x19: is no setting; there are bins, fields, labels, splits, limits",
        "… and 980 more; in all:",
        "1,000 × contract",
    ]


def test_a_broken_setting_hides_and_invents_no_other_fault(tmp_path: Path) -> None:
    """What depends on a broken setting is not judged; what does not, is."""
    text = '[splits]\ntrain_below = "a"\nvalidation_below = 3\nkey_digits = 7\n[fields]\ntruth = 4\nmodel = "a..b"\n'
    assert faults(written(tmp_path, text)) == [
        '2: splits.train_below: must be a whole number from 0 to 255; found "a"',
        "4: splits.key_digits: must be an even number from 2 to 128; found 7",
        "6: fields.truth: must be a text: the dotted path of a field; found 4",
        f'7: fields.model: {NO_PATH}; found "a..b"',
    ]


def test_long_values_are_cut_short(tmp_path: Path) -> None:
    """Neither a value nor a key floods the terminal."""
    text = f'{"k" * 5000} = 1\n[fields]\ntruth = "{"x" * 5000}"\n[labels]\nnames = ["{"y" * 5000}->"]\n'
    assert [len(fault) < 250 for fault in faults(written(tmp_path, text))] == [True, True, True]


# TOML with lines

STATEMENTS = '''\
# no = 1
a = 1  # b = 2
[t]
text = """
x = 1
[u]
""" # "
"quoted key" = [
  1, # ]
  "]", [2, 3],
]
inline = {one = 1, two = {three = 3}}
dotted.key = 4

  [ t . v ]
literal = \'\'\'
z = 1\'\'\'\'\'
[[list]]
first = 1
[[list]]
second = [{deep = 1}]
'''


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("a", 2),
        ("t", 3),
        ("t.text", 4),
        ("t.quoted key", 8),
        ("t.inline", 12),
        ("t.inline.two.three", 12),
        ("t.dotted.key", 13),
        ("t.v", 15),
        ("t.v.literal", 16),
        ("list", 18),
        ("list.first", 19),
        ("list.second.deep", 21),
        ("t.missing", 3),
        ("t.inline.missing", 12),
        ("b", None),
        ("x", None),
        ("u", None),
        ("z", None),
        ("", None),
    ],
)
def test_each_key_has_its_line(tmp_path: Path, key: str, line: int | None) -> None:
    """A key's line is that of the statement that sets it, a missing key's that of the table around it."""
    data, locate = load_toml(written(tmp_path, STATEMENTS), "policy")
    assert data == tomllib.loads(STATEMENTS)
    assert locate(key) == line
    _, locate = load_toml(written(tmp_path, STATEMENTS.replace("\n", "\r\n")), "policy")
    assert locate(key) == line


VALUES = st.recursive(
    st.one_of(
        st.integers(-5, 5).map(str),
        st.text("\"'\\[]{}#=\na.", max_size=6).map(quoted),
        st.text('"[]{}#=\na.', max_size=6).map(lambda text: f"'''{text}'''"),
        st.text("'[]{}#=\na.", max_size=6).map(lambda text: f'"""{text}"""'),
    ),
    lambda inner: st.lists(inner, max_size=3).map(lambda items: "[ # ]\n" + ", # [\n".join([*items, ""]) + "]"),
)


@given(values=st.lists(st.tuples(VALUES, st.booleans(), st.sampled_from(["", "\n", "# c = 1\n", "  "])), max_size=8))
def test_lines_are_found_around_anything(
    tmp_path_factory: pytest.TempPathFactory, values: list[tuple[str, bool, str]]
) -> None:
    """Whatever stands in values and comments, the line of a key is where it was put."""
    text, table, expected = "", "", {}
    for number, (value, opens, gap) in enumerate(values):
        if opens:
            table = f"t{number}."
            expected[f"t{number}"] = text.count("\n") + 1
            text += f"[t{number}]\n"
        text += gap
        expected[f"{table}k{number}"] = text.count("\n") + 1
        text += f"k{number} = {value} # k = 1\n"
    data, locate = load_toml(written(tmp_path_factory.getbasetemp(), text), "contract")
    assert data == tomllib.loads(text)
    assert {key: locate(key) for key in expected} == expected


def refusal_of(path: str) -> str:
    """Return what is said of a file that is no TOML."""
    with pytest.raises(Refusal) as caught:
        load_toml(path, "policy")
    return str(caught.value).removeprefix(path).removesuffix(" [policy]")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"a = 1\nb = \xff\n", ":2: must be UTF-8; byte 0xff is not"),
        ("a = 1\nb = [1,\n\n", ":2: must be TOML; at the end of the file: what stands there is no value; "),
        ("a = 1\nb = " + "[" * 5000, ":2: arrays and tables are nested too deep"),
        ("a = 1\nb = " + "9" * 5000, ":2: holds a number that is too long"),
        ("a = 1\n" + ".".join("b" * 40) + " = 1", ":2: a key may have at most 32 names joined by dots"),
        ('a = """\n# "\n"""\n[' + ".".join("b" * 500_000) + "]", ":4: a key may have at most 32 names joined by dots"),
        (b" " * (1024 * 1024 + 1), ": must be at most 1 MiB long"),
        ("a\n", ":1: must be TOML; at column 2: expected '=' after a key in a key/value pair"),
        ("a = 1\n\ufeffb = 1", ":2: must be TOML; at column 1: a line must be a [table], or a key, =, and a value"),
        (f"[{'a' * 5000}]\n" * 2, ":2: must be TOML; at column 5002: cannot declare ('aaa"),
    ],
)
def test_what_is_no_toml_is_refused_with_its_line(tmp_path: Path, text: str | bytes, said: str) -> None:
    """A file that is no TOML, too long or too deep is refused with the line to blame, and never a traceback."""
    found = refusal_of(written(tmp_path, text))
    assert found.startswith(said)
    assert len(found) < 200


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    """A missing file, a folder and a name that is none are refused in the words of the system."""
    assert refusal_of(str(tmp_path / "no.toml")) == ": cannot be read: No such file or directory"
    assert refusal_of(str(tmp_path)) == ": cannot be read: Is a directory"
    with pytest.raises(Refusal, match="cannot be read: there is no such file"):
        load_toml("a\0b", "policy")


def test_a_mark_at_the_start_is_skipped(tmp_path: Path) -> None:
    """A byte-order mark is allowed at byte 0, as in a dump."""
    data, locate = load_toml(written(tmp_path, b"\xef\xbb\xbfa = 1\r\nb = 2\r\n"), "policy")
    assert (data, locate("b")) == ({"a": 1, "b": 2}, 2)


def test_numbers_are_kept_as_written(tmp_path: Path) -> None:
    """Decimals are exact, and what could fill the memory once it is a fraction is no decimal."""
    data, _ = load_toml(written(tmp_path, "a = 0.10\nb = 1e-9999999\nc = 1e99999999999999999999999\n"), "policy")
    assert str(data["a"]) == "0.10"
    assert (data["b"], data["c"]) == (Beyond("1e-9999999"), Beyond("1e99999999999999999999999"))


ROOM = MAX_TOML - 100


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [
        ("names = [\n" + '"aaaaa",\n' * (ROOM // 9) + "]\nlast = 1", "last", 3 + ROOM // 9),
        ("".join(f"a{number}=1\n" for number in range(90_000)), "a89999", 90_000),
        (f"[{'t' * (ROOM // 2)}]\n" + "".join(f"a{n}=1\n" for n in range(ROOM // 20)), f"{'t' * (ROOM // 2)}.a7", None),
        (f'["{"." * (ROOM // 2)}"]\n' + "".join(f"a{n}=1\n" for n in range(ROOM // 20)), "." * ROOM, None),
        ("[[a]]\n" * (ROOM // 6), "a", 1),
    ],
    ids=["one array", "many statements", "long table", "dotted table", "many tables"],
)
def test_lines_are_found_in_linear_time(tmp_path: Path, text: str, key: str, line: int | None) -> None:
    """No file of 1 MiB takes more than seconds, however it is made; a square of its length would be hours."""
    start = time.process_time()
    _, locate = load_toml(written(tmp_path, text), "contract")
    assert locate(key) == line
    assert time.process_time() - start < 20


@pytest.mark.parametrize("text", ['x = """\n' + '\\"""\n' * (ROOM // 5), '\\"' * (ROOM // 2), "'" * ROOM, "a " * ROOM])
def test_a_hostile_file_is_refused_in_linear_time(tmp_path: Path, text: str) -> None:
    """What is never closed is not looked at again from each place."""
    start = time.process_time()
    assert ": must be " in refusal_of(written(tmp_path, text[:ROOM]))
    assert time.process_time() - start < 20


# words


def test_the_words_of_a_contract_with_declared_splits() -> None:
    """A contract is said in words: fields, labels, splits and checks, gates and what differs, bins, a record."""
    assert contract_words(ANIMALS) == [
        "Fields",
        "  model       model   the candidate's name",
        "  subject     person  the contributor's key",
        "  split       fold    train, validation or test",
        "  truth       label   the true label",
        "  predicted   guess   the label that the candidate offers",
        "  confidence  score   its confidence, a number from 0 to 1",
        "  A record that offers nothing has null both as guess and as score.",
        "",
        "Labels",
        '  3 texts: "cat", "dog", "eel"',
        "",
        "Splits",
        "  Each split is what fold says; person may be any text that is not blank.",
        "  Checked: no contributor is in two splits. Nothing else about splits can be.",
        "",
        "Gates, on test, limits inclusive",
        "  macroF1              at least 0.80",
        "  precisionAtCoverage  at least 0.90",
        "  ece                  at most 0.10 (the default is 0.05)",
        "",
        "Calibration",
        "  10 confidence bins of equal width",
        "",
        "A record that satisfies it",
        '  {"model": "a", "person": "b", "fold": "test", "label": "cat", "guess": "cat", "score": 0.97}',
    ]


def test_the_words_of_a_contract_with_keys() -> None:
    """Where keys derive the splits, the words give the first bytes of each split and what is checked."""
    words = contract_words(DIGITS)
    for line in (
        "  A record that offers nothing has null in place of the object answer.",
        "  10 whole numbers, from 0 to 9",
        "  The first two of the 8 lower-case hexadecimal digits of writer.key give the split:",
        "  00-7f train, 80-bf validation, c0-ff test",
        "  Checked: no contributor is in two splits, and each split is the one that the key gives.",
        "  precisionAtCoverage  at least 0.975 (the default is 0.90)",
        "  ece                  at most 0.05",
        "  15 confidence bins of equal width (the default is 10)",
        (
            '  {"model": "a", "writer": {"key": "c0000000"}, "split": "test", "gold": {"digit": 0}, '
            '"answer": {"digit": 0, "certainty": 0.97}}'
        ),
    ):
        assert line in words


def test_many_labels_are_not_all_shown() -> None:
    """Of many labels the first are shown, the others counted."""
    words = contract_words(Contract(labels=tuple(f"l{number}" for number in range(1000))))
    assert next(line for line in words if "texts" in line).endswith('"l11" and 988 more')


# the commands


def run(*arguments: str | Path, cwd: Path = CONTRACTS, stdin: bytes | None = None) -> Run:
    """Run ``evalkit contract``."""
    return evalkit("contract", *arguments, cwd=cwd, stdin=stdin)


def test_show_prints_the_default(tmp_path: Path) -> None:
    """``contract show`` prints the default contract with its comments, and that reads back as the default."""
    shown = run("show")
    assert (shown.code, shown.out, shown.err) == (0, DEFAULT, "")
    assert read_contract(written(tmp_path, shown.stdout)) == BRISTOL


def test_check_says_what_a_contract_means() -> None:
    """``contract check``: exit 0 and the words, or nothing with ``--quiet``."""
    shown = run("check", "animals.toml")
    assert (shown.code, shown.out.splitlines(), shown.err) == (0, contract_words(ANIMALS), "")
    assert run("check", "-q", "animals.toml") == (0, b"", b"")


def test_check_refuses_with_the_line() -> None:
    """``contract check``: exit 2 and all that is wrong, on standard error."""
    refused = run("check", "refused/declared-with-bytes.toml")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.splitlines() == [
        "evalkit: refused: 2 violations; nothing was scored, nothing was written",
        (
            '  refused/declared-with-bytes.toml:3: splits.train_below: means nothing with rule = "declared"; '
            "leave it out [contract]"
        ),
        (
            '  refused/declared-with-bytes.toml:4: splits.validation_below: means nothing with rule = "declared"; '
            "leave it out [contract]"
        ),
    ]


def test_guess_prints_a_contract_that_checks(tmp_path: Path) -> None:
    """``contract guess``: a contract that is told from its records alone is accepted as it is."""
    guessed = run("guess", "animals.jsonl")
    assert (guessed.code, guessed.err) == (0, "")
    usual = {**BRISTOL_LIMITS}
    assert read_contract(written(tmp_path, guessed.stdout)) == Contract(
        ANIMALS.fields, ANIMALS.labels, split_rule=None, limits=usual
    )


def test_guess_says_what_it_cannot_tell(tmp_path: Path) -> None:
    """What is undecided is said on standard error, and refused by ``contract check`` with its line; exit 0."""
    guessed = run("guess", CONTRACTS / "undecided.jsonl", "-o", "new/my.toml", cwd=tmp_path)
    assert (guessed.code, guessed.out) == (0, "contract: new/my.toml\n")
    assert guessed.err.splitlines() == [
        (
            "evalkit: undecided: fields.split: fold holds dev, test, train; "
            "evalkit takes train, validation and test only, so write these"
        ),
        "evalkit: undecided: fields.truth: gold, label",
        "evalkit: undecided: splits.rule: it follows from subject and split",
    ]
    checked = run("check", "new/my.toml", cwd=tmp_path)
    assert checked.code == 2
    assert checked.err.splitlines()[1:] == [
        f'  new/my.toml:10: fields.split: {NO_PATH}; found "" [contract]',
        f'  new/my.toml:11: fields.truth: {NO_PATH}; found "" [contract]',
        '  new/my.toml:19: splits.rule: must be "key" or "declared"; found "" [contract]',
    ]


def test_guess_overwrites_no_input(tmp_path: Path) -> None:
    """The contract may not be written over an input, nor where nothing can be written; nothing is read then."""
    (tmp_path / "a.jsonl").write_bytes((CONTRACTS / "animals.jsonl").read_bytes())
    refused = run("guess", "a.jsonl", "-o", "./a.jsonl", cwd=tmp_path)
    assert refused.code == 2
    assert "a.jsonl: is the input a.jsonl; name another file [output-unusable]" in refused.err
    assert (tmp_path / "a.jsonl").read_bytes() == (CONTRACTS / "animals.jsonl").read_bytes()
    assert "is a directory; name a file [output-unwritable]" in run("guess", "a.jsonl", "-o", ".", cwd=tmp_path).err


def test_guess_reads_what_compare_reads(tmp_path: Path) -> None:
    """Standard input, compressed files and patterns are read as by ``compare``, and the contract is the same."""
    data = (CONTRACTS / "animals.jsonl").read_bytes()
    expected = run("guess", "animals.jsonl").stdout
    assert run("guess", "-", stdin=data).stdout == expected
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(data))
    assert run("guess", "*.gz", cwd=tmp_path).stdout == expected


def test_guess_refuses_a_broken_line(tmp_path: Path) -> None:
    """A line that is no object is refused with file and line, blank lines counted; an empty file holds no records."""
    (tmp_path / "a.jsonl").write_bytes(b'{"a": 1}\n\n{"a": 1, "a": 2}\r\n[1]\n')
    (tmp_path / "empty.jsonl").write_bytes(b"\n")
    assert run("guess", "a.jsonl", cwd=tmp_path).err.splitlines()[1:] == [
        '  a.jsonl:3: no key may stand twice in one object; found "a" [duplicate-key]',
        "  a.jsonl:4: must be one JSON object; found an array of 1 [json]",
    ]
    empty = run("guess", "empty.jsonl", cwd=tmp_path)
    assert empty.code == 2
    assert empty.err.splitlines()[1:] == ["  empty.jsonl: holds no records [no-records]"]


# the first records


def numbered(path: Path, count: int, padding: int = 0) -> str:
    """Write records that are numbered from 0."""
    path.write_text("".join(json.dumps({"n": n, "pad": "x" * padding}) + "\n" for n in range(count)))
    return str(path)


def test_as_many_are_read_of_each_input(tmp_path: Path) -> None:
    """The records that may be read are shared out among the inputs, in their order; each gives at least one."""
    paths = [numbered(tmp_path / f"{name}.jsonl", count) for name, count in (("a", 5), ("b", 1), ("c", 9))]
    assert [one["n"] for one in first_documents(paths, 6).documents] == [0, 1, 0, 0, 1]
    assert [one["n"] for one in first_documents(paths, 1).documents] == [0, 0, 0]


def test_records_are_read_across_parts(tmp_path: Path) -> None:
    """Records larger than what is read at a time are all read, and each line has its number."""
    path = numbered(tmp_path / "a.jsonl", 40, padding=200_000)
    assert [one["n"] for one in first_documents([path], 30).documents] == list(range(30))
    with open(path, "a") as file:
        file.write("broken\n")
    with pytest.raises(Refusal, match=r"a\.jsonl:41: must be one JSON object"):
        first_documents([path], 41)
    assert len(first_documents([path], 40).documents) == 40


def test_a_stream_is_left_after_the_first_records(tmp_path: Path) -> None:
    """Of a compressed file only the beginning is read: that it is cut off far behind does not matter."""
    data = gzip.compress(
        b"".join(b'{"n": %d, "noise": "%s"}\n' % (n, os.urandom(500).hex().encode()) for n in range(9000))
    )
    (tmp_path / "a.gz").write_bytes(data[:-9])
    assert len(first_documents([str(tmp_path / "a.gz")], 10).documents) == 10
    with pytest.raises(Refusal, match="compressed-data"):
        first_documents([str(tmp_path / "a.gz")], 9000)
