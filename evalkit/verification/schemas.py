"""The schemas that can be verified: what each is recomputed from, and how it is compared. A new one is one entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from evalkit.contracts.contract import BRISTOL, distinct
from evalkit.exact import tolerance, unit_fraction
from evalkit.verification.jev_bridge import as_jev_bridge
from evalkit.verification.options import Options

if TYPE_CHECKING:
    from evalkit.reading.read import Progress
    from evalkit.sources.partition import Inputs


@dataclass(frozen=True, slots=True)
class Evidence:
    """The inputs, open, that a report is recomputed from.

    Attributes:
        predictions: The predictions.
        gold: The gold; no source at all where the schema has none.
        progress: Told how far reading has come, or None.
    """

    predictions: Inputs
    gold: Inputs
    progress: Progress | None = None


Recompute = Callable[[Evidence], Any]
"""What makes the report from the evidence."""


@dataclass(frozen=True, slots=True)
class Schema:
    """One schema of reports.

    Attributes:
        plan: Turns the options into what makes the report from the evidence; refuses options that are not usable.
        allowed: The options that apply; ``gold`` is one.
        needed: Those of them without which it cannot be recomputed.
        given: Its keys under which nothing is measured; see ``differ.Rules``.
        identities: What tells the objects in its arrays apart; likewise.
        bridge: For the schema of another program, which may accept inputs that are refused here: puts the report as
            that program does.
    """

    plan: Callable[[Options], Recompute]
    allowed: frozenset[str]
    needed: frozenset[str]
    given: frozenset[str]
    identities: Mapping[str, str] = field(default_factory=dict)
    bridge: Callable[[Any], Any] | None = None


def _selective(options: Options) -> Recompute:
    from evalkit.families.selective.compare import Question, compare_inputs

    question = Question(
        unit_fraction("" if options.min_coverage is None else options.min_coverage, "min-coverage"),
        options.contract or BRISTOL,
        distinct(options.by),
        options.policy,
        options.synthetic,
        options.run,
    )
    return lambda evidence: compare_inputs(evidence.predictions, question, progress=evidence.progress)


def _evaluation(options: Options) -> Recompute:
    from evalkit.families.probability import defaults
    from evalkit.families.probability.evaluate import Question, evaluate_inputs

    stated = options.sum_tolerance
    question = Question(
        defaults.BINS if options.bins is None else options.bins,
        tolerance(defaults.SUM_TOLERANCE if stated is None else stated, "sum-tolerance"),
        options.synthetic,
        options.run,
        defaults.MAX_GOLD if options.max_gold is None else options.max_gold,
    )
    return lambda evidence: evaluate_inputs(evidence.predictions, evidence.gold, question, progress=evidence.progress)


SCHEMAS: Mapping[str, Schema] = {
    "evalkit-selective-v1": Schema(
        plan=_selective,
        allowed=frozenset({"min_coverage", "contract", "by", "policy", "synthetic", "run"}),
        needed=frozenset({"min_coverage"}),
        given=frozenset({"run", "minCoverage", "limits", "policy", "limit", "lower", "upper"}),
        identities={"candidates": "model", "strata": "by", "bins": "lower"},
    ),
    "evalkit-evaluation-v1": Schema(
        plan=_evaluation,
        allowed=frozenset({"gold", "bins", "sum_tolerance", "max_gold", "synthetic", "run"}),
        needed=frozenset({"gold"}),
        given=frozenset({"run", "lower", "upper"}),
        identities={"reliability": "lower"},
    ),
    "jev-bridge-evaluation-v1": Schema(
        plan=_evaluation,
        allowed=frozenset({"gold", "bins", "sum_tolerance", "max_gold"}),
        needed=frozenset({"gold"}),
        given=frozenset({"lower", "upper"}),
        identities={"reliability": "lower"},
        bridge=as_jev_bridge,
    ),
}
"""The schemas by name."""

PATHS = frozenset({"name"})
"""The key, of the entries of ``evidence``, that holds a path: whoever verifies may keep the file in another folder."""
