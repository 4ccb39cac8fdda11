"""Any contract: whatever fields, labels and splits are asked for, what is read and reported is what was meant."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import contract_oracle
import pytest
import strategies
from contract_oracle import Terms
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support import BLOCKED, GO, dump, key, record, text
from support import compare as run_compare

import evalkit
from evalkit.contracts.contract import Contract, Fields, SplitRule
from evalkit.contracts.policy import Policy
from evalkit.errors import Ledger, Refusal
from evalkit.exact import unit_fraction
from evalkit.families.selective.compare import Question, compare_inputs
from evalkit.families.selective.result import Report
from evalkit.formats.rows import Rows, read_rows
from evalkit.records.reader import Record, read_line
from evalkit.sources.partition import Inputs
from evalkit.sources.source import resolve

LAW = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])

TEXTS = {"no-suggestion": "Nothing.", "low-quality": "Unclear.", "low-confidence": "Unsure."}


# what is asked, in the words of the package


def contract(asked: Terms) -> Contract:
    """Return a contract, without strata and policy."""
    rule = None if asked.split_rule is None else SplitRule(*asked.split_rule)
    limits = {name: Decimal(limit) for name, limit in asked.limits.items()}
    labels: Any = asked.labels
    return Contract(Fields(**asked.fields), labels, rule, limits, asked.bins)


def policy(asked: Terms) -> Policy | None:
    """Return the policy asked for."""
    found = asked.policy
    return None if found is None else Policy(Decimal(found.floor), found.accepted, found.quality, TEXTS)


def judged(folder: Path, texts: Sequence[bytes], floor: str, asked: Terms, size: int, workers: int) -> Report:
    """Judge texts, one file each, cut into partitions of about a size."""
    paths = []
    for number, content in enumerate(texts):
        path = folder / f"{number}.jsonl"
        path.write_bytes(content)
        paths.append(str(path))
    question = Question(unit_fraction(floor, "min-coverage"), contract(asked), asked.by, policy(asked))
    with Inputs(resolve(paths), size) as inputs:
        return compare_inputs(inputs, question, workers=workers)


# laws: reading


def exact(data: bytes, asked: Contract) -> tuple[dict[int, Record], Ledger]:
    """Read every line exactly: the records by line, and what is wrong with the others."""
    records, broken = {}, []
    for number, line in enumerate(data.split(b"\n")):
        found = read_line(line, asked)
        if isinstance(found, Record):
            records[number] = found._replace(truth=str(found.truth), predicted=_text(found.predicted))
        elif found is not None:
            broken.append(tuple(replace(violation, line=number) for violation in found))
    return records, Ledger.of(broken)


def _text(label: object) -> str | None:
    return None if label is None else str(label)


def row_records(read: Rows) -> dict[int, Record]:
    """Return the table of rows as records by line, labels as texts."""
    found = {}
    for line, model, subject, split, truth, predicted, confidence, *scalars in read.table.iter_rows():
        assert line not in found
        found[line] = Record(model, subject, split, truth, predicted, confidence, tuple(scalars))
    return found


def said(ledger: Ledger) -> tuple[object, ...]:
    """Return all that a ledger says but for where a line of broken JSON is broken."""
    words = [replace(one, message="") if one.rule == "json" else one for one in ledger.shown]
    return words, ledger.counts, ledger.lines


def assert_read_exactly(data: bytes, asked: Contract) -> None:
    """Hold the fast path against the exact reader, for all records and for those that are scored."""
    expected, broken = exact(data, asked)
    every = read_rows(data, asked, every=True)
    assert row_records(every) == expected
    assert (every.records, said(every.ledger)) == (len(expected), said(broken))
    scored = read_rows(data, asked)
    kept = row_records(scored)
    assert kept.items() <= expected.items()
    assert {line: one for line, one in expected.items() if one.split != "train"}.items() <= kept.items()
    assert (scored.records, said(scored.ledger)) == (len(expected), said(broken))
    assert scored.models == every.models == {one.model for one in expected.values()}


@settings(LAW, max_examples=300)
@given(data=st.data(), made=strategies.dumps())
def test_the_fast_path_reads_what_the_exact_reader_reads(data: st.DataObject, made: strategies.Dump) -> None:
    """Under any contract, whatever lines come, rows, models and refusals are those of the exact reader."""
    rng = random.Random(data.draw(st.integers(0, 2**32 - 1)))
    shuffled = data.draw(st.sampled_from([False, True]))
    lines = [strategies.plain(one, rng.randrange(2**32) if shuffled else None) for one in made.records]
    for place in data.draw(st.lists(st.integers(0, len(lines) - 1), max_size=5)):
        line = lines[place] if data.draw(st.booleans()) else data.draw(strategies.odd_spellings(made.records[place]))
        damaged = [st.just(line), strategies.mutated(line), strategies.mistaken(line, made.terms)]
        lines[place] = data.draw(damaged[data.draw(st.sampled_from([0, 1, 2, 2]))])
    raw = "\n".join(lines).encode("utf-8", "surrogatepass")
    assert_read_exactly(raw, replace(contract(made.terms), scalars=made.terms.extra))


@settings(LAW, max_examples=60)
@given(data=st.data(), made=strategies.dumps())
def test_a_record_says_the_same_however_it_is_spelled(data: st.DataObject, made: strategies.Dump) -> None:
    """Every spelling of a valid record is read, and as what the record says at the paths of the contract."""
    asked = replace(contract(made.terms), scalars=made.terms.extra)
    for one in made.records[:10]:
        said = contract_oracle.case(one, made.terms)
        found = read_line(data.draw(strategies.odd_spellings(one)).encode(), asked)
        expected = (said.model, said.subject, said.split, said.truth, said.predicted, said.confidence)
        assert found == (*expected, tuple(said.extra.values()))


# laws: judging


@settings(LAW, max_examples=90)
@given(data=st.data(), made=strategies.dumps(), floor=strategies.floors())
def test_every_number_is_that_of_the_naive_oracle(
    data: st.DataObject, made: strategies.Dump, floor: str, tmp_path: Path
) -> None:
    """Report and tables are what the definitions give, whatever the order, the spelling, the files and the cuts."""
    spelled = data.draw(st.booleans())
    ordered = data.draw(st.permutations(made.records))
    seeds = random.Random(data.draw(st.integers(0, 2**32 - 1)))
    lines = [
        data.draw(strategies.odd_spellings(one)) if spelled else strategies.plain(one, seeds.randrange(2**32))
        for one in ordered
    ]
    edges = [0, *sorted(data.draw(st.lists(st.integers(0, len(lines)), max_size=3))), len(lines)]
    texts = [text(lines[a:b]) for a, b in pairwise(edges)]
    size, workers = data.draw(st.sampled_from([100, 1000, 4000, 2**20])), data.draw(st.integers(1, 3))
    report = judged(tmp_path, texts, floor, made.terms, size, workers)
    expected = contract_oracle.judge(made.records, floor, made.terms)
    found = report.to_dict()
    del found["evidence"]
    assert found == expected
    assert json.dumps(found) == json.dumps({key: expected[key] for key in found})  # the order of keys counts too
    tables = report.tables()
    for name, rows in contract_oracle.rows(expected).items():
        columns = list(rows[0]) if rows else ["model"]
        assert tables[name].select(columns).to_dicts() == rows, name
    cuts = tables["curve"].select("model", "stratum_field", "stratum", "cut", "accepted", "correct", "total")
    assert sorted(cuts.iter_rows(), key=repr) == sorted(contract_oracle.curve(made.records, made.terms), key=repr)


@settings(LAW, max_examples=20)
@given(data=st.data(), made=strategies.dumps(sizes=(2, 12)))
def test_declared_splits_are_refused_for_leaks_alone(
    data: st.DataObject, made: strategies.Dump, tmp_path: Path
) -> None:
    """Where splits are declared a contributor in two splits is refused, wherever, and the key is never shown."""
    asked = replace(made.terms, split_rule=None)
    people = [f"Zoë Q. No. {number}" for number in range(3)]
    seen: dict[str, set[str]] = {}
    for one in made.records:
        person, split = data.draw(st.sampled_from(people)), data.draw(st.sampled_from(["train", "validation", "test"]))
        strategies.put_at(one, asked.fields["subject"], person)
        strategies.put_at(one, asked.fields["split"], split)
        seen.setdefault(person, set()).add(split)
    cut = data.draw(st.integers(0, len(made.records)))
    lines = [strategies.plain(one) for one in made.records]
    texts = [text(lines[:cut]), text(lines[cut:])]
    size = data.draw(st.sampled_from([100, 2**20]))
    if all(len(splits) == 1 for splits in seen.values()):
        judged(tmp_path, texts, "0", asked, size, 2)
        return
    with pytest.raises(Refusal) as caught:
        judged(tmp_path, texts, "0", asked, size, 2)
    assert set(caught.value.counts) == {"leak"}
    assert "Zo" not in str(caught.value)
    assert "5a6f" not in str(caught.value)  # nor its bytes


# directed: what the fast path has been caught at, or might be


MANY = 70
"""More lines than are looked at for learning, so that all of these are seen."""


def spelled(split: str, number: int, **others: str) -> str:
    """Write a record of the default contract, and beside it members as they are spelled."""
    members = "".join(f', "{name}": {value}' for name, value in others.items())
    return record("alpha", split, number)[:-1] + members + "}"


@pytest.mark.parametrize("split", ["train", "validation", "test"])
@pytest.mark.parametrize("found", ['"x"', "1", "true", "[]", "{}", "null", '{"b": "x"}', '{"b": {"c": "\\u0000"}}'])
@pytest.mark.parametrize("learned", ["null", "{}", '{"b": null}', '{"b": {"c": "x"}}', '{"b": {"c": null}}'])
def test_what_stands_on_the_way_to_a_scalar(split: str, learned: str, found: str) -> None:
    """Whatever lines taught the fast path, it takes nothing on the way to a scalar for an absent one."""
    lines = [spelled(each, number, a=learned) for each in ("train", "test") for number in range(MANY)]
    lines.append(spelled(split, 99, a=found))
    assert_read_exactly("\n".join(lines).encode(), Contract(scalars=("a.b.c",)))


@pytest.mark.parametrize("train_below", [0, 1, 205])
def test_a_short_key_is_no_key_of_any_split(train_below: int) -> None:
    """Where a split has no first byte at all, a key too short by a byte is still none of it."""
    asked = Contract(split_rule=SplitRule(train_below, 230, 16))
    lines = [record("alpha", "test", number) for number in range(MANY)]
    for subject in ("0" * 14, "0" * 15, "0" * 16, "0" * 18, "f" * 14):
        lines += [record("alpha", split, 1, subject=subject) for split in ("train", "test")]
    assert_read_exactly("\n".join(lines).encode(), asked)


@pytest.mark.parametrize("name", ["*", "^a$", "^a", "a*", "$", "^*$", 'q"', "b\\c", "é", "a b", "{}", "%s", "line"])
def test_any_name_of_a_field_in_any_order_of_keys(name: str) -> None:
    """A name that a dataframe library may take for a pattern is a name, in whatever order the keys stand."""
    fields = Fields(name, "key", "split", f"truth.t{name}", "guess.label", f"guess.{name}{name}")
    for scalars, others in {(): {}, (f"{name}s",): {f"{name}s": "x"}, (f"absent.{name}",): {}}.items():
        lines = []
        for number in range(3 * MANY):
            members = {name: "m", "split": "test", "truth": {f"t{name}": 4}, "guess": {"label": 4, name + name: 0.5}}
            pairs = [*members.items(), ("key", key("test", number)), *others.items()]
            random.Random(number).shuffle(pairs)
            lines.append(json.dumps(dict(pairs), ensure_ascii=False))
        assert_read_exactly("\n".join(lines).encode(), Contract(fields, scalars=scalars))


# flat records


FLAT = Fields("model", "person", "fold", "label", "guess", "score")
ANIMALS = Contract(FLAT, ("cat", "catfish", 'd"og'), None)


def flat(split: str, person: str, label: str, guess: str | None, score: float | None) -> str:
    """Write a flat record."""
    plain = {"model": "alpha", "person": person, "fold": split, "label": label, "guess": guess, "score": score}
    return json.dumps(plain, ensure_ascii=False)


def test_flat_records_with_text_labels(tmp_path: Path) -> None:
    """Label and confidence side by side, both null where nothing was offered; labels in the contract's order."""
    lines = [flat("validation", "v1", "cat", "cat", 0.9), flat("validation", "v2", "cat", None, None)]
    lines += [flat("test", "t1", "cat", "cat", 0.9), flat("test", "t2", 'd"og', 'd"og', 0.9)]
    lines += [flat("test", "t3", "catfish", "cat", 0.9), flat("test", "t4", "cat", None, None)]
    one = evalkit.compare(dump(tmp_path / "d.jsonl", lines), "0.5", contract=ANIMALS).to_dict()["candidates"][0]
    assert one["selection"]["coverage"] == 0.5
    assert one["abstentions"] == {"no-suggestion": 1, "low-confidence": 0}
    assert list(one["confusion"].items()) == [("cat->cat", 1), ("catfish->cat", 1), ('d"og->d"og', 1)]
    assert list(one["perClass"]) == ["cat", "catfish", 'd"og']
    assert one["macroF1"] == 0.5555555555555556  # (2/3 + 0 + 1) / 3


