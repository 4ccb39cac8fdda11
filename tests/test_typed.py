"""Typed columns: what expressions accept the exact reader accepts with the same values, and it words all else."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evalkit.contracts.contract import BRISTOL, Contract, Fields
from evalkit.errors import Refusal
from evalkit.formats.columnar import columns_of, schema_of
from evalkit.formats.layout import CELL, Kind, Layout, lay_out
from evalkit.formats.typed import read_typed
from evalkit.records.reader import Record, read_document
from evalkit.records.rules import HALF_OFFERED
from evalkit.records.strict_json import parse_object

SCALARS = ("site", "meta.kind")
CONTRACTS = (
    replace(BRISTOL, scalars=SCALARS),
    Contract(labels=("cat", "4", " dog", "é"), split_rule=None, scalars=SCALARS),
    Contract(labels=tuple(range(-3, 300)), scalars=SCALARS),
)

KEYS = ("cd00000000000001", "cc00000000000001", "e6ffffffffffffff", "0000000000000000")
BAD_KEYS = ("CD00000000000001", "cd0000000000000", "cd00000000000001\n", " d00000000000001", "ｃd00000000000001", "")
NAMES = ("m1", " m1", "é", "\u200b", "x" * 30, "\x7f")
BAD_NAMES = ("", " ", "\x1f", "\u3000\x1c", "a\0b", "\x85")
WHOLE = (pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.Int128, pl.UInt8, pl.UInt16, pl.UInt32, pl.UInt64)
FLOATS = (pl.Float64, pl.Float32, pl.Float16)
TEXTS = (pl.String, pl.Categorical)
NUMBER_CELLS = (
    *("4", "0.5", "1", "0", "5e-05", "1E-2", "-0", "-0.0", "0.0000", "1.0", "299", "-3", "1.0000000000000001"),
    *("4.0", " 4", "4 ", "+4", "04", "4\n", "４", "8", "4e0", "1e400", "-1e-400", "NaN", "Infinity", ".5", "1.", "0x1"),
    *("true", "null", '"4"', "1_0", "0.5 ", "\u0661", "-", "1e", "123456789012345678901", "x", "4\0"),
)


def any_of(values: Sequence[Any], faults: Sequence[Any]) -> st.SearchStrategy[Any]:
    """Draw a value that is right as a rule, and null now and then."""
    return st.one_of(*[st.sampled_from(list(values))] * 4, st.sampled_from([*faults, None]))


def label_column(contract: Contract) -> st.SearchStrategy[tuple[Any, st.SearchStrategy[Any]]]:
    """Draw a type for labels, and its values."""
    if contract.label_kind is str:
        values = any_of(contract.label_texts, ["dog", "", "4.0", "cat\0", "e\u0301"])
        return st.sampled_from([(kind, values) for kind in TEXTS])
    low, high = int(contract.labels[0]), int(contract.labels[-1])
    columns: list[tuple[Any, st.SearchStrategy[Any]]] = []
    for kind in WHOLE:
        least, most = int(kind.min().cast(pl.Int128).pipe(value)), int(kind.max().pipe(value))
        around = [one for one in (low, high, 4, low - 1, high + 1, 0, least, most) if least <= one <= most]
        columns.append((kind, any_of([one for one in around if low <= one <= high], around)))
    right = [float(one) for one in (low, high, 4)]
    wrong = [4.5, low - 1.0, high + 1.0, math.nan, math.inf, -math.inf, -0.0]
    columns += [(kind, any_of(right, wrong)) for kind in FLOATS]
    return st.sampled_from([*columns, (pl.Null, st.none())])


def value(expression: pl.Expr) -> Any:
    """Evaluate a literal."""
    return pl.select(expression).item()


def confidence_column() -> st.SearchStrategy[tuple[Any, st.SearchStrategy[Any]]]:
    """Draw a type for confidences, and its values."""
    wrong = [1.5, -0.5, math.nan, math.inf, math.nextafter(1, 2), -5e-324, 97.0]
    floats = any_of([0.0, 1.0, 0.5, -0.0, 0.95, 5e-324, math.nextafter(1, 0)], wrong)
    return st.sampled_from(
        [*[(kind, floats) for kind in FLOATS], (pl.Int64, any_of([0, 1], [2, -1])), (pl.UInt8, any_of([0, 1], [97]))]
    )


def scalar_column() -> st.SearchStrategy[tuple[Any, st.SearchStrategy[Any]]]:
    """Draw a type for what is read besides, and its values."""
    return st.sampled_from(
        [
            (pl.String, any_of(["a", "", "1.0", "é"], ["a\0"])),
            (pl.Categorical, any_of(["a", "b"], ["a\0"])),
            (pl.Boolean, any_of([True, False], [])),
            (pl.Int64, any_of([0, -7, 2**63 - 1], [])),
            (pl.UInt64, any_of([0, 2**64 - 1], [])),
            (pl.Float64, any_of([0.0, -0.0, 0.1, 1e16, 1e-5, 1.5e300, 3.0], [])),
            (pl.Float32, any_of([0.1, 3.0, -0.0], [])),
            (pl.Null, st.none()),
        ]
    )


@st.composite
def tables(draw: st.DrawFn) -> tuple[Contract, pl.DataFrame]:
    """Draw a table, right for the most part: nested or flat, columns of any type that may be."""
    contract = draw(st.sampled_from(CONTRACTS))
    text, label, guess = draw(st.sampled_from(TEXTS)), draw(label_column(contract)), draw(label_column(contract))
    sure, site, kind = draw(confidence_column()), draw(scalar_column()), draw(scalar_column())
    keys = any_of(KEYS if contract.split_rule else NAMES, [*BAD_KEYS, *BAD_NAMES])
    splits = any_of(("train", "validation", "test"), ["", "Test", "dev", "train "])
    height = draw(st.integers(0, 12))

    def column(name: str, of: Any, values: st.SearchStrategy[Any]) -> pl.Series:
        return pl.Series(name, draw(st.lists(values, min_size=height, max_size=height)), of)

    frame = pl.DataFrame([column("model", text, any_of(NAMES, BAD_NAMES)), column("subjectKey", pl.String, keys)])
    frame = frame.with_columns(column("split", draw(st.sampled_from(TEXTS)), splits), column("site", *site))
    parts = {"truth": {"bristolType": label}, "prediction": {"bristolType": guess, "confidence": sure}}
    for outer, inner in {**parts, "meta": {"kind": kind}}.items():
        columns = [column(f"{outer}.{name}", *of) for name, of in inner.items()]
        if draw(st.booleans()):
            frame = frame.with_columns(columns)
            continue
        gaps = pl.Series("gap", draw(st.lists(st.sampled_from([False, False, True]), min_size=height, max_size=height)))
        fields = [one.alias(one.name.partition(".")[2]) for one in columns]
        struct = pl.DataFrame(fields).to_struct(outer)
        whole = pl.when(~pl.col("gap")).then(outer).alias(outer)
        frame = frame.with_columns(pl.DataFrame([struct, gaps.cast(pl.Boolean)]).select(whole))
    return contract, frame


def laid_out(frame: pl.DataFrame, contract: Contract) -> Layout:
    """Lay a table out."""
    schema = schema_of(frame.schema)
    assert not isinstance(schema, tuple)
    found = lay_out(schema, contract)
    assert isinstance(found, Layout), found
    return found


PARTS = {"truth": ["bristolType"], "meta": ["kind"], "prediction": ["bristolType", "confidence"]}


def expected_of(row: Mapping[str, Any], contract: Contract) -> Record | list[str]:
    """Read a row by hand: a nested document for the exact reader, and the one rule that only columns can break."""
    document: dict[str, Any] = {name: row[name] for name in ("model", "subjectKey", "split", "site")}
    for outer, inner in PARTS.items():
        document[outer] = row[outer] if outer in row else {name: row[f"{outer}.{name}"] for name in inner}
    offered = document["prediction"]
    if "prediction" in row or not any(one is None for one in offered.values()):
        return rules_of(document, contract)
    found = rules_of({**document, "prediction": None}, contract)
    given = {name: one for name, one in offered.items() if one is not None}
    if not given:
        return found
    # One of the two is null: what is wrong with the other is said, and if nothing is, that one is missing.
    sound = {**document, "prediction": {"bristolType": contract.labels[0], "confidence": 0.5, **given}}
    faults = [] if isinstance(found, Record) else found
    whole = rules_of(sound, contract)
    more = [] if isinstance(whole, Record) else list((Counter(whole) - Counter(faults)).elements())
    return [*faults, *(more or [HALF_OFFERED.rule])]


def rules_of(document: Mapping[str, Any], contract: Contract) -> Record | list[str]:
    """Read a document exactly: the record, or the rules that it breaks."""
    found = read_document(document, contract)
    return found if isinstance(found, Record) else [fault.rule for fault in found]


@settings(deadline=None, max_examples=400)
@given(drawn=tables())
def test_rows_are_those_of_the_exact_reader(drawn: tuple[Contract, pl.DataFrame]) -> None:
    """Whatever columns come, valid rows have the exact reader's values; of the others it names the broken rules."""
    contract, frame = drawn
    layout = laid_out(frame, contract)
    rows = read_typed(columns_of(frame, layout), layout, every=True)
    records, broken = {}, {}
    for line, row in enumerate(frame.iter_rows(named=True)):
        found = expected_of(whole_labels(row, frame), contract)
        if isinstance(found, Record):
            records[line] = found
        else:
            broken[line] = sorted(found)
    assert taken(rows.table, contract) == records
    told: dict[int, list[str]] = {}
    for fault in rows.ledger.shown:
        assert fault.line is not None
        assert fault.unit == "row"
        told.setdefault(fault.line, []).append(fault.rule)
    assert {line: sorted(rules) for line, rules in told.items()} == broken
    assert (rows.lines, rows.records, rows.ledger.lines) == (frame.height, len(records), len(broken))
    assert rows.models == {record.model for record in records.values()}
    scored = read_typed(columns_of(frame, layout), layout, every=False)
    assert (scored.models, scored.records, scored.ledger) == (rows.models, rows.records, rows.ledger)
    kept = taken(scored.table, contract)
    assert kept.items() <= records.items()
    if contract.split_rule is None:
        assert kept == records
    else:
        derive = contract.split_rule.derive
        left_out = {line for line, one in records.items() if one.split == "train" == derive(one.subject)}
        assert set(kept) >= set(records) - left_out


