"""Rankings by ranx: its own readers, and the exponential gain.

    python tests/benchmarks/peers/ranx_script.py FOLDER SYSTEM...

Prints one JSON line per system.
"""

import json
import sys
from pathlib import Path


def main(folder: Path, systems: list[str]) -> None:
    """Print the metrics of every system."""
    from ranx import Qrels, Run, evaluate  # here, for the tests import every module, and this one need not be installed

    qrels = Qrels.from_file(str(folder / "qrels"), kind="trec")
    for system in systems:
        run = Run.from_file(str(folder / f"{system}.run"), kind="trec")
        found = evaluate(qrels, run, ["recall@10", "ndcg_burges@10"])
        print(json.dumps({"system": system, "Recall@10": found["recall@10"], "nDCG@10": found["ndcg_burges@10"]}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
