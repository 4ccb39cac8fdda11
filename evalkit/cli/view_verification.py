"""What a person sees of a verification: one line with the outcome, then one line a difference."""

from __future__ import annotations

from collections.abc import Iterator

from evalkit.errors import printable
from evalkit.verification.verify import Verification

SHOWN_DIFFERENCES = 50
"""Most differences that are shown."""


def verification_lines(found: Verification) -> Iterator[str]:
    """Word the outcome, line by line."""
    differing = "1 difference" if found.differing == 1 else f"{found.differing:,} differences"
    yield f"{'verified' if found.verified else 'differs'}: {found.checks:,} checks, {differing}"
    for one in found.differences[:SHOWN_DIFFERENCES]:
        claimed, recomputed = (printable("nothing" if text is None else text) for text in (one.claimed, one.recomputed))
        yield f"  {printable(one.path)}: claimed {claimed}, recomputed {recomputed}"
    if found.differing > SHOWN_DIFFERENCES:
        yield f"  … and {found.differing - SHOWN_DIFFERENCES:,} more"
