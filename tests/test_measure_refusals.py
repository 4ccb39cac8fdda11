"""What `evalkit measure` refuses: each rule at its list, position and id, all faults at once, and never a text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from observations import HEADER, claim, command, document, merge, page, query, unit, write_document, write_lines
from support import evalkit as run_evalkit

import evalkit
from evalkit import Refusal

HIDDEN = "the secret text of a page"


def refused(content: Any, tmp_path: Path, **files: Any) -> list[str]:
    """Measure what must be refused and return what is said, without the file's folder."""
    path = write_document(tmp_path / "d.json", content)
    with pytest.raises(Refusal) as caught:
        evalkit.measure(path, **files)
    return [str(one).replace(f"{tmp_path}/", "") for one in caught.value.violations]


# the header

NAME = "must be a text of more than white space"
WHOLE = "must be a whole number from 0, without fraction, exponent or quotes"


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"run_id": ""}, f"run_id: {NAME}; found a text of length 0 [header]"),
        ({"model_revision": 7}, f"model_revision: {NAME}; found a number [header]"),
        ({"dataset_id": None}, f"dataset_id: {NAME}; found null [header]"),
        ({"split": " \t"}, f"split: {NAME}; found a text of length 2 [header]"),
        ({"run_id": "a\0b"}, "run_id: no name may hold the character U+0000; found a text of length 3 [nul]"),
        (
            {"synthetic": "false"},
            "synthetic: must be true or false, without quotes; found a text of length 5 [boolean]",
        ),
        ({"synthetic": 0}, "synthetic: must be true or false, without quotes; found a number [boolean]"),
        ({"source_ids": []}, "source_ids: must name at least one source [sources]"),
        ({"source_ids": "s"}, "source_ids: must be an array of source ids; found a text of length 1 [sources]"),
        ({"source_ids": ["s", "t", "s"]}, 'source_ids[2]: no source may stand twice; found "s" [id-twice]'),
        ({"source_ids": ["s", 4]}, f"source_ids[1]: {NAME}; found a number [id]"),
        (
            {"development_source_ids": ["a", "a"]},
            'development_source_ids[1]: no source may stand twice; found "a" [id-twice]',
        ),
        (
            {"development_source_ids": None},
            "development_source_ids: must be an array of source ids; found null [sources]",
        ),
        (
            {"development_source_ids": ["x", "t"]},
            (
                "development_source_ids: stands in source_ids too; what development has seen is not held out; "
                'found "t" [source-overlap]'
            ),
        ),
        (
            {"stage": "two-books"},
            "stage: must be one of synthetic, page-sample, one-book, five-books; found a text of length 9 [stage]",
        ),
        ({"stage": "one-book"}, 'stage: must be synthetic exactly where synthetic is true; found "one-book" [stage]'),
        (
            {"stage": "synthetic", "synthetic": False},
            'stage: must be synthetic exactly where synthetic is true; found "synthetic" [stage]',
        ),
        ({"note": 1}, 'there is no such field in an observation document; found "note" [unknown-field]'),
        ({"ocr_cases": {}}, "ocr_cases: must be an array of cases; found an object of 0 [list]"),
        ({"queue": None}, "queue: must be an array of cases; found null [list]"),
        ({"run": []}, "run: must be an object; found an array of 0 [object]"),
        ({"run": {"host": "x"}}, 'run: there is no such field in run; found "host" [unknown-field]'),
        ({"run": {"commit": 7}}, f"run.commit: {NAME}; found a number [header]"),
        ({"run": {"failures": True}}, f"run.failures: {WHOLE}; found true [whole-number]"),
        ({"run": {"failures": 1.0}}, f"run.failures: {WHOLE}; found a number [whole-number]"),
        ({"run": {"failures": 2**53}}, f"run.failures: {WHOLE}; found a number [whole-number]"),
        ({"run": {"cache": {"hits": 1}}}, "run.cache.misses: is missing [missing-field]"),
        ({"run": {"cache": {"hits": -1, "misses": 0}}}, f"run.cache.hits: {WHOLE}; found a number [whole-number]"),
        ({"run": {"model_revisions": {"a": ""}}}, f"run.model_revisions.a: {NAME}; found a text of length 0 [header]"),
        ({"run": {"model_revisions": ["r", 1]}}, f"run.model_revisions[1]: {NAME}; found a number [header]"),
        (
            {"run": {"model_revisions": "r"}},
            (
                "run.model_revisions: must be an object of a revision for each model, or an array of revisions; "
                "found a text of length 1 [run]"
            ),
        ),
    ],
)
def test_the_header(members: dict[str, Any], said: str, tmp_path: Path) -> None:
    """Each rule of the header, with its place."""
    assert refused(document(**members), tmp_path) == [f"d.json: {said}"]


