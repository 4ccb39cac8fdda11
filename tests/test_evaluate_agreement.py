"""`evaluate` beside other tools: the same to 1e-12 on real predictions; where it differs on purpose, by how much."""

from __future__ import annotations

import json
import math
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.metrics import accuracy_score, balanced_accuracy_score, brier_score_loss, log_loss, recall_score

import evalkit
from evalkit import Refusal

REAL = Path(__file__).parent.parent / "data-fixtures" / "real"
CLOSE = 1e-12

FAMILIES = {"ink-heavy": 111, "ink-light": 124, "ink-medium": 109, "tumour": 253, "unlabelled": 31}
"""How many rows with a vector each family of the real predictions has."""


def lines(name: str) -> list[dict[str, Any]]:
    """Read JSON Lines."""
    return [json.loads(line) for line in (REAL / name).read_bytes().splitlines()]


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    """Evaluate the real predictions."""
    return evalkit.evaluate(REAL / "predictions.jsonl", REAL / "gold.jsonl").to_dict()


@pytest.fixture(scope="module")
def rows() -> dict[str, list[tuple[dict[str, Any], dict[str, Any]]]]:
    """Join the real predictions with gold, a list for each family."""
    said = {line["id"]: line for line in lines("predictions.jsonl")}
    joined: dict[str, list[tuple[dict[str, Any], dict[str, Any]]]] = {}
    for gold in lines("gold.jsonl"):
        joined.setdefault(gold.get("family") or "unlabelled", []).append((said.get(gold["id"], {}), gold))
    return joined


def answer(said: dict[str, Any]) -> str | None:
    """Return what NumPy takes for the answer, or the label."""
    vector = said.get("probabilities")
    return said["option_ids"][int(np.argmax(vector))] if vector else said.get("label")


# --- agreement


@pytest.mark.parametrize("family", FAMILIES)
def test_answers_agree_with_scikit_learn(family: str, found: dict[str, Any], rows: dict[str, Any]) -> None:
    """Accuracy and balanced accuracy over the rows with an answer, labels included."""
    answered = [(gold["gold"], answer(said)) for said, gold in rows[family] if answer(said) is not None]
    truth, guess = zip(*answered, strict=True)
    numbers = found["by_family"][family]
    assert numbers["n_predicted"] == len(answered)
    assert numbers["accuracy"] == pytest.approx(accuracy_score(truth, guess), rel=0, abs=CLOSE)
    assert numbers["balanced_accuracy"] == pytest.approx(balanced_accuracy_score(truth, guess), rel=0, abs=CLOSE)
    names = numbers["classes_in_gold"]
    recalls = recall_score(truth, guess, labels=names, average=None)
    assert list(numbers["per_class_recall"].values()) == pytest.approx(list(recalls), rel=0, abs=CLOSE)


@pytest.mark.parametrize("family", FAMILIES)
def test_probabilities_agree_with_scikit_learn(family: str, found: dict[str, Any], rows: dict[str, Any]) -> None:
    """Log loss and the multi-class Brier score, not halved, over the rows with a vector."""
    scored = [(said, gold["gold"]) for said, gold in rows[family] if said.get("probabilities")]
    options = sorted(scored[0][0]["option_ids"])
    truth = [gold for _, gold in scored]
    matrix = np.array(
        [[said["probabilities"][said["option_ids"].index(name)] for name in options] for said, _ in scored]
    )
    numbers = found["by_family"][family]
    assert numbers["n_scored"] == len(scored) == FAMILIES[family]
    assert numbers["nll"] == pytest.approx(log_loss(truth, matrix, labels=options), rel=0, abs=CLOSE)
    brier = brier_score_loss(truth, matrix, labels=options, scale_by_half=False)
    assert numbers["brier_multiclass"] == pytest.approx(brier, rel=0, abs=CLOSE)


@pytest.mark.parametrize("family", ["tumour", "unlabelled"])
def test_the_binary_score_agrees_with_scikit_learn(family: str, found: dict[str, Any], rows: dict[str, Any]) -> None:
    """The Brier score of the positive class alone, which is `true` where the options are `true`, `false`."""
    scored = [
        (said["probabilities"][0], gold["gold"] == "true") for said, gold in rows[family] if said["probabilities"]
    ]
    expected = brier_score_loss([true for _, true in scored], [probability for probability, _ in scored])
    numbers = found["by_family"][family]
    assert numbers["n_binary"] == len(scored)
    assert numbers["brier_binary"] == pytest.approx(expected, rel=0, abs=CLOSE)


# Printed by tests/agreement/calibration_error.py: uncertainty-calibration 0.1.4 (`calibration.get_ece` over confidence
# and whether the answer was right) and netcal 1.4.0 (`netcal.metrics.ECE`, with a stand-in for PyTorch, which this
# metric does not use). No confidence of these rows lies on the edge of a bin, where the tools differ.
OTHER_TOOLS = {
    10: {
        "overall": (0.13306718149205052, 0.13306718149205057),
        "ink-heavy": (0.2172546051648558, 0.21725460516485576),
        "ink-light": (0.2189989102934744, 0.2189989102934744),
        "ink-medium": (0.2172867823880689, 0.21728678238806887),
        "tumour": (0.04726257508144155, 0.047262575081441285),
        "unlabelled": (0.07464080458814577, 0.07464080458814577),
    },
    15: {
        "overall": (0.1329458694344941, 0.132945869434494),
        "ink-heavy": (0.2232297200998459, 0.2232297200998459),
        "ink-light": (0.21442797347321446, 0.21442797347321454),
        "ink-medium": (0.2172867823880689, 0.2172867823880689),
        "tumour": (0.047262575081441514, 0.04726257508144123),
        "unlabelled": (0.11365086408752013, 0.11365086408752026),
    },
}


