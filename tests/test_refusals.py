"""What is refused, in which words, and what only looks as if it should be.

Every refusal here goes through the command line: exit 2, nothing on standard output, nothing written, no traceback.
"""

import gzip
import lzma
import os
import re
import socket
import stat
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import evalkit
from evalkit import Contract, Refusal, Violation
from evalkit.cli import app
from evalkit.contracts.contract import BRISTOL, Fields
from evalkit.families.selective.plan import select_threshold
from evalkit.reading.read import Dump, read
from evalkit.records.reader import Record, read_line
from evalkit.sources.partition import Inputs
from evalkit.sources.source import resolve

ROOT = Path(__file__).parent.parent
REFUSED = ROOT / "data-fixtures" / "selective" / "refused"

VALIDATION = (
    '{"model":"m","subjectKey":"cd00000000000001","split":"validation","truth":{"bristolType":4},'
    '"prediction":{"bristolType":4,"confidence":0.97}}'
)
TEST = VALIDATION.replace('"cd00000000000001","split":"validation"', '"e600000000000001","split":"test"')
TRAIN = VALIDATION.replace('"cd00000000000001","split":"validation"', '"0000000000000001","split":"train"')
OK = f"{VALIDATION}\n{TEST}\n"
"""Two good lines, enough for a verdict."""

LABEL = "must be a whole number from 1 to 7, written without fraction, exponent or quotes"
CONFIDENCE = "must be a number from 0 to 1"
MARK = b"\xef\xbb\xbf"
HEAD = re.compile(r"evalkit: refused: (?:1 violation|[1-9][0-9,]* violations); nothing was scored, nothing was written")


@dataclass(frozen=True)
class Desk:
    """A folder of its own, and the command run in it."""

    folder: Path

    def write(self, data: str | bytes, name: str = "a.jsonl") -> str:
        """Write a file and return its name."""
        (self.folder / name).write_bytes(data.encode() if isinstance(data, str) else data)
        return name

    def refused(self, *args: str, floor: str = "0.5") -> list[str]:
        """Run `compare`, which must refuse, and return what it says is wrong, line by line."""
        before = self._state()
        result = CliRunner().invoke(app, ["compare", "--min-coverage", floor, *(args or ("a.jsonl",))])
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        assert self._state() == before
        head, *lines = result.stderr.splitlines()
        assert HEAD.fullmatch(head)
        assert all(line.startswith("  ") for line in lines)
        return [line[2:] for line in lines]

    def judged(self, *args: str, floor: str = "0.5", warns: str = "") -> dict[str, Any]:
        """Run `compare`, which must judge, and return the report."""
        arguments = ["--min-coverage", floor, "--json", "-", *(args or ("a.jsonl",))]
        report = evalkit.compare(args or "a.jsonl", floor)
        result = CliRunner().invoke(app, ["compare", "-q", *arguments])
        assert result.exit_code == {"GO": 0, "BLOCKED": 3}[report.verdict]
        assert result.stderr == ""
        assert result.stdout == report.to_json()
        assert "\n".join(report.warnings) == warns
        return report.to_dict()

    def broken(self, line: str | bytes) -> list[str]:
        """Run on two good lines and this one, which must be refused; return what is wrong with it."""
        raw = line.encode() if isinstance(line, str) else line
        self.write(OK.encode() + raw + b"\n")
        lines = self.refused()
        assert all(text.startswith("a.jsonl:3: ") for text in lines)
        return [text.removeprefix("a.jsonl:3: ") for text in lines]

    def accepted(self, line: str) -> dict[str, Any]:
        """Run on two good lines with this one before them, which must be accepted; return the report."""
        self.write(f"{line}\n{OK}")
        report = self.judged()
        assert report["evidence"][0]["records"] == 3
        return report

    def _state(self) -> list[tuple[str, int, int, int]]:
        found = ((path, path.lstat()) for path in sorted(self.folder.rglob("*")))
        return [(str(path), status.st_mode, status.st_size, status.st_mtime_ns) for path, status in found]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Give each test an empty folder to be in."""
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path)


def changed(old: str, new: str) -> str:
    """Return the validation line with one piece changed."""
    assert VALIDATION.count(old) == 1
    return VALIDATION.replace(old, new)


def with_field(text: str) -> str:
    """Return the validation line with one more member."""
    return f"{VALIDATION[:-1]},{text}}}"


def gz(data: str | bytes) -> bytes:
    """Compress with gzip, always to the same bytes."""
    return gzip.compress(data.encode() if isinstance(data, str) else data, mtime=0)


def zstd(data: bytes) -> bytes:
    """Compress with Zstandard."""
    packed: bytes = pa.compress(data, codec="zstd", asbytes=True)
    return packed


def short(value: object) -> str:
    """Name a parameter of a test."""
    return ascii(value)[:24]


def _only(found: object) -> str:
    assert isinstance(found, tuple)
    (violation,) = found
    return str(violation)


@contextmanager
def standard_input(data: bytes) -> Iterator[None]:
    """Make some bytes the standard input of this process."""
    saved = os.dup(0)
    reader, writer = os.pipe()
    try:
        os.write(writer, data)
        os.close(writer)
        os.dup2(reader, 0)
        yield
    finally:
        os.dup2(saved, 0)
        os.close(saved)
        os.close(reader)


# ------------------------------------------------------------------------------------------------------ one dump a rule

SECOND_LINE = {
    "byte-order-mark": ["a byte-order mark may stand only at the start of a file [byte-order-mark]"],
    "confidence": [f"prediction.confidence: {CONFIDENCE}; found 97 [confidence]"],
    "duplicate-key": ['no key may stand twice in one object; found "split" [duplicate-key]'],
    "encoding": ["must be UTF-8; byte 16 of the line is not; found 0xe9 [encoding]"],
    "json": ["must be one JSON object; the line is broken at character 80 of 88 [json]"],
    "leak": [
        "split: contributor d00000000000000a is in test here and in validation at leak.jsonl:1 [leak]",
        'split: cannot be re-derived: the key d00000000000000a belongs in validation; found "test" [split-not-derived]',
    ],
    "missing-field": ["prediction.confidence: is missing [missing-field]"],
    "model": ['model: must hold more than white space; found "  " [model]'],
    "nesting": ["objects and arrays may be nested at most 128 deep [nesting]"],
    "nul": [r'model: no name may hold the character U+0000; found "finch\u0000" [nul]'],
    "object": ["truth: must be an object; found 4 [object]"],
    "predicted": [f"prediction.bristolType: {LABEL}; found true [predicted]"],
    "prediction": ['prediction: must be an object, or null when nothing was offered; found "none" [prediction]'],
    "split": ['split: must be train, validation or test; found "dev" [split]'],
    "split-not-derived": [
        'split: cannot be re-derived: the key 3b00000000000012 belongs in train; found "validation" [split-not-derived]'
    ],
    "subject-key": [
        "subjectKey: must be exactly 16 lower-case hexadecimal digits; found a text of length 11 [subject-key]"
    ],
    "surrogate": ["no text may hold half of a surrogate pair [surrogate]"],
    "truth": [f"truth.bristolType: {LABEL}; found 4.0 [truth]"],
}
"""What is wrong with the second line of each dump that is named after a rule."""

CUT_OFF = "the compressed data is broken or cut off: Truncated compressed stream [compressed-data]"
WHOLE_FILE = {
    "compressed-data.jsonl.gz": [f"compressed-data.jsonl.gz: {CUT_OFF}"],
    "compressed-data.jsonl.zst": [f"compressed-data.jsonl.zst: {CUT_OFF}"],
    "no-records.jsonl": ["no-records.jsonl: holds no records [no-records]"],
}
"""What is wrong with a dump as a whole."""


@pytest.mark.parametrize("rule", SECOND_LINE)
def test_a_broken_line_is_named(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal names file, line, field, rule and the value, cut short."""
    monkeypatch.chdir(REFUSED)
    faults = [f"{rule}.jsonl:2: {text}" for text in SECOND_LINE[rule]]
    assert Desk(REFUSED).refused(f"{rule}.jsonl") == faults
    assert faults[0].endswith(f"[{rule}]")


