"""`evalkit convert`: checked once, typed, in order, and the same report ever after."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from support import BLOCKED, FLOOR, GO, compare, dump, judged, record
from support import evalkit as run_evalkit

import evalkit
from evalkit import Contract, Fields, Refusal


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Make a folder with two dumps."""
    dump(tmp_path / "go.jsonl", GO)
    dump(tmp_path / "blocked.jsonl", BLOCKED)
    return tmp_path


def numbers(path: Path) -> dict[str, Any]:
    """Return a report without its evidence."""
    report: dict[str, Any] = json.loads(path.read_bytes())
    del report["evidence"]
    return report


def test_the_report_is_the_same_and_says_what_it_came_from(here: Path) -> None:
    """Every number of the converted file is the dump's; the evidence holds the dump's own."""
    done = run_evalkit("convert", "go.jsonl", "blocked.jsonl", "-o", "new/d.parquet", cwd=here)
    assert (done.code, done.out, done.err) == (0, "new/d.parquet: 40 records of 2 inputs\n", "")
    assert compare("go.jsonl", "blocked.jsonl", "--json", "a.json", cwd=here).code == 0
    assert compare("new/d.parquet", "--json", "b.json", cwd=here).code == 0
    assert numbers(here / "a.json") == numbers(here / "b.json")
    (one,) = json.loads((here / "b.json").read_bytes())["evidence"]
    assert (one["name"], one["records"]) == ("new/d.parquet", 40)
    assert one["convertedFrom"] == json.loads((here / "a.json").read_bytes())["evidence"]


def test_columns_types_and_order(tmp_path: Path) -> None:
    """Records keep their order; texts that repeat are dictionaries, labels whole numbers, confidences 64-bit floats."""
    lines = [record("m", "test", 2, 7, 1, 0.5), record("n", "test", 1, 1, None), record("m", "train", 3, 2, 2, 1.0)]
    evalkit.convert(dump(tmp_path / "d.jsonl", lines), tmp_path / "d.parquet")
    table = pq.read_table(tmp_path / "d.parquet")
    assert table.to_pydict() == {
        "model": ["m", "n", "m"],
        "subject_key": ["e600000000000002", "e600000000000001", "0000000000000003"],
        "split": ["test", "test", "train"],
        "truth": [7, 1, 2],
        "predicted": [1, None, 2],
        "confidence": [0.5, None, 1.0],
    }
    kinds = {one.name: one.type for one in table.schema}
    assert pa.types.is_dictionary(kinds["model"])
    assert pa.types.is_dictionary(kinds["split"])
    assert (kinds["truth"], kinds["predicted"], kinds["confidence"]) == (pa.int32(), pa.int32(), pa.float64())


def test_the_metadata_holds_contract_and_evidence(here: Path) -> None:
    """The file says what it is, under which contract it was checked, and from what it was made."""
    evidence = evalkit.convert(here / "go.jsonl", here / "d.parquet")
    notes = pl.read_parquet_metadata(here / "d.parquet")
    assert notes["evalkit.schema"] == "evalkit-records-v1"
    assert json.loads(notes["evalkit.evidence"])[0]["sha256"] == evidence[0].sha256
    assert json.loads(notes["evalkit.scalars"]) == []
    (here / "c.toml").write_text(notes["evalkit.contract"], "utf-8")
    assert evalkit.read_contract(str(here / "c.toml")) == Contract()


def test_strata_are_kept_that_are_asked_for(tmp_path: Path) -> None:
    """``--by`` keeps a field; one that was not kept is refused, not taken for absent."""
    lines = [line[:-1] + ', "site": {"name": "a", "floor": 2}}' for line in GO]
    path, kept = dump(tmp_path / "d.jsonl", lines), tmp_path / "d.parquet"
    evalkit.convert(path, kept, by=["site.name", "site.floor"])
    for by in ("site.name", "site.floor", ["site.name", "site.floor"]):
        assert evalkit.compare(kept, "0.5", by=by).candidates == evalkit.compare(path, "0.5", by=by).candidates
    with pytest.raises(Refusal, match=r"site\.wing: was not kept .* \[not-kept\]"):
        evalkit.compare(kept, "0.5", by="site.wing")