def whole_labels(row: Mapping[str, Any], frame: pl.DataFrame) -> dict[str, Any]:
    """Return a row whose labels, where a column of floats holds a whole one, are whole numbers."""

    def label(one: Any) -> Any:
        return int(one) if isinstance(one, float) and one.is_integer() else one

    changed = dict(row)
    for name in ("truth", "prediction"):
        if isinstance(changed.get(name), dict):
            changed[name] = {**changed[name], "bristolType": label(changed[name]["bristolType"])}
        if f"{name}.bristolType" in changed:
            changed[f"{name}.bristolType"] = label(changed[f"{name}.bristolType"])
    return changed


def taken(table: pl.DataFrame, contract: Contract) -> dict[int, Record]:
    """Return a table of rows as records."""
    kind = contract.label_kind
    found = {}
    for line, model, subject, split, truth, predicted, confidence, *scalars in table.iter_rows():
        label = None if predicted is None else kind(predicted)
        found[line] = Record(model, subject, split, kind(truth), label, confidence, tuple(scalars))
        assert confidence is None or math.copysign(1, confidence) == 1
    return found


def meant(cell: str | None) -> Any:
    """Return what a cell spells as a JSON number, else its text."""
    if cell is None or cell != cell.strip():
        return cell
    try:
        number = parse_object(b'{"x":%b}' % cell.encode())[0]["x"]
    except Refusal:
        return cell
    return cell if isinstance(number, bool | str | None) else number


