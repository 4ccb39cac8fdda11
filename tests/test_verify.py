"""Verification: a report is a claim, its inputs are the evidence, and nothing that steers the check is in the claim."""

from __future__ import annotations

import contextlib
import functools
import gzip
import hashlib
import json
import os
import shutil
import time
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import polars as pl
import pytest
from support import BLOCKED, FLOOR, GO, Run, dump, evalkit, judged

import evalkit as library
from evalkit.contracts.contract_toml import read_contract
from evalkit.contracts.policy_toml import read_policy
from evalkit.errors import Refusal
from evalkit.exact import tolerance
from evalkit.verification.claim import MAX_CLAIM
from evalkit.verification.differ import Rules, differ
from evalkit.verification.findings import MAX_KEPT, Difference
from evalkit.verification.schemas import SCHEMAS
from evalkit.verification.verify import Verification, verify

FIXTURES = Path(__file__).parent.parent / "data-fixtures"
DUMP = FIXTURES / "selective" / "go.jsonl"

Plain = dict[str, Any]


@functools.cache
def _go() -> str:
    return library.compare(DUMP, "0.5").to_json()


def go() -> Plain:
    """Return the report on ``go.jsonl``."""
    found: Plain = json.loads(_go())
    return found


def paths(found: Verification) -> list[str]:
    """Return where the differences are."""
    return [one.path for one in found.differences]


def refusal(*arguments: Any, **options: Any) -> str:
    """Return what a verification is refused for."""
    with pytest.raises(Refusal) as caught:
        verify(*arguments, **options)
    return str(caught.value)


def run(*arguments: str | Path, cwd: Path, **options: Any) -> Run:
    """Run ``evalkit verify`` with a coverage floor of 0.5."""
    return evalkit("verify", *FLOOR, *arguments, cwd=cwd, **options)


# what is verified


@pytest.mark.parametrize("name", ["go", "blocked", "strata"])
def test_what_compare_reports_is_verified(name: str, tmp_path: Path) -> None:
    """The report that ``compare`` writes is verified over its inputs, be the verdict GO or BLOCKED."""
    source = FIXTURES / "selective" / f"{name}.jsonl"
    library.compare(source, "0.5").write_json(tmp_path / "r.json")
    found = verify(tmp_path / "r.json", source, min_coverage="0.5")
    assert (found.verified, found.differing, found.differences) == (True, 0, ())
    assert found.checks == _nodes(json.loads((tmp_path / "r.json").read_bytes()))


def _nodes(value: object) -> int:
    """Count the scalars, objects and arrays of plain data."""
    below = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(_nodes, below))


@functools.cache
def _reports() -> dict[str, str]:
    """Return the report on every case that ``compare`` judges."""
    found = {}
    for source in sorted((FIXTURES / "cases").glob("*/input.jsonl*")):
        with contextlib.suppress(Refusal):
            found[str(source)] = library.compare(source, "0.5").to_json()
    return found


def test_the_report_on_every_case_is_verified(tmp_path: Path) -> None:
    """Whatever is special in a case, its report is verified at a tolerance of 0: the same records, the same floats."""
    assert len(_reports()) > 10
    for source, text in _reports().items():
        (tmp_path / "r.json").write_text(text, encoding="utf-8")
        assert verify(tmp_path / "r.json", source, min_coverage="0.5", tol=0).differences == (), source


def test_all_that_was_stated_for_the_report_is_stated_again() -> None:
    """Strata, policy, synthetic, the record of the run and an exact floor are the caller's, and verify together."""
    readings, rules = FIXTURES / "policy" / "readings.jsonl", read_policy(str(FIXTURES / "policy" / "policy.toml"))
    stated: Plain = {"policy": rules, "by": "photo.quality", "synthetic": True, "run": {"id": 7, "rate": 0.1}}
    report = library.compare(readings, "0.5", **stated)
    assert verify(report, readings, min_coverage="0.5", **stated).verified


def test_a_report_under_a_contract_is_verified_under_it() -> None:
    """Another contract, of other fields and labels, is stated as it was for the report."""
    animals = FIXTURES / "contracts" / "animals.jsonl"
    contract = read_contract(str(FIXTURES / "contracts" / "animals.toml"))
    report = library.compare(animals, "0.5", contract=contract)
    assert verify(report, animals, min_coverage="0.5", contract=contract).verified


