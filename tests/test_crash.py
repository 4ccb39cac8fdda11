"""What is left when a run is interrupted, killed, or out of disk: the old or the new, whole, and nothing else.

Nothing here waits a fixed time: a signal is sent once the program is seen to be where it is meant to be hit.
"""

from __future__ import annotations

import array
import contextlib
import fcntl
import gzip
import json
import os
import random
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from support import (
    BLOCKED,
    FLOOR,
    GO,
    LINUX,
    RESULT_FILES,
    TABLES,
    Run,
    compare,
    dump,
    ended,
    environment,
    in_terminal,
    judged,
    sleeps,
    started,
    text,
    until,
)

pytestmark = pytest.mark.skipif(not LINUX, reason="looks into /proc to see where a process is")

SIGNALS = [
    pytest.param(signal.SIGINT, 130, "interrupted", id="SIGINT"),
    pytest.param(signal.SIGTERM, 143, "terminated", id="SIGTERM"),
]
TARGETS = ("--json", "old.json", "--out", "old")


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Make a folder with dumps, a place for temporary files and older outputs."""
    dump(tmp_path / "go.jsonl", GO)
    dump(tmp_path / "blocked.jsonl", BLOCKED)
    (tmp_path / "tmp").mkdir()
    return tmp_path


@pytest.fixture
def older(here: Path) -> dict[str, bytes | None]:
    """Write older outputs, and return what a run that ends early must leave: exactly what was there."""
    assert compare("blocked.jsonl", *TARGETS, "-q", cwd=here).code == 3
    return files(here)


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write a dump of several partitions, 100 MB, so that reading it takes a while."""
    block = text(judged("alpha", right=2000) + judged("beta", right=1500, wrong=500))
    path = tmp_path_factory.mktemp("large") / "large.jsonl"
    with path.open("wb") as file:
        while file.tell() < 100_000_000:
            file.write(block)
    return path


def files(folder: Path) -> dict[str, bytes | None]:
    """Tell the files in a folder and what they hold, and the folders in it."""
    found = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if not path.is_fifo()}
    return {name: path.read_bytes() if path.is_file() else None for name, path in found.items()}


def private(here: Path) -> dict[str, str]:
    """Return an environment in which temporary files go to a folder of their own."""
    return environment(TMPDIR=str(here / "tmp"))


def taken(writer: int) -> None:
    """Wait until all that was written into a pipe has been taken out of it."""

    def empty() -> bool:
        left = array.array("i", [1])
        fcntl.ioctl(writer, termios.FIONREAD, left)
        return left[0] == 0

    until(empty, "the pipe is never read")


def holds_open(process: subprocess.Popen[bytes], path: Path) -> bool:
    """Tell whether a process has a file open."""
    with contextlib.suppress(OSError):
        folder = f"/proc/{process.pid}/fd"
        return any(os.readlink(f"{folder}/{entry}") == str(path) for entry in os.listdir(folder))
    return False


def mapped(process: subprocess.Popen[bytes], library: str) -> bool:
    """Tell whether a process has loaded a library."""
    with contextlib.suppress(OSError):
        return library in Path(f"/proc/{process.pid}/maps").read_text()
    return False


def check_ended_early(run: Run, code: int, word: str) -> None:
    """The exit code of the signal, one line about it, nothing on standard output."""
    assert run.code == code, run.err
    assert run.out == ""
    assert run.err.startswith(f"evalkit: {word}")
    assert run.err.count("\n") == 1


# interrupted and terminated


@pytest.mark.parametrize(("number", "code", "word"), SIGNALS)
def test_a_signal_while_files_are_read(
    here: Path, large: Path, older: dict[str, bytes | None], number: int, code: int, word: str
) -> None:
    """Exit 130 or 143 in the midst of a large file, the older outputs unchanged, nothing left behind."""
    with started(large, *TARGETS, cwd=here, env=private(here)) as process:
        until(lambda: mapped(process, "polars") and holds_open(process, large), "the dump is never read")
        process.send_signal(number)
        check_ended_early(ended(process), code, word)
    assert files(here) == older


