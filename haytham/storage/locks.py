"""One writer at a time: a lock that the kernel frees when its holder dies."""

import json
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from haytham.domain import instants
from haytham.domain.errors import Location, Locked, StorageFailure
from haytham.storage import files

_NAME = "haytham.lock"
_POLL = 0.002
_NOBODY = b"nobody"


@contextmanager
def held(git_folder: Path, timeout: float, clock: instants.Clock) -> Iterator[bool]:
    """Holds the lock of a repository; yields whether the holder before died while holding it.

    Raises Locked after `timeout` seconds, with the present holder.
    """
    import filelock

    path = git_folder / _NAME
    lock = filelock.FileLock(path, timeout=timeout, poll_interval=_POLL, thread_local=False)
    try:
        lock.acquire()
    except filelock.Timeout as error:
        raise Locked(
            f"another process has been writing here for more than {timeout:g} s: {_holder(path)}.",
            location=Location(path=str(path)),
            hint="wait for it, or end it if it hangs; the lock goes with its process.",
        ) from error
    except OSError as error:
        raise StorageFailure(
            f"the lock cannot be taken: {error.strerror}.",
            location=Location(path=str(path)),
            hint="check the permissions of that folder.",
        ) from error
    try:
        yield _note_holder(path, clock)
    finally:
        _forget_holder(path)
        with files.translating():
            lock.release()


def is_free(git_folder: Path) -> bool:
    """Tells whether the last holder let go of the lock; one that died did not."""
    return files.read_line(git_folder / _NAME) in {b"", _NOBODY}


def _note_holder(path: Path, clock: instants.Clock) -> bool:
    died = not is_free(path.parent)
    note = {"pid": os.getpid(), "host": socket.gethostname(), "since": instants.text_of(clock())}
    files.write_line(path, json.dumps(note).encode())
    return died


def _forget_holder(path: Path) -> None:
    if path.parent.is_dir():  # the session itself may have been deleted
        files.write_line(path, _NOBODY)


def _holder(path: Path) -> str:
    try:
        note = json.loads(files.read_line(path))
        return f"process {note['pid']} on {note['host']} since {note['since']}"
    except (ValueError, TypeError, KeyError):
        return "its name is not known"
