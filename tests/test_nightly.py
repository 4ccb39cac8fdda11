"""A night: evaluations run apart, results kept whole by name and date, one exit code, and nothing done twice."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from nights import DIGITS, held, job, night, vectors
from support import BLOCKED, RESULT_FILES, environment, evalkit, judged

from evalkit import Refusal, history, nightly
from evalkit.nights.asking import ask
from evalkit.nights.lock import locked

FIRST, SECOND, THIRD = "2026-01-30", "2026-01-31", "2026-02-01"
LAST_GO = 'baseline = {{ against = "last-go", margins = {{ {} }} }}\n'
OBSERVATIONS = Path(__file__).parent.parent / "data-fixtures" / "observations"
VECTORS = """
[[evaluation]]
name = "vectors"
kind = "evaluate"
predictions = ["p.jsonl"]
gold = ["g.jsonl"]
"""


def named(name: str, **changes: str) -> str:
    """Return an evaluation of another name, with texts in it replaced."""
    text = DIGITS.replace('"digits"', f'"{name}"')
    for old, new in changes.items():
        text = text.replace(old, new)
    return text


def verdict(folder: Path, date: str, name: str = "digits") -> Mapping[str, object]:
    """Read a stored verdict."""
    found: dict[str, object] = json.loads((folder / f"store/evaluation={name}/date={date}/verdict.json").read_text())
    return found


def test_a_night_keeps_report_tables_and_verdict_under_name_and_date(tmp_path: Path) -> None:
    """The folder of an evaluation and date holds what compare --out writes, and the verdict with gates and limits."""
    night(tmp_path, FIRST)
    run = nightly(job(tmp_path, DIGITS), FIRST)
    folder = tmp_path / "store/evaluation=digits" / f"date={FIRST}"
    assert (run.code, run["digits"].state, run["digits"].word) == (0, "stored", "GO")
    assert sorted(path.name for path in folder.iterdir()) == sorted([*RESULT_FILES, "verdict.json"])
    found = verdict(tmp_path, FIRST)
    assert (found["verdict"], found["recommended"], found["changes"], found["replaced"]) == ("GO", "alpha", [], [])
    assert [(g["metric"], g["model"], g["value"], g["limit"], g["passed"]) for g in found["gates"]] == [  # type: ignore[attr-defined]
        ("ece", "alpha", 0.03, 0.05, True),
        ("macroF1", "alpha", 1.0, 0.8, True),
        ("precisionAtCoverage", "alpha", 1.0, 0.9, True),
    ]
    assert found["settings"]["min_coverage"] == "0.5"  # type: ignore[index]
    assert found["settings"]["contract.limits.ece"] == "0.05"  # type: ignore[index]


def test_the_store_is_the_same_wherever_it_is_started_from(tmp_path: Path) -> None:
    """Paths are relative to the job, and files are named so in reports; no clock and no folder gets into the store."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        night(tmp_path / name, FIRST)
        job(tmp_path / name, DIGITS)
    nightly(tmp_path / "one" / "job.toml", FIRST)
    done = evalkit("nightly", "job.toml", "--date", FIRST, "-q", cwd=tmp_path / "two")
    assert (done.code, done.out, done.err) == (0, "", "")
    assert held(tmp_path / "one" / "store") == held(tmp_path / "two" / "store")
    report = json.loads((tmp_path / f"two/store/evaluation=digits/date={FIRST}/report.json").read_text())
    assert [one["name"] for one in report["evidence"]] == [f"dumps/{FIRST}/a.jsonl"]


def test_run_again_there_is_nothing_to_do(tmp_path: Path) -> None:
    """The same inputs and settings are told by digest and text; nothing is doubled, and the run says so."""
    night(tmp_path, FIRST)
    path = job(tmp_path, DIGITS)
    nightly(path, FIRST)
    before = held(tmp_path / "store")
    stamp = (tmp_path / "store/evaluation=digits" / f"date={FIRST}").stat().st_mtime_ns
    night(tmp_path, FIRST)  # written anew, with the same content
    path.write_text(path.read_text().replace('"0.5"', "0.50"), "utf-8")  # and the same number
    for flags in ((), ("--replace",)):
        done = evalkit("nightly", "job.toml", "--date", FIRST, *flags, cwd=tmp_path)
        assert done.code == 0
        assert "digits: evaluation-finished: state unchanged, verdict GO, note same inputs and settings" in done.err
    assert held(tmp_path / "store") == before
    assert (tmp_path / "store/evaluation=digits" / f"date={FIRST}").stat().st_mtime_ns == stamp


