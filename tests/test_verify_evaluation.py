"""Verifying evaluations of probability vectors: reports of ``evaluate``, and those that jev-bridge has written."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from support import evalkit

from evalkit import Refusal
from evalkit.families.probability.evaluate import Question, evaluate_inputs
from evalkit.report import document
from evalkit.sources.partition import Inputs
from evalkit.sources.source import resolve
from evalkit.verification.differ import differ
from evalkit.verification.jev_bridge import as_jev_bridge
from evalkit.verification.schemas import SCHEMAS
from evalkit.verification.verify import Verification, verify

REAL = Path(__file__).parent.parent / "data-fixtures" / "real"

Plain = dict[str, Any]

PREDICTIONS: list[Plain] = [
    {"id": "a", "option_ids": ["yes", "no"], "probabilities": [0.9, 0.1], "label": None},
    {"id": "b", "option_ids": ["yes", "no"], "probabilities": [0.4, 0.6]},
]
GOLD: list[Plain] = [{"id": "a", "gold": "yes", "family": "one"}, {"id": "b", "gold": "no", "family": "two"}]
"""Two scored rows, one a family, both right."""


def write(folder: Path, name: str, rows: Iterable[Plain]) -> Path:
    """Write rows as JSON Lines."""
    path = folder / name
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def sha256(path: Path) -> str:
    """Return the digest of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def stratum(n: int, recall: dict[str, float], nll: float, brier: float, ece: float, *bins: Plain) -> Plain:
    """Write the numbers of rows that are all scored and all right, in the keys and the order of jev-bridge."""
    return {
        "n_items": n,
        "n_missing": 0,
        "n_predicted": n,
        "n_scored": n,
        "accuracy": 1.0,
        "balanced_accuracy": 1.0,
        "classes_in_gold": sorted(recall),
        "per_class_recall": recall,
        "nll": nll,
        "brier_multiclass": brier,
        "n_binary": 0,
        "brier_binary": None,
        "ece": ece,
        "reliability": list(bins),
    }


LOW: Plain = {"lower": 0.6, "upper": 0.7, "n": 1, "mean_confidence": 0.6, "accuracy": 1.0}
HIGH: Plain = {"lower": 0.9, "upper": 1.0, "n": 1, "mean_confidence": 0.9, "accuracy": 1.0}


def bridge(predictions: Path, gold: Path) -> Plain:
    """Write what jev-bridge reports on the two rows: -ln 0.9, -ln 0.6, 2 · 0.01, 2 · 0.16, by hand."""
    low, high = 0.5108256237659907, 0.10536051565782628
    return {
        "schema": "jev-bridge-evaluation-v1",
        "bins": 10,
        "predictions_sha256": sha256(predictions),
        "gold_sha256": sha256(gold),
        "overall": stratum(2, {"no": 1.0, "yes": 1.0}, 0.3080930697119085, 0.17, 0.25, LOW, HIGH),
        "by_family": {
            "one": stratum(1, {"yes": 1.0}, high, 0.02, 0.1, HIGH),
            "two": stratum(1, {"no": 1.0}, low, 0.32, 0.4, LOW),
        },
    }


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """Write the two rows."""
    return write(tmp_path, "predictions.jsonl", PREDICTIONS), write(tmp_path, "gold.jsonl", GOLD)


def paths(found: Verification) -> list[str]:
    """Return where the differences are."""
    return [one.path for one in found.differences]


def evaluation(predictions: Path, gold: Path, **stated: Any) -> Plain:
    """Return the report of ``evaluate``, as plain data."""
    with Inputs(resolve([str(predictions)])) as left, Inputs(resolve([str(gold)])) as right:
        found: Plain = document(evaluate_inputs(left, right, Question(**stated)))
    return found


# reports of jev-bridge


def test_a_report_of_jev_bridge_is_verified(files: tuple[Path, Path]) -> None:
    """Its report has fewer fields than ours and the same definitions: what it claims of the two rows is verified."""
    found = verify(bridge(*files), *files)
    assert (found.differences, found.report_schema) == ((), "jev-bridge-evaluation-v1")


def test_a_report_on_real_data_is_verified() -> None:
    """The numbers that other tools give for the real predictions, put as jev-bridge puts them, are verified."""
    predictions, gold = REAL / "predictions.jsonl", REAL / "gold.jsonl"
    numbers = json.loads((REAL / "expected.json").read_bytes())["predictions.jsonl + gold.jsonl, 10 bins"]
    digests = {"predictions_sha256": sha256(predictions), "gold_sha256": sha256(gold)}
    claim = {"schema": "jev-bridge-evaluation-v1", "bins": 10, **digests, **numbers}
    assert verify(claim, predictions, gold).differences == ()
    claim["overall"]["ece"] += 1e-9
    assert paths(verify(claim, predictions, gold)) == ["report.overall.ece"]


