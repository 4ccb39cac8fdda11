"""``evaluate``: from predictions and gold to a report, in the order of the pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from evalkit.errors import Ledger, Refusal, Violation
from evalkit.exact import tolerance
from evalkit.families.probability import refuse
from evalkit.families.probability.defaults import BINS, MAX_BINS, MAX_GOLD, SUM_TOLERANCE
from evalkit.families.probability.gold import Gold, GoldKind, compact
from evalkit.families.probability.join import MORE_KEYS, Joined, join
from evalkit.families.probability.metrics import Bin, Class, Counts
from evalkit.families.probability.prediction import FIELDS, Prediction
from evalkit.families.probability.result import Evaluation, evaluation
from evalkit.families.probability.terms import BIN_KEYS, CLASS_KEYS
from evalkit.formats.flat import FlatRows, nothing
from evalkit.reading.contributors import CONTRIBUTOR
from evalkit.reading.counted import Place, assert_records, empty, evidence_of, ledger_of
from evalkit.reading.engine import WORKERS, Asked, Workers, digests_by, gather, workers_of
from evalkit.reading.read import Progress
from evalkit.reading.tally import Pile, merge
from evalkit.records.rules import is_name
from evalkit.records.strict_json import show
from evalkit.sources.formats import read_flat
from evalkit.sources.partition import Inputs, Partition
from evalkit.sources.source import listed, resolve_sides
from evalkit.uncertainty.asked import MIN_CONTRIBUTORS, REPLICATES
from evalkit.uncertainty.chosen import Chosen, choose

if TYPE_CHECKING:
    from evalkit.sources.source import Input
    from evalkit.uncertainty.told import Statistics

_READ = frozenset(one.name for one in (*FIELDS, *GoldKind().fields))
"""The fields that mean something already."""


@dataclass(frozen=True)
class Question:
    """What ``evaluate`` is asked about its inputs; see there."""

    bins: int = BINS
    sum_tolerance: Fraction = Fraction(SUM_TOLERANCE)
    synthetic: bool = False
    run: Mapping[str, Any] | None = None
    max_gold: int = MAX_GOLD
    chosen: Chosen | None = None

    def __post_init__(self) -> None:
        if type(self.bins) is not int or not 1 <= self.bins <= MAX_BINS:
            message = f"must be a whole number from 1 to {MAX_BINS:,}"
            raise Refusal.of(Violation("bins", message, field="bins", value=str(self.bins)))
        if self.cluster_by is not None and (self.cluster_by in {*_READ, "row"} or not is_name(self.cluster_by)):
            message = f"must name a field of its own, none of {', '.join(sorted(_READ))}"
            raise Refusal.of(Violation("cluster-by", message, field="cluster-by", value=show(self.cluster_by)))

    @property
    def cluster_by(self) -> str | None:
        """The field that rows are clustered by, or None."""
        return None if self.chosen is None else self.chosen.cluster_by


def evaluate(
    predictions: Input | Iterable[Input],
    gold: Input | Iterable[Input],
    *,
    bins: int = BINS,
    sum_tolerance: str | float | Decimal | Fraction = SUM_TOLERANCE,
    synthetic: bool = False,
    run: Mapping[str, Any] | None = None,
    max_gold: int = MAX_GOLD,
    interval: str | float | Decimal | Fraction | None = None,
    replicates: int = REPLICATES,
    seed: int = 0,
    min_contributors: int = MIN_CONTRIBUTORS,
    cluster_by: str | None = None,
    calibration: bool = False,
    executor: Asked = None,
) -> Evaluation:
    r"""Measure probability vectors against gold: accuracy, calibration and proper scores, per family and model.

    Args:
        predictions: One or more inputs whose records hold ``id``, ``option_ids`` (distinct texts in their declared
            order), and optionally ``probabilities`` (a number for each option, or null), ``label`` (used where there
            is no vector) and ``model``. Files, patterns, folders, ``-`` and data frames, as for ``compare``.
        gold: The same with ``id``, ``gold`` (one of the row's options), and optionally ``family`` and ``positive``.
        bins: The number of equal-width confidence bins, at least 1.
        sum_tolerance: How far the sum of a vector may be off 1, best as decimal text. Vectors are never renormalised.
        synthetic: Say in the report that the records are invented.
        run: The caller's own record of the run, put into the report as it is.
        interval: The confidence of intervals, such as ``"0.95"``; none are made where it is not given.
        replicates: Resamples for the expected calibration error.
        seed: Their seed.
        min_contributors: Fewest clusters of rows that an interval is given for.
        cluster_by: The field of gold, or of predictions, that says which rows belong together: a text, or a whole
            number. Without it each row stands for itself.
        calibration: Judge calibration honestly.
        max_gold: Most gold rows; they are held in memory, by every worker too.
        executor: Where files are read: an executor of Dask or any other, or a text as ``--engine`` takes it; the
            default is threads of this process. The report is the same.

    Returns:
        The report. The same records give the same report, however they are ordered or split into files (the evidence
        names the files).

    Raises:
        Refusal: The input cannot be judged honestly: a malformed record, an id twice, a prediction without gold, gold
            that is none of the row's options, no records, a path that cannot be read. Nothing is scored then.
        OSError: The machine failed, not the input.

    >>> import evalkit, pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "p.jsonl").write_text('{"id":"1","option_ids":["a","b"],"probabilities":[0.25,0.75]}\n')
    >>> _ = (folder / "g.jsonl").write_text('{"id":"1","gold":"b"}\n{"id":"2","gold":"a"}\n')
    >>> found = evalkit.evaluate(folder / "p.jsonl", folder / "g.jsonl").overall
    >>> found.accuracy, found.ece, found.brier_multiclass, found.n_missing
    (1.0, 0.25, 0.125, 1)
    """
    chosen = choose(interval, replicates, seed, min_contributors, cluster_by=cluster_by, calibration=calibration)
    question = Question(bins, tolerance(sum_tolerance, "sum-tolerance"), synthetic, run, max_gold, chosen)
    sides = resolve_sides(listed(predictions), listed(gold))
    with workers_of(executor) as workers:
        digests = digests_by(workers)
        with Inputs(sides[0], digests=digests) as given, Inputs(sides[1], digests=digests) as answers:
            return evaluate_inputs(given, answers, question, workers=workers)


class GoldPart(NamedTuple):
    """What one partition of gold gave; lines count from 0 in it."""

    place: Place
    stored: int
    lines: int
    records: int
    ledger: Ledger
    table: pl.DataFrame


def evaluate_inputs(
    predictions: Inputs,
    gold: Inputs,
    question: Question,
    *,
    workers: Workers = WORKERS,
    progress: Progress | None = None,
) -> Evaluation:
    """Read inputs that are open and measure the predictions. See ``evalkit.evaluate``."""
    answers = _read_gold(gold, question, workers, progress)
    held = Gold([(part.place, part.table) for part in answers], question.cluster_by)
    unclustered = _clustered(held, question)
    answers = [part._replace(table=part.table.clear()) for part in answers]
    kind = Prediction(question.sum_tolerance, None if CONTRIBUTOR in held.table.columns else question.cluster_by)
    calibration = question.chosen is not None and question.chosen.calibration
    task = partial(join, kind=kind, gold=held, bins=question.bins, calibration=calibration)
    by_class, by_bin = (Pile(partial(merge, keys=keys)) for keys in (CLASS_KEYS, BIN_KEYS))
    more = {name: Pile(partial(merge, keys=keys)) for name, keys in MORE_KEYS.items()}
    parts: list[Joined] = []
    for part in gather(task, predictions.partitions(), workers):
        by_class.add(part.by_class)
        by_bin.add(part.by_bin)
        for name, tally in part.more.tallies.items():
            more[name].add(tally)
        parts.append(part.emptied())
        if progress is not None:
            progress(part.stored, part.records)
    malformed = refuse.explained(ledger_of(predictions, parts), predictions, parts, workers)
    refuse.refuse(malformed, ledger_of(gold, answers), refuse.partly_named(predictions, parts))
    evidence = {"predictions": evidence_of(predictions, parts), "gold": evidence_of(gold, answers)}
    for side in evidence.values():
        assert_records(side)
    twice = refuse.twice_predicted(held, predictions, parts, workers)
    refuse.refuse(twice, refuse.twice_in_gold(held, gold, answers))
    refuse.refuse(refuse.apart(predictions, parts), refuse.without_gold(predictions, parts))
    refuse.refuse(refuse.unclustered_gold(held, unclustered, gold, answers, question.cluster_by))
    refuse.refuse(refuse.unclustered(predictions, parts, question.cluster_by))
    counts = _counts(held.items(), by_class.whole(), by_bin.whole(), _models(parts))
    return evaluation(
        counts,
        question.bins,
        evidence,
        synthetic=question.synthetic,
        run=question.run,
        warnings=tuple(remark for side in evidence.values() for remark in empty(side)),
        judged=None if question.chosen is None else _judged(counts, more, question.chosen, question.bins),
    )


def _clustered(held: Gold, question: Question) -> int | None:
    """Say of each gold row to which cluster it belongs; where no gold row tells, predictions do.

    Returns:
        The first gold row that does not tell, though others do; None where there is none.
    """
    if question.chosen is None:
        return None
    if question.cluster_by is None:
        from evalkit.uncertainty.row_keys import row_keys

        held.table = held.table.with_columns(row_keys(held.table["id"]).alias(CONTRIBUTOR))
        return None
    lacking = held.table[CONTRIBUTOR].is_null()
    if lacking.all():
        held.table = held.table.drop(CONTRIBUTOR)
        return None
    return lacking.arg_max() if lacking.any() else None


def _judged(
    counts: Mapping[str | None, Mapping[str, Counts]], more: Mapping[str, Pile], chosen: Chosen, bins: int
) -> tuple[Statistics, pl.DataFrame]:
    """Say how sure the numbers are, and of which tallies that was made."""
    from evalkit.families.probability.statistics import Tallies, statistics

    found = {name: merge([pile.whole()], MORE_KEYS[name]) for name, pile in more.items() if pile.whole().width}
    tallies = Tallies(**found)
    return statistics(counts, tallies, chosen, bins), tallies.contributors


def _read_gold(gold: Inputs, question: Question, workers: Workers, progress: Progress | None) -> list[GoldPart]:
    parts: list[GoldPart] = []
    records = 0
    task = partial(_read_gold_part, cluster_by=question.cluster_by)
    for part in gather(task, gold.partitions(), workers):
        parts.append(part)
        records += part.records
        if records > question.max_gold:
            message = (
                f"holds more than {question.max_gold:,} gold rows, which are held in memory, about 100 bytes each; "
                "evaluate parts of the families apart, or allow more by --max-gold"
            )
            raise Refusal.of(Violation("too-much-gold", message, ", ".join(gold.labels)))
        if progress is not None:
            progress(part.stored, part.records)
    return parts


def _read_gold_part(partition: Partition, cluster_by: str | None = None) -> GoldPart:
    kind = GoldKind(cluster_by)
    found: list[FlatRows] = list(read_flat(partition, kind))
    return GoldPart(
        (partition.source, partition.number),
        partition.stored,
        sum(rows.lines for rows in found),
        sum(rows.records for rows in found),
        sum((rows.ledger for rows in found), Ledger()),
        pl.concat(compact(rows, cluster_by) for rows in [one.table.rows for one in found] or [nothing(kind).rows]),
    )


def _models(parts: Sequence[Joined]) -> list[str | None]:
    """Return the models of all predictions, sorted; one that is None where none is named."""
    names = pl.concat([part.met["model"].unique() for part in parts]).unique() if parts else pl.Series([])
    return sorted(names.cast(pl.String).drop_nulls()) or [None]


def _counts(
    items: Mapping[str, int], by_class: pl.DataFrame, by_bin: pl.DataFrame, models: Sequence[str | None]
) -> dict[str | None, dict[str, Counts]]:
    """Turn tallies into the counts of each model and family."""
    classes: dict[tuple[str | None, str], dict[str, Class]] = {}
    for model, family, label, n, correct in merge([by_class], CLASS_KEYS).iter_rows():
        classes.setdefault((model, family), {})[label] = Class(n, correct)
    bins: dict[tuple[str | None, str], list[dict[str, Any]]] = {}
    for row in merge([by_bin], BIN_KEYS).iter_rows(named=True):
        bins.setdefault((row["model"], row["family"]), []).append(row)
    found: dict[str | None, dict[str, Counts]] = {}
    for model in models:
        own = {}
        for family, count in sorted(items.items()):
            rows = bins.get((model, family), [])
            own[family] = Counts(
                count,
                classes.get((model, family), {}),
                {row["bin"]: Bin(row["n"], row["correct"], row["confidence"]) for row in rows},
                sum((row["nll"] for row in rows), Decimal(0)),
                sum((row["brier"] for row in rows), Decimal(0)),
                sum(row["binary"] for row in rows),
                sum((row["brier_binary"] for row in rows), Decimal(0)),
            )
        found[model] = own
    return found