@pytest.mark.parametrize("bins", OTHER_TOOLS)
def test_the_calibration_error_agrees_with_two_tools(bins: int) -> None:
    """Over ten and over fifteen bins, of all rows and of each family."""
    report = evalkit.evaluate(REAL / "predictions.jsonl", REAL / "gold.jsonl", bins=bins).to_dict()
    parts = {"overall": report["overall"], **report["by_family"]}
    assert list(parts) == list(OTHER_TOOLS[bins])
    for name, values in OTHER_TOOLS[bins].items():
        for value in values:
            assert parts[name]["ece"] == pytest.approx(value, rel=0, abs=CLOSE), name


# --- differences, each on purpose


def evaluated(folder: Path, *given: tuple[list[str], list[float], str], **options: Any) -> dict[str, Any]:
    """Evaluate rows of options, vector and gold, and return the numbers over all."""
    predictions, gold = folder / "p.jsonl", folder / "g.jsonl"
    with predictions.open("w") as left, gold.open("w") as right:
        for at, (names, vector, truth) in enumerate(given):
            left.write(json.dumps({"id": str(at), "option_ids": names, "probabilities": vector}) + "\n")
            right.write(json.dumps({"id": str(at), "gold": truth}) + "\n")
    overall: dict[str, Any] = evalkit.evaluate(predictions, gold, **options).to_dict()["overall"]
    return overall


AB, ABC = ["a", "b"], ["a", "b", "c"]


def test_the_logarithm_has_a_floor(tmp_path: Path) -> None:
    """Gold without any probability costs -ln(1e-12); scikit-learn's cost depends on the width of the floats."""
    numbers = evaluated(tmp_path, (AB, [0.0, 1.0], "a"), (AB, [0.5, 0.5], "a"))
    assert numbers["nll"] == pytest.approx(14.162084148244246, rel=0, abs=CLOSE)
    assert numbers["nll"] == pytest.approx((12 * math.log(10) + math.log(2)) / 2, rel=0, abs=CLOSE)
    vectors = np.array([[0.0, 1.0], [0.5, 0.5]])
    assert log_loss(["a", "a"], vectors, labels=AB) == pytest.approx(18.36840028483855, abs=1e-9)
    assert log_loss(["a", "a"], vectors.astype(np.float32), labels=AB) == pytest.approx(8.317766189575195, abs=1e-6)


def test_classes_that_are_only_predicted_are_not_averaged(tmp_path: Path) -> None:
    """Balanced accuracy is over the classes of gold: 0.75, as scikit-learn's; its macro recall is 0.5."""
    numbers = evaluated(
        tmp_path,
        (ABC, [0.8, 0.1, 0.1], "a"),
        (ABC, [0.7, 0.2, 0.1], "a"),
        (ABC, [0.1, 0.8, 0.1], "b"),
        (ABC, [0.1, 0.1, 0.8], "b"),
    )
    truth, guess = ["a", "a", "b", "b"], ["a", "a", "b", "c"]
    assert numbers["balanced_accuracy"] == 0.75
    assert numbers["per_class_recall"] == {"a": 1.0, "b": 0.5}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "y_pred contains classes not in y_true")
        assert balanced_accuracy_score(truth, guess) == 0.75
    assert recall_score(truth, guess, average="macro", zero_division=0) == 0.5


def test_the_multi_class_score_is_not_halved(tmp_path: Path) -> None:
    """Two options count both ways in the multi-class score: 0.3125; scikit-learn halves it to 0.15625 if not told."""
    given = ((AB, [0.75, 0.25], "a"), (AB, [0.5, 0.5], "b"))
    vectors = np.array([vector for _, vector, _ in given])
    assert evaluated(tmp_path, *given)["brier_multiclass"] == 0.3125
    assert brier_score_loss(["a", "b"], vectors, labels=AB) == 0.15625
    assert brier_score_loss(["a", "b"], vectors, labels=AB, scale_by_half=False) == 0.3125


def test_an_edge_belongs_to_the_bin_above_it(tmp_path: Path) -> None:
    """0.3, 0.6 and 0.7 begin bins of their own; scikit-learn's bins have edges that are sums, and end at theirs."""
    given = [0.3, 0.35, 0.6, 0.65, 0.7, 0.75]
    numbers = evaluated(tmp_path, *((["a", "b", "c", "d"], [top, *[(1 - top) / 3] * 3], "a") for top in given))
    shown = [(one["lower"], one["n"], one["mean_confidence"]) for one in numbers["reliability"]]
    assert shown == [(0.3, 2, 0.325), (0.6, 2, 0.625), (0.7, 2, 0.725)]
    _, means = calibration_curve([1] * 6, given, n_bins=10)
    assert list(means) == pytest.approx([0.3, 0.35, 0.6, 0.675, 0.75], rel=0, abs=CLOSE)


def test_sums_that_are_no_one_are_refused(tmp_path: Path) -> None:
    """Where scikit-learn warns and scores the vectors as they are, they are refused."""
    vectors = [[0.2, 0.3], [0.35, 0.35]]
    with pytest.warns(UserWarning, match="do not sum to one"):
        assert log_loss(["a", "b"], np.array(vectors), labels=AB) == pytest.approx(1.3296300184663892, abs=1e-9)
    with pytest.raises(Refusal, match=r"0\.5"):
        evaluated(tmp_path, (AB, vectors[0], "a"), (AB, vectors[1], "b"))
