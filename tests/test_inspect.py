"""What `evalkit inspect` tells of a dump: counts, shape, digests, and every violation."""

import hashlib
import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
from support import dump, key, record
from support import evalkit as run_evalkit

import evalkit
from evalkit.contracts.contract import BRISTOL

FOUR = [
    record("m", "test", 1, 4, 4, 0.9),
    record("m", "test", 1, 5, 4, 0.8),
    record("m", "test", 2, 4, None),
    record("m", "train", 1, 6, 6, 0.7),
]
"""Two contributors of test, one of train; one null prediction."""


def counts(found: evalkit.Inspection) -> list[tuple[Any, ...]]:
    """Return the counts as rows."""
    return found.table().rows()


def test_counts_by_model_split_label_and_stratum(tmp_path: Path) -> None:
    """Records, null predictions and contributors of each model and split, then each label, then each stratum."""
    lines = [line[:-1] + f', "site": "{site}"}}' for line, site in zip(FOUR[:3], "abb", strict=True)] + FOUR[3:]
    found = evalkit.inspect(dump(tmp_path / "d.jsonl", lines), by="site")
    assert (found.clean, found.records, found.subjects, dict(found.violations)) == (True, 4, 3, {})
    assert counts(found) == [
        ("m", "test", None, None, None, 3, 1, 2),
        ("m", "test", "4", None, None, 2, 1, None),
        ("m", "test", "5", None, None, 1, 0, None),
        ("m", "test", None, "site", "a", 1, 0, None),
        ("m", "test", None, "site", "b", 2, 1, None),
        ("m", "train", None, None, None, 1, 0, 1),
        ("m", "train", "6", None, None, 1, 0, None),
        ("m", "train", None, "site", "unlabelled", 1, 0, None),
    ]


def test_the_digest_is_that_of_the_file(tmp_path: Path) -> None:
    """The evidence has name, bytes, SHA-256 and records of each file."""
    path = dump(tmp_path / "d.jsonl", FOUR)
    data = path.read_bytes()
    (one,) = evalkit.inspect(path).evidence
    assert one == (str(path), len(data), hashlib.sha256(data).hexdigest(), 4, None)


def test_the_shape_of_the_records(tmp_path: Path) -> None:
    """Each field of the first records with its kinds, in the order met."""
    found = evalkit.inspect(dump(tmp_path / "d.jsonl", [*FOUR, '{"model": 7, "tags": ["x", null]}'])).shape
    assert found.records == 5
    assert [(one.field, dict(one.kinds)) for one in found.fields] == [
        ("model", {"text": 4, "number": 1}),
        ("subjectKey", {"text": 4}),
        ("split", {"text": 4}),
        ("truth", {"object": 4}),
        ("truth.bristolType", {"number": 4}),
        ("prediction", {"object": 3, "null": 1}),
        ("prediction.bristolType", {"number": 3}),
        ("prediction.confidence", {"number": 3}),
        ("tags", {"array": 1}),
        ("tags[]", {"text": 1, "null": 1}),
    ]


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    """Make two files with 30 broken lines in one and one in the other."""
    bad = record("m", "test", 1).replace('"confidence": 0.97', '"confidence": 97')
    dump(tmp_path / "a.jsonl", [FOUR[0], *[bad] * 30])
    dump(tmp_path / "b.jsonl", ["", '{"model": "m"', FOUR[1]])
    return tmp_path


def test_every_violation_is_in_the_table(broken: Path) -> None:
    """All violations, not the first 20 lines: file, line, rule, field, short value; the exit code is 2."""
    run = run_evalkit("inspect", "a.jsonl", "b.jsonl", "--refusals", "r.parquet", cwd=broken)
    assert run.code == 2
    rows = pq.read_table(broken / "r.parquet").to_pylist()
    assert [(row["file"], row["line"], row["rule"]) for row in rows] == [
        *(("a.jsonl", line, "confidence") for line in range(2, 32)),
        ("b.jsonl", 2, "json"),
    ]
    assert {(row["field"], row["value"], row["unit"]) for row in rows[:30]} == {("prediction.confidence", "97", "line")}
    assert "30 × confidence" in run.err
    assert " 1 × json" in run.err
    assert "leaks and splits were not looked at" in run.out


