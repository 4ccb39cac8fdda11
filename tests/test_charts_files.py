"""``evalkit report`` and ``render``: what is written, where, and the same bytes each time."""

from __future__ import annotations

import html.parser
import json
import shutil
import struct
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import polars as pl
import pytest
from support import compare, dump, environment, evalkit, record

import evalkit as library
from evalkit.charts.model import Curve, Point
from evalkit.charts.page import page
from evalkit.charts.read import read
from evalkit.errors import Refusal

FIXTURES = Path(__file__).parent.parent / "data-fixtures" / "charts"
NAMES = ["measurement", "foreign", "evaluation", "selective", "statistics"]
MEASUREMENT = FIXTURES / "measurement.json"

LINES = [
    *(record("alpha", split, number) for split in ("validation", "test") for number in range(8)),
    *(record("alpha", split, 8, confidence=0.9) for split in ("validation", "test")),
    *(record("alpha", split, 9, predicted=5, confidence=0.9) for split in ("validation", "test")),
]
"""Ten records a split: eight right at 0.97, at 0.9 one right and one wrong."""

POINTS = (Point(0.8, 1.0), Point(1.0, 0.9))
"""The curve: at 0.97 eight of ten are accepted, all right; at 0.9 all, nine of them right."""


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Make a results folder."""
    done = compare(dump(tmp_path / "dump.jsonl", LINES), "--out", "results", cwd=tmp_path)
    assert done.code in (0, 3)
    return tmp_path / "results"


def curve(report: object) -> Curve:
    """Return the curve of the first candidate."""
    found = read(report).parts[0].curve
    assert found is not None
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_same_report_is_the_same_bytes(tmp_path: Path, name: str) -> None:
    """The SVG of each fixture is the one that was looked at, whatever else was drawn before."""
    library.render(FIXTURES / f"{name}.json", tmp_path / "a.svg", tmp_path / "b.html", tmp_path / "b.SVG")
    wanted = (FIXTURES / f"{name}.svg").read_bytes()
    assert (tmp_path / "a.svg").read_bytes() == wanted
    assert (tmp_path / "b.SVG").read_bytes() == wanted


def test_a_picture_tells_what_it_shows() -> None:
    """The root has the role of an image, a title and a description that has the numbers."""
    root = ET.parse(FIXTURES / "measurement.svg").getroot()  # noqa: S314
    assert root.get("role") == "img"
    title, description = root[0], root[1]
    assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
    assert title.text == "Measurement, synthetic example"
    assert "Recall@10 (candidate): 1.0000, target ≥ 0.85 met, n = 1, higher is better" in (description.text or "")


def test_plain_data_and_a_report_are_drawn_as_their_files_are(tmp_path: Path) -> None:
    """From Python the same bytes come as from the command line."""
    library.render(json.loads(MEASUREMENT.read_text("utf-8")), tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_bytes() == (FIXTURES / "measurement.svg").read_bytes()
    done = evalkit("report", "-", "b.svg", "-q", cwd=tmp_path, stdin=MEASUREMENT.read_bytes())
    assert done == (0, b"", b"")
    assert (tmp_path / "b.svg").read_bytes() == (FIXTURES / "measurement.svg").read_bytes()


# the curve


def test_a_results_folder_has_the_whole_curve(results: Path) -> None:
    """Every cut on validation; a bare report has the chosen one only; a ``Report`` has all."""
    assert curve(results).points == POINTS
    assert curve(results / "report.json").points is None
    report = library.compare(results.parent / "dump.jsonl", "0.5")
    assert curve(report).points == POINTS
    assert curve(results).chosen == Point(0.8, 1.0)
    assert (curve(results).cut, curve(results).floor, curve(results).limit) == (0.97, 0.5, 0.9)


def test_curves_by_strata_are_not_mixed_into_it(tmp_path: Path) -> None:
    """The curve is that over all records."""
    lines = [json.dumps({**json.loads(line), "site": "ab"[place % 2]}) for place, line in enumerate(LINES)]
    compare(dump(tmp_path / "dump.jsonl", lines), "--by", "site", "--out", "results", cwd=tmp_path)
    assert curve(tmp_path / "results").points == POINTS


def test_a_folder_without_its_curve_is_drawn_as_the_report_is(results: Path) -> None:
    """Only the report must be there."""
    (results / "curve.parquet").unlink()
    assert curve(results).points is None
    (results / "report.json").unlink()
    with pytest.raises(Refusal, match=r"report\.json: there is no such report \[report-unreadable\]"):
        read(results)


def test_a_curve_that_is_broken_or_of_another_report_is_refused(results: Path, tmp_path: Path) -> None:
    """A picture is never put together from two runs."""
    compare(dump(tmp_path / "other.jsonl", LINES[::-1]), "--out", "other", cwd=tmp_path)
    shutil.copy(tmp_path / "other" / "curve.parquet", results)
    with pytest.raises(Refusal, match=r"is not of the report beside it \[curve-unreadable\]"):
        read(results)
    pl.DataFrame({"model": ["alpha"]}).write_parquet(results / "curve.parquet")
    with pytest.raises(Refusal, match=r"cannot be read as curves: .* \[curve-unreadable\]"):
        read(results)
    (results / "curve.parquet").write_bytes(b"PAR1")
    with pytest.raises(Refusal, match=r"\[curve-unreadable\]"):
        read(results)


# where it is written


def test_all_kinds_are_written_and_named(tmp_path: Path) -> None:
    """Each OUT by its ending, folders made; exit code 0."""
    outs = ["new/a.svg", "a.html", "a.png", "a.md"]
    done = evalkit("report", MEASUREMENT, *outs, cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert done.out == "".join(f"report: {out}\n" for out in outs)
    png = (tmp_path / "a.png").read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    root = ET.parse(FIXTURES / "measurement.svg").getroot()  # noqa: S314
    width, height = (float(root.get(key, "")) for key in ("width", "height"))
    assert struct.unpack(">II", png[16:24]) == (2 * width, 2 * height)
    lines = (tmp_path / "a.md").read_text("utf-8").splitlines()
    assert lines[:3] == ["# Measurement", "", "**synthetic example**"]
    assert "| Schema validity |  | not measured | ≥ 0.95 | 0 | higher | not measured | no proposals |" in lines


@pytest.mark.parametrize(
    ("outs", "rule"),
    [
        (["a.gif"], "output-format"),
        (["a"], "output-format"),
        (["-"], "output-format"),
        (["a.svg", "a.svg"], "output-unusable"),
        (["a.svg", "sub/../a.svg"], "output-unusable"),
        (["folder.svg"], "output-unwritable"),
        (["report.json/a.svg"], "output-unwritable"),
        (["ok.svg", "a.gif"], "output-format"),
    ],
)
def test_unusable_outputs_are_refused_before_anything_is_written(tmp_path: Path, outs: list[str], rule: str) -> None:
    """Exit code 2, and no file."""
    (tmp_path / "folder.svg").mkdir()
    shutil.copy(MEASUREMENT, tmp_path / "report.json")
    done = evalkit("report", "report.json", *outs, cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert f"[{rule}]" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.svg", "report.json"]


def test_the_report_itself_is_never_overwritten(tmp_path: Path) -> None:
    """Under whatever name it is."""
    shutil.copy(MEASUREMENT, tmp_path / "report.md")
    (tmp_path / "link.md").symlink_to("report.md")
    for out in ("report.md", "link.md"):
        done = evalkit("report", "report.md", out, cwd=tmp_path)
        assert (done.code, "is the input report.md" in done.err) == (2, True)
    assert (tmp_path / "report.md").read_bytes() == MEASUREMENT.read_bytes()


def test_a_refused_report_leaves_earlier_files(tmp_path: Path) -> None:
    """Nothing is written but on 0."""
    (tmp_path / "a.svg").write_text("old")
    (tmp_path / "report.json").write_text("{}")
    done = evalkit("report", "report.json", "a.svg", cwd=tmp_path)
    assert done.code == 2
    assert "report.json: synthetic: is missing [metric-document]" in done.err
    assert (tmp_path / "a.svg").read_text() == "old"
    done = evalkit("report", "none.json", "a.svg", cwd=tmp_path)
    assert (done.code, "there is no such report [report-unreadable]" in done.err) == (2, True)


def test_what_is_not_needed_is_not_loaded(tmp_path: Path) -> None:
    """Metrics as Markdown need neither the renderer nor a dataframe library; as SVG the renderer only."""
    code = (
        "import sys, evalkit\n"
        "for out in ('a.md', 'a.svg'):\n"
        f"    evalkit.render({str(MEASUREMENT)!r}, out)\n"
        "    print(*sorted({'polars', 'pyarrow', 'typer', 'rich', 'altair', 'vl_convert'} & set(sys.modules)))"
    )
    line = [sys.executable, "-c", code]
    done = subprocess.run(line, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=True)
    assert done.stdout == "\nvl_convert\n"


# the page


class _Page(html.parser.HTMLParser):
    """Collects what HTML, unlike XML, makes of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


