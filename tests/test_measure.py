"""`evalkit measure`: the measures by hand, the header, strata, the digest, files and what is written."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest
import rfc8785
from observations import HEADER, claim, command, document, merge, page, query, unit, write_document, write_lines
from support import evalkit as run_evalkit

import evalkit
from evalkit import Refusal
from evalkit.families.observations import text

FIXTURES = Path(__file__).parent.parent / "data-fixtures" / "observations"
NAMES = [
    *("OCR CER", "OCR WER", "OCR fidelity"),
    *("Command fidelity", "Command token fidelity", "Flag fidelity"),
    *("Schema validity", "Claim support"),
    *["Recall@10"] * 3,
    *["nDCG@10"] * 3,
    *("Merge precision", "Incorrect accepted merges", "Provenance completeness", "Queue completion"),
]


def row(name: str, /, system: str | None = None, **lists: Any) -> dict[str, Any]:
    """Measure a document with these lists and return one measure."""
    found = evalkit.measure(document(**lists))
    return dict(found[name] if system is None else found[name, system])


def terms(found: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    """Return numerator, denominator and value."""
    return found["numerator"], found["denominator"], found["value"]


# text


def test_rates_are_pooled_over_cases() -> None:
    """Edits and lengths are summed before they are divided: a long page weighs more than a short one."""
    cases = [page(1, "ab", "xy"), page(2, "abcdefghijklmnopqr", "abcdefghijklmnopqr")]
    assert terms(row("OCR CER", ocr_cases=cases)) == (2, 20, 0.1)
    assert terms(row("OCR WER", ocr_cases=cases)) == (1, 2, 0.5)
    assert terms(row("OCR fidelity", ocr_cases=cases)) == (18, 20, 0.9)


@pytest.mark.parametrize(
    ("reference", "output", "characters", "words"),
    [
        ("Ab", "ab", (1, 2), (1, 1)),  # case
        ("e\u0301", "\u00e9", (2, 2), (1, 1)),  # no normalisation
        ("\ufeffa", "a", (1, 2), (1, 1)),  # a byte-order mark in a text is a character
        ("a\r\nb", "a\nb", (1, 4), (0, 2)),  # line ends are characters
        ("  a", "a", (2, 3), (0, 1)),  # indentation
        ("👩\u200d👧", "👩", (2, 3), (1, 1)),  # code points, not clusters
        ("ﬁn", "fin", (2, 2), (1, 1)),  # ligatures
        ("", "abc", (3, 0), (1, 0)),
        ("abc", "", (3, 3), (1, 1)),
        ("", "", (0, 0), (0, 0)),
        (" \t\n", "", (3, 3), (0, 0)),  # no word in it
    ],
)
def test_text_stays_as_it_is(reference: str, output: str, characters: tuple[int, int], words: tuple[int, int]) -> None:
    """No folding, no normalisation, no stripping: every code point counts."""
    found = evalkit.measure(document(ocr_cases=[page(1, reference, output)]))
    assert (found["OCR CER"]["numerator"], found["OCR CER"]["denominator"]) == characters
    assert (found["OCR WER"]["numerator"], found["OCR WER"]["denominator"]) == words


@pytest.mark.parametrize("space", ["\x1c", "\x1d", "\x1e", "\x1f", "\x85", "\xa0", "\u2003", "\u3000"])
def test_words_are_cut_as_python_cuts_them(space: str) -> None:
    """Words part where `str.split()` parts them, also at U+001C to U+001F, which are no white space to a pattern."""
    assert terms(row("OCR WER", ocr_cases=[page(1, f"a{space}b", "a b")])) == (0, 2, 0.0)


@pytest.mark.parametrize("glue", ["\u200b", "\ufeff", "\u2060"])
def test_what_is_no_white_space_to_python_parts_no_words(glue: str) -> None:
    """A zero-width space or a byte-order mark belongs to the word that it stands in."""
    assert terms(row("OCR WER", ocr_cases=[page(1, f"a{glue}b", "a b")])) == (2, 1, 2.0)


def test_only_fidelity_is_clamped() -> None:
    """Insertions take CER and WER above one, where they stay; fidelity is 0 there."""
    cases = [page(1, "ab", "abcdef"), page(2, "c", "c d e f")]
    assert terms(row("OCR CER", ocr_cases=cases)) == (10, 3, 3.3333333333333335)
    assert terms(row("OCR WER", ocr_cases=cases)) == (4, 2, 2.0)
    assert terms(row("OCR fidelity", ocr_cases=cases)) == (0, 3, 0.0)


def test_an_empty_reference_adds_its_insertions() -> None:
    """A case without a reference adds edits and no length; where no case has a reference the rate is null."""
    both = [page(1, "", "xx"), page(2, "abcd", "abcd")]
    assert terms(row("OCR CER", ocr_cases=both)) == (2, 4, 0.5)
    alone = row("OCR CER", ocr_cases=both[:1])
    assert (*terms(alone), alone["sample_size"], alone["reason"]) == (2, 0, None, 1, "no-reference-characters")
    assert row("OCR WER", ocr_cases=[page(1, "  ", "x")])["reason"] == "no-reference-words"


def test_words_that_hash_alike_are_told_apart() -> None:
    """A word of one letter, whose hash elsewhere is its number, and a number as a word are different words."""
    assert terms(row("OCR WER", ocr_cases=[page(1, "a b c", "97 b c")])) == (1, 3, 1 / 3)


def test_more_distinct_words_than_surrogates_begin_at() -> None:
    """Words are told apart however many there are: here 60,000, of which one is missing and one is new."""
    words = [f"w{number}" for number in range(60_000)]
    output = [*words[:100], *words[101:], "new"]
    assert terms(row("OCR WER", ocr_cases=[page(1, " ".join(words), " ".join(output))]))[:2] == (2, 60_000)


def test_words_beyond_all_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are more distinct words than characters to number them with, they are numbered by numbers."""
    monkeypatch.setattr(text, "_CODES", 3)
    assert terms(row("OCR WER", ocr_cases=[page(1, "a b c d e", "a c d x e")])) == (2, 5, 0.4)


