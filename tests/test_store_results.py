"""Results put into a store: whole or not at all; and what a store refuses, refused in words, with exit code 2.

Two real servers that speak S3 answer on loopback: one takes any key, the other asks for the right one.
"""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch
from xml.etree import ElementTree

import pytest
from stores import KEY, SECRET, Server, command, server
from support import FLOOR, RESULT_FILES, Run, environment, evalkit, judged, text

import evalkit as api
from evalkit.results import store_files
from evalkit.sources.store_faults import StoreError, trouble
from evalkit.sources.store_systems import Place

BUCKET = "results"
GO = text(judged("alpha", right=10))


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Return a server with one bucket and a dump in it."""
    with server(tmp_path_factory.mktemp("server")) as found:
        found.ask("PUT", BUCKET)
        found.put(f"{BUCKET}/dump.jsonl", GO)
        yield found


@pytest.fixture
def store(running: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """Return the server, which this process and those that it starts find."""
    told(monkeypatch, running.variables)
    return running


def compare(*arguments: str | Path) -> Run:
    """Run ``compare``."""
    return command("compare", *FLOOR, *arguments)


def told(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    """Put variables into the environment."""
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def refused(*arguments: str | Path) -> str:
    """Run ``compare`` with these arguments, which is refused for one reason, and return it."""
    run = compare(*arguments)
    first, *rest = run.err.splitlines()
    assert (run.code, run.out) == (2, "")
    assert first == "evalkit: refused: 1 violation; nothing was scored, nothing was written"
    assert SECRET not in run.err
    (only,) = rest
    return only.strip()


# results


def test_results_in_a_store_are_those_of_a_folder(store: Server, tmp_path: Path) -> None:
    """``--out`` puts the same bytes under a prefix as into a folder, and ``--json`` the same as into a file."""
    dump = f"s3://{BUCKET}/dump.jsonl"
    there = ("--out", f"s3://{BUCKET}/runs/one/", "--json", f"s3://{BUCKET}/runs/one.json")
    here = ("--out", tmp_path / "one", "--json", tmp_path / "one.json")
    found = compare(dump, *there)
    assert (found.code, found.lines[-2:]) == (
        0,
        [f"report: s3://{BUCKET}/runs/one.json", f"tables: s3://{BUCKET}/runs/one/"],
    )
    assert compare(dump, *here, "-q").code == 0
    assert store.names(BUCKET, "runs/one/") == [f"runs/one/{name}" for name in RESULT_FILES]
    for name in RESULT_FILES:
        assert store.ask("GET", f"{BUCKET}/runs/one/{name}") == (tmp_path / "one" / name).read_bytes()
    assert store.ask("GET", f"{BUCKET}/runs/one.json") == (tmp_path / "one.json").read_bytes()


def test_earlier_results_are_replaced_whole(store: Server, tmp_path: Path) -> None:
    """A second run takes the place of the first, whose report goes first and whose other tables go too."""
    api.compare(f"s3://{BUCKET}/dump.jsonl", "0.5").write_tables(f"s3://{BUCKET}/twice")
    document = tmp_path / "document.json"
    header = {"run_id": "r", "model_revision": "m", "dataset_id": "d", "synthetic": True, "split": "held_out"}
    document.write_text(json.dumps({**header, "source_ids": ["s"], "development_source_ids": ["t"]}))
    api.measure(document).write_tables(f"s3://{BUCKET}/twice")
    assert store.names(BUCKET, "twice/") == ["twice/measurements.parquet", "twice/report.json"]
    assert json.loads(store.ask("GET", f"{BUCKET}/twice/report.json"))["run_id"] == "r"


def test_the_report_comes_last(store: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the store fails in between, no report stands there: neither the new one nor an earlier one."""
    report = api.compare(f"s3://{BUCKET}/dump.jsonl", "0.5")
    report.write_tables(f"s3://{BUCKET}/torn")
    put, asked = store_files._put, list[str]()

    def failing(place: Place, data: object) -> None:
        asked.append(place.name.rpartition("/")[2])
        if len(asked) == 4:
            raise StoreError(trouble(OSError("AWS Error SLOW_DOWN (HTTP status 503)"), place))
        put(place, data)

    monkeypatch.setattr(store_files, "_put", failing)
    with pytest.raises(api.Refusal) as said:
        report.write_tables(f"s3://{BUCKET}/torn")
    message = "cannot be written: the store answers SLOW_DOWN, HTTP status 503 [output-unwritable]"
    assert str(said.value) == f"s3://{BUCKET}/torn: {message}"
    assert "torn/report.json" not in store.names(BUCKET, "torn/")
    assert len(store.names(BUCKET, "torn/")) == 6
    monkeypatch.setattr(store_files, "_put", put)
    report.write_tables(f"s3://{BUCKET}/torn")
    assert store.names(BUCKET, "torn/") == [f"torn/{name}" for name in RESULT_FILES]


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (
            ("--out", "s3://results/foreign"),
            "holds notes.txt, which is no part of earlier results; name another folder",
        ),
        (
            ("--out", "s3://results/foreign/notes.txt"),
            "is not a folder; name one that does not exist, or earlier results",
        ),
        (("--out", "s3://results"), "holds the input s3://results/dump.jsonl; name another folder"),
        (("--out", "s3://no-such-bucket/a"), "cannot be written: there is no bucket no-such-bucket"),
        (("--json", "s3://no-such-bucket/a.json"), "cannot be written: there is no bucket no-such-bucket"),
        (("--json", "s3://results/foreign"), "is a folder; name an object"),
        (("--json", "s3://results/a/"), "is a folder; name an object"),
        (("--json", "s3://results"), "is a folder; name an object"),
        (("--json", "s3://results/dump.jsonl"), "is the input s3://results/dump.jsonl; name another file"),
        (
            ("--json", "s3://results/a/b.json", "--out", "s3://results/a"),
            "clashes with the results folder s3://results/a; name a file outside it",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_place_where_nothing_can_be_written_is_refused(store: Server, arguments: tuple[str, ...], fault: str) -> None:
    """Before a record is read, as for a folder: what would destroy an input, foreign objects or other results."""
    store.put(f"{BUCKET}/foreign/notes.txt", b"keep me")
    said = refused(f"s3://{BUCKET}/dump.jsonl", *arguments)
    assert said.rpartition(" [")[0] == f"{arguments[1]}: {fault}"
    assert store.ask("GET", f"{BUCKET}/foreign/notes.txt") == b"keep me"
    assert store.ask("GET", f"{BUCKET}/dump.jsonl") == GO


# refusals


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("s3://results/none.jsonl", "there is no such object [path-missing]"),
        ("s3://results/none/", "there is no such object [path-missing]"),
        ("s3://results/none/*.jsonl", "the pattern matches no object [pattern-empty]"),
        (
            "s3://no-such-bucket/a.jsonl",
            "there is no bucket no-such-bucket, or none that these credentials see [path-missing]",
        ),
        (
            "s3://no-such-bucket/*.jsonl",
            "there is no bucket no-such-bucket, or none that these credentials see [path-missing]",
        ),
        ("s3:///a.jsonl", "must name a bucket, as in s3://bucket/name [store-url]"),
        ("s3://results/a//b", "has an empty part between two slashes, which is not read [store-url]"),
        ("s3a://results/a", "s3a:// is not read, but s3://, gs://, az://, abfs:// and hf:// are [store-url]"),
        (
            "hf://datasets/a/b/c.jsonl",
            'hf:// needs huggingface_hub, which is not installed: pip install "evalkit[hf]" [store-extra]',
        ),
        (
            "az://container/a.jsonl",
            (
                "names no account; set AZURE_STORAGE_ACCOUNT_NAME, "
                "or name abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/… [store-url]"
            ),
        ),
    ],
)
def test_a_name_of_nothing_is_refused(store: Server, name: str, fault: str) -> None:
    """What is not there, or cannot be, is told apart: object, bucket, kind of store, extra, account."""
    with patch("evalkit.sources.store_systems.find_spec", return_value=None), pytest.raises(api.Refusal) as said:
        api.compare(name, "0.5")
    assert str(said.value) == f"{name}: {fault}"


