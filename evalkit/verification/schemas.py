"""The schemas that can be verified: what each is recomputed from, and how it is compared. A new one is one entry."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from evalkit.contracts.contract import BRISTOL, distinct
from evalkit.exact import tolerance, unit_fraction
from evalkit.uncertainty.told import ROW, SOURCE
from evalkit.verification.differ import Rules
from evalkit.verification.evidence import Named, Plan, from_document, from_records, one_document
from evalkit.verification.jev_bridge import as_jev_bridge
from evalkit.verification.options import Options
from evalkit.verification.sought import sought
from evalkit.verification.statistics import Claimed, chosen


@dataclass(frozen=True, slots=True)
class Schema:
    """One schema of reports.

    Attributes:
        plan: Turns what is named, the options, and the statistics that the report has, into a plan; refuses what is
            not usable.
        allowed: The options that apply; ``gold`` is one.
        needed: Those of them without which it cannot be recomputed.
        given: Its keys under which nothing is measured; see ``differ.Rules``.
        identities: What tells the objects in its arrays apart; likewise.
        paths: Its keys that hold a path: whoever verifies may keep the file in another folder.
        bridge: For the schema of another program, which may accept inputs that are refused here: puts the report as
            that program does.
    """

    plan: Callable[[Named, Options, Claimed | None], Plan]
    allowed: frozenset[str]
    needed: frozenset[str]
    given: frozenset[str]
    identities: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    paths: frozenset[str] = frozenset()
    bridge: Callable[[Any], Any] | None = None

    def rules(self, most_off: Fraction) -> Rules:
        """Return how its reports are compared where measured numbers may be off by so much."""
        return Rules(most_off, self.given, self.identities, self.paths)


def _selective(named: Named, options: Options, statistics: Claimed | None) -> Plan:
    from evalkit.families.selective.compare import Question, compare_inputs

    question = Question(
        unit_fraction("" if options.min_coverage is None else options.min_coverage, "min-coverage"),
        options.contract or BRISTOL,
        distinct(options.by),
        options.policy,
        options.synthetic,
        options.run,
        sought(statistics, options),
    )
    return from_records(named, lambda dump, _, progress: compare_inputs(dump, question, progress=progress))


def _evaluation(named: Named, options: Options, statistics: Claimed | None) -> Plan:
    from evalkit.families.probability import defaults
    from evalkit.families.probability.evaluate import Question, evaluate_inputs

    stated = options.sum_tolerance
    question = Question(
        defaults.BINS if options.bins is None else options.bins,
        tolerance(defaults.SUM_TOLERANCE if stated is None else stated, "sum-tolerance"),
        options.synthetic,
        options.run,
        defaults.MAX_GOLD if options.max_gold is None else options.max_gold,
        chosen(statistics, unclustered=ROW),
    )
    return from_records(named, lambda rows, gold, progress: evaluate_inputs(rows, gold, question, progress=progress))


def _measurement(named: Named, options: Options, statistics: Claimed | None) -> Plan:
    from evalkit.families.observations.measure import OPTIONS, Question, judged_of
    from evalkit.families.ranking.metrics import MAX_GRADE

    files = {name: options.files[option] for option, name in OPTIONS.items() if option in options.files}
    highest = MAX_GRADE if options.max_grade is None else options.max_grade
    drop = options.drop_queries_without_relevant
    judged = judged_of(options.files.get(QRELS), options.runs or {}, options.source, highest, drop)
    return from_document(Question(one_document(named), files, judged, chosen(statistics, unclustered=SOURCE)))


QRELS = "qrels"
LISTS = frozenset({"ocr", "commands", "retrieval", "proposals", "claims", "merges", "queue"})
"""The lists of an observation document that may come as files, by their options."""

_RANKED = frozenset({QRELS, "runs", "source", "max_grade", "drop_queries_without_relevant"})

_DECIDING = frozenset({"interval", "min_contributors", "gate_on", "min_support", "no_excluded_class"})
"""What a verdict may have been asked for besides."""

SCHEMAS: Mapping[str, Schema] = {
    "evalkit-selective-v1": Schema(
        plan=_selective,
        allowed=frozenset({"min_coverage", "contract", "by", "policy", "synthetic", "run"}) | _DECIDING,
        needed=frozenset({"min_coverage"}),
        given=frozenset({"run", "minCoverage", "limits", "policy", "limit", "lower", "upper"}),
        identities={
            "candidates": ("model",),
            "strata": ("by",),
            "bins": ("lower", "low"),
            "intervals": ("name", "label", "bin"),
            "against": ("model",),
            "differences": ("name",),
        },
        paths=frozenset({"name"}),
    ),
    "evalkit-evaluation-v1": Schema(
        plan=_evaluation,
        allowed=frozenset({"gold", "bins", "sum_tolerance", "max_gold", "synthetic", "run"}),
        needed=frozenset({"gold"}),
        given=frozenset({"run", "lower", "upper"}),
        identities={
            "reliability": ("lower",),
            "candidates": ("model",),
            "strata": ("by",),
            "intervals": ("name", "label", "bin"),
        },
        paths=frozenset({"name"}),
    ),
    "evalkit-measurement-v1": Schema(
        plan=_measurement,
        allowed=LISTS | _RANKED,
        needed=frozenset(),
        given=frozenset({"run", "threshold"}),
        identities={"metrics": ("name", "system"), "strata": ("stratum",), "intervals": ("name", "system", "stratum")},
    ),
    "jev-bridge-evaluation-v1": Schema(
        plan=_evaluation,
        allowed=frozenset({"gold", "bins", "sum_tolerance", "max_gold"}),
        needed=frozenset({"gold"}),
        given=frozenset({"lower", "upper"}),
        identities={"reliability": ("lower",)},
        bridge=as_jev_bridge,
    ),
}
"""The schemas by name."""