def test_a_report_can_be_recomputed_from_a_data_frame() -> None:
    """A report made from a data frame, which has no digest, is verified over the same frame."""
    frame = pl.read_ndjson(DUMP)
    assert verify(library.compare(frame, "0.5"), frame, min_coverage="0.5").verified


def test_the_order_of_records_does_not_matter_but_the_evidence_tells(tmp_path: Path) -> None:
    """Over the same records in another order all numbers agree; only the digest of the file differs."""
    lines = [*GO, *BLOCKED]
    report = library.compare(dump(tmp_path / "a.jsonl", lines), "0.5")
    (tmp_path / "turned").mkdir()
    found = verify(report, dump(tmp_path / "turned" / "a.jsonl", lines[::-1]), min_coverage="0.5")
    assert paths(found) == ["report.evidence[0].sha256"]


def test_files_are_named_in_the_order_of_the_report(tmp_path: Path) -> None:
    """Evidence goes by position: the same files in another order differ, and so does another number of files."""
    first, second = dump(tmp_path / "a.jsonl", GO), dump(tmp_path / "b.jsonl", BLOCKED)
    report = library.compare([first, second], "0.5")
    assert verify(report, [first, second], min_coverage="0.5").verified
    turned = verify(report, [second, first], min_coverage="0.5")
    keys = ("name", "bytes", "sha256")  # the records are 20 in both
    assert paths(turned) == [f"report.evidence[{place}].{key}" for place in (0, 1) for key in keys]
    joined = verify(report, dump(tmp_path / "c.jsonl", [*GO, *BLOCKED]), min_coverage="0.5")
    assert joined.differences == (Difference("report.evidence", "an array of 2", "an array of 1"),)


def test_another_folder_is_no_difference_and_another_name_is(tmp_path: Path) -> None:
    """Whoever verifies may keep the file elsewhere; under another name it is not the file that the report names."""
    for folder in ("made", "kept"):
        (tmp_path / folder).mkdir()
        shutil.copy(DUMP, tmp_path / folder / "go.jsonl")
    report = library.compare(tmp_path / "made" / "go.jsonl", "0.5")
    assert verify(report, tmp_path / "kept" / "go.jsonl", min_coverage="0.5").verified
    renamed = shutil.copy(DUMP, tmp_path / "kept" / "stop.jsonl")
    assert paths(verify(report, renamed, min_coverage="0.5")) == ["report.evidence[0].name"]


def test_the_digest_is_that_of_the_stored_file(tmp_path: Path) -> None:
    """The same records compressed are other evidence: bytes and digest differ, and every number agrees."""
    report = library.compare(DUMP, "0.5")
    packed = tmp_path / "go.jsonl"
    packed.write_bytes(gzip.compress(DUMP.read_bytes(), mtime=0))
    found = verify(report, packed, min_coverage="0.5")
    assert paths(found) == ["report.evidence[0].bytes", "report.evidence[0].sha256"]


def test_key_order_and_spaces_are_no_difference(tmp_path: Path) -> None:
    """A report that was parsed and written again, keys sorted and on one line, says the same."""
    (tmp_path / "r.json").write_text(json.dumps(go(), sort_keys=True), encoding="utf-8")
    assert verify(tmp_path / "r.json", DUMP, min_coverage="0.5").verified


# what the caller states


def test_nothing_that_steers_the_check_is_read_from_the_claim() -> None:
    """Floor, limits, bins, policy, strata, synthetic and run stay as the caller states them, whatever a report says."""
    report = go()
    report |= {"minCoverage": 0.9, "limits": {"ece": 1.0}, "bins": 3, "synthetic": True, "run": {"tol": 1}}
    report |= {"policy": {"confidenceFloor": 0.0, "acceptedQuality": ["good"], "qualityField": "q"}}
    found = verify(report, DUMP, min_coverage="0.5", tol="1")
    assert paths(found) == [
        "report.synthetic",
        "report.run",
        "report.minCoverage",
        "report.limits.macroF1",
        "report.limits.precisionAtCoverage",
        "report.limits.ece",
        "report.bins",
        "report.policy",
    ]


