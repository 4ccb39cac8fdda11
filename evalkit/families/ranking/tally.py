"""The sufficient statistic of ranked retrieval: how many queries of a stratum had which outcome under which system."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from evalkit.families.ranking.metrics import Outcome, Outcomes, outcome
from evalkit.families.ranking.rules import SYSTEMS, Query


class Key(NamedTuple):
    """What queries are counted by; the source only where it is asked for."""

    system: str
    stratum: str | None
    outcome: Outcome
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Tally:
    """Queries by system, stratum and outcome; tallies of parts add up to that of the whole.

    Attributes:
        counts: The queries; none of them is zero.

    >>> query = Query("q", "s", {"a": 1}, {"bm25": ["x", "a"]}, "long")
    >>> both = Tally.of(query) + Tally.of(query)
    >>> both.systems, both.strata, both.outcomes("bm25")
    (('bm25',), ('long',), {Outcome(found=(0, 1), ideal=(1,), relevant=1): 2})
    """

    counts: Counter[Key] = field(default_factory=Counter)

    @classmethod
    def of(cls, query: Query) -> Tally:
        """Count one query."""
        return cls.of_queries([query])

    @classmethod
    def of_queries(cls, queries: Iterable[Query], *, by_source: bool = False) -> Tally:
        """Count queries."""
        found: Counter[Key] = Counter()
        for query in queries:
            for system, ranking in query.rankings.items():
                source = query.source_id if by_source else None
                found[Key(system, query.stratum, outcome(query.relevance, ranking), source)] += 1
        return cls(found)

    @classmethod
    def of_counts(cls, counts: Iterable[tuple[Key, int]]) -> Tally:
        """Take counts that were made elsewhere; a key may come more than once."""
        found: Counter[Key] = Counter()
        for key, count in counts:
            found[key] += count
        return cls(found)

    @classmethod
    def total(cls, tallies: Iterable[Tally]) -> Tally:
        """Add up the tallies of many parts, in less time than one after the other."""
        found: Counter[Key] = Counter()
        for tally in tallies:
            found.update(tally.counts)
        return cls(found)

    def __add__(self, other: Tally) -> Tally:
        """Add the tally of other queries."""
        return Tally.total((self, other))

    def __bool__(self) -> bool:
        """Tell whether there is any query."""
        return bool(self.counts)

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems: those of a document in their order, then others by name."""
        found = {key.system for key in self.counts}
        return (*(one for one in SYSTEMS if one in found), *sorted(found - set(SYSTEMS)))

    @property
    def strata(self) -> tuple[str | None, ...]:
        """The strata by name; None, last, where some query has none."""
        found = {key.stratum for key in self.counts}
        return (*sorted(one for one in found if one is not None), *({None} & found))

    def outcomes(self, system: str, strata: Iterable[str | None] | None = None) -> Outcomes:
        """Count the outcomes of a system.

        Args:
            system: The system.
            strata: The strata whose queries count; all queries where none is given.
        """
        wanted = None if strata is None else frozenset(strata)
        found: Counter[Outcome] = Counter()
        for key, count in self.counts.items():
            if key.system == system and (wanted is None or key.stratum in wanted):
                found[key.outcome] += count
        return dict(found)
