"""What a cluster's costs are made of: the bytes of a task's result, a task's own cost, a digest, a merge."""

import itertools
import statistics
import time
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl

from evalkit.contracts.contract import BRISTOL
from evalkit.engines.engine import TASK_BYTES, Engine, bundles
from evalkit.engines.pack import packed, unpacked
from evalkit.reading.contributors import CONTRIBUTOR
from evalkit.reading.engine import workers_of
from evalkit.reading.read import _read_part, outcome_keys
from evalkit.reading.tally import merge
from evalkit.sources.partition import Inputs, Whole, digest
from evalkit.sources.source import resolve

TASKS = 2000
"""Tasks without work, to find what one costs."""

_WARM = 20
"""Tasks before those that are timed."""

_FEW = 20
"""Tasks with work, to find what they carry."""


def rates(path: Path, address: str) -> dict[str, Any]:
    """Measure all of it on a dump, and a cluster for what tasks cost."""
    source = resolve([str(path)])[0]
    assert source.identity is not None
    start = time.perf_counter()
    digest(Whole(str(path), source.identity))
    digested = source.identity.size / (time.perf_counter() - start)
    return {
        "digest_bytes_a_second": round(digested),
        "task_ms": round(_task_ms(address), 2),
        "carried": [_carried(path, contributors=contributors) for contributors in (False, True)],
    }


def _task_ms(address: str) -> float:
    """Return milliseconds a task that does next to nothing."""
    with workers_of(address) as engine:
        assert isinstance(engine, Engine)
        list(engine.gather(abs, range(_WARM)))
        start = time.perf_counter()
        done = sum(1 for _ in engine.gather(abs, range(TASKS)))
        assert done == TASKS
        return 1000 * (time.perf_counter() - start) / TASKS


def _carried(path: Path, *, contributors: bool) -> dict[str, Any]:
    """Return what a task carries back, by the mean over some tasks, and what this process does with it."""
    task = partial(_read_part, contract=BRISTOL, contributors=contributors, ids=frozenset())
    results, times, frames = [], [], []
    records = stored = 0
    with Inputs(resolve([str(path)])) as inputs:
        for bundle in itertools.islice(bundles(inputs.partitions(), TASK_BYTES), _FEW):
            found = [task(partition) for partition in bundle]
            results.append(packed(found))
            start = time.perf_counter()
            back = unpacked(results[-1])
            times.append(time.perf_counter() - start)
            frames += [frame for _, frame in back]
            records += sum(part.records for part, _ in back)
            stored += sum(part.stored for part, _ in back)
    keys = [*outcome_keys(BRISTOL), *([CONTRIBUTOR] if contributors else [])]
    rows = sum(frame.height for frame in frames)
    start = time.perf_counter()
    merged = merge(frames, keys)
    took = time.perf_counter() - start
    return {
        "contributors": contributors,
        "stored": stored // _FEW,
        "records": records // _FEW,
        "rows": rows // _FEW,
        "bytes": round(statistics.mean(map(len, results))),
        "unpack_ms": round(1000 * statistics.mean(times), 2),
        "row_bytes": round(pl.concat(frames).estimated_size() / rows, 1),
        "merge_rows_a_second": round(rows / took),
        "merged_share": round(merged.height / rows, 3),
    }
