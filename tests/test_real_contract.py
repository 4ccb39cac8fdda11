"""Real predictions under another contract: other fields, labels as words, a contract guessed and then edited."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from support import evalkit as run_evalkit

import evalkit

REAL = Path(__file__).parent.parent / "data-fixtures" / "real"
EXPECTED: dict[str, Any] = json.loads((REAL / "expected.json").read_bytes())["selective.jsonl --min-coverage 0.5"]
WORDS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven"}


def renamed(line: str) -> dict[str, Any]:
    """Tell the same prediction in other words: nested fields, labels as texts, and a field of the image's half."""
    record = json.loads(line)
    offered = record["prediction"]
    return {
        "run": {"candidate": record["model"]},
        "writer": record["subjectKey"],
        "fold": record["split"],
        "digit": {"gold": WORDS[record["truth"]["bristolType"]], "half": record["subjectKey"][-1] < "8"},
        "answer": offered and {"digit": WORDS[offered["bristolType"]], "probability": offered["confidence"]},
    }


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Make a folder with the renamed dump and the contract that is guessed from it."""
    lines = (REAL / "selective.jsonl").read_text("utf-8").splitlines()
    (tmp_path / "digits.jsonl").write_text("".join(json.dumps(renamed(line)) + "\n" for line in lines), "utf-8")
    done = run_evalkit("contract", "guess", "digits.jsonl", "-o", "guessed.toml", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    return tmp_path


def test_the_guessed_contract_is_right_but_for_what_was_not_seen(here: Path) -> None:
    """Fields and labels are found; the byte limits are what the keys seen allow, to be checked."""
    guessed = evalkit.read_contract(str(here / "guessed.toml"))
    assert guessed.fields == evalkit.Fields(
        "run.candidate", "writer", "fold", "digit.gold", "answer.digit", "answer.probability"
    )
    assert set(guessed.labels) == set(WORDS.values())
    assert guessed.split_rule == evalkit.SplitRule()
    assert "digit.half" in (here / "guessed.toml").read_text("utf-8")


def test_real_predictions_by_other_names_have_the_same_numbers(here: Path) -> None:
    """What fields and labels are called changes no number of any candidate, to the last bit of the known values."""
    toml = (here / "guessed.toml").read_text("utf-8")
    ordered = ", ".join(f'"{word}"' for word in WORDS.values())
    edited = re.sub(r"(?m)^names = \[.*\]", f"names = [{ordered}]", toml)
    (here / "edited.toml").write_text(edited, "utf-8")
    line = ("compare", "digits.jsonl", "--contract", "edited.toml", "--min-coverage", "0.5", "--by", "digit.half")
    done = run_evalkit(*line, "--json", "r.json", cwd=here)
    report = json.loads((here / "r.json").read_bytes())
    plain = evalkit.compare(REAL / "selective.jsonl", "0.5").to_dict()
    assert done.code == (0 if plain["verdict"] == "GO" else 3)
    for found, same in zip(report["candidates"], plain["candidates"], strict=True):
        for key in ("model", "passed", "threshold", "total", "accepted", "coverage", "macroF1", "ece", "bins", "gates"):
            assert found[key] == same[key], key
        assert found["perClass"] == {WORDS[int(label)]: row for label, row in same["perClass"].items()}
        assert [one["by"] for one in found["strata"]] == [{"digit.half": "false"}, {"digit.half": "true"}]
        assert sum(one["total"] for one in found["strata"]) == found["total"]
        known = EXPECTED["candidates"][found["model"]]["test"]
        assert found["macroF1"] == pytest.approx(known["macroF1"], rel=0, abs=1e-12)
