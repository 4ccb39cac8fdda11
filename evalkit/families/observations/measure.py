"""``measure``: from labelled observations to a report, list by list in the order of canonical JSON."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from evalkit.errors import Refusal, Violation
from evalkit.families.observations.document import RETRIEVAL, Document, parse_document
from evalkit.families.observations.given import sources_of, whole
from evalkit.families.observations.reading import ByEngine, Judged, Reading
from evalkit.families.observations.result import MeasurementReport
from evalkit.families.observations.spread import PATIENCE, WORKERS, Spread
from evalkit.families.ranking.metrics import MAX_GRADE
from evalkit.reading.engine import Asked, engine_of, workers_of
from evalkit.sources.source import Source
from evalkit.uncertainty.asked import MIN_CONTRIBUTORS, REPLICATES
from evalkit.uncertainty.chosen import Chosen, choose

if TYPE_CHECKING:
    from evalkit.engines.engine import Engine
    from evalkit.reading.read import Progress

DOCUMENT = "document"
OPTIONS: Mapping[str, str] = {
    "ocr": "ocr_cases",
    "commands": "commands",
    "retrieval": RETRIEVAL,
    "proposals": "proposals",
    "claims": "claims",
    "merges": "merges",
    "queue": "queue",
}
"""The lists that may come as JSON Lines, by the option that names their file."""


@dataclass(frozen=True, slots=True)
class Question:
    """What ``measure`` is asked to read.

    Attributes:
        document: The document's path, or what it holds.
        files: The JSON Lines of a list, by the list's name.
        judged: Rankings in the files of TREC, or None.
        chosen: The statistics wanted, or None.
    """

    document: str | Mapping[str, Any]
    files: Mapping[str, str] = field(default_factory=dict)
    judged: Judged | None = None
    chosen: Chosen | None = None

    @property
    def paths(self) -> dict[str, str]:
        """All files, by what they hold."""
        named = {DOCUMENT: self.document} if isinstance(self.document, str) else {}
        if self.judged is not None:
            named |= {"qrels": self.judged.qrels, **{f"run {name}": path for name, path in self.judged.runs.items()}}
        return {**named, **self.files}


def measure(
    document: str | os.PathLike[str] | Mapping[str, Any],
    *,
    ocr: str | os.PathLike[str] | None = None,
    commands: str | os.PathLike[str] | None = None,
    retrieval: str | os.PathLike[str] | None = None,
    proposals: str | os.PathLike[str] | None = None,
    claims: str | os.PathLike[str] | None = None,
    merges: str | os.PathLike[str] | None = None,
    queue: str | os.PathLike[str] | None = None,
    qrels: str | os.PathLike[str] | None = None,
    runs: Mapping[str, str | os.PathLike[str]] | None = None,
    source: str | None = None,
    max_grade: int = MAX_GRADE,
    drop_queries_without_relevant: bool = False,
    interval: str | float | Decimal | Fraction | None = None,
    replicates: int = REPLICATES,
    seed: int = 0,
    min_contributors: int = MIN_CONTRIBUTORS,
    executor: Asked = None,
) -> MeasurementReport:
    """Measure labelled observations: recorded texts, commands, rankings and reviews beside what is right.

    Args:
        document: The observation document: a path, ``-`` for standard input, or its content as plain data.
        ocr: JSON Lines that hold ``ocr_cases``, in place of those of the document; and so the next six.
        commands: ``commands``.
        retrieval: ``retrieval_queries``.
        proposals: ``proposals``.
        claims: ``claims``.
        merges: ``merges``.
        queue: ``queue``.
        qrels: A TREC file of judgments, in place of ``retrieval_queries``.
        runs: A TREC file of rankings for each system.
        source: The declared source that the queries of these files are about.
        max_grade: The highest grade that the judgments may give.
        drop_queries_without_relevant: Leave out judged queries without a relevant document, and count them.
        interval: The confidence of intervals, such as ``"0.95"``; none are made where it is not given.
        replicates: Resamples; no measure of today needs them.
        seed: Their seed.
        min_contributors: Fewest sources that an interval is given for.
        executor: Who reads cases: an executor of Dask or any other, or a text as ``--engine`` takes it; the default is
            processes of this machine. The report is the same.

    Returns:
        The report. A family without a case has null values; the same observations give the same report, whatever
        file they stand in.

    Raises:
        Refusal: Something cannot be measured honestly. Nothing is measured then.
        OSError: The machine failed, not the input.

    >>> import evalkit
    >>> case = {"case_id": "1", "source_id": "s", "reference": "a tea pot", "output": "a teapot"}
    >>> header = {"run_id": "r", "model_revision": "m", "dataset_id": "d", "synthetic": True, "split": "held_out"}
    >>> sources = {"source_ids": ["s"], "development_source_ids": []}
    >>> found = evalkit.measure({**header, **sources, "ocr_cases": [case]})
    >>> found["OCR CER"]["value"], found["OCR WER"]["numerator"], found["Claim support"]["reason"]
    (0.1111111111111111, 2, 'no-cases')
    """
    lists = zip(OPTIONS.values(), (ocr, commands, retrieval, proposals, claims, merges, queue), strict=True)
    files = {name: os.fspath(path) for name, path in lists if path is not None}
    named = {system: os.fspath(path) for system, path in (runs or {}).items()}
    judgments = None if qrels is None else os.fspath(qrels)
    judged = judged_of(judgments, named, source, max_grade, drop_queries_without_relevant)
    plain = document if isinstance(document, Mapping) else os.fspath(document)
    chosen = choose(interval, replicates, seed, min_contributors)
    with workers_of(executor) as found:
        return answer(Question(plain, files, judged, chosen), engine=engine_of(found))


def judged_of(
    qrels: str | None,
    runs: Mapping[str, str],
    source: str | None,
    max_grade: int,
    drop: bool,  # noqa: FBT001
) -> Judged | None:
    """Put together what is said of TREC files; None where nothing is.

    Raises:
        Refusal: Judgments, rankings or the source are lacking.
    """
    if qrels is None and not runs and source is None and max_grade == MAX_GRADE and not drop:
        return None
    if qrels is None or not runs or source is None:
        message = "judgments, at least one run and the source of the queries must be named together"
        raise Refusal.of(Violation("trec-options", message))
    return Judged(qrels, runs, source, max_grade, drop)


def answer(
    question: Question,
    workers: int = WORKERS,
    patience: float = PATIENCE,
    progress: Progress | None = None,
    engine: Engine | None = None,
) -> MeasurementReport:
    """Read what a question names, and measure it. See ``measure``.

    Args:
        question: What to read.
        workers: How many processes may read at a time.
        patience: Seconds of work after which they are started.
        progress: Told how many bytes and lines of JSON Lines were read.
        engine: Reads in their place; TREC files are read here all the same.
    """
    sources = sources_of(question.paths)
    document, label = _document(question, sources.pop(DOCUMENT, None))
    reading = Reading(document, label, progress, question.chosen, engine)
    from_files = [*question.files, *([RETRIEVAL] if question.judged else [])]
    reading.refuse_twice(document.lists, from_files)
    header = {} if document.header is None else document.header.plain
    own = Spread(document.sources, workers, patience)
    with own if engine is None else nullcontext(ByEngine(document.sources, engine)) as spread:
        for name in sorted({*header, *document.lists, *from_files}):
            if name == RETRIEVAL and question.judged is not None:
                reading.judged(question.judged)
            elif name in question.files:
                reading.lines(name, sources[name], spread)
            elif name in document.lists:
                reading.cases(name, document.lists[name], spread)
            else:
                reading.digest.value(name, header[name])
    return reading.report()


def _document(question: Question, source: Source | None) -> tuple[Document, str]:
    """Read the document, and tell what it is called."""
    label = DOCUMENT if source is None else source.label
    try:
        raw = _written(question.document) if source is None else whole(source)
        return parse_document(raw), label
    except Refusal as refusal:
        raise Refusal.of(*(replace(one, file=label) for one in refusal.violations)) from None


def _written(document: object) -> bytes:
    """Write plain data as JSON, so that it is judged as a file is.

    Raises:
        Refusal: It holds what JSON does not have.
    """
    try:
        written = json.dumps(document, default=_member).encode("utf-8")
    except TypeError:  # of a key: a member of another type is told by itself
        raise _none_of_json("every key must be a text") from None
    except (ValueError, RecursionError):
        raise _none_of_json("nothing may be nested so deep, or hold itself") from None
    if _has_other_keys(document):
        raise _none_of_json("every key must be a text")
    return written


def _member(value: object) -> dict[Any, Any]:
    if isinstance(value, Mapping):
        return dict(value)
    raise _none_of_json("must be made of mappings, lists, texts, numbers, truth values and None", type(value).__name__)


def _none_of_json(message: str, found: str | None = None) -> Refusal:
    return Refusal.of(Violation("json", message, value=found))


def _has_other_keys(value: object) -> bool:
    """Tell whether plain data has a key that is no text, at any level: JSON would make it one."""
    inside = [value]
    while inside:
        one = inside.pop()
        if type(one) in _SCALARS:
            continue
        if isinstance(one, Mapping):
            if not all(isinstance(key, str) for key in one):
                return True
            inside.extend(one.values())
        elif isinstance(one, list | tuple):
            inside.extend(one)
    return False


_SCALARS = frozenset({str, bool, int, float, type(None)})