def test_all_that_is_wrong_is_said_at_once(store: Server) -> None:
    """Names of files and of objects that are not there are refused together, in the order given."""
    with pytest.raises(api.Refusal) as said:
        api.compare(["s3://results/b", "none.jsonl", "s3://results/dump.jsonl", "s3://results/d*.jsonl"], "0.5")
    assert str(said.value).splitlines() == [
        "s3://results/b: there is no such object [path-missing]",
        "none.jsonl: there is no such file [path-missing]",
        "s3://results/dump.jsonl: is the same file as s3://results/dump.jsonl; name each file once [same-file-twice]",
    ]


def test_a_folder_of_anything_but_parquet_is_refused(store: Server) -> None:
    """A folder stands for the Parquet in it, as one of files does."""
    store.put(f"{BUCKET}/lines/a.jsonl", GO)
    with pytest.raises(api.Refusal) as said:
        api.compare(f"s3://{BUCKET}/lines", "0.5")
    message = "is a directory; name its files, or a pattern such as DIRECTORY/*.jsonl [path-directory]"
    assert str(said.value) == f"s3://{BUCKET}/lines: {message}"


def test_a_store_that_does_not_answer_is_refused(store: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nothing listens at the endpoint, it is said in seconds."""
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    said = refused(f"s3://{BUCKET}/dump.jsonl")
    message = "cannot be read: the store cannot be reached; check the network and the endpoint [store-unreachable]"
    assert said == f"s3://{BUCKET}/dump.jsonl: {message}"


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, dict[str, str]]]:
    """Return a server that asks for the right key, and what tells a key that may read and not write."""
    made = 5  # requests that nobody is asked a key for: the five below
    with server(tmp_path_factory.mktemp("strict"), INITIAL_NO_AUTH_ACTION_COUNT=str(made)) as found:
        found.ask("PUT", BUCKET)
        found.put(f"{BUCKET}/dump.jsonl", GO)
        statement = {"Effect": "Allow", "Action": ["s3:Get*", "s3:List*", "s3:Head*"], "Resource": "*"}
        policy = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
        _iam(found, Action="CreateUser", UserName="reader")
        _iam(found, Action="PutUserPolicy", UserName="reader", PolicyName="read", PolicyDocument=policy)
        answer = ElementTree.fromstring(_iam(found, Action="CreateAccessKey", UserName="reader"))  # noqa: S314
        made_key = {one.tag.rpartition("}")[2]: one.text or "" for one in answer.iter()}
        key, secret = made_key["AccessKeyId"], made_key["SecretAccessKey"]
        yield found, {"AWS_ACCESS_KEY_ID": key, "AWS_SECRET_ACCESS_KEY": secret}


def _iam(found: Server, **form: str) -> bytes:
    return found.ask("POST", "", urllib.parse.urlencode({**form, "Version": "2010-05-08"}).encode(), service="iam")


def test_a_key_that_may_read_reads(strict: tuple[Server, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    """With the right key an object is judged; that the same key may not write is refused by the store's answer."""
    found, keys = strict
    told(monkeypatch, {**found.variables, **keys})
    assert compare(f"s3://{BUCKET}/dump.jsonl", "-q").code == 0
    target = f"s3://{BUCKET}/mine.json"
    said = refused(f"s3://{BUCKET}/dump.jsonl", "-q", "--json", target)
    message = "the store refuses access; check which credentials are found, and that they may read and list here"
    assert said == f"{target}: cannot be written: {message} (ACCESS_DENIED) [output-unwritable]"


@pytest.mark.parametrize("given", [{"AWS_SECRET_ACCESS_KEY": SECRET}, {"AWS_ACCESS_KEY_ID": KEY}])
def test_a_wrong_key_is_refused(
    strict: tuple[Server, dict[str, str]], monkeypatch: pytest.MonkeyPatch, given: dict[str, str]
) -> None:
    """A key that the store does not know, and a known one with another secret, are refused, and neither is shown."""
    found, keys = strict
    told(monkeypatch, {**found.variables, **keys, **given})
    said = refused(f"s3://{BUCKET}/dump.jsonl")
    message = "the store refuses access; check which credentials are found, and that they may read and list here"
    assert said.startswith(f"s3://{BUCKET}/dump.jsonl: cannot be read: {message} (")
    assert said.endswith(" [store-refused]")
    assert keys["AWS_SECRET_ACCESS_KEY"] not in said


def test_no_key_at_all_is_refused(strict: tuple[Server, dict[str, str]], tmp_path: Path) -> None:
    """Without any credentials the request goes out unsigned, as for public data, and the store's answer is told."""
    found, _ = strict
    env = environment(**found.variables, HOME=str(tmp_path))
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        del env[name]
    run = evalkit("compare", f"s3://{BUCKET}/dump.jsonl", *FLOOR, cwd=tmp_path, env=env)
    assert (run.code, run.out, "Traceback" in run.err) == (2, "", False)
    assert run.err.splitlines()[1].startswith(f"  s3://{BUCKET}/dump.jsonl: cannot be read: the store ")