@pytest.mark.parametrize("stored", ["plain", "gzip"])
@pytest.mark.parametrize(("number", "code", "word"), SIGNALS)
def test_a_signal_while_a_pipe_brings_records(
    here: Path, older: dict[str, bytes | None], stored: str, number: int, code: int, word: str
) -> None:
    """The same in the midst of a pipe, whose spool is gone too, and whether outputs are new or old."""
    os.mkfifo(here / "in.fifo")
    piece = text(GO) * 1000
    piece = gzip.compress(piece) if stored == "gzip" else piece
    with started("in.fifo", "--json", "new/r.json", "--out", "old", cwd=here, env=private(here)) as process:
        with (here / "in.fifo").open("wb", buffering=0) as pipe:
            for _ in range(20):  # 60 MB of text: the second partition is under way
                pipe.write(piece)
            process.send_signal(number)
            with contextlib.suppress(BrokenPipeError):  # goes on bringing, as a program in front would
                while process.poll() is None:
                    pipe.write(piece)
        check_ended_early(ended(process), code, word)
    (here / "in.fifo").unlink()
    assert files(here) == older
    assert not (here / "new").exists()


@pytest.mark.parametrize(("number", "code", "word"), SIGNALS)
@pytest.mark.parametrize("sent", [b"", text(GO)], ids=["nothing yet", "some records"])
def test_a_signal_while_waiting_for_standard_input(here: Path, sent: bytes, number: int, code: int, word: str) -> None:
    """Who waits for a pipe that brings nothing is ended at once, not when the pipe brings more or ends."""
    with started("-", "--json", "r.json", cwd=here, env=private(here), stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        process.stdin.write(sent)
        process.stdin.flush()
        taken(process.stdin.fileno())
        until(lambda: mapped(process, "polars") and sleeps(process), "the program never waits")
        process.send_signal(number)
        check_ended_early(ended(process), code, word)
    assert sorted(files(here)) == ["blocked.jsonl", "go.jsonl", "tmp"]


@pytest.mark.parametrize(("number", "code", "word"), SIGNALS)
def test_a_signal_while_waiting_for_somebody_to_open_a_pipe(here: Path, number: int, code: int, word: str) -> None:
    """A named pipe that nobody writes to yet is waited for; a signal ends that at once too."""
    os.mkfifo(here / "never.fifo")
    with started("never.fifo", "--json", "r.json", cwd=here, env=private(here)) as process:
        until(lambda: mapped(process, "polars") and sleeps(process), "the program never waits")
        process.send_signal(number)
        check_ended_early(ended(process, seconds=10), code, word)
    assert sorted(files(here)) == ["blocked.jsonl", "go.jsonl", "tmp"]


def test_control_c_typed_at_a_terminal(here: Path) -> None:
    """Ctrl-C at a terminal that evalkit waits at for records ends it: exit 130."""

    def interrupt(process: subprocess.Popen[bytes]) -> bytes:
        until(lambda: mapped(process, "polars") and sleeps(process), "the program never waits")
        return b"\x03"

    run = in_terminal("-", cwd=here, env=private(here), keys=interrupt, err=False)
    assert (run.code, run.err) == (130, "evalkit: interrupted\n")


def test_sigterm_while_the_program_starts(here: Path) -> None:
    """From the moment that signals are handled on, SIGTERM is exit 143 without a traceback."""
    with started("go.jsonl", "--json", "r.json", cwd=here) as process:
        until(lambda: mapped(process, "_hashlib"), "what digests is never loaded")
        process.send_signal(signal.SIGTERM)
        run = ended(process)
    assert "Traceback" not in run.err
    assert run.code in (143, -signal.SIGTERM)
    assert not (here / "r.json").exists()


@pytest.mark.parametrize(("number", "code", "word"), SIGNALS)
def test_a_signal_while_outputs_are_written(here: Path, number: int, code: int, word: str) -> None:
    """Each output is the old or the new one, whole, and no temporary is left, whichever the moment."""
    moments = random.Random(number)
    _, span = _while_writing(here, "blocked.jsonl", None, 0)
    names = sorted(files(here))
    for _ in range(3):
        run, _ = _while_writing(here, "go.jsonl", lambda process: process.send_signal(number), moments.uniform(0, span))
        assert run.code in (0, code, -number)  # or it was done, or already on its way out
        assert "Traceback" not in run.err
        assert sorted(files(here)) == names
        assert json.loads((here / "r.json").read_bytes())["schema"] == "evalkit-selective-v1"
        evidence = json.loads((here / "out/report.json").read_bytes())["evidence"]
        for name in TABLES:
            notes = pq.read_metadata(here / f"out/{name}.parquet").metadata
            assert json.loads(notes[b"evalkit.evidence"]) == evidence


def _rigged(code: str, here: Path) -> subprocess.CompletedProcess[str]:
    """Judge a dump into a results folder by code that first puts something into the program's way."""
    line = [sys.executable, "-c", code, "compare", *FLOOR, "go.jsonl", "--out", "out", "-q"]
    return subprocess.run(line, cwd=here, env=environment(), capture_output=True, text=True, check=False)


def test_a_signal_while_the_older_results_are_removed(here: Path) -> None:
    """When the new results are in place the older ones are removed; a signal then leaves nothing of them behind."""
    assert compare("blocked.jsonl", "--out", "out", "-q", cwd=here).code == 3
    before = sorted(files(here))
    code = (
        "import evalkit.cli, os, shutil, signal\n"
        "remove = shutil.rmtree\n"
        "def signalled(*arguments, **options):\n"
        "    shutil.rmtree = remove\n"
        "    os.kill(os.getpid(), signal.SIGTERM)\n"
        "    return remove(*arguments, **options)\n"
        "shutil.rmtree = signalled\n"
        "evalkit.cli.run()"
    )
    run = _rigged(code, here)
    assert run.returncode in (0, 143)
    assert sorted(files(here)) == before


def test_one_interrupt_interrupts_once(here: Path) -> None:
    """Ctrl-C while the dataframe library works raises once: a second time would be in the midst of the cleanup."""
    before = sorted(files(here))
    code = (
        "import evalkit.cli, os, polars, signal, threading\n"
        "def busy(*_, **__):\n"
        "    numbers = polars.DataFrame({'n': polars.int_range(3_000_000, eager=True) * 7919 % 1009})\n"
        "    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()\n"
        "    while True:\n"
        "        numbers.lazy().sort('n').collect()\n"
        "polars.DataFrame.to_arrow = busy\n"
        "evalkit.cli.run()"
    )
    run = _rigged(code, here)
    assert (run.returncode, run.stdout, run.stderr) == (130, "", "evalkit: interrupted\n")
    assert sorted(files(here)) == before


# killed


def test_sigkill_while_outputs_are_written(here: Path) -> None:
    """Killed at any moment of writing: report and results folder are each the old or the new ones, whole.

    Temporaries that a kill leaves are hidden, and the runs that follow do not trip over them.
    """
    moments = random.Random(20260101)
    whole: dict[str, dict[str, bytes | None]] = {}
    for name in ("go.jsonl", "blocked.jsonl"):
        assert compare(name, "--json", "r.json", "--out", "out", "-q", cwd=here).code in (0, 3)
        whole[name] = files(here / "out")
    _, span = _while_writing(here, "go.jsonl", None, 0)
    for attempt in range(20):
        name = ("blocked.jsonl", "go.jsonl")[attempt % 2]
        _while_writing(here, name, subprocess.Popen.kill, moments.uniform(0, span))
        found = files(here / "out")
        assert sorted(found) == RESULT_FILES
        assert found in whole.values()
        assert (here / "r.json").read_bytes() in [each["report.json"] for each in whole.values()]
    visible = {entry for entry in os.listdir(here) if not entry.startswith(".")}
    assert visible == {"go.jsonl", "blocked.jsonl", "r.json", "out", "tmp"}
    assert compare("go.jsonl", "--json", "r.json", "--out", "out", "-q", cwd=here).code == 0
    assert files(here / "out") == whole["go.jsonl"]
    for table in TABLES:
        assert pq.read_table(here / f"out/{table}.parquet").num_rows > 0
    assert json.loads((here / "r.json").read_bytes())["verdict"] == "GO"


def _while_writing(
    here: Path, name: str, act: Callable[[subprocess.Popen[bytes]], None] | None, delay: float
) -> tuple[Run, float]:
    """Act on a run at some moment after a temporary of its outputs has appeared; tell how long it lived from there."""
    before = {entry for entry in os.listdir(here) if entry.startswith(".")}
    with started(name, "--json", "r.json", "--out", "out", "-q", cwd=here) as process:

        def writes() -> bool:
            new = {entry for entry in os.listdir(here) if entry.startswith(".")} - before
            return bool(new) or process.poll() is not None

        until(writes, "nothing is ever written")
        began = time.monotonic()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(delay)
        if act:
            act(process)
        return ended(process), time.monotonic() - began


# out of disk


def test_a_report_that_does_not_fit_leaves_the_older_one(here: Path) -> None:
    """A write that fails, here at the limit of a file's size, is exit 1 with its reason; no temporary is left."""
    (here / "r.json").write_text("older")
    before = files(here)
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))"
    run = compare("go.jsonl", "--json", "r.json", cwd=here, env=private(here), before=limit)
    assert (run.code, run.out) == (1, "")
    assert run.err.startswith("evalkit: failed, and not for the input: ")
    assert "File too large" in run.err
    assert run.err.count("\n") == 1
    assert files(here) == before


