"""`evaluate` against the naive exact oracle, to the last bit, whatever holds the rows and in what order."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import evaluation_oracle
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from evaluation_strategies import FIELDS, Line, Pair, Shape, dealt, pair, pairs, plain, shares, spelled
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import evalkit
from evalkit.families.probability.evaluate import Question, evaluate_inputs
from evalkit.sources.partition import Inputs
from evalkit.sources.source import resolve

REAL = Path(__file__).parent.parent / "data-fixtures" / "real"
QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

TOP = [
    *("schema", "synthetic", "run", "bins", "predictions_sha256", "gold_sha256", "evidence", "overall", "by_family"),
    "by_model",
]


def numbers(evaluation: evalkit.Evaluation) -> str:
    """Return what is measured as JSON, in which -0.0, 0 and 0.0 differ and every float is whole."""
    report = json.loads(evaluation.to_json())
    assert list(report) == TOP
    return json.dumps({name: report[name] for name in ("bins", "overall", "by_family", "by_model")}, indent=1)


def known(both: Pair, bins: int = 10) -> str:
    """Return what the oracle says, in the same form."""
    return json.dumps(evaluation_oracle.evaluate(both.predictions, both.gold, bins), indent=1)


def written(folder: Path, both: Pair, rng: random.Random | None = None) -> tuple[str, str]:
    """Write both sides as JSON Lines, in the plainest way or in odd ones, and return their paths."""
    paths = []
    for side in ("predictions", "gold"):
        lines = getattr(both, side)
        path = folder / f"{side}.jsonl"
        path.write_bytes(plain(lines) if rng is None else spelled(rng, lines, side))
        paths.append(str(path))
    return paths[0], paths[1]


def drawn(seed: int, rows: int = 400, **shape: Any) -> Pair:
    """Make up the pair of a seed."""
    return pair(random.Random(seed), Shape(rows, **shape))


# --- the numbers


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("models", [0, 1, 3])
def test_every_number_of_many_rows_is_exact(seed: int, models: int, tmp_path: Path) -> None:
    """Thousands of rows with ties, labels only, missing rows, families and positives: all equal to the last bit."""
    rng = random.Random(f"{seed} {models}")
    both = pair(rng, Shape(1800 // (models + 1), models, odd=seed % 2 == 0, tight=seed % 3 == 0))
    bins = rng.choice([1, 3, 7, 10, 15, 100])
    assert numbers(evalkit.evaluate(*written(tmp_path, both, rng), bins=bins)) == known(both, bins)


def test_every_number_of_long_vectors_is_exact(tmp_path: Path) -> None:
    """Hundreds of options, whose squares are added from the first to the last: equal to the last bit."""
    rng = random.Random(0)
    both = Pair([], [])
    for at in range(300):
        options = [f"o{slot}" for slot in range(rng.choice([120, 128, 129, 300, 1000]))]
        both.predictions.append({"id": str(at), "option_ids": options, "probabilities": shares(rng, len(options))})
        both.gold.append({"id": str(at), "gold": rng.choice(options[:5]), "positive": rng.choice(options)})
    assert numbers(evalkit.evaluate(*written(tmp_path, both))) == known(both)


def test_the_first_of_two_zeros_is_the_answer(tmp_path: Path) -> None:
    """Minus zero and zero are the same probability, so that the first slot is the answer, and the confidence 0."""
    vectors = [[0.0, -0.0], [-0.0, 0.0], [0, -0.0]]
    lines = [{"id": str(at), "option_ids": ["a", "b"], "probabilities": one} for at, one in enumerate(vectors)]
    both = Pair(lines, [{"id": line["id"], "gold": "a"} for line in lines])
    evaluation = evalkit.evaluate(*written(tmp_path, both), sum_tolerance="1")
    assert evaluation.to_dict()["overall"]["accuracy"] == 1.0
    assert evaluation.to_dict()["overall"]["reliability"] == [
        {"lower": 0.0, "upper": 0.1, "n": 3, "mean_confidence": 0.0, "accuracy": 1.0}
    ]
    assert numbers(evaluation) == known(both)


@QUICK
@given(both=pairs(), bins=st.sampled_from([1, 2, 10, 10, 33]), seed=st.integers(0, 999))
def test_every_number_of_few_rows_is_exact(both: Pair, bins: int, seed: int, tmp_path: Path) -> None:
    """The same of small pairs, where strata without a vector, a label or a prediction are common."""
    paths = written(tmp_path, both, random.Random(seed))
    assert numbers(evalkit.evaluate(*paths, bins=bins)) == known(both, bins)


def test_every_bin_holds_its_lower_edge(tmp_path: Path) -> None:
    """A confidence of 0.3, 0.6 or 0.7 is in the bin that begins there, and 1.0 in the last."""
    lines = [
        {"id": str(at), "option_ids": ["a", "b", "c", "d"], "probabilities": [at / 10, *[(1 - at / 10) / 3] * 3]}
        for at in range(3, 11)
    ]
    both = Pair(lines, [{"id": line["id"], "gold": "a"} for line in lines])
    overall = evalkit.evaluate(*written(tmp_path, both)).to_dict()["overall"]
    assert [(one["lower"], one["upper"], one["n"]) for one in overall["reliability"]] == [
        *((0.3, 0.4, 1), (0.4, 0.5, 1), (0.5, 0.6, 1), (0.6, 0.7, 1), (0.7, 0.8, 1), (0.8, 0.9, 1), (0.9, 1.0, 2)),
    ]


def test_what_has_nothing_to_divide_by_is_null(tmp_path: Path) -> None:
    """One gold row that a model says nothing about: all means are null, lists and per-class recall are empty."""
    both = Pair([{"id": "1", "option_ids": ["a"]}], [{"id": "1", "gold": "a"}])
    report = evalkit.evaluate(*written(tmp_path, both)).to_dict()
    assert (
        report["overall"]
        == report["by_family"]["unlabelled"]
        == {
            "n_items": 1,
            "n_missing": 1,
            "n_predicted": 0,
            "n_scored": 0,
            "n_unscored": 1,
            "accuracy": None,
            "balanced_accuracy": None,
            "classes_in_gold": [],
            "per_class_recall": {},
            "nll": None,
            "brier_multiclass": None,
            "n_binary": 0,
            "brier_binary": None,
            "ece": None,
            "reliability": [],
        }
    )


def test_numbers_by_hand(tmp_path: Path) -> None:
    """Three rows, worked out by hand: one sure and wrong, one label, one gold row that nothing was said about.

    NLL is -ln(1e-12) = 27.631021115928547, kept to 15 places; Brier 1 + 1; binary Brier (1 - 0)^2, since `true` is the
    positive class without being named; ECE |0 - 1|.
    """
    both = Pair(
        [
            {"id": "1", "option_ids": ["true", "false"], "probabilities": [1, 0]},
            {"id": "2", "option_ids": ["x", "y"], "label": "x"},
        ],
        [{"id": "1", "gold": "false"}, {"id": "2", "gold": "x", "family": "f"}, {"id": "3", "gold": "z"}],
    )
    report = evalkit.evaluate(*written(tmp_path, both)).to_dict()
    assert report["overall"] == {
        "n_items": 3,
        "n_missing": 1,
        "n_predicted": 2,
        "n_scored": 1,
        "n_unscored": 2,
        "accuracy": 0.5,
        "balanced_accuracy": 0.5,
        "classes_in_gold": ["false", "x"],
        "per_class_recall": {"false": 0.0, "x": 1.0},
        "nll": 27.631021115928547,
        "brier_multiclass": 2.0,
        "n_binary": 1,
        "brier_binary": 1.0,
        "ece": 1.0,
        "reliability": [{"lower": 0.9, "upper": 1.0, "n": 1, "mean_confidence": 1.0, "accuracy": 0.0}],
    }
    assert list(report["by_family"]) == ["f", "unlabelled"]
    assert (report["by_family"]["f"]["n_items"], report["by_family"]["unlabelled"]["n_items"]) == (1, 2)


def test_two_options_are_binary_only_in_this_order(tmp_path: Path) -> None:
    """`true`, `false` has the positive class `true`; `false`, `true` has none unless gold names one."""
    both = Pair(
        [
            {"id": "1", "option_ids": ["true", "false"], "probabilities": [0.75, 0.25]},
            {"id": "2", "option_ids": ["false", "true"], "probabilities": [0.75, 0.25]},
            {"id": "3", "option_ids": ["false", "true"], "probabilities": [0.75, 0.25]},
            {"id": "4", "option_ids": ["true", "false"], "probabilities": [0.5, 0.5]},
            {"id": "5", "option_ids": ["true", "false", "c"], "probabilities": [1, 0, 0]},
        ],
        [
            {"id": "1", "gold": "true", "family": "default"},
            {"id": "2", "gold": "true", "family": "none"},
            {"id": "3", "gold": "true", "family": "named", "positive": "true"},
            {"id": "4", "gold": "true", "family": "other", "positive": "false"},
            {"id": "5", "gold": "true", "family": "three"},
        ],
    )
    parts = evalkit.evaluate(*written(tmp_path, both)).to_dict()["by_family"]
    assert {name: (one["n_binary"], one["brier_binary"]) for name, one in parts.items()} == {
        "default": (1, 0.0625),
        "named": (1, 0.5625),
        "none": (0, None),
        "other": (1, 0.25),
        "three": (0, None),
    }


def test_models_are_never_pooled(tmp_path: Path) -> None:
    """With models both totals are null, each model is held against all of gold, and strata are its own."""
    both = Pair(
        [
            {"id": "1", "option_ids": ["a", "b"], "probabilities": [0.75, 0.25], "model": "z"},
            {"id": "1", "option_ids": ["b", "a"], "probabilities": [0.5, 0.5], "model": "m"},
            {"id": "2", "option_ids": ["a", "b"], "label": "b", "model": "m"},
        ],
        [{"id": "1", "gold": "a"}, {"id": "2", "gold": "b", "family": "f"}],
    )
    report = evalkit.evaluate(*written(tmp_path, both)).to_dict()
    assert (report["overall"], report["by_family"]) == (None, None)
    found = {model: (one["overall"], one["by_family"]) for model, one in report["by_model"].items()}
    assert [list(one) for one in report["by_model"].values()] == [["overall", "by_family"]] * 2
    assert list(found) == ["m", "z"]
    assert [(one["n_items"], one["n_missing"], one["accuracy"]) for one, _ in found.values()] == [
        (2, 0, 0.5),
        (2, 1, 1.0),
    ]
    assert found["z"][1]["f"]["n_missing"] == 1
    assert found["m"][1]["f"]["per_class_recall"] == {"b": 1.0}


# --- whatever holds the rows


def without_evidence(evaluation: evalkit.Evaluation) -> str:
    """Return the bytes of a report but for what names and digests its files."""
    report = json.loads(evaluation.to_json())
    return json.dumps({name: one for name, one in report.items() if name not in {"evidence", *DIGESTS}}, indent=1)


DIGESTS = ("predictions_sha256", "gold_sha256")


@pytest.mark.parametrize("models", [0, 2])
def test_neither_order_nor_files_nor_packing_show(models: int, tmp_path: Path) -> None:
    """Shuffled, dealt out to files of either side, packed: the same bytes but for the evidence."""
    rng = random.Random(models)
    both = drawn(100 + models, models=models)
    first = without_evidence(evalkit.evaluate(*written(tmp_path, both)))
    assert json.loads(first)["bins"] == 10
    for round_ in range(4):
        folder = tmp_path / str(round_)
        folder.mkdir()
        sides: list[list[str]] = []
        for side in ("predictions", "gold"):
            sides.append([])
            for at, lines in enumerate(dealt(rng, getattr(both, side), rng.choice([1, 2, 5]))):
                data = spelled(rng, lines, side)
                pack, ending = rng.choice(PACKINGS)
                path = folder / f"{side}-{at}.jsonl{ending}"
                path.write_bytes(pack(data))
                sides[-1].append(str(path))
        evaluation = evalkit.evaluate(*sides)
        assert without_evidence(evaluation) == first
        assert [(one["side"], one["name"]) for one in evaluation.to_dict()["evidence"]] == [
            (side, name) for side, names in zip(("predictions", "gold"), sides, strict=True) for name in names
        ]


PACKINGS: list[tuple[Callable[[bytes], bytes], str]] = [
    (bytes, ""),
    (gzip.compress, ".gz"),
    (lambda data: pa.compress(data, "zstd", asbytes=True), ".zst"),
]


@pytest.mark.parametrize("seed", range(3))
def test_neither_partitions_nor_workers_show(seed: int, tmp_path: Path) -> None:
    """However small the pieces that either side is cut into, and whoever reads them: the same bytes."""
    rng = random.Random(seed)
    paths = written(tmp_path, drawn(seed, models=seed), rng)
    whole = evalkit.evaluate(*paths).to_json()
    for size, workers in ((3000, 1), (9000, 3)):
        with Inputs(resolve([paths[0]]), size) as predictions, Inputs(resolve([paths[1]]), size) as gold:
            assert len(list(predictions.partitions())) > 3
            assert len(list(gold.partitions())) > 1
        with Inputs(resolve([paths[0]]), size) as predictions, Inputs(resolve([paths[1]]), size) as gold:
            assert evaluate_inputs(predictions, gold, Question(), workers=workers).to_json() == whole


def test_patterns_and_evidence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pattern is taken in sorted order; the digest of a side of several files is null, of one that of its bytes."""
    monkeypatch.chdir(tmp_path)
    both = Pair(
        [{"id": str(at), "option_ids": ["a"], "probabilities": [1]} for at in range(3)],
        [{"id": str(at), "gold": "a"} for at in range(3)],
    )
    Path("p2.jsonl").write_bytes(plain(both.predictions[:1]))
    Path("p1.jsonl").write_bytes(plain(both.predictions[1:]))
    Path("g.jsonl").write_bytes(b'{"id":"0","gold":"a"}\n{"id":"1","gold":"a"}\n{"id":"2","gold":"a"}\n')
    report = evalkit.evaluate("p*.jsonl", "g.jsonl").to_dict()
    assert [(one["side"], one["name"], one["records"]) for one in report["evidence"]] == [
        ("predictions", "p1.jsonl", 2),
        ("predictions", "p2.jsonl", 1),
        ("gold", "g.jsonl", 3),
    ]
    gold = report["evidence"][2]
    assert report["predictions_sha256"] is None
    assert report["gold_sha256"] == gold["sha256"] == GOLD_DIGEST
    assert gold["bytes"] == 66
    assert all(list(one) == ["side", "name", "bytes", "sha256", "records"] for one in report["evidence"])


