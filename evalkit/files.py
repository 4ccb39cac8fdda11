"""Write whole or not at all: files and folders put in place by a rename, and found out to be writable beforehand."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

from evalkit.errors import Refusal, Violation

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def check_file_target(path: Path) -> None:
    """Refuse a file that could not be written, before any work is done for it.

    Raises:
        Refusal: The path is a directory, or the folder that would hold it cannot be made or written to.
    """
    if path.is_dir():
        raise _unwritable(path, "is a directory; name a file")
    _check_folder(path.parent, path)


def check_folder_target(path: Path, own: frozenset[str]) -> None:
    """Refuse a results folder that could not be put in place, or that holds anything but earlier results.

    Args:
        path: The folder.
        own: The names of the files that a results folder consists of.

    Raises:
        Refusal: The path is a file, cannot be made, or holds files that replacing it would destroy.
    """
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise _unwritable(path, "is not a folder; name one that does not exist, or earlier results")
    if path.is_dir():
        foreign = sorted(set(os.listdir(path)) - own)
        if foreign:
            message = f"holds {foreign[0]}, which is no part of earlier results; name another folder"
            raise _unwritable(path, message)
    _check_folder(path.parent, path)


def write_file(path: Path, data: bytes) -> None:
    """Write a file through a temporary one beside it and a rename. Missing parent folders are made."""
    path = _resolved(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_folder(path: Path, fill: Callable[[Path], None]) -> None:
    """Put a folder in place whole: it is filled beside its place and then renamed, or exchanged with the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent))
    try:
        fill(temporary)
        os.chmod(temporary, 0o777 & ~_umask())
        if path.exists():
            _exchange(temporary, path)
        else:
            os.rename(temporary, path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _resolved(path: Path) -> Path:
    """Follow a link to the file that it names, so that the rename replaces the file and not the link."""
    return path.resolve() if path.is_symlink() else path


def _check_folder(folder: Path, target: Path) -> None:
    nearest = folder
    while not os.path.lexists(nearest) and nearest != nearest.parent:
        nearest = nearest.parent
    try:
        with tempfile.TemporaryFile(dir=nearest):
            pass
    except OSError as error:
        raise _unwritable(target, f"cannot be written: {nearest}: {error.strerror}") from None


def _unwritable(path: Path, message: str) -> Refusal:
    return Refusal.of(Violation("output-unwritable", message, str(path)))


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
