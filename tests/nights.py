"""Helpers of the tests of nightly runs: jobs, dumps by date, what a store holds, and a run that is killed at a step."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from support import DEADLINE, dump, environment, judged

DIGITS = """
[[evaluation]]
name = "digits"
kind = "compare"
predictions = ["dumps/{date}/*.jsonl"]
min_coverage = "0.5"
"""

_KILLED = """
import os, signal, sys
store, last, told = sys.argv[2], int(sys.argv[3]), []
KINDS = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.chmod", "ctypes.dlopen", "open")
def hook(event, arguments):
    if event not in KINDS:
        return
    texts = [os.fsdecode(one) if isinstance(one, bytes) else str(one) for one in arguments]
    writes = event != "open" or (isinstance(arguments[2], int) and arguments[2] & (os.O_WRONLY | os.O_RDWR))
    inside = event == "ctypes.dlopen" or any(store in text for text in texts) or event in ("os.remove", "os.rmdir")
    if not (writes and inside and told is not None):
        return
    told.append(f"{event} {' '.join(texts[:2]).replace(store, 'STORE')}")
    if len(told) == last:
        print(told[-1], flush=True)
        os.kill(os.getpid(), int(sys.argv[5]))
import evalkit.nights.run as run
import polars, vl_convert, evalkit.charts.trend
from evalkit.cli.ending import TerminatedError, terminate
signal.signal(signal.SIGTERM, terminate)
sys.addaudithook(hook)
try:
    code = run.nightly(sys.argv[1], sys.argv[4], replace=True).code
except TerminatedError:
    os._exit(143)
print(f"ended after {len(told)}", flush=True)
os._exit(code)
"""


def killed_at(job: Path, step: int, date: str, number: int = signal.SIGKILL) -> tuple[int, str]:
    """Run a job with ``replace``, killed before its step of this number changes a file; return its end and the step."""
    store = str(job.parent / "store")
    command = [sys.executable, "-c", _KILLED, str(job), store, str(step), date, str(int(number))]
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", env=environment(), timeout=DEADLINE, check=False
    )
    assert not done.stderr, done.stderr
    return done.returncode, done.stdout.strip()


def job(folder: Path, *evaluations: str, store: str = "store") -> Path:
    """Write a job."""
    path = folder / "job.toml"
    path.write_text(f'store = "{store}"\n' + "".join(evaluations), "utf-8")
    return path


def night(folder: Path, date: str, lines: Iterable[str] | None = None) -> Path:
    """Write the dump of a night; without lines, one that is GO."""
    (folder / "dumps" / date).mkdir(parents=True, exist_ok=True)
    return dump(folder / "dumps" / date / "a.jsonl", judged("alpha", right=10) if lines is None else lines)


def vectors(folder: Path, right: int, of: int, name: str = "p.jsonl") -> None:
    """Write predictions of which so many are right, each with all its probability on one option, and their gold."""
    rows = (
        f'{{"id":"{n}","option_ids":["a","b"],"probabilities":{[1, 0] if n < right else [0, 1]}}}' for n in range(of)
    )
    (folder / name).write_text("".join(f"{row}\n" for row in rows), "utf-8")
    (folder / "g.jsonl").write_text("".join(f'{{"id":"{n}","gold":"a"}}\n' for n in range(of)), "utf-8")


def held(store: Path) -> Mapping[str, bytes]:
    """Tell what a store holds, the lock and what a killed run has left half-written aside."""
    found = {}
    for path in sorted(store.rglob("*")):
        name = str(path.relative_to(store))
        if path.is_file() and not any(part.startswith(".evalkit-") or part == ".lock" for part in name.split(os.sep)):
            found[name] = path.read_bytes()
    return found
