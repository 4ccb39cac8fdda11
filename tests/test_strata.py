"""Strata: every number again for the records that share a value, at the candidate's one threshold, without gates."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support import EVALKIT, FLOOR, LINUX, TABLES, compare, dump, environment, key, record

import evalkit
from evalkit import Refusal

SPLITS = ("validation", "test")


def sited(line: str, site: Any, **others: Any) -> str:
    """Add `meta.site`, and what else is given beside it, to a record."""
    return json.dumps({**json.loads(line), "meta": {"site": site, **others}})


VALIDATION = [
    sited(record("alpha", "validation", 1, 4, 4, 0.9), "north"),
    sited(record("alpha", "validation", 2, 4, 4, 0.8), "south"),
    sited(record("alpha", "validation", 3, 5, 4, 0.6), "north"),
    record("alpha", "validation", 4, 4, None),
]
"""The cuts 0.9, 0.8 and 0.6 have coverage 1/4, 2/4 and 3/4, and precision 1, 1 and 2/3: at a floor of 0.5 it is 0.8."""

TEST = [
    sited(record("alpha", "test", 1, 4, 4, 0.9), "north"),
    sited(record("alpha", "test", 2, 5, 4, 0.8), "north"),
    sited(record("alpha", "test", 3, 4, 4, 0.7), "north"),
    sited(record("alpha", "test", 4, 5, 5, 0.85), "south"),
    sited(record("alpha", "test", 5, 4, None), "south"),
    sited(record("alpha", "test", 6, 5, 5, 0.95), None),
    sited(record("alpha", "test", 7, 4, 4, 0.9), "unlabelled"),
    record("alpha", "test", 8, 4, 4, 0.5),
]

ALL_RIGHT = {"support": 1, "predicted": 1, "precision": 1.0, "recall": 1.0, "f1": 1.0}

NORTH = {
    "by": {"meta.site": "north"},
    "total": 3,
    "accepted": 2,
    "abstentions": {"no-suggestion": 0, "low-confidence": 1},
    "coverage": 0.6666666666666666,
    "precisionAtCoverage": 0.5,
    "macroF1": 0.3333333333333333,  # (2/3 + 0) / 2
    "ece": 0.45,  # (0.1 + 0.8) / 2
    "excludedClasses": [],
    "perClass": {
        "4": {"support": 1, "predicted": 2, "precision": 0.5, "recall": 1.0, "f1": 0.6666666666666666},
        "5": {"support": 1, "predicted": 0, "precision": None, "recall": 0.0, "f1": 0.0},
    },
    "confusion": {"4->4": 1, "5->4": 1},
    "bins": [
        {"lower": 0.8, "upper": 0.9, "count": 1, "meanConfidence": 0.8, "accuracy": 0.0},
        {"lower": 0.9, "upper": 1.0, "count": 1, "meanConfidence": 0.9, "accuracy": 1.0},
    ],
}

SOUTH = {
    "by": {"meta.site": "south"},
    "total": 2,
    "accepted": 1,
    "abstentions": {"no-suggestion": 1, "low-confidence": 0},
    "coverage": 0.5,
    "precisionAtCoverage": 1.0,
    "macroF1": 1.0,
    "ece": 0.15,
    "excludedClasses": [4],
    "perClass": {"5": ALL_RIGHT},
    "confusion": {"5->5": 1},
    "bins": [{"lower": 0.8, "upper": 0.9, "count": 1, "meanConfidence": 0.85, "accuracy": 1.0}],
}

UNLABELLED = {
    "by": {"meta.site": "unlabelled"},
    "total": 3,
    "accepted": 2,
    "abstentions": {"no-suggestion": 0, "low-confidence": 1},
    "coverage": 0.6666666666666666,
    "precisionAtCoverage": 1.0,
    "macroF1": 1.0,
    "ece": 0.075,  # two right answers at 0.95 and 0.9
    "excludedClasses": [],
    "perClass": {"4": ALL_RIGHT, "5": ALL_RIGHT},
    "confusion": {"4->4": 1, "5->5": 1},
    "bins": [{"lower": 0.9, "upper": 1.0, "count": 2, "meanConfidence": 0.925, "accuracy": 1.0}],
}


@pytest.fixture
def sites(tmp_path: Path) -> Path:
    """Write the dump whose numbers are above."""
    return dump(tmp_path / "sites.jsonl", VALIDATION + TEST)


def strata(path: Path, *by: str, floor: str = "0.5", model: str = "alpha") -> list[dict[str, Any]]:
    """Return the strata of a candidate as the report has them."""
    plain = evalkit.compare(path, floor, by=by).to_dict()
    found: list[dict[str, Any]] = next(one["strata"] for one in plain["candidates"] if one["model"] == model)
    return found


def both(path: Path, pairs: Iterable[Sequence[Any]], *names: str) -> Path:
    """Write a record of each split for each of some values; all are right, at 0.97."""
    lines = []
    for number, values in enumerate(pairs):
        for split in SPLITS:
            plain = {**json.loads(record("alpha", split, number)), **dict(zip(names, values, strict=True))}
            lines.append(json.dumps(plain))
    return dump(path, lines)


# the report


def test_every_number_of_every_stratum(sites: Path) -> None:
    """Strata are sorted by value; absent, null and the literal text are one stratum; keys and numbers are literally."""
    assert strata(sites, "meta.site") == [NORTH, SOUTH, UNLABELLED]
    assert [list(one) for one in strata(sites, "meta.site")] == [list(NORTH)] * 3


def test_strata_change_nothing_over_all_records(sites: Path) -> None:
    """The numbers over all records are those of a run without strata, which says null in their place."""
    alone, apart = (evalkit.compare(sites, "0.5", by=by).to_dict() for by in ((), ("meta.site",)))
    assert [one.pop("strata") for one in alone["candidates"]] == [None]
    assert [len(one.pop("strata")) for one in apart["candidates"]] == [3]
    assert alone == apart
    only = alone["candidates"][0]
    assert (only["threshold"], only["total"], only["accepted"], only["coverage"]) == (0.8, 8, 5, 0.625)


def test_a_text_names_one_field(sites: Path) -> None:
    """`by` may be one path, or several."""
    assert (
        evalkit.compare(sites, "0.5", by="meta.site").to_dict()
        == evalkit.compare(sites, "0.5", by=["meta.site"]).to_dict()
    )


def test_a_stratum_never_has_a_gate(sites: Path) -> None:
    """A stratum that fails every limit changes no verdict: gates are asked over all records alone."""
    assert all("gates" not in one and "passed" not in one for one in strata(sites, "meta.site"))
    rows = evalkit.compare(sites, "0.5", by="meta.site").tables()["measurements"]
    assert rows.filter(pl.col("stratum").is_not_null())["passed"].null_count() == rows["stratum"].count() > 0
    lines = [sited(record("beta", split, n, 4, 4, 1.0), "big") for split in SPLITS for n in range(99)]
    lines += [sited(record("beta", split, 99, 5, 4, 1.0), "small") for split in SPLITS]
    report = evalkit.compare(dump(sites, lines), "1", by="meta.site")
    assert report["beta"].precision_at_coverage == 0.99
    assert [(one.stratum, one.precision_at_coverage) for one in report["beta"].strata or ()] == [
        ("big", 1.0),
        ("small", 0.0),
    ]


def test_the_threshold_is_never_chosen_in_a_stratum(tmp_path: Path) -> None:
    """A stratum whose own validation records ask for another cut is judged at the candidate's."""
    lines = [sited(record("alpha", "validation", n, 4, 4, 0.9), "easy") for n in range(8)]
    lines += [sited(record("alpha", "validation", 8, 4, 4, 0.3), "hard")]
    lines += [
        sited(record("alpha", "test", 1, 4, 4, 0.9), "easy"),
        sited(record("alpha", "test", 2, 4, 4, 0.3), "hard"),
    ]
    lines += [record("alpha", "validation", 9, 5, 4, 0.3)]
    path = dump(tmp_path / "d.jsonl", lines)
    assert evalkit.compare(path, "0.5", by="meta.site")["alpha"].threshold == 0.9
    easy, hard = strata(path, "meta.site")
    assert (easy["accepted"], hard["accepted"]) == (1, 0)
    assert hard == {
        "by": {"meta.site": "hard"},
        "total": 1,
        "accepted": 0,
        "abstentions": {"no-suggestion": 0, "low-confidence": 1},
        "coverage": 0.0,
        "precisionAtCoverage": None,
        "macroF1": None,
        "ece": None,
        "excludedClasses": [4],
        "perClass": {},
        "confusion": {},
        "bins": [],
    }


