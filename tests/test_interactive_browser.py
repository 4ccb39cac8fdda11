"""An interactive page in a real browser: what is seen, what moves, what is said; nothing is asked, nothing refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from devtools import BROWSER, NEEDED, REASON, Tab, browser
from support import compare, dump, judged, record

import evalkit as library

FIXTURES = Path(__file__).parent.parent / "data-fixtures" / "charts"
HOSTILE = "</script><script>document.title='hit'</script><img src=x onerror=\"document.title='hit'\">"

pytestmark = pytest.mark.skipif(BROWSER is None and not NEEDED, reason=REASON)

LINES = [
    *(record("alpha", "validation", number) for number in range(8)),
    record("alpha", "validation", 8, confidence=0.9),
    record("alpha", "validation", 9, predicted=5, confidence=0.9),
    *(record("alpha", "test", number) for number in range(7)),
    record("alpha", "test", 7, predicted=5),
    *(record("alpha", "test", number, predicted=5, confidence=0.9) for number in (8, 9)),
    *judged("beta", right=7, wrong=3),
]
"""On validation alpha accepts 8 of 10 at 0.97, all right, and all 10 at 0.9, 9 right. On test 8 at 0.97, 7 right."""


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    """Start one browser for all tests."""
    with browser(tmp_path_factory.mktemp("profile") / "chromium") as found:
        yield found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the page of a results folder with strata: even lines are north, odd ones south."""
    folder = tmp_path_factory.mktemp("results")
    sited = [json.dumps({**json.loads(line), "site": ("north", "south")[at % 2]}) for at, line in enumerate(LINES)]
    done = compare(dump(folder / "dump.jsonl", sited), "--by", "site", "--out", "results", cwd=folder)
    assert done.code in (0, 3), done.stderr
    library.render(folder / "results", folder / "page.html", interactive=True)
    return folder / "page.html"


def written(report: Any, folder: Path) -> Path:
    """Write the interactive page of a report."""
    library.render(report, folder / "page.html", interactive=True)
    return folder / "page.html"


def cells(tab: Tab, name: str) -> list[list[str]]:
    """Return the rows of a table's body, as they are rendered."""
    rows = f"document.querySelectorAll('#{name} tbody tr')"
    found: list[list[str]] = tab.run(f"[...{rows}].map((row) => [...row.cells].map((cell) => cell.innerText))")
    return found


AT_THE_THRESHOLD = [
    ["cut", "0.97 (chosen)", "0.97"],
    ["accepted", "8 of 10", "8 of 10"],
    ["coverage", "0.8000", "0.8000"],
    ["precision", "1.0000", "0.8750"],
    ["floor 0.5", "reached", "–"],
]
MOVED = [
    ["cut", "0.9", "not shown"],
    ["accepted", "10 of 10", "–"],
    ["coverage", "1.0000", "–"],
    ["precision", "0.9000", "–"],
    ["floor 0.5", "reached", "–"],
]


def test_a_page_is_shown_and_asks_nobody(tab: Tab, page: Path) -> None:
    """The page alone is loaded, its policy refuses nothing, and the first candidate is shown with all that is asked."""
    tab.open(page)
    assert tab.asked == [page.as_uri()]
    assert tab.complaints == []
    assert tab.text("outcome") == "blocked; threshold 0.97, chosen on validation"
    assert cells(tab, "gates") == [
        ["macro-F1", "0.9333", "≥ 0.80", "✓ met"],
        ["precision at coverage", "0.8750", "≥ 0.90", "✗ missed"],
        ["ECE", "0.0950", "≤ 0.05", "✗ missed"],
    ]
    assert cells(tab, "abstentions") == [["no suggestion", "0", "0.0000"], ["low confidence", "2", "0.2000"]]
    assert cells(tab, "cells") == [["4", "7", "1"], ["5", "0", "0"]]
    tab.run("document.querySelector('#bins-pane details').open = true")
    assert cells(tab, "bins-table") == [["0.9 to 1", "8", "0.9700", "0.8750"]]
    assert tab.run("document.querySelectorAll('#bins .bar').length") == 1
    assert not tab.run("document.getElementById('static').open")


