"""README and docs say what the program does: every example runs, every generated part is up to date."""

from __future__ import annotations

import ast
import doctest
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]

sys.path.insert(0, str(DOCS))

import generate  # noqa: E402 - the scripts of the docs are no package
import parts as parts_of_docs  # noqa: E402
import shell  # noqa: E402

BLOCK = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
ABSOLUTE = re.compile(r"(?<![\w.:/<*-])(?:/(?:[\w.-]+/)*[A-Za-z][\w.-]*|[A-Z]:\\\w+|file:/)")


class Block(NamedTuple):
    """A fenced block of a page."""

    page: Path
    line: int
    text: str


def blocks(language: str) -> Iterator[Block]:
    """Find the blocks of one language in all pages."""
    for page in PAGES:
        text = page.read_text("utf-8")
        for found in BLOCK.finditer(text):
            if found["language"] == language:
                yield Block(page, text.count("\n", 0, found.start("text")) + 1, found["text"])


def name(page: Path) -> str:
    """Name a page in a test's id."""
    return page.name


def test_generated_parts_are_up_to_date() -> None:
    """Every generated part is what the code gives now; the command that renews them is named where one is not."""
    command = [sys.executable, str(DOCS / "generate.py"), "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_outdated_part_is_found_and_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part that differs from what the code gives is named and replaced; the page around it stays."""
    monkeypatch.setattr("generate.PARTS", {"old": lambda: "new"})
    page = "a\n<!-- generated: old -->\nold\n<!-- end -->\nb\n"
    fresh, changed = generate.renewed(page)
    assert (fresh, changed) == ("a\n<!-- generated: old -->\nnew\n<!-- end -->\nb\n", ["old"])
    assert generate.renewed(fresh) == (fresh, [])


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_every_part_is_closed_and_known(page: Path) -> None:
    """Each opening marker has its end and a known name, so no part is passed over."""
    text = page.read_text("utf-8")
    parts = [found["name"] for found in generate.PART.finditer(text)]
    assert len(parts) == text.count("<!-- generated:") == text.count("<!-- end -->")
    assert set(parts) <= {*parts_of_docs.PARTS, generate.CONSOLE}


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_python_examples_run(page: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every Python block runs as it stands, one after the other; what a prompt shows is what comes."""
    monkeypatch.chdir(ROOT)
    names: dict[str, object] = {"__name__": page.stem}
    for block in (block for block in blocks("python") if block.page == page):
        sessions = [block.text]
        if not block.text.startswith(">>> "):
            exec(compile("\n" * (block.line - 1) + block.text, page, "exec"), names)  # noqa: S102 - our own docs
            functions = [node for node in ast.walk(ast.parse(block.text)) if isinstance(node, ast.FunctionDef)]
            sessions = [ast.get_docstring(function) or "" for function in functions]
        for session in sessions:
            where = f"{page.name}, block at line {block.line}"
            example = doctest.DocTestParser().get_doctest(session, names, where, str(page), block.line)
            assert doctest.DocTestRunner().run(example, clear_globs=False).failed == 0, where
            names = example.globs


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_what_commands_print_is_generated(page: Path) -> None:
    """No output of a command is written by hand: all console blocks are in parts, which the first test runs again."""
    assert "```console" not in generate.PART.sub("", page.read_text("utf-8"))


def test_commands_are_run_as_a_shell_would() -> None:
    """A console block gives what its commands print, errors too, and `$?` is the exit code of the one before."""
    block = "$ echo a >&2; exit 3\nold\n$ echo $?\n"
    assert shell.replay(block) == "$ echo a >&2; exit 3\na\n$ echo $?\n3"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_resolve(page: Path) -> None:
    """Every relative link names a file that exists, and a heading that it has."""
    for found in LINK.finditer(BLOCK.sub("", page.read_text("utf-8"))):
        target, _, anchor = found["target"].partition("#")
        if target.startswith(("http:", "https:")):
            continue
        file = (page.parent / target).resolve() if target else page
        assert file.is_relative_to(ROOT), target
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), found["target"]


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings."""
    titles = re.findall(r"^#+ (.*)$", BLOCK.sub("", page.read_text("utf-8")), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def test_every_page_is_in_the_index() -> None:
    """The index links to every other page."""
    linked = {found["target"] for found in LINK.finditer((DOCS / "index.md").read_text("utf-8"))}
    assert {page.name for page in PAGES[1:]} - {"index.md"} <= linked


def test_the_readme_is_narrow() -> None:
    """No line of the README is wider than 120 columns."""
    assert [line for line in PAGES[0].read_text("utf-8").splitlines() if len(line) > 120] == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_absolute_path(page: Path) -> None:
    """No page names a path of some machine."""
    assert ABSOLUTE.findall(page.read_text("utf-8")) == []


def test_absolute_paths_would_be_found() -> None:
    """The search for paths finds them, and takes neither fractions nor links nor endings for one."""
    for path in ("/home/me", "see /tmp/x.json", "`/opt`", "C:\\Users", "file:///x"):
        assert ABSOLUTE.search(path), path
    for text in ("accepted / total", "count/accepted", "docs/index.md", "../x", "https://a.org/b", "</b>"):
        assert not ABSOLUTE.search(text), text
