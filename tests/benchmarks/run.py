"""The benchmark of evalkit against scripts that an analyst would write.

    python tests/benchmarks/run.py [--records 2000000] [--runs 5] [--skip-pandas] [--memory]
        [--parquet 10000000] [--only-parquet] [--vectors 2000000] [--only-vectors]
        [--lines 20000] [--pages 500] [--only-text] [--queries 50000] [--only-ranking]
        [--contributed 10000000] [--only-intervals]
        [--outcomes 10000000] [--only-curves]

Whole processes are measured, from start to exit, with the dump in the page cache. The commands take turns (A B C,
A B C, ...) and a ratio is the median of the ratios inside the rounds, because the speed of a shared machine drifts. The
numbers of all reports are compared as well. Dumps are made once, in ``.bench/`` or the folder that EVALKIT_BENCH_DIR
names.

A missed target is printed and does not fail the run; a command that fails, or numbers that differ, do.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import curves
import dump
import intervals
import ranking
import text
import vectors
from harness import (
    PEERS,
    Entry,
    Least,
    Scores,
    Target,
    agreement,
    cache_folder,
    describe,
    measure,
    positive,
    prepare,
    ratio,
    row,
    run_rounds,
    table,
)

FIELDS = ("threshold", "coverage", "precisionAtCoverage", "macroF1", "ece")
PANDAS_ROUNDS = 2
MEMORY_RECORDS = (1_000_000, 8_000_000)

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


def arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="benchmark evalkit against scripts and other tools")
    parser.add_argument("--records", type=positive, default=2_000_000, help="records of the dump")
    parser.add_argument("--runs", type=positive, default=5, help="rounds in which every command takes its turn")
    parser.add_argument("--skip-pandas", action="store_true", help="leave the slow pandas script out")
    parser.add_argument("--parquet", type=positive, default=10_000_000, help="records of the Parquet dump")
    parser.add_argument("--only-parquet", action="store_true", help="measure nothing else")
    parser.add_argument("--vectors", type=positive, default=2_000_000, help="rows of the probability vectors")
    parser.add_argument("--only-vectors", action="store_true", help="measure nothing else")
    parser.add_argument("--lines", type=positive, default=20_000, help="recorded lines of text")
    parser.add_argument("--pages", type=positive, default=500, help="recorded pages of text, beside the lines")
    parser.add_argument("--only-text", action="store_true", help="measure nothing else")
    parser.add_argument("--queries", type=positive, default=50_000, help="queries, each with three rankings")
    parser.add_argument("--only-ranking", action="store_true", help="measure nothing else")
    parser.add_argument("--contributed", type=positive, default=10_000_000, help="records of 100,000 contributors")
    parser.add_argument("--only-intervals", action="store_true", help="measure nothing else")
    parser.add_argument("--outcomes", type=positive, default=10_000_000, help="outcomes of the risk–coverage curve")
    parser.add_argument("--only-curves", action="store_true", help="measure nothing else")
    parser.add_argument("--memory", action="store_true", help="compare the peak memory of small and of large inputs")
    return parser.parse_args()


def main() -> int:
    """Run the benchmark."""
    asked = arguments()
    folder, rounds = cache_folder(), asked.runs
    print(describe())
    names = ("parquet", "vectors", "text", "ranking", "intervals", "curves")
    only = {name for name in names if getattr(asked, f"only_{name}")}

    def wanted(name: str) -> bool:
        return not only or name in only

    agreed = True
    if wanted("parquet"):
        agreed &= parquet(folder, asked.parquet, rounds)
    if wanted("dump"):
        agreed &= speed(folder, asked.records, rounds, pandas=not asked.skip_pandas)
    if wanted("vectors"):
        agreed &= vectors.vectors(folder, asked.vectors, rounds)
    if wanted("text"):
        agreed &= text.error_rates(folder, asked.lines, asked.pages, rounds)
    if wanted("ranking"):
        agreed &= ranking.ranking(folder, asked.queries, rounds)
    if wanted("intervals"):
        agreed &= intervals.intervals(folder, asked.contributed, rounds)
    if wanted("curves"):
        agreed &= curves.curves(folder, asked.outcomes, rounds)
    if asked.memory and wanted("dump"):
        memory(folder)
    if asked.memory and wanted("text"):
        text.memory(folder)
    return 0 if agreed else 1


if __name__ == "__main__":
    sys.exit(main())
