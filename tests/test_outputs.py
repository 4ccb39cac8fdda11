"""What a run writes, where it refuses to, and that the tables are what their readers expect."""

from __future__ import annotations

import json
import math
import os
import shutil
import stat
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import (
    BLOCKED,
    GO,
    LINUX,
    RESULT_FILES,
    TABLES,
    compare,
    dump,
    environment,
    judged,
    record,
)

REFUSED = "evalkit: refused: 1 violation; nothing was scored, nothing was written\n"

WITHOUT_PRIVILEGE = "import ctypes; [ctypes.CDLL(None).prctl(24, capability, 0, 0, 0) for capability in (1, 2)]"
"""Drops what lets root read and write everything, so that folders can be closed to it as to anybody else."""

Tree = dict[str, tuple[Any, ...]]


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Make a folder with a dump."""
    dump(tmp_path / "go.jsonl", GO)
    return tmp_path


def tree(folder: Path) -> Tree:
    """Tell all that is in a folder: names, kinds, content, times of change, what links name."""
    found: Tree = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        kind = stat.S_IFMT(status.st_mode)
        regular = kind == stat.S_IFREG and os.access(path, os.R_OK)
        content = path.read_bytes() if regular else os.readlink(path) if path.is_symlink() else None
        changed = status.st_mtime_ns if kind != stat.S_IFDIR else None  # a probe may touch the folder itself
        found[str(path.relative_to(folder))] = (kind, status.st_ino, changed, content)
    return found


# the report


def test_missing_parents_of_the_report_are_made(here: Path) -> None:
    """``--json``: missing parent folders are made, the file is the report, nothing else is left there."""
    run = compare("go.jsonl", "--json", "new/deep/r.json", cwd=here)
    assert (run.code, run.lines[-1]) == (0, "report: new/deep/r.json")
    assert [str(path.relative_to(here)) for path in sorted((here / "new").rglob("*"))] == [
        "new/deep",
        "new/deep/r.json",
    ]
    report = json.loads((here / "new/deep/r.json").read_bytes())
    assert list(report) == [
        *("schema", "synthetic", "run", "verdict", "recommended", "minCoverage", "limits", "bins", "policy"),
        *("evidence", "candidates"),
    ]
    assert (report["schema"], report["verdict"], report["recommended"]) == ("evalkit-selective-v1", "GO", "alpha")


def test_an_older_report_is_replaced_by_a_rename(here: Path) -> None:
    """Who has the older report open or linked keeps it whole: the new one comes in its place, not into it."""
    (here / "r.json").write_text("older")
    os.link(here / "r.json", here / "kept.json")
    assert compare("go.jsonl", "--json", "r.json", "-q", cwd=here).code == 0
    assert json.loads((here / "r.json").read_bytes())["verdict"] == "GO"
    assert (here / "kept.json").read_text() == "older"
    assert sorted(os.listdir(here)) == ["go.jsonl", "kept.json", "r.json"]


@pytest.mark.parametrize("older", [True, False], ids=["to an older report", "to nothing yet"])
def test_a_link_stays_a_link(here: Path, older: bool) -> None:
    """Where ``--json`` names a link, the file behind it is written and the link stays."""
    (here / "real").mkdir()
    if older:
        (here / "real/r.json").write_text("older")
    (here / "link.json").symlink_to("real/r.json")
    assert compare("go.jsonl", "--json", "link.json", "-q", cwd=here).code == 0
    assert os.readlink(here / "link.json") == "real/r.json"
    assert json.loads((here / "real/r.json").read_bytes())["verdict"] == "GO"
    assert os.listdir(here / "real") == ["r.json"]


def test_permissions_follow_the_umask(here: Path) -> None:
    """Files and folders get what the umask leaves, an older report's own permissions notwithstanding."""
    (here / "r.json").touch(mode=0o600)
    run = compare("go.jsonl", "--json", "r.json", "--out", "new/out", "-q", cwd=here, umask=0o027)
    assert run.code == 0
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [here / "r.json", *(here / "new").rglob("*")]}
    assert modes == {"r.json": 0o640, "out": 0o750, **dict.fromkeys(RESULT_FILES, 0o640)}
    assert stat.S_IMODE((here / "new").stat().st_mode) == 0o750