@pytest.mark.parametrize("name", WHOLE_FILE)
def test_a_broken_file_is_named(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong with a file as a whole names the file and no line."""
    monkeypatch.chdir(REFUSED)
    assert Desk(REFUSED).refused(name) == WHOLE_FILE[name]


READS_NO_RECORD = {"policy.py", "observations", "probability", "ranking"}
"""Modules and families that borrow a rule for what is no dump of a contract; they have tests of their own."""

ELSEWHERE = {"line-too-long", "scalar"}
"""Rules about content that have tests of their own: one needs a file too large to keep, one a field asked for."""


def test_every_rule_about_content_has_its_dump() -> None:
    """No rule about content goes untested: a module that has one of those of the dumps has no other rule."""
    stored = {path.name.partition(".")[0] for path in REFUSED.iterdir()}
    assert stored == set(SECOND_LINE) | {name.partition(".")[0] for name in WHOLE_FILE}
    found: set[str] = set()
    for path in sorted((ROOT / "evalkit").rglob("*.py")):
        rules = set(re.findall(r'Violation\(\s*"([a-z-]+)"', path.read_text(encoding="utf-8")))
        if rules & stored and READS_NO_RECORD.isdisjoint(path.parts):
            assert rules <= stored | ELSEWHERE, path
            found |= rules
    assert found | {"truth", "predicted"} == stored | ELSEWHERE


def test_a_line_of_more_than_64_mib_is_refused(desk: Desk) -> None:
    """A dump without line ends is refused as such, not read into memory; the lines around it are still counted."""
    with (desk.folder / "a.jsonl").open("wb") as file:
        file.write(OK.encode() + b"{")
        file.seek(64 * 1024 * 1024, os.SEEK_CUR)  # a hole, which reads as NUL bytes
        file.write(b"\nnull\n")
    assert desk.refused() == [
        "a.jsonl:3: no line may be longer than 64 MiB; end each record with a newline [line-too-long]",
        "a.jsonl:4: must be one JSON object; found null [json]",
    ]


def test_the_library_says_the_same(desk: Desk) -> None:
    """In Python a refusal is an exception with the same text, and its parts as attributes."""
    desk.write(OK + changed('"validation"', '"dev"') + "\n")
    with pytest.raises(Refusal) as refused:
        evalkit.compare("a.jsonl", min_coverage="0.5")
    assert desk.refused() == str(refused.value).splitlines()
    assert refused.value.violations == (
        Violation("split", "must be train, validation or test", "a.jsonl", 3, "split", '"dev"'),
    )
    assert refused.value.counts == {"split": 1}


# -------------------------------------------------------------------------------------------- more members of each kind

BAD_NUMBERS = {
    "-1": "-1",
    "-0.5": "-0.5",
    '"0.5"': '"0.5"',
    '"4"': '"4"',
    "true": "true",
    "false": "false",
    "null": "null",
    "[]": "an array of 0",
    "[4]": "an array of 1",
    "{}": "an object of 0",
    '{"a":1,"b":2}': "an object of 2",
    "8": "8",
    "260": "260",
    "1e400": "1e400",
    "-1e400": "-1e400",
    "1" * 19: "1" * 19,
    "18446744073709551620": "18446744073709551620",
    "4" * 4301: "4" * 40 + "…",
    "-" + "4" * 4301: "-" + "4" * 39 + "…",
    "1." + "0" * 60 + "1e9": "1000000000.0",
}
"""What is neither a label nor a confidence, and how it is shown."""

BAD_LABELS = {
    **BAD_NUMBERS,
    "0": "0",
    "-0": "0",
    "4.0": "4.0",
    "4.5": "4.5",
    "4e0": "4.0",
    "40e-1": "4.0",
    "0.5": "0.5",
    "4.0000000000000000000000000000001": "4.0",
}
BAD_CONFIDENCES = {
    **BAD_NUMBERS,
    "2": "2",
    "97": "97",
    "1.0000000000000002": "1.0000000000000002",
    "1.00001": "1.00001",
    "-5e-324": "-5e-324",
    "1e308": "1e+308",
}


@pytest.mark.parametrize("value", BAD_LABELS, ids=short)
@pytest.mark.parametrize(
    ("rule", "field", "place"),
    [("truth", "truth.bristolType", '"truth":{'), ("predicted", "prediction.bristolType", '"prediction":{')],
)
def test_what_is_no_label(rule: str, field: str, place: str, value: str, desk: Desk) -> None:
    """A label is a JSON number from 1 to 7 without fraction or exponent; text, true and lists are none."""
    line = changed(f'{place}"bristolType":4', f'{place}"bristolType":{value}')
    assert desk.broken(line) == [f"{field}: {LABEL}; found {BAD_LABELS[value]} [{rule}]"]


@pytest.mark.parametrize("value", BAD_CONFIDENCES, ids=short)
def test_what_is_no_confidence(value: str, desk: Desk) -> None:
    """A confidence is a finite JSON number whose 64-bit float is in 0–1; text, true and lists are none."""
    found = BAD_CONFIDENCES[value]
    assert desk.broken(changed("0.97", value)) == [f"prediction.confidence: {CONFIDENCE}; found {found} [confidence]"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0.0),
        ("-0.0", 0.0),
        ("-0", 0.0),
        ("-1e-400", 0.0),
        ("0e400", 0.0),
        ("1", 1.0),
        ("1.0", 1.0),
        ("10e-1", 1.0),
        ("0.01e+2", 1.0),
        ("1.0000000000000001", 1.0),
        ("0." + "9" * 5000, 1.0),
        ("1e-3", 0.001),
        ("1E-03", 0.001),
        ("5E-324", 5e-324),
        ("0.1000000000000000055511151231257827", 0.1),
        ("0.30000000000000004", 0.30000000000000004),
    ],
    ids=short,
)
def test_what_is_a_confidence(text: str, value: float, desk: Desk) -> None:
    """A confidence counts as its 64-bit float however it is spelled; minus zero is zero."""
    desk.write(f"{changed('0.97', text)}\n{TEST}\n")
    threshold = desk.judged(floor="1")["candidates"][0]["threshold"]
    record = read_line(changed("0.97", text).encode(), BRISTOL)
    assert isinstance(record, Record)
    assert str(record.confidence) == str(threshold) == str(value)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("1", "must be a text; found 1"),
        ("null", "must be a text; found null"),
        ("true", "must be a text; found true"),
        ("[]", "must be a text; found an array of 0"),
        ('{"name":"m"}', "must be a text; found an object of 1"),
        ("1" * 4301, f"must be a text; found {'1' * 40}…"),
        ('""', 'must hold more than white space; found ""'),
        ('" "', 'must hold more than white space; found " "'),
        (r'"\t"', r'must hold more than white space; found "\t"'),
        (r'"\n\r"', r'must hold more than white space; found "\n\r"'),
        (r'"\u2003"', r'must hold more than white space; found "\u2003"'),
        ('"\u3000"', r'must hold more than white space; found "\u3000"'),
        (r'"\u001c\u0085"', r'must hold more than white space; found "\u001c\u0085"'),
        (f'"{" " * 60}"', f'must hold more than white space; found "{" " * 39}…'),
    ],
    ids=short,
)
def test_what_is_no_name(value: str, message: str, desk: Desk) -> None:
    """A model is a text that is not empty after Python's `str.strip()`."""
    assert desk.broken(changed('"m"', value)) == [f"model: {message} [model]"]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ('"dev"', '"dev"'),
        ('"Test"', '"Test"'),
        ('"TEST"', '"TEST"'),
        ('"test "', '"test "'),
        ('""', '""'),
        ("null", "null"),
        ("0", "0"),
        ("true", "true"),
        ('["test"]', "an array of 1"),
        ('"v\u0430lidation"', '"v\u0430lidation"'),
        (f'"{"x" * 38}"', f'"{"x" * 38}"'),
        (f'"{"x" * 39}"', f'"{"x" * 39}…'),
        (r'"\u001b[31mred"', r'"\u001b[31mred"'),
        (r'"a\nb"', r'"a\nb"'),
        ('"\u202etset"', r'"\u202etset"'),
        (r'"test\u0000"', r'"test\u0000"'),
    ],
    ids=short,
)
def test_what_is_no_split(value: str, shown: str, desk: Desk) -> None:
    """A split is exactly `train`, `validation` or `test`; what is shown is cut short and cannot drive a terminal."""
    assert desk.broken(changed('"validation"', value)) == [
        f"split: must be train, validation or test; found {shown} [split]"
    ]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ('"cd0000000000001"', "a text of length 15"),
        ('"cd000000000000001"', "a text of length 17"),
        ('"CD00000000000001"', "a text of length 16"),
        ('"cd0000000000000g"', "a text of length 16"),
        ('" d00000000000001"', "a text of length 16"),
        (r'"cd00000000000001\n"', "a text of length 17"),
        (r'"cd0000000000000\u0000"', "a text of length 16"),
        ('"cd0000000000000\u0661"', "a text of length 16"),
        ('"\uff43d00000000000001"', "a text of length 16"),
        ('"\U0001f600"', "a text of length 1"),
        ('""', "a text of length 0"),
        ("1234567890123456", "a number"),
        ("-1", "a number"),
        ("1.5", "a number"),
        ("1e999", "a number"),
        ("1" * 4301, "a number"),
        ("null", "null"),
        ("true", "true"),
        ("[]", "an array of 0"),
        ('{"key":"cd00000000000001"}', "an object of 1"),
    ],
    ids=short,
)
def test_what_is_no_subject_key(value: str, kind: str, desk: Desk) -> None:
    """A subject key is 16 lower-case hexadecimal digits; of a malformed one only kind and length are told."""
    assert desk.broken(changed('"cd00000000000001"', value)) == [
        f"subjectKey: must be exactly 16 lower-case hexadecimal digits; found {kind} [subject-key]"
    ]


@pytest.mark.parametrize(
    ("old", "new", "faults"),
    [
        ('"model":"m",', "", ["model: is missing [missing-field]"]),
        ('"model"', '"Model"', ["model: is missing [missing-field]"]),
        ('"subjectKey"', '"subject_key"', ["subjectKey: is missing [missing-field]"]),
        ('"split":"validation",', "", ["split: is missing [missing-field]"]),
        ('"truth":{"bristolType":4},', "", ["truth: is missing [missing-field]"]),
        ('"truth":{"bristolType":4}', '"truth":{}', ["truth.bristolType: is missing [missing-field]"]),
        ('"truth":{"bristolType":4}', '"truth.bristolType":4', ["truth: is missing [missing-field]"]),
        ('"truth":{"bristolType":4}', '"truth":null', ["truth: must be an object; found null [object]"]),
        ('"truth":{"bristolType":4}', '"truth":"4"', ['truth: must be an object; found "4" [object]']),
        ('"truth":{"bristolType":4}', '"truth":[4]', ["truth: must be an object; found an array of 1 [object]"]),
        ('"prediction"', '"predicted"', ["prediction: is missing [missing-field]"]),
        (',"confidence":0.97', "", ["prediction.confidence: is missing [missing-field]"]),
        ('"bristolType":4,"confidence"', '"confidence"', ["prediction.bristolType: is missing [missing-field]"]),
        (
            '{"bristolType":4,"confidence":0.97}',
            "{}",
            [
                "prediction.bristolType: is missing [missing-field]",
                "prediction.confidence: is missing [missing-field]",
            ],
        ),
        *(
            (
                '{"bristolType":4,"confidence":0.97}',
                value,
                [f"prediction: must be an object, or null when nothing was offered; found {shown} [prediction]"],
            )
            for value, shown in [
                ("[]", "an array of 0"),
                ("[null]", "an array of 1"),
                ("4", "4"),
                ("false", "false"),
                ('""', '""'),
                ('"null"', '"null"'),
                ("1e400", "1e400"),
            ]
        ),
    ],
)
def test_what_is_missing_or_of_the_wrong_kind(old: str, new: str, faults: list[str], desk: Desk) -> None:
    """Only an explicit null says that nothing was offered: absent, empty or of another kind is refused by field."""
    assert desk.broken(changed(old, new)) == faults


