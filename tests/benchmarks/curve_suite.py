"""Run the whole risk–coverage suite on outcomes in Parquet, and print its areas as JSON.

python tests/benchmarks/curve_suite.py OUTCOMES.parquet
"""

import json
import sys

import polars as pl

from evalkit.risk_coverage.suite import suite


def main() -> None:
    """Measure and print."""
    found = suite(pl.read_parquet(sys.argv[1]))
    print(json.dumps({"aurc": found.aurc.value, "augrc": found.augrc.value, "e_aurc": found.e_aurc.value}))


if __name__ == "__main__":
    main()
