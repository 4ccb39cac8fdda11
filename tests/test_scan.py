"""``scan``: a lazy frame of a dump, typed and named, read as far as it must be, and strict as ``compare``."""

from __future__ import annotations

import gzip
import subprocess
import sys
from pathlib import Path
from typing import Any, Literal

import polars as pl
import pytest
import strategies
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import GO, dump, environment, judged, record, text

import evalkit
from evalkit.analysis.scan import Records
from evalkit.contracts.contract import BRISTOL
from evalkit.errors import SHOWN_LINES
from evalkit.sources.source import resolve

ENGINES: tuple[Literal["streaming", "in-memory"], ...] = ("streaming", "in-memory")
FIXTURES = Path(__file__).parent.parent / "data-fixtures"
LINES = [
    (
        '{"model":"m","subjectKey":"cd00000000000001","split":"validation","truth":{"bristolType":4},'
        '"prediction":{"bristolType":5,"confidence":0.6},"meta":{"site":"north"}}'
    ),
    '{"model":"n","subjectKey":"0000000000000002","split":"train","truth":{"bristolType":1},"prediction":null}',
    (
        '{"model":"m","subjectKey":"e600000000000003","split":"test","truth":{"bristolType":7},'
        '"prediction":{"confidence":1,"bristolType":7},"meta":{"site":3}}'
    ),
]
ROWS = [
    ("m", "cd00000000000001", "validation", 4, 5, 0.6, "north"),
    ("n", "0000000000000002", "train", 1, None, None, None),
    ("m", "e600000000000003", "test", 7, 7, 1.0, "3"),
]


def test_the_columns_are_the_documented_ones_in_the_order_of_the_dump(tmp_path: Path) -> None:
    """Names and types as documented, one row a record, null where nothing was offered, strata under their path."""
    frame = evalkit.scan(dump(tmp_path / "d.jsonl", LINES), by="meta.site")
    text, label = pl.String(), pl.Int64()
    assert dict(frame.collect_schema()) == {
        "model": text,
        "subject_key": text,
        "split": text,
        "truth": label,
        "predicted": label,
        "confidence": pl.Float64(),
        "meta.site": text,
    }
    assert frame.collect().rows() == ROWS


def test_labels_that_are_texts_stay_texts(tmp_path: Path) -> None:
    """The contract says what a label is, and so what column it is."""
    contract = evalkit.Contract(
        fields=evalkit.Fields("who", "key", "part", "is", "said", "sure"), labels=("cat", "dog"), split_rule=None
    )
    line = '{"who":"m","key":"k","part":"test","is":"cat","said":"dog","sure":0.5}'
    frame = evalkit.scan(dump(tmp_path / "d.jsonl", [line]), contract)
    assert frame.collect().rows() == [("m", "k", "test", "cat", "dog", 0.5)]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_format_gives_the_same_rows(tmp_path: Path, engine: Literal["streaming", "in-memory"]) -> None:
    """JSON Lines, packed or plain, a converted file and a frame hold the same records."""
    plain = dump(tmp_path / "d.jsonl", LINES)
    (tmp_path / "d.jsonl.gz").write_bytes(gzip.compress(text(LINES)))
    evalkit.convert(plain, tmp_path / "d.parquet", by="meta.site")
    converted = tmp_path / "d.parquet"
    for source in (plain, tmp_path / "d.jsonl.gz", converted, pl.read_parquet(converted)):
        contract = BRISTOL
        if isinstance(source, pl.DataFrame):
            fields = evalkit.Fields("model", "subject_key", "split", "truth", "predicted", "confidence")
            contract = evalkit.Contract(fields=fields)
        assert evalkit.scan(source, contract, "meta.site").collect(engine=engine).rows() == ROWS


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_filters_and_slices_give_what_they_give_of_any_frame(
    tmp_path: Path, engine: Literal["streaming", "in-memory"]
) -> None:
    """What is pushed into the reading changes no answer: chosen columns, conditions, first rows, counts, joins."""
    frame = evalkit.scan(dump(tmp_path / "d.jsonl", LINES), by="meta.site")
    test = pl.col("split") == "test"

    def rows(asked: pl.LazyFrame) -> list[tuple[object, ...]]:
        return asked.collect(engine=engine).rows()

    assert rows(frame.select("confidence", "model")) == [(0.6, "m"), (None, "n"), (1.0, "m")]
    assert rows(frame.filter(test).select("truth")) == [(7,)]
    assert rows(frame.select("truth").head(2)) == [(4,), (1,)]
    assert rows(frame.filter(pl.col("model") == "m").select("truth").head(1)) == [(4,)]
    assert rows(frame.filter(test).head(0)) == []
    assert rows(frame.select(pl.len())) == [(3,)]
    assert rows(frame.tail(1).select("truth")) == [(7,)]
    assert rows(frame.join(frame, on="model").select(pl.len())) == [(5,)]