@settings(deadline=None, max_examples=300)
@given(data=st.data(), contract=st.sampled_from(CONTRACTS))
def test_cells_are_read_as_json_numbers(data: st.DataObject, contract: Contract) -> None:
    """A cell counts as the JSON number that it spells to the letter; ``4.0``, `` 4`` and ``+4`` are no labels."""
    labels = st.sampled_from([*map(str, contract.labels[:8]), "4", *NUMBER_CELLS, None])
    sure = st.sampled_from(["0.5", "1", *NUMBER_CELLS, None])
    rows = data.draw(st.lists(st.tuples(labels, labels, sure, st.sampled_from(["a", None, "a\0"])), max_size=12))
    names = ("truth.bristolType", "prediction.bristolType", "prediction.confidence", "site")
    cells = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    frame = cells.with_columns(model=pl.lit("m"), subjectKey=pl.lit(KEYS[0]), split=pl.lit("validation"))
    layout = lay_out(dict.fromkeys(frame.columns, CELL), contract)
    assert isinstance(layout, Layout)
    read = read_typed(columns_of(frame, layout), layout, every=True)
    broken = {fault.line for fault in read.ledger.shown}
    records = taken(read.table, contract)
    for line, row in enumerate(frame.iter_rows(named=True)):
        whole = contract.label_kind is int
        document = {**row, "prediction.confidence": meant(row["prediction.confidence"])}
        document |= {name: meant(row[name]) if whole else row[name] for name in names[:2]}
        found = expected_of(document | {"meta.kind": None}, contract)
        assert records.get(line, found) == found
        assert (line in broken) is not isinstance(found, Record)
    assert broken.isdisjoint(records)
    assert len(broken) + len(records) == len(rows)


