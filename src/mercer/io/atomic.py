"""Writing a file so that at every moment there is the old one or the new one, whole."""

import errno
import os
import secrets
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from mercer.errors import NotWritten

__all__ = ["write_atomically"]

# What the system says -> what would work.
ADVICE: dict[int, str] = {
    errno.EACCES: "Choose a folder that you may write to.",
    errno.EDQUOT: "Free some space of your quota, or choose another disk.",
    errno.EFBIG: "The limit on the size of files is too low; raise it (ulimit -f), or choose another disk.",
    errno.EISDIR: "Give the name of a file, not of a folder.",
    errno.ENOENT: "Make the folder first.",
    errno.ENOSPC: "Free some space, or choose another disk.",
    errno.ENOTDIR: "Choose a folder that exists.",
    errno.EPERM: "Choose a folder that you may write to.",
    errno.EROFS: "Choose a folder that you may write to.",
}


def write_atomically(path: str | os.PathLike[str], pieces: Iterable[bytes | memoryview]) -> None:
    """Write a file beside its place, make sure that it is on the disk, then let it take the place of the old one.

    Where the system has files without a name, even a killed process leaves nothing behind.

    Raises
    ------
    NotWritten
        Where the system refuses; the old file is as it was.
    """
    target = Path(os.path.realpath(os.fspath(path)))  # the file behind a symbolic link, not the link
    try:
        old = _old_mode(target)
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            _replace(target, folder, old, pieces)
        finally:
            os.close(folder)
    except OSError as error:
        failure = NotWritten(
            f"The file {os.fspath(path)!r} could not be written.",
            f"The system says: {error.strerror or error}. What was there before is unchanged.",
            ADVICE.get(error.errno or 0, ""),
        )
        failure.errno = error.errno
        raise failure from error


def _old_mode(target: Path) -> int | None:
    """The permissions of the old file, if there is one; only a file may be replaced, no folder and no device."""
    try:
        mode = target.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is a device or a pipe, not a file")
    return stat.S_IMODE(mode)


def _replace(target: Path, folder: int, old: int | None, pieces: Iterable[bytes | memoryview]) -> None:
    beside = target.with_name(f".{target.name[:200]}.{secrets.token_hex(8)}.part")
    nameless = _nameless(target.parent)
    descriptor = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666) if nameless is None else nameless
    try:
        try:
            if old is not None:
                with suppress(OSError):
                    os.fchmod(descriptor, old)
            for piece in pieces:
                _write_all(descriptor, memoryview(piece))
            os.fsync(descriptor)
            if nameless is not None:  # linkat follows the link only if a folder is given
                os.link(f"/proc/self/fd/{descriptor}", beside.name, dst_dir_fd=folder)
        finally:
            os.close(descriptor)
        beside.replace(target)
    except BaseException:
        with suppress(OSError):
            beside.unlink()
        raise
    with suppress(OSError):  # some file systems cannot; the file is whole all the same
        os.fsync(folder)


def _nameless(folder: Path) -> int | None:
    """A file in the folder that has no name yet, where the system has such."""
    flag = getattr(os, "O_TMPFILE", None)
    if flag is None or not Path("/proc/self/fd").is_dir():
        return None
    try:
        return os.open(folder, flag | os.O_WRONLY, 0o666)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL):
            return None  # not on this file system
        raise


def _write_all(descriptor: int, piece: memoryview) -> None:
    at = 0
    while at < len(piece):
        at += os.write(descriptor, piece[at : at + (1 << 30)])