def test_it_is_strict(tmp_path: Path) -> None:
    """Collecting raises the refusal that ``compare`` raises, word for word, whatever columns are asked for."""
    for name in ("leaked.jsonl", *sorted(path.name for path in (FIXTURES / "selective" / "refused").iterdir())[:8]):
        path = FIXTURES / "selective" / name
        path = path if path.exists() else FIXTURES / "selective" / "refused" / name
        with pytest.raises(evalkit.Refusal) as compared:
            evalkit.compare(path, "0.5")
        for engine in ENGINES:
            with pytest.raises(evalkit.Refusal) as scanned:
                evalkit.scan(path).select("model").collect(engine=engine)
            assert str(scanned.value) == str(compared.value)
            assert scanned.value.counts == compared.value.counts


def test_all_that_is_broken_is_counted(tmp_path: Path) -> None:
    """A broken partition ends the rows, not the reading: the refusal counts every broken line of every file."""
    broken = "\n".join(["{}"] * 30)
    files = [dump(tmp_path / f"{number}.jsonl", [broken]) for number in range(3)]
    with pytest.raises(evalkit.Refusal) as refused:
        evalkit.scan(files).collect()
    assert refused.value.lines == 90
    assert len({violation.line for violation in refused.value.violations}) == SHOWN_LINES


def test_no_records_are_refused(tmp_path: Path) -> None:
    """An empty dump is no empty answer."""
    with pytest.raises(evalkit.Refusal, match=r"holds no records \[no-records\]"):
        evalkit.scan(dump(tmp_path / "d.jsonl", [])).collect()


def _records(path: Path, partition_bytes: int) -> tuple[Records, list[int]]:
    seen: list[int] = []
    records = Records.of(resolve([path]), BRISTOL, ())
    records.partition_bytes, records.progress = partition_bytes, lambda _, number: seen.append(number)
    return records, seen


@pytest.mark.parametrize("engine", ENGINES)
def test_the_first_rows_need_only_the_first_partitions(
    tmp_path: Path, engine: Literal["streaming", "in-memory"]
) -> None:
    """``head`` stops the reading: a line that is broken far behind is not met, and nothing says that it was checked."""
    lines = [record("m", "test", number) for number in range(1000)]
    path = dump(tmp_path / "d.jsonl", [*lines, "broken"])
    records, seen = _records(path, 2000)
    assert records.frame().head(3).collect(engine=engine).height == 3
    assert 3 <= sum(seen) < 500
    assert records.stopped_early
    with pytest.raises(evalkit.Refusal, match=r"d\.jsonl:1001: "):
        records.frame().collect(engine=engine)


def test_no_row_of_a_broken_partition_is_given(tmp_path: Path) -> None:
    """A broken line near by refuses the first rows too: the lines of what was read are all checked."""
    path = dump(tmp_path / "d.jsonl", [*GO[:3], "broken", *GO[3:]])
    with pytest.raises(evalkit.Refusal, match=r"d\.jsonl:4: "):
        evalkit.scan(path).head(1).collect()


def test_a_reading_to_the_end_is_a_checked_one(tmp_path: Path) -> None:
    """Where all was read the whole is checked, also if fewer rows were asked for than there are partitions."""
    records, seen = _records(dump(tmp_path / "d.jsonl", GO), 500)
    assert records.frame().select(pl.len()).collect().item() == 20
    assert (len(seen) > 5, records.stopped_early) == (True, False)
    assert records.settled is not None
    assert records.settled.models == ("alpha",)


