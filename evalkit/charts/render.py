"""``render``: a report drawn into files, whose names say what they are to be."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from evalkit.charts.model import Subject
from evalkit.charts.read import CURVE, REPORT, read
from evalkit.errors import Refusal, Violation
from evalkit.results.files import check_file_target, write_file
from evalkit.sources.source import STANDARD_INPUT, label

_HEIGHT = re.compile(r'height="([0-9.]+)"')


def render(
    report: str | os.PathLike[str] | Mapping[str, Any] | object,
    *outs: str | os.PathLike[str],
    interactive: bool = False,
) -> None:
    """Draw a report.

    The same report gives the same bytes, but for a PNG, whose bytes may differ from one machine to another.

    Args:
        report: A file that evalkit wrote, a results folder, which has the curves too, ``-`` for standard input, a
            ``Report``, or plain data; also any document with a run id, a model revision and metrics.
        outs: The files to write, ending in ``.svg``, ``.html``, ``.png`` or ``.md``.
        interactive: Whether ``.html`` is to be a page with a script, to choose candidates and strata in.

    Raises:
        Refusal: The report cannot be read or lacks what a chart must show, or a file cannot be written.

    >>> render({"run_id": "r1"}, "chart.gif")
    Traceback (most recent call last):
    ...
    evalkit.errors.Refusal: chart.gif: must end in .svg, .html, .png or .md [output-format]
    """
    targets = [os.fspath(out) for out in outs]
    check_targets(report if isinstance(report, str | os.PathLike) else None, targets)
    if interactive:
        _check_interactive(targets)
    # All is drawn before anything is written: what fails leaves the files as they were.
    made = dict(_made(report, list(dict.fromkeys(map(_kind, targets))), interactive))
    for target in targets:
        write_file(target, made[_kind(target)])


def _made(report: Any, kinds: Sequence[str], interactive: bool) -> Iterator[tuple[str, bytes]]:  # noqa: FBT001
    """Draw a report in each kind of file."""
    if not interactive:
        subject = read(report)
        yield from ((kind, _FORMATS[kind](subject)) for kind in kinds)
        return
    from evalkit.charts.interactive import interactive_page
    from evalkit.charts.interactive_read import opened

    found = opened(report)
    for kind in kinds:
        yield kind, interactive_page(found).encode("utf-8") if kind == ".html" else _FORMATS[kind](found.subject)


def _check_interactive(targets: Sequence[str]) -> None:
    if not any(_kind(target) == ".html" for target in targets):
        message = "must end in .html, or one beside it must: only a page is interactive"
        raise Refusal.of(Violation("output-format", message, label(targets[0]) if targets else None))


def check_targets(report: str | os.PathLike[str] | None, targets: Sequence[str]) -> None:
    """Refuse files of another kind, that cannot be written, that are the report, or of which two are the same."""
    inputs = [] if report is None or report == STANDARD_INPUT else _inputs(os.fspath(report))
    for place, target in enumerate(targets):
        if _kind(target) not in _FORMATS:
            message = "must end in .svg, .html, .png or .md"
            raise Refusal.of(Violation("output-format", message, label(target)))
        check_file_target(target)
        for other in targets[:place]:
            if _same(target, other):
                message = "is named for two outputs; name another place for one of them"
                raise Refusal.of(Violation("output-unusable", message, label(target)))
        for path in inputs:
            if _same(target, path):
                message = f"is the input {label(path)}; name another file"
                raise Refusal.of(Violation("output-unusable", message, label(target)))


def _inputs(report: str) -> list[str]:
    return [os.path.join(report, name) for name in (REPORT, CURVE)] if os.path.isdir(report) else [report]


def _same(target: str, other: str) -> bool:
    """Tell whether two names are of one file, which may not be there yet."""
    try:
        return os.path.realpath(target) == os.path.realpath(other) or os.path.samefile(target, other)
    except (OSError, ValueError):  # one is not there
        return False


def _kind(target: str) -> str:
    return os.path.splitext(target)[1].lower()


def _svg(subject: Subject) -> bytes:
    from evalkit.charts.sheet import svg

    return svg(subject).encode("utf-8")


def _png(subject: Subject) -> bytes:
    from evalkit.charts.sheet import png, svg

    picture = svg(subject)
    height = _HEIGHT.search(picture)
    return png(picture, float(height[1]) if height else 1.0)


def _html(subject: Subject) -> bytes:
    from evalkit.charts.page import page

    return page(subject).encode("utf-8")


def _markdown(subject: Subject) -> bytes:
    from evalkit.charts.markdown import markdown

    return markdown(subject).encode("utf-8")


_FORMATS: Mapping[str, Callable[[Subject], bytes]] = {".svg": _svg, ".html": _html, ".png": _png, ".md": _markdown}
