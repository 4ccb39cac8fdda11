"""The comparison as a DuckDB script that first checks every record, as far as SQL can.

    python tests/benchmarks/peers/duckdb_checked.py DUMP.jsonl

The values are read as JSON, so that ``true``, ``"4"`` and ``4.0`` are not taken for labels. A violation of any rule is
counted and printed on standard error, with exit code 2 and no scores. One statement reads the file once and keeps the
validation and test records, and every broken one. No key can be in two splits when each split is the one that its
key derives, so a leak needs no rule of its own. What this does not see: a key written twice in one object, the line
of a violation.

Prints one JSON line per model, sorted by model.
"""

import json
import sys

import duckdb
from duckdb_script import FLOOR, NAMES, SCORE

SHAPE = {
    "model": "JSON",
    "subjectKey": "JSON",
    "split": "JSON",
    "truth": {"bristolType": "JSON"},
    "prediction": {"bristolType": "JSON", "confidence": "JSON"},
}

SPACES = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())

# The fields are JSON text: strings keep their quotes. Names beginning with an ASCII letter or digit are told apart
# first: they need no (slow) trim.
READ = """
create temp table records as
with parsed as (
    select json, json_transform(json, $shape) as record from read_ndjson_objects($path)
),
fields as (
    select
        record.model as model,
        record.model::varchar as model_text,
        record.subjectKey::varchar as key,
        record.split::varchar as split,
        record.truth.bristolType::varchar as truth,
        record.prediction is not null as offered,
        case
            when record.prediction is null then json_type(json, '$.prediction') is distinct from 'NULL' else false
        end as absent,
        record.prediction.bristolType::varchar as predicted,
        record.prediction.confidence::varchar as confidence
    from parsed
),
checked as (
    select
        model ->> '$' as model,
        split[2:-2] as split,
        try_cast(truth as tinyint) as truth,
        try_cast(predicted as tinyint) as predicted,
        try_cast(confidence as double) as confidence,
        case
            when model_text between '"0' and '"[' or model_text between '"a' and '"{' then false
            else (model_text like '"%' and trim(model ->> '$', $spaces) <> '') is not true
        end as bad_model,
        regexp_full_match(key, '"[0-9a-f]{16}"') is not true as bad_key,
        (split in ('"train"', '"validation"', '"test"')) is not true as bad_split,
        split is distinct from case
            when key < '"cd' then '"train"' when key < '"e6' then '"validation"' else '"test"'
        end as bad_derived_split,
        (truth between '1' and '7' and strlen(truth) = 1) is not true as bad_truth,
        absent as bad_prediction,
        offered and (predicted between '1' and '7' and strlen(predicted) = 1) is not true as bad_label,
        offered and (try_cast(confidence as double) between 0 and 1) is not true as bad_confidence
    from fields
)
select * from checked
where
    split is distinct from 'train'
    or bad_model or bad_key or bad_split or bad_derived_split
    or bad_truth or bad_prediction or bad_label or bad_confidence
"""

RULES = {
    "bad_model": "model is not a string, or blank",
    "bad_key": "subjectKey is not 16 lower-case hexadecimal digits",
    "bad_split": "split is not train, validation or test",
    "bad_derived_split": "split is not the one that the key derives",
    "bad_truth": "truth is not a whole number from 1 to 7",
    "bad_prediction": "prediction is absent",
    "bad_label": "predicted label is not a whole number from 1 to 7",
    "bad_confidence": "confidence is not a number from 0 to 1",
}

COUNT = f"select {', '.join(f'count(*) filter ({rule})' for rule in RULES)} from records"  # noqa: S608 - our own rules


def violations(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """Count the records that break a rule, by the rule's text."""
    counts = connection.execute(COUNT).fetchone() or ()
    return {text: count for text, count in zip(RULES.values(), counts, strict=True) if count}


def main(path: str) -> int:
    """Read and check, then choose the thresholds on validation, score test, print."""
    connection = duckdb.connect()
    connection.execute("set preserve_insertion_order = false")
    try:
        connection.execute(READ, {"path": path, "shape": json.dumps(SHAPE), "spaces": SPACES})
    except duckdb.Error as error:
        print(error, file=sys.stderr)
        return 2
    broken = violations(connection)
    for text, count in broken.items():
        print(f"{count} records: {text}", file=sys.stderr)
    if broken:
        return 2
    for row in connection.execute(SCORE, {"floor": FLOOR}).fetchall():
        print(json.dumps(dict(zip(NAMES, row, strict=True))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
