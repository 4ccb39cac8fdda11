"""Helpers of the tests: invented records, and ``evalkit`` run as the program that it is."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

Result = TypeVar("Result")

EVALKIT = str(Path(sys.executable).with_name("evalkit"))
DEADLINE = 60.0
"""Seconds after which waiting for a program counts as a failure; nothing here takes long on an idle machine."""

FLOOR = ("--min-coverage", "0.5")
TABLES = ("candidates", "per_class", "confusion", "bins", "curve", "measurements")
RESULT_FILES = sorted(["report.json", *(f"{name}.parquet" for name in TABLES)])

LINUX = sys.platform == "linux"

_FIRST_BYTE = {"train": "00", "validation": "cd", "test": "e6"}
_SHIM = "import os, sys\n{}\nos.execv(sys.argv[1], sys.argv[1:])"


# records


def key(split: str, number: int) -> str:
    """Return the subject key of one of a split's contributors."""
    return f"{_FIRST_BYTE[split]}{number:014x}"


def record(
    model: str,
    split: str,
    number: int,
    truth: int = 4,
    predicted: int | None = 4,
    confidence: float = 0.97,
    *,
    subject: str | None = None,
) -> str:
    """Write one record as a line, without its line end."""
    prediction = None if predicted is None else {"bristolType": predicted, "confidence": confidence}
    fields = {
        "model": model,
        "subjectKey": subject or key(split, number),
        "split": split,
        "truth": {"bristolType": truth},
        "prediction": prediction,
    }
    return json.dumps(fields)


def judged(model: str, right: int, wrong: int = 0, none: int = 0, confidence: float = 0.97) -> list[str]:
    """Write a candidate's records, the same on validation and test: all truth is 4, what is wrong says 5."""
    offered: list[int | None] = [4] * right + [5] * wrong + [None] * none
    return [
        record(model, split, number, 4, predicted, confidence)
        for split in ("validation", "test")
        for number, predicted in enumerate(offered)
    ]


GO = judged("alpha", right=10)
"""Passes: precision 1, macro F1 1, ECE 0.03."""

BLOCKED = judged("beta", right=7, wrong=3)
"""Fails: precision 0.7, macro F1 14/17, ECE 0.27."""


def text(lines: Iterable[str]) -> bytes:
    """Join lines to the bytes of a dump."""
    return "".join(f"{line}\n" for line in lines).encode()


def dump(path: Path, lines: Iterable[str]) -> Path:
    """Write a dump."""
    path.write_bytes(text(lines))
    return path


# the program


class Run(NamedTuple):
    """What a program left behind."""

    code: int
    stdout: bytes
    stderr: bytes

    @property
    def out(self) -> str:
        """Standard output as text."""
        return self.stdout.decode()

    @property
    def err(self) -> str:
        """Standard error as text."""
        return self.stderr.decode()

    @property
    def lines(self) -> list[str]:
        """The lines of standard output without the white space that fills up columns."""
        return [line.rstrip() for line in self.out.splitlines()]


_LEFT_OUT = ("COLUMNS", "LINES", "TERM", "COLORTERM", "LANG", "LC_", "NO_COLOR", "FORCE_COLOR", "CLICOLOR", "TTY_")
_LEFT_OUT_TOO = ("PYTHON", "PYTEST", "GITHUB", "JUPYTER", "COV_", "POLARS")