@pytest.mark.parametrize(
    ("label", "confidence", "predicted"),
    [
        ("4", "0.5", "4"),
        ("4.0", None, None),
        (" 4", None, None),
        ("+4", None, None),
        ("04", None, None),
        ("4e0", None, None),
        ("٤", None, None),
    ],
)
def test_a_label_in_a_cell_is_spelled_as_in_json(label: str, confidence: str | None, predicted: str | None) -> None:
    """Only the plain digits are a label."""
    row = {"model": "m", "subjectKey": KEYS[0], "split": "validation", "truth.bristolType": label}
    frame = pl.DataFrame([{**row, "prediction.bristolType": label, "prediction.confidence": "0.5"}])
    layout = lay_out(dict.fromkeys(frame.columns, CELL), BRISTOL)
    assert isinstance(layout, Layout)
    read = read_typed(columns_of(frame, layout), layout, every=True, unit="line")
    assert read.table["predicted"].to_list() == ([predicted] if predicted else [])
    words = "must be a whole number from 1 to 7, written without fraction, exponent or quotes"
    assert [fault.message for fault in read.ledger.shown] == ([] if predicted else [words, words])


TEXT, INTS, REALS = Kind("text", "String"), Kind("whole", "Int64"), Kind("float", "Float64")
NULLS = Kind("null", "Null")
FLAT = {
    **dict.fromkeys(("model", "subjectKey", "split"), TEXT),
    **dict.fromkeys(("truth.bristolType", "prediction.bristolType"), INTS),
    "prediction.confidence": REALS,
}
TWO_PLACES = (
    "stands in two places, prediction.bristolType and inside prediction; leave one of them out [ambiguous-column]"
)
STRUCT = Kind("struct", "Struct", {"bristolType": INTS, "confidence": REALS})
MISPLACED: Sequence[tuple[dict[str, Kind | None], str]] = (
    ({"model": None}, "model: there is no such column [missing-column]"),
    ({"model": INTS}, "model: is a column of type Int64; it must hold texts [column-type]"),
    (
        {"truth.bristolType": TEXT},
        "truth.bristolType: is a column of type String; it must hold whole numbers [column-type]",
    ),
    (
        {"truth.bristolType": Kind("truth", "Boolean")},
        "truth.bristolType: is a column of type Boolean; it must hold whole numbers [column-type]",
    ),
    (
        {"prediction.confidence": Kind("other", "Decimal(precision=3, scale=2)")},
        "prediction.confidence: is a column of type Decimal(precision=3, scale=2); it must hold numbers [column-type]",
    ),
    (
        {"prediction": STRUCT},
        f"prediction.bristolType: {TWO_PLACES}",
    ),
    (
        {"truth.bristolType": None, "truth": INTS},
        "truth: is a column of type Int64; it must be of structs, for truth.bristolType [column-type]",
    ),
    (
        {"truth.bristolType": None, "truth": Kind("struct", "Struct", {"label": INTS})},
        "truth.bristolType: there is no such field in the column truth [missing-column]",
    ),
)


