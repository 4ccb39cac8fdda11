"""The comparison as a DuckDB script: the file is read once, then plain SQL, no checks.

    python tests/benchmarks/peers/duckdb_script.py DUMP.jsonl

Prints one JSON line per model, sorted by model.
"""

import json
import sys

import duckdb

FLOOR = 0.5

READ = """
create temp table records as
select
    model,
    split,
    truth.bristolType as truth,
    prediction.bristolType as predicted,
    prediction.confidence as confidence
from read_json(
    $path,
    format = 'newline_delimited',
    columns = {
        model: 'VARCHAR',
        split: 'VARCHAR',
        truth: 'STRUCT(bristolType TINYINT)',
        prediction: 'STRUCT(bristolType TINYINT, confidence DOUBLE)'
    }
)
where split <> 'train'
"""

SCORE = """
with totals as (
    select model, count(*) as total from records where split = 'validation' group by model
),
steps as (
    select model, confidence, count(*) as n, count(*) filter (truth = predicted) as hits
    from records
    where split = 'validation' and confidence is not null
    group by model, confidence
),
cuts as (
    select
        model,
        confidence,
        sum(n) over (partition by model order by confidence desc) as accepted,
        sum(hits) over (partition by model order by confidence desc) as correct
    from steps
),
thresholds as (
    select model, arg_max(confidence, (correct / accepted, accepted)) as threshold
    from cuts join totals using (model)
    where accepted / total >= $floor
    group by model
),
scored as materialized (
    select model, threshold, truth, predicted, confidence, coalesce(confidence >= threshold, false) as accepted
    from records join thresholds using (model)
    where split = 'test'
),
overall as (
    select
        model,
        any_value(threshold) as threshold,
        count(*) filter (accepted) / count(*) as coverage,
        count(*) filter (accepted and truth = predicted) / count(*) filter (accepted) as precision
    from scored
    group by model
),
support as (
    select model, truth as label, count(*) as support, count(*) filter (truth = predicted) as hits
    from scored where accepted group by all
),
guesses as (
    select model, predicted as label, count(*) as guessed from scored where accepted group by all
),
macro as (
    select model, avg(2 * hits / (support + coalesce(guessed, 0))) as macro_f1
    from support left join guesses using (model, label)
    group by model
),
bins as (
    select
        model,
        least(9, floor(confidence * 10)) as bin,
        count(*) as n,
        abs(avg((truth = predicted)::int) - avg(confidence)) as gap
    from scored where accepted group by all
),
calibration as (
    select model, sum(n * gap) / sum(n) as ece from bins group by model
)
select model, threshold, coverage, precision, macro_f1, ece
from overall join macro using (model) join calibration using (model)
order by model
"""

NAMES = ("model", "threshold", "coverage", "precisionAtCoverage", "macroF1", "ece")


def main(path: str) -> None:
    """Read, choose the thresholds on validation, score test, print."""
    connection = duckdb.connect()
    connection.execute("set preserve_insertion_order = false")
    connection.execute(READ, {"path": path})
    for row in connection.execute(SCORE, {"floor": FLOOR}).fetchall():
        print(json.dumps(dict(zip(NAMES, row, strict=True))))


if __name__ == "__main__":
    main(sys.argv[1])
