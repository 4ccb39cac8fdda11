"""Whole processes that take turns: what each took, the table of it, and whether their numbers agree."""

import argparse
import compileall
import importlib.util
import math
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PEERS = HERE / "peers"
TOLERANCE = 1e-9
PACKAGES = ("evalkit", "polars", "duckdb", "pandas", "scikit-learn")
PEER_PACKAGES = ("rapidfuzz", "jiwer", "pytrec-eval-terrier", "ranx")
LIBRARIES = ("polars", "duckdb", "pandas", "sklearn.metrics")

Scores = dict[str, dict[str, float | None]]


@dataclass(frozen=True)
class Sample:
    """What one process took."""

    wall: float
    cpu: float
    rss: float
    output: str


@dataclass
class Entry:
    """A command that takes its turn, with what it took in every round and the scores that it gave."""

    name: str
    command: Sequence[str]
    scores: Callable[[str], Scores] | None = None
    accepted: tuple[int, ...] = (0,)
    rounds: int | None = None
    samples: list[Sample] = field(default_factory=list)
    found: Scores = field(default_factory=dict)

    @property
    def wall(self) -> float:
        """Best wall time in seconds."""
        return min(sample.wall for sample in self.samples)

    @property
    def cpu(self) -> float:
        """Best user and system time in seconds."""
        return min(sample.cpu for sample in self.samples)

    @property
    def rss(self) -> float:
        """Largest resident set in MiB."""
        return max(sample.rss for sample in self.samples)


@dataclass(frozen=True)
class Target:
    """A limit of a measured value, and the value to aim for where it is a sharper one."""

    limit: float
    aim: float | None = None

    def __str__(self) -> str:
        """Say the limit."""
        return f"<= {self.limit:g}" + (f" (aim {self.aim:g})" if self.aim is not None else "")

    def verdict(self, value: float) -> str:
        """Say whether a value meets the limit."""
        if value > self.limit:
            return "missed"
        return "met" if self.aim is None else "met, aim met" if value <= self.aim else "met, aim missed"


@dataclass(frozen=True)
class Least(Target):
    """A limit that a measured value must reach."""

    def __str__(self) -> str:
        """Say the limit."""
        return f">= {self.limit:,.0f}" + (f" (aim {self.aim:,.0f})" if self.aim is not None else "")

    def verdict(self, value: float) -> str:
        """Say whether a value reaches the limit."""
        if value < self.limit:
            return "missed"
        return "met" if self.aim is None else "met, aim met" if value >= self.aim else "met, aim missed"


def environment() -> dict[str, str]:
    """Give the commands an environment in which Python keeps its compiled files."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def measure(command: Sequence[str], accepted: tuple[int, ...] = (0,)) -> Sample:
    """Run a command in the project's root to its end; a code that is not accepted ends the benchmark loudly."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child_environment = environment()
        start = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=ROOT, env=child_environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = code = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        output, errors = (stream.read().decode(errors="replace") for stream in (out, err))
    if code not in accepted:
        raise SystemExit(f"exit code {code} of: {shlex.join(command)}\n{errors or output}")
    kibibytes = usage.ru_maxrss / 1024 if sys.platform == "darwin" else usage.ru_maxrss
    return Sample(wall, usage.ru_utime + usage.ru_stime, kibibytes / 1024, output)


def prepare(dumps: Iterable[Path], libraries: Sequence[str] = LIBRARIES) -> None:
    """Compile evalkit and the peers, then bring the libraries and the dumps into the page cache."""
    spec = importlib.util.find_spec("evalkit")
    installed = [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]
    for folder in {ROOT / "evalkit", *installed, HERE}:
        if folder.is_dir():
            compileall.compile_dir(folder, quiet=1)
    for library in libraries:
        measure([sys.executable, "-c", f"import {library}"])
    for path in dumps:
        warm(path)


def warm(path: Path) -> None:
    """Read a file once."""
    with path.open("rb") as stream:
        while stream.read(1 << 20):
            pass


def generated(path: Path, lines: Iterable[str]) -> Path:
    """Give a file of lines, made if missing."""
    if not path.exists():
        print(f"generating {path.name}", file=sys.stderr)
        part = path.with_suffix(".part")
        with part.open("w", encoding="utf-8") as out:
            out.writelines(lines)
        part.rename(path)
    return path


def cache_folder() -> Path:
    """Name the folder of the dumps, made and hidden from git if missing."""
    folder = Path(os.environ.get("EVALKIT_BENCH_DIR") or ROOT / ".bench").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / ".gitignore").exists():
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    return folder


def differences(ours: Scores, theirs: Scores) -> list[str]:
    """Name every number that is not the same to 1e-9."""
    if ours.keys() != theirs.keys():
        return [f"models {sorted(ours)} and {sorted(theirs)}"]
    return [
        f"{model} {name}: {ours[model][name]} and {theirs[model][name]}"
        for model in sorted(ours)
        for name in sorted(ours[model])
        if not same(ours[model][name], theirs[model][name])
    ]


def same(one: float | None, other: float | None) -> bool:
    """Compare two numbers, either of which may be missing."""
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=0, abs_tol=TOLERANCE)


def run_rounds(entries: Sequence[Entry], rounds: int) -> None:
    """Let the commands take turns."""
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=sys.stderr)
        for entry in entries:
            if entry.rounds is None or number < entry.rounds:
                sample = measure(entry.command, entry.accepted)
                entry.samples.append(sample)
                if entry.scores is not None:
                    entry.found = entry.scores(sample.output)


def ratio(entry: Entry, other: Entry) -> float:
    """Give the median over the rounds of one command's wall time divided by another's."""
    return statistics.median(a.wall / b.wall for a, b in zip(entry.samples, other.samples, strict=False))


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lay a table out in plain text: the first column to the left, numbers to the right, words to the left."""
    cells = [list(head), *(list(row) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    numeric = range(1, 5)

    def line(row: Sequence[str]) -> str:
        placed = [
            cell.rjust(width) if index in numeric else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        return "  ".join(placed).rstrip()

    return "\n".join([line(cells[0]), "  ".join("-" * width for width in widths), *map(line, cells[1:])])


def row(entry: Entry, value: str = "", target: Target | None = None, verdict: str = "") -> list[str]:
    """Put an entry's measurements beside a value and its target."""
    measured = [f"{entry.wall:.2f}", f"{entry.cpu:.2f}", f"{entry.rss:.0f}"]
    return [entry.name, *measured, value, str(target or ""), verdict]


def agreement(evalkit: Entry, others: Iterable[Entry]) -> bool:
    """Print whether the numbers of the other commands are evalkit's."""
    agreed = True
    names = next(iter(evalkit.found.values()))
    print(f"\nnumbers compared with evalkit's to {TOLERANCE:g} ({len(evalkit.found)} × {', '.join(names)}):")
    for other in others:
        found = differences(evalkit.found, other.found)
        print(f"  {other.name}: {'the same' if not found else 'DIFFERENT: ' + '; '.join(found)}")
        agreed = agreed and not found
    return agreed


def positive(text: str) -> int:
    """Read a whole number above zero."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def describe() -> str:
    """Name the machine and the versions that a table depends on."""

    def found(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return "not installed"

    load = os.getloadavg()[0]
    packages = (*PACKAGES, *PEER_PACKAGES)
    parts = [f"Python {sys.version.split()[0]}", *(f"{package} {found(package)}" for package in packages)]
    return f"{', '.join(parts)}; {os.cpu_count()} cores, load {load:.1f}"
