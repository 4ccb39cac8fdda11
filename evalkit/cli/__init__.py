"""The command line: it mirrors the library, and is the only module that prints or exits.

Libraries are imported where they are used: ``--help`` and ``--version`` answer at once, and the digests of the inputs
are under way while the dataframe library loads.
"""

from evalkit.cli.app import app, run

__all__ = ["app", "run"]