def test_what_was_stated_otherwise_is_a_difference() -> None:
    """Another floor, contract, policy, strata, synthetic or run than the report was made with is found."""
    rules = read_policy(str(FIXTURES / "policy" / "policy.toml"))
    limits = read_contract(str(FIXTURES / "contracts" / "limits.toml"))
    assert paths(verify(go(), DUMP, min_coverage="0.51")) == ["report.minCoverage"]
    for stated, path in (
        ({"contract": limits}, "report.limits.ece"),
        ({"policy": rules}, "report.policy"),
        ({"by": "site"}, "report.candidates[0].strata"),
        ({"synthetic": True}, "report.synthetic"),
        ({"run": {}}, "report.run"),
    ):
        options: Plain = stated
        assert path in paths(verify(go(), DUMP, min_coverage="0.5", **options)), path


def test_other_inputs_than_those_of_the_report_are_a_difference() -> None:
    """A report held against another dump differs in digest and numbers."""
    found = verify(go(), FIXTURES / "selective" / "blocked.jsonl", min_coverage="0.5")
    assert {"report.verdict", "report.recommended", "report.evidence[0].sha256"} <= set(paths(found))


def test_the_floor_is_needed_and_said_to_be() -> None:
    """Without the floor nothing is recomputed; the refusal names the option and the schema."""
    said = refusal(go(), DUMP)
    assert said == (
        "min-coverage: is needed to verify a report of evalkit-selective-v1; state it as it was stated when the report "
        "was made [verify-option]"
    )


def test_a_floor_of_zero_is_a_floor() -> None:
    """0 is stated, not missing."""
    report = library.compare(DUMP, 0)
    assert verify(report, DUMP, min_coverage=0).verified


def test_options_of_another_schema_are_refused_by_name() -> None:
    """Bins, gold and a tolerance of sums are no options of a selective report: a contract holds its bins."""
    said = refusal(go(), DUMP, DUMP, min_coverage="0.5", bins=10, sum_tolerance="0.1")
    known = "it has by, contract, gate-on, interval, min-contributors, min-coverage, min-support, no-excluded-class, "
    known += "policy, run-record, synthetic [verify-option]"
    assert said.splitlines() == [
        f"{name}: is no option of a report of evalkit-selective-v1; {known}"
        for name in ("bins", "gold", "sum-tolerance")
    ]


@pytest.mark.parametrize("text", ["nan", "inf", "-1", "-0.0", "1e", "", "0,5", "1e9999", "1e309", "true", "1_0", "٣"])
def test_an_unusable_tolerance_is_refused(text: str) -> None:
    """A tolerance is a finite decimal of at least 0."""
    assert refusal(go(), DUMP, min_coverage="0.5", tol=text).endswith("[tolerance]")


def test_a_tolerance_is_read_exactly() -> None:
    """Decimal text, a number and a fraction are taken for what they say."""
    read = [tolerance(value, "t") for value in ("1e-12", 1e-12, Fraction(1, 10**12), "0", ".5", "2.")]
    assert read == [*[Fraction(1, 10**12)] * 3, Fraction(0), Fraction(1, 2), Fraction(2)]


def test_a_truth_value_is_no_tolerance() -> None:
    """True is no decimal."""
    assert refusal(go(), DUMP, min_coverage="0.5", tol=True).endswith("[tolerance]")


# the claim


def test_a_claim_that_is_not_there_is_refused() -> None:
    """A report that is not there cannot be verified."""
    message = "yesterday.json: there is no such file; name the report that is to be verified [report-missing]"
    assert refusal("yesterday.json", DUMP, min_coverage="0.5") == message


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ('{"schema": "evalkit-selective-v1", "schema": "evalkit-selective-v1"}', "duplicate-key"),
        ('{"schema": "evalkit-selective-v1", "a": {"b": 1, "b": 1}}', "duplicate-key"),
        ('{"schema": "evalkit-selective-v1", "ece": NaN}', "json"),
        ('{"schema": "evalkit-selective-v1", "ece": Infinity}', "json"),
        ('{"schema": "evalkit-selective-v1"', "json"),
        ('["evalkit-selective-v1"]', "json"),
        ("", "json"),
        ('{"schema": "evalkit-receipt-v1"}', "report-schema"),
        ('{"schema": ["evalkit-selective-v1"]}', "report-schema"),
        ('{"verdict": "GO"}', "report-schema"),
        ('{"schema": "\\ud800"}', "surrogate"),
        ('{"schema":' + "[" * 200 + "]" * 200 + "}", "nesting"),
    ],
)
def test_an_unreadable_claim_is_refused(text: str, rule: str, tmp_path: Path) -> None:
    """A claim is strict JSON of a schema that can be verified, or it is refused."""
    path = tmp_path / "r.json"
    path.write_text(text, encoding="utf-8")
    assert f"[{rule}]" in refusal(path, DUMP, min_coverage="0.5")