# commands


def test_commands_by_hand() -> None:
    """Whole commands, tokens in order and flags in order are three measures; white space between tokens is none."""
    commands = [
        command(1, "ls -l --all -- notes", "ls -1 --all -- notes"),
        command(2, "cat  a.txt", "cat a.txt"),
        command(3, "a b c", "b a c"),
        command(4, "", ""),
    ]
    assert terms(row("Command fidelity", commands=commands)) == (2, 4, 0.5)
    assert terms(row("Command token fidelity", commands=commands)) == (8, 10, 0.8)
    assert terms(row("Flag fidelity", commands=commands)) == (1, 2, 0.5)


def test_a_shifted_token_costs_one() -> None:
    """One token too many at the front leaves every other one in order."""
    commands = [command(1, "tar -x -f a", "sudo tar -x -f a")]
    assert terms(row("Command fidelity", commands=commands))[:2] == (0, 1)
    assert terms(row("Command token fidelity", commands=commands))[:2] == (4, 4)


def test_dashes_alone_are_no_flags() -> None:
    """A flag starts with a dash and is longer than its dashes."""
    found = row("Flag fidelity", commands=[command(1, "cat - -- --- x-y", "cat")])
    assert (*terms(found), found["reason"]) == (0, 0, None, "no-reference-flags")


def test_an_apostrophe_is_a_character() -> None:
    """No shell grammar is applied: what a shell could not read is measured all the same."""
    assert terms(row("Command token fidelity", commands=[command(1, "echo it's # x", "echo it's")]))[:2] == (2, 4)


# reviews


def test_schema_validity() -> None:
    """Valid proposals over all of them, held against 0.95 inclusively."""
    proposals = [{"proposal_id": f"p{n}", "source_id": "s", "valid": n != 7} for n in range(20)]
    found = evalkit.measure(document(proposals=proposals))
    assert terms(found["Schema validity"]) == (19, 20, 0.95)
    [measured] = [one for one in found.measurements if one.name == "Schema validity"]
    assert measured.passed is True


def test_claims_by_hand() -> None:
    """Support is over reviewed claims; provenance over all, and only declared sources complete it."""
    claims = [
        *(claim(1, True, "s"), claim(2, True, "s", "t"), claim(3, False, "s", "dev")),
        *(claim(4, None, "elsewhere"), claim(5, None), claim(6, True, "s", "s")),
    ]
    support, complete = row("Claim support", claims=claims), row("Provenance completeness", claims=claims)
    assert (*terms(support), support["sample_size"], support["threshold"]) == (3, 4, 0.75, 4, 0.95)
    assert (*terms(complete), complete["sample_size"], complete["threshold"]) == (3, 6, 0.5, 6, 1.0)