def test_the_run_record_is_in_the_report(here: Path) -> None:
    """``--run-record``: the object is in the report as it is; ``--synthetic`` is said."""
    (here / "run.json").write_text('{"id": "r-1", "commit": null, "versions": {"python": "3.11"}, "seed": 7}')
    run = compare("go.jsonl", "--json", "-", "--run-record", "run.json", "--synthetic", cwd=here)
    report = json.loads(run.stdout)
    assert report["run"] == {"id": "r-1", "commit": None, "versions": {"python": "3.11"}, "seed": 7}
    assert report["synthetic"] is True
    (here / "run.json").write_text("[1]")
    refused = compare("go.jsonl", "--json", "r.json", "--run-record", "run.json", cwd=here)
    assert refused.code == 2
    assert "run.json: must be one JSON object; found an array of 1 [json]" in refused.err
    assert not (here / "r.json").exists()


# refusals

SECOND = (
    '{"model":"m","subjectKey":"e600000000000000","split":"train","truth":{"bristolType":4},'
    '"prediction":{"bristolType":4,"confidence":0.97}}'
)


@pytest.mark.parametrize(
    ("lines", "rule"),
    [([*GO, "{}"], "missing-field"), ([*GO, SECOND], "leak"), ([], "no-records")],
    ids=["malformed", "leak", "nothing"],
)
def test_a_refusal_writes_nothing_and_touches_nothing(here: Path, lines: list[str], rule: str) -> None:
    """On exit 2 no file and no folder is made, and an older output keeps its bytes and its time."""
    dump(here / "bad.jsonl", lines)
    assert compare("go.jsonl", "--json", "old.json", "--out", "old", "-q", cwd=here).code == 0
    before = tree(here)
    for targets in (["--json", "old.json", "--out", "old"], ["--json", "new/r.json", "--out", "also/new/out"]):
        run = compare("bad.jsonl", *targets, cwd=here)
        assert (run.code, run.out) == (2, "")
        assert f"[{rule}]" in run.err
        assert tree(here) == before


CLASH = "clashes with the results folder {}; name a file outside it [output-unusable]"
NO_FOLDER = "is not a folder; name one that does not exist, or earlier results"
UNUSABLE = [
    (["--json", "folder"], "folder: is a directory; name a file [output-unwritable]"),
    (["--json", "."], ".: is a directory; name a file [output-unwritable]"),
    (["--json", "go.jsonl"], "go.jsonl: is the input go.jsonl; name another file [output-unusable]"),
    (["--json", "./folder/../go.jsonl"], "folder/../go.jsonl: is the input go.jsonl; name another file "),
    (["--json", "soft.jsonl"], "soft.jsonl: is the input go.jsonl; name another file [output-unusable]"),
    (["--json", "hard.jsonl"], "hard.jsonl: is the input go.jsonl; name another file [output-unusable]"),
    (["--json", "file/r.json"], "file/r.json: cannot be written: file: Not a directory [output-unwritable]"),
    (["--json", "/proc/evalkit/r.json"], "/proc/evalkit/r.json: cannot be written: /proc: No such file or directory "),
    (["--json", "locked/r.json"], "locked/r.json: cannot be written: locked: Permission denied [output-unwritable]"),
    (["--json", "locked/a/b/r.json"], "locked/a/b/r.json: cannot be written: locked: Permission denied "),
    (["--out", "locked/out"], "locked/out: cannot be written: locked: Permission denied [output-unwritable]"),
    (["--out", "file"], f"file: {NO_FOLDER} [output-unwritable]"),
    (["--out", "file/out"], "file/out: cannot be written: file: Not a directory [output-unwritable]"),
    (["--out", "softfolder"], f"softfolder: {NO_FOLDER} [output-unwritable]"),
    (["--out", "folder"], "folder: holds .hidden, which is no part of earlier results; name another folder "),
    (["--out", "holding"], "holding: holds the input holding/report.json; name another folder [output-unusable]"),
    (["--out", "new", "--json", "new/r.json"], "new/r.json: " + CLASH.format("new")),
    (["--out", "new", "--json", "new"], "new: " + CLASH.format("new")),
    (["--out", "new/out", "--json", "new"], "new: " + CLASH.format("new/out")),
]


