"""What `evaluate` refuses, with side, line and id, and what only looks as if it should be refused.

Every refusal goes through the command line: exit 2, nothing on standard output, nothing written. The words may change;
what is held here are the place, the id, the rule and what a reader needs to know.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support import evalkit as run_evalkit
from typer.testing import CliRunner

import evalkit
from evalkit import Refusal
from evalkit.cli import app
from evalkit.cli.app import spread

HEAD = re.compile(r"evalkit: refused: (?:1 violation|[1-9][0-9,]* violations); nothing was scored, nothing was written")
GOOD = '{"id":"fine","option_ids":["a","b"],"probabilities":[0.75,0.25]}'
LINE = '{"id":"id-42","option_ids":["a","b"],"probabilities":[0.75,0.25]}'
GOLD = '{"id":"id-42","gold":"a"}'
GOOD_GOLD = '{"id":"fine","gold":"a"}'
BOTH = f"{GOOD_GOLD}\n{GOLD}\n"
MARK = b"\xef\xbb\xbf"
LABELLED = '{"id":"id-42","option_ids":["a","b"],"label":"b"}'
SILENT = '{"id":"id-42","option_ids":["a","b"]}'

COMPANY = [
    f'{{"id":"company-{at}","option_ids":["a","b"]{rest}}}'
    for at, rest in enumerate(
        ["", ',"label":"b"', ',"label":null', ',"probabilities":null,"label":"a"', ',"probabilities":[1,0]']
    )
]
"""Good lines, of whose shapes a broken one may be."""

Names = tuple[str, ...]


def joined(lines: Iterable[str | bytes]) -> bytes:
    """Write lines, each with its end."""
    return b"".join((line.encode() if isinstance(line, str) else line) + b"\n" for line in lines)


@dataclass(frozen=True)
class Desk:
    """A folder of its own, and the command run in it."""

    folder: Path

    def write(self, name: str, *lines: str | bytes) -> str:
        """Write a file of lines and return its name."""
        (self.folder / name).write_bytes(joined(lines))
        return name

    def run(
        self, *options: str, predictions: tuple[str, ...] = ("p.jsonl",), gold: tuple[str, ...] = ("g.jsonl",)
    ) -> Any:
        """Run the command."""
        words = ["evaluate", "--predictions", *predictions, "--gold", *gold, *options]
        return CliRunner().invoke(app, spread(words))

    def refused(self, *options: str, **sides: Names) -> list[str]:
        """Run the command, which must refuse, and return what it says is wrong, line by line."""
        before = self.state()
        result = self.run("--json", "out/r.json", "--out", "tables", *options, **sides)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        assert self.state() == before
        head, *lines = result.stderr.splitlines()
        assert HEAD.fullmatch(head)
        return [line.removeprefix("  ") for line in lines]

    def accepted(self, *options: str, **sides: Names) -> dict[str, Any]:
        """Run the command, which must not refuse, and return the report."""
        result = self.run("--json", "-", "--quiet", *options, **sides)
        assert (result.exit_code, result.stderr) == (0, "")
        report: dict[str, Any] = json.loads(result.stdout)
        return report

    def predicts(self, line: str | bytes, *options: str) -> list[str]:
        """Refuse a good line and this one, in the company of good lines of other shapes, and return what is said."""
        self.write("p.jsonl", GOOD, line, *COMPANY)
        self.write("g.jsonl", GOOD_GOLD, GOLD, *(f'{{"id":"company-{at}","gold":"a"}}' for at in range(len(COMPANY))))
        return self.refused(*options)

    def judges(self, line: str | bytes) -> list[str]:
        """Refuse a good line of gold and this one, and return what is said of it."""
        self.write("p.jsonl", GOOD, LINE)
        self.write("g.jsonl", GOOD_GOLD, line)
        return self.refused()

    def state(self) -> list[tuple[str, int, int]]:
        """Return what lies in the folder."""
        found = ((path, path.lstat()) for path in sorted(self.folder.rglob("*")))
        return [(str(path), status.st_size, status.st_mtime_ns) for path, status in found]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Give each test an empty folder to be in."""
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path)


def changed(old: str, new: str, line: str = LINE) -> str:
    """Return a line with one piece changed."""
    assert line.count(old) == 1, (old, line)
    return line.replace(old, new)


def vector(text: str) -> str:
    """Return the line with this between the brackets of its vector."""
    return changed("[0.75,0.25]", f"[{text}]")


def short(value: object) -> str:
    """Name a parameter of a test."""
    return ascii(value)[:30]


def holds(fault: str, place: str, rule: str, *words: str) -> None:
    """Hold that a fault names its place, its rule, and these words."""
    assert fault.startswith(f"{place}: "), fault
    assert fault.endswith(f"[{rule}]"), fault
    for word in words:
        assert word in fault, (word, fault)


# ------------------------------------------------------------ lines, whichever side they are

BROKEN: list[tuple[str | bytes, str]] = [
    (LINE[:-1], "json"),
    (LINE[:20], "json"),
    (LINE + LINE, "json"),
    (LINE + " x", "json"),
    ("null", "json"),
    ("[]", "json"),
    (f"[{LINE}]", "json"),
    ('"id-42"', "json"),
    (LINE.replace('"', "'"), "json"),
    (changed('"id-42"', '"id-42",'), "json"),
    (changed("0.25]", "0.25,]"), "json"),
    (changed('"id-42"', '"id-42","x":NaN'), "json"),
    (vector("NaN,1"), "json"),
    (vector("Infinity,0"), "json"),
    (vector("01,0"), "json"),
    (vector(".75,0.25"), "json"),
    (vector("+0.75,0.25"), "json"),
    (vector("0.75 0.25"), "json"),
    (changed('"id":', '"id":"fine","id":'), "duplicate-key"),
    (changed('"id":', '"\\u0069d":"id-42","id":'), "duplicate-key"),
    (changed("}", ',"probabilities":[0.75,0.25]}'), "duplicate-key"),
    (changed("}", ',"option_ids":["a","b"]}'), "duplicate-key"),
    (changed("}", ',"x":{"y":1,"y":1}}'), "duplicate-key"),
    (MARK + LINE.encode(), "byte-order-mark"),
    (changed("id-42", "id-\\ud800"), "surrogate"),
    (changed('"b"', '"\\udc00"'), "surrogate"),
    (changed("id-42", "id\\u0000"), "nul"),
    (changed('"b"', '"b\\u0000"'), "nul"),
    (LINE.encode().replace(b"id-42", b"id-\xe9"), "encoding"),
    (LINE.encode().replace(b'"b"', b'"\xed\xa0\x80"'), "encoding"),
    (changed("}", f',"x":{"[" * 200}{"]" * 200}}}'), "nesting"),
]
"""Predictions that are no sound JSON, and the rule that they break."""

