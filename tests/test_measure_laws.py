"""Laws of `evalkit measure`: order, cutting, processes and spelling change nothing; edits are as they are defined."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st
from observations import claim, command, common, document, edits, merge, page, unit, write_document, write_lines
from support import EVALKIT, environment, until
from support import evalkit as run_evalkit

import evalkit
from evalkit import Refusal
from evalkit.exact import fraction
from evalkit.families.observations import part, text
from evalkit.families.observations.canonical import canonical
from evalkit.families.observations.cases import FAMILIES
from evalkit.families.observations.given import parts, sources_of
from evalkit.families.observations.ids import Ids
from evalkit.families.observations.measure import Question, answer
from evalkit.families.observations.measured import MEASURES, RETRIEVAL
from evalkit.families.observations.part import Part, Task, added, read_part
from evalkit.families.observations.part import _line as read_line
from evalkit.families.observations.quick import Quick
from evalkit.families.observations.spread import Spread
from evalkit.families.observations.text import character_edits, item_edits, items_kept

SOURCES = frozenset({"s", "t"})
TEXTS = st.text(st.sampled_from('ab -\n\t\x1c\u00e9\u0301😀\\"/'), max_size=12)
STRATA = st.sampled_from([None, "x", "y"])


def cases(draw: Any) -> list[dict[str, Any]]:
    """Draw pages, some of them in strata."""
    found = []
    for number in range(draw(st.integers(0, 8))):
        stratum = draw(STRATA)
        found.append(page(number, draw(TEXTS), draw(TEXTS), **({} if stratum is None else {"stratum": stratum})))
    return found


PAGES = st.composite(cases)()


# edits


@given(TEXTS, TEXTS)
@settings(deadline=None)
def test_edits_are_those_of_the_definition(left: str, right: str) -> None:
    """Character edits, word edits and words kept equal those of the whole table."""
    assert character_edits(left, right) == edits(left, right)
    assert item_edits(left.split(), right.split()) == edits(left.split(), right.split())
    assert items_kept(left.split(), right.split()) == common(left.split(), right.split())


WORDS = st.lists(st.sampled_from(["a", "b", "cc", "dd", "é"]), max_size=24)


@given(WORDS, st.lists(st.tuples(st.integers(0, 30), st.sampled_from(["a", "x", "yy"])), max_size=8), WORDS)
@settings(deadline=None)
def test_edits_of_words_that_stay_in_place(words: list[str], changes: list[tuple[int, str]], rest: list[str]) -> None:
    """Words that are replaced where they stand, and words that move, count as the definition says."""
    read = list(words)
    for place, word in changes:
        if place < len(read):
            read[place] = word
    for left, right in ((words, read), (words + rest, rest + read), (words, rest)):
        assert item_edits(left, right) == edits(left, right)
        assert items_kept(left, right) == common(left, right)


def test_equal_hashes_of_words_change_no_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library compares hashes of words; were those of all words equal, the distance would be right still."""
    exact = text._distance
    monkeypatch.setattr(text, "_distance", lambda a, b: abs(len(a) - len(b)) if isinstance(a, list) else exact(a, b))
    left = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"]
    assert item_edits(left, ["a", "b", "X", "d", "Y", "f", "Z", "h", "i", "j", "k", "W"]) == 4
    assert item_edits(left, ["b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m"]) == 2
    assert item_edits(left, ["a", "b", "c", "d"]) == 8


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.3, 1.0])
def test_edits_of_long_texts(noise: float) -> None:
    """The guess of a distance, which long texts get, changes no distance: near texts, far ones, and unequal lengths."""
    chance = random.Random(7)
    left = "".join(chance.choices("abcdefgh ", k=400))
    right = "".join(chance.choice("abcdefgh ") if chance.random() < noise else one for one in left)
    for other in (right, right[:150], right + right, left[::-1]):
        assert character_edits(left, other) == edits(left, other)