def test_strata_are_those_of_the_test_records(tmp_path: Path) -> None:
    """A value that only validation or train records have is no stratum of the report; the curve knows validation's."""
    lines = [sited(record("alpha", split, 1), split) for split in ("train", "validation", "test")]
    path = dump(tmp_path / "d.jsonl", lines)
    assert [one["by"] for one in strata(path, "meta.site")] == [{"meta.site": "test"}]
    curve = evalkit.compare(path, "0.5", by="meta.site").tables()["curve"]
    assert curve["stratum"].to_list() == [None, "validation"]


@pytest.mark.parametrize(
    ("spelled", "value"),
    [
        ("1", "1"),
        ('"1"', "1"),
        ("1.0", "1.0"),
        ("1.50", "1.5"),
        ("1e2", "100.0"),
        ("-0", "0"),
        ("-0.0", "-0.0"),
        ("1E-7", "1e-07"),
        ("12345678901234567890", "12345678901234567890"),
        ("1E400", "1E400"),
        ("true", "true"),
        ('"true"', "true"),
        ("false", "false"),
        ("null", "unlabelled"),
        ('""', ""),
        ('" "', " "),
        (r'"\u0061\/b"', "a/b"),
        (r'"a\nb"', "a\nb"),
        ('"\\ud83d\\ude00"', "\U0001f600"),
        ('"null"', "null"),
    ],
)
def test_a_scalar_counts_as_its_text(tmp_path: Path, spelled: str, value: str) -> None:
    """A text counts as what it says, any other scalar as its JSON text, wherever in a dump it stands."""
    lines = [
        record("alpha", split, number)[:-1] + f', "meta": {{"site": {spelled if number == 90 else chr(34) * 2}}}}}'
        for split in SPLITS
        for number in range(100)
    ]
    found = {one["by"]["meta.site"]: one["total"] for one in strata(dump(tmp_path / "d.jsonl", lines), "meta.site")}
    assert found == ({"": 100} if value == "" else {"": 99, value: 1})