@pytest.mark.parametrize(
    ("lines", "floor", "words"),
    [
        (judged("alpha", right=11), "0.5", "other inputs;"),
        (judged("alpha", right=10), "0.6", "other settings;"),
        (judged("alpha", right=11), "0.6", "other inputs and settings;"),
    ],
)
def test_other_inputs_or_settings_are_refused_unless_replaced(
    tmp_path: Path, lines: list[str], floor: str, words: str
) -> None:
    """What differs is named, the stored results stay; with replace they are exchanged, and the old settings kept."""
    night(tmp_path, FIRST)
    nightly(job(tmp_path, DIGITS), FIRST)
    before = held(tmp_path / "store/evaluation=digits")
    night(tmp_path, FIRST, lines)
    path = job(tmp_path, DIGITS.replace("0.5", floor))
    run = nightly(path, FIRST)
    refusal = run["digits"].refusal
    assert (run.code, run["digits"].state) == (2, "refused")
    assert refusal is not None
    assert refusal.violations[0].rule == "already-stored"
    assert words in refusal.violations[0].message
    assert held(tmp_path / "store/evaluation=digits") == before
    assert nightly(path, FIRST, replace=True)["digits"].state == "replaced"
    assert held(tmp_path / "store/evaluation=digits") != before
    assert [one["min_coverage"] for one in verdict(tmp_path, FIRST)["replaced"]] == ["0.5"]  # type: ignore[attr-defined]


def test_one_that_is_refused_leaves_the_others_alone(tmp_path: Path) -> None:
    """Of five, one lacks its input and one is malformed: the other three are judged, and the summary tells each."""
    night(tmp_path, FIRST)
    night(tmp_path, SECOND, BLOCKED)
    (tmp_path / "broken.jsonl").write_text('{"model":7}\n')
    five = (
        named("a"),
        named("b", **{"dumps/{date}/*.jsonl": "none-{date}.jsonl"}),
        named("c", **{"{date}": SECOND}),
        named("d", **{"dumps/{date}/*.jsonl": "broken.jsonl"}),
        named("e"),
    )
    run = nightly(job(tmp_path, *five), FIRST)
    assert [one.word for one in run.outcomes] == ["GO", "REFUSED", "BLOCKED", "REFUSED", "GO"]
    assert run.code == 2
    assert run.summary.startswith(f"# Nightly {FIRST}: REFUSED\n")
    assert "| b | compare | REFUSED | – | path-missing |" in run.summary
    assert f"- none-{FIRST}.jsonl: there is no such file \\[path-missing\\]" in run.summary
    assert "| c | compare | BLOCKED | 0 of 3 | failed: ece, macroF1, precisionAtCoverage |" not in run.summary
    assert "| c | compare | BLOCKED | 1 of 3 | failed: ece, precisionAtCoverage |" in run.summary
    assert "broken.jsonl:1: model: " in run.summary
    assert not (tmp_path / "store/evaluation=b").exists()


@pytest.mark.parametrize(
    ("words", "code"),
    [(["GO"], 0), (["GO", "BLOCKED"], 3), (["BLOCKED", "REFUSED"], 2), (["REFUSED", "FAILED", "BLOCKED"], 1)],
)
def test_the_exit_code_is_the_worst(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], code: int
) -> None:
    """Of several codes the worst is 1, then 2, 3, 0."""
    night(tmp_path, FIRST)
    night(tmp_path, SECOND, BLOCKED)
    where = {"GO": FIRST, "BLOCKED": SECOND, "REFUSED": THIRD, "FAILED": FIRST}
    real = ask

    def failing(job: object, task: object, date: str) -> object:
        if task.name.startswith("FAILED"):  # type: ignore[attr-defined]
            raise OSError(28, "No space left on device")
        return real(job, task, date)  # type: ignore[arg-type]

    monkeypatch.setattr("evalkit.nights.run.ask", failing)
    path = job(tmp_path, *(named(word, **{"{date}": where[word]}) for word in words))
    run = nightly(path, FIRST)
    assert ([one.word for one in run.outcomes], run.code) == (words, code)