@pytest.mark.parametrize(("guess", "score", "field"), [("cat", None, "score"), (None, 0.5, "guess")])
@pytest.mark.parametrize("split", ["train", "validation", "test"])
def test_half_of_a_suggestion_is_refused(
    tmp_path: Path, split: str, guess: str | None, score: float | None, field: str
) -> None:
    """A label without a confidence, or the reverse, is neither a suggestion nor an abstention."""
    good = [flat("test", f"t{number}", "cat", "cat", 0.9) for number in range(MANY)]
    good += [flat("test", f"n{number}", "cat", None, None) for number in range(MANY)]
    path = dump(tmp_path / "d.jsonl", [*good, flat(split, "x", "cat", guess, score)])
    with pytest.raises(Refusal) as caught:
        evalkit.compare(path, "0", contract=ANIMALS)
    assert [(one.rule, one.line, one.field) for one in caught.value.violations] == [("prediction", 141, field)]


@pytest.mark.parametrize("label", ['"Cat"', '"cat "', '"ca"', '"catfis"', '""', "null", "1", '["cat"]', '"\\u0000cat"'])
def test_a_label_is_one_of_the_contract_letter_by_letter(tmp_path: Path, label: str) -> None:
    """No label is taken for another that it begins with, or that it is alike."""
    good = flat("test", "t", "cat", "cat", 0.9)
    bad = good.replace('"label": "cat"', f'"label": {label}')
    with pytest.raises(Refusal) as caught:
        evalkit.compare(dump(tmp_path / "d.jsonl", [good] * MANY + [bad]), "0", contract=ANIMALS)
    assert [(one.rule, one.line, one.field) for one in caught.value.violations] == [("truth", 71, "label")]