@given(PAGES, st.randoms())
@settings(max_examples=40, deadline=None)
def test_measures_equal_a_naive_oracle(pages: list[dict[str, Any]], chance: random.Random) -> None:
    """Every rate of text is what plain sums give; the order of cases changes nothing; strata have their cases."""
    found = evalkit.measure(document(ocr_cases=pages))
    mixed = chance.sample(pages, len(pages))
    turned = evalkit.measure(document(ocr_cases=mixed))
    assert (turned.metrics, turned.strata) == (found.metrics, found.strata)
    length = sum(len(one["reference"]) for one in pages)
    wrong = sum(edits(one["reference"], one["output"]) for one in pages)
    assert found["OCR CER"]["value"] == (None if not length else wrong / length)
    words = sum(len(one["reference"].split()) for one in pages)
    missed = sum(edits(one["reference"].split(), one["output"].split()) for one in pages)
    assert found["OCR WER"]["value"] == (None if not words else missed / words)
    named = Counter(one.get("stratum", "unlabelled") for one in pages)
    expected = named if set(named) - {"unlabelled"} else Counter()
    assert {one.stratum: one.metrics[0]["sample_size"] for one in found.strata} == dict(expected)


# parts


def whole(found: list[Part]) -> tuple[Any, ...]:
    """Put parts together."""
    total: Any = {}
    base = 0
    ids: list[tuple[int, str]] = []
    for one in found:
        total = added(total, one.tally)
        ids += [(base + place, name) for place, name in zip(one.places, one.ids, strict=True)]
        base += one.size
    return total, ids, b",".join(one.canonical for one in found if one.canonical), base


@given(PAGES, st.lists(st.integers(1, 3), min_size=1, max_size=8))
@settings(max_examples=40, deadline=None)
def test_cutting_changes_nothing(pages: list[dict[str, Any]], sizes: list[int]) -> None:
    """Lines give the same sums, ids and canonical text however they are cut into parts."""
    lines = [json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in pages]
    cut: list[bytes] = []
    rest = list(lines)
    while rest:
        size = sizes[len(cut) % len(sizes)]
        cut.append(b"".join(rest[:size]))
        rest = rest[size:]
    together = [read_part(Task("ocr_cases", b"".join(lines)), SOURCES)] if lines else []
    assert whole([read_part(Task("ocr_cases", some), SOURCES) for some in cut]) == whole(together)
    parsed = [read_part(Task("ocr_cases", pages), SOURCES)] if pages else []
    assert whole(parsed) == whole(together)


ESCAPES = ["\\", "\\n", "\\u0041", "\\ud800", "\\u0000", "\\u00", "\\uDBFF\\uDFFF", "\\x41"]
MUTATIONS = st.sampled_from([*ESCAPES, '"', "\x01", " ", ",", "{}", "\ufeff", "é", "\t", "", "null", "\r", "\n"])


@given(PAGES, st.integers(0, 200), MUTATIONS, st.booleans(), st.booleans())
@settings(max_examples=300, deadline=None)
def test_the_straight_way_reads_what_the_exact_reader_reads(
    pages: list[dict[str, Any]], place: int, change: str, ascii_only: bool, tight: bool
) -> None:
    """Whatever is done to a line, the pattern and the exact reader give the same cases, or the same faults."""
    spaces = (",", ":") if tight else None
    lines = [json.dumps(one, ensure_ascii=ascii_only, separators=spaces) for one in (page("p", "a", "b"), *pages)]
    last = lines[-1]
    lines.append(last[: place % len(last)] + change + last[place % len(last) :])
    raw = "\n".join(lines).encode("utf-8", "surrogatepass")
    assert read_part(Task("ocr_cases", raw), SOURCES) == read_part(Task("ocr_cases", raw), SOURCES, quick=False)