def test_a_bug_in_one_evaluation_is_a_failure_of_it_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception that nobody expects is exit 1 for its evaluation, with the place for whoever looks for it."""
    night(tmp_path, FIRST)
    real = ask
    monkeypatch.setattr("evalkit.nights.run.ask", lambda j, t, d: 1 / 0 if t.name == "a" else real(j, t, d))
    run = nightly(job(tmp_path, named("a"), named("b")), FIRST)
    assert (run["a"].word, run["b"].word, run.code) == ("FAILED", "GO", 1)
    assert run["a"].error == "a bug in evalkit: ZeroDivisionError: division by zero"
    assert "test_nightly.py" in (run["a"].trace or "")


def test_a_full_disk_fails_what_it_hits_and_leaves_nothing_half(tmp_path: Path) -> None:
    """Where no file may grow past 2,000 bytes nothing is stored, exit 1, and the store reads as before."""
    night(tmp_path, FIRST)
    job(tmp_path, DIGITS)
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))"
    done = evalkit("nightly", "job.toml", "--date", FIRST, cwd=tmp_path, before=limit)
    assert done.code == 1
    assert "digits: evaluation-finished: state failed, verdict FAILED, error" in done.err
    assert "File too large" in done.err
    assert held(tmp_path / "store") == {
        name: content for name, content in held(tmp_path / "store").items() if name.startswith("night=")
    }
    assert not list((tmp_path / "store").rglob(".evalkit-*"))
    assert evalkit("nightly", "job.toml", "--date", FIRST, "-q", cwd=tmp_path).code == 0


def test_a_second_run_at_the_same_time_is_refused(tmp_path: Path) -> None:
    """Two runs never write to one store at once: the second ends with exit 2 and says why; nothing is touched."""
    night(tmp_path, FIRST)
    path = job(tmp_path, DIGITS)
    (tmp_path / "store").mkdir()
    with locked(str(tmp_path / "store")):
        with pytest.raises(Refusal, match="another nightly run is writing to this store"):
            nightly(path, FIRST)
        done = evalkit("nightly", "job.toml", "--date", FIRST, cwd=tmp_path)
        assert (done.code, "store-busy" in done.err) == (2, True)
    assert [one.name for one in (tmp_path / "store").iterdir()] == [".lock"]
    assert nightly(path, FIRST).code == 0


def test_a_lock_that_a_killed_run_left_locks_nothing(tmp_path: Path) -> None:
    """The system gives the lock back when its process ends, also by SIGKILL; the file itself is no lock."""
    night(tmp_path, FIRST)
    path = job(tmp_path, DIGITS)
    (tmp_path / "store").mkdir()
    hold = "import os, sys; from evalkit.nights.lock import locked\nwith locked(sys.argv[1]): os.kill(os.getpid(), 9)"
    command = [sys.executable, "-c", hold, str(tmp_path / "store")]
    assert subprocess.run(command, check=False, env=environment()).returncode == -9
    assert (tmp_path / "store/.lock").exists()
    assert nightly(path, FIRST).code == 0


def test_an_evaluation_that_is_gone_from_the_job_is_named(tmp_path: Path) -> None:
    """Dropping an evaluation is the widest loosening: the summary names it as long as the store has its results."""
    night(tmp_path, FIRST)
    nightly(job(tmp_path, named("a"), named("b")), FIRST)
    run = nightly(job(tmp_path, named("a")), FIRST)
    assert run.dropped == ("b",)
    assert "**Not in the job any more:** b." in run.summary


def test_evaluate_and_measure_are_held_against_the_gates_of_the_job(tmp_path: Path) -> None:
    """Nine of ten is exactly 0.9; a limit is inclusive, and a metric that is not measured fails its gate."""
    vectors(tmp_path, right=9, of=10)
    text = VECTORS + 'gates = { accuracy = "0.90", brier_binary = "1" }\n'
    run = nightly(job(tmp_path, text), FIRST)
    found = run["vectors"].verdict
    assert found is not None
    assert found.verdict == "BLOCKED"
    assert [(one.metric, one.value, one.limit, one.passed, one.reason) for one in found.gates] == [
        ("accuracy", 0.9, 0.9, True, None),
        ("brier_binary", None, 1.0, False, "no-positive-class"),
    ]


def test_an_evaluation_without_a_gate_is_done(tmp_path: Path) -> None:
    """Where nothing is asked nothing is GO: the verdict is DONE and the exit code 0."""
    vectors(tmp_path, right=1, of=10)
    run = nightly(job(tmp_path, VECTORS), FIRST)
    assert (run["vectors"].word, run.code) == ("DONE", 0)
    assert "It has no gate." in run.summary
    assert f"# Nightly {FIRST}: DONE" in run.summary


def test_junit_has_a_suite_an_evaluation_and_a_case_a_gate(tmp_path: Path) -> None:
    """Failed gates are failures, refused evaluations errors, gates without a baseline skipped; texts are escaped."""
    night(tmp_path, FIRST, judged('<&"a', right=7, wrong=3))
    text = named("a") + LAST_GO.format('ece = "0"')
    nightly(job(tmp_path, text, named("b", **{"{date}": "none"})), FIRST)
    root = ET.parse(tmp_path / f"store/night={FIRST}/junit.xml").getroot()  # noqa: S314 - our own file
    assert root.attrib == {"name": f"nightly {FIRST}", "tests": "6", "failures": "2", "errors": "1", "skipped": "1"}
    first, second = root
    assert [(case.get("name"), [one.tag for one in case]) for case in first] == [
        ("run", []),
        ('ece of <&"a', ["failure"]),
        ('macroF1 of <&"a', []),
        ('precisionAtCoverage of <&"a', ["failure"]),
        ("ece against the baseline", ["skipped"]),
    ]
    assert first[1][0].get("message") == "is 0.27; must be at most 0.05"
    assert first[3][0].get("message") == "is 0.7; must be at least 0.9"
    assert [(case.get("name"), case[0].get("message")) for case in second] == [("run", "refused: pattern-empty")]


def test_a_chart_of_every_gated_metric_is_left(tmp_path: Path) -> None:
    """The trend of a metric shows nights, limit and verdict; a night before the first of the store is not in it."""
    night(tmp_path, FIRST)
    night(tmp_path, SECOND, judged("alpha", right=19, wrong=1))
    path = job(tmp_path, DIGITS)
    nightly(path, SECOND)
    nightly(path, FIRST)
    trends = tmp_path / f"store/night={SECOND}/trends"
    assert sorted(one.name for one in trends.iterdir()) == [
        "digits.ece.svg",
        "digits.macroF1.svg",
        "digits.precisionAtCoverage.svg",
    ]
    early = (tmp_path / f"store/night={FIRST}/trends/digits.ece.svg").read_text()
    assert f"{FIRST}: alpha 0.0300, passed." in early
    assert SECOND not in early
    nightly(path, SECOND)
    late = (trends / "digits.ece.svg").read_text()
    assert f"{FIRST}: alpha 0.0300, passed. {SECOND}: alpha 0.0200, passed." in late
    assert "limit 0.05" in late
    assert "synthetic example" not in late


def test_events_are_one_line_each_and_json_where_asked(tmp_path: Path) -> None:
    """Standard error has one event a line; as JSON each is an object with event, evaluation and time."""
    night(tmp_path, FIRST)
    job(tmp_path, DIGITS)
    done = evalkit("nightly", "job.toml", "--date", FIRST, "--log-format", "json", cwd=tmp_path)
    events = [json.loads(line) for line in done.err.splitlines()]
    assert [(one["event"], one["evaluation"]) for one in events] == [
        ("started", None),
        ("evaluation-started", "digits"),
        ("evaluation-finished", "digits"),
        ("finished", None),
    ]
    assert all(one["time"].endswith("+00:00") for one in events)
    assert done.out == (tmp_path / f"store/night={FIRST}/summary.md").read_text()


def test_quiet_leaves_refusals_only(tmp_path: Path) -> None:
    """With --quiet a refused evaluation is still said, and nothing else."""
    night(tmp_path, FIRST)
    job(tmp_path, named("a"), named("b", **{"{date}": "none"}))
    done = evalkit("nightly", "job.toml", "--date", FIRST, "--quiet", cwd=tmp_path)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert done.err.startswith("evalkit: b: evaluation-finished: state refused")


def test_without_a_date_it_is_today_in_utc(tmp_path: Path) -> None:
    """The default date is that of UTC, wherever the machine is."""
    job(tmp_path, DIGITS)
    env = environment(TZ="Pacific/Kiritimati")
    clock = "import datetime; print(datetime.datetime.now(datetime.timezone.utc).date())"
    today = subprocess.run([sys.executable, "-c", clock], capture_output=True, text=True, check=True).stdout.strip()
    done = evalkit("nightly", "job.toml", cwd=tmp_path, env=env)
    assert f"started: date {today}" in done.err


def test_an_input_that_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    """What a pipe brings cannot be told from what another run read, so a job does not take it."""
    import os

    os.mkfifo(tmp_path / "p.jsonl")
    (tmp_path / "g.jsonl").write_text('{"id":"1","gold":"a"}\n')
    run = nightly(job(tmp_path, VECTORS), FIRST)
    refusal = run["vectors"].refusal
    assert refusal is not None
    assert (refusal.violations[0].rule, refusal.violations[0].file) == ("job-input", "p.jsonl")


def test_a_verdict_that_was_tampered_with_is_refused(tmp_path: Path) -> None:
    """A store is read strictly: a verdict that is cut off, or is that of another night, is no baseline."""
    night(tmp_path, FIRST)
    night(tmp_path, SECOND)
    path = job(tmp_path, DIGITS + LAST_GO.format('ece = "0"'))
    nightly(path, FIRST)
    stored = tmp_path / f"store/evaluation=digits/date={FIRST}/verdict.json"
    whole = stored.read_text()
    for broken, rule in ((whole[:50], "json"), (whole.replace(FIRST, "2026-01-01"), "store")):
        stored.write_text(broken)
        refusal = nightly(path, SECOND)["digits"].refusal
        assert refusal is not None
        assert refusal.violations[0].rule == rule
    stored.write_text(whole)
    assert nightly(path, SECOND).code == 0


def test_the_store_must_be_a_folder(tmp_path: Path) -> None:
    """A store that is a file is refused before anything runs."""
    (tmp_path / "store").write_text("")
    with pytest.raises(Refusal, match="must be a folder"):
        nightly(job(tmp_path, DIGITS), FIRST)


def test_the_history_has_each_night_once(tmp_path: Path) -> None:
    """After a night that was run twice and replaced once, its numbers stand once in the measurements of the store."""
    night(tmp_path, FIRST)
    path = job(tmp_path, DIGITS)
    nightly(path, FIRST)
    nightly(path, FIRST)
    night(tmp_path, FIRST, judged("alpha", right=19, wrong=1))
    nightly(path, FIRST, replace=True)
    found = pl.read_parquet(tmp_path / "store/evaluation=*/date=*/measurements.parquet")
    rows = found.filter((pl.col("name") == "macroF1") & pl.col("label").is_null())
    assert rows["value"].to_list() == [38 / 39]


def test_a_built_in_limit_of_measure_is_no_gate_of_the_night(tmp_path: Path) -> None:
    """OCR fidelity is 29/35, below the fixed limit of readiness: what the night judges by is the gate of the job."""
    (tmp_path / "o.json").write_bytes((OBSERVATIONS / "synthetic.json").read_bytes())
    text = """
