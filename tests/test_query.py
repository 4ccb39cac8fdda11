"""``evalkit query``: SQL over results, nightly results and records; what is shown, written, checked and refused."""

from __future__ import annotations

import contextlib
import csv
import datetime
import io
import json
import os
import pty
import signal
import subprocess
import termios
from decimal import Decimal
from pathlib import Path

import duckdb
import polars as pl
import pytest
from support import BLOCKED, GO, Run, command, compare, dump, environment, evalkit, judged, record, sleeps, until
from typer.testing import CliRunner

import evalkit as library
from evalkit.analysis.written import pieces
from evalkit.cli.app import app
from evalkit.cli.view_rows import table_lines

ROOT = Path(__file__).parent.parent
OBSERVATIONS = ROOT / "data-fixtures" / "observations" / "synthetic.json"
COUNTS = "SELECT model, count(*) AS n FROM records GROUP BY model"


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """Make a folder with a dump of two models and the results of comparing them."""
    dump(tmp_path / "d.jsonl", GO + BLOCKED)
    library.compare(tmp_path / "d.jsonl", "0.5").write_tables(tmp_path / "results")
    return tmp_path


def query(here: Path, *arguments: str | Path) -> Run:
    """Run ``evalkit query`` in this process, which saves the start of another."""
    before = signal.getsignal(signal.SIGINT)
    try:
        with contextlib.chdir(here):
            done = CliRunner().invoke(app, ["query", *map(str, arguments)])
    finally:
        signal.signal(signal.SIGINT, before)
    return Run(done.exit_code, done.stdout_bytes, done.stderr_bytes)


def told(here: Path, *arguments: str) -> str:
    """Run a query that is answered and return what it prints."""
    run = query(here, *arguments)
    assert (run.code, run.err) == (0, "")
    return run.out


def refused(here: Path, *arguments: str) -> list[str]:
    """Run a query that is refused and return what is said, without the first line."""
    run = query(here, *arguments)
    assert (run.code, run.out) == (2, "")
    head, *lines = run.err.splitlines()
    assert head.startswith("evalkit: refused: ")
    return [line.strip() for line in lines]


# what can be asked


def test_the_tables_of_a_results_folder(here: Path) -> None:
    """Each table of the folder under its name; numbers to the right, null as a dash, values whole."""
    shown = told(here, "SELECT model, passed, macro_f1, reason FROM candidates ORDER BY model", "results")
    assert shown.splitlines() == [
        "model  passed            macro_f1  reason",
        "alpha  true                   1.0  –",
        "beta   false   0.8235294117647058  –",
        "(2 rows)",
    ]
    for name in ("per_class", "confusion", "bins", "curve", "measurements"):
        stored = pl.read_parquet(here / "results" / f"{name}.parquet")
        shown = told(here, f"SELECT * FROM {name}", "results", "--format", "jsonl")  # noqa: S608 - names of ours
        assert len(shown.splitlines()) == stored.height > 0
        assert list(json.loads(shown.splitlines()[0])) == stored.columns


def test_the_tables_of_other_commands(tmp_path: Path) -> None:
    """What ``measure --out`` writes is read as well, and its table alone is there."""
    library.measure(OBSERVATIONS).write_tables(tmp_path / "results")
    stored = pl.read_parquet(tmp_path / "results" / "measurements.parquet")
    assert json.loads(told(tmp_path, "SELECT count(*) n FROM measurements", "results", "--format", "json")) == [
        {"n": stored.height}
    ]
    assert refused(tmp_path, "SELECT * FROM candidates", "results") == [
        'query: there is no such table; there are measurements; found "candidates" [sql-name]'
    ]


def test_the_tables_of_statistics(tmp_path: Path) -> None:
    """The tables that statistics add are asked as the others are, row by row as they are stored."""
    lines = [record(model, split, n) for model in ("alpha", "beta") for split in ("validation", "test") for n in (1, 2)]
    report = library.compare(
        dump(tmp_path / "d.jsonl", lines),
        "0.5",
        gate_on="bound",
        calibration=True,
        baseline="alpha",
        min_contributors=2,
    )
    report.write_tables(tmp_path / "results")
    for name in ("contributors", "gates", "reliability", "certified", "comparison", "flips"):
        stored = pl.read_parquet(tmp_path / "results" / f"{name}.parquet")
        shown = told(tmp_path, f"SELECT count(*) AS n FROM {name}", "results", "--format", "json")  # noqa: S608 - ours
        assert json.loads(shown) == [{"n": stored.height}]
    gates = told(tmp_path, "SELECT name, outcome FROM gates WHERE model = 'beta' ORDER BY name", "results")
    assert [line.split()[0] for line in gates.splitlines()[1:4]] == ["ece", "macroF1", "precisionAtCoverage"]