@pytest.mark.parametrize("name", HEADER)
def test_every_field_of_the_header_must_be_there(name: str, tmp_path: Path) -> None:
    """A header lacks nothing: also an empty list of development sources is written."""
    content = {key: member for key, member in HEADER.items() if key != name}
    assert refused(content, tmp_path) == [f"d.json: {name}: is missing [missing-field]"]


# cases

TEXT = 'must be a text; an empty one is written ""'
ANSWER = "must be true or false, or null while nobody has reviewed it"
REVIEW = "must be true or false once reviewed is true, and null before"
BOOLEAN = "must be true or false, without quotes"
REFERENCES = "must be an array of source ids; an empty one where there is none"
CASES: list[tuple[str, Any, str, str]] = [
    ("ocr_cases", page("a", 7, HIDDEN), ".reference", f'{TEXT}, in "a"; found a number [text]'),  # type: ignore[arg-type]
    ("ocr_cases", page("a", HIDDEN, None), ".output", f'{TEXT}, in "a"; found null [text]'),  # type: ignore[arg-type]
    ("ocr_cases", page("a", HIDDEN, [HIDDEN]), ".output", f'{TEXT}, in "a"; found an array of 1 [text]'),  # type: ignore[arg-type]
    ("ocr_cases", page(" ", HIDDEN, ""), ".case_id", f"{NAME}; found a text of length 1 [id]"),
    (
        "ocr_cases",
        {**page("a", HIDDEN, ""), "source_id": "u"},
        ".source_id",
        'must be one of source_ids, in "a"; found "u" [source-not-declared]',
    ),
    (
        "ocr_cases",
        {**page("a", HIDDEN, ""), "source_id": 3},
        ".source_id",
        'must be one of source_ids, in "a"; found a number [source-not-declared]',
    ),
    (
        "ocr_cases",
        page("a", HIDDEN, "", stratum=" "),
        ".stratum",
        f'{NAME}, in "a"; found a text of length 1 [stratum]',
    ),
    ("ocr_cases", page("a", HIDDEN, "", stratum=None), ".stratum", f'{NAME}, in "a"; found null [stratum]'),
    (
        "ocr_cases",
        page("a", HIDDEN, "", text=HIDDEN),
        "",
        'there is no such field in a case, in "a"; found "text" [unknown-field]',
    ),
    (
        "ocr_cases",
        {"case_id": "a", "source_id": "s", "reference": HIDDEN},
        ".output",
        'is missing, in "a" [missing-field]',
    ),
    ("ocr_cases", HIDDEN, "", "must be an object; found a text of length 25 [object]"),
    ("ocr_cases", None, "", "must be an object; found null [object]"),
    ("commands", command("a", HIDDEN, True), ".output", f'{TEXT}, in "a"; found true [text]'),  # type: ignore[arg-type]
    ("commands", {"case_id": "a"}, "", 'there is no such field in a command; found "case_id" [unknown-field]'),
    (
        "proposals",
        {"proposal_id": "p", "source_id": "s", "valid": 1},
        ".valid",
        f'{BOOLEAN}, in "p"; found a number [boolean]',
    ),
    (
        "proposals",
        {"proposal_id": "p", "source_id": "s", "valid": "true"},
        ".valid",
        f'{BOOLEAN}, in "p"; found a text of length 4 [boolean]',
    ),
    ("claims", {**claim(1, None, "s"), "supported": True}, ".supported", f'{REVIEW}, in "k1"; found true [review]'),
    ("claims", {**claim(1, True, "s"), "supported": None}, ".supported", f'{REVIEW}, in "k1"; found null [review]'),
    ("claims", {**claim(1, True), "supported": 1}, ".supported", f'{ANSWER}, in "k1"; found a number [boolean]'),
    (
        "claims",
        {**claim(1, True), "source_refs": "s"},
        ".source_refs",
        f'{REFERENCES}, in "k1"; found a text of length 1 [source-refs]',
    ),
    ("claims", claim(1, True, "s", None), ".source_refs[1]", 'must be a text, in "k1"; found null [source-refs]'),  # type: ignore[arg-type]
    ("merges", {**merge(1, True, None), "correct": False}, ".correct", f'{REVIEW}, in "m1"; found false [review]'),
    ("merges", {**merge(1, True, True), "accepted": None}, ".accepted", f'{BOOLEAN}, in "m1"; found null [boolean]'),
    (
        "queue",
        unit(1, "2026-02-29", True, True, True),
        ".date",
        'must be a day of the calendar, written as 2026-01-31, in "u1"; found a text of length 10 [date]',
    ),
    (
        "queue",
        unit(1, "20260228", True, True, True),
        ".date",
        'must be a day of the calendar, written as 2026-01-31, in "u1"; found a text of length 8 [date]',
    ),
    (
        "queue",
        unit(1, "2026-02-28T00:00", True, True, True),
        ".date",
        'must be a day of the calendar, written as 2026-01-31, in "u1"; found a text of length 16 [date]',
    ),
    (
        "queue",
        {**unit(1, "2026-02-28", True, True, True), "source_id": "s"},
        "",
        'there is no such field in a unit, in "u1"; found "source_id" [unknown-field]',
    ),
]
"""A list, a case that breaks one rule, the field, and what is said of it."""

