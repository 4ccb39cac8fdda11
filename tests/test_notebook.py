"""The notebook of the docs: the page on analysis, cell by cell, with what its code gives now."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
sys.path.insert(0, str(DOCS))

import notebook  # noqa: E402 - the scripts of the docs are no package


def test_the_notebook_runs_and_is_up_to_date() -> None:
    """All its cells run in order in its own folder, and give what is stored as their outputs."""
    command = [sys.executable, str(DOCS / "notebook.py"), "--check"]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    stored = json.loads((DOCS / "analysis.ipynb").read_text("utf-8"))
    assert (stored["nbformat"], stored["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in stored["cells"]}) == len(stored["cells"]) > 10


def test_a_page_becomes_cells() -> None:
    """Words are text, code is code, a cell ends where something is shown; outputs are those of a notebook."""
    page = "# A\n\n<!-- x -->\nb\n\n```python\n>>> a = 1\n>>> a + 1\n2\n>>> print(a)\n1\n```\n\nc\n"
    assert list(notebook.cells(page))[1:] == [
        ("markdown", "# A\n\nb"),
        ("code", "a = 1\na + 1"),
        ("code", "print(a)"),
        ("markdown", "c"),
    ]


def test_what_a_cell_gives_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """The value of the last line is a result, what is printed a stream, nothing is nothing."""
    monkeypatch.setattr("notebook.START", "x = 2")
    made = notebook.notebook("t\n\n```python\n>>> x + 1\n3\n>>> print(x)\n2\n```\n")["cells"]
    code = [(cell["execution_count"], cell["outputs"]) for cell in made if cell["cell_type"] == "code"]
    result = {"data": {"text/plain": ["3"]}, "execution_count": 2, "metadata": {}, "output_type": "execute_result"}
    stream = {"name": "stdout", "output_type": "stream", "text": ["2\n"]}
    assert code == [(1, []), (2, [result]), (3, [stream])]