@pytest.mark.parametrize("label", ['a"b', "a\\b", "a\\\\b", "\\u00e9", "a\\", "é"])
def test_a_label_is_spelled_as_json(label: str) -> None:
    """A label stands between quotes as JSON spells it; its bare characters are another text, or none."""
    asked = Contract(FLAT, (label, "c"), None)
    good = flat("test", "t", label, label, 0.9)
    spellings = {
        json.dumps(label)[1:-1],
        json.dumps(label, ensure_ascii=False)[1:-1],
        label,
        json.dumps(label)[1:-1] * 2,
    }
    others = [good.replace(json.dumps(label, ensure_ascii=False)[1:-1], one) for one in sorted(spellings)]
    assert_read_exactly("\n".join([good] * MANY + others).encode(), asked)
    assert isinstance(read_line(good.encode(), asked), Record)


def test_an_object_shared_with_another_field_is_never_null(tmp_path: Path) -> None:
    """Where the truth stands beside label and confidence, what is null when nothing was offered are these two."""
    fields = Fields(truth="answer.truth", predicted="answer.label", confidence="answer.sure")
    asked = Contract(fields)

    def line(split: str, number: int, answer: Any) -> str:
        plain = json.loads(record("alpha", split, number))
        return json.dumps({**{name: plain[name] for name in ("model", "subjectKey", "split")}, "answer": answer})

    offered, nothing = {"truth": 4, "label": 4, "sure": 0.9}, {"truth": 4, "label": None, "sure": None}
    lines = [line(split, number, offered) for split in ("validation", "test") for number in range(3)]
    lines += [line("test", number, nothing) for number in (7, 8)]
    one = evalkit.compare(dump(tmp_path / "d.jsonl", lines), "0", contract=asked)["alpha"]
    assert one.abstentions == {"no-suggestion": 2, "low-confidence": 0}
    for answer in (None, {"truth": 4}, {"truth": 4, "label": 4}, {"truth": 4, "label": None, "sure": 0.9}):
        with pytest.raises(Refusal):
            evalkit.compare(dump(tmp_path / "d.jsonl", [*lines, line("test", 9, answer)]), "0", contract=asked)


