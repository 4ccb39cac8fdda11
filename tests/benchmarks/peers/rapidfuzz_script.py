"""Character and word error rates by rapidfuzz alone, on one thread: nothing is checked, and no report is written.

    python tests/benchmarks/peers/rapidfuzz_script.py CASES.jsonl

Prints one JSON line.
"""

import json
import sys
from pathlib import Path

from rapidfuzz.distance import Levenshtein


def main(path: Path) -> None:
    """Print both rates."""
    edits = length = word_edits = words = 0
    with path.open(encoding="utf-8") as file:
        for line in file:
            case = json.loads(line)
            reference, output = case["reference"], case["output"]
            edits += Levenshtein.distance(reference, output)
            length += len(reference)
            split = reference.split()
            word_edits += Levenshtein.distance(split, output.split())
            words += len(split)
    print(json.dumps({"OCR CER": edits / length, "OCR WER": word_edits / words}))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
