"""Rows as clusters of their own: a number for each from its id, so that no order and no file shows in a resample."""

from __future__ import annotations

import numpy as np
import polars as pl

from evalkit.splitmix import splitmix64
from evalkit.uncertainty.weights import Keys

MAX_ROWS = 65_536
"""Most rows that are told apart; where there are more, each stands in one of ``GROUPS`` groups, drawn by its number."""

GROUPS = 4_096
"""Groups. Random groups of independent rows vary as the rows do (Wolter 2007, chapter 2): the width of an interval is
off by about 1 in 90, the root of half the inverse of their number."""

_BITS = GROUPS.bit_length() - 1
_WORD = 8


def row_keys(ids: pl.Series) -> pl.Series:
    """Return the cluster of each row.

    Args:
        ids: The ids of all rows, each once; their number alone decides whether rows are grouped.

    >>> row_keys(pl.Series(["b", "a"])).to_list() == row_keys(pl.Series(["a", "b"])).to_list()[::-1]
    True
    """
    keys = text_numbers(ids)
    if len(keys) > MAX_ROWS:
        keys = keys >> np.uint64(64 - _BITS)
    return pl.Series(keys)


def text_numbers(texts: pl.Series) -> Keys:
    """Return a number of 64 bits for each text, from its bytes alone.

    The library's own hash may change with its version; this one is SplitMix64's finish over words of eight bytes.

    >>> [hex(one) for one in text_numbers(pl.Series(["", "a"]))]
    ['0xe220a8397b1dcdaf', '0x5e025f9ade9eaf3e']
    """
    lengths = texts.str.len_bytes().to_numpy()
    padded = (texts + "\0" * _WORD).cast(pl.Binary)
    found = splitmix64(lengths.astype(np.uint64))
    rows = np.arange(len(lengths))
    for start in range(0, int(lengths.max(initial=0)), _WORD):
        rows = rows[lengths[rows] > start]
        words = padded.gather(rows).bin.slice(start, _WORD).bin.reinterpret(dtype=pl.UInt64, endianness="little")
        found[rows] = splitmix64(found[rows] ^ words.to_numpy())
    return found