GOLD_DIGEST = "6cc6ec7e2e8036f567770c37a0a138f16ba9441b39f00ced829538cadd34d902"
"""What `sha256sum` says of the three lines of gold."""


def columns(lines: Sequence[Line], side: str) -> dict[str, list[Any]]:
    """Turn lines into columns; a field that no line has is no column."""
    names = [name for name in FIELDS[side] if any(line.get(name) is not None for line in lines)]
    return {name: [line.get(name) for line in lines] for name in names}


TYPES = {"option_ids": pa.list_(pa.string()), "probabilities": pa.list_(pa.float64())}


def table(lines: Sequence[Line], side: str, types: dict[str, pa.DataType] | None = None) -> pa.Table:
    """Make an Arrow table, lists as the types say."""
    known_types = {**TYPES, **(types or {})}
    given = columns(lines, side)
    schema = pa.schema([(name, known_types.get(name, pa.string())) for name in given])
    return pa.table(given, schema=schema)


def large(lines: Sequence[Line], side: str) -> pa.Table:
    """Make a table of large lists of large strings."""
    return table(
        lines,
        side,
        {"option_ids": pa.large_list(pa.large_string()), "probabilities": pa.large_list(pa.float64())},
    )


def fixed(lines: Sequence[Line], side: str) -> pa.Table:
    """Make a table of lists of one size."""
    size = len(lines[0].get("option_ids", ()))
    return table(
        lines, side, {"option_ids": pa.list_(pa.string(), size), "probabilities": pa.list_(pa.float64(), size)}
    )


