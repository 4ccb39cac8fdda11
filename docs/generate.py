"""Write the generated parts of README and docs and the example's chart, or tell which are out of date.

    python docs/generate.py            write them
    python docs/generate.py --check    write nothing; exit 1 and name each part that is out of date

A generated part stands between the lines ``<!-- generated: NAME -->`` and ``<!-- end -->``. ``console`` runs the
command lines that stand in the part; every other name is a function of ``parts.PARTS``.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from parts import PARTS
from shell import ROOT, replay

from evalkit import measure, render
from evalkit.charts.figures import figures
from evalkit.charts.read import read
from evalkit.charts.svg import draw, whole
from evalkit.charts.words import SYNTHETIC

PART = re.compile(
    r"^(?P<head><!-- generated: (?P<name>[a-z-]+) -->\n)(?P<body>.*?)(?P<tail>^<!-- end -->$)", re.DOTALL | re.MULTILINE
)
CONSOLE = "console"


def pages() -> list[Path]:
    """Return README and all pages of the docs."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def fresh(name: str, body: str) -> str:
    """Return what a part must hold now, given what it holds."""
    if name == CONSOLE:
        block = body.removeprefix("```console\n").rstrip().removesuffix("```")
        return f"```console\n{replay(block)}\n```\n"
    return _made(name)


@cache
def _made(name: str) -> str:
    if name not in PARTS:
        raise SystemExit(f"there is no part {name}; known are {CONSOLE}, {', '.join(PARTS)}")
    return PARTS[name]().strip("\n") + "\n"


def renewed(text: str) -> tuple[str, list[str]]:
    """Return a page with fresh parts, and the names of the parts that have changed."""
    changed = []

    def renew(found: re.Match[str]) -> str:
        body = fresh(found["name"], found["body"])
        if body != found["body"]:
            changed.append(found["name"])
        return found["head"] + body + found["tail"]

    return PART.sub(renew, text), changed


def stale() -> Iterator[tuple[Path, str, list[str]]]:
    """Yield each page that is out of date, what it must hold, and which of its parts differ."""
    for page in pages():
        text, changed = renewed(page.read_text("utf-8"))
        if changed:
            yield page, text, changed


ASSETS = ROOT / "docs" / "assets"
OBSERVATIONS = ROOT / "data-fixtures" / "observations" / "synthetic.json"


STATISTICS = ROOT / "data-fixtures" / "charts" / "statistics.json"
PICTURES = {
    "Differences to alpha": "differences.svg",
    "Values and targets": "intervals.svg",
    "Recalibrated confidence (CORP)": "calibration.svg",
}
"""The charts of the invented report with statistics that the docs show, and what they are called."""


def assets() -> dict[Path, bytes]:
    """Return the synthetic example, an evaluation of invented observations, its chart, and those with statistics."""
    with tempfile.TemporaryDirectory() as folder:
        evaluation, chart = Path(folder, "synthetic-evaluation.json"), Path(folder, "synthetic-evaluation.svg")
        measure(OBSERVATIONS).write_json(evaluation)
        render(evaluation, chart)
        made = {ASSETS / path.name: path.read_bytes() for path in (evaluation, chart)}
    return made | dict(pictures())


def pictures() -> Iterator[tuple[Path, bytes]]:
    """Yield charts of the comparison with a baseline, and of the candidate that does not pass."""
    subject = read(STATISTICS)
    parts = [*([] if subject.comparison is None else [subject.comparison]), subject.parts[1]]
    for figure in (one for part in parts for one in figures(part)):
        if figure.spec is None or figure.title not in PICTURES:
            continue
        drawn, name = draw(figure.spec, "chart"), PICTURES[figure.title]
        title = f"{figure.title}, {SYNTHETIC}"
        picture = whole(drawn.width, drawn.height, title, figure.told, drawn.inner, "chart", alone=True)
        yield ASSETS / name, f"{picture}\n".encode()


def stale_assets() -> Iterator[tuple[Path, bytes]]:
    """Yield each asset that is out of date, and what it must hold."""
    for path, content in assets().items():
        if not path.exists() or path.read_bytes() != content:
            yield path, content


def main() -> int:
    """Write or check."""
    options = argparse.ArgumentParser(description="Write the generated parts of README and docs.")
    options.add_argument("--check", action="store_true", help="write nothing; fail if a part is out of date")
    check = options.parse_args().check
    found = list(stale())
    for page, text, changed in found:
        name = page.relative_to(ROOT)
        print(f"{name}: {'out of date' if check else 'written'}: {', '.join(dict.fromkeys(changed))}")
        if not check:
            page.write_text(text, "utf-8")
    other = list(stale_assets())
    for path, content in other:
        print(f"{path.relative_to(ROOT)}: {'out of date' if check else 'written'}")
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
    if check and (found or other):
        print("run: make docs", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
