"""Charts as their readers meet them: numbers that stay in their column, zero without a sign."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree as ET

from evalkit.charts.markdown import markdown
from evalkit.charts.read import read
from evalkit.charts.sheet import svg

WIDE = 1_234_567_890_123_456


def document(**metric: Any) -> dict[str, Any]:
    """Write a document with one metric."""
    row = {"name": "records", "value": 0.5, "threshold": 0.5, "sample_size": 4, "direction": "higher", **metric}
    return {"run_id": "r1", "model_revision": "m1", "synthetic": False, "metrics": [row]}


def painted(plain: dict[str, Any]) -> list[str]:
    """Return the texts that are painted."""
    root = ET.fromstring(svg(read(plain)))  # noqa: S314 - our own
    return [one.text or "" for one in root.iter("{http://www.w3.org/2000/svg}text")]


def test_a_number_never_runs_into_the_next_column() -> None:
    """What is wider than its column is shortened, and says so; the table has it whole."""
    plain = document(value=WIDE, threshold=-1.234567e-300, sample_size=WIDE)
    assert [one for one in painted(plain) if "≈" in one] == ["≈ 1.23e+15", "≥ ≈ -1.23e-300", "≈ 1.23e+15"]
    row = "| records | 1,234,567,890,123,456 | ≥ -1.23457e-300 | 1,234,567,890,123,456 | higher | met | a count |"
    assert row in markdown(read(plain)).splitlines()


def test_ten_million_stay_whole() -> None:
    """A sample of ten million, and a count of a hundred million, are painted digit by digit."""
    shown = painted(document(value=123_456_789, threshold=0, sample_size=10_000_000))
    assert {"123,456,789", "10,000,000"} <= set(shown)


def test_zero_has_no_sign() -> None:
    """-0.0 is zero: a value and a target of it are written as any other zero."""
    assert {"0.0000", "≥ 0.00"} <= set(painted(document(value=-0.0, threshold=-0.0)))
