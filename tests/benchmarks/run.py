"""The benchmark of ``evalkit compare`` against scripts that an analyst would write.

    python tests/benchmarks/run.py [--records 2000000] [--runs 5] [--skip-pandas] [--memory]
        [--parquet 10000000] [--only-parquet]

Whole processes are measured, from start to exit, with the dump in the page cache. The commands take turns (A B C,
A B C, ...) and a ratio is the median of the ratios inside the rounds, because the speed of a shared machine drifts. The
numbers of all reports are compared as well. Dumps are made once, in ``.bench/`` or the folder that EVALKIT_BENCH_DIR
names.

A missed target is printed and does not fail the run; a command that fails, or numbers that differ, do.
"""

import argparse
import compileall
import importlib.util
import json
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

import dump

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PEERS = HERE / "peers"
FIELDS = ("threshold", "coverage", "precisionAtCoverage", "macroF1", "ece")
TOLERANCE = 1e-9
PANDAS_ROUNDS = 2
MEMORY_RECORDS = (1_000_000, 8_000_000)
PACKAGES = ("evalkit", "polars", "duckdb", "pandas", "scikit-learn")
LIBRARIES = "polars, duckdb, pandas, sklearn.metrics"

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


# Wall of evalkit divided by that of the peer.
PEER_TARGETS = {
    "duckdb_checked": Target(0.4),
    "duckdb_script": Target(1.6, aim=1.3),
    "polars_script": Target(0.75, aim=0.6),
    "pandas_script": Target(0.15),
}
SHUFFLED_TARGET = Target(4)
SCAN_TARGET = Target(2.5, aim=1.5)
RATE_TARGET = Least(5e6, aim=10e6)
VERSION_TARGET = Target(0.3)
MEMORY_RATIO_TARGET = Target(1.6)
MEMORY_TARGET = Target(1024)


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


def prepare(dumps: Iterable[Path]) -> None:
    """Compile evalkit and the peers, then bring the libraries and the dumps into the page cache."""
    spec = importlib.util.find_spec("evalkit")
    installed = [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]
    for folder in {ROOT / "evalkit", *installed, HERE}:
        if folder.is_dir():
            compileall.compile_dir(folder, quiet=1)
    measure([sys.executable, "-c", f"import {LIBRARIES}"])
    for path in dumps:
        warm(path)


def warm(path: Path) -> None:
    """Read a file once."""
    with path.open("rb") as stream:
        while stream.read(1 << 20):
            pass


def cache_folder() -> Path:
    """Name the folder of the dumps, made and hidden from git if missing."""
    folder = Path(os.environ.get("EVALKIT_BENCH_DIR") or ROOT / ".bench").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / ".gitignore").exists():
        (folder / ".gitignore").write_text("*\n", encoding="utf-8")
    return folder


def dump_file(folder: Path, records: int, *, shuffle: bool = False) -> Path:
    """Give a dump of so many records, generated if missing."""
    path = folder / f"dump-{records}{'-shuffled' if shuffle else ''}.jsonl"
    if not path.exists():
        print(f"generating {path.name}", file=sys.stderr)
        dump.write(path, records, shuffle=shuffle)
    return path


def evalkit_entry(name: str, path: Path, report: Path) -> Entry:
    """Describe a run of evalkit on a dump."""
    command = [sys.executable, "-m", "evalkit", "compare", str(path)]
    command += ["--min-coverage", "0.5", "--json", str(report), "--quiet"]

    def scores(_output: str) -> Scores:
        return report_scores(report)

    return Entry(name, command, scores, accepted=(0, 3))


def peer_entry(name: str, path: Path) -> Entry:
    """Describe a run of a peer on a dump."""
    command = [sys.executable, str(PEERS / f"{name}.py"), str(path)]
    return Entry(name, command, peer_scores, rounds=PANDAS_ROUNDS if name == "pandas_script" else None)


def by_model(candidates: Iterable[dict[str, object]]) -> Scores:
    """Keep the compared numbers of every candidate."""

    def number(value: object) -> float | None:
        return float(value) if isinstance(value, int | float) else None

    return {str(item["model"]): {name: number(item[name]) for name in FIELDS} for item in candidates}


def report_scores(report: Path) -> Scores:
    """Read evalkit's report, and remove it so that the next run has to write its own."""
    text = report.read_text(encoding="utf-8")
    report.unlink()
    return by_model(json.loads(text)["candidates"])


def peer_scores(output: str) -> Scores:
    """Read the lines that a peer printed."""
    return by_model(json.loads(line) for line in output.splitlines())