@pytest.mark.parametrize(("change", "message"), MISPLACED, ids=[message[-40:] for _, message in MISPLACED])
def test_columns_that_cannot_be_what_they_must(change: dict[str, Kind | None], message: str) -> None:
    """A column that is missing, stands twice, or is of a type that cannot hold the field, is refused by name."""
    schema = {name: kind for name, kind in {**FLAT, **change}.items() if kind is not None}
    found = lay_out(schema, BRISTOL)
    assert not isinstance(found, Layout)
    assert message in [str(fault) for fault in found]


def test_every_misplaced_column_is_named() -> None:
    """All that is wrong with the columns is said at once."""
    found = lay_out({"model": TEXT, "split": REALS}, BRISTOL)
    assert not isinstance(found, Layout)
    assert [str(fault) for fault in found] == [
        "subjectKey: there is no such column [missing-column]",
        "split: is a column of type Float64; it must hold texts [column-type]",
        "truth.bristolType: there is no such column [missing-column]",
        "prediction.bristolType: there is no such column [missing-column]",
        "prediction.confidence: there is no such column [missing-column]",
    ]


def test_a_column_beside_the_struct_that_its_path_names() -> None:
    """A path that leads into a struct must not end in a column beside it: a null struct would say two things."""
    schema = {name: kind for name, kind in FLAT.items() if not name.startswith("prediction")}
    schema |= {"prediction": STRUCT, "prediction.note": TEXT}
    found = lay_out(schema, replace(BRISTOL, scalars=("prediction.note",)))
    assert not isinstance(found, Layout)
    words = "stands beside the column prediction, in which its path says that it is; put it there"
    assert [str(fault) for fault in found] == [f"prediction.note: {words} [ambiguous-column]"]


def test_a_field_of_the_contract_may_be_absent_only_where_it_is_none_of_its_own() -> None:
    """A stratum whose column is missing is absent everywhere; one of a type that is no scalar is refused."""
    contract = replace(BRISTOL, scalars=("site",))
    found = lay_out(FLAT, contract)
    assert isinstance(found, Layout)
    assert "scalar_0" not in found.columns
    refused = lay_out({**FLAT, "site": Kind("other", "List(String)")}, contract)
    assert not isinstance(refused, Layout)
    words = "is a column of type List(String); it must hold texts, numbers, truth values, dates or times"
    assert [str(fault) for fault in refused] == [f"site: {words} [column-type]"]


