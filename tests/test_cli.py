"""The command line as a program: exit codes, streams, terminals."""

from __future__ import annotations

import array
import fcntl
import gzip
import hashlib
import json
import os
import re
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from rich.cells import cell_len
from support import (
    BLOCKED,
    EVALKIT,
    FLOOR,
    GO,
    LINUX,
    compare,
    dump,
    ended,
    environment,
    evalkit,
    in_terminal,
    judged,
    key,
    record,
    sleeps,
    started,
    text,
    until,
)

HEADER = "candidate threshold coverage precision     macro-F1      ECE"
REFUSED = "evalkit: refused: 1 violation; nothing was scored, nothing was written\n"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Make a folder with a dump that is GO and one that is BLOCKED."""
    dump(tmp_path / "go.jsonl", GO)
    dump(tmp_path / "blocked.jsonl", BLOCKED)
    return tmp_path


def zstd(data: bytes) -> bytes:
    """Compress to one Zstandard frame."""
    frame: bytes = pa.compress(data, codec="zstd", asbytes=True)
    return frame


def skippable(data: bytes, kind: int = 0) -> bytes:
    """Write one of the sixteen skippable frames of Zstandard."""
    return bytes([0x50 + kind, 0x2A, 0x4D, 0x18]) + len(data).to_bytes(4, "little") + data


# exit codes and the words


def test_go_is_exit_0_and_the_table_is_literally_this(here: Path) -> None:
    """GO: exit 0, the table and the verdict on standard output, nothing on standard error."""
    run = compare("go.jsonl", cwd=here)
    assert run.code == 0
    assert run.lines == [
        HEADER,
        "alpha        0.9700   1.0000 1.0000 ✓ pass 1.0000 ✓ pass 0.0300 ✓ pass",
        "20 records in 1 input; coverage floor 0.5",
        "GO: alpha is recommended; 1 of 1 candidates passed all gates",
    ]
    assert run.err == ""


def test_blocked_is_exit_3_and_the_table_is_literally_this(here: Path) -> None:
    """BLOCKED: exit 3, and every gate says whether it failed."""
    run = compare("blocked.jsonl", cwd=here)
    assert run.code == 3
    assert run.lines == [
        HEADER,
        "beta         0.9700   1.0000 0.7000 ✗ fail 0.8235 ✓ pass 0.2700 ✗ fail",
        "20 records in 1 input; coverage floor 0.5",
        "BLOCKED: 0 of 1 candidates passed all gates",
    ]
    assert run.err == ""


def test_one_good_candidate_among_blocked_ones_is_go(here: Path) -> None:
    """A candidate that cannot be judged is blocked by name with its reason; the others are still judged."""
    lines = [
        *GO,
        *(record("no cut", split, number, 4, None) for split in ("validation", "test") for number in range(2)),
        record("no test", "validation", 1),
        record("no validation", "test", 1),
        record("nothing", "validation", 1, confidence=0.9),
        record("nothing", "test", 1, confidence=0.8),
        record("train only", "train", 1),
    ]
    dump(here / "mixed.jsonl", lines)
    run = compare("mixed.jsonl", "--synthetic", cwd=here)
    assert run.code == 0
    assert run.lines[-9:] == [
        "no cut: blocked, no cut clears the floor",
        "no test: blocked, no test records",
        "no validation: blocked, no validation records",
        "nothing: blocked, nothing accepted on test",
        "nothing: excluded classes 4 (every record abstained)",
        "train only: blocked, no validation records",
        "29 records in 1 input; coverage floor 0.5",
        "synthetic: these records are invented and say nothing about a real model",
        "GO: alpha is recommended; 1 of 6 candidates passed all gates",
    ]


def test_quiet_prints_nothing_and_the_exit_code_tells(here: Path) -> None:
    """``--quiet``: nothing on either stream on GO and BLOCKED; a refusal is still said."""
    assert compare("go.jsonl", "-q", cwd=here) == (0, b"", b"")
    assert compare("blocked.jsonl", "--quiet", cwd=here) == (3, b"", b"")
    refused = compare("missing.jsonl", "--quiet", cwd=here)
    assert refused == (2, b"", f"{REFUSED}  missing.jsonl: there is no such file [path-missing]\n".encode())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["compare", "go.jsonl"], "Error: Missing option '--min-coverage'."),
        (["compare", "go.jsonl", *FLOOR, "--nope"], "Error: No such option: --nope"),
        (["compare", "go.jsonl", "--min-coverage"], "Error: Option '--min-coverage' requires an argument."),
        (["nope"], "Error: No such command 'nope'."),
        (["compare", *FLOOR], "  no input is named; give files, patterns, or - for standard input [no-input]"),
        (["compare", "no/*.jsonl", *FLOOR], "  no/*.jsonl: the pattern matches no file [pattern-empty]"),
        (
            ["compare", "go.jsonl", "./go.jsonl", *FLOOR],
            "  ./go.jsonl: is the same file as go.jsonl; name each file once [same-file-twice]",
        ),
        (["compare", "empty.jsonl", *FLOOR], "  empty.jsonl: holds no records [no-records]"),
    ],
)
def test_usage_errors_and_refusals_are_exit_2(here: Path, arguments: list[str], said: str) -> None:
    """What the caller got wrong is exit 2, said on standard error alone."""
    (here / "empty.jsonl").touch()
    run = evalkit(*arguments, cwd=here)
    assert (run.code, run.out) == (2, "")
    assert run.err.splitlines()[-1] == said


@pytest.mark.parametrize(
    ("floor", "hint"),
    [
        ("50", "; for 50 percent write 0.5"),
        ("50%", "; for 50 percent write 0.5"),
        ("0,5", "; with a decimal point, write 0.5"),
        ("nan", ", such as 0.5"),
        ("-0.1", ", such as 0.5"),
        ("", ", such as 0.5"),
    ],
)
def test_a_floor_that_is_no_decimal_is_exit_2_with_a_hint(here: Path, floor: str, hint: str) -> None:
    """The floor is a decimal from 0 to 1 and has no default; a usual slip gets a hint."""
    run = evalkit("compare", "go.jsonl", f"--min-coverage={floor}", cwd=here)
    line = f'  min-coverage: must be a decimal from 0 to 1{hint}; found "{floor}" [min-coverage]\n'
    assert run == (2, b"", (REFUSED + line).encode())


def test_everything_that_is_wrong_with_the_inputs_is_said_at_once(here: Path) -> None:
    """A path, a pattern and a folder that are all wrong are three lines of one refusal, in the order given."""
    run = compare("missing.jsonl", "no*.jsonl", "go.jsonl", "--predictions", ".", cwd=here)
    assert (run.code, run.out) == (2, "")
    assert run.err.splitlines() == [
        "evalkit: refused: 3 violations; nothing was scored, nothing was written",
        "  missing.jsonl: there is no such file [path-missing]",
        "  no*.jsonl: the pattern matches no file [pattern-empty]",
        "  .: is a directory; name its files, or a pattern such as DIRECTORY/*.jsonl [path-directory]",
    ]


def test_malformed_records_are_exit_2_each_with_its_line(here: Path) -> None:
    """Every broken rule is said with file, line, field, value; the value of a malformed key never."""
    good, size = GO[0], len(GO[0])
    no_key = "must be exactly 16 lower-case hexadecimal digits; found a text of length 24"
    bad = [good.replace("0.97", "1.5"), good.replace('"cd', '"Ms Müller '), "", good[:-1], good.replace('"test"', "")]
    dump(here / "bad.jsonl", bad)
    run = compare("bad.jsonl", cwd=here)
    assert (run.code, run.out) == (2, "")
    assert run.err.splitlines() == [
        "evalkit: refused: 3 violations; nothing was scored, nothing was written",
        "  bad.jsonl:1: prediction.confidence: must be a number from 0 to 1; found 1.5 [confidence]",
        f"  bad.jsonl:2: subjectKey: {no_key} [subject-key]",
        f"  bad.jsonl:4: must be one JSON object; the line is broken at character {size} of {size - 1} [json]",
    ]


def test_files_and_predictions_options_are_one_list(here: Path) -> None:
    """``--predictions`` may be repeated and mixed with plain arguments; patterns are taken in sorted order."""
    for name in ("b", "a"):
        dump(here / f"part-{name}.jsonl", judged(f"m-{name}", right=2))
    run = compare(
        *("--predictions", "blocked.jsonl", "go.jsonl", "--predictions", "part-?.jsonl", "--json", "-", "-q"), cwd=here
    )
    assert run.code == 0
    evidence = json.loads(run.stdout)["evidence"]
    assert [(one["name"], one["records"]) for one in evidence] == [
        ("go.jsonl", 20),
        ("blocked.jsonl", 20),
        ("part-a.jsonl", 4),
        ("part-b.jsonl", 4),
    ]


def test_version_and_help(here: Path) -> None:
    """``--version`` and ``--help`` are exit 0 on standard output, at most 80 columns wide; so under ``-m``."""
    version = evalkit("--version", cwd=here)
    assert re.fullmatch(rb"evalkit \d+\.\d+\.\d+\n", version.stdout)
    assert (version.code, version.err) == (0, "")
    for arguments in (["--help"], ["-h"], ["compare", "--help"]):
        shown = evalkit(*arguments, cwd=here)
        assert (shown.code, shown.err) == (0, "")
        assert shown.out.startswith("Usage: evalkit ")
        assert max(map(len, shown.lines)) <= 80
    module = subprocess.run(
        [sys.executable, "-m", "evalkit", "--version"], cwd=here, env=environment(), capture_output=True, check=True
    )
    assert module.stdout == version.stdout


def test_no_arguments_show_the_help_and_are_exit_2(here: Path) -> None:
    """Without a command the help is shown, and it is no success."""
    run = evalkit(cwd=here)
    assert run.code == 2
    assert "Usage: evalkit " in run.out + run.err


def test_python_m_evalkit_is_the_same_program(here: Path) -> None:
    """``python -m evalkit`` gives the same bytes and the same exit code."""
    line = [sys.executable, "-m", "evalkit", "compare", "blocked.jsonl", *FLOOR, "--json", "-"]
    module = subprocess.run(line, cwd=here, env=environment(), capture_output=True, check=False)
    script = compare("blocked.jsonl", "--json", "-", cwd=here)
    assert (module.returncode, module.stdout, module.stderr) == script


def test_help_loads_no_dataframe_library(here: Path) -> None:
    """``--help`` answers at once: Polars, PyArrow and Rich are loaded where they are used."""
    line = [sys.executable, "-X", "importtime", EVALKIT, "compare", "--help"]
    loaded = subprocess.run(line, cwd=here, env=environment(), capture_output=True, text=True, check=True).stderr
    assert "evalkit.cli" in loaded
    assert not re.search(r"\| +(polars|pyarrow|rich)$", loaded, re.MULTILINE)


def test_a_bug_is_exit_1_and_says_that_it_is_one(here: Path) -> None:
    """What evalkit itself gets wrong is exit 1, with the traceback, and no output is written."""
    code = (
        "import evalkit.families.selective.compare as module, evalkit.cli\n"
        "def broken(*_, **__): raise ZeroDivisionError('invented')\n"
        "module.compare_inputs = broken\n"
        "evalkit.cli.run()"
    )
    line = [sys.executable, "-c", code, "compare", "go.jsonl", *FLOOR, "--json", "new/r.json"]
    run = subprocess.run(line, cwd=here, env=environment(), capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout) == (1, "")
    assert "ZeroDivisionError: invented\n" in run.stderr
    last = "evalkit: this is a bug in evalkit; please report the lines above\n"
    assert run.stderr.endswith(last)
    assert not (here / "new").exists()


def test_an_empty_file_among_others_is_a_warning(here: Path) -> None:
    """An empty file, and one with the same content as another, are warned about by name; the run goes on."""
    (here / "empty.jsonl").touch()
    (here / "copy.jsonl").write_bytes((here / "go.jsonl").read_bytes())
    run = compare("go.jsonl", "empty.jsonl", "copy.jsonl", "--json", "r.json", cwd=here)
    assert run.code == 0
    assert run.err.splitlines() == [
        "evalkit: warning: empty.jsonl: holds no records",
        "evalkit: warning: copy.jsonl: has the same content as go.jsonl, so its records count twice",
    ]
    assert [one["records"] for one in json.loads((here / "r.json").read_bytes())["evidence"]] == [20, 0, 20]


@pytest.mark.skipif(not LINUX, reason="looks into /proc")
def test_an_input_that_changes_while_it_is_read_is_refused(here: Path) -> None:
    """A file that grows during the run is exit 2: its digest would not be that of what was read."""
    os.mkfifo(here / "late.fifo")
    with started("go.jsonl", "late.fifo", "--json", "r.json", cwd=here) as process:
        with (here / "late.fifo").open("wb", buffering=0) as pipe:
            pipe.write(text(BLOCKED))
            _taken(pipe.fileno())
            with (here / "go.jsonl").open("ab") as grown:
                grown.write(b"\n")
        run = ended(process)
    line = "  go.jsonl: was changed while it was read; run again when it is whole [file-changed]\n"
    assert run == (2, b"", (REFUSED + line).encode())
    assert not (here / "r.json").exists()


# streams


@pytest.mark.parametrize("way", ["pipe", "redirected file", "/dev/stdin", "FIFO"])
def test_a_dump_comes_in_by_any_way(here: Path, way: str) -> None:
    """Standard input and named pipes give the report of the file: digest, bytes and records are of what came."""
    expected = json.loads(compare("go.jsonl", "--json", "-", "-q", cwd=here).stdout)
    name = {"FIFO": "in.fifo", "/dev/stdin": "/dev/stdin"}.get(way, "-")
    if way == "FIFO":
        os.mkfifo(here / name)
        with started(name, "--json", "-", "-q", cwd=here) as process:
            with (here / name).open("wb") as pipe:
                pipe.write(text(GO))
            run = ended(process)
    elif way == "redirected file":
        with (here / "go.jsonl").open("rb") as file:
            run = compare(name, "--json", "-", "-q", cwd=here, stdin=file.fileno())
    else:
        run = compare(name, "--json", "-", "-q", cwd=here, stdin=text(GO))
    assert (run.code, run.err) == (0, "")
    report = json.loads(run.stdout)
    digest = hashlib.sha256(text(GO)).hexdigest()
    found = {"name": name, "bytes": len(text(GO)), "sha256": digest, "records": 20, "convertedFrom": None}
    assert report["evidence"] == [found]
    assert {**report, "evidence": None} == {**expected, "evidence": None}


def test_standard_input_twice_is_refused(here: Path) -> None:
    """One stream cannot be two inputs."""
    run = compare("-", "/dev/stdin", cwd=here, stdin=text(GO))
    line = "  /dev/stdin: is the same file as -; name each file once [same-file-twice]\n"
    assert run == (2, b"", (REFUSED + line).encode())


def test_compressed_files_are_read_whole(here: Path) -> None:
    """Gzip of one and several members, Zstandard of one and several frames, skippable frames before, between, after."""
    body, half = text(GO), len(text(GO)) // 2
    head, tail = body[:half], body[half:]  # parted in the middle of a line
    stored = {
        "one.gz": gzip.compress(body),
        "members.gz": gzip.compress(head) + gzip.compress(b"") + gzip.compress(tail),
        "one.zst": zstd(body),
        "frames.zst": zstd(head) + zstd(tail),
        "skip-first.zst": skippable(b"hello") + zstd(body),
        "skip-between.zst": zstd(head) + skippable(b"", 15) + zstd(tail),
        "skip-last.zst": zstd(body) + skippable(b"abc", 1),
        "gzip-without-the-suffix": gzip.compress(body),
        "plain.gz": body,
    }
    for number, (name, data) in enumerate(stored.items()):
        (here / name).write_bytes(data + b"" * number)
    run = compare(*stored, "--json", "-", "-q", cwd=here)
    assert run.code == 0
    report = json.loads(run.stdout)
    assert report["evidence"] == [
        {
            "name": name,
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            "records": 20,
            "convertedFrom": None,
        }
        for name, data in stored.items()
    ]
    assert report["candidates"][0]["total"] == 10 * len(stored)


@pytest.mark.parametrize("compress", [gzip.compress, zstd], ids=["gzip", "zstd"])
def test_compressed_data_comes_in_by_a_pipe(here: Path, compress: Callable[[bytes], bytes]) -> None:
    """Compressed standard input is recognised by its first bytes; the digest is of the bytes as they came."""
    data = compress(text(GO))
    run = compare("-", "--json", "-", "-q", cwd=here, stdin=data)
    assert run.code == 0
    [evidence] = json.loads(run.stdout)["evidence"]
    assert evidence == {
        "name": "-",
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "records": 20,
        "convertedFrom": None,
    }


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (gzip.compress(text(GO))[:-5], "Truncated compressed stream"),
        (zstd(text(GO))[:-3], "Truncated compressed stream"),
        (gzip.compress(text(GO)) + b"garbage", "zlib inflate failed: incorrect header check"),
        (gzip.compress(text(GO))[:-8] + bytes(8), "zlib inflate failed: incorrect data check"),
    ],
    ids=["gzip cut off", "zstd cut off", "gzip with garbage", "gzip with a wrong checksum"],
)
def test_broken_compressed_data_is_refused(here: Path, data: bytes, why: str) -> None:
    """Compressed data that is cut off or damaged is exit 2; what came before the damage is not judged."""
    (here / "broken").write_bytes(data)
    run = compare("broken", cwd=here)
    line = f"  broken: the compressed data is broken or cut off: {why} [compressed-data]\n"
    assert run == (2, b"", (REFUSED + line).encode())


def test_only_gzip_and_zstandard_are_decompressed_and_once(here: Path) -> None:
    """Data compressed twice, or otherwise, is no JSON Lines and is refused."""
    (here / "twice.gz").write_bytes(gzip.compress(gzip.compress(text(GO))))
    assert compare("twice.gz", cwd=here).code == 2


def test_json_to_standard_output_is_alone_there(here: Path) -> None:
    """``--json -``: standard output holds the bytes of the report and no more, the table goes to standard error."""
    run = compare("go.jsonl", "--json", "-", cwd=here)
    to_file = compare("go.jsonl", "--json", "r.json", cwd=here)
    assert run.code == 0
    assert run.stdout == (here / "r.json").read_bytes()
    assert run.err + "report: r.json\n" == to_file.out


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param(["blocked.jsonl"], 3),
        (["blocked.jsonl", "--json", "-"], 3),
        (["--help"], 1),
    ],
    ids=["table", "report", "help"],
)
def test_a_reader_that_has_left_changes_no_verdict(here: Path, arguments: list[str], code: int) -> None:
    """``evalkit … | true`` ends without a word about it, and with the exit code of its verdict."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        run = compare(*arguments, cwd=here, stdout=writer)
    finally:
        os.close(writer)
    assert "Traceback" not in run.err
    assert "BrokenPipe" not in run.err
    assert "Exception ignored" not in run.err
    assert run.code == code


