"""Small inputs that evaluation tools get wrong: each case of `evalkit compare` through the real command line.

The cases of probability vectors are those of ``test_evaluate_cases.py``.
Where a case allows a stricter answer as well (`acceptable_alternative`), evalkit gives the one under `exit`.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from evalkit.cli import app
from evalkit.contracts.contract import BRISTOL
from evalkit.formats.rows import read_rows

CASES = Path(__file__).parent.parent / "data-fixtures" / "cases"
EXPECTED: dict[str, dict[str, Any]] = {
    folder.name: expect
    for folder in sorted(CASES.iterdir())
    if list(folder.glob("input.jsonl*")) and (expect := json.loads((folder / "expect.json").read_bytes()))
}
SCORED = [name for name, expect in EXPECTED.items() if not expect["refuse"]]

LABEL = "must be a whole number from 1 to 7, written without fraction, exponent or quotes"
REFUSALS = {
    "B03-dup-key": ['input.jsonl:7: no key may stand twice in one object; found "split" [duplicate-key]'],
    "B07-overflow-to-inf": [
        "input.jsonl:7: prediction.confidence: must be a number from 0 to 1; found 1e400 [confidence]"
    ],
    "B09-bom-middle": ["input.jsonl:3: a byte-order mark may stand only at the start of a file [byte-order-mark]"],
    "B11-torn-last-line": ["input.jsonl:7: must be one JSON object; the line is broken at character 71 of 70 [json]"],
    "B17-two-objects-one-line": [
        "input.jsonl:2: must be one JSON object; the line is broken at character 144 of 279 [json]"
    ],
    "B18-trailing-text": ["input.jsonl:3: must be one JSON object; the line is broken at character 137 of 143 [json]"],
    "B20-null-line": ["input.jsonl:4: must be one JSON object; found null [json]"],
    "B25-bool-label": [f"input.jsonl:7: truth.bristolType: {LABEL}; found true [truth]"],
    "B26-bool-confidence": [
        "input.jsonl:7: prediction.confidence: must be a number from 0 to 1; found true [confidence]"
    ],
    "B27-string-numbers": [
        f'input.jsonl:7: prediction.bristolType: {LABEL}; found "4" [predicted]',
        'input.jsonl:7: prediction.confidence: must be a number from 0 to 1; found "0.97" [confidence]',
    ],
    "B28-wrapping-label": [f"input.jsonl:7: truth.bristolType: {LABEL}; found 260 [truth]"],
    "B31-empty-prediction": [
        "input.jsonl:7: prediction.bristolType: is missing [missing-field]",
        "input.jsonl:7: prediction.confidence: is missing [missing-field]",
    ],
    "B32-misspelt-nested-key": ["input.jsonl:7: prediction.bristolType: is missing [missing-field]"],
}
"""What each case that must be refused is refused with."""


def _copy(name: str, folder: Path) -> None:
    for given in EXPECTED[name]["inputs"]:
        shutil.copyfile(CASES / name / given, folder / given)


def _arguments(name: str) -> list[str]:
    args = EXPECTED[name]["args"]
    floor = ["--min-coverage", str(args["min_coverage"])]
    return [*EXPECTED[name]["inputs"], *floor, "--json", args.get("json", "report.json")]


def _run(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Result:
    _copy(name, folder)
    monkeypatch.chdir(folder)
    return CliRunner().invoke(app, ["compare", *_arguments(name)])


def _report(name: str, folder: Path) -> dict[str, Any]:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    path = folder / EXPECTED[name]["args"].get("json", "report.json")
    report: dict[str, Any] = json.loads(path.read_bytes(), parse_constant=refuse)
    return report


def _files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def _agree(found: Any, expected: Any, tolerance: float) -> bool:
    if isinstance(expected, float) and isinstance(found, float):
        return abs(found - expected) <= tolerance
    return type(found) is type(expected) and bool(found == expected)


def test_every_case_is_run() -> None:
    """No case is left out, and no key of an expectation is left unread."""
    known = {"kind", "inputs", "args", "refuse", "exit", "why", "values", "tolerance", "also", "acceptable_alternative"}
    values = {
        *("verdict", "recommended", "models", "report_is_strict_json", "models_in_report", "files_created"),
        *("json_model_name", "svg_well_formed", "markdown_columns_constant"),
    }
    assert len(EXPECTED) == 33
    assert set(REFUSALS) == {name for name, expect in EXPECTED.items() if expect["refuse"]}
    for expect in EXPECTED.values():
        assert set(expect) <= known
        assert set(expect["values"]) <= values
        assert set(expect["args"]) <= {"min_coverage", "json", "svg", "markdown"}
        assert set(expect.get("also", ())) <= {"distinct_subjects", "recommended_is_a_tie"}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_must_be_refused_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal is exit 2 with file, line, field and rule; nothing is scored and nothing is written."""
    result = _run(name, tmp_path, monkeypatch)
    faults = REFUSALS[name]
    violations = "1 violation" if len(faults) == 1 else f"{len(faults)} violations"
    assert EXPECTED[name]["exit"] == result.exit_code == 2
    assert result.stderr.splitlines() == [
        f"evalkit: refused: {violations}; nothing was scored, nothing was written",
        *(f"  {fault}" for fault in faults),
    ]
    assert result.stdout == ""
    assert _files(tmp_path) == sorted(EXPECTED[name]["inputs"])