@pytest.mark.parametrize(
    ("members", "shown"),
    [
        ('"split":"validation"', ['"split"']),
        (r'"spl\u0069t":"validation"', ['"split"']),
        (r'"\u006d\u006f\u0064\u0065\u006c":"m"', ['"model"']),
        ('"x":1,"x":2,"x":3', ['"x"']),
        ('"":1,"":1', ['""']),
        (r'"\u00e9":1,"é":1', ['"é"']),
        (r'"\ud83d\ude00":1,"😀":1', ['"😀"']),
        (r'"a\/b":1,"a/b":1', ['"a/b"']),
        ('"x":{"y":[{"a":1,"a":1}]}', ['"a"']),
        ('"x":{"b":1,"a":2,"a":3,"b":4},"x":1', ['"b"', '"a"', '"x"']),
        (f'"{"k" * 60}":1,"{"k" * 60}":1', [f'"{"k" * 39}…']),
        (r'"\u001b[0m":1,"\u001b[0m":1', [r'"\u001b[0m"']),
    ],
    ids=short,
)
def test_a_key_twice(members: str, shown: list[str], desk: Desk) -> None:
    """A key may stand once in an object at any level, however it is spelled, in fields that are ignored too."""
    assert desk.broken(with_field(members)) == [
        f"no key may stand twice in one object; found {key} [duplicate-key]" for key in shown
    ]


def test_keys_of_different_objects_or_letters_are_no_duplicates(desk: Desk) -> None:
    """The same key in two objects is fine, and so are keys that only look alike."""
    desk.accepted(with_field('"x":{"model":1,"Model":2},"y":[{"a":1},{"a":1}],"é":1,"e\u0301":1,"model ":1'))


@pytest.mark.parametrize(
    "half", [r"\ud800", r"\udfff", r"\ude00\ud83d", r"\ud83dx", r"\ud83d\\ude00", r"\uDBFF", r"\uDEAD\uD83D"]
)
@pytest.mark.parametrize("member", ['"x":"{}"', '"{}":1', '"x":[{{"y":"{}"}}]', '"x":{{"{}":1}}'])
def test_half_of_a_surrogate_pair(half: str, member: str, desk: Desk) -> None:
    """A lone surrogate is refused in any text and any key, since it is no character and cannot be written."""
    assert desk.broken(with_field(member.format(half))) == ["no text may hold half of a surrogate pair [surrogate]"]


def test_a_whole_pair_is_a_character(desk: Desk) -> None:
    """An astral character is one name, as a pair of escapes or in UTF-8; an escaped backslash begins no escape."""
    desk.write(OK.replace('"m"', r'"\ud83d\uDE00"') + OK.replace('"m"', '"😀"') + OK.replace('"m"', r'"\\ud83d"'))
    assert [one["model"] for one in desk.judged()["candidates"]] == [r"\ud83d", "😀"]


def test_spellings_of_one_name_are_one_candidate(desk: Desk) -> None:
    """Candidates are grouped by the exact text of the name; its spelling in JSON does not matter."""
    names = ["a/é", r"a\/é", r"a/\u00e9", r"\u0061/\u00E9", "a/e\u0301", " a/é", "A/é"]
    desk.write("".join(OK.replace('"m"', f'"{name}"') for name in names))
    found = {one["model"]: one["total"] for one in desk.judged()["candidates"]}
    assert found == {" a/é": 1, "A/é": 1, "a/e\u0301": 1, "a/é": 4}


@pytest.mark.parametrize(
    ("line", "faults"),
    [
        (changed('"m"', r'"\u0000"'), [r'model: no name may hold the character U+0000; found "\u0000" [nul]']),
        (changed('"m"', r'" \u0000"'), [r'model: no name may hold the character U+0000; found " \u0000" [nul]']),
        (with_field(r'"a\u0000":1'), [r'no key may hold the character U+0000; found "a\u0000" [nul]']),
        (with_field(r'"x":[{"\u0000":1}]'), [r'no key may hold the character U+0000; found "\u0000" [nul]']),
        (changed('"m"', '"m\0"'), ["must be one JSON object; the line is broken at character 12 of 142 [json]"]),
        (with_field('"x":"\0"'), ["must be one JSON object; the line is broken at character 147 of 149 [json]"]),
        ("\0" + VALIDATION, ["must be one JSON object; the line is broken at character 1 of 142 [json]"]),
        (VALIDATION + "\0", ["must be one JSON object; the line is broken at character 142 of 142 [json]"]),
        ("\0", ["must be one JSON object; the line is broken at character 1 of 1 [json]"]),
    ],
    ids=short,
)
def test_nul(line: str, faults: list[str], desk: Desk) -> None:
    """A NUL is refused raw anywhere, and as an escape in a name or a key."""
    assert desk.broken(line) == faults


def test_nul_in_an_ignored_text(desk: Desk) -> None:
    """An escaped NUL in the text of a field that is ignored is ignored with it."""
    desk.accepted(with_field(r'"x":"a\u0000b"'))


@pytest.mark.parametrize(
    ("line", "broken"),
    [
        ("{", 2),
        ("}", 1),
        ("[", 2),
        (VALIDATION[:-1], 141),
        (VALIDATION[:40], 27),
        (VALIDATION + VALIDATION, 142),
        (VALIDATION + ",", 142),
        (VALIDATION + " x", 143),
        ("x" + VALIDATION, 1),
        ("// comment", 1),
        ("# comment", 1),
        ("model,subjectKey,split", 1),
        (VALIDATION.replace('"', "'"), 2),
        (changed('"model"', "model"), 2),
        (VALIDATION[:-1] + ",}", 142),
        (changed('"m",', '"m"'), 13),
        (changed(":0.97", " 0.97"), 136),
        (changed("0.97", ".97"), 136),
        (changed("0.97", "0."), 137),
        (changed("0.97", "00.97"), 137),
        (changed("0.97", "+0.97"), 136),
        (changed("0.97", "0.97e"), 140),
        (changed("0.97", "0x1"), 137),
        (changed("0.97", "0_1"), 137),
        (changed("0.97", "nan"), 136),
        (changed("0.97", "True"), 136),
        (changed("0.97", "\u0660.\u0669"), 136),
        (changed('"m"', '"m\t"'), 12),
        (changed('"m"', r'"m\x"'), 12),
        (changed('"m"', r'"m\u12"'), 13),
        (VALIDATION + "\u00a0", 142),
        ("\u2028", 1),
        ("\x0b", 1),
        ("\x0c", 1),
        ("\x85", 1),
        ("\u00a0", 1),
        ("\x1a", 1),
        (" \ufeff" + VALIDATION, 2),
        (VALIDATION + "\ufeff", 142),
    ],
    ids=short,
)
def test_what_is_not_json(line: str, broken: int, desk: Desk) -> None:
    """A line is one JSON object, whole, and nothing else; no dialect of JSON will do."""
    assert desk.broken(line) == [
        f"must be one JSON object; the line is broken at character {broken} of {len(line)} [json]"
    ]


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("null", "null"),
        ("true", "true"),
        ("4", "a number"),
        ("-0.5", "a number"),
        ("1e400", "a number"),
        ("9" * 4301, "a number"),
        ('""', "a text of length 0"),
        ('"finch"', "a text of length 5"),
        ("[]", "an array of 0"),
        (f"[{VALIDATION}]", "an array of 1"),
    ],
    ids=short,
)
def test_json_that_is_no_object(line: str, shown: str, desk: Desk) -> None:
    """JSON that is not an object is refused; only its kind is told, since it may be a piece of a record."""
    assert desk.broken(line) == [f"must be one JSON object; found {shown} [json]"]


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_numbers_that_json_does_not_know(constant: str, desk: Desk) -> None:
    """NaN and Infinity are refused in every field, ignored ones too: they are not JSON."""
    fault = f"must be one JSON object; JSON has no such number; found {constant} [json]"
    assert desk.broken(changed("0.97", constant)) == [fault]
    assert desk.broken(with_field(f'"x":[{constant}]')) == [fault]


@pytest.mark.parametrize(
    ("raw", "byte", "place"),
    [
        (b"\xff", "0xff", 1),
        (changed('"m"', '"m@"').encode().replace(b"@", b"\xe9"), "0xe9", 12),
        (changed('"m"', '"m@"').encode().replace(b"@", b"\xed\xa0\x80"), "0xed", 12),
        (changed('"m"', '"m@"').encode().replace(b"@", b"\xc0\xaf"), "0xc0", 12),
        (changed('"m"', '"m@"').encode().replace(b"@", b"\xf4\x90\x80\x80"), "0xf4", 12),
        (with_field('"x":"@"').encode().replace(b"@", b"\x80"), "0x80", 147),
        (VALIDATION.encode() + b"\xc3", "0xc3", 142),
        (b"\xef\xbb" + VALIDATION.encode(), "0xef", 1),
        (b"\xfe\xff" + VALIDATION.encode("utf-16-be"), "0xfe", 1),
    ],
    ids=short,
)
def test_what_is_not_utf8(raw: bytes, byte: str, place: int, desk: Desk) -> None:
    """Invalid UTF-8 is refused in every field, by the byte's place in the line; the other lines are read as ever."""
    assert desk.broken(raw) == [f"must be UTF-8; byte {place} of the line is not; found {byte} [encoding]"]


@pytest.mark.parametrize(
    ("encoding", "first", "second", "third"),
    [
        ("utf-16", "must be UTF-8; byte 1 of the line is not; found 0xff [encoding]", 271, 1),
        ("utf-32", "must be UTF-8; byte 1 of the line is not; found 0xff [encoding]", 543, 3),
        ("utf-16-le", "must be one JSON object; the line is broken at character 2 of 282 [json]", 271, 1),
        ("utf-16-be", "must be one JSON object; the line is broken at character 1 of 283 [json]", 271, None),
    ],
)
def test_other_encodings(encoding: str, first: str, second: int, third: int | None, desk: Desk) -> None:
    """A dump in another encoding is refused line by line, ASCII or not."""
    desk.write(OK.encode(encoding))
    lengths = [length for length in (second, third) if length]
    assert desk.refused() == [
        f"a.jsonl:1: {first}",
        *(
            f"a.jsonl:{line}: must be one JSON object; the line is broken at character 1 of {length} [json]"
            for line, length in enumerate(lengths, start=2)
        ),
    ]


