"""The options that say which statistics are wanted, the same for every command that has them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import typer

if TYPE_CHECKING:
    from evalkit.uncertainty.chosen import Chosen

REPLICATES = 1000
MIN_CONTRIBUTORS = 30

INTERVAL = typer.Option(metavar="LEVEL", help="Give numbers intervals of this confidence, such as 0.95.")
REPLICATED = typer.Option(metavar="N", help="Resamples, where an interval needs them.")
SEED = typer.Option(metavar="N", help="The seed of the resamples.")
LEAST = typer.Option(metavar="N", help="Fewest clusters that an interval is given for.")


class Stated(NamedTuple):
    """What the caller says of statistics."""

    interval: str | None
    replicates: int
    seed: int
    min_contributors: int
    cluster_by: str | None = None
    calibration: bool = False

    def chosen(self) -> Chosen | None:
        """Return the statistics wanted; None where none are.

        Raises:
            Refusal: Something makes no sense.
        """
        from evalkit.uncertainty.chosen import choose

        return choose(*self[:4], cluster_by=self.cluster_by, calibration=self.calibration)