def test_many_partitions_keep_their_order(tmp_path: Path) -> None:
    """Rows come in the order of the dump, however many workers read it."""
    lines = [record("m", "test", number) for number in range(500)]
    records, _ = _records(dump(tmp_path / "d.jsonl", lines), 300)
    keys = records.frame().collect()["subject_key"].to_list()
    assert keys == [f"e6{number:014x}" for number in range(500)]


def test_one_thread_is_enough(tmp_path: Path) -> None:
    """Reading inside a query does not wait for a thread that the query holds, even where there is but one."""
    dump(tmp_path / "d.jsonl", judged("m", right=40) + judged("n", right=40))
    code = (
        "import evalkit, polars as pl\n"
        "a = evalkit.scan('d.jsonl'); b = evalkit.scan('d.jsonl')\n"
        "joined = a.join(b, on=['model', 'subject_key']).group_by('model').len().sort('model')\n"
        "print(pl.thread_pool_size(), joined.collect(engine='streaming').rows(), joined.collect().rows())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=environment(POLARS_MAX_THREADS="1"),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout == "1 [('m', 80), ('n', 80)] [('m', 80), ('n', 80)]\n"


def test_what_is_wrong_with_the_names_is_said_before_anything_is_read(tmp_path: Path) -> None:
    """A missing file, a stream, and strata called like a column are refused by ``scan`` itself."""
    with pytest.raises(evalkit.Refusal, match="path-missing"):
        evalkit.scan(tmp_path / "no.jsonl")
    with pytest.raises(evalkit.Refusal, match=r"-: is a stream, .* \[needs-file\]"):
        evalkit.scan("-")
    contract = evalkit.Contract(fields=evalkit.Fields(split="part"))
    with pytest.raises(evalkit.Refusal, match=r'by: is the name of another column .* "split" \[contract\]'):
        evalkit.scan(dump(tmp_path / "d.jsonl", GO), contract, by="split")


def test_a_scan_is_a_frame_like_any_other(tmp_path: Path) -> None:
    """It may be read by ``compare``, ``convert`` and ``scan`` itself, which pass its refusal on."""
    fields = evalkit.Fields("model", "subject_key", "split", "truth", "predicted", "confidence")
    contract = evalkit.Contract(fields=fields)
    path = dump(tmp_path / "d.jsonl", GO)
    frame = evalkit.scan(path)
    assert evalkit.compare(frame, "0.5", contract=contract)["alpha"] == evalkit.compare(path, "0.5")["alpha"]
    assert evalkit.scan(frame, contract).collect().equals(frame.collect())
    leaked = evalkit.scan(FIXTURES / "selective" / "leaked.jsonl")
    with pytest.raises(evalkit.Refusal, match="leak"):
        evalkit.compare(leaked, "0.5", contract=contract)
    with pytest.raises(evalkit.Refusal, match="leak"):
        evalkit.convert(leaked, tmp_path / "d.parquet", contract=contract)
    assert not (tmp_path / "d.parquet").exists()


def _at(place: Any, path: str) -> Any:
    """Return what stands at a dotted path; None where the way ends."""
    for name in path.split("."):
        place = None if place is None else place.get(name)
    return place


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_whatever_the_contract_the_rows_are_what_the_lines_mean(tmp_path: Path, data: st.DataObject) -> None:
    """Any fields, labels and splits, spelled in any way, cut anywhere: one row a record, in order, value by value."""
    drawn = data.draw(strategies.dumps())
    asked = drawn.terms
    lines = [data.draw(strategies.odd_spellings(one)) for one in drawn.records]
    path = tmp_path / "d.jsonl"
    path.write_bytes("".join(f"{line}\n" for line in lines).encode())
    rule = None if asked.split_rule is None else evalkit.SplitRule(*asked.split_rule)
    labels: Any = asked.labels
    contract = evalkit.Contract(evalkit.Fields(**asked.fields), labels, rule)
    records = Records.of(resolve([path]), contract, ())
    records.partition_bytes = data.draw(st.sampled_from([50, 500, 50_000]))
    found = records.frame().collect()
    places = [asked.fields[name] for name in ("model", "subject", "split", "truth", "predicted", "confidence")]
    assert found.rows() == [tuple(_at(one, place) for place in places) for one in drawn.records]
