"""Saving while something goes wrong: the old file survives, nothing is left behind, and the error says why."""

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import mercer
from mercer.io import write_atomically

OLD = b"what was there before"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "machine.mercer"
    found.write_bytes(OLD)
    return found


def test_the_new_file_takes_the_place_of_the_old_one(path: Path) -> None:
    write_atomically(path, [b"new ", memoryview(b"content")])
    assert path.read_bytes() == b"new content"
    assert list(path.parent.iterdir()) == [path]


def test_the_permissions_of_the_old_file_stay(path: Path) -> None:
    path.chmod(0o640)
    write_atomically(path, [b"new"])
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_new_file_has_the_permissions_that_the_system_gives(tmp_path: Path) -> None:
    (tmp_path / "plain").write_bytes(b"")
    write_atomically(tmp_path / "new", [b"new"])
    assert (tmp_path / "new").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_symbolic_link_stays_and_its_file_is_replaced(path: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(path)
    write_atomically(link, [b"new"])
    assert link.is_symlink()
    assert path.read_bytes() == b"new"


def test_what_fails_half_way_leaves_the_old_file_and_nothing_else(path: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield b"half"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_atomically(path, broken())
    assert path.read_bytes() == OLD
    assert list(path.parent.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(mercer.NotWritten, match=r"No such file or directory[\s\S]*Make the folder first") as caught:
        write_atomically(tmp_path / "none" / "machine.mercer", [b""])
    assert caught.value.errno == errno.ENOENT
    assert isinstance(caught.value, OSError)


def test_a_folder_is_not_replaced_by_a_file(tmp_path: Path) -> None:
    with pytest.raises(mercer.NotWritten, match="Give the name of a file"):
        write_atomically(tmp_path, [b""])


def test_a_device_is_not_replaced_by_a_file() -> None:
    with pytest.raises(mercer.NotWritten, match="a device or a pipe"):
        write_atomically("/dev/full", [b"new"])
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


def test_a_disk_without_room_leaves_the_old_file(path: Path) -> None:
    # A limit on the size of files stands for a full disk: the write fails after a part of the bytes.
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(mercer.NotWritten, match=r"too large[\s\S]*unchanged") as caught:
            write_atomically(path, [b"x" * 3000, b"x" * 3000])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert caught.value.errno == errno.EFBIG
    assert path.read_bytes() == OLD
    assert list(path.parent.iterdir()) == [path]


AS_NOBODY = """
import os, sys
from mercer.io import write_atomically
from mercer import NotWritten
if os.getuid() == 0:
    os.setuid(65534)
try:
    write_atomically(sys.argv[1], [b"new"])
except NotWritten as error:
    print(error)
"""


def test_a_folder_that_is_read_only_leaves_the_old_file(path: Path) -> None:
    for folder in (path.parent, *path.parent.parents):
        if folder.stat().st_uid == os.getuid() and folder != Path(folder.anchor):
            folder.chmod(folder.stat().st_mode | 0o055 if folder != path.parent else 0o555)
    try:
        found = subprocess.run([sys.executable, "-c", AS_NOBODY, str(path)], capture_output=True, text=True, check=True)
    finally:
        path.parent.chmod(0o755)
    assert "Permission denied" in found.stdout
    assert "unchanged" in found.stdout
    assert path.read_bytes() == OLD


SAVING = """
import sys
from mercer.io import write_atomically
def pieces():
    yield bytes([int(sys.argv[2])]) * 50_000
    print("half", flush=True)
    sys.stdin.readline()
    yield bytes([int(sys.argv[2])]) * 50_000
write_atomically(sys.argv[1], pieces())
"""


def saving(path: Path, byte: int) -> "subprocess.Popen[bytes]":
    """A process that has written half of a file of this byte, and waits."""
    process = subprocess.Popen(
        [sys.executable, "-c", SAVING, str(path), str(byte)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"half\n"
    return process


def test_a_killed_save_leaves_the_old_file(path: Path) -> None:
    process = saving(path, 1)
    with process:
        process.send_signal(signal.SIGKILL)
    assert path.read_bytes() == OLD
    # A file without a name vanishes with its process, where the file system has such.
    has_nameless = hasattr(os, "O_TMPFILE") and _can_be_nameless(path.parent)
    assert len(list(path.parent.iterdir())) == (1 if has_nameless else 2)


def _can_be_nameless(folder: Path) -> bool:
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_WRONLY, 0o666))
    except OSError:
        return False
    return True


def test_two_processes_that_save_to_one_path_leave_the_whole_file_of_one(path: Path) -> None:
    first, second = saving(path, 1), saving(path, 2)
    for process in (first, second):
        process.communicate(b"\n")
        assert process.returncode == 0
    assert path.read_bytes() == bytes([2]) * 100_000
    assert list(path.parent.iterdir()) == [path]


def test_a_machine_that_cannot_be_stored_leaves_the_old_file(path: Path) -> None:
    machine = mercer.SVC(random_state=np.random.RandomState(0)).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(mercer.NotStorable, match=r"SVC\.random_state[\s\S]*RandomState"):
        machine.save(path)
    assert path.read_bytes() == OLD
