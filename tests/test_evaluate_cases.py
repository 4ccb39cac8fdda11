"""Small inputs that evaluation tools get wrong: each case of probability vectors through the real command line.

Where a case allows a stricter answer as well (`acceptable_alternative`), evalkit gives the one under `exit`.
"""

from __future__ import annotations

import json
import math
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from evalkit.cli import app

CASES = Path(__file__).parent.parent / "data-fixtures" / "cases"
EXPECTED: dict[str, dict[str, Any]] = {
    folder.name: expect
    for folder in sorted(CASES.iterdir())
    if folder.is_dir() and (expect := json.loads((folder / "expect.json").read_bytes()))["kind"] == "gold+predictions"
}
SCORED = [name for name, expect in EXPECTED.items() if not expect["refuse"]]

REFUSALS = {
    "B60-sum-not-one": ("predictions.jsonl:1: ", "sum", ['"1"', "0.5", "--sum-tolerance"]),
    "B70-duplicate-prediction-id": ("predictions.jsonl:2: ", "duplicate-id", ['"1"', "predictions.jsonl:1"]),
}
"""Where each case that must be refused is refused, by which rule, and what is said besides."""

ALSO: dict[str, dict[str, Any]] = {
    "B69-row-without-vector": {"n_predicted": 3, "n_unscored": 1},
    "B51-balanced-predicted-only": {"classes_in_gold": ["a", "b"], "per_class_recall": {"a": 0.5, "b": 1.0}},
    "B66-argmax-tie": {"classes_in_gold": ["b", "z"], "per_class_recall": {"b": 1.0, "z": 1.0}},
}
"""What a case says in words only, or leaves out."""

COUNTS = {"n_items", "n_missing", "n_predicted", "n_scored", "n_unscored", "n_binary", "n"}


def run(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Result:
    """Run a case in an empty folder."""
    for given in EXPECTED[name]["inputs"]:
        shutil.copyfile(CASES / name / given, folder / given)
    monkeypatch.chdir(folder)
    sides = ["--predictions", "predictions.jsonl", "--gold", "gold.jsonl"]
    bins = ["--bins", str(EXPECTED[name]["args"]["bins"])]
    return CliRunner().invoke(app, ["evaluate", *sides, *bins, "--json", "report.json"])


def strict(path: Path) -> dict[str, Any]:
    """Read a report, in which nothing may be NaN or infinite."""

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is no JSON")

    report: dict[str, Any] = json.loads(path.read_bytes(), parse_constant=refuse)
    return report


def agree(found: Any, expected: Any, tolerance: float, place: str) -> None:
    """Hold all that is expected: floats to the tolerance, counts, names and nulls exactly, lists at full length."""
    if isinstance(expected, dict):
        for key, inner in expected.items():
            agree(found[key], inner, tolerance, f"{place}.{key}")
            assert type(found[key]) is int or key not in COUNTS, place
    elif isinstance(expected, list):
        assert len(found) == len(expected), place
        for at, (one, other) in enumerate(zip(found, expected, strict=True)):
            agree(one, other, tolerance, f"{place}[{at}]")
    elif isinstance(expected, float):
        assert isinstance(found, float), place
        assert math.isclose(found, expected, rel_tol=0, abs_tol=tolerance), (place, found)
    else:
        assert type(found) is type(expected), place
        assert found == expected, place


def test_every_case_is_run() -> None:
    """No case is left out, and no key of an expectation is left unread."""
    known = {"kind", "inputs", "args", "refuse", "exit", "why", "values", "tolerance", "acceptable_alternative"}
    assert len(EXPECTED) == 10
    assert set(REFUSALS) == {name for name, expect in EXPECTED.items() if expect["refuse"]}
    assert set(ALSO) <= set(SCORED)
    for expect in EXPECTED.values():
        assert set(expect) <= known
        assert expect["inputs"] == ["gold.jsonl", "predictions.jsonl"]
        assert set(expect["args"]) == {"bins"}
        assert set(expect["values"]) <= {"overall", "by_family"}


@pytest.mark.parametrize("name", REFUSALS)
def test_what_must_be_refused_is_refused(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A refusal is exit 2 with file, line, id and rule; nothing is scored and nothing is written."""
    result = run(name, tmp_path, monkeypatch)
    place, rule, words = REFUSALS[name]
    assert EXPECTED[name]["exit"] == result.exit_code == 2
    assert result.stdout == ""
    head, fault = result.stderr.splitlines()
    assert head == "evalkit: refused: 1 violation; nothing was scored, nothing was written"
    assert fault.startswith(f"  {place}")
    assert fault.endswith(f"[{rule}]")
    for word in words:
        assert word in fault
    assert sorted(path.name for path in tmp_path.iterdir()) == EXPECTED[name]["inputs"]


@pytest.mark.parametrize("name", SCORED)
def test_what_can_be_evaluated_is_evaluated_right(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every number is that of the definitions, in a report of strict JSON, and every row is in exactly one family."""
    expect = EXPECTED[name]
    result = run(name, tmp_path, monkeypatch)
    assert (result.exit_code, result.stderr) == (expect["exit"], "")
    report = strict(tmp_path / "report.json")
    values: Mapping[str, Any] = expect["values"]
    agree(report, values, expect["tolerance"], "report")
    agree(report["overall"], ALSO.get(name, {}), expect["tolerance"], "report.overall")
    families = report["by_family"]
    assert list(families) == sorted(values.get("by_family", {"unlabelled": None}))
    for count in ("n_items", "n_missing", "n_predicted", "n_scored", "n_unscored", "n_binary"):
        assert sum(one[count] for one in families.values()) == report["overall"][count]
