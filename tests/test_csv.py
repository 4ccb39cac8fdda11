"""CSV: read to the letter of RFC 4180, the same however it is cut; the fast way reads only what the exact way does."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from evalkit.contracts.contract import BRISTOL
from evalkit.errors import Refusal
from evalkit.formats import csv_cells, csv_lines
from evalkit.formats.csv_cells import cells_of, is_blank, rows_of
from evalkit.reading.parts import Part, Parts
from evalkit.records import strict_json
from evalkit.sources import stream
from evalkit.sources.partition import Inputs
from evalkit.sources.source import resolve

HEAD = "model,subjectKey,split,truth.bristolType,prediction.bristolType,prediction.confidence"
ROW = "m,cd00000000000001,validation,4,4,0.5"

LAW = settings(deadline=None, suppress_health_check=list(HealthCheck))

PIECES = (
    *(ROW, f"{ROW}\n", f"{ROW}\r\n", f"{ROW}\n", "m", "cd00000000000001", "validation", "test", "4", "0.5", "8"),
    *(
        '"m"',
        '"cd00000000000001"',
        '"4"',
        '"a ""b"" c"',
        '"x\ny"',
        '"x\r\ny"',
        '""',
        '"',
        '""""',
        '"a,b"',
        'a"b',
        '"a"b',
    ),
    *(
        ",",
        ",",
        ",,,,,",
        "\n",
        "\n\n",
        "\r\n",
        "\r",
        " ",
        "\t",
        " \n",
        "\ufeff",
        "\0",
        "é",
        "\U0001f600",
        "\u2028",
        "\x1f",
    ),
)

ROWS = (
    *(f"{ROW}\n", f"{ROW}\r\n", "m,cd00000000000001,validation,4,,\n", "n,e600000000000001,test,1,7,1e-05\n"),
    *('"m","cd00000000000001","validation","4","4","0.5"\n', '"a ""b"", c",cd00000000000001,validation,4,"",""\r\n'),
    *('"x\ny",cd00000000000001,validation,4,4,0.5\n', "\n", " \n", '"m"x,cd00000000000001,validation,4,4,0.5\n'),
    *("é\x85,cd00000000000001,validation,4,4,0.5\n", "m,cd00000000000001,validation,4,4\n", f"{ROW},\n", f'{ROW}"\n'),
)

TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=40).map("".join),
    st.lists(st.one_of(*[st.sampled_from(ROWS[:6])] * 3, st.sampled_from(ROWS)), max_size=20).map("".join),
)


def outcome(path: Path, size: int) -> tuple[Any, ...]:
    """Read a file: the records by line, and all that is wrong with it."""
    with Inputs(resolve([str(path)]), size) as inputs:
        parts, records = Parts(inputs, BRISTOL), []
        before: dict[int, int] = {}
        for partition in inputs.partitions():
            rows = csv_lines.read(partition, BRISTOL, every=True)  # type: ignore[arg-type]
            parts.add(Part.of(partition, rows, BRISTOL))
            first = sum(before.values())
            before[partition.number] = rows.lines
            records += [(line + first, *rest) for line, *rest in rows.table.rows()]
        ledger = parts.ledger()
        return sorted(records), [str(fault) for fault in ledger.shown], dict(ledger.counts), ledger.lines


@settings(LAW, max_examples=400)
@given(text=TEXTS, sizes=st.tuples(st.integers(1, 60), st.integers(60, 600)))
@example(text='a"b\n"c\n', sizes=(1, 60))
@example(text=f"{ROW}\n\n{ROW}\n\n\n", sizes=(1, 60))
@example(text=f'"m","cd00000000000001","validation","4","",""\n{ROW}', sizes=(1, 60))
def test_however_it_is_cut_and_read_the_same_comes_out(text: str, sizes: tuple[int, int], tmp_path: Path) -> None:
    """Size of a block and way of reading never show: the same records at the same lines, the same refusal."""
    path = tmp_path / "a.csv"
    path.write_text(f"{HEAD}\n{text}", "utf-8", newline="")
    whole = outcome(path, 2**20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_lines, "_parsed", lambda *_: None)
        assert outcome(path, 2**20) == whole
    for size in sizes:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stream, "STEP", 16)
            assert outcome(path, size) == whole, size