@pytest.mark.parametrize("name", SCORED)
def test_what_can_be_judged_is_judged_right(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code, verdict, recommendation and every number are those of the definitions, in a report of strict JSON.

    Of the case with the hostile name only the name in the JSON is held against its expectation here; its SVG and its
    Markdown are those of the command that draws charts.
    """
    expect = EXPECTED[name]
    result = _run(name, tmp_path, monkeypatch)
    assert result.exit_code == expect["exit"], result.stderr
    assert result.stderr == ""
    report = _report(name, tmp_path)
    values = expect["values"]
    assert report["verdict"] == values.get("verdict", "GO" if expect["exit"] == 0 else "BLOCKED")
    if "recommended" in values:
        assert report["recommended"] == values["recommended"]
    candidates = {one["model"]: one for one in report["candidates"]}
    if "models" in values:
        assert list(candidates) == list(values["models"])
    for model, numbers in values.get("models", {}).items():
        for key, expected in numbers.items():
            found = candidates[model]["abstentions" if key == "abstained" else key]
            if key == "gates":
                found = {gate: one["passed"] for gate, one in found.items()}
            assert _agree(found, expected, expect["tolerance"]), (model, key, found)
    if "models_in_report" in values:
        assert list(candidates) == sorted(values["models_in_report"])
    if "json_model_name" in values:
        assert list(candidates) == [values["json_model_name"]]
    if "files_created" in values:
        assert _files(tmp_path) == sorted([*expect["inputs"], *values["files_created"]])


def test_keys_that_look_like_numbers_stay_apart() -> None:
    """A subject key is a text: keys that are equal as numbers are different contributors."""
    rows = read_rows((CASES / "B44-numeric-looking-keys" / "input.jsonl").read_bytes(), BRISTOL, every=True)
    assert EXPECTED["B44-numeric-looking-keys"]["also"] == {"distinct_subjects": 8}
    assert rows.table["subject"].n_unique() == 8
    assert {"0000000000000010", "00000000000001e1"} <= set(rows.table["subject"])


def test_a_tie_is_broken_whatever_the_order_of_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of candidates with the same numbers the smaller name is recommended, in any order of lines."""
    name = "B45-date-looking-model"
    _run(name, tmp_path, monkeypatch)
    before = _report(name, tmp_path)
    path = tmp_path / "input.jsonl"
    path.write_bytes(b"".join(reversed(path.read_bytes().splitlines(keepends=True))))
    result = CliRunner().invoke(app, ["compare", *_arguments(name)])
    after = _report(name, tmp_path)
    assert result.exit_code == 0
    assert before["recommended"] == after["recommended"] == "05-01-2026"
    assert before["candidates"] == after["candidates"]


@pytest.mark.parametrize(
    ("name", "code"), [("B82-macrof1-exactly-080", 0), ("B50-confusion-direction", 3), ("B11-torn-last-line", 2)]
)
def test_the_process_itself_exits_with_the_code(name: str, code: int, tmp_path: Path) -> None:
    """`python -m evalkit` exits 0 on GO, 3 on BLOCKED and 2 when it refuses; a report is written on 0 and 3 only."""
    _copy(name, tmp_path)
    command = [sys.executable, "-m", "evalkit", "compare", *_arguments(name)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == code
    assert (tmp_path / "report.json").exists() == (code != 2)
    assert "Traceback" not in done.stderr
