"""The evaluation as a DuckDB script: two reads with columns, one join, no checks.

    python tests/benchmarks/peers/vectors_duckdb.py PREDICTIONS.jsonl GOLD.jsonl

Prints one JSON line per family, sorted by family.
"""

import json
import sys

import duckdb

QUERY = """
with p as (
  select * from read_json($predictions, format = 'newline_delimited', columns = {id: 'VARCHAR',
    option_ids: 'VARCHAR[]', probabilities: 'DOUBLE[]', label: 'VARCHAR'})
), g as (
  select * from read_json($gold, format = 'newline_delimited',
    columns = {id: 'VARCHAR', gold: 'VARCHAR', family: 'VARCHAR'})
), j as (
  select coalesce(family, 'unlabelled') as family, gold, option_ids, probabilities as v, label,
    list_max(probabilities) as confidence, probabilities[list_position(option_ids, gold)] as on_gold
  from g left join p using (id)
), t as (
  select family, gold, v is not null as scored, confidence,
    coalesce(option_ids[list_position(v, confidence)], label) as predicted,
    case when v is not null then -ln(greatest(on_gold, 1e-12)) end as nll,
    list_dot_product(v, v) - 2 * on_gold + 1 as brier,
    least(9, floor(confidence * 10)) as bin
  from j
)
select family, gold, bin, count(*) filter (predicted is not null) as predicted,
  count(*) filter (predicted = gold) as correct, count(*) filter (scored) as scored,
  count(*) filter (scored and predicted = gold) as hits, coalesce(sum(nll), 0) as nll,
  coalesce(sum(brier), 0) as brier, coalesce(sum(confidence), 0) as confidence
from t group by all
"""


def main() -> None:
    """Print the measures of each family."""
    con = duckdb.connect()
    tally = con.execute(QUERY, {"predictions": sys.argv[1], "gold": sys.argv[2]}).fetchall()
    for family in sorted({row[0] for row in tally}):
        rows = [row for row in tally if row[0] == family]
        predicted, scored = sum(row[3] for row in rows), sum(row[5] for row in rows)
        classes: dict[str, list[int]] = {}
        bins: dict[float, list[float]] = {}
        for _, gold, place, known, correct, _, hits, _, _, confidence in rows:
            held = classes.setdefault(gold, [0, 0])
            held[0], held[1] = held[0] + known, held[1] + correct
            if place is not None:
                both = bins.setdefault(place, [0.0, 0.0])
                both[0], both[1] = both[0] + hits, both[1] + confidence
        numbers = {
            "family": family,
            "accuracy": sum(row[4] for row in rows) / predicted,
            "balanced_accuracy": sum(right / known for known, right in classes.values()) / len(classes),
            "nll": sum(row[7] for row in rows) / scored,
            "brier_multiclass": sum(row[8] for row in rows) / scored,
            "ece": sum(abs(hits - confidence) for hits, confidence in bins.values()) / scored,
        }
        print(json.dumps(numbers))


if __name__ == "__main__":
    main()
