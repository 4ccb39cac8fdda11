"""What statistics need besides the core: NumPy and SciPy, an extra; without it they are refused, never guessed."""

from __future__ import annotations

from importlib.util import find_spec

from evalkit.errors import Refusal, Violation


def assert_installed() -> None:
    """Refuse statistics where what they need is not installed.

    Raises:
        Refusal: NumPy or SciPy is lacking.
    """
    if any(find_spec(name) is None for name in ("numpy", "scipy")):
        message = 'intervals and tests need NumPy and SciPy: pip install "evalkit[stats]"'
        raise Refusal.of(Violation("stats-not-installed", message))