@pytest.mark.parametrize("name", NAMES)
def test_a_page_needs_nothing_else(name: str) -> None:
    """No script, no address of anything, and a policy that would let nothing load."""
    parser = _Page()
    parser.feed(page(read(FIXTURES / f"{name}.json")))
    tags = {tag for tag, _ in parser.found}
    assert not tags & {"script", "link", "img", "iframe", "object", "embed", "base", "form", "a"}
    assert not {key for _, attrs in parser.found for key in attrs} & {"src", "href", "style", "onload", "onerror"}
    policies = [attrs["content"] for _, attrs in parser.found if attrs.get("http-equiv") == "Content-Security-Policy"]
    assert len(policies) == 1
    assert str(policies[0]).startswith("default-src 'none'; style-src 'sha256-")
    assert "unsafe" not in str(policies[0])


def test_the_numbers_of_a_page_are_in_tables_with_headings() -> None:
    """Each table has a caption, names of columns and of rows; each chart a description."""
    root = ET.fromstring(page(read(FIXTURES / "selective.json")).removeprefix("<!DOCTYPE html>\n"))  # noqa: S314
    tables = list(root.iter("table"))
    captions = ["".join(one.find("caption").itertext()) for one in tables]  # type: ignore[union-attr]
    assert captions[:3] == ["Candidates", "Values and targets", "Reliability"]
    for table in tables:
        assert {one.get("scope") for one in table.iter("th")} == {"col", "row"}
    pictures = [one for one in root.iter("{http://www.w3.org/2000/svg}svg") if one.get("role") == "img"]
    assert len(pictures) == 11
    assert "10 records in 2 classes, 7 of them right" in ["".join(one[1].itertext()) for one in pictures]