def frame(lines: Sequence[Line], side: str) -> pl.DataFrame:
    """Make a Polars frame."""
    types = {"option_ids": pl.List(pl.String), "probabilities": pl.List(pl.Float64)}
    given = columns(lines, side)
    return pl.DataFrame(given, schema={name: types.get(name, pl.String) for name in given})


def arrays(lines: Sequence[Line], side: str) -> pl.DataFrame:
    """Make a Polars frame of arrays."""
    size = len(lines[0].get("option_ids", ()))
    made = frame(lines, side)
    types = {"option_ids": pl.Array(pl.String, size), "probabilities": pl.Array(pl.Float64, size)}
    return made.cast({name: types[name] for name in made.columns if name in types})


def categories(lines: Sequence[Line], side: str) -> pl.DataFrame:
    """Make a Polars frame whose texts are categories."""
    types = {"option_ids": pl.List(pl.Categorical), "probabilities": pl.List(pl.Float64)}
    made = frame(lines, side)
    return made.cast({name: types.get(name, pl.Categorical) for name in made.columns})


def dictionaries(lines: Sequence[Line], side: str) -> pa.Table:
    """Make an Arrow table whose texts are encoded by dictionaries."""
    texts = pa.dictionary(pa.int32(), pa.string())
    types = dict.fromkeys(FIELDS[side], texts)
    return table(lines, side, {**types, "option_ids": pa.list_(texts), "probabilities": pa.list_(pa.float64())})


