"""What ``evaluate`` takes for granted where the caller says nothing, and what it can at most be asked for."""

from __future__ import annotations

BINS = 10
"""Equal-width confidence bins."""

MAX_BINS = 32_767
"""Most confidence bins: a table's column of them holds no more."""

SUM_TOLERANCE = "1e-3"
"""How far the sum of a vector may be off 1."""

MAX_GOLD = 50_000_000
"""Most gold rows that are held unless the caller says otherwise: about 100 bytes each."""