def test_no_reviewed_claim_is_no_support() -> None:
    """Claims that nobody has reviewed give null, not 0 and not 1."""
    found = row("Claim support", claims=[claim(1, None, "s")])
    assert (found["value"], found["sample_size"], found["reason"]) == (None, 0, "nothing-reviewed")


def test_merges_by_hand() -> None:
    """Precision is over accepted merges once all are reviewed; the incorrect ones are a whole number."""
    merges = [merge(1, True, True), merge(2, True, False), merge(3, True, True), merge(4, False, False)]
    precision, wrong = row("Merge precision", merges=merges), row("Incorrect accepted merges", merges=merges)
    assert (*terms(precision), precision["review_complete"]) == (2, 3, 2 / 3, True)
    assert (wrong["value"], type(wrong["value"]), wrong["threshold"], wrong["sample_size"]) == (1, int, 0, 3)
    assert "numerator" not in wrong


def test_a_review_that_is_not_complete() -> None:
    """One accepted merge without a review makes the precision null; what was found incorrect is still counted."""
    merges = [merge(1, True, False), merge(2, True, None)]
    found = evalkit.measure(document(merges=merges))
    precision, wrong = found["Merge precision"], found["Incorrect accepted merges"]
    assert (precision["value"], precision["reason"], precision["review_complete"]) == (None, "review-incomplete", False)
    assert (wrong["value"], wrong["review_complete"]) == (1, False)
    assert "Not every accepted merge is reviewed; incorrect ones may be among the others." in found.limitations


def test_no_accepted_merge() -> None:
    """Without an accepted merge there is no precision, no incorrect one, and the review is complete: no quota."""
    merges = [merge(1, False, None)]
    precision, wrong = row("Merge precision", merges=merges), row("Incorrect accepted merges", merges=merges)
    assert (precision["value"], precision["reason"], precision["review_complete"]) == (None, "none-accepted", True)
    assert (wrong["value"], wrong["sample_size"], wrong["review_complete"]) == (0, 0, True)


def test_a_merge_passes_only_with_its_review() -> None:
    """No incorrect merge found is no pass while an accepted one is not reviewed."""
    for merges, passed in (([merge(1, True, None)], False), ([merge(1, True, True)], True)):
        measurements = evalkit.measure(document(merges=merges)).measurements
        assert [one.passed for one in measurements if one.name == "Incorrect accepted merges"] == [passed]


def test_queue_by_hand() -> None:
    """Completed planned units that were due over all that were due; days are counted, and few bring a caution."""
    units = [
        *(unit(1, "2026-03-02", True, True, True), unit(2, "2026-03-02", False, True, True)),
        *(unit(3, "2026-03-03", True, True, False), unit(4, "2026-03-04", True, False, True)),
    ]
    found = row("Queue completion", queue=units)
    assert (*terms(found), found["sample_size"], found["threshold"]) == (1, 3, 1 / 3, 3, None)
    assert (found["days_observed"], found["caution"]) == (3, "observed on fewer than 7 days")


def test_seven_days_bring_no_caution() -> None:
    """From seven days on there is no caution."""
    units = [unit(day, f"2026-03-{day:02}", True, True, True) for day in range(1, 8)]
    found = row("Queue completion", queue=units)
    assert (found["value"], found["days_observed"], found["caution"]) == (1.0, 7, None)


def test_nothing_due() -> None:
    """Where nothing was due there is nothing to complete."""
    found = row("Queue completion", queue=[unit(1, "2026-03-01", True, False, True)])
    assert (found["value"], found["reason"], found["days_observed"]) == (None, "nothing-due", 1)


# rankings


def test_rankings_by_system() -> None:
    """All systems are measured on the same queries; only the candidate's recall has a limit."""
    queries = [query(1, {"a": 3, "b": 1, "z": 0}, "z", "a"), query(2, {"c": 1}, dense=["c"])]
    found = evalkit.measure(document(retrieval_queries=queries))
    assert found["Recall@10", "candidate"]["value"] == 0.25
    assert found["Recall@10", "dense"]["value"] == 0.5
    assert found["Recall@10", "lexical"]["value"] == 0.0
    assert [found["Recall@10", one]["threshold"] for one in ("lexical", "dense", "candidate")] == [None, None, 0.85]
    # 7 / log2 3 = 4.41650826, over 7 + 1 / log2 3 = 7.63092975, over two queries
    assert found["nDCG@10", "candidate"]["value"] == pytest.approx(0.28938206, abs=1e-8)
    assert found["nDCG@10", "candidate"]["sample_size"] == 2