def _nested(depth: int) -> str:
    return with_field('"x":' + '{"a":' * (depth - 1) + "1" + "}" * (depth - 1))


def test_nesting_up_to_128(desk: Desk) -> None:
    """Objects may be nested 128 deep, the record counted; brackets in a text are no nesting."""
    desk.accepted(_nested(128))
    desk.accepted(with_field('"x":"' + "[{" * 1000 + r"\"" + '"'))
    desk.accepted(with_field('"x":[' + ",".join(["[]", "{}"] * 500) + "]"))


@pytest.mark.parametrize(
    "line",
    [
        _nested(129),
        with_field('"x":' + "[" * 100_000 + "]" * 100_000),
        with_field('"x":' + '{"a":' * 100_000 + "1" + "}" * 100_000),
        with_field('"x":' + '[{"a":' * 50_000 + "1" + "}]" * 50_000),
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
    ids=["129", "arrays", "objects", "both", "open arrays", "open objects"],
)
def test_nesting_beyond(line: str, desk: Desk) -> None:
    """A line nested deeper is refused, never a stack overflow."""
    assert desk.broken(line) == ["objects and arrays may be nested at most 128 deep [nesting]"]


def test_deep_arrays_that_are_ignored(desk: Desk) -> None:
    """Arrays up to 128 deep in a field that is ignored are ignored."""
    desk.accepted(with_field('"x":' + "[" * 127 + "]" * 127))


def test_deep_objects_that_are_ignored(desk: Desk) -> None:
    """Objects up to 128 deep in a field that is ignored are ignored, when every record has them too."""
    extra = ',"x":' + '{"a":1,"b":2,"c":' * 100 + "1" + "}" * 101
    desk.write(OK.replace("}}\n", "}" + extra + "\n"))
    desk.judged()


def test_thousands_of_digits_that_are_ignored(desk: Desk) -> None:
    """An integer of thousands of digits in a field that is ignored is ignored."""
    desk.accepted(with_field(f'"x":{"9" * 4301}'))


def test_a_long_name(desk: Desk) -> None:
    """A name may be of any length."""
    desk.write(OK.replace('"m"', f'"{"m" * 2000}"'))
    assert desk.judged()["recommended"] == "m" * 2000


def test_a_long_key(desk: Desk) -> None:
    """A key that is ignored may be of any length."""
    desk.accepted(with_field(f'"{"k" * 2000}":1'))


def test_what_is_ignored(desk: Desk) -> None:
    """Other fields are ignored at every level, whatever they hold, as long as the line is JSON."""
    line = changed('"confidence":0.97', '"confidence":0.97,"bristoltype":9,"x":{"confidence":"no"}')
    desk.accepted(
        line.replace('"truth":{', '"truth":{"note":"\ufeff","n":1e400,').replace('{"model"', '{"":[],"model"')
    )


# ------------------------------------------------------------------------------------------------------ lines and files


def test_every_rule_that_a_line_breaks(desk: Desk) -> None:
    """Every broken rule of a line is reported, not just the first; a malformed subject key hides all keys."""
    line = (
        '{"model":" ","subjectKey":"cd00000000000001","split":"dev","truth":{"bristolType":9},'
        r'"prediction":{"bristolType":0,"confidence":7},"x":1,"x":2,"\u0000":"\ud800"}'
    )
    fields = [
        'model: must hold more than white space; found " " [model]',
        "subjectKey: must be exactly 16 lower-case hexadecimal digits; found a text of length 1 [subject-key]",
        'split: must be train, validation or test; found "dev" [split]',
        f"truth.bristolType: {LABEL}; found 9 [truth]",
        f"prediction.bristolType: {LABEL}; found 0 [predicted]",
        f"prediction.confidence: {CONFIDENCE}; found 7 [confidence]",
    ]
    assert desk.broken(line) == [
        'no key may stand twice in one object; found "x" [duplicate-key]',
        r'no key may hold the character U+0000; found "\u0000" [nul]',
        "no text may hold half of a surrogate pair [surrogate]",
        fields[0],
        *fields[2:],
    ]
    assert desk.broken(line.replace("cd00000000000001", "x")) == [
        "no key may stand twice in one object [duplicate-key]",
        "no key may hold the character U+0000 [nul]",
        "no text may hold half of a surrogate pair [surrogate]",
        *fields,
    ]
    assert desk.broken("{}") == [
        f"{field}: is missing [missing-field]" for field in ("model", "subjectKey", "split", "truth", "prediction")
    ]


def test_several_lines_of_several_files(desk: Desk) -> None:
    """Broken lines come in the order of the files given, then of the lines."""
    desk.write(f"null\n{OK}4\n", "b.jsonl")
    desk.write(f"{OK}[]\n{OK}{{}}\n".replace("{}", '""'), "a.jsonl")
    assert desk.refused("b.jsonl", "a.jsonl") == [
        "b.jsonl:1: must be one JSON object; found null [json]",
        "b.jsonl:4: must be one JSON object; found a number [json]",
        "a.jsonl:3: must be one JSON object; found an array of 0 [json]",
        "a.jsonl:6: must be one JSON object; found a text of length 0 [json]",
    ]


def test_twenty_broken_lines_are_all_shown(desk: Desk) -> None:
    """Twenty broken lines are spelled out, and nothing is counted in their stead."""
    desk.write("null\n" * 20)
    assert desk.refused() == [f"a.jsonl:{line}: must be one JSON object; found null [json]" for line in range(1, 21)]


def test_more_than_twenty_broken_lines(desk: Desk) -> None:
    """The first twenty broken lines by file and line are spelled out, with all that is wrong with them; then each rule
    is counted over all lines.
    """  # noqa: D205
    wrong = VALIDATION.replace('"validation"', '"dev"').replace("0.97", "2")
    desk.write(f"{OK}null\n{wrong}\n" * 9, "b.jsonl")
    desk.write(f"{wrong}\n{OK}" * 1000, "a.jsonl")
    shown: list[str] = []
    for line in range(3, 36, 4):
        shown += [
            f"b.jsonl:{line}: must be one JSON object; found null [json]",
            f'b.jsonl:{line + 1}: split: must be train, validation or test; found "dev" [split]',
            f"b.jsonl:{line + 1}: prediction.confidence: {CONFIDENCE}; found 2 [confidence]",
        ]
    for line in (1, 4):
        shown += [
            f'a.jsonl:{line}: split: must be train, validation or test; found "dev" [split]',
            f"a.jsonl:{line}: prediction.confidence: {CONFIDENCE}; found 2 [confidence]",
        ]
    assert desk.refused("b.jsonl", "a.jsonl") == [
        *shown,
        "… and 1,996 more; in all:",
        "  1,009 × confidence",
        "      9 × json",
        "  1,009 × split",
    ]


def test_leaks_come_first(desk: Desk) -> None:
    """Over all files and models, train included: leaks first, then splits that the key does not derive, by line."""
    other = VALIDATION.replace('"m"', '"n"')
    desk.write(f"{TRAIN}\n{TEST}\n" + TEST.replace("e6", "10") + "\n", "a.jsonl")
    desk.write(f"{TRAIN.replace('train', 'test')}\n{other}\n{other.replace('validation', 'train')}\n", "b.jsonl")
    not_derived = "split: cannot be re-derived: the key"
    assert desk.refused("a.jsonl", "b.jsonl") == [
        "b.jsonl:1: split: contributor 0000000000000001 is in test here and in train at a.jsonl:1 [leak]",
        "b.jsonl:3: split: contributor cd00000000000001 is in train here and in validation at b.jsonl:2 [leak]",
        f'a.jsonl:3: {not_derived} 1000000000000001 belongs in train; found "test" [split-not-derived]',
        f'b.jsonl:1: {not_derived} 0000000000000001 belongs in train; found "test" [split-not-derived]',
        f'b.jsonl:3: {not_derived} cd00000000000001 belongs in validation; found "train" [split-not-derived]',
    ]


def test_a_leak_names_the_first_record_it_conflicts_with(desk: Desk) -> None:
    """Each record that conflicts names the earliest record in another split, also where its own split is right."""
    wrong = VALIDATION.replace('"validation"', '"test"')
    desk.write(f"{wrong}\n{wrong}\n{VALIDATION}\n{wrong}\n{VALIDATION.replace('validation', 'train')}\n")
    key = "contributor cd00000000000001 is in"
    assert [fault for fault in desk.refused() if fault.endswith("[leak]")] == [
        f"a.jsonl:3: split: {key} validation here and in test at a.jsonl:1 [leak]",
        f"a.jsonl:4: split: {key} test here and in validation at a.jsonl:3 [leak]",
        f"a.jsonl:5: split: {key} train here and in test at a.jsonl:1 [leak]",
    ]


def test_more_than_twenty_leaks(desk: Desk) -> None:
    """The first twenty lines are spelled out, leaks first; then leaks and splits that are not derived are counted."""
    keys = [f"cd{number:014x}" for number in range(30)]
    lines = [VALIDATION.replace("cd00000000000001", key) for key in keys]
    desk.write("".join(f"{line}\n" for line in [*lines, *(line.replace('"validation"', '"test"') for line in lines)]))
    assert desk.refused() == [
        *(
            f"a.jsonl:{31 + number}: split: contributor {keys[number]} is in test here "
            f"and in validation at a.jsonl:{1 + number} [leak]"
            for number in range(20)
        ),
        *(
            f"a.jsonl:{31 + number}: split: cannot be re-derived: the key {keys[number]} belongs in validation; "
            'found "test" [split-not-derived]'
            for number in range(20)
        ),
        "… and 20 more; in all:",
        "  30 × leak",
        "  30 × split-not-derived",
    ]


def test_twelve_lines_are_fewer_than_twenty(desk: Desk) -> None:
    """Twenty lines are spelled out with all that is wrong with them: twelve leaks that are no derived splits either."""
    lines = [VALIDATION.replace("cd00000000000001", f"cd{number:014x}") for number in range(12)]
    desk.write("".join(f"{line}\n" for line in [*lines, *(line.replace('"validation"', '"test"') for line in lines)]))
    assert len(desk.refused()) == 24


def test_malformed_records_are_reported_alone(desk: Desk) -> None:
    """Leaks are looked for only where every record is well formed."""
    desk.write(f"{VALIDATION}\n{VALIDATION.replace('validation', 'test')}\nnull\n")
    assert desk.refused() == ["a.jsonl:3: must be one JSON object; found null [json]"]


@pytest.mark.parametrize(
    ("key", "split"),
    [
        ("0000000000000000", "train"),
        ("ccffffffffffffff", "train"),
        ("cd00000000000000", "validation"),
        ("e5ffffffffffffff", "validation"),
        ("e600000000000000", "test"),
        ("ffffffffffffffff", "test"),
    ],
)
def test_the_split_that_a_key_derives(key: str, split: str, desk: Desk) -> None:
    """First byte below 205 train, below 230 validation, else test; any other split is refused."""
    line = VALIDATION.replace("cd00000000000001", key)
    desk.accepted(line.replace('"validation"', f'"{split}"'))
    for other in {"train", "validation", "test"} - {split}:
        assert desk.broken(line.replace('"validation"', f'"{other}"')) == [
            f'split: cannot be re-derived: the key {key} belongs in {split}; found "{other}" [split-not-derived]'
        ]


def _text(paths: list[str], workers: int, size: int) -> str:
    with Inputs(resolve(paths), size) as inputs, pytest.raises(Refusal) as refused:
        read(inputs, BRISTOL, workers=workers)
    return str(refused.value)


@pytest.mark.parametrize("workers", [1, 2, 8])
@pytest.mark.parametrize("size", [16, 61, 300, 1 << 20])
def test_the_text_is_the_same_however_the_input_is_cut(size: int, workers: int, desk: Desk) -> None:
    """The same input gives the same text, whatever the number of threads and the size of a partition."""
    odd = f"{VALIDATION}\r\n\n \t\r\nnull\r\n{TEST}\n[\n{changed('0.97', '7')}\n\n"
    desk.write(MARK + odd.encode() + b"\xff\n" + MARK + b"\n{}", "a.jsonl")
    desk.write(gz(odd), "b.jsonl.gz")
    desk.write("\n\n" + "4\n" * 40, "c.jsonl")
    same = [
        "{}:4: must be one JSON object; found null [json]",
        "{}:6: must be one JSON object; the line is broken at character 2 of 1 [json]",
        "{}:7: prediction.confidence: must be a number from 0 to 1; found 7 [confidence]",
    ]
    missing = [f"{field}: is missing" for field in ("model", "subjectKey", "split", "truth", "prediction")]
    assert _text(["a.jsonl", "b.jsonl.gz", "c.jsonl"], workers, size).splitlines() == [
        *(text.format("a.jsonl") for text in same),
        "a.jsonl:9: must be UTF-8; byte 1 of the line is not; found 0xff [encoding]",
        "a.jsonl:10: a byte-order mark may stand only at the start of a file [byte-order-mark]",
        *(f"a.jsonl:11: {text} [missing-field]" for text in missing),
        *(text.format("b.jsonl.gz") for text in same),
        *(f"c.jsonl:{line}: must be one JSON object; found a number [json]" for line in range(3, 14)),
        "… and 29 more; in all:",
        "   1 × byte-order-mark",
        "   2 × confidence",
        "   1 × encoding",
        "  44 × json",
        "   5 × missing-field",
    ]


@pytest.mark.parametrize("workers", [1, 2, 8])
@pytest.mark.parametrize("size", [16, 300])
def test_leaks_are_the_same_however_the_input_is_cut(size: int, workers: int, desk: Desk) -> None:
    """Leaks across partitions and files name the same lines, whatever the number of threads."""
    desk.write(f"\n{TRAIN}\n{TEST}\n\n{VALIDATION}\n")
    desk.write(gz(f"{TEST}\n{TEST.replace('test', 'train')}\n{TRAIN}\n"), "b.jsonl.gz")
    place, key = "b.jsonl.gz:2: split:", "e600000000000001"
    assert _text(["a.jsonl", "b.jsonl.gz"], workers, size).splitlines() == [
        f"{place} contributor {key} is in train here and in test at a.jsonl:3 [leak]",
        f'{place} cannot be re-derived: the key {key} belongs in test; found "train" [split-not-derived]',
    ]


@pytest.mark.parametrize(
    ("data", "records"),
    [
        (MARK + OK.encode(), 2),
        (OK.replace("\n", "\r\n").encode(), 2),
        (OK.replace("\n", "\r\r\n").encode(), 2),
        (OK.rstrip("\n").encode(), 2),
        (OK.rstrip("\n").encode() + b"\r", 2),
        (b"\n\n" + OK.replace("\n", "\n \t\n\r\n").encode(), 2),
        (OK.replace("{", " { ").replace(",", "\t,\r").encode(), 2),
        (gz(MARK + OK.encode()), 2),
        (gz(OK[:150]) + gz(OK[150:]), 2),
        (gz(OK) + gz(b""), 2),
        (zstd(OK[:150].encode()) + zstd(OK[150:].encode()), 2),
        (b"\x50\x2a\x4d\x18\x03\x00\x00\x00abc" + zstd(OK.encode()), 2),
        (zstd(MARK + OK.encode()) + b"\x5f\x2a\x4d\x18\x00\x00\x00\x00", 2),
    ],
    ids=short,
)
def test_what_is_a_dump(data: bytes, records: int, desk: Desk) -> None:
    """Line ends of either kind, blank lines, a mark at byte 0, a last line without its end, several gzip members or
    Zstandard frames: all of that is one dump, whatever the file's name says.
    """  # noqa: D205
    for name in ("a.jsonl", "a.gz", "a.zst", "a"):
        desk.write(data, name)
        report = desk.judged(name)
        assert report["verdict"] == "GO"
        assert report["evidence"][0]["records"] == records


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (MARK * 2 + OK.encode(), 1),
        (b"\n" + MARK + OK.encode(), 2),
        (OK.encode() + MARK, 3),
        (OK.encode() + MARK + b"\r\n", 3),
        (gz(OK) + gz(MARK + OK.encode()), 3),
    ],
    ids=short,
)
def test_a_mark_anywhere_else(data: bytes, line: int, desk: Desk) -> None:
    """A byte-order mark is allowed at byte 0 of a file, and refused anywhere else."""
    desk.write(data)
    assert desk.refused() == [
        f"a.jsonl:{line}: a byte-order mark may stand only at the start of a file [byte-order-mark]"
    ]


