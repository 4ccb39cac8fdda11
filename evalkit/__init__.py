"""evalkit: strict, exact and fast evaluation of large dumps of model predictions.

``compare`` judges candidates in a dump of selective predictions and returns a ``Report``; ``measure`` measures labelled
observations and returns a ``MeasurementReport``; what cannot be judged honestly raises ``Refusal`` with its
``Violation`` s. Everything is loaded when it is first used, so that importing the package is instant.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "Candidate",
    "Contract",
    "Evaluation",
    "Evidence",
    "Fields",
    "Inspection",
    "Measurement",
    "MeasurementReport",
    "NightlyRun",
    "Plan",
    "Policy",
    "Readiness",
    "Receipt",
    "Refusal",
    "Report",
    "SplitRule",
    "Verification",
    "Violation",
    "compare",
    "convert",
    "evaluate",
    "history",
    "inspect",
    "measure",
    "nightly",
    "plan",
    "read_contract",
    "read_policy",
    "readiness",
    "receipt",
    "render",
    "scan",
    "summarize",
    "verify",
]

if TYPE_CHECKING:
    from evalkit.analysis.scan import scan
    from evalkit.analysis.summarize import summarize
    from evalkit.charts.render import render
    from evalkit.contracts.contract import Contract, Fields, SplitRule
    from evalkit.contracts.contract_toml import read_contract
    from evalkit.contracts.policy import Policy
    from evalkit.contracts.policy_toml import read_policy
    from evalkit.conversion import convert
    from evalkit.errors import Refusal, Violation
    from evalkit.families.observations.measure import measure
    from evalkit.families.observations.result import MeasurementReport
    from evalkit.families.probability.evaluate import evaluate
    from evalkit.families.probability.result import Evaluation
    from evalkit.families.selective.candidate import Candidate
    from evalkit.families.selective.compare import compare
    from evalkit.families.selective.receipt import Receipt, receipt
    from evalkit.families.selective.result import Report
    from evalkit.inspection import Inspection, inspect
    from evalkit.metric import Measurement
    from evalkit.nights.history import history
    from evalkit.nights.outcome import NightlyRun
    from evalkit.nights.run import nightly
    from evalkit.release.readiness import Readiness, readiness
    from evalkit.sources.source import Evidence
    from evalkit.uncertainty.plan_result import Plan
    from evalkit.uncertainty.planning import plan
    from evalkit.verification.verify import Verification, verify

_HOMES = {
    "Candidate": "evalkit.families.selective.candidate",
    "Contract": "evalkit.contracts.contract",
    "Evaluation": "evalkit.families.probability.result",
    "Evidence": "evalkit.sources.source",
    "Fields": "evalkit.contracts.contract",
    "Inspection": "evalkit.inspection",
    "Measurement": "evalkit.metric",
    "MeasurementReport": "evalkit.families.observations.result",
    "NightlyRun": "evalkit.nights.outcome",
    "Plan": "evalkit.uncertainty.plan_result",
    "Policy": "evalkit.contracts.policy",
    "Readiness": "evalkit.release.readiness",
    "Receipt": "evalkit.families.selective.receipt",
    "Refusal": "evalkit.errors",
    "Report": "evalkit.families.selective.result",
    "SplitRule": "evalkit.contracts.contract",
    "Verification": "evalkit.verification.verify",
    "Violation": "evalkit.errors",
    "compare": "evalkit.families.selective.compare",
    "convert": "evalkit.conversion",
    "evaluate": "evalkit.families.probability.evaluate",
    "history": "evalkit.nights.history",
    "inspect": "evalkit.inspection",
    "measure": "evalkit.families.observations.measure",
    "nightly": "evalkit.nights.run",
    "plan": "evalkit.uncertainty.planning",
    "read_contract": "evalkit.contracts.contract_toml",
    "read_policy": "evalkit.contracts.policy_toml",
    "readiness": "evalkit.release.readiness",
    "receipt": "evalkit.families.selective.receipt",
    "render": "evalkit.charts.render",
    "scan": "evalkit.analysis.scan",
    "summarize": "evalkit.analysis.summarize",
    "verify": "evalkit.verification.verify",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
