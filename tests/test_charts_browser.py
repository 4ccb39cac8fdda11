"""A page as a real browser takes it: nothing is refused by its own policy, nothing is asked of any network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import evalkit as library

FIXTURES = Path(__file__).parent.parent / "data-fixtures" / "charts"
BROWSER = shutil.which("chromium")
NEEDED = os.environ.get("EVALKIT_NEEDS_BROWSER") == "1"
_OPTIONS = ("--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--dump-dom")

pytestmark = pytest.mark.skipif(
    BROWSER is None and not NEEDED, reason="no chromium; on Debian: apt-get install chromium"
)


def opened(page: Path, profile: Path) -> tuple[str, str]:
    """Open a page and return its document, as the browser has made it, and what it says on its console."""
    assert BROWSER is not None, "EVALKIT_NEEDS_BROWSER is set, and there is no chromium"
    line = [BROWSER, *_OPTIONS, f"--user-data-dir={profile}", page.as_uri()]
    done = subprocess.run(line, capture_output=True, encoding="utf-8", timeout=60, check=True)
    console = [one for one in done.stderr.splitlines() if "CONSOLE" in one]
    return done.stdout, "\n".join(console)


def test_a_browser_has_nothing_to_refuse(tmp_path: Path) -> None:
    """Styles pass the policy, hostile names stay text, and all charts are there."""
    plain = json.loads((FIXTURES / "measurement.json").read_text("utf-8"))
    plain["run_id"] = plain["metrics"][0]["name"] = (
        "</style></title><script>alert(1)</script><img src=x onerror=alert(1)>"
    )
    library.render(plain, tmp_path / "a.html")
    document, console = opened(tmp_path / "a.html", tmp_path / "profile")
    assert console == ""
    assert "<script" not in document
    assert "<img" not in document
    assert document.count('role="img"') == 3  # all cases, and two strata
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in document


def test_what_a_page_must_not_do_would_be_seen(tmp_path: Path) -> None:
    """A script in it, or a changed style, is refused by the policy and said on the console."""
    library.render(FIXTURES / "foreign.json", tmp_path / "a.html")
    text = (tmp_path / "a.html").read_text("utf-8")
    changed = text.replace("h1{margin:0", "h1{margin:1px", 1).replace(
        "</main>", "<script>document.title='x'</script></main>"
    )
    (tmp_path / "b.html").write_text(changed, "utf-8")
    document, console = opened(tmp_path / "b.html", tmp_path / "profile")
    assert "style" in console
    assert "script" in console
    assert "<title>Measurement</title>" in document


def test_a_page_with_statistics_has_all_its_charts(tmp_path: Path) -> None:
    """Nothing of it is refused; all at a glance is one chart, the comparison three, alpha has 15 and beta 14."""
    library.render(FIXTURES / "statistics.json", tmp_path / "a.html")
    document, console = opened(tmp_path / "a.html", tmp_path / "profile")
    assert console == ""
    assert "<script" not in document
    for title in ("Recalibrated confidence (CORP)", "Risk and coverage, on validation", "Differences to alpha"):
        assert f"<h3>{title}</h3>" in document
    assert document.count('role="img"') == 33
