"""``compare``: from dumps to a report, in the order of the pipeline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Unpack

import polars as pl

from evalkit.contracts.contract import BRISTOL, Contract, distinct
from evalkit.contracts.policy import Policy
from evalkit.errors import Refusal
from evalkit.exact import rounded, unit_fraction
from evalkit.families.selective.candidate import Candidate, Chosen
from evalkit.families.selective.contributors import contributor_plan
from evalkit.families.selective.judge import judge_candidate, recommend
from evalkit.families.selective.plan import best_cut, count, records_by_model
from evalkit.families.selective.result import SCHEMA, Report
from evalkit.families.selective.strata import Strata, curves, group
from evalkit.families.selective.sureness import Statistics
from evalkit.families.selective.wanted import Options, Wanted, wanted
from evalkit.formats.grammar import scalar
from evalkit.reading.engine import WORKERS, Asked, Workers, digests_by, workers_of
from evalkit.reading.read import Progress, read
from evalkit.sources.partition import Inputs
from evalkit.sources.source import listed, resolve

if TYPE_CHECKING:
    from evalkit.sources.source import Input


def compare(
    dump: Input | Iterable[Input],
    min_coverage: str | float | Decimal | Fraction,
    *,
    contract: Contract = BRISTOL,
    by: str | Sequence[str] = (),
    policy: Policy | None = None,
    synthetic: bool = False,
    run: Mapping[str, Any] | None = None,
    executor: Asked = None,
    **options: Unpack[Options],
) -> Report:
    r"""Judge every candidate in a dump of selective predictions.

    One threshold a candidate is fixed on validation: the cut of highest precision among those whose coverage is at
    least the floor. The candidate is then scored on test, held against the gates, and never looked at again.

    Args:
        dump: One or more of: files, patterns, folders of Parquet, ``-`` for standard input; JSON Lines or CSV, plain or
            compressed with gzip or Zstandard, Parquet, Arrow IPC; data frames of Polars (lazy ones too), pyarrow,
            pandas, and of whatever else exports a stream of Arrow data.
        min_coverage: The coverage floor in 0–1, best as decimal text, which is exact. It has no default.
        contract: Field names, labels, split rule, limits and bins; the default is that of Bristol records.
        by: Dotted paths of fields: every number is given for each of their values too, and where there are several
            for each combination. Records without a value are in the stratum ``unlabelled``.
        policy: A rule about quality and a floor of confidence that suggestions must clear to be accepted.
        synthetic: Say in the report that the records are invented.
        run: The caller's own record of the run (id, commit, versions …), put into the report as it is.
        executor: Where files are read: an executor of Dask or any other, or a text as ``--engine`` takes it; the
            default is threads of this process. The report is the same.
        **options: Statistics that are wanted besides: ``interval``, ``gate_on``, ``calibration``, ``curves``,
            ``certify``, ``baseline`` and how they are made; see ``evalkit.families.selective.wanted.Options``.

    Returns:
        The report: verdict, candidates, evidence. The same records give the same report, however they are ordered
        or split into files (the evidence names the files).

    Raises:
        Refusal: The input cannot be judged honestly: a malformed record, a contributor in more than one split, a
            split that its key does not derive, no records, a path that cannot be read, a floor that is no decimal.
            Nothing is scored then.
        OSError: The machine failed, not the input.

    >>> import evalkit, pathlib, tempfile
    >>> line = '{"model":"m","subjectKey":"%s","split":"%s","truth":{"bristolType":4},"prediction":%s}\n'
    >>> offered = '{"bristolType":4,"confidence":0.97}'
    >>> dump = pathlib.Path(tempfile.mkdtemp(), "dump.jsonl")
    >>> _ = dump.write_text(line % ("cd" + "0" * 14, "validation", offered) + line % ("e6" + "0" * 14, "test", offered))
    >>> report = evalkit.compare(dump, min_coverage="0.5")
    >>> report.verdict, report["m"].threshold, report["m"].ece
    ('GO', 0.97, 0.03)
    """
    floor = unit_fraction(min_coverage, "min-coverage")
    question = Question(floor, contract, distinct(by), policy, synthetic, run, wanted(options))
    sources = resolve(listed(dump))
    with workers_of(executor) as workers, Inputs(sources, digests=digests_by(workers)) as inputs:
        return compare_inputs(inputs, question, workers=workers)


@dataclass(frozen=True)
class Question:
    """What ``compare`` is asked about its inputs; see there."""

    min_coverage: Fraction
    contract: Contract = BRISTOL
    by: tuple[str, ...] = ()
    policy: Policy | None = None
    synthetic: bool = False
    run: Mapping[str, Any] | None = None
    wanted: Wanted | None = None

    @cached_property
    def reading(self) -> Contract:
        """The contract with what must be read besides: the fields of strata, that of quality, that of pairs."""
        asked = replace(self.contract, scalars=distinct(self.by))
        if self.policy is not None:
            asked = _reading_too(asked, self.policy.quality_field, "policy", "quality_field")
        if self.wanted is not None and self.wanted.pair_by is not None:
            asked = _reading_too(asked, self.wanted.pair_by, "statistics", "pair-by")
        return asked


def _reading_too(contract: Contract, path: str, rule: str, field: str) -> Contract:
    """Read one more field, unless it is read already."""
    if path in contract.scalars:
        return contract
    try:
        return replace(contract, scalars=(*contract.scalars, path))
    except Refusal as refusal:
        said = (replace(one, rule=rule, field=field) for one in refusal.violations)
        raise Refusal.of(*said) from None


def compare_inputs(
    inputs: Inputs, question: Question, *, workers: Workers = WORKERS, progress: Progress | None = None
) -> Report:
    """Read inputs that are open and judge every candidate in them. See ``evalkit.compare``."""
    contract, policy, by = question.reading, question.policy, question.by
    wanted = question.wanted
    ids = () if wanted is None or wanted.pair_by is None else (wanted.pair_by,)
    dump = read(inputs, contract, contributors=wanted is not None, ids=ids, workers=workers, progress=progress)
    outcomes = dump.outcomes.lazy().with_columns(usable=_usable(dump.outcomes, contract, policy))
    # Lazy, so that neither split is copied.
    validation, test = (outcomes.filter(pl.col("split") == split) for split in ("validation", "test"))
    floor = 0.0 if policy is None else float(policy.confidence_floor)
    cuts = curves(validation, by, floor)
    chosen = _choose(dump.models, validation, cuts.filter(pl.col("stratum_field").is_null()), question.min_coverage)
    thresholds = {model: one.threshold for model, one in chosen.items() if one.threshold is not None}
    counted = count(test, thresholds, contract.bins)
    totals = records_by_model(test)
    grouped = group(test, thresholds, contract, by)
    candidates = tuple(
        judge_candidate(
            model,
            chosen[model],
            totals.get(model, 0),
            counted.get(model),
            contract,
            policy=policy,
            strata=Strata(model, grouped, contract, policy) if by else None,
        )
        for model in dump.models
    )
    candidates, sure = _with_statistics(candidates, validation, test, thresholds, question)
    recommended = recommend(candidates)
    return Report(
        schema=SCHEMA,
        synthetic=question.synthetic,
        run=question.run,
        verdict="BLOCKED" if recommended is None else "GO",
        recommended=recommended,
        min_coverage=rounded(question.min_coverage),
        limits={name: rounded(Fraction(limit)) for name, limit in contract.limits.items()},
        bins=contract.bins,
        policy=None if policy is None else policy.terms,
        evidence=dump.evidence,
        candidates=candidates,
        statistics=sure,
        cuts=cuts,
        tallies=None if wanted is None else contributor_plan(outcomes, thresholds, contract.bins, by),
        warnings=(*dump.warnings, *(sure.warnings if sure is not None else ())),
    )


def _with_statistics(
    candidates: tuple[Candidate, ...],
    validation: pl.LazyFrame,
    test: pl.LazyFrame,
    thresholds: Mapping[str, float],
    question: Question,
) -> tuple[tuple[Candidate, ...], Statistics | None]:
    """Say how sure the numbers of candidates are, and let what was asked of gates decide; nothing where nothing was."""
    if question.wanted is None:
        return candidates, None
    # Loaded here: what asks for no statistics needs neither NumPy nor SciPy.
    from evalkit.families.selective.statistics import Records, decide, statistics

    records = Records(validation, test, thresholds)
    sure = statistics(records, candidates, question.reading, question.by, question.wanted)
    return decide(candidates, sure), sure


def _usable(outcomes: pl.DataFrame, contract: Contract, policy: Policy | None) -> pl.Expr:
    """Tell the records whose quality the policy in force accepts; without one all are."""
    if policy is None:
        return pl.lit(value=True)
    column = scalar(contract.scalars.index(policy.quality_field))
    seen = outcomes[column].drop_nulls().unique().cast(pl.String)
    accepted = [quality for quality in seen if policy.accepts_quality(quality)]
    return pl.col(column).cast(pl.String).is_in(accepted).fill_null(value=False)


def _choose(
    models: Sequence[str], validation: pl.LazyFrame, cuts: pl.DataFrame, min_coverage: Fraction
) -> dict[str, Chosen]:
    """Fix one threshold a model, on validation alone."""
    totals = records_by_model(validation)
    by_model = cuts.partition_by("model", as_dict=True)
    chosen = {}
    for model in models:
        total, own = totals.get(model, 0), by_model.get((model,))
        cut = None if own is None else best_cut(own, total, min_coverage)
        chosen[model] = Chosen(total) if cut is None else Chosen(total, cut.threshold, cut.accepted, cut.correct)
    return chosen
