"""The generated parts of README and docs, each a function that returns Markdown."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import tomllib
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from functools import partial
from typing import Any, Union, get_args, get_origin, get_type_hints

import refusals
import studies
import typer.main
from shell import ROOT, environment, playground, replay, trimmed

from evalkit.calibration import shown as calibration
from evalkit.calibration.shown import Panel
from evalkit.cli import app
from evalkit.contracts.contract import BRISTOL
from evalkit.contracts.policy import Terms
from evalkit.families.observations.measured import GATED_SYSTEM, MEASURES, NO_CASES, RETRIEVAL, Measure
from evalkit.families.observations.result import Cache, MeasurementReport
from evalkit.families.observations.result import Run as RunOfObservations
from evalkit.families.observations.result import Stratum as CasesOfStratum
from evalkit.families.observations.review import REVIEW_INCOMPLETE, merge_precision
from evalkit.families.observations.sure import Statistics as ObservedStatistics
from evalkit.families.observations.sure import Told as ObservedInterval
from evalkit.families.probability import metrics as vectors
from evalkit.families.probability.family import Metrics, ReliabilityBin
from evalkit.families.probability.result import Evaluation, ModelMetrics, Read
from evalkit.families.probability.rows import COLUMNS as EVALUATION_COLUMNS
from evalkit.families.probability.rows import CONTRIBUTORS as EVALUATION_CONTRIBUTORS
from evalkit.families.ranking.trec import TrecCounts
from evalkit.families.selective import metrics
from evalkit.families.selective.candidate import BinRow, Candidate, ClassRow, Optimism, Selection, Stratum
from evalkit.families.selective.comparison import Against, Comparison
from evalkit.families.selective.pairs import Discordant, Flip, Pairs
from evalkit.families.selective.result import Report
from evalkit.families.selective.rows import COLUMNS
from evalkit.families.selective.statistics_rows import COLUMNS as STATISTICS_COLUMNS
from evalkit.families.selective.sureness import CandidateStatistics, IntervalRow, StratumStatistics
from evalkit.families.selective.sureness import Statistics as SelectiveStatistics
from evalkit.families.selective.versus_rows import COLUMNS as COMPARISON_COLUMNS
from evalkit.gates import BoundResult, GateResult
from evalkit.inspection import Count, Inspection
from evalkit.metric import Metric
from evalkit.nights.history import TrendRow
from evalkit.nights.verdict import Change, InputFile, Verdict
from evalkit.nights.verdict import Held as NightGate
from evalkit.reading.shape import FieldShape, Shape
from evalkit.release.conditions import Condition
from evalkit.release.conditions import Gate as Held
from evalkit.release.readiness import Readiness
from evalkit.report import camel, keys_of
from evalkit.results.report_file import Stored
from evalkit.risk_coverage.shown import AtRisk, Certificate, Estimate, Gap, RiskCoverage
from evalkit.risk_coverage.shown import Interval as RiskInterval
from evalkit.risk_coverage.shown import Optimism as RankOptimism
from evalkit.sources.source import Evidence
from evalkit.uncertainty.difference import Difference as PairedDifference
from evalkit.uncertainty.mcnemar import ClusteredMcNemar, McNemar
from evalkit.uncertainty.noninferiority import NonInferiority
from evalkit.uncertainty.plan_result import Chances, Contributors, Plan
from evalkit.uncertainty.several import BestOf
from evalkit.uncertainty.told import Candidate as SureCandidate
from evalkit.uncertainty.told import Statistics, Told
from evalkit.uncertainty.told import Stratum as SureStratum
from evalkit.verification.findings import Difference
from evalkit.verification.verify import Verification

WIDEST = 120
"""Longest line of the README."""

OVER = {"a split": metrics.SPLIT_METRICS, "a label": metrics.LABEL_METRICS, "a bin": metrics.BIN_METRICS}
"""The metrics of selective prediction, by what they are measured over."""

OVER_ROWS = {"a family": vectors.METRICS, "a class": vectors.LABEL_METRICS, "a bin": vectors.BIN_METRICS}
"""Those of probability vectors."""

BETTER = {"higher": "higher", "lower": "lower", "none": "–"}

OBJECTS: Mapping[str, tuple[str, type]] = {
    "report": ("The report", Report),
    "policy": ("`policy`, where one is in force", Terms),
    "evidence": ("`evidence`, one a source", Evidence),
    "candidate": ("`candidates`, one a model, sorted by name", Candidate),
    "selection": ("`selection` of a candidate", Selection),
    "optimism": ("`optimism` of a selection", Optimism),
    "class": ("`perClass` of a candidate, by label", ClassRow),
    "bin": ("`bins` of a candidate", BinRow),
    "gate": ("`gates` of a candidate, by metric", GateResult),
    "stratum": ("`strata` of a candidate", Stratum),
}
"""The objects that a report is made of, and what they are called in ``names.toml``."""

INSPECTION: Mapping[str, tuple[str, type]] = {
    "inspection": ("The inspection", Inspection),
    "shape": ("`shape`", Shape),
    "field_shape": ("`fields` of a shape", FieldShape),
    "count": ("`counts`, one a model and split, and one for each label and stratum in it", Count),
}
"""The objects that an inspection is made of."""

EVALUATION: Mapping[str, tuple[str, type]] = {
    "evaluation": ("The report", Evaluation),
    "read": ("`evidence`, one a source", Read),
    "by_model": ("`by_model`, by the model's name", ModelMetrics),
    "family": ("`overall`, and `by_family` by the family's name", Metrics),
    "reliability": ("`reliability`, one a bin that is not empty", ReliabilityBin),
    "sure": ("`statistics`, where they were asked for", Statistics),
    "sure_candidate": ("`candidates` of the statistics", SureCandidate),
    "sure_stratum": ("`strata` of a candidate, one a family", SureStratum),
    "sure_interval": ("`intervals`", Told),
}
"""The objects that an evaluation is made of."""

VERIFICATION: Mapping[str, tuple[str, type]] = {
    "verification": ("The verification", Verification),
    "stored": ("`report`", Stored),
    "difference": ("`differences`", Difference),
}
"""The objects that a verification is made of."""


SURENESS: Mapping[str, tuple[str, type]] = {
    "sure_selective": ("`statistics`, where any were asked for", SelectiveStatistics),
    "sure_selective_candidate": ("`candidates` of the statistics", CandidateStatistics),
    "sure_interval": ("`intervals`, one a number", IntervalRow),
    "bound_gate": ("`gates`, by metric or condition", BoundResult),
    "sure_stratum": ("`strata` of a candidate's statistics", StratumStatistics),
    "calibration": ("`calibration`", Panel),
    "calibration_binned": ("`equalWidth` and `equalMass`", calibration.Binned),
    "calibration_bin": ("`bins` of either", calibration.BinRow),
    "calibration_null": ("`nullError`, and `null` of a score", calibration.NullRow),
    "calibration_corp": ("`corp`", calibration.Corp),
    "calibration_score": ("`brier` and `logLoss` of it", calibration.ScoreRow),
    "calibration_block": ("`blocks` of it", calibration.Block),
    "calibration_band": ("`band` of it", calibration.BandPoint),
    "calibration_decomposition": ("`decomposition` and `corrected`", calibration.DecompositionRow),
    "calibration_screen": ("`spiegelhalter`, `kolmogorovSmirnov` and `kuiper`", calibration.ScreenRow),
    "risk": ("`riskCoverage`, by split", RiskCoverage),
    "risk_estimate": ("`aurc`, `eAurc` and `augrc`", Estimate),
    "risk_interval": ("`interval` of them", RiskInterval),
    "at_risk": ("`coverageAtRisk`, one a limit", AtRisk),
    "optimism_of_ranking": ("`optimism` of a candidate's statistics", RankOptimism),
    "gap": ("its members", Gap),
    "certificate": ("`certified`, one a claim", Certificate),
}
"""The objects that the statistics of a selective report are made of; ``comparison`` has a page of its own."""

MEASUREMENT: Mapping[str, tuple[str, type]] = {
    "measurement": ("The evaluation", MeasurementReport),
    "observed_run": ("`run`", RunOfObservations),
    "cache": ("`cache` of the run", Cache),
    "observed_stratum": ("`strata`, one a stratum", CasesOfStratum),
    "observed_statistics": ("`statistics`, where they were asked for", ObservedStatistics),
    "observed_interval": ("`intervals` of the statistics", ObservedInterval),
    "trec": ("`trec`, where rankings came from TREC files", TrecCounts),
}
"""The objects that an evaluation of observations is made of."""


READINESS: Mapping[str, tuple[str, type]] = {
    "readiness": ("The answer", Readiness),
    "failing": ("`conditions`, one that fails", Condition),
    "held": ("`gates`, one a limit", Held),
    "stored": ("`evaluation`", Stored),
}
"""The objects that an answer about readiness is made of."""


COMPARISON: Mapping[str, tuple[str, type]] = {
    "comparison": ("`comparison`", Comparison),
    "against": ("`against`, one a candidate", Against),
    "metric_difference": ("`differences`, one a metric", PairedDifference),
    "non_inferiority": ("`nonInferiority`, where a margin was given", NonInferiority),
    "pairs": ("`pairs`, where an id was named", Pairs),
    "discordant": ("`discordant`", Discordant),
    "flip": ("`flips`, one a pair of results", Flip),
    "mcnemar": ("`mcnemar`", McNemar),
    "clustered_mcnemar": ("`clustered`", ClusteredMcNemar),
    "best_of": ("`bestOf`", BestOf),
}
"""The objects that a comparison is made of."""


PLANNING: Mapping[str, tuple[str, type]] = {
    "plan": ("The plan", Plan),
    "plan_measured": ("`measured`, where results were named", Contributors),
    "chances": ("`rows`, one a number of contributors", Chances),
}
"""The objects that a plan is made of."""


NIGHTLY: Mapping[str, tuple[str, type]] = {
    "nightly": ("`verdict.json`", Verdict),
    "night_gate": ("`gates`, one a limit or margin", NightGate),
    "night_change": ("`changes`, one a setting", Change),
    "night_input": ("`inputs`, one a file", InputFile),
    "trend": ("A row of `evalkit history`", TrendRow),
}
"""The objects that a verdict of a night is made of, and a row of the history."""


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Write a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def demo() -> str:
    """Show what ``make demo`` prints once everything is installed."""
    with playground() as folder:
        done = subprocess.run(
            [sys.executable, ROOT / "docs" / "demo.py"],
            cwd=folder,
            env=environment(),
            stdout=subprocess.PIPE,
            encoding="utf-8",
            check=True,
        )
    lines = trimmed(done.stdout).split("\n")
    shown = (line if len(line) <= WIDEST else line[: WIDEST - 1] + "…" for line in lines)
    return "\n".join(["```console", "$ make demo", *shown, "```"])


def commands() -> str:
    """Show the help of the program and of each command."""
    names = list(_commands("evalkit", typer.main.get_command(app)))
    return "\n\n".join(f"## {name}\n\n```console\n{replay(f'$ {name} --help')}\n```" for name in names)


def _commands(name: str, command: Any) -> Iterator[str]:
    yield name
    for below, one in getattr(command, "commands", {}).items():
        yield from _commands(f"{name} {below}", one)


def refusal_table() -> str:
    """List every rule with a real message and what to do."""
    sections = []
    for group in refusals.groups():
        rows = ([f"`{one.rule}`", f"`{one.message}`", one.advice] for one in group.rules)
        sections.append(f"## {group.title}\n\n{group.text}\n\n{table(['rule', 'message', 'what to do'], rows)}")
    return "\n\n".join(sections)


def metric_table(declared: Mapping[str, Sequence[Metric]]) -> str:
    """List metrics by their declarations."""
    head = ["metric", "over", "better", "range", "null when", "gate"]
    found = ((one, over) for over, members in declared.items() for one in members)
    return table(head, ([f"[`{one.name}`](#{_anchor(one)})", *_declared(one, over)] for one, over in found))


def metric_sections(declared: Mapping[str, Sequence[Metric]]) -> str:
    """Define each metric, with its example; two of one name share a section."""
    sections: dict[str, list[str]] = {}
    for members in declared.values():
        for one in members:
            sections.setdefault(one.name, []).append(_section(one))
    return "\n\n".join(f"### {name}\n\n" + "\n\n".join(each) for name, each in sections.items())


def _anchor(one: Metric) -> str:
    return one.name.lower()


def _declared(one: Metric, over: str) -> list[str]:
    high = "∞" if one.high is None else str(one.high)
    return [over, BETTER[one.direction], f"{one.low} to {high}", f"`{one.undefined}`", _gate(one)]


def _gate(one: Metric) -> str:
    if one not in metrics.GATED:
        return "–"
    return f"{'≥' if one.direction == 'higher' else '≤'} {BRISTOL.limits[one.name]}"


def _section(one: Metric) -> str:
    words, prompt, example = inspect.cleandoc(one.definition).partition(">>> ")
    text = re.sub(r"\n(?!\n)(?<!\n\n)", " ", words.strip()).replace("``", "`")
    named = {name for name in ("Bin", "Class", "Counts") if f"{name}(" in example}
    used = sorted(named | {one.function.__name__})
    imports = [f">>> from {one.function.__module__} import {', '.join(used)}"]
    if "Decimal(" in example:
        imports.insert(0, ">>> from decimal import Decimal")
    block = "\n".join(["```python", *imports, prompt + example.strip(), "```"])
    return f"{text}\n\n{block}"


def report_keys() -> str:
    """List the keys of a report, object by object."""
    return _keys(OBJECTS)


def inspection_keys() -> str:
    """List the keys of an inspection, object by object."""
    return _keys(INSPECTION)


def evaluation_keys() -> str:
    """List the keys of an evaluation, object by object."""
    return _keys(EVALUATION)


def verification_keys() -> str:
    """List the keys of a verification, object by object."""
    return _keys(VERIFICATION)


def measurement_keys() -> str:
    """List the keys of an evaluation of observations, object by object."""
    return _keys(MEASUREMENT)


def readiness_keys() -> str:
    """List the keys of an answer about readiness, object by object."""
    return _keys(READINESS)


def nightly_keys() -> str:
    """List the keys of a verdict of a night, and of a row of the history."""
    return _keys(NIGHTLY)


def sureness_keys() -> str:
    """List the keys of the statistics of a selective report."""
    return _keys(SURENESS)


def sureness_columns() -> str:
    """List the columns of the tables that statistics add, without those of a comparison."""
    tables = {name: columns for name, columns in STATISTICS_COLUMNS.items() if name not in COMPARISON_COLUMNS}
    return _columns({"reliability_blocks" if name == "reliability" else name: one for name, one in tables.items()}, "")


def comparison_keys() -> str:
    """List the keys of a comparison."""
    return _keys(COMPARISON)


def comparison_columns() -> str:
    """List the columns of its tables."""
    return _columns(COMPARISON_COLUMNS, "")


def plan_keys() -> str:
    """List the keys of a plan."""
    return _keys(PLANNING)


def measures() -> str:
    """List the measures of observations by their declarations."""
    head = ["measure", "list", "better", "range", "null when", "must be"]
    return table(head, ([f"[`{one.metric.name}`](#{_measure_anchor(one)})", *_measured(one)] for one in MEASURES))


def measure_sections() -> str:
    """Define each measure of observations, in words alone."""
    return "\n\n".join(f"### {one.metric.name}\n\n{_words(one.metric)}" for one in MEASURES)


def _measure_anchor(one: Measure) -> str:
    return re.sub(r"[^\w -]", "", one.metric.name.lower()).replace(" ", "-")


def _measured(one: Measure) -> list[str]:
    high = "∞" if one.metric.high is None else str(one.metric.high)
    reasons = [NO_CASES, *([one.metric.undefined] if one.family != RETRIEVAL else [])]
    reasons += [REVIEW_INCOMPLETE] if one.metric is merge_precision else []
    null = ", ".join(f"`{reason}`" for reason in dict.fromkeys(reasons))
    limit = "–"
    if one.limit is not None:
        limit = f"{'≥' if one.metric.direction == 'higher' else '≤'} {one.limit}"
        limit += f", `{GATED_SYSTEM}`" if one.family == RETRIEVAL else ""
    return [f"`{one.family}`", BETTER[one.metric.direction], f"{one.metric.low} to {high}", null, limit]


def _words(one: Metric) -> str:
    words = inspect.cleandoc(one.definition).partition(">>> ")[0]
    return re.sub(r"\n(?!\n)(?<!\n\n)", " ", words.strip()).replace("``", "`")


def _keys(objects: Mapping[str, tuple[str, type]]) -> str:
    names = _Names()
    sections = []
    for scope, (title, kind) in objects.items():
        rows = ([f"`{key}`", _json_type(hint), names.meaning(scope, name)] for name, key, hint in _shown(kind))
        sections.append(f"### {title}\n\n{table(['key', 'type', 'meaning'], rows)}")
    return "\n\n".join(sections)


def table_columns() -> str:
    """List the columns of each table of a results folder."""
    return _columns(COLUMNS, "")


def evaluation_columns() -> str:
    """List those of an evaluation."""
    return _columns({**EVALUATION_COLUMNS, "contributors": EVALUATION_CONTRIBUTORS}, "evaluation_")


def _columns(tables: Mapping[str, Mapping[str, Any]], scope: str) -> str:
    names = _Names()
    sections = []
    for name, columns in tables.items():
        rows = ([f"`{column}`", f"{kind}", names.meaning(scope + name, column)] for column, kind in columns.items())
        sections.append(f"### {name}.parquet\n\n{table(['column', 'type', 'meaning'], rows)}")
    return "\n\n".join(sections)


class _Names:
    """What keys and columns mean, from ``names.toml``: by scope, else the same everywhere."""

    def __init__(self) -> None:
        with (ROOT / "docs" / "names.toml").open("rb") as file:
            self._known = tomllib.load(file)

    def meaning(self, scope: str, name: str) -> str:
        """Return the meaning of a name, or fail: a name without a meaning is not documented."""
        found = self._known.get(scope, {}).get(name) or self._known["everywhere"].get(name)
        if found is None:
            raise SystemExit(f"docs/names.toml does not say what {name} means in {scope}")
        return str(found)


def _shown(kind: type) -> Iterator[tuple[str, str, Any]]:
    """Yield the name, the key and the type of what an object of a report holds."""
    hints = get_type_hints(kind)
    keys = keys_of(kind) if is_dataclass(kind) else {name: camel(name) for name in hints}
    for name, key in keys.items():
        yield name, key, hints[name]


_PLAIN = {str: "text", int: "whole number", float: "number", bool: "true or false", types.NoneType: "null"}


def _json_type(hint: Any) -> str:
    """Name the JSON type of an annotation."""
    if hint in _PLAIN:
        return _PLAIN[hint]
    origin, members = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(_json_type(member) for member in members))
    if origin in (tuple, Sequence):
        return f"array of {_plural(_json_type(members[0]))}"
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return "object" if members[1] is Any else f"object of {_plural(_json_type(members[1]))}"
    return "object" if isinstance(hint, type) else "text"  # a Literal of texts


def _plural(kind: str) -> str:
    return " or ".join(f"{one}s" for one in kind.split(" or "))


PARTS: Mapping[str, Callable[[], str]] = {
    "demo": demo,
    "commands": commands,
    "refusals": refusal_table,
    "metric-table": partial(metric_table, OVER),
    "metric-sections": partial(metric_sections, OVER),
    "evaluation-metric-table": partial(metric_table, OVER_ROWS),
    "evaluation-metric-sections": partial(metric_sections, OVER_ROWS),
    "evaluation-keys": evaluation_keys,
    "evaluation-columns": evaluation_columns,
    "report-keys": report_keys,
    "inspection-keys": inspection_keys,
    "verification-keys": verification_keys,
    "table-columns": table_columns,
    "sureness-keys": sureness_keys,
    "sureness-columns": sureness_columns,
    "measures": measures,
    "measure-sections": measure_sections,
    "measurement-keys": measurement_keys,
    "readiness-keys": readiness_keys,
    "nightly-keys": nightly_keys,
    "comparison-keys": comparison_keys,
    "comparison-columns": comparison_columns,
    "plan-keys": plan_keys,
    "interval-coverage": studies.interval_coverage,
    "scale-enough": studies.scale_enough,
    "scale-table": studies.scale_table,
    "scale-slopes": studies.scale_slopes,
    "scale-carried": studies.scale_carried,
    "scale-paper": studies.scale_paper,
}
"""The parts by name."""
