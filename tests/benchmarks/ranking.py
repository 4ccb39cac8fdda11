"""The benchmark of ranking: from file to Recall@10 and nDCG@10 of three systems, beside pytrec_eval and ranx.

    python tests/benchmarks/ranking.py [--queries 50000] [--runs 3]

evalkit reads its own JSON Lines, and the same rankings as TREC files; the peers read the TREC files. All
numbers are compared. A peer that is not installed is left out, and named.
"""

import argparse
import importlib.util
import json
import random
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from harness import (
    PEERS,
    Entry,
    Scores,
    Target,
    cache_folder,
    describe,
    positive,
    prepare,
    ratio,
    row,
    run_rounds,
    same,
    table,
)

SYSTEMS = ("lexical", "dense", "candidate")
METRICS = ("Recall@10", "nDCG@10")
RESULTS, JUDGED = 100, 20
HEADER = {
    "run_id": "benchmark",
    "model_revision": "none",
    "dataset_id": "generated",
    "synthetic": True,
    "split": "held_out",
}
SOURCES = {"source_ids": ["s"], "development_source_ids": []}

PEER_TARGETS = {"pytrec_eval_script": Target(0.5), "ranx_script": Target(0.5)}
MODULES = {"pytrec_eval_script": "pytrec_eval", "ranx_script": "ranx"}


