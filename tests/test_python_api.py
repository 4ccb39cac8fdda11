"""``evalkit`` as a library: the same numbers as the command line, plain objects, nothing loaded before it is used."""

from __future__ import annotations

import inspect
import json
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from support import BLOCKED, GO, RESULT_FILES, TABLES, compare, dump, environment, judged, key, record

import evalkit


@pytest.fixture
def go(tmp_path: Path) -> Path:
    """Write a dump that is GO."""
    return dump(tmp_path / "go.jsonl", GO)


@pytest.fixture
def blocked(tmp_path: Path) -> Path:
    """Write a dump that is BLOCKED."""
    return dump(tmp_path / "blocked.jsonl", BLOCKED)


def python(code: str, cwd: Path) -> str:
    """Run Python in a process of its own and return what it prints."""
    line = [sys.executable, "-c", code]
    done = subprocess.run(line, cwd=cwd, env=environment(), capture_output=True, text=True, check=True)
    return done.stdout


# the names


NAMES = [
    *("Candidate", "Contract", "Evaluation", "Evidence", "Fields", "Inspection", "Measurement"),
    *("MeasurementReport", "NightlyRun", "Plan", "Policy", "Readiness", "Receipt", "Refusal", "Report", "SplitRule"),
    *("Verification", "Violation", "compare", "convert", "evaluate", "history", "inspect", "measure", "nightly"),
    *("plan", "read_contract", "read_policy", "readiness", "receipt", "render", "scan", "summarize", "verify"),
]


def test_the_names_of_the_package() -> None:
    """``__all__`` is what there is; ``dir()`` shows it before anything was used."""
    assert evalkit.__all__ == NAMES
    assert set(NAMES) <= set(dir(evalkit))
    assert evalkit.__version__ == "0.1.0"


@pytest.mark.parametrize("name", NAMES)
def test_every_name_says_what_it_is(name: str) -> None:
    """Every public name has a docstring of its own and is known under its own name."""
    found = getattr(evalkit, name)
    assert found.__name__ == name
    documentation = inspect.getdoc(found)
    assert documentation
    assert not documentation.startswith(f"{name}(")  # what a dataclass or named tuple makes up


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    """As for any module."""
    with pytest.raises(AttributeError, match="module 'evalkit' has no attribute 'nope'"):
        evalkit.nope  # noqa: B018 - reading it is the test


def test_importing_loads_nothing(tmp_path: Path) -> None:
    """``import evalkit``, ``dir()`` and the exceptions load no dataframe library and no terminal."""
    code = (
        "import sys, evalkit\n"
        "dir(evalkit), evalkit.Refusal, evalkit.Violation, evalkit.Contract, evalkit.Measurement, evalkit.Evidence\n"
        "print(*sorted({'polars', 'pyarrow', 'typer', 'rich', 'numpy', 'pandas', 'duckdb'} & set(sys.modules)))"
    )
    assert python(code, tmp_path) == "\n"


def test_comparing_loads_no_terminal(go: Path) -> None:
    """The library never loads what draws tables, and PyArrow only for compressed data."""
    code = (
        "import sys, evalkit\n"
        "evalkit.compare('go.jsonl', '0.5').tables()\n"
        "print(*sorted({'pyarrow', 'typer', 'rich'} & set(sys.modules)))"
    )
    assert python(code, go.parent) == "\n"