def test_a_folder_is_no_claim(tmp_path: Path) -> None:
    """A folder cannot be read as a report."""
    assert refusal(tmp_path, DUMP, min_coverage="0.5").endswith("cannot be read: Is a directory [report-unreadable]")


def test_a_claim_of_two_gigabytes_is_refused_at_once(tmp_path: Path) -> None:
    """A file longer than any report is refused by its size, before a byte of it is read."""
    path = tmp_path / "r.json"
    path.write_bytes(b'{"schema": "evalkit-selective-v1"')
    os.truncate(path, 2**31)
    start = time.process_time()
    assert refusal(path, DUMP, min_coverage="0.5").endswith("must be at most 256 MiB long [report-too-long]")
    assert time.process_time() - start < 0.5
    assert MAX_CLAIM == 256 * 1024 * 1024


def test_an_empty_claim_lacks_everything() -> None:
    """A claim that says its schema alone is no unreadable one: each key that it lacks is a difference."""
    found = verify({"schema": "evalkit-selective-v1"}, DUMP, min_coverage="0.5")
    assert paths(found) == [f"report.{key}" for key in go() if key != "schema"]
    assert {one.claimed for one in found.differences} == {None}


# the walk


@dataclass(frozen=True)
class Row:
    """A row of a report."""

    SNAKE_CASE: ClassVar[bool] = True

    model: str
    value: float | None
    limit: float = 0.5


@dataclass(frozen=True)
class Rows:
    """A report."""

    SNAKE_CASE: ClassVar[bool] = True

    rows: tuple[Row, ...]
    by_name: dict[str, Row]


RULES = Rules(Fraction(1, 8), frozenset({"limit"}), {"rows": ("model",)})


def walk(claimed: Plain, *rows: Row, **by_name: Row) -> list[tuple[str, str | None, str | None]]:
    """Return the differences between plain data and a report."""
    kept = differ(claimed, Rows(rows, by_name), RULES).kept
    return [(one.path.removeprefix("report."), one.claimed, one.recomputed) for one in kept]


def row(model: str, value: object = 0.5, limit: object = 0.5, **more: object) -> Plain:
    """Write a row as plain data."""
    return {"model": model, "value": value, "limit": limit, **more}


@pytest.mark.parametrize(
    ("claimed", "same"),
    [
        (0.5, True),
        (0.625, True),
        (0.375, True),
        (0.6250001, False),
        (1, False),
        ("0.5", False),
        (None, False),
        (True, False),
    ],
)
def test_a_measured_number_may_be_off_by_the_tolerance(claimed: object, same: bool) -> None:
    """The distance is counted exactly, both ends allowed; null, text and truth values are no numbers."""
    found = walk({"rows": [row("a", claimed)], "by_name": {}}, Row("a", 0.5))
    assert (found == []) is same
    assert same or found == [("rows[0].value", json.dumps(claimed), "0.5")]


def test_a_whole_number_may_stand_for_a_measured_one_but_not_the_other_way() -> None:
    """1 says what 1.0 says; a count of 3.0 is no count."""
    assert walk({"rows": [row("a", 1)], "by_name": {}}, Row("a", 1.0)) == []
    assert walk({"rows": [row("a", True)], "by_name": {}}, Row("a", 1.0)) == [("rows[0].value", "true", "1.0")]
    assert differ({"n": 3.0}, {"n": 3}, RULES).kept == [Difference("report.n", "3.0", "3")]
    assert differ({"n": True}, {"n": 1}, RULES).kept == [Difference("report.n", "true", "1")]
    assert differ({"n": 1}, {"n": True}, RULES).kept == [Difference("report.n", "1", "true")]


def test_the_tolerance_is_for_measured_numbers_alone() -> None:
    """Counts, and numbers that the caller states, must be equal however wide the tolerance is."""
    wide = Rules(Fraction(10), frozenset({"limit"}))
    assert differ({"n": 4}, {"n": 3}, wide).kept == [Difference("report.n", "4", "3")]
    assert differ(row("a", 9.0, 0.6), Row("a", 0.5), wide).kept == [Difference("report.limit", "0.6", "0.5")]