def test_another_contract_must_be_given_again(tmp_path: Path) -> None:
    """Labels as texts, flat fields, declared splits; the file is read under the contract that it was made with."""
    fields = Fields("m", "who", "fold", "gold", "guess", "score")
    asked = Contract(fields=fields, labels=("cat", "dog"), split_rule=None)
    rows = [
        {"m": "x", "who": f"{fold} {number}", "fold": fold, "gold": "cat", "guess": "cat", "score": 0.97}
        for fold in ("validation", "test")
        for number in range(5)
    ]
    path, kept = dump(tmp_path / "d.jsonl", map(json.dumps, rows)), tmp_path / "d.parquet"
    evalkit.convert(path, kept, contract=asked)
    assert evalkit.compare(kept, "0.5", contract=asked).candidates == (
        evalkit.compare(path, "0.5", contract=asked).candidates
    )
    assert evalkit.compare(kept, "0.5", contract=asked).verdict == "GO"
    with pytest.raises(Refusal, match="converted-contract"):
        evalkit.compare(kept, "0.5")


def test_a_dump_that_is_refused_is_not_converted(here: Path) -> None:
    """What ``compare`` refuses ``convert`` refuses in the same words; an older file stays as it was."""
    (here / "old.parquet").write_bytes(b"old")
    leaking = [*judged("m", 3), record("m", "train", 1, subject="e600000000000001")]
    for lines in ([*GO, "null"], leaking, []):
        dump(here / "bad.jsonl", lines)
        done = run_evalkit("convert", "bad.jsonl", "-o", "old.parquet", cwd=here)
        said = compare("bad.jsonl", cwd=here)
        assert (done.code, done.out, done.err) == (2, "", said.err)
        assert (here / "old.parquet").read_bytes() == b"old"
    assert sorted(path.name for path in here.iterdir()) == ["bad.jsonl", "blocked.jsonl", "go.jsonl", "old.parquet"]


def test_the_output_may_not_be_an_input(here: Path) -> None:
    """Converting a file into itself would destroy it."""
    before = (here / "go.jsonl").read_bytes()
    done = run_evalkit("convert", "go.jsonl", "-o", "go.jsonl", cwd=here)
    assert (done.code, (here / "go.jsonl").read_bytes()) == (2, before)
    assert "output-unusable" in done.err


def test_a_converted_file_is_checked_like_any_other(here: Path) -> None:
    """That a file says that it was checked counts for nothing: a label out of range in it is refused."""
    evalkit.convert(here / "go.jsonl", here / "d.parquet")
    table = pq.read_table(here / "d.parquet")
    notes = {key: value for key, value in pq.read_metadata(here / "d.parquet").metadata.items() if b"evalkit" in key}
    wrong = pa.array([9, *table["truth"].to_pylist()[1:]], pa.int32())
    changed = table.set_column(table.schema.get_field_index("truth"), "truth", wrong)
    pq.write_table(changed.replace_schema_metadata(notes), here / "d.parquet")
    done = run_evalkit("compare", "d.parquet", *FLOOR, cwd=here)
    assert done.code == 2
    assert "d.parquet: row 1: " in done.err
    assert "found 9 [truth]" in done.err


def test_converting_again_keeps_the_first_evidence(here: Path) -> None:
    """A converted file that is converted again says both, one inside the other."""
    (first,) = evalkit.convert(here / "go.jsonl", here / "a.parquet")
    (second,) = evalkit.convert(here / "a.parquet", here / "b.parquet")
    assert second.converted_from == (first,)
    (third,) = evalkit.compare(here / "b.parquet", "0.5").evidence
    assert third.converted_from == (second,)