@pytest.mark.skipif(not LINUX, reason="closes folders to root the way Linux does")
@pytest.mark.parametrize(("targets", "said"), UNUSABLE, ids=[" ".join(targets) for targets, _ in UNUSABLE])
def test_targets_that_cannot_be_are_refused_before_anything_is_read(here: Path, targets: list[str], said: str) -> None:
    """What cannot be written, or would destroy an input or another output, is exit 2, and found out first.

    One of the inputs is a pipe that nobody writes to: who opened it would wait for ever.
    """
    _furnish(here)
    os.mkfifo(here / "never.fifo")
    before = tree(here)
    inputs = ["holding/report.json" if "holding" in targets else "go.jsonl", "never.fifo"]
    run = compare(*inputs, *targets, cwd=here, before=WITHOUT_PRIVILEGE)
    assert (run.code, run.out) == (2, "")
    assert run.err.startswith(f"{REFUSED}  {said}")
    assert run.err.count("\n") == 2
    assert tree(here) == before


def _furnish(here: Path) -> None:
    """Put things into the way of outputs."""
    (here / "folder").mkdir()
    (here / "folder/.hidden").touch()
    (here / "file").write_text("a file")
    (here / "soft.jsonl").symlink_to("go.jsonl")
    os.link(here / "go.jsonl", here / "hard.jsonl")
    (here / "locked").mkdir()
    (here / "locked").chmod(0o555)
    (here / "closed").mkdir()
    (here / "closed").chmod(0)
    (here / "empty").mkdir()
    (here / "softfolder").symlink_to("empty")
    (here / "loop").symlink_to("loop")
    (here / "nowhere.json").symlink_to("/proc/evalkit/r.json")
    (here / "holding").mkdir()
    dump(here / "holding/report.json", GO)


LONG = "n" * 300
LATE = [
    pytest.param(["--json", "closed/r.json"], "", id="a report in a closed folder"),
    pytest.param(["--out", "closed/out"], "", id="results in a closed folder"),
    pytest.param(["--out", "closed"], "", id="results as a closed folder"),
    pytest.param(["--json", LONG], "", id="a name too long for any file"),
    pytest.param(["--out", LONG], "", id="a name too long for any folder"),
    pytest.param(["--out", "."], "empty", id="the folder where one is"),
    pytest.param(["--json", "loop"], "", id="a link to itself"),
    pytest.param(["--json", "nowhere.json"], "", id="a link to where nothing can be"),
]


@pytest.mark.skipif(not LINUX, reason="closes folders to root the way Linux does")
@pytest.mark.parametrize(("targets", "folder"), LATE)
def test_targets_that_cannot_be_are_the_callers_mistake(here: Path, targets: list[str], folder: str) -> None:
    """Any target that cannot be written is exit 2."""
    _furnish(here)
    before = tree(here)
    run = compare(here / "go.jsonl", *targets, "-q", cwd=here / folder, before=WITHOUT_PRIVILEGE)
    assert run.code == 2
    assert run.err.startswith(REFUSED)
    assert tree(here) == before


@pytest.mark.parametrize("option", ["--json", "--out"])
def test_a_name_as_long_as_names_may_be_is_written(here: Path, option: str) -> None:
    """A file system that takes 255 bytes takes such an output."""
    assert compare("go.jsonl", option, "n" * 255, "-q", cwd=here).code == 0


def test_a_file_on_standard_input_is_an_input(here: Path) -> None:
    """``evalkit compare - --json go.jsonl < go.jsonl`` is refused and leaves the dump alone."""
    before = tree(here)
    with (here / "go.jsonl").open("rb") as file:
        run = compare("-", "--json", "go.jsonl", cwd=here, stdin=file.fileno())
    assert (run.code, tree(here)) == (2, before)


def test_the_run_record_is_an_input(here: Path) -> None:
    """A report may not take the place of the run record."""
    (here / "run.json").write_text("{}")
    run = compare("go.jsonl", "--run-record", "run.json", "--json", "run.json", cwd=here)
    assert (run.code, (here / "run.json").read_text()) == (2, "{}")