def test_what_stands_below_a_setting_is_a_setting() -> None:
    """A record of a run is the caller's at every depth, in arrays too."""
    report = library.compare(DUMP, "0.5", run={"rates": [[0.5, 0.25]]})
    claim = report.to_dict() | {"run": {"rates": [[0.5, 0.26]]}}
    found = verify(claim, DUMP, min_coverage="0.5", tol=1, run={"rates": [[0.5, 0.25]]})
    assert found.differences == (Difference("report.run.rates[0][1]", "0.26", "0.25"),)


def test_a_label_that_looks_like_a_key_of_the_schema_is_none() -> None:
    """What stands under a label called ``limit`` is measured; a setting is a key of the schema."""
    assert walk({"rows": [], "by_name": {"limit": row("a", 0.55)}}, limit=Row("a", 0.5)) == []


def test_a_number_that_no_float_holds_is_a_difference(tmp_path: Path) -> None:
    """1e400 and a number of a thousand digits are as far off as anything."""
    report = _go().replace('"threshold": 0.81', f'"threshold": 1e400, "more": {"9" * 1000}', 1)
    path = tmp_path / "r.json"
    path.write_text(report, encoding="utf-8")
    found = verify(path, DUMP, min_coverage="0.5", tol="1e300")
    assert [one.claimed for one in found.differences] == ["1e400", "9" * 100 + "…"]


def test_a_row_left_out_is_one_difference() -> None:
    """Rows with a name of their own are compared by it: one dropped, one too many and one twice are one each."""
    a, b, c = Row("a", 0.1), Row("b", 0.2), Row("c", 0.3)
    plain = [row("a", 0.1), row("b", 0.2), row("c", 0.3)]
    assert walk({"rows": plain[1:], "by_name": {}}, a, b, c) == [('rows[model="a"]', None, "an object of 3")]
    assert walk({"rows": plain, "by_name": {}}, b, c) == [('rows[model="a"]', "an object of 3", None)]
    assert walk({"rows": [*plain, plain[0]], "by_name": {}}, a, b, c) == [("rows[3]", "an object of 3", None)]
    assert walk({"rows": [*plain, 7], "by_name": {}}, a, b, c) == [("rows[3]", "7", None)]


def test_rows_in_another_order_are_a_difference() -> None:
    """A report has its rows in order; in another order it is not what was written, though each row agrees."""
    plain = [row("b", 0.2), row("a", 0.1)]
    found = walk({"rows": plain, "by_name": {}}, Row("a", 0.1), Row("b", 0.2))
    assert found == [("rows", "model in another order", "model in order")]


def test_a_key_too_many_or_missing_is_one_difference() -> None:
    """Each key of the one side alone is a difference with its path, whatever stands under it."""
    plain = {"rows": [{"model": "a", "limit": 0.5}], "by_name": {"x y": {}}, "more": {"a": [1, 2]}}
    assert walk(plain, Row("a", 0.1)) == [
        ("rows[0].value", None, "0.1"),
        ('by_name["x y"]', "an object of 0", None),
        ("more", "an object of 1", None),
    ]


def test_what_is_no_object_or_array_where_one_must_be_is_one_difference() -> None:
    """Another kind of value is a difference at its path, and nothing below it is."""
    assert walk({"rows": {}, "by_name": []}, Row("a", 0.1), b=Row("b", 0.2)) == [
        ("rows", "an object of 0", "an array of 1"),
        ("by_name", "an array of 0", "an object of 1"),
    ]


def test_arrays_without_names_go_by_position() -> None:
    """Another length is one difference; the same length is compared place by place."""
    assert differ({"a": [1, 2]}, {"a": [2]}, RULES).kept == [Difference("report.a", "an array of 2", "an array of 1")]
    assert differ({"a": [1, 3]}, {"a": [1, 2]}, RULES).kept == [Difference("report.a[1]", "3", "2")]


def test_every_comparison_is_counted() -> None:
    """A scalar, the keys of an object and the length of an array are one check each."""
    assert differ({"a": [1, 2], "b": {"c": None}}, {"a": [1, 2], "b": {"c": None}}, RULES).checks == 6
    assert differ({}, {}, RULES).checks == 1


def test_long_texts_are_cut_where_they_differ() -> None:
    """What is shown of two long texts tells them apart."""
    (one,) = differ({"a": "x" * 200 + "1"}, {"a": "x" * 200 + "2"}, RULES).kept
    assert (one.claimed, one.recomputed) == ("…" + "x" * 20 + '1"', "…" + "x" * 20 + '2"')


