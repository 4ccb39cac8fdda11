"""The shape of the code: who imports whom, who prints and exits, how long a module is."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MODULES = sorted((ROOT / "evalkit").rglob("*.py"))
NAMES = [str(path.relative_to(ROOT)) for path in MODULES]

SPEAKING = {
    *("print", "exit", "quit", "input", "SystemExit"),
    *("sys.exit", "os._exit", "os.abort", "typer.Exit", "typer.Abort", "typer.echo", "traceback.print_exc"),
    *("sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__"),
}
"""What only the command line may use."""


def test_the_import_contracts_hold() -> None:
    """Layers, the number side without frames, the terminal for the command line alone: as in pyproject.toml."""
    linter = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache", "--no-logo"]
    run = subprocess.run(linter, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    assert "Contracts: 3 kept, 0 broken." in run.stdout


def test_only_the_command_line_prints_and_exits() -> None:
    """``evalkit/cli`` alone prints, exits or holds a standard stream; ``__main__`` calls it and no more."""
    found = {name: _speaks(path) for name, path in zip(NAMES, MODULES, strict=True)}
    speaking = {name: found.pop(name) for name in list(found) if name.startswith("evalkit/cli/")}
    assert set().union(*speaking.values()) >= {"print", "sys.stdout", "sys.stderr", "typer.Exit", "SystemExit"}
    assert {name: words for name, words in found.items() if words} == {}


def _speaks(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    attributes = {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    imported = {
        f"{node.module}.{one.name}" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for one in node.names
    }
    return (names | attributes | imported) & SPEAKING


@pytest.mark.parametrize("path", MODULES, ids=NAMES)
def test_a_module_is_short_and_says_what_it_is_for(path: Path) -> None:
    """A module has at most 300 lines and begins with a docstring."""
    source = path.read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 300
    assert ast.get_docstring(ast.parse(source))