def test_a_pipe_or_device_is_not_replaced(here: Path) -> None:
    """``--json`` to what is no regular file either writes into it or is refused; the thing itself stays."""
    os.mkfifo(here / "pipe")
    # Read by a process that ends whatever happens, should the report be written into the pipe.
    line = [sys.executable, "-c", "import os, time; os.open('pipe', os.O_RDWR); print(flush=True); time.sleep(60)"]
    with subprocess.Popen(line, cwd=here, stdout=subprocess.PIPE, env=environment()) as reader:
        try:
            assert reader.stdout is not None
            reader.stdout.readline()
            run = compare("go.jsonl", "--json", "pipe", "-q", cwd=here)
        finally:
            reader.kill()
    assert run.code in (0, 2)
    assert stat.S_ISFIFO((here / "pipe").stat().st_mode)


# the results folder


def test_a_results_folder_is_whole(here: Path) -> None:
    """``--out``: report and all tables in a new folder, missing parents made, the report the same as ``--json``."""
    run = compare("go.jsonl", "--json", "r.json", "--out", "new/out", cwd=here)
    assert (run.code, run.lines[-2:]) == (0, ["report: r.json", "tables: new/out"])
    assert sorted(os.listdir(here / "new/out")) == RESULT_FILES
    assert os.listdir(here / "new") == ["out"]
    assert (here / "new/out/report.json").read_bytes() == (here / "r.json").read_bytes()


def test_earlier_results_are_replaced_whole(here: Path) -> None:
    """Earlier results, also incomplete ones or an empty folder, give place to the new ones, of which none is older."""
    (here / "out").mkdir()
    dump(here / "blocked.jsonl", BLOCKED)
    for name, model in (("blocked.jsonl", "beta"), ("go.jsonl", "alpha")):
        assert compare(name, "--out", "out", "-q", cwd=here).code in (0, 3)
        assert sorted(os.listdir(here / "out")) == RESULT_FILES
        assert {pq.read_table(here / f"out/{table}.parquet")["model"][0].as_py() for table in TABLES} == {model}
        (here / "out/curve.parquet").unlink()
    assert sorted(os.listdir(here)) == ["blocked.jsonl", "go.jsonl", "out"]


def test_the_report_may_be_named_where_the_results_folder_has_it(here: Path) -> None:
    """``--json out/report.json --out out`` asks for the same file twice, and gets it once, whole."""
    for _ in range(2):
        assert compare("go.jsonl", "--json", "out/report.json", "--out", "out", "-q", cwd=here).code == 0
        assert sorted(os.listdir(here / "out")) == RESULT_FILES
    assert json.loads((here / "out/report.json").read_bytes())["verdict"] == "GO"


def test_what_a_kill_left_in_the_results_folder_is_no_foreign_file(here: Path) -> None:
    """A run with ``--json out/report.json`` that was killed leaves a hidden temporary; later runs go on."""
    assert compare("go.jsonl", "--out", "out", "-q", cwd=here).code == 0
    (here / "out/.evalkit-abcd1234.tmp").touch()  # the name that write_file gives it
    assert compare("go.jsonl", "--out", "out", "-q", cwd=here).code == 0


def test_the_same_input_gives_the_same_bytes(here: Path) -> None:
    """Report and tables are the same bytes every time, whatever the number of threads."""
    generator = Path(__file__).parent / "benchmarks" / "dump.py"
    subprocess.run([sys.executable, generator, here / "many.jsonl", "20000"], check=True)
    outcomes = []
    for threads in ("1", "2", "4"):
        env = environment(POLARS_MAX_THREADS=threads)
        assert compare("many.jsonl", "go.jsonl", "--out", "out", "-q", cwd=here, env=env).code == 0
        outcomes.append({name: (here / "out" / name).read_bytes() for name in RESULT_FILES})
        shutil.rmtree(here / "out")
    assert outcomes[0] == outcomes[1] == outcomes[2]


# the tables

MEASURED = [
    *(record("m", "validation", n, 4, predicted, 0.75) for n, predicted in enumerate([4, 4, 5, None])),
    record("m", "test", 0, 4, 4, 0.75),
    record("m", "test", 1, 4, 5, 0.96875),
    record("m", "test", 2, 5, 5, 0.75),
    record("m", "test", 3, 5, 4, 0.5),
    record("m", "test", 4, 6, None),
]
"""Every number below can be worked out by hand: 3 of 5 accepted at 0.75, 2 of them right."""

