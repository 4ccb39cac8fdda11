"""Judge the example predictions with the command line as a user would, then read one of the tables.

    python docs/demo.py    from the project's root

The same output every time; results are put into ``demo-results/``.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
from shell import environment

DUMPS = "data-fixtures/selective"
RESULTS = "demo-results"
EVALKIT = Path(sys.executable).with_name("evalkit")

RUNS = (
    (
        "A dump of predictions is judged; one candidate passes all gates",
        f"{DUMPS}/go.jsonl --min-coverage 0.5 --json {RESULTS}/go.json --out {RESULTS}/go",
        0,
    ),
    (
        "In this dump no candidate passes",
        f"{DUMPS}/blocked.jsonl --min-coverage 0.5 --json {RESULTS}/blocked.json",
        3,
    ),
    (
        "This dump has a contributor in two splits; it is refused, and no report is written",
        f"{DUMPS}/leaked.jsonl --min-coverage 0.5 --json {RESULTS}/leaked.json",
        2,
    ),
)
"""What is shown, the arguments of ``evalkit compare``, and the exit code that they must give."""

MODEL = "heron-2"
"""The candidate whose rows are shown."""

MEANINGS = {0: "GO", 3: "BLOCKED", 2: "refused"}


def main() -> None:
    """Show the runs, then a table."""
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    for number, (title, arguments, expected) in enumerate(RUNS, 1):
        _show_run(f"{number}. {title}.", arguments, expected)
    _show_table(f"{len(RUNS) + 1}. The tables of the first run are Parquet; this is one of them, read with Polars.")
    print(f"Reports and tables are in {RESULTS}/.")


def _show_run(title: str, arguments: str, expected: int) -> None:
    print(f"{title}\n\n$ evalkit compare {arguments}")
    done = subprocess.run(
        [EVALKIT, "compare", *arguments.split()],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
    )
    print(done.stdout.rstrip())
    if done.returncode != expected:
        raise SystemExit(f"the demo expected exit code {expected}, not {done.returncode}")
    print(f"(exit code {expected}: {MEANINGS[expected]})\n")


def _show_table(title: str) -> None:
    path = f"{RESULTS}/go/per_class.parquet"
    table = pl.read_parquet(path)
    columns = ["label", "support", "predicted", "precision", "recall", "f1"]
    print(f'{title}\n\n>>> table = pl.read_parquet("{path}")')
    print(f'>>> table.filter(pl.col("model") == "{MODEL}").select({str(columns)[1:-1]})'.replace("'", '"'))
    with pl.Config(tbl_width_chars=80, tbl_rows=20, float_precision=4, tbl_formatting="ASCII_MARKDOWN"):
        print(table.filter(pl.col("model") == MODEL).select(columns), end="\n\n")


if __name__ == "__main__":
    main()