# nothing unmeasured becomes a number


def test_absent_and_empty_families_are_not_measured() -> None:
    """An absent family, and an empty list, give null with a reason, never 0 and never 1."""
    lists = ("ocr_cases", "commands", "retrieval_queries", "proposals", "claims", "merges", "queue")
    for content in (document(), document(**{name: [] for name in lists})):
        metrics = evalkit.measure(content).metrics
        assert [one["name"] for one in metrics] == NAMES
        assert [one.get("system") for one in metrics if "@" in one["name"]] == ["lexical", "dense", "candidate"] * 2
        assert {one["value"] for one in metrics} == {None}
        assert {one["reason"] for one in metrics} == {"no-cases"}
        assert {one["sample_size"] for one in metrics} == {0}
        assert [one["review_complete"] for one in metrics if "review_complete" in one] == [None, None]


def test_every_measure_says_its_direction() -> None:
    """Error rates and incorrect merges are better when lower, all else when higher."""
    lower = {one["name"] for one in evalkit.measure(document()).metrics if one["direction"] == "lower"}
    assert lower == {"OCR CER", "OCR WER", "Incorrect accepted merges"}


# header and run


def test_the_header_is_repeated() -> None:
    """The evaluation says which run, model, data, split and sources it is about."""
    found = evalkit.measure(document(stage="synthetic")).to_dict()
    assert list(found) == [
        *("schema", "run_id", "model_revision", "dataset_id", "synthetic", "split", "stage", "source_ids"),
        *("development_source_ids", "run", "evidence_sha256", "metrics", "strata", "trec", "limitations"),
    ]
    assert found["schema"] == "evalkit-measurement-v1"
    assert {name: found[name] for name in HEADER} == HEADER
    assert evalkit.measure(document()).stage is None


def test_what_was_not_recorded_of_the_run_is_named() -> None:
    """The report always has the run, with the cache's hit rate, and names what nobody recorded."""
    run = {"commit": "c1", "model_revisions": {"ocr": "7"}, "failures": 0, "cache": {"hits": 3, "misses": 1}}
    found = evalkit.measure(document(run=run)).to_dict()["run"]
    assert found == {
        **run,
        **dict.fromkeys(("python", "container", "fixture_version")),
        "cache": {"hits": 3, "misses": 1, "hit_rate": 0.75},
        "not_recorded": ["python", "container", "fixture_version"],
    }
    nothing = evalkit.measure(document()).to_dict()["run"]
    assert nothing["cache"] == {"hits": None, "misses": None, "hit_rate": None}
    assert nothing["not_recorded"] == [
        *("commit", "python", "container", "fixture_version", "model_revisions", "failures", "cache")
    ]


def test_a_cache_that_was_never_asked_has_no_hit_rate() -> None:
    """No hit and no miss is no rate."""
    run = {"cache": {"hits": 0, "misses": 0}}
    assert evalkit.measure(document(run=run)).run.cache.hit_rate is None


def test_limitations_are_always_there() -> None:
    """What a chart must say stands in the evaluation, whatever was measured."""
    said = " ".join(evalkit.measure(document()).limitations)
    for words in (
        "declarations, not proofs",
        "leak past declared ids",
        "over 30 days",
        "proves software behaviour only",
    ):
        assert words in said


def test_a_development_run_says_so() -> None:
    """A development run says nothing about held-out sources, and the evaluation says that."""
    assert any("development run" in one for one in evalkit.measure(document(split="development")).limitations)
    assert not any("development run" in one for one in evalkit.measure(document()).limitations)


# strata