def test_arrow_keys_move_the_cut_on_validation_only(tab: Tab, page: Path) -> None:
    """Each key moves the cut and says the numbers; of test only what the chosen threshold gave is ever shown."""
    tab.open(page)
    assert cells(tab, "at-cut") == AT_THE_THRESHOLD
    tab.run("document.getElementById('cut').focus()")
    tab.press("ArrowRight")
    assert cells(tab, "at-cut") == MOVED
    assert tab.run("document.getElementById('cut').getAttribute('aria-valuetext')") == "cut 0.9"
    assert tab.run("document.getElementById('said').textContent") == (
        "Cut 0.9 accepts 10 of 10 validation records: coverage 1.0000, precision 0.9000. "
        "Test is shown for the chosen threshold only."
    )
    tab.press("ArrowRight")
    assert cells(tab, "at-cut") == MOVED
    tab.press("Home")
    assert cells(tab, "at-cut")[:4] == [
        ["cut", "above every confidence", "not shown"],
        ["accepted", "0 of 10", "–"],
        ["coverage", "0.0000", "–"],
        ["precision", "–", "–"],
    ]
    tab.press("End", "ArrowLeft")
    assert cells(tab, "at-cut") == AT_THE_THRESHOLD
    assert "what the protocol forbids" in tab.text("cutting")


def test_the_cut_is_dragged_and_brought_back(tab: Tab, page: Path) -> None:
    """The mouse takes the cut to the nearest one; a button brings back the chosen threshold."""
    tab.open(page, height=1400)
    left, top, wide, high = tab.run(
        "(() => { const box = document.getElementById('curve').getBoundingClientRect();"
        "return [box.left, box.top, box.width, box.height]; })()"
    )
    tab.mouse("mousePressed", left + wide * 0.15, top + high / 2)
    assert cells(tab, "at-cut")[0] == ["cut", "above every confidence", "not shown"]
    tab.mouse("mouseMoved", left + wide * 0.95, top + high / 2)
    assert cells(tab, "at-cut") == MOVED
    tab.mouse("mouseReleased", left + wide * 0.95, top + high / 2)
    tab.mouse("mouseMoved", left + wide * 0.15, top + high / 2)
    assert cells(tab, "at-cut") == MOVED
    tab.run("document.getElementById('back').click()")
    assert cells(tab, "at-cut") == AT_THE_THRESHOLD
    assert tab.run("document.getElementById('back').disabled")


def test_a_stratum_has_its_own_numbers(tab: Tab, page: Path) -> None:
    """South has records 1, 3, 5, 7, 9: on validation four of five at 0.97, on test the same with the last wrong."""
    tab.open(page)
    tab.choose("view", 2)
    assert cells(tab, "numbers")[:4] == [
        ["records", "5"],
        ["accepted", "4"],
        ["coverage", "0.8000"],
        ["precision at coverage", "0.7500"],
    ]
    assert cells(tab, "at-cut") == [
        ["cut", "0.97 (chosen)", "0.97"],
        ["accepted", "4 of 5", "4 of 5"],
        ["coverage", "0.8000", "0.8000"],
        ["precision", "1.0000", "0.7500"],
    ]
    assert "alpha, site = south: records 5, accepted 4" in tab.run("document.getElementById('said').textContent")
    tab.run("document.getElementById('cut').focus()")
    tab.press("End")
    assert cells(tab, "at-cut")[1:4] == [
        ["accepted", "5 of 5", "–"],
        ["coverage", "1.0000", "–"],
        ["precision", "0.8000", "–"],
    ]
    tab.choose("view", 0)
    assert cells(tab, "at-cut") == MOVED