def test_strata_are_sorted_by_code_point(tmp_path: Path) -> None:
    """Upper case before lower case, digits as texts, and characters beyond 16 bits last."""
    values = ["a", "\uffff", "10", "Z", "\U0001f600", "9", "", "é", "true", False, 1.0]
    found = [one["by"]["v"] for one in strata(both(tmp_path / "d.jsonl", [[one] for one in values], "v"), "v")]
    assert found == ["", "1.0", "10", "9", "Z", "a", "false", "true", "é", "\uffff", "\U0001f600"]


def test_several_fields_give_the_strata_of_each_and_the_crossed_ones(tmp_path: Path) -> None:
    """Each field alone, in the order asked for, then all together; a record without one is unlabelled there."""
    path = both(tmp_path / "d.jsonl", [("y", "p"), ("x", "q"), ("x", "p"), ("x", None)], "b", "a")
    assert [(one["by"], one["total"]) for one in strata(path, "b", "a")] == [
        ({"b": "x"}, 3),
        ({"b": "y"}, 1),
        ({"a": "p"}, 2),
        ({"a": "q"}, 1),
        ({"a": "unlabelled"}, 1),
        ({"b": "x", "a": "p"}, 1),
        ({"b": "x", "a": "q"}, 1),
        ({"b": "x", "a": "unlabelled"}, 1),
        ({"b": "y", "a": "p"}, 1),
    ]
    rows = evalkit.compare(path, "0", by=["b", "a"]).tables()["candidates"]
    assert rows.select("stratum_field", "stratum", "total").rows()[-4:] == [
        ("b × a", "x × p", 1),
        ("b × a", "x × q", 1),
        ("b × a", "x × unlabelled", 1),
        ("b × a", "y × p", 1),
    ]