def test_the_straight_way_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of each order of keys one line reaches the exact reader, whatever escapes its texts have; no other does."""
    plain = [page(n, 'a "b"\n\\', "é\t") for n in range(5)]
    labelled = [dict(reversed(page(f"s{n}", "a", "\u1234/", stratum="x").items())) for n in range(5)]
    mixed = [one for both in zip(plain, labelled, strict=True) for one in both]
    raw = "\n".join(json.dumps(one, ensure_ascii=number % 3 == 0) for number, one in enumerate(mixed)).encode()
    exact: list[bytes] = []

    def noted(raw: bytes, *rest: Any) -> Any:
        exact.append(raw)
        return read_line(raw, *rest)

    monkeypatch.setattr(part, "_line", noted)
    assert len(read_part(Task("ocr_cases", raw), SOURCES).ids) == 10
    assert len(exact) == 2


def test_lines_without_escapes_need_no_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands between the texts of such a line is compared with a line that matched; any other goes to the pattern.

    A text that holds a control character is none, so that the lines must be known to hold none.
    """
    first, second, spaced = (json.dumps(page(n, "a {b}", "c: ,")) for n in range(3))
    quick = Quick.learn(first, FAMILIES["ocr_cases"], SOURCES)
    assert quick is not None
    assert quick.read(first, plain=True) is not None
    pattern, tried = quick._match, list[str]()

    def noted(line: str) -> Any:
        tried.append(line)
        return pattern(line)

    monkeypatch.setattr(quick, "_match", noted)
    found = quick.read(second, plain=True)
    assert found is not None
    assert found.case == page(1, "a {b}", "c: ,")
    assert found.canonical == '{"case_id":"1","output":"c: ,","reference":"a {b}","source_id":"s"}'
    assert tried == []
    assert quick.read(second.replace("a {b}", "a\t{b}"), plain=False) is None
    assert quick.read(spaced.replace(", ", " , ", 1), plain=True) is not None
    assert len(tried) == 2


def test_a_control_character_anywhere_is_seen() -> None:
    """A text with one is refused in whatever line it stands, and at its place."""
    lines = [json.dumps(page(n, "a", "b")) for n in range(50)]
    lines[40] = lines[40].replace('"a"', '"a\x1f"')
    found = read_part(Task("ocr_cases", "\n".join(lines).encode()), SOURCES)
    assert (len(found.ids), dict(found.ledger.counts)) == (49, {"json": 1})
    assert [one.line for one in found.ledger.shown] == [40]


def test_parts_of_a_file_are_whole_lines(tmp_path: Path) -> None:
    """A file is cut at line ends only, and all of it comes."""
    path = write_lines(tmp_path / "a.jsonl", [page(number, "x" * 1000, "y" * 1000) for number in range(2000)])
    cut = list(parts(sources_of({"ocr_cases": str(path)})["ocr_cases"]))
    assert len(cut) > 3
    assert b"".join(cut) == path.read_bytes()
    assert all(some.endswith(b"\n") for some in cut)


# processes


@pytest.fixture
def large(tmp_path: Path) -> Question:
    """Write more lines than one part holds, with a document of other lists."""
    pages = [page(n, f"{n} " + "abc def " * 60, f"{n} " + "abd def " * 60, stratum=str(n % 3)) for n in range(4000)]
    commands = [command(n, f"run -x {n}", f"run -y {n}") for n in range(5000)]
    lists = {"merges": [merge(1, True, True)], "queue": [unit(1, "2026-01-01", True, True, True)], "commands": commands}
    path = write_document(tmp_path / "d.json", document(**lists, claims=[claim(1, True, "s")]))
    return Question(str(path), {"ocr_cases": str(write_lines(tmp_path / "ocr.jsonl", pages))})


def test_processes_change_nothing(large: Question) -> None:
    """One process or several give the same bytes."""
    alone = answer(large, 1)
    assert alone["OCR CER"]["numerator"] == 4000 * 60
    assert answer(large, 2, patience=0.0).to_json() == alone.to_json()
    assert answer(large, 3, patience=0.05).to_json() == alone.to_json()


def test_results_come_in_the_order_of_the_parts() -> None:
    """However long each part takes, results are in order, also where there are more parts than workers."""
    tasks = [Task("ocr_cases", [page(n, "ab " * (3000 if n % 5 == 0 else 1), "ac")]) for n in range(40)]
    with Spread(SOURCES, 2, patience=0.0) as spread:
        assert [one.ids for one in spread.read(tasks)] == [[str(n)] for n in range(40)]
        assert [one.ids for one in spread.read(tasks[:3])] == [["0"], ["1"], ["2"]]