CUT = 0.75
M = {"model": "m", "split": "test", "stratum_field": None, "stratum": None}

EXPECTED: dict[str, list[dict[str, Any]]] = {
    "candidates": [
        {
            **M,
            "passed": False,
            "recommended": False,
            "reason": None,
            "threshold": CUT,
            "validation_total": 4,
            "validation_accepted": 3,
            "validation_coverage": 0.75,
            "validation_precision_at_coverage": 2 / 3,
            "total": 5,
            "accepted": 3,
            "no_suggestion": 1,
            "low_quality": None,
            "low_confidence": 1,
            "coverage": 0.6,
            "precision_at_coverage": 2 / 3,
            "macro_f1": 2 / 3,
            "ece": 1.46875 / 3,  # (|2 − 2 · 0.75| + |0 − 0.96875|) / 3
            "excluded_classes": ["6"],
        }
    ],
    "per_class": [
        {**M, "label": "4", "support": 2, "predicted": 1, "precision": 1.0, "recall": 0.5, "f1": 2 / 3},
        {**M, "label": "5", "support": 1, "predicted": 2, "precision": 0.5, "recall": 1.0, "f1": 2 / 3},
    ],
    "confusion": [
        {**M, "truth": "4", "predicted": "4", "count": 1},
        {**M, "truth": "4", "predicted": "5", "count": 1},
        {**M, "truth": "5", "predicted": "5", "count": 1},
    ],
    "bins": [
        {**M, "bin": 7, "lower": 0.7, "upper": 0.8, "count": 2, "mean_confidence": 0.75, "accuracy": 1.0},
        {**M, "bin": 9, "lower": 0.9, "upper": 1.0, "count": 1, "mean_confidence": 0.96875, "accuracy": 0.0},
    ],
    "curve": [
        {
            **M,
            "split": "validation",
            "cut": CUT,
            "accepted": 3,
            "correct": 2,
            "total": 4,
            "coverage": 0.75,
            "precision": 2 / 3,
        }
    ],
}

MEASUREMENT_TYPES = {
    **dict.fromkeys(["report", "model", "split", "stratum_field", "stratum", "label"], "text"),
    "bin": "int16",
    "name": "text",
    "value": "double",
    "reason": "text",
    "numerator": "decimal128(38, 15)",
    "denominator": "decimal128(38, 15)",
    "sample_size": "int64",
    "direction": "text",
    "limit": "double",
    "passed": "bool",
    **dict.fromkeys(["low", "high", "level"], "double"),
    "method": "text",
}

DUCKDB_TYPES = {
    "text": "VARCHAR",
    "bool": "BOOLEAN",
    "int64": "BIGINT",
    "int16": "SMALLINT",
    "double": "DOUBLE",
    "decimal128(38, 15)": "DECIMAL(38,15)",
    "large_list<element: large_string>": "VARCHAR[]",
}