SOUND: dict[str, Any] = {
    "ocr_cases": page("sound", "a", "b"),
    "commands": command("sound", "a", "b"),
    "proposals": {"proposal_id": "sound", "source_id": "s", "valid": True},
    "claims": claim(99, True, "s"),
    "merges": merge(99, True, True),
    "queue": unit(99, "2026-01-01", True, True, True),
}
OPTIONS = {"ocr_cases": "ocr"}
FIRST = ("case_id", "a")


@pytest.mark.parametrize(("name", "case", "field", "said"), CASES)
def test_cases(name: str, case: Any, field: str, said: str, tmp_path: Path) -> None:
    """Each rule of each list: in the document at its position, in a file at its line; no text is ever shown."""
    found = refused(document(**{name: [SOUND[name], case]}), tmp_path)
    assert f"d.json: {name}[1]{field}: {said}" in found
    assert len(found) == 1 or "command_id" in found[1]
    lines = write_lines(tmp_path / "l.jsonl", [SOUND[name], case])
    by_line = refused(document(), tmp_path, **{OPTIONS.get(name, name): lines})
    if isinstance(case, dict):
        assert f"l.jsonl:2: {name}{field}: {said}" in by_line
    else:
        assert by_line[0].startswith(f"l.jsonl:2: {name}: must be ")
    assert HIDDEN not in "".join(found + by_line)


def test_a_query(tmp_path: Path) -> None:
    """Rankings are held to their rules with list, position and id too."""
    wrong = query(7, {"a": 1}, "x", "y", "x")
    found = refused(document(retrieval_queries=[query(1, {"a": 1}), wrong]), tmp_path)
    assert found == [
        (
            "d.json: retrieval_queries[1].candidate: no document may stand twice in one ranking; keep its best rank, "
            'in "q7"; found "x" [duplicate-document]'
        )
    ]
    lines = write_lines(tmp_path / "q.jsonl", [query(1, {"a": 1}), wrong])
    assert refused(document(), tmp_path, retrieval=lines) == [
        (
            "q.jsonl:2: retrieval_queries.candidate: no document may stand twice in one ranking; keep its best rank, "
            'in "q7"; found "x" [duplicate-document]'
        )
    ]


@pytest.mark.parametrize("name", [*SOUND, "retrieval_queries"])
def test_an_id_stands_once_in_its_list(name: str, tmp_path: Path) -> None:
    """An id that stands twice is named with both places, in a document and in a file; other lists do not count."""
    case = SOUND.get(name, query(5, {"a": 1}))
    key, value = next((key, value) for key, value in case.items() if key.endswith("_id") and key != "source_id")
    other = {**case, key: "other"}
    said = f'no id may stand twice; this one stands at {{}} too; found "{value}" [id-twice]'
    assert refused(document(**{name: [other, case, case]}), tmp_path) == [
        f"d.json: {name}[2].{key}: {said.format(f'{name}[1]')}"
    ]
    lines = write_lines(tmp_path / "l.jsonl", [case, other, case, case])
    option = {"ocr_cases": "ocr", "retrieval_queries": "retrieval"}.get(name, name)
    assert refused(document(), tmp_path, **{option: lines}) == [
        f"l.jsonl:3: {name}.{key}: {said.format('line 1')}",
        f"l.jsonl:4: {name}.{key}: {said.format('line 1')}",
    ]


def test_the_same_id_in_two_lists_is_no_fault() -> None:
    """Ids are unique in their family alone."""
    evalkit.measure(document(ocr_cases=[page("x", "", "")], commands=[command("x", "", "")]))


# JSON itself

