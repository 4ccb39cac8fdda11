"""Engines: whoever reads the partitions, the report, the refusal and their order are the same, to the last byte.

A real Dask cluster on loopback: a scheduler and two workers with nannies, each a process of its own.
"""

from __future__ import annotations

import asyncio
import gzip
import importlib.util
import json
import logging
import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from multiprocessing import get_context
from pathlib import Path
from threading import Event, Thread
from typing import Any

import engine_worker
import engines
import polars as pl
import pytest
import support
from distributed import Client
from engines import TASK_BYTES, Cluster, cluster, compared, evaluated, flat, records, sides, small_tasks
from observations import command, document, merge, page, query, write_document, write_lines

import evalkit
from evalkit.contracts.contract import BRISTOL
from evalkit.engines import dask as dask_module
from evalkit.engines import engine as engine_module
from evalkit.engines import failures
from evalkit.engines.engine import AHEAD, Engine, bundles
from evalkit.engines.failures import EngineError
from evalkit.engines.processes import Processes
from evalkit.errors import Refusal
from evalkit.families.observations.measure import Question as MeasureQuestion
from evalkit.families.observations.measure import answer
from evalkit.reading.engine import Asked, digests_by, engine_of, gather, workers_of
from evalkit.sources.partition import Inputs, Partition, Whole
from evalkit.sources.source import resolve

KINDS = ("dask", "processes")


@pytest.fixture(scope="module")
def dask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """Return a cluster of two workers."""
    with cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture(scope="module")
def pool() -> Iterator[Executor]:
    """Return the pool of the standard library, of new interpreters."""
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as found:
        yield found


@pytest.fixture(scope="module")
def processes() -> Iterator[Executor]:
    """Return processes of ours."""
    with Processes(2) as found:
        yield found


@pytest.fixture
def asked(request: pytest.FixtureRequest) -> Asked:
    """Return what is asked for to get an engine of a kind."""
    kind: str = request.param
    found = request.getfixturevalue(kind)
    return found.engine if isinstance(found, Cluster) else found


every_kind = pytest.mark.parametrize("asked", KINDS, indirect=True)
and_a_pool = pytest.mark.parametrize("asked", [*KINDS, "pool"], indirect=True)


