"""The benchmark of text: from file to character and word error rates, beside jiwer.

    python tests/benchmarks/text.py [--lines 20000] [--pages 500] [--runs 3]

Short lines and long pages, with six characters of a hundred replaced, dropped or doubled. Texts hold single blanks
alone, so that jiwer, which strips them and splits at blanks, counts what evalkit counts.
"""

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness import Target, cache_folder, describe, positive, prepare, run_rounds
from ranking import HEADER, SOURCES, measured, peers, shown

METRICS = ("OCR CER", "OCR WER")
LETTERS = "etaoinshrdlucmfwypvbgkjqxz"
NOISE = 0.06

PEER_TARGETS = {"jiwer_script": Target(1)}
MODULES = {"jiwer_script": "jiwer"}


def text(numbers: random.Random, length: int) -> str:
    """Invent a text of words."""
    words: list[str] = []
    size = 0
    while size < length:
        words.append("".join(numbers.choices(LETTERS, k=numbers.randint(1, 10))))
        size += len(words[-1]) + 1
    return " ".join(words)


def misread(numbers: random.Random, reference: str) -> str:
    """Replace, drop or double letters, never blanks."""

    def read(letter: str) -> str:
        if letter == " " or numbers.random() > NOISE:
            return letter
        return numbers.choice((numbers.choice(LETTERS), "", letter * 2))

    return " ".join(filter(None, "".join(map(read, reference)).split(" ")))


def cases(number: int, length: int) -> Iterator[dict[str, str]]:
    """Invent cases, the same ones every time."""
    numbers = random.Random(7)
    for case in range(number):
        reference = text(numbers, length)
        yield {"case_id": f"c{case}", "source_id": "s", "reference": reference, "output": misread(numbers, reference)}


def file(folder: Path, number: int, length: int) -> Path:
    """Give cases as JSON Lines, made if missing."""
    path = folder / f"text-{number}-{length}.jsonl"
    if not path.exists():
        print(f"generating {path.name}", file=sys.stderr)
        lines = "".join(json.dumps(case) + "\n" for case in cases(number, length))
        path.write_text(lines, encoding="utf-8")
    return path


def error_rates(folder: Path, number: int, length: int, rounds: int) -> bool:
    """Time evalkit and jiwer; tell whether all numbers agree."""
    path = file(folder, number, length)
    prepare([path])
    with tempfile.TemporaryDirectory() as scratch:
        header = Path(scratch) / "header.json"
        header.write_text(json.dumps(HEADER | SOURCES), encoding="utf-8")
        evalkit = measured("evalkit", [header, "--ocr", path], Path(scratch) / "report.json", METRICS)
        others = peers(MODULES, [str(path)])
        run_rounds([evalkit, *others], rounds)
    return shown(f"{number:,} texts of {length:,}", [evalkit], others, PEER_TARGETS)


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="benchmark error rates against jiwer")
    parser.add_argument("--lines", type=positive, default=20_000, help="lines of 60 characters")
    parser.add_argument("--pages", type=positive, default=500, help="pages of 3,000 characters")
    parser.add_argument("--runs", type=positive, default=3, help="rounds in which every command takes its turn")
    arguments = parser.parse_args()
    folder = cache_folder()
    print(describe())
    agreed = error_rates(folder, arguments.lines, 60, arguments.runs)
    agreed &= error_rates(folder, arguments.pages, 3000, arguments.runs)
    return 0 if agreed else 1


if __name__ == "__main__":
    sys.exit(main())
