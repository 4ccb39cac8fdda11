"""How a command ends: exit codes, signals, and standard streams that may be closed or left."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import typer

from evalkit.errors import Refusal

GO, FAILED, REFUSED, BLOCKED, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143


class TerminatedError(BaseException):
    """SIGTERM arrived."""


def keep_open(descriptor: int) -> None:
    """Open a standard stream that the caller has closed, lest some file of ours take its number and get its output."""
    try:
        os.fstat(descriptor)
    except OSError:
        os.open(os.devnull, os.O_RDWR)


def terminate(*_: object) -> NoReturn:
    _only_once()
    raise TerminatedError


def interrupt(*_: object) -> NoReturn:
    _only_once()
    raise KeyboardInterrupt


def _only_once() -> None:
    """Ignore further signals: what the first one makes us put away is put away whole."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn what ends a command's work into its exit code; every cleanup has run by then."""
    try:
        yield
    except Refusal as refusal:
        from evalkit.cli.view_report import refusal_text

        fail(refusal_text(refusal), REFUSED)
    except KeyboardInterrupt:
        fail("interrupted", INTERRUPTED)
    except TerminatedError:
        fail("terminated", TERMINATED)
    except (OSError, MemoryError) as error:
        fail(f"failed, and not for the input: {error or 'out of memory'}", FAILED)
    except Exception:  # noqa: BLE001 - the last resort, and it says that it is a bug
        traceback.print_exc()
        fail("this is a bug in evalkit; please report the lines above", FAILED)


@contextmanager
def printing() -> Iterator[None]:
    """Print; that the reader of a standard stream has left changes no exit code."""
    try:
        yield
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for descriptor in (1, 2):  # Python would complain once more when it flushes at exit
            os.dup2(nowhere, descriptor)


def fail(message: str, code: int) -> NoReturn:
    with printing():
        say(message)
    raise typer.Exit(code) from None


def say(message: str) -> None:
    if sys.stderr is not None:  # else print() would take standard output
        print(f"evalkit: {message}", file=sys.stderr)
