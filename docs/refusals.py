"""Every rule that can be the reason of a refusal, with one real message each.

The rules are found in the source of the package. Messages come from the fixtures that are refused; what no fixture can
hold, such as a missing file, is provoked here. A rule without a message or without advice is an error.
"""

from __future__ import annotations

import ast
import gzip
import os
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import chdir
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, partial
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pyarrow as pa
from shell import ROOT, playground

from evalkit import (
    Contract,
    Refusal,
    Violation,
    compare,
    convert,
    evaluate,
    history,
    measure,
    nightly,
    plan,
    read_contract,
    read_policy,
    readiness,
    receipt,
    render,
    scan,
    summarize,
    verify,
)
from evalkit.analysis.query import Tables, answer
from evalkit.analysis.sql import Select
from evalkit.analysis.written import format_of
from evalkit.engines import engine, failures, work
from evalkit.engines.work import Versions
from evalkit.families.ranking.trec import read_trec
from evalkit.families.selective.against import held_against
from evalkit.families.selective.pairs import PairBy
from evalkit.families.selective.plan import select_threshold
from evalkit.families.selective.sides import sides_of
from evalkit.nights.lock import locked
from evalkit.records.strict_json import MAX_LINE
from evalkit.results.outputs import Outputs, check_outputs
from evalkit.results.report_file import MAX_REPORT
from evalkit.results.run_record import read_run_record
from evalkit.risk_coverage.claim import read_claim
from evalkit.sources.partition import Whole
from evalkit.sources.source import open_same, resolve
from evalkit.uncertainty.asked import Asked