@settings(LAW, max_examples=1000)
@given(text=TEXTS)
def test_rows_are_those_of_the_standard_library(text: str) -> None:
    """What is no fault is read as Python's strict reader reads it."""
    rows = []
    for _, row in rows_of(text.encode()):
        if is_blank(row):
            continue
        try:
            rows.append(cells_of(row))
        except Refusal:
            return
    found = csv.reader(io.StringIO(text, newline=""), strict=True)
    told = [row for row in found if row]  # it gives a blank line as a row, of no cell or of white space
    assert [row for row in rows if _tells(row)] == [row for row in told if _tells(row)]


def _tells(row: list[str]) -> bool:
    return len(row) > 1 or bool(row[0].strip(" \t"))


@settings(LAW, max_examples=300)
@given(cells=st.lists(st.lists(st.text(max_size=8), min_size=2, max_size=4), min_size=1, max_size=6))
def test_what_the_standard_library_writes_is_read(cells: list[list[str]]) -> None:
    """Whatever cells are written, they come back."""
    file = io.StringIO()
    csv.writer(file, quoting=csv.QUOTE_ALL).writerows(cells)
    text = file.getvalue().encode("utf-8", "surrogatepass")
    if any("\ud800" <= letter <= "\udfff" for row in cells for cell in row for letter in cell):
        return
    assert [cells_of(row) for _, row in rows_of(text)] == cells


LOOSE = "a quote stands in a cell that does not begin with one; quote the cell, and double each quote in it [csv-quote]"
AFTER = "text follows a closing quote; double each quote that a quoted cell holds [csv-quote]"
LONG = "no row may be longer than 64 MiB; look for a quote that is never closed [csv-cells]"
OPEN = "a quote is never closed [csv-quote]"
RETURN = r"a carriage return stands outside of quotes; end lines with \n or \r\n [csv-quote]"
NAMELESS = "has no name; pandas writes one such for its index, unless told index=False [csv-header]"
FAULTS: Sequence[tuple[str, list[str]]] = (
    (f"{HEAD}\n{ROW}\n{ROW},\n", ["3: has 7 cells; the header has 6 [csv-cells]"]),
    (f"{HEAD}\n{ROW}\nm,cd00000000000001\n{ROW}\n", ["3: has 2 cells; the header has 6 [csv-cells]"]),
    (f'{HEAD}\nm"x,cd00000000000001,test,4,4,0.5"\n{ROW}\n', [f"2: {LOOSE}"]),
    (f'{HEAD}\n{ROW}\n"m"x,cd00000000000001,test,4,4,0.5\n', [f"3: {AFTER}"]),
    (f'{HEAD}\n{ROW}\n"m,cd00000000000001,test,4,4,0.5\n{ROW}\n', [f"3: {OPEN}"]),
    (f"{HEAD}\nm\rn,cd00000000000001,validation,4,4,0.5\n", [f"2: {RETURN}"]),
    (
        f'{HEAD}\n\n"m\n1",cd00000000000001,validation,4,4,0.5\n  \nm,cd00000000000001,validation,4,4,2\n',
        ["6: prediction.confidence: must be a number from 0 to 1; found 2 [confidence]"],
    ),
    (
        f"{HEAD}\n{ROW[:-3]}\n",
        ["2: prediction.confidence: label and confidence must both be given, or both be null; found null [prediction]"],
    ),
    (f"{HEAD}\n\ufeff{ROW}\n", ["2: a byte-order mark may stand only at the start of a file [byte-order-mark]"]),
    ("model,split,,x\n", [f"1: column 3 {NAMELESS}"]),
    (
        "model,,model\n",
        [f"1: column 2 {NAMELESS}", "1: model: is the name of two columns; give each its own [csv-header]"],
    ),
    ("\n\nmodel,split,model\n", ["3: model: is the name of two columns; give each its own [csv-header]"]),
    ('model,"split\n', [f"1: {OPEN}"]),
)