def test_a_mark_where_a_block_of_compressed_lines_begins(desk: Desk) -> None:
    """That compressed lines are read block by block makes no block's start the start of a file."""
    desk.write(gz(b"\n" * (1 << 20) + MARK + OK.encode()))
    assert _text(["a.jsonl"], 2, 1000) == (
        "a.jsonl:1048577: a byte-order mark may stand only at the start of a file [byte-order-mark]"
    )


def test_a_carriage_return_alone_ends_no_line(desk: Desk) -> None:
    """Lines end with a newline; a lone carriage return is white space."""
    desk.write(OK.replace("\n", "\r"))
    assert desk.refused() == ["a.jsonl:1: must be one JSON object; the line is broken at character 143 of 277 [json]"]


def test_a_line_cut_off(desk: Desk) -> None:
    """However a last line is cut off, it is refused and the lines before it are not scored."""
    for end in range(1, len(VALIDATION)):
        violations = read_line(VALIDATION[:end].encode(), BRISTOL)
        assert re.fullmatch(r".* the line is broken at character [0-9]+ of [0-9]+ \[json\]", _only(violations))
    desk.write(OK + VALIDATION[:-1])
    assert desk.refused() == ["a.jsonl:3: must be one JSON object; the line is broken at character 141 of 140 [json]"]


GZIP = gz(OK)
ZSTD = zstd(OK.encode())


def _flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 0xFF]) + data[place + 1 :]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        *((GZIP[:end], "Truncated compressed stream") for end in (2, 3, 9, 10, 20, -9, -8, -4, -1)),
        *((ZSTD[:end], "Truncated compressed stream") for end in (4, 5, 20, -5, -1)),
        (b"\x50\x2a\x4d\x18\x09\x00\x00\x00abc", "Truncated compressed stream"),
        (_flipped(GZIP, -6), "zlib inflate failed: incorrect data check"),
        (_flipped(GZIP, -1), "zlib inflate failed: incorrect length check"),
        (_flipped(ZSTD, len(ZSTD) // 2), "ZSTD decompress failed: Data corruption detected"),
        (GZIP + b"garbage", "zlib inflate failed: incorrect header check"),
        (GZIP + OK.encode(), "zlib inflate failed: incorrect header check"),
        (GZIP + b"\n", "Truncated compressed stream"),
        (GZIP + GZIP[:20], "Truncated compressed stream"),
        (GZIP + ZSTD, "zlib inflate failed: incorrect header check"),
        (ZSTD + b"garbage", "ZSTD decompress failed: Unknown frame descriptor"),
        (ZSTD + GZIP, "ZSTD decompress failed: Unknown frame descriptor"),
        (ZSTD + ZSTD[:20], "Truncated compressed stream"),
    ],
    ids=short,
)
def test_broken_compression(data: bytes, why: str, desk: Desk) -> None:
    """Compressed data that is cut off, damaged or followed by anything else is refused, and none of it is scored."""
    desk.write(data)
    assert desk.refused() == [f"a.jsonl: the compressed data is broken or cut off: {why} [compressed-data]"]


def test_broken_compression_hides_nothing(desk: Desk) -> None:
    """Every broken rule is reported, also where one of them is that compressed data is cut off."""
    desk.write("null\n", "a.jsonl")
    desk.write(GZIP[:-1], "b.gz")
    desk.write(GZIP[:-2], "c.gz")
    assert desk.refused("a.jsonl", "b.gz", "c.gz") == [
        "a.jsonl:1: must be one JSON object; found null [json]",
        f"b.gz: {CUT_OFF}",
        f"c.gz: {CUT_OFF}",
    ]