# declared splits


def test_a_leak_between_files_names_both_lines_and_no_key(tmp_path: Path) -> None:
    """Declared: a contributor in train of one file and test of another is refused, the earlier line named, no key."""
    ann, bo, cy = ((person, "cat", "cat", 0.9) for person in ("Ann Lee", "Bo", "Cy"))
    first = dump(tmp_path / "a.jsonl", [flat("train", *ann), flat("test", *bo)])
    second = dump(tmp_path / "b.jsonl", [flat("test", *cy), flat("test", *ann)])
    with pytest.raises(Refusal) as caught:
        evalkit.compare([first, second], "0", contract=ANIMALS)
    assert caught.value.counts == {"leak": 1}
    only = caught.value.violations[0]
    assert (only.file, only.line, only.field) == (str(second), 2, "fold")
    assert f"{first}:1" in only.message
    assert "Ann" not in str(caught.value)
    assert "416e6e" not in str(caught.value)  # nor its bytes


def test_every_leaking_record_is_counted(tmp_path: Path) -> None:
    """All records that conflict with an earlier one are counted and twenty shown; none is called not derived."""
    lines = [flat("validation", f"p{number}", "cat", "cat", 0.9) for number in range(50)]
    lines += [flat("test", f"p{number}", "cat", "cat", 0.9) for number in range(50)]
    lines += [flat("test", "q", "cat", "cat", 0.9)]
    with pytest.raises(Refusal) as caught:
        evalkit.compare(dump(tmp_path / "d.jsonl", lines), "0", contract=ANIMALS)
    assert caught.value.counts == {"leak": 50}
    assert [one.line for one in caught.value.violations] == list(range(51, 71))


