"""What scale costs: 1, 10 and 100 million records here, and the larger ones on two workers; time, CPU, peak memory.

    python tests/benchmarks/scale.py                     all of it, printed and written to scale.json
    python tests/benchmarks/scale.py --records 1000000   those sizes alone, printed

Every run is a process, or a cluster of processes, of its own. A run whose processes grow past ``--memory`` GiB is ended
and recorded so. The reports of one dump must be the same bytes, whoever read it. Linux only, as memory.py is; the dumps
go where EVALKIT_BENCH_DIR says, and that of 100 million records takes 16 GB there. ``docs/scale.md`` shows the table.
"""

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dump
from harness import ROOT, cache_folder, environment, positive, warm
from memory import family, peak
from scale_rates import rates

from evalkit.engines.engine import Engine
from evalkit.reading.engine import workers_of

STORED = Path(__file__).with_suffix(".json")
MADE = 10_000_000
"""Records of the largest dump that is drawn; larger ones are copies of it with other contributors."""

RECORDS = (1_000_000, MADE, 100_000_000)
CLUSTERED = (MADE,)
"""The sizes that every engine reads."""

WORKERS = 2
ENGINES = ("local", f"processes:{WORKERS}", "dask")
INTERVAL = ("--interval", "0.95")
_STEP = 0.05
"""Seconds between two looks at the processes."""

_TICK = os.sysconf("SC_CLK_TCK")


@dataclass
class Use:
    """What processes took, added up; of memory the most that one of them held.

    Attributes:
        processes: How many there were.
        cpu: User and system time in seconds.
        peak: The largest resident set of one of them in MiB.
    """

    processes: int = 0
    cpu: float = 0.0
    peak: float = 0.0

    def add(self, cpu: float, resident: float) -> None:
        """Add a process."""
        self.processes, self.cpu, self.peak = self.processes + 1, self.cpu + cpu, max(self.peak, resident)


@dataclass
class Cell:
    """A run: what was read by whom, and what it took.

    Attributes:
        wall: Seconds; None where it was ended because of its memory.
        sha256: Of the report.
    """

    records: int
    engine: str
    interval: bool
    wall: float | None = None
    sha256: str = ""
    driver: Use = field(default_factory=Use)
    workers: Use = field(default_factory=Use)
    scheduler: Use = field(default_factory=Use)


class Watched:
    """Processes that are looked at until they end: CPU and memory of each with all that it starts."""

    def __init__(self) -> None:
        self.seen: dict[int, tuple[str, float, float]] = {}

    def look(self, roots: Mapping[str, Sequence[int]], driver: int) -> float:
        """Look at them, and return how many MiB they hold now; what a driver starts are workers."""
        now = 0.0
        for role, process in ((role, one) for role, own in roots.items() for root in own for one in family(root)):
            found = _taken(process)
            if found is not None:
                started = role == "driver" and process != driver
                known = self.seen.get(process, ("", 0.0, 0.0))
                most = max(known[2], peak(process))  # of one that has ended nothing is told any more
                self.seen[process] = ("workers" if started else role, found[0], most)
                now += found[1]
        return now

    def put_into(self, cell: Cell) -> None:
        """Add up what was seen."""
        for role, cpu, resident in self.seen.values():
            getattr(cell, role).add(cpu, resident)