def test_a_field_that_jev_bridge_does_not_have_is_a_difference(files: tuple[Path, Path]) -> None:
    """Neither our own fields nor invented ones may ride along in its report."""
    claim = bridge(*files)
    claim["overall"]["n_unscored"] = 0
    claim["synthetic"] = False
    claim["by_family"]["two"]["f1"] = 1.0
    assert paths(verify(claim, *files)) == [
        "report.overall.n_unscored",
        "report.by_family.two.f1",
        "report.synthetic",
    ]


def test_a_family_left_out_is_one_difference(files: tuple[Path, Path]) -> None:
    """A stratum that is dropped is named, and the others are compared all the same."""
    claim = bridge(*files)
    del claim["by_family"]["one"]
    claim["by_family"]["two"]["n_items"] = 2
    found = verify(claim, *files, tol=1)
    assert paths(found) == ["report.by_family.one", "report.by_family.two.n_items"]


def test_the_digests_are_those_of_the_files(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Gold with one more space has the same numbers and another digest."""
    claim = bridge(*files)
    spaced = tmp_path / "spaced.jsonl"
    spaced.write_bytes(files[1].read_bytes() + b" \n")
    assert paths(verify(claim, files[0], spaced)) == ["report.gold_sha256"]


def test_what_jev_bridge_accepts_and_we_refuse_cannot_be_verified(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Over a vector whose sum is far off 1 nothing is recomputed; the refusal says that the report may be right."""
    wrong = write(tmp_path, "wrong.jsonl", [PREDICTIONS[0], {**PREDICTIONS[1], "probabilities": [0.4, 0.5]}])
    claim = bridge(*files)
    (tmp_path / "r.json").write_text(json.dumps(claim), encoding="utf-8")
    with pytest.raises(Refusal) as caught:
        verify(tmp_path / "r.json", wrong, files[1])
    first, *others = caught.value.violations
    assert str(first).endswith(
        "r.json: is a report of jev-bridge-evaluation-v1 over inputs that are refused here; it cannot be verified, be "
        "it right or wrong [not-verifiable]"
    )
    assert len(others) == 1


def test_the_tolerance_of_sums_is_the_callers(files: tuple[Path, Path], tmp_path: Path) -> None:
    """With a wider tolerance of sums the same vectors are read, and the report is held against them."""
    wrong = write(tmp_path, "wrong.jsonl", [PREDICTIONS[0], {**PREDICTIONS[1], "probabilities": [0.3, 0.6]}])
    found = verify(bridge(*files), wrong, files[1], sum_tolerance="0.2")
    assert paths(found) == [
        "report.predictions_sha256",
        "report.overall.brier_multiclass",
        "report.by_family.two.brier_multiclass",
    ]


def test_one_model_is_what_jev_bridge_has_and_several_are_not(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Rows that all name one model are the rows that it reports on; rows of several cannot be verified."""
    named = [{**row, "model": "m"} for row in PREDICTIONS]
    one = write(tmp_path, "one.jsonl", named)
    assert verify(bridge(one, files[1]), one, files[1]).verified
    two = write(tmp_path, "two.jsonl", [*named, *({**row, "model": "n"} for row in PREDICTIONS)])
    with pytest.raises(Refusal) as caught:
        verify(bridge(two, files[1]), two, files[1])
    assert str(caught.value) == (
        "a report of jev-bridge-evaluation-v1 knows no models, and the predictions are of 2 [not-verifiable]"
    )


def test_unusable_options_are_named_before_an_input_is_read(files: tuple[Path, Path]) -> None:
    """Bins of 0 and a tolerance of sums that is none are refused for what they are, for either schema."""
    for claim in (bridge(*files), evaluation(*files)):
        for stated, rule in (({"bins": 0}, "bins"), ({"sum_tolerance": "nan"}, "sum-tolerance")):
            options: Plain = stated
            with pytest.raises(Refusal) as caught:
                verify(claim, *files, **options)
            assert [one.rule for one in caught.value.violations] == [rule]


def test_one_file_is_not_both_predictions_and_gold(files: tuple[Path, Path]) -> None:
    """A file named on both sides is refused, as by ``evaluate``."""
    with pytest.raises(Refusal, match="same-file-twice"):
        verify(bridge(*files), files[0], files[0])


def test_what_jev_bridge_does_not_know_is_no_option(files: tuple[Path, Path]) -> None:
    """Its reports say neither synthetic nor run; gold is needed."""
    with pytest.raises(Refusal) as caught:
        verify(bridge(*files), files[0], synthetic=True, run={})
    assert [one.field for one in caught.value.violations] == ["gold", "run-record", "synthetic"]


# reports of evaluate


def test_a_report_of_evaluate_is_verified(files: tuple[Path, Path]) -> None:
    """Recomputed with the same options it agrees to the last bit; one with others differs."""
    stated: Plain = {"bins": 7, "synthetic": True, "run": {"id": 1}}
    claim = evaluation(*files, sum_tolerance=Fraction(1, 10), **stated)
    assert verify(claim, *files, tol=0, sum_tolerance="0.1", **stated).differences == ()
    assert "report.bins" in paths(verify(claim, *files))


def test_real_predictions_are_verified(tmp_path: Path) -> None:
    """The report on the real predictions is verified; a bin left out of it is one difference."""
    predictions, gold = REAL / "predictions.jsonl", REAL / "gold.jsonl"
    claim = json.loads(json.dumps(evaluation(predictions, gold)))
    assert verify(claim, predictions, gold, tol=0).differences == ()
    lower = claim["overall"]["reliability"].pop(0)["lower"]
    assert paths(verify(claim, predictions, gold)) == [f"report.overall.reliability[lower={lower}]"]


def test_a_model_left_out_is_one_difference(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Where predictions name models, a model that is dropped from the report is named."""
    rows = [{**row, "model": model} for model in ("m", "n") for row in PREDICTIONS]
    both = write(tmp_path, "both.jsonl", rows)
    claim = evaluation(both, files[1])
    assert verify(claim, both, files[1]).verified
    del claim["by_model"]["m"]
    assert paths(verify(claim, both, files[1])) == ["report.by_model.m"]


def test_any_one_changed_value_is_found(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Each single value of a report, of ours and of jev-bridge's, changed in turn, is one difference or more."""
    predictions = write(tmp_path, "named.jsonl", [{**row, "model": "m"} for row in PREDICTIONS])
    with Inputs(resolve([str(predictions)])) as left, Inputs(resolve([str(files[1])])) as right:
        ours = evaluate_inputs(left, right, Question(run={"id": 1, "rate": 0.5}))
    for schema, recomputed in (("evalkit-evaluation-v1", ours), ("jev-bridge-evaluation-v1", as_jev_bridge(ours))):
        rules = SCHEMAS[schema].rules(Fraction(1, 10**12))
        text = json.dumps(document(recomputed))
        ways = list(_leaves(json.loads(text)))
        assert len(ways) > 50
        for *way, last in ways:
            claim = json.loads(text)
            inside = claim
            for step in way:
                inside = inside[step]
            for other in _others(inside[last]):
                inside[last] = other
                assert differ(claim, recomputed, rules).count >= 1, (schema, way, last, other)


def _leaves(value: Any, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if not isinstance(value, dict | list):
        yield way
        return
    for step, below in value.items() if isinstance(value, dict) else enumerate(value):
        yield from _leaves(below, (*way, step))


def _others(value: Any) -> list[Any]:
    if isinstance(value, bool):
        return [not value, None, int(value)]
    if isinstance(value, float):
        return [value + 1e-9, -value - 1, None, str(value), True]
    return [None, f"{value}", float(value), value + 1] if isinstance(value, int) else [f"{value}x", 0, not value]


def test_the_floor_is_no_option_of_an_evaluation(files: tuple[Path, Path]) -> None:
    """What steers ``compare`` alone is refused by name."""
    with pytest.raises(Refusal) as caught:
        verify(evaluation(*files), *files, min_coverage="0.5", by="x")
    assert [one.field for one in caught.value.violations] == ["by", "min-coverage"]


def test_the_program_verifies_an_evaluation(files: tuple[Path, Path], tmp_path: Path) -> None:
    """Predictions and gold are named by options; bins, and the tolerance of sums, are the caller's."""
    (tmp_path / "r.json").write_text(json.dumps(evaluation(*files)), encoding="utf-8")
    named = ("r.json", "--predictions", "predictions.jsonl", "--gold", "gold.jsonl")
    done = evalkit("verify", *named, cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    write(tmp_path, "more.jsonl", [{"id": "c", "option_ids": ["yes"], "label": "yes"}])
    write(tmp_path, "more-gold.jsonl", [{"id": "c", "gold": "yes"}])
    several = [*named[:3], "more.jsonl", *named[3:], "more-gold.jsonl"]
    assert evalkit("verify", *several, cwd=tmp_path).lines[1].startswith("  report.predictions_sha256: claimed ")
    other = evalkit("verify", *named, "--bins", "5", cwd=tmp_path)
    assert (other.code, other.lines[1]) == (3, "  report.bins: claimed 10, recomputed 5")