def cells(lines: Sequence[Line], side: str) -> bytes:
    """Write CSV, lists as JSON text in their cells, null as an empty one."""
    given = columns(lines, side)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(given)
    for row in zip(*given.values(), strict=True):
        writer.writerow(["" if one is None else json.dumps(one) if isinstance(one, list) else one for one in row])
    return text.getvalue().encode()


def pandas_frame(lines: Sequence[Line], side: str) -> pd.DataFrame:
    """Make a pandas frame, lists as objects."""
    return pd.DataFrame(columns(lines, side))


def stored(
    ending: str, write: Callable[[Sequence[Line], str, Path], Any]
) -> Callable[[Sequence[Line], str, Path], str]:
    """Make a writer of a file, which returns its path."""

    def writer(lines: Sequence[Line], side: str, folder: Path) -> str:
        path = folder / f"{side}.{ending}"
        write(lines, side, path)
        return str(path)

    return writer


def ipc(made: pa.Table, path: Path) -> None:
    """Write an Arrow file."""
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, made.schema) as writer:
        writer.write_table(made, max_chunksize=97)


HOLDERS: dict[str, Callable[[Sequence[Line], str, Path], Any]] = {
    "Parquet by Polars": stored("parquet", lambda rows, side, path: frame(rows, side).write_parquet(path)),
    "Parquet by pyarrow": stored("parquet", lambda rows, side, path: pq.write_table(table(rows, side), path)),
    "Parquet, row groups": stored(
        "parquet", lambda rows, side, path: pq.write_table(table(rows, side), path, row_group_size=61)
    ),
    "Parquet, large lists": stored("parquet", lambda rows, side, path: pq.write_table(large(rows, side), path)),
    "Arrow by Polars": stored("arrow", lambda rows, side, path: frame(rows, side).write_ipc(path)),
    "Arrow by pyarrow": stored("arrow", lambda rows, side, path: ipc(table(rows, side), path)),
    "Arrow, large lists": stored("arrow", lambda rows, side, path: ipc(large(rows, side), path)),
    "CSV": stored("csv", lambda rows, side, path: path.write_bytes(cells(rows, side))),
    "CSV, gzip": stored("csv.gz", lambda rows, side, path: path.write_bytes(gzip.compress(cells(rows, side)))),
    "Polars, categories": lambda rows, side, _: categories(rows, side),
    "pyarrow, dictionaries": lambda rows, side, _: dictionaries(rows, side),
    "pyarrow, views": lambda rows, side, _: table(
        rows, side, {"id": pa.string_view(), "gold": pa.string_view(), "option_ids": pa.list_(pa.string_view())}
    ),
    "pyarrow, a slice": lambda rows, side, _: pa.concat_tables([table(rows, side)] * 2).slice(len(rows)),
    "Polars": lambda rows, side, _: frame(rows, side),
    "pandas": lambda rows, side, _: pandas_frame(rows, side),
    "pyarrow": lambda rows, side, _: table(rows, side),
}
ONE_SIZE: dict[str, Callable[[Sequence[Line], str, Path], Any]] = {
    "Parquet, fixed size": stored("parquet", lambda rows, side, path: pq.write_table(fixed(rows, side), path)),
    "Parquet, arrays": stored("parquet", lambda rows, side, path: arrays(rows, side).write_parquet(path)),
    "Arrow, fixed size": stored("arrow", lambda rows, side, path: ipc(fixed(rows, side), path)),
    "Polars, arrays": lambda rows, side, _: arrays(rows, side),
    "pyarrow, fixed size": lambda rows, side, _: fixed(rows, side),
}


