"""Make the notebook of a page of the docs, and run it.

    python docs/notebook.py            write docs/analysis.ipynb
    python docs/notebook.py --check    write nothing; exit 1 if it is out of date

The words of the page become cells of text, its Python blocks cells of code. They are run in order, as a notebook runs
them: what a cell prints and what its last line gives are its outputs. No server of notebooks is needed for that.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import doctest
import io
import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

DOCS = Path(__file__).resolve().parent
PAGE, NOTEBOOK = DOCS / "analysis.md", DOCS / "analysis.ipynb"

START = "# The paths below are meant from the folder above this one.\nimport os\n\nos.chdir(os.pardir)"

_BLOCK = re.compile(r"^```python\n(?P<code>.*?)^```\n", re.DOTALL | re.MULTILINE)
_MARK = re.compile(r"^<!-- .* -->\n", re.MULTILINE)
_ITSELF = re.compile(r"^\[analysis\.ipynb\].*\n\n", re.MULTILINE)


def cells(page: str) -> Iterator[tuple[str, str]]:
    """Split a page into the kinds and the texts of cells."""
    yield "code", START
    page, at = _ITSELF.sub("", _MARK.sub("", page)), 0
    for block in _BLOCK.finditer(page):
        yield "markdown", page[at : block.start()].strip()
        yield from (("code", code) for code in _sources(block["code"]))
        at = block.end()
    yield "markdown", page[at:].strip()


def _sources(session: str) -> Iterator[str]:
    """Take the code from what a prompt shows; a cell ends where something is shown."""
    lines: list[str] = []
    for example in doctest.DocTestParser().get_examples(session):
        lines.append(example.source)
        if example.want:
            yield "".join(lines).rstrip()
            lines = []
    if lines:
        yield "".join(lines).rstrip()


def notebook(page: str) -> dict[str, Any]:
    """Return the notebook of a page, run."""
    names: dict[str, Any] = {"__name__": "__main__"}
    made: list[dict[str, Any]] = []
    for place, (kind, text) in enumerate(cells(page)):
        cell: dict[str, Any] = {"cell_type": kind, "id": f"cell-{place}", "metadata": {}, "source": _lines(text)}
        if kind == "code":
            number = sum(one["cell_type"] == "code" for one in made) + 1
            cell |= {"execution_count": number, "outputs": _run(text, names, number)}
        made.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


def _run(code: str, names: dict[str, Any], number: int) -> list[dict[str, Any]]:
    tree = ast.parse(code)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    printed = io.StringIO()
    outputs: list[dict[str, Any]] = []
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, PAGE, "exec"), names)  # noqa: S102 - our own docs
        value = None
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), PAGE, "eval"), names)  # noqa: S307 - our own docs
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        outputs.append({"data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result"})
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> int:
    """Write the notebook, or check it."""
    parser = argparse.ArgumentParser(description="Write the notebook of docs/analysis.md.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the notebook is out of date")
    os.chdir(DOCS)
    fresh = json.dumps(notebook(PAGE.read_text("utf-8")), indent=1, ensure_ascii=False) + "\n"
    if not parser.parse_args().check:
        NOTEBOOK.write_text(fresh, "utf-8")
        return 0
    if NOTEBOOK.exists() and NOTEBOOK.read_text("utf-8") == fresh:
        return 0
    print("docs/analysis.ipynb is out of date; run python docs/notebook.py")
    return 1


if __name__ == "__main__":
    sys.exit(main())