def test_keys_that_look_alike_are_different_contributors(tmp_path: Path) -> None:
    """Case, spaces and composed characters make another key; another spelling of the same text does not."""
    people = ["Ann", "ann", "Ann ", " Ann", "\u00e9", "e\u0301", "1", "1.0"]
    splits = ["validation", "test"]
    lines = [flat(splits[number % 2], person, "cat", "cat", 0.9) for number, person in enumerate(people)]
    path = dump(tmp_path / "d.jsonl", lines)
    assert evalkit.compare(path, "0", contract=ANIMALS)["alpha"].total == 4
    escaped = flat("validation", "X", "cat", "cat", 0.9).replace('"X"', '"\\u0061nn"')
    with pytest.raises(Refusal, match="leak"):
        evalkit.compare(dump(path, [*lines, escaped]), "0", contract=ANIMALS)


@pytest.mark.parametrize(
    "person", ['""', '" "', '"\\u2003"', '"Ann\\u0000"', "1", "null", '{"Ann": "Lee"}', '["Ann Lee"]']
)
def test_a_key_that_is_none_is_refused_unseen(tmp_path: Path, person: str) -> None:
    """Declared: a key is a text that is not blank, without NUL; what breaks this is told by kind and length alone."""
    good = flat("test", "p", "cat", "cat", 0.9)
    path = dump(tmp_path / "d.jsonl", [good] * MANY + [good.replace('"person": "p"', f'"person": {person}')])
    with pytest.raises(Refusal) as caught:
        evalkit.compare(path, "0", contract=ANIMALS)
    assert [(one.rule, one.line, one.field) for one in caught.value.violations] == [("subject-key", 71, "person")]
    assert "Ann" not in str(caught.value)