def test_more_differences_than_anybody_reads_are_counted_and_not_kept() -> None:
    """Memory stays bounded: the first ten thousand differences are kept, all are counted."""
    found = differ({"a": list(range(20_000))}, {"a": [-1] * 20_000}, RULES)
    assert (found.count, len(found.kept), MAX_KEPT) == (20_000, 10_000, 10_000)


# the program


def test_a_verified_report_ends_with_0(tmp_path: Path) -> None:
    """One line says how many checks were made, so that no difference means something; exit code 0."""
    (tmp_path / "r.json").write_text(_go(), encoding="utf-8")
    done = run("r.json", DUMP, cwd=tmp_path)
    assert (done.code, done.out, done.err) == (0, "verified: 357 checks, 0 differences\n", "")


def test_a_differing_report_ends_with_3(tmp_path: Path) -> None:
    """A line for each difference: path, claimed, recomputed; exit code 3."""
    report = go()
    report["candidates"][0]["total"] += 1
    report["candidates"][0]["ece"] = None
    (tmp_path / "r.json").write_text(json.dumps(report), encoding="utf-8")
    done = run("r.json", DUMP, "--tol", "1", cwd=tmp_path)
    ece = json.dumps(go()["candidates"][0]["ece"])
    assert (done.code, done.err) == (3, "")
    assert done.lines == [
        "differs: 357 checks, 2 differences",
        "  report.candidates[0].total: claimed 25, recomputed 24",
        f"  report.candidates[0].ece: claimed null, recomputed {ece}",
    ]


def test_the_first_fifty_differences_are_shown_and_the_rest_counted(tmp_path: Path) -> None:
    """Many differences are not all printed; how many more there are is."""
    report = go() | {f"more{number}": number for number in range(60)}
    (tmp_path / "r.json").write_text(json.dumps(report), encoding="utf-8")
    lines = run("r.json", DUMP, cwd=tmp_path).lines
    assert (len(lines), lines[0], lines[-1]) == (52, "differs: 357 checks, 60 differences", "  … and 10 more")


def test_a_hostile_claim_does_no_harm_to_a_terminal(tmp_path: Path) -> None:
    """Escape sequences in keys and texts of a claim are shown as escapes."""
    report = go() | {"verdict": "\x1b[31mGO", "\x1b]0;x\x07": 1}
    (tmp_path / "r.json").write_text(json.dumps(report), encoding="utf-8")
    done = run("r.json", DUMP, cwd=tmp_path)
    assert b"\x1b" not in done.stdout
    assert b"\x07" not in done.stdout
    assert done.code == 3


