"""Some columns of contributor tallies at a time: of a wide matrix no metric needs more than a few."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from evalkit.uncertainty.clusters import Clusters


class Slices:
    """Contributor tallies, sorted so that any columns of them can be taken out.

    >>> import polars as pl
    >>> from evalkit.uncertainty.clusters import Entry, clustered
    >>> entries = [Entry(pl.Series([0, 0, 1]), pl.Series([1, 2, 5]))]
    >>> whole = clustered(pl.Series([7, 3, 3], dtype=pl.UInt64), ["n", "right"], entries)
    >>> some = Slices(whole).of(["right"])
    >>> [(keys.tolist(), matrix.tolist()) for keys, matrix in some.blocks()]
    [([3], [[5]])]
    """

    def __init__(self, clusters: Clusters) -> None:
        self._clusters = clusters
        order = np.argsort(clusters.codes, kind="stable")
        self._rows, self._amounts = clusters.rows[order], clusters.amounts[order]
        self._starts = np.searchsorted(clusters.codes[order], np.arange(len(clusters.columns) + 1))
        self._places = {column: place for place, column in enumerate(clusters.columns)}

    def of(self, columns: Iterable[str]) -> Clusters:
        """Return the tallies of these columns alone, of the contributors that have anything in them."""
        names = tuple(dict.fromkeys(columns))
        parts = [slice(*self._starts[self._places[name] : self._places[name] + 2]) for name in names]
        nothing = np.zeros(0, np.int64)
        rows = np.concatenate([nothing, *(self._rows[part] for part in parts)])
        amounts = np.concatenate([nothing, *(self._amounts[part] for part in parts)])
        codes = np.repeat(np.arange(len(parts)), [part.stop - part.start for part in parts])
        order = np.argsort(rows, kind="stable")
        there, place = np.unique(rows[order], return_inverse=True)
        return Clusters(self._clusters.keys[there], names, place.astype(np.int64), codes[order], amounts[order])