def test_another_candidate_brings_its_own_gates_and_strata(tab: Tab, page: Path) -> None:
    """Beta has seven right of ten, on both splits, at one confidence; the stratum that was looked at is kept."""
    tab.open(page)
    tab.choose("view", 2)
    tab.choose("entry", 1)
    assert tab.run("document.getElementById('view').selectedIndex") == 2
    assert cells(tab, "at-cut")[1:] == [
        ["accepted", "5 of 5", "5 of 5"],
        ["coverage", "1.0000", "1.0000"],
        ["precision", "0.6000", "0.6000"],
    ]
    tab.choose("view", 0)
    assert [row[1:] for row in cells(tab, "gates")] == [
        ["0.8235", "≥ 0.80", "✓ met"],
        ["0.7000", "≥ 0.90", "✗ missed"],
        ["0.2700", "≤ 0.05", "✗ missed"],
    ]
    assert cells(tab, "at-cut")[1:4] == [
        ["accepted", "10 of 10", "10 of 10"],
        ["coverage", "1.0000", "1.0000"],
        ["precision", "0.7000", "0.7000"],
    ]
    assert tab.run("document.getElementById('view').options.length") == 3


def test_classes_are_sorted_by_key_and_say_so(tab: Tab, page: Path) -> None:
    """Enter on a heading sorts, again turns around; what was not measured comes last either way."""
    tab.open(page)
    heads = "[...document.querySelectorAll('#classes th[aria-sort]')].map((one) => one.getAttribute('aria-sort'))"
    assert [row[0] for row in cells(tab, "classes")] == ["4", "5"]
    assert [row[4] for row in cells(tab, "classes")] == ["0.8750", "–"]
    tab.run("document.querySelectorAll('#classes th button')[2].focus()")
    tab.press("Enter")
    assert tab.run(heads) == ["none", "none", "descending", "none", "none", "none"]
    assert [row[2] for row in cells(tab, "classes")] == ["7", "1"]
    tab.press("Enter")
    assert tab.run(heads)[2] == "ascending"
    assert [row[2] for row in cells(tab, "classes")] == ["1", "7"]
    assert tab.run("document.getElementById('said').textContent") == "Classes sorted by predicted, lowest first."
    tab.run("document.querySelectorAll('#classes th button')[4].focus()")
    for _ in range(2):
        tab.press("Enter")
        assert [row[4] for row in cells(tab, "classes")] == ["0.8750", "–"]


def test_the_keyboard_reaches_everything_in_order_and_is_seen(tab: Tab, page: Path) -> None:
    """Tab goes from choice to choice as they stand on the page, and what has the focus has an outline."""
    tab.open(page)
    order = []
    one = "document.activeElement"
    for _ in range(8):
        tab.press("Tab")
        order.append(tab.run(f"{one}.id || {one}.getAttribute('aria-labelledby') || {one}.innerText"))
        assert tab.run(f"getComputedStyle({one}).outlineStyle") == "solid"
    assert order == ["entry", "view", "cut", "The bins as a table", "cells-title", "classes-title", "class", "support"]


def test_a_screen_reader_is_told(tab: Tab, page: Path) -> None:
    """Controls have their roles and names, charts say their numbers, and the numbers are a live region."""
    tab.open(page)
    nodes = tab.send("Accessibility.getFullAXTree")["nodes"]
    found = {(one["role"]["value"], one.get("name", {}).get("value", "")) for one in nodes if "role" in one}
    assert {("combobox", "candidate"), ("combobox", "stratum"), ("slider", "cut, on validation")} <= found
    assert ("region", "Look around") in found
    assert "status" in {role for role, _ in found}
    told = [name for role, name in found if role in ("image", "img")]
    assert "Reliability. 0.90 to 1.00: 8 records, mean confidence 0.9700, accuracy 0.8750" in told
    assert "Coverage and precision on validation, 2 cuts. Precision gate 0.9, coverage floor 0.5." in told
    assert ("rowheader", "precision at coverage") in found
    assert ("columnheader", "predicted") in found


def test_without_scripts_the_static_page_stands(tab: Tab, page: Path) -> None:
    """Charts, tables, evidence and limitations are there; what needs the script is not."""
    tab.open(page, scripts=False)
    assert tab.complaints == []
    assert not tab.seen("explore")
    assert tab.run("document.getElementById('static').open")
    assert (
        tab.run("[...document.querySelectorAll('#static svg[role=img]')].filter((one) => one.clientWidth > 0).length")
        >= 8
    )
    assert "Evidence: what was read" in tab.run("document.body.innerText")