# other byte limits


@pytest.mark.parametrize(
    ("subject", "split"),
    [("7fffffff", "train"), ("80000000", "validation"), ("bfffffff", "validation"), ("c0000000", "test")],
)
def test_other_byte_limits(tmp_path: Path, subject: str, split: str) -> None:
    """Below 0x80 train, below 0xc0 validation, else test, and no other split for any of these keys."""
    asked = Contract(split_rule=SplitRule(0x80, 0xC0, 8))
    for other in ("train", "validation", "test"):
        path = dump(tmp_path / "d.jsonl", [record("alpha", other, 1, subject=subject)] * 3)
        if other == split:
            assert evalkit.compare(path, "0", contract=asked).verdict == "BLOCKED"
            continue
        with pytest.raises(Refusal) as caught:
            evalkit.compare(path, "0", contract=asked)
        assert caught.value.counts == {"split-not-derived": 3}


@pytest.mark.parametrize("subject", ["8000000", "800000000", "8000000A", "0x800000", "80000000\n", "cd00000000000000"])
def test_keys_have_the_digits_of_the_contract(tmp_path: Path, subject: str) -> None:
    """Exactly eight lower-case hexadecimal digits; any other key is refused and not shown."""
    asked = Contract(split_rule=SplitRule(0x80, 0xC0, 8))
    lines = [record("alpha", "validation", 1, subject="80000000")] * MANY
    lines.append(record("alpha", "validation", 1, subject=subject))
    with pytest.raises(Refusal) as caught:
        evalkit.compare(dump(tmp_path / "d.jsonl", lines), "0", contract=asked)
    assert [(one.rule, one.line) for one in caught.value.violations] == [("subject-key", 71)]
    assert subject not in str(caught.value)


# limits, bins, many labels


def limits(**changed: str) -> Contract:
    """Return the default contract with other limits."""
    usual = {"macroF1": "0.80", "precisionAtCoverage": "0.90", "ece": "0.05"}
    return Contract(limits={name: Decimal(limit) for name, limit in {**usual, **changed}.items()})


def test_the_limits_of_a_contract_make_the_verdict(tmp_path: Path) -> None:
    """Precision 0.7, macro F1 14/17 and ECE 0.27 pass limits of 0.7, 0.80 and 0.27, and none a little harder."""
    path = dump(tmp_path / "d.jsonl", BLOCKED)
    assert evalkit.compare(path, "0.5").verdict == "BLOCKED"
    report = evalkit.compare(path, "0.5", contract=limits(precisionAtCoverage="0.7", ece="0.27"))
    assert (report.verdict, report.limits) == ("GO", {"macroF1": 0.8, "precisionAtCoverage": 0.7, "ece": 0.27})
    hard = {"precisionAtCoverage": "0.70000000000000001", "ece": "0.26999999999999999"}
    for name, limit in hard.items():
        asked = limits(**{"precisionAtCoverage": "0.7", "ece": "0.27", name: limit})
        one = evalkit.compare(path, "0.5", contract=asked)["beta"]
        assert [gate for gate, found in one.gates.items() if not found.passed] == [name]


def test_five_bins(tmp_path: Path) -> None:
    """Two right at 0.95, one right and one wrong at 0.85: an ECE of 0.2 in ten bins and of 0.15 in five."""
    lines = []
    for split in ("validation", "test"):
        for number, (predicted, confidence) in enumerate([(4, 0.95), (4, 0.95), (4, 0.85), (5, 0.85)]):
            lines.append(record("alpha", split, number, 4, predicted, confidence))
    path = dump(tmp_path / "d.jsonl", lines)
    ten, five = (evalkit.compare(path, "1", contract=Contract(bins=bins)).to_dict() for bins in (10, 5))
    assert [report["candidates"][0]["ece"] for report in (ten, five)] == [0.2, 0.15]
    assert (ten["bins"], five["bins"]) == (10, 5)
    assert five["candidates"][0]["bins"] == [
        {"lower": 0.8, "upper": 1.0, "count": 4, "meanConfidence": 0.9, "accuracy": 0.75}
    ]