def test_strata_by_hand() -> None:
    """Every number is given for each stratum that a family has cases in; cases that name none are `unlabelled`."""
    found = evalkit.measure(
        document(
            ocr_cases=[page(1, "ab", "ax", stratum="hand"), page(2, "cd", "cd", stratum="print"), page(3, "ef", "")],
            commands=[command(1, "a", "a")],
            claims=[{**claim(1, True, "s"), "stratum": "hand"}],
        )
    )
    numbers = {
        one.stratum: {row["name"]: (row["value"], row["threshold"], row["sample_size"]) for row in one.metrics}
        for one in found.strata
    }
    assert numbers["hand"] == {
        "OCR CER": (0.5, None, 1),
        "OCR WER": (1.0, None, 1),
        "OCR fidelity": (0.5, None, 1),
        "Claim support": (1.0, None, 1),
        "Provenance completeness": (1.0, None, 1),
    }
    assert numbers["print"] == {"OCR CER": (0.0, None, 1), "OCR WER": (0.0, None, 1), "OCR fidelity": (1.0, None, 1)}
    assert numbers["unlabelled"] == {
        "OCR CER": (1.0, None, 1),
        "OCR WER": (1.0, None, 1),
        "OCR fidelity": (0.0, None, 1),
    }
    assert list(numbers) == ["hand", "print", "unlabelled"]


def test_strata_of_rankings() -> None:
    """Queries have strata as well, for each system."""
    queries = [query(1, {"a": 1}, "a", stratum="short"), query(2, {"a": 1}, "b", stratum="long")]
    found = evalkit.measure(document(retrieval_queries=queries))
    recall = {
        one.stratum: [
            row["value"] for row in one.metrics if (row["name"], row.get("system")) == ("Recall@10", "candidate")
        ]
        for one in found.strata
    }
    assert recall == {"long": [0.0], "short": [1.0]}


# digest


def digest(content: Any) -> str:
    """Return the SHA-256 of canonical JSON as another library writes it."""
    return hashlib.sha256(rfc8785.dumps(content)).hexdigest()


def test_the_digest_is_that_of_canonical_json() -> None:
    """`evidence_sha256` is the SHA-256 of the document as RFC 8785 writes it, whatever order and escapes it has."""
    content = json.loads((FIXTURES / "synthetic.json").read_bytes())
    assert evalkit.measure(FIXTURES / "synthetic.json").evidence_sha256 == digest(content)
    turned = dict(reversed(content.items()))
    assert evalkit.measure(turned).evidence_sha256 == digest(content)


def test_the_digest_of_odd_characters() -> None:
    """Control characters, quotes, line separators and characters beyond the first plane are written as they must be."""
    odd = 'a"b\\c/\x00\x01\x1f\x7f\u2028\ufb01😀\b\f\n\r\t'
    content = document(
        ocr_cases=[page("\ud83d\ude00", odd, odd[::-1], stratum="\ufb01")],
        retrieval_queries=[query(1, {"\ufb01": 1, "😀": 2, "a": 0}, "😀", "\ufb01")],
        run={"model_revisions": {"\ufb01": "1", "😀": "2"}},
    )
    content["ocr_cases"][0]["case_id"] = "😀"
    assert evalkit.measure(content).evidence_sha256 == digest(content)


def test_lists_from_files_stand_where_they_would_in_the_document(tmp_path: Path) -> None:
    """The same cases give the same evaluation, byte for byte, in the document, as lines, or compressed."""
    content = json.loads((FIXTURES / "synthetic.json").read_bytes())
    options = {"ocr": "ocr_cases", "commands": "commands", "retrieval": "retrieval_queries", "proposals": "proposals"}
    options |= {"claims": "claims", "merges": "merges", "queue": "queue"}
    header = {name: member for name, member in content.items() if name not in options.values()}
    whole = evalkit.measure(content)
    files = {option: write_lines(tmp_path / f"{name}.jsonl", content[name]) for option, name in options.items()}
    assert evalkit.measure(header, **files).to_json() == whole.to_json()  # type: ignore[arg-type]
    for number, option in enumerate(options):
        raw = files[option].read_bytes()
        packed = tmp_path / f"{option}.packed"
        packed.write_bytes(gzip.compress(raw) if number % 2 else pa.compress(raw, "zstd", asbytes=True))
        files[option] = packed
    assert evalkit.measure(header, **files).to_json() == whole.to_json()  # type: ignore[arg-type]