@pytest.mark.parametrize(("text", "said"), FAULTS)
@pytest.mark.parametrize("size", [1, 2**20])
def test_what_is_no_csv_is_refused(text: str, said: list[str], size: int, tmp_path: Path) -> None:
    """Ragged rows, misplaced quotes, headers without a name: each is named with its line."""
    path = tmp_path / "a.csv"
    path.write_text(text, "utf-8", newline="")
    assert outcome(path, size)[1] == [f"{path}:{one}" for one in said]


def test_a_file_without_a_header(tmp_path: Path) -> None:
    """Where the first line names none of the columns, that is said, and not that each is missing."""
    path = tmp_path / "a.csv"
    names = HEAD.replace(",", ", ")
    words = f"the first line must be a header, with commas between the names; it names none of {names}"
    for text in (f"{ROW}\n{ROW}\n", HEAD.replace(",", ";") + "\n"):
        path.write_text(text, "utf-8")
        assert outcome(path, 10)[1] == [f"{path}:1: {words} [csv-header]"]
    path.write_text(HEAD.replace("split,", "") + "\n" + ROW.replace("validation,", "") + "\n", "utf-8")
    assert outcome(path, 10)[1] == [f"{path}: split: there is no such column [missing-column]"]


@pytest.mark.parametrize("text", ["", "\n\n", f"{HEAD}", f"\ufeff{HEAD}\r\n", f"\n{HEAD}\n\n"])
def test_a_file_without_rows(text: str, tmp_path: Path) -> None:
    """An empty file, and a header alone, hold no records; that is no fault of a file among others."""
    path = tmp_path / "a.csv"
    path.write_text(text, "utf-8", newline="")
    assert outcome(path, 2**20) == ([], [], {}, 0)


def test_bytes_that_are_no_utf_8(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are named with the line and the place in it."""
    path = tmp_path / "a.csv"
    path.write_bytes(f"{HEAD}\n{ROW}\n".encode() + b"\xff" + f"{ROW}\n".encode())
    assert outcome(path, 2**20)[1] == [f"{path}:3: must be UTF-8; byte 1 of the line is not; found 0xff [encoding]"]


def test_empty_cells_are_null_whether_quoted_or_not(tmp_path: Path) -> None:
    """A cell without a letter is null: writers that quote everything quote those too."""
    path = tmp_path / "a.csv"
    path.write_text(
        f'{HEAD}\nm,cd00000000000001,validation,4,,\n"m","cd00000000000001","validation","4","",""\n', "utf-8"
    )
    records, faults, _, _ = outcome(path, 2**20)
    assert faults == []
    assert records == [(line, "m", "cd00000000000001", "validation", "4", None, None) for line in (1, 2)]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('"' + "x\n" * 100, f"2: {LONG}"),
        ("x" * 200 + "\n", f"2: {LONG}"),
        (f"{ROW}\n{ROW}\n" + "x" * 200, f"4: {LONG}"),
    ],
)
def test_a_row_that_does_not_end(text: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quote that is never closed does not draw the rest of the file into memory."""
    for module in (csv_cells, csv_lines, strict_json):
        monkeypatch.setattr(module, "MAX_LINE", 100)
    monkeypatch.setattr(stream, "STEP", 16)
    path = tmp_path / "a.csv"
    path.write_text(f"{HEAD}\n{text}", "utf-8")
    for size in (1, 30):
        assert outcome(path, size)[1] == [f"{path}:{message}"], size


def test_other_columns_do_not_matter(tmp_path: Path) -> None:
    """Columns that the contract does not name may hold anything that is CSV."""
    path = tmp_path / "a.csv"
    path.write_text(f'note,{HEAD},\u00e9\n"a\n""b""",{ROW},\n,{ROW},"{{[("\n', "utf-8")
    records, faults, _, _ = outcome(path, 2**20)
    assert faults == []
    assert [line for line, *_ in records] == [1, 3]
