"""Write whole or not at all: files and folders put in place by a rename, and found out to be writable beforehand."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import signal
import tempfile
import threading
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from evalkit.errors import Refusal, Violation
from evalkit.sources.urls import is_url

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2

Target = Path | str
"""Where something is written: a path, or the URL of an object or of a folder of objects."""

_PREFIX, _SUFFIX = ".evalkit-", ".tmp"


def check_file_target(path: Target) -> None:
    """Refuse a file that could not be written, before any work is done for it.

    Raises:
        Refusal: The path is a directory, a device or a pipe, or the folder that would hold it cannot be made or
            written to; or a store does not take the object.
    """
    if isinstance(path, str) and is_url(path):
        _store().check_object_target(path)
        return
    path = Path(path)
    with _refusing(path):
        target = _resolved(path)
        if target.is_dir():
            raise _unwritable(path, "is a directory; name a file")
        if target.exists() and not target.is_file():
            raise _unwritable(path, "is a device or a pipe; for standard output name -")
        _check_place(target, path)


def check_folder_target(path: Target, own: frozenset[str]) -> None:
    """Refuse a results folder that could not be put in place, or that holds anything but earlier results.

    Args:
        path: The folder.
        own: The names of the files that a results folder consists of.

    Raises:
        Refusal: The path is a file or the working folder, cannot be made, or holds files that replacing it would
            destroy.
    """
    if isinstance(path, str) and is_url(path):
        _store().check_prefix_target(path, own)
        return
    path = Path(path)
    with _refusing(path):
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            raise _unwritable(path, "is not a folder; name one that does not exist, or earlier results")
        if path.resolve() in (Path.cwd(), *Path.cwd().parents):
            raise _unwritable(path, "is the working folder or holds it; name another folder")
        foreign = [] if not path.is_dir() else sorted(set(os.listdir(path)) - own)
        for name in foreign:
            if not (name.startswith(_PREFIX) and name.endswith(_SUFFIX)):  # else a killed run has left it there
                raise _unwritable(path, f"holds {name}, which is no part of earlier results; name another folder")
        _check_place(path, path)


def write_file(path: Target, data: bytes | Iterator[bytes]) -> None:
    """Write a file through a temporary one beside it and a rename, or an object. Missing parent folders are made."""
    if isinstance(path, str) and isinstance(data, bytes) and is_url(path):
        _store().put(path, data)
        return
    with new_file(path) as temporary, open(temporary, "wb") as file:
        file.writelines([data] if isinstance(data, bytes) else data)


@contextlib.contextmanager
def new_file(path: Target) -> Iterator[Path]:
    """Yield a temporary file beside a path, to be filled; it takes the path's place where the block ends well.

    For an object it is one in the folder for temporary files, which becomes the object.
    """
    if isinstance(path, str) and is_url(path):
        with tempfile.TemporaryDirectory(prefix=_PREFIX) as folder:
            temporary = Path(folder, "object")
            yield temporary
            with _undisturbed():
                _store().put_file(path, str(temporary))
        return
    path = _resolved(Path(path))
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=_PREFIX, suffix=_SUFFIX, dir=path.parent)
    temporary = Path(name)
    try:
        yield temporary
        os.fsync(handle)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException as error:
        temporary.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.filename is None:
            error.filename = str(path)  # so that it says where there is no space left
        raise
    finally:
        os.close(handle)


def write_folder(path: Target, fill: Callable[[Path], None]) -> None:
    """Put a folder in place whole: it is filled beside its place and then renamed, or exchanged with the old one.

    One in a store is filled in the folder for temporary files, and put there with its report last.
    """
    if isinstance(path, str) and is_url(path):
        with tempfile.TemporaryDirectory(prefix=_PREFIX) as folder:
            fill(Path(folder))
            with _undisturbed():
                _store().put_folder(path, folder)
        return
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=_PREFIX, suffix=_SUFFIX, dir=path.parent))
    try:
        fill(temporary)
        os.chmod(temporary, 0o777 & ~_umask())
        if path.exists():
            _exchange(temporary, path)
        else:
            os.rename(temporary, path)
    finally:
        _remove(temporary)


def _remove(folder: Path) -> None:
    with _undisturbed():
        shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold back interruption and termination until the block is done, so that nothing is left half removed."""
    if threading.current_thread() is not threading.main_thread():  # only there do signals interrupt
        yield
        return
    held: list[int] = []
    handlers = {
        number: signal.signal(number, lambda number, _: held.append(number))
        for number in (signal.SIGINT, signal.SIGTERM)
    }
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for arrived in held:
            signal.raise_signal(arrived)


def _resolved(path: Path) -> Path:
    """Follow a link to the file that it names, so that the rename replaces the file and not the link."""
    return path.resolve(strict=False) if path.is_symlink() else path


@contextlib.contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Turn what the system says of a target into a refusal."""
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:  # a link to itself, in older Pythons; U+0000 in a name
        raise _unwritable(path, f"cannot be written: {getattr(error, 'strerror', None) or error}") from None


def _check_place(target: Path, named: Path) -> None:
    """Find out whether a new file could be put beside a target, whose folders may not be there yet."""
    nearest = target.parent
    while not os.path.lexists(nearest) and nearest != nearest.parent:
        nearest = nearest.parent
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
        longest = os.pathconf(nearest, "PC_NAME_MAX")
    except OSError as error:
        raise _unwritable(named, f"cannot be written: {nearest}: {error.strerror}") from None
    if any(len(os.fsencode(part)) > longest for part in target.parts):
        raise _unwritable(named, f"cannot be written: a name may be {longest} bytes long")


def _unwritable(path: Path, message: str) -> Refusal:
    return Refusal.of(Violation("output-unwritable", message, str(path)))


def _store() -> Any:
    return import_module("evalkit.results.store_files")  # loaded only where a store is written to


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _exchange(new: Path, old: Path) -> None:
    """Exchange two folders in one step, or in two where the file system knows no better."""
    libc = ctypes.CDLL(None, use_errno=True)
    if hasattr(libc, "renameat2"):
        status = libc.renameat2(_AT_FDCWD, os.fsencode(new), _AT_FDCWD, os.fsencode(old), _RENAME_EXCHANGE)
        if status == 0:
            return
        code = ctypes.get_errno()
        if code not in (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP):
            raise OSError(code, os.strerror(code), str(old))
    aside = new.with_suffix(".old")
    os.rename(old, aside)
    try:
        os.rename(new, old)
    except BaseException:
        with contextlib.suppress(OSError):
            os.rename(aside, old)
        raise
    os.rename(aside, new)
