"""The benchmark of intervals: what 1,000 resamples of every selective metric add to reading the dump."""

import sys
import tempfile
from pathlib import Path

import dump
from harness import Entry, Target, prepare, ratio, row, run_rounds, table

CONTRIBUTORS = 100_000
LEVEL = ("--interval", "0.95", "--replicates", "1000")

# Wall time added, over that of reading the same file.
ADDED_TARGET = Target(1.5, aim=0.5)


def dump_file(folder: Path, records: int) -> Path:
    """Give a dump of so many records of 100,000 contributors, generated if missing."""
    path = folder / f"dump-{records}-{CONTRIBUTORS}.jsonl"
    if not path.exists():
        print(f"generating {path.name}", file=sys.stderr)
        dump.write(path, records, contributors=CONTRIBUTORS)
    return path


def intervals(folder: Path, records: int, rounds: int) -> bool:
    """Time a run without and with intervals."""
    path = dump_file(folder, records)
    prepare([path], ["polars", "numpy", "scipy"])
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "evalkit", "compare", str(path), "--min-coverage", "0.5", "--quiet"]
        command += ["--json", str(Path(scratch) / "report.json")]
        read = Entry("read and judge", command, accepted=(0, 3))
        sure = Entry("with intervals", [*command, *LEVEL], accepted=(0, 3))
        run_rounds([read, sure], rounds)
    added = ratio(sure, read) - 1
    head = [f"{records:,} records, {CONTRIBUTORS:,} contributors", "wall s", "CPU s", "RSS MiB", "added", "target", ""]
    rows = [row(read), row(sure, f"{added:.2f} x", ADDED_TARGET, ADDED_TARGET.verdict(added))]
    print("\n" + table(head, rows))
    return True
