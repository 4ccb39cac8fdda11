"""Ray, where it is asked for: EVALKIT_RAY=1 python -m pytest tests/test_engine_ray.py, with ``evalkit[ray]`` installed.

A real head of two processors on this machine, started by the command of Ray.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import engine_worker
import engines
import pytest
import support
from engines import TASK_BYTES, compared, evaluated, records, sides, small_tasks

from evalkit.engines import engine as engine_module
from evalkit.engines.engine import Engine
from evalkit.engines.failures import EngineError
from evalkit.reading.engine import Workers, gather, workers_of
from evalkit.sources.partition import Inputs
from evalkit.sources.source import resolve

pytestmark = [
    pytest.mark.skipif("EVALKIT_RAY" not in os.environ, reason="asked for by EVALKIT_RAY=1"),
    pytest.mark.filterwarnings("ignore"),  # Ray's own
]

RAY = "ray://auto"


@contextlib.contextmanager
def head(folder: Path) -> Iterator[str]:
    """Start a cluster from outside, and return its address; whatever happens, it is gone at the end."""
    program = str(Path(sys.executable).with_name("ray"))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    # A port among those that Ray gives to its workers is refused.
    port = port if not 10_000 <= port < 20_000 else 6399
    env = support.environment(PYTHONPATH=str(engines.TESTS), POLARS_MAX_THREADS="1", RAY_TMPDIR=str(folder))
    start = [program, "start", "--head", "--node-ip-address=127.0.0.1", f"--port={port}", "--num-cpus=2"]
    options = ("--include-dashboard=false", "--disable-usage-stats", "--block")
    log = folder / "head.log"
    with log.open("wb") as out:
        process = subprocess.Popen([*start, *options], env=env, stdout=out, stderr=out, start_new_session=True)
        try:
            support.until(lambda: b"Ray runtime started" in log.read_bytes(), "the head of Ray")
            yield f"127.0.0.1:{port}"
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


@pytest.fixture(scope="module")
def ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workers]:
    """Return the engine of a cluster."""
    with head(tmp_path_factory.mktemp("r")) as address:
        os.environ["RAY_ADDRESS"] = address
        try:
            with workers_of(RAY) as found:
                yield found
        finally:
            os.environ.pop("RAY_ADDRESS")


def test_the_same_bytes(ray: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports of ``compare`` and ``evaluate``, and refusals, are those of one machine."""
    lines = records(7, 3000)
    dump = support.dump(tmp_path / "d.jsonl", lines)
    with small_tasks(ray.executor):
        assert compared(ray.executor, str(dump), 10_000) == compared(None, str(dump), 10_000)
    given = sides(tmp_path / "s")
    here = evaluated(None, given, 20_000)
    assert evaluated(ray.executor, given, 20_000) == here
    monkeypatch.setattr(engine_module, "LARGE_BYTES", 1)
    assert evaluated(ray.executor, given, 20_000) == here
    lines[2500] = support.record("beta", "train", 1, subject=support.key("test", 5))
    lines[5] = support.record("beta", "test", 1, subject=support.key("test", 5))
    support.dump(dump, lines)
    here = compared(None, str(dump), 10_000)
    assert "d.jsonl:2501: split: contributor e6" in here
    assert compared(ray.executor, str(dump), 10_000) == here


def test_a_worker_killed_leaves_the_same_bytes(ray: Engine, tmp_path: Path) -> None:
    """A worker that dies in the middle of a run costs time alone."""
    dump = support.dump(tmp_path / "d.jsonl", records(7, 3000))
    pids = [ray.executor.submit(os.getpid).result() for _ in range(4)]
    killed: list[int] = []

    def kill(*_: int) -> None:
        if not killed:
            killed.append(pids[0])
            os.kill(pids[0], signal.SIGKILL)

    assert compared(ray.executor, str(dump), 10_000, progress=kill) == compared(None, str(dump), 10_000)
    assert killed


def test_a_task_that_kills_every_worker_is_named(ray: Engine, tmp_path: Path) -> None:
    """The file and its bytes are named."""
    dump = support.dump(tmp_path / "d.jsonl", records(1, 1000))
    with small_tasks(ray.executor) as workers, Inputs(resolve([str(dump)]), TASK_BYTES) as inputs:
        with pytest.raises(EngineError) as error:
            list(gather(engine_worker.place_or_die, inputs.partitions(), workers))
        said = "ray: 4 workers died over it, one after the other"
        assert str(error.value) == f"{said}; not read: {dump}, bytes 80,000 to 120,000"


def test_the_command(ray: Engine, tmp_path: Path) -> None:
    """``--engine ray://auto`` writes what ``--engine local`` writes."""
    support.dump(tmp_path / "d.jsonl", support.GO)
    env = support.environment(RAY_ADDRESS=os.environ["RAY_ADDRESS"])
    for engine in (RAY, "local"):
        run = support.compare(
            "d.jsonl", "--engine", engine, "--json", f"{engine[:3]}.json", "-q", cwd=tmp_path, env=env
        )
        assert (run.code, run.err) == (0, "")
    assert (tmp_path / "ray.json").read_bytes() == (tmp_path / "loc.json").read_bytes()


KILLED = """
import os, signal, sys
from pathlib import Path
import engines

def kill(*_):
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\\0")
        except OSError:
            continue
        if words[0].endswith(b"gcs_server") and b"--gcs_server_port=" + sys.argv[1].encode() in words:
            os.kill(int(process.name), signal.SIGKILL)

print(engines.compared("ray://auto", "d.jsonl", 10_000, progress=kill))
"""


def test_a_head_killed_ends_the_run(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Where the head is gone the run ends, by us or by Ray, or what is left of it gives the same bytes."""
    support.dump(tmp_path / "d.jsonl", records(7, 3000))
    with head(tmp_path_factory.mktemp("h")) as address:
        env = support.environment(PYTHONPATH=str(engines.TESTS), RAY_ADDRESS=address)
        command = [sys.executable, "-c", KILLED, address.rpartition(":")[2]]
        run = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, timeout=90, check=False)
    here = compared(None, str(tmp_path / "d.jsonl"), 10_000).replace(str(tmp_path / "d.jsonl"), "d.jsonl")
    assert (run.returncode, run.stdout.decode()) in ((1, ""), (0, f"{here}\n"))


def test_no_cluster(tmp_path: Path) -> None:
    """Where there is none, the machine has failed, and nothing is written."""
    support.dump(tmp_path / "d.jsonl", support.GO)
    env = support.environment(RAY_ADDRESS="127.0.0.1:1", RAY_gcs_rpc_server_reconnect_timeout_s="1")
    run = support.compare("d.jsonl", "--engine", RAY, "--json", "r.json", "-q", cwd=tmp_path, env=env)
    assert run.code == 1
    assert f"failed, and not for the input: {RAY}: no cluster answers there" in run.err
    assert not (tmp_path / "r.json").exists()