def test_columns_of_nothing_but_nulls() -> None:
    """Where a writer saw only nulls, a prediction is null; a truth is not there and refused, row by row."""
    frame = pl.DataFrame(
        {"model": ["m"], "subjectKey": [KEYS[0]], "split": ["validation"], "truth": [{"bristolType": 4}]}
    ).with_columns(prediction=pl.lit(None))
    layout = laid_out(frame, BRISTOL)
    assert read_typed(columns_of(frame, layout), layout, every=True).records == 1
    frame = frame.with_columns(truth=pl.lit(None))
    layout = laid_out(frame, BRISTOL)
    found = read_typed(columns_of(frame, layout), layout, every=True)
    assert [str(fault) for fault in found.ledger.shown] == [": row 0: truth: must be an object; found null [object]"]


WHOLE_1_TO_7 = "must be a whole number from 1 to 7, written without fraction, exponent or quotes"
BROKEN_ROWS: Sequence[tuple[str, list[Any], str]] = (
    ("truth.bristolType", [4.0, 4.5], f"{WHOLE_1_TO_7}; the column is of floats (Float64); found 4.5 [truth]"),
    ("truth.bristolType", [4, 2**63 - 1], f"{WHOLE_1_TO_7}; found 9223372036854775807 [truth]"),
    ("prediction.confidence", [0.5, math.nan], "must be a number from 0 to 1; found NaN [confidence]"),
    ("prediction.confidence", [0.5, None], f"{HALF_OFFERED.message}; found null [prediction]"),
    ("model", ["m", None], "must be a text; found null [model]"),
    ("model", ["m", "a\0b"], 'no name may hold the character U+0000; found "a\\u0000b" [nul]'),
    ("split", ["validation", "dev"], 'must be train, validation or test; found "dev" [split]'),
    (
        "subjectKey",
        [KEYS[0], "Ann"],
        "must be exactly 16 lower-case hexadecimal digits; found a text of length 3 [subject-key]",
    ),
)


@pytest.mark.parametrize(("field", "values", "message"), BROKEN_ROWS)
def test_what_is_wrong_with_a_row_is_said(field: str, values: list[Any], message: str) -> None:
    """A row that breaks a rule is named with its number, its field, its value and the rule."""
    row = {"model": "m", "subjectKey": KEYS[0], "split": "validation", "truth.bristolType": 4}
    row |= {"prediction.bristolType": 4, "prediction.confidence": 0.5}
    frame = pl.DataFrame([row, row]).with_columns(pl.Series(field, values))
    layout = laid_out(frame, BRISTOL)
    found = read_typed(columns_of(frame, layout), layout, every=True)
    assert [str(fault) for fault in found.ledger.shown] == [f": row 1: {field}: {message}"]
    assert found.records == 1


@pytest.mark.parametrize("kind", FLOATS)
def test_minus_zero_is_zero(kind: type[pl.DataType]) -> None:
    """A confidence of -0.0 is 0.0: else two cuts would be one."""
    frame = pl.DataFrame({"prediction.confidence": pl.Series([-0.0, 0.0], dtype=kind)})
    frame = frame.with_columns(**{"truth.bristolType": 4, "prediction.bristolType": 4})
    frame = frame.with_columns(model=pl.lit("m"), subjectKey=pl.lit(KEYS[0]), split=pl.lit("validation"))
    layout = laid_out(frame, BRISTOL)
    found = read_typed(columns_of(frame, layout), layout, every=True).table["confidence"]
    assert [str(value) for value in found] == ["0.0", "0.0"]


def test_a_float_column_of_whole_labels_is_read_and_remarked() -> None:
    """Labels in a column of floats are taken where each is whole, and the caller is told."""
    frame = pl.DataFrame(
        {"truth.bristolType": [4.0], "prediction.bristolType": [None], "prediction.confidence": [None]}
    )
    frame = frame.with_columns(model=pl.lit("m"), subjectKey=pl.lit(KEYS[0]), split=pl.lit("validation"))
    layout = laid_out(frame, BRISTOL)
    assert read_typed(columns_of(frame, layout), layout, every=True).table["truth"].to_list() == ["4"]
    assert layout.remarks == ["truth.bristolType is a column of floats (Float64); every value is whole"]


