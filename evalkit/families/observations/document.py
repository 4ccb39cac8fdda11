"""The observation document: its header by the rules, and the lists that stand in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from evalkit.errors import Refusal, Violation
from evalkit.families.observations import rules
from evalkit.families.observations.cases import FAMILIES
from evalkit.families.observations.structure import parse_flawed
from evalkit.records.strict_json import MAX_LINE, decode, kind_of, parse_sound, show

RETRIEVAL = "retrieval_queries"
LISTS = (*FAMILIES, RETRIEVAL)
"""The lists of cases."""

STAGES = ("synthetic", "page-sample", "one-book", "five-books")
"""How far a programme of evaluation has come."""

DEVELOPMENT = "development"
"""The split of a development run; any other name is that of a held-out one."""

_NAMES = ("run_id", "model_revision", "dataset_id", "split")
_SOURCES = ("source_ids", "development_source_ids")
_REQUIRED = (*_NAMES, "synthetic", *_SOURCES)
_RUN_TEXTS = ("commit", "python", "container", "fixture_version")
_RUN = (*_RUN_TEXTS, "model_revisions", "failures", "cache")
_CACHE = ("hits", "misses")


@dataclass(frozen=True, slots=True)
class Header:
    """What a document says of itself.

    Attributes:
        run_id: The run.
        model_revision: The revision of the model.
        dataset_id: The data set.
        synthetic: Whether the observations are invented.
        split: ``development``, or the name of a held-out split.
        source_ids: The declared sources.
        development_source_ids: The sources that development has seen.
        stage: How far the programme of evaluation has come, or None.
        run: What was recorded of the run, as it was given.
        plain: All of this as it was given, for the digest.
    """

    run_id: str
    model_revision: str
    dataset_id: str
    synthetic: bool
    split: str
    source_ids: tuple[str, ...]
    development_source_ids: tuple[str, ...]
    stage: str | None
    run: Mapping[str, Any]
    plain: Mapping[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Document:
    """A document that was read.

    Attributes:
        header: The header; None where it breaks a rule.
        sources: The declared sources; None where they break a rule.
        lists: The lists that stand in it, cases not looked at, but ``Flawed`` where they break a rule of JSON.
        faults: What is wrong with the header.
    """

    header: Header | None
    sources: frozenset[str] | None
    lists: Mapping[str, list[Any]]
    faults: tuple[Violation, ...]


def parse_document(raw: bytes) -> Document:
    """Parse a document.

    Raises:
        Refusal: It is no strict JSON object, or one too long; files are the caller's to name.
    """
    if len(raw) > MAX_LINE:
        limit = f"{MAX_LINE // (1024 * 1024)} MiB"
        message = f"must be at most {limit} long; give large lists as JSON Lines, such as --ocr FILE"
        raise Refusal.of(Violation("document-too-long", message))
    try:
        plain, faults = _parsed(raw.removeprefix(b"\xef\xbb\xbf"))
    except Refusal as refusal:
        said = (replace(one, message=one.message.replace("the line", "the document")) for one in refusal.violations)
        raise Refusal.of(*said) from None
    faults += _faults(plain)
    lists = {name: plain[name] for name in LISTS if isinstance(plain.get(name), list)}
    wrong = {(one.field or "").partition("[")[0] for one in faults}
    sources = None if "source_ids" in wrong else frozenset(plain["source_ids"])
    return Document(None if faults else _header(plain), sources, lists, tuple(faults))


def _parsed(raw: bytes) -> tuple[dict[str, Any], list[Violation]]:
    text = decode(raw)
    found = parse_sound(text)
    return (found, []) if isinstance(found, dict) else parse_flawed(text, LISTS)


def _header(plain: Mapping[str, Any]) -> Header:
    named = {name: member for name, member in plain.items() if name not in LISTS}
    given: dict[str, Any] = {"stage": None, "run": {}, **named}
    given |= {name: tuple(given[name]) for name in _SOURCES}
    return Header(**given, plain=named)


def _faults(plain: Mapping[str, Any]) -> Iterator[Violation]:
    yield from rules.unknown(plain, {*_REQUIRED, "stage", "run", *LISTS}, "an observation document")
    for name in _REQUIRED:
        if name not in plain:
            yield Violation("missing-field", "is missing", field=name)
    for name in _NAMES:
        if name in plain and (fault := rules.judge_header(plain[name])) is not None:
            yield replace(fault, field=name)
    if "synthetic" in plain and (fault := rules.judge_boolean(plain["synthetic"])) is not None:
        yield replace(fault, field="synthetic")
    yield from _source_faults(plain)
    yield from _stage_faults(plain)
    if "run" in plain:
        yield from _run_faults(plain["run"])
    for name in LISTS:
        if name in plain and not isinstance(plain[name], list):
            yield Violation("list", "must be an array of cases", field=name, value=kind_of(plain[name]))


def _source_faults(plain: Mapping[str, Any]) -> Iterator[Violation]:
    for name in _SOURCES:
        found = plain.get(name, [])
        if not isinstance(found, list):
            yield Violation("sources", "must be an array of source ids", field=name, value=kind_of(found))
        elif not found and name in plain and name == "source_ids":
            yield Violation("sources", "must name at least one source", field=name)
        else:
            yield from _each_source(name, found)
    declared, seen = (plain.get(name, []) for name in _SOURCES)
    if isinstance(declared, list) and isinstance(seen, list):
        both = {one for one in declared if isinstance(one, str)} & {one for one in seen if isinstance(one, str)}
        for one in sorted(both):
            message = "stands in source_ids too; what development has seen is not held out"
            yield Violation("source-overlap", message, field=_SOURCES[1], value=show(one))


def _each_source(name: str, found: list[Any]) -> Iterator[Violation]:
    seen: set[str] = set()
    for place, one in enumerate(found):
        where = f"{name}[{place}]"
        if (fault := rules.judge_id(one)) is not None:
            yield replace(fault, field=where)
        elif one in seen:
            yield Violation("id-twice", "no source may stand twice", field=where, value=show(one))
        else:
            seen.add(one)


def _stage_faults(plain: Mapping[str, Any]) -> Iterator[Violation]:
    if "stage" not in plain:
        return
    stage, synthetic = plain["stage"], plain.get("synthetic")
    if not isinstance(stage, str) or stage not in STAGES:
        yield Violation("stage", f"must be one of {', '.join(STAGES)}", field="stage", value=kind_of(stage))
    elif isinstance(synthetic, bool) and synthetic is not (stage == "synthetic"):
        message = "must be synthetic exactly where synthetic is true"
        yield Violation("stage", message, field="stage", value=show(stage))


def _run_faults(run: object) -> Iterator[Violation]:
    if not isinstance(run, dict):
        yield Violation("object", "must be an object", field="run", value=kind_of(run))
        return
    yield from (replace(fault, field="run") for fault in rules.unknown(run, _RUN, "run"))
    for name in _RUN_TEXTS:
        if name in run and (fault := rules.judge_header(run[name])) is not None:
            yield replace(fault, field=f"run.{name}")
    if "failures" in run and not rules.is_whole(run["failures"]):
        yield _not_whole("run.failures", run["failures"])
    if "model_revisions" in run:
        yield from _revision_faults(run["model_revisions"])
    if "cache" in run:
        yield from _cache_faults(run["cache"])


def _revision_faults(found: object) -> Iterator[Violation]:
    where = "run.model_revisions"
    if not isinstance(found, dict | list):
        message = "must be an object of a revision for each model, or an array of revisions"
        yield Violation("run", message, field=where, value=kind_of(found))
        return
    members = found.items() if isinstance(found, dict) else enumerate(found)
    for name, one in members:
        if (fault := rules.judge_header(one)) is not None:
            yield replace(fault, field=f"{where}.{name}" if isinstance(found, dict) else f"{where}[{name}]")


def _cache_faults(found: object) -> Iterator[Violation]:
    if not isinstance(found, dict):
        yield Violation("object", "must be an object", field="run.cache", value=kind_of(found))
        return
    yield from (replace(fault, field="run.cache") for fault in rules.unknown(found, _CACHE, "cache"))
    for name in _CACHE:
        if name not in found:
            yield Violation("missing-field", "is missing", field=f"run.cache.{name}")
        elif not rules.is_whole(found[name]):
            yield _not_whole(f"run.cache.{name}", found[name])


def _not_whole(where: str, value: object) -> Violation:
    message = "must be a whole number from 0, without fraction, exponent or quotes"
    return Violation("whole-number", message, field=where, value=kind_of(value))
