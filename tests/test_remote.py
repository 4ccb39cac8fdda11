"""Objects of a store are read as files are: the same reports and refusals, by whichever engine.

A real server that speaks S3, that of moto, on loopback.
"""

from __future__ import annotations

import gzip
import importlib.util
import json
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import engines
import obstore
import pytest
import support
from engines import compared, evaluated, flat, records, sides, small_tasks
from obstore.store import from_url

import evalkit
from evalkit.errors import Refusal
from evalkit.sources import remote
from evalkit.sources.partition import Inputs
from evalkit.sources.source import resolve

BUCKET = "s3://evalkit-tests"
KINDS = ("whole.jsonl", "part-*.jsonl", "packed.jsonl.gz", "whole.csv", "whole.parquet", "whole.arrow")


class Store:
    """A store of objects, and the variables by which programs find it."""

    def __init__(self, port: int) -> None:
        self.address = f"http://127.0.0.1:{port}"
        self.variables = {
            "AWS_ENDPOINT_URL": self.address,
            "AWS_ACCESS_KEY_ID": "tests",
            "AWS_SECRET_ACCESS_KEY": "tests",
            "AWS_REGION": "us-east-1",
        }
        options = {"endpoint": self.address, "access_key_id": "tests", "secret_access_key": "tests"}
        self.own: Any = from_url(BUCKET, **options, region="us-east-1", client_options={"allow_http": True})  # type: ignore[call-overload]

    def ask(self, method: str, path: str, data: bytes = b"") -> None:
        """Send a request."""
        headers = {"Content-Type": "text/plain"}
        request = urllib.request.Request(f"{self.address}/{path}", data, headers, method=method)  # noqa: S310
        urllib.request.urlopen(request, timeout=10).close()  # noqa: S310

    def put(self, name: str, data: bytes) -> str:
        """Write an object, and return its address."""
        obstore.put(self.own, name, data)
        return f"{BUCKET}/{name}"

    def copy(self, folder: Path) -> None:
        """Write each file of a folder."""
        for path in sorted(folder.iterdir()):
            self.put(f"{folder.name}/{path.name}", path.read_bytes())


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Return a store with one bucket."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        found = Store(free.getsockname()[1])
    program = str(Path(sys.executable).with_name("moto_server"))
    log = (tmp_path_factory.mktemp("store") / "log").open("wb")
    command = [program, "-H", "127.0.0.1", "-p", found.address.rpartition(":")[2]]
    with log, subprocess.Popen(command, stdout=log, stderr=log) as server:
        try:
            support.until(lambda: _answers(found), "the store")
            found.ask("PUT", BUCKET.partition("://")[2])
            yield found
        finally:
            server.kill()


def _answers(found: Store) -> bool:
    try:
        found.ask("GET", "moto-api/")
    except OSError:
        return False
    return True


