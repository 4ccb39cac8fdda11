"""The laws: the same records give the same bytes, the fast path is a proven subset, and the definitions hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import oracle
import pytest
import strategies
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalkit.contracts.contract import BRISTOL
from evalkit.errors import Refusal
from evalkit.exact import unit_fraction
from evalkit.families.selective.compare import Question, compare_inputs
from evalkit.families.selective.result import Report
from evalkit.formats import json_lines, rows
from evalkit.formats.rows import Rows, read_rows
from evalkit.records import strict_json
from evalkit.records.reader import Record, read_line
from evalkit.sources import stream
from evalkit.sources.partition import Inputs
from evalkit.sources.source import resolve

LAW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])


def judged(folder: Path, texts: list[bytes], floor: str, *, size: int = 31 * 2**20, workers: int = 2) -> Report:
    """Judge texts, one file each."""
    paths = []
    for number, text in enumerate(texts):
        path = folder / f"{number}.jsonl"
        path.write_bytes(text)
        paths.append(str(path))
    with Inputs(resolve(paths), size) as inputs:
        return compare_inputs(inputs, Question(unit_fraction(floor, "min-coverage")), workers=workers)


def numbers(report: Report) -> dict[str, Any]:
    """Return all of a report but what was read from where."""
    return {key: value for key, value in report.to_dict().items() if key != "evidence"}


def dump(records: list[dict[str, Any]]) -> bytes:
    """Write records one a line."""
    return "".join(json.dumps(record) + "\n" for record in records).encode()


@settings(LAW, max_examples=2000)
@given(records=strategies.records(), floor=strategies.floors())
def test_equal_to_the_naive_oracle(records: list[dict[str, Any]], floor: str, tmp_path: Path) -> None:
    """Every number of the report is the one that the definitions give in exact arithmetic, to the last bit."""
    if not records:
        with pytest.raises(Refusal, match="no-records"):
            judged(tmp_path, [b""], floor)
        return
    report = numbers(judged(tmp_path, [dump(records)], floor))
    expected = oracle.judge(records, floor)
    assert {key: report[key] for key in expected} == expected
    assert [list(one) for one in report["candidates"]] == [list(one) for one in expected["candidates"]]


@settings(LAW, max_examples=150)
@given(data=st.data(), records=strategies.records().filter(bool), floor=strategies.floors())
def test_same_records_same_bytes(
    data: st.DataObject, records: list[dict[str, Any]], floor: str, tmp_path: Path
) -> None:
    """Row order, spelling, split into files, partition size and workers never show in the report or the tables."""
    first = judged(tmp_path, [dump(records)], floor)
    lines = [data.draw(strategies.spellings(record)).encode() + b"\n" for record in data.draw(st.permutations(records))]
    cut = sorted(data.draw(st.lists(st.integers(0, len(lines)), max_size=3)))
    texts = [b"".join(lines[a:b]) for a, b in zip([0, *cut], [*cut, len(lines)], strict=True)]
    size, workers = data.draw(st.sampled_from([1000, 4000, 2**20])), data.draw(st.integers(1, 4))
    second = judged(tmp_path, texts, floor, size=size, workers=workers)
    assert numbers(second) == numbers(first)
    for name, table in first.tables().items():
        assert table.equals(second.tables()[name]), name


def exact(data: bytes) -> tuple[dict[int, Record], dict[int, tuple[str, ...]]]:
    """Read every line exactly: records and rules broken, by line."""
    records, broken = {}, {}
    for number, raw in enumerate(data.split(b"\n")):
        found = read_line(raw, BRISTOL)
        if isinstance(found, Record):
            records[number] = found
        elif found is not None:
            broken[number] = tuple(violation.rule for violation in found)
    return records, broken


def row_records(read: Rows) -> dict[int, Record]:
    """Return the table of rows as records by line."""
    found = {}
    for line, model, subject, split, truth, predicted, confidence in read.table.iter_rows():
        label = None if predicted is None else int(predicted)
        found[line] = Record(model, subject, split, int(truth), label, confidence)
    return found


@settings(LAW, max_examples=1000)
@given(data=st.data(), records=strategies.records().filter(bool))
def test_the_fast_path_is_a_subset_of_the_exact_reader(data: st.DataObject, records: list[dict[str, Any]]) -> None:
    """Whatever lines come, damaged or oddly spelled, the rows and the refusals are those of the exact reader."""
    lines = [json.dumps(record, separators=(",", ":")) for record in records]
    for place in data.draw(st.lists(st.integers(0, len(lines) - 1), max_size=6)):
        text = data.draw(strategies.spellings(records[place]))
        lines[place] = data.draw(strategies.mutated(text)) if data.draw(st.booleans()) else text
    raw = "\n".join(lines).encode("utf-8", "surrogatepass")
    expected, broken = exact(raw)
    found = read_rows(raw, BRISTOL, every=True)
    assert row_records(found) == expected
    assert (found.records, found.ledger.lines) == (len(expected), len(broken))
    scored = read_rows(raw, BRISTOL)
    kept = row_records(scored)
    assert {line: record for line, record in expected.items() if record.split != "train"}.items() <= kept.items()
    assert kept.items() <= expected.items()
    assert scored.models == {record.model for record in expected.values()}
    assert (scored.records, scored.ledger) == (found.records, found.ledger)


def test_a_line_past_the_limit_is_refused_wherever_it_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No pattern accepts a line that is longer than the exact reader allows."""
    for module in (rows, strict_json, json_lines, stream):
        monkeypatch.setattr(module, "MAX_LINE", 400)
    record = {"model": "m", "subjectKey": "e600000000000001", "split": "test", "truth": {"bristolType": 4}}
    good = json.dumps({**record, "prediction": None}).encode() + b"\n"
    long = json.dumps({**record, "prediction": None, "note": "x" * 500}).encode() + b"\n"
    for text in (good + long + good, long + good, good * 20 + long):
        for size in (100, 700, 2**20):
            with pytest.raises(Refusal, match="line-too-long"):
                judged(tmp_path, [text], "0.5", size=size)


def broken_rules(line: bytes) -> list[str]:
    """Return the rules that a line breaks."""
    found = read_line(line, BRISTOL)
    assert found is not None
    assert not isinstance(found, Record)
    return [violation.rule for violation in found]


def test_damage_costs_no_more_than_its_length() -> None:
    """A key written many times, and a text that never ends behind many brackets, are told in linear time."""
    twice = b"{" + b",".join([b'"k%d":1' % number for number in range(50_000)] * 2) + b"}"
    assert broken_rules(twice)[0] == "duplicate-key"
    endless = b'{"a":[' + b"[]," * 130 + b'"' + b'\\"' * 500_000
    assert broken_rules(endless) == ["json"]


def test_brackets_in_an_open_text_are_no_nesting() -> None:
    """A text that never ends is broken JSON, whatever it holds."""
    assert broken_rules(b'{"a":"' + b"[" * 200) == ["json"]