def cases(queries: int) -> Iterator[dict[str, object]]:
    """Invent queries, the same ones every time."""
    numbers = random.Random(7)
    for query in range(queries):
        pool = list(dict.fromkeys(f"doc{numbers.randrange(10**7):07d}" for _ in range(RESULTS + RESULTS // 2)))
        relevance = {document: numbers.choice((0, 0, 1, 1, 2, 3)) for document in numbers.sample(pool, JUDGED)}
        relevance[next(iter(relevance))] = 1
        rankings = {system: numbers.sample(pool, RESULTS) for system in SYSTEMS}
        yield {"query_id": f"q{query}", "source_id": "s", "relevance": relevance, **rankings}


def files(folder: Path, queries: int) -> Path:
    """Give a folder with the queries as JSON Lines and as TREC files, made if missing."""
    made = folder / f"ranking-{queries}"
    if made.exists():
        return made
    print(f"generating {made.name}", file=sys.stderr)
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        inside = Path(scratch) / "made"
        inside.mkdir()
        _write(inside, queries)
        inside.rename(made)
    return made


def _write(folder: Path, queries: int) -> None:
    (folder / "header.json").write_text(json.dumps(HEADER | SOURCES), encoding="utf-8")
    names = ("queries.jsonl", "qrels", *(f"{system}.run" for system in SYSTEMS))
    written = {name: (folder / name).open("w", encoding="utf-8") for name in names}
    for case in cases(queries):
        query, relevance = case["query_id"], case["relevance"]
        written["queries.jsonl"].write(json.dumps(case) + "\n")
        assert isinstance(relevance, dict)
        written["qrels"].writelines(f"{query} 0 {document} {grade}\n" for document, grade in relevance.items())
        for system in SYSTEMS:
            ranking = case[system]
            assert isinstance(ranking, list)
            written[f"{system}.run"].writelines(
                f"{query} Q0 {document} {rank} {RESULTS - rank / 2} x\n" for rank, document in enumerate(ranking, 1)
            )
    for file in written.values():
        file.close()


def evaluation(report: Path, names: Sequence[str]) -> Callable[[str], Scores]:
    """Return what reads the evaluation, and removes it so that the next run has to write its own."""

    def scores(_output: str) -> Scores:
        metrics = json.loads(report.read_bytes())["metrics"]
        report.unlink()
        return by_system(metric | {metric["name"]: metric["value"]} for metric in metrics if metric["name"] in names)

    return scores


def printed(output: str) -> Scores:
    """Read the lines that a peer printed."""
    return by_system(json.loads(line) for line in output.splitlines())


def by_system(rows: Iterable[Mapping[str, object]]) -> Scores:
    """Put the numbers of each system together."""
    found: Scores = {}
    for one in rows:
        numbers = {name: value for name, value in one.items() if "@" in name or name.startswith("OCR")}
        found.setdefault(str(one.get("system") or ""), {}).update(numbers)  # type: ignore[arg-type]
    return found


def measured(name: str, arguments: Sequence[str | Path], report: Path, names: Sequence[str]) -> Entry:
    """Describe a run of evalkit."""
    command = [sys.executable, "-m", "evalkit", "measure", *map(str, arguments), "--output", str(report), "--quiet"]
    return Entry(name, command, evaluation(report, names))


def peers(modules: Mapping[str, str], arguments: Sequence[str]) -> list[Entry]:
    """Describe the runs of the peers that are installed."""
    found = []
    for name, module in modules.items():
        if importlib.util.find_spec(module) is None:
            print(f"{module} is not installed, and left out")
            continue
        found.append(Entry(name, [sys.executable, str(PEERS / f"{name}.py"), *arguments], printed))
    return found


def shown(what: str, evalkit: Sequence[Entry], others: Sequence[Entry], targets: Mapping[str, Target]) -> bool:
    """Print the table, and tell whether all numbers agree."""
    rows = [row(one) for one in evalkit]
    for peer in others:
        value, target = ratio(evalkit[0], peer), targets[peer.name]
        rows.append(row(peer, f"{value:.2f}", target, target.verdict(value)))
    print("\n" + table([what, "wall s", "CPU s", "RSS MiB", "evalkit/peer", "target", "verdict"], rows))
    agreed = True
    for other in (*evalkit[1:], *others):
        differing = differences(evalkit[0].found, other.found)
        print(f"  {other.name}: {'the same numbers' if not differing else 'DIFFERENT: ' + '; '.join(differing)}")
        agreed = agreed and not differing
    return agreed


def differences(ours: Scores, theirs: Scores) -> list[str]:
    """Name every number that is not the same to 1e-9."""
    keys = {(system, name) for scores in (ours, theirs) for system, found in scores.items() for name in found}
    pairs = {key: [scores.get(key[0], {}).get(key[1]) for scores in (ours, theirs)] for key in sorted(keys)}
    return [f"{system} {name}: {a} and {b}" for (system, name), (a, b) in pairs.items() if not same(a, b)]


def ranking(folder: Path, queries: int, rounds: int) -> bool:
    """Time evalkit and its peers; tell whether all numbers agree."""
    made = files(folder, queries)
    prepare(sorted(made.iterdir()))
    runs = [text for system in SYSTEMS for text in ("--run", f"{system}={made / system}.run")]
    with tempfile.TemporaryDirectory() as scratch:
        report, header = Path(scratch) / "report.json", made / "header.json"
        lines = measured("evalkit, JSON Lines", [header, "--retrieval", made / "queries.jsonl"], report, METRICS)
        trec: list[str | Path] = [header, "--qrels", made / "qrels", *runs, "--source", "s"]
        other_files = measured("evalkit, TREC files", trec, report, METRICS)
        others = peers(MODULES, [str(made), *SYSTEMS])
        for other in others:
            other.rounds = 1 if other.name == "ranx_script" else None
        run_rounds([lines, other_files, *others], rounds)
    return shown(f"{queries:,} queries, 3 × {RESULTS} results", [lines, other_files], others, PEER_TARGETS)


def main() -> int:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description="benchmark rankings against pytrec_eval and ranx")
    parser.add_argument("--queries", type=positive, default=50_000, help="queries, each with 3 rankings of 100")
    parser.add_argument("--runs", type=positive, default=3, help="rounds in which every command takes its turn")
    arguments = parser.parse_args()
    print(describe())
    return 0 if ranking(cache_folder(), arguments.queries, arguments.runs) else 1


if __name__ == "__main__":
    sys.exit(main())
