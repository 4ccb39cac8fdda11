"""The benchmark of ``evalkit evaluate``: probability vectors with seven options against gold.

Vectors are those of an invented classifier; every tenth row has other options, or another order of them, and every
fiftieth no vector but a label.
"""

import json
import random
import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness import PEERS, Entry, Scores, Target, agreement, generated, prepare, ratio, row, run_rounds, table

FIELDS = ("accuracy", "balanced_accuracy", "nll", "brier_multiclass", "ece")
OPTIONS = ["anger", "disgust", "fear", "joy", "neutral", "sadness", "surprise"]
SETS = (OPTIONS, OPTIONS[::-1], [*OPTIONS[:6], "other"])
FAMILIES = ("news", "forum", "chat", "mail", None)

# Wall of evalkit divided by that of the peer.
TARGETS = {
    "vectors_duckdb": Target(1.2),
    "vectors_polars": Target(0.8),
    "vectors_numpy": Target(0.15),
}
PARQUET_TARGET = Target(1.5)
MEMORY_RATIO_TARGET = Target(1.6)
SLOW_ROUNDS = 1


def options(number: int) -> list[str]:
    """Give the options of a row."""
    return SETS[0] if number % 10 else SETS[1 + number % 20 // 10]


def predictions(rows: int) -> Iterator[str]:
    """Yield prediction lines in a random order."""
    rng = random.Random(20260102)
    order = list(range(rows))
    rng.shuffle(order)
    for number in order:
        listed = options(number)
        weights = [rng.random() ** 3 for _ in listed]
        total = sum(weights)
        line: dict[str, object] = {"id": f"row-{number:08d}", "option_ids": listed}
        line["probabilities"] = [weight / total for weight in weights]
        if number % 50 == 7:
            line["probabilities"], line["label"] = None, listed[number % 7]
        yield json.dumps(line, separators=(",", ":")) + "\n"


def gold(rows: int) -> Iterator[str]:
    """Yield gold lines."""
    rng = random.Random(20260103)
    for number in range(rows):
        line = {"id": f"row-{number:08d}", "gold": rng.choice(options(number))}
        family = FAMILIES[number % len(FAMILIES)]
        yield json.dumps(line | ({} if family is None else {"family": family}), separators=(",", ":")) + "\n"


def pair(folder: Path, rows: int) -> tuple[Path, Path]:
    """Give predictions and gold of so many rows, generated if missing."""
    given, right = folder / f"vectors-{rows}.jsonl", folder / f"gold-{rows}.jsonl"
    return generated(given, predictions(rows)), generated(right, gold(rows))


def as_parquet(path: Path) -> Path:
    """Give the same rows as Parquet with columns of lists, made if missing."""
    import polars as pl

    target = path.with_suffix(".parquet")
    if not target.exists():
        kinds: dict[str, pl.DataType] = {"id": pl.String(), "gold": pl.String(), "family": pl.String()}
        if path.name.startswith("vectors"):
            kinds = {"id": pl.String(), "option_ids": pl.List(pl.String()), "probabilities": pl.List(pl.Float64())}
            kinds["label"] = pl.String()
        pl.scan_ndjson(path, schema=kinds).sink_parquet(target)
    return target


def evalkit_entry(name: str, sides: tuple[Path, Path], report: Path) -> Entry:
    """Describe a run of evalkit."""
    command = [sys.executable, "-m", "evalkit", "evaluate", "--predictions", str(sides[0]), "--gold", str(sides[1])]

    def scores(_output: str) -> Scores:
        text = report.read_text(encoding="utf-8")
        report.unlink()
        families = json.loads(text)["by_family"]
        return by_family({"family": family, **numbers} for family, numbers in families.items())

    return Entry(name, [*command, "--json", str(report), "--quiet"], scores)


def peer_entry(name: str, sides: tuple[Path, Path]) -> Entry:
    """Describe a run of a peer."""
    command = [sys.executable, str(PEERS / f"{name}.py"), *map(str, sides)]

    def scores(output: str) -> Scores:
        return by_family(json.loads(line) for line in output.splitlines())

    return Entry(name, command, scores, rounds=SLOW_ROUNDS if name == "vectors_numpy" else None)


def by_family(rows: Iterable[dict[str, object]]) -> Scores:
    """Keep the compared numbers of every family."""
    return {str(one["family"]): {name: float(str(one[name])) for name in FIELDS} for one in rows}


def vectors(folder: Path, rows: int, rounds: int) -> bool:
    """Time evalkit and its peers; tell whether all numbers agree."""
    sides = pair(folder, rows)
    tables = as_parquet(sides[0]), as_parquet(sides[1])
    prepare([*sides, *tables])
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.json"
        lines = evalkit_entry("evalkit evaluate", sides, report)
        columns = evalkit_entry("evalkit evaluate, Parquet", tables, report)
        peers = [peer_entry(name, sides) for name in TARGETS]
        join = peer_entry("vectors_parquet", tables)
        run_rounds([lines, *peers, columns, join], rounds)
        half = evalkit_entry(f"evalkit evaluate, {rows // 4:,}", pair(folder, rows // 4), report)
        run_rounds([half], 1)
    size = sides[0].stat().st_size / 1e6
    head = [f"{rows:,} vectors, {size:.0f} MB", "wall s", "CPU s", "RSS MiB", "value", "target", "verdict"]
    rows_ = [row(lines)]
    for peer in peers:
        value, target = ratio(lines, peer), TARGETS[peer.name]
        rows_.append(row(peer, f"{value:.2f}", target, target.verdict(value)))
    value = ratio(columns, join)
    rows_ += [row(columns), row(join, f"{value:.2f}", PARQUET_TARGET, PARQUET_TARGET.verdict(value))]
    growth = lines.rss / half.rss
    rows_.append(row(half, f"{growth:.2f} *", MEMORY_RATIO_TARGET, MEMORY_RATIO_TARGET.verdict(growth)))
    print("\n" + table(head, rows_))
    print("\n* memory of four times as many rows / memory of these")
    return agreement(lines, [*peers, columns, join])