@pytest.fixture(scope="module")
def dumps(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the same 3,000 records in many files, in one, packed, as CSV and as Parquet."""
    folder = tmp_path_factory.mktemp("dumps")
    lines = records(7, 3000)
    support.dump(folder / "whole.jsonl", lines)
    for place in range(12):
        support.dump(folder / f"part-{place:02}.jsonl", lines[place::12])
    (folder / "packed.jsonl.gz").write_bytes(gzip.compress(support.text(lines)))
    frame = flat(lines)
    frame.write_csv(folder / "whole.csv")
    frame.write_parquet(folder / "whole.parquet", row_group_size=200)
    frame.write_ipc(folder / "whole.arrow", record_batch_size=200)
    return folder


# the same bytes


@and_a_pool
def test_compare_gives_the_same_bytes(asked: Asked, dumps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many files, byte ranges, row groups, record batches, streams and frames: the report is that of one machine."""
    monkeypatch.chdir(dumps)
    frame = pl.read_parquet("whole.parquet")
    for given, size, rows in (
        ("part-*.jsonl", 10_000, 1000),
        ("part-*.jsonl", 2**20, 1000),
        ("whole.jsonl", 25_000, 1000),
        ("whole.parquet", 2**20, 400),
        ("whole.arrow", 2**20, 400),
        ("whole.csv", 25_000, 1000),
        ("packed.jsonl.gz", 25_000, 1000),
        (frame, 2**20, 400),
        (frame.lazy(), 2**20, 400),
    ):
        here = compared(None, given, size, rows)
        assert [one["model"] for one in json.loads(here)["candidates"]] == ["alpha", "beta", "gämma"]
        assert compared(asked, given, size, rows) == here


@every_kind
def test_strata_and_another_contract_travel(asked: Asked, tmp_path: Path) -> None:
    """Labels that are texts, keys that derive nothing, strata: a contract reaches the workers whole."""
    labels = ["soft", "hard", "nöne"]
    contract = replace(BRISTOL, labels=tuple(labels), split_rule=None)
    rng = random.Random(3)
    lines = [
        {
            "model": "m",
            "subjectKey": f"{split}-{number}",
            "split": split,
            "truth": {"bristolType": rng.choice(labels)},
            "prediction": {"bristolType": rng.choice(labels), "confidence": rng.random()},
            "site": rng.choice(["a", "b", None]),
        }
        for number in range(400)
        for split in ("train", "validation", "test")
    ]
    dump = support.dump(tmp_path / "d.jsonl", map(json.dumps, lines))
    here = compared(None, str(dump), 20_000, contract=contract, by=("site",))
    assert '"stratum' in here or "strata" in here
    assert compared(asked, str(dump), 20_000, contract=contract, by=("site",)) == here


@and_a_pool
def test_evaluate_gives_the_same_bytes(asked: Asked, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gold goes to every worker once, along with a task or shared, and the report is that of one machine."""
    given = sides(tmp_path / "s")
    here = evaluated(None, given, 20_000)
    assert json.loads(here)["evidence"][0]["records"] == 750
    assert evaluated(asked, given, 20_000) == here
    monkeypatch.setattr(engine_module, "LARGE_BYTES", 1)
    assert evaluated(asked, given, 15_000) == here


def test_the_command_gives_the_same_bytes(dask: Cluster, dumps: Path, tmp_path: Path) -> None:
    """``--engine`` of ``compare`` and ``evaluate`` changes no byte of what is written."""
    given = sides(tmp_path / "s")
    written = set()
    for place, engine in enumerate(("local", dask.engine)):
        one, two = tmp_path / f"c{place}.json", tmp_path / f"e{place}.json"
        run = support.compare(dumps / "whole.jsonl", "--engine", engine, "--json", one, "-q", cwd=dumps)
        assert (run.code, run.err) == (3, "")
        both = ("--predictions", given[0][0], "--gold", given[1][0])
        run = support.evalkit("evaluate", *both, "--engine", engine, "--json", two, "-q", cwd=dumps)
        assert (run.code, run.err) == (0, "")
        written.add((one.read_bytes(), two.read_bytes()))
    assert len(written) == 1


def test_the_api_takes_an_executor(dask: Cluster, dumps: Path, tmp_path: Path) -> None:
    """``executor=`` takes Dask's own executor, any other, or the text of ``--engine``; the caller keeps it open."""
    from distributed import Client

    given = sides(tmp_path / "s")
    compare = evalkit.compare(dumps / "whole.jsonl", "0.5").to_json()
    evaluation = evalkit.evaluate(*given).to_json()
    with Client(f"tcp://{dask.address}", set_as_default=False) as client, ThreadPoolExecutor(2) as threads:  # type: ignore[no-untyped-call]
        for executor in (client.get_executor(), threads, "local"):
            assert evalkit.compare(dumps / "whole.jsonl", "0.5", executor=executor).to_json() == compare
            assert evalkit.evaluate(*given, executor=executor).to_json() == evaluation
        assert threads.submit(int, "1").result() == 1
        assert client.submit(int, "1").result() == 1


def test_digests_are_made_where_the_data_is(dask: Cluster, dumps: Path) -> None:
    """Workers elsewhere digest files, a file a task; those of this machine leave that to a thread of this process."""
    found = [source for source in resolve([str(dumps / "part-*.jsonl")]) if source.identity is not None]
    files = [Whole(source.name, source.identity) for source in found if source.identity is not None]
    with workers_of(dask.engine) as workers:
        by = digests_by(workers)
        assert by is not None
        stop = Event()
        expected = [subprocess.check_output(["sha256sum", file.path]).split()[0].decode() for file in files]
        assert list(by(files, stop)) == expected
    with workers_of("processes:2") as workers:
        assert digests_by(workers) is None


# the same refusals


@every_kind
def test_leaks_across_partitions_are_found(asked: Asked, tmp_path: Path) -> None:
    """A contributor in two splits, far apart: the same text, in the same order, as on one machine."""
    lines = records(5, 1500)
    lines[10] = support.record("alpha", "test", 1, subject=support.key("train", 77))
    lines[700] = support.record("beta", "train", 1, subject=support.key("train", 77))
    lines[1400] = support.record("beta", "validation", 1, subject=support.key("test", 5))
    for place in range(3):
        support.dump(tmp_path / f"{place}.jsonl", lines[500 * place : 500 * (place + 1)])
    here = compared(None, str(tmp_path / "*.jsonl"), 15_000)
    assert "1.jsonl:201: split: contributor 00" in here.splitlines()[0]
    assert compared(asked, str(tmp_path / "*.jsonl"), 15_000) == here


@every_kind
def test_declared_leaks_are_found(asked: Asked, tmp_path: Path) -> None:
    """Where splits are declared, too."""
    contract = replace(BRISTOL, split_rule=None)
    lines = records(5, 1500)
    lines[3] = support.record("alpha", "test", 1, subject="someone")
    lines[1450] = support.record("alpha", "train", 1, subject="someone")
    support.dump(tmp_path / "d.jsonl", lines)
    here = compared(None, str(tmp_path / "d.jsonl"), 15_000, contract=contract)
    assert "d.jsonl:1451: split: a contributor (a text of length 7) is in train here and in test at" in here
    assert compared(asked, str(tmp_path / "d.jsonl"), 15_000, contract=contract) == here


@every_kind
def test_broken_lines_are_said_in_order(asked: Asked, tmp_path: Path) -> None:
    """The first 20 broken lines in the order of the input, all counted, whichever worker found them."""
    for place in range(4):
        lines = records(place, 400)
        for line in range(0, 400, 40 - 3 * place):
            lines[line] = lines[line].replace('"model"', '"modle"') if line % 2 else "{"
        support.dump(tmp_path / f"{place}.jsonl", lines)
    here = compared(None, str(tmp_path / "*.jsonl"), 9_000)
    assert "in all:" in here
    assert compared(asked, str(tmp_path / "*.jsonl"), 9_000) == here


@every_kind
def test_evaluate_refuses_alike(asked: Asked, tmp_path: Path) -> None:
    """Sums off 1, ids twice on either side, predictions without gold: what second readings find is the same."""
    for number, (name, line) in enumerate(
        (
            ("p", {"id": "case-3", "option_ids": ["a", "b"], "probabilities": [0.5, 0.4], "model": "m"}),
            ("p", {"id": "case-3", "option_ids": ["a", "b"], "probabilities": [0.5, 0.5], "model": "m"}),
            ("g", {"id": "case-3", "gold": "a"}),
            ("p", {"id": "nobody", "option_ids": ["a", "b"], "probabilities": [0.5, 0.5], "model": "m"}),
        )
    ):
        folder = tmp_path / str(number)
        given = sides(folder, files=2)
        support.dump(folder / f"{name}9.jsonl", [json.dumps(line)])
        here = evaluated(None, given, 20_000)
        assert f"{name}9.jsonl" in here or "nobody" in here
        assert evaluated(asked, given, 20_000) == here


def test_a_file_that_changes_is_refused_by_workers_too(dask: Cluster, tmp_path: Path) -> None:
    """A file that is written to while a cluster reads it is refused, as on one machine."""
    path = support.dump(tmp_path / "d.jsonl", records(1, 500))
    with small_tasks(dask.engine) as workers, Inputs(resolve([str(path)]), 9_000) as inputs:
        assert sum(gather(engine_worker.loaded, inputs.partitions(), workers)) == path.stat().st_size
        with path.open("a") as file:
            file.write("\n")
        with pytest.raises(Refusal, match=r"d\.jsonl: was changed while it was read"):
            list(gather(engine_worker.loaded, inputs.partitions(), workers))

    def shorten(*_: int) -> None:
        path.write_text("{}")

    elsewhere = compared(dask.engine, str(path), 9_000, progress=shorten)
    assert "was changed while it was read" in elsewhere


@and_a_pool
def test_measure_gives_the_same_bytes(asked: Asked, tmp_path: Path) -> None:
    """Lists of the document and lists as lines: sums, digest and every refusal are those of one machine."""
    pages = [page(n, f"{n} " + "abc def " * 60, f"{n} " + "abd def " * 60, stratum=str(n % 3)) for n in range(1500)]
    queries = [query(n, {"d": 2, f"d{n}": 1}, lexical=["d", f"d{n}"], dense=[f"d{n}"]) for n in range(300)]
    lists = {"merges": [merge(1, accepted=True, correct=True)], "commands": [command(1, "run -x", "run -y")]}
    files = {
        "ocr_cases": str(write_lines(tmp_path / "ocr.jsonl", pages)),
        "retrieval_queries": str(write_lines(tmp_path / "queries.jsonl", queries)),
    }
    question = MeasureQuestion(str(write_document(tmp_path / "d.json", document(**lists))), files)
    with workers_of(asked) as workers:
        engine = engine_of(workers)
        assert engine is not None
        assert answer(question)["OCR CER"]["numerator"] == 1500 * 60
        assert answer(question, engine=engine).to_json() == answer(question).to_json()
        write_lines(tmp_path / "ocr.jsonl", [*pages, page(7, "a", "b"), {**page("x", "a", "b"), "source_id": "z"}])
        with pytest.raises(Refusal, match=r"ocr.jsonl:1502: .*source_id") as here:
            answer(question)
        with pytest.raises(Refusal) as there:
            answer(question, engine=engine)
        assert (str(there.value), there.value.counts) == (str(here.value), here.value.counts)


def test_a_file_that_a_worker_does_not_see_is_said(
    dask: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A path that leads nowhere on a worker is not said to be a file that was changed."""
    monkeypatch.chdir(tmp_path)
    support.dump(Path("unseen.jsonl"), records(1, 50))
    said = compared(dask.engine, "unseen.jsonl")
    assert said.startswith("unseen.jsonl: is not the same file to worker ")
    assert (
        "where it was changed while it was read; run again when it is whole; workers read files by themselves" in said
    )
    assert said.endswith("[engine-file]")


# failures


def test_a_dask_worker_killed_leaves_the_same_bytes(dask: Cluster, dumps: Path) -> None:
    """A worker that dies in the middle of a run costs time alone."""
    from distributed import Client

    with Client(f"tcp://{dask.address}", set_as_default=False) as client:  # type: ignore[no-untyped-call]
        pids = list(client.run(os.getpid).values())
    given, killed = str(dumps / "whole.jsonl"), list[int]()

    def kill(*_: int) -> None:
        if not killed:
            killed.append(pids[0])
            os.kill(pids[0], signal.SIGKILL)

    here = compared(None, given, 10_000)
    assert compared(dask.engine, given, 10_000, progress=kill) == here
    assert killed
    assert not Path(f"/proc/{killed[0]}").exists()


def test_a_process_killed_leaves_the_same_bytes(dumps: Path) -> None:
    """So does a process of ``processes:N``; another takes its place, and all are gone at the end."""
    given, killed = str(dumps / "whole.jsonl"), list[int]()
    with Processes(2) as executor:

        def kill(*_: int) -> None:
            if len(killed) < 2:
                killed.append(executor.pids[len(killed)])
                os.kill(killed[-1], signal.SIGKILL)

        assert compared(executor, given, 10_000, progress=kill) == compared(None, given, 10_000)
        left = executor.pids
        assert len(left) == 2
    assert len(set(killed)) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in (*killed, *left))


def test_a_task_that_kills_every_worker_is_named(
    dask: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file and its bytes are named once, without warnings and traces of Dask before."""
    dump = support.dump(tmp_path / "poison.jsonl", records(1, 1000))
    heard: list[logging.LogRecord] = []
    handler = logging.Handler()
    monkeypatch.setattr(handler, "emit", heard.append)
    for name in ("distributed.client", "tornado.application"):
        monkeypatch.setattr(logging.getLogger(name), "handlers", [handler])
    with pytest.raises(EngineError) as error:
        compared(dask.engine, str(dump), 60_000)
    assert f"{dask.engine}: 4 workers died over it, one after the other; not read: {dump}, bytes" in str(error.value)
    assert heard == []
    support.until(lambda: _workers(dask) == 2, "the nannies' new workers")


def _workers(dask: Cluster) -> int:
    with workers_of(dask.engine) as workers:
        assert isinstance(workers, Engine)
        return workers.slots()


def test_a_task_that_kills_every_process_is_named(tmp_path: Path) -> None:
    """Three processes are given to it, no more, and no other partition is blamed."""
    dump = support.dump(tmp_path / "d.jsonl", records(1, 1000))
    with small_tasks("processes:2") as workers, Inputs(resolve([str(dump)]), TASK_BYTES) as inputs:
        with pytest.raises(EngineError) as error:
            list(gather(engine_worker.place_or_die, inputs.partitions(), workers))
        said = "processes:2: 3 processes that it was given to died, the last with code -9"
        assert str(error.value) == f"{said}; not read: {dump}, bytes 80,000 to 120,000"


def test_the_command_says_so_and_writes_nothing(tmp_path: Path) -> None:
    """A machine's failure is exit code 1, and no output is there."""
    dump = support.dump(tmp_path / "poison.jsonl", records(1, 1000))
    env = support.environment(**engines.QUICK)
    with cluster(tmp_path, 1, **{engine_worker.OTHER: "1"}) as other:
        # Its only worker says that it has another Polars.
        run = support.compare(dump, "--engine", other.engine, "--json", "r.json", cwd=tmp_path, env=env)
        assert run.code == 2
        assert f"of {other.engine} has evalkit 0.1.0 with Polars 1.0.0, and here is evalkit 0.1.0 with" in run.err
        assert "[engine-versions]" in run.err
        # Its scheduler is killed.
        os.kill(other.scheduler.pid, signal.SIGKILL)
        run = support.compare(dump, "--engine", other.engine, "--json", "r.json", cwd=tmp_path, env=env)
        assert run.code == 1
        assert f"failed, and not for the input: {other.engine}: no scheduler answers there" in run.err
    assert not (tmp_path / "r.json").exists()


def test_whoever_answers_must_be_a_scheduler(
    dask: Cluster, dumps: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker's address, a page for browsers, files that are no scheduler file: said within seconds, exit code 1."""
    monkeypatch.setattr(dask_module, "ANSWER", 1.0)
    junk = support.dump(tmp_path / "junk.json", ["{}"])
    with Client(dask.address, set_as_default=False) as client:  # type: ignore[no-untyped-call]
        worker = next(iter(client.scheduler_info()["workers"]))
    with HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as page:
        thread = Thread(target=page.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            for place, said in (
                (worker, "this is the address of a Worker"),
                (f"127.0.0.1:{page.server_port}", ""),
                (str(junk), "this is not what dask scheduler --scheduler-file writes"),
                (str(tmp_path / "none.json"), "No such file or directory"),
            ):
                with pytest.raises(EngineError, match=f"^dask://{place}: no scheduler answers there: .*{said}"):
                    compared(f"dask://{place}", str(dumps / "part-00.jsonl"))
        finally:
            page.shutdown()
            thread.join()


def test_encryption_that_is_not_set_up_is_said(dumps: Path) -> None:
    """Without certificates there is no tls; that is a failure to connect, not a bug."""
    with pytest.raises(EngineError, match=r"no scheduler answers there: TLS expects"):
        compared("dask://tls://127.0.0.1:9", str(dumps / "part-00.jsonl"))


def test_a_scheduler_is_reached_by_its_file_and_out_of_a_running_loop(
    dask: Cluster, dumps: Path, tmp_path: Path
) -> None:
    """A notebook has a loop that runs; what the scheduler wrote of itself leads to it too."""
    place = tmp_path / "scheduler.json"
    place.write_text(json.dumps({"address": f"tcp://{dask.address}"}), "utf-8")
    dump = str(dumps / "part-00.jsonl")

    async def cell() -> str:
        return compared(f"dask://{place}", dump)

    assert asyncio.run(cell()) == compared(None, dump)


def test_a_cluster_left_without_workers_ends_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where nobody replaces the worker that a task has killed, the run ends too, and the task is named."""
    dump = support.dump(tmp_path / "poison.jsonl", records(1, 1000))
    monkeypatch.setattr(dask_module, "NO_WORKERS", 0.5)
    monkeypatch.setattr(engine_module, "LOOK", 0.3)
    said = r"it has no worker; not read: .*poison.jsonl, bytes [0-9,]+ to"
    with cluster(tmp_path, 1, "--no-nanny") as own, pytest.raises(EngineError, match=said):
        compared(own.engine, str(dump), 60_000)


def test_a_scheduler_killed_ends_the_run(dumps: Path, tmp_path: Path) -> None:
    """A scheduler that dies in the middle of a run is a failure of the machine, said at once with what was not read."""
    with cluster(tmp_path) as own:

        def kill(*_: int) -> None:
            os.kill(own.scheduler.pid, signal.SIGKILL)

        with pytest.raises(EngineError, match=r"the scheduler is gone.*; not read: .*whole.jsonl, bytes [0-9,]+ to"):
            compared(own.engine, str(dumps / "whole.jsonl"), 10_000, progress=kill)


@and_a_pool
def test_a_failing_disk_and_a_bug_are_told_apart(asked: Asked, dumps: Path) -> None:
    """What the machine does is an OSError that names the partition; a bug of ours shows the worker's trace."""
    with small_tasks(asked) as workers, Inputs(resolve([str(dumps / "part-00.jsonl")])) as inputs:
        with pytest.raises(EngineError, match=r"could not read .*part-00.jsonl, bytes 0 to [0-9,]+: OSError"):
            list(gather(engine_worker.disk_fails, inputs.partitions(), workers))
        with pytest.raises(RuntimeError, match=r"(?s)ZeroDivisionError: partition 0\nTraceback.*in bug"):
            list(gather(engine_worker.bug, inputs.partitions(), workers))


def test_a_pool_of_the_standard_library_is_not_mended(tmp_path: Path) -> None:
    """Its first dead process ends it, and what was not read is named."""
    dump = support.dump(tmp_path / "d.jsonl", records(1, 1000))
    with (
        ProcessPoolExecutor(2, mp_context=get_context("spawn")) as own,
        small_tasks(own) as workers,
        Inputs(resolve([str(dump)]), TASK_BYTES) as inputs,
        pytest.raises(EngineError, match=r"not read: .*bytes"),
    ):
        list(gather(engine_worker.place_or_die, inputs.partitions(), workers))


# what is asked for


@pytest.mark.parametrize("text", ["", "processes", "processes:0", "processes:-1", "dask", "dask://", "spark://x", "2"])
def test_a_text_that_names_no_engine_is_refused(text: str, dumps: Path) -> None:
    """It is refused before anything is read."""
    with pytest.raises(Refusal) as refusal:
        evalkit.compare(dumps / "whole.jsonl", "0.5", executor=text)
    assert [one.rule for one in refusal.value.violations] == ["engine"]


def test_an_extra_that_is_missing_is_named(dumps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What must be installed is said."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(Refusal, match=r'pip install "evalkit\[dask\]".*\[engine-extra\]'):
        evalkit.compare(dumps / "whole.jsonl", "0.5", executor="dask://127.0.0.1:8786")


def test_copies_of_this_process_are_refused(dumps: Path) -> None:
    """A pool that forks would hang now and then."""
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as forks, pytest.raises(Refusal, match="hang"):
        evalkit.compare(dumps / "whole.jsonl", "0.5", executor=forks)


def test_too_much_for_every_worker_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gold above the stated size is refused with the way out, before it is sent."""
    monkeypatch.setattr(failures, "SHARED_BYTES", 1_000)
    said = evaluated("processes:2", sides(tmp_path / "s"))
    assert "more than 1,000; evaluate parts of the families apart, or on this machine with --engine local" in said


def test_no_engine_is_loaded_where_none_is_asked_for(dumps: Path) -> None:
    """A run by threads loads neither Dask nor Ray, nor what talks to them."""
    code = (
        "import sys, evalkit; evalkit.compare('whole.jsonl', '0.5');"
        "print(sorted(n for n in sys.modules if n.partition('.')[0] in ('dask', 'distributed', 'ray') "
        "or n.startswith('evalkit.engines')))"
    )
    assert subprocess.check_output([sys.executable, "-c", code], cwd=dumps, text=True) == "[]\n"


# how much is under way


class Slow(Executor):
    """Finishes a call when its result is asked for, and notes how many were not."""

    def __init__(self) -> None:
        self.most = self.live = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call it now, say so later."""
        self.live += 1
        self.most = max(self.most, self.live)
        found = Future[Any]()
        found.set_result(fn(*args, **kwargs))
        return found


def test_tasks_under_way_are_few() -> None:
    """However many partitions there are, no more are taken than a few for each worker."""
    executor, taken = Slow(), 0
    engine = Engine("slow", executor, lambda: 2)

    def partitions() -> Iterator[int]:
        nonlocal taken
        for number in range(100):
            taken = number + 1
            yield number

    found = engine.gather(str, partitions(), in_order=True)
    assert next(found) == "0"
    assert taken == 2 * AHEAD
    assert list(found) == [str(number) for number in range(1, 100)]


def test_small_files_are_put_together(tmp_path: Path) -> None:
    """Files too small for a task of their own share one; what is large enough has its own."""
    files = [tmp_path / f"{place}.jsonl" for place in range(6)]
    for file, size in zip(files, (10, 20, 500, 40, 30, 20), strict=True):
        file.write_bytes(b"x" * size)
    with Inputs(resolve([str(file) for file in files])) as inputs:
        found: list[list[Partition]] = list(bundles(inputs.partitions(), 60))
    assert [[one.stored for one in bundle] for bundle in found] == [[10, 20, 500], [40, 30], [20]]