def differences(ours: Scores, theirs: Scores) -> list[str]:
    """Name every number that is not the same to 1e-9."""
    if ours.keys() != theirs.keys():
        return [f"models {sorted(ours)} and {sorted(theirs)}"]
    return [
        f"{model} {name}: {ours[model][name]} and {theirs[model][name]}"
        for model in sorted(ours)
        for name in FIELDS
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


def speed_rows(evalkit: Entry, shuffled: Entry, peers: Sequence[Entry], started: Entry) -> list[list[str]]:
    """Build the table of the timed commands."""
    rows = [row(evalkit)]
    for peer in peers:
        value, target = ratio(evalkit, peer), PEER_TARGETS[peer.name]
        rows.append(row(peer, f"{value:.2f}", target, target.verdict(value)))
    value = ratio(shuffled, evalkit)
    rows.append(row(shuffled, f"{value:.2f} *", SHUFFLED_TARGET, SHUFFLED_TARGET.verdict(value)))
    rows.append(row(started, f"{started.wall:.2f} s", VERSION_TARGET, VERSION_TARGET.verdict(started.wall)))
    return rows


def speed(folder: Path, records: int, rounds: int, *, pandas: bool) -> bool:
    """Time evalkit and its peers; tell whether all numbers agree."""
    regular, mixed = dump_file(folder, records), dump_file(folder, records, shuffle=True)
    prepare([regular, mixed])
    names = [name for name in PEER_TARGETS if pandas or name != "pandas_script"]
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.json"
        evalkit = evalkit_entry("evalkit", regular, report)
        shuffled = evalkit_entry("evalkit, shuffled keys", mixed, report)
        started = Entry("evalkit --version", [sys.executable, "-m", "evalkit", "--version"])
        peers = [peer_entry(name, regular) for name in names]
        run_rounds([evalkit, *peers, shuffled, started], rounds)
    head = ["command", "wall s", "CPU s", "RSS MiB", "evalkit/peer", "target", "verdict"]
    print(f"{records:,} records, best of {rounds} (pandas {min(rounds, PANDAS_ROUNDS)})\n")
    print(table(head, speed_rows(evalkit, shuffled, peers, started)))
    print("\n* wall with shuffled keys / wall with regular keys")
    return agreement(evalkit, [*peers, shuffled])


def converted_file(source: Path) -> Path:
    """Give a dump as ``evalkit convert`` writes it, made if missing."""
    path = source.with_suffix(".parquet")
    if not path.exists():
        print(f"converting {source.name}", file=sys.stderr)
        measure([sys.executable, "-m", "evalkit", "convert", str(source), "-o", str(path), "--quiet"])
    return path


def parquet(folder: Path, records: int, rounds: int) -> bool:
    """Time evalkit on a converted dump against a bare scan of it; tell whether the numbers are those of the dump."""
    source = dump_file(folder, records)
    path = converted_file(source)
    prepare([source, path])
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.json"
        evalkit = evalkit_entry("evalkit on Parquet", path, report)
        scan = Entry("parquet_scan", [sys.executable, str(PEERS / "parquet_scan.py"), str(path)])
        run_rounds([evalkit, scan], rounds)
        plain = evalkit_entry("evalkit on JSON Lines", source, report)
        run_rounds([plain], 1)
    rate, value = records / evalkit.wall, ratio(evalkit, scan)
    head = [f"{records:,} records", "wall s", "CPU s", "RSS MiB", "value", "target", "verdict"]
    rows = [
        row(evalkit, f"{rate:,.0f}/s", RATE_TARGET, RATE_TARGET.verdict(rate)),
        row(scan, f"{value:.2f} x", SCAN_TARGET, SCAN_TARGET.verdict(value)),
        row(plain),
    ]
    print("\n" + table(head, rows))
    return agreement(evalkit, [plain])


def agreement(evalkit: Entry, others: Iterable[Entry]) -> bool:
    """Print whether the numbers of the other commands are evalkit's."""
    agreed = True
    print(f"\nnumbers compared with evalkit's to {TOLERANCE:g} ({len(evalkit.found)} models, {', '.join(FIELDS)}):")
    for other in others:
        found = differences(evalkit.found, other.found)
        print(f"  {other.name}: {'the same' if not found else 'DIFFERENT: ' + '; '.join(found)}")
        agreed = agreed and not found
    return agreed


def memory(folder: Path) -> None:
    """Measure how evalkit's peak memory grows with the number of records."""
    small, large = (dump_file(folder, records) for records in MEMORY_RECORDS)
    prepare([small, large])
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.json"
        entries = [
            evalkit_entry(f"evalkit, {records:,}", path, report)
            for records, path in zip(MEMORY_RECORDS, (small, large), strict=True)
        ]
        run_rounds(entries, 1)
    base, peak = entries
    growth = peak.rss / base.rss
    head = ["memory", "wall s", "CPU s", "RSS MiB", "value", "target", "verdict"]
    rows = [
        row(base),
        row(peak, f"{growth:.2f} x", MEMORY_RATIO_TARGET, MEMORY_RATIO_TARGET.verdict(growth)),
        row(peak, f"{peak.rss:.0f} MiB", MEMORY_TARGET, MEMORY_TARGET.verdict(peak.rss)),
    ]
    print("\n" + table(head, rows))


def describe() -> str:
    """Name the machine and the versions that a table depends on."""

    def found(package: str) -> str:
        try:
            return version(package)
        except PackageNotFoundError:
            return "not installed"

    load = os.getloadavg()[0]
    parts = [f"Python {sys.version.split()[0]}", *(f"{package} {found(package)}" for package in PACKAGES)]
    return f"{', '.join(parts)}; {os.cpu_count()} cores, load {load:.1f}"


def positive(text: str) -> int:
    """Read a whole number above zero."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="benchmark evalkit compare against scripts")
    parser.add_argument("--records", type=positive, default=2_000_000, help="records of the dump")
    parser.add_argument("--runs", type=positive, default=5, help="rounds in which every command takes its turn")
    parser.add_argument("--skip-pandas", action="store_true", help="leave the slow pandas script out")
    parser.add_argument("--parquet", type=positive, default=10_000_000, help="records of the Parquet dump")
    parser.add_argument("--only-parquet", action="store_true", help="measure nothing else")
    parser.add_argument("--memory", action="store_true", help="compare the peak memory at 8 and at 1 million records")
    arguments = parser.parse_args()
    folder = cache_folder()
    print(describe())
    agreed = parquet(folder, arguments.parquet, arguments.runs)
    if not arguments.only_parquet:
        agreed &= speed(folder, arguments.records, arguments.runs, pandas=not arguments.skip_pandas)
    if arguments.memory:
        memory(folder)
    return 0 if agreed else 1


if __name__ == "__main__":
    sys.exit(main())
