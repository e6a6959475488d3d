"""What a folder's file system offers: its kind, its room, whether what a save relies on works there.

Tries things out in a hidden folder of its own, which it removes.
"""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from haytham.domain import instants
from haytham.domain.errors import Locked, StorageFailure
from haytham.storage import files, folders, locks

_MOUNTS = Path("/proc/self/mountinfo")
_NAME = ".haytham-doctor-"
_SHORT = 0.05  # seconds


def nearest(folder: Path) -> Path:
    """Returns the folder itself or, where it is not there yet, the nearest one above it that is."""
    found = folder.absolute()
    while not found.is_dir() and found != found.parent:
        found = found.parent
    return found


def kind_of(folder: Path) -> str:
    """Returns what the file system of a folder is called, or nothing if the system does not say."""
    wanted = folder.stat().st_dev
    device = f"{os.major(wanted)}:{os.minor(wanted)}"
    for line in (files.read_bytes(_MOUNTS) or b"").decode(errors="replace").splitlines():
        before, _, behind = line.partition(" - ")
        if before.split(" ")[2:3] == [device]:
            return behind.split(" ")[0]
    return ""


def free_bytes(folder: Path) -> int:
    """Returns how much room is left for this user."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


def is_open_to_all(folder: Path) -> bool:
    """Tells whether everybody on the machine may write in a folder, and remove what others wrote there."""
    mode = folder.stat().st_mode
    return bool(mode & 0o002) and not mode & 0o1000


def is_ours(folder: Path) -> bool:
    """Tells whether a folder belongs to this user; git refuses what belongs to others."""
    return folder.stat().st_uid == os.geteuid()


def fault_of_writing(folder: Path) -> str:
    """Writes, flushes and replaces a file; returns what went wrong, or nothing."""
    try:
        with _trial(folder) as trial:
            for data in (b"one", b"two"):
                files.write({trial / "file": data})
            return "" if files.read_bytes(trial / "file") == b"two" else "a file that was replaced reads as before"
    except StorageFailure as error:
        return error.message


def fault_of_locking(folder: Path, clock: instants.Clock) -> str:
    """Takes a lock twice; returns what went wrong, or nothing if the second taker had to wait."""
    try:
        with _trial(folder) as trial, locks.held(trial, _SHORT, clock):
            try:
                with locks.held(trial, _SHORT, clock):
                    return "two writers got the same lock"
            except Locked:
                return ""
    except StorageFailure as error:
        return error.message


def tells_case_apart(folder: Path) -> bool:
    """Tells whether two names may differ by case alone."""
    with _trial(folder) as trial:
        files.write({trial / "a": b""})
        return files.read_bytes(trial / "A") is None


@contextmanager
def _trial(folder: Path) -> Iterator[Path]:
    trial = folder / f"{_NAME}{uuid.uuid4().hex[:12]}"
    files.make_folder(trial)
    try:
        yield trial
    finally:
        folders.remove(trial)
