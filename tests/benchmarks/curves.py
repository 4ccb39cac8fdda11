"""The benchmark of risk and coverage: outcomes with as many confidences as records, beside a NumPy script.

evalkit makes the curve, three areas with intervals, and coverage at three risks with intervals; the script sorts, and
has one value of each area and nothing else. No two confidences are equal, since the script would take ties by row.
"""

import json
import sys
from pathlib import Path

from harness import HERE, PEERS, Entry, Scores, Target, agreement, prepare, ratio, row, run_rounds, table

WALL_TARGET = Target(5)
MEMORY_TARGET = Target(1024)
PEER_TARGET = Target(2)
CONTRIBUTORS = 50_000


def outcomes(folder: Path, records: int) -> Path:
    """Give outcomes as Parquet, the same ones every time, made if missing."""
    import numpy as np
    import polars as pl

    path = folder / f"outcomes-{records}.parquet"
    if not path.exists():
        print(f"generating {path.name}", file=sys.stderr)
        numbers = np.random.Generator(np.random.PCG64(20260104))
        confidence = (numbers.permutation(records) + 0.5) / records
        columns = {"confidence": confidence, "correct": numbers.random(records) < 0.5 + confidence / 2}
        who = numbers.integers(0, CONTRIBUTORS, records).astype(np.uint64)
        frame = pl.DataFrame({**columns, "contributor": who, "n": np.ones(records, np.int64)})
        frame.write_parquet(path, row_group_size=1_000_000)
    return path


def _scores(output: str) -> Scores:
    return {"areas": json.loads(output)}


def curves(folder: Path, records: int, rounds: int) -> bool:
    """Time evalkit and the script; tell whether their areas agree."""
    path = outcomes(folder, records)
    prepare([path], ["polars", "numpy", "scipy.special"])
    suite = Entry("risk–coverage suite", [sys.executable, str(HERE / "curve_suite.py"), str(path)], _scores)
    peer = Entry("curve_numpy", [sys.executable, str(PEERS / "curve_numpy.py"), str(path)], _scores)
    run_rounds([suite, peer], rounds)
    head = [f"{records:,} outcomes", "wall s", "CPU s", "RSS MiB", "value", "target", "verdict"]
    value = ratio(suite, peer)
    rows = [
        row(suite, f"{suite.wall:.2f} s", WALL_TARGET, WALL_TARGET.verdict(suite.wall)),
        row(suite, f"{suite.rss:.0f} MiB", MEMORY_TARGET, MEMORY_TARGET.verdict(suite.rss)),
        row(peer, f"{value:.2f}", PEER_TARGET, PEER_TARGET.verdict(value)),
    ]
    print("\n" + table(head, rows))
    return agreement(suite, [peer])
