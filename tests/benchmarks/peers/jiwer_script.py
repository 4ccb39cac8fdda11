"""Character and word error rates by jiwer, with its defaults.

    python tests/benchmarks/peers/jiwer_script.py CASES.jsonl

Prints one JSON line.
"""

import json
import sys
from pathlib import Path


def main(path: Path) -> None:
    """Print both rates."""
    import jiwer  # here, for the tests import every module, and this one need not be installed

    with path.open(encoding="utf-8") as file:
        cases = [json.loads(line) for line in file]
    references = [case["reference"] for case in cases]
    outputs = [case["output"] for case in cases]
    rates = {"OCR CER": jiwer.cer(references, outputs), "OCR WER": jiwer.wer(references, outputs)}
    print(json.dumps(rates))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
