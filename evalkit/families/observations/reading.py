"""Reads list after list: digest, sums, ids that stand twice, and all that is wrong, each with its place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from evalkit.errors import SHOWN_LINES, Ledger, Refusal, Violation
from evalkit.families.observations import rankings
from evalkit.families.observations.canonical import Digest
from evalkit.families.observations.cases import FAMILIES
from evalkit.families.observations.document import RETRIEVAL, Document
from evalkit.families.observations.given import parts
from evalkit.families.observations.ids import Ids
from evalkit.families.observations.measured import Tallies
from evalkit.families.observations.part import Part, Task, added, read_part
from evalkit.families.observations.result import MeasurementReport, report
from evalkit.families.observations.spread import Spread
from evalkit.families.ranking.metrics import MAX_GRADE
from evalkit.families.ranking.tally import Tally as Rankings
from evalkit.records.strict_json import show
from evalkit.sources.source import Source

if TYPE_CHECKING:
    from evalkit.engines.engine import Engine
    from evalkit.families.ranking.trec import TrecCounts
    from evalkit.reading.read import Progress
    from evalkit.uncertainty.chosen import Chosen

_CASES = 2_000
"""Cases of a document that are read at a time."""

_CHARACTERS = 500_000
"""Characters of text from which fewer are."""

_PIECE_BYTES = 256 * 1024
"""About how many bytes of lines are read at a time: so few that no worker is left long with the last of them."""

Where = Callable[[Violation], Violation]
"""Puts a violation, whose line is a place in a list, in its place in the input."""


@dataclass(frozen=True, slots=True)
class Judged:
    """Judged rankings in the files of TREC.

    Attributes:
        qrels: The file of judgments.
        runs: The file of each system's rankings.
        source: The declared source of all queries.
        max_grade: The highest grade that may stand in the judgments.
        drop_queries_without_relevant: Whether queries without a relevant document are left out and counted.
    """

    qrels: str
    runs: Mapping[str, str]
    source: str
    max_grade: int = MAX_GRADE
    drop_queries_without_relevant: bool = False


@dataclass(frozen=True, slots=True)
class ByEngine:
    """Reads parts as ``Spread`` does, by the workers of an engine; the lines go along, for all are digested here."""

    sources: Collection[str] | None
    engine: Engine

    def read(self, tasks: Iterable[Task]) -> Iterator[Part]:
        """Read parts; results come in the order of the tasks, which are taken as workers fall free."""
        return self.engine.gather(partial(read_part, sources=self.sources), tasks, in_order=True)


class Reading:
    """What was read so far."""

    def __init__(
        self,
        document: Document,
        label: str,
        progress: Progress | None = None,
        chosen: Chosen | None = None,
        engine: Engine | None = None,
    ) -> None:
        """Begin with a document whose header was judged, and the name that it is reported under."""
        self._engine = engine
        self._chosen = chosen
        self._clusters: dict[str, dict[Any, Any]] = {}
        self._progress = progress
        self._document = document
        self._label = label
        self._tallies: dict[str, dict[str | None, Any]] = {}
        self._rankings = Rankings()
        self._trec: TrecCounts | None = None
        self._shown: list[Violation] = []
        self._counts: Counter[str] = Counter()
        self._broken = 0
        self.digest = Digest()
        self._note(Ledger.of((fault,) for fault in document.faults), lambda fault: replace(fault, file=label))

    def refuse_twice(self, lists: Mapping[str, Sequence[Any]], files: Collection[str]) -> None:
        """Note the lists that come from more than one place; an empty one in the document is none."""
        message = "must come from one place: the document, a file of JSON Lines, or TREC files"
        places = Counter([*files, *(name for name, cases in lists.items() if cases)])
        several = sorted(name for name, times in places.items() if times > 1)
        twice = (Violation("list-twice", message, self._label, field=name) for name in several)
        self._note(Ledger.of((fault,) for fault in twice), lambda fault: fault)

    def cases(self, name: str, cases: Sequence[Any], spread: Spread | ByEngine) -> None:
        """Read a list that stands in the document."""
        if name == RETRIEVAL:
            found: Iterable[Part] = [rankings.cases_part(cases, self._document.sources, by_source=self._clustered)]
        else:
            found = spread.read(Task(name, some, self._clustered) for some in _portions(cases))

        def where(fault: Violation) -> Violation:
            inside = f".{fault.field}" if fault.field else ""
            return replace(fault, file=self._label, line=None, field=f"{name}[{fault.line}]{inside}")

        self._list(name, found, where, lambda place: f"{name}[{place}]")

    def lines(self, name: str, source: Source, spread: Spread | ByEngine) -> None:
        """Read a list that comes as JSON Lines."""
        if name != RETRIEVAL:
            pieces = (some for part in self._watched(parts(source)) for some in _pieces(part))
            found = spread.read(Task(name, some, self._clustered) for some in pieces)
        else:
            found = self._rankings_of(source)

        def where(fault: Violation) -> Violation:
            inside = f".{fault.field}" if fault.field else ""
            return replace(fault, file=source.label, line=(fault.line or 0) + 1, field=f"{name}{inside}")

        self._list(name, found, where, lambda place: f"line {place + 1}")

    def _rankings_of(self, source: Source) -> Iterator[Part]:
        some = self._watched(parts(source, rankings.PART_BYTES))
        return rankings.line_parts(some, self._document.sources, self._engine, by_source=self._clustered)

    def judged(self, judged: Judged) -> None:
        """Read judged rankings from the files of TREC."""
        from evalkit.families.ranking.trec import read_trec

        declared = self._document.sources
        if declared is not None and judged.source not in declared:
            message = "must be one of source_ids"
            fault = Violation("source-not-declared", message, self._label, field="--source", value=show(judged.source))
            self._note(Ledger.of([(fault,)]), lambda fault: fault)
        drop = judged.drop_queries_without_relevant
        try:
            found = read_trec(
                judged.qrels,
                judged.runs,
                judged.source,
                max_grade=judged.max_grade,
                drop_queries_without_relevant=drop,
            )
        except Refusal as refusal:  # what is wrong elsewhere is said with it
            self._note(Ledger(refusal.violations, refusal.counts, refusal.lines), lambda fault: fault)
            return
        self._rankings, self._trec = found.tally, found.counts
        self.digest.open_list(RETRIEVAL)
        for one in found.canonical():
            self.digest.cases(one)
        self.digest.close_list()

    def report(self) -> MeasurementReport:
        """Make the report.

        Raises:
            Refusal: Something is wrong; everything that is, is said.
        """
        header = self._document.header
        if self._broken or header is None:
            raise Refusal(self._shown, self._counts, self._broken)
        tallies = Tallies(self._tallies, self._rankings, self._clusters)
        return report(header, tallies, self.digest.hexdigest(), self._trec, self._chosen)

    @property
    def _clustered(self) -> bool:
        return self._chosen is not None

    def _watched(self, some: Iterable[bytes]) -> Iterator[bytes]:
        for part in some:
            yield part
            if self._progress is not None:
                self._progress(len(part), part.count(b"\n"))

    def _list(self, name: str, found: Iterable[Part], where: Where, place: Callable[[int], str]) -> None:
        base = 0
        self.digest.open_list(name)
        with Ids() as ids:
            for part in found:
                ids.add([base + one for one in part.places], part.ids)
                self.digest.cases(part.canonical)
                self._add(name, part.tally)
                if part.clusters is not None:
                    _add_to(self._clusters.setdefault(name, {}), part.clusters)
                self._note(part.ledger, lambda fault, base=base: where(replace(fault, line=base + (fault.line or 0))))  # type: ignore[misc]
                base += part.size
            self._note(Ledger.of(_twice(name, ids, place)), where)
        self.digest.close_list()

    def _add(self, name: str, tally: Any) -> None:
        if name == RETRIEVAL:
            self._rankings += tally
        else:
            _add_to(self._tallies.setdefault(name, {}), tally)

    def _note(self, ledger: Ledger, where: Where) -> None:
        """Keep the violations of the first broken places in words, and count all."""
        room = max(SHOWN_LINES - self._broken, 0)
        kept = list(dict.fromkeys(fault.line for fault in ledger.shown))[:room]
        self._shown += [where(fault) for fault in ledger.shown if fault.line in kept]
        self._counts.update(ledger.counts)
        self._broken += ledger.lines


def _add_to(own: dict[Any, Any], tally: Mapping[Any, Any]) -> None:
    own |= added({one: own[one] for one in tally if one in own}, tally)  # strata may be many: none is copied


def _twice(name: str, ids: Ids, place: Callable[[int], str]) -> Iterator[tuple[Violation, ...]]:
    field = "query_id" if name == RETRIEVAL else FAMILIES[name].id
    for one in ids.twice():
        message = f"no id may stand twice; this one stands at {place(one.first)} too"
        yield (Violation("id-twice", message, line=one.place, field=field, value=show(one.id)),)


def _portions(cases: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Cut a list into portions of about the same work."""
    start = held = 0
    for place, case in enumerate(cases):
        if isinstance(case, dict):
            held += sum(len(member) for member in case.values() if isinstance(member, str))
        if held >= _CHARACTERS or place + 1 - start == _CASES:
            yield cases[start : place + 1]
            start, held = place + 1, 0
    if start < len(cases):
        yield cases[start:]


def _pieces(part: bytes) -> Iterator[bytes]:
    """Cut whole lines into smaller parts of whole lines."""
    start = 0
    while start < len(part):
        stop = part.find(b"\n", start + _PIECE_BYTES) + 1 or len(part)
        yield part[start:stop]
        start = stop