[[evaluation]]
name = "pages"
kind = "measure"
document = "o.json"
gates = { "OCR fidelity" = "0.70" }
"""
    run = nightly(job(tmp_path, text), FIRST)
    assert (run["pages"].word, run.code) == ("GO", 0)
    (row,) = history(tmp_path / "store")
    assert (row.metric, row.limit, row.passed, row.synthetic) == ("OCR fidelity", 0.7, True, True)
    assert "**synthetic example**" in run.summary
    assert "synthetic example" in (tmp_path / f"store/night={FIRST}/trends/pages.OCR-fidelity.svg").read_text()


def test_a_night_of_another_kind_is_no_baseline(tmp_path: Path) -> None:
    """The ECE of a dump and that of vectors are two numbers: an evaluation that changed its kind starts anew."""
    night(tmp_path, FIRST)
    vectors(tmp_path, right=9, of=10)
    nightly(job(tmp_path, named("vectors")), FIRST)
    margin = LAST_GO.format('ece = "0"')
    found = nightly(job(tmp_path, VECTORS + margin), SECOND)["vectors"].verdict
    assert found is not None
    assert [(one.metric, one.passed, one.reason) for one in found.gates] == [("ece", None, "no-earlier-go")]
    assert ("kind", "compare", "evaluate", "changed") in [(c.setting, c.before, c.now, c.kind) for c in found.changes]
    pinned = nightly(job(tmp_path, VECTORS + margin.replace("last-go", FIRST)), THIRD)["vectors"].refusal
    assert pinned is not None
    assert pinned.violations[0].rule == "baseline-missing"