FIXTURES = Path("data-fixtures", "selective")
DUMP = str(FIXTURES / "go.jsonl")
FLOOR = "0.5"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule, a message that names it, and what to do about it."""

    rule: str
    message: str
    advice: str


@dataclass(frozen=True, slots=True)
class Group:
    """Rules about one thing."""

    title: str
    text: str
    rules: tuple[Rule, ...]


def groups() -> list[Group]:
    """Return all rules, grouped as ``refusals.toml`` groups them."""
    with (ROOT / "docs" / "refusals.toml").open("rb") as file:
        told = tomllib.load(file)["group"]
    advised = {rule for group in told for rule in group["rules"]}
    if advised != declared():
        raise SystemExit(f"docs/refusals.toml and the rules of evalkit differ: {sorted(advised ^ declared())}")
    messages = _messages()
    if lacking := sorted(advised - messages.keys()):
        raise SystemExit(f"no fixture in {FIXTURES / 'refused'} breaks {', '.join(lacking)}")
    return [
        Group(
            group["title"],
            group["text"],
            tuple(Rule(rule, messages[rule], advice) for rule, advice in group["rules"].items()),
        )
        for group in told
    ]


def declared() -> set[str]:
    """Return the rules named in the package: first arguments of ``Violation`` and arguments named ``rule``."""
    trees = [ast.parse(path.read_text("utf-8")) for path in (ROOT / "evalkit").rglob("*.py")]
    places = {"Violation": 0}
    for node in (node for tree in trees for node in ast.walk(tree)):
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in node.args.args if argument.arg != "self"]
            if "rule" in names:
                places[node.name] = names.index("rule")
    return {rule for tree in trees for node in ast.walk(tree) for rule in _named(node, places)}


def _named(node: ast.AST, places: Mapping[str, int]) -> Iterator[str]:
    called = node.func if isinstance(node, ast.Call) else None
    name = str(called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", ""))
    if isinstance(node, ast.Call) and name in places:
        place = places[name]
        stated = next((one.value for one in node.keywords if one.arg == "rule"), None)
        found = node.args[place] if place < len(node.args) else stated
        if isinstance(found, ast.Constant) and isinstance(found.value, str):
            yield found.value


@cache
def _messages() -> Mapping[str, str]:
    """Return one message a rule: that of the fixture named after it, else of the first fixture that breaks it."""
    own: dict[str, str] = {}
    others: dict[str, str] = {}
    with chdir(ROOT / FIXTURES / "refused"):
        for path in sorted(Path().iterdir()):
            for violation in _violations(partial(compare, path, FLOOR)):
                found = own if violation.rule == path.name.partition(".")[0] else others
                found.setdefault(violation.rule, str(violation))
    with playground() as folder, chdir(folder):
        for provoke in PROVOKED:
            for violation in _violations(provoke):
                others.setdefault(violation.rule, str(violation))
    return others | own


def _violations(provoke: Callable[[], object]) -> Sequence[Violation]:
    """Return the first violation of each rule that a call is refused for."""
    try:
        provoke()
    except Refusal as refusal:
        return list({violation.rule: violation for violation in reversed(refusal.violations)}.values())
    raise SystemExit("something that must be refused was not")


def _unreadable() -> object:
    Path("loop.jsonl").symlink_to("loop.jsonl")
    return resolve(["loop.jsonl"])


def _of_store(said: str) -> object:
    """Look at an object in a store whose library says this."""
    with patch("evalkit.sources.store_systems._system") as system:
        system.return_value.get_file_info.side_effect = OSError(said)
        return resolve(["s3://dumps/today.jsonl"])


def _without_extra() -> object:
    with patch("evalkit.sources.store_systems.find_spec", return_value=None):
        return resolve(["hf://datasets/someone/dumps/today.jsonl"])


def _changed() -> object:
    path = Path("growing.jsonl")
    path.write_bytes(b"\n")
    identity = resolve([str(path)])[0].identity
    path.write_bytes(b"\n\n")
    assert identity is not None
    return open_same(str(path), identity)


def _endless() -> object:
    Path("endless.jsonl").write_bytes(b" " * MAX_LINE + b"{}\n")
    return compare("endless.jsonl", FLOOR)


def _foreign() -> object:
    frame = pl.DataFrame({"split": ["test"], "n": [4]})
    return select_threshold(frame, Fraction(1, 2))


def _object_as_stratum() -> object:
    line = Path(DUMP).read_text("utf-8").splitlines()[0]
    Path("stratum.jsonl").write_text(line[:-1] + ',"site":{}}\n', "utf-8")
    return compare("stratum.jsonl", FLOOR, by="site")


def _policy_in_percent() -> object:
    Path("policy.toml").write_text("confidence_floor = 80\n", "utf-8")
    return read_policy("policy.toml")


def _receipt_of(text: str, size: int | None = None) -> object:
    Path("report.json").write_text(text, "utf-8")
    if size is not None:
        os.truncate("report.json", size)
    return receipt("report.json")


def _verified(**options: Any) -> object:
    return verify(compare(DUMP, FLOOR), DUMP, **options)


def _foreign_report() -> object:
    Path("predictions.jsonl").write_text('{"id":"a","option_ids":["x","y"],"probabilities":[0.5,0.6]}\n', "utf-8")
    Path("gold.jsonl").write_text('{"id":"a","gold":"x"}\n', "utf-8")
    return verify({"schema": "jev-bridge-evaluation-v1"}, "predictions.jsonl", "gold.jsonl")


def _evaluated(prediction: str, gold: str = "", **options: Any) -> object:
    Path("p.jsonl").write_text(f'{{"id":"7","option_ids":["a","b"],{prediction}}}\n', "utf-8")
    Path("g.jsonl").write_text(f'{{"id":"7","gold":"a"{gold}}}\n', "utf-8")
    return evaluate("p.jsonl", "g.jsonl", **options)


def _without_scipy() -> object:
    with patch("evalkit.uncertainty.needs.find_spec", return_value=None):
        return _evaluated('"label":"a"', interval="0.95")


def _gold(line: str, *more: str) -> object:
    Path("p.jsonl").write_text('{"id":"7","option_ids":["a","b"],"label":"a"}\n', "utf-8")
    Path("g.jsonl").write_text("\n".join((line, *more)) + "\n", "utf-8")
    return evaluate("p.jsonl", "g.jsonl")


def _predictions(*lines: str) -> object:
    Path("p.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
    Path("g.jsonl").write_text('{"id":"7","gold":"a"}\n', "utf-8")
    return evaluate("p.jsonl", "g.jsonl")


_SOUND = '{"id":"7","option_ids":["a","b"],"label":"a"}'


def _foreign_curve() -> object:
    compare(DUMP, FLOOR).write_tables("results")
    compare(FIXTURES / "blocked.jsonl", FLOOR).write_tables("blocked")
    Path("blocked", "curve.parquet").replace(Path("results", "curve.parquet"))
    render("results", "chart.svg")
    return None


def _drawn(out: str) -> object:
    render({"run_id": "r1", "model_revision": "m1", "metrics": []}, out)
    return None


def _frame(**columns: pl.Expr) -> pl.DataFrame:
    return pl.read_ndjson(DUMP).with_columns(**columns)


def _file(name: str, content: bytes) -> object:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_bytes(content)
    return compare(name, FLOOR)


def _in_folder(name: str, folder: str) -> object:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    _frame().write_parquet(name)
    return compare(folder, FLOOR)


def _beside_text() -> object:
    Path("mixed").mkdir()
    Path("mixed", "notes.txt").write_text("read me", "utf-8")
    return _in_folder("mixed/a.parquet", "mixed")


def _converted(**changed: Any) -> object:
    convert(DUMP, "converted.parquet")
    return compare("converted.parquet", FLOOR, **changed)


def _not_text() -> object:
    broken = pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(b"\0\0\0\0\1\0\0\0"), pa.py_buffer(b"\xff")])
    return compare(pa.table({"model": broken}), FLOOR)


def _failing() -> object:
    return compare(pl.LazyFrame({"model": ["m"]}).select(pl.col("model").cast(pl.Int64)), FLOOR)


def _query(**changed: object) -> object:
    case = {"query_id": "q1", "source_id": "s", "relevance": {"a": 1}, "lexical": ["a"], "dense": [], "candidate": []}
    header = {"run_id": "r", "model_revision": "m", "dataset_id": "d", "synthetic": True, "split": "held_out"}
    sources = {"source_ids": ["s"], "development_source_ids": []}
    return measure({**header, **sources, "retrieval_queries": [case | changed]})


def _trec(results: str, system: str = "bm25", max_grade: int = 3) -> object:
    Path("qrels").write_text("q1 0 a 1\n", "utf-8")
    Path("run").write_text(results, "utf-8")
    return read_trec("qrels", {system: "run"}, "s", max_grade=max_grade)


OBSERVATIONS = Path("data-fixtures", "observations")


def _too_long() -> object:
    Path("long.json").write_bytes(b"{}")
    os.truncate("long.json", MAX_LINE + 1)
    return measure("long.json")


def _cases_in_csv() -> object:
    Path("pages.csv").write_text("case_id,reference,output\n", "utf-8")
    return measure(OBSERVATIONS / "header.json", ocr="pages.csv")


_JOB = f"""store = "STORE"
[[evaluation]]
name = "digits"
kind = "compare"
predictions = ["{DUMP}"]
min_coverage = 0.5
"""


def _night(job: str, date: str = "2026-01-31", store: str = "store") -> object:
    """Run a job, and raise the first refusal of its evaluations."""
    Path("job.toml").write_text(job.replace("STORE", store), "utf-8")
    for outcome in nightly("job.toml", date).outcomes:
        if outcome.refusal is not None:
            raise outcome.refusal
    return None


def _pipe_in_job() -> object:
    os.mkfifo("pipe.jsonl")
    return _night(_JOB.replace(DUMP, "pipe.jsonl"))


def _no_store() -> object:
    Path("no-folder").write_bytes(b"")
    return _night(_JOB, store="no-folder")


def _no_extra() -> object:
    with patch("importlib.util.find_spec", return_value=None):
        return compare(DUMP, FLOOR, executor="dask://10.0.0.7:8786")


def _other_worker() -> object:
    here, there = Versions("0.1.0", "2.1.0"), Versions("0.1.0", "2.0.0")
    with (
        patch.object(work, "worker_name", return_value="node7, process 4711"),
        patch.object(work, "versions", return_value=there),
        patch.object(failures, "versions", return_value=here),
        patch.object(engine, "versions", return_value=here),
        ThreadPoolExecutor(1) as executor,
    ):
        return compare(DUMP, FLOOR, executor=executor)


def _other_file() -> object:
    identity = resolve([DUMP])[0].identity
    assert identity is not None
    message = "was there at the start and cannot be opened now: No such file or directory"
    gone = Refusal.of(Violation("file-changed", message, os.path.abspath(DUMP)))
    raise failures.of_worker(gone, "node7, process 4711", [Whole(DUMP, identity)])


def _too_large() -> object:
    raise Refusal.of(failures.too_much(1_320_000_000))


def _busy() -> object:
    Path("busy").mkdir()
    with locked("busy"):
        return _night(_JOB, store="busy")


def _stored_already() -> object:
    _night(_JOB)
    return _night(_JOB.replace("0.5", "0.6"))


_PINNED = 'baseline = { against = "2026-01-01", margins = { ece = 0 } }\n'

_HEADER = b"model,subjectKey,split,truth.bristolType,prediction.bristolType,prediction.confidence\n"


def _asked(sql: str) -> object:
    return answer(Select.of(sql), Tables.of([DUMP]))


def _versus(baseline: str = "old", **changed: list[object]) -> object:
    rows: dict[str, list[object]] = {
        "model": ["new", "old"],
        "split": ["test"] * 2,
        "truth": ["4"] * 2,
        "predicted": ["4"] * 2,
        "confidence": [0.9] * 2,
        "usable": [True] * 2,
        "n": [2] * 2 if "id" in changed else [1] * 2,
        "contributor": [1] * 2,
        "id": ["1"] * 2,
    }
    frame = pl.DataFrame(rows | changed, schema_overrides={"contributor": pl.UInt64})
    thresholds, asked = {"new": 0.5, "old": 0.5}, Asked()
    sides = sides_of(frame, thresholds, ("4", "5"), 10, asked)
    return held_against(frame, thresholds, sides, baseline, asked, pair_by=PairBy("image", "id"))


PROVOKED: Sequence[Callable[[], object]] = (
    partial(compare, DUMP, FLOOR, executor="spark://10.0.0.7"),
    _no_extra,
    _other_worker,
    _other_file,
    _too_large,
    partial(_asked, "SELECT model FROM records GROUP BY split"),
    partial(_asked, "DROP TABLE records"),
    partial(_asked, "SELECT * FROM read_csv('secrets.csv')"),
    partial(_asked, "SELECT * FROM candidates"),
    lambda: format_of("rows.xlsx"),
    lambda: read_claim("precision>=90%@0.95"),
    lambda: summarize(scan(DUMP), threshold={}),
    partial(_predictions, '{"id":7,"option_ids":[],"label":4}'),
    partial(_predictions, '{"id":"7","option_ids":["a","a"],"label":"a"}'),
    partial(_evaluated, '"probabilities":[0.5,50]'),
    partial(_evaluated, '"probabilities":[1]'),
    partial(_evaluated, '"probabilities":[0.33,0.66]'),
    partial(_evaluated, '"label":"c"'),
    partial(_gold, '{"id":"7","gold":1,"family":2,"positive":3}'),
    partial(_predictions, _SOUND, '{"id":"8","option_ids":["a","b"],"label":"a","model":"m"}'),
    partial(_predictions, _SOUND, _SOUND),
    partial(_gold, '{"id":"7","gold":"c","positive":"d"}'),
    partial(_predictions, _SOUND.replace("7", "8")),
    partial(_evaluated, '"label":"a"', max_gold=0),
    partial(_evaluated, '"label":"a"', bins=0),
    partial(_evaluated, '"label":"a"', interval="0.95", cluster_by="gold"),
    partial(_evaluated, '"label":"a"', interval="0.95", cluster_by="writer"),
    partial(_evaluated, '"label":"a"', ',"writer":1.5', interval="0.95", cluster_by="writer"),
    partial(_evaluated, '"label":"a"', sum_tolerance="0,1"),
    lambda: resolve(["yesterday.jsonl"]),
    lambda: resolve(["runs/*.jsonl"]),
    lambda: resolve(["data-fixtures"]),
    lambda: resolve([DUMP, DUMP]),
    lambda: resolve([]),
    lambda: compare(DUMP, "50%"),
    lambda: read_run_record("run.json"),
    lambda: check_outputs(Outputs("data-fixtures", None), resolve([DUMP])),
    lambda: check_outputs(Outputs(DUMP, None), resolve([DUMP])),
    _unreadable,
    lambda: resolve(["https://example.org/today.jsonl"]),
    _without_extra,
    partial(_of_store, "AWS Error ACCESS_DENIED during HeadObject operation"),
    partial(_of_store, "AWS Error NETWORK_CONNECTION during HeadObject operation: curlCode: 7"),
    partial(_of_store, "AWS Error SLOW_DOWN (HTTP status 503) during HeadObject operation"),
    _changed,
    _endless,
    _foreign,
    _object_as_stratum,
    _policy_in_percent,
    lambda: read_contract("data-fixtures/contracts/refused/undecided.toml"),
    lambda: receipt("data-fixtures"),
    partial(_receipt_of, "", MAX_REPORT + 1),
    partial(_receipt_of, receipt(None).to_json()),
    partial(_receipt_of, '{"schema": "evalkit-selective-v1"}'),
    lambda: verify("yesterday.json", DUMP, min_coverage=FLOOR),
    lambda: verify("-", "-", min_coverage=FLOOR),
    _verified,
    partial(_verified, min_coverage=FLOOR, tol="nan"),
    partial(_evaluated, '"label":"a"', interval="95%"),
    partial(_evaluated, '"label":"a"', seed=7),
    lambda: compare(DUMP, FLOOR, baseline="steady", margin="2%"),
    _without_scipy,
    _foreign_report,
    lambda: verify({"schema": "evalkit-measurement-v1", "statistics": 0.95}, OBSERVATIONS / "synthetic.json"),
    lambda: compare(_frame().drop("split"), FLOOR),
    lambda: compare(_frame(model=pl.lit(7)), FLOOR),
    lambda: compare(_frame(**{"truth.bristolType": pl.lit(4)}), FLOOR),
    lambda: compare(pa.table([["m"], ["n"]], names=["model", "model"]), FLOOR),
    partial(_file, "cut.parquet", b"PAR1 and no more"),
    partial(_file, "secret.parquet", b"PARE and then what nobody else can read PARE"),
    partial(_file, "cut.arrow", b"ARROW1 and no more"),
    partial(_file, "packed.parquet", gzip.compress(b"PAR1", mtime=0)),
    partial(_file, "twice.csv", b"model,model\n"),
    partial(_file, "short.csv", _HEADER + b"m,e600000000000001,test,4\n"),
    partial(_file, "quote.csv", _HEADER + b'"m" and more,e600000000000001,test,4,,\n'),
    partial(_in_folder, "runs/split=test/a.parquet", "runs"),
    _beside_text,
    partial(_converted, contract=Contract(labels=(1, 2, 3))),
    partial(_converted, by="site"),
    _failing,
    partial(_drawn, "chart.svg"),
    partial(_drawn, "chart.gif"),
    _foreign_curve,
    lambda: measure(OBSERVATIONS / "refused" / "header.json"),
    lambda: measure(OBSERVATIONS / "refused" / "sources.json"),
    lambda: measure(OBSERVATIONS / "refused" / "cases.json"),
    lambda: measure(OBSERVATIONS / "synthetic.json", ocr=OBSERVATIONS / "ocr.jsonl"),
    lambda: measure(OBSERVATIONS / "header.json", qrels=OBSERVATIONS / "ocr.jsonl"),
    _cases_in_csv,
    _too_long,
    partial(_query, relevance=["a"]),
    partial(_query, relevance={"a": True}),
    partial(_query, relevance={"a": 0}),
    partial(_query, lexical="a"),
    partial(_query, lexical=[""]),
    partial(_query, lexical=["a", "a"]),
    partial(_trec, "q1 Q0 a 1\n"),
    partial(_trec, "q1 Q0 a 1 nan bm25\n"),
    partial(_trec, "", system="relevance"),
    partial(_trec, "", max_grade=99),
    lambda: readiness("data-fixtures/readiness/refused.json"),
    lambda: readiness({"metrics": [{"value": 1}, {"name": "OCR fidelity", "direction": "lower"}]}),
    lambda: readiness({}),
    partial(_night, _JOB.replace("digits", "../digits")),
    partial(_night, _JOB, "2026-02-30"),
    _pipe_in_job,
    _no_store,
    _busy,
    _stored_already,
    partial(_night, _JOB + _PINNED, store="pinned"),
    lambda: history("no-nights"),
    lambda: plan("precision>=0.9", "0.88"),
    partial(_versus, baseline="gone"),
    partial(_versus, id=["1", "1"]),
    partial(_versus, truth=["4", "5"]),
    partial(_versus, contributor=[1, 2]),
)
"""Calls that are refused for what no fixture can hold."""
