"""Texts of Arrow's columns, looked at before the dataframe library gets them: it trusts that they are UTF-8."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa

from evalkit.errors import Refusal, Violation
from evalkit.records.strict_json import decode


class NotTextError(Exception):
    """A column of texts holds bytes that are no UTF-8."""

    def __init__(self, violation: Violation) -> None:
        self.violation = violation
        super().__init__(str(violation))


def texts(column: Any, path: str, *, secret: bool) -> Any:
    """Look at the texts of a column before they are handed over: the library trusts that they are UTF-8."""
    if _is_ascii(column):
        return column
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        if not pa.types.is_dictionary(column.type):
            raise NotTextError(_not_utf8(column, path, secret=secret)) from None
        return texts(column.cast(column.type.value_type), path, secret=secret)  # what is in no row does no harm
    return column


def checked_texts(column: Any, path: str) -> Any:
    """Look at the texts of a column, or at those of its lists, before they are handed over.

    Raises:
        NotTextError: A text is no UTF-8.
    """
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type) or is_fixed(column.type)):
        return texts(column, path, secret=False)
    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        for row, value in enumerate(column.cast(pa.large_list(pa.large_binary()))):
            for raw in value.as_py() or ():
                if (fault := _text_fault(raw, path)) is not None:
                    raise NotTextError(replace(fault, line=row)) from None
        raise NotTextError(Violation("column-type", "holds what is no text", field=path)) from None
    return column


def is_fixed(kind: Any) -> bool:
    """Tell lists of one length."""
    return bool(pa.types.is_fixed_size_list(kind))


def _is_ascii(column: Any) -> bool:
    """Tell, at the cost of a look at the bytes, texts that are surely UTF-8: keys and most names are ASCII."""
    for chunk in column.chunks if isinstance(column, pa.ChunkedArray) else [column]:
        texts = chunk.dictionary if pa.types.is_dictionary(chunk.type) else chunk
        if not (pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type)):
            return False
        held = texts.buffers()[2]
        if held is not None and not held.to_pybytes().isascii():
            return False
    column.validate()
    return True


def _not_utf8(column: Any, path: str, *, secret: bool) -> Violation:
    for row, raw in enumerate(column.cast(pa.large_binary()).to_pylist()):
        if (fault := _text_fault(raw, path)) is not None:
            return replace(fault, line=row, value=None if secret else fault.value)
    return Violation("column-type", "holds what is no text", field=path)


def _text_fault(raw: bytes | None, path: str) -> Violation | None:
    try:
        decode(raw or b"")
    except Refusal as refusal:
        said = refusal.violations[0]
        return replace(said, message=said.message.replace("of the line", "of the text"), field=path, unit="row")
    return None
