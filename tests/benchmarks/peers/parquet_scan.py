"""The least that any tool must do with a Parquet dump: scan the columns that evalkit reads and count by groups.

    python tests/benchmarks/peers/parquet_scan.py DUMP.parquet

Nothing is checked, digested, chosen or judged. The contributor's key enters as its largest, so that its column is read.
"""

import sys

import polars as pl


def main(path: str) -> None:
    """Scan and count."""
    counted = (
        pl.scan_parquet(path)
        .group_by("model", "split", "truth", "predicted")
        .agg(n=pl.len(), confidence=pl.col("confidence").sum(), last=pl.col("subject_key").max())
        .collect(engine="streaming")
    )
    print(counted.height)


if __name__ == "__main__":
    main(sys.argv[1])
