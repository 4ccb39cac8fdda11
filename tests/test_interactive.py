"""``evalkit report --interactive``: what is in the page, what is not, and how long it may be."""

from __future__ import annotations

import base64
import hashlib
import html.parser
import json
import re
import subprocess
import sys
import zipfile
from importlib.resources import files
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import compare, dump, evalkit, record

import evalkit as library
from evalkit.charts.interactive import MOST_BYTES
from evalkit.charts.interactive_data import packed
from evalkit.charts.interactive_room import embedded
from evalkit.charts.interactive_selective import WORDS, selective, thinned
from evalkit.errors import Refusal

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "data-fixtures" / "charts"
SELECTIVE, EVALUATION = FIXTURES / "selective.json", FIXTURES / "evaluation.json"
HOSTILE = "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>"


class _Elements(html.parser.HTMLParser):
    """The scripts of a page, its policy, and every address in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.scripts: list[str] = []
        self.policy, self.addresses = "", list[str]()
        self._inside = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        found = dict(attrs)
        if tag == "script":
            self.scripts.append("")
        self._inside = tag == "script"
        if found.get("http-equiv") == "Content-Security-Policy":
            self.policy = found.get("content") or ""
        self.addresses += [str(found[key]) for key in ("src", "href", "action", "srcset") if key in found]

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - the base class calls it so
        """Leave an element."""
        self._inside = False

    def handle_data(self, data: str) -> None:
        """Note text."""
        if self._inside:
            self.scripts[-1] += data


def page(report: object, folder: Path) -> str:
    """Make an interactive page and return its text."""
    library.render(report, folder / "page.html", interactive=True)
    return (folder / "page.html").read_text("utf-8")


def data(text: str) -> Any:
    """Return the data in a page."""
    return json.loads(_Elements(text).scripts[0])


class Held(dict[str, Any]):
    """A report as plain data, which has its curves as a ``Report`` has them."""

    cuts: pl.DataFrame


def test_the_policy_lets_in_the_style_and_the_script_of_the_page_and_nothing_else(tmp_path: Path) -> None:
    """Both are named by their hash; there is no other script that runs, and no address."""
    text = page(SELECTIVE, tmp_path)
    found = _Elements(text)
    held, script = found.scripts
    style = re.findall("<style>(.*?)</style>", text, re.DOTALL)[0]
    hashes = [base64.b64encode(hashlib.sha256(one.encode("utf-8")).digest()).decode() for one in (style, script)]
    assert found.policy == (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "base-uri 'none'; form-action 'none'"
    )
    assert text.count('<script type="application/json" id="data">') == 1
    assert json.loads(held)["words"] == {"entry": "candidate", "stratum": "stratum"}
    assert found.addresses == []
    assert "style=" not in text
    assert not re.search(r"\beval\b|\bFunction\(|innerHTML|outerHTML|insertAdjacent|document\.write|fetch\(", script)
    assert "http" not in script.replace("http://www.w3.org/2000/svg", "")


def test_the_same_report_is_the_same_page(tmp_path: Path) -> None:
    """From Python, from a file and from standard input alike."""
    text = page(SELECTIVE, tmp_path)
    assert page(json.loads(SELECTIVE.read_text("utf-8")), tmp_path) == text
    done = evalkit("report", "-", "b.html", "--interactive", "-q", cwd=tmp_path, stdin=SELECTIVE.read_bytes())
    assert done == (0, b"", b"")
    assert (tmp_path / "b.html").read_text("utf-8") == text


def test_a_page_without_the_option_is_as_it_was(tmp_path: Path) -> None:
    """It has no script; another kind of file beside an interactive page is as without the option."""
    library.render(SELECTIVE, tmp_path / "plain.html", tmp_path / "plain.svg", tmp_path / "plain.md")
    assert "<script" not in (tmp_path / "plain.html").read_text("utf-8")
    library.render(SELECTIVE, tmp_path / "a.html", tmp_path / "a.svg", tmp_path / "a.md", interactive=True)
    for ending in (".svg", ".md"):
        assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"plain{ending}").read_bytes()


def test_a_folder_has_the_curves_of_strata_too(tmp_path: Path) -> None:
    """Each view has its own cuts of validation: cut, accepted, right; and of test what the threshold gave."""
    lines = [
        *(record("alpha", split, number) for split in ("validation", "test") for number in range(8)),
        *(record("alpha", "validation", 8 + one, predicted=4 + one, confidence=0.9) for one in (0, 1)),
        *(record("alpha", "test", 8 + one, predicted=5, confidence=0.9) for one in (0, 1)),
    ]
    sited = [json.dumps({**json.loads(line), "site": "ns"[at % 2]}) for at, line in enumerate(lines)]
    compare(dump(tmp_path / "dump.jsonl", sited), "--by", "site", "--out", "results", cwd=tmp_path)
    entry = data(page(tmp_path / "results", tmp_path))["entries"][0]
    whole, north, south = entry["views"]
    assert entry["threshold"] == 0.97
    assert whole["curve"] == {"total": 10, "of": 2, "cuts": [[0.97, 8, 8], [0.9, 10, 9]]}
    assert [north["name"], south["name"]] == ["site = n", "site = s"]
    assert north["curve"] == {"total": 5, "of": 2, "cuts": [[0.97, 4, 4], [0.9, 5, 5]]}
    assert south["curve"] == {"total": 5, "of": 2, "cuts": [[0.97, 4, 4], [0.9, 5, 4]]}
    assert whole["numbers"][:4] == [
        ["records", 10, True],
        ["accepted", 8, True],
        ["coverage", 0.8, False],
        ["precision at coverage", 1.0, False],
    ]
    assert whole["abstentions"] == [["no suggestion", 0], ["low confidence", 2]]


def test_a_report_alone_has_no_curve(tmp_path: Path) -> None:
    """Views of a report without its folder have no cuts; all else is there."""
    views = [view for entry in data(page(SELECTIVE, tmp_path))["entries"] for view in entry["views"]]
    assert len(views) == 2
    assert all("curve" not in view for view in views)
    assert all(view["bins"] and view["classes"]["rows"] and view["cells"]["cells"] for view in views)


def test_an_evaluation_has_families(tmp_path: Path) -> None:
    """Where no model is named, all records are one entry, and each family a view."""
    found = data(page(EVALUATION, tmp_path))
    assert found["words"] == {"entry": "model", "stratum": "family"}
    assert [entry["name"] for entry in found["entries"]] == ["All records"]
    assert [view["name"] for view in found["entries"][0]["views"]] == ["all records", "clinic", "field", "שטח"]
    clinic = found["entries"][0]["views"][1]
    assert clinic["bins"][0] == [0.7, 0.8, 4, 0.76, 0.75]
    assert found["labels"] == ["no", "yes"]
    assert clinic["classes"]["rows"] == [[0, 0.7], [1, 0.8]]


def test_evidence_of_an_evaluation_is_shown(tmp_path: Path) -> None:
    """What was read of each side, with its records; of a frame nothing is stored, and a dash says so."""
    report = json.loads(EVALUATION.read_text("utf-8"))
    file = {"side": "predictions", "name": "a.jsonl", "bytes": 5, "sha256": "ab", "records": 1234}
    frame = {"side": "gold", "name": "frame", "bytes": None, "sha256": None, "records": 7}
    text = page({**report, "evidence": [file, frame]}, tmp_path)
    assert "Evidence: what was read" in text
    assert "<td><bdi>1,234</bdi></td>" in text
    assert "<td><bdi>–</bdi></td>" in text


def test_an_evaluation_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    """A page is drawn of whole reports alone, as every chart is."""
    report = json.loads(EVALUATION.read_text("utf-8"))
    with pytest.raises(Refusal, match=r"evidence: must be an array.*\[not-whole\]"):
        page({**report, "evidence": None}, tmp_path)


def test_names_end_nothing(tmp_path: Path) -> None:
    """Markup in the name of a model, a stratum, a class or an input stays text, in the data and around it."""
    report = json.loads(SELECTIVE.read_text("utf-8"))
    report["candidates"][0]["model"] = report["recommended"] = report["evidence"][0]["name"] = HOSTILE
    report["candidates"][0]["perClass"] = {HOSTILE: report["candidates"][0]["perClass"]["4"]}
    text = page(report, tmp_path)
    assert text.count("</script>") == 2
    assert text.count("<script") == 2
    assert "<img" not in text
    assert "<!--" not in text
    found = data(text)
    assert found["entries"][0]["name"] == HOSTILE
    assert HOSTILE in found["labels"]


@given(
    st.recursive(
        st.text() | st.integers() | st.none(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)
    )
)
@settings(max_examples=40, deadline=None)
def test_data_stays_data(value: Any) -> None:
    """Whatever is embedded comes back as it was, and nothing in it begins an element or a comment."""
    text = embedded(value)
    assert "<" not in text
    assert json.loads(text) == value


@given(st.lists(st.booleans(), min_size=1, max_size=120), st.integers(0, 130), st.integers(4, 40))
@settings(max_examples=40, deadline=None)
def test_thinned_cuts_keep_what_the_threshold_accepts(right: list[bool], chosen: int, most: int) -> None:
    """There are at most so many, in their order, the last is there, and the threshold accepts the same records."""
    cuts = [(1 - at / 1000, at + 1, sum(right[: at + 1])) for at in range(len(right))]
    threshold = 1 - (chosen + 0.5) / 1000
    kept = thinned(cuts, threshold, most)
    assert len(kept) <= most
    assert kept == [cut for cut in cuts if cut in kept]
    assert kept[-1] == cuts[-1]
    accepting = [cut for cut in cuts if cut[0] >= threshold]
    assert [cut for cut in kept if cut[0] >= threshold][-1:] == accepting[-1:]


def huge(candidates: int, strata: int, classes: int, name: str, longest: int = 200) -> dict[str, Any]:
    """Return a report of many candidates, strata and classes, whose names are long."""
    report: dict[str, Any] = json.loads(SELECTIVE.read_text("utf-8"))
    one = report["candidates"][0]
    labels = [f"{number}{name}"[:longest] for number in range(classes)]
    scores = {
        **{key: one[key] for key in ("total", "accepted", "abstentions", "coverage", "precisionAtCoverage")},
        **{key: one[key] for key in ("macroF1", "ece", "excludedClasses", "bins")},
        "perClass": dict.fromkeys(labels, one["perClass"]["4"]),
        "confusion": {f"{truth}->{other}": 7 for truth in labels for other in labels},
    }
    made = [{"by": {"site": f"{number}{name}"[:longest]}, **scores} for number in range(strata)]
    models = [f"{number:03d}{name}"[:longest] for number in range(candidates)]
    report["candidates"] = [{**one, **scores, "model": model, "strata": made} for model in models]
    report["recommended"] = models[0]
    return report


def test_many_strata_are_kept_short(tmp_path: Path) -> None:
    """Of many strata the page has as many as fit, those of the first candidate first, and says how many do not."""
    report = huge(6, 200, 4, "a stratum of some length")
    text = page(report, tmp_path)
    assert len(text.encode("utf-8")) < 1_200_000 == MOST_BYTES
    found = data(text)["entries"]
    views = [len(entry["views"]) for entry in found]
    assert views[0] == 201
    assert views[-1] < 201
    assert f"<li>{6 + 1_200 - sum(views):,} of 1,200 strata, over all candidates, are left out.</li>" in text
    assert all(entry["strata"] == 200 for entry in found)


def test_fifty_candidates_in_two_hundred_strata_fit() -> None:
    """Every candidate is in the data, with its curve's place, its matrix and its classes; most strata are not."""
    report = huge(50, 200, 7, "a stratum of some length")
    order = [one["model"] for one in report["candidates"]]
    made = packed(list(selective(report, order, None)), 580_000, WORDS)
    assert len(embedded(made.data).encode("utf-8")) < 600_000
    entries = made.data["entries"]
    assert [entry["name"] for entry in entries] == order
    assert all(entry["views"][0]["cells"]["cells"] and "lacks" not in entry["views"][0] for entry in entries)
    strata = sum(len(entry["views"]) - 1 for entry in entries)
    assert 200 < strata < 10_000
    assert made.left_out == (f"{10_000 - strata:,} of 10,000 strata, over all candidates, are left out.",)