def environment(**changes: str) -> dict[str, str]:
    """Return the environment without all that changes how a program prints, and 80 columns."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(_LEFT_OUT + _LEFT_OUT_TOO)}
    return {**kept, "COLUMNS": "80", "LC_ALL": "C.UTF-8", **changes}


def command(arguments: Iterable[str | Path], before: str = "") -> list[str]:
    """Return the command line; ``before`` is Python that runs in the process first."""
    shim = [sys.executable, "-c", _SHIM.format(before)] if before else []
    return [*shim, EVALKIT, *map(str, arguments)]


def evalkit(
    *arguments: str | Path,
    cwd: Path,
    stdin: bytes | int | None = None,
    env: dict[str, str] | None = None,
    before: str = "",
    **options: Any,
) -> Run:
    """Run the command line to its end; ``stdin`` is what a pipe brings, or a descriptor."""
    given = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": subprocess.DEVNULL if stdin is None else stdin}
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    done = subprocess.run(
        command(arguments, before),
        cwd=cwd,
        env=env or environment(),
        timeout=DEADLINE,
        check=False,
        **{**streams, **given, **options},
    )
    return Run(done.returncode, done.stdout or b"", done.stderr or b"")


def compare(*arguments: str | Path, cwd: Path, **options: Any) -> Run:
    """Run ``evalkit compare`` with a coverage floor of 0.5."""
    return evalkit("compare", *FLOOR, *arguments, cwd=cwd, **options)


@contextlib.contextmanager
def started(
    *arguments: str | Path, cwd: Path, env: dict[str, str] | None = None, before: str = "", **options: Any
) -> Iterator[subprocess.Popen[bytes]]:
    """Start ``evalkit compare`` with a coverage floor of 0.5; whatever happens, it is gone at the end."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    line = command(("compare", *FLOOR, *arguments), before)
    with subprocess.Popen(line, cwd=cwd, env=env or environment(), **{**streams, **options}) as process:
        try:
            yield process
        finally:
            process.kill()


def ended(process: subprocess.Popen[bytes], seconds: float = DEADLINE) -> Run:
    """Wait for a process without touching its standard input, and return what it left behind."""
    code = process.wait(seconds)
    streams = [stream.read() if stream else b"" for stream in (process.stdout, process.stderr)]
    return Run(code, *streams)


def until(condition: Callable[[], Result | None], what: str, seconds: float = DEADLINE) -> Result:
    """Ask again and again until there is an answer."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if answer := condition():
            return answer
        time.sleep(0.001)
    raise AssertionError(f"waited {seconds} s in vain: {what}")


def sleeps(process: subprocess.Popen[bytes]) -> bool:
    """Tell whether the main thread of a process waits for something, and has for a while."""
    for _ in range(20):
        state = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        if state != "S":
            return False
        time.sleep(0.005)
    return True


# terminals


def in_terminal(
    *arguments: str | Path,
    cwd: Path,
    env: dict[str, str] | None = None,
    out: bool = True,
    err: bool = True,
    columns: int = 80,
    keys: Callable[[subprocess.Popen[bytes]], bytes] | None = None,
    seconds: float = DEADLINE,
) -> Run:
    """Run ``evalkit compare`` where standard output, standard error or both are terminals of their own.

    ``keys`` is called once the program runs and returns what is typed then; the terminal that standard output is
    becomes standard input and the controlling terminal for that.
    """
    variables = {
        name: value for name, value in (env or environment(TERM="xterm-256color")).items() if name != "COLUMNS"
    }
    pairs = [pty.openpty() if wanted else os.pipe() for wanted in (out, err)]
    for (_, inner), wanted in zip(pairs, (out, err), strict=True):
        if wanted:
            termios.tcsetwinsize(inner, (24, columns))
    readers, writers = [outer for outer, _ in pairs], [inner for _, inner in pairs]
    before = "import fcntl, termios; os.setsid(); fcntl.ioctl(0, termios.TIOCSCTTY, 0)" if keys else ""
    streams: dict[str, Any] = {"stdin": writers[0]} if keys else {}
    try:
        with started(
            *arguments, cwd=cwd, env=variables, before=before, stdout=writers[0], stderr=writers[1], **streams
        ) as process:
            while writers:
                os.close(writers.pop())
            if keys:
                os.write(readers[0], keys(process))
            shown = _drain(readers, seconds)
            return Run(process.wait(seconds), *shown)
    finally:
        for descriptor in readers + writers:
            os.close(descriptor)


def _drain(descriptors: list[int], seconds: float) -> list[bytes]:
    shown: dict[int, bytes] = dict.fromkeys(descriptors, b"")
    left = set(descriptors)
    end = time.monotonic() + seconds
    while left and time.monotonic() < end:
        for ready in select.select(left, [], [], 0.1)[0]:
            try:
                piece = os.read(ready, 65536)
            except OSError:  # what Linux says when the last user of a terminal has gone
                piece = b""
            shown[ready] += piece
            if not piece:
                left.discard(ready)
    return list(shown.values())