def test_json_and_refusals_are_written_where_something_is_wrong(broken: Path) -> None:
    """What was asked for is written on 2 as well: that is what it is asked for."""
    run = run_evalkit("inspect", "a.jsonl", "--json", "i.json", "--quiet", cwd=broken)
    assert (run.code, run.out) == (2, "")
    found = json.loads((broken / "i.json").read_bytes())
    assert list(found) == [
        *("schema", "clean", "records", "subjects", "violations", "heldOutChecked", "evidence", "shape", "counts"),
    ]
    assert (found["schema"], found["clean"], found["records"]) == ("evalkit-inspection-v1", False, 1)
    assert (found["violations"], found["heldOutChecked"]) == ({"confidence": 30}, False)


def test_a_clean_dump_exits_0_with_an_empty_table(tmp_path: Path) -> None:
    """Exit 0; the table of violations has its columns and no row."""
    dump(tmp_path / "d.jsonl", FOUR)
    run = run_evalkit("inspect", "d.jsonl", "--refusals", "r.parquet", "--json", "-", cwd=tmp_path)
    assert run.code == 0
    assert json.loads(run.out)["clean"] is True
    table = pl.read_parquet(tmp_path / "r.parquet")
    assert (table.height, table.columns) == (0, ["file", "line", "unit", "rule", "field", "value", "message"])


def test_all_leaks_and_splits_that_are_not_derived(tmp_path: Path) -> None:
    """Once all records are valid every leak and every wrong split is a violation, more than 20 of them."""
    lines = [record("m", "test", number, subject=key("train", number)) for number in range(25)]
    lines.append(record("m", "train", 3))
    found = evalkit.inspect(dump(tmp_path / "d.jsonl", lines))
    assert dict(found.violations) == {"leak": 1, "split-not-derived": 25}
    assert found.held_out_checked
    assert found.refusals.height == 26
    assert found.refusals.filter(pl.col("rule") == "leak")["line"].to_list() == [26]
    assert found.first is not None
    assert len({one.line for one in found.first.violations}) == 20


def test_no_value_of_a_key_is_told(tmp_path: Path) -> None:
    """What stands in place of a key may be an address: the table has its kind and length alone."""
    line = record("m", "test", 1, subject="someone@example.org")
    found = evalkit.inspect(dump(tmp_path / "d.jsonl", [line]))
    assert found.refusals["value"].to_list() == ["a text of length 19"]
    assert "someone" not in found.refusals.write_csv()


def test_no_records_at_all(tmp_path: Path) -> None:
    """An empty dump is no clean one."""
    found = evalkit.inspect(dump(tmp_path / "d.jsonl", []))
    assert (found.clean, dict(found.violations), found.records, found.shape.records) == (False, {"no-records": 1}, 0, 0)


def test_a_table_is_inspected_by_rows(tmp_path: Path) -> None:
    """In a source of rows the line is the row's number and the unit says so; a frame has no digest."""
    frame = pl.DataFrame(
        {
            "model": ["m", "m"],
            "subjectKey": [key("test", 1)] * 2,
            "split": ["test"] * 2,
            "truth.bristolType": [4, 9],
            "prediction.bristolType": [4, 4],
            "prediction.confidence": [0.5, float("nan")],
        }
    )
    found = evalkit.inspect(frame)
    rows = found.refusals.select("file", "line", "unit", "rule", "value").rows()
    assert rows == [("frame", 2, "row", "truth", "9"), ("frame", 2, "row", "confidence", "NaN")]
    assert (found.evidence[0].sha256, found.records, found.shape.records) == (None, 1, 2)
    frame.write_parquet(tmp_path / "d.parquet")
    assert evalkit.inspect(tmp_path / "d.parquet").refusals.drop("file").equals(found.refusals.drop("file"))


def test_the_same_violations_in_any_format(tmp_path: Path) -> None:
    """The counts of a dump are those of the same records in a table."""
    lines = [record("m", "test", number, 4, 4 if number % 3 else None, 0.5) for number in range(40)]
    path = dump(tmp_path / "d.jsonl", lines)
    evalkit.convert(path, tmp_path / "d.parquet")
    assert evalkit.inspect(tmp_path / "d.parquet", contract=BRISTOL).counts == evalkit.inspect(path).counts