@pytest.fixture(autouse=True)
def variables(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let programs find the store."""
    remote._store.cache_clear()
    for name, value in store.variables.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="module")
def dumps(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of dumps that is in the store too."""
    folder = tmp_path_factory.mktemp("dumps")
    lines = records(7, 2000)
    support.dump(folder / "whole.jsonl", lines)
    for place in range(3):
        support.dump(folder / f"part-{place}.jsonl", lines[place::3])
    (folder / "packed.jsonl.gz").write_bytes(gzip.compress(support.text(lines)))
    frame = flat(lines)
    frame.write_csv(folder / "whole.csv")
    frame.write_parquet(folder / "whole.parquet", row_group_size=300)
    frame.write_ipc(folder / "whole.arrow", record_batch_size=300)
    store.copy(folder)
    return folder


def here_and_there(folder: Path, text: str) -> str:
    """Return a text with the names of files in a folder for those of the same objects."""
    return text.replace(f"{BUCKET}/{folder.name}", str(folder))


@pytest.mark.parametrize("engine", [None, "processes:2"])
def test_compare_gives_the_same_bytes(engine: str | None, dumps: Path) -> None:
    """In every format, and packed: names apart, the report is that of files, digests and sizes included."""
    with small_tasks(engine) as workers:
        own = None if isinstance(workers, int) else workers.executor
        for name in KINDS:
            files, objects = str(dumps / name), f"{BUCKET}/{dumps.name}/{name}"
            here = compared(None, files, 30_000, 500)
            assert json.loads(here)["evidence"][0]["sha256"]
            assert here_and_there(dumps, compared(own, objects, 30_000, 500)) == here


def test_a_cluster_reads_them_itself(store: Store, dumps: Path, tmp_path: Path) -> None:
    """Workers of Dask fetch ranges by themselves, and digest objects."""
    with engines.cluster(tmp_path, 2, **store.variables) as own:
        for name in ("whole.jsonl", "whole.parquet"):
            here = compared(None, str(dumps / name), 30_000, 500)
            assert here_and_there(dumps, compared(own.engine, f"{BUCKET}/{dumps.name}/{name}", 30_000, 500)) == here


def test_evaluate_gives_the_same_bytes(store: Store, tmp_path: Path) -> None:
    """Both sides may be objects."""
    given = sides(tmp_path / "both")
    store.copy(tmp_path / "both")
    objects = ([f"{BUCKET}/both/p*.jsonl"], [f"{BUCKET}/both/g*.jsonl"])
    assert here_and_there(tmp_path / "both", evaluated(None, objects, 20_000)) == evaluated(None, given, 20_000)


def test_the_command_reads_them(store: Store, dumps: Path, tmp_path: Path) -> None:
    """The command takes addresses where it takes files."""
    env = support.environment(**store.variables)
    url = f"{BUCKET}/{dumps.name}/whole.jsonl"
    run = support.compare(url, "--json", "r.json", "--out", "out", "-q", cwd=tmp_path, env=env)
    assert (run.code, run.err) == (3, "")
    assert json.loads((tmp_path / "r.json").read_bytes())["evidence"][0]["name"] == url


@pytest.mark.parametrize("option", ["--json", "--out"])
def test_outputs_are_files(option: str, tmp_path: Path) -> None:
    """An address is no place to write to; no folder of its name is made."""
    support.dump(tmp_path / "d.jsonl", support.GO)
    run = support.compare("d.jsonl", option, f"{BUCKET}/r", cwd=tmp_path)
    assert run.code == 2
    assert "[output-unwritable]" in run.err
    assert os.listdir(tmp_path) == ["d.jsonl"]


def test_refusals_are_those_of_files(store: Store, tmp_path: Path) -> None:
    """Broken lines and leaks are said with the address and the line."""
    lines = records(5, 600)
    lines[10] = support.record("alpha", "test", 1, subject=support.key("train", 77))
    lines[500] = support.record("beta", "train", 1, subject=support.key("train", 77))
    said = compared("processes:2", store.put("leak.jsonl", support.text(lines)), 20_000)
    assert said.startswith(f"{BUCKET}/leak.jsonl:501: split: contributor 00")
    assert f"is in train here and in test at {BUCKET}/leak.jsonl:11" in said
    lines[300] = "{"
    store.put("broken.jsonl", support.text(lines))
    assert compared(None, f"{BUCKET}/broken.jsonl", 20_000).startswith(f"{BUCKET}/broken.jsonl:301: ")


@pytest.mark.parametrize(
    ("url", "said"),
    [
        (f"{BUCKET}/none.jsonl", "there is no such object, or no such bucket [path-missing]"),
        (f"{BUCKET}/none/*.jsonl", "the pattern matches no object [pattern-empty]"),
        ("s3://no-such-bucket/a.jsonl", "there is no such object, or no such bucket [path-missing]"),
        ("s3://no-such-bucket/*.jsonl", "cannot be listed: NoSuchBucket [path-unreadable]"),
    ],
)
def test_what_is_not_there_is_refused(url: str, said: str) -> None:
    """A missing object, a pattern without one, a missing bucket."""
    with pytest.raises(Refusal) as refusal:
        resolve([url])
    assert str(refusal.value) == f"{url}: {said}"


def test_one_object_twice_is_refused(dumps: Path) -> None:
    """As one file is."""
    url = f"{BUCKET}/{dumps.name}/whole.jsonl"
    with pytest.raises(Refusal, match="is the same file as s3://"):
        resolve([url, f"{BUCKET}/{dumps.name}/wh*.jsonl"])


def test_an_object_that_changes_is_refused(store: Store) -> None:
    """One that is written anew, or removed, while it is read."""
    url = store.put("changing.jsonl", support.text(records(1, 300)))
    with Inputs(resolve([url]), 20_000) as inputs:
        parts = list(inputs.partitions())
        store.put("changing.jsonl", support.text(records(2, 300)))
        with pytest.raises(Refusal, match=r"changing.jsonl: was changed while it was read"):
            parts[0].load()  # type: ignore[attr-defined]
        obstore.delete(store.own, "changing.jsonl")
        with pytest.raises(Refusal, match=r"changing.jsonl: was there at the start and cannot be opened now"):
            parts[1].load()  # type: ignore[attr-defined]


def test_a_key_that_is_refused(store: Store, dumps: Path, tmp_path: Path) -> None:
    """Exit code 2, with what the store says."""
    env = support.environment(**store.variables)
    store.ask("POST", "moto-api/reset-auth", b"0")
    try:
        for name in ("whole.jsonl", "*.jsonl"):
            run = support.compare(f"{BUCKET}/{dumps.name}/{name}", "--json", "r.json", cwd=tmp_path, env=env)
            assert run.code == 2
            assert "[path-unreadable]" in run.err
            assert "InvalidAccessKeyId" in run.err or "status 403" in run.err
    finally:
        store.ask("POST", "moto-api/reset-auth", b"Infinity")
    assert not (tmp_path / "r.json").exists()


def test_a_store_that_does_not_answer(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is the network's failure and exit code 1, not the input's."""
    monkeypatch.setattr(remote, "_RETRIES", 1)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:1")
    with pytest.raises(OSError, match="error sending request"):
        evalkit.compare(f"{BUCKET}/a.jsonl", "0.5")


def test_an_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """What must be installed is said."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(Refusal, match=r'pip install "evalkit\[cloud\]" \[cloud-extra\]'):
        resolve([f"{BUCKET}/a.jsonl"])
