"""The evaluation as a Polars script over Parquet with columns of lists, no checks.

    python tests/benchmarks/peers/vectors_parquet.py PREDICTIONS.parquet GOLD.parquet

Prints one JSON line per family, sorted by family.
"""

import sys

import polars as pl
from vectors_tally import show

if __name__ == "__main__":
    show(pl.scan_parquet(sys.argv[1]), pl.scan_parquet(sys.argv[2]))