def test_the_library_prints_nothing(go: Path, blocked: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Warnings are in the report, refusals in the exception; nothing goes to a stream."""
    empty = dump(go.parent / "empty.jsonl", [])
    report = evalkit.compare([go, blocked, empty], "0.5")
    assert report.warnings == (f"{empty}: holds no records",)
    with pytest.raises(evalkit.Refusal):
        evalkit.compare(empty, "0.5")
    assert capfd.readouterr() == ("", "")


# the numbers


def test_the_command_line_mirrors_the_library(go: Path, blocked: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Report, JSON, tables: the same bytes as ``--json`` and ``--out`` write."""
    here = go.parent
    monkeypatch.chdir(here)
    (here / "run.json").write_text('{"id": "r-1"}')
    options = ["--synthetic", "--run-record", "run.json"]
    run = compare("go.jsonl", "blocked.jsonl", *options, "--json", "-", "--out", "by-command", "-q", cwd=here)
    report = evalkit.compare(["go.jsonl", "blocked.jsonl"], "0.5", synthetic=True, run={"id": "r-1"})
    assert report.to_json().encode() == run.stdout
    assert report.to_dict() == json.loads(run.stdout)
    report.write_json("by-library.json")
    report.write_tables(here / "by-library")
    assert (here / "by-library.json").read_bytes() == run.stdout
    for name in RESULT_FILES:
        assert (here / "by-library" / name).read_bytes() == (here / "by-command" / name).read_bytes()


def test_the_tables_are_those_of_the_files(go: Path) -> None:
    """``tables()`` gives a frame a file, with equal columns, types and rows."""
    report = evalkit.compare(go, "0.5")
    report.write_tables(go.parent / "out")
    tables = report.tables()
    assert tuple(tables) == TABLES
    for name, frame in tables.items():
        stored = pl.read_parquet(go.parent / f"out/{name}.parquet")
        assert stored.schema == frame.schema
        assert stored.equals(frame)


def test_a_report_is_made_of_plain_objects(go: Path, blocked: Path) -> None:
    """Attributes in snake_case, candidates by name, exact values beside the rounded ones."""
    report = evalkit.compare([go, blocked], "0.5")
    assert isinstance(report, evalkit.Report)
    assert (report.verdict, report.recommended, report.min_coverage) == ("GO", "alpha", 0.5)
    assert [candidate.model for candidate in report.candidates] == ["alpha", "beta"]
    beta = report["beta"]
    assert isinstance(beta, evalkit.Candidate)
    assert (beta.passed, beta.threshold, beta.precision_at_coverage) == (False, 0.97, 0.7)
    assert beta.macro_f1 == 14 / 17
    assert beta.exact("macroF1") == Fraction(14, 17)
    assert beta.exact("ece") == Fraction(27, 100)
    assert report.evidence[0] == evalkit.Evidence(str(go), go.stat().st_size, report.evidence[0].sha256, 20)
    assert all(isinstance(one, evalkit.Measurement) for one in beta.measurements)


def test_an_unknown_candidate_is_a_key_error(go: Path) -> None:
    """As in any mapping; the same for a metric that is not there."""
    report = evalkit.compare(go, "0.5")
    with pytest.raises(KeyError, match="'gamma'"):
        report["gamma"]
    with pytest.raises(KeyError, match="'nope'"):
        report["alpha"].exact("nope")


@pytest.mark.parametrize(
    "given",
    [
        lambda go, blocked: [str(go), str(blocked)],
        lambda go, blocked: (go, str(blocked)),
        lambda go, blocked: (path for path in (go, blocked)),
        lambda go, blocked: {go: "first", blocked: "second"},
    ],
    ids=["list", "tuple", "generator", "mapping"],
)
def test_any_iterable_of_paths(go: Path, blocked: Path, given: Callable[[Path, Path], Iterable[str | Path]]) -> None:
    """Texts and paths, one by one from whatever holds them, in that order."""
    report = evalkit.compare(given(go, blocked), "0.5")
    assert [one.name for one in report.evidence] == [str(go), str(blocked)]


def test_one_path_and_a_pattern(go: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One text, one path or one pattern is one input; the name in the report is the one that was given."""
    monkeypatch.chdir(go.parent)
    for given, name in (
        ("go.jsonl", "go.jsonl"),
        (Path("go.jsonl"), "go.jsonl"),
        ("*.jsonl", "go.jsonl"),
        (go, str(go)),
    ):
        assert [one.name for one in evalkit.compare(given, "0.5").evidence] == [name]


@pytest.mark.parametrize(
    ("floor", "passes"),
    [
        ("0.3", True),
        (0.3, True),
        (Decimal("0.3"), True),
        (Fraction(3, 10), True),
        ("0.30000000000000000000000000000001", False),
        (Fraction(3, 10) + Fraction(1, 10**30), False),
        ("0", True),
        (0, True),
        (1, False),
        ("1.000", False),
    ],
    ids=str,
)
def test_a_floor_is_exactly_what_its_decimal_says(
    tmp_path: Path, floor: str | float | Decimal | Fraction, passes: bool
) -> None:
    """3 of 10 are at the floor 0.3, whatever type says it, and below any number that is larger by however little."""
    path = dump(tmp_path / "m.jsonl", judged("m", right=3, none=7))
    candidate = evalkit.compare(path, floor)["m"]
    assert candidate.reason == (None if passes else "no-cut-clears-floor")


@pytest.mark.parametrize(
    "floor", ["50", "50%", "0,5", "nan", "", "-0", 1.5, -0.1, float("nan"), True, Fraction(11, 10)]
)
def test_a_floor_that_is_no_share_is_refused(go: Path, floor: str | float | Decimal | Fraction) -> None:
    """The same rule as on the command line."""
    with pytest.raises(evalkit.Refusal) as caught:
        evalkit.compare(go, floor)
    assert caught.value.counts == {"min-coverage": 1}


# refusals


def test_a_refusal_carries_what_is_wrong(tmp_path: Path) -> None:
    """Violations with file, line, field, rule and value; counts by rule over all lines; the text with all of it."""
    lines = [GO[0], "", record("m", "test", 1, 9), record("m", "test", 2, confidence=7.5)]
    path = dump(tmp_path / "bad.jsonl", lines)
    with pytest.raises(evalkit.Refusal) as caught:
        evalkit.compare(path, "0.5")
    refusal = caught.value
    truth, confidence = refusal.violations
    words = "must be a whole number from 1 to 7, written without fraction, exponent or quotes"
    assert truth == evalkit.Violation("truth", words, str(path), 3, "truth.bristolType", "9")
    assert (confidence.rule, confidence.file, confidence.line) == ("confidence", str(path), 4)
    assert (confidence.field, confidence.value) == ("prediction.confidence", "7.5")
    assert refusal.counts == {"truth": 1, "confidence": 1}
    assert str(refusal) == f"{truth}\n{confidence}"
    assert str(truth) == f"{path}:3: truth.bristolType: {words}; found 9 [truth]"


def test_a_refusal_shows_the_first_twenty_lines_and_counts_the_rest(tmp_path: Path) -> None:
    """Memory and words stay small however much is broken; the counts are of everything."""
    path = dump(tmp_path / "bad.jsonl", ["{}", *(record("m", "test", number, 9) for number in range(1200))])
    with pytest.raises(evalkit.Refusal) as caught:
        evalkit.compare(path, "0.5")
    refusal = caught.value
    assert {violation.line for violation in refusal.violations} == set(range(1, 21))
    assert refusal.counts == {"missing-field": 5, "truth": 1200}
    assert str(refusal).splitlines()[-3:] == [
        "… and 1,181 more; in all:",
        "      5 × missing-field",
        "  1,200 × truth",
    ]


def test_a_refusal_is_picklable(tmp_path: Path) -> None:
    """It comes out of a worker process as it went in."""
    path = dump(tmp_path / "leak.jsonl", [*GO, record("m", "train", 0, subject=key("test", 3))])
    with pytest.raises(evalkit.Refusal) as caught:
        evalkit.compare(path, "0.5")
    before = caught.value
    after = pickle.loads(pickle.dumps(before))  # noqa: S301 - made here
    assert isinstance(after, evalkit.Refusal)
    assert (after.violations, after.counts, str(after)) == (before.violations, before.counts, str(before))
    assert before.counts == {"leak": 1, "split-not-derived": 1}


def test_a_violation_holds_no_secret(tmp_path: Path) -> None:
    """The value of a malformed key may be a name: only its kind and length are told, in no part of the refusal more."""
    path = dump(tmp_path / "bad.jsonl", [GO[0].replace(key("validation", 0), "Erika Mustermann")])
    with pytest.raises(evalkit.Refusal) as caught:
        evalkit.compare(path, "0.5")
    assert caught.value.violations[0].value == "a text of length 16"
    assert "Erika" not in repr(caught.value) + str(caught.value) + repr(caught.value.args)


def test_paths_that_are_not_there_are_refused_and_not_an_oserror(tmp_path: Path) -> None:
    """Missing inputs, empty lists and folders are the caller's mistakes."""
    given: list[tuple[str | Path | list[str], str]] = [
        (tmp_path / "missing.jsonl", "path-missing"),
        (f"{tmp_path}/*.jsonl", "pattern-empty"),
        (tmp_path, "path-directory"),
        ([], "no-input"),
        ("\0", "path-missing"),
    ]
    for paths, rule in given:
        with pytest.raises(evalkit.Refusal) as caught:
            evalkit.compare(paths, "0.5")
        assert [violation.rule for violation in caught.value.violations] == [rule]


def test_the_same_input_gives_equal_reports(go: Path) -> None:
    """Reports compare by what they say; a report in another process is the same text."""
    first, second = evalkit.compare(go, "0.5"), evalkit.compare(go, "0.5")
    assert first == second
    assert first.to_json() == second.to_json()
    assert first.to_json().endswith("}\n")
    code = "import evalkit, sys; sys.stdout.write(evalkit.compare(sys.argv[1], '0.5').to_json())"
    line = [sys.executable, "-c", code, str(go)]
    other = subprocess.run(line, env=environment(), capture_output=True, check=True).stdout
    assert other == first.to_json().encode()