@pytest.mark.parametrize(
    ("data", "place", "byte"),
    [
        (gz(GZIP), 2, "0x8b"),
        (gz(ZSTD), 2, "0xb5"),
        (zstd(GZIP), 2, "0x8b"),
        (zstd(ZSTD), 2, "0xb5"),
        (zlib.compress(OK.encode()), 2, "0x9c"),
        (gz(zlib.compress(OK.encode())), 2, "0x9c"),
        (lzma.compress(OK.encode()), 1, "0xfd"),
    ],
    ids=["gzip twice", "zstd in gzip", "gzip in zstd", "zstd twice", "zlib", "zlib in gzip", "xz"],
)
def test_other_compression(data: bytes, place: int, byte: str, desk: Desk) -> None:
    """What is compressed twice, or in another way, is not unpacked by chance: it is no text, and refused as such."""
    desk.write(data)
    faults = desk.refused()
    assert faults[0] == f"a.jsonl:1: must be UTF-8; byte {place} of the line is not; found {byte} [encoding]"
    assert {fault.rpartition("[")[2] for fault in faults} <= {"encoding]", "json]"}


@pytest.mark.parametrize("data", [GZIP, ZSTD], ids=["gzip", "zstd"])
def test_compressed_data_cut_or_damaged_anywhere(data: bytes, desk: Desk) -> None:
    """Wherever compressed data is cut off or damaged, nothing of it is scored as if it were whole."""
    sound = evalkit.compare(desk.write(data, "whole"), min_coverage="0.5").candidates
    for place in range(4, len(data)):
        with pytest.raises(Refusal):
            evalkit.compare(desk.write(data[:place], "cut"), min_coverage="0.5")
        try:
            found = evalkit.compare(desk.write(_flipped(data, place), "damaged"), min_coverage="0.5").candidates
        except Refusal:
            continue
        assert found == sound  # a byte of the header, such as the time


# -------------------------------------------------------------------------------------------------- contributors' names

SECRETS = ["Ada Example", "ada@example.org", "Åsa Öberg", "+15550100199"]


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize(
    "value",
    [
        '"{}"',
        '" {} "',
        '"{}\\n"',
        '"{}\\ud800"',
        '"{}\\u0000"',
        '"\\u001b[31m{}"',
        '"{}\x01"',
        '"{}',
        "{}",
        '{{"name":"{}"}}',
        '["{}"]',
        '{{"{}":1}}',
        '{{"a":{{"{}":NaN}}}}',
        '"a","subjectKey":"{}"',
        '"{}","subjectKey":"cd00000000000001"',
        '"{}","subject\\u004bey":"{}"',
    ],
)
def test_a_malformed_key_is_never_shown(value: str, secret: str, desk: Desk) -> None:
    """The value of a malformed subject key may be a name or an address, so no part of it is shown."""
    assert _pieces(secret, desk.broken(changed('"cd00000000000001"', value.format(secret, secret)))) == []


def _pieces(secret: str, faults: list[str]) -> list[str]:
    """Return the pieces of a secret, four letters or more, that a refusal shows."""
    assert faults
    text = "\n".join(faults)
    return [secret[at : at + 4] for at in range(len(secret) - 3) if secret[at : at + 4] in text]


@pytest.mark.parametrize(
    "number", ["15550100199", "1555010019915550100199", "-15550100199", "1555010019.9", "15550100e99"]
)
def test_a_number_as_a_key_is_never_shown(number: str, desk: Desk) -> None:
    """A telephone number in place of a subject key is not shown either."""
    assert desk.broken(changed('"cd00000000000001"', number)) == [
        "subjectKey: must be exactly 16 lower-case hexadecimal digits; found a number [subject-key]"
    ]


@pytest.mark.parametrize("size", [16, 1 << 20])
@pytest.mark.parametrize("end", ["\n", ""])
def test_a_line_torn_inside_a_key(end: str, size: int, desk: Desk) -> None:
    """A line torn anywhere inside a malformed key shows nothing of it, nor does the other half on the next line."""
    line = changed("cd00000000000001", "Ada Example")
    begin = line.index("Ada")
    for place in range(begin, begin + len("Ada Example") + 1):
        desk.write(f"{OK}{line[:place]}\n{line[place:]}{end}")
        faults = _text(["a.jsonl"], 2, size).splitlines()
        assert len(faults) == 2
        assert _pieces("Ada Example", faults) == []


def test_a_key_that_is_not_utf8(desk: Desk) -> None:
    """Of a line that is not UTF-8, only the offending byte is shown."""
    raw = changed("cd00000000000001", "Åsa Öberg").encode("latin-1")
    assert desk.broken(raw) == ["must be UTF-8; byte 28 of the line is not; found 0xc5 [encoding]"]


@pytest.mark.parametrize("value", ['{"Ada Example":1,"Ada Example":2}', r'{"Ada Example\u0000":1}'])
def test_a_name_as_a_key_in_place_of_a_key(value: str, desk: Desk) -> None:
    """An object in place of a subject key is not shown, not even a key in it that breaks a rule of its own."""
    assert _pieces("Ada Example", desk.broken(changed('"cd00000000000001"', value))) == []


@pytest.mark.parametrize("secret", ['"Ada Example"', "15550100199"])
def test_a_key_alone_on_its_line(secret: str, desk: Desk) -> None:
    """A record torn before and after a malformed key shows nothing of it, though the key alone is JSON."""
    desk.write(changed('"cd00000000000001"', f"\n{secret}\n"))
    assert _pieces(secret.strip('"'), desk.refused()) == []


def test_a_name_in_the_way_of_a_dotted_key() -> None:
    """Under a contract that looks for the key in an object, a name in place of that object is not shown."""
    contract = Contract(fields=Fields(subject="contributor.key"))
    line = changed('"subjectKey":"cd00000000000001"', '"contributor":"Ada Example"')
    assert _only(read_line(line.encode(), contract)) == "contributor: must be an object [object]"


def test_a_name_in_the_way_of_two_dotted_keys() -> None:
    """The same where another field is looked for in the same object."""
    contract = Contract(fields=Fields(subject="contributor.key", split="contributor.split"))
    line = changed('"subjectKey":"cd00000000000001","split":"validation"', '"contributor":"Ada Example"')
    assert _only(read_line(line.encode(), contract)) == "contributor: must be an object [object]"


@pytest.mark.parametrize("second", ['{"Ada Example":1,"Ada Example":2}', r'{"Ada Example\u0000":1}'])
def test_a_good_key_and_a_malformed_one(second: str, desk: Desk) -> None:
    """Where a subject key stands twice, the other one is not shown either."""
    line = changed('"cd00000000000001"', f'"cd00000000000001","subjectKey":{second}')
    assert _pieces("Ada Example", desk.broken(line)) == []


# ---------------------------------------------------------------------------------------------------------------- paths


def test_no_input(desk: Desk) -> None:
    """Without any input there is nothing to judge."""
    with pytest.raises(Refusal) as refused:
        evalkit.compare([], min_coverage="0.5")
    fault = "no input is named; give files, patterns, or - for standard input [no-input]"
    assert str(refused.value) == fault
    result = CliRunner().invoke(app, ["compare", "--min-coverage", "0.5"])
    assert (result.exit_code, result.stderr.splitlines()[1]) == (2, f"  {fault}")


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("nope.jsonl", "nope.jsonl: there is no such file [path-missing]"),
        ("", '"": there is no such file [path-missing]'),
        ("folder/nope.jsonl", "folder/nope.jsonl: there is no such file [path-missing]"),
        ("file/nope.jsonl", "file/nope.jsonl: there is no such file [path-missing]"),
        ("dangling", "dangling: there is no such file [path-missing]"),
        ("x" * 300, f"{'x' * 300}: there is no such file [path-missing]"),
        (
            "https://example.org/a.jsonl",
            (
                "https://example.org/a.jsonl: https:// is not read, "
                "but s3://, gs://, az://, abfs:// and hf:// are [store-url]"
            ),
        ),
        ("~", "~: there is no such file [path-missing]"),
        ("*.nope", "*.nope: the pattern matches no file [pattern-empty]"),
        ("[", "[: the pattern matches no file [pattern-empty]"),
        ("empty/*", "empty/*: the pattern matches no file [pattern-empty]"),
        ("fol*", "fol*: the pattern matches no file [pattern-empty]"),
        (
            "folder",
            "folder: is a directory; name its files, or a pattern such as DIRECTORY/*.jsonl [path-directory]",
        ),
        (
            "folder/",
            "folder/: is a directory; name its files, or a pattern such as DIRECTORY/*.jsonl [path-directory]",
        ),
        (
            "to-folder",
            "to-folder: is a directory; name its files, or a pattern such as DIRECTORY/*.jsonl [path-directory]",
        ),
        ("loop", "loop: cannot be read: Too many levels of symbolic links [path-unreadable]"),
        ("\udcff.jsonl", r"\udcff.jsonl: there is no such file [path-missing]"),
        ("\x1b]0;.jsonl", r"\u001b]0;.jsonl: there is no such file [path-missing]"),
    ],
    ids=short,
)
def test_paths_that_cannot_be_read(path: str, fault: str, desk: Desk) -> None:
    """A missing path, a pattern that matches nothing and a directory are refused by name."""
    (desk.folder / "folder").mkdir()
    (desk.folder / "empty").mkdir()
    (desk.folder / "dangling").symlink_to("nowhere")
    (desk.folder / "to-folder").symlink_to("folder")
    (desk.folder / "loop").symlink_to("loop")
    desk.write(OK, "file")
    assert desk.refused("file", path) == [fault]