def test_an_empty_list_gives_way_to_a_file(tmp_path: Path) -> None:
    """An empty list in the document is none, so a file may bring the cases; the digest has the cases of the file."""
    lines = write_lines(tmp_path / "ocr.jsonl", [page(1, "a", "b")])
    found = evalkit.measure(document(ocr_cases=[]), ocr=lines)
    assert found["OCR CER"]["value"] == 1.0
    assert found.evidence_sha256 == digest(document(ocr_cases=[page(1, "a", "b")]))


def test_blank_lines_and_a_mark_at_the_start_count_for_nothing(tmp_path: Path) -> None:
    """Blank lines are passed over, CRLF ends a line, and a byte-order mark may begin a file."""
    one, two = (json.dumps(page(number, "a", "b")) for number in (1, 2))
    plain, odd = tmp_path / "plain.jsonl", tmp_path / "odd.jsonl"
    plain.write_text(f"{one}\n{two}\n", "utf-8")
    odd.write_bytes(f"\ufeff{one}\r\n\r\n  \n{two}".encode())
    assert evalkit.measure(document(), ocr=plain).to_json() == evalkit.measure(document(), ocr=odd).to_json()


# the command line


def test_the_command_writes_what_the_function_returns(tmp_path: Path) -> None:
    """`--output` has the bytes of the report, and standard output the same where it is `-`."""
    expected = evalkit.measure(FIXTURES / "synthetic.json")
    done = run_evalkit(
        "measure", FIXTURES / "synthetic.json", "--output", "a/e.json", "--out", "tables", "-q", cwd=tmp_path
    )
    assert (done.code, done.out, done.err) == (0, "", "")
    assert (tmp_path / "a/e.json").read_text("utf-8") == expected.to_json()
    assert (tmp_path / "tables/report.json").read_text("utf-8") == expected.to_json()
    piped = run_evalkit(
        *("measure", "-", "--output", "-"), cwd=tmp_path, stdin=(FIXTURES / "synthetic.json").read_bytes()
    )
    assert (piped.code, piped.out) == (0, expected.to_json())
    assert "synthetic example" in piped.err