def test_a_process_that_ends_is_a_failure_of_the_machine() -> None:
    """A worker that is gone ends the run with an error, and never with a number."""
    tasks = (Task("ocr_cases", [page(n, "a", "b")]) for n in range(10))
    with Spread(SOURCES, 2, patience=0.0) as spread:
        results = spread.read(tasks)
        next(results)
        for worker in spread.workers:
            worker.kill()
        with pytest.raises(OSError, match=r"ended by itself|Broken pipe|reset"):
            list(results)


def test_a_program_without_a_main_guard_can_measure(tmp_path: Path) -> None:
    """Workers import nothing of the caller's program: a plain script runs once, in whatever folder it lies."""
    write_document(tmp_path / "d.json", document())
    write_lines(tmp_path / "o.jsonl", [page(n, "ab " * 400, "ac " * 400) for n in range(1500)])
    (tmp_path / "json.py").write_text("raise SystemExit('not this one')\n", "utf-8")
    script = (
        "import sys; sys.path = [one for one in sys.path if one]\n"
        "from evalkit.families.observations.measure import Question, answer\n"
        "print(answer(Question('d.json', {'ocr_cases': 'o.jsonl'}), 2, patience=0.0)['OCR CER']['numerator'])\n"
    )

    done = subprocess.run(
        [sys.executable, "-P", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{1500 * 400}\n", "")


COPIES = """
import sys, threading
from evalkit.families.observations.part import Task
from evalkit.families.observations.spread import Spread
from evalkit.families.observations.worker import can_copy
assert can_copy() is (sys.platform == "linux")
line = '{"case_id": "%d", "source_id": "s", "reference": "a b", "output": "a c"}\\n'
tasks = [Task("ocr_cases", b"".join((line % n).encode() for n in range(k, k + 9))) for k in range(0, 90, 9)]
found = []
for count, copies in ((1, False), (2, False), (2, can_copy())):
    with Spread(frozenset({"s"}), count, 0.0, copies=copies) as spread:
        found.append(list(spread.read(tasks)))
        assert len(spread.workers) == (0 if count == 1 else 2)
assert found[0] == found[1] == found[2]
done = threading.Event()
thread = threading.Thread(target=done.wait)
thread.start()
print(can_copy(), sum(len(one.ids) for one in found[0]))
done.set()
"""


def test_copies_and_new_interpreters_read_the_same() -> None:
    """Workers of both kinds give the parts that are read here; a program with a second thread is not copied."""
    done = subprocess.run([sys.executable, "-c", COPIES], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "False 90\n", "")


# ids


@given(st.lists(st.sampled_from("abcdef"), max_size=12))
@settings(deadline=None)
def test_ids_that_stand_twice(names: list[str]) -> None:
    """Each id that stood before is named with the first place that it stood at."""
    with Ids() as ids:
        for place, name in enumerate(names):
            ids.add([place * 2], [name])
        found = [tuple(one) for one in ids.twice()]
    assert found == [
        (2 * place, name, 2 * names.index(name)) for place, name in enumerate(names) if names.index(name) < place
    ]


# canonical JSON


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 2**53 - 1) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
@settings(deadline=None)
def test_canonical_json_is_that_of_another_library(value: Any) -> None:
    """Whatever may stand in observations is written as an independent implementation of RFC 8785 writes it."""
    assert canonical(value).encode() == rfc8785.dumps(value)


# every metric


@pytest.mark.parametrize("one", [one for one in MEASURES if one.family != RETRIEVAL], ids=lambda one: one.metric.name)
def test_every_metric_keeps_the_laws(one: Any) -> None:
    """Within its range or null; null of nothing but for counts; twice the same cases leave a ratio as it is."""
    chance = random.Random(one.metric.name)
    family = FAMILIES[one.family]
    drawn = [_drawn(family.name, number, chance) for number in range(40)]
    counts = family.count(drawn, SOURCES)
    value = fraction(one.metric(counts))
    assert value is None or (value >= one.metric.low and (one.metric.high is None or value <= one.metric.high))
    nothing = fraction(one.metric(type(counts)()))
    assert nothing == (Fraction(0) if one.whole else None)
    twice = fraction(one.metric(family.count([*drawn, *drawn], SOURCES)))
    assert twice == (2 * value if one.whole and value is not None else value)
    assert one.metric.definition


def _drawn(name: str, number: int, chance: random.Random) -> dict[str, Any]:
    text = "".join(chance.choices("ab -", k=9))
    yes, known, refs = (chance.random() < 0.5 for _ in range(3))
    return {
        "ocr_cases": page(number, text, text[::-1]),
        "commands": command(number, text, text[::-1]),
        "proposals": {"proposal_id": str(number), "source_id": "s", "valid": yes},
        "claims": claim(number, yes if known else None, "s", *(["x"] if refs else [])),
        "merges": merge(number, known, yes),
        "queue": unit(number, f"2026-01-{number % 9 + 1:02}", yes, known, True),
    }[name]


# interruption


def test_an_interruption_leaves_no_process(tmp_path: Path) -> None:
    """A run that is interrupted ends with 130, and its workers end with it."""
    write_document(tmp_path / "d.json", document())
    write_lines(tmp_path / "o.jsonl", [page(n, "ab " * 4000, "ca " * 4000) for n in range(600)])
    with subprocess.Popen(
        [EVALKIT, "measure", "d.json", "--ocr", "o.jsonl"],
        cwd=tmp_path,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        workers = until(lambda: children.read_text().split(), "workers")
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 130
        assert process.stderr is not None
        assert process.stderr.read() == b"evalkit: interrupted\n"
    until(lambda: not any(Path(f"/proc/{one}").exists() for one in workers), "the end of the workers")


def test_a_program_that_is_killed_leaves_no_process(tmp_path: Path) -> None:
    """Workers see that the program is gone, and end."""
    write_document(tmp_path / "d.json", document())
    write_lines(tmp_path / "o.jsonl", [page(n, "ab " * 4000, "ca " * 4000) for n in range(600)])
    command = [EVALKIT, "measure", "d.json", "--ocr", "o.jsonl"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment(), stdout=subprocess.DEVNULL) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        until(lambda: len(children.read_text().split()) > 1, "two workers")
        workers = children.read_text().split()
        process.kill()
    until(lambda: not any(Path(f"/proc/{one}").exists() for one in workers), "the end of the workers")


def test_the_command_says_the_same_with_workers(large: Question, tmp_path: Path) -> None:
    """The command line gives the bytes of the function."""
    done = run_evalkit("measure", "d.json", "--ocr", "ocr.jsonl", "--output", "-", "-q", cwd=tmp_path)
    assert done.out == answer(large, 1).to_json()


# anything


def _places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the way to every value inside of a document."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, member in members for place in ((*way, key), *_places(member, (*way, key)))]


FIXTURE = (Path(__file__).parent.parent / "data-fixtures" / "observations" / "synthetic.json").read_text("utf-8")
PLACES = _places(json.loads(FIXTURE))
WEIRD: list[Any] = [
    None,
    True,
    0,
    1,
    -1,
    2,
    4,
    1.0,
    1.5,
    10**30,
    "",
    " ",
    "a\0",
    "\ud800",
    "s",
    [],
    [None],
    {},
    {"a": 1},
]


@given(st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from(["put", "drop", "add"]), st.sampled_from(WEIRD))))
@settings(max_examples=200, deadline=None)
def test_any_document_is_measured_or_refused(changes: list[tuple[tuple[Any, ...], str, Any]]) -> None:
    """Whatever stands in a document, it is measured or refused with its place, and no text of a case is shown."""
    content = json.loads(FIXTURE)
    for way, change, value in changes:
        *before, last = way
        inside = content
        with contextlib.suppress(KeyError, IndexError, TypeError):
            for key in before:
                inside = inside[key]
            if change == "put":
                inside[last] = value
            elif change == "drop":
                del inside[last]
            else:
                inside[last][f"new {last}"] = value
    files: set[str | None] = {"document"}
    try:
        said = evalkit.measure(content).to_json()
    except Refusal as refusal:
        said, files = str(refusal), {one.file for one in refusal.violations}
    assert files == {"document"}
    assert "lamp" not in said
    assert "a.txt" not in said