def test_dates_are_texts_as_iso_8601_writes_them() -> None:
    """A date or a time that strata are made of is its ISO text, to the last digit that it has."""
    from datetime import date, datetime, timedelta, timezone

    zone = timezone(timedelta(hours=2))
    columns: dict[str, list[Any]] = {
        "day": [date(2026, 1, 5), date(1, 1, 1), None],
        "at": [datetime(2026, 1, 5, 7, 30), datetime(2026, 1, 5, 7, 30, 0, 250_000), datetime(9999, 12, 31)],  # noqa: DTZ001
        "zoned": [datetime(2026, 1, 5, 7, 30, tzinfo=zone)] * 3,
    }
    row = {"model": "m", "subjectKey": KEYS[0], "split": "validation", "truth.bristolType": 4, "prediction": None}
    frame = pl.DataFrame([row] * 3).with_columns(pl.Series(name, values) for name, values in columns.items())
    layout = laid_out(frame, replace(BRISTOL, scalars=("day", "at", "zoned")))
    found = read_typed(columns_of(frame, layout), layout, every=True).table
    assert found["scalar_0"].to_list() == ["2026-01-05", "0001-01-01", None]
    assert found["scalar_1"].to_list() == ["2026-01-05T07:30:00", "2026-01-05T07:30:00.250", "9999-12-31T00:00:00"]
    assert found["scalar_2"].to_list() == ["2026-01-05T05:30:00+00:00"] * 3


def test_a_date_beyond_the_calendar_does_no_harm() -> None:
    """A date past the year 9999 stands for itself as the number that is stored."""
    far = pl.Series("day", [2**31 - 1], pl.Int32).cast(pl.Date)
    row = {"model": "m", "subjectKey": KEYS[0], "split": "validation", "truth.bristolType": 4, "prediction": None}
    frame = pl.DataFrame([row]).with_columns(far)
    layout = laid_out(frame, replace(BRISTOL, scalars=("day",)))
    assert read_typed(columns_of(frame, layout), layout, every=True).table["scalar_0"].to_list() == ["2147483647"]


def test_scalars_are_their_json_texts() -> None:
    """What strata are made of is spelled as JSON spells it, whatever the library would make of it."""
    row = {"model": "m", "subjectKey": KEYS[0], "split": "validation", "truth.bristolType": 4, "prediction": None}
    columns = [
        pl.Series("a", [1e-05, 1e16, 3.0, -0.0, 0.1]),
        pl.Series("b", [True, False, True, None, None]),
        pl.Series("c", [2**64 - 1, 0, 7, None, 1], pl.UInt64),
    ]
    frame = pl.DataFrame([row] * 5).with_columns(columns)
    layout = laid_out(frame, replace(BRISTOL, scalars=("a", "b", "c")))
    found = read_typed(columns_of(frame, layout), layout, every=True).table
    assert found["scalar_0"].to_list() == ["1e-05", "1e+16", "3.0", "-0.0", "0.1"]
    assert found["scalar_1"].to_list() == ["true", "false", "true", None, None]
    assert found["scalar_2"].to_list() == ["18446744073709551615", "0", "7", None, "1"]


def test_names_that_look_like_patterns_are_names() -> None:
    """A column named like a regular expression, or like a wildcard, is that column."""
    fields = Fields("^m$", "*", "s", "a.b", "p", "c")
    frame = pl.DataFrame({"^m$": ["x"], "*": [KEYS[0]], "s": ["validation"], "a.b": [4], "p": [None], "c": [None]})
    layout = laid_out(frame, replace(BRISTOL, fields=fields))
    assert read_typed(columns_of(frame, layout), layout, every=True).models == {"x"}


def test_json_is_what_the_law_compares_with() -> None:
    """The helper of these tests reads cells as JSON does."""
    assert [meant(cell) for cell in ("4", "4.5", " 4", "+4", "true", "x", "-0")] == [4, 4.5, " 4", "+4", "true", "x", 0]
    assert json.loads("-0") == 0