OPEN = json.dumps(HEADER)[:-1]
CASE = '{"case_id": "a", "source_id": "s", "reference": "' + HIDDEN + '", "output": '


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (OPEN + ', "split": "x"}', 'no key may stand twice in one object; found "split" [duplicate-key]'),
        (
            OPEN + ', "ocr_cases": [' + CASE + '"", "output": ""}]}',
            'ocr_cases[0]: no key may stand twice in one object, in "a"; found "output" [duplicate-key]',
        ),
        (
            OPEN + ', "ocr_cases": [' + CASE + '"\\ud800"}]}',
            'ocr_cases[0]: no text may hold half of a surrogate pair, in "a" [surrogate]',
        ),
        (
            OPEN + ', "ocr_cases": [' + CASE + "NaN}]}",
            'ocr_cases[0]: must be JSON, which has no such number, in "a"; found NaN [json]',
        ),
        (
            OPEN + ', "run": {"failures": -Infinity}}',
            "run: must be JSON, which has no such number; found -Infinity [json]",
        ),
        (OPEN, "must be one JSON object; the document is broken at character 158 of 157 [json]"),
        ("[]", "must be one JSON object; found an array of 0 [json]"),
        ("", "must be one JSON object; the document is broken at character 1 of 0 [json]"),
        (f'"{HIDDEN}"', "must be one JSON object; found a text of length 25 [json]"),
        ("[" * 200, "objects and arrays may be nested at most 128 deep [nesting]"),
    ],
)
def test_json_of_the_document(text: str, said: str, tmp_path: Path) -> None:
    """What Python's parser lets through is refused at its place; the document is one strict JSON object."""
    found = refused(text, tmp_path)
    assert f"d.json: {said}" in found
    assert HIDDEN not in "".join(found)


def test_a_document_that_is_not_utf_8(tmp_path: Path) -> None:
    """Bytes that are no UTF-8 are refused where they stand."""
    (tmp_path / "d.json").write_bytes(b'{"run_id": "\xff"}')
    with pytest.raises(Refusal, match=r"must be UTF-8; byte 13 of the document is not; found 0xff \[encoding\]"):
        evalkit.measure(tmp_path / "d.json")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (CASE + '"", "output": ""}', 'no key may stand twice in one object, in "a"; found "output" [duplicate-key]'),
        (CASE + '"\\udfff"}', 'no text may hold half of a surrogate pair, in "a" [surrogate]'),
        (CASE + "NaN}", 'must be JSON, which has no such number, in "a"; found NaN [json]'),
        (CASE + '"x"', "must be one JSON object; the line is broken at character 91 of 90 [json]"),
        (CASE + '"x"}{}', "must be one JSON object; the line is broken at character 92 of 93 [json]"),
        ("null", "must be one JSON object; found null [json]"),
        ("\ufeff{}", "a byte-order mark may stand only at the start of a file [byte-order-mark]"),
    ],
)
def test_json_of_a_line(line: str, said: str, tmp_path: Path) -> None:
    """A line is one strict JSON object; the line's number is said."""
    path = tmp_path / "l.jsonl"
    path.write_text(json.dumps(page("b", "", "")) + "\n\n" + line + "\n", "utf-8")
    found = refused(document(), tmp_path, ocr=path)
    assert f"l.jsonl:3: ocr_cases: {said}" in found
    assert HIDDEN not in "".join(found)


# all at once


def test_all_faults_are_counted_and_the_first_places_shown(tmp_path: Path) -> None:
    """Of many broken cases the first 20 are spelled out, over all lists in their order, and all are counted."""
    cases = [page(f"c{number}", HIDDEN, 0) for number in range(30)]  # type: ignore[arg-type]
    claims = [{**claim(number, True), "reviewed": 1} for number in range(3)]
    lines = write_lines(tmp_path / "ocr.jsonl", cases)
    path = write_document(tmp_path / "d.json", document(run_id="", claims=claims))
    with pytest.raises(Refusal) as caught:
        evalkit.measure(path, ocr=lines)
    places = [(one.rule, one.field, one.line) for one in caught.value.violations]
    assert places == [
        ("header", "run_id", None),
        *(("boolean", f"claims[{number}].reviewed", None) for number in range(3)),
        *(("text", "ocr_cases.output", number) for number in range(1, 17)),
    ]
    assert caught.value.counts == {"header": 1, "boolean": 3, "text": 30}
    assert HIDDEN not in str(caught.value)


def test_a_broken_header_hides_no_broken_case(tmp_path: Path) -> None:
    """Where the sources cannot be known, cases are held to all other rules."""
    content = document(source_ids=4, ocr_cases=[page("a", 7, "")], retrieval_queries=[query(1, {"a": 9})])  # type: ignore[arg-type]
    rules = [one.rpartition("[")[2] for one in refused(content, tmp_path)]
    assert rules == ["sources]", "text]", "grade]"]


