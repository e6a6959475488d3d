"""Writes files so that they are there after a crash, whole: the one module that does.

Each file is written beside its place, flushed, renamed into place; then the folders are flushed.
A symbolic link is never followed.
"""

import errno
import os
import secrets
import stat
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from haytham.domain.errors import Conflict, HaythamError, InvalidInput, Location, StorageFailure
from haytham.storage import swaps

TEMPORARY = ".haytham-tmp"
TEMPORARY_PATTERNS = b"# Haytham's own files of a moment, which nobody should commit.\n*.haytham-tmp\n*.haytham-swap\n"
_AT_ONCE = 64  # files that are open together
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_READ_ONLY = {errno.EROFS, errno.EACCES, errno.EPERM}


def read_bytes(path: Path) -> bytes | None:
    """Returns a file's bytes, or None if there is no such file; a link or a folder in its place is an error."""
    try:
        return swaps.content(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _translated(error, path) from error


def read_text(path: Path) -> str | None:
    """Returns a file's text without changing a byte of it, or None; raises InvalidInput if it is not UTF-8."""
    data = read_bytes(path)
    return None if data is None else decoded(data, str(path))


def decoded(data: bytes, path: str) -> str:
    """Returns bytes as text; raises InvalidInput, with the line, if they are not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidInput(
            f"the file is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}.",
            location=Location(path=path, line=line),
            hint="save it as UTF-8 in your editor.",
        ) from error


def write(
    contents: Mapping[Path, bytes],
    expected: Mapping[Path, bytes | None] | None = None,
    held: Path | None = None,
    *,
    first: Mapping[Path, bytes] | None = None,
) -> None:
    """Writes files, in the order given, durably.

    Where `expected` names a file, it must hold those bytes (None: not exist) at the moment it is replaced;
    otherwise Conflict is raised and that file and those after it are left as they are.
    With `held`, a replaced file is kept in that folder until `release` finds that nobody wrote to it afterwards.
    Those in `first` come before all others, each whole, as `write_whole` leaves them.
    """
    with translating(), _flushed_beside({**(first or {}), **contents}) as temporaries:
        for path in (*(first or ()), *contents):
            if expected is None or path not in expected:
                temporaries[path].replace(path)
            else:
                swaps.replace(temporaries[path], path, expected[path], held)
            del temporaries[path]
        for folder in dict.fromkeys(path.parent for path in contents):
            flush_folder(folder)


def write_temporary(path: Path, data: bytes) -> Path:
    """Writes bytes durably beside a path, for `replace_under_lock`; returns where."""
    with translating(), _flushed_beside({path: data}) as temporaries:
        return temporaries.pop(path)


def replace_under_lock(
    temporary: Path, path: Path, is_current: Callable[[], bool], newer: Callable[[], Path] | None = None
) -> bool:
    """Moves a temporary file into a place that git guards by a file named `.lock` beside it.

    If `is_current` says no, `newer` makes another temporary file to move instead, while nobody can change the place.
    Returns False, and changes nothing, if there is none, or if somebody else holds the lock.
    The lock is a hard link to the temporary file, so that `sweep_lock` can tell ours from git's.
    """
    lock = _lock_of(path)
    temporaries = [temporary]
    with translating(), _removing(temporaries):
        try:
            os.link(temporary, lock)
        except FileExistsError:
            return False
        try:
            if not is_current():
                if newer is None:
                    return False
                temporaries.append(newer())
            temporaries[-1].replace(path)
        finally:
            lock.unlink(missing_ok=True)
    return True


def sweep_lock(path: Path, stale_after: float) -> bool:
    """Removes a lock file that nobody holds; call it only while holding Haytham's own lock.

    Ours is told by its inode, whatever its age; one of git's own is left alone until it is `stale_after` seconds old.
    Returns whether the way is free.
    """
    lock = _lock_of(path)
    try:
        found = lock.stat()
    except FileNotFoundError:
        return True
    own = {_inode(each) for each in (path, *temporaries_in(path.parent))}
    if found.st_ino in own or time.time() - found.st_mtime > stale_after:
        with translating():
            lock.unlink(missing_ok=True)
        return True
    return False


def write_whole(path: Path, data: bytes) -> None:
    """Replaces a file so that it is found whole after a power cut, as it was before or as it is now.

    Its folder is not flushed: the name becomes durable with whatever is flushed next on this file system.
    In place would not do: the new size and the new bytes reach the disk one after the other.
    """
    with translating(), _flushed_beside({path: data}) as temporaries:
        temporaries.pop(path).replace(path)


def write_new(contents: Mapping[Path, bytes], empty: Iterable[Path] = ()) -> None:
    """Writes files, and folders, that are not there yet, in a folder that is flushed as a whole before it is used."""
    with translating():
        for folder in {*empty, *(path.parent for path in contents)}:
            folder.mkdir(parents=True, exist_ok=True)
        for path, data in contents.items():
            descriptor = _open_new(path)
            try:
                _fill(descriptor, path, data)
            finally:
                os.close(descriptor)


def write_line(path: Path, data: bytes) -> None:
    """Writes the first line of a file in place; what a longer one left behind it is nobody's business.

    After a power cut the line may be lost or torn: its reader has to cope.
    """
    with translating():
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
        try:
            os.pwrite(descriptor, data + b"\n", 0)
        finally:
            os.close(descriptor)


def read_line(path: Path) -> bytes:
    """Returns the first line of a file, nothing if there is none."""
    return (read_bytes(path) or b"").partition(b"\n")[0]


def make_folder(path: Path) -> None:
    """Makes a folder and its parents, durably; an existing one is fine."""
    missing = []
    folder = path
    while not folder.is_dir():
        missing.append(folder)
        folder = folder.parent
    with translating():
        for each in reversed(missing):
            each.mkdir(exist_ok=True)
            flush_folder(each.parent)


def flush_folder(path: Path) -> None:
    """Makes the names in a folder durable."""
    with translating():
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def temporary_name(path: Path) -> Path:
    """Returns a free name beside a path, which `sweep` recognises."""
    return path.with_name(f".{path.name[:100]}.{secrets.token_hex(6)}{TEMPORARY}")


def temporaries_in(folder: Path) -> list[Path]:
    """Returns the files that writers left in a folder; libgit2 adds an ending of its own while it writes one."""
    with translating(), suppress(FileNotFoundError), os.scandir(folder) as entries:
        return [Path(each.path) for each in entries if TEMPORARY in each.name and not each.is_dir()]
    return []


def sweep(folders: Iterable[Path]) -> list[Path]:
    """Removes what writers that died left behind; call it only while holding the lock of these folders."""
    swept = [path for folder in folders for path in temporaries_in(folder)]
    with translating():
        for path in swept:
            path.unlink(missing_ok=True)
    return swept


def remove(path: Path) -> None:
    """Removes a file that may be gone already."""
    with translating():
        path.unlink(missing_ok=True)


def remove_known(contents: Mapping[Path, bytes], held: Path) -> None:
    """Removes files that hold these bytes, durably; one that somebody changed stays. They are held as replaced ones."""
    with translating():
        for path, data in contents.items():
            with suppress(Conflict):
                swaps.remove(path, data, held)
        for folder in dict.fromkeys(path.parent for path in contents):
            flush_folder(folder)


def sweep_marks(folder: Path, ending: str, mark: bytes) -> None:
    """Removes the files with this ending whose first line is our mark; call it only under the lock."""
    with translating(), suppress(FileNotFoundError):
        for path in [Path(entry.path) for entry in os.scandir(folder) if entry.name.endswith(ending)]:
            if read_line(path) == mark:
                path.unlink(missing_ok=True)


def names_in(folder: Path) -> list[str]:
    """Returns the names of the plain files in a folder that are not hidden, sorted; a link is refused."""
    with translating(), suppress(FileNotFoundError), os.scandir(folder) as entries:
        visible = [each for each in entries if each.name[0] != "."]
        for each in visible:
            if each.is_symlink():
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), each.path)
        return sorted(each.name for each in visible if each.is_file(follow_symlinks=False))
    return []


def _lock_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def _inode(path: Path) -> int | None:
    try:
        return path.lstat().st_ino
    except FileNotFoundError:
        return None


@contextmanager
def _flushed_beside(contents: Mapping[Path, bytes]) -> Iterator[dict[Path, Path]]:
    """Writes files durably beside their places; yields where, and removes those that are still there at the end.

    All are on their way to the disk before the first is waited for: that takes about half the time.
    """
    temporaries: dict[Path, Path] = {}
    opened: list[int] = []
    with _removing(temporaries.values()):
        try:
            for path, data in contents.items():
                temporaries[path] = temporary_name(path)
                opened.append(_open_new(temporaries[path]))
                _fill(opened[-1], path, data)
                if len(opened) == _AT_ONCE:
                    _flush(opened)
            _flush(opened)
        finally:
            for descriptor in opened:
                os.close(descriptor)
        yield temporaries


def _open_new(path: Path) -> int:
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)


def _fill(descriptor: int, path: Path, data: bytes) -> None:
    """Writes a new file that is to replace another one, and asks the system to begin storing it."""
    with suppress(FileNotFoundError):
        os.fchmod(descriptor, stat.S_IMODE(path.lstat().st_mode))
    remaining = memoryview(data)
    while remaining:
        remaining = remaining[os.write(descriptor, remaining) :]
    if sys.platform == "linux":
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)  # the one way in that the library offers


def _flush(opened: list[int]) -> None:
    while opened:
        descriptor = opened[0]
        os.fsync(descriptor)
        os.close(opened.pop(0))


@contextmanager
def _removing(temporaries: Iterable[Path]) -> Iterator[None]:
    try:
        yield
    finally:
        for path in temporaries:
            with suppress(OSError):
                path.unlink(missing_ok=True)


@contextmanager
def translating() -> Iterator[None]:
    """Turns what the system refuses inside into an error of ours."""
    try:
        yield
    except OSError as error:
        if isinstance(error, HaythamError):
            raise
        raise _translated(error, Path(error.filename or "")) from error


def _translated(error: OSError, path: Path) -> StorageFailure:
    if error.errno in _FULL:
        what, hint = "the disk is full", "free some space and repeat the call."
    elif error.errno in _READ_ONLY:
        what, hint = "this place cannot be written", "check its permissions, or choose another base folder."
    elif error.errno in {errno.ENOTDIR, errno.EEXIST}:
        what, hint = (
            "there is a file where a folder is needed",
            "move that file, or choose another base folder.",
        )
    elif error.errno == errno.ELOOP:
        what, hint = (
            "this is a symbolic link, which Haytham does not follow",
            "put the real file or folder there.",
        )
    else:
        what, hint = (
            f"the disk refused: {error.strerror or error}",
            "nothing was acknowledged; repeat the call.",
        )
    location = Location(path="" if path == Path() else str(path))
    return StorageFailure(f"{what} (errno {error.errno}).", location=location, hint=hint)
