"""What travels between processes, as bytes: tables in it as Arrow IPC with Zstandard, everything else pickled.

A table pickled as it is would be several times as large. Bytes are not the same each time, what is in them is.
"""

from __future__ import annotations

import io
import pickle
from types import MappingProxyType
from typing import Any

import polars as pl
import pyarrow as pa


def packed(value: object) -> bytes:
    """Pack a value.

    >>> unpacked(packed({"n": 1, "table": pl.DataFrame({"a": [1, 2]})}))["table"]["a"].to_list()
    [1, 2]
    """
    into = io.BytesIO()
    _Packer(into, protocol=5).dump(value)
    return into.getvalue()


def unpacked(data: bytes) -> Any:
    """Return what was packed; only for what this program or a worker that the caller trusts has packed."""
    return pickle.loads(data)  # noqa: S301 - see above


class _Packer(pickle.Pickler):
    def reducer_override(self, value: Any) -> Any:
        """Say how a table is packed, and what cannot be pickled as it is."""
        if isinstance(value, pl.DataFrame):
            return _frame, (_ipc(value),)
        if isinstance(value, pl.Series):
            return _series, (_ipc(value.to_frame()),)
        if isinstance(value, pa.Table):
            sink = pa.BufferOutputStream()
            options = pa.ipc.IpcWriteOptions(compression="zstd")
            with pa.ipc.new_stream(sink, value.schema, options=options) as writer:
                writer.write_table(value)
            return _table, (sink.getvalue().to_pybytes(),)
        if isinstance(value, MappingProxyType):  # frozen parts of a contract
            return _frozen, (dict(value),)
        return NotImplemented


def _ipc(frame: pl.DataFrame) -> bytes:
    into = io.BytesIO()
    frame.write_ipc(into, compression="zstd", compat_level=pl.CompatLevel.newest())
    return into.getvalue()


def _frame(data: bytes) -> pl.DataFrame:
    return pl.read_ipc(io.BytesIO(data))


def _series(data: bytes) -> pl.Series:
    return _frame(data).to_series()


def _table(data: bytes) -> pa.Table:
    return pa.ipc.open_stream(data).read_all()


def _frozen(members: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    return MappingProxyType(members)
