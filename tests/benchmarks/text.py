"""The benchmark of recorded text: from file to character and word error rates, beside jiwer and bare rapidfuzz.

Short lines and long pages stand in one file, with six characters of a hundred replaced, dropped or doubled. Texts hold
single blanks alone, so that jiwer, which strips them and splits at blanks, counts what evalkit counts.
"""

import json
import os
import random
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness import Target, generated, prepare, run_rounds
from memory import memory_table
from observed import HEADER, Peer, installed, measured, shown

METRICS = ("OCR CER", "OCR WER")
LETTERS = "etaoinshrdlucmfwypvbgkjqxz"
NOISE = 0.06
LINE, PAGE = 60, 3_000
MEMORY_LINES = (100_000, 1_000_000)
GROWTH_TARGET = Target(1.6)

CORES = os.cpu_count() or 1
PEERS = (
    Peer("jiwer_script", "jiwer", Target(0.5)),
    Peer("rapidfuzz_script", "rapidfuzz", Target(1.5 / CORES)),
)
"""rapidfuzz runs on one thread: as many processes as there are cores would need its time divided by their number."""


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


def cases(lines: int, pages: int) -> Iterator[dict[str, str]]:
    """Invent lines and pages, the same ones every time."""
    numbers = random.Random(7)
    for case in range(lines + pages):
        reference = text(numbers, LINE if case < lines else PAGE)
        yield {"case_id": f"c{case}", "source_id": "s", "reference": reference, "output": misread(numbers, reference)}


def repeated(lines: int) -> Iterator[dict[str, str]]:
    """Repeat a few thousand lines under new ids."""
    some = list(cases(min(lines, 20_000), 0))
    for case in range(lines):
        yield some[case % len(some)] | {"case_id": f"c{case}"}


def as_lines(found: Iterable[dict[str, str]]) -> Iterator[str]:
    """Write cases as JSON Lines."""
    return (json.dumps(case) + "\n" for case in found)


def error_rates(folder: Path, lines: int, pages: int, rounds: int) -> bool:
    """Time evalkit and its peers; tell whether all numbers agree."""
    path = generated(folder / f"text-{lines}-{pages}.jsonl", as_lines(cases(lines, pages)))
    peers = installed(PEERS)
    prepare([path], [peer.module for peer in peers])
    with tempfile.TemporaryDirectory() as scratch:
        header = Path(scratch) / "header.json"
        header.write_text(json.dumps(HEADER), encoding="utf-8")
        evalkit = measured("evalkit measure", [header, "--ocr", path], Path(scratch) / "report.json", METRICS)
        others = [(peer, peer.entry([str(path)])) for peer in peers]
        run_rounds([evalkit, *(entry for _, entry in others)], rounds)
    return shown(f"{lines:,} lines of {LINE}, {pages:,} pages of {PAGE:,}", [evalkit], others)


def memory(folder: Path) -> None:
    """Measure how the peak memory of all processes grows with the number of lines."""
    paths = [generated(folder / f"lines-{lines}.jsonl", as_lines(repeated(lines))) for lines in MEMORY_LINES]
    prepare(paths, [])
    with tempfile.TemporaryDirectory() as scratch:
        header, report = Path(scratch) / "header.json", Path(scratch) / "report.json"
        header.write_text(json.dumps(HEADER), encoding="utf-8")
        entries = [
            measured(f"evalkit measure, {lines:,} lines", [header, "--ocr", path], report, METRICS)
            for lines, path in zip(MEMORY_LINES, paths, strict=True)
        ]
        memory_table(entries, GROWTH_TARGET)