def test_long_names_are_kept_short(tmp_path: Path) -> None:
    """With 60 classes of 200 characters, 300 inputs and a long run record the page stays under 1.2 MB, and says so."""
    name = '"語<' * 70
    report = huge(4, 1, 60, name)
    report["evidence"] = [{**report["evidence"][0], "name": name * 2}] * 300
    report["run"] = {"note": name * 1000}
    text = page(report, tmp_path)
    assert len(text.encode("utf-8")) < 1_200_000
    assert "(the first 100 of 300 inputs)" in text
    assert "what the report says of its run is too long for this page" in text
    assert "more are not shown here" in text
    found = data(text)
    assert len(found["labels"]) == 60
    assert [len(label) for label in found["labels"]] == [200] * 60


def test_what_has_no_room_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Matrices go before tables, tables before candidates; each is counted."""
    report = huge(4, 0, 40, "n")
    monkeypatch.setattr("evalkit.charts.interactive.DATA_ROOM", 80_000)
    text = page(report, tmp_path)
    assert "<li>Confusion matrices of 2 candidates are left out.</li>" in text
    lacking = [entry["views"][0].get("lacks") for entry in data(text)["entries"]]
    assert lacking == [None, None, ["cells"], ["cells"]]
    monkeypatch.setattr("evalkit.charts.interactive.DATA_ROOM", 2_000)
    text = page(report, tmp_path)
    assert "<li>2 of 4 candidates are left out.</li>" in text
    assert "<li>Tables of classes of 2 candidates are left out.</li>" in text


def test_a_report_of_nobody_is_the_static_page(tmp_path: Path) -> None:
    """Without candidates there is nothing to choose, and no place for it."""
    report = json.loads(SELECTIVE.read_text("utf-8"))
    report.update(candidates=[], recommended=None, verdict="BLOCKED")
    text = page(report, tmp_path)
    assert 'id="explore"' not in text
    assert "BLOCKED; 0 of 0 candidates passed all gates" in text


def test_what_has_nothing_to_choose_from_is_refused(tmp_path: Path) -> None:
    """A measurement has neither candidates nor models."""
    done = evalkit("report", FIXTURES / "measurement.json", "a.html", "--interactive", cwd=tmp_path)
    assert done.code == 2
    assert b"[report-schema]" in done.stderr
    assert b"must be a report of compare or evaluate" in done.stderr
    assert not (tmp_path / "a.html").exists()


def test_only_a_page_is_interactive(tmp_path: Path) -> None:
    """The option without a file that ends in .html is refused."""
    done = evalkit("report", SELECTIVE, "a.svg", "--interactive", cwd=tmp_path)
    assert done.code == 2
    assert b"a.svg: must end in .html, or one beside it must: only a page is interactive [output-format]" in done.stderr
    assert not (tmp_path / "a.svg").exists()


def test_what_is_no_report_is_refused(tmp_path: Path) -> None:
    """As without the option: a file that is not there, and curves of another report."""
    with pytest.raises(Refusal, match="report-unreadable"):
        page(tmp_path / "nothing.json", tmp_path)
    compare(
        dump(tmp_path / "dump.jsonl", [record("a", split, 1) for split in ("validation", "test")]),
        "--out",
        "results",
        cwd=tmp_path,
    )
    curve = tmp_path / "results" / "curve.parquet"
    curve.write_bytes(b"")
    with pytest.raises(Refusal, match="curve-unreadable"):
        page(tmp_path / "results", tmp_path)


def test_the_files_of_the_page_are_shipped(tmp_path: Path) -> None:
    """A wheel has the script, the style and the elements beside the module that reads them."""
    line = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(line, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    for ending in ("js", "css", "html"):
        assert f"evalkit/charts/interactive.{ending}" in names
        assert files("evalkit.charts").joinpath(f"interactive.{ending}").is_file()
