"""What the benchmarks of ``evalkit measure`` share: its runs, its peers, and the table of both."""

import importlib.util
import json
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import PEERS, Entry, Scores, Target, agreement, ratio, row, table

HEADER = {
    "run_id": "benchmark",
    "model_revision": "none",
    "dataset_id": "generated",
    "synthetic": True,
    "split": "held_out",
    "source_ids": ["s"],
    "development_source_ids": [],
}
"""The document beside the lists that come as files."""


@dataclass(frozen=True)
class Peer:
    """A script of ``peers/``, which prints one JSON line for each system.

    Attributes:
        name: The script.
        module: What must be installed.
        target: evalkit's wall time divided by the script's.
        rounds: How often it takes its turn; None: in every round.
    """

    name: str
    module: str
    target: Target
    rounds: int | None = None

    def entry(self, arguments: Sequence[str]) -> Entry:
        """Describe a run."""
        command = [sys.executable, str(PEERS / f"{self.name}.py"), *arguments]
        return Entry(self.name, command, printed, rounds=self.rounds)


def installed(peers: Iterable[Peer]) -> list[Peer]:
    """Return the peers that can run, and name the others."""
    found = []
    for peer in peers:
        if importlib.util.find_spec(peer.module) is None:
            print(f"{peer.name} is left out: {peer.module} is not installed (tests/benchmarks/requirements.txt)")
        else:
            found.append(peer)
    return found


def measured(name: str, arguments: Sequence[str | Path], report: Path, metrics: Sequence[str]) -> Entry:
    """Describe a run of evalkit."""
    command = [sys.executable, "-m", "evalkit", "measure", *map(str, arguments), "--output", str(report), "--quiet"]
    return Entry(name, command, evaluation(report, metrics))


def evaluation(report: Path, metrics: Sequence[str]) -> Callable[[str], Scores]:
    """Return what reads the evaluation, and removes it so that the next run has to write its own."""

    def scores(_output: str) -> Scores:
        found = json.loads(report.read_bytes())["metrics"]
        report.unlink()
        return by_system(
            {"system": one.get("system"), one["name"]: one["value"]} for one in found if one["name"] in metrics
        )

    return scores


def printed(output: str) -> Scores:
    """Read the lines that a peer printed."""
    return by_system(json.loads(line) for line in output.splitlines())


def by_system(rows: Iterable[Mapping[str, object]]) -> Scores:
    """Put the numbers of each system together."""
    found: Scores = {}
    for one in rows:
        numbers = {name: value for name, value in one.items() if name != "system"}
        found.setdefault(str(one.get("system") or "all"), {}).update(numbers)  # type: ignore[arg-type]
    return found


def shown(what: str, evalkit: Sequence[Entry], others: Sequence[tuple[Peer, Entry]]) -> bool:
    """Print the table, in which the first entry is held against the peers, and tell whether all numbers agree."""
    rows = [row(one) for one in evalkit]
    for peer, entry in others:
        value = ratio(evalkit[0], entry)
        rows.append(row(entry, f"{value:.2f}", peer.target, peer.target.verdict(value)))
    print("\n" + table([what, "wall s", "CPU s", "RSS MiB", "evalkit/peer", "target", "verdict"], rows))
    return agreement(evalkit[0], [*evalkit[1:], *(entry for _, entry in others)])