def test_three_fields_are_crossed_once(tmp_path: Path) -> None:
    """Of three fields there are the strata of each and those of all three, not those of each two."""
    path = both(tmp_path / "d.jsonl", [("1", "2", "3"), ("1", "2", "4")], "a", "b", "c")
    found = [" ".join(f"{name}{value}" for name, value in one["by"].items()) for one in strata(path, "a", "b", "c")]
    assert found == ["a1", "b2", "c3", "c4", "a1 b2 c3", "a1 b2 c4"]


def test_a_null_or_missing_object_on_the_way_is_unlabelled(tmp_path: Path) -> None:
    """However far the way to the field leads into nothing, the record has no value."""
    plain = [json.loads(record("alpha", split, 1)) for split in SPLITS]
    ways: list[dict[str, Any]] = [{}, {"a": None}, {"a": {}}, {"a": {"b": None}}, {"a": {"b": {}}}]
    ways += [{"a": {"b": {"c": None}}}, {"a": {"b": {"c": "unlabelled"}}}]
    path = dump(tmp_path / "d.jsonl", [json.dumps({**one, **way}) for one in plain for way in ways])
    assert [(one["by"], one["total"]) for one in strata(path, "a.b.c")] == [({"a.b.c": "unlabelled"}, 7)]


# refusals

GOOD = [record("alpha", split, number) for split in ("train", *SPLITS) for number in range(70)]


@pytest.mark.parametrize("split", ["train", "validation", "test"])
@pytest.mark.parametrize("before", ["absent", "null", "text"])
@pytest.mark.parametrize(
    ("found", "rule"),
    [
        ('{"site": {}}', "scalar"),
        ('{"site": []}', "scalar"),
        ('{"site": {"x": 1}}', "scalar"),
        ('{"site": "a\\u0000"}', "nul"),
        ('"x"', "object"),
        ("1", "object"),
        ("false", "object"),
        ("[]", "object"),
        ('[{"site": "x"}]', "object"),
    ],
)
def test_what_is_no_scalar_is_refused(tmp_path: Path, split: str, before: str, found: str, rule: str) -> None:
    """An object or array for a scalar, a NUL in it, or no object on the way: in any split, after any lines."""
    meta: dict[str, list[str]] = {"absent": GOOD, "null": [line[:-1] + ', "meta": null}' for line in GOOD]}
    meta["text"] = [sited(line, "x") for line in GOOD]
    bad = record("alpha", split, 99)[:-1] + f', "meta": {found}}}'
    path = dump(tmp_path / "d.jsonl", [*meta[before], bad])
    with pytest.raises(Refusal) as caught:
        evalkit.compare(path, "0.5", by="meta.site")
    only = caught.value.violations[0]
    assert (only.rule, only.line) == (rule, 211)
    assert caught.value.counts == {rule: 1}


def test_what_nobody_asked_for_is_not_looked_at(tmp_path: Path) -> None:
    """Without `by`, what stands in other fields is ignored."""
    path = dump(tmp_path / "d.jsonl", [*GOOD, sited(record("alpha", "test", 99), {"x": ["y"]})])
    assert evalkit.compare(path, "0.5").verdict == "GO"


@pytest.mark.parametrize("by", ["", ".", "a.", ".a", "a..b", "a\nb", "\0"])
def test_what_is_no_path_is_refused(sites: Path, by: str) -> None:
    """A field is named by a dotted path of printable names."""
    with pytest.raises(Refusal) as caught:
        evalkit.compare(sites, "0.5", by=[by])
    assert caught.value.violations[0].field == "by"


@pytest.mark.parametrize("by", ["truth", "prediction", "model.x", "split.a.b"])
def test_no_stratum_stands_above_or_below_a_field_of_the_contract(sites: Path, by: str) -> None:
    """A record cannot have a scalar where the contract has an object, nor below its scalars."""
    with pytest.raises(Refusal) as caught:
        evalkit.compare(sites, "0.5", by=[by])
    assert caught.value.violations[0].field == "by"