def test_the_records_of_a_dump(here: Path) -> None:
    """Records are grouped, filtered and counted; groups without ORDER BY come sorted, so the bytes are the same."""
    assert told(here, COUNTS, "d.jsonl").splitlines() == ["model   n", "alpha  20", "beta   20", "(2 rows)"]
    shown = told(
        here, "SELECT * FROM records WHERE split = 'test' AND truth <> predicted", "d.jsonl", "--format", "csv"
    )
    assert shown.splitlines() == [
        "model,subject_key,split,truth,predicted,confidence",
        "beta,e600000000000007,test,4,5,0.97",
        "beta,e600000000000008,test,4,5,0.97",
        "beta,e600000000000009,test,4,5,0.97",
    ]


def test_strata_and_contracts_of_records(tmp_path: Path) -> None:
    """``--by`` names further columns, ``--contract`` says where all stands."""
    shown = told(
        tmp_path,
        'SELECT "meta.site" AS site, model, count(*) AS n FROM records GROUP BY "meta.site", model',
        str(_animals(tmp_path)),
        *("--contract", str(ROOT / "data-fixtures/contracts/animals.toml"), "--by", "meta.site", "--format", "jsonl"),
    )
    assert [json.loads(line) for line in shown.splitlines()] == [
        {"site": "zoo", "model": "m", "n": 1},
        {"site": None, "model": "m", "n": 1},
    ]


def _animals(folder: Path) -> Path:
    """Write two records of the example contract, one of them with a site."""
    contract = library.read_contract(str(ROOT / "data-fixtures/contracts/animals.toml"))
    lines = []
    for number, site in enumerate(["zoo", None]):
        document: dict[str, object] = {"meta": {"site": site}}
        values = ("m", f"key-{number}", "test", contract.labels[0], contract.labels[0], 0.9)
        paths = contract.fields
        named = (paths.model, paths.subject, paths.split, paths.truth, paths.predicted, paths.confidence)
        for path, value in zip(named, values, strict=True):
            place = document
            *above, last = path.split(".")
            for part in above:
                place = place.setdefault(part, {})  # type: ignore[assignment]
            place[last] = value
        lines.append(json.dumps(document))
    return dump(folder / "animals.jsonl", lines)


def test_results_and_records_together(here: Path) -> None:
    """A dump is held against the thresholds that its results name."""
    sql = (
        "SELECT r.model, count(*) AS accepted FROM records r JOIN candidates c ON r.model = c.model "
        "WHERE r.split = c.split AND r.confidence >= c.threshold GROUP BY r.model"
    )
    assert told(here, sql, "results", "d.jsonl").splitlines() == [
        "model  accepted",
        "alpha        10",
        "beta         10",
        "(2 rows)",
    ]


def test_several_results_say_which_a_row_is_of(here: Path) -> None:
    """With more than one results folder each table has the column ``results``."""
    library.compare(dump(here / "e.jsonl", GO), "0.5").write_tables(here / "other")
    shown = told(here, "SELECT results, model FROM candidates ORDER BY results, model", "results", "other")
    assert shown.splitlines() == ["results  model", "other    alpha", "results  alpha", "results  beta", "(3 rows)"]


def test_one_folder_counts_once(here: Path) -> None:
    """Results that are named twice are refused, under whatever name."""
    (here / "link").symlink_to("results")
    (said,) = refused(here, "SELECT * FROM bins", "results", "link")
    assert said == (
        "link/candidates.parquet: is the same file as results/candidates.parquet; name each folder once "
        "[same-file-twice]"
    )


def test_options_of_records_without_records_are_warned_of(here: Path) -> None:
    """``--by`` and ``--contract`` are about dumps; where none is named somebody meant something else."""
    run = query(here, "SELECT model FROM candidates", "results", "--by", "site", "--format", "csv")
    assert (run.out, run.err) == (
        "model\nalpha\nbeta\n",
        "evalkit: warning: no dump is named, so --by and --contract say nothing\n",
    )