def test_the_table_of_measurements(tmp_path: Path) -> None:
    """`measurements.parquet` has a row a number, limits and passes over all cases, and the digest in its metadata."""
    evalkit.measure(FIXTURES / "synthetic.json").write_tables(tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["measurements.parquet", "report.json"]
    path = tmp_path / "out" / "measurements.parquet"
    table = pl.read_parquet(path)
    assert set(table["report"]) == {"measurement"}
    assert set(table["split"]) == {"held_out"}
    over_all = table.filter(pl.col("stratum_field").is_null())
    gated = (
        over_all.filter(pl.col("limit").is_not_null()).sort("name").select("name", "model", "value", "limit", "passed")
    )
    assert gated.rows() == [
        ("Claim support", None, 0.5, 0.95, False),
        ("Incorrect accepted merges", None, 1.0, 0.0, False),
        ("OCR fidelity", None, 29 / 35, 0.9, False),
        ("Provenance completeness", None, 1 / 3, 1.0, False),
        ("Recall@10", "candidate", 1.0, 0.85, True),
        ("Schema validity", None, 0.75, 0.95, False),
    ]
    hand = table.filter(stratum="hand", name="OCR CER").row(0, named=True)
    assert (hand["stratum_field"], hand["value"], int(hand["numerator"]), int(hand["denominator"])) == (
        *("stratum", 2 / 15, 2, 15),
    )
    notes = pl.read_parquet_metadata(path)
    assert notes["evalkit.evidence_sha256"] == evalkit.measure(FIXTURES / "synthetic.json").evidence_sha256
    assert notes["evalkit.synthetic"] == "true"


def test_the_view(tmp_path: Path) -> None:
    """A row a measure with value, direction, threshold and n; what has no value is not measured, zero is a zero."""
    write_document(tmp_path / "d.json", document(ocr_cases=[page(1, "ab", "cd")]))
    done = run_evalkit("measure", "d.json", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    lines = [line.split() for line in done.lines]
    assert lines[0] == ["measure", "value", "better", "threshold", "n"]
    assert ["OCR", "fidelity", "0.0000", "higher", "≥", "0.90", "1"] in lines
    assert ["Claim", "support", "not", "measured", "higher", "≥", "0.95", "0"] in lines
    assert ["Recall@10", "not", "measured", "higher", "≥", "0.85", "0"] in lines
    assert "synthetic example: these observations are invented and prove software behaviour only" in done.lines
    assert "6 limitations stand in the evaluation; targets are no results" in done.lines


def test_the_view_of_everything(tmp_path: Path) -> None:
    """Systems have a column where there are rankings; counts, cautions, reviews and strata are said."""
    merges = [merge(1, True, False), merge(2, True, None)]
    content = document(
        retrieval_queries=[query(1, {"a": 1}, "a")],
        merges=merges,
        queue=[unit(1, "2026-01-01", True, True, True)],
        claims=[{**claim(1, True, "s"), "stratum": "x"}],
        split="development",
        run_id="r\x1b[31m",
    )
    write_document(tmp_path / "d.json", content)
    done = run_evalkit("measure", "d.json", cwd=tmp_path)
    lines = [line.split() for line in done.lines]
    assert lines[0] == ["measure", "system", "value", "better", "threshold", "n"]
    assert ["Recall@10", "candidate", "1.0000", "higher", "≥", "0.85", "1"] in lines
    assert ["Recall@10", "lexical", "0.0000", "higher", "–", "1"] in lines
    assert ["Incorrect", "accepted", "merges", "1", "lower", "≤", "0", "2"] in lines
    assert ["Merge", "precision", "not", "measured", "higher", "–", "2"] in lines
    assert done.lines[-9:-1] == [
        "synthetic example: these observations are invented and prove software behaviour only",
        "development run: it says nothing about held-out sources",
        "Incorrect accepted merges: the review is not complete",
        "Queue completion: observed on fewer than 7 days",
        "1 stratum; --output and --out have the numbers",
        "not recorded of the run: commit, python, container, fixture_version, model_revisions, failures, cache",
        "9 limitations stand in the evaluation; targets are no results",
        "run r\\u001b[31m, model m, data d",
    ]


def test_readiness_reads_what_measure_writes(tmp_path: Path) -> None:
    """An evaluation of a real, held-out run that meets every limit is ready; one incorrect merge, and it is not."""
    content = document(
        synthetic=False,
        ocr_cases=[page(1, "abcdefghij", "abcdefghix")],
        retrieval_queries=[query(1, {"a": 1}, "a")],
        proposals=[{"proposal_id": "p", "source_id": "s", "valid": True}],
        claims=[claim(1, True, "s")],
    )
    for correct, code in ((True, 0), (False, 3)):
        write_document(tmp_path / "d.json", {**content, "merges": [merge(1, True, correct)]})
        assert run_evalkit("measure", "d.json", "--output", "e.json", "-q", cwd=tmp_path).code == 0
        assert run_evalkit("readiness", "e.json", "-q", cwd=tmp_path).code == code


def test_standard_input_for_lines(tmp_path: Path) -> None:
    """`-` is standard input for any one of the inputs."""
    write_document(tmp_path / "d.json", document())
    lines = (json.dumps(page(1, "ab", "a")) + "\n").encode()
    done = run_evalkit("measure", "d.json", "--ocr", "-", "--output", "-", "-q", cwd=tmp_path, stdin=lines)
    assert json.loads(done.out)["metrics"][0]["numerator"] == 1


def test_measure_loads_no_dataframe_library(tmp_path: Path) -> None:
    """Text is measured and an evaluation written without the dataframe library, which takes longer to load."""
    write_document(tmp_path / "d.json", document(ocr_cases=[page(1, "ab", "a")]))
    before = (
        "import sys, os, evalkit.cli; sys.argv[1:] = ['measure', 'd.json', '--output', 'e.json']; real = os._exit; "
        "os._exit = lambda code: real(9 if {'polars', 'pyarrow'} & set(sys.modules) else 7); "
        "evalkit.cli.run()"
    )
    assert run_evalkit(cwd=tmp_path, before=before).code == 7


def test_a_mapping_is_held_to_the_same_rules() -> None:
    """Plain data is no way round the rules of JSON."""
    nan = float("nan")
    with pytest.raises(Refusal) as caught:
        evalkit.measure(document(run_id="\ud800", ocr_cases=[page(1, "\udc00", "")], queue=[{"unit_id": nan}]))
    found = [(one.rule, one.field) for one in caught.value.violations]
    assert found[:2] == [("surrogate", "run_id"), ("surrogate", "ocr_cases[0]")]
    assert ("json", "queue[0]") in found