BROKEN_GOLD: list[tuple[str | bytes, str]] = [
    (GOLD[:-1], "json"),
    (GOLD + GOLD, "json"),
    ("null", "json"),
    (changed("}", ',"x":Infinity}', GOLD), "json"),
    (changed("}", ',"gold":"a"}', GOLD), "duplicate-key"),
    (changed("}", ',"g\\u006fld":"b"}', GOLD), "duplicate-key"),
    (changed("}", ',"family":"x","family":"x"}', GOLD), "duplicate-key"),
    (MARK + GOLD.encode(), "byte-order-mark"),
    (changed('"a"', '"\\ud800"', GOLD), "surrogate"),
    (changed("id-42", "\\u0000", GOLD), "nul"),
    (changed('"a"', '"a\\u0000"', GOLD), "nul"),
    (changed("}", ',"family":"f\\u0000"}', GOLD), "nul"),
    (GOLD.encode().replace(b'"a"', b'"\xff"'), "encoding"),
]
"""Gold that is no sound JSON, and the rule that it breaks."""


@pytest.mark.parametrize(("line", "rule"), BROKEN, ids=short)
def test_broken_predictions(line: str | bytes, rule: str, desk: Desk) -> None:
    """A prediction is one sound JSON object a line: no key twice, no half character, no NaN, nothing cut off."""
    (fault,) = desk.predicts(line)
    holds(fault, "p.jsonl:2", rule)


@pytest.mark.parametrize(("line", "rule"), BROKEN_GOLD, ids=short)
def test_broken_gold(line: str | bytes, rule: str, desk: Desk) -> None:
    """Gold is held to the same rules."""
    (fault,) = desk.judges(line)
    holds(fault, "g.jsonl:2", rule)


def test_a_torn_last_line(desk: Desk) -> None:
    """A last line without its end is read as it is, and refused where it is cut off."""
    (desk.folder / "p.jsonl").write_bytes(f"{GOOD}\n{LINE}".encode())
    desk.write("g.jsonl", GOOD_GOLD, GOLD)
    assert desk.accepted()["overall"]["n_scored"] == 2
    (desk.folder / "p.jsonl").write_bytes(f"{GOOD}\n{LINE[:-9]}".encode())
    (fault,) = desk.refused()
    holds(fault, "p.jsonl:2", "json")


def test_blank_lines_are_counted_in_line_numbers(desk: Desk) -> None:
    r"""Blank lines, `\r\n` and a mark at the very start are no fault, and a fault after them has its true line."""
    (desk.folder / "p.jsonl").write_bytes(MARK + f"\r\n{GOOD}\r\n \t\r\n{LINE}\r\n\r\n".encode())
    (desk.folder / "g.jsonl").write_bytes(MARK + BOTH.replace("\n", "\r\n\r\n").encode())
    assert desk.accepted()["overall"]["n_scored"] == 2
    (desk.folder / "p.jsonl").write_bytes(MARK + f"\r\n{GOOD}\r\n \t\r\n{vector('true,0')}\r\n\r\n".encode())
    (fault,) = desk.refused()
    holds(fault, "p.jsonl:4", "probability", "true")


# ------------------------------------------------------------ predictions