def test_everything_that_is_wrong_with_the_paths(desk: Desk) -> None:
    """Every path that cannot be read is named, in the order given, not just the first."""
    desk.write(OK)
    (desk.folder / "folder").mkdir()
    assert desk.refused("folder", "nope", "a.jsonl", "*.nope", "a.jsonl", "other") == [
        "folder: is a directory; name its files, or a pattern such as DIRECTORY/*.jsonl [path-directory]",
        "nope: there is no such file [path-missing]",
        "*.nope: the pattern matches no file [pattern-empty]",
        "a.jsonl: is the same file as a.jsonl; name each file once [same-file-twice]",
        "other: there is no such file [path-missing]",
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read every file")
def test_a_file_that_may_not_be_read(desk: Desk) -> None:
    """A file without permission to read is refused by name."""
    (desk.folder / desk.write(OK)).chmod(0)
    assert desk.refused() == ["a.jsonl: cannot be read: Permission denied [path-unreadable]"]


def test_a_socket(desk: Desk) -> None:
    """A path that exists and cannot be opened is refused."""
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
        assert desk.refused("socket") == ["socket: cannot be read: No such device or address [path-unreadable]"]


@pytest.mark.parametrize(
    ("args", "again", "first"),
    [
        (["a.jsonl", "a.jsonl"], ["a.jsonl"], "a.jsonl"),
        (["a.jsonl", "a.jsonl", "a.jsonl"], ["a.jsonl", "a.jsonl"], "a.jsonl"),
        (["a.jsonl", "./a.jsonl"], ["./a.jsonl"], "a.jsonl"),
        (["a.jsonl", "folder/../a.jsonl"], ["folder/../a.jsonl"], "a.jsonl"),
        (["symbolic", "a.jsonl"], ["a.jsonl"], "symbolic"),
        (["a.jsonl", "hard"], ["hard"], "a.jsonl"),
        (["a.*", "*.jsonl"], ["a.jsonl"], "a.jsonl"),
        (["*"], ["hard", "symbolic"], "a.jsonl"),
        (["a.jsonl", "--predictions", "a.jsonl"], ["a.jsonl"], "a.jsonl"),
    ],
    ids=" ".join,
)
def test_the_same_file_twice(args: list[str], again: list[str], first: str, desk: Desk) -> None:
    """A file named twice would count twice: by name, by another spelling, by links, by overlapping patterns."""
    desk.write(OK)
    (desk.folder / "folder").mkdir()
    (desk.folder / "symbolic").symlink_to("a.jsonl")
    (desk.folder / "hard").hardlink_to("a.jsonl")
    assert desk.refused(*args) == [
        f"{name}: is the same file as {first}; name each file once [same-file-twice]" for name in again
    ]


def test_the_same_content_in_two_files(desk: Desk) -> None:
    """A copy is another file: it is read, with a warning that names both."""
    desk.write(OK, "a.jsonl")
    desk.write(OK, "b.jsonl")
    warning = "b.jsonl: has the same content as a.jsonl, so its records count twice"
    assert desk.judged("a.jsonl", "b.jsonl", warns=warning)["candidates"][0]["total"] == 2


def test_a_file_whose_name_looks_like_a_pattern(desk: Desk) -> None:
    """A file named `run[1].jsonl` that exists is that file; where it does not exist the name is a pattern."""
    desk.write("null\n", "run1.jsonl")
    desk.write(OK, "run[1].jsonl")
    assert desk.judged("run[1].jsonl")["evidence"][0]["name"] == "run[1].jsonl"
    (desk.folder / "run[1].jsonl").unlink()
    assert desk.refused("run[1].jsonl") == ["run1.jsonl:1: must be one JSON object; found null [json]"]


def test_the_files_of_a_pattern_are_sorted(desk: Desk) -> None:
    """A pattern's files are taken in sorted order, folders left out, within the order of what is given."""
    for number, name in enumerate(["b.jsonl", "a10.jsonl", "a9.jsonl", "A.jsonl"]):
        desk.write(OK + "\n" * number, name)
    (desk.folder / "c.jsonl").mkdir()
    (desk.folder / "deep").mkdir()
    desk.write(OK + "\n" * 9, "deep/d.jsonl")
    names = [item["name"] for item in desk.judged("b.jsonl", "[aA]*.jsonl", "deep/**/*.jsonl")["evidence"]]
    assert names == ["b.jsonl", "A.jsonl", "a10.jsonl", "a9.jsonl", "deep/d.jsonl"]


def test_a_file_named_like_standard_input(desk: Desk) -> None:
    """What a pattern finds is a file, also where its name is `-`."""
    desk.write(OK, "-")
    assert desk.judged("*")["evidence"][0]["records"] == 2


def test_a_file_name_with_a_line_end(desk: Desk) -> None:
    """One fault is one line, whatever the file's name holds."""
    name = desk.write("null\n", "a\nb.jsonl")
    assert desk.refused(name) == [r"a\u000ab.jsonl:1: must be one JSON object; found null [json]"]


@pytest.mark.parametrize("nothing", [b"", b"\n", b" \n\t\r\n\n", MARK, MARK + b"\n", gz(b""), zstd(b"\n")], ids=short)
def test_a_file_without_records(nothing: bytes, desk: Desk) -> None:
    """A file without records among others is named in a warning and in the evidence; alone it is refused."""
    desk.write(OK, "a.jsonl")
    desk.write(nothing, "none")
    report = desk.judged("none", "a.jsonl", warns="none: holds no records")
    assert [(item["name"], item["bytes"], item["records"]) for item in report["evidence"]] == [
        ("none", len(nothing), 0),
        ("a.jsonl", len(OK), 2),
    ]
    assert desk.refused("none") == ["none: holds no records [no-records]"]


def test_the_warning_is_on_standard_error(desk: Desk) -> None:
    """The command prints a warning beside the verdict."""
    desk.write(OK, "a.jsonl")
    desk.write("", "none")
    result = CliRunner().invoke(app, ["compare", "a.jsonl", "none", "--min-coverage", "0.5"])
    assert (result.exit_code, result.stderr) == (0, "evalkit: warning: none: holds no records\n")


def test_only_files_without_records(desk: Desk) -> None:
    """No records at all is a refusal that names every file."""
    desk.write("", "a")
    desk.write("\n", "b")
    desk.write(MARK, "c")
    assert desk.refused("a", "b", "c") == [f"{name}: holds no records [no-records]" for name in "abc"]


def test_standard_input(desk: Desk) -> None:
    """What is read from `-` is judged, named and refused like a file."""
    for data in (OK.encode(), MARK + OK.encode(), GZIP, ZSTD):
        with standard_input(data):
            (evidence,) = evalkit.compare("-", min_coverage="0.5").evidence
        assert (evidence.name, evidence.bytes, evidence.records) == ("-", len(data), 2)
    for data, fault in {
        b"": "-: holds no records [no-records]",
        b"\nnull": "-:2: must be one JSON object; found null [json]",
        GZIP[:-1]: f"-: {CUT_OFF}",
    }.items():
        with standard_input(data):
            assert desk.refused("-") == [fault]
    with standard_input(OK.encode()):
        assert desk.refused("-", "-") == ["-: is the same file as -; name each file once [same-file-twice]"]


def test_standard_input_from_a_file_that_is_named_too(desk: Desk) -> None:
    """A file on standard input that is also named is the same file twice."""
    saved, file = os.dup(0), os.open(desk.write(OK), os.O_RDONLY)
    try:
        os.dup2(file, 0)
        assert desk.refused("a.jsonl", "-") == ["-: is the same file as a.jsonl; name each file once [same-file-twice]"]
    finally:
        os.dup2(saved, 0)
        os.close(saved)
        os.close(file)


# ----------------------------------------------------------------------------------------- files that do not hold still


def _append(path: Path) -> None:
    with path.open("ab") as file:
        file.write(OK.encode())


def _cut(path: Path) -> None:
    os.truncate(path, 10)


def _touch(path: Path) -> None:
    os.utime(path, (1, 1))


def _exchange(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.replace(path)


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


CHANGED = "was changed while it was read; run again when it is whole"
GONE = "was there at the start and cannot be opened now: No such file or directory"
CHANGES: dict[Callable[[Path], None], str] = {
    Path.unlink: GONE,
    _append: CHANGED,
    _cut: CHANGED,
    _touch: CHANGED,
    _exchange: CHANGED,
}


def _read_while(path: Path, change: Callable[[Path], None], when: int, workers: int) -> Dump:
    """Read a file in small partitions, and change it when some of them have been read."""
    seen = 0

    def advance(_stored: int, _records: int) -> None:
        nonlocal seen
        seen += 1
        if seen == when:
            change(path)

    with Inputs(resolve([path.name]), 1000) as inputs:
        return read(inputs, BRISTOL, workers=workers, progress=advance)


@pytest.mark.parametrize("workers", [1, 8])
@pytest.mark.parametrize("when", [1, 28])
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_file_that_changes_while_it_is_read(
    change: Callable[[Path], None], when: int, workers: int, desk: Desk
) -> None:
    """A file that is gone, longer, shorter, newer or another one before all of it was read is refused."""
    path = desk.folder / desk.write(OK * 100)
    assert -(-path.stat().st_size // 1000) == 28
    with pytest.raises(Refusal) as refused:
        _read_while(path, change, when, workers)
    assert str(refused.value) == f"a.jsonl: {CHANGES[change]} [file-changed]"


def test_a_file_that_becomes_a_folder(desk: Desk) -> None:
    """A file in whose place there is a folder before all of it was read is refused."""
    path = desk.folder / desk.write(OK * 100)
    with pytest.raises(Refusal) as refused:
        _read_while(path, _folder, 1, 1)
    assert str(refused.value) == (
        "a.jsonl: was there at the start and cannot be opened now: Is a directory [file-changed]"
    )


@pytest.mark.parametrize("change", [Path.unlink, _touch, _exchange], ids=lambda change: change.__name__)
def test_a_compressed_file_that_changes_while_it_is_read(change: Callable[[Path], None], desk: Desk) -> None:
    """A compressed file is held to the same."""
    path = desk.folder / desk.write(gz(OK.encode() * 100))
    with pytest.raises(Refusal) as refused:
        _read_while(path, change, 1, 1)
    assert str(refused.value) == f"a.jsonl: {CHANGES[change]} [file-changed]"


@pytest.mark.parametrize("data", [OK.encode(), GZIP, b""], ids=["plain", "gzip", "empty"])
def test_a_file_that_is_gone_before_it_is_read(data: bytes, desk: Desk) -> None:
    """A file that was there when it was named and is gone when it is read is refused."""
    sources = resolve([desk.write(OK, "other"), desk.write(data)])
    (desk.folder / "a.jsonl").unlink()
    with Inputs(sources) as inputs, pytest.raises(Refusal) as refused:
        read(inputs, BRISTOL)
    assert str(refused.value) == f"a.jsonl: {GONE} [file-changed]"


def test_a_file_that_changes_before_the_second_reading(desk: Desk) -> None:
    """Where leaks make a second reading needed, the file must still be the one that was read first."""
    path = desk.folder / desk.write(OK * 100 + VALIDATION.replace("validation", "test") + "\n")
    with pytest.raises(Refusal) as refused:
        _read_while(path, Path.unlink, 28, 1)
    assert str(refused.value) == f"a.jsonl: {GONE} [file-changed]"


# -------------------------------------------------------------------------------------------------- outputs, run record


def test_what_is_there_stays(desk: Desk) -> None:
    """A refusal leaves an older report and older tables as they are, and makes no folder."""
    desk.write("null\n")
    desk.write("older", "report.json")
    (desk.folder / "tables").mkdir()
    desk.write("older", "tables/report.json")
    assert desk.refused("a.jsonl", "--json", "report.json", "--out", "tables") == [
        "a.jsonl:1: must be one JSON object; found null [json]"
    ]
    desk.refused("a.jsonl", "--json", "new/report.json", "--out", "other/tables")


@pytest.mark.parametrize(
    ("args", "fault"),
    [
        (["--json", "a.jsonl"], "a.jsonl: is the input a.jsonl; name another file [output-unusable]"),
        (["--json", "link"], "link: is the input a.jsonl; name another file [output-unusable]"),
        (["--json", "folder"], "folder: is a directory; name a file [output-unwritable]"),
        (
            ["--json", "a.jsonl/report.json"],
            "a.jsonl/report.json: cannot be written: a.jsonl: Not a directory [output-unwritable]",
        ),
        (["--out", "."], ".: holds the input a.jsonl; name another folder [output-unusable]"),
        (
            ["--out", "a.jsonl"],
            "a.jsonl: is not a folder; name one that does not exist, or earlier results [output-unwritable]",
        ),
        (
            ["--out", "folder"],
            "folder: holds notes.txt, which is no part of earlier results; name another folder [output-unwritable]",
        ),
        (
            ["--out", "new", "--json", "new/other.json"],
            "new/other.json: clashes with the results folder new; name a file outside it [output-unusable]",
        ),
        (["--run-record", "nope"], "nope: cannot be read: No such file or directory [run-record]"),
        (["--run-record", "folder"], "folder: cannot be read: Is a directory [run-record]"),
        (["--run-record", "list"], "list: must be one JSON object; found an array of 0 [json]"),
        (["--run-record", "huge"], "huge: holds a number that no report can keep [run-record]"),
        (["--run-record", "twice"], 'twice: no key may stand twice in one object; found "a" [duplicate-key]'),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_targets_and_run_records(args: list[str], fault: str, desk: Desk) -> None:
    """A target that cannot be written or would destroy an input, and a run record that is no JSON object, are refused
    before the work starts.
    """  # noqa: D205
    desk.write(OK)
    (desk.folder / "link").symlink_to("a.jsonl")
    (desk.folder / "folder").mkdir()
    desk.write("", "folder/notes.txt")
    desk.write("[]", "list")
    desk.write('{"a":1e400}', "huge")
    desk.write('{"a":1,"a":1}', "twice")
    assert desk.refused("a.jsonl", *args) == [fault]


@pytest.mark.parametrize("option", ["--json", "--out"])
def test_a_target_whose_name_is_too_long(option: str, desk: Desk) -> None:
    """A path that cannot be written is found out before the work starts, and is exit 2."""
    desk.write(OK)
    fault = f"{'x' * 300}: cannot be written: File name too long [output-unwritable]"
    assert desk.refused("a.jsonl", option, "x" * 300) == [fault]


def test_a_target_that_is_no_regular_file(desk: Desk) -> None:
    """A device or a pipe is never replaced by a report."""
    desk.write(OK)
    os.mkfifo("pipe")
    fault = "pipe: is a device or a pipe; for standard output name - [output-unwritable]"
    assert desk.refused("a.jsonl", "--json", "pipe") == [fault]
    assert stat.S_ISFIFO((desk.folder / "pipe").lstat().st_mode)


# --------------------------------------------------------------------------------------------------- the coverage floor

SUCH_AS = "must be a decimal from 0 to 1, such as 0.5"


@pytest.mark.parametrize(
    ("floor", "message"),
    [
        ("50", 'must be a decimal from 0 to 1; for 50 percent write 0.5; found "50"'),
        ("50%", 'must be a decimal from 0 to 1; for 50 percent write 0.5; found "50%"'),
        ("50 %", 'must be a decimal from 0 to 1; for 50 percent write 0.5; found "50 %"'),
        ("100", 'must be a decimal from 0 to 1; for 100 percent write 1; found "100"'),
        ("100%", 'must be a decimal from 0 to 1; for 100 percent write 1; found "100%"'),
        ("0%", 'must be a decimal from 0 to 1; for 0 percent write 0; found "0%"'),
        ("1.1", 'must be a decimal from 0 to 1; for 1.1 percent write 0.011; found "1.1"'),
        ("0,5", 'must be a decimal from 0 to 1; with a decimal point, write 0.5; found "0,5"'),
        (",5", 'must be a decimal from 0 to 1; with a decimal point, write .5; found ",5"'),
        ("0.5%", 'must be a decimal from 0 to 1; for 0.5 percent write 0.005; found "0.5%"'),
        ("0,5%", 'must be a decimal from 0 to 1; for 0.5 percent write 0.005; found "0,5%"'),
        ("12,5", 'must be a decimal from 0 to 1; for 12.5 percent write 0.125; found "12,5"'),
        ("101", f'{SUCH_AS}; found "101"'),
        ("150%", f'{SUCH_AS}; found "150%"'),
        (" 1", f'{SUCH_AS}; found " 1"'),
        ("-1", f'{SUCH_AS}; found "-1"'),
        ("-0.5", f'{SUCH_AS}; found "-0.5"'),
        ("+0.5", f'{SUCH_AS}; found "+0.5"'),
        ("", f'{SUCH_AS}; found ""'),
        (" ", f'{SUCH_AS}; found " "'),
        (" 0.5", f'{SUCH_AS}; found " 0.5"'),
        (".", f'{SUCH_AS}; found "."'),
        ("nan", f'{SUCH_AS}; found "nan"'),
        ("inf", f'{SUCH_AS}; found "inf"'),
        ("1e-1", f'{SUCH_AS}; found "1e-1"'),
        ("1/2", f'{SUCH_AS}; found "1/2"'),
        ("half", f'{SUCH_AS}; found "half"'),
        ("0.5.5", f'{SUCH_AS}; found "0.5.5"'),
        ("1_0", f'{SUCH_AS}; found "1_0"'),
        ("0x1", f'{SUCH_AS}; found "0x1"'),
        ("\u0660.\u0665", f'{SUCH_AS}; found "\u0660.\u0665"'),
        ("½", f'{SUCH_AS}; found "½"'),
        ("1" * 5000, f'{SUCH_AS}; found "{"1" * 40}…"'),
        ("0." + "1" * 5000, f'{SUCH_AS}; found "0.{"1" * 38}…"'),
        ("\x1b[31m", rf'{SUCH_AS}; found "\u001b[31m"'),
    ],
    ids=short,
)
def test_what_is_no_floor(floor: str, message: str, desk: Desk) -> None:
    """The floor is a decimal in 0–1; what else people write is a usage error with a hint, before any file is read."""
    assert desk.refused("nope.jsonl", floor=floor) == [f"min-coverage: {message} [min-coverage]"]


@pytest.mark.parametrize(
    ("floor", "value"),
    [
        ("0", 0.0),
        ("1", 1.0),
        ("0.5", 0.5),
        (".5", 0.5),
        ("0.50", 0.5),
        ("1.000", 1.0),
        (0, 0.0),
        (1, 1.0),
        (0.1, 0.1),
        (1e-05, 1e-05),
        (Decimal("0.3"), 0.3),
        (Fraction(1, 3), 0.3333333333333333),
    ],
    ids=short,
)
def test_what_is_a_floor(floor: str | float | Decimal | Fraction, value: float, desk: Desk) -> None:
    """A floor is a decimal text, or in Python a number, taken as the decimal that it prints as."""
    desk.write(OK)
    assert evalkit.compare("a.jsonl", floor).min_coverage == value


@pytest.mark.parametrize("floor", [50, -1, 1.1, float("nan"), float("inf"), True, Decimal("NaN"), Fraction(4, 3)])
def test_numbers_that_are_no_floor(floor: float | Decimal | Fraction, desk: Desk) -> None:
    """A number outside 0–1, NaN or True is no floor."""
    desk.write(OK)
    with pytest.raises(Refusal, match=r"^min-coverage: must be a decimal from 0 to 1.*\[min-coverage\]$"):
        evalkit.compare("a.jsonl", floor)


def test_the_floor_has_no_default(desk: Desk) -> None:
    """The caller states the floor: without it nothing is judged."""
    desk.write(OK)
    result = CliRunner().invoke(app, ["compare", "a.jsonl"])
    assert result.exit_code == 2
    assert "Missing option '--min-coverage'" in result.stderr
    assert result.stdout == ""


def test_a_threshold_comes_from_validation_alone() -> None:
    """Choosing a threshold raises where any record is not of the validation split."""
    rows = {"split": ["validation", "test"], "truth": ["4", "4"], "predicted": ["4", "4"], "confidence": [0.9, 0.8]}
    with pytest.raises(Refusal) as refused:
        select_threshold(pl.DataFrame({**rows, "n": [3, 2]}), Fraction(1, 2))
    assert str(refused.value) == (
        "split: a threshold is chosen on validation records alone; 2 are not [not-validation]"
    )
