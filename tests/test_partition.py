"""Partitions: however a source is cut, the same lines come out, once each and in order."""

from __future__ import annotations

import gzip
import io
from itertools import cycle, pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from evalkit.formats import json_lines
from evalkit.sources import stream
from evalkit.sources.partition import Inputs
from evalkit.sources.source import resolve

MARK = b"\xef\xbb\xbf"

TEXTS = st.lists(st.sampled_from([b"\n", b"\r\n", b"a", b"bc", b"{}", MARK, b"", b"\xff"]), max_size=30).map(b"".join)


def cut(path: Path, size: int) -> list[bytes]:
    """Return the partitions of one file."""
    with Inputs(resolve([str(path)]), size) as inputs:
        parts: list[Any] = list(inputs.partitions())
        return [found.load() for found in parts]


@settings(deadline=None, max_examples=400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS, size=st.integers(1, 12))
@example(text=MARK, size=1)
@example(text=MARK + b"\n" + MARK + b"\n", size=2)
def test_ranges_hold_every_line_once(text: bytes, size: int, tmp_path: Path) -> None:
    """Byte ranges of any size give the file's lines, but for a byte-order mark at its start; none is cut in two."""
    path = tmp_path / "dump.jsonl"
    path.write_bytes(text)
    found = cut(path, size)
    assert b"".join(found) == text.removeprefix(MARK)
    assert all(one.endswith(b"\n") for one in [one for one in found if one][:-1])


@settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS, size=st.integers(1, 12), members=st.integers(1, 3))
def test_blocks_hold_every_line_once(text: bytes, size: int, members: int, tmp_path: Path) -> None:
    """Compressed files, also of several members, give the same lines as the plain file."""
    edges = [len(text) * place // members for place in range(members + 1)]
    pieces = [text[a:b] for a, b in pairwise(edges)]
    path = tmp_path / "dump.jsonl.gz"
    path.write_bytes(b"".join(gzip.compress(piece) for piece in pieces))
    assert b"".join(cut(path, size)) == text.removeprefix(MARK)
    path.write_bytes(b"".join(pa.compress(piece, "zstd", asbytes=True) for piece in pieces))
    assert b"".join(cut(path, size)) == text.removeprefix(MARK)


def test_an_endless_line_is_cut_just_past_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A line past the longest allowed is given one byte too long, wherever it is cut, and memory stays bounded."""
    monkeypatch.setattr(json_lines, "MAX_LINE", 50)
    path = tmp_path / "dump.jsonl"
    path.write_bytes(b"first\n" + b"x" * 500 + b"\nlast\n")
    for size in (1, 7, 60, 100, 1000):
        lines = b"".join(one if one.endswith(b"\n") else one + b"\n" for one in cut(path, size) if one).splitlines()
        assert [lines[0], lines[-1]] == [b"first", b"last"], size
        assert len(lines) == 3
        assert 50 < len(lines[1]) <= 500


def test_digests_are_those_of_the_stored_bytes(tmp_path: Path) -> None:
    """The evidence tells the SHA-256 and the size of each file as it is stored, compressed or not."""
    plain, packed = tmp_path / "a.jsonl", tmp_path / "b.jsonl.gz"
    plain.write_bytes(b"abc")
    packed.write_bytes(gzip.compress(b"abc\n", mtime=0))
    with Inputs(resolve([str(plain), str(packed)])) as inputs:
        list(inputs.partitions())
        first, second = inputs.digests()
    # FIPS 180-2, appendix B.1
    assert first == (3, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    assert second is not None
    assert second[0] == packed.stat().st_size


class Dripping(io.RawIOBase):
    """A stream that gives as little at a time as it likes."""

    def __init__(self, text: bytes, sizes: list[int]) -> None:
        self._text = io.BytesIO(text)
        self._sizes = cycle(sizes)

    def readable(self) -> bool:
        """Say that it can be read."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read a few bytes."""
        piece = self._text.read(min(next(self._sizes), len(buffer)))
        buffer[: len(piece)] = piece
        return len(piece)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS, size=st.integers(1, 20), sizes=st.lists(st.integers(1, 9), min_size=1, max_size=4))
def test_a_pipe_is_cut_where_its_bytes_say(
    text: bytes, size: int, sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a stream is cut depends on its bytes, not on how they arrive: line numbers of a second reading hold."""
    monkeypatch.setattr(stream, "STEP", 7)
    assert list(stream.whole_lines(Dripping(text, sizes), size)) == list(stream.whole_lines(io.BytesIO(text), size))
