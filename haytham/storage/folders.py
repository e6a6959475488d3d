"""Whole folders: made or removed at once, durably, or not at all.

What a process that died left of one lies under a temporary name, and the next that makes one sweeps it.
"""

import errno
import fcntl
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from haytham.storage import files


def build(temporary: Path, final: Path, fill: Callable[[], None]) -> bool:
    """Builds a folder under a temporary name; it appears under its final one durably, at once, or not at all.

    Returns False if the final one was there first.
    """
    files.make_folder(final.parent)
    sweep(final.parent)
    with files.translating(), _made(temporary):
        try:
            fill()
            _flush_tree(temporary)
            temporary.rename(final)
        except OSError as error:
            if error.errno in {errno.ENOTEMPTY, errno.EEXIST} and final.is_dir():
                return False
            raise
        files.flush_folder(final.parent)
        return True


@contextmanager
def vanishing(folder: Path) -> Iterator[None]:
    """Takes away again, if what is done meanwhile fails, a folder and its parents that were made for it alone."""
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        yield
    except BaseException:
        with suppress(OSError):  # what is not empty stays
            for each in missing:
                each.rmdir()
        raise


def set_aside(folder: Path) -> Path:
    """Takes a folder out of its place, durably; returns the name under which it waits to be removed."""
    gone = files.temporary_name(folder)
    with files.translating():
        folder.rename(gone)
        files.flush_folder(gone.parent)
    return gone


def remove(folder: Path) -> None:
    """Removes a folder that was set aside, with all that is in it; somebody may be sweeping it already."""
    with files.translating(), suppress(FileNotFoundError):
        shutil.rmtree(folder)


def size(folder: Path) -> tuple[int, int]:
    """Returns how many files there are below a folder, and how many bytes they take."""
    sizes = []
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                sizes.append(Path(place, name).lstat().st_size)
    return len(sizes), sum(sizes)


def _flush_tree(path: Path) -> None:
    """Makes everything below a folder durable."""
    with files.translating():
        for folder, _, names in os.walk(path):
            for name in names:
                descriptor = os.open(Path(folder, name), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)
            files.flush_folder(Path(folder))


@contextmanager
def _made(folder: Path) -> Iterator[None]:
    """Makes a folder and removes what is left of it; held meanwhile, so that others see that its maker lives."""
    descriptor = _make_held(folder)
    try:
        yield
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


def _make_held(folder: Path) -> int:
    """Makes a folder and locks it; once more if somebody swept it in between."""
    while True:
        with files.translating():
            folder.mkdir(exist_ok=True)
        with files.translating(), suppress(FileNotFoundError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _is_there(folder, descriptor):
                return descriptor
            os.close(descriptor)


def sweep(parent: Path) -> list[Path]:
    """Removes folders whose makers died, and returns them; one that is just being made is held by its maker."""
    with files.translating(), os.scandir(parent) as entries:
        left = [Path(each.path) for each in entries if each.name.endswith(files.TEMPORARY) and each.is_dir()]
    removed = []
    for folder in left:
        with suppress(OSError):
            descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
                removed.append(folder)
            finally:
                os.close(descriptor)
    return removed


def _is_there(folder: Path, descriptor: int) -> bool:
    """Tells whether an open folder is still the one of that name."""
    with suppress(FileNotFoundError):
        return folder.lstat().st_ino == os.fstat(descriptor).st_ino
    return False