@pytest.mark.parametrize("named", ["nightly", "nightly/store"])
def test_a_store_of_nightly_results(here: Path, named: str) -> None:
    """Evaluation and date are columns of every table; what else a store holds, or holds half written, is left out."""
    store = here / "nightly" / "store"
    for number, night in enumerate(("evaluation=stool%20a/date=2026-11-29", "evaluation=stool%20a/date=2026-11-30")):
        lines = judged(f"m{number}", right=10)
        library.compare(dump(here / f"{number}.jsonl", lines), "0.5").write_tables(store / night)
    library.compare(here / "d.jsonl", "0.5").write_tables(store / "evaluation=stool%20a" / ".evalkit-1.tmp")
    (store / "night=2026-11-30").mkdir()
    shown = told(here, "SELECT evaluation, date, model, ece FROM candidates ORDER BY date", named)
    assert shown.splitlines() == [
        "evaluation  date        model   ece",
        "stool a     2026-11-29  m0     0.03",
        "stool a     2026-11-30  m1     0.03",
        "(2 rows)",
    ]


# where the answer goes


def test_each_format(here: Path) -> None:
    """CSV, JSON, JSON Lines and Markdown: full numbers, lists as JSON, null as what each format has for it."""
    sql = "SELECT model, reason, ece, excluded_classes FROM candidates ORDER BY model"
    assert told(here, sql, "results", "--format", "csv") == (
        "model,reason,ece,excluded_classes\nalpha,,0.03,[]\nbeta,,0.27,[]\n"
    )
    assert told(here, sql, "results", "--format", "jsonl") == (
        '{"model": "alpha", "reason": null, "ece": 0.03, "excluded_classes": []}\n'
        '{"model": "beta", "reason": null, "ece": 0.27, "excluded_classes": []}\n'
    )
    assert json.loads(told(here, sql, "results", "--format", "json")) == [
        {"model": "alpha", "reason": None, "ece": 0.03, "excluded_classes": []},
        {"model": "beta", "reason": None, "ece": 0.27, "excluded_classes": []},
    ]
    assert told(here, sql, "results", "--format", "markdown") == (
        "| model | reason | ece | excluded\\_classes |\n| --- | --- | ---: | --- |\n"
        "| alpha |  | 0.03 | \\[\\] |\n| beta |  | 0.27 | \\[\\] |\n"
    )
    assert json.loads(told(here, f"{sql} LIMIT 0", "results", "--format", "json")) == []


def test_odd_values_survive_each_format() -> None:
    """Quotes, line ends, signs of Markdown, decimals, days, what is no number: read back as they were, or as null."""
    rows = pl.DataFrame(
        {
            "a,b": ['x "y"', "line\nend", "p|q*", None],
            "n": [0.1, float("nan"), float("inf"), -0.0],
            "d": [Decimal("0.10"), None, None, None],
            "t": [datetime.date(2026, 1, 31), None, None, None],
        }
    )
    text = b"".join(pieces(rows, "csv")).decode()
    assert list(csv.reader(io.StringIO(text, newline=""))) == [
        ["a,b", "n", "d", "t"],
        ['x "y"', "0.1", "0.10", "2026-01-31"],
        ["line\nend", "", "", ""],
        ["p|q*", "", "", ""],
        ["", "-0.0", "", ""],
    ]
    read = [json.loads(line) for line in b"".join(pieces(rows, "jsonl")).decode().splitlines()]
    assert read == json.loads(b"".join(pieces(rows, "json")))
    assert read[0] == {"a,b": 'x "y"', "n": 0.1, "d": "0.10", "t": "2026-01-31"}
    assert [row["n"] for row in read[1:]] == [None, None, 0]
    shown = b"".join(pieces(rows, "markdown")).decode().splitlines()
    assert shown[3:5] == ["| line\\u000aend |  |  |  |", "| p\\|q\\* |  |  |  |"]
    assert b"".join(pieces(pl.DataFrame({"a": [None, "x"]}), "csv")) == b'a\n""\nx\n'


def test_a_file_has_the_format_of_its_ending(here: Path) -> None:
    """``-o`` writes the file; Parquet keeps the types; ``--format`` overrules the ending; ``-`` is standard output."""
    assert told(here, COUNTS, "d.jsonl", "-o", "out/n.CSV") == "rows: out/n.CSV\n"
    assert (here / "out/n.CSV").read_text() == "model,n\nalpha,20\nbeta,20\n"
    told(here, "SELECT numerator FROM measurements WHERE name = 'ece'", "results", "-o", "e.parquet", "--quiet")
    assert pl.read_parquet(here / "e.parquet").schema == {"numerator": pl.Decimal(38, 15)}
    told(here, COUNTS, "d.jsonl", "-o", "n.txt", "--format", "jsonl")
    assert (here / "n.txt").read_text() == '{"model": "alpha", "n": 20}\n{"model": "beta", "n": 20}\n'
    run = query(here, COUNTS, "d.jsonl", "--format", "parquet", "-o", "-")
    (here / "piped.parquet").write_bytes(run.stdout)
    assert pl.read_parquet(here / "piped.parquet").rows() == [("alpha", 20), ("beta", 20)]