# split, label, bin, name, numerator, denominator, sample size, direction
MEASUREMENTS = [
    ("test", None, None, "accepted", 3, 1, 5, "none"),
    ("test", None, None, "coverage", 3, 5, 5, "higher"),
    ("test", None, None, "ece", None, None, 3, "lower"),
    ("test", None, None, "low-confidence", 1, 1, 5, "none"),
    ("test", None, None, "macroF1", None, None, 3, "higher"),
    ("test", None, None, "no-suggestion", 1, 1, 5, "none"),
    ("test", None, None, "precisionAtCoverage", 2, 3, 3, "higher"),
    ("test", None, None, "total", 5, 1, 5, "none"),
    ("test", None, 7, "accuracy", 2, 2, 2, "none"),
    ("test", None, 7, "count", 2, 1, 3, "none"),
    ("test", None, 7, "meanConfidence", "1.5", 2, 2, "none"),
    ("test", None, 9, "accuracy", 0, 1, 1, "none"),
    ("test", None, 9, "count", 1, 1, 3, "none"),
    ("test", None, 9, "meanConfidence", "0.96875", 1, 1, "none"),
    ("test", "4", None, "f1", 2, 3, 3, "higher"),
    ("test", "4", None, "precision", 1, 1, 1, "higher"),
    ("test", "4", None, "predicted", 1, 1, 3, "none"),
    ("test", "4", None, "recall", 1, 2, 2, "higher"),
    ("test", "4", None, "support", 2, 1, 3, "none"),
    ("test", "5", None, "f1", 2, 3, 3, "higher"),
    ("test", "5", None, "precision", 1, 2, 2, "higher"),
    ("test", "5", None, "predicted", 2, 1, 3, "none"),
    ("test", "5", None, "recall", 1, 1, 1, "higher"),
    ("test", "5", None, "support", 1, 1, 3, "none"),
    ("validation", None, None, "accepted", 3, 1, 4, "none"),
    ("validation", None, None, "coverage", 3, 4, 4, "higher"),
    ("validation", None, None, "precisionAtCoverage", 2, 3, 3, "higher"),
    ("validation", None, None, "threshold", None, None, 4, "none"),
    ("validation", None, None, "total", 4, 1, 4, "none"),
]
NOT_RATIOS = {"ece": 1.46875 / 3, "macroF1": 2 / 3, "threshold": CUT}
GATES = {"ece": 0.05, "macroF1": 0.8, "precisionAtCoverage": 0.9}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the results of a small dump once."""
    here = tmp_path_factory.mktemp("results")
    dump(here / "m.jsonl", MEASURED)
    assert compare("m.jsonl", "--out", "out", "--synthetic", "-q", cwd=here).code == 3
    return here / "out"


@pytest.mark.parametrize("name", list(EXPECTED))
def test_the_tables_hold_literally_this(results: Path, name: str) -> None:
    """Tidy tables, snake_case columns in this order, one row a thing."""
    assert pq.read_table(results / f"{name}.parquet").to_pylist() == EXPECTED[name]


def test_the_measurements_hold_literally_this(results: Path) -> None:
    """One row a number, sorted by the key columns, numerator and denominator exact where the value is one ratio."""
    rows = pq.read_table(results / "measurements.parquet").to_pylist()
    expected = []
    for split, label, number, name, numerator, denominator, size, direction in MEASUREMENTS:
        ratio = None if numerator is None else Decimal(numerator) / Decimal(denominator or 1)
        gated = name in GATES and split == "test"
        expected.append(
            {
                "report": "selective",
                **M,
                "split": split,
                "label": label,
                "bin": number,
                "name": name,
                "value": NOT_RATIOS[name] if ratio is None else float(ratio),
                "reason": None,
                "numerator": None if numerator is None else Decimal(numerator),
                "denominator": None if denominator is None else Decimal(denominator),
                "sample_size": size,
                "direction": direction,
                "limit": GATES[name] if gated else None,
                "passed": False if gated else None,
                **dict.fromkeys(["low", "high", "level", "method"]),
            }
        )
    assert rows == expected


def test_the_measurements_have_exactly_these_columns_and_types(results: Path) -> None:
    """The columns and types of the one currency, no dictionaries among them."""
    assert _types(pq.read_schema(results / "measurements.parquet")) == MEASUREMENT_TYPES


def _types(schema: pa.Schema) -> dict[str, str]:
    return {field.name: "text" if field.type == pa.large_string() else str(field.type) for field in schema}


def test_the_tables_have_plain_types(results: Path) -> None:
    """Text is text, counts are 64-bit integers, shares are 64-bit floats; nothing is a dictionary."""
    kinds = {
        str: "text",
        bool: "bool",
        int: "int64",
        float: "double",
        list: "large_list<element: large_string>",
    }
    for name, rows in EXPECTED.items():
        expected = {column: kinds.get(type(value), "text") for column, value in rows[0].items()}
        if name == "bins":
            expected["bin"] = "int16"
        if name == "candidates":
            expected["low_quality"] = "int64"
        assert _types(pq.read_schema(results / f"{name}.parquet")) == expected


@pytest.mark.parametrize("name", TABLES)
def test_three_readers_read_the_same(results: Path, name: str) -> None:
    """PyArrow, DuckDB and pandas read equal columns, types and values."""
    path = str(results / f"{name}.parquet")
    table = pq.read_table(path)
    rows = table.to_pylist()
    with duckdb.connect() as connection:
        found = connection.sql(f"select * from read_parquet('{path}')")  # noqa: S608
        assert found.columns == table.column_names
        assert [dict(zip(found.columns, row, strict=True)) for row in found.fetchall()] == rows
        assert [str(kind) for kind in found.types] == [DUCKDB_TYPES[kind] for kind in _types(table.schema).values()]
    frame = pd.read_parquet(path)
    assert list(frame.columns) == table.column_names
    assert not any(isinstance(kind, pd.CategoricalDtype) for kind in frame.dtypes)
    exact = pd.read_parquet(path, dtype_backend="pyarrow")
    assert [_plain(row) for row in exact.to_dict("records")] == rows


def _plain(row: dict[Any, Any]) -> dict[Any, Any]:
    """Turn what pandas calls missing into None and its arrays into lists."""
    values = {key: value.tolist() if hasattr(value, "tolist") else value for key, value in row.items()}
    return {key: None if value is pd.NA or value is None else value for key, value in values.items()}


@pytest.mark.parametrize("name", TABLES)
def test_each_table_names_the_report_that_it_belongs_to(results: Path, name: str) -> None:
    """Schema, evidence and whether the records are invented stand in the metadata of every file."""
    metadata = pq.read_metadata(results / f"{name}.parquet").metadata
    report = json.loads((results / "report.json").read_bytes())
    assert metadata[b"evalkit.schema"] == b"evalkit-selective-v1"
    assert json.loads(metadata[b"evalkit.evidence"]) == report["evidence"]
    assert metadata[b"evalkit.synthetic"] == b"true"


def test_what_was_not_measured_is_null_with_a_reason(here: Path) -> None:
    """Undefined numbers are null and say why; NaN and infinity never appear in any table."""
    lines = [
        *judged("all well", right=5),
        *judged("nothing offered", right=0, none=2),
        record("no test", "validation", 1),
        record("no validation", "test", 1),
        record("nothing accepted", "validation", 1, confidence=0.9),
        record("nothing accepted", "test", 1, confidence=0.8),
        *judged("one never predicted", right=2),
        record("one never predicted", "test", 9, 7, 4),
        record("train only", "train", 1),
    ]
    dump(here / "odd.jsonl", lines)
    assert compare("odd.jsonl", "--out", "out", "-q", cwd=here).code == 0
    rows = pq.read_table(here / "out/measurements.parquet").to_pylist()
    assert all((row["value"] is None) == (row["reason"] is not None) for row in rows)
    reasons = {(row["model"], row["name"]): row["reason"] for row in rows if row["reason"] and row["split"] == "test"}
    assert reasons[("nothing offered", "macroF1")] == "no-cut-clears-floor"
    assert reasons[("no validation", "macroF1")] == "no-validation-records"
    assert reasons[("no test", "coverage")] == "no-test-records"
    assert reasons[("nothing accepted", "ece")] == "nothing-accepted"
    assert reasons[("one never predicted", "precision")] == "never-predicted"
    keys = ("report", "model", "split", "stratum_field", "stratum", "label", "bin", "name")
    order = [tuple((row[key] is not None, row[key]) for key in keys) for row in rows]
    assert order == sorted(order)
    assert len(order) == len(set(order))
    for name in TABLES:
        for row in pq.read_table(here / f"out/{name}.parquet").to_pylist():
            assert all(math.isfinite(value) for value in row.values() if isinstance(value, float))


def test_only_ratios_of_sums_have_a_numerator(here: Path) -> None:
    """A mean of several fractions is no ratio of sums, whatever its value; who pools it by its parts gets it wrong."""
    dump(here / "sure.jsonl", judged("sure", right=10, confidence=1.0))
    assert compare("sure.jsonl", "--out", "out", "-q", cwd=here).code == 0
    rows = pq.read_table(here / "out/measurements.parquet").to_pylist()
    parts = {row["name"]: row["numerator"] for row in rows if row["name"] in NOT_RATIOS}
    assert parts == dict.fromkeys(NOT_RATIOS)