def test_what_a_page_must_not_do_would_be_seen(tab: Tab, page: Path, tmp_path: Path) -> None:
    """A changed script is refused by the policy and said; so is an image; the static page stands all the same."""
    changed = page.read_text("utf-8").replace('"use strict";', '"use strict"; ', 1)
    image = '<img src="http://example.invalid/a.png"/></main>'
    (tmp_path / "page.html").write_text(changed.replace("</main>", image), "utf-8")
    tab.open(tmp_path / "page.html")
    assert not tab.seen("explore")
    assert tab.run("document.getElementById('static').open")
    assert sum("Content Security Policy" in one for one in tab.complaints) == 2


def test_hostile_names_do_nothing(tab: Tab, tmp_path: Path) -> None:
    """Markup as the name of a candidate, a stratum and a class is shown as it is written."""
    report = json.loads((FIXTURES / "selective.json").read_text("utf-8"))
    one = report["candidates"][0]
    one["perClass"] = {HOSTILE: one["perClass"]["4"], "__proto__": one["perClass"]["4"]}
    one["confusion"] = {f"{HOSTILE}->__proto__": 3, "__proto__->__proto__": 7}
    kept = ("total", "accepted", "abstentions", "coverage", "precisionAtCoverage", "macroF1", "ece", "excludedClasses")
    one["strata"] = [{"by": {"site": HOSTILE}, **{key: one[key] for key in (*kept, "perClass", "confusion", "bins")}}]
    one["model"] = report["recommended"] = HOSTILE
    tab.open(written(report, tmp_path))
    tab.choose("view", 1)
    assert tab.complaints == []
    assert tab.asked == [(tmp_path / "page.html").as_uri()]
    assert tab.run("document.title") == "Selective prediction, synthetic example"
    assert tab.run("document.getElementById('entry').options[0].text") == HOSTILE
    assert tab.run("document.getElementById('view').options[1].text") == f"site = {HOSTILE}"
    assert [row[0] for row in cells(tab, "cells")] == [f"1. {HOSTILE}", "2. __proto__"]
    assert tab.run("document.querySelectorAll('img').length") == 0


def test_numbers_are_written_as_the_report_writes_them(tab: Tab, tmp_path: Path) -> None:
    """Halves go to even, a value is told from 0 and 1, and what was not measured is a dash."""
    report = json.loads((FIXTURES / "evaluation.json").read_text("utf-8"))
    values = [0.03125, 0.09375, 0.15625, 0.99999, 0.00001, 0.000123456, 1.0, 0.0, 0.1, 2 / 3]
    report["overall"]["per_class_recall"] = {f"c{place:02d}": value for place, value in enumerate(values)}
    tab.open(written(report, tmp_path))
    assert [row[1] for row in cells(tab, "classes")] == [
        *("0.0312", "0.0938", "0.1562", "0.99999", "1e-05", "0.0001", "1.0000", "0.0000", "0.1000", "0.6667"),
    ]
    selective = json.loads((FIXTURES / "selective.json").read_text("utf-8"))
    shown = next(one for one in selective["candidates"] if one["model"] == selective["recommended"])
    for row in shown["perClass"].values():
        row["precision"] = None
    tab.open(written(selective, tmp_path))
    assert {"–"} <= {text for row in cells(tab, "classes") for text in row}


@pytest.mark.parametrize("dark", [False, True])
def test_a_page_fits_a_phone_and_the_night(tab: Tab, page: Path, dark: bool) -> None:
    """Nothing is wider than 390 pixels but what scrolls by itself, and ink stands against paper, light or dark."""
    tab.open(page, width=390, dark=dark)
    assert tab.run("document.documentElement.scrollWidth") == 390
    assert tab.run("document.getElementById('curve').clientWidth") <= 390
    colors = tab.run("['color', 'backgroundColor'].map((one) => getComputedStyle(document.body)[one])")
    assert colors == (["rgb(232, 236, 240)", "rgb(20, 24, 29)"] if dark else ["rgb(31, 41, 51)", "rgb(255, 255, 255)"])
    bar = tab.run("getComputedStyle(document.querySelector('#bins .bar')).fill")
    assert bar == ("rgb(39, 73, 107)" if dark else "rgb(179, 207, 233)")