def test_what_could_not_be_written_is_refused_before_anything_is_read(here: Path) -> None:
    """An unknown ending or format, an input, a place in an input, a folder."""
    before = (here / "d.jsonl").read_bytes()
    assert "[rows-format]" in refused(here, COUNTS, "d.jsonl", "-o", "n.xlsx")[0]
    assert "[rows-format]" in refused(here, COUNTS, "d.jsonl", "--format", "yaml")[0]
    assert refused(here, COUNTS, "d.jsonl", "-o", "d.jsonl") == [
        "d.jsonl: is the input d.jsonl; name another file [output-unusable]"
    ]
    assert refused(here, "SELECT * FROM bins", "results", "-o", "results/x.csv") == [
        "results/x.csv: is in the input results; name a file outside it [output-unusable]"
    ]
    assert "[output-unwritable]" in refused(here, COUNTS, "d.jsonl", "-o", "results", "--format", "csv")[0]
    assert (here / "d.jsonl").read_bytes() == before
    assert not (here / "results" / "x.csv").exists()


def test_a_refused_query_leaves_the_file_as_it_was(here: Path) -> None:
    """A file is written whole or not at all."""
    (here / "n.csv").write_text("before")
    dump(here / "broken.jsonl", [*GO, "{}"])
    assert "broken.jsonl:21: model: is missing [missing-field]" in refused(here, COUNTS, "broken.jsonl", "-o", "n.csv")
    assert (here / "n.csv").read_text() == "before"


def test_values_are_cut_on_a_terminal_only(here: Path) -> None:
    """A terminal gets lines as wide as it is, a bold head unless NO_COLOR is set; a pipe gets all."""
    dump(here / "long.jsonl", [record("m" * 100, "test", 1)])
    sql = "SELECT model, split FROM records"
    assert told(here, sql, "long.jsonl").splitlines()[1] == f"{'m' * 100}  test"
    shown = _on_terminal(here, sql, "long.jsonl")
    assert shown == [f"\x1b[1mmodel{' ' * 28}  split\x1b[0m", f"{'m' * 32}…  test", "(1 row)"]
    assert "\x1b" not in "".join(_on_terminal(here, sql, "long.jsonl", NO_COLOR="1"))


def _on_terminal(here: Path, *arguments: str, **changes: str) -> list[str]:
    """Run a query where standard output is a terminal of 40 columns."""
    outer, inner = pty.openpty()
    termios.tcsetwinsize(inner, (24, 40))
    env = {name: value for name, value in environment(TERM="xterm", **changes).items() if name != "COLUMNS"}
    done = subprocess.run(
        command(("query", *arguments)), cwd=here, env=env, stdout=inner, stderr=subprocess.PIPE, check=False
    )
    os.close(inner)
    shown = b""
    try:
        while piece := os.read(outer, 65536):
            shown += piece
    except OSError:  # what Linux says when the last user of a terminal has gone
        pass
    os.close(outer)
    assert done.returncode == 0
    return shown.decode().splitlines()


def test_nothing_in_a_value_reaches_the_terminal_as_a_command(here: Path) -> None:
    """Escapes in a value, or in the name of a column, are shown as such, and no value breaks a line."""
    frame = pl.DataFrame({"a\x1b": ["x\x1b[31m\ny"], "b": [Decimal("0.50")]})
    assert list(table_lines(frame, None)) == ["a\\u001b                b", "x\\u001b[31m\\u000ay  0.50", "(1 row)"]


# what is checked


def test_records_are_checked_as_compare_checks_them(here: Path) -> None:
    """A broken line or a leak anywhere refuses the query, with the words of ``compare``."""
    leaked = ROOT / "data-fixtures" / "selective" / "leaked.jsonl"
    mine = query(here, COUNTS, leaked)
    assert (mine.code, mine.err) == (2, compare(leaked, cwd=here).err)