FIELDS: list[tuple[str, str, str, tuple[str, ...]]] = [
    # what stands there, the field, the rule, the words
    (changed('"id":"id-42",', ""), "id", "missing-field", ("id",)),
    (changed('"id-42"', "null"), "id", "id", ("null",)),
    (changed('"id-42"', "42"), "id", "id", ("42",)),
    (changed('"id-42"', "true"), "id", "id", ("true",)),
    (changed('"id-42"', '["id-42"]'), "id", "id", ()),
    (changed('"id-42"', '{"id":"id-42"}'), "id", "id", ()),
    (changed('"option_ids":["a","b"],', ""), "option_ids", "missing-field", ("option_ids",)),
    (changed('["a","b"]', "null"), "option_ids", "options", ("null",)),
    (changed('["a","b"]', '"a"'), "option_ids", "options", ()),
    (changed('["a","b"]', '{"a":1,"b":2}'), "option_ids", "options", ()),
    (changed('["a","b"]', "[1,2]"), "option_ids", "options", ("id-42",)),
    (changed('["a","b"]', '["a",null]'), "option_ids", "options", ("id-42",)),
    (changed('["a","b"]', '["a",true]'), "option_ids", "options", ("id-42",)),
    (changed('["a","b"]', '["a",["b"]]'), "option_ids", "options", ("id-42",)),
    (changed('["a","b"]', "[]"), "option_ids", "options", ("id-42",)),
    ('{"id":"id-42","option_ids":[]}', "option_ids", "options", ("id-42",)),
    ('{"id":"id-42","option_ids":[],"label":null}', "option_ids", "options", ("id-42",)),
    ('{"id":"id-42","option_ids":[],"probabilities":[1]}', "option_ids", "options", ("id-42",)),
    ('{"id":"id-42","option_ids":["a","a"]}', "option_ids", "option-twice", ("id-42", '"a"')),
    ('{"id":"id-42","option_ids":["a","a"],"label":"a"}', "option_ids", "option-twice", ("id-42", '"a"')),
    (changed('["a","b"]', '["a","a"]'), "option_ids", "option-twice", ("id-42", '"a"')),
    (changed('["a","b"]', '["a","\\u0061"]'), "option_ids", "option-twice", ("id-42", '"a"')),
    (changed("[0.75,0.25]", "0.75"), "probabilities", "probability", ("id-42",)),
    (changed("[0.75,0.25]", "true"), "probabilities", "probability", ("id-42",)),
    (changed("[0.75,0.25]", '"[0.75,0.25]"'), "probabilities", "probability", ("id-42",)),
    (changed("[0.75,0.25]", '{"a":0.75,"b":0.25}'), "probabilities", "probability", ("id-42",)),
    (vector(""), "probabilities", "vector-length", ("id-42", "0", "2")),
    (vector("1"), "probabilities", "vector-length", ("id-42", "1", "2")),
    (vector("0.5,0.25,0.25"), "probabilities", "vector-length", ("id-42", "3", "2")),
    (vector("0.75,true"), "probabilities", "probability", ("id-42", "true")),
    (vector("false,1"), "probabilities", "probability", ("id-42", "false")),
    (vector('0.75,"0.25"'), "probabilities", "probability", ("id-42", '"0.25"')),
    (vector("0.75,null"), "probabilities", "probability", ("id-42", "null")),
    (vector("[0.75],0.25"), "probabilities", "probability", ("id-42",)),
    (vector("{},0.25"), "probabilities", "probability", ("id-42",)),
    (vector("1e400,0"), "probabilities", "probability", ("id-42", "1e400")),
    (vector("-1e400,1"), "probabilities", "probability", ("id-42", "-1e400")),
    (vector("1.0000000001,0"), "probabilities", "probability", ("id-42", "1.0000000001")),
    (vector("1.0000000000000002,0"), "probabilities", "probability", ("id-42", "1.0000000000000002")),
    (vector("-1e-9,1"), "probabilities", "probability", ("id-42", "-1e-09")),
    (vector("-5e-324,1"), "probabilities", "probability", ("id-42", "-5e-324")),
    (vector("75,25"), "probabilities", "probability", ("id-42", "75")),
    (vector("18446744073709551620,0"), "probabilities", "probability", ("id-42", "18446744073709551620")),
    (vector("0.2,0.3"), "probabilities", "sum", ("id-42", "0.5", "--sum-tolerance")),
    (changed("}", ',"model":7}'), "model", "model", ("7",)),
    (changed("}", ',"model":true}'), "model", "model", ("true",)),
    (changed("}", ',"model":["m"]}'), "model", "model", ()),
    (changed('"probabilities":[0.75,0.25]', '"label":"c"'), "label", "label", ("id-42", '"c"')),
    (changed('"probabilities":[0.75,0.25]', '"label":"A"'), "label", "label", ("id-42", '"A"')),
    (changed('"probabilities":[0.75,0.25]', '"label":""'), "label", "label", ("id-42", '""')),
    (changed('"probabilities":[0.75,0.25]', '"label":1'), "label", "label", ("id-42", "1")),
    (changed('"probabilities":[0.75,0.25]', '"label":false'), "label", "label", ("id-42", "false")),
    (changed('"probabilities":[0.75,0.25]', '"label":["a"]'), "label", "label", ("id-42",)),
    (changed("[0.75,0.25]", 'null,"label":"c"'), "label", "label", ("id-42", '"c"')),
]


@pytest.mark.parametrize(("line", "field", "rule", "words"), FIELDS, ids=short)
def test_what_is_no_prediction(line: str, field: str, rule: str, words: tuple[str, ...], desk: Desk) -> None:
    """Types, options, vectors, labels and models are as declared; the refusal names line, field, id and value."""
    (fault,) = desk.predicts(line)
    holds(fault, "p.jsonl:2", rule, field, *words)


GOLD_FIELDS: list[tuple[str, str, str, tuple[str, ...]]] = [
    (changed('"id":"id-42",', "", GOLD), "id", "missing-field", ()),
    (changed('"id-42"', "42", GOLD), "id", "id", ("42",)),
    (changed('"id-42"', "null", GOLD), "id", "id", ("null",)),
    (changed(',"gold":"a"', "", GOLD), "gold", "missing-field", ()),
    (changed('"a"', "null", GOLD), "gold", "gold", ("id-42", "null")),
    (changed('"a"', "1", GOLD), "gold", "gold", ("id-42", "1")),
    (changed('"a"', "true", GOLD), "gold", "gold", ("id-42", "true")),
    (changed('"a"', '["a"]', GOLD), "gold", "gold", ("id-42",)),
    (changed("}", ',"family":3}', GOLD), "family", "family", ("id-42", "3")),
    (changed("}", ',"family":false}', GOLD), "family", "family", ("id-42", "false")),
    (changed("}", ',"family":{"name":"x"}}', GOLD), "family", "family", ("id-42",)),
    (changed("}", ',"positive":1}', GOLD), "positive", "positive", ("id-42", "1")),
    (changed("}", ',"positive":true}', GOLD), "positive", "positive", ("id-42", "true")),
    (changed("}", ',"positive":["a"]}', GOLD), "positive", "positive", ("id-42",)),
]


@pytest.mark.parametrize(("line", "field", "rule", "words"), GOLD_FIELDS, ids=short)
def test_what_is_no_gold(line: str, field: str, rule: str, words: tuple[str, ...], desk: Desk) -> None:
    """Gold has an id and an answer as texts, and may have a family and a positive class as texts."""
    (fault,) = desk.judges(line)
    holds(fault, "g.jsonl:2", rule, field, *words)


SOUND = [
    vector("1,-0.0"),
    vector("-0,1"),
    vector("1,0"),
    vector("1e0,0e5"),
    vector("0.75,0.25000000000000000000000000001"),
    vector("1.00000000000000001,0"),
    vector("1,-1e-400"),
    vector("5e-324,1"),
    vector("0.5,0.501"),
    vector("0.5,0.499"),
    changed("}", ',"label":"no option"}'),
    changed("}", ',"label":null}'),
    changed("}", ',"x":1e400,"positive":3,"gold":7,"family":[]}'),
    changed('["a","b"]', '["a","A"]'),
    changed('"probabilities":[0.75,0.25]', '"label":"b"'),
    changed('"probabilities":[0.75,0.25]', '"label":null'),
    changed('"probabilities":[0.75,0.25]', '"probabilities":null,"label":"b"'),
    changed(',"probabilities":[0.75,0.25]', ""),
    LINE.replace(":", " : ").replace(",", "\t, "),
]