def _taken(process: int) -> tuple[float, float] | None:
    """Return a process's CPU seconds and resident MiB."""
    try:
        values = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return (int(values[11]) + int(values[12])) / _TICK, int(values[21]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def larger(path: Path, records: int) -> Path:
    """Give a dump of so many records, made if missing: copies of the drawn one, digits 5 to 8 of every key replaced."""
    if records <= MADE:
        dump.write(path, records)
        return path
    drawn = larger(path.with_name(f"dump-{MADE}.jsonl"), MADE)
    if not path.exists():
        part = path.with_suffix(".part")
        with part.open("wb") as out:
            for copy in range(records // MADE):
                rule = rf's/Key":"\(....\)..../Key":"\1{copy:04x}/'
                subprocess.run(["sed", rule, drawn], stdout=out, env={**environment(), "LC_ALL": "C"}, check=True)
        part.rename(path)
    return path


@contextmanager
def cluster() -> Iterator[tuple[str, dict[str, list[int]]]]:
    """Start a scheduler and workers of one thread on loopback; yield its address and its processes."""
    dask = str(Path(sys.executable).with_name("dask"))
    env = {**environment(), "POLARS_MAX_THREADS": "1", "DASK_LOGGING__DISTRIBUTED": "error", "PYTHONWARNINGS": "ignore"}
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        place = folder / "scheduler.json"

        def start(*arguments: str) -> int:
            command = [dask, *arguments, "--no-dashboard", "--scheduler-file", str(place)]
            process = subprocess.Popen(command, cwd=folder, env=env, stdin=subprocess.DEVNULL)
            stack.callback(_end, process)
            return process.pid

        roots = {"scheduler": [start("scheduler", "--host", "127.0.0.1", "--port", "0")]}
        while not place.exists():
            time.sleep(_STEP)
        one = ("worker", "--nthreads", "1", "--host", "127.0.0.1", "--local-directory", str(folder))
        roots["workers"] = [start(*one) for _ in range(WORKERS)]
        address = f"dask://{place}"
        with workers_of(address) as engine:
            assert isinstance(engine, Engine)
            while engine.slots() < WORKERS:
                time.sleep(_STEP)
        yield address, roots


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process as a user ends it, so that a worker's nanny ends its worker."""
    process.terminate()
    process.wait(30)


def run(path: Path, records: int, engine: str, interval: bool, memory: float) -> Cell:
    """Judge a dump once."""
    cell = Cell(records, engine, interval)
    with ExitStack() as stack:
        out = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "report.json"
        named, roots = stack.enter_context(cluster()) if engine == "dask" else (engine, {})
        command = [str(Path(sys.executable).with_name("evalkit")), "compare", str(path), "--min-coverage", "0.5"]
        command += ["--quiet", "--json", str(out), "--engine", named, *(INTERVAL if interval else ())]
        start = time.perf_counter()
        process = subprocess.Popen(command, cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL)
        watched, roots = Watched(), {"driver": [process.pid], **roots}
        while process.poll() is None:
            if watched.look(roots, process.pid) > memory * 1024:
                process.kill()
            time.sleep(_STEP)
        took = time.perf_counter() - start
        watched.put_into(cell)
        if process.returncode >= 0:
            cell.wall, cell.sha256 = round(took, 2), hashlib.sha256(out.read_bytes()).hexdigest()
    return cell


def best(cells: Sequence[Cell]) -> Cell:
    """Return the quickest of several runs."""
    return min(cells, key=lambda cell: cell.wall or float("inf"))


def _asked_of(engine: str, records: int, interval: bool) -> bool:
    """Tell whether an engine reads a dump: of the largest the slope of a cluster is all that is wanted besides."""
    if records > MADE:
        return engine == "local" or (engine == "dask" and not interval)
    return engine == "local" or records in CLUSTERED


def study(sizes: Sequence[int], engines: Sequence[str], rounds: int, memory: float) -> list[Cell]:
    """Run all of it; the largest dumps once."""
    found: list[Cell] = []
    for records in sizes:
        path = larger(cache_folder() / f"dump-{records}.jsonl", records)
        warm(path)
        for interval in (False, True):
            for engine in engines:
                if not _asked_of(engine, records, interval):
                    continue
                times = rounds if records <= MADE else 1
                found.append(best([run(path, records, engine, interval, memory) for _ in range(times)]))
                print(_line(found[-1]), file=sys.stderr)
        _same([cell for cell in found if cell.records == records])
    return found


def _available() -> float:
    """Return the GiB that processes can have now, less one for everybody else."""
    lines = Path("/proc/meminfo").read_text().splitlines()
    kib = next(int(line.split()[1]) for line in lines if line.startswith("MemAvailable"))
    return round(kib / 2**20 - 1, 1)


def _machine() -> str:
    """Name the machine and the versions that the numbers depend on."""
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2**30
    packages = ", ".join(f"{name} {version(name)}" for name in ("polars", "distributed"))
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} cores, {memory:.0f} GiB, Python {platform.python_version()}, {packages}, load {load:.1f}"


def _line(cell: Cell) -> str:
    wall = "ended for its memory" if cell.wall is None else f"{cell.wall:.1f} s"
    shown = (f"{role} {use.cpu:.1f} s {use.peak:.0f} MiB" for role, use in uses_of(cell).items())
    return f"{cell.records:,} {cell.engine} {'interval' if cell.interval else 'plain'}: {wall}; {', '.join(shown)}"


def uses_of(cell: Cell) -> dict[str, Use]:
    """Return what each kind of process took, of those that there were."""
    uses = {"driver": cell.driver, "workers": cell.workers, "scheduler": cell.scheduler}
    return {role: use for role, use in uses.items() if use.processes}


def _same(cells: Sequence[Cell]) -> None:
    """End the study loudly where two engines gave two reports."""
    for interval in (False, True):
        reports = {cell.sha256 for cell in cells if cell.interval is interval and cell.sha256}
        if len(reports) > 1:
            raise SystemExit(f"reports differ: {[cell for cell in cells if cell.interval is interval]}")


def _stored(cell: Cell) -> dict[str, Any]:
    """Return what is kept of a cell, without the processes that there were none of."""
    uses = {
        role: {**asdict(use), "cpu": round(use.cpu, 2), "peak": round(use.peak)} for role, use in uses_of(cell).items()
    }
    kept = {name: value for name, value in asdict(cell).items() if name not in ("driver", "workers", "scheduler")}
    return {**kept, **uses}


def main() -> int:
    """Run the study, and store it where it was all of it."""
    options = argparse.ArgumentParser(description="Measure what scale costs.")
    options.add_argument("--records", type=positive, nargs="+", help="these sizes alone; nothing is stored")
    options.add_argument("--engine", choices=ENGINES, nargs="+", help="these engines alone; nothing is stored")
    options.add_argument("--rounds", type=positive, default=3, help="runs of each, the quickest is shown")
    options.add_argument("--memory", type=float, default=_available(), help="GiB past which a run is ended")
    asked = options.parse_args()
    machine = _machine()
    cells = study(asked.records or RECORDS, asked.engine or ENGINES, asked.rounds, asked.memory)
    with cluster() as (address, _):
        measured = rates(cache_folder() / f"dump-{MADE}.jsonl", address)
    found = {"machine": machine, "memory": asked.memory, "cells": [_stored(one) for one in cells], "rates": measured}
    text = json.dumps(found, indent=1) + "\n"
    if asked.records or asked.engine:
        print(text)
    else:
        STORED.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