def test_a_query_that_stops_early_says_what_was_not_checked(here: Path) -> None:
    """LIMIT is answered from the first lines, and standard error says so; what is read whole says nothing."""
    run = evalkit("query", "SELECT model FROM records LIMIT 1", "d.jsonl", "--format", "csv", cwd=here)
    assert (run.code, run.out) == (0, "model\nalpha\n")
    assert run.err == (
        "evalkit: warning: records: the answer was found before the whole dump was read. The lines that were read are "
        "valid; that no contributor is in two splits was not checked\n"
    )
    assert told(here, "SELECT model FROM records LIMIT 1", "d.jsonl", "--format", "csv", "-q") == "model\nalpha\n"
    assert told(here, "SELECT model FROM records ORDER BY model DESC LIMIT 1", "d.jsonl", "--format", "csv") == (
        "model\nbeta\n"
    )


def test_warnings_of_a_dump_are_passed_on(here: Path) -> None:
    """What ``compare`` warns of, the query warns of."""
    dump(here / "empty.jsonl", [])
    run = query(here, COUNTS, "d.jsonl", "empty.jsonl")
    assert (run.code, run.err) == (0, "evalkit: warning: empty.jsonl: holds no records\n")


def test_inputs_that_are_not_there_or_broken(here: Path) -> None:
    """As for any command; standard input is no table, and a broken table is named."""
    assert refused(here, COUNTS, "no.jsonl") == ["no.jsonl: there is no such file [path-missing]"]
    assert "[needs-file]" in refused(here, COUNTS, "-")[0]
    (here / "results" / "bins.parquet").write_bytes(b"PAR1")
    assert "[parquet-broken]" in refused(here, "SELECT * FROM bins", "results")[0]
    assert told(here, "SELECT count(*) AS n FROM candidates", "results").splitlines()[1] == "2"


def test_a_wrong_name_says_what_there_is(here: Path) -> None:
    """A table, a column, a function that is not there."""
    there = "candidates, per_class, confusion, bins, curve, measurements, records"
    assert refused(here, "SELECT * FROM candidate", "results", "d.jsonl") == [
        f'query: there is no such table; there are {there}; found "candidate" [sql-name]'
    ]
    columns = "records: model, subject_key, split, truth, predicted, confidence"
    for sql in ("SELECT f1 FROM records", "SELECT records.f1 FROM records", "SELECT model FROM records WHERE f1 > 0"):
        assert refused(here, sql, "d.jsonl") == [
            f'query: there is no such column; the tables and their columns are {columns}; found "f1" [sql-name]'
        ]
    assert refused(here, "SELECT median_of(model) FROM records", "d.jsonl") == [
        "query: cannot be run: unsupported function 'median_of' [sql]"
    ]


def test_another_engine_gives_the_same_rows(here: Path) -> None:
    """DuckDB over the same lines, which checks none of them, counts and compares as we do."""
    ours = (
        "SELECT model, split, truth, predicted, count(*) AS n, max(confidence) AS most FROM records "
        "GROUP BY model, split, truth, predicted ORDER BY model, split, truth, predicted"
    )
    theirs = (
        "SELECT model, split, truth.bristolType, prediction.bristolType, count(*), max(prediction.confidence) "
        "FROM read_json(?) GROUP BY ALL ORDER BY ALL"
    )
    for path in ("go.jsonl", "strata.jsonl", "blocked.jsonl"):
        dumped = str(ROOT / "data-fixtures" / "selective" / path)
        shown = told(here, ours, dumped, "--format", "jsonl")
        found = [tuple(json.loads(line).values()) for line in shown.splitlines()]
        assert found == duckdb.execute(theirs, [dumped]).fetchall()


# signals


@pytest.mark.parametrize(
    ("sent", "code", "said"), [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_a_signal_ends_a_query_at_once(here: Path, sent: signal.Signals, code: int, said: str) -> None:
    """However long it would take: one line is said, nothing is written."""
    dump(here / "many.jsonl", judged("m", right=100))
    endless = "SELECT max(a.confidence * b.confidence * c.confidence * d.confidence * e.confidence) AS x FROM "
    endless += " CROSS JOIN ".join(f"records {name}" for name in "abcde")
    line = command(("query", endless, "many.jsonl", "-o", "x.csv"))
    with subprocess.Popen(line, cwd=here, env=environment(), stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            until(lambda: sleeps(process), "the query runs")
            process.send_signal(sent)
            out, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert (process.returncode, out, err) == (code, b"", f"evalkit: {said}\n".encode())
    assert not (here / "x.csv").exists()