@pytest.fixture
def tiny(here: Path) -> Iterator[Path]:
    """Mount a file system of 64 KiB that is full but for 8."""
    folder = here / "tiny"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("only root mounts a file system")
    try:
        (folder / "filler").write_bytes(b"\0" * (64 - 8) * 1024)
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


def _fill(tiny: Path, leave: int = 0) -> None:
    """Fill the file system but for some bytes."""
    with (tiny / "filler").open("ab", buffering=0) as filler:
        with contextlib.suppress(OSError):
            while True:
                filler.write(b"\0" * 4096)
        filler.truncate(filler.tell() - leave)


@pytest.mark.parametrize(
    ("option", "full"),
    [
        pytest.param("--json", True, id="report"),
        pytest.param("--out", True, id="results, of which nothing fits"),
        pytest.param(
            *("--out", False),
            id="results, of which some tables fit",
        ),
    ],
)
def test_a_full_disk_is_exit_1_and_says_so(here: Path, tiny: Path, option: str, full: bool) -> None:
    """A full disk is exit 1, said in one line that is no traceback."""
    if full:
        _fill(tiny)
    run = compare("go.jsonl", option, "tiny/target", cwd=here)
    assert (run.code, run.out) == (1, "")
    assert "No space left on device" in run.err
    assert run.err.startswith("evalkit: failed, and not for the input: ")
    assert run.err.count("\n") == 1


@pytest.mark.parametrize("option", ["--json", "--out"])
def test_a_full_disk_leaves_the_older_outputs(here: Path, tiny: Path, option: str) -> None:
    """On a full disk the older report or results stay as they are, and no temporary is left."""
    (tiny / "filler").unlink()
    assert compare("blocked.jsonl", option, "tiny/old", "-q", cwd=here).code == 3
    _fill(tiny, leave=4096 if option == "--out" else 0)
    before = files(tiny)
    assert compare("go.jsonl", option, "tiny/old", cwd=here).code == 1
    assert files(tiny) == before
    assert sorted(os.listdir(tiny)) == ["filler", "old"]


def test_standard_input_that_does_not_fit_into_the_spool_is_exit_1(here: Path, tiny: Path) -> None:
    """What can be read only once is kept for a second reading; no room for that is a failure of the machine."""
    (tiny / "filler").unlink()
    env = environment(TMPDIR=str(tiny))
    run = compare("-", "--json", "r.json", cwd=here, stdin=text(GO) * 100, env=env)
    assert (run.code, run.out) == (1, "")
    assert "No space left on device" in run.err
    assert "Traceback" not in run.err
    assert not (here / "r.json").exists()
    assert os.listdir(tiny) == []