def test_a_field_named_twice_is_no_other_question(sites: Path) -> None:
    """The same field twice is refused, or is the field once; it breaks nothing."""
    once = evalkit.compare(sites, "0.5", by="meta.site").to_dict()
    refused = False
    try:
        twice = evalkit.compare(sites, "0.5", by=["meta.site", "meta.site"]).to_dict()
    except Refusal as refusal:
        refused = refusal.violations[0].field == "by"
    assert refused or twice == once


@pytest.mark.parametrize("by", [["a", "a.b"], ["a.b", "a"]])
def test_fields_of_which_one_leads_through_the_other(tmp_path: Path, by: list[str]) -> None:
    """No record can have a value for both: they are refused or all is unlabelled, whatever the order of the keys."""
    lines = []
    for number, line in enumerate(GOOD):
        members = [*json.loads(line).items(), ("a", None)]
        random.Random(number).shuffle(members)
        lines.append(json.dumps(dict(members)))
    path = dump(tmp_path / "d.jsonl", lines)
    found: list[Any] = []
    try:
        found = [one["by"] for one in strata(path, *by)]
    except Refusal as refusal:
        found = [refusal.violations[0].field]
    assert found in (["by"], [{by[0]: "unlabelled"}, {by[1]: "unlabelled"}, dict.fromkeys(by, "unlabelled")])


# the tables


def test_every_table_has_the_strata_behind_all_records(sites: Path) -> None:
    """In each of the six tables the rows over all records come first, with null; then those of each stratum."""
    tables = evalkit.compare(sites, "0.5", by="meta.site").tables()
    assert set(tables) == set(TABLES)
    seen = {"curve": ["north", "south"]}  # nothing was offered on validation without a site
    for name, table in tables.items():
        places = list(dict.fromkeys(table.select("model", "stratum_field", "stratum").iter_rows()))
        values = seen.get(name, ["north", "south", "unlabelled"])
        assert places == [("alpha", None, None), *(("alpha", "meta.site", value) for value in values)], name


def test_the_candidates_table(sites: Path) -> None:
    """A row a stratum: the counts of it, the threshold of the candidate, and nothing of gates or of validation."""
    table = evalkit.compare(sites, "0.5", by="meta.site").tables()["candidates"]
    shown = table.select("stratum", "threshold", "total", "accepted", "no_suggestion", "low_quality", "low_confidence")
    assert shown.rows() == [
        (None, 0.8, 8, 5, 1, None, 2),
        ("north", 0.8, 3, 2, 0, None, 1),
        ("south", 0.8, 2, 1, 1, None, 0),
        ("unlabelled", 0.8, 3, 2, 0, None, 1),
    ]
    assert table["split"].to_list() == ["test"] * 4
    for name in ("passed", "recommended", "reason", "validation_total", "validation_accepted", "validation_coverage"):
        assert table[name].to_list()[1:] == [None] * 3, name


def test_the_curve_of_each_stratum(sites: Path) -> None:
    """Every validation cut of each stratum with its own counts and its own total."""
    table = evalkit.compare(sites, "0.5", by="meta.site").tables()["curve"]
    assert table.select("stratum", "cut", "accepted", "correct", "total", "coverage", "precision").rows() == [
        (None, 0.9, 1, 1, 4, 0.25, 1.0),
        (None, 0.8, 2, 2, 4, 0.5, 1.0),
        (None, 0.6, 3, 2, 4, 0.75, pytest.approx(2 / 3)),
        ("north", 0.9, 1, 1, 2, 0.5, 1.0),
        ("north", 0.6, 2, 1, 2, 1.0, 0.5),
        ("south", 0.8, 1, 1, 1, 1.0, 1.0),
    ]