@pytest.mark.parametrize(
    "arguments", [["no.json"], ["r.json", "--tol", "nan"], ["r.json", "--bins", "10"], ["cut.json"]]
)
def test_a_refusal_ends_with_2(arguments: list[str], tmp_path: Path) -> None:
    """No claim, an unusable tolerance, an option that does not apply, a broken claim: refused, nothing on stdout."""
    (tmp_path / "r.json").write_text(_go(), encoding="utf-8")
    (tmp_path / "cut.json").write_text(_go()[:-3], encoding="utf-8")
    done = run(*arguments, DUMP, "--json", "out.json", cwd=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("evalkit: refused: 1 violation")
    assert not (tmp_path / "out.json").exists()


def test_inputs_that_are_refused_are_refused(tmp_path: Path) -> None:
    """Inputs that ``compare`` would refuse give no report to hold a claim against."""
    (tmp_path / "r.json").write_text(_go(), encoding="utf-8")
    done = run("r.json", FIXTURES / "selective" / "leaked.jsonl", cwd=tmp_path)
    assert done.code == 2
    assert "[leak]" in done.err


def test_the_outcome_as_json(tmp_path: Path) -> None:
    """``--json`` writes the outcome: the bytes of the claim, its schema, the tolerance, all differences as data."""
    report = go() | {"verdict": "BLOCKED", "more": 1}
    del report["bins"]
    raw = json.dumps(report).encode()
    (tmp_path / "r.json").write_bytes(raw)
    done = run("r.json", DUMP, "--json", "-", "--tol", "0.001", cwd=tmp_path)
    assert done.code == 3
    assert done.err.startswith("differs: 356 checks, 3 differences\n")
    assert json.loads(done.stdout) == {
        "schema": "evalkit-verification-v1",
        "verified": False,
        "report": {"name": "r.json", "bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()},
        "reportSchema": "evalkit-selective-v1",
        "tolerance": 0.001,
        "checks": 356,
        "differing": 3,
        "differences": [
            {"path": "report.verdict", "claimed": '"BLOCKED"', "recomputed": '"GO"'},
            {"path": "report.bins", "claimed": None, "recomputed": "10"},
            {"path": "report.more", "claimed": "1", "recomputed": None},
        ],
    }


def test_the_outcome_is_written_and_says_where(tmp_path: Path) -> None:
    """A file is written on 0 and 3, whole; quiet leaves the exit code to tell."""
    (tmp_path / "r.json").write_text(_go(), encoding="utf-8")
    done = run("r.json", DUMP, "--json", "out/v.json", cwd=tmp_path)
    assert done.lines[-1] == "verification: out/v.json"
    assert json.loads((tmp_path / "out" / "v.json").read_bytes())["verified"] is True
    quiet = run("r.json", DUMP, "--quiet", cwd=tmp_path)
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")


@pytest.mark.parametrize("target", ["r.json", "go.jsonl"])
def test_the_outcome_never_takes_the_place_of_what_was_read(target: str, tmp_path: Path) -> None:
    """Neither the claim nor an input is overwritten."""
    (tmp_path / "r.json").write_text(_go(), encoding="utf-8")
    shutil.copy(DUMP, tmp_path / "go.jsonl")
    before = (tmp_path / target).read_bytes()
    done = run("r.json", "go.jsonl", "--json", target, cwd=tmp_path)
    assert (done.code, (tmp_path / target).read_bytes()) == (2, before)
    assert "[output-unusable]" in done.err


def test_claim_or_records_may_come_from_standard_input_but_not_both(tmp_path: Path) -> None:
    """``-`` is the claim or an input; it can be read only once."""
    (tmp_path / "r.json").write_text(_go(), encoding="utf-8")
    assert run("-", DUMP, cwd=tmp_path, stdin=_go().encode()).code == 0
    piped = run("r.json", "-", cwd=tmp_path, stdin=DUMP.read_bytes())
    assert (piped.code, piped.lines[1:]) == (
        3,
        [f'  report.evidence[0].name: claimed {json.dumps(str(DUMP))}, recomputed "-"'],
    )
    both = run("-", "-", cwd=tmp_path, stdin=_go().encode())
    assert both.code == 2
    assert both.err.endswith(
        "-: is named as the report and as an input, and can be read only once; name a file [standard-input-twice]\n"
    )


def test_warnings_about_the_inputs_are_said(tmp_path: Path) -> None:
    """An empty file among others is accepted with a warning, as when the report was made."""
    files = [dump(tmp_path / "a.jsonl", GO), dump(tmp_path / "b.jsonl", [])]
    library.compare(files, "0.5").write_json(tmp_path / "r.json")
    done = run("r.json", *files, cwd=tmp_path)
    assert done.code == 0
    assert done.err.startswith("evalkit: warning: ")


def test_many_strata_are_verified_one_by_one(tmp_path: Path) -> None:
    """A report of a thousand strata is verified, and one of them left out is one difference."""
    lines = [json.loads(line) | {"site": f"s{number // 4}"} for number, line in enumerate(judged("alpha", right=2000))]
    source = dump(tmp_path / "a.jsonl", map(json.dumps, lines))
    report = library.compare(source, "0.5", by="site").to_dict()
    assert len(report["candidates"][0]["strata"]) == 500
    assert verify(report, source, min_coverage="0.5", by="site").verified
    del report["candidates"][0]["strata"][250]
    (one,) = verify(report, source, min_coverage="0.5", by="site").differences
    assert one.path.startswith('report.candidates[0].strata[by={"site": "s')
    assert (one.claimed, one.recomputed) == (None, "an object of 12")


def test_the_schemas_are_a_table() -> None:
    """What can be verified is what evalkit writes, and the report that the source's own program writes."""
    ours = ["evalkit-selective-v1", "evalkit-evaluation-v1", "evalkit-measurement-v1"]
    assert list(SCHEMAS) == [*ours, "jev-bridge-evaluation-v1"]
    assert [name for name, one in SCHEMAS.items() if one.bridge] == ["jev-bridge-evaluation-v1"]
