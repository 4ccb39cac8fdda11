"""Areas under the risk–coverage curve with NumPy, as a notebook would have them; ties go by the order of rows.

python tests/benchmarks/peers/curve_numpy.py OUTCOMES.parquet
"""

import json
import sys

import numpy as np
import polars as pl


def main() -> None:
    """Print the areas."""
    frame = pl.read_parquet(sys.argv[1], columns=["confidence", "correct"])
    wrong = ~frame["correct"].to_numpy()[np.argsort(-frame["confidence"].to_numpy())]
    size, errors = wrong.size, np.cumsum(wrong)
    aurc = float((errors / np.arange(1, size + 1)).mean())
    steps = np.arange(1, errors[-1] + 1)
    ideal = float((steps / (size - errors[-1] + steps)).sum() / size)
    augrc = float((errors - wrong / 2).sum() / size**2)
    print(json.dumps({"aurc": aurc, "augrc": augrc, "e_aurc": aurc - ideal}))


if __name__ == "__main__":
    main()