def test_what_is_left_out_is_said_where_it_would_be(
    tab: Tab, page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where room is short, a candidate says what it lacks, and its strata end with how many are not there."""
    monkeypatch.setattr("evalkit.charts.interactive.DATA_ROOM", 1_900)
    tab.open(written(page.parent / "results", tmp_path))
    assert tab.complaints == []
    assert tab.text("lacks") == "Left out of this page for its size: the curve, the classes, the confusion matrix."
    assert not tab.seen("cells-pane")
    last = "document.getElementById('view').options[document.getElementById('view').options.length - 1]"
    assert tab.run(f"[{last}.text, {last}.disabled]") == ["not in this page: 1 of 2", True]


def test_a_candidate_without_a_threshold_is_shown_as_that(tab: Tab, tmp_path: Path) -> None:
    """Where no cut clears the floor nothing of test was measured; the cut can still be moved on validation."""
    lines = [
        *(record("alpha", "validation", number) for number in range(4)),
        *(record("alpha", "validation", number, predicted=None) for number in range(4, 10)),
        *(record("alpha", "test", number) for number in range(10)),
    ]
    compare(dump(tmp_path / "dump.jsonl", lines), "--out", "results", cwd=tmp_path)
    tab.open(written(tmp_path / "results", tmp_path))
    assert tab.complaints == []
    assert tab.text("outcome") == "blocked: no cut clears floor"
    assert [row[1:] for row in cells(tab, "gates")] == [
        ["–", "≥ 0.80", "not measured"],
        ["–", "≥ 0.90", "not measured"],
        ["–", "≤ 0.05", "not measured"],
    ]
    assert cells(tab, "at-cut")[0] == ["cut", "above every confidence", "not shown"]
    tab.run("document.getElementById('cut').focus()")
    tab.press("ArrowRight")
    assert cells(tab, "at-cut") == [
        ["cut", "0.97", "not shown"],
        ["accepted", "4 of 10", "–"],
        ["coverage", "0.4000", "–"],
        ["precision", "1.0000", "–"],
        ["floor 0.5", "not reached", "–"],
    ]
    assert tab.run("document.getElementById('back').disabled")
    assert "No threshold was chosen." in tab.text("curve-caption")


def test_a_report_with_statistics_shows_how_sure_its_numbers_are(tab: Tab, tmp_path: Path) -> None:
    """Bounds and outcomes of gates in words, ends of intervals beside numbers and accuracies, whiskers on bins."""
    tab.open(written(FIXTURES / "statistics.json", tmp_path))
    assert tab.complaints == []
    tab.choose("entry", 1)
    assert cells(tab, "gates") == [
        ["macro-F1", "0.7800", "≥ 0.80, bound 0.7550", "△ insufficient evidence"],
        ["precision at coverage", "0.8830", "≥ 0.90, bound 0.8690", "✗ failed"],
        ["ECE", "0.0620", "≤ 0.05, bound 0.0730", "✗ failed"],
        ["fewest accepted records of a label in truth", "120", "≥ 200", "△ insufficient evidence"],
        ["labels of which every record abstained", "0", "≤ 0", "✓ passed"],
    ]
    assert cells(tab, "numbers")[2:4] == [
        ["coverage", "0.8800 [0.8590, 0.9010]"],
        ["precision at coverage", "0.8830 [0.8650, 0.9010]"],
    ]
    assert cells(tab, "classes")[0][3] == "0.8830 [0.8530, 0.9130]"
    assert tab.run("document.querySelectorAll('#bins .whisker').length") == 4
    assert tab.run("document.querySelectorAll('#bins .gap').length") == 0
    tab.run("document.querySelector('#bins-pane details').open = true")
    assert [row[3] for row in cells(tab, "bins-table")][:2] == ["0.6000", "0.7000 [0.5900, 0.8100]"]
    tab.choose("view", 2)
    assert cells(tab, "numbers")[3] == ["precision at coverage", "0.8630"]
