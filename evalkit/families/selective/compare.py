"""``compare``: from dumps to a report, in the order of the pipeline."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import polars as pl

from evalkit.contract import BRISTOL, Contract
from evalkit.engine import WORKERS
from evalkit.exact import rounded, unit_fraction
from evalkit.families.selective.candidate import Chosen
from evalkit.families.selective.judge import judge_candidate, recommend
from evalkit.families.selective.plan import best_cut, count, curve, records_by_model
from evalkit.families.selective.result import SCHEMA, Report
from evalkit.partition import Inputs
from evalkit.read import Progress, read
from evalkit.source import resolve


def compare(
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    min_coverage: str | float | Decimal | Fraction,
    *,
    synthetic: bool = False,
    run: Mapping[str, Any] | None = None,
) -> Report:
    r"""Judge every candidate in a dump of selective predictions.

    One threshold a candidate is fixed on validation: the cut of highest precision among those whose coverage is at
    least the floor. The candidate is then scored on test, held against the gates, and never looked at again.

    Args:
        paths: Files, patterns, or ``-`` for standard input; JSON Lines, plain or compressed with gzip or Zstandard.
        min_coverage: The coverage floor in 0–1, best as decimal text, which is exact. It has no default.
        synthetic: Say in the report that the records are invented.
        run: The caller's own record of the run (id, commit, versions …), put into the report as it is.

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
    given = [paths] if isinstance(paths, str | os.PathLike) else paths
    names = [os.fspath(path) for path in given]
    floor = unit_fraction(min_coverage, "min-coverage")
    with Inputs(resolve(names)) as inputs:
        return compare_inputs(inputs, floor, synthetic=synthetic, run=run)


def compare_inputs(
    inputs: Inputs,
    min_coverage: Fraction,
    contract: Contract = BRISTOL,
    *,
    synthetic: bool = False,
    run: Mapping[str, Any] | None = None,
    workers: int = WORKERS,
    progress: Progress | None = None,
) -> Report:
    """Read inputs that are open and judge every candidate in them. See ``evalkit.compare``."""
    dump = read(inputs, contract, workers=workers, progress=progress)
    # Lazy, so that neither split is copied.
    validation, test = (dump.outcomes.lazy().filter(pl.col("split") == split) for split in ("validation", "test"))
    cuts = curve(validation)
    chosen = _choose(dump.models, validation, cuts, min_coverage)
    thresholds = {model: one.threshold for model, one in chosen.items() if one.threshold is not None}
    counted = count(test, thresholds, contract.bins)
    totals = records_by_model(test)
    candidates = tuple(
        judge_candidate(model, chosen[model], totals.get(model, 0), counted.get(model), contract)
        for model in dump.models
    )
    recommended = recommend(candidates)
    return Report(
        schema=SCHEMA,
        synthetic=synthetic,
        run=run,
        verdict="BLOCKED" if recommended is None else "GO",
        recommended=recommended,
        min_coverage=rounded(min_coverage),
        limits={name: rounded(Fraction(limit)) for name, limit in contract.limits.items()},
        bins=contract.bins,
        evidence=dump.evidence,
        candidates=candidates,
        cuts=cuts,
        warnings=dump.warnings,
    )


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
