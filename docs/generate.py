"""Write the generated parts of README and docs, or tell which are out of date.

    python docs/generate.py            write them
    python docs/generate.py --check    write nothing; exit 1 and name each part that is out of date

A generated part stands between the lines ``<!-- generated: NAME -->`` and ``<!-- end -->``. ``console`` runs the
command lines that stand in the part; every other name is a function of ``parts.PARTS``.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from parts import PARTS
from shell import ROOT, replay

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
    if check and found:
        print("run: make docs", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