def test_a_refusal_that_nobody_reads_is_still_exit_2(here: Path) -> None:
    """The exit code is that of the outcome, also where standard error cannot be written."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        assert compare("missing.jsonl", cwd=here, stderr=writer).code == 2
    finally:
        os.close(writer)


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_closed_streams_change_nothing(here: Path, closed: int) -> None:
    """``<&-``, ``>&-`` and ``2>&-``: the report is written and the exit code tells, as for a job nobody watches."""
    run = compare("blocked.jsonl", "--json", "r.json", cwd=here, before=f"os.close({closed})")
    assert run.code == 3
    assert json.loads((here / "r.json").read_bytes())["verdict"] == "BLOCKED"
    assert "Traceback" not in run.out + run.err


def test_a_refusal_never_goes_to_standard_output(here: Path) -> None:
    """Where standard error is closed a refusal is exit 2 and unsaid: standard output may be read by a program."""
    assert compare("missing.jsonl", cwd=here, before="os.close(2)") == (2, b"", b"")


@pytest.mark.parametrize(
    "variables",
    [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C"}, {"PYTHONIOENCODING": "latin-1", "PYTHONUTF8": "0"}],
    ids=["ascii", "LC_ALL=C", "latin-1"],
)
def test_any_encoding_of_the_streams_is_good_enough(here: Path, variables: dict[str, str]) -> None:
    """A table, a warning and a refusal never fail for want of a character."""
    dump(here / "ä.jsonl", judged("é😀", right=10))
    (here / "leer-ß.jsonl").touch()
    env = environment(**variables)
    run = compare("ä.jsonl", "leer-ß.jsonl", cwd=here, env=env)
    assert (run.code, run.stdout.splitlines()[-1].split()[0]) == (0, b"GO:")
    assert run.stderr.count(b"\n") == 1
    assert compare("fehlt-ß.jsonl", cwd=here, env=env).code == 2


def test_the_report_on_standard_output_is_utf_8_whatever_the_locale(here: Path) -> None:
    """A report is JSON in UTF-8: the same bytes under every locale."""
    dump(here / "go.jsonl", judged("é😀", right=10))
    run = compare("go.jsonl", "--json", "-", "-q", cwd=here, env=environment(PYTHONIOENCODING="ascii"))
    assert json.loads(run.stdout.decode("utf-8"))["recommended"] == "é😀"


@pytest.mark.parametrize("stored", ["plain", "gzip"])
def test_a_leak_from_a_pipe_names_both_lines(here: Path, stored: str) -> None:
    """Contributors in two splits are found in a second reading, also of what can be read only once."""
    subject = key("test", 77)
    lines = [record("m", "test", 0, subject=subject), *GO, "", record("m", "validation", 0, subject=subject)]
    data = gzip.compress(text(lines)) if stored == "gzip" else text(lines)
    why = 'the key e60000000000004d belongs in test; found "validation"'
    run = compare("-", cwd=here, stdin=data)
    assert (run.code, run.out) == (2, "")
    assert run.err.splitlines()[1:] == [
        "  -:23: split: contributor e60000000000004d is in validation here and in test at -:1 [leak]",
        f"  -:23: split: cannot be re-derived: {why} [split-not-derived]",
    ]


def test_a_leak_between_a_pipe_and_a_file_names_both(here: Path) -> None:
    """Held out is held out over all inputs together, whatever they are."""
    dump(here / "first.jsonl", [*GO, record("m", "train", 1, subject=key("test", 5))])
    run = compare("first.jsonl", "-", cwd=here, stdin=text([record("m", "test", 5)]))
    assert run.code == 2
    assert (
        "  -:1: split: contributor e600000000000005 is in test here and in train at first.jsonl:21 [leak]\n"
    ) in run.err


def test_a_pipe_that_does_not_block_is_waited_for(here: Path) -> None:
    """Some parents hand down pipes that say "not yet" when they are empty; that is no end."""
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    try:
        with started("-", cwd=here, stdin=reader) as process:
            os.write(writer, text(GO)[:1000])
            _taken(writer)
            os.write(writer, text(GO)[1000:])
            os.close(writer)
            assert ended(process).code == 0
    finally:
        os.close(reader)


def _taken(writer: int) -> None:
    """Wait until all that was written into a pipe has been taken out of it."""

    def empty() -> bool:
        left = array.array("i", [1])
        fcntl.ioctl(writer, termios.FIONREAD, left)
        return left[0] == 0

    until(empty, "the pipe is never read")


# terminals

COLOUR = re.compile(rb"\x1b\[(?:\d+;)*(?:3[0-8]|9[0-7])(?:;\d+)*m")


def test_colours_only_on_a_terminal(here: Path) -> None:
    """A terminal gets green and red, a pipe never; ``NO_COLOR`` and ``TERM=dumb`` are heeded."""
    shown = in_terminal("go.jsonl", "blocked.jsonl", cwd=here)
    assert b"\x1b[32m" in shown.stdout  # green
    assert b"\x1b[31m" in shown.stdout  # red
    piped = compare("go.jsonl", "blocked.jsonl", cwd=here, env=environment(TERM="xterm-256color"))
    assert b"\x1b" not in piped.stdout + piped.stderr
    plain = in_terminal("go.jsonl", cwd=here, env=environment(TERM="xterm-256color", NO_COLOR="1"))
    assert not COLOUR.search(plain.stdout + plain.stderr)
    dumb = in_terminal("go.jsonl", cwd=here, env=environment(TERM="dumb"))
    assert b"\x1b" not in dumb.stdout + dumb.stderr
    assert dumb.out.replace("\r\n", "\n") == compare("go.jsonl", cwd=here).out


def test_the_progress_bar_is_on_standard_error_and_only_where_somebody_sees_it(here: Path) -> None:
    """A bar while reading: on standard error when that is a terminal, gone at the end, never with ``--quiet``."""
    shown = in_terminal("go.jsonl", "--json", "-", cwd=here, out=False)
    assert "━" in shown.err
    assert shown.err.rindex("\x1b[?25h") > shown.err.rindex("\x1b[?25l")  # the cursor is back
    assert json.loads(shown.stdout)["verdict"] == "GO"
    assert in_terminal("go.jsonl", "--quiet", cwd=here, out=False) == (0, b"", b"")
    assert in_terminal("go.jsonl", cwd=here, err=False).err == ""


HOSTILE = "a[red]b[/red]\x1b[31mc\x1b]0;title\x07d\ne\u202ef\x9b31mg"
TAMED = r"a[red]b[/red]\u001b[31mc\u001b]0;title\u0007d\u000ae\u202ef\u009b31mg"


def test_hostile_model_names_do_not_reach_the_terminal(here: Path) -> None:
    """Escape sequences, line ends and direction marks are shown as escapes, markup as it is written."""
    dump(here / "hostile.jsonl", judged(HOSTILE, right=10))
    shown = in_terminal("hostile.jsonl", "-q", cwd=here, columns=200, env=UNCOLOURED)
    assert shown == (0, b"", b"")
    shown = in_terminal("hostile.jsonl", cwd=here, columns=200, env=UNCOLOURED)
    table = _without_own_sequences(shown.out).splitlines()
    assert table[1].startswith(f"{TAMED} ")
    assert table[3].startswith(f"GO: {TAMED} is recommended")


def test_hostile_file_names_do_not_reach_the_terminal(here: Path) -> None:
    """The same for the names of files in warnings, refusals and where outputs are named."""
    name = HOSTILE.replace("/", "").replace("\n", "")
    tamed = TAMED.replace("/", "").replace(r"\u000a", "")
    (here / name).touch()
    shown = in_terminal("go.jsonl", name, "--json", f"{name}.json", cwd=here, columns=200, env=UNCOLOURED)
    assert shown.code == 0
    assert _without_own_sequences(shown.err).splitlines()[-1] == f"evalkit: warning: {tamed}: holds no records"
    assert _without_own_sequences(shown.out).splitlines()[-1] == f"report: {tamed}.json"
    refused = in_terminal(f"{name}*", cwd=here / "..", columns=200, env=UNCOLOURED)
    assert refused.err.splitlines()[1] == f"  {tamed}*: the pattern matches no file [pattern-empty]"


UNCOLOURED = environment(TERM="xterm-256color", NO_COLOR="1")


def _without_own_sequences(shown: str) -> str:
    """Take away what evalkit itself sends to a terminal without colours; nothing else of the kind may be left."""
    left = re.sub(r"\x1b\[(?:[01]m|\?25[lh]|2K|1A)", "", shown).replace("\r\n", "\n").replace("\r", "\n")
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e]", left)
    return left


def test_a_file_name_cannot_forge_a_line_of_a_refusal(here: Path) -> None:
    """A line end in a file name is shown as an escape: it does not begin a line that evalkit never said."""
    run = compare("x\nevalkit: GO: m is recommended", cwd=here)
    assert run.code == 2
    assert run.err.splitlines()[1:] == [r"  x\u000aevalkit: GO: m is recommended: there is no such file [path-missing]"]


def test_a_path_is_shown_as_it_is(here: Path) -> None:
    """No part of a path is taken for a picture."""
    assert compare("go.jsonl", "--json", ":heart:.json", cwd=here).lines[-1] == "report: :heart:.json"


def test_names_of_any_width_fit_eighty_columns(here: Path) -> None:
    """Long, wide and combined names are folded; no line is wider than the terminal and the gates stay readable."""
    names = ["x" * 100, "中" * 50, "e\u0301" * 40, "a name of several words " * 4]
    dump(here / "wide.jsonl", [line for name in names for line in judged(name, right=10)])
    shown = in_terminal("wide.jsonl", cwd=here, env=environment(TERM="dumb"))
    lines = [line.rstrip() for line in shown.out.splitlines()]
    assert max(map(cell_len, lines)) <= 80
    assert sum(line.endswith(" 1.0000 ✓ pass 1.0000 ✓ pass 0.0300 ✓ pass") for line in lines) == 4
    assert "…" not in shown.out


def _near(confidence: float, count: int = 20) -> list[str]:
    """Write a candidate that is right at confidence 0.95 but for one record, so that its ECE is just off 0.05."""
    others = judged("near", right=count - 1, confidence=0.95)
    last = [record("near", split, 900, confidence=confidence) for split in ("validation", "test")]
    return others + last


@pytest.mark.parametrize(
    ("confidence", "shown"),
    [(0.95, "0.0500 ✓ pass"), (0.94998, "0.050001 ✗ fail"), (0.9502, "0.04999 ✓ pass"), (0.95002, "0.049999 ✓ pass")],
)
def test_a_value_just_off_its_limit_is_shown_so_that_it_differs(here: Path, confidence: float, shown: str) -> None:
    """Four decimals, and as many more as tell the value from its limit."""
    dump(here / "near.jsonl", _near(confidence))
    line = compare("near.jsonl", cwd=here).lines[1]
    assert line.endswith(f" 1.0000 ✓ pass 1.0000 ✓ pass {shown}")


def test_the_verdict_beside_a_long_value_is_whole(here: Path) -> None:
    """However many decimals a value needs, the word beside it is not cut and the line fits."""
    dump(here / "near.jsonl", _near(0.95 - 2e-11))
    run = compare("near.jsonl", cwd=here)
    assert run.code == 3
    assert run.lines[1].endswith(" 0.050000000001 ✗ fail")
    assert max(map(cell_len, run.lines)) <= 80


def test_a_value_off_its_limit_by_less_than_a_float_tells_is_shown_so_that_it_differs(here: Path) -> None:
    """The gates compare fractions; what fails by less than a 64-bit float can hold is not shown as the limit."""
    dump(here / "near.jsonl", _near(0.949999999999999, 400))
    run = compare("near.jsonl", cwd=here)
    assert run.code == 3
    assert not run.lines[1].endswith(" 0.0500 ✗ fail")


@pytest.mark.skipif(not LINUX, reason="looks into /proc")
def test_records_are_typed_at_a_terminal(here: Path) -> None:
    """``evalkit compare -`` at a terminal waits for records; Ctrl-D ends them."""

    def typed(process: subprocess.Popen[bytes]) -> bytes:
        _waits_at_the_terminal(process)
        return text(judged("typed", right=1)) + b"\x04"

    shown = in_terminal("-", cwd=here, keys=typed, err=False)
    assert (shown.code, shown.err) == (0, "")
    assert "GO\x1b[0m: typed is recommended" in shown.out


def _waits_at_the_terminal(process: subprocess.Popen[bytes]) -> None:
    """Wait until the dataframe library is loaded and the program does nothing but wait."""

    def ready() -> bool:
        return "polars" in Path(f"/proc/{process.pid}/maps").read_text() and sleeps(process)

    until(ready, "the program never waits for input")
