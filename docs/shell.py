"""Run command lines as a reader of the docs would type them, in a folder of their own, and return what they print."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

_UNWANTED = ("FORCE_COLOR", "CLICOLOR_FORCE", "TTY_COMPATIBLE", "PYTHONWARNINGS")


def environment() -> dict[str, str]:
    """Return an environment in which output is the same everywhere: 80 columns, no colour, UTF-8."""
    kept = {name: value for name, value in os.environ.items() if name not in _UNWANTED}
    path = os.pathsep.join((str(Path(sys.executable).parent), kept.get("PATH", os.defpath)))
    fixed = {"COLUMNS": "80", "LINES": "24", "NO_COLOR": "1", "TERM": "dumb", "PYTHONUTF8": "1", "LC_ALL": "C"}
    return {**kept, **fixed, "PATH": path}


@contextmanager
def playground() -> Iterator[Path]:
    """Make a folder that holds the fixtures under their usual name and nothing else."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data-fixtures").symlink_to(ROOT / "data-fixtures")
        yield folder


def trimmed(text: str) -> str:
    """Return a text without spaces at the ends of its lines and without empty lines at its end."""
    return "\n".join(line.rstrip() for line in text.rstrip().split("\n"))


def replay(block: str) -> str:
    """Run each line of a console block that begins with ``$ `` and return the block with what they print now.

    The lines run in one folder, one after the other; ``$?`` is the exit code of the line before.
    """
    printed = []
    status = 0
    with playground() as folder:
        for command in re.findall(r"^\$ (.*)$", block, re.MULTILINE):
            done = subprocess.run(
                ["/bin/sh", "-c", f"(exit {status}); {command}"],
                cwd=folder,
                env=environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                check=False,
            )
            status = done.returncode
            printed.append(f"$ {command}\n{done.stdout}")
    return trimmed("".join(printed))
