"""Reports as bytes: canonical JSON, so that the same numbers are the same file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any


def document(value: Any) -> Any:
    """Turn dataclasses into plain data: field names in camelCase in their order, keys of mappings as they are.

    Fields whose metadata says ``{"report": False}`` are left out.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Row:
    ...     mean_confidence: float
    >>> document({"a_b": Row(0.5)})
    {'a_b': {'meanConfidence': 0.5}}
    """
    if is_dataclass(value) and not isinstance(value, type):
        shown = [one for one in fields(value) if one.metadata.get("report", True)]
        return {camel(one.name): document(getattr(value, one.name)) for one in shown}
    if isinstance(value, Mapping):
        return {key: document(member) for key, member in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return document(value._asdict())
    if isinstance(value, list | tuple):
        return [document(member) for member in value]
    return value


def camel(name: str) -> str:
    """Spell a name as reports do.

    >>> camel("precision_at_coverage"), camel("macro_f1")
    ('precisionAtCoverage', 'macroF1')
    """
    return re.sub("_([a-z0-9])", lambda match: match[1].upper(), name)


def snake(name: str) -> str:
    """Spell a name as tables do.

    >>> snake("precisionAtCoverage"), snake("macroF1")
    ('precision_at_coverage', 'macro_f1')
    """
    return re.sub("(?<=[a-z0-9])([A-Z])", lambda match: "_" + match[1].lower(), name)


def canonical(plain: Any) -> bytes:
    r"""Write plain data as strict JSON in UTF-8: keys in their order, two spaces, a newline at the end.

    Raises:
        ValueError: A number is NaN or infinite.

    >>> canonical({"ece": None})
    b'{\n  "ece": null\n}\n'
    """
    return (json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode("utf-8")
