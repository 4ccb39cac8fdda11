"""Objects of a store are inputs as files are: the same report, the same refusals, and nothing is held or copied whole.

A real server that speaks S3 answers on loopback.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import pickle
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import observations
import polars as pl
import pyarrow as pa
import pytest
from stores import SECRET, Server, command, server
from support import FLOOR, environment, judged, record, text

import evalkit as api
from evalkit.exact import unit_fraction
from evalkit.families.selective.compare import Question, compare_inputs
from evalkit.sources.partition import Inputs
from evalkit.sources.source import resolve
from evalkit.sources.store_object import Object

BUCKET = "dumps"


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Return a server with one bucket."""
    with server(tmp_path_factory.mktemp("server")) as found:
        found.ask("PUT", BUCKET)
        yield found


@pytest.fixture
def store(running: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Return the server, which this process and those that it starts find."""
    for name, value in running.variables.items():
        monkeypatch.setenv(name, value)
    return running


def lines(count: int) -> list[str]:
    """Return invented records, the same ones each time."""
    rng = random.Random(7)
    return [
        record("m", split, number, rng.randint(1, 7), rng.choice([None, 1, 4, 7]), rng.randint(0, 1000) / 1000)
        for split in ("validation", "test")
        for number in range(count)
    ]


@pytest.fixture(scope="module")
def dumps(running: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one dump in many forms, which is in the store too."""
    folder = tmp_path_factory.mktemp("dumps")
    records = lines(1500)
    whole = text(records)
    (folder / "whole.jsonl").write_bytes(whole)
    (folder / "unended.jsonl").write_bytes(whole.rstrip(b"\n"))
    for place in range(3):
        (folder / f"part-{place}.jsonl").write_bytes(text(records[place::3]))
    (folder / "packed.jsonl.gz").write_bytes(gzip.compress(whole))
    (folder / "packed.jsonl.zst").write_bytes(pa.Codec("zstd").compress(whole, asbytes=True))
    plain = [json.loads(one) for one in records]
    frame = pl.DataFrame(
        {
            "model": [one["model"] for one in plain],
            "subjectKey": [one["subjectKey"] for one in plain],
            "split": [one["split"] for one in plain],
            "truth.bristolType": [one["truth"]["bristolType"] for one in plain],
            "prediction.bristolType": [(one["prediction"] or {}).get("bristolType") for one in plain],
            "prediction.confidence": [(one["prediction"] or {}).get("confidence") for one in plain],
        }
    )
    frame.write_csv(folder / "whole.csv")
    frame.write_parquet(folder / "whole.parquet", row_group_size=700)
    frame.write_ipc(folder / "whole.arrow", record_batch_size=700)
    for split, rows in frame.group_by("split"):
        inside = folder / "hive" / f"split={split[0]}"
        inside.mkdir(parents=True)
        rows.drop("split").write_parquet(inside / "rows.parquet", row_group_size=700)
    (folder / "hive" / "_SUCCESS").write_bytes(b"")
    running.copy(folder, f"{BUCKET}/in")
    return folder


def judge(names: list[str]) -> dict[str, Any]:
    """Compare in small partitions, and return the report with the last parts of the names in its evidence."""
    with Inputs(resolve(names), partition_bytes=20_000, partition_rows=500) as inputs:
        report = compare_inputs(inputs, Question(unit_fraction("0.5", "min-coverage")))
    found = json.loads(report.to_json())
    for one in found["evidence"]:
        one["name"] = one["name"].rpartition("/")[2]
    plain: dict[str, Any] = found
    return plain


FORMS = (
    "whole.jsonl",
    "unended.jsonl",
    "part-*.jsonl",
    "part-[01].jsonl",
    "packed.jsonl.gz",
    "packed.jsonl.zst",
    "whole.csv",
    "whole.parquet",
    "whole.arrow",
    "hive",
)


@pytest.mark.parametrize("form", FORMS)
def test_an_object_gives_the_report_of_the_file(store: Server, dumps: Path, form: str) -> None:
    """Whatever the form, and in several ranges, the report is the same, digests and bytes included."""
    assert judge([f"s3://{BUCKET}/in/{form}"]) == judge([f"{dumps}/{form}"])


@pytest.mark.parametrize(
    "pattern", ["hive/split=*/*.parquet", "**/rows.parquet", "h?ve/*/[!a-q]*", "**", "*.jso[m-o]l"]
)
def test_a_pattern_finds_what_it_finds_in_a_folder(store: Server, dumps: Path, pattern: str) -> None:
    """A pattern of objects stands for the objects that it would stand for as files, in the same order."""
    store.put(f"{BUCKET}/in/.hidden/rows.parquet", b"")
    (dumps / ".hidden").mkdir(exist_ok=True)
    (dumps / ".hidden" / "rows.parquet").write_bytes(b"")
    here = [one.name.removeprefix(f"{dumps}/") for one in resolve([f"{dumps}/{pattern}"])]
    assert [one.name.removeprefix(f"s3://{BUCKET}/in/") for one in resolve([f"s3://{BUCKET}/in/{pattern}"])] == here


def test_a_folder_may_end_in_a_slash(store: Server, dumps: Path) -> None:
    """A folder is the same with a slash at its end, and its files are named without a second one."""
    assert [one.name for one in resolve([f"s3://{BUCKET}/in/hive/"])] == [
        "s3://dumps/in/hive/split=test/rows.parquet",
        "s3://dumps/in/hive/split=validation/rows.parquet",
    ]


def test_no_request_is_for_a_whole_object(store: Server, dumps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Plain lines are read in ranges: none is much longer than a partition, or a block of the digest."""
    asked: list[int] = []
    read_at = Object.read_at

    def noted(self: Object, size: int, offset: int) -> bytes:
        asked.append(size)
        return read_at(self, size, offset)

    monkeypatch.setattr(Object, "read_at", noted)
    monkeypatch.setattr("evalkit.sources.store_object.BLOCK", 30_000)
    judge([f"s3://{BUCKET}/in/whole.jsonl"])
    assert (dumps / "whole.jsonl").stat().st_size > 400_000
    assert max(asked) <= 20_000 + 16 * 1024 + 1


def test_any_process_reads_a_partition(store: Server, dumps: Path) -> None:
    """A partition names its object by the URL, which another process opens by itself, wherever it runs."""
    with Inputs(resolve([f"s3://{BUCKET}/in/whole.jsonl"]), partition_bytes=50_000) as inputs:
        parts = pickle.dumps(list(inputs.partitions()))
    program = (
        "import hashlib, pickle, sys; parts = pickle.loads(sys.stdin.buffer.read()); "
        "print(len(parts), hashlib.sha256(b''.join(part.load() for part in parts)).hexdigest())"
    )
    done = subprocess.run([sys.executable, "-c", program], input=parts, capture_output=True, cwd="/", check=True)
    whole = (dumps / "whole.jsonl").read_bytes()
    assert done.stdout.decode() == f"{-(-len(whole) // 50_000)} {hashlib.sha256(whole).hexdigest()}\n"


def test_what_is_wrong_in_an_object_is_said_as_of_a_file(store: Server, tmp_path: Path) -> None:
    """A broken line has the object's URL and its number; everything else is the same text."""
    broken = [*judged("m", right=3), '{"model": 1}', "nonsense"]
    (tmp_path / "broken.jsonl").write_bytes(text(broken))
    url = store.put(f"{BUCKET}/broken/broken.jsonl", text(broken))
    with pytest.raises(api.Refusal) as there:
        api.compare(url, "0.5")
    with pytest.raises(api.Refusal) as here:
        api.compare(tmp_path / "broken.jsonl", "0.5")
    assert str(there.value) == str(here.value).replace(str(tmp_path), f"s3://{BUCKET}/broken")
    assert str(there.value).splitlines()[-1].startswith("s3://dumps/broken/broken.jsonl:8: ")


VECTORS = [f'{{"id":"{n}","option_ids":["a","b"],"probabilities":[0.{n},0.{10 - n}]}}' for n in range(1, 10)]
GOLD = [f'{{"id":"{n}","gold":"{"ab"[n % 2]}"}}' for n in range(1, 10)]


def test_vectors_and_gold_may_both_lie_in_a_store(store: Server, tmp_path: Path) -> None:
    """``evaluate`` gives the same report, wherever each side lies."""
    for name, content in (("vectors", VECTORS), ("gold", GOLD)):
        (tmp_path / f"{name}.jsonl").write_bytes(text(content))
    store.copy(tmp_path, f"{BUCKET}/sides")
    there, here = f"s3://{BUCKET}/sides", str(tmp_path)
    found = [
        api.evaluate(f"{one}/vectors.jsonl", f"{other}/gold.jsonl").to_json().replace(there, here)
        for one in (there, here)
        for other in (there, here)
    ]
    assert found == [found[0]] * 4


def test_observations_and_their_lists_may_lie_in_a_store(store: Server, tmp_path: Path) -> None:
    """``measure`` gives the same evaluation from a document and a list in a store."""
    (tmp_path / "document.json").write_text(json.dumps(observations.document()))
    pages = [json.dumps(observations.page(n, "abc", "abd")) for n in range(50)]
    (tmp_path / "ocr.jsonl.gz").write_bytes(gzip.compress(text(pages)))
    store.copy(tmp_path, f"{BUCKET}/seen")
    names = ("document.json", "--ocr", "ocr.jsonl.gz", "--output", "-", "-q")
    found = [
        command("measure", *(f"{place}/{one}" if "." in one else one for one in names))
        for place in (tmp_path, f"s3://{BUCKET}/seen")
    ]
    assert [one.code for one in found] == [0, 0]
    assert found[0].out.replace(str(tmp_path), f"s3://{BUCKET}/seen") == found[1].out


def test_commands_take_urls_everywhere(store: Server, dumps: Path, tmp_path: Path) -> None:
    """Contract and run record, ``inspect``, ``convert`` from and to a store, and ``verify`` of a report in one."""
    contract = store.put(f"{BUCKET}/small/contract.toml", b'[fields]\nmodel = "model"\n')
    run = store.put(f"{BUCKET}/small/run.json", b'{"seed": 7}')
    dump, report = f"s3://{BUCKET}/in/whole.jsonl", f"s3://{BUCKET}/made/report.json"
    given = (*FLOOR, "--contract", contract, "--run-record", run)
    assert command("compare", dump, *given, "--json", report, "-q").code == 3
    assert json.loads(store.ask("GET", f"{BUCKET}/made/report.json"))["run"] == {"seed": 7}
    assert command("verify", report, dump, *given, "-q").code == 0
    found = command("inspect", dump, "--json", f"s3://{BUCKET}/made/seen.json", "-q")
    assert (found.code, json.loads(store.ask("GET", f"{BUCKET}/made/seen.json"))["clean"]) == (0, True)
    target = f"s3://{BUCKET}/made/dump.parquet"
    assert command("convert", dump, "--output", target, "-q").code == 0
    assert api.compare(target, "0.5").verdict == api.compare(dumps / "whole.jsonl", "0.5").verdict
    again = json.loads(api.compare(target, "0.5").to_json())["candidates"]
    assert again == json.loads(api.compare(dumps / "whole.jsonl", "0.5").to_json())["candidates"]


def test_a_nightly_job_reads_from_a_store(store: Server, tmp_path: Path) -> None:
    """Inputs of a job may be URLs with the date in them; its store is a folder of the machine."""
    store.put(f"{BUCKET}/nights/2026-01-31.jsonl", text(judged("alpha", right=10)))
    job = tmp_path / "job.toml"
    task = '[[evaluation]]\nname = "n"\nkind = "compare"\nmin_coverage = "0.5"\npredictions = ["%s"]\n'
    job.write_text('store = "store"\n' + task % f"s3://{BUCKET}/nights/{{date}}.jsonl")
    run = command("nightly", job, "--date", "2026-01-31")
    assert (run.code, run.err.splitlines()[-1]) == (0, "evalkit: finished: code 0")
    job.write_text(f'store = "s3://{BUCKET}/store"\n' + task % "x")
    refused = command("nightly", job, "--date", "2026-01-31")
    assert (refused.code, "must be a folder of this machine" in refused.err) == (2, True)


@pytest.mark.parametrize("change", ["other", "same length", "longer", "gone"])
def test_an_object_that_changes_meanwhile_is_refused(store: Server, change: str) -> None:
    """An object written anew or removed while it is read is refused, also where its length is the same."""
    content = text(lines(600))
    url = store.put(f"{BUCKET}/changing/{change}.jsonl", content)
    path = url.removeprefix("s3://")
    told: list[int] = []

    def progress(*_: int) -> None:
        if not told:
            news = {"other": content[:5000], "same length": content.replace(b"0.5", b"0.6"), "longer": content * 2}
            store.ask("DELETE", path) if change == "gone" else store.put(path, news[change])
        told.append(1)

    with Inputs(resolve([url]), partition_bytes=4096) as inputs, pytest.raises(api.Refusal) as refused:
        compare_inputs(inputs, Question(unit_fraction("0.5", "min-coverage")), progress=progress)
    message = "was changed while it was read; run again when it is whole"
    if change == "gone":
        message = "was there at the start and cannot be opened now: there is no such object"
    assert str(refused.value) == f"{url}: {message} [file-changed]"


def test_local_runs_load_nothing_of_stores(tmp_path: Path) -> None:
    """Where no URL is named, no module that speaks to stores is loaded."""
    (tmp_path / "dump.jsonl").write_bytes(text(judged("alpha", right=10)))
    program = (
        "import sys, evalkit; evalkit.compare('dump.jsonl', '0.5').write_json('r.json'); "
        "print([m for m in sys.modules if 'store' in m and 'evalkit' in m or m in ('pyarrow.fs', 'pyarrow._s3fs')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment(), capture_output=True, check=True
    )
    assert done.stdout == b"[]\n"


def test_a_key_is_never_shown(store: Server, tmp_path: Path) -> None:
    """What is said of an object that is not there holds no key."""
    run = command("compare", f"s3://{BUCKET}/none.jsonl", *FLOOR)
    assert (run.code, run.out, SECRET in run.err) == (2, "", False)
    assert run.err.splitlines()[1:] == ["  s3://dumps/none.jsonl: there is no such object [path-missing]"]