@pytest.mark.parametrize("kind", [int, str])
def test_a_thousand_labels(tmp_path: Path, kind: type) -> None:
    """All of a thousand labels right but the last, which is taken for the first: macro F1 is (998 + 2/3) / 1000."""
    labels: Any = tuple(kind(number) for number in range(1000))
    asked = Contract(labels=labels)
    lines = []
    for split in ("validation", "test"):
        for number in range(1000):
            plain = json.loads(record("alpha", split, number, number, number % 999, 1.0))
            plain["truth"]["bristolType"] = labels[number]
            plain["prediction"]["bristolType"] = labels[number % 999]
            lines.append(json.dumps(plain))
    lines.append(record("alpha", "test", 0, 500, None).replace("500", json.dumps(labels[500])))
    report = evalkit.compare(dump(tmp_path / "d.jsonl", lines), "1", contract=asked)
    one = report["alpha"]
    assert (report.verdict, one.total, one.accepted, one.coverage) == ("GO", 1001, 1000, 1000 / 1001)
    assert (one.precision_at_coverage, one.macro_f1, one.ece) == (0.999, 0.9986666666666667, 0.001)
    assert list(one.per_class or ()) == [str(number) for number in range(1000)]
    assert list(one.confusion or ())[-1] == "999->0"
    assert one.excluded_classes == ()


def test_excluded_classes_are_ascending_as_numbers(tmp_path: Path) -> None:
    """Labels that abstained wholly, in the order of numbers: -1 before 0, 2 before 10."""
    lines = [record("alpha", "validation", 1, 5, 5), record("alpha", "test", 1, 5, 5)]
    lines += [record("alpha", "test", number, label, None) for number, label in enumerate([10, 0, 2, -1])]
    asked = Contract(labels=tuple(range(-2, 12)))
    found = evalkit.compare(dump(tmp_path / "d.jsonl", lines), "0", contract=asked)["alpha"]
    assert found.excluded_classes == (-1, 0, 2, 10)


def test_ten_thousand_labels_take_no_more_than_their_number(tmp_path: Path) -> None:
    """Ten thousand labels, each of them seen, are judged in seconds: no number is the square of theirs."""
    count = 10_000
    lines = [record("alpha", split, n, n, n) for split in ("validation", "test") for n in range(count)]
    path = dump(tmp_path / "d.jsonl", lines)
    start = time.process_time()
    report = evalkit.compare(path, "1", contract=Contract(labels=tuple(range(count))))
    assert time.process_time() - start < 15.0
    assert (report.verdict, report["alpha"].macro_f1, len(report["alpha"].per_class or ())) == ("GO", 1.0, count)


# the command line


MIDDLING = [
    line
    for split in ("validation", "test")
    for line in [record("beta", split, n, 4, 4, 0.7) for n in range(9)] + [record("beta", split, 9, 5, 4, 0.7)]
]
"""Precision 0.9, macro F1 9/19, ECE 0.2."""

DECLARED = """
[fields]
subject = "person"
split = "fold"
truth = "label"
predicted = "guess"
confidence = "score"

[labels]
names = ["cat", "catfish", 'd"og']

[splits]
rule = "declared"
"""