@pytest.mark.parametrize("line", SOUND, ids=short)
def test_what_only_looks_wrong(line: str, desk: Desk) -> None:
    """Minus zero, both ends, sums off by just the tolerance, labels that are not used, other fields: no fault."""
    desk.write("p.jsonl", GOOD, line)
    desk.write("g.jsonl", GOOD_GOLD, GOLD)
    assert desk.accepted()["overall"]["n_items"] == 2


def test_several_faults_of_a_line_are_all_named(desk: Desk) -> None:
    """A line that breaks several rules shows each, and the lines of a side are in order."""
    desk.write("p.jsonl", changed('"id-42"', "7").replace("0.75", "true"), GOOD, vector("2,0"))
    desk.write("g.jsonl", GOOD_GOLD, GOLD)
    faults = desk.refused()
    assert [fault.partition(": ")[0] for fault in faults] == ["p.jsonl:1", "p.jsonl:1", "p.jsonl:3"]
    assert [fault.rpartition(" ")[2] for fault in faults] == ["[id]", "[probability]", "[probability]"]


def test_more_than_twenty_lines_are_counted(desk: Desk) -> None:
    """The first 20 broken lines are spelled out, the rest counted a rule."""
    desk.write("p.jsonl", *[vector("true,0")] * 30)
    desk.write("g.jsonl", GOOD_GOLD, GOLD)
    faults = desk.refused()
    assert [fault.partition(": ")[0] for fault in faults[:20]] == [f"p.jsonl:{at}" for at in range(1, 21)]
    assert [line.strip() for line in faults[20:]] == ["… and 10 more; in all:", "30 × probability"]


# ------------------------------------------------------------ sums


def test_a_sum_may_be_off_by_just_the_tolerance(desk: Desk) -> None:
    """Off by exactly 1e-3 is accepted either way, by 1e-15 more refused: decimals with 15 places, compared exactly."""
    desk.write("g.jsonl", GOOD_GOLD, GOLD)
    for text in ("0.5,0.501", "0.5,0.499", "0.333,0.666", "0.2505,0.7505"):
        desk.write("p.jsonl", GOOD, vector(text))
        assert desk.accepted()["overall"]["n_scored"] == 2, text
    for text in ("0.5,0.501000000000001", "0.5,0.498999999999999", "0.25,0.7510000001", "0.2505,0.7505000001"):
        (fault,) = desk.predicts(vector(text))
        holds(fault, "p.jsonl:2", "sum", "id-42", "--sum-tolerance")


def test_many_options_rounded_to_few_places(desk: Desk) -> None:
    """Three thirds of three places are off by exactly 1e-3; seven sevenths of two places need the option."""
    desk.write("g.jsonl", GOLD)
    options = json.dumps(list("abcdefg"))
    desk.write("p.jsonl", '{"id":"id-42","option_ids":["a","b","c"],"probabilities":[0.333,0.333,0.333]}')
    assert desk.accepted()["overall"]["n_scored"] == 1
    desk.write("p.jsonl", f'{{"id":"id-42","option_ids":{options},"probabilities":{[0.14] * 7}}}')
    (fault,) = desk.refused()
    holds(fault, "p.jsonl:1", "sum", "id-42", "0.98", "0.02", "--sum-tolerance")
    (fault,) = desk.refused("--sum-tolerance", "0.0199")
    holds(fault, "p.jsonl:1", "sum", "0.0199")
    assert desk.accepted("--sum-tolerance", "0.02")["overall"]["n_scored"] == 1
    assert desk.accepted("--sum-tolerance", "2e-2")["overall"]["brier_multiclass"] == pytest.approx(0.8572, abs=1e-12)


def test_without_tolerance(desk: Desk) -> None:
    """With 0 a sum is 1 to the fifteenth place: ten tenths are, three thirds are off by 1e-15."""
    options = json.dumps(list("abcdefghij"))
    desk.write("g.jsonl", GOLD)
    desk.write("p.jsonl", f'{{"id":"id-42","option_ids":{options},"probabilities":{[0.1] * 10}}}')
    assert desk.accepted("--sum-tolerance", "0")["overall"]["n_scored"] == 1
    desk.write("p.jsonl", f'{{"id":"id-42","option_ids":["a","b","c"],"probabilities":{[1 / 3] * 3}}}')
    (fault,) = desk.refused("--sum-tolerance", "0")
    holds(fault, "p.jsonl:1", "sum", "0.999999999999999")
    assert desk.accepted("--sum-tolerance", "1e-15")["overall"]["n_scored"] == 1
    assert desk.accepted("--sum-tolerance", "0.000000000000001")["overall"]["n_scored"] == 1


def test_the_largest_deviation_is_told(desk: Desk) -> None:
    """Of many sums that are off, the refusal says how far the farthest is, wherever it stands, and the option."""
    lines = [vector("0.5,0.49").replace("id-42", f"x{at}") for at in range(40)]
    lines[33] = vector("0.25,0.125").replace("id-42", "x33")
    desk.write("p.jsonl", *lines)
    desk.write("g.jsonl", *[changed("id-42", f"x{at}", GOLD) for at in range(40)])
    faults = desk.refused()
    assert "0.625" in "\n".join(faults)
    assert "--sum-tolerance" in "\n".join(faults)
    assert desk.accepted("--sum-tolerance", "0.625")["overall"]["n_scored"] == 40
    assert evalkit.evaluate("p.jsonl", "g.jsonl", sum_tolerance="0.625").to_dict()["overall"]["n_scored"] == 40
    with pytest.raises(Refusal, match=r"0\.625"):
        evalkit.evaluate("p.jsonl", "g.jsonl", sum_tolerance="0.624999999999999")


def test_the_advised_tolerance_takes_all(desk: Desk) -> None:
    """The largest deviation is that of decimals: a sum of floats would put the first of these lines before the second.

    Seven times 0.13999999999999951 are seven times 0.14 to the fifteenth place, off by 0.02; the second is off by more.
    """
    options = json.dumps(list("abcdefg"))
    vectors = [[0.13999999999999951] * 7, [0.14] * 6 + [0.139999999999998]]
    desk.write("p.jsonl", *[f'{{"id":"{at}","option_ids":{options},"probabilities":{vectors[at]}}}' for at in range(2)])
    desk.write("g.jsonl", *[changed("id-42", str(at), GOLD) for at in range(2)])
    assert "--sum-tolerance 0.020000000000002" in "\n".join(desk.refused())
    assert desk.accepted("--sum-tolerance", "0.020000000000002")["overall"]["n_scored"] == 2
    assert len(desk.refused("--sum-tolerance", "0.020000000000001")) == 1


