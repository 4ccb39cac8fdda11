"""The evaluation as a Polars script: two scans with a schema, lazy expressions, no checks.

    python tests/benchmarks/peers/vectors_polars.py PREDICTIONS.jsonl GOLD.jsonl

Prints one JSON line per family, sorted by family.
"""

import sys

import polars as pl
from vectors_tally import show

PREDICTION: dict[str, pl.DataType] = {
    "id": pl.String(),
    "option_ids": pl.List(pl.String()),
    "probabilities": pl.List(pl.Float64()),
    "label": pl.String(),
}
GOLD: dict[str, pl.DataType] = {"id": pl.String(), "gold": pl.String(), "family": pl.String()}

if __name__ == "__main__":
    show(pl.scan_ndjson(sys.argv[1], schema=PREDICTION), pl.scan_ndjson(sys.argv[2], schema=GOLD))