def test_nothing_of_a_text_is_in_any_output(tmp_path: Path) -> None:
    """Neither the evaluation nor the tables nor the terminal hold anything of a reference or an output."""
    content = document(
        ocr_cases=[page("a", f"left {HIDDEN}", f"right {HIDDEN}")], commands=[command("a", f"run {HIDDEN}", HIDDEN)]
    )
    write_document(tmp_path / "d.json", content)
    done = run_evalkit("measure", "d.json", "--output", "e.json", "--out", "o", cwd=tmp_path)
    assert done.code == 0
    written = [path for path in tmp_path.rglob("*") if path.is_file() and path.name != "d.json"]
    assert len(written) == 3
    for text in (done.stdout, done.stderr, *(path.read_bytes() for path in written)):
        assert b"secret" not in text
        assert b"right" not in text


# files and options


def test_a_list_comes_from_one_place(tmp_path: Path) -> None:
    """A list that stands in the document and comes as a file too is refused, also where the file agrees."""
    lines = write_lines(tmp_path / "ocr.jsonl", [page("a", "", "")])
    assert refused(document(ocr_cases=[page("a", "", "")]), tmp_path, ocr=lines) == [
        "d.json: ocr_cases: must come from one place: the document, a file of JSON Lines, or TREC files [list-twice]"
    ]


def test_files_are_named_once_and_are_there(tmp_path: Path) -> None:
    """A file that is missing, is named twice or is a table is refused before anything is read."""
    lines = write_lines(tmp_path / "a.jsonl", [])
    (tmp_path / "a.csv").write_text("a,b\n", "utf-8")
    found = refused(
        document(), tmp_path, ocr=lines, commands=lines, claims=tmp_path / "none", merges=tmp_path / "a.csv"
    )
    assert found == [
        "a.jsonl: is the same file as a.jsonl; name each file once [same-file-twice]",
        "none: there is no such file [path-missing]",
        "a.csv: must be one file of JSON or JSON Lines, plain or compressed [one-file]",
    ]


def test_compressed_data_that_is_cut_off(tmp_path: Path) -> None:
    """A compressed file that is not whole is refused."""
    import gzip

    path = tmp_path / "ocr.jsonl.gz"
    path.write_bytes(gzip.compress(b"{}\n" * 5000)[:40])
    [said] = refused(document(), tmp_path, ocr=path)
    assert said.startswith("ocr.jsonl.gz: the compressed data is broken or cut off")
    assert said.endswith("[compressed-data]")
    with pytest.raises(Refusal, match="compressed-data"):
        evalkit.measure(path)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--qrels", "q"), "judgments, at least one run and the source of the queries must be named together"),
        (("--run", "a=r"), "judgments, at least one run and the source of the queries must be named together"),
        (("--source", "s"), "judgments, at least one run and the source of the queries must be named together"),
        (("--drop-queries-without-relevant",), "judgments, at least one run and the source of the queries must be"),
        (("--run", "bm25"), "--run: must be a system and a file, such as bm25=bm25.run"),
        (("--run", "a=r", "--run", "a=r2"), "--run: no system may be named twice"),
    ],
)
def test_options_of_trec_files(options: tuple[str, ...], said: str, tmp_path: Path) -> None:
    """TREC files come with all that belongs to them."""
    write_document(tmp_path / "d.json", document())
    done = run_evalkit("measure", "d.json", *options, cwd=tmp_path)
    assert done.code == 2
    assert said in done.err
    assert "[trec-options]" in done.err


def test_an_output_that_is_an_input(tmp_path: Path) -> None:
    """No input is overwritten, neither the document nor a file of lines."""
    write_document(tmp_path / "d.json", document())
    write_lines(tmp_path / "ocr.jsonl", [])
    for target in ("d.json", "ocr.jsonl"):
        done = run_evalkit("measure", "d.json", "--ocr", "ocr.jsonl", "--output", target, cwd=tmp_path)
        assert (done.code, "output-unusable" in done.err) == (2, True)


def test_nothing_is_written_when_refused(tmp_path: Path) -> None:
    """A refusal is exit 2, says what is wrong on standard error, and leaves no file."""
    write_document(tmp_path / "d.json", document(run_id=""))
    done = run_evalkit("measure", "d.json", "--output", "e.json", "--out", "o", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.splitlines()[0] == "evalkit: refused: 1 violation; nothing was scored, nothing was written"
    assert [path.name for path in tmp_path.iterdir()] == ["d.json"]
