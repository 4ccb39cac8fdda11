"""What may be asked in SQL: SELECT, over named tables, and no file besides; the library is held to it twice."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import GO, dump

from evalkit.analysis.query import Tables, answer
from evalkit.analysis.sql import Select, assert_reads_only, tokens
from evalkit.errors import Refusal


def rule(sql: str) -> str:
    """Return the rule that a query breaks by its words; empty where it breaks none."""
    try:
        Select.of(sql)
    except Refusal as refusal:
        return refusal.violations[0].rule
    return ""


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1",
        "select * from t;",
        "(SELECT a FROM t) UNION (SELECT a FROM u)",
        "WITH v AS (SELECT * FROM t) SELECT * FROM v",
        "/* what */ SELECT a -- why\nFROM t",
        "SELECT 'read_csv(' AS x, 'it''s; DROP TABLE t' FROM t",
        'SELECT "drop", "read_csv" FROM t',
        "SELECT a || 'x', a::int, 1e-3, .5, a % 2, t.a FROM t WHERE a LIKE '%\\d' AND b IN ('x', 'y') LIMIT 3",
        "SELECT read_level FROM t WHERE read_level IN (1, 2)",
        "SELECT größe FROM t",
    ],
)
def test_what_only_selects_is_let_through(sql: str) -> None:
    """Comments, quotes and names that look like more are no reason to refuse."""
    assert rule(sql) == ""


@pytest.mark.parametrize(
    "sql",
    [
        "",
        " ;; ",
        "-- SELECT 1",
        "/* SELECT 1",
        "/* /* nested */ */ SELECT 1",
        "SELECT 'open",
        'SELECT "open FROM t',
        "SELECT $1",
        "SELECT $$text$$",
        "SELECT a \\ b",
        "SELECT E'\\'' , read_csv('x') --'",
        "SELECT U&'\\0041'",
        "SELECT n'x'",
        "SELECT nq'[x]'",
        "SELECT 1 # ' \n, 2 # '",
        "SELECT @x",
        "SELECT ?",
        "SELECT 1 /*/ , 2 /**/",
        "SELECT 1\0",
    ],
)
def test_what_cannot_be_read_for_certain_is_refused(sql: str) -> None:
    """Open quotes, other kinds of texts, nested comments: two readers might see two queries."""
    assert rule(sql) == "sql"


@pytest.mark.parametrize(
    "sql",
    [
        "CREATE TABLE v AS SELECT * FROM t",
        "DROP TABLE t",
        "DELETE FROM t WHERE a = 1",
        "TRUNCATE TABLE t",
        "INSERT INTO t VALUES (1)",
        "UPDATE t SET a = 1",
        "COPY t TO 'out.csv'",
        "SHOW TABLES",
        "EXPLAIN SELECT * FROM t",
        "ATTACH 'x' AS y",
        "VALUES (1, 2)",
        "FROM t",
        "PRAGMA x",
        "SELECT 1; SELECT 2",
        "SELECT * FROM t; DROP TABLE t",
        "SELECT 1;/**/DROP TABLE t",
        "WITH v AS (SELECT 1) DELETE FROM t",
        "WITH v AS (SELECT 1) INSERT INTO t SELECT * FROM v",
        "SELECT * INTO v FROM t",
        "(CREATE TABLE v AS SELECT 1)",
    ],
)
def test_nothing_but_one_select_is_run(sql: str) -> None:
    """Whatever makes, changes, shows or removes something is refused, also behind a SELECT."""
    assert rule(sql) == "sql-statement"


READING = [
    "SELECT * FROM {}('{}')",
    "SELECT * FROM {} ('{}') x",
    "SELECT * FROM {}\n/* ( */ -- (\n('{}')",
    "SELECT * FROM t JOIN {}('{}') r ON t.a = r.a",
    "SELECT * FROM t, {}('{}')",
    "SELECT * FROM (SELECT * FROM {}('{}')) q",
    "WITH v AS (SELECT * FROM {}('{}')) SELECT * FROM v",
    "SELECT * FROM t WHERE a IN (SELECT a FROM {}('{}'))",
    "SELECT (SELECT max(a) FROM {}('{}')) AS x FROM t",
    "SELECT a FROM t UNION ALL SELECT a FROM {}('{}')",
    "SELECT * FROM s3.{}('{}')",
]


@pytest.mark.parametrize("sql", READING)
@pytest.mark.parametrize(
    "function",
    ["read_csv", "READ_CSV", '"read_csv"', "`read_csv`", "read_parquet", "read_ipc", "read_json", "scan_csv"],
)
def test_no_function_reads_a_file(sql: str, function: str, tmp_path: Path) -> None:
    """However it is spelled and wherever it stands, a function that reads a file is refused by its name."""
    assert rule(sql.format(function, tmp_path / "x.csv")) == "sql-reads"


@pytest.mark.parametrize("sql", READING[:-1])
@pytest.mark.parametrize("kind", ["csv", "parquet", "ipc", "ndjson"])
def test_a_plan_that_reads_a_file_is_refused_too(sql: str, kind: str, tmp_path: Path) -> None:
    """Were a query to pass by its words, the plan that the library makes of it shows what it reads."""
    frame = pl.DataFrame({"a": [1]})
    path = tmp_path / "x"
    getattr(frame, f"write_{kind}")(path)
    plan = pl.SQLContext({"t": frame.lazy()}, eager=False).execute(sql.format(f"read_{kind.replace('nd', '')}", path))
    with pytest.raises(Refusal, match="sql-reads"):
        assert_reads_only(plan.explain(optimized=False), ("PYTHON",))


@pytest.mark.parametrize(
    "sql", ["SELECT * FROM '{}'", 'SELECT * FROM "{}"', "SELECT * FROM read_csv", "SELECT * FROM df"]
)
def test_a_file_is_no_table(sql: str, tmp_path: Path) -> None:
    """A path in place of a table is a table that is not there, and so is a frame of some Python variable."""
    df = pl.DataFrame({"a": [1]})
    df.write_csv(tmp_path / "x.csv")
    tables = Tables.of([str(dump(tmp_path / "d.jsonl", GO))])
    with pytest.raises(Refusal, match=r"there is no such table; there are records; .* \[sql-name\]"):
        answer(Select.of(sql.format(tmp_path / "x.csv")), tables)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT CAST(model AS INT) FROM records",
        "SELECT model FROM records GROUP BY truth",
        "SELECT model m, split m FROM records",
        "SELECT * FROM records WHERE confidence > 'x' + 1",
        f"SELECT {'(' * 3000}1{')' * 3000}",
        "SELECT * FROM records LIMIT -1",
    ],
)
def test_what_cannot_be_run_is_refused_in_words(sql: str, tmp_path: Path) -> None:
    """A query that the library does not take, or that fails on the way, is refused in one line without a plan."""
    tables = Tables.of([str(dump(tmp_path / "d.jsonl", GO))])
    with pytest.raises(Refusal) as refused:
        answer(Select.of(sql), tables)
    (only,) = refused.value.violations
    assert only.rule == "sql"
    assert only.message.startswith("cannot be run: ")
    assert "\n" not in only.message


def test_tables_are_there_as_they_were_after_a_query(tmp_path: Path) -> None:
    """One query leaves nothing behind for the next."""
    tables = Tables.of([str(dump(tmp_path / "d.jsonl", GO))])
    for _ in range(2):
        assert answer(Select.of("WITH v AS (SELECT * FROM records) SELECT count(*) FROM v"), tables).rows.item() == 20
    with pytest.raises(Refusal, match="no such table"):
        answer(Select.of("SELECT * FROM v"), tables)


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet=st.sampled_from("SELECT *FROMrecord_sv(';)\"`-/\n$\\,1.x"), max_size=60))
def test_words_are_read_or_refused(sql: str) -> None:
    """No text makes the reading of words fail; what is read covers the text but for blanks and comments."""
    try:
        found = tokens(sql)
    except Refusal:
        return
    ends = [0, *(one.end for one in found)]
    for end, one in zip(ends, found, strict=False):
        between = sql[end : one.at]
        assert between.strip() == "" or "--" in between or "/*" in between
