"""The peak memory of a command with all processes that it starts, as Linux tells it."""

import contextlib
import shlex
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from harness import ROOT, Entry, Target, environment, table

_STEP = 0.01
"""Seconds between two looks."""


def peaks(command: Sequence[str]) -> list[float]:
    """Run a command, and return the largest resident set, in MiB, of each process that it was seen to consist of.

    The sum is more than what they held: it counts what they share once for each, and the peaks need not coincide.
    """
    found: dict[int, float] = {}
    with subprocess.Popen(command, cwd=ROOT, env=environment(), stdin=subprocess.DEVNULL) as process:
        while process.poll() is None:
            for one in family(process.pid):
                found[one] = max(found.get(one, 0), peak(one))
            time.sleep(_STEP)
    if process.returncode:
        raise SystemExit(f"exit code {process.returncode} of: {shlex.join(command)}")
    return list(found.values())


def family(process: int) -> list[int]:
    """Return a process and its descendants, as Linux names them."""
    found = [process]
    for one in found:
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{one}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found


def peak(process: int) -> float:
    """Return the largest resident set of a process in MiB; 0 where it has ended."""
    with contextlib.suppress(OSError):
        status = Path(f"/proc/{process}/status").read_text()
        return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmHWM")), 0.0)
    return 0.0


def memory_table(entries: Sequence[Entry], growth: Target) -> None:
    """Measure the peak memory of all processes of a small run and of a large one, and print how it grew."""
    found = [peaks(entry.command) for entry in entries]
    factor = sum(found[1]) / sum(found[0])
    rows = [[entry.name, str(len(one)), f"{sum(one):.0f}"] for entry, one in zip(entries, found, strict=True)]
    rows[1] += [f"{factor:.2f} x", str(growth), growth.verdict(factor)]
    rows[0] += ["", "", ""]
    print("\n" + table(["memory of all processes", "processes", "sum MiB", "growth", "target", "verdict"], rows))
