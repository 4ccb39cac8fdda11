"""Rankings by pytrec_eval: its own parsers, grades rewritten to gains of 2^grade - 1, means over queries.

    python tests/benchmarks/peers/pytrec_eval_script.py FOLDER SYSTEM...

Prints one JSON line per system.
"""

import json
import sys
from pathlib import Path


def main(folder: Path, systems: list[str]) -> None:
    """Print the metrics of every system."""
    import pytrec_eval  # here, for the tests import every module, and this one need not be installed

    with (folder / "qrels").open(encoding="utf-8") as file:
        qrels = pytrec_eval.parse_qrel(file)
    gains = {query: {document: 2**grade - 1 for document, grade in own.items()} for query, own in qrels.items()}
    evaluator = pytrec_eval.RelevanceEvaluator(gains, {"recall.10", "ndcg_cut.10"})
    for system in systems:
        with (folder / f"{system}.run").open(encoding="utf-8") as file:
            found = evaluator.evaluate(pytrec_eval.parse_run(file)).values()
        recall = sum(one["recall_10"] for one in found) / len(found)
        ndcg = sum(one["ndcg_cut_10"] for one in found) / len(found)
        print(json.dumps({"system": system, "Recall@10": recall, "nDCG@10": ndcg}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