def test_a_contract_on_the_command_line(tmp_path: Path) -> None:
    """`--contract FILE` judges flat records with text labels and declared splits; exit 0 on GO, 2 on a leak."""
    (tmp_path / "c.toml").write_text(DECLARED)
    splits = ["validation"] * 9 + ["test"] * 9
    lines = [flat(split, f"{split} {number}", "cat", "cat", 0.97) for number, split in enumerate(splits)]
    dump(tmp_path / "d.jsonl", lines)
    assert run_compare("d.jsonl", "--contract", "c.toml", cwd=tmp_path).code == 0
    dump(tmp_path / "e.jsonl", [flat("train", "test 12", "cat", "cat", 0.97)])
    run = run_compare("e.jsonl", "d.jsonl", "--contract", "c.toml", "--json", "r.json", cwd=tmp_path)
    assert (run.code, run.stdout, (tmp_path / "r.json").exists()) == (2, b"", False)
    assert "d.jsonl:13: fold: " in run.err
    assert "e.jsonl:1" in run.err
    assert "test 12" not in run.err


@pytest.mark.parametrize(
    ("lines", "setting", "code", "verdict"),
    [
        (
            GO,
            "ece = 0.03",
            0,
            "GO: alpha is recommended; 1 of 1 candidates passed all gates; not the default limits: ece 0.03",
        ),
        (GO, "ece = 0.02", 3, "BLOCKED: 0 of 1 candidates passed all gates; not the default limits: ece 0.02"),
        (GO, "ece = 0.050", 0, "GO: alpha is recommended; 1 of 1 candidates passed all gates"),
        (
            MIDDLING,
            "ece = 0.30\nmacroF1 = 0.4\nprecisionAtCoverage = 0.90",
            0,
            "GO: beta is recommended; 1 of 1 candidates passed all gates; not the default limits: macroF1 0.4, ece 0.3",
        ),
    ],
)
def test_other_limits_are_said_in_the_verdict_line(
    tmp_path: Path, lines: list[str], setting: str, code: int, verdict: str
) -> None:
    """The verdict line names each limit that is not the default one, and only these."""
    (tmp_path / "c.toml").write_text(f"[limits]\n{setting}\n")
    dump(tmp_path / "d.jsonl", lines)
    run = run_compare("d.jsonl", "--contract", "c.toml", cwd=tmp_path)
    assert (run.code, run.lines[-1]) == (code, verdict)


@pytest.mark.parametrize("text", ["[limits]\nece = 5\n", "[labels]\nfrom = 3\n", "nonsense = 1\n", "\xff"])
def test_a_broken_contract_is_exit_2(tmp_path: Path, text: str) -> None:
    """Nothing is scored and nothing is written under a contract that makes no sense."""
    (tmp_path / "c.toml").write_text(text, encoding="latin-1")
    dump(tmp_path / "d.jsonl", GO)
    run = run_compare("d.jsonl", "--contract", "c.toml", "--json", "r.json", cwd=tmp_path)
    assert (run.code, run.stdout, (tmp_path / "r.json").exists()) == (2, b"", False)
    assert "c.toml" in run.err


@pytest.mark.parametrize("target", [("--json", "sub/c.toml"), ("--json", "link"), ("--out", "sub")])
def test_a_contract_is_never_written_over(tmp_path: Path, target: tuple[str, str]) -> None:
    """The contract is an input: no output takes its place or that of its folder, also where it is a dump's name too."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/c.toml").write_text("bins = 5\n")
    (tmp_path / "link").symlink_to("sub/c.toml")
    dump(tmp_path / "d.jsonl", GO)
    run = run_compare("d.jsonl", "--contract", "sub/c.toml", *target, cwd=tmp_path)
    assert (run.code, (tmp_path / "sub/c.toml").read_text()) == (2, "bins = 5\n")
    assert "output-unusable" in run.err


def test_many_candidates_with_much_to_say_stay_readable(tmp_path: Path) -> None:
    """A hundred candidates that all have a reason, or excluded classes, take no more than a screen or two."""
    lines = []
    for model in range(100):
        for split in ("validation", "test"):
            lines += [record(f"model {model}", split, number, number, number) for number in (1, 2, 3)]
            lines += [record(f"model {model}", split, number, number, None) for number in (4, 5, 6)]
    dump(tmp_path / "d.jsonl", lines)
    run = run_compare("d.jsonl", "--by", "site", "--quiet", cwd=tmp_path)
    assert (run.code, run.out) == (0, "")
    assert len(run_compare("d.jsonl", "--by", "site", cwd=tmp_path).lines) < 60