def test_a_sum_beside_another_fault(desk: Desk) -> None:
    """A row that is off 1 and broken otherwise is refused for both; no tolerance is advised that would not take it."""
    desk.write("p.jsonl", '{"id":"a","option_ids":["x","y"],"probabilities":[0.5,0.9],"model":" "}')
    desk.write("g.jsonl", '{"id":"a","gold":"x"}')
    said = desk.refused()
    assert len(said) == 2
    assert "it sums to 1.4, off by 0.4" in said[0]
    assert said[1].endswith("[model]")
    assert "--sum-tolerance" not in "\n".join(said)


def test_a_vector_is_never_renormalised(desk: Desk) -> None:
    """What is off within the tolerance is scored as it is: 0.25 twice is Brier 0.5625 + 0.0625, confidence 0.25."""
    desk.write("p.jsonl", vector("0.25,0.25"))
    desk.write("g.jsonl", GOLD)
    overall = desk.accepted("--sum-tolerance", "0.5")["overall"]
    assert (overall["brier_multiclass"], overall["ece"], overall["nll"]) == (0.625, 0.75, 1.38629436111989)


@pytest.mark.parametrize("text", ["-0.1", "nan", "inf", "x", "", "1%", "0,1", "1e400", "NaN", "1e", " "], ids=short)
def test_what_is_no_tolerance(text: str, desk: Desk) -> None:
    """A tolerance is a decimal from 0."""
    desk.write("p.jsonl", LINE)
    desk.write("g.jsonl", GOLD)
    result = desk.run(f"--sum-tolerance={text}", "--json", "r.json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "sum-tolerance" in result.stderr
    assert not (desk.folder / "r.json").exists()


@pytest.mark.parametrize("text", ["0", "-1", "1.5", "x", "", "nan", "1e1"], ids=short)
def test_what_is_no_number_of_bins(text: str, desk: Desk) -> None:
    """There is at least one bin, and their number is whole."""
    desk.write("p.jsonl", LINE)
    desk.write("g.jsonl", GOLD)
    result = desk.run(f"--bins={text}", "--json", "r.json")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "bins" in result.stderr
    assert not (desk.folder / "r.json").exists()


def test_python_refuses_as_well(desk: Desk) -> None:
    """Without a command line a refusal is an exception with the same rules."""
    desk.write("p.jsonl", LINE)
    desk.write("g.jsonl", GOLD)
    for bins in (0, -1, True, 2.5, "10"):
        with pytest.raises(Refusal, match="bins"):
            evalkit.evaluate("p.jsonl", "g.jsonl", bins=bins)  # type: ignore[arg-type]
    for tolerance in ("-1", "nan", "x"):
        with pytest.raises(Refusal, match="sum-tolerance"):
            evalkit.evaluate("p.jsonl", "g.jsonl", sum_tolerance=tolerance)
    assert evalkit.evaluate("p.jsonl", "g.jsonl", bins=1).to_dict()["bins"] == 1


# ------------------------------------------------------------ ids twice


def test_an_id_twice_among_predictions(desk: Desk) -> None:
    """An id stands once among the predictions of a model, over all files; the refusal names both places."""
    desk.write("p.jsonl", GOOD, LINE, LINE)
    desk.write("g.jsonl", GOOD_GOLD, GOLD)
    (fault,) = desk.refused()
    holds(fault, "p.jsonl:3", "duplicate-id", "id-42", "p.jsonl:2")
    desk.write("p.jsonl", GOOD, LINE)
    desk.write("q.jsonl", changed("id-42", "id-\\u0034\\u0032"))
    (fault,) = desk.refused(predictions=("p.jsonl", "q.jsonl"))
    holds(fault, "q.jsonl:1", "duplicate-id", "id-42", "p.jsonl:2")


def test_an_id_twice_in_gold(desk: Desk) -> None:
    """An id stands once in gold, over all files."""
    desk.write("p.jsonl", GOOD, LINE)
    desk.write("g.jsonl", GOOD_GOLD, GOLD)
    desk.write("h.jsonl", "", changed('"a"', '"b"', GOLD))
    (fault,) = desk.refused(gold=("g.jsonl", "h.jsonl"))
    holds(fault, "h.jsonl:2", "duplicate-id", "id-42", "g.jsonl:2")


def test_an_id_twice_counts_per_model(desk: Desk) -> None:
    """Two models may say something about one id; one model may not say two things."""
    lines = [changed("}", f',"model":"{name}"}}') for name in ("m", "n", "m")]
    desk.write("p.jsonl", *lines[:2])
    desk.write("g.jsonl", GOLD)
    assert list(desk.accepted()["by_model"]) == ["m", "n"]
    desk.write("p.jsonl", *lines)
    (fault,) = desk.refused()
    holds(fault, "p.jsonl:3", "duplicate-id", "id-42", "p.jsonl:1")


def test_ids_that_look_like_numbers_are_texts(desk: Desk) -> None:
    """`1`, `01`, `1.0` and a few more are ids of their own, on both sides."""
    names = ["1", "01", "1.0", "1e0", "+1", " 1", "1 ", "\\u00e9", "e\\u0301"]
    desk.write("p.jsonl", *[changed("id-42", name) for name in names])
    desk.write("g.jsonl", *[changed("id-42", name, GOLD) for name in names])
    assert desk.accepted()["overall"]["n_scored"] == 9
    desk.write("g.jsonl", *[changed("id-42", name, GOLD) for name in names if name != "01"])
    assert any('"01"' in fault for fault in desk.refused())


# ------------------------------------------------------------ join


def test_gold_that_is_no_option(desk: Desk) -> None:
    """What is gold is one of the options of its row, whatever they are elsewhere; with a vector or without."""
    desk.write("g.jsonl", GOOD_GOLD, changed('"a"', '"c"', GOLD))
    for line in (
        LINE,
        changed('"probabilities":[0.75,0.25]', '"label":"b"'),
        changed(',"probabilities":[0.75,0.25]', ""),
    ):
        desk.write("p.jsonl", GOOD, line)
        (fault,) = desk.refused()
        holds(fault, "p.jsonl:2", "gold-option", "gold", "id-42", '"c"')


def test_a_positive_that_is_no_option(desk: Desk) -> None:
    """So is the positive class, where there is one."""
    desk.write("g.jsonl", GOOD_GOLD, changed("}", ',"positive":"true"}', GOLD))
    for line in (LINE, LABELLED):
        desk.write("p.jsonl", GOOD, line)
        (fault,) = desk.refused()
        holds(fault, "p.jsonl:2", "positive-option", "gold", "id-42", '"true"')
    desk.write("p.jsonl", GOOD)
    assert desk.accepted()["overall"]["n_missing"] == 1


def test_options_are_those_of_the_model(desk: Desk) -> None:
    """Each model's row is held against gold by its own options."""
    desk.write(
        "p.jsonl",
        changed("}", ',"model":"m"}'),
        changed("}", ',"model":"n"}').replace('["a","b"]', '["b","c"]'),
    )
    desk.write("g.jsonl", GOLD)
    (fault,) = desk.refused()
    holds(fault, "p.jsonl:2", "gold-option", "gold", "id-42", '"a"')


def test_predictions_without_gold(desk: Desk) -> None:
    """Predictions that gold does not know are counted, and the first five ids named in sorted order."""
    names = ["b", "10", "9", "\\u00e9", "a", "Z", "id-42x"]
    desk.write("p.jsonl", GOOD, *[changed("id-42", name) for name in names])
    desk.write("g.jsonl", GOOD_GOLD, GOLD)
    said = "\n".join(desk.refused())
    assert said.endswith("[no-gold]")
    assert "7" in said
    assert re.findall(r'"[^"]*"', said) == ['"10"', '"9"', '"Z"', '"a"', '"b"']


def test_one_prediction_without_gold(desk: Desk) -> None:
    """One is named alike; a gold row without a prediction is no fault but missing."""
    desk.write("p.jsonl", GOOD, LINE)
    desk.write("g.jsonl", GOOD_GOLD)
    said = "\n".join(desk.refused())
    assert '"id-42"' in said
    assert said.endswith("[no-gold]")
    desk.write("p.jsonl", GOOD)
    desk.write("g.jsonl", GOOD_GOLD, GOLD)
    assert desk.accepted()["overall"]["n_missing"] == 1


def test_join_faults_are_told_together(desk: Desk) -> None:
    """Gold and positive of different rows and predictions without gold: all are named in one run."""
    desk.write("p.jsonl", GOOD, LINE, changed("id-42", "stray"))
    desk.write("g.jsonl", changed("}", ',"positive":"z"}', GOOD_GOLD), changed('"a"', '"y"', GOLD))
    said = desk.refused()
    rules = [fault.rpartition(" ")[2] for fault in said]
    assert sorted(rules) == ["[gold-option]", "[no-gold]", "[positive-option]"]


# ------------------------------------------------------------ order


def test_malformed_lines_come_first_and_alone(desk: Desk) -> None:
    """Broken lines of both sides are told together, predictions first; ids and joins only once all lines are sound."""
    desk.write("p.jsonl", GOOD, GOOD, vector("true,0"))
    desk.write("g.jsonl", "nonsense", changed('"a"', '"z"', GOOD_GOLD), changed('"a"', "7", GOLD))
    said = desk.refused()
    assert [fault.partition(": ")[0] for fault in said] == ["p.jsonl:3", "g.jsonl:1", "g.jsonl:3"]
    desk.write("p.jsonl", GOOD, GOOD, LINE)
    assert [fault.partition(": ")[0] for fault in desk.refused()] == ["g.jsonl:1", "g.jsonl:3"]
    desk.write("g.jsonl", changed('"a"', '"z"', GOOD_GOLD), GOLD, GOLD)
    assert sorted(fault.rpartition(" ")[2] for fault in desk.refused()) == ["[duplicate-id]"] * 2
    desk.write("p.jsonl", GOOD, LINE)
    desk.write("g.jsonl", changed('"a"', '"z"', GOOD_GOLD), GOLD)
    assert [fault.rpartition(" ")[2] for fault in desk.refused()] == ["[gold-option]"]


# ------------------------------------------------------------ models


def test_a_model_on_some_lines_only(desk: Desk) -> None:
    """All predictions name a model or none does, over all files."""
    desk.write("p.jsonl", GOOD, changed("}", ',"model":"m"}'))
    desk.write("g.jsonl", GOOD_GOLD, GOLD)
    said = "\n".join(desk.refused())
    assert "model" in said
    assert re.search(r"p\.jsonl:[12]", said)
    desk.write("p.jsonl", GOOD)
    desk.write("q.jsonl", changed("}", ',"model":"m"}'))
    said = "\n".join(desk.refused(predictions=("p.jsonl", "q.jsonl")))
    assert "model" in said
    assert said.endswith("[model-missing]")


@pytest.mark.parametrize("name", ['""', '" "', '"\\u3000"'], ids=short)
def test_a_model_without_a_name(name: str, desk: Desk) -> None:
    """A model's name holds more than white space."""
    (fault,) = desk.predicts(changed("}", f',"model":{name}}}'))
    holds(fault, "p.jsonl:2", "model")


# ------------------------------------------------------------ inputs


def test_inputs_that_are_not_there(desk: Desk) -> None:
    """Missing paths, patterns without a file and folders are refused on either side."""
    desk.write("p.jsonl", LINE)
    desk.write("g.jsonl", GOLD)
    assert "[path-missing]" in desk.refused(predictions=("nowhere.jsonl",))[0]
    assert "[path-missing]" in desk.refused(gold=("nowhere.jsonl",))[0]
    assert "[pattern-empty]" in desk.refused(gold=("h*.jsonl",))[0]
    assert "[same-file-twice]" in desk.refused(gold=("g.jsonl", "./g.jsonl"))[0]
    (desk.folder / "empty").mkdir()
    assert "[path-directory]" in desk.refused(predictions=("empty",))[0]


@pytest.mark.parametrize("lines", [(), ("",), (" ", "\t")], ids=short)
def test_a_side_without_records(lines: tuple[str, ...], desk: Desk) -> None:
    """Either side holds at least one record, and a side is named that does not."""
    desk.write("p.jsonl", LINE)
    desk.write("g.jsonl", GOLD)
    desk.write("e.jsonl", *lines)
    (fault,) = desk.refused(gold=("e.jsonl",))
    holds(fault, "e.jsonl", "no-records")
    (fault,) = desk.refused(predictions=("e.jsonl",))
    holds(fault, "e.jsonl", "no-records")
    desk.write("p.jsonl", vector("2,0"))
    (fault,) = desk.refused(gold=("e.jsonl",))
    holds(fault, "p.jsonl:1", "probability")


def test_an_empty_file_among_others(desk: Desk) -> None:
    """An empty file beside others is a warning that names it."""
    desk.write("p.jsonl", LINE)
    desk.write("g.jsonl")
    desk.write("h.jsonl", GOLD)
    evaluation = evalkit.evaluate("p.jsonl", ["g.jsonl", "h.jsonl"])
    assert evaluation.warnings == ("g.jsonl: holds no records",)
    assert [one["records"] for one in evaluation.to_dict()["evidence"]] == [1, 0, 1]


def test_both_sides_must_be_named(desk: Desk) -> None:
    """A command without one of the sides is a usage error."""
    desk.write("p.jsonl", LINE)
    desk.write("g.jsonl", GOLD)
    for arguments in (["--predictions", "p.jsonl"], ["--gold", "g.jsonl"], []):
        result = CliRunner().invoke(app, ["evaluate", *arguments])
        assert (result.exit_code, result.stdout) == (2, ""), arguments


def test_the_program_takes_lists_of_files(desk: Desk) -> None:
    """Several files may follow one option, as a shell's pattern gives them, or the option is repeated; `-` is stdin."""
    desk.write("p.jsonl", GOOD)
    desk.write("q.jsonl", LINE)
    desk.write("g.jsonl", GOOD_GOLD)
    desk.write("h.jsonl", GOLD)
    ways = [
        ["--predictions", "p.jsonl", "q.jsonl", "--gold", "g.jsonl", "h.jsonl"],
        ["--predictions", "p.jsonl", "--gold", "g.jsonl", "--predictions", "q.jsonl", "--gold", "h.jsonl"],
        ["--gold", "g.jsonl", "h.jsonl", "--predictions", "p.jsonl", "-"],
    ]
    for words in ways:
        done = run_evalkit("evaluate", *words, "-q", "--json", "-", cwd=desk.folder, stdin=(LINE + "\n").encode())
        assert (done.code, done.err) == (0, "")
        assert json.loads(done.stdout)["overall"]["n_scored"] == 2


def test_outputs_may_not_be_inputs(desk: Desk) -> None:
    """Neither side may be overwritten."""
    desk.write("p.jsonl", LINE)
    desk.write("g.jsonl", GOLD)
    for name in ("p.jsonl", "g.jsonl", "./g.jsonl"):
        before = desk.state()
        result = desk.run("--json", name)
        assert (result.exit_code, result.stdout) == (2, "")
        assert "[output-unusable]" in result.stderr
        assert desk.state() == before


def test_an_older_report_is_left_alone(desk: Desk) -> None:
    """A refusal changes neither an older report nor an older folder of tables."""
    desk.write("p.jsonl", LINE)
    desk.write("g.jsonl", GOLD)
    result = desk.run("--json", "r.json", "--out", "tables")
    assert result.exit_code == 0
    before = desk.state()
    desk.write("p.jsonl", vector("true,0"))
    again = [one for one in desk.state() if not one[0].endswith("p.jsonl")]
    assert desk.run("--json", "r.json", "--out", "tables").exit_code == 2
    assert [one for one in desk.state() if not one[0].endswith("p.jsonl")] == again
    assert len(before) == len(desk.state())


def test_one_file_is_not_both_sides(desk: Desk) -> None:
    """A file named on both sides is refused, however it is spelled."""
    desk.write("p.jsonl", LINE)
    for name in ("p.jsonl", "./p.jsonl"):
        (fault,) = desk.refused(gold=(name,))
        holds(fault, name, "same-file-twice", "p.jsonl")


def test_packed_lines_have_their_places(desk: Desk) -> None:
    """A fault in a compressed file names file and line alike."""
    (desk.folder / "p.jsonl.gz").write_bytes(gzip.compress(joined([GOOD, vector("2,0")])))
    desk.write("g.jsonl", GOOD_GOLD, GOLD)
    (fault,) = desk.refused(predictions=("p.jsonl.gz",))
    holds(fault, "p.jsonl.gz:2", "probability", "id-42")


# ------------------------------------------------------------ frames

ROWS: dict[str, list[Any]] = {"id": ["fine", "id-42"], "option_ids": [["a", "b"]] * 2}
VECTORS = [[0.75, 0.25], [0.5, 0.5]]
GOLD_FRAME = pl.DataFrame({"id": ["fine", "id-42"], "gold": ["a", "b"]})


def faults_of(predictions: Any, gold: Any = GOLD_FRAME) -> list[str]:
    """Refuse frames, and return what is said of them."""
    with pytest.raises(Refusal) as refusal:
        evalkit.evaluate(predictions, gold)
    return str(refusal.value).splitlines()


@pytest.mark.parametrize(
    ("bad", "rule"),
    [
        ([float("nan"), 1.0], "probability"),
        ([float("inf"), 0.0], "probability"),
        ([-float("inf"), 1.0], "probability"),
        ([None, 1.0], "probability"),
        ([-1e-9, 1.0], "probability"),
        ([1.0000000001, 0.0], "probability"),
        ([1.0], "vector-length"),
        ([], "vector-length"),
        ([0.2, 0.3], "sum"),
    ],
    ids=short,
)
def test_vectors_of_frames(bad: list[Any], rule: str) -> None:
    """NaN, infinity and null in a vector of a frame are refused as in a line, with the row and the id."""
    types: dict[str, Any] = {"probabilities": pl.List(pl.Float64)}
    made = pl.DataFrame({**ROWS, "probabilities": [VECTORS[0], bad]}, schema_overrides=types)
    for given in (made, made.to_arrow()):
        (fault,) = faults_of(given)
        assert "row 2" in fault
        assert "id-42" in fault
        assert fault.endswith(f"[{rule}]")


def test_columns_of_frames() -> None:
    """Columns of another type than declared are refused, not cast: numbers as ids, truth values, texts as numbers."""
    made = pl.DataFrame({**ROWS, "probabilities": VECTORS})
    bad = {
        "id": made.with_columns(pl.Series("id", [1, 2])),
        "option_ids": made.with_columns(pl.Series("option_ids", [[1, 2], [1, 2]])),
        "probabilities": made.with_columns(pl.Series("probabilities", [["0.75", "0.25"]] * 2)),
        "label": made.with_columns(pl.Series("label", [1, 2])),
        "model": made.with_columns(pl.Series("model", [1, 2])),
    }
    for column, given in bad.items():
        said = "\n".join(faults_of(given))
        assert column in said
        assert said.endswith("[column-type]"), said
    truths = made.with_columns(pl.Series("probabilities", [[True, False]] * 2))
    assert "\n".join(faults_of(truths)).endswith("[column-type]")
    for column in ("id", "option_ids"):
        said = "\n".join(faults_of(made.drop(column)))
        assert column in said
        assert said.endswith("[missing-column]")
    assert "\n".join(faults_of(made, GOLD_FRAME.drop("gold"))).endswith("[missing-column]")
    assert "\n".join(faults_of(made, GOLD_FRAME.with_columns(pl.lit(1).alias("gold")))).endswith("[column-type]")


def test_nulls_of_frames() -> None:
    """A null id, a null list of options, a null option and a null answer are refused with their row."""
    made = pl.DataFrame({**ROWS, "probabilities": VECTORS})
    (fault,) = faults_of(made.with_columns(pl.Series("id", ["fine", None])))
    assert "row 2" in fault
    (fault,) = faults_of(made.with_columns(pl.Series("option_ids", [["a", "b"], None])))
    assert "row 2" in fault
    assert "id-42" in fault or "option_ids" in fault
    (fault,) = faults_of(made.with_columns(pl.Series("option_ids", [["a", "b"], ["a", None]])))
    assert "row 2" in fault
    (fault,) = faults_of(made, GOLD_FRAME.with_columns(pl.Series("gold", ["a", None])))
    assert "row 2" in fault
    model = made.with_columns(pl.Series("model", ["m", None]))
    assert "model" in "\n".join(faults_of(model))
    assert (
        evalkit.evaluate(made.with_columns(pl.Series("model", [None, None], dtype=pl.String)), GOLD_FRAME).by_model
        is None
    )


def test_frames_without_rows() -> None:
    """A frame without a row is a side without records."""
    made = pl.DataFrame({**ROWS, "probabilities": VECTORS})
    for predictions, gold in ((made.clear(), GOLD_FRAME), (made, GOLD_FRAME.clear())):
        assert [fault.rpartition(" ")[2] for fault in faults_of(predictions, gold)] == ["[no-records]"]
        assert [fault.rpartition(" ")[2] for fault in faults_of(predictions.to_arrow(), gold)] == ["[no-records]"]


def test_a_column_that_the_library_cannot_take() -> None:
    """A type that Polars does not know is refused by its name, not a crash."""
    made = pl.DataFrame({**ROWS, "probabilities": VECTORS}).to_arrow()
    views = pa.array(ROWS["option_ids"], pa.list_view(pa.string()))
    (fault,) = faults_of(made.set_column(1, "option_ids", views))
    assert "option_ids" in fault
    assert fault.endswith("[column-type]")


def test_pandas_frames_are_held_to_the_same(desk: Desk) -> None:
    """A pandas frame with a vector of another length is refused with its row."""
    made = pd.DataFrame({**ROWS, "probabilities": [VECTORS[0], [1.0]]})
    (fault,) = faults_of(made, pd.DataFrame({"id": ["fine", "id-42"], "gold": ["a", "b"]}))
    assert "row 2" in fault
    assert fault.endswith("[vector-length]")
    made = pd.DataFrame({**ROWS, "probabilities": VECTORS})
    assert evalkit.evaluate(made, GOLD_FRAME.to_pandas()).to_dict()["overall"]["n_scored"] == 2


def test_cells_of_csv(desk: Desk) -> None:
    """Lists in CSV are JSON texts; what is none, or holds text for a number, is refused with its row."""
    desk.write("g.csv", "id,gold", "fine,a", "id-42,b")
    head = "id,option_ids,probabilities"
    good = 'fine,"[""a"",""b""]","[0.75,0.25]"'
    desk.write("p.csv", head, good, 'id-42,"[""a"",""b""]","[0.5,0.5]"')
    assert desk.accepted(predictions=("p.csv",), gold=("g.csv",))["overall"]["n_scored"] == 2
    bad = {
        'id-42,"[""a"",""b""]","[0.5,""0.5""]"': "probability",
        'id-42,"[""a"",""b""]","[0.5,NaN]"': None,
        'id-42,"[""a"",""b""]","[0.5,0.5"': None,
        'id-42,"[""a"",""b""]","0.5,0.5"': None,
        'id-42,"a|b","[0.5,0.5]"': None,
        'id-42,"[""a"",""a""]","[0.5,0.5]"': "option-twice",
        'id-42,,"[0.5,0.5]"': None,
    }
    for row, rule in bad.items():
        desk.write("p.csv", head, good, row)
        (fault,) = desk.refused(predictions=("p.csv",), gold=("g.csv",))
        assert "p.csv" in fault
        assert "3" in fault.partition("[")[0] or "row" in fault, fault
        assert rule is None or fault.endswith(f"[{rule}]")


def test_arrow_types_of_ids() -> None:
    """Dictionary-encoded texts are texts."""
    made = pa.table(
        {
            "id": pa.array(["fine", "id-42"]).dictionary_encode(),
            "option_ids": pa.array([["a", "b"]] * 2),
            "probabilities": pa.array(VECTORS),
        }
    )
    assert evalkit.evaluate(made, GOLD_FRAME).to_dict()["overall"]["n_scored"] == 2