def test_classes_cells_bins_and_measurements_of_a_stratum(sites: Path) -> None:
    """The other tables have the same numbers as the report."""
    tables = evalkit.compare(sites, "0.5", by="meta.site").tables()
    south = {name: table.filter(stratum="south") for name, table in tables.items()}
    assert south["per_class"].select("label", "support", "predicted", "f1").rows() == [("5", 1, 1, 1.0)]
    assert south["confusion"].select("truth", "predicted", "count").rows() == [("5", "5", 1)]
    assert south["bins"].select("bin", "count", "mean_confidence", "accuracy").rows() == [(8, 1, 0.85, 1.0)]
    whole = south["measurements"].filter(pl.col("label").is_null(), pl.col("bin").is_null())
    assert dict(whole.select("name", "value").iter_rows()) == {
        "accepted": 1.0,
        "coverage": 0.5,
        "ece": 0.15,
        "low-confidence": 0.0,
        "macroF1": 1.0,
        "no-suggestion": 1.0,
        "precisionAtCoverage": 1.0,
        "total": 2.0,
    }


def test_the_results_folder_has_the_strata_too(sites: Path, tmp_path: Path) -> None:
    """What is written is what the tables are, and the report in the folder has the strata."""
    report = evalkit.compare(sites, "0.5", by="meta.site")
    report.write_tables(tmp_path / "out")
    for name, table in report.tables().items():
        assert pl.read_parquet(tmp_path / "out" / f"{name}.parquet").equals(table), name
    written = json.loads((tmp_path / "out" / "report.json").read_bytes())
    assert written["candidates"][0]["strata"] == [NORTH, SOUTH, UNLABELLED]


def test_strata_whose_joined_names_are_alike_stay_apart(tmp_path: Path) -> None:
    """Values that hold the sign that joins them are kept apart in the report."""
    path = both(tmp_path / "d.jsonl", [("a × b", "c"), ("a", "b × c")], "x", "y")
    assert [tuple(one["by"].values()) for one in strata(path, "x", "y")][-2:] == [("a", "b × c"), ("a × b", "c")]


# the command line


def test_the_terminal_shows_the_worst_strata(sites: Path, tmp_path: Path) -> None:
    """The strata of lowest precision, the larger first among equals; the exit code is that of the verdict."""
    run = compare(sites, "--by", "meta.site", cwd=tmp_path)
    assert run.code == 3
    assert run.lines[2:-2] == [
        "worst strata         candidate records coverage precision macro-F1    ECE",
        "meta.site=north      alpha           3   0.6667    0.5000   0.3333 0.4500",
        "meta.site=unlabelled alpha           3   0.6667    1.0000   1.0000 0.0750",
        "meta.site=south      alpha           2   0.5000    1.0000   1.0000 0.1500",
    ]
    assert run.err == ""


def test_by_may_be_repeated(tmp_path: Path) -> None:
    """`--by` once a field; the report has the strata of each and the crossed ones."""
    both(tmp_path / "d.jsonl", [("x", "y")], "a", "b")
    run = compare("d.jsonl", "--by", "a", "--by", "b", "--json", "-", "-q", cwd=tmp_path)
    found = json.loads(run.stdout)["candidates"][0]["strata"]
    assert [one["by"] for one in found] == [{"a": "x"}, {"b": "y"}, {"a": "x", "b": "y"}]


def test_a_field_that_no_record_has_is_a_warning(sites: Path, tmp_path: Path) -> None:
    """A misspelt field is no error, since it may be absent, but it is said."""
    run = compare(sites, "--by", "meta.sight", cwd=tmp_path)
    assert run.code == 3
    assert "meta.sight" in run.err
    assert "warning" in run.err


@pytest.mark.parametrize("by", ["truth", "a..b", ""])
def test_a_field_that_cannot_be_is_exit_2(sites: Path, tmp_path: Path, by: str) -> None:
    """Nothing is scored and nothing is written."""
    run = compare(sites, "--by", by, "--json", "r.json", cwd=tmp_path)
    assert (run.code, run.stdout, (tmp_path / "r.json").exists()) == (2, b"", False)
    assert "by: " in run.err


def test_the_same_field_twice_is_no_bug(sites: Path, tmp_path: Path) -> None:
    """A field named twice on the command line ends in a verdict or a refusal."""
    assert compare(sites, "--by", "meta.site", "--by", "meta.site", cwd=tmp_path).code in (2, 3)