@pytest.mark.parametrize("models", [0, 2])
@pytest.mark.parametrize("holder", HOLDERS)
def test_formats_do_not_show(holder: str, models: int, tmp_path: Path) -> None:
    """Whatever holds the rows, with vectors of many lengths and nulls, the numbers are the oracle's."""
    both = drawn(7 + models, 300, models=models)
    sides = [HOLDERS[holder](getattr(both, side), side, tmp_path) for side in ("predictions", "gold")]
    assert numbers(evalkit.evaluate(*sides)) == known(both)


@pytest.mark.parametrize("holder", ONE_SIZE)
def test_lists_of_one_size_do_not_show(holder: str, tmp_path: Path) -> None:
    """Where all vectors have one length, columns of that length give the same numbers."""
    both = drawn(8, 300, whole=True)
    sides = [ONE_SIZE[holder](getattr(both, side), side, tmp_path) for side in ("predictions", "gold")]
    assert numbers(evalkit.evaluate(*sides)) == known(both)


def test_sides_may_differ_in_format(tmp_path: Path) -> None:
    """Predictions in Parquet and gold in CSV, a frame and a file: each side is read for itself."""
    both = drawn(9, 200)
    parquet = HOLDERS["Parquet by Polars"](both.predictions, "predictions", tmp_path)
    sheet = HOLDERS["CSV"](both.gold, "gold", tmp_path)
    mixed = evalkit.evaluate(frame(both.predictions, "predictions"), sheet)
    assert numbers(evalkit.evaluate(parquet, sheet)) == numbers(mixed) == known(both)
    assert mixed.to_dict()["predictions_sha256"] is None
    assert mixed.to_dict()["gold_sha256"] is not None


# --- real predictions


def agrees(found: Any, expected: Any) -> bool:
    """Tell whether whole numbers and names are equal, and floats to 1e-12; only what is expected is looked at."""
    if isinstance(expected, dict):
        return all(agrees(found[name], one) for name, one in expected.items())
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(agrees, found, expected))
    if isinstance(expected, float):
        return isinstance(found, float) and abs(found - expected) <= 1e-12
    return type(found) is type(expected) and bool(found == expected)


def test_real_predictions() -> None:
    """The numbers of real classifiers are those that were computed apart from evalkit, and the oracle's to the bit."""
    expected = json.loads((REAL / "expected.json").read_bytes())["predictions.jsonl + gold.jsonl, 10 bins"]
    evaluation = evalkit.evaluate(REAL / "predictions.jsonl", REAL / "gold.jsonl")
    report = evaluation.to_dict()
    lines = [
        [json.loads(line) for line in (REAL / f"{side}.jsonl").read_bytes().splitlines()]
        for side in ("predictions", "gold")
    ]
    assert list(report["by_family"]) == ["ink-heavy", "ink-light", "ink-medium", "tumour", "unlabelled"]
    assert agrees(report, expected)
    assert numbers(evaluation) == known(Pair(*lines))
