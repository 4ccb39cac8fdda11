"""Lists may be of any length: tables are read in pieces that do not hold too many of their values."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

import evalkit
from evalkit.families.probability.gold import GoldKind
from evalkit.formats import flat_tables
from evalkit.formats.flat import LINE

REAL = Path(__file__).parent.parent / "data-fixtures" / "real"


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    """The real predictions and their gold, as Parquet of two row groups."""
    found = []
    for name in ("predictions", "gold"):
        path = tmp_path / f"{name}.parquet"
        frame = pl.read_ndjson(REAL / f"{name}.jsonl", infer_schema_length=None)
        frame.write_parquet(path, row_group_size=400)
        found.append(path)
    return found[0], found[1]


@pytest.mark.parametrize("values", [100, 1000])
def test_the_size_of_pieces_never_shows(sides: tuple[Path, Path], values: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However few values a piece may hold, the report is that of the lines."""
    monkeypatch.setattr(flat_tables, "VALUES", values)
    found = evalkit.evaluate(*sides).to_dict()
    whole = evalkit.evaluate(REAL / "predictions.jsonl", REAL / "gold.jsonl").to_dict()
    assert found["overall"]["n_scored"] == 628
    for key in ("overall", "by_family"):
        assert found[key] == whole[key]


def test_rows_are_counted_through_pieces(sides: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """What is wrong with a row is said with the number that it has in its file, and so is an id that stands twice."""
    monkeypatch.setattr(flat_tables, "VALUES", 25)
    frame = pl.read_parquet(sides[0])
    twice = frame[[*range(500), 7, *range(500, 520)]]
    twice.write_parquet(sides[0])
    with pytest.raises(evalkit.Refusal) as refused:
        evalkit.evaluate(*sides)
    (fault,) = refused.value.violations
    assert (fault.rule, fault.line, fault.unit) == ("duplicate-id", 501, "row")
    assert f"is also at {sides[0]}: row 8" in fault.message
    broken = pl.col("id").replace(frame["id"][450], None)
    frame.with_columns(broken).write_parquet(sides[0])
    with pytest.raises(evalkit.Refusal) as refused:
        evalkit.evaluate(*sides)
    assert [(one.rule, one.line) for one in refused.value.violations] == [("missing-field", 451)]


def test_pieces_hold_few_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """A table of lists is cut by their values, one row at least; one without lists is not cut."""
    monkeypatch.setattr(flat_tables, "VALUES", 10)
    lists = pl.DataFrame({"p": [[0.5] * 4, [0.5] * 4, [0.5] * 4, [0.5] * 4, [0.5] * 4]})
    for table in (
        lists,
        lists.to_arrow(),
        lists.cast(pl.Array(pl.Float64, 4)),
        lists.cast(pl.Array(pl.Float64, 4)).to_arrow(),
    ):
        assert [piece.shape[0] for piece in flat_tables.pieces(table)] == [2, 2, 1]
    long = pl.DataFrame({"p": [[0.5] * 100] * 2})
    assert [piece.shape[0] for piece in flat_tables.pieces(long)] == [1, 1]
    assert [piece.shape[0] for piece in flat_tables.pieces(pl.DataFrame({"id": ["a"] * 100}))] == [100]


def test_what_is_wrong_with_columns_is_said_once() -> None:
    """By the first piece alone, and without a row."""
    tables = [pl.DataFrame({"id": ["a"]}), pl.DataFrame({"id": ["b"]})]
    found = list(flat_tables.read(tables, GoldKind()))
    said = [[(one.rule, one.field, one.line) for one in rows.ledger.shown] for rows in found]
    assert said == [[("missing-column", "gold", None)], []]
    assert [rows.table.rows[LINE].to_list() for rows in found] == [[], []]


def test_a_large_row_group_is_streamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a row group holds many more values than a piece may, no more than a piece is decoded at a time."""
    monkeypatch.setattr(flat_tables, "VALUES", 64)
    options, rows = [f"o{place}" for place in range(32)], 100
    ids = [str(row) for row in range(rows)]
    vector = [0.5, 0.5] + [0.0] * 30
    predictions = pl.DataFrame({"id": ids, "option_ids": [options] * rows, "probabilities": [vector] * rows})
    predictions.write_parquet(tmp_path / "p.parquet")
    assert pq.ParquetFile(tmp_path / "p.parquet").num_row_groups == 1
    seen: list[int] = []
    read = flat_tables.typed

    def typed(table: object, *more: object) -> object:
        seen.append(table.shape[0])  # type: ignore[attr-defined]
        return read(table, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(flat_tables, "typed", typed)
    gold = pl.DataFrame({"id": ids, "gold": ["o1"] * rows})
    found = evalkit.evaluate(tmp_path / "p.parquet", gold).overall
    assert found is not None
    assert (found.n_scored, found.accuracy, found.ece) == (100, 0.0, 0.5)
    assert max(seen[1:]) <= 2  # the first is gold, which has no lists