def test_hostile_strata_do_not_reach_the_terminal(tmp_path: Path) -> None:
    """Line ends and control characters of values and fields are shown as escapes."""
    both(tmp_path / "d.jsonl", [("x\n\x1b[31mGO: y\u202e",)], "v")
    run = compare("d.jsonl", "--by", "v", cwd=tmp_path, env=environment(COLUMNS="200"))
    assert "\x1b" not in run.out
    assert "v=x\\u000a\\u001b[31mGO: y\\u202e" in run.out


def test_huge_values_do_not_flood_the_terminal(tmp_path: Path) -> None:
    """A value of a hundred thousand characters is a stratum, and is cut short where it is shown."""
    both(tmp_path / "d.jsonl", [("x" * 100_000,)], "v")
    run = compare("d.jsonl", "--by", "v", "--json", "r.json", cwd=tmp_path)
    assert json.loads((tmp_path / "r.json").read_bytes())["candidates"][0]["strata"][0]["by"] == {"v": "x" * 100_000}
    assert len(run.lines) < 60


def many(path: Path, models: int, sites: int) -> None:
    """Write a record of each site on test and one on validation for each of many models; all are right."""
    with path.open("w") as file:
        for model in range(models):
            head = f'{{"model":"model {model}","subjectKey":"'
            tail = f'","truth":{{"bristolType":4}},"prediction":{{"bristolType":4,"confidence":0.9{model % 10}}}'
            file.write(f'{head}{key("validation", 1)}","split":"validation{tail}}}\n')
            file.writelines(
                f'{head}{key("test", site)}","split":"test{tail},"meta":{{"site":"site {site}"}}}}\n'
                for site in range(sites)
            )


MEASURED = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[1:], stdout=open("shown", "wb"), stderr=subprocess.STDOUT)
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)
"""
"""Run from a program that is small itself: a child counts what its parent held when it was made."""


def peak(arguments: Sequence[str], cwd: Path) -> tuple[int, list[str], int]:
    """Run `evalkit compare`: its exit code, the lines that it printed, and the most memory that it held, in MiB."""
    line = [sys.executable, "-c", MEASURED, EVALKIT, "compare", *FLOOR, *arguments]
    done = subprocess.run(line, cwd=cwd, env=environment(), capture_output=True, check=True)
    code, memory = map(int, done.stdout.split())
    return code, (cwd / "shown").read_text().splitlines(), memory


@pytest.mark.skipif(not LINUX, reason="memory is counted in other units elsewhere")
def test_a_thousand_candidates_in_two_hundred_strata(tmp_path: Path) -> None:
    """Two hundred thousand strata are counted in bounded memory, and the terminal shows the worst ten."""
    many(tmp_path / "d.jsonl", 1000, 200)
    code, lines, memory = peak(["d.jsonl", "--by", "meta.site"], tmp_path)
    assert code == 0
    assert sum(line.startswith("meta.site=site ") for line in lines) == 10
    assert len(lines) < 60
    assert memory < 1024


@pytest.mark.skipif(not LINUX, reason="memory is counted in other units elsewhere")
def test_strata_are_written_one_candidate_at_a_time(tmp_path: Path) -> None:
    """Every row of every stratum is in the folder, though never all at once in memory."""
    many(tmp_path / "d.jsonl", 10, 200)
    code, _, memory = peak(["d.jsonl", "--by", "meta.site", "--out", "out"], tmp_path)
    assert (code, memory < 512) == (0, True)
    tables = {name: pl.read_parquet(tmp_path / "out" / f"{name}.parquet") for name in TABLES}
    assert {name: table.height for name, table in tables.items()} == {
        "candidates": 10 * 201,
        "per_class": 10 * 201,
        "confusion": 10 * 201,
        "bins": 10 * 201,
        "curve": 10 * 2,  # over all records, and unlabelled
        "measurements": 10 * (5 + 201 * (8 + 5 + 3)),
    }
    assert tables["candidates"]["total"].sum() == 2 * 10 * 200
    report = json.loads((tmp_path / "out" / "report.json").read_bytes())
    assert [len(one["strata"]) for one in report["candidates"]] == [200] * 10
