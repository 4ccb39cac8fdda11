"""The benchmark of ranking: from file to Recall@10 and nDCG@10 of three systems, beside pytrec_eval and ranx.

evalkit reads its own JSON Lines, and the same rankings as TREC files; the peers read the TREC files.
"""

import json
import random
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from harness import Target, prepare, run_rounds
from observed import HEADER, Peer, installed, measured, shown

SYSTEMS = ("lexical", "dense", "candidate")
METRICS = ("Recall@10", "nDCG@10")
RESULTS, JUDGED = 100, 20

PEERS = (
    Peer("pytrec_eval_script", "pytrec_eval", Target(0.5)),
    Peer("ranx_script", "ranx", Target(0.5), rounds=1),
)


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
    (folder / "header.json").write_text(json.dumps(HEADER), encoding="utf-8")
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


def ranking(folder: Path, queries: int, rounds: int) -> bool:
    """Time evalkit and its peers; tell whether all numbers agree."""
    made, peers = files(folder, queries), installed(PEERS)
    prepare(sorted(made.iterdir()), ["polars", *(peer.module for peer in peers)])
    runs = [text for system in SYSTEMS for text in ("--run", f"{system}={made / system}.run")]
    with tempfile.TemporaryDirectory() as scratch:
        report, header = Path(scratch) / "report.json", made / "header.json"
        lines = measured("evalkit, JSON Lines", [header, "--retrieval", made / "queries.jsonl"], report, METRICS)
        trec: list[str | Path] = [header, "--qrels", made / "qrels", *runs, "--source", "s"]
        columns = measured("evalkit, TREC files", trec, report, METRICS)
        others = [(peer, peer.entry([str(made), *SYSTEMS])) for peer in peers]
        run_rounds([lines, columns, *(entry for _, entry in others)], rounds)
    return shown(f"{queries:,} queries, 3 × {RESULTS} results", [lines, columns], others)
