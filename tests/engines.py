"""Engines of the tests: a real Dask cluster on loopback, and what is read by one."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import engine_worker
import polars as pl
import support

from evalkit.engines.engine import Engine
from evalkit.errors import Refusal
from evalkit.exact import unit_fraction
from evalkit.families.probability import evaluate as probability
from evalkit.families.selective.compare import Question, compare_inputs
from evalkit.reading.engine import Asked, Workers, digests_by, workers_of
from evalkit.reading.read import Progress
from evalkit.sources.partition import PARTITION_BYTES, PARTITION_ROWS, Inputs
from evalkit.sources.source import Input, listed, resolve, resolve_sides

TESTS = Path(__file__).parent
TASK_BYTES = 40_000
"""Stored bytes of a task in these tests: small, so that there are many."""
QUICK = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "3s"}
"""How long a scheduler that is not there is waited for."""


@dataclass
class Cluster:
    """A Dask cluster: a scheduler and workers with nannies, each a process of its own."""

    address: str
    scheduler: subprocess.Popen[bytes]
    workers: list[subprocess.Popen[bytes]]

    @property
    def engine(self) -> str:
        """What ``--engine`` takes for it."""
        return f"dask://{self.address}"


@contextlib.contextmanager
def cluster(folder: Path, workers: int = 2, *options_of_workers: str, **variables: str) -> Iterator[Cluster]:
    """Start a cluster; whatever happens, it is gone at the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    dask = str(Path(sys.executable).with_name("dask"))
    env = support.environment(
        **QUICK,
        PYTHONPATH=str(TESTS),
        DASK_DISTRIBUTED__WORKER__MEMORY__SPILL="False",
        POLARS_MAX_THREADS="1",
        **{engine_worker.WORKER: "1"},
        **variables,
    )
    options: dict[str, Any] = {"env": env, "cwd": folder, "stdin": subprocess.DEVNULL, "start_new_session": True}
    with contextlib.ExitStack() as stack:

        def start(*arguments: str) -> subprocess.Popen[bytes]:
            log = stack.enter_context((folder / f"{arguments[0]}.log").open("ab"))
            process = subprocess.Popen([dask, *arguments, "--no-dashboard"], stdout=log, stderr=log, **options)
            stack.callback(_end, process)
            return process

        host, _, port = address.partition(":")
        scheduler = start("scheduler", "--host", host, "--port", port)
        more = ("--nthreads", "1", "--host", host, "--preload", str(TESTS / "engine_worker.py"), *options_of_workers)
        own = [start("worker", f"tcp://{address}", *more, "--local-directory", str(folder)) for _ in range(workers)]
        with workers_of(f"dask://{address}") as engine:
            assert isinstance(engine, Engine)
            support.until(lambda: engine.slots() == workers, "the workers of the cluster")
        yield Cluster(address, scheduler, own)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and all that it started, which are of its session."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@contextlib.contextmanager
def small_tasks(asked: Asked) -> Iterator[Workers]:
    """Open an engine whose tasks are small."""
    with workers_of(asked) as workers:
        yield workers if isinstance(workers, int) else replace(workers, task_bytes=TASK_BYTES)


def compared(
    asked: Asked,
    given: Input | Sequence[Input],
    size: int = PARTITION_BYTES,
    rows: int = PARTITION_ROWS,
    progress: Progress | None = None,
    **question: Any,
) -> str:
    """Return the report of ``compare``, or the text of its refusal."""
    with small_tasks(asked) as workers:
        asking = Question(unit_fraction("0.1", "min-coverage"), **question)
        with Inputs(resolve(listed(given)), size, rows, digests=digests_by(workers)) as inputs:
            try:
                return compare_inputs(inputs, asking, workers=workers, progress=progress).to_json()
            except Refusal as refusal:
                return str(refusal)


def evaluated(asked: Asked, sides: tuple[list[str], list[str]], size: int = PARTITION_BYTES) -> str:
    """Return the report of ``evaluate``, or the text of its refusal."""
    with small_tasks(asked) as workers:
        digests = digests_by(workers)
        found = resolve_sides(*sides)
        with Inputs(found[0], size, digests=digests) as given, Inputs(found[1], size, digests=digests) as answers:
            try:
                return probability.evaluate_inputs(given, answers, probability.Question(), workers=workers).to_json()
            except Refusal as refusal:
                return str(refusal)


def records(seed: int, count: int) -> list[str]:
    """Return records of three models; every contributor is in the split that its key derives."""
    rng = random.Random(seed)
    split = ("train", "validation", "test")
    return [
        support.record(
            rng.choice(["alpha", "beta", "gämma"]),
            rng.choice(split),
            rng.randrange(10**6),
            rng.randrange(1, 8),
            rng.choice([None, 3, 4, 5]),
            rng.randrange(1001) / 1000,
        )
        for _ in range(count)
    ]


def flat(lines: list[str]) -> pl.DataFrame:
    """Return records as a table, a column for each field."""
    return pl.DataFrame(
        {
            "model": row["model"],
            "subjectKey": row["subjectKey"],
            "split": row["split"],
            "truth.bristolType": row["truth"]["bristolType"],
            "prediction.bristolType": (row["prediction"] or {}).get("bristolType"),
            "prediction.confidence": (row["prediction"] or {}).get("confidence"),
        }
        for row in map(json.loads, lines)
    )


def sides(folder: Path, *, files: int = 4) -> tuple[list[str], list[str]]:
    """Write predictions of two models and their gold, each into several files."""
    rng = random.Random(11)
    folder.mkdir()
    ids = [f"case-{number}" for number in range(1500)]
    gold = [{"id": one, "gold": rng.choice("abc"), "family": rng.choice(["x", "y"])} for one in ids]
    predictions = []
    for model in ("m", "n"):
        for one in ids:
            share = rng.randrange(101)
            vector = [share / 100, (100 - share) / 100, 0]
            predictions.append({"id": one, "option_ids": ["a", "b", "c"], "probabilities": vector, "model": model})
    rng.shuffle(predictions)
    for name, lines in (("p", predictions), ("g", gold)):
        for place in range(files):
            support.dump(folder / f"{name}{place}.jsonl", map(json.dumps, lines[place::files]))
    return [str(folder / "p*.jsonl")], [str(folder / "g*.jsonl")]
